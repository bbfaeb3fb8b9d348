/* plan.h: a configuration made concrete. The same plan serves verification, timing, counters and deployment.
 *
 * A plan is untimed preparation (weight packing) followed by timed stages. A stage is a kernel launch, a zeroing or a
 * vendor call. Arguments name roles; the device binds each role to an address when it launches, so one plan runs over
 * any set of buffers. */
#ifndef NT_PLAN_H
#define NT_PLAN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Buffers a launch may refer to. in, weight and out belong to the problem; packed and workspace to the plan;
 * reference buffers to verification. */
typedef enum nt_role {
    NT_ROLE_IN,
    NT_ROLE_WEIGHT,
    NT_ROLE_OUT,
    NT_ROLE_PACKED,    /* made by the preparation, read by the stages, rotates with the ring */
    NT_ROLE_WORKSPACE, /* scratch between stages */
    NT_ROLE_REF,       /* f64 reference output */
    NT_ROLE_ABS,       /* f64 magnitude that the error bound multiplies */
    NT_ROLE_USER,      /* buffer i of a user's kernel has the role NT_ROLE_USER + i */
    NT_ROLE_COUNT = NT_ROLE_USER + 16
} nt_role;

enum { NT_USER_BUFFERS = NT_ROLE_COUNT - NT_ROLE_USER };

typedef enum nt_arg_kind { NT_ARG_BUFFER, NT_ARG_I32, NT_ARG_I64, NT_ARG_F32, NT_ARG_TENSOR_MAP } nt_arg_kind;

typedef struct nt_arg {
    nt_arg_kind kind;
    nt_role role; /* BUFFER */
    int64_t
        value;  /* I32, I64; for BUFFER a byte offset into the role's buffer; for TENSOR_MAP its index in the stage */
    float real; /* F32 */
} nt_arg;

typedef enum nt_stage_kind {
    NT_STAGE_KERNEL,
    NT_STAGE_ZERO,
    NT_STAGE_VENDOR,
    NT_STAGE_SYMBOL /* copies a buffer into a variable of the module: constant memory */
} nt_stage_kind;

enum {
    NT_MAX_ARGS = 20,
    NT_MAX_STAGES = 6,
    NT_MAX_PREPARES = 4,
    NT_ENTRY_BYTES = 64,
    NT_MAX_MAPS = 3,
    NT_MAP_RANK = 4
};

/* A tensor as the copy engine of compute capability 9.0 and later sees it (kernels/common/hopper.cuh), and the box that
 * one copy brings: 128 bytes wide, rows permuted by 128 bytes, zeros outside the tensor. Dimension 0 is contiguous.
 *
 * images: dimensions are channels, width, height, images; a copy brings box[1] pixels x box[0] channels. Pixels begin
 * at positions from `lower` to size - 1 + `upper` in steps of `step`, width first; a copy then reads at an offset from
 * each. */
typedef struct nt_tensor_map {
    nt_role role;
    int64_t offset_bytes;
    int64_t elem_bytes; /* 1, 2 or 4 */
    int64_t size[NT_MAP_RANK];
    int64_t stride_bytes[NT_MAP_RANK]; /* multiples of 16; [0] is not used */
    uint32_t box[NT_MAP_RANK];
    bool images;
    int32_t lower[2], upper[2]; /* width, height */
    uint32_t step[2];
} nt_tensor_map;

/* On a cpu, grid is the number of work items handed to the threads (x * y * z) and block is ignored. */
typedef struct nt_stage {
    nt_stage_kind kind;
    char entry[NT_ENTRY_BYTES]; /* extern "C" name in the compiled source, or a name expression; SYMBOL: the variable */
    uint32_t grid[3], block[3], cluster[3]; /* cluster 1,1,1 when there is none */
    uint32_t smem_dynamic_bytes;
    int arg_count;
    nt_arg arg[NT_MAX_ARGS];
    int map_count;
    nt_tensor_map map[NT_MAX_MAPS];
    nt_role zero_role; /* ZERO, SYMBOL */
    size_t zero_bytes;
    int vendor_id; /* VENDOR: which library call, and its algorithm */
    int64_t vendor_algorithm;
} nt_stage;

typedef struct nt_plan {
    int prepare_count, stage_count;
    nt_stage prepare[NT_MAX_PREPARES];
    nt_stage stage[NT_MAX_STAGES];
    size_t packed_bytes, workspace_bytes;
} nt_plan;

/* Builders: append arguments to a stage in order. More than NT_MAX_ARGS is an assertion. */
void nt_stage_kernel(nt_stage *stage, const char *entry, uint32_t gx, uint32_t gy, uint32_t gz, uint32_t bx,
                     uint32_t by, uint32_t bz);
void nt_stage_arg_buffer(nt_stage *stage, nt_role role, size_t offset_bytes);
void nt_stage_arg_i32(nt_stage *stage, int64_t value);
void nt_stage_arg_i64(nt_stage *stage, int64_t value);
void nt_stage_arg_f32(nt_stage *stage, float value);
void nt_stage_arg_map(nt_stage *stage, const nt_tensor_map *map); /* more than NT_MAX_MAPS is an assertion too */
void nt_stage_zero(nt_stage *stage, nt_role role, size_t bytes);
void nt_stage_symbol(nt_stage *stage, const char *symbol, nt_role role, size_t bytes);

/* Addresses bound to roles for one execution; 0 where the plan does not use the role. */
typedef struct nt_binding {
    uint64_t address[NT_ROLE_COUNT];
} nt_binding;

#endif
