#!/bin/sh
# prepare.sh FOLDER [PYTHON]: Kernel Tuner and what it needs as wheels for PYTHON (default 3.12) of an x86-64 Linux, and its
# example's kernel, for a GPU machine that cannot fetch anything itself. Everything comes from PyPI and stays out of the
# repository. CuPy (64 MiB alone), numpy, scipy, scikit-learn and pandas are taken to be there; WITH="cupy-cuda13x" adds some.
set -eu
folder=${1:?usage: prepare.sh FOLDER [PYTHON]} python=${2:-3.12} version=1.4.0
mkdir -p "$folder/wheels"
room=$(mktemp -d); trap 'rm -rf "$room"' EXIT
platforms=
for n in 2014 _2_17 _2_24 _2_27 _2_28 _2_31 _2_34; do platforms="$platforms --platform manylinux${n}_x86_64"; done
# shellcheck disable=SC2086
python3 -m pip download -q --no-deps --only-binary=:all: --python-version "$python" --implementation cp $platforms -d "$folder/wheels" \
    "kernel_tuner==$version" python-constraint2 xmltodict jsonschema jsonschema-specifications referencing rpds-py pymoo moocore \
    alive-progress about-time graphemeu autograd cma cloudpickle Deprecated wrapt platformdirs cffi pycparser attrs typing_extensions ${WITH:-}
python3 -m pip download -q --no-deps --no-binary :all: -d "$room" "kernel_tuner==$version"
tar xzf "$room/kernel_tuner-$version.tar.gz" -C "$room"
cp "$room/kernel_tuner-$version/test/convolution.cu" "$folder/"
echo "$folder: convolution.cu and $(ls "$folder/wheels" | wc -l) wheels, $(du -sm "$folder" | cut -f 1) MiB"
