/* paths.h: where things live, by the XDG base directory rules. Functions create the folder they name (mode 0700). */
#ifndef NT_PATHS_H
#define NT_PATHS_H

#include <stddef.h>

#include "core/status.h"

/* $XDG_CACHE_HOME/nntune (default ~/.cache/nntune); NNTUNE_CACHE_DIR overrides. */
nt_status nt_path_cache(char *out, size_t capacity, nt_error *err);
/* $XDG_DATA_HOME/nntune/nntune.db: the default database (its folder is made, not the file). */
nt_status nt_path_database(char *out, size_t capacity, nt_error *err);
/* The same path for those who only read: nothing is made. */
nt_status nt_path_database_name(char *out, size_t capacity, nt_error *err);
/* Locks of devices, shared by all users of the machine: NNTUNE_LOCK_DIR or /tmp/nntune-locks (mode 1777). */
nt_status nt_path_locks(char *out, size_t capacity, nt_error *err);
/* $XDG_RUNTIME_DIR/nntune, or /tmp/nntune-<uid>: running sweeps announce themselves here. */
nt_status nt_path_runtime(char *out, size_t capacity, nt_error *err);

/* mkdir -p. */
nt_status nt_make_directories(const char *path, int mode, nt_error *err);
/* Writes a whole file under a temporary name in the same folder, syncs and renames it over `path`. */
nt_status nt_write_file(const char *path, const void *data, size_t bytes, nt_error *err);
/* Reads a whole file, at most `limit` bytes; adds a NUL after the end. Caller frees. */
nt_status nt_read_file(const char *path, size_t limit, char **out, size_t *bytes, nt_error *err);

#endif
