/* kernel.h: a loaded kernel inside the library: its stages with all numbers filled in for one batch. */
#ifndef NNTUNE_KERNEL_H
#define NNTUNE_KERNEL_H

#include <stdalign.h>

#include "runtime/table.h"

enum {
    NNTUNE_MAX_STAGES = NNTUNE_FILE_PREPARES + NNTUNE_FILE_STAGES,
    NNTUNE_MAX_ARGS = NNTUNE_FILE_ARGS,
    NNTUNE_MAX_MAPS = NNTUNE_FILE_MAPS,
    NNTUNE_ROLES = 5,
    NNTUNE_ARG_MAP = 4, /* kind of an argument */
    NNTUNE_MAP_BYTES = 128,
    NNTUNE_MAP_ALIGNMENT = 64
};

/* A tensor map with its numbers filled in, and as the driver encoded it last. */
typedef struct nntune_map {
    uint32_t form, role, type, interleave, swizzle, promotion, fill;
    uint32_t box[NNTUNE_FILE_MAP_RANK], step[NNTUNE_FILE_MAP_RANK];
    int32_t lower[2], upper[2];
    uint64_t offset_bytes, size[NNTUNE_FILE_MAP_RANK], stride_bytes[NNTUNE_FILE_MAP_RANK - 1];
    uint64_t encoded_for; /* the tensor's address */
    alignas(NNTUNE_MAP_ALIGNMENT) unsigned char encoded[NNTUNE_MAP_BYTES];
} nntune_map;

typedef struct nntune_stage {
    uint32_t kind; /* 0 kernel, 1 zeroing */
    const char *entry;
    uint32_t grid[3], block[3], cluster[3], smem_bytes;
    uint32_t zero_role;
    uint64_t zero_bytes;
    int arg_count;
    struct {
        uint32_t kind, role;
        int64_t value;
        float real;
    } arg[NNTUNE_MAX_ARGS];
    int map_count;
    nntune_map map[NNTUNE_MAX_MAPS];
    void *function;
} nntune_stage;

typedef struct nntune_backend {
    nntune_status (*load)(nntune_kernel *kernel, const void *code, size_t bytes, char *why);
    void (*unload)(nntune_kernel *kernel);
    nntune_status (*run)(nntune_kernel *kernel, nntune_stage *stages, int count, const uint64_t *address, void *stream,
                         char *why);
} nntune_backend;

extern const nntune_backend nntune_backend_cpu, nntune_backend_cuda;

struct nntune_kernel {
    const nntune_backend *backend;
    void *module;
    nntune_stage stage[NNTUNE_MAX_STAGES]; /* preparation first */
    int prepare_count, stage_count;
    uint64_t packed_bytes, workspace_bytes;
    int threads; /* of a cpu */
    int code_fd; /* likewise */
};

/* One argument as the code receives it. */
typedef union nntune_value {
    uint64_t address;
    int64_t i64;
    int32_t i32;
    float f32;
} nntune_value;

/* ---- kernel.c ---- */
extern const char *const nntune_role_names[NNTUNE_ROLES];
/* False where the number does not fit 64 bits. */
bool nntune_number_at(const nntune_file_number *number, int64_t batch, int64_t *out);
/* `args` points at `values`, and at the stage's maps as they were encoded. */
void nntune_arguments(nntune_stage *stage, const uint64_t *address, nntune_value *values, void **args);

/* ---- map.c ---- */
/* Whether the numbers that hold for every batch are ones that the copy engine has. */
bool nntune_map_sound(const nntune_file_map *map);
/* The map at a batch; false where a number is none that the copy engine has. */
bool nntune_map_read(const nntune_file_map *map, int64_t batch, nntune_map *out);
/* Encodes the stage's maps over the buffers; those whose tensor lies where it lay the last time stay. */
nntune_status nntune_maps_encode(nntune_stage *stage, const uint64_t *address, char *why);

#endif
