/* sweep_store.c: a finished trial: checked for sense, stored, counted, kept if it is among the fastest. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "autotune/sweep_state.h"
#include "core/clock.h"
#include "core/mem.h"

nt_status nt__check_answer(const nt_trial *t, nt_error *err)
{
    if (t->outcome != NT_OUTCOME_OK)
        return NT_OK;
    bool ordered =
        t->time_lo_ns > 0 && t->time_lo_ns <= t->time_ns && t->time_ns <= t->time_hi_ns && isfinite(t->time_hi_ns);
    if (!ordered)
        return nt_fail(err, NT_CORRUPT, "the worker's answer makes no sense: a time of %g ns in [%g, %g]", t->time_ns,
                       t->time_lo_ns, t->time_hi_ns);
    if (t->samples.count < 6)
        return nt_fail(err, NT_CORRUPT, "the worker's answer makes no sense: a time from %zu samples",
                       t->samples.count);
    for (size_t i = 0; i < t->samples.count; i++)
        if (!(t->samples.sample_ns[i] > 0) || !isfinite(t->samples.sample_ns[i]))
            return nt_fail(err, NT_CORRUPT, "the worker's answer makes no sense: sample %zu is %g ns", i + 1,
                           t->samples.sample_ns[i]);
    if (!(t->error_impl >= 0 && t->error_impl <= 1))
        return nt_fail(err, NT_CORRUPT, "the worker's answer makes no sense: right with %g times the error bound",
                       t->error_impl);
    return NT_OK;
}

bool nt__over_error(const nt__sweep *sweep, const nt_trial *trial)
{
    return trial->error_prec > sweep->options->max_error;
}

double nt__score(const nt__sweep *sweep, const nt_trial *trial)
{
    return nt_objective_score(sweep->objective, nt_objective_of_trial(sweep->objective, trial));
}

/* Within --max-error first, then by the objective: a problem whose precision cannot meet the bound still has a best. */
static bool better(const nt__sweep *sweep, const nt_trial *a, const nt_trial *b)
{
    bool a_over = nt__over_error(sweep, a), b_over = nt__over_error(sweep, b);
    return a_over != b_over ? b_over : nt__score(sweep, a) < nt__score(sweep, b);
}

static const char *const why_unknown[NT_DEVICE_KIND_COUNT] = {
    [NT_DEVICE_CPU] = "a cpu's energy is read from /sys/class/powercap/intel-rapl:N/energy_uj, often by root alone",
    [NT_DEVICE_CUDA] = "a GPU's power is read through NVML; 'nntune doctor' says whether it answers",
    [NT_DEVICE_FAKE] = "the fake device has the power that NNTUNE_FAKE_POWER_MW says",
};

/* An objective that the first right trial has no value of will have none of the others either. */
static nt_status check_objective(const nt__sweep *sweep, const nt_trial *trial, nt_error *err)
{
    if (trial->outcome != NT_OUTCOME_OK || sweep->top_count > 0 || !isnan(nt__score(sweep, trial)))
        return NT_OK;
    const char *text = nt_objective_text(sweep->objective), *missing = nt_objective_missing(sweep->objective, trial);
    if (missing != NULL) {
        nt_fail(err, NT_USAGE, "objective '%s' needs %s, which %s does not tell", text, missing, sweep->device.name);
        return nt_hint(err, "%s; --objective time needs nothing but a clock", why_unknown[sweep->device.kind]);
    }
    nt_fail(err, NT_USAGE, "objective '%s' is %g for trial %lld; it has to be a positive number", text,
            nt_objective_of_trial(sweep->objective, trial), (long long)trial->id);
    return nt_hint(err, "search compares ratios: use max:EXPR for what is to be large, or an expression above 0");
}

/* A copy without samples and with its own params. */
static void copy_trial(nt_trial *to, const nt_trial *from)
{
    *to = *from;
    to->samples = (nt_samples){0};
    to->params_json = from->params_json != NULL ? nt_strdup(from->params_json) : NULL;
}

/* Keeps the array sorted; the last falls out when it is full. */
static void keep_top(nt__sweep *sweep, const nt_trial *trial, int served, const nt_config *config)
{
    int at = sweep->top_count;
    while (at > 0 && better(sweep, trial, &sweep->top[at - 1].trial))
        at--;
    if (at == NT__TOP)
        return;
    if (sweep->top_count == NT__TOP)
        nt_trial_done(&sweep->top[--sweep->top_count].trial);
    memmove(&sweep->top[at + 1], &sweep->top[at], (size_t)(sweep->top_count - at) * sizeof sweep->top[0]);
    copy_trial(&sweep->top[at].trial, trial);
    sweep->top[at].served = served;
    sweep->top[at].config = *config;
    sweep->top_count++;
}

/* Where a vendor's kernel is asked for by name there is none of ours to be a rival of. */
bool nt__is_rival(const nt__sweep *sweep, int served)
{
    return sweep->options->vendor != NT_VENDOR_ONLY && sweep->options->kernel == NULL && sweep->only == NULL &&
           sweep->unit[sweep->unit_index].served[served].kernel->vendor != NT_VENDOR_NONE;
}

/* The fastest of the vendors has a place of its own: it goes into the finals beside ours, however far ahead or behind.
 */
static void keep_rival(nt__sweep *sweep, const nt_trial *trial, int served, const nt_config *config)
{
    nt__top *place = &sweep->top[NT__TOP];
    if (sweep->has_vendor && !better(sweep, trial, &place->trial))
        return;
    if (sweep->has_vendor)
        nt_trial_done(&place->trial);
    copy_trial(&place->trial, trial);
    place->served = served;
    place->config = *config;
    sweep->has_vendor = true;
}

static void note_rule(nt_unit_result *result, const nt_trial *trial)
{
    enum { MOST = sizeof result->rule / sizeof result->rule[0] };
    if (trial->rule[0] == '\0' || result->rule_count == MOST)
        return;
    int i = result->rule_count++;
    nt_copy(result->rule[i].kernel, sizeof result->rule[i].kernel, trial->kernel);
    nt_copy(result->rule[i].rule, sizeof result->rule[i].rule, trial->rule);
    result->rule[i].outcome = trial->outcome;
    result->rule[i].time_ns = trial->time_ns;
}

/* For the strategies of the units that follow. */
static void remember(nt__sweep *sweep, const nt_trial *trial)
{
    const nt__unit *unit = &sweep->unit[sweep->unit_index];
    nt_warm_group group = {.problem = unit->problem, .cache = unit->cache};
    if (sweep->options->cold_units || sweep->unit_count < 2 || trial->params_json == NULL)
        return;
    nt_copy(group.device_uuid, sizeof group.device_uuid, sweep->device.uuid);
    nt_warm_start_add(&sweep->own, &group, trial->kernel, trial->params_json, nt__score(sweep, trial));
}

void nt__count_trial(nt__sweep *sweep, const nt_trial *trial, int served, const nt_config *config)
{
    nt_unit_result *result = &sweep->out->unit[sweep->unit_index];
    result->outcome[trial->outcome]++;
    if (trial->outcome != NT_OUTCOME_PRUNED) {
        sweep->trials_done++;
        sweep->unit_done++;
    }
    note_rule(result, trial);
    if (sweep->out->first_failure[0] == '\0' && trial->outcome != NT_OUTCOME_OK)
        nt_copy(sweep->out->first_failure, sizeof sweep->out->first_failure, trial->reason);
    if (trial->outcome != NT_OUTCOME_OK)
        return;
    nt__profile_remember(sweep, trial, served, config);
    if (isnan(nt__score(sweep, trial)))
        return; /* right, and without a value to compare it by */
    if (nt__is_rival(sweep, served)) {
        keep_rival(sweep, trial, served, config);
        return;
    }
    remember(sweep, trial);
    keep_top(sweep, trial, served, config);
    sweep->best_ns = sweep->top[0].trial.time_ns;
}

/* Compile children work side by side, the device takes one trial at a time. */
static double cost_s(const nt__sweep *sweep, const nt_trial *trial)
{
    double ms = trial->compile_ms > 0 ? trial->compile_ms / nt_sweep_jobs(sweep->options) : 0;
    ms += trial->verify_ms > 0 ? trial->verify_ms : 0;
    ms += trial->measure_ms > 0 ? trial->measure_ms : 0;
    return ms / 1e3;
}

void nt__tell_strategy(nt__sweep *sweep, const nt_trial *trial, nt_candidate number)
{
    nt_answer answer = {.candidate = number,
                        .outcome = trial->outcome,
                        .time_ns = trial->outcome == NT_OUTCOME_ABANDONED ? trial->probe_ns : nt__score(sweep, trial),
                        .cost_s = cost_s(sweep, trial)};
    if (sweep->strategy_state != NULL)
        sweep->strategy->tell(sweep->strategy_state, &answer);
}

static nt_journal journal_of(nt__sweep *sweep, const nt__candidate *next)
{
    const nt__unit *unit = &sweep->unit[sweep->unit_index];
    nt_journal journal = {.params_json = next->params_json, .problem = &unit->problem};
    journal.total_s = sweep->spent_before_s + nt_now_s() - sweep->started_s;
    nt_copy(journal.kernel, sizeof journal.kernel, unit->served[next->served].kernel->name);
    return journal;
}

nt_status nt__record_trial(nt__sweep *sweep, nt_trial *trial, const nt__candidate *candidate, const nt__candidate *next,
                           nt_error *err)
{
    nt_journal journal = {.params_json = NULL};
    if (next != NULL)
        journal = journal_of(sweep, next);
    nt_run *run = &sweep->out->run;
    if (isfinite(trial->verify_ms))
        run->verify_s += trial->verify_ms / 1e3;
    if (isfinite(trial->measure_ms))
        run->measure_s += trial->measure_ms / 1e3;
    run->total_s = sweep->spent_before_s + nt_now_s() - sweep->started_s;
    trial->run_id = run->id;
    nt_status status = sweep->sink->put(sweep->sink, trial, next != NULL ? &journal : NULL, err);
    if (status != NT_OK)
        return status;
    if (candidate->in_space)
        nt__tell_strategy(sweep, trial, candidate->ask);
    nt__count_trial(sweep, trial, candidate->served, &candidate->config);
    return check_objective(sweep, trial, err);
}

void nt__announce_trial(nt__sweep *sweep, const nt_trial *trial)
{
    if (sweep->events->trial != NULL)
        sweep->events->trial(sweep->events->context, trial);
}

nt_status nt__store_trial(nt__sweep *sweep, nt_trial *trial, const nt__candidate *candidate, const nt__candidate *next,
                          nt_error *err)
{
    nt_status status = nt__record_trial(sweep, trial, candidate, next, err);
    if (status == NT_OK)
        nt__announce_trial(sweep, trial);
    return status;
}

nt_status nt__store_journal(nt__sweep *sweep, const nt__candidate *next, nt_error *err)
{
    nt_journal journal = journal_of(sweep, next);
    return sweep->sink->put(sweep->sink, NULL, &journal, err);
}
