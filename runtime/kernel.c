/* kernel.c: from an entry to something that can be launched: the launch numbers at this batch, the code, and its
 * checks. */
#include <stdlib.h>

#include "runtime/kernel.h"

static int64_t number_at(const nntune_file_number *number, int64_t batch)
{
    if (number->step == 0)
        return number->base;
    __int128 product = (__int128)number->step * batch;
    return number->base + number->scale * (int64_t)((product + number->divisor - 1) / number->divisor);
}

static bool read_stage(const nntune_file *f, const nntune_file_stage *from, int64_t batch, nntune_stage *out)
{
    *out = (nntune_stage){.kind = from->kind,
                          .entry = f->text + from->entry,
                          .smem_bytes = from->smem_dynamic_bytes,
                          .zero_role = from->zero_role,
                          .zero_bytes = (uint64_t)number_at(&from->zero_bytes, batch),
                          .arg_count = (int)from->arg_count};
    for (int i = 0; i < 3; i++) {
        int64_t grid = number_at(&from->grid[i], batch);
        if (from->kind == 0 && (grid < 1 || grid > UINT32_MAX))
            return false;
        out->grid[i] = (uint32_t)grid;
        out->block[i] = from->block[i];
        out->cluster[i] = from->cluster[i];
    }
    for (uint32_t i = 0; i < from->arg_count; i++) {
        const nntune_file_arg *arg = &f->arg[from->first_arg + i];
        int64_t value = number_at(&arg->number, batch);
        if (arg->kind == 1 && value != (int32_t)value)
            return false;
        out->arg[i].kind = arg->kind;
        out->arg[i].role = arg->role;
        out->arg[i].value = value;
        out->arg[i].real = arg->real;
    }
    return true;
}

static bool read_plan(const nntune_file *f, const nntune_file_plan *plan, int64_t batch, nntune_kernel *out)
{
    bool ok = true;
    out->prepare_count = (int)plan->prepare_count;
    out->stage_count = (int)plan->stage_count;
    for (uint32_t i = 0; ok && i < plan->prepare_count; i++)
        ok = read_stage(f, &f->stage[plan->prepare_first + i], batch, &out->stage[i]);
    for (uint32_t i = 0; ok && i < plan->stage_count; i++)
        ok = read_stage(f, &f->stage[plan->stage_first + i], batch, &out->stage[plan->prepare_count + i]);
    out->packed_bytes = (uint64_t)number_at(&plan->packed_bytes, batch);
    out->workspace_bytes = (uint64_t)number_at(&plan->workspace_bytes, batch);
    return ok;
}

static nntune_status may_run(const nntune_file *f, const nntune_query *q, const nntune_result *r, char *why)
{
    const nntune_file_entry *entry = &f->entry[r->entry];
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
    nntune_kernel *kernel = calloc(1, sizeof *kernel);
    if (kernel == NULL)
        return nntune_fail(why, NNTUNE_FAILED, "no memory left for a kernel");
    bool cuda = table->here.kind == NNTUNE_CUDA;
    kernel->backend = cuda ? &nntune_backend_cuda : &nntune_backend_cpu;
    kernel->threads = (int)(table->here.sm_count > 0 && table->here.sm_count < 1024 ? table->here.sm_count : 1);
    if (!read_plan(f, &f->plan[entry->plan], query->batch, kernel))
        status = nntune_fail(why, NNTUNE_REFUSED, "the launch of %s does not fit its grid at batch %lld",
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

void nntune_arguments(const nntune_stage *stage, const uint64_t *address, nntune_value *values, void **args)
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
        else
            values[i].f32 = stage->arg[i].real;
    }
}

static nntune_status run(nntune_kernel *kernel, const nntune_stage *stages, int count, const nntune_buffers *buffers,
                         void *stream, char *why)
{
    static const char *const names[NNTUNE_ROLES] = {"in", "weight", "out", "packed", "workspace"};
    const uint64_t address[NNTUNE_ROLES] = {buffers->in, buffers->weight, buffers->out, buffers->packed,
                                            buffers->workspace};
    for (int s = 0; s < count; s++) {
        if (stages[s].kind == 1 && address[stages[s].zero_role] == 0)
            return nntune_fail(why, NNTUNE_INVALID, "the buffer '%s' is needed", names[stages[s].zero_role]);
        for (int i = 0; i < stages[s].arg_count; i++)
            if (stages[s].arg[i].kind == 0 && address[stages[s].arg[i].role] == 0)
                return nntune_fail(why, NNTUNE_INVALID, "the buffer '%s' is needed", names[stages[s].arg[i].role]);
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
