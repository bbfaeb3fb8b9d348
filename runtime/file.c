/* file.c: one table file: mapped, its checksum and every index in it checked once, so that lookups need no check. */
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "runtime/kernel.h"

enum { MOST_CLUSTER = 64 }; /* blocks in one dimension; the hardware ends before */

nntune_status nntune_fail(char *why, nntune_status status, const char *format, ...)
{
    va_list args;
    if (why == NULL)
        return status;
    va_start(args, format);
    vsnprintf(why, NNTUNE_WHY_BYTES, format, args);
    va_end(args);
    return status;
}

const char *nntune_status_text(nntune_status status)
{
    static const char *const texts[] = {"ok",    "not found", "damaged table",  "made for another device",
                                        "stale", "invalid",   "no such device", "refused",
                                        "failed"};
    return (unsigned)status < sizeof texts / sizeof texts[0] ? texts[status] : "unknown status";
}

uint64_t nntune_file_count(const nntune_file *file, nntune_part part)
{
    return file->header->part[part].count;
}

static const char *const part_names[NNTUNE_PART_COUNT] = {
    "texts", "devices", "environments", "groups",    "families",    "index",     "steps", "entries",
    "costs", "plans",   "stages",       "arguments", "tensor maps", "artefacts", "code",  "manifest"};

static nntune_status check_header(const char *path, const nntune_file *file, char *why)
{
    const nntune_file_header *h = file->header;
    if (file->bytes < sizeof *h || memcmp(h->magic, NNTUNE_FILE_MAGIC, sizeof h->magic) != 0)
        return nntune_fail(why, NNTUNE_CORRUPT,
                           "%s is no table for the runtime; 'nntune table build -o NAME.ntb' makes one", path);
    if (h->version != NNTUNE_FILE_VERSION || h->order != NNTUNE_FILE_ORDER)
        return nntune_fail(
            why, NNTUNE_CORRUPT,
            "%s is a table of version %u, this library reads version %d of its own byte order; build the "
            "table again",
            path, h->version, NNTUNE_FILE_VERSION);
    if (h->bytes != file->bytes)
        return nntune_fail(why, NNTUNE_CORRUPT, "%s is %zu bytes long and should be %llu: it is truncated or damaged",
                           path, file->bytes, (unsigned long long)h->bytes);
    if (nntune_file_sum(file->map, file->bytes) != h->checksum)
        return nntune_fail(why, NNTUNE_CORRUPT, "%s is damaged: its checksum does not hold", path);
    for (int i = 0; i < NNTUNE_PART_COUNT; i++) {
        uint64_t offset = h->part[i].offset, count = h->part[i].count;
        if (offset < sizeof *h || offset > file->bytes || offset % 8 != 0 ||
            count > (file->bytes - offset) / nntune_file_part_bytes((nntune_part)i))
            return nntune_fail(why, NNTUNE_CORRUPT, "%s is damaged: its %s lie outside of it", path, part_names[i]);
    }
    return NNTUNE_OK;
}

static const void *part(const nntune_file *file, nntune_part which)
{
    return file->map + file->header->part[which].offset;
}

static void bind_parts(nntune_file *f)
{
    f->text = part(f, NNTUNE_PART_TEXT);
    f->device = part(f, NNTUNE_PART_DEVICE);
    f->environment = part(f, NNTUNE_PART_ENVIRONMENT);
    f->group = part(f, NNTUNE_PART_GROUP);
    f->family = part(f, NNTUNE_PART_FAMILY);
    f->index = part(f, NNTUNE_PART_INDEX);
    f->step = part(f, NNTUNE_PART_STEP);
    f->entry = part(f, NNTUNE_PART_ENTRY);
    f->cost = part(f, NNTUNE_PART_COST);
    f->plan = part(f, NNTUNE_PART_PLAN);
    f->stage = part(f, NNTUNE_PART_STAGE);
    f->arg = part(f, NNTUNE_PART_ARG);
    f->tensor_map = part(f, NNTUNE_PART_MAP);
    f->artefact = part(f, NNTUNE_PART_ARTEFACT);
    f->code = part(f, NNTUNE_PART_CODE);
    f->index_mask = nntune_file_count(f, NNTUNE_PART_INDEX) - 1;
}

/* ---- indices ---- */

static bool below(const nntune_file *f, uint64_t index, nntune_part which)
{
    return index < nntune_file_count(f, which);
}

static bool range(const nntune_file *f, uint64_t first, uint64_t count, nntune_part which)
{
    return first + count <= nntune_file_count(f, which);
}

static bool check_texts(const nntune_file *f)
{
    uint64_t bytes = nntune_file_count(f, NNTUNE_PART_TEXT);
    bool ok = bytes > 0 && f->text[bytes - 1] == '\0';
    for (uint64_t i = 0; ok && i < nntune_file_count(f, NNTUNE_PART_DEVICE); i++)
        ok = f->device[i].name < bytes && f->device[i].arch < bytes && f->device[i].uuid < bytes;
    for (uint64_t i = 0; ok && i < nntune_file_count(f, NNTUNE_PART_ENVIRONMENT); i++)
        ok = f->environment[i].driver < bytes && f->environment[i].compiler < bytes;
    return ok;
}

static bool check_families(const nntune_file *f)
{
    bool ok = true;
    for (uint64_t i = 0; ok && i < nntune_file_count(f, NNTUNE_PART_GROUP); i++)
        ok = below(f, f->group[i].device, NNTUNE_PART_DEVICE) && below(f, f->group[i].layer, NNTUNE_PART_TEXT) &&
             f->group[i].dims <= NNTUNE_FILE_DIMS &&
             range(f, f->group[i].first_family, f->group[i].family_count, NNTUNE_PART_FAMILY);
    for (uint64_t i = 0; ok && i < nntune_file_count(f, NNTUNE_PART_FAMILY); i++)
        ok = below(f, f->family[i].group, NNTUNE_PART_GROUP) && f->family[i].step_count > 0 &&
             range(f, f->family[i].first_step, f->family[i].step_count, NNTUNE_PART_STEP);
    for (uint64_t i = 0; ok && i < nntune_file_count(f, NNTUNE_PART_STEP); i++)
        ok = below(f, f->step[i].entry, NNTUNE_PART_ENTRY) &&
             below(f, f->step[i].environment, NNTUNE_PART_ENVIRONMENT) &&
             below(f, f->step[i].kernel, NNTUNE_PART_TEXT) && below(f, f->step[i].params, NNTUNE_PART_TEXT) &&
             below(f, f->step[i].source_hash, NNTUNE_PART_TEXT);
    return ok && nntune_file_count(f, NNTUNE_PART_COST) == nntune_file_count(f, NNTUNE_PART_ENTRY);
}

/* A search through the index ends only at a free place. */
static bool check_index(const nntune_file *f)
{
    uint64_t size = nntune_file_count(f, NNTUNE_PART_INDEX), used = 0;
    if (size == 0 || (size & (size - 1)) != 0)
        return false;
    for (uint64_t i = 0; i < size; i++) {
        if (f->index[i].family_plus_1 > nntune_file_count(f, NNTUNE_PART_FAMILY))
            return false;
        used += f->index[i].family_plus_1 != 0;
    }
    return used <= size / 2;
}

static bool check_entries(const nntune_file *f)
{
    bool ok = true;
    for (uint64_t i = 0; ok && i < nntune_file_count(f, NNTUNE_PART_ENTRY); i++) {
        const nntune_file_entry *e = &f->entry[i];
        ok = below(f, e->family, NNTUNE_PART_FAMILY) && below(f, e->no_launch, NNTUNE_PART_TEXT) &&
             (e->plan == NNTUNE_NOTHING || below(f, e->plan, NNTUNE_PART_PLAN)) &&
             (e->artefact == NNTUNE_NOTHING || below(f, e->artefact, NNTUNE_PART_ARTEFACT));
    }
    for (uint64_t i = 0; ok && i < nntune_file_count(f, NNTUNE_PART_ARTEFACT); i++)
        ok = below(f, f->artefact[i].key, NNTUNE_PART_TEXT) && f->artefact[i].offset % 8 == 0 &&
             f->artefact[i].bytes <= nntune_file_count(f, NNTUNE_PART_CODE) &&
             range(f, f->artefact[i].offset, f->artefact[i].bytes, NNTUNE_PART_CODE);
    return ok;
}

static bool number_ok(const nntune_file_number *number)
{
    return number->step == 0 || number->divisor > 0;
}

/* An argument that is a tensor map is one of its stage's, whatever the batch. */
static bool check_argument(const nntune_file_arg *arg, uint32_t map_count)
{
    return arg->kind <= NNTUNE_ARG_MAP && arg->role < NNTUNE_ROLES && number_ok(&arg->number) &&
           (arg->kind != NNTUNE_ARG_MAP ||
            (arg->number.step == 0 && arg->number.base >= 0 && arg->number.base < map_count));
}

static bool check_map(const nntune_file_map *map)
{
    bool ok = nntune_map_sound(map) && number_ok(&map->offset_bytes);
    for (int i = 0; i < NNTUNE_FILE_MAP_RANK; i++)
        ok = ok && number_ok(&map->size[i]) && (i == 0 || number_ok(&map->stride_bytes[i - 1]));
    return ok;
}

static bool check_stage(const nntune_file *f, const nntune_file_stage *s)
{
    bool ok = s->kind <= 1 && s->zero_role < NNTUNE_ROLES && below(f, s->entry, NNTUNE_PART_TEXT) &&
              s->arg_count <= NNTUNE_FILE_ARGS && range(f, s->first_arg, s->arg_count, NNTUNE_PART_ARG) &&
              s->map_count <= NNTUNE_FILE_MAPS && range(f, s->first_map, s->map_count, NNTUNE_PART_MAP) &&
              number_ok(&s->zero_bytes);
    for (int i = 0; i < 3; i++)
        ok = ok && number_ok(&s->grid[i]) && s->cluster[i] <= MOST_CLUSTER;
    for (uint32_t i = 0; ok && i < s->arg_count; i++)
        ok = check_argument(&f->arg[s->first_arg + i], s->map_count);
    return ok;
}

static bool check_plans(const nntune_file *f)
{
    bool ok = true;
    for (uint64_t i = 0; ok && i < nntune_file_count(f, NNTUNE_PART_PLAN); i++)
        ok = range(f, f->plan[i].prepare_first, f->plan[i].prepare_count, NNTUNE_PART_STAGE) &&
             range(f, f->plan[i].stage_first, f->plan[i].stage_count, NNTUNE_PART_STAGE) &&
             f->plan[i].prepare_count <= NNTUNE_FILE_PREPARES && f->plan[i].stage_count <= NNTUNE_FILE_STAGES &&
             number_ok(&f->plan[i].packed_bytes) && number_ok(&f->plan[i].workspace_bytes);
    for (uint64_t i = 0; ok && i < nntune_file_count(f, NNTUNE_PART_STAGE); i++)
        ok = check_stage(f, &f->stage[i]);
    for (uint64_t i = 0; ok && i < nntune_file_count(f, NNTUNE_PART_MAP); i++)
        ok = check_map(&f->tensor_map[i]);
    return ok;
}

static nntune_status map_file(const char *path, nntune_file *out, char *why)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return nntune_fail(why, errno == ENOENT ? NNTUNE_NOT_FOUND : NNTUNE_FAILED, "%s cannot be opened: %s", path,
                           strerror(errno));
    struct stat st;
    if (fstat(fd, &st) != 0 || !S_ISREG(st.st_mode)) {
        close(fd);
        return nntune_fail(why, NNTUNE_CORRUPT, "%s is not a regular file", path);
    }
    out->bytes = (size_t)st.st_size;
    if (out->bytes < sizeof(nntune_file_header)) {
        close(fd);
        return nntune_fail(why, NNTUNE_CORRUPT, "%s is only %zu bytes long: no table, or truncated", path, out->bytes);
    }
    void *map = mmap(NULL, out->bytes, PROT_READ, MAP_PRIVATE, fd, 0);
    close(fd);
    if (map == MAP_FAILED)
        return nntune_fail(why, NNTUNE_FAILED, "%s cannot be mapped: %s", path, strerror(errno));
    out->map = map;
    out->header = map;
    return NNTUNE_OK;
}

nntune_status nntune_file_open(const char *path, nntune_file *out, char *why)
{
    memset(out, 0, sizeof *out);
    nntune_status status = map_file(path, out, why);
    if (status == NNTUNE_OK)
        status = check_header(path, out, why);
    if (status == NNTUNE_OK) {
        bind_parts(out);
        if (!check_texts(out) || !check_index(out) || !check_families(out) || !check_entries(out) || !check_plans(out))
            status = nntune_fail(why, NNTUNE_CORRUPT, "%s is damaged: it refers to places that it does not have", path);
    }
    if (status == NNTUNE_OK) {
        out->stale = calloc(nntune_file_count(out, NNTUNE_PART_ENVIRONMENT) + 1, sizeof *out->stale);
        if (out->stale == NULL)
            status = nntune_fail(why, NNTUNE_FAILED, "no memory left for %s", path);
    }
    if (status != NNTUNE_OK)
        nntune_file_close(out);
    return status;
}

void nntune_file_close(nntune_file *file)
{
    if (file->map != NULL)
        munmap((void *)(uintptr_t)file->map, file->bytes);
    free(file->stale);
    memset(file, 0, sizeof *file);
}
