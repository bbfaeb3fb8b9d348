# make bar-live      what `nntune top` at 10 Hz costs a foreign load and itself, on this machine's GPU (needs PyTorch);
#                    LIVE="--seconds 10 --sources gpm" for less, --sweep for a sweep beside PM sampling
.PHONY: bar-live
bar-live: $(BIN)
	@python3 tests/gpu/judge_live.py $(abspath $(BIN)) --sweep $(LIVE)
