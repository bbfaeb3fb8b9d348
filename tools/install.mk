# make install      the program, libnntune, man page, shell completions and documents under PREFIX (/usr/local), below DESTDIR
# make uninstall    removes the same
.PHONY: install uninstall
INSTALL  ?= install
BINDIR   ?= $(PREFIX)/bin
DATADIR  ?= $(PREFIX)/share
MANDIR   ?= $(DATADIR)/man
DOCDIR   ?= $(DATADIR)/doc/nntune
LIBDIR   ?= $(PREFIX)/lib/nntune
LIBRARYDIR ?= $(PREFIX)/lib
INCLUDEDIR ?= $(PREFIX)/include
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

$(BUILD)/printed/libnntune.pc: runtime/libnntune.pc.in Makefile
	$(Q)mkdir -p $(@D)
	$(Q)sed -e 's|@PREFIX@|$(PREFIX)|' -e 's|@LIBDIR@|$(LIBRARYDIR)|' -e 's|@INCLUDEDIR@|$(INCLUDEDIR)|' \
	    -e 's|@VERSION@|$(VERSION)|' $< > $@.tmp && mv $@.tmp $@

install: $(BIN) $(INJECT) $(RUNTIME) $(PRINTED) $(BUILD)/printed/libnntune.pc
	$(INSTALL) -d $(addprefix $(DESTDIR),$(BINDIR) $(MANDIR)/man1 $(DOCDIR) $(BASHDIR) $(ZSHDIR) $(FISHDIR))
	$(INSTALL) -m 755 $(BIN) $(DESTDIR)$(BINDIR)/nntune
	$(INSTALL) -m 644 $(BUILD)/printed/nntune.1 $(DESTDIR)$(MANDIR)/man1/nntune.1
	$(INSTALL) -m 644 $(BUILD)/printed/nntune.bash $(DESTDIR)$(BASHDIR)/nntune
	$(INSTALL) -m 644 $(BUILD)/printed/nntune.zsh $(DESTDIR)$(ZSHDIR)/_nntune
	$(INSTALL) -m 644 $(BUILD)/printed/nntune.fish $(DESTDIR)$(FISHDIR)/nntune.fish
	$(INSTALL) -m 644 $(DOCS) $(DESTDIR)$(DOCDIR)/
	$(INSTALL) -d $(addprefix $(DESTDIR),$(LIBRARYDIR)/pkgconfig $(INCLUDEDIR))
	$(INSTALL) -m 644 runtime/nntune.h $(DESTDIR)$(INCLUDEDIR)/nntune.h
	$(INSTALL) -m 644 runtime/example.c $(DESTDIR)$(DOCDIR)/example.c
	$(INSTALL) -m 644 $(BUILD)/libnntune.a $(DESTDIR)$(LIBRARYDIR)/libnntune.a
	$(INSTALL) -m 644 $(BUILD)/libnntune.so $(DESTDIR)$(LIBRARYDIR)/libnntune.so.0
	ln -sf libnntune.so.0 $(DESTDIR)$(LIBRARYDIR)/libnntune.so
	$(INSTALL) -m 644 $(BUILD)/printed/libnntune.pc $(DESTDIR)$(LIBRARYDIR)/pkgconfig/libnntune.pc
ifneq ($(INJECT),)
	$(INSTALL) -d $(DESTDIR)$(LIBDIR)
	$(INSTALL) -m 644 $(INJECT) $(DESTDIR)$(LIBDIR)/libnntune-inject.so
endif

uninstall:
	rm -f $(addprefix $(DESTDIR),$(BINDIR)/nntune $(MANDIR)/man1/nntune.1 $(BASHDIR)/nntune $(ZSHDIR)/_nntune $(FISHDIR)/nntune.fish)
	rm -f $(addprefix $(DESTDIR)$(LIBRARYDIR)/,libnntune.a libnntune.so libnntune.so.0 pkgconfig/libnntune.pc) $(DESTDIR)$(INCLUDEDIR)/nntune.h
	rm -rf $(DESTDIR)$(DOCDIR) $(DESTDIR)$(LIBDIR)
