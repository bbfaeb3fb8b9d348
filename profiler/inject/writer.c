/* writer.c: collects records into frames and appends each frame to the spool by one write, so that whatever kills this
 * process costs the frame in the making and nothing before it. */
#include "profiler/inject/writer.h"

#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

enum { NAME_SLOTS = 1 << 15, MOST_NAMES = NAME_SLOTS / 2 };

/* A name by what it says; kernels bring the same pointer again and again, so that is looked at first. */
typedef struct name_slot {
    uint64_t hash;
    char *text;
    uint32_t id;
} name_slot;

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct {
    int fd;
    bool opened, broken;
    uint32_t used;
    uint32_t name_count;
    struct {
        const char *pointer;
        name_slot *slot;
    } recent[1024];
} spool = {.fd = -1};
static name_slot names[NAME_SLOTS];
static char frame[sizeof(nt_spool_frame) + NT_SPOOL_FRAME_BYTES] __attribute__((aligned(8)));

void nt_writer_lock(void)
{
    pthread_mutex_lock(&lock);
}

void nt_writer_unlock(void)
{
    pthread_mutex_unlock(&lock);
}

uint64_t nt_writer_now_ns(void)
{
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

/* ---- the file ------------------------------------------------------------------------------------------------------ */

/* A program that execs keeps its pid: the next free number tells its files apart. */
static int make_file(const char *folder)
{
    char path[4096];
    for (int number = 0; number < 10000; number++) {
        int length = snprintf(path, sizeof path, "%s/%ld-%d" NT_SPOOL_SUFFIX, folder, (long)getpid(), number);
        if (length < 0 || (size_t)length >= sizeof path)
            return -1;
        int fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_APPEND | O_CLOEXEC, 0600);
        if (fd >= 0 || access(path, F_OK) != 0)
            return fd;
    }
    return -1;
}

static void write_all(const void *data, size_t bytes)
{
    const char *at = data;
    while (bytes > 0 && !spool.broken) {
        ssize_t written = write(spool.fd, at, bytes);
        if (written <= 0) { /* a full disk: what was written stands, the rest is not worth a fight */
            spool.broken = true;
        } else {
            at += written;
            bytes -= (size_t)written;
        }
    }
}

static void put_command(void)
{
    char text[4096];
    int fd = open("/proc/self/cmdline", O_RDONLY | O_CLOEXEC);
    ssize_t length = fd >= 0 ? read(fd, text, sizeof text) : 0;
    if (fd >= 0)
        close(fd);
    while (length > 0 && text[length - 1] == '\0')
        length--;
    for (ssize_t i = 0; i < length; i++)
        if (text[i] == '\0')
            text[i] = ' ';
    nt_writer_put(NT_SPOOL_COMMAND, NULL, 0, text, length > 0 ? (uint32_t)length : 0);
}

static bool open_file(void)
{
    if (spool.opened)
        return !spool.broken;
    spool.opened = true;
    const char *folder = getenv(NT_SPOOL_FOLDER_VARIABLE);
    spool.fd = folder != NULL ? make_file(folder) : -1;
    spool.broken = spool.fd < 0;
    nt_spool_head head = {.magic = NT_SPOOL_MAGIC, .pid = (uint32_t)getpid(), .started_ns = nt_writer_now_ns()};
    memcpy(head.magic, NT_SPOOL_MAGIC, sizeof head.magic);
    write_all(&head, sizeof head);
    put_command();
    return !spool.broken;
}

void nt_writer_flush(void)
{
    if (spool.used == 0 || !open_file())
        return;
    nt_spool_frame head = {.magic = NT_SPOOL_FRAME_MAGIC, .bytes = spool.used};
    head.checksum = nt_spool_checksum(frame + sizeof head, spool.used);
    memcpy(frame, &head, sizeof head);
    write_all(frame, sizeof head + spool.used);
    spool.used = 0;
}

void nt_writer_put(nt_spool_type type, const void *body, uint32_t body_bytes, const char *text, uint32_t text_bytes)
{
    if (!open_file())
        return;
    if (text_bytes > NT_SPOOL_TEXT_BYTES)
        text_bytes = NT_SPOOL_TEXT_BYTES;
    nt_spool_record record = {.type = (uint32_t)type, .bytes = (uint32_t)sizeof record + body_bytes + text_bytes};
    uint32_t padded = nt_spool_padded(record.bytes);
    if (spool.used + padded > NT_SPOOL_FRAME_BYTES)
        nt_writer_flush();
    char *at = frame + sizeof(nt_spool_frame) + spool.used;
    memset(at + padded - 8, 0, 8); /* the padding */
    memcpy(at, &record, sizeof record);
    if (body_bytes > 0)
        memcpy(at + sizeof record, body, body_bytes);
    if (text_bytes > 0)
        memcpy(at + sizeof record + body_bytes, text, text_bytes);
    spool.used += padded;
}

/* ---- names ----------------------------------------------------------------------------------------------------------- */

static uint64_t hash_of(const char *text)
{
    uint64_t hash = 14695981039346656037u;
    for (; *text != '\0'; text++)
        hash = (hash ^ (unsigned char)*text) * 1099511628211u;
    return hash;
}

static name_slot *slot_of(const char *text)
{
    uint64_t hash = hash_of(text);
    for (uint64_t at = hash;; at++) {
        name_slot *slot = &names[at % NAME_SLOTS];
        if (slot->text != NULL && (slot->hash != hash || strcmp(slot->text, text) != 0))
            continue;
        if (slot->text == NULL) {
            if (spool.name_count >= MOST_NAMES || (slot->text = strdup(text)) == NULL)
                return NULL;
            slot->hash = hash;
            slot->id = 0;
            spool.name_count++;
        }
        return slot;
    }
}

uint32_t nt_writer_name(const char *text)
{
    if (text == NULL)
        text = "";
    unsigned place = (unsigned)((uintptr_t)text >> 3) % (sizeof spool.recent / sizeof spool.recent[0]);
    name_slot *slot = spool.recent[place].pointer == text ? spool.recent[place].slot : NULL;
    /* The text behind a pointer may have changed since. */
    if (slot == NULL || strcmp(slot->text, text) != 0)
        slot = slot_of(text);
    if (slot == NULL)
        return strcmp(text, "(too many names)") == 0 ? 0 : nt_writer_name("(too many names)");
    spool.recent[place].pointer = text;
    spool.recent[place].slot = slot;
    if (slot->id == 0) {
        static uint32_t last_id;
        nt_spool_name body = {.id = slot->id = ++last_id};
        nt_writer_put(NT_SPOOL_NAME, &body, sizeof body, text, (uint32_t)strlen(text));
    }
    return slot->id;
}

void nt_writer_start_over(void)
{
    pthread_mutex_t fresh = PTHREAD_MUTEX_INITIALIZER;
    if (spool.fd >= 0)
        close(spool.fd);
    spool.fd = -1;
    spool.opened = spool.broken = false;
    spool.used = 0;
    for (int i = 0; i < NAME_SLOTS; i++)
        names[i].id = 0; /* to be written anew */
    lock = fresh;
}
