#include "autotune/lock.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "core/paths.h"
#include "core/str.h"

static void lock_path(const char *folder, const char *uuid, nt_str *out)
{
    nt_str_addf(out, "%s/", folder);
    for (const char *c = uuid; *c != '\0'; c++)
        nt_str_add_n(out, isalnum((unsigned char)*c) || *c == '-' ? c : "_", 1);
    nt_str_add(out, ".lock");
}

/* Without O_CREAT first: in a sticky folder the kernel may refuse O_CREAT on a file that another user made
 * (fs.protected_regular), and that sweep's lock is the one that matters. */
static int open_shared(const char *path)
{
    int fd = open(path, O_RDWR | O_CLOEXEC | O_NOFOLLOW);
    if (fd < 0 && errno == ENOENT)
        fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0666);
    return fd;
}

/* Another sweep may hold the lock and not have written its pid yet. */
static void read_holder(int fd, char *out, size_t capacity)
{
    out[0] = '\0';
    for (int i = 0; i < 20 && out[0] == '\0'; i++) {
        if (i > 0)
            nanosleep(&(struct timespec){.tv_nsec = 5000000}, NULL);
        ssize_t got = pread(fd, out, capacity - 1, 0);
        out[got > 0 ? (size_t)got : 0] = '\0';
        out[strcspn(out, "\n")] = '\0';
    }
}

static nt_status held_by(int fd, const char *uuid, nt_error *err)
{
    char holder[32];
    read_holder(fd, holder, sizeof holder);
    nt_fail(err, NT_BUSY, "device %s is held by another sweep, process %s", uuid, holder[0] ? holder : "of unknown id");
    nt_hint(err, "wait for it with --wait, or stop that process");
    return NT_BUSY;
}

nt_status nt_lock_try(const char *uuid, nt_lock *out, nt_error *err)
{
    char folder[512];
    out->fd = -1;
    nt_status status = nt_path_locks(folder, sizeof folder, err);
    if (status != NT_OK)
        return status;
    nt_str path = {0};
    lock_path(folder, uuid, &path);
    int fd = open_shared(nt_str_text(&path));
    if (fd < 0)
        status = nt_fail(err, NT_IO, "cannot open the lock file %s: %s", nt_str_text(&path), strerror(errno));
    nt_str_done(&path);
    if (fd < 0)
        return status;
    fchmod(fd, 0666); /* whatever the umask: other users' sweeps must be able to take it */
    if (flock(fd, LOCK_EX | LOCK_NB) != 0) {
        status = held_by(fd, uuid, err);
        close(fd);
        return status;
    }
    char pid[32];
    int length = snprintf(pid, sizeof pid, "%ld\n", (long)getpid());
    if (ftruncate(fd, 0) != 0 || pwrite(fd, pid, (size_t)length, 0) != length) {
        close(fd);
        return nt_fail(err, NT_IO, "cannot write the lock file of device %s: %s", uuid, strerror(errno));
    }
    out->fd = fd;
    return NT_OK;
}

void nt_lock_release(nt_lock *lock)
{
    if (lock->fd >= 0) {
        int emptied = ftruncate(lock->fd, 0); /* so that the next holder is not taken for us; no harm if it fails */
        (void)emptied;
        close(lock->fd);
    }
    lock->fd = -1;
}
