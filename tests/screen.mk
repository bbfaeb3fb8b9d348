# make screen            the screen of nntune top: captures through tmux, the terminal's modes, random keys
# make screen UPDATE=1   rewrites the captures that differ; read the diff before you commit it
# make fuzz-top          100,000 random keys and sizes at a screen built with AddressSanitizer (EVENTS=, SEED=)
.PHONY: screen fuzz-top
fuzz-top:
	@$(MAKE) --no-print-directory $(PARALLEL) BUILD=$(BUILD)-asan SANITIZE=1 OPT="-O1 -g" $(BUILD)-asan/nntune
	@NNTUNE=$(abspath $(BUILD)-asan/nntune) EVENTS=$(EVENTS) SEED=$(SEED) sh tests/run_scripts.sh screen tests/screen/fuzz.sh
screen: $(BIN)
	@NNTUNE=$(abspath $(BIN)) UPDATE=$(UPDATE) EVENTS=$(EVENTS) sh tests/run_scripts.sh screen $(or $(FILES),tests/screen/screens.sh tests/screen/terminal.sh tests/screen/log_agrees.sh)
