/* cache.c: looking entries up and putting them in (cache.h has the layout; cache_trim.c removes the old).
 *
 * Several processes use one folder at once without locks: an entry appears by rename, is verified by its checksums
 * whenever it is read, and leaves by rename as well. Nothing is synced: what a power cut tears fails its checksum. */
#include "device/cache.h"

#include "core/hash.h"
#include "core/paths.h"
#include "device/cache_folder.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static const char first_line[] = "nntune code 1\n";
static const size_t largest_code = (size_t)1 << 30;

/* ---- meta: lines of text, the last of which is the checksum of those before it ----------------------------------- */

static void add_number(nt_str *out, const char *name, int64_t value)
{
    if (value == NT_UNKNOWN)
        nt_str_addf(out, "%s -\n", name);
    else
        nt_str_addf(out, "%s %lld\n", name, (long long)value);
}

static void write_meta(nt_str *out, const char *key, const nt_cache_entry *entry, const char *file, const void *code,
                       size_t bytes)
{
    char checksum[NT_KEY_BYTES];
    nt_hash_bytes(code, bytes, checksum);
    nt_str_addf(out, "%skey %s\nfile %s\nbytes %zu\nchecksum %s\n", first_line, key, file, bytes, checksum);
    add_number(out, "registers", entry->registers);
    add_number(out, "smem_static_bytes", entry->smem_static_bytes);
    add_number(out, "spill_bytes", entry->spill_bytes);
    nt_str_addf(out, "compile_ms %.3f\nerror ", entry->compile_ms);
    for (const char *at = entry->error; *at != '\0'; at++)
        nt_str_add_n(out, (unsigned char)*at < ' ' ? " " : at, 1);
    nt_str_add(out, "\n");
    nt_hash_bytes(out->data, out->length, checksum);
    nt_str_addf(out, "end %s\n", checksum);
}

/* True when the lines are whole: cuts off the last one and leaves the rest. */
static bool meta_is_whole(char *meta, size_t bytes)
{
    size_t last = strlen("end ") + NT_KEY_BYTES - 1 + 1;
    char checksum[NT_KEY_BYTES], end[64];
    if (bytes <= last || strlen(meta) != bytes || strncmp(meta, first_line, sizeof first_line - 1) != 0)
        return false;
    nt_hash_bytes(meta, bytes - last, checksum);
    snprintf(end, sizeof end, "end %s\n", checksum);
    if (strcmp(meta + bytes - last, end) != 0)
        return false;
    meta[bytes - last] = '\0';
    return true;
}

/* Copies the rest of the line that begins with `name`; false when there is none. */
static bool meta_text(const char *meta, const char *name, char *out, size_t capacity)
{
    size_t length = strlen(name);
    for (const char *line = meta; *line != '\0';) {
        const char *end = strchr(line, '\n');
        if (end == NULL)
            return false;
        if (strncmp(line, name, length) == 0 && line[length] == ' ') {
            size_t bytes = (size_t)(end - line) - length - 1;
            bytes = bytes < capacity ? bytes : capacity - 1;
            memcpy(out, line + length + 1, bytes);
            out[bytes] = '\0';
            return true;
        }
        line = end + 1;
    }
    return false;
}

static int64_t meta_number(const char *meta, const char *name)
{
    char text[32];
    long long value;
    return meta_text(meta, name, text, sizeof text) && nt_parse_i64(text, &value) ? value : NT_UNKNOWN;
}

/* ---- reading ------------------------------------------------------------------------------------------------------ */

static bool code_is_whole(const char *path, int64_t bytes, const char *checksum)
{
    char *code, found[NT_KEY_BYTES];
    size_t have;
    if (nt_read_file(path, largest_code, &code, &have, NULL) != NT_OK)
        return false;
    nt_hash_bytes(code, have, found);
    free(code);
    return bytes >= 0 && have == (size_t)bytes && strcmp(found, checksum) == 0;
}

/* Fills `out` from verified lines; false when the entry contradicts itself or its code is damaged. */
static bool read_entry(const char *folder, const char *key, const char *meta, nt_cache_entry *out)
{
    char own_key[NT_KEY_BYTES], file[64], checksum[NT_KEY_BYTES], compile_ms[32];
    memset(out, 0, sizeof *out);
    if (!meta_text(meta, "key", own_key, sizeof own_key) || strcmp(own_key, key) != 0 ||
        !meta_text(meta, "file", file, sizeof file) || !meta_text(meta, "checksum", checksum, sizeof checksum) ||
        !meta_text(meta, "compile_ms", compile_ms, sizeof compile_ms) ||
        !meta_text(meta, "error", out->error, sizeof out->error))
        return false;
    out->registers = meta_number(meta, "registers");
    out->smem_static_bytes = meta_number(meta, "smem_static_bytes");
    out->spill_bytes = meta_number(meta, "spill_bytes");
    if (!nt_parse_double(compile_ms, &out->compile_ms))
        out->compile_ms = NAN;
    if (out->error[0] != '\0')
        return true;
    int length = snprintf(out->path, sizeof out->path, "%s/%s", folder, file);
    return length > 0 && (size_t)length < sizeof out->path &&
           code_is_whole(out->path, meta_number(meta, "bytes"), checksum);
}

/* The modification time of meta is the time of last use. */
static void mark_used(const char *meta_path)
{
    utimensat(AT_FDCWD, meta_path, NULL, 0);
}

static nt_status get_from(const char *folder, const char *key, nt_cache_entry *out, nt_error *err)
{
    char meta_path[NT_PATH_BYTES + 16], *meta;
    size_t bytes;
    snprintf(meta_path, sizeof meta_path, "%s/meta", folder);
    nt_status status = nt_read_file(meta_path, 65536, &meta, &bytes, err);
    if (status == NT_OK) {
        bool whole = meta_is_whole(meta, bytes) && read_entry(folder, key, meta, out);
        free(meta);
        if (whole) {
            mark_used(meta_path);
            return out->error[0] != '\0' ? nt_fail(err, NT_COMPILE_FAILED, "%s", out->error) : NT_OK;
        }
    } else if (access(folder, F_OK) != 0) {
        return nt_fail(err, NT_NOT_FOUND, "no cache entry %s", key);
    }
    nt_cache_remove(folder);
    return nt_fail(err, NT_NOT_FOUND, "cache entry %s was damaged and has been removed", key);
}

nt_status nt_cache_get(const char *key, nt_cache_entry *out, nt_error *err)
{
    char folder[NT_PATH_BYTES];
    nt_status status = nt_cache_folder(key, folder, sizeof folder, err);
    return status == NT_OK ? get_from(folder, key, out, err) : status;
}

/* ---- writing ------------------------------------------------------------------------------------------------------- */

static nt_status write_new(const char *folder, const char *file, const void *data, size_t bytes, nt_error *err)
{
    char path[NT_PATH_BYTES + 64];
    snprintf(path, sizeof path, "%s/%s", folder, file);
    int fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0700);
    size_t done = 0;
    while (fd >= 0 && done < bytes) {
        ssize_t wrote = write(fd, (const char *)data + done, bytes - done);
        if (wrote < 0 && errno != EINTR)
            break;
        done += wrote > 0 ? (size_t)wrote : 0;
    }
    int why = errno;
    if (fd >= 0 && close(fd) == 0 && done == bytes)
        return NT_OK;
    nt_fail(err, NT_IO, "cannot write %s into the compile cache: %s", path, strerror(why));
    return nt_hint(err, "make room, or name another directory in NNTUNE_CACHE_DIR");
}

/* Puts the finished folder in its place. When somebody was first, a success of theirs is taken over; a failure of
 * theirs gives way to code, and so does a damaged entry. NT_OK: `entry->path` is where the code lies now. */
static nt_status place(const char *made, const char *folder, const char *key, nt_cache_entry *entry, nt_error *err)
{
    for (int attempt = 0; attempt < 4; attempt++) {
        if (rename(made, folder) == 0)
            return NT_OK;
        if (errno != ENOTEMPTY && errno != EEXIST)
            break;
        nt_cache_entry theirs;
        nt_status status = get_from(folder, key, &theirs, NULL);
        if (status == NT_OK || (status == NT_COMPILE_FAILED && entry->error[0] != '\0')) {
            *entry = theirs;
            return NT_OK;
        }
        if (status == NT_COMPILE_FAILED)
            nt_cache_remove(folder);
    }
    nt_fail(err, NT_IO, "cannot put the cache entry %s in its place: %s", folder, strerror(errno));
    return nt_hint(err, "name a writable directory in NNTUNE_CACHE_DIR");
}

/* `vanished`: it failed because another process took the folder away under its hands. */
static nt_status put_once(const char *key, nt_cache_entry *entry, const char *file, const void *code, size_t bytes,
                          bool *vanished, nt_error *err)
{
    char folder[NT_PATH_BYTES], made[NT_PATH_BYTES];
    nt_str meta = {0};
    *vanished = false;
    nt_status status = nt_cache_folder(key, folder, sizeof folder, err);
    if (status == NT_OK)
        status = nt_cache_scratch(made, sizeof made, err);
    if (status != NT_OK)
        return status;
    write_meta(&meta, key, entry, file, code, bytes);
    if (entry->error[0] == '\0') {
        snprintf(entry->path, sizeof entry->path, "%.*s/%s", (int)(sizeof entry->path - 32), folder, file);
        status = write_new(made, file, code, bytes, err);
    }
    if (status == NT_OK)
        status = write_new(made, "meta", meta.data, meta.length, err);
    if (status == NT_OK)
        status = place(made, folder, key, entry, err);
    *vanished = status != NT_OK && access(made, F_OK) != 0;
    nt_cache_scratch_done(made);
    nt_str_done(&meta);
    return status;
}

static nt_status put(const char *key, nt_cache_entry *entry, const char *file, const void *code, size_t bytes,
                     nt_error *err)
{
    bool vanished = true;
    nt_status status = NT_IO;
    for (int attempt = 0; attempt < NT_CACHE_ATTEMPTS && vanished; attempt++)
        status = put_once(key, entry, file, code, bytes, &vanished, err);
    return status;
}

nt_status nt_cache_put(const char *key, nt_cache_entry *entry, const char *suffix, const void *code, size_t bytes,
                       nt_error *err)
{
    char file[24];
    snprintf(file, sizeof file, "code%s", suffix);
    entry->error[0] = '\0';
    nt_status status = put(key, entry, file, code, bytes, err);
    if (status == NT_OK)
        nt_cache_inserted(key, (int64_t)bytes);
    return status;
}

nt_status nt_cache_put_failure(const char *key, const nt_cache_entry *entry, nt_error *err)
{
    nt_cache_entry failure = *entry;
    failure.path[0] = '\0';
    if (failure.error[0] == '\0')
        nt_copy(failure.error, sizeof failure.error, "does not compile; the compiler gave no reason");
    return put(key, &failure, "-", "", 0, err);
}
