# make check-top     on a GPU machine: nntune top against nvidia-smi, its captures beside loads, what it costs a sweep
#                    (needs PyTorch and nvidia-smi); PARTS="accuracy captures attached", OUT=folder of the captures
.PHONY: check-top
check-top: $(BIN)
	@NNTUNE=$(abspath $(BIN)) OUT=$(OUT) PARTS="$(PARTS)" sh tests/gpu_top/check.sh
