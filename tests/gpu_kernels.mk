# CUDA kernels judged on a GPU; no part of make test. tests/gpu_kernels/README.md
# make check-gpu-kernels       every kernel x precision x layout on odd shapes, against the reference
# make bench-vendor SLICE=i/n  slice i of n of the grid, ours beside the vendors' libraries, then what is known so far
# make bar-memory            memory-bound layers at batch 128 against this GPU's own roof
# make bar-attention         attention beside PyTorch's scaled_dot_product_attention
# make bar-sparse            2:4 sparse weights against dense ones, and tf32 against fp32, on fully connected layers
# make bar-fused             fused kernels against the same work as launches of their own
# make check-gpu-sanitizer     compute-sanitizer on one configuration of each kernel
# For a machine without a compiler: make gpu-bundle, steps verify, vendor, memory, attention, fused, sparse, sanitize.
SLICE       ?= 1/1
KERNELS_OUT ?= $(BUILD)/gpu-kernels
KERNELS_RUN := NNTUNE=$(abspath $(BIN)) python3 tests/gpu_kernels/judge.py
.PHONY: bar-memory bar-attention bar-sparse bar-fused check-gpu-kernels bench-vendor check-gpu-sanitizer
check-gpu-kernels: $(BIN)
	@$(KERNELS_RUN) verify $(KERNELS_OUT) $(SECONDS_LEFT)

bench-vendor: $(BIN)
	@$(KERNELS_RUN) bench $(KERNELS_OUT) $(SLICE) $(SECONDS_LEFT)
	@$(KERNELS_RUN) report $(KERNELS_OUT)

bar-memory bar-attention: bar-%: $(BIN)
	@NNTUNE=$(abspath $(BIN)) python3 tests/gpu_kernels/memory.py $(if $(filter memory,$*),cells,$*) $(KERNELS_OUT) $(SECONDS_LEFT)

bar-sparse: $(BIN)
	@$(KERNELS_RUN) sparse $(KERNELS_OUT) $(SECONDS_LEFT)

bar-fused: $(BIN)
	@$(KERNELS_RUN) fused $(KERNELS_OUT) $(SECONDS_LEFT)

check-gpu-sanitizer: $(BIN)
	@$(KERNELS_RUN) sanitize $(KERNELS_OUT) $(SECONDS_LEFT)
