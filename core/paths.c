/* paths.c: the XDG base directory rules, folders made on demand, and files that appear whole or not at all. */
#include "core/paths.h"

#include "core/mem.h"
#include "core/str.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* ---- folders ---------------------------------------------------------------------------------------------------- */

static bool is_directory(const char *path)
{
    struct stat info;
    return stat(path, &info) == 0 && S_ISDIR(info.st_mode);
}

static nt_status make_one(const char *path, int mode, nt_error *err)
{
    if (mkdir(path, (mode_t)mode) == 0)
        return NT_OK;
    int why = errno;
    if (is_directory(path))
        return NT_OK;
    if (why == EEXIST)
        nt_fail(err, NT_IO, "%s is there but is not a directory", path);
    else
        nt_fail(err, NT_IO, "cannot make the directory %s: %s", path, strerror(why));
    return NT_IO;
}

nt_status nt_make_directories(const char *path, int mode, nt_error *err)
{
    char part[PATH_MAX];
    if (path[0] == '\0' || !nt_copy(part, sizeof part, path))
        return nt_fail(err, NT_IO, "cannot make a directory with a path of %zu bytes (1 to %zu are allowed)",
                       strlen(path), sizeof part - 1);
    for (char *at = part + 1; *at != '\0'; at++) {
        if (*at != '/')
            continue;
        *at = '\0';
        /* Parents that exist may be unwritable and even unreadable: only what is missing is made. */
        nt_status status = is_directory(part) ? NT_OK : make_one(part, mode, err);
        *at = '/';
        if (status != NT_OK)
            return status;
    }
    return make_one(part, mode, err);
}

/* The XDG rules: a base that is unset, empty or relative counts as unset. */
static const char *absolute_env(const char *name)
{
    const char *value = getenv(name);
    return value != NULL && value[0] == '/' ? value : NULL;
}

static nt_status join(char *out, size_t capacity, nt_error *err, const char *base, const char *rest)
{
    int length = snprintf(out, capacity, "%s%s", base, rest);
    if (length < 0 || (size_t)length >= capacity)
        return nt_fail(err, NT_IO, "the path %.200s...%s is longer than %zu bytes", base, rest, capacity - 1);
    return NT_OK;
}

/* $variable/nntune, or $HOME/fallback/nntune. */
static nt_status home_path(const char *variable, const char *fallback, char *out, size_t capacity, nt_error *err)
{
    const char *base = absolute_env(variable), *home = absolute_env("HOME");
    nt_status status;
    if (base != NULL) {
        status = join(out, capacity, err, base, "/nntune");
    } else if (home != NULL) {
        char rest[64];
        snprintf(rest, sizeof rest, "/%s/nntune", fallback);
        status = join(out, capacity, err, home, rest);
    } else {
        nt_fail(err, NT_IO, "neither %s nor HOME names an absolute path", variable);
        return nt_hint(err, "set HOME, or %s to a directory of your own", variable);
    }
    return status;
}

static nt_status home_folder(const char *variable, const char *fallback, char *out, size_t capacity, nt_error *err)
{
    nt_status status = home_path(variable, fallback, out, capacity, err);
    return status == NT_OK ? nt_make_directories(out, 0700, err) : status;
}

nt_status nt_path_cache(char *out, size_t capacity, nt_error *err)
{
    const char *own = getenv("NNTUNE_CACHE_DIR");
    nt_status status;
    if (own == NULL || own[0] == '\0') {
        status = home_folder("XDG_CACHE_HOME", ".cache", out, capacity, err);
    } else {
        status = join(out, capacity, err, own, "");
        status = status == NT_OK ? nt_make_directories(out, 0700, err) : status;
    }
    if (status == NT_OK && access(out, W_OK | X_OK) != 0)
        status = nt_fail(err, NT_IO, "the cache directory %s is not writable: %s", out, strerror(errno));
    if (status != NT_OK)
        nt_hint(err, "name a writable directory in NNTUNE_CACHE_DIR");
    return status;
}

static nt_status database_in(char *out, size_t capacity, bool make, nt_error *err)
{
    char folder[PATH_MAX];
    nt_status status = home_path("XDG_DATA_HOME", ".local/share", folder, sizeof folder, err);
    if (status == NT_OK && make)
        status = nt_make_directories(folder, 0700, err);
    if (status != NT_OK) {
        nt_hint(err, "name a database with --db FILE");
        return status;
    }
    return join(out, capacity, err, folder, "/nntune.db");
}

nt_status nt_path_database(char *out, size_t capacity, nt_error *err)
{
    return database_in(out, capacity, true, err);
}

nt_status nt_path_database_name(char *out, size_t capacity, nt_error *err)
{
    return database_in(out, capacity, false, err);
}

nt_status nt_path_locks(char *out, size_t capacity, nt_error *err)
{
    const char *own = getenv("NNTUNE_LOCK_DIR");
    nt_status status = join(out, capacity, err, own != NULL && own[0] != '\0' ? own : "/tmp/nntune-locks", "");
    if (status != NT_OK)
        return status;
    bool there = is_directory(out);
    status = nt_make_directories(out, 0777, err);
    /* The umask took bits away; who made the folder opens it to everybody, with the sticky bit against deletion. */
    if (status == NT_OK && !there && chmod(out, 01777) != 0 && errno != EPERM)
        status = nt_fail(err, NT_IO, "cannot open %s to all users: %s", out, strerror(errno));
    if (status != NT_OK)
        nt_hint(err, "name a directory that all users of this machine share in NNTUNE_LOCK_DIR");
    return status;
}

nt_status nt_path_runtime(char *out, size_t capacity, nt_error *err)
{
    const char *base = absolute_env("XDG_RUNTIME_DIR");
    char own[48];
    snprintf(own, sizeof own, "/tmp/nntune-%lu", (unsigned long)geteuid());
    nt_status status = base != NULL ? join(out, capacity, err, base, "/nntune") : join(out, capacity, err, own, "");
    if (status == NT_OK)
        status = nt_make_directories(out, 0700, err);
    if (status != NT_OK)
        return status;
    /* In /tmp somebody else could have made the name first, also as a link to elsewhere. */
    struct stat info;
    if (lstat(out, &info) != 0 || !S_ISDIR(info.st_mode) || info.st_uid != geteuid()) {
        nt_fail(err, NT_IO, "%s is not a directory of this user", out);
        nt_hint(err, "remove it, or set XDG_RUNTIME_DIR to a directory of your own");
        return NT_IO;
    }
    return NT_OK;
}

/* ---- whole files ------------------------------------------------------------------------------------------------ */

static nt_status write_all(int fd, const char *path, const char *data, size_t bytes, nt_error *err)
{
    while (bytes > 0) {
        ssize_t wrote = write(fd, data, bytes);
        if (wrote < 0 && errno == EINTR)
            continue;
        if (wrote < 0)
            return nt_fail(err, NT_IO, "cannot write %s: %s", path, strerror(errno));
        data += wrote;
        bytes -= (size_t)wrote;
    }
    return NT_OK;
}

/* Best effort: a rename survives a power cut only once its folder is on disk, but not every file system can. */
static void sync_folder_of(const char *path)
{
    char folder[PATH_MAX];
    nt_copy(folder, sizeof folder, path);
    char *slash = strrchr(folder, '/');
    if (slash == NULL)
        nt_copy(folder, sizeof folder, ".");
    else
        slash[slash == folder] = '\0';
    int fd = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (fd < 0)
        return;
    fsync(fd);
    close(fd);
}

nt_status nt_write_file(const char *path, const void *data, size_t bytes, nt_error *err)
{
    static atomic_uint counter;
    char temporary[PATH_MAX];
    int length =
        snprintf(temporary, sizeof temporary, "%s.%ld.%u.tmp", path, (long)getpid(), atomic_fetch_add(&counter, 1));
    if (length < 0 || (size_t)length >= sizeof temporary)
        return nt_fail(err, NT_IO, "the path %.200s... is longer than %zu bytes", path, sizeof temporary - 1);
    /* open, not mkstemp: the user's umask decides about the mode. A left-over of a dead process of this pid may go. */
    int fd = open(temporary, O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW | O_CLOEXEC, 0666);
    if (fd < 0)
        return nt_fail(err, NT_IO, "cannot create %s: %s", temporary, strerror(errno));
    nt_status status = write_all(fd, temporary, data, bytes, err);
    if (status == NT_OK && fsync(fd) != 0 && errno != EINVAL)
        status = nt_fail(err, NT_IO, "cannot bring %s to disk: %s", temporary, strerror(errno));
    if (close(fd) != 0 && status == NT_OK)
        status = nt_fail(err, NT_IO, "cannot finish %s: %s", temporary, strerror(errno));
    if (status == NT_OK && rename(temporary, path) != 0)
        status = nt_fail(err, NT_IO, "cannot put %s in its place: %s", path, strerror(errno));
    if (status == NT_OK)
        sync_folder_of(path);
    else
        unlink(temporary);
    return status;
}

/* Grows as it reads, so that files without a size (pipes, /proc) work and a size that lies is harmless. */
static nt_status read_all(int fd, const char *path, size_t limit, char **out, size_t *bytes, nt_error *err)
{
    void *data = NULL;
    size_t capacity = 0, have = 0;
    for (;;) {
        nt_grow(&data, &capacity, have + 65536 + 1, 1);
        ssize_t got = read(fd, (char *)data + have, 65536);
        if (got < 0 && errno == EINTR)
            continue;
        if (got < 0) {
            free(data);
            return nt_fail(err, NT_IO, "cannot read %s: %s", path, strerror(errno));
        }
        if (got == 0)
            break;
        have += (size_t)got;
        if (have > limit) {
            free(data);
            return nt_fail(err, NT_FAILED, "%s is larger than the %zu bytes that are read at most", path, limit);
        }
    }
    ((char *)data)[have] = '\0';
    *out = data;
    if (bytes != NULL)
        *bytes = have;
    return NT_OK;
}

nt_status nt_read_file(const char *path, size_t limit, char **out, size_t *bytes, nt_error *err)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return nt_fail(err, errno == ENOENT ? NT_NOT_FOUND : NT_IO, "cannot open %s: %s", path, strerror(errno));
    nt_status status = read_all(fd, path, limit, out, bytes, err);
    close(fd);
    return status;
}
