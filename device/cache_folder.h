/* cache_folder.h: what cache.c and cache_trim.c share: where entries lie, how they leave, when to look for old ones. */
#ifndef NT_CACHE_FOLDER_H
#define NT_CACHE_FOLDER_H

#include "core/record.h"

/* Another process may remove the whole cache between two steps of an operation: so often it begins anew. */
enum { NT_CACHE_ATTEMPTS = 5 };

/* <cache>/code/<key>, or <cache>/code for key NULL; <cache>/code is made. */
nt_status nt_cache_folder(const char *key, char *out, size_t capacity, nt_error *err);

/* Removes an entry: first renamed, so that no reader sees half of it. */
void nt_cache_remove(const char *folder);

/* Counts an insertion and trims when it is time. */
void nt_cache_inserted(const char *key, int64_t bytes);

#endif
