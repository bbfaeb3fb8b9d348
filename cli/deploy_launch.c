#include "cli/deploy_launch.h"

#include <stdlib.h>
#include <string.h>

#include "cli/deploy_number.h"
#include "core/mem.h"

bool nt_deploy_plan(const nt_deploy_probe *p, const nt_problem *problem, nt_plan *out)
{
    nt_extents extents;
    const nt_layer *layer = nt_layer_find(problem->layer);
    memset(out, 0, sizeof *out);
    if (layer == NULL || layer->extents(problem, &extents, NULL) != NT_OK)
        return false;
    return (p->kernel->refuses == NULL || p->kernel->refuses(problem) == NULL) &&
           p->kernel->plan(problem, &p->config, p->device, out, NULL) == NT_OK;
}

/* ---- what numbers may be made of ------------------------------------------------------------------------------------- */

/* Numbers that a kernel is told and that grow with the batch count something of an image: a step as well. */
static void add_counts(const nt_plan *plan, int64_t batch, nt_deploy_factors *out)
{
    for (int s = 0; s < plan->stage_count; s++)
        for (int i = 0; i < plan->stage[s].arg_count; i++) {
            const nt_arg *arg = &plan->stage[s].arg[i];
            if ((arg->kind == NT_ARG_I32 || arg->kind == NT_ARG_I64) && arg->value % batch == 0)
                nt_deploy_add_factor(out->step, &out->step_count, arg->value / batch);
        }
}

/* What a grid may be made of: products of extents above the bar, products of parameters below it. */
static void find_factors(const nt_deploy_probe *p, nt_deploy_factors *out)
{
    out->step_count = out->divisor_count = 0;
    nt_deploy_add_factor(out->step, &out->step_count, 1);
    nt_deploy_add_factor(out->divisor, &out->divisor_count, 1);
    for (int d = 0; d < p->problem.shape.count; d++)
        for (int i = out->step_count - 1; i >= 0; i--)
            nt_deploy_add_factor(out->step, &out->step_count, out->step[i] * p->problem.shape.dim[d].size);
    for (int round = 0; round < 3; round++)
        for (int i = out->divisor_count - 1; i >= 0; i--)
            for (int k = 0; k < p->kernel->param_count; k++) {
                nt_value value = nt_param_value(&p->kernel->params[k], p->config.index[k]);
                if (value.kind == NT_VALUE_INT && value.i > 1 && value.i < 4096)
                    nt_deploy_add_factor(out->divisor, &out->divisor_count, out->divisor[i] * value.i);
            }
}

typedef struct plans {
    int count;
    int64_t batch[NT_DEPLOY_POINTS];
    nt_plan *plan[NT_DEPLOY_POINTS];
    nt_deploy_factors *factors;
} plans;

static bool same_map(const nt_tensor_map *a, const nt_tensor_map *b)
{
    return a->role == b->role && a->elem_bytes == b->elem_bytes && a->images == b->images &&
           memcmp(a->box, b->box, sizeof a->box) == 0 && memcmp(a->lower, b->lower, sizeof a->lower) == 0 &&
           memcmp(a->upper, b->upper, sizeof a->upper) == 0 && memcmp(a->step, b->step, sizeof a->step) == 0;
}

static bool same_stage(const nt_stage *a, const nt_stage *b)
{
    bool same = a->kind == b->kind && strcmp(a->entry, b->entry) == 0 && a->arg_count == b->arg_count &&
                a->smem_dynamic_bytes == b->smem_dynamic_bytes && a->zero_role == b->zero_role &&
                a->map_count == b->map_count && memcmp(a->block, b->block, sizeof a->block) == 0 &&
                memcmp(a->cluster, b->cluster, sizeof a->cluster) == 0;
    for (int i = 0; same && i < a->arg_count; i++)
        same = a->arg[i].kind == b->arg[i].kind && a->arg[i].role == b->arg[i].role && a->arg[i].real == b->arg[i].real;
    for (int i = 0; same && i < a->map_count; i++)
        same = same_map(&a->map[i], &b->map[i]);
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

/* ---- the numbers of a plan ------------------------------------------------------------------------------------------- */

/* Which number: of a stage, but for the two of memory; `which` counts dimensions, arguments or maps. */
typedef enum field { FIELD_GRID, FIELD_ZERO, FIELD_ARG, FIELD_OFFSET, FIELD_SIZE, FIELD_STRIDE, FIELD_MEMORY } field;

static int64_t planned(const nt_plan *plan, field is, int stage, int which, int dimension)
{
    const nt_stage *s = stage_of(plan, stage);
    switch (is) {
    case FIELD_GRID:
        return s->grid[which];
    case FIELD_ZERO:
        return (int64_t)s->zero_bytes;
    case FIELD_ARG:
        return s->arg[which].value;
    case FIELD_OFFSET:
        return s->map[which].offset_bytes;
    case FIELD_SIZE:
        return s->map[which].size[dimension];
    case FIELD_STRIDE:
        return s->map[which].stride_bytes[dimension];
    case FIELD_MEMORY:
        break;
    }
    return (int64_t)(which == 0 ? plan->packed_bytes : plan->workspace_bytes);
}

/* What is done with each number of a launch; false ends the walk. */
typedef bool number_fn(void *context, field is, int stage, int which, int dimension, nt_deploy_number *number);

static bool each_of_map(number_fn *visit, void *context, int stage, int which, nt_deploy_map *m)
{
    bool ok = visit(context, FIELD_OFFSET, stage, which, 0, &m->offset_bytes);
    for (int d = 0; ok && d < NT_MAP_RANK; d++)
        ok = visit(context, FIELD_SIZE, stage, which, d, &m->size[d]) &&
             visit(context, FIELD_STRIDE, stage, which, d, &m->stride_bytes[d]);
    return ok;
}

static bool each_number(number_fn *visit, void *context, nt_deploy_launch *l)
{
    bool ok = visit(context, FIELD_MEMORY, 0, 0, 0, &l->packed_bytes) &&
              visit(context, FIELD_MEMORY, 0, 1, 0, &l->workspace_bytes);
    for (int s = 0; ok && s < l->prepare_count + l->stage_count; s++) {
        nt_deploy_stage *to = &l->stage[s];
        ok = visit(context, FIELD_ZERO, s, 0, 0, &to->zero_bytes);
        for (int i = 0; ok && i < 3; i++)
            ok = visit(context, FIELD_GRID, s, i, 0, &to->grid[i]);
        for (int i = 0; ok && i < to->stage.arg_count; i++)
            ok = visit(context, FIELD_ARG, s, i, 0, &to->arg[i]);
        for (int i = 0; ok && i < to->stage.map_count; i++)
            ok = each_of_map(visit, context, s, i, &to->map[i]);
    }
    return ok;
}

static bool fit_number(void *context, field is, int stage, int which, int dimension, nt_deploy_number *out)
{
    const plans *p = context;
    nt_deploy_series s = {.count = p->count};
    for (int i = 0; i < p->count; i++) {
        s.batch[i] = p->batch[i];
        s.value[i] = planned(p->plan[i], is, stage, which, dimension);
    }
    return nt_deploy_number_fit(&s, p->factors, out);
}

typedef struct checked {
    const nt_plan *plan;
    int64_t batch;
} checked;

static bool is_as_planned(void *context, field is, int stage, int which, int dimension, nt_deploy_number *number)
{
    const checked *c = context;
    return nt_deploy_number_at(number, c->batch) == planned(c->plan, is, stage, which, dimension);
}

/* ---- launches -------------------------------------------------------------------------------------------------------- */

static bool own_role(nt_role role)
{
    return role <= NT_ROLE_WORKSPACE;
}

/* What keeps a stage out of a table; NULL: nothing. */
static const char *obstacle_in(const nt_stage *stage)
{
    static const char buffers[] = "it takes buffers of its own, which libnntune does not know";
    if (stage->kind == NT_STAGE_VENDOR)
        return "a vendor's library does its work, and a table holds code alone";
    if (stage->kind == NT_STAGE_SYMBOL)
        return "it fills a variable of its code, which libnntune does not";
    if (stage->kind == NT_STAGE_ZERO && !own_role(stage->zero_role))
        return buffers;
    for (int i = 0; i < stage->arg_count; i++)
        if (stage->arg[i].kind == NT_ARG_BUFFER && !own_role(stage->arg[i].role))
            return buffers;
    for (int i = 0; i < stage->map_count; i++)
        if (!own_role(stage->map[i].role))
            return buffers;
    return NULL;
}

static const char *obstacle_of(const nt_plan *plan)
{
    const char *why = plan->stage_count == 0 ? "its plan has no stage" : NULL;
    for (int s = 0; why == NULL && s < plan->prepare_count + plan->stage_count; s++)
        why = obstacle_in(stage_of(plan, s));
    return why;
}

static void release_launch(nt_deploy_launch *l)
{
    free(l->stage);
    free(l);
}

static nt_deploy_launch *fit_launch(plans *p)
{
    const nt_plan *first = p->plan[0];
    for (int i = 1; i < p->count; i++)
        if (!same_form(first, p->plan[i]))
            return NULL;
    nt_deploy_launch *l = nt_alloc_zero(1, sizeof *l);
    l->prepare_count = first->prepare_count;
    l->stage_count = first->stage_count;
    l->stage = nt_alloc_zero((size_t)l->prepare_count + (size_t)l->stage_count, sizeof *l->stage);
    for (int s = 0; s < l->prepare_count + l->stage_count; s++)
        l->stage[s].stage = *stage_of(first, s);
    if (each_number(fit_number, p, l))
        return l;
    release_launch(l);
    return NULL;
}

/* Whether the launch is the plan's at more batches than those it was fitted to: at all of them where there are at most
 * a thousand, else at the lower half of a thousand and at others spread evenly. */
static bool holds_between(const nt_deploy_probe *p, nt_deploy_launch *l, int64_t lo, int64_t hi, const nt_plan *own)
{
    enum { MOST = 1000 };
    nt_plan *plan = nt_alloc(sizeof *plan);
    int64_t span = hi - lo, dense = span < MOST ? MOST : MOST / 2;
    bool ok = true;
    for (int64_t i = 0; ok && i < MOST; i++) {
        int64_t batch =
            i < dense ? lo + i : lo + dense + (int64_t)((__int128)(span - dense) * (i - dense) / (MOST - dense - 1));
        nt_problem problem = p->problem;
        problem.batch = batch;
        checked c = {plan, batch};
        if (batch > hi)
            break;
        ok = nt_deploy_plan(p, &problem, plan) && same_form(own, plan) && each_number(is_as_planned, &c, l);
    }
    free(plan);
    return ok;
}

/* Whether the code is compiled alike: some kernels are told about the problem by macros. */
static bool same_code(const nt_deploy_probe *p, const nt_problem *problem)
{
    nt_str own = {0}, other = {0};
    nt_kernel_options(p->kernel, &p->problem, &p->config, &own);
    nt_kernel_options(p->kernel, problem, &p->config, &other);
    bool same = strcmp(nt_str_text(&own), nt_str_text(&other)) == 0;
    nt_str_done(&own);
    nt_str_done(&other);
    return same;
}

/* Plans at the entry's batch and at others from `lo` to `hi`: all where they are few, else a third of them at the low
 * end, where grids change most, and the rest spread evenly. */
static bool collect(const nt_deploy_probe *p, int64_t lo, int64_t hi, plans *out)
{
    enum { OTHERS = NT_DEPLOY_POINTS - 1, DENSE = OTHERS / 3 };
    int64_t span = hi - lo, own = p->problem.batch;
    bool ok = true;
    out->count = 0;
    for (int64_t i = -1; ok && i < OTHERS; i++) {
        int64_t batch = i < 0                        ? own
                        : span < OTHERS || i < DENSE ? lo + i
                                                     : lo + DENSE + (span - DENSE) * (i - DENSE) / (OTHERS - DENSE - 1);
        if (batch > hi || (i >= 0 && batch == own))
            continue;
        nt_problem problem = p->problem;
        problem.batch = batch;
        nt_plan *plan = nt_alloc(sizeof *plan);
        ok = nt_deploy_plan(p, &problem, plan) && same_code(p, &problem);
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

static nt_deploy_launch *launch_between(const nt_deploy_probe *p, int64_t lo, int64_t hi, nt_deploy_factors *f,
                                        const char **why)
{
    plans all = {.factors = f};
    nt_deploy_launch *l = NULL;
    *why = collect(p, lo, hi, &all) ? obstacle_of(all.plan[0]) : "its kernel makes no plan of it";
    if (*why == NULL) {
        add_counts(all.plan[0], p->problem.batch, f);
        l = fit_launch(&all);
    }
    if (l != NULL && !holds_between(p, l, lo, hi, all.plan[0])) {
        release_launch(l);
        l = NULL;
    }
    release(&all);
    if (l != NULL) {
        l->batch_lo = lo;
        l->batch_hi = hi;
    }
    return l;
}

nt_deploy_launch *nt_deploy_launch_probe(const nt_deploy_probe *p, int64_t lo, int64_t hi, const char **why)
{
    nt_deploy_factors *f = nt_alloc(sizeof *f);
    find_factors(p, f);
    nt_deploy_launch *launch = launch_between(p, lo, hi, f, why);
    if (launch == NULL)
        launch = launch_between(p, p->problem.batch, p->problem.batch, f, why);
    if (launch == NULL && *why == NULL)
        *why = "its plan is another each time it is made";
    free(f);
    return launch;
}
