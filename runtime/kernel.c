/* kernel.c: from an entry to something that can be launched: the launch numbers at this batch, the code, and its
 * checks. */
#include <stdlib.h>

#include "runtime/kernel.h"

const char *const nntune_role_names[NNTUNE_ROLES] = {"in", "weight", "out", "packed", "workspace"};

bool nntune_number_at(const nntune_file_number *number, int64_t batch, int64_t *out)
{
    __int128 value = number->base;
    if (number->step != 0) {
        __int128 units = ((__int128)number->step * batch + number->divisor - 1) / number->divisor;
        if (units > INT64_MAX || units < INT64_MIN)
            return false;
        value += number->scale * units;
    }
    value = value > number->most ? number->most : value;
    *out = (int64_t)value;
    return value >= INT64_MIN;
}

/* ---- a launch at one batch ---- */

static bool read_bytes(const nntune_file_number *number, int64_t batch, uint64_t *out)
{
    int64_t value = 0;
    bool ok = nntune_number_at(number, batch, &value) && value >= 0;
    *out = (uint64_t)value;
    return ok;
}

/* A place in memory that the library sizes lies inside of it. */
static bool inside(const nntune_kernel *kernel, uint32_t role, uint64_t offset, uint64_t bytes)
{
    uint64_t all = role == 3 ? kernel->packed_bytes : role == 4 ? kernel->workspace_bytes : UINT64_MAX;
    return offset <= all && bytes <= all - offset;
}

static bool read_grid(const nntune_file_stage *from, int64_t batch, nntune_stage *out)
{
    int64_t items = 1;
    for (int i = 0; i < 3; i++) {
        int64_t grid = 0;
        if (!nntune_number_at(&from->grid[i], batch, &grid))
            return false;
        if (from->kind == 0 && (grid < 1 || grid > UINT32_MAX || __builtin_mul_overflow(items, grid, &items)))
            return false;
        out->grid[i] = (uint32_t)grid;
        out->block[i] = from->block[i];
        out->cluster[i] = from->cluster[i];
    }
    return true;
}

static bool read_argument(const nntune_kernel *kernel, const nntune_file_arg *arg, int64_t batch, nntune_stage *out)
{
    int64_t value = 0;
    if (!nntune_number_at(&arg->number, batch, &value) || (arg->kind == 1 && value != (int32_t)value) ||
        (arg->kind == 0 && (value < 0 || !inside(kernel, arg->role, (uint64_t)value, 0))) ||
        (arg->kind == NNTUNE_ARG_MAP && (value < 0 || value >= out->map_count)))
        return false;
    out->arg[out->arg_count].kind = arg->kind;
    out->arg[out->arg_count].role = arg->role;
    out->arg[out->arg_count].value = value;
    out->arg[out->arg_count++].real = arg->real;
    return true;
}

static bool read_stage(const nntune_file *f, const nntune_file_stage *from, int64_t batch, const nntune_kernel *kernel,
                       nntune_stage *out)
{
    *out = (nntune_stage){.kind = from->kind,
                          .entry = f->text + from->entry,
                          .smem_bytes = from->smem_dynamic_bytes,
                          .zero_role = from->zero_role,
                          .map_count = (int)from->map_count};
    bool ok = read_grid(from, batch, out) && read_bytes(&from->zero_bytes, batch, &out->zero_bytes) &&
              inside(kernel, out->zero_role, 0, out->zero_bytes);
    for (uint32_t i = 0; ok && i < from->map_count; i++)
        ok = nntune_map_read(&f->tensor_map[from->first_map + i], batch, &out->map[i]) &&
             inside(kernel, out->map[i].role, out->map[i].offset_bytes, 0);
    for (uint32_t i = 0; ok && i < from->arg_count; i++)
        ok = read_argument(kernel, &f->arg[from->first_arg + i], batch, out);
    return ok;
}

static bool read_plan(const nntune_file *f, const nntune_file_plan *plan, int64_t batch, nntune_kernel *out)
{
    bool ok = read_bytes(&plan->packed_bytes, batch, &out->packed_bytes) &&
              read_bytes(&plan->workspace_bytes, batch, &out->workspace_bytes);
    out->prepare_count = (int)plan->prepare_count;
    out->stage_count = (int)plan->stage_count;
    for (uint32_t i = 0; ok && i < plan->prepare_count; i++)
        ok = read_stage(f, &f->stage[plan->prepare_first + i], batch, out, &out->stage[i]);
    for (uint32_t i = 0; ok && i < plan->stage_count; i++)
        ok = read_stage(f, &f->stage[plan->stage_first + i], batch, out, &out->stage[plan->prepare_count + i]);
    return ok;
}

/* ---- loading ---- */

static nntune_status may_run(const nntune_file *f, const nntune_query *q, const nntune_result *r, char *why)
{
    const nntune_file_entry *entry = &f->entry[r->entry];
    if (entry->plan == NNTUNE_NOTHING && f->text[entry->no_launch] != '\0')
        return nntune_fail(why, NNTUNE_REFUSED, "the table holds the configuration of %s but no launch: %s", r->kernel,
                           f->text + entry->no_launch);
    if (entry->plan == NNTUNE_NOTHING || entry->artefact == NNTUNE_NOTHING)
        return nntune_fail(
            why, NNTUNE_REFUSED,
            "the table holds the configuration of %s but no code for it: its compiled artefact was not at "
            "hand when the table was built",
            r->kernel);
    if (r->tier == NNTUNE_TIER_DEFAULT)
        return nntune_fail(why, NNTUNE_REFUSED, "code made for %s does not run on this device", r->device);
    if (r->match == NNTUNE_MATCH_SHAPE)
        return nntune_fail(why, NNTUNE_REFUSED,
                           "the launch of %s is known for the entry's own shape only: the configuration suits another "
                           "shape, its grid does not; sweep this shape and build the table again",
                           r->kernel);
    const nntune_file_plan *plan = &f->plan[entry->plan];
    if (q->batch < plan->batch_lo || q->batch > plan->batch_hi)
        return nntune_fail(why, NNTUNE_REFUSED, "the launch of %s is known for batch %lld to %lld, not for %lld",
                           r->kernel, (long long)plan->batch_lo, (long long)plan->batch_hi, (long long)q->batch);
    return NNTUNE_OK;
}

static nntune_status load_code(const nntune_file *f, const nntune_file_artefact *artefact, nntune_kernel *kernel,
                               char *why)
{
    const unsigned char *code = f->code + artefact->offset;
    if (nntune_file_checksum(code, artefact->bytes) != artefact->checksum)
        return nntune_fail(why, NNTUNE_CORRUPT, "the code %s in the table is damaged", f->text + artefact->key);
    return kernel->backend->load(kernel, code, artefact->bytes, why);
}

nntune_status nntune_kernel_load(const nntune_table *table, const nntune_query *query, const nntune_result *result,
                                 nntune_kernel **out, char *why)
{
    const nntune_file *f = &table->file[result->file];
    const nntune_file_entry *entry = &f->entry[result->entry];
    *out = NULL;
    nntune_status status = may_run(f, query, result, why);
    if (status != NNTUNE_OK)
        return status;
    nntune_kernel *kernel = NULL;
    if (posix_memalign((void **)&kernel, alignof(nntune_kernel), sizeof *kernel) != 0)
        return nntune_fail(why, NNTUNE_FAILED, "no memory left for a kernel");
    memset(kernel, 0, sizeof *kernel);
    bool cuda = table->here.kind == NNTUNE_CUDA;
    kernel->backend = cuda ? &nntune_backend_cuda : &nntune_backend_cpu;
    kernel->threads = (int)(table->here.sm_count > 0 && table->here.sm_count < 1024 ? table->here.sm_count : 1);
    if (!read_plan(f, &f->plan[entry->plan], query->batch, kernel))
        status = nntune_fail(why, NNTUNE_REFUSED, "the launch of %s at batch %lld has a number beyond its limits",
                             result->kernel, (long long)query->batch);
    if (status == NNTUNE_OK)
        status = load_code(f, &f->artefact[entry->artefact], kernel, why);
    if (status != NNTUNE_OK) {
        free(kernel);
        return status;
    }
    *out = kernel;
    return NNTUNE_OK;
}

void nntune_kernel_free(nntune_kernel *kernel)
{
    if (kernel == NULL)
        return;
    kernel->backend->unload(kernel);
    free(kernel);
}

size_t nntune_kernel_packed_bytes(const nntune_kernel *kernel)
{
    return kernel->packed_bytes;
}

size_t nntune_kernel_workspace_bytes(const nntune_kernel *kernel)
{
    return kernel->workspace_bytes;
}

void nntune_arguments(nntune_stage *stage, const uint64_t *address, nntune_value *values, void **args)
{
    for (int i = 0; i < stage->arg_count; i++) {
        args[i] = &values[i];
        values[i] = (nntune_value){0};
        if (stage->arg[i].kind == 0)
            values[i].address = address[stage->arg[i].role] + (uint64_t)stage->arg[i].value;
        else if (stage->arg[i].kind == 1)
            values[i].i32 = (int32_t)stage->arg[i].value;
        else if (stage->arg[i].kind == 2)
            values[i].i64 = stage->arg[i].value;
        else if (stage->arg[i].kind == NNTUNE_ARG_MAP)
            args[i] = stage->map[stage->arg[i].value].encoded;
        else
            values[i].f32 = stage->arg[i].real;
    }
}

/* The first role that the stage uses and that has no address; -1: none. */
static int role_without_address(const nntune_stage *stage, const uint64_t *address)
{
    if (stage->kind == 1 && address[stage->zero_role] == 0)
        return (int)stage->zero_role;
    for (int i = 0; i < stage->arg_count; i++)
        if (stage->arg[i].kind == 0 && address[stage->arg[i].role] == 0)
            return (int)stage->arg[i].role;
    for (int i = 0; i < stage->map_count; i++)
        if (address[stage->map[i].role] == 0)
            return (int)stage->map[i].role;
    return -1;
}

static nntune_status run(nntune_kernel *kernel, nntune_stage *stages, int count, const nntune_buffers *buffers,
                         void *stream, char *why)
{
    const uint64_t address[NNTUNE_ROLES] = {buffers->in, buffers->weight, buffers->out, buffers->packed,
                                            buffers->workspace};
    for (int s = 0; s < count; s++) {
        int missing = role_without_address(&stages[s], address);
        if (missing >= 0)
            return nntune_fail(why, NNTUNE_INVALID, "the buffer '%s' is needed", nntune_role_names[missing]);
    }
    return kernel->backend->run(kernel, stages, count, address, stream, why);
}

nntune_status nntune_prepare(nntune_kernel *kernel, const nntune_buffers *buffers, void *stream, char *why)
{
    return run(kernel, kernel->stage, kernel->prepare_count, buffers, stream, why);
}

nntune_status nntune_launch(nntune_kernel *kernel, const nntune_buffers *buffers, void *stream, char *why)
{
    return run(kernel, kernel->stage + kernel->prepare_count, kernel->stage_count, buffers, stream, why);
}
