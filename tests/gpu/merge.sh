#!/bin/sh
# merge.sh RESULTS.tgz FOLDER: adds what run.sh brought back from a GPU machine to what FOLDER holds from earlier ones, and
# writes tests/gpu/RESULTS.md from all of it. The commit is the one that the newest step was judged at.
set -eu
results=${1:-} folder=${2:?usage: merge.sh RESULTS.tgz FOLDER}
here=$(cd "$(dirname "$0")" && pwd)
[ -f "$results" ] || { echo "merge.sh: '$results' is no file: name the results.tgz that run.sh left (RESULTS=...)" >&2; exit 2; }
mkdir -p "$folder"
tar xzf "$results" -C "$folder" || { echo "merge.sh: $results is no archive of run.sh" >&2; exit 1; }
commit=$(cat "$folder"/*.done 2> /dev/null | sort -k 2 | tail -n 1 | cut -d ' ' -f 1)
[ -n "$commit" ] || { echo "merge.sh: $results holds no judged step" >&2; exit 1; }
case $commit in *--quick) echo "merge.sh: $results is of a rehearsal (QUICK=1), whose verdicts mean nothing" >&2; exit 1 ;; esac
(cd "$folder" && sha256sum ./*.db 2> /dev/null | sed 's|\./||') > "$folder/digests" || true
"$JUDGES" report --nntune "$NNTUNE" --out "$folder" --commit "$commit" --explanations "$here/explanations.txt"
cp "$folder/RESULTS.md" "$here/RESULTS.md"
echo "written: $here/RESULTS.md; say in $here/explanations.txt why what is short is short, then merge again"
