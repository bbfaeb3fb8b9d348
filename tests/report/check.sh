#!/bin/sh
# check.sh: opens a report of a real sweep in headless Chromium at 400 and 1280 pixels, light and dark, and asks the page:
# nothing on the console, nothing wider than the window, contrast of at least 4.5 to 1, tables that sort. Then a database of
# 100,000 trials, made by FILLER when given: its report under 2 MB in under 3 s. NNTUNE names the program.
set -eu
: "${NNTUNE:?NNTUNE names the program under test}"
here=$(cd "$(dirname "$0")" && pwd)
room=$(mktemp -d); trap 'rm -rf "$room"' EXIT
fail() { echo "check-report: $*" >&2; exit 1; }
command -v chromium > /dev/null || fail "chromium is not installed: apt-get install chromium"
export HOME="$room" NNTUNE_LOCK_DIR="$room/locks"
cd "$room"

# The questions run in the page itself, behind its own script. A window has a least width, so the page stands in a frame of the
# width asked for; the page around it takes the answer as its title.
open_page() { # file, width, colors (0 dark, 1 light)
    { printf '<script>window.problems=[];window.onerror=(m)=>problems.push("error: "+m)</script>'; cat "$1"
      printf '<script>'; cat "$here/questions.js"; printf '</script>'; } > page.html
    printf '<title>-</title><script>onmessage=e=>{document.title=e.data}</script><iframe src=page.html style="border:0;width:%spx;height:900px"></iframe>' \
        "$2" > frame.html
    chromium --headless --no-sandbox --disable-gpu --disable-dev-shm-usage --hide-scrollbars --window-size=1400,1000 \
        --blink-settings=preferredColorScheme="$3" --enable-logging=stderr --user-data-dir="$room/profile" \
        --virtual-time-budget=5000 --dump-dom "file://$room/frame.html" > dom 2> log || fail "chromium: $(tail -3 log)"
    answer=$(sed -n 's/.*<title>\(answers: [^<]*\)<.*/\1/p' dom | head -1)
    [ "$answer" = "answers: $2 none" ] || fail "$1 at $2 pixels, colors $3: ${answer:-no answer}"
    if grep ':CONSOLE' log; then fail "$1 at $2 pixels writes to the console"; fi
    echo "  ok      $(basename "$1") at $2 pixels, $([ "$3" = 0 ] && echo dark || echo light)"
}

"$NNTUNE" sweep conv3x3 --device cpu --shape 8x12x12 --batch 1,2 --precision fp32,int8 --kernel direct --budget 24 --seed 1 \
    --db t.db -q > /dev/null
"$NNTUNE" report --db t.db -o t.html -q
for width in 400 1280; do for colors in 0 1; do open_page "$room/t.html" $width $colors; done; done

[ $# -gt 0 ] || exit 0
"$1" 100000 "$room/large.db" > /dev/null || true # it judges the database, and is asked for the file alone
"$NNTUNE" report --db large.db -o large.html -q # once for the file cache
begin=$(date +%s%N); "$NNTUNE" report --db large.db -o large.html -q; ms=$((($(date +%s%N) - begin) / 1000000))
bytes=$(wc -c < large.html)
echo "  100,000 trials: $bytes bytes in $ms ms; bars 2,000,000 bytes, 3,000 ms"
[ "$bytes" -lt 2000000 ] || fail "the report is too large"
[ "$ms" -lt 3000 ] || fail "the report takes too long"
grep -q 'density' large.html || fail "a hundred thousand points are not said to be bins"
open_page "$room/large.html" 400 1
