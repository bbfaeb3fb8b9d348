/* map.c: tensor maps: how the copy engine of compute capability 9.0 and later is told where a tensor lies and which box
 * of it one copy brings. The table has all of it but the address, so that a map is made for the caller's buffers by the
 * driver, which alone knows the 128 bytes' meaning. */
#include "runtime/cuda.h"
#include "runtime/kernel.h"

/* The driver's limits, of cuTensorMapEncodeTiled and cuTensorMapEncodeIm2col in the manual of its interface. */
enum {
    MOST_TYPE = 15,
    MOST_INTERLEAVE = 2,
    MOST_SWIZZLE = 6,
    MOST_PROMOTION = 3,
    MOST_FILL = 1,
    MOST_BOX = 256,
    MOST_PIXELS = 1024,
    MOST_STEP = 8,
    ALIGNMENT_BYTES = 16
};
#define NEVER UINT64_MAX /* no tensor's address: it is odd */
static const int64_t most_size = INT64_C(1) << 32, most_bytes = INT64_C(1) << 40;

bool nntune_map_sound(const nntune_file_map *map)
{
    bool ok = map->form <= 1 && map->role < NNTUNE_ROLES && map->type <= MOST_TYPE &&
              map->interleave <= MOST_INTERLEAVE && map->swizzle <= MOST_SWIZZLE && map->promotion <= MOST_PROMOTION &&
              map->fill <= MOST_FILL;
    for (int i = 0; i < NNTUNE_FILE_MAP_RANK; i++) {
        bool pixels = map->form == 1 && i == 1, used = map->form == 0 || i < 2;
        ok = ok && map->step[i] >= 1 && map->step[i] <= MOST_STEP &&
             (!used || (map->box[i] >= 1 && map->box[i] <= (pixels ? MOST_PIXELS : MOST_BOX)));
    }
    return ok;
}

bool nntune_map_read(const nntune_file_map *map, int64_t batch, nntune_map *out)
{
    int64_t number;
    *out = (nntune_map){.form = map->form,
                        .role = map->role,
                        .type = map->type,
                        .interleave = map->interleave,
                        .swizzle = map->swizzle,
                        .promotion = map->promotion,
                        .fill = map->fill,
                        .encoded_for = NEVER};
    memcpy(out->box, map->box, sizeof out->box);
    memcpy(out->step, map->step, sizeof out->step);
    memcpy(out->lower, map->lower, sizeof out->lower);
    memcpy(out->upper, map->upper, sizeof out->upper);
    if (!nntune_number_at(&map->offset_bytes, batch, &number) || number < 0 || number >= most_bytes)
        return false;
    out->offset_bytes = (uint64_t)number;
    for (int i = 0; i < NNTUNE_FILE_MAP_RANK; i++) {
        if (!nntune_number_at(&map->size[i], batch, &number) || number < 1 || number > most_size)
            return false;
        out->size[i] = (uint64_t)number;
    }
    for (int i = 0; i < NNTUNE_FILE_MAP_RANK - 1; i++) {
        if (!nntune_number_at(&map->stride_bytes[i], batch, &number) || number < 1 || number >= most_bytes ||
            number % ALIGNMENT_BYTES != 0)
            return false;
        out->stride_bytes[i] = (uint64_t)number;
    }
    return true;
}

static int encode(const nntune_cuda *cuda, nntune_map *map, uint64_t base)
{
    void *at = (void *)(uintptr_t)base;
    if (map->form == 1)
        return cuda->map_images(map->encoded, (int)map->type, NNTUNE_FILE_MAP_RANK, at, map->size, map->stride_bytes,
                                map->lower, map->upper, map->box[0], map->box[1], map->step, (int)map->interleave,
                                (int)map->swizzle, (int)map->promotion, (int)map->fill);
    return cuda->map_tiled(map->encoded, (int)map->type, NNTUNE_FILE_MAP_RANK, at, map->size, map->stride_bytes,
                           map->box, map->step, (int)map->interleave, (int)map->swizzle, (int)map->promotion,
                           (int)map->fill);
}

nntune_status nntune_maps_encode(nntune_stage *stage, const uint64_t *address, char *why)
{
    const nntune_cuda *cuda;
    nntune_status status = NNTUNE_OK;
    for (int i = 0; i < stage->map_count; i++) {
        nntune_map *map = &stage->map[i];
        uint64_t base = address[map->role] + map->offset_bytes;
        if (base == map->encoded_for)
            continue;
        if (base % ALIGNMENT_BYTES != 0)
            return nntune_fail(why, NNTUNE_INVALID,
                               "the buffer '%s' lies at 0x%llx: %s reads it by a tensor map, whose address must be a "
                               "multiple of %d bytes",
                               nntune_role_names[map->role], (unsigned long long)address[map->role], stage->entry,
                               ALIGNMENT_BYTES);
        status = nntune_cuda_get(&cuda, why);
        if (status != NNTUNE_OK)
            return status;
        map->encoded_for = NEVER;
        int code = encode(cuda, map, base);
        if (code != 0)
            return nntune_fail(why, NNTUNE_FAILED, "the driver makes no tensor map of the buffer '%s' for %s: %s",
                               nntune_role_names[map->role], stage->entry, nntune_cuda_error(cuda, code));
        map->encoded_for = base;
    }
    return NNTUNE_OK;
}
