# Test targets.
# make test    installs what is missing, then make check
# make check   every test that needs no GPU: include rules, unit tests, processes, command line
# make asan    the unit tests again under AddressSanitizer and UndefinedBehaviorSanitizer
.PHONY: test check unit process asan
test:
	@sh tools/install_deps.sh build test
	@$(MAKE) --no-print-directory check

check: all include-rules unit process golden

unit: $(BIN) $(UNIT_BIN)
	@NNTUNE_EXE=$(abspath $(BIN)) sh tests/run_unit.sh $(UNIT_BIN)

# Shell tests of the whole program: children that crash, hang and lie, signals, kills, resume, locks, bad input.
PROCESS := $(sort $(wildcard tests/process/*.sh))
process: $(BIN)
	@NNTUNE=$(abspath $(BIN)) sh tests/run_scripts.sh process $(PROCESS)

asan:
	@sh tools/install_deps.sh build test
	@$(MAKE) --no-print-directory BUILD=$(BUILD)-asan SANITIZE=1 OPT="-O1 -g" unit
-include tests/bench.mk
-include tests/gpu.mk
