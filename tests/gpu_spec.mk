# Specs of a user's own CUDA kernels, judged on a GPU; no part of make test.
# make check-gpu-spec      every spec of tests/gpu_spec on this machine's GPU; NAMES="guard chain" for some
# make gpu-spec-bundle     the same for a machine without a compiler, into GPU_BUNDLE
NAMES ?=
.PHONY: check-gpu-spec gpu-spec-bundle
check-gpu-spec: $(BIN)
	@NNTUNE=$(abspath $(BIN)) sh tests/gpu_spec/check.sh $(BUILD)/gpu-spec $(NAMES)

gpu-spec-bundle: $(BIN)
	@mkdir -p '$(GPU_BUNDLE)'
	$(Q)$(CC) $(ALL_CFLAGS) $(ALL_LDFLAGS) -rdynamic -s -o '$(GPU_BUNDLE)/nntune' $(BUILD)/cli/main.o $(LIB) $(BUNDLE_LIBS)
	@rm -rf '$(GPU_BUNDLE)/gpu_spec' && cp -r tests/gpu_spec '$(GPU_BUNDLE)/gpu_spec'
	@sh tests/gpu_spec/prepare.sh '$(GPU_BUNDLE)/gpu_spec' || echo "without Kernel Tuner's sample: PyPI is out of reach"
	@echo "there: NNTUNE=$(GPU_BUNDLE)/nntune sh $(GPU_BUNDLE)/gpu_spec/check.sh OUT"
