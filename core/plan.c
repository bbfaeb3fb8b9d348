/* plan.c: the builders of stages. A stage begins as a kernel or a zeroing and takes its arguments in order; too many
 * arguments is a mistake in a kernel's table, so it is asserted and not returned. */
#include "core/plan.h"

#include "core/str.h"

#include <assert.h>
#include <string.h>

void nt_stage_kernel(nt_stage *stage, const char *entry, uint32_t gx, uint32_t gy, uint32_t gz, uint32_t bx,
                     uint32_t by, uint32_t bz)
{
    *stage = (nt_stage){.kind = NT_STAGE_KERNEL, .grid = {gx, gy, gz}, .block = {bx, by, bz}, .cluster = {1, 1, 1}};
    bool fits = nt_copy(stage->entry, sizeof stage->entry, entry);
    assert(fits);
    (void)fits;
}

static nt_arg *next_arg(nt_stage *stage)
{
    assert(stage->arg_count < NT_MAX_ARGS);
    nt_arg *arg = &stage->arg[stage->arg_count++];
    *arg = (nt_arg){0};
    return arg;
}

void nt_stage_arg_buffer(nt_stage *stage, nt_role role, size_t offset_bytes)
{
    assert((unsigned)role < NT_ROLE_COUNT);
    nt_arg *arg = next_arg(stage);
    arg->kind = NT_ARG_BUFFER;
    arg->role = role;
    arg->value = (int64_t)offset_bytes;
}

void nt_stage_arg_i32(nt_stage *stage, int64_t value)
{
    assert(value >= INT32_MIN && value <= INT32_MAX);
    nt_arg *arg = next_arg(stage);
    arg->kind = NT_ARG_I32;
    arg->value = value;
}

void nt_stage_arg_i64(nt_stage *stage, int64_t value)
{
    nt_arg *arg = next_arg(stage);
    arg->kind = NT_ARG_I64;
    arg->value = value;
}

void nt_stage_arg_f32(nt_stage *stage, float value)
{
    nt_arg *arg = next_arg(stage);
    arg->kind = NT_ARG_F32;
    arg->real = value;
}

void nt_stage_arg_map(nt_stage *stage, const nt_tensor_map *map)
{
    assert(stage->map_count < NT_MAX_MAPS);
    nt_arg *arg = next_arg(stage);
    arg->kind = NT_ARG_TENSOR_MAP;
    arg->value = stage->map_count;
    stage->map[stage->map_count++] = *map;
}

void nt_stage_zero(nt_stage *stage, nt_role role, size_t bytes)
{
    assert((unsigned)role < NT_ROLE_COUNT);
    *stage = (nt_stage){.kind = NT_STAGE_ZERO, .zero_role = role, .zero_bytes = bytes};
}

void nt_stage_symbol(nt_stage *stage, const char *symbol, nt_role role, size_t bytes)
{
    assert((unsigned)role < NT_ROLE_COUNT);
    *stage = (nt_stage){.kind = NT_STAGE_SYMBOL, .zero_role = role, .zero_bytes = bytes};
    bool fits = nt_copy(stage->entry, sizeof stage->entry, symbol);
    assert(fits);
    (void)fits;
}
