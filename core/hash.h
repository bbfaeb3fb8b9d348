/* hash.h: content hashes: XXH3-128 as 32 hex digits (from the xxhash library's header). */
#ifndef NT_HASH_H
#define NT_HASH_H

#include <stddef.h>

#include "core/record.h"

/* Hash of the texts, each with its length, so that moving a character from one to the next changes it. */
void nt_hash_texts(const char *const *texts, int count, char out[NT_KEY_BYTES]);
void nt_hash_bytes(const void *data, size_t bytes, char out[NT_KEY_BYTES]);

#endif
