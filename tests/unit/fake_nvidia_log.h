/* fake_nvidia_log.h: what fake_nvidia.c was asked to launch, kept for tests to compare: grids, attributes, arguments as
 * bytes, tensor maps as what they were made of. A driver does not know how large arguments are, so the test says it. */
#ifndef FAKE_NVIDIA_LOG_H
#define FAKE_NVIDIA_LOG_H

#include <stdint.h>
#include <string.h>

enum { FAKE_LOG = 64, FAKE_ARGS = 20, FAKE_MAP_BYTES = 128, FAKE_NAME_BYTES = 64 };

/* What a tensor map was made of, instead of the driver's 128 bytes. */
typedef struct fake_map {
    uint64_t base;
    unsigned char form, type, rank, interleave, swizzle, promotion, fill, none;
    uint64_t size[4], stride[3];
    uint32_t box[4], step[4];
    int32_t lower[2], upper[2];
    uint64_t made;
} fake_map;

/* A launch or, with no block, a filling of memory: its grid is address, value and count. */
typedef struct fake_entry {
    char function[FAKE_NAME_BYTES];
    uint64_t grid[3];
    uint32_t block[3], cluster[3], smem, attributes;
    const void *stream;
    unsigned char arg[FAKE_ARGS][FAKE_MAP_BYTES];
} fake_entry;

/* The limit of a function's dynamic shared memory (8) as it was set last, or that its clusters may be wide (14). */
typedef struct fake_limit {
    char function[FAKE_NAME_BYTES];
    int attribute, value;
} fake_limit;

typedef struct fake_log {
    int count, limits, misplaced; /* misplaced: tensor maps that do not lie at a multiple of 64 */
    fake_entry entry[FAKE_LOG];
    fake_limit limit[FAKE_LOG];
} fake_log;

#ifdef FAKE_NVIDIA_DRIVER

fake_log fake_logged;
int fake_arg_bytes[FAKE_LOG][FAKE_ARGS]; /* of each launch to come; 0 behind the last */

static fake_entry *log_entry(const char *function, const void *stream)
{
    static fake_entry beyond;
    fake_entry *entry = fake_logged.count < FAKE_LOG ? &fake_logged.entry[fake_logged.count++] : &beyond;
    memset(entry, 0, sizeof *entry);
    strncpy(entry->function, function, sizeof entry->function - 1);
    entry->stream = stream;
    return entry;
}

static void log_arguments(fake_entry *entry, void **args)
{
    const int *bytes = fake_arg_bytes[entry - fake_logged.entry];
    if (entry < fake_logged.entry || entry >= fake_logged.entry + FAKE_LOG)
        return;
    for (int i = 0; i < FAKE_ARGS && bytes[i] > 0; i++) {
        memcpy(entry->arg[i], args[i], (size_t)bytes[i]);
        fake_logged.misplaced += bytes[i] == FAKE_MAP_BYTES && (uintptr_t)args[i] % 64 != 0;
    }
}

static void log_launch(const char *function, const unsigned *grid, const unsigned *block, const unsigned *cluster,
                       unsigned smem, unsigned attributes, const void *stream, void **args)
{
    fake_entry *entry = log_entry(function, stream);
    for (int i = 0; i < 3; i++) {
        entry->grid[i] = grid[i];
        entry->block[i] = block[i];
        entry->cluster[i] = cluster != NULL ? cluster[i] : 0;
    }
    entry->smem = smem;
    entry->attributes = attributes;
    log_arguments(entry, args);
}

static void log_fill(const char *function, uint64_t at, uint64_t value, uint64_t count, const void *stream)
{
    fake_entry *entry = log_entry(function, stream);
    entry->grid[0] = at;
    entry->grid[1] = value;
    entry->grid[2] = count;
}

/* The last word stands. */
static void log_limit(const char *function, int attribute, int value)
{
    int i = 0;
    while (i < fake_logged.limits &&
           (fake_logged.limit[i].attribute != attribute || strcmp(fake_logged.limit[i].function, function) != 0))
        i++;
    if (i == FAKE_LOG)
        return;
    fake_limit *limit = &fake_logged.limit[i];
    fake_logged.limits += i == fake_logged.limits;
    memset(limit, 0, sizeof *limit);
    strncpy(limit->function, function, sizeof limit->function - 1);
    limit->attribute = attribute;
    limit->value = value;
}

/* ---- the driver's makers of tensor maps ---- */
static int make_map(fake_map *map, const void *base, const u64 *size, const u64 *stride, const unsigned *step)
{
    map->base = (u64)(uintptr_t)base;
    memcpy(map->size, size, sizeof map->size);
    memcpy(map->stride, stride, sizeof map->stride);
    memcpy(map->step, step, sizeof map->step);
    map->made = 1;
    fake_maps++;
    return map->base % 16 || (uintptr_t)map % 64 || setting("FAKE_NO_MAPS", 0) ? 1 : 0;
}

int cuTensorMapEncodeTiled(fake_map *map, int type, unsigned rank, void *base, const u64 *size, const u64 *stride,
                           const unsigned *box, const unsigned *step, int interleave, int swizzle, int promotion,
                           int fill)
{
    *map = (fake_map){0,
                      1,
                      (unsigned char)type,
                      (unsigned char)rank,
                      (unsigned char)interleave,
                      (unsigned char)swizzle,
                      (unsigned char)promotion,
                      (unsigned char)fill};
    memcpy(map->box, box, sizeof map->box);
    return make_map(map, base, size, stride, step);
}

int cuTensorMapEncodeIm2col(fake_map *map, int type, unsigned rank, void *base, const u64 *size, const u64 *stride,
                            const int *lower, const int *upper, unsigned channels, unsigned pixels,
                            const unsigned *step, int interleave, int swizzle, int promotion, int fill)
{
    *map = (fake_map){0,
                      2,
                      (unsigned char)type,
                      (unsigned char)rank,
                      (unsigned char)interleave,
                      (unsigned char)swizzle,
                      (unsigned char)promotion,
                      (unsigned char)fill};
    map->box[0] = channels;
    map->box[1] = pixels;
    memcpy(map->lower, lower, sizeof map->lower);
    memcpy(map->upper, upper, sizeof map->upper);
    return make_map(map, base, size, stride, step);
}

#endif
#endif
