# Specs of a user's own CUDA kernels, judged on a GPU; no part of make test.
# make check-gpu-spec      every spec of tests/gpu_spec on this machine's GPU; NAMES="guard chain" for some
# For a machine without a compiler: make gpu-bundle, step spec.
NAMES ?=
.PHONY: check-gpu-spec
check-gpu-spec: $(BIN)
	@NNTUNE=$(abspath $(BIN)) sh tests/gpu_spec/check.sh $(BUILD)/gpu-spec $(NAMES)
