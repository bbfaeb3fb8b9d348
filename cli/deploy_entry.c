#include "cli/deploy_entry.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "cli/deploy_launch.h"
#include "core/json.h"
#include "core/mem.h"
#include "core/occupancy.h"

/* ---- cost model ------------------------------------------------------------------------------------------------------ */

/* Blocks of the largest stage. NAN when the problem cannot be served. */
static double blocks_of(const nt_deploy_probe *p, const nt_problem *problem)
{
    nt_plan *plan = nt_alloc(sizeof *plan);
    double most = 0;
    bool ok = nt_deploy_plan(p, problem, plan);
    for (int i = 0; ok && i < plan->stage_count; i++) {
        const nt_stage *s = &plan->stage[i];
        double blocks = (double)s->grid[0] * s->grid[1] * s->grid[2];
        most = s->kind == NT_STAGE_KERNEL && blocks > most ? blocks : most;
    }
    free(plan);
    return ok && most > 0 ? most : (double)NAN;
}

static int64_t *extent_of(nt_problem *problem, int d)
{
    return d < problem->shape.count ? &problem->shape.dim[d].size : &problem->batch;
}

static double blocks_at(const nt_deploy_probe *p, int d, int64_t size)
{
    nt_problem problem = p->problem;
    *extent_of(&problem, d) = size;
    return blocks_of(p, &problem);
}

/* The least power of two whose odd multiples the kernel serves; the extent itself when there is none. */
static int64_t multiple_of(const nt_deploy_probe *p, int d)
{
    nt_problem own = p->problem;
    for (int64_t m = 1; m <= 256; m *= 2)
        if (!isnan(blocks_at(p, d, 3 * m)) && !isnan(blocks_at(p, d, 5 * m)))
            return m;
    return *extent_of(&own, d);
}

/* Of ceil(extent / tile) x the rest, by how blocks grow over a long way; 0: they do not. */
static double tile_of(const nt_deploy_probe *p, int d, int64_t multiple)
{
    nt_problem own = p->problem;
    int64_t size = *extent_of(&own, d), far = size > 64 ? size * 8 : 512;
    far = (far + multiple - 1) / multiple * multiple;
    double near_blocks = blocks_at(p, d, multiple), far_blocks = blocks_at(p, d, far);
    if (isnan(near_blocks) || isnan(far_blocks) || far_blocks < near_blocks * 1.001)
        return 0;
    return (double)far * near_blocks / far_blocks;
}

static double slots_of(const nt_device_info *device, const nt_trial *trial)
{
    if (device->kind == NT_DEVICE_CPU)
        return device->sm_count > 0 ? (double)device->sm_count : 1;
    nt_occupancy occupancy =
        nt_occupancy_of(device, trial->threads_per_block, trial->artefact.registers, trial->smem_bytes);
    int64_t blocks = occupancy.blocks_per_sm > 0 ? occupancy.blocks_per_sm : 1;
    return device->sm_count > 0 ? (double)(blocks * device->sm_count) : (double)NAN;
}

static void probe_cost(const nt_deploy_probe *p, const nt_trial *trial, double time_ns, nt_deploy_cost *out)
{
    nt_problem own = p->problem;
    nt_extents extents;
    const nt_layer *layer = nt_layer_find(own.layer);
    double blocks = blocks_of(p, &own), cut = 1;
    if (isnan(blocks) || layer->extents(&own, &extents, NULL) != NT_OK)
        return;
    for (int d = 0; d <= own.shape.count; d++) {
        out->multiple[d] = multiple_of(p, d);
        out->tile[d] = tile_of(p, d, out->multiple[d]);
        if (out->tile[d] > 0)
            cut *= ceil((double)*extent_of(&own, d) / (double)(float)out->tile[d]);
    }
    out->slots = slots_of(p->device, trial);
    out->block_scale = blocks / cut;
    out->wave_ns = time_ns / ceil(blocks / out->slots);
    out->flop_per_block = extents.flop / blocks;
}

/* ---- the whole ------------------------------------------------------------------------------------------------------- */

void nt_deploy_entry_probe(nt_deploy_entry *entry, const nt_device_info *device, const nt_trial *trial,
                           int64_t batch_hi)
{
    nt_deploy_probe p = {.kernel = nt_kernel_find(entry->problem.layer, device->kind, entry->kernel),
                         .device = device,
                         .problem = entry->problem};
    json_t *params = NULL;
    const char *why = NULL;
    if (p.kernel == NULL) {
        snprintf(entry->no_launch, sizeof entry->no_launch, "this program has no kernel '%s'", entry->kernel);
        return;
    }
    nt_status status = nt_json_parse(entry->params_json, &params, NULL);
    if (status == NT_OK)
        status = nt_json_to_config(params, p.kernel->params, p.kernel->param_count, &p.config, NULL);
    json_decref(params);
    if (status != NT_OK) {
        snprintf(entry->no_launch, sizeof entry->no_launch, "this program's kernel '%s' has other parameters",
                 entry->kernel);
        return;
    }
    entry->launch = nt_deploy_launch_probe(&p, entry->from_batch, batch_hi, &why);
    if (entry->launch == NULL)
        nt_copy(entry->no_launch, sizeof entry->no_launch, why);
    probe_cost(&p, trial, entry->time_ns, &entry->cost);
}

static double tensor_bytes(const nt_extents *e, nt_precision precision, int which)
{
    const nt_precision_row *row = &nt_precisions[precision];
    const int64_t elements[] = {e->in, e->weight, e->out};
    const nt_dtype type[] = {row->in, row->weight, row->out};
    return which == 3 ? e->flop : (double)elements[which] * (double)nt_dtype_bytes(type[which]);
}

bool nt_deploy_work_probe(const nt_problem *problem, nt_deploy_work *out)
{
    const nt_layer *layer = nt_layer_find(problem->layer);
    nt_extents own, twice;
    nt_problem larger;
    *out = (nt_deploy_work){.precision = problem->precision, .layout = problem->layout};
    nt_copy(out->layer, sizeof out->layer, problem->layer);
    if (layer == NULL || layer->extents(problem, &own, NULL) != NT_OK)
        return false;
    for (int which = 0; which < 4; which++) {
        nt_deploy_product *product = which == 3 ? &out->flop : &out->bytes[which];
        product->scale = tensor_bytes(&own, problem->precision, which);
        for (int d = 0; d <= problem->shape.count; d++) {
            larger = *problem;
            double size = (double)*extent_of(&larger, d);
            *extent_of(&larger, d) *= 2;
            if (layer->extents(&larger, &twice, NULL) != NT_OK)
                return false;
            double exponent =
                log2(tensor_bytes(&twice, problem->precision, which) / tensor_bytes(&own, problem->precision, which));
            product->exponent[d] = fabs(exponent - round(exponent)) < 1e-6 ? round(exponent) : exponent;
            product->scale /= pow(size, product->exponent[d]);
        }
    }
    return true;
}
