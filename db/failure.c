/* failure.c: a table from SQLite's result codes to our statuses and hints, who holds a lock, and what is wrong with a
 * path. SQLite's own texts ("unable to open database file") name neither the cause nor the cure. */
#include "db/failure.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/mem.h"

typedef struct cause {
    int code; /* primary result code */
    nt_status status;
    const char *what;
    const char *hint;
} cause;

static const cause causes[] = {
    {SQLITE_FULL, NT_IO, "no space left on the file system",
     "free some space; everything stored before is kept, and a sweep goes on with --resume"},
    {SQLITE_NOTADB, NT_CORRUPT, "the file is not an nntune database", "name another file with --db"},
    {SQLITE_CORRUPT, NT_CORRUPT, "the file is damaged",
     "copy it away, then save what is readable: sqlite3 FILE .recover | sqlite3 NEW.db"},
    {SQLITE_READONLY, NT_IO, "the file is read-only", "make it writable, or name another file with --db"},
    {SQLITE_CANTOPEN, NT_IO, "the file cannot be opened", "check the permissions of the file and its folder"},
    {SQLITE_PERM, NT_IO, "access to the file is denied", "check the permissions of the file and its folder"},
    {SQLITE_PROTOCOL, NT_BUSY, "the file's locks do not work", "keep the database on a local file system (--db)"},
    {SQLITE_NOMEM, NT_NO_MEMORY, "out of memory", ""},
    {SQLITE_INTERRUPT, NT_TIMED_OUT, "interrupted by its time limit", ""},
    {SQLITE_TOOBIG, NT_FAILED, "a value is too big to be stored", ""},
};

/* SQLite's lock bytes: the writer's slot in the shared-memory file, and the range in the database file from which on
 * every exclusive lock lies. */
enum { SHM_WRITE_BYTE = 120, SHM_LAST_BYTE = 122 };
#define FILE_LOCK_BYTE INT64_C(0x40000000)

/* Finds the process with a write lock in /proc/locks. Opening the file to ask with F_GETLK would drop our own locks
 * when that descriptor closes, which is why nothing here opens it. */
static long lock_owner(const char *path, int64_t first, int64_t last)
{
    struct stat st;
    FILE *locks = stat(path, &st) == 0 ? fopen("/proc/locks", "re") : NULL;
    if (locks == NULL)
        return 0;
    char line[256];
    long owner = 0;
    while (owner == 0 && fgets(line, sizeof line, locks) != NULL) {
        long pid;
        char kind[8];
        unsigned long long inode;
        long long start;
        int fields = sscanf(line, "%*d: %*s %*s %7s %ld %*x:%*x:%llu %lld", kind, &pid, &inode, &start);
        if (fields == 4 && strcmp(kind, "WRITE") == 0 && inode == st.st_ino && start >= first && start <= last)
            owner = pid;
    }
    fclose(locks);
    return owner;
}

static void name_owner(const char *path, char *out, size_t capacity)
{
    nt_str shm = {0};
    nt_str_addf(&shm, "%s-shm", path);
    long pid = lock_owner(nt_str_text(&shm), SHM_WRITE_BYTE, SHM_LAST_BYTE);
    nt_str_done(&shm);
    if (pid <= 0)
        pid = lock_owner(path, FILE_LOCK_BYTE, INT64_MAX);
    if (pid <= 0) {
        nt_copy(out, capacity, "another program");
        return;
    }
    char comm_path[64], comm[64] = "";
    snprintf(comm_path, sizeof comm_path, "/proc/%ld/comm", pid);
    FILE *file = fopen(comm_path, "re");
    if (file != NULL) {
        if (fgets(comm, sizeof comm, file) != NULL)
            comm[strcspn(comm, "\n")] = '\0';
        fclose(file);
    }
    snprintf(out, capacity, comm[0] != '\0' ? "process %ld (%s)" : "process %ld", pid, comm);
}

static nt_status busy(const nt_db *db, const char *doing, nt_error *err)
{
    char owner[128];
    name_owner(db->path, owner, sizeof owner);
    nt_fail(err, NT_BUSY, "%s is locked by %s; gave up %s after %.3g s", db->path, owner, doing, db->busy_ms / 1e3);
    nt_hint(err, "end or wait for that program, then try again; everything stored before is kept");
    return NT_BUSY;
}

/* What the operating system said about an input/output error. SQLite keeps it for some calls only; of a failed write in
 * a step or commit errno still tells. */
static int system_error(sqlite3 *handle)
{
    int last = errno;
    int kept = sqlite3_system_errno(handle);
    return kept != 0 ? kept : last;
}

static int significant_code(int code, int number)
{
    if (code == SQLITE_IOERR)
        return number == ENOSPC || number == EDQUOT ? SQLITE_FULL : code;
    return code == SQLITE_LOCKED ? SQLITE_BUSY : code;
}

nt_status nt_db_error(const nt_db *db, const char *doing, nt_error *err)
{
    int number = system_error(db->handle);
    int code = significant_code(sqlite3_errcode(db->handle) & 0xff, number);
    if (code == SQLITE_BUSY)
        return busy(db, doing, err);
    for (size_t i = 0; i < sizeof causes / sizeof causes[0]; i++)
        if (causes[i].code == code) {
            nt_fail(err, causes[i].status, "%s: %s, %s", db->path, causes[i].what, doing);
            nt_hint(err, "%s", causes[i].hint);
            return causes[i].status;
        }
    if (code == SQLITE_IOERR) {
        nt_fail(err, NT_IO, "%s: %s, %s", db->path, number != 0 ? strerror(number) : "input/output error", doing);
        nt_hint(err, "check the disk; everything stored before is kept");
        return NT_IO;
    }
    return nt_fail(err, NT_FAILED, "%s: %s, %s", db->path, sqlite3_errmsg(db->handle), doing);
}

/* The folder a path lies in; the caller frees it. */
static char *folder_of(const char *path)
{
    const char *slash = strrchr(path, '/');
    if (slash == NULL)
        return nt_strdup(".");
    return slash == path ? nt_strdup("/") : nt_strndup(path, (size_t)(slash - path));
}

static nt_status check_folder(const char *path, nt_error *err)
{
    char *folder = folder_of(path);
    struct stat st;
    nt_status status = NT_OK;
    if (stat(folder, &st) != 0) {
        status = nt_fail(err, NT_IO, "%s cannot be made: folder %s: %s", path, folder, strerror(errno));
        nt_hint(err, errno == ENOENT ? "make it first: mkdir -p %s" : "check the path %s", folder);
    } else if (!S_ISDIR(st.st_mode)) {
        status = nt_fail(err, NT_IO, "%s cannot be made: %s is not a folder", path, folder);
        nt_hint(err, "name another file with --db");
    } else if (access(folder, W_OK | X_OK) != 0) {
        /* An existing file in such a folder cannot be written either: its journal lies beside it. */
        status = nt_fail(err, NT_IO, "%s cannot be written: folder %s: %s", path, folder, strerror(errno));
        nt_hint(err, "make the folder writable, or name another file with --db");
    }
    free(folder);
    return status;
}

/* Fails for what exists and is no regular file; *exists tells whether it is there. */
static nt_status check_kind(const char *path, bool *exists, nt_error *err)
{
    struct stat st;
    *exists = false;
    if (path[0] == '\0') {
        nt_fail(err, NT_USAGE, "the path of the database is empty");
        nt_hint(err, "name a file, for example --db results.db");
        return NT_USAGE;
    }
    if (stat(path, &st) != 0) {
        if (errno == ENOENT || errno == ENOTDIR)
            return NT_OK;
        return nt_fail(err, NT_IO, "%s: %s", path, strerror(errno));
    }
    *exists = true;
    if (S_ISREG(st.st_mode))
        return NT_OK;
    bool folder = S_ISDIR(st.st_mode);
    nt_fail(err, NT_IO, "%s is %s, not a database file", path, folder ? "a folder" : "a special file");
    nt_hint(err, folder ? "name a file in it, for example --db %s/nntune.db" : "name another file with --db", path);
    return NT_IO;
}

nt_status nt_db_check_path_write(const char *path, nt_error *err)
{
    bool exists;
    nt_status status = check_kind(path, &exists, err);
    if (status == NT_OK && exists && access(path, R_OK | W_OK) != 0) {
        status = nt_fail(err, NT_IO, "%s cannot be written: %s", path, strerror(errno));
        nt_hint(err, "make it writable, or name another file with --db");
    }
    return status == NT_OK ? check_folder(path, err) : status;
}

nt_status nt_db_check_path_read(const char *path, nt_error *err)
{
    bool exists;
    nt_status status = check_kind(path, &exists, err);
    if (status != NT_OK)
        return status;
    if (!exists) {
        nt_fail(err, NT_NOT_FOUND, "there is no database at %s", path);
        nt_hint(err, "`nntune sweep conv3x3` makes one; --db names another file");
        return NT_NOT_FOUND;
    }
    if (access(path, R_OK) == 0)
        return NT_OK;
    nt_fail(err, NT_IO, "%s cannot be read: %s", path, strerror(errno));
    nt_hint(err, "make it readable, or name another file with --db");
    return NT_IO;
}
