/* objective.c: an expression and the metrics it may name. */
#include "autotune/objective.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "autotune/expr.h"
#include "core/mem.h"

struct nt_objective {
    char *text;
    nt_expr *expr;
    bool largest;
};

static const struct {
    const char *word, *expression;
} known[] = {{"time", "time_ns"}, {"energy", "energy_mj"}, {"edp", "energy_mj * time_ns"}};

typedef enum metric_kind { REAL, INT } metric_kind;

#define METRIC_MAP(X)                                 \
    X(time_ns, REAL, time_ns)                         \
    X(energy_mj, REAL, conditions.energy_mj)          \
    X(power_mw, REAL, conditions.power_mw)            \
    X(sm_clock_mhz, REAL, conditions.sm_clock_mhz)    \
    X(temperature_c, REAL, conditions.temperature_c)  \
    X(error_impl, REAL, error_impl)                   \
    X(error_prec, REAL, error_prec)                   \
    X(occupancy_limit_pct, REAL, occupancy_limit_pct) \
    X(prepare_ns, REAL, prepare_ns)                   \
    X(registers, INT, artefact.registers)             \
    X(spill_bytes, INT, artefact.spill_bytes)         \
    X(smem_bytes, INT, smem_bytes)                    \
    X(threads_per_block, INT, threads_per_block)      \
    X(grid_blocks, INT, grid_blocks)                  \
    X(batch, INT, problem.batch)

static const struct {
    metric_kind kind;
    size_t offset;
} metrics[] = {
#define X(name, kind, member) {kind, offsetof(nt_trial, member)},
    METRIC_MAP(X)
#undef X
};
static const char *const names[] = {
#define X(name, kind, member) #name,
    METRIC_MAP(X)
#undef X
};
enum { METRICS = sizeof metrics / sizeof metrics[0] };

static nt_status compile(const char *expression, nt_expr **out, nt_error *err)
{
    nt_error why = {0};
    nt_status status = nt_expr_compile(expression, names, METRICS, out, &why);
    if (status == NT_OK)
        return NT_OK;
    nt_fail(err, status, "objective: %s", why.what);
    return nt_hint(err, "time, energy, edp or an expression; %s",
                   why.hint[0] != '\0' ? why.hint : "see nntune help sweep");
}

nt_status nt_objective_parse(const char *text, nt_objective **out, nt_error *err)
{
    const char *expression = text != NULL ? text : known[0].word;
    nt_objective *objective = nt_alloc_zero(1, sizeof *objective);
    objective->text = nt_strdup(expression);
    objective->largest = strncmp(expression, "max:", 4) == 0;
    if (objective->largest || strncmp(expression, "min:", 4) == 0)
        expression += 4;
    for (size_t i = 0; i < sizeof known / sizeof known[0]; i++)
        if (strcmp(expression, known[i].word) == 0)
            expression = known[i].expression;
    nt_status status = compile(expression, &objective->expr, err);
    if (status == NT_OK && nt_expr_uses(objective->expr) == 0)
        status = nt_fail(err, NT_USAGE, "objective '%s' is the same for every configuration", objective->text);
    if (status != NT_OK) {
        nt_objective_free(objective);
        objective = NULL;
    }
    *out = objective;
    return status;
}

void nt_objective_free(nt_objective *objective)
{
    if (objective == NULL)
        return;
    nt_expr_free(objective->expr);
    free(objective->text);
    free(objective);
}

const char *nt_objective_text(const nt_objective *objective)
{
    return objective->text;
}

bool nt_objective_is_time(const nt_objective *objective)
{
    return !objective->largest && strcmp(nt_expr_text(objective->expr), known[0].expression) == 0;
}

static bool uses(const nt_objective *objective, size_t metric)
{
    return nt_expr_uses(objective->expr) >> metric & 1;
}

bool nt_objective_needs_energy(const nt_objective *objective)
{
    for (size_t m = 0; m < METRICS; m++)
        if (uses(objective, m) && (strcmp(names[m], "energy_mj") == 0 || strcmp(names[m], "power_mw") == 0))
            return true;
    return false;
}

/* ---- values ------------------------------------------------------------------------------------------------------ */

double nt_objective_value(const nt_objective *objective, nt_metric_fn *metric, void *context)
{
    nt_expr_value values[METRICS], result;
    for (size_t m = 0; m < METRICS; m++) {
        double value = uses(objective, m) ? metric(context, names[m]) : (double)NAN;
        values[m] = isnan(value) ? nt_expr_of_int(NT_UNKNOWN) : (nt_expr_value){.kind = NT_EXPR_REAL, .r = value};
    }
    if (!nt_expr_eval(objective->expr, values, &result, NULL))
        return NAN;
    if (result.kind == NT_EXPR_REAL)
        return result.r;
    return result.kind == NT_EXPR_INT || result.kind == NT_EXPR_BOOL ? (double)result.i : (double)NAN;
}

static double metric_of_trial(void *context, const char *name)
{
    const char *trial = context;
    for (size_t m = 0; m < METRICS; m++) {
        if (strcmp(names[m], name) != 0)
            continue;
        if (metrics[m].kind == REAL)
            return *(const double *)(const void *)(trial + metrics[m].offset);
        int64_t whole = *(const int64_t *)(const void *)(trial + metrics[m].offset);
        return whole == NT_UNKNOWN ? (double)NAN : (double)whole;
    }
    return NAN;
}

double nt_objective_of_trial(const nt_objective *objective, const nt_trial *trial)
{
    nt_trial copy = *trial;
    return nt_objective_value(objective, metric_of_trial, &copy);
}

double nt_objective_at_time(const nt_objective *objective, const nt_trial *trial, double time_ns)
{
    nt_trial copy = *trial;
    copy.conditions.energy_mj *= time_ns / trial->time_ns;
    copy.time_ns = time_ns;
    return nt_objective_value(objective, metric_of_trial, &copy);
}

double nt_objective_score(const nt_objective *objective, double value)
{
    double score = objective->largest ? 1 / value : value;
    return score > 0 && isfinite(score) ? score : (double)NAN;
}

const char *nt_objective_missing(const nt_objective *objective, const nt_trial *trial)
{
    nt_trial copy = *trial;
    for (size_t m = 0; m < METRICS; m++)
        if (uses(objective, m) && isnan(metric_of_trial(&copy, names[m])))
            return names[m];
    return NULL;
}
