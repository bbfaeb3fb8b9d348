# The judge of hardware counters: needs an NVIDIA GPU and Nsight Compute, so it is no part of make test.
# make check-counters      cost of the counters and their values against ncu; PARTS="worker" for a part of it
COUNTERS_C     := $(wildcard tests/gpu_counters/*.c)
COUNTERS_O     := $(COUNTERS_C:%.c=$(BUILD)/%.o)
COUNTERS_JUDGE := $(BUILD)/counters-judge
PARTS          ?=

.PHONY: check-counters
$(COUNTERS_JUDGE): $(COUNTERS_O) $(LIB)
	$(call say,LINK,$@)
	$(Q)$(CC) $(ALL_CFLAGS) $(ALL_LDFLAGS) -rdynamic -o $@ $(COUNTERS_O) $(LIB) $(LDLIBS)

-include $(COUNTERS_O:.o=.d)

check-counters: $(BIN) $(COUNTERS_JUDGE)
	@mkdir -p $(BUILD)/counters
	@NNTUNE=$(abspath $(BIN)) JUDGE=$(abspath $(COUNTERS_JUDGE)) sh tests/gpu_counters/check.sh $(BUILD)/counters $(PARTS)

# The bundle for a GPU machine without a compiler is made by gpu.mk.
gpu-bundle: $(COUNTERS_JUDGE)
