#!/bin/sh
# contact_sheet.sh DATABASE FILE.svg [LOG]: every kind of plot that the database has data for, on one sheet, as docs/plots.svg.
# NNTUNE names the program.
set -eu
nntune=${NNTUNE:-build/nntune}; database=$1; sheet=$2; log=${3:-/nowhere}
folder=$(mktemp -d); trap 'rm -rf "$folder"' EXIT
kinds=$("$nntune" plot '?' 2>&1 | sed -n 's/.*kinds: //p' | tr -d ,)
shown=
for kind in $kinds; do
    if "$nntune" plot "$kind" --db "$database" --log "$log" -q -o "$folder/$kind.svg" 2> /dev/null; then shown="$shown $kind"; fi
done
[ -n "$shown" ] || { echo "contact sheet: $database has data for no plot" >&2; exit 1; }
set -- $shown
columns=3; rows=$((($# + columns - 1) / columns)); number=0
{
    echo "<svg xmlns=\"http://www.w3.org/2000/svg\" xmlns:xlink=\"http://www.w3.org/1999/xlink\"" \
         "width=\"1500\" height=\"$((rows * 330))\" viewBox=\"0 0 $((columns * 810)) $((rows * 530))\">"
    echo '<rect width="100%" height="100%" fill="#ffffff"/>'
    for kind in "$@"; do
        echo "<svg x=\"$((number % columns * 810))\" y=\"$((number / columns * 530))\" width=\"800\" height=\"520\">"
        sed '1,/^>/d' "$folder/$kind.svg"
        number=$((number + 1))
    done
    echo '</svg>'
} > "$folder/sheet.svg"
mv "$folder/sheet.svg" "$sheet"
echo "$sheet:$shown"
