/* spool.c: finds the spools of a folder and takes their frames one by one: length, checksum, then the records. */
#include "profiler/spool.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/mem.h"
#include "profiler/spool_record.h"

typedef struct spool {
    char *name;
    int fd;
    int64_t at; /* behind the last whole frame */
    bool headed;
    bool damaged; /* what follows cannot be trusted */
    nt_spool_state state;
} spool;

struct nt_spools {
    char *folder;
    nt_trace *trace;
    spool *spool;
    size_t count, capacity;
    char buffer[NT_SPOOL_FRAME_BYTES];
};

nt_spools *nt_spools_open(const char *folder, nt_trace *trace)
{
    nt_spools *spools = nt_alloc_zero(1, sizeof *spools);
    spools->folder = nt_strdup(folder);
    spools->trace = trace;
    return spools;
}

/* The next `bytes` bytes at `at`; false while the file does not have them all. */
static bool read_at(int fd, void *out, size_t bytes, int64_t at)
{
    for (size_t got = 0; got < bytes;) {
        ssize_t n = pread(fd, (char *)out + got, bytes - got, at + (int64_t)got);
        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0)
            return false;
        got += (size_t)n;
    }
    return true;
}

static void read_head(spool *s)
{
    nt_spool_head head;
    if (!read_at(s->fd, &head, sizeof head, 0))
        return;
    s->headed = true;
    s->at = sizeof head;
    if (memcmp(head.magic, NT_SPOOL_MAGIC, sizeof head.magic) != 0)
        s->damaged = true;
    else
        s->state.trace->process[s->state.process].pid = head.pid;
}

/* False when the records do not fill the frame exactly or one of them cannot be. */
static bool take_records(spool *s, const char *records, uint32_t bytes)
{
    uint32_t at = 0;
    while (at < bytes) {
        nt_spool_record record;
        if (bytes - at < sizeof record)
            return false;
        memcpy(&record, records + at, sizeof record);
        if (record.bytes < sizeof record || record.bytes > bytes - at)
            return false;
        if (!nt_spool_take(&s->state, record.type, records + at + sizeof record,
                           record.bytes - (uint32_t)sizeof record))
            return false;
        at += nt_spool_padded(record.bytes);
    }
    return at == bytes;
}

static void read_frames(spool *s, char *buffer)
{
    nt_spool_frame frame;
    while (!s->damaged && read_at(s->fd, &frame, sizeof frame, s->at)) {
        if (frame.magic != NT_SPOOL_FRAME_MAGIC || frame.bytes > NT_SPOOL_FRAME_BYTES || frame.bytes % 8 != 0) {
            s->damaged = true;
            return;
        }
        if (!read_at(s->fd, buffer, frame.bytes, s->at + (int64_t)sizeof frame))
            return; /* not written yet, or never */
        if (nt_spool_checksum(buffer, frame.bytes) != frame.checksum || !take_records(s, buffer, frame.bytes)) {
            s->damaged = true;
            return;
        }
        s->at += (int64_t)(sizeof frame + frame.bytes);
    }
}

static bool is_known(const nt_spools *spools, const char *name)
{
    for (size_t i = 0; i < spools->count; i++)
        if (strcmp(spools->spool[i].name, name) == 0)
            return true;
    return false;
}

static void add_spool(nt_spools *spools, int folder, const char *name)
{
    int fd = openat(folder, name, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
    struct stat st;
    if (fd < 0)
        return;
    if (fstat(fd, &st) != 0 || !S_ISREG(st.st_mode)) {
        close(fd);
        return;
    }
    void *all = spools->spool;
    nt_grow(&all, &spools->capacity, spools->count + 1, sizeof *spools->spool);
    spools->spool = all;
    spools->spool[spools->count++] = (spool){
        .name = nt_strdup(name),
        .fd = fd,
        .state = {.trace = spools->trace, .process = nt_trace_add_process(spools->trace, NT_UNKNOWN, "(unknown)")}};
}

static bool is_spool(const char *name)
{
    size_t length = strlen(name), suffix = strlen(NT_SPOOL_SUFFIX);
    return length > suffix && strcmp(name + length - suffix, NT_SPOOL_SUFFIX) == 0;
}

static nt_status look_for_spools(nt_spools *spools, nt_error *err)
{
    DIR *folder = opendir(spools->folder);
    if (folder == NULL)
        return nt_fail(err, NT_IO, "cannot read the folder of spools %s: %s", spools->folder, strerror(errno));
    for (const struct dirent *entry; (entry = readdir(folder)) != NULL;)
        if (is_spool(entry->d_name) && !is_known(spools, entry->d_name))
            add_spool(spools, dirfd(folder), entry->d_name);
    closedir(folder);
    return NT_OK;
}

nt_status nt_spools_read(nt_spools *spools, nt_error *err)
{
    nt_status status = look_for_spools(spools, err);
    for (size_t i = 0; i < spools->count; i++) {
        spool *s = &spools->spool[i];
        if (!s->headed)
            read_head(s);
        if (s->headed)
            read_frames(s, spools->buffer);
    }
    return status;
}

void nt_spools_close(nt_spools *spools)
{
    if (spools == NULL)
        return;
    for (size_t i = 0; i < spools->count; i++) {
        spool *s = &spools->spool[i];
        struct stat st;
        if (fstat(s->fd, &st) == 0 && st.st_size > s->at)
            spools->trace->process[s->state.process].lost_bytes = st.st_size - s->at;
        close(s->fd);
        free(s->name);
        nt_spool_state_done(&s->state);
    }
    free(spools->spool);
    free(spools->folder);
    free(spools);
}

void nt_spools_remove(const char *folder)
{
    DIR *entries = opendir(folder);
    if (entries == NULL)
        return;
    for (const struct dirent *entry; (entry = readdir(entries)) != NULL;)
        if (is_spool(entry->d_name))
            unlinkat(dirfd(entries), entry->d_name, 0);
    closedir(entries);
    rmdir(folder);
}
