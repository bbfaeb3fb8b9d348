#include "autotune/lock.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
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

static nt_status held_by(int fd, const char *uuid, nt_error *err)
{
    char holder[32] = {0};
    ssize_t got = pread(fd, holder, sizeof holder - 1, 0);
    holder[got > 0 ? strcspn(holder, "\n") : 0] = '\0';
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
    int fd = open(nt_str_text(&path), O_RDWR | O_CREAT | O_CLOEXEC, 0666);
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
    if (lock->fd >= 0)
        close(lock->fd);
    lock->fd = -1;
}
