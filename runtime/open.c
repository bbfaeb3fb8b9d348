/* open.c: opening tables: the user's files over the one named, and which of their devices may serve this one. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "runtime/table.h"

/* ---- files ---- */

static nntune_status add_file(nntune_table *table, const char *path, char *why)
{
    if (table->file_count == NNTUNE_MAX_FILES)
        return nntune_fail(why, NNTUNE_FAILED, "more than %d tables: NNTUNE_TABLE_PATH names too many",
                           NNTUNE_MAX_FILES);
    nntune_status status = nntune_file_open(path, &table->file[table->file_count], why);
    table->file_count += status == NNTUNE_OK;
    return status;
}

static nntune_status add_path(nntune_table *table, const char *list, char *why)
{
    char path[4096];
    while (*list != '\0') {
        size_t length = strcspn(list, ":");
        if (length >= sizeof path)
            return nntune_fail(why, NNTUNE_NOT_FOUND, "a name of %zu characters in NNTUNE_TABLE_PATH", length);
        memcpy(path, list, length);
        path[length] = '\0';
        nntune_status status = length > 0 ? add_file(table, path, why) : NNTUNE_OK;
        if (status != NNTUNE_OK)
            return status;
        list += length + (list[length] == ':');
    }
    return NNTUNE_OK;
}

static nntune_status add_files(nntune_table *table, const char *path, unsigned flags, char *why)
{
    const char *over = flags & NNTUNE_ALONE ? NULL : getenv("NNTUNE_TABLE_PATH");
    nntune_status status = over != NULL ? add_path(table, over, why) : NNTUNE_OK;
    if (status == NNTUNE_OK && path != NULL)
        status = add_file(table, path, why);
    if (status == NNTUNE_OK && table->file_count == 0)
        return nntune_fail(why, NNTUNE_NOT_FOUND, "no table is named: give a path or set NNTUNE_TABLE_PATH");
    return status;
}

/* ---- devices ---- */

static bool serves_kind(const nntune_table *table, nntune_kind kind)
{
    for (int i = 0; i < table->file_count; i++)
        for (uint64_t d = 0; d < nntune_file_count(&table->file[i], NNTUNE_PART_DEVICE); d++)
            if (table->file[i].device[d].kind == (uint32_t)kind)
                return true;
    return false;
}

static nntune_status choose_device(nntune_table *table, const nntune_device *device, char *why)
{
    if (device != NULL) {
        table->here = *device;
        return NNTUNE_OK;
    }
    if (serves_kind(table, NNTUNE_CUDA) && nntune_device_here(NNTUNE_CUDA, 0, &table->here, why) == NNTUNE_OK)
        return NNTUNE_OK;
    return nntune_device_here(NNTUNE_CPU, 0, &table->here, why);
}

static bool tier_of(const nntune_table *table, const nntune_file *f, const nntune_file_device *d, nntune_tier *out)
{
    const nntune_device *here = &table->here;
    bool kind = d->kind == (uint32_t)here->kind;
    bool arch = kind && strcmp(f->text + d->arch, here->arch) == 0;
    bool same = arch && d->sm_count == here->sm_count && strcmp(f->text + d->name, here->name) == 0;
    *out = same ? NNTUNE_TIER_DEVICE : arch ? NNTUNE_TIER_ARCHITECTURE : NNTUNE_TIER_DEFAULT;
    return arch || (kind && d->is_default);
}

static void rank_tier(nntune_table *table, nntune_tier tier)
{
    for (int i = 0; i < table->file_count; i++) {
        const nntune_file *f = &table->file[i];
        for (uint32_t d = 0; d < nntune_file_count(f, NNTUNE_PART_DEVICE); d++) {
            nntune_tier is;
            if (tier_of(table, f, &f->device[d], &is) && is == tier && table->rank_count < NNTUNE_MAX_RANKS)
                table->rank[table->rank_count++] = (nntune_rank){(uint32_t)i, d, tier};
        }
    }
}

/* Among devices of one architecture the nearest number of SMs goes first, within the order of files. */
static void sort_by_sms(nntune_table *table)
{
    for (int i = 1; i < table->rank_count; i++)
        for (int j = i; j > 0; j--) {
            nntune_rank *a = &table->rank[j - 1], *b = &table->rank[j];
            if (a->tier != NNTUNE_TIER_ARCHITECTURE || b->tier != a->tier || a->file != b->file)
                break;
            int64_t here = table->here.sm_count;
            if (llabs(table->file[a->file].device[a->device].sm_count - here) <=
                llabs(table->file[b->file].device[b->device].sm_count - here))
                break;
            nntune_rank swap = *a;
            *a = *b;
            *b = swap;
        }
}

/* Equal, or one is a part of the other: where the release is not told, "CUDA 13.0" stands for "580.65 (CUDA 13.0)". */
static bool same_driver(const char *a, const char *b)
{
    return strcmp(a, b) == 0 || (a[0] != '\0' && b[0] != '\0' && (strstr(a, b) != NULL || strstr(b, a) != NULL));
}

static void mark_stale(nntune_table *table)
{
    if (table->here.driver[0] == '\0')
        return;
    for (int i = 0; i < table->file_count; i++) {
        nntune_file *f = &table->file[i];
        for (uint64_t e = 0; e < nntune_file_count(f, NNTUNE_PART_ENVIRONMENT); e++)
            f->stale[e] = !same_driver(f->text + f->environment[e].driver, table->here.driver);
    }
}

/* ---- open and close ---- */

nntune_status nntune_table_log_misses(nntune_table *table, const char *path, char *why)
{
    if (table->missed == NULL)
        table->missed = calloc(NNTUNE_MISS_BITS / 64, sizeof *table->missed);
    int fd = open(path, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0666);
    if (fd < 0 || table->missed == NULL) {
        if (fd >= 0)
            close(fd);
        return nntune_fail(why, NNTUNE_FAILED, "misses cannot be logged to %s: %s", path, strerror(errno));
    }
    if (table->miss_log >= 0)
        close(table->miss_log);
    table->miss_log = fd;
    return NNTUNE_OK;
}

nntune_status nntune_table_open(const char *path, const nntune_device *device, unsigned flags, nntune_table **out,
                                char *why)
{
    nntune_table *table = calloc(1, sizeof *table);
    const char *log = getenv("NNTUNE_MISS_LOG");
    *out = NULL;
    if (table == NULL)
        return nntune_fail(why, NNTUNE_FAILED, "no memory left for a table");
    table->miss_log = -1;
    table->accept_stale = (flags & NNTUNE_ACCEPT_STALE) != 0;
    nntune_status status = add_files(table, path, flags, why);
    if (status == NNTUNE_OK)
        status = choose_device(table, device, why);
    if (status == NNTUNE_OK && !(flags & NNTUNE_ALONE) && log != NULL && log[0] != '\0')
        status = nntune_table_log_misses(table, log, why);
    if (status != NNTUNE_OK) {
        nntune_table_close(table);
        return status;
    }
    for (int tier = NNTUNE_TIER_DEVICE; tier <= NNTUNE_TIER_DEFAULT; tier++)
        rank_tier(table, (nntune_tier)tier);
    sort_by_sms(table);
    mark_stale(table);
    *out = table;
    return NNTUNE_OK;
}

void nntune_table_close(nntune_table *table)
{
    if (table == NULL)
        return;
    for (int i = 0; i < table->file_count; i++)
        nntune_file_close(&table->file[i]);
    if (table->miss_log >= 0)
        close(table->miss_log);
    free(table->missed);
    free(table);
}

const nntune_device *nntune_table_device(const nntune_table *table)
{
    return &table->here;
}

size_t nntune_table_entries(const nntune_table *table)
{
    size_t count = 0;
    for (int i = 0; i < table->file_count; i++)
        count += nntune_file_count(&table->file[i], NNTUNE_PART_ENTRY);
    return count;
}
