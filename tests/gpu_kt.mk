# Kernel Tuner's example tuned by it and by us, judged on a GPU; no part of make test. tests/gpu_kt/README.md.
# make check-gpu-kt        configurations a second and both winners; KT=folder as tests/gpu_kt/prepare.sh made it
KT ?= $(BUILD)/kt
.PHONY: check-gpu-kt
check-gpu-kt: $(BIN)
	@NNTUNE=$(abspath $(BIN)) sh tests/gpu_kt/check.sh '$(KT)' $(BUILD)/gpu-kt

# The bundle of all judges has it too: run.sh's step kt. Without PyPI the step is short.
.PHONY: gpu-kt-files
gpu-kt-files:
	@mkdir -p '$(GPU_BUNDLE)'
	@rm -rf '$(GPU_BUNDLE)/gpu_kt' && cp -r tests/gpu_kt '$(GPU_BUNDLE)/gpu_kt'
	@sh tests/gpu_kt/prepare.sh '$(GPU_BUNDLE)/kt' || echo "without Kernel Tuner: PyPI is out of reach"
gpu-bundle: gpu-kt-files
