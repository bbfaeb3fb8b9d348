#!/bin/sh
# results_test.sh [FILE]: the stored results of the GPU check must be of a commit that this tree contains, and each
# figure that is short of its bar must be explained in them. Skips, saying why, where there is nothing to compare with.
set -eu
cd "$(dirname "$0")/../.."
file=${1:-tests/gpu/RESULTS.md}
[ -f "$file" ] || { echo "gpu results: skipped, there is no $file yet (make check-gpu on a machine with a GPU)"; exit 0; }
bad=$(awk -F ' *[|] *' '
    /^## / { figures = $0 == "## Figures" }
    figures && /^\| [a-z]+ \|/ && $2 != "bar" && $7 != "" && $7 != "holds" { need[$2 ", " $3] = 1 }
    /^- / { line = substr($0, 3); for (key in need) if (index(line, key ": ") == 1 && length(line) > length(key) + 12) delete need[key] }
    END { for (key in need) print "  " key }' "$file")
[ -z "$bad" ] || { printf 'gpu results: short of the bar and not explained in %s:\n%s\n' "$file" "$bad" >&2; exit 1; }
commits=$(sed -n 's/^| commit | \([0-9a-f]*\) .*/\1/p; s/^| bar [a-z]* judged at | \([0-9a-f]*\)[ -].*/\1/p' "$file" | sort -u)
[ -n "$commits" ] || { echo "gpu results: $file names no commit" >&2; exit 1; }
! grep '^| bar [a-z]* judged at | never' "$file" >&2 || { echo "gpu results: a bar was never judged" >&2; exit 1; }
if ! git rev-parse --git-dir > /dev/null 2>&1; then echo "gpu results: explained; commits not compared, this is no git checkout"; exit 0; fi
if [ "$(git rev-parse --is-shallow-repository)" = true ]; then echo "gpu results: explained; commits not compared, the history is cut short"; exit 0; fi
for commit in $commits; do
    git merge-base --is-ancestor "$commit" HEAD 2> /dev/null ||
        { echo "gpu results: commit $commit is no ancestor of HEAD: run make check-gpu again" >&2; exit 1; }
done
echo "gpu results: every figure holds or is explained, commits are in the history:" $commits
