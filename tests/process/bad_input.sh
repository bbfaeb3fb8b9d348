# What the machine can do to a sweep: no compiler, a cache that cannot be written or is damaged, a database that fills up, is
# locked, removed or moved away in the middle, trials that all fail. Each a message that names the thing and the next step, the
# documented exit code, and nothing lost. (Wrong words on the command line are tested in tests/golden.)
. "$TESTS/process_lib.sh"
here=$PWD
chmod 755 . ..
fake() { "$NNTUNE" sweep conv3x3 --device fake --shape 4x7x7 --batch 1 --precision fp32 --strategy random "$@"; }
background() { rm -f err; "$NNTUNE" sweep conv3x3 --device fake --shape 4x7x7 --batch 1 --precision fp32 --strategy random "$@" > out 2> err & pid=$!; }
stored() { count "$1" 'select count(*) from trial' 2> /dev/null || echo 0; }
code_of() { code=0; wait "$1" || code=$?; }
# as somebody whom permissions stop
unprivileged() { if [ "$(id -u)" = 0 ]; then setpriv --reuid=65534 --clear-groups "$@"; else "$@"; fi; }

# ---- compiler and cache
mkdir empty
refused "no C compiler" 3 'no C compiler' 'gcc' 'NNTUNE_CC' -- env PATH="$here/empty" "$NNTUNE" sweep conv3x3 --device cpu --budget 5 -q --db n.db
mkdir -m 555 sealed; mkdir -m 777 open
cp "$NNTUNE" open/nntune # the build may lie where nobody else may look, such as /root
refused "cache that cannot be written" 1 "$here/sealed" 'ermission denied' -- \
    unprivileged env NNTUNE_CACHE_DIR="$here/sealed" NNTUNE_LOCK_DIR="$here/open" "$here/open/nntune" sweep conv3x3 --device fake --shape 4x7x7 --budget 5 -q --db open/c.db
: > file
refused "folder of locks that is none" 1 "$here/file" -- env NNTUNE_LOCK_DIR="$here/file" "$NNTUNE" sweep conv3x3 --device fake --shape 4x7x7 --budget 5 -q --db n.db

export NNTUNE_CACHE_DIR="$here/cache"
fake --budget 30 --json --db c.db > first
find cache -type f ! -name '*lock*' | while read -r entry; do printf 'damage' | dd of="$entry" bs=1 seek=3 conv=notrunc 2> dd.log; done
fake --budget 30 --json --db c.db > second
equal "ok with damaged entries" "$(grep -c '"type":"trial".*"outcome":"\(ok\|abandoned\)"' second)" 30
grep -q '"cache_hits":0,' second || fail "damaged entries were used: $(tail -1 second)"

# The cache taken away again and again: what was compiled and waits for its turn is compiled once more, and no configuration is
# blamed. (One may be: between the look at its file and its loading.)
export NNTUNE_FAKE_COMPILE_MS=20
background --budget 300 --seed 8 -q --db moved.db
for i in 1 2 3 4 5; do sleep 0.4; mv cache "moved-$i" 2> mv.log || true; done
code_of $pid; [ $code -eq 0 ] || fail "exit without a cache: expected 0, found $code: $(tail -3 err)"
equal trials "$(stored moved.db)" 300
[ "$(count moved.db "select count(*) from trial where outcome not in ('ok', 'abandoned')")" -le 1 ] || fail "configurations are blamed: $(count moved.db "select outcome, reason from trial where outcome not in ('ok', 'abandoned')")"
unset NNTUNE_FAKE_COMPILE_MS

# ---- database: full, then gone on with
export NNTUNE_FAKE_COMPILE_MS=5
code=0; (ulimit -f 1400; fake --budget 3000 --seed 4 -q --db full.db > out 2> err) || code=$?
equal "exit with a full database" $code 1
grep -q 'full.db' err || fail "the database is not named: $(cat err)"
grep -q 'everything stored before is kept' err || fail "no word that nothing is lost: $(cat err)"
equal "state of the run" "$(count full.db "select state in ('failed', 'running') from run")" 1
kept=$(stored full.db); at_least "trials kept" "$kept" 5; sound full.db
fake --budget $((kept + 20)) --seed 4 --resume -q --db full.db > out
equal "trials after going on" "$(stored full.db)" $((kept + 20)); no_twice full.db; sound full.db

# ---- locked for a while: the sweep waits
export NNTUNE_FAKE_COMPILE_MS=20
background --budget 150 --seed 5 -q --db locked.db
until_true 10 'trials are stored' '[ "$(stored locked.db)" -ge 5 ]'
printf 'begin exclusive;\n.shell sleep 4\ncommit;\n' | sqlite3 -cmd '.timeout 10000' locked.db
code_of $pid; equal "exit after a lock of 4 s" $code 0
equal "trials" "$(stored locked.db)" 150
equal "trials that did not end well" "$(count locked.db "select count(*) from trial where outcome not in ('ok', 'abandoned')")" 0

# ---- removed, moved away
for how in rm mv; do
    background --budget 60s --seed 6 -q --db gone.db
    until_true 10 'trials are stored' '[ "$(stored gone.db)" -ge 5 ]'
    if [ $how = rm ]; then rm -f gone.db gone.db-wal gone.db-shm; else mv gone.db elsewhere.db; fi
    code_of $pid; equal "exit after $how" $code 1
    grep -q 'gone.db was removed or moved away' err || fail "$how was not noticed: $(cat err)"
    gone $pid 2
done
mv elsewhere.db gone.db # as the message says
at_least "trials in the file that was put back" "$(stored gone.db)" 5; sound gone.db
fake --budget $(($(stored gone.db) + 5)) --seed 6 --resume -q --db gone.db > out 2>&1 || fail "it cannot be gone on with: $(cat out)"
equal runs "$(count gone.db 'select count(*) from run')" 1

# ---- a reader that leaves costs the lines, not the results
unset NNTUNE_FAKE_COMPILE_MS
(fake --budget 40 --json --db reader.db 2> err || true) | head -n 1 > line
equal "trials without a reader" "$(stored reader.db)" 40

# ---- trials that all fail
list() { seq -s, -f "$1@%g" 1 40; }
rm -f "$NNTUNE_FAKE_STATE"; code=0; NNTUNE_FAKE_FAULT=$(list launch) "$NNTUNE" sweep conv3x3 --device fake --shape 4x7x7 --batch 1 --precision fp32 --budget 7 -q --db bad.db > out 2> err || code=$?
equal "exit when nothing can be launched" $code 1; grep -q '7 launch_failed' err || fail "no counts: $(cat err)"
rm -f "$NNTUNE_FAKE_STATE"; code=0; NNTUNE_FAKE_FAULT=$(list wrong) "$NNTUNE" sweep conv3x3 --device fake --shape 4x7x7 --batch 1 --precision fp32 --budget 7 -q --db bad.db > out 2> err || code=$?
equal "exit when every result is wrong" $code 4
equal "trials that say why" "$(count bad.db 'select count(*) from trial where reason is not null')" 14
