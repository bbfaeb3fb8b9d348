# Test targets.
.PHONY: test unit
unit: $(UNIT_BIN)
	@sh tests/run_unit.sh $(UNIT_BIN)
test: unit
-include tests/bench.mk
