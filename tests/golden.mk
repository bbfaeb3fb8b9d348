# Golden tests of the command line: transcripts in tests/golden (tests/run_golden.sh says how they read).
# make golden               runs them; FILES="tests/golden/help.t" runs those alone
# make golden UPDATE=1      rewrites the cases that fail; read the diff before you commit it
.PHONY: golden
GOLDEN := $(sort $(wildcard tests/golden/*.t))
golden: $(BIN)
	@NNTUNE=$(abspath $(BIN)) sh tests/run_golden.sh $(if $(UPDATE),--update) $(or $(FILES),$(GOLDEN))
