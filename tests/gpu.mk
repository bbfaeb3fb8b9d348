# The GPU check: needs an NVIDIA GPU, so it is no part of make test; tests/gpu/README.md.
# make check-gpu           every bar on this machine's GPU, then tests/gpu/RESULTS.md; COMMIT=hash where there is no git
# make bar-rate            one bar alone: rate, speed, time, ties, faults, odd, occupancy, halves; exit 1 when it is short
# make gpu-bundle          builds and gathers what a GPU machine without a compiler needs in GPU_BUNDLE
# make gpu-merge RESULTS=results.tgz   puts figures that came back from there into tests/gpu/RESULTS.md
GPU_OUT    ?= $(BUILD)/gpu
GPU_BUNDLE ?= $(BUILD)/gpu-bundle
GPU_BARS   := rate speed time ties faults odd occupancy halves
GPU_C      := $(wildcard tests/gpu/*.c)
GPU_O      := $(GPU_C:%.c=$(BUILD)/%.o)
JUDGE      := $(BUILD)/gpu-judge

.PHONY: check-gpu gpu-bundle gpu-merge gpu-results $(GPU_BARS:%=bar-%)
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
BUNDLE_LIBS := -Wl,-Bstatic -lsqlite3 -ljansson -lz $(if $(CURSES_H),-lncursesw -ltinfo) -Wl,-Bdynamic -lm -ldl -lpthread
gpu-bundle: $(BIN) $(JUDGE) $(INJECT)
	@mkdir -p '$(GPU_BUNDLE)'
	$(Q)for part in nntune:$(BUILD)/cli/main.o gpu-judge:"$(GPU_O)" counters-judge:"$(COUNTERS_O)"; do \
	    $(CC) $(ALL_CFLAGS) $(ALL_LDFLAGS) -rdynamic -s -o '$(GPU_BUNDLE)'/$${part%%:*} $${part#*:} $(LIB) $(BUNDLE_LIBS) || exit 1; done
	@cp $(INJECT) tests/gpu/*.sh tests/gpu/*.py tests/gpu/explanations.txt '$(GPU_BUNDLE)'
	@cp tests/gpu_counters/check.sh '$(GPU_BUNDLE)'/check-counters.sh
	@du -sh '$(GPU_BUNDLE)' && echo "there: sh $(GPU_BUNDLE)/run.sh COMMIT OUT [STEP..]; here: make gpu-merge RESULTS=OUT/results.tgz"

# Figures that GPU machines brought back, several of them one after another, become tests/gpu/RESULTS.md.
gpu-merge: $(BIN) $(JUDGE)
	@NNTUNE=$(abspath $(BIN)) JUDGES=$(abspath $(JUDGE)) sh tests/gpu/merge.sh '$(RESULTS)' '$(BUILD)/gpu-merged'

gpu-results:
	@sh tests/gpu/results_test.sh
check: gpu-results
