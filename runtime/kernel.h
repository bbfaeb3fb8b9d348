/* kernel.h: a loaded kernel inside the library: its stages with all numbers filled in for one batch. */
#ifndef NNTUNE_KERNEL_H
#define NNTUNE_KERNEL_H

#include "runtime/table.h"

enum { NNTUNE_MAX_STAGES = NNTUNE_FILE_PREPARES + NNTUNE_FILE_STAGES, NNTUNE_MAX_ARGS = 20, NNTUNE_ROLES = 5 };

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
    void *function;
} nntune_stage;

typedef struct nntune_backend {
    nntune_status (*load)(nntune_kernel *kernel, const void *code, size_t bytes, char *why);
    void (*unload)(nntune_kernel *kernel);
    nntune_status (*run)(nntune_kernel *kernel, const nntune_stage *stages, int count, const uint64_t *address,
                         void *stream, char *why);
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

void nntune_arguments(const nntune_stage *stage, const uint64_t *address, nntune_value *values, void **args);

#endif
