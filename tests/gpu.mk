# The GPU check: needs an NVIDIA GPU, so it is no part of make test; tests/gpu/README.md.
# make check-gpu           every bar on this machine's GPU, then tests/gpu/RESULTS.md; COMMIT=hash where there is no git
# make bar-rate            one bar alone: rate, speed, time, ties, faults, odd, occupancy; exit 1 when it is short
# make gpu-bundle          builds and gathers what a GPU machine without a compiler needs in GPU_BUNDLE
GPU_OUT    ?= $(BUILD)/gpu
GPU_BUNDLE ?= $(BUILD)/gpu-bundle
GPU_BARS   := rate speed time ties faults odd occupancy
GPU_C      := $(wildcard tests/gpu/*.c)
GPU_O      := $(GPU_C:%.c=$(BUILD)/%.o)
JUDGE      := $(BUILD)/gpu-judge

.PHONY: check-gpu gpu-bundle gpu-results $(GPU_BARS:%=bar-%)
$(JUDGE): $(GPU_O) $(LIB)
	$(call say,LINK,$@)
	$(Q)$(CC) $(ALL_CFLAGS) $(ALL_LDFLAGS) -rdynamic -o $@ $(GPU_O) $(LIB) $(LDLIBS)

-include $(GPU_O:.o=.d)

check-gpu: $(BIN) $(JUDGE)
	@NNTUNE=$(abspath $(BIN)) JUDGES=$(abspath $(JUDGE)) sh tests/gpu/check.sh '$(COMMIT)' '$(GPU_OUT)'; code=$$?; \
	    [ $$code -gt 1 ] || [ -n '$(QUICK)' ] || cp '$(GPU_OUT)/RESULTS.md' tests/gpu/RESULTS.md; exit $$code

$(GPU_BARS:%=bar-%): bar-%: $(BIN) $(JUDGE)
	@mkdir -p '$(GPU_OUT)'
	@$(JUDGE) $* --nntune $(abspath $(BIN)) --out '$(abspath $(GPU_OUT))' $(if $(QUICK),--quick)

# Libraries that such a machine may lack are linked in.
gpu-bundle: $(BIN) $(JUDGE)
	@mkdir -p '$(GPU_BUNDLE)'
	$(Q)for part in nntune:$(BUILD)/cli/main.o gpu-judge:"$(GPU_O)"; do \
	    $(CC) $(ALL_CFLAGS) $(ALL_LDFLAGS) -rdynamic -s -o '$(GPU_BUNDLE)'/$${part%%:*} $${part#*:} $(LIB) \
	        -Wl,-Bstatic -lsqlite3 -ljansson -lz -Wl,-Bdynamic -lm -ldl -lpthread || exit 1; done
	@cp tests/gpu/check.sh tests/gpu/explanations.txt '$(GPU_BUNDLE)'
	@echo "there: NNTUNE=$(GPU_BUNDLE)/nntune JUDGES=$(GPU_BUNDLE)/gpu-judge sh $(GPU_BUNDLE)/check.sh COMMIT OUT"

gpu-results:
	@sh tests/gpu/results_test.sh
check: gpu-results
