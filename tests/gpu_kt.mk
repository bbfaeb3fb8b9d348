# Kernel Tuner's example tuned by it and by us, judged on a GPU; no part of make test. tests/gpu_kt/README.md.
# make check-gpu-kt        configurations a second and both winners; KT=folder as tests/gpu_kt/prepare.sh made it
KT ?= $(BUILD)/kt
.PHONY: check-gpu-kt
check-gpu-kt: $(BIN)
	@NNTUNE=$(abspath $(BIN)) sh tests/gpu_kt/check.sh '$(KT)' $(BUILD)/gpu-kt
# For a machine without a compiler: make gpu-bundle, step kt.
