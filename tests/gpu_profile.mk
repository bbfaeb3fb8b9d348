# make bar-profile   `nntune profile` on a PyTorch program against PyTorch's own profiler and against running it unrecorded
#                    (needs PyTorch and torchvision); PROFILE="--repeats 9 --parts wall" for other figures
.PHONY: bar-profile
bar-profile: $(BIN) $(INJECT)
	@python3 tests/gpu/judge_profile.py $(abspath $(BIN)) $(PROFILE)
