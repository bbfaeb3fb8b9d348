#!/bin/sh
# prepare.sh FOLDER: puts Kernel Tuner's published T1 sample (and the kernel it names) into FOLDER/t1, from the source archive
# on PyPI, where pip can reach it. They stay out of the repository.
set -eu
folder=${1:?usage: prepare.sh FOLDER} version=1.4.0
room=$(mktemp -d); trap 'rm -rf "$room"' EXIT
python3 -m pip download -q --no-deps --no-binary :all: -d "$room" "kernel_tuner==$version"
tar xzf "$room/kernel_tuner-$version.tar.gz" -C "$room"
mkdir -p "$folder/t1"
cp "$room/kernel_tuner-$version/test/test_T1_input.json" "$folder/t1/spec.json"
cp "$room/kernel_tuner-$version/test/convolution.cu" "$folder/t1/"
echo "$folder/t1: Kernel Tuner $version's test_T1_input.json and convolution.cu"
