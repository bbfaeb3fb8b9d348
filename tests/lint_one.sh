#!/bin/sh
# Runs clang-tidy on one file: lint_one.sh FILE COMPILER-FLAGS... The counts of suppressed warnings on stderr are dropped.
file=$1; shift
clang-tidy --quiet --config-file=.clang-tidy "$file" -- -std=c11 "$@" 2> /dev/null && exit 0
echo "  lint    $file: fix what stands above, then: make lint FILES=$file"
exit 1
