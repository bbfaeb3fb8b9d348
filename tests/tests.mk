# Test targets.
# make test    installs what is missing, then make check
# make check   every test that needs no GPU: include rules, unit tests, processes, command line
# make asan    the unit tests again under AddressSanitizer and UndefinedBehaviorSanitizer
.PHONY: test check build-tests unit process asan
test:
	@sh tools/install_deps.sh build test
	@$(MAKE) --no-print-directory $(PARALLEL) build-tests
	@$(MAKE) --no-print-directory check

build-tests: $(BIN) $(UNIT_BIN)

# One suite after another, since some of them test time limits. All run, also behind one that fails.
check: all build-tests
	@failed=; for suite in include-rules unit process golden screen; do \
	    $(MAKE) --no-print-directory $$suite || failed="$$failed $$suite"; done; \
	if [ -n "$$failed" ]; then echo "check: failed:$$failed" >&2; exit 1; fi

# Programs of many seconds that only compute.
PURE := test_search_honest test_cuda_direct_emulated test_layers_cuda test_gemm_emulated test_conv_cuda_simt \
	test_conv3x3_cuda_igemm test_attention_flash test_conv_cpu test_layers_cpu test_chain3 test_conv_bn_chain \
	test_conv3x3_cuda_winograd test_conv3x3_winograd_mma
unit: $(BIN) $(UNIT_BIN)
	@NNTUNE_EXE=$(abspath $(BIN)) PURE="$(PURE)" sh tests/run_unit.sh $(UNIT_BIN)

# Shell tests of the whole program: children that crash, hang and lie, signals, kills, resume, locks, bad input.
PROCESS := $(sort $(wildcard tests/process/*.sh))
process: $(BIN) $(INJECT)
	@NNTUNE=$(abspath $(BIN)) sh tests/run_scripts.sh process $(PROCESS)

asan:
	@sh tools/install_deps.sh build test
	@$(MAKE) --no-print-directory $(PARALLEL) BUILD=$(BUILD)-asan SANITIZE=1 OPT="-O1 -g" build-tests
	@$(MAKE) --no-print-directory BUILD=$(BUILD)-asan SANITIZE=1 OPT="-O1 -g" unit
-include tests/bench.mk
-include tests/gpu.mk
-include tests/gpu_spec.mk
-include tests/gpu_kt.mk
-include tests/gpu_kernels.mk
-include tests/gpu_profile.mk
-include tests/gpu_counters.mk
-include tests/gpu_live.mk
-include tests/gpu_top.mk
-include tests/golden.mk
-include tests/screen.mk
-include tests/report.mk
-include tests/fuzz.mk
-include tests/gpu_table.mk
