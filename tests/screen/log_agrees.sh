# What the view of devices shows is what --log of the same process holds: on the cpu, and on a GPU that is not there.
export XDG_RUNTIME_DIR="$PWD/run" XDG_CONFIG_HOME="$PWD/config" PYTHONDONTWRITEBYTECODE=1
mkdir run
export NNTUNE_LIBCUDA=/nonexistent
python3 "$TESTS/gpu_top/captures.py" "$NNTUNE" cpu "$PWD/kept" --seconds 2
grep -q "busy %" kept/nothing-devices.txt
cc -shared -fPIC -o libfake.so "$TESTS/unit/fake_nvidia.c" "$TESTS/unit/fake_nvidia_tools.c"
export NNTUNE_LIBCUDA="$PWD/libfake.so" NNTUNE_NVML="$PWD/libfake.so" NNTUNE_NVRTC="$PWD/libfake.so"
"$NNTUNE" devices -q | grep -q '^cuda:0' || exit 0 # a build without CUDA's headers
python3 "$TESTS/gpu_top/captures.py" "$NNTUNE" cuda:0 "$PWD/kept" --seconds 2
grep -q "NVLink to B/s" kept/nothing-devices.txt
