#include "cli/announce.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/json.h"
#include "core/mem.h"
#include "core/paths.h"

struct nt_announcement {
    char path[NT_PATH_BYTES];
    int fd; /* holds the lock */
};

static char *describe(const char *database, const char *device)
{
    char *absolute = realpath(database, NULL);
    json_t *object = json_pack("{s:s, s:i, s:s, s:s}", "type", "sweep", "pid", (int)getpid(), "database",
                               absolute != NULL ? absolute : database, "device", device);
    free(absolute);
    return nt_json_dump_done(object);
}

nt_announcement *nt_announce(const char *database, const char *device)
{
    char folder[NT_PATH_BYTES - 64], temporary[NT_PATH_BYTES + 8];
    if (nt_path_runtime(folder, sizeof folder, NULL) != NT_OK)
        return NULL;
    nt_announcement *a = nt_alloc_zero(1, sizeof *a);
    snprintf(a->path, sizeof a->path, "%s/sweep-%d.json", folder, (int)getpid());
    snprintf(temporary, sizeof temporary, "%s.new", a->path);
    char *text = describe(database, device);
    size_t length = strlen(text);
    /* Locked before it has its name: nobody sees it without the lock. */
    a->fd = open(temporary, O_CREAT | O_TRUNC | O_WRONLY | O_CLOEXEC, 0600);
    bool done = a->fd >= 0 && flock(a->fd, LOCK_EX | LOCK_NB) == 0 && write(a->fd, text, length) == (ssize_t)length &&
                rename(temporary, a->path) == 0;
    free(text);
    if (done)
        return a;
    if (a->fd >= 0) {
        unlink(temporary);
        close(a->fd);
    }
    free(a);
    return NULL;
}

void nt_announce_end(nt_announcement *a)
{
    if (a == NULL)
        return;
    unlink(a->path);
    close(a->fd);
    free(a);
}

static bool dead(const char *path)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return false;
    bool free_of_lock = flock(fd, LOCK_SH | LOCK_NB) == 0;
    close(fd);
    return free_of_lock;
}

static bool read_one(const char *path, nt_announced *out)
{
    enum { LIMIT = 65536 };
    char *text = NULL;
    size_t bytes;
    json_t *object = NULL;
    bool good = false;
    if (nt_read_file(path, LIMIT, &text, &bytes, NULL) != NT_OK)
        return false;
    if (nt_json_parse(text, &object, NULL) == NT_OK) {
        const char *database = nt_json_get_text(object, "database"), *device = nt_json_get_text(object, "device");
        out->pid = nt_json_get_int(object, "pid");
        good = database != NULL && nt_copy(out->database, sizeof out->database, database);
        nt_copy(out->device, sizeof out->device, device != NULL ? device : "");
    }
    json_decref(object);
    free(text);
    return good;
}

int nt_announced_sweeps(nt_announced *out, int capacity)
{
    char folder[NT_PATH_BYTES - 300];
    time_t newest = 0;
    int count = 0;
    DIR *entries = nt_path_runtime(folder, sizeof folder, NULL) == NT_OK ? opendir(folder) : NULL;
    if (entries == NULL)
        return 0;
    for (struct dirent *entry; (entry = readdir(entries)) != NULL && count < capacity;) {
        char path[NT_PATH_BYTES];
        struct stat st;
        size_t length = strlen(entry->d_name);
        if (strncmp(entry->d_name, "sweep-", 6) != 0 || length < 11 || strcmp(entry->d_name + length - 5, ".json") != 0)
            continue;
        snprintf(path, sizeof path, "%s/%s", folder, entry->d_name);
        if (dead(path)) {
            unlink(path);
        } else if (read_one(path, &out[count]) && stat(path, &st) == 0) {
            if (st.st_mtime >= newest && count > 0) {
                nt_announced latest = out[count];
                out[count] = out[0];
                out[0] = latest;
            }
            newest = st.st_mtime > newest ? st.st_mtime : newest;
            count++;
        }
    }
    closedir(entries);
    return count;
}
