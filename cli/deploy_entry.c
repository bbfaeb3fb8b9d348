#include "cli/deploy_entry.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/json.h"
#include "core/mem.h"
#include "core/occupancy.h"

/* A kernel's plan as a function of the problem. */
typedef struct probe {
    const nt_kernel *kernel;
    nt_config config;
    const nt_device_info *device;
    nt_problem problem;
} probe;

static bool plan_of(const probe *p, const nt_problem *problem, nt_plan *out)
{
    nt_extents extents;
    const nt_layer *layer = nt_layer_find(problem->layer);
    memset(out, 0, sizeof *out);
    if (layer == NULL || layer->extents(problem, &extents, NULL) != NT_OK)
        return false;
    return (p->kernel->refuses == NULL || p->kernel->refuses(problem) == NULL) &&
           p->kernel->plan(problem, &p->config, p->device, out, NULL) == NT_OK;
}

/* ---- numbers over the batch ------------------------------------------------------------------------------------------ */

enum { MOST_POINTS = 48, MOST_FACTORS = 400 };

typedef struct series {
    int count;
    int64_t batch[MOST_POINTS], value[MOST_POINTS];
} series;

static int64_t number_at(const nt_deploy_number *n, int64_t batch)
{
    if (n->step == 0)
        return n->base;
    return n->base + n->scale * (int64_t)(((__int128)n->step * batch + n->divisor - 1) / n->divisor);
}

static bool holds(const series *s, const nt_deploy_number *n)
{
    for (int i = 0; i < s->count; i++)
        if (number_at(n, s->batch[i]) != s->value[i])
            return false;
    return true;
}

/* What a grid may be made of: products of extents above the bar, products of parameters below it. */
typedef struct factors {
    int step_count, divisor_count;
    int64_t step[MOST_FACTORS], divisor[MOST_FACTORS];
} factors;

static void add_factor(int64_t *list, int *count, int64_t value)
{
    if (value < 1 || value > INT32_MAX || *count == MOST_FACTORS)
        return;
    for (int i = 0; i < *count; i++)
        if (list[i] == value)
            return;
    list[(*count)++] = value;
}

static void find_factors(const probe *p, factors *out)
{
    out->step_count = out->divisor_count = 0;
    add_factor(out->step, &out->step_count, 1);
    add_factor(out->divisor, &out->divisor_count, 1);
    for (int d = 0; d < p->problem.shape.count; d++)
        for (int i = out->step_count - 1; i >= 0; i--)
            add_factor(out->step, &out->step_count, out->step[i] * p->problem.shape.dim[d].size);
    for (int round = 0; round < 3; round++)
        for (int i = out->divisor_count - 1; i >= 0; i--)
            for (int k = 0; k < p->kernel->param_count; k++) {
                nt_value value = nt_param_value(&p->kernel->params[k], p->config.index[k]);
                if (value.kind == NT_VALUE_INT && value.i > 1 && value.i < 4096)
                    add_factor(out->divisor, &out->divisor_count, out->divisor[i] * value.i);
            }
}

/* base + step x n, from two points. */
static bool fit_line(const series *s, nt_deploy_number *out)
{
    int64_t rise = s->value[1] - s->value[0], run = s->batch[1] - s->batch[0];
    if (rise % run != 0 || rise < 0)
        return false;
    int64_t step = rise / run;
    *out = (nt_deploy_number){s->value[0] - step * s->batch[0], 1, step, 1};
    return holds(s, out);
}

static bool fit_ceiling(const series *s, const factors *f, nt_deploy_number *out)
{
    for (int i = 0; i < f->step_count; i++)
        for (int j = 0; j < f->divisor_count; j++) {
            nt_deploy_number n = {0, 1, f->step[i], f->divisor[j]};
            int64_t tiles = number_at(&n, s->batch[0]);
            n.scale = tiles > 0 ? s->value[0] / tiles : 0;
            if (n.scale > 0 && holds(s, &n)) {
                *out = n;
                return true;
            }
        }
    return false;
}

/* False when no form fits. */
static bool fit(const series *s, const factors *f, nt_deploy_number *out)
{
    *out = (nt_deploy_number){.base = s->value[0], .divisor = 1};
    return holds(s, out) || (s->count > 1 && (fit_line(s, out) || fit_ceiling(s, f, out)));
}

/* ---- launches -------------------------------------------------------------------------------------------------------- */

typedef struct plans {
    int count;
    int64_t batch[MOST_POINTS];
    nt_plan *plan[MOST_POINTS];
    factors *factors;
} plans;

static bool same_stage(const nt_stage *a, const nt_stage *b)
{
    bool same = a->kind == b->kind && strcmp(a->entry, b->entry) == 0 && a->arg_count == b->arg_count &&
                a->smem_dynamic_bytes == b->smem_dynamic_bytes && a->zero_role == b->zero_role &&
                memcmp(a->block, b->block, sizeof a->block) == 0 &&
                memcmp(a->cluster, b->cluster, sizeof a->cluster) == 0;
    for (int i = 0; same && i < a->arg_count; i++)
        same = a->arg[i].kind == b->arg[i].kind && a->arg[i].role == b->arg[i].role &&
               memcmp(&a->arg[i].real, &b->arg[i].real, sizeof(float)) == 0;
    return same;
}

static bool same_form(const nt_plan *a, const nt_plan *b)
{
    bool same = a->prepare_count == b->prepare_count && a->stage_count == b->stage_count;
    for (int i = 0; same && i < a->prepare_count; i++)
        same = same_stage(&a->prepare[i], &b->prepare[i]);
    for (int i = 0; same && i < a->stage_count; i++)
        same = same_stage(&a->stage[i], &b->stage[i]);
    return same;
}

static const nt_stage *stage_of(const nt_plan *plan, int index)
{
    return index < plan->prepare_count ? &plan->prepare[index] : &plan->stage[index - plan->prepare_count];
}

/* One number of all plans: `get` reads it from one. */
static bool fit_number(const plans *p, int64_t (*get)(const nt_plan *, int, int), int stage, int which,
                       nt_deploy_number *out)
{
    series s = {.count = p->count};
    for (int i = 0; i < p->count; i++) {
        s.batch[i] = p->batch[i];
        s.value[i] = get(p->plan[i], stage, which);
    }
    return fit(&s, p->factors, out);
}

static int64_t get_grid(const nt_plan *plan, int stage, int which)
{
    return stage_of(plan, stage)->grid[which];
}
static int64_t get_arg(const nt_plan *plan, int stage, int which)
{
    return stage_of(plan, stage)->arg[which].value;
}
static int64_t get_zero(const nt_plan *plan, int stage, int which)
{
    (void)which;
    return (int64_t)stage_of(plan, stage)->zero_bytes;
}
static int64_t get_memory(const nt_plan *plan, int stage, int which)
{
    (void)stage;
    return (int64_t)(which == 0 ? plan->packed_bytes : plan->workspace_bytes);
}

static bool fit_stage(const plans *p, int index, nt_deploy_stage *out)
{
    bool ok = true;
    out->stage = *stage_of(p->plan[0], index);
    for (int i = 0; ok && i < 3; i++)
        ok = fit_number(p, get_grid, index, i, &out->grid[i]);
    for (int i = 0; ok && i < out->stage.arg_count; i++)
        ok = fit_number(p, get_arg, index, i, &out->arg[i]);
    return ok && fit_number(p, get_zero, index, 0, &out->zero_bytes);
}

/* Vendor calls, a user's own buffers and tensor maps have no place in a table. */
static bool can_be_kept(const nt_plan *plan)
{
    for (int s = 0; s < plan->prepare_count + plan->stage_count; s++) {
        const nt_stage *stage = stage_of(plan, s);
        if (stage->kind == NT_STAGE_VENDOR || (stage->kind == NT_STAGE_ZERO && stage->zero_role > NT_ROLE_WORKSPACE))
            return false;
        for (int i = 0; i < stage->arg_count; i++)
            if (stage->arg[i].kind == NT_ARG_TENSOR_MAP ||
                (stage->arg[i].kind == NT_ARG_BUFFER && stage->arg[i].role > NT_ROLE_WORKSPACE))
                return false;
    }
    return plan->stage_count > 0;
}

static nt_deploy_launch *fit_launch(const plans *p)
{
    const nt_plan *first = p->plan[0];
    nt_deploy_launch *l = nt_alloc_zero(1, sizeof *l);
    bool ok = can_be_kept(first);
    for (int i = 1; ok && i < p->count; i++)
        ok = same_form(first, p->plan[i]);
    l->prepare_count = first->prepare_count;
    l->stage_count = first->stage_count;
    l->stage = nt_alloc_zero((size_t)(l->prepare_count + l->stage_count), sizeof *l->stage);
    for (int i = 0; ok && i < l->prepare_count + l->stage_count; i++)
        ok = fit_stage(p, i, &l->stage[i]);
    ok =
        ok && fit_number(p, get_memory, 0, 0, &l->packed_bytes) && fit_number(p, get_memory, 0, 1, &l->workspace_bytes);
    if (ok)
        return l;
    free(l->stage);
    free(l);
    return NULL;
}

/* Plans at the entry's batch and, spread evenly, at others from `lo` to `hi`: all of them where they are few. */
static bool collect(const probe *p, int64_t lo, int64_t hi, plans *out)
{
    int64_t span = hi - lo, own = p->problem.batch;
    bool ok = true;
    out->count = 0;
    for (int64_t i = -1; ok && i < MOST_POINTS - 1; i++) {
        int64_t batch = i < 0 ? own : span < MOST_POINTS - 1 ? lo + i : lo + span * i / (MOST_POINTS - 2);
        if (batch > hi || (i >= 0 && batch == own))
            continue;
        nt_problem problem = p->problem;
        problem.batch = batch;
        nt_plan *plan = nt_alloc(sizeof *plan);
        ok = plan_of(p, &problem, plan);
        out->batch[out->count] = batch;
        out->plan[out->count++] = plan;
    }
    return ok;
}

static void release(plans *p)
{
    for (int i = 0; i < p->count; i++)
        free(p->plan[i]);
    p->count = 0;
}

/* All batches that the entry serves, else its own alone. */
static nt_deploy_launch *probe_launch(const probe *p, int64_t lo, int64_t hi)
{
    factors *f = nt_alloc(sizeof *f);
    find_factors(p, f);
    plans all = {.factors = f};
    nt_deploy_launch *launch = collect(p, lo, hi, &all) ? fit_launch(&all) : NULL;
    release(&all);
    if (launch == NULL) {
        lo = hi = p->problem.batch;
        launch = collect(p, lo, hi, &all) ? fit_launch(&all) : NULL;
        release(&all);
    }
    if (launch != NULL) {
        launch->batch_lo = lo;
        launch->batch_hi = hi;
    }
    free(f);
    return launch;
}

/* ---- cost model ------------------------------------------------------------------------------------------------------ */

/* Blocks of the largest stage. NAN when the problem cannot be served. */
static double blocks_of(const probe *p, const nt_problem *problem)
{
    nt_plan *plan = nt_alloc(sizeof *plan);
    double most = 0;
    bool ok = plan_of(p, problem, plan);
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

static double blocks_at(const probe *p, int d, int64_t size)
{
    nt_problem problem = p->problem;
    *extent_of(&problem, d) = size;
    return blocks_of(p, &problem);
}

/* The least power of two whose odd multiples the kernel serves; the extent itself when there is none. */
static int64_t multiple_of(const probe *p, int d)
{
    nt_problem own = p->problem;
    for (int64_t m = 1; m <= 256; m *= 2)
        if (!isnan(blocks_at(p, d, 3 * m)) && !isnan(blocks_at(p, d, 5 * m)))
            return m;
    return *extent_of(&own, d);
}

/* Of ceil(extent / tile) x the rest, by how blocks grow over a long way; 0: they do not. */
static double tile_of(const probe *p, int d, int64_t multiple)
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

static void probe_cost(const probe *p, const nt_trial *trial, double time_ns, nt_deploy_cost *out)
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
    probe p = {.kernel = nt_kernel_find(entry->problem.layer, device->kind, entry->kernel),
               .device = device,
               .problem = entry->problem};
    json_t *params = NULL;
    if (p.kernel == NULL || nt_json_parse(entry->params_json, &params, NULL) != NT_OK)
        return;
    nt_status status = nt_json_to_config(params, p.kernel->params, p.kernel->param_count, &p.config, NULL);
    json_decref(params);
    if (status != NT_OK)
        return;
    entry->launch = probe_launch(&p, entry->from_batch, batch_hi);
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
