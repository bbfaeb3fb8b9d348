# make install      the program, man page, shell completions and documents under PREFIX (/usr/local), below DESTDIR
# make uninstall    removes the same
.PHONY: install uninstall
INSTALL  ?= install
BINDIR   ?= $(PREFIX)/bin
DATADIR  ?= $(PREFIX)/share
MANDIR   ?= $(DATADIR)/man
DOCDIR   ?= $(DATADIR)/doc/nntune
LIBDIR   ?= $(PREFIX)/lib/nntune
BASHDIR  ?= $(DATADIR)/bash-completion/completions
ZSHDIR   ?= $(DATADIR)/zsh/site-functions
FISHDIR  ?= $(DATADIR)/fish/vendor_completions.d
DOCS     := $(wildcard README.md LICENSE docs/*.md)

# What the program prints about itself, installed with it.
PRINTED  := $(BUILD)/printed/nntune.1 $(BUILD)/printed/nntune.bash $(BUILD)/printed/nntune.zsh $(BUILD)/printed/nntune.fish
$(BUILD)/printed/nntune.%: PRINT = completion $(patsubst .%,%,$(suffix $@))
$(BUILD)/printed/nntune.1: PRINT = manpage
$(PRINTED): $(BIN)
	$(Q)mkdir -p $(@D)
	$(Q)$(abspath $(BIN)) $(PRINT) > $@.tmp && mv $@.tmp $@

install: $(BIN) $(INJECT) $(PRINTED)
	$(INSTALL) -d $(addprefix $(DESTDIR),$(BINDIR) $(MANDIR)/man1 $(DOCDIR) $(BASHDIR) $(ZSHDIR) $(FISHDIR))
	$(INSTALL) -m 755 $(BIN) $(DESTDIR)$(BINDIR)/nntune
	$(INSTALL) -m 644 $(BUILD)/printed/nntune.1 $(DESTDIR)$(MANDIR)/man1/nntune.1
	$(INSTALL) -m 644 $(BUILD)/printed/nntune.bash $(DESTDIR)$(BASHDIR)/nntune
	$(INSTALL) -m 644 $(BUILD)/printed/nntune.zsh $(DESTDIR)$(ZSHDIR)/_nntune
	$(INSTALL) -m 644 $(BUILD)/printed/nntune.fish $(DESTDIR)$(FISHDIR)/nntune.fish
	$(INSTALL) -m 644 $(DOCS) $(DESTDIR)$(DOCDIR)/
ifneq ($(INJECT),)
	$(INSTALL) -d $(DESTDIR)$(LIBDIR)
	$(INSTALL) -m 644 $(INJECT) $(DESTDIR)$(LIBDIR)/libnntune-inject.so
endif

uninstall:
	rm -f $(addprefix $(DESTDIR),$(BINDIR)/nntune $(MANDIR)/man1/nntune.1 $(BASHDIR)/nntune $(ZSHDIR)/_nntune $(FISHDIR)/nntune.fish)
	rm -rf $(DESTDIR)$(DOCDIR) $(DESTDIR)$(LIBDIR)
