# make screen            the screen of nntune top: captures through tmux, the terminal's modes, random keys
# make screen UPDATE=1   rewrites the captures that differ; read the diff before you commit it
.PHONY: screen
screen: $(BIN)
	@NNTUNE=$(abspath $(BIN)) UPDATE=$(UPDATE) EVENTS=$(EVENTS) sh tests/run_scripts.sh screen $(or $(FILES),tests/screen/screens.sh tests/screen/terminal.sh)
