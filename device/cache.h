/* cache.h: the content-addressed store of compiled code, shared by all processes and users of one cache folder.
 *
 *     <cache>/code/<key>/code.so   what the compiler made (absent for a remembered failure)
 *     <cache>/code/<key>/meta      lines of text: figures, checksum of the code, checksum of these lines
 *     <cache>/code/tmp-<pid>-<n>/  an entry being made, or a compiler's scratch folder
 *
 * An entry appears by one rename and never changes. What was damaged since is found by its checksum, removed, and
 * counts as absent. Entries are removed by least recent use once the size cap is passed (NNTUNE_CACHE_BYTES, 4 GiB);
 * those used within the last 10 minutes stay, because a sweep may be about to load them. */
#ifndef NT_CACHE_H
#define NT_CACHE_H

#include "core/record.h"

typedef struct nt_cache_entry {
    char path[NT_PATH_BYTES]; /* of the code; empty for a failure */
    int64_t registers, smem_static_bytes, spill_bytes;
    double compile_ms;
    char error[1024]; /* the compiler's first error; empty for code */
} nt_cache_entry;

/* NT_OK: entry filled, code verified. NT_COMPILE_FAILED: remembered failure, err->what as the compiler said it.
 * NT_NOT_FOUND: absent, or damaged and now removed. Anything else: the cache folder cannot be used. */
nt_status nt_cache_get(const char *key, nt_cache_entry *out, nt_error *err);

/* Stores code under the key and fills entry->path. When another process was first, its entry is taken. */
nt_status nt_cache_put(const char *key, nt_cache_entry *entry, const char *suffix, const void *code, size_t bytes,
                       nt_error *err);
/* Remembers that this key does not compile. Does not replace code. */
nt_status nt_cache_put_failure(const char *key, const nt_cache_entry *entry, nt_error *err);

/* A fresh folder inside the cache for a compiler's files; done removes it with all it holds. */
nt_status nt_cache_scratch(char *folder, size_t capacity, nt_error *err);
void nt_cache_scratch_done(const char *folder);

/* The size cap: NNTUNE_CACHE_BYTES (digits, or with a suffix K, M, G) or 4 GiB. */
int64_t nt_cache_cap_bytes(void);
/* Removes least recently used entries until three quarters of the cap are held, when more than the cap is; also
 * leftovers of killed processes. nt_cache_put calls it now and then. */
nt_status nt_cache_trim(int64_t cap_bytes, int64_t *removed_bytes, nt_error *err);

#endif
