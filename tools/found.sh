#!/bin/sh
# Says what the build found and did not find, once a build folder, and stops where something needed is missing.
set -eu
build=$1; shift
mkdir -p "$build"
missing=
line() { if [ -n "$2" ]; then printf '  found    %-9s %s\n' "$1" "$2"; else printf '  missing  %-9s %s\n' "$1" "$3"; fi; }
report() {
    line cuda "$1" "no cuda.h: the cuda device is built without (install NVIDIA's CUDA toolkit)"
    line nvrtc "$2" "no nvrtc.h: CUDA kernels cannot be compiled"
    line cupti "$3" "no cupti.h: no hardware counters"
    line jansson "$4" "needed: libjansson-dev"
    line sqlite3 "$5" "needed: libsqlite3-dev"
    line xxhash "$6" "needed: libxxhash-dev"
    line ncurses "$7" "needed for the dashboard: libncurses-dev"
    line cmocka "$8" "needed for make test: libcmocka-dev"
    line oneDNN "$9" "optional, for make bench-cpu: libdnnl-dev"
}
report "$@" > "$build/found.new"
if ! cmp -s "$build/found.new" "$build/found"; then cat "$build/found.new"; fi
mv "$build/found.new" "$build/found"
for need in "$4:libjansson-dev" "$5:libsqlite3-dev" "$6:libxxhash-dev"; do
    [ -n "${need%%:*}" ] || missing="$missing ${need#*:}"
done
if [ -n "$missing" ]; then
    echo "nntune: cannot build without:$missing" >&2
    echo "  apt-get install$missing        (or: make sweep, which installs what is missing)" >&2
    exit 1
fi
