/* cache_trim.c: the folder of the cache: its place, scratch folders in it, and removal of what was used least recently.
 *
 * Trimming reads the whole folder, so it is rare: on average every 256th insertion (told by the key, so that
 * short-lived processes share the duty without a counter), and once a process has itself added a good part of the cap.
 */
#include "device/cache.h"
#include "device/cache_folder.h"

#include "core/mem.h"
#include "core/paths.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

static const int64_t default_cap_bytes = (int64_t)4 << 30;
enum { YOUNG_S = 600, LEFTOVER_S = 3600 };

/* ---- places --------------------------------------------------------------------------------------------------------- */

static nt_status folder_once(const char *key, char *out, size_t capacity, bool *vanished, nt_error *err)
{
    char base[NT_PATH_BYTES];
    *vanished = false;
    nt_status status = nt_path_cache(base, sizeof base, err);
    if (status != NT_OK)
        return status;
    int length = snprintf(out, capacity, "%s/code", base);
    /* Room for the key and the longest file name of an entry, so that nothing later has to be cut. */
    if (length < 0 || (size_t)length + 64 + NT_KEY_BYTES >= capacity) {
        nt_fail(err, NT_IO, "the path of the cache directory %.200s... is too long", base);
        return nt_hint(err, "name a shorter one in NNTUNE_CACHE_DIR");
    }
    if (mkdir(out, 0700) != 0 && errno != EEXIST) {
        *vanished = errno == ENOENT;
        nt_fail(err, NT_IO, "cannot make the directory %s: %s", out, strerror(errno));
        return nt_hint(err, "name a writable directory in NNTUNE_CACHE_DIR");
    }
    if (key != NULL)
        snprintf(out + length, capacity - (size_t)length, "/%s", key);
    return NT_OK;
}

nt_status nt_cache_folder(const char *key, char *out, size_t capacity, nt_error *err)
{
    bool vanished = true;
    nt_status status = NT_IO;
    for (int attempt = 0; attempt < NT_CACHE_ATTEMPTS && vanished; attempt++)
        status = folder_once(key, out, capacity, &vanished, err);
    return status;
}

static nt_status scratch_once(char *folder, size_t capacity, bool *vanished, nt_error *err)
{
    *vanished = false;
    nt_status status = nt_cache_folder(NULL, folder, capacity, err);
    if (status != NT_OK)
        return status;
    size_t length = strlen(folder);
    snprintf(folder + length, capacity - length, "/tmp-XXXXXX");
    if (mkdtemp(folder) == NULL) {
        *vanished = errno == ENOENT;
        folder[length] = '\0';
        nt_fail(err, NT_IO, "cannot write into the compile cache %s: %s", folder, strerror(errno));
        return nt_hint(err, "name a writable directory in NNTUNE_CACHE_DIR");
    }
    return NT_OK;
}

nt_status nt_cache_scratch(char *folder, size_t capacity, nt_error *err)
{
    bool vanished = true;
    nt_status status = NT_IO;
    for (int attempt = 0; attempt < NT_CACHE_ATTEMPTS && vanished; attempt++)
        status = scratch_once(folder, capacity, &vanished, err);
    return status;
}

static int remove_one(const char *path, const struct stat *info, int type, struct FTW *walk)
{
    (void)info;
    (void)type;
    (void)walk;
    remove(path);
    return 0;
}

void nt_cache_scratch_done(const char *folder)
{
    nftw(folder, remove_one, 8, FTW_DEPTH | FTW_PHYS);
}

void nt_cache_remove(const char *folder)
{
    char away[NT_PATH_BYTES];
    if (nt_cache_scratch(away, sizeof away, NULL) != NT_OK)
        return;
    /* rename() replaces an empty folder; one that another process took first is simply gone. */
    rename(folder, away);
    nt_cache_scratch_done(away);
}

/* ---- the cap ---------------------------------------------------------------------------------------------------------- */

int64_t nt_cache_cap_bytes(void)
{
    static const char suffixes[] = "KMGT";
    const char *text = getenv("NNTUNE_CACHE_BYTES");
    char digits[32];
    long long value;
    if (text == NULL || !nt_copy(digits, sizeof digits, text) || digits[0] == '\0')
        return default_cap_bytes;
    size_t last = strlen(digits) - 1;
    const char *suffix = strchr(suffixes, digits[last]);
    int shift = suffix != NULL ? 10 * (int)(suffix - suffixes + 1) : 0;
    if (suffix != NULL)
        digits[last] = '\0';
    if (!nt_parse_i64(digits, &value) || value <= 0 || value > (INT64_MAX >> shift))
        return default_cap_bytes;
    return (int64_t)value << shift;
}

typedef struct used_entry {
    char name[NT_KEY_BYTES];
    int64_t bytes;
    struct timespec used;
} used_entry;

static int by_use(const void *a, const void *b)
{
    const used_entry *x = a, *y = b;
    if (x->used.tv_sec != y->used.tv_sec)
        return x->used.tv_sec < y->used.tv_sec ? -1 : 1;
    if (x->used.tv_nsec != y->used.tv_nsec)
        return x->used.tv_nsec < y->used.tv_nsec ? -1 : 1;
    return strcmp(x->name, y->name);
}

/* Bytes of the files of an entry as the disk holds them, and when meta was last touched. */
static bool measure_entry(int root, const char *name, used_entry *out)
{
    int fd = openat(root, name, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    DIR *files = fd >= 0 ? fdopendir(fd) : NULL;
    if (files == NULL) {
        if (fd >= 0)
            close(fd);
        return false;
    }
    struct stat info;
    nt_copy(out->name, sizeof out->name, name);
    out->bytes = 0;
    out->used = (struct timespec){0, 0}; /* without meta it is nobody's: first to go */
    for (struct dirent *file = readdir(files); file != NULL; file = readdir(files)) {
        if (file->d_name[0] == '.' || fstatat(fd, file->d_name, &info, AT_SYMLINK_NOFOLLOW) != 0)
            continue;
        out->bytes += (int64_t)info.st_blocks * 512;
        if (strcmp(file->d_name, "meta") == 0)
            out->used = info.st_mtim;
    }
    closedir(files);
    return true;
}

static void remove_leftover(int root, const char *folder, const char *name, time_t now)
{
    struct stat info;
    char path[NT_PATH_BYTES + 256];
    if (fstatat(root, name, &info, AT_SYMLINK_NOFOLLOW) != 0 || now - info.st_mtime < LEFTOVER_S)
        return;
    snprintf(path, sizeof path, "%s/%s", folder, name);
    nt_cache_scratch_done(path);
}

static size_t list_entries(const char *folder, time_t now, used_entry **out, int64_t *total_bytes)
{
    void *list = NULL;
    size_t count = 0, capacity = 0;
    DIR *entries = opendir(folder);
    *total_bytes = 0;
    for (struct dirent *at; entries != NULL && (at = readdir(entries)) != NULL;) {
        if (strncmp(at->d_name, "tmp-", 4) == 0)
            remove_leftover(dirfd(entries), folder, at->d_name, now);
        if (strlen(at->d_name) != NT_KEY_BYTES - 1)
            continue;
        nt_grow(&list, &capacity, count + 1, sizeof(used_entry));
        used_entry *entry = (used_entry *)list + count;
        if (measure_entry(dirfd(entries), at->d_name, entry)) {
            *total_bytes += entry->bytes;
            count++;
        }
    }
    if (entries != NULL)
        closedir(entries);
    *out = list;
    return count;
}

nt_status nt_cache_trim(int64_t cap_bytes, int64_t *removed_bytes, nt_error *err)
{
    char folder[NT_PATH_BYTES], path[NT_PATH_BYTES + NT_KEY_BYTES];
    used_entry *entries;
    int64_t total, removed = 0;
    nt_status status = nt_cache_folder(NULL, folder, sizeof folder, err);
    if (status != NT_OK)
        return status;
    time_t now = time(NULL);
    size_t count = list_entries(folder, now, &entries, &total);
    if (count > 0 && total > cap_bytes) {
        qsort(entries, count, sizeof entries[0], by_use);
        for (size_t i = 0; i < count && total - removed > cap_bytes / 4 * 3; i++) {
            if (now - entries[i].used.tv_sec < YOUNG_S)
                break; /* sorted: the rest is younger still */
            snprintf(path, sizeof path, "%s/%s", folder, entries[i].name);
            nt_cache_remove(path);
            removed += entries[i].bytes;
        }
    }
    free(entries);
    if (removed_bytes != NULL)
        *removed_bytes = removed;
    return NT_OK;
}

void nt_cache_inserted(const char *key, int64_t bytes)
{
    static _Atomic int64_t added;
    int64_t cap = nt_cache_cap_bytes(), sum = atomic_fetch_add(&added, bytes) + bytes;
    if (strncmp(key, "00", 2) != 0 && sum <= cap / 32)
        return;
    atomic_store(&added, 0);
    nt_cache_trim(cap, NULL, NULL);
}
