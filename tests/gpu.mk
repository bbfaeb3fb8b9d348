# The GPU check: needs an NVIDIA GPU, so it is no part of make test; tests/gpu/README.md.
# make check-gpu           every bar on this machine's GPU, then tests/gpu/RESULTS.md; COMMIT=hash where there is no git
# make bar-rate            one bar alone: rate, speed, time, ties, faults, odd, occupancy, halves; exit 1 when it is short
# make gpu-bundle          builds and gathers all that a GPU machine without a compiler needs for every judge in GPU_BUNDLE
# make gpu-merge RESULTS=results.tgz   puts figures that came back from there into tests/gpu/RESULTS.md
# make gpu-rehearsal       run.sh with programs that only pretend: slices, resuming, archive, merging (part of make check)
GPU_OUT    ?= $(BUILD)/gpu
GPU_BUNDLE ?= $(BUILD)/gpu-bundle
GPU_BARS   := rate speed time ties faults odd occupancy halves
GPU_C      := $(wildcard tests/gpu/*.c)
GPU_O      := $(GPU_C:%.c=$(BUILD)/%.o)
JUDGE      := $(BUILD)/gpu-judge

.PHONY: check-gpu gpu-bundle gpu-merge gpu-results gpu-rehearsal $(GPU_BARS:%=bar-%)
$(JUDGE): $(GPU_O) $(LIB)
	$(call say,LINK,$@)
	$(Q)$(CC) $(ALL_CFLAGS) $(ALL_LDFLAGS) -rdynamic -o $@ $(GPU_O) $(LIB) $(LDLIBS)

-include $(GPU_O:.o=.d)

check-gpu: $(BIN) $(JUDGE)
	@NNTUNE=$(abspath $(BIN)) JUDGES=$(abspath $(JUDGE)) sh tests/gpu/check.sh '$(COMMIT)' '$(GPU_OUT)'; code=$$?; \
	    [ $$code -gt 1 ] || [ -n '$(QUICK)' ] || \
	    NNTUNE=$(abspath $(BIN)) JUDGES=$(abspath $(JUDGE)) python3 tests/gpu/merge.py '$(GPU_OUT)'; exit $$code

$(GPU_BARS:%=bar-%): bar-%: $(BIN) $(JUDGE)
	@mkdir -p '$(GPU_OUT)'
	@$(JUDGE) $* --nntune $(abspath $(BIN)) --out '$(abspath $(GPU_OUT))' $(if $(QUICK),--quick)

# Libraries that such a machine may lack are linked in.
BUNDLE_LIBS := -Wl,-Bstatic -lsqlite3 -ljansson -lz $(if $(CURSES_H),-lncursesw -ltinfo) -Wl,-Bdynamic -lm -ldl -lpthread
# The programs, run.sh, and the judges' scripts in folders as they lie in tests/. KT's wheels stay where they were fetched.
BUNDLE_FOLDERS := $(addprefix tests/,gpu gpu_counters gpu_kernels gpu_spec gpu_kt gpu_table gpu_top)
BUNDLED        := $(BUNDLE_FOLDERS) tests/bench/bar_heldout.py tests/bench/bar_top_attached.py tests/screen/ptylib.py
gpu-bundle: $(BIN) $(JUDGE) $(INJECT)
	@mkdir -p '$(GPU_BUNDLE)'
	$(Q)for part in nntune:$(BUILD)/cli/main.o gpu-judge:"$(GPU_O)" counters-judge:"$(COUNTERS_O)" promise:tests/gpu_table/promise.c; do \
	    $(CC) $(CPPFLAGS) $(ALL_CFLAGS) $(ALL_LDFLAGS) -rdynamic -s -o '$(GPU_BUNDLE)'/$${part%%:*} $${part#*:} $(LIB) $(BUNDLE_LIBS) || exit 1; done
	@cd '$(GPU_BUNDLE)' && rm -rf $(notdir $(BUNDLE_FOLDERS)) bench screen
	@tar cf - --exclude='tests/gpu/*.[ch]' --exclude='tests/gpu_counters/*.[ch]' --exclude='tests/gpu_table/*.[ch]' \
	    --exclude=__pycache__ --exclude=RESULTS.md $(BUNDLED) | tar xf - -C '$(GPU_BUNDLE)' --strip-components=1
	@cp $(INJECT) tests/gpu/run.sh '$(GPU_BUNDLE)'
	@sh tests/gpu_spec/prepare.sh '$(GPU_BUNDLE)/gpu_spec' || echo "without Kernel Tuner's sample: PyPI is out of reach"
	@[ -e '$(GPU_BUNDLE)/kt/convolution.cu' ] || sh tests/gpu_kt/prepare.sh '$(GPU_BUNDLE)/kt' || echo "without Kernel Tuner: PyPI is out of reach"
	@du -sh '$(GPU_BUNDLE)' && echo "there: sh $(GPU_BUNDLE)/run.sh COMMIT OUT [STEP..]; here: make gpu-merge RESULTS=OUT/results.tgz"

# What GPU machines brought back, one archive or several, becomes part of tests/gpu/RESULTS.md.
gpu-merge: $(BIN) $(JUDGE)
	@NNTUNE=$(abspath $(BIN)) JUDGES=$(abspath $(JUDGE)) python3 tests/gpu/merge.py $(RESULTS)

gpu-results:
	@sh tests/gpu/results_test.sh
gpu-rehearsal:
	@sh tests/gpu/run_test.sh
check: gpu-results gpu-rehearsal
