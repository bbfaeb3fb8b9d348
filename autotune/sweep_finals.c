/* sweep_finals.c: the fastest of a unit once more: who takes part, ranks, the unit's result. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "autotune/sweep_rounds.h"
#include "core/json.h"
#include "core/mem.h"
#include "core/stats.h"

static const double near_best = 1.05; /* finalists lie within this of the fastest */
static const double tie_threshold = 0.005;
static const double confidence = 0.95;

int nt__finalist_count(const nt__sweep *sweep)
{
    int count = 0;
    while (count < sweep->top_count && count < NT_FINALISTS &&
           nt__score(sweep, &sweep->top[count].trial) <= near_best * nt__score(sweep, &sweep->top[0].trial) &&
           nt__over_error(sweep, &sweep->top[count].trial) == nt__over_error(sweep, &sweep->top[0].trial))
        count++;
    return count;
}

/* A finalist of a resumed run may have lost its artefact: compile it again, waiting here. */
static nt_status fetch_artefact(nt__sweep *sweep, nt__candidate *c, nt_error *err)
{
    nt_compile_request request;
    if (sweep->unit[sweep->unit_index].served[c->served].source[0] == '\0')
        return NT_OK; /* a vendor's call */
    nt__candidate_request(sweep, c, &request);
    nt_status status = nt_compile_lookup(&request, &c->artefact, err);
    if (status != NT_NOT_FOUND)
        return status;
    bool sent = false;
    for (status = NT_OK; status == NT_OK && !sweep->stop_now; status = nt__wait(sweep, 1000, err)) {
        nt_pool_result result; /* others than ours were begun for trials that time ran out for */
        while (nt_pool_take(sweep->pool, &result))
            if (result.job == c->job) {
                c->artefact = result.artefact;
                *err = result.error;
                return result.status;
            }
        if (!sent && nt_pool_idle(sweep->pool) > 0) {
            status = nt_pool_submit(sweep->pool, c->job, &request, err);
            sent = true;
        }
        if (status != NT_OK)
            return status;
    }
    return status != NT_OK ? status : NT_FAILED;
}

static nt_status add_item(nt__sweep *sweep, json_t *items, int top, nt_error *err)
{
    nt__candidate *c = nt__candidate_new(sweep, sweep->top[top].served, &sweep->top[top].config);
    char reason[256];
    nt_status status =
        nt__candidate_plan(sweep, c, reason, sizeof reason) ? NT_OK : nt_fail(err, NT_LAUNCH_FAILED, "%s", reason);
    if (status == NT_OK)
        status = fetch_artefact(sweep, c, err);
    if (status == NT_OK)
        json_array_append_new(items, nt__candidate_json(sweep, c));
    nt__candidate_free(c);
    return status;
}

static nt_status store(nt__sweep *sweep, const nt__field *f, nt_error *err)
{
    nt_final finals[NT_FINALISTS];
    for (int i = 0; i < f->count; i++) {
        nt_interval time = nt_median_interval(f->round_ns[i], f->rounds, confidence);
        finals[i] = (nt_final){.trial_id = sweep->top[f->top[i]].trial.id,
                               .rank = f->finalist[i].rank,
                               .tied = f->finalist[i].tied,
                               .ratio = f->finalist[i].ratio,
                               .time_ns = time.median,
                               .time_lo_ns = time.lo,
                               .time_hi_ns = time.hi,
                               .samples = {f->round_ns[i], f->rounds, f->launches[i], (int64_t)f->per_block}};
    }
    return sweep->sink->put_finals(sweep->sink, &sweep->unit[sweep->unit_index].problem, finals, f->count, err);
}

static void note_objective(const nt__sweep *sweep, nt_unit_result *result, const nt_trial *trial, double time_ns)
{
    if (!nt_objective_is_time(sweep->objective))
        result->objective = nt_objective_at_time(sweep->objective, trial, time_ns);
}

static void set_best(const nt__sweep *sweep, nt_unit_result *result, const nt_trial *trial)
{
    nt_trial_done(&result->best);
    result->best = *trial;
    result->best.samples = (nt_samples){0};
    result->best.params_json = trial->params_json != NULL ? nt_strdup(trial->params_json) : NULL;
    result->first_ns = trial->time_ns;
    result->has_best = true;
    note_objective(sweep, result, trial, trial->time_ns);
}

static void set_vendor(const nt__sweep *sweep, nt_unit_result *result)
{
    const nt_trial *trial = &sweep->top[NT__TOP].trial;
    result->has_vendor = sweep->has_vendor;
    if (!sweep->has_vendor)
        return;
    nt_trial_done(&result->vendor);
    result->vendor = *trial;
    result->vendor.samples = (nt_samples){0};
    result->vendor.params_json = trial->params_json != NULL ? nt_strdup(trial->params_json) : NULL;
}

void nt__take_leader(const nt__sweep *sweep, nt_unit_result *result)
{
    set_vendor(sweep, result);
    if (sweep->top_count == 0)
        return;
    set_best(sweep, result, &sweep->top[0].trial);
    result->over_error = nt__over_error(sweep, &sweep->top[0].trial);
}

/* Replaces a trial's first measurement by that of the rounds. */
static void take_rounds(const nt__field *f, int i, nt_trial *trial)
{
    nt_interval time = nt_median_interval(f->round_ns[i], f->rounds, confidence);
    trial->time_ns = time.median;
    trial->time_lo_ns = time.lo;
    trial->time_hi_ns = time.hi;
}

/* A rule of thumb among the finalists is compared with the winner by the rounds that both were in. */
static void time_rule(nt_unit_result *result, const nt_trial *trial, double time_ns)
{
    for (int i = 0; i < result->rule_count && trial->rule[0] != '\0'; i++)
        if (strcmp(result->rule[i].kernel, trial->kernel) == 0 && strcmp(result->rule[i].rule, trial->rule) == 0)
            result->rule[i].time_ns = time_ns;
}

static void take_winner(nt__sweep *sweep, const nt__field *f, nt_unit_result *result)
{
    for (int i = 0; i < f->count; i++) {
        if (f->top[i] == NT__TOP) {
            take_rounds(f, i, &result->vendor);
            continue;
        }
        time_rule(result, &sweep->top[f->top[i]].trial,
                  nt_median_interval(f->round_ns[i], f->rounds, confidence).median);
        result->tied += f->finalist[i].tied;
        if (f->finalist[i].rank != 1)
            continue;
        set_best(sweep, result, &sweep->top[f->top[i]].trial);
        take_rounds(f, i, &result->best);
        note_objective(sweep, result, &sweep->top[f->top[i]].trial, result->best.time_ns);
    }
}

/* Ours among themselves; a vendor's kernel, the last of the field if it is in it, comes behind them whatever its time,
 * with its ratio to the winner, which is below 1 where it is faster. */
static void rank(nt__field *f)
{
    bool vendor = f->top[f->count - 1] == NT__TOP;
    int ours = f->count - vendor;
    if (ours > 0)
        nt_finals_rank(f->finalist, ours, f->rounds, tie_threshold);
    if (!vendor)
        return;
    nt_finalist *last = &f->finalist[ours], pair[2] = {*last, *last};
    for (int i = 0; i < ours; i++)
        if (f->finalist[i].rank == 1)
            pair[0] = f->finalist[i];
    nt_finals_rank(pair, 2, f->rounds, tie_threshold);
    last->rank = ours + 1;
    last->tied = false;
    last->ratio = pair[1].rank == 1 ? 1 / pair[0].ratio : pair[1].ratio;
    last->median_ns = pair[1].median_ns;
}

/* Rounds count by the objective: `scores` replaces the times that finalists are compared by, and is to be freed. */
static double *judge_by_objective(const nt__sweep *sweep, nt__field *f)
{
    double *scores = nt_alloc_zero((size_t)f->count * f->rounds, sizeof *scores);
    for (int i = 0; i < f->count; i++) {
        const nt_trial *trial = &sweep->top[f->top[i]].trial;
        double *own = scores + (size_t)i * f->rounds;
        for (size_t r = 0; r < f->rounds; r++) {
            double value = nt_objective_at_time(sweep->objective, trial, f->round_ns[i][r]);
            own[r] = nt_objective_score(sweep->objective, value);
            if (isnan(own[r])) /* an expression that has no value for this time */
                own[r] = nt__score(sweep, trial);
        }
        f->finalist[i].round_ns = own;
    }
    return scores;
}

/* The field of the fastest `chosen`, with the vendor's beside them. */
static nt_status measure(nt__sweep *sweep, nt__field *f, int chosen, nt_error *err)
{
    *f = (nt__field){.items = json_array()};
    for (int i = 0; i < chosen; i++)
        if (add_item(sweep, f->items, i, err) == NT_OK)
            f->top[f->count++] = i;
    if (sweep->has_vendor && add_item(sweep, f->items, NT__TOP, err) == NT_OK)
        f->top[f->count++] = NT__TOP;
    return f->count > 0 ? nt__field_measure(sweep, f, err) : NT_OK;
}

/* Whether every finalist of ours was wrong on fresh inputs (warned of). */
static bool all_wrong(const nt__field *f)
{
    return f->measured && (f->count == 0 || f->top[0] == NT__TOP);
}

static void drop_fastest(nt__sweep *sweep, int count)
{
    for (int i = 0; i < count; i++)
        nt_trial_done(&sweep->top[i].trial);
    sweep->top_count -= count;
    memmove(sweep->top, sweep->top + count, (size_t)sweep->top_count * sizeof sweep->top[0]);
}

nt_status nt__finals_run(nt__sweep *sweep, nt_unit_result *result, nt_error *err)
{
    nt__take_leader(sweep, result);
    int chosen = nt__finalist_count(sweep);
    if (chosen == 0 || sweep->stop_signal != 0)
        return NT_OK;
    if (sweep->has_vendor && chosen == NT_FINALISTS)
        chosen--; /* makes room */
    nt__progress(sweep, "finals", true);
    nt__field f;
    nt_status status = measure(sweep, &f, chosen, err);
    if (status == NT_OK && all_wrong(&f)) { /* the next of them may be right */
        nt__field_done(&f);
        drop_fastest(sweep, chosen);
        result->has_best = false;
        return nt__finals_run(sweep, result, err);
    }
    if (status == NT_OK && f.measured) {
        double *scores = judge_by_objective(sweep, &f);
        rank(&f);
        free(scores);
        if (sweep->only == NULL) /* one configuration measured again is no contest, and must not replace a winner */
            status = store(sweep, &f, err);
        take_winner(sweep, &f, result);
    }
    nt__field_done(&f);
    return status;
}
