/* counter_lock.c: see counter_lock.h. */
#include "device/counter_lock.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "core/clock.h"
#include "core/paths.h"
#include "core/record.h"
#include "core/str.h"

enum { POLL_NS = 10000000 };

static nt_status path_of(const char *uuid, const char *suffix, char out[NT_PATH_BYTES], nt_error *err)
{
    char folder[NT_PATH_BYTES / 2];
    nt_status status = nt_path_locks(folder, sizeof folder, err);
    if (status != NT_OK)
        return status;
    size_t at = (size_t)snprintf(out, NT_PATH_BYTES, "%s/", folder);
    for (; *uuid != '\0' && at < NT_PATH_BYTES - 16; uuid++)
        out[at++] = isalnum((unsigned char)*uuid) || *uuid == '-' ? *uuid : '_';
    snprintf(out + at, NT_PATH_BYTES - at, "%s", suffix);
    return NT_OK;
}

static int64_t pid_in(int fd)
{
    char text[32];
    ssize_t got = pread(fd, text, sizeof text - 1, 0);
    text[got > 0 ? got : 0] = '\0';
    long long pid = strtoll(text, NULL, 10);
    return pid > 0 ? pid : 0;
}

/* A holder writes its pid and empties the file when it lets go, so an empty file is free and nothing need be taken to
 * know it. A pid may be that of a holder that was killed (and in another namespace of processes it tells nothing), so
 * only then, or while it is really held, is the lock tried. */
static bool is_held(const char *path, int64_t *pid)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
    if (fd < 0)
        return false;
    int64_t holder = pid_in(fd);
    bool held = holder != 0 && flock(fd, LOCK_SH | LOCK_NB) != 0;
    close(fd);
    if (pid != NULL)
        *pid = held ? holder : 0;
    return held;
}

bool nt_device_is_swept(const char *uuid, int64_t *pid)
{
    char path[NT_PATH_BYTES];
    if (pid != NULL)
        *pid = 0;
    return path_of(uuid, ".lock", path, NULL) == NT_OK && is_held(path, pid);
}

static int open_shared(const char *path)
{
    int fd = open(path, O_RDWR | O_CLOEXEC | O_NOFOLLOW);
    if (fd < 0 && errno == ENOENT)
        fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0666);
    if (fd >= 0)
        fchmod(fd, 0666); /* whatever the umask: other users' samplers must be able to take it */
    return fd;
}

static nt_status swept_by(const char *uuid, int64_t pid, nt_error *err)
{
    nt_fail(err, NT_BUSY, "a sweep, process %lld, is timing on device %s; counters would disturb it", (long long)pid,
            uuid);
    nt_hint(err, "--source gpm or nvml watches beside a sweep; or wait until it ends");
    return NT_BUSY;
}

static nt_status write_pid(nt_counter_lock *lock, nt_error *err)
{
    char pid[32];
    int length = snprintf(pid, sizeof pid, "%ld\n", (long)getpid());
    if (ftruncate(lock->fd, 0) == 0 && pwrite(lock->fd, pid, (size_t)length, 0) == length)
        return NT_OK;
    nt_counter_lock_release(lock);
    return nt_fail(err, NT_IO, "cannot write the lock of the counters: %s", strerror(errno));
}

nt_status nt_counter_lock_try(const char *uuid, nt_counter_lock *out, nt_error *err)
{
    char path[NT_PATH_BYTES];
    int64_t pid;
    out->fd = -1;
    nt_status status = path_of(uuid, ".counters", path, err);
    if (status != NT_OK)
        return status;
    int fd = open_shared(path);
    if (fd < 0)
        return nt_fail(err, NT_IO, "cannot open the lock file %s: %s", path, strerror(errno));
    if (flock(fd, LOCK_EX | LOCK_NB) != 0) {
        nt_fail(err, NT_BUSY, "process %lld samples the counters of device %s already", (long long)pid_in(fd), uuid);
        nt_hint(err, "stop it, or use --source gpm or nvml, which hold nothing");
        close(fd);
        return NT_BUSY;
    }
    out->fd = fd;
    status = write_pid(out, err);
    /* Looked at after taking ours: a sweep that starts now either is seen here or sees us and waits. */
    if (status == NT_OK && nt_device_is_swept(uuid, &pid)) {
        nt_counter_lock_release(out);
        return swept_by(uuid, pid, err);
    }
    return status;
}

void nt_counter_lock_release(nt_counter_lock *lock)
{
    if (lock->fd >= 0) {
        int emptied = ftruncate(lock->fd, 0);
        (void)emptied; /* a pid that stays is taken for one of a killed holder: no harm */
        close(lock->fd);
    }
    lock->fd = -1;
}

nt_status nt_counter_lock_wait(const char *uuid, double seconds, nt_error *err)
{
    char path[NT_PATH_BYTES];
    int64_t pid = 0;
    double until_s = nt_now_s() + seconds;
    nt_status status = path_of(uuid, ".counters", path, err);
    if (status != NT_OK)
        return status;
    while (is_held(path, &pid)) {
        if (nt_now_s() >= until_s) {
            nt_fail(err, NT_TIMED_OUT, "process %lld still samples the counters of device %s", (long long)pid, uuid);
            nt_hint(err, "stop it: sampling may change clocks and with them the times");
            return NT_TIMED_OUT;
        }
        nanosleep(&(struct timespec){.tv_nsec = POLL_NS}, NULL);
    }
    return NT_OK;
}
