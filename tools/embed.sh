#!/bin/sh
# Prints C source that holds the text of file $1 as nt_embed_<directory>_<file> with dots as underscores.
set -eu
name=$(basename "$(dirname "$1")")_$(basename "$1" | tr '.-' '__')
printf 'extern const char nt_embed_%s[];\nconst char nt_embed_%s[] = {\n' "$name" "$name"
od -An -v -tx1 "$1" | sed 's/ \([0-9a-f][0-9a-f]\)/0x\1,/g'
printf '0};\n'
