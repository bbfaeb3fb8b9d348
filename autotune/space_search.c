/* space_search.c: finding the legal configurations. Parameters are assigned one after another, in an order that
 * completes the cheapest constraints first; a constraint is tested as soon as its last parameter has a value, so one
 * test cuts off all that lies below. */
#include <stdlib.h>
#include <string.h>

#include "autotune/space_model.h"
#include "core/mem.h"

enum { MOST_ALONE = 1 << 20 }; /* combinations tried to count what one constraint rejects */

typedef struct search {
    nt_space_model *model;
    nt_space_limits limits;
    nt_space_codes *codes; /* NULL: only whether there is one */
    nt_space_plan plan;
    uint64_t work;
    uint64_t found;
    nt_space_ending ending;
} search;

/* ---- order ------------------------------------------------------------------------------------------------------ */

/* Combinations of the parameters that a constraint still waits for; 0 when it waits for none. */
static double cost(const nt_space_model *model, const nt_space_constraint *constraint, uint64_t assigned)
{
    uint64_t waiting = constraint->params & ~assigned;
    double product = waiting == 0 ? 0 : 1;
    for (int i = 0; i < model->axis_count; i++)
        if (waiting >> i & 1)
            product *= model->axis[i].count;
    return product;
}

static uint64_t cheapest_wait(const nt_space_model *model, uint64_t assigned)
{
    const nt_space_constraint *best = NULL;
    double best_cost = 0;
    for (int i = 0; i < model->constraint_count; i++) {
        double this_cost = cost(model, &model->constraint[i], assigned);
        if (this_cost > 0 && (best == NULL || this_cost < best_cost)) {
            best = &model->constraint[i];
            best_cost = this_cost;
        }
    }
    return best == NULL ? 0 : best->params & ~assigned;
}

/* The parameter with the fewest values among `candidates` (not none), the first of equal ones. */
static int fewest_values(const nt_space_model *model, uint64_t candidates)
{
    int best = __builtin_ctzll(candidates);
    for (int i = best + 1; i < model->axis_count; i++)
        if ((candidates >> i & 1) && model->axis[i].count < model->axis[best].count)
            best = i;
    return best;
}

static void choose_order(nt_space_plan *plan, const nt_space_model *model)
{
    uint64_t assigned = 0;
    int count = 0;
    for (uint64_t waiting; (waiting = cheapest_wait(model, assigned)) != 0;) {
        int next = fewest_values(model, waiting);
        plan->order[count++] = next;
        assigned |= UINT64_C(1) << next;
    }
    for (int i = 0; i < model->axis_count; i++)
        if (!(assigned >> i & 1))
            plan->order[count++] = i;
}

/* How many parameters of the order must have values before a constraint can be tested. */
static int complete_at(const nt_space_plan *plan, const nt_space_constraint *constraint)
{
    uint64_t waiting = constraint->params;
    int depth = 0;
    while (waiting != 0)
        waiting &= ~(UINT64_C(1) << plan->order[depth++]);
    return depth;
}

static void choose_tests(nt_space_plan *plan, const nt_space_model *model)
{
    int count = 0;
    plan->test = nt_alloc_zero((size_t)model->constraint_count, sizeof *plan->test);
    for (int depth = 0; depth <= model->axis_count; depth++) {
        plan->first[depth] = count;
        for (int i = 0; i < model->constraint_count; i++)
            if (!model->constraint[i].off && complete_at(plan, &model->constraint[i]) == depth)
                plan->test[count++] = i;
        plan->first[depth + 1] = count;
    }
    plan->below[model->axis_count] = 1;
    for (int depth = model->axis_count - 1; depth >= 0; depth--)
        plan->below[depth] = plan->below[depth + 1] * (uint64_t)model->axis[plan->order[depth]].count;
}

void nt_space_plan_init(nt_space_plan *plan, const nt_space_model *model)
{
    *plan = (nt_space_plan){0};
    choose_order(plan, model);
    choose_tests(plan, model);
}

void nt_space_plan_done(nt_space_plan *plan)
{
    free(plan->test);
}

bool nt_space_survives(nt_space_model *model, const nt_space_plan *plan, int depth)
{
    for (int i = plan->first[depth]; i < plan->first[depth + 1]; i++) {
        nt_space_constraint *constraint = &model->constraint[plan->test[i]];
        nt_expr_truth truth = nt_expr_test(constraint->expr, model->value, NULL);
        if (truth == NT_EXPR_IS_TRUE || truth == NT_EXPR_IS_UNKNOWN)
            continue;
        constraint->pruned += (int64_t)plan->below[depth];
        return false;
    }
    return true;
}

/* ---- descent ---------------------------------------------------------------------------------------------------- */

static void keep(search *s, uint64_t code)
{
    s->found++;
    if (s->codes == NULL)
        return;
    if (s->found > s->limits.legal) {
        s->ending = NT_SPACE_TOO_MANY;
        return;
    }
    bool is_wide = s->model->total > UINT32_MAX;
    void *memory = is_wide ? (void *)s->codes->wide : (void *)s->codes->narrow;
    nt_grow(&memory, &s->codes->capacity, s->codes->count + 1, is_wide ? sizeof(uint64_t) : sizeof(uint32_t));
    if (is_wide) {
        s->codes->wide = memory;
        s->codes->wide[s->codes->count++] = code;
    } else {
        s->codes->narrow = memory;
        s->codes->narrow[s->codes->count++] = (uint32_t)code;
    }
}

static bool is_over(const search *s)
{
    return s->ending != NT_SPACE_COMPLETE || (s->codes == NULL && s->found > 0);
}

static void descend(search *s, int depth, uint64_t code)
{
    if (depth == s->model->axis_count) {
        keep(s, code);
        return;
    }
    int at = s->plan.order[depth];
    const nt_space_axis *axis = &s->model->axis[at];
    for (int digit = 0; digit < axis->count && !is_over(s); digit++) {
        if (++s->work > s->limits.work) {
            s->ending = NT_SPACE_TOO_LONG;
            return;
        }
        s->model->value[at] = axis->value[digit];
        if (nt_space_survives(s->model, &s->plan, depth + 1))
            descend(s, depth + 1, code + (uint64_t)digit * axis->weight);
    }
}

static void run(search *s)
{
    nt_space_plan_init(&s->plan, s->model);
    for (int i = 0; i < s->model->constraint_count; i++)
        s->model->constraint[i].pruned = 0;
    if (nt_space_survives(s->model, &s->plan, 0))
        descend(s, 0, 0);
    nt_space_plan_done(&s->plan);
}

nt_space_ending nt_space_search(nt_space_model *model, nt_space_limits limits, nt_space_codes *codes, bool *sorted)
{
    search s = {.model = model, .limits = limits, .codes = codes};
    *codes = (nt_space_codes){0};
    run(&s);
    *sorted = true;
    for (int i = 0; i < model->axis_count; i++)
        *sorted = *sorted && s.plan.order[i] == i;
    return s.ending;
}

bool nt_space_exists(nt_space_model *model, uint64_t work)
{
    search s = {.model = model, .limits = {.legal = 1, .work = work}};
    run(&s);
    return s.found > 0 || s.ending != NT_SPACE_COMPLETE;
}

/* ---- one constraint alone --------------------------------------------------------------------------------------- */

/* Steps the digits of the parameters in `params` like an odometer; false after the last combination. */
static bool step(const nt_space_model *model, uint64_t params, int *digit, nt_expr_value *value)
{
    for (int i = model->axis_count - 1; i >= 0; i--) {
        if (!(params >> i & 1))
            continue;
        bool carry = ++digit[i] == model->axis[i].count;
        if (carry)
            digit[i] = 0;
        value[i] = model->axis[i].value[digit[i]];
        if (!carry)
            return true;
    }
    return false;
}

nt_space_rejection nt_space_count_alone(const nt_space_model *model, int constraint)
{
    const nt_space_constraint *c = &model->constraint[constraint];
    nt_space_rejection out = {.expression = nt_expr_text(c->expr), .why = c->why, .pruned = c->pruned};
    double combinations = cost(model, c, 0);
    if (combinations > MOST_ALONE) {
        out.alone = out.faults = NT_UNKNOWN;
        return out;
    }
    nt_expr_value value[NT_EXPR_MAX_SYMBOLS];
    memcpy(value, model->value, sizeof value);
    for (int i = 0; i < model->axis_count; i++)
        value[i] = model->axis[i].value[0];
    int digit[NT_MAX_PARAMS] = {0};
    do {
        nt_expr_fault fault;
        nt_expr_truth truth = nt_expr_test(c->expr, value, &fault);
        out.alone += truth == NT_EXPR_IS_FALSE || truth == NT_EXPR_IS_FAULT;
        if (truth == NT_EXPR_IS_FAULT && out.faults++ == 0)
            out.fault = fault;
    } while (step(model, c->params, digit, value));
    int64_t others = (int64_t)model->total / (combinations < 1 ? 1 : (int64_t)combinations);
    out.alone *= others;
    out.faults *= others;
    return out;
}
