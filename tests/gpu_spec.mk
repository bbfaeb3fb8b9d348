# Specs of a user's own CUDA kernels, judged on a GPU; no part of make test.
# make check-gpu-spec      every spec of tests/gpu_spec on this machine's GPU; NAMES="guard chain" for some
# make gpu-spec-bundle     the same for a machine without a compiler, into GPU_BUNDLE
NAMES ?=
.PHONY: check-gpu-spec gpu-spec-bundle gpu-spec-files
check-gpu-spec: $(BIN)
	@NNTUNE=$(abspath $(BIN)) sh tests/gpu_spec/check.sh $(BUILD)/gpu-spec $(NAMES)

gpu-spec-files:
	@mkdir -p '$(GPU_BUNDLE)'
	@rm -rf '$(GPU_BUNDLE)/gpu_spec' && cp -r tests/gpu_spec '$(GPU_BUNDLE)/gpu_spec'
	@sh tests/gpu_spec/prepare.sh '$(GPU_BUNDLE)/gpu_spec' || echo "without Kernel Tuner's sample: PyPI is out of reach"

# The bundle of all judges has it too: run.sh's step spec.
gpu-bundle: gpu-spec-files

gpu-spec-bundle: $(BIN) gpu-spec-files
	$(Q)$(CC) $(ALL_CFLAGS) $(ALL_LDFLAGS) -rdynamic -s -o '$(GPU_BUNDLE)/nntune' $(BUILD)/cli/main.o $(LIB) $(BUNDLE_LIBS)
	@echo "there: NNTUNE=$(GPU_BUNDLE)/nntune sh $(GPU_BUNDLE)/gpu_spec/check.sh OUT"
