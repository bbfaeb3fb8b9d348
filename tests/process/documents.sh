# Help, man page and the completions of three shells name the same commands and options; make install puts them in place and
# uninstall takes them away.
. "$TESTS/process_lib.sh"
commands=$("$NNTUNE" help | sed -n '/^Tune:/,/^Exit codes:/s/^  \([a-z]*\) .*/\1/p')
at_least "commands in help" "$(echo "$commands" | wc -l)" 9
"$NNTUNE" manpage > page
sed 's/\\-/-/g; s/\\f[BIR]//g' page > plain
"$NNTUNE" completion bash > comp.bash
"$NNTUNE" completion zsh > comp.zsh
"$NNTUNE" completion fish > comp.fish
long() { grep -o -e '--[a-z][a-z-]*' | sort -u; }
for command in $commands; do
    "$NNTUNE" help "$command" | sed '1,/^Options:/d' | grep -o -e '^ .\{5\}--[a-z-]*' | long > help
    at_least "options of $command" "$(wc -l < help)" 1
    awk -v head="^\\.SS nntune $command " '$0 ~ head { on = 1; next } /^\.S[SH]/ { on = 0 } on && /^(-[a-z], )?--/' plain | long > man
    cmp help man || fail "help and man page differ on $command: $(diff help man)"
    grep -F "    \"$command \"*)" comp.bash | long > bash
    cmp help bash || fail "help and the completion of bash differ on $command: $(diff help bash)"
    awk -v head="^    $command\\\\) _arguments" '$0 ~ head { on = 1; next } / ;;$/ && on { print; on = 0 } on' comp.zsh |
        sed 's/\[.*//' | long > zsh
    cmp help zsh || fail "help and the completion of zsh differ on $command: $(diff help zsh)"
    sed -n "s/.*__fish_seen_subcommand_from $command' -l \\([a-z-]*\\).*/--\\1/p" comp.fish | sort > fish
    cmp help fish || fail "help and the completion of fish differ on $command: $(diff help fish)"
done

# The keys of the screen, in its help and in the man page, are those of one table.
NNTUNE_LIBCUDA=/nonexistent "$NNTUNE" top --view help --dump csv | sed '1d; /^[1-9],/d; s/^"\(.*\)",/\1\t/; t; s/,/\t/' |
    sed 's/\t"\(.*\)"$/\t\1/' > shown
sed -n '/^\.SH KEYS/,/^\.SH WARNINGS/p' plain | sed 's/\\e/\\/g' | awk '/^\.B / { name = substr($0, 4); getline; print name "\t" $0 }' > printed
at_least "keys in the man page" "$(wc -l < printed)" 25
cmp shown printed || fail "help and man page differ on keys: $(diff shown printed)"

# What hidden commands do is no secret, but no help names them.
"$NNTUNE" help | grep -q -w -e completion -e manpage && fail "help names a hidden command"

# Every exit code of the help stands in the man page, and every variable that the program reads.
"$NNTUNE" help | sed -n '/^Exit codes:/,/^$/s/^  \([0-9+N]*\) .*/\1/p' > codes
equal "exit codes" "$(wc -l < codes)" 7
while read -r code; do grep -qx ".B $code" plain || fail "exit code $code is not in the man page"; done < codes
grep -rhoE 'getenv\("(NNTUNE_[A-Z_]*|NO_COLOR)"\)' "$TESTS"/../core "$TESTS"/../device "$TESTS"/../autotune "$TESTS"/../cli |
    sed 's/getenv("//; s/")//' | grep -v -e _FAKE_ -e _EXE -e _PRETEND_ | sort -u > variables
at_least variables "$(wc -l < variables)" 6
while read -r name; do grep -qx ".B $name" plain || fail "$name is not in the man page"; done < variables
grep -rhoE 'warn(ing)?\((sweep|args|sweep->events->context), "[a-z-]*"' "$TESTS"/../autotune "$TESTS"/../cli | sed 's/.*"\(.*\)"/\1/' | sort -u > ids
at_least "warnings" "$(wc -l < ids)" 2
while read -r id; do grep -qx ".B $id" plain || fail "warning $id is not in the man page"; done < ids

# The scripts are sound, and bash's does what it says.
sh -n comp.bash 2> /dev/null || bash -n comp.bash
if command -v zsh > /dev/null; then zsh -n comp.zsh; fi
if command -v fish > /dev/null; then fish -n comp.fish; fi
if command -v bash > /dev/null; then
    complete() { bash -c '. ./comp.bash; COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); _nntune; echo "${COMPREPLY[*]}"' nntune nntune "$@"; }
    equal "commands with sw" "$(complete sw)" sweep
    equal "layers" "$(complete sweep conv3)" conv3x3
    equal "options with --prec" "$(complete sweep --prec)" --precision
    equal "choices" "$(complete sweep --cache '')" "cold hot both"
    equal "no choices" "$(complete sweep --batch '')" ""
    touch some.db
    equal "files" "$(complete best --db som)" some.db
fi

build=$(dirname "$NNTUNE")
rm -rf "$build/printed" # pages of an older build, which -o would leave as they are
make -s -o "$NNTUNE" -C "$TESTS/.." BUILD="$build" PREFIX=/usr DESTDIR="$PWD/root" install > log 2>&1 || fail "make install: $(cat log)"
for file in bin/nntune share/man/man1/nntune.1 share/bash-completion/completions/nntune share/zsh/site-functions/_nntune \
    share/fish/vendor_completions.d/nntune.fish share/doc/nntune/SCHEMA.md; do
    [ -s "root/usr/$file" ] || fail "$file is not installed"
done
cmp page root/usr/share/man/man1/nntune.1
equal "the installed program" "$(root/usr/bin/nntune --version)" "$("$NNTUNE" --version)"
make -s -o "$NNTUNE" -C "$TESTS/.." BUILD="$build" PREFIX=/usr DESTDIR="$PWD/root" uninstall > log 2>&1 || fail "make uninstall: $(cat log)"
equal "left after uninstall" "$(find root -type f)" ""
