/* sweep.c: the coordinator's loop. One thread: ask the strategy, keep the compile pool fed, keep the device busy, store
 * what comes back. Everything slow happens in children; this loop only waits for them, for signals and for the clock.
 */
#include "autotune/sweep.h"

#include <math.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>

#include "autotune/sweep_state.h"
#include "core/clock.h"
#include "core/mem.h"
#include "device/counter_lock.h"

static nt__unit *unit_of(nt__sweep *sweep)
{
    return &sweep->unit[sweep->unit_index];
}

/* ---- units ----------------------------------------------------------------------------------------------------------------- */

static void alternate(nt__sweep *sweep)
{
    if (sweep->device.kind != NT_DEVICE_CPU)
        return;
    if (sweep->compile_phase) {
        bool pending = sweep->compiling > 0 || (sweep->to_compile.count > 0 && sweep->stop_signal == 0);
        sweep->compile_phase = pending && !(nt__unit_spent(sweep) && sweep->compiling == 0);
    } else if (sweep->ready.count == 0 && sweep->in_flight == NULL) {
        sweep->compile_phase = sweep->to_compile.count > 0;
    }
}

static bool unit_over(const nt__sweep *sweep)
{
    if (sweep->in_flight != NULL)
        return false;
    if (nt__unit_spent(sweep) || sweep->stop_signal != 0)
        return true;
    return sweep->exhausted && sweep->seeds.count == 0 && nt__in_pipeline(sweep) == 0;
}

static const char *phase_of(const nt__sweep *sweep)
{
    return sweep->state == NT__DEVICE_TRIAL     ? "timing"
           : sweep->state == NT__DEVICE_IDLE    ? "compiling"
           : sweep->state == NT__DEVICE_OPENING ? "opening device"
                                                : "preparing inputs";
}

/* How long nothing may happen: not at all while there is more to feed, else to the end of the unit. */
static int patience_ms(const nt__sweep *sweep)
{
    double left_ms = (nt__unit_end_s(sweep) - nt_now_s()) * 1e3;
    if (sweep->more_to_feed)
        return 0;
    return sweep->in_flight != NULL || left_ms > 1000 ? 1000 : left_ms < 1 ? 1 : (int)left_ms;
}

/* On a cpu nothing is fed while something is timed or waits for it. */
static bool may_feed(const nt__sweep *sweep)
{
    return sweep->device.kind != NT_DEVICE_CPU || (sweep->in_flight == NULL && sweep->ready.count == 0);
}

static nt_status run_trials(nt__sweep *sweep, nt_error *err)
{
    nt_status status = NT_OK;
    while (status == NT_OK && !sweep->stop_now && !unit_over(sweep)) {
        status = nt__device_step(sweep, err);
        sweep->more_to_feed = false;
        if (status == NT_OK && may_feed(sweep))
            status = nt__refill(sweep, err);
        alternate(sweep);
        if (status == NT_OK)
            status = nt__submit(sweep, err);
        if (status == NT_OK)
            status = nt__dispatch(sweep, err);
        if (status != NT_OK || unit_over(sweep))
            break;
        nt__progress(sweep, phase_of(sweep), false);
        status = nt__wait(sweep, patience_ms(sweep), err);
        if (status == NT_OK)
            status = nt__take_compiled(sweep, err);
        if (status == NT_OK)
            status = nt__poll_trial(sweep, err);
    }
    return status;
}

/* What is left of the budget is shared evenly among the units not yet begun. */
static void share_budget(nt__sweep *sweep)
{
    /* of the time; the rest is for the finals and the counters */
    const double for_trials = sweep->options->profile == NT_PROFILE_NONE ? 0.92 : 0.82;
    const nt_budget *budget = &sweep->options->budget;
    int left = sweep->unit_count - sweep->unit_index;
    double now = nt_now_s();
    sweep->budget_end_s = INFINITY;
    sweep->unit_trials = INT64_MAX;
    if (budget->seconds > 0) {
        double remaining = budget->seconds - sweep->spent_before_s - (now - sweep->started_s);
        sweep->budget_end_s = now + for_trials * fmax(remaining, 0);
        sweep->fair_share_s = for_trials * budget->seconds / sweep->unit_count;
    }
    sweep->unit_end_s = sweep->budget_end_s;
    sweep->share_pending = true;
    if (budget->trials > 0) {
        int64_t remaining = budget->trials - sweep->trials_done;
        sweep->unit_trials = remaining > 0 ? (remaining + left - 1) / left : 0;
    }
}

/* A unit's share of the time begins when its inputs are ready: of many problems in a short time the first are measured,
 * instead of all being prepared and none measured. A worker that is replaced later does not begin it again. */
void nt__unit_prepared(nt__sweep *sweep)
{
    if (!sweep->share_pending)
        return;
    sweep->share_pending = false;
    double now = nt_now_s();
    if (isinf(sweep->budget_end_s))
        return;
    double share = fmax(sweep->budget_end_s - now, 0) / (sweep->unit_count - sweep->unit_index);
    if (sweep->out->resumed) /* a unit that had its share leaves what is left to those that had not */
        share = fmin(share, fmax(sweep->fair_share_s - sweep->unit_cost_s, 0));
    sweep->unit_end_s = now + share;
}

static void describe_unit(nt__sweep *sweep)
{
    const nt__unit *unit = unit_of(sweep);
    nt_unit_result *result = &sweep->out->unit[sweep->unit_index];
    result->problem = unit->problem;
    result->occupancy_pct = result->dram_read_bytes = result->dram_write_bytes = NAN;
    result->dram_pct = result->tensor_pct = NAN;
    result->cache = unit->cache;
    result->extents = unit->extents;
    for (int s = 0; s < unit->served_count; s++) {
        result->space_total += (double)nt_space_total(unit->served[s].space);
        result->space_legal += (double)nt_space_size(unit->served[s].space);
    }
}

static nt_status begin_unit(nt__sweep *sweep, nt_error *err)
{
    sweep->best_ns = INFINITY;
    sweep->unit_done = 0;
    sweep->unit_cost_s = 0;
    sweep->first_sent_s = sweep->last_answered_s = 0;
    sweep->unit_first_job = sweep->next_job;
    sweep->compiling = 0;
    sweep->compile_phase = true;
    sweep->exhausted = false;
    describe_unit(sweep);
    share_budget(sweep);
    nt_status status = nt__resume_unit(sweep, err);
    if (status == NT_OK && sweep->only != NULL)
        status = nt__add_only(sweep, err);
    else if (status == NT_OK) {
        nt__add_seeds(sweep);
        nt__open_strategy(sweep);
        status = nt__resume_tell(sweep, err);
    }
    nt__device_new_problem(sweep);
    return status;
}

static void clear_queue(nt__queue *queue)
{
    for (nt__candidate *c; (c = nt__queue_take(queue)) != NULL;)
        nt__candidate_free(c);
}

static void end_unit(nt__sweep *sweep)
{
    clear_queue(&sweep->seeds);
    clear_queue(&sweep->to_compile);
    clear_queue(&sweep->ready);
    nt__candidate_free(sweep->in_flight);
    sweep->in_flight = NULL;
    sweep->strategy->destroy(sweep->strategy_state);
    sweep->strategy_state = NULL;
    for (int i = 0; i < sweep->top_count; i++)
        nt_trial_done(&sweep->top[i].trial);
    if (sweep->has_vendor)
        nt_trial_done(&sweep->top[NT__TOP].trial);
    sweep->has_vendor = false;
    sweep->top_count = 0;
    sweep->counted_count = 0;
    free(sweep->seen);
    sweep->seen = NULL;
    sweep->seen_count = sweep->seen_capacity = 0;
}

static nt_status run_unit(nt__sweep *sweep, nt_error *err)
{
    nt_unit_result *result = &sweep->out->unit[sweep->unit_index];
    nt_status status = begin_unit(sweep, err);
    if (status == NT_OK)
        status = run_trials(sweep, err);
    if (sweep->last_answered_s > 0)
        sweep->out->device_span_s += sweep->last_answered_s - sweep->first_sent_s;
    if (status == NT_OK && sweep->stop_now && sweep->in_flight != NULL)
        nt__device_drop(sweep);
    if (status == NT_OK)
        status = nt__finals_run(sweep, result, err);
    if (status != NT_OK && !result->has_best)
        nt__take_leader(sweep, result); /* what was found up to the error is shown */
    if (status == NT_OK)
        status = nt__profile_run(sweep, err);
    if (status == NT_OK && sweep->events->unit != NULL)
        sweep->events->unit(sweep->events->context, result);
    end_unit(sweep);
    return status;
}

/* ---- the whole ------------------------------------------------------------------------------------------------------------ */

static nt_status take_lock(nt__sweep *sweep, nt_error *err)
{
    char fake[64];
    nt__device_name(sweep, fake, sizeof fake);
    const char *uuid = sweep->device.uuid[0] != '\0' ? sweep->device.uuid : fake;
    nt_status status = nt_lock_try(uuid, &sweep->lock, err);
    while (status == NT_BUSY && sweep->options->wait && sweep->stop_signal == 0) {
        nt__progress(sweep, "waiting for the device", false);
        nt_status waited = nt__wait(sweep, 250, err);
        status = waited == NT_OK ? nt_lock_try(uuid, &sweep->lock, err) : waited;
    }
    return status == NT_BUSY && sweep->stop_signal != 0 ? NT_OK : status; /* told to stop waiting: no failure */
}

/* A reader of counters over the whole device lets go when it sees our lock; one that does not is warned of. */
static void wait_for_samplers(nt__sweep *sweep)
{
    static const double patience_s = 1.5;
    nt_error who;
    if (sweep->device.kind != NT_DEVICE_CUDA || nt_counter_lock_wait(sweep->device.uuid, patience_s, &who) == NT_OK)
        return;
    if (sweep->events->warning != NULL)
        sweep->events->warning(sweep->events->context, "counters-held", who.what);
}

static nt_status open_device(nt__sweep *sweep, nt_error *err)
{
    nt_status status = NT_OK;
    if (sweep->options->device != NT_DEVICE_FAKE)
        status = nt__device_identify(sweep, err);
    if (status == NT_OK)
        status = take_lock(sweep, err);
    if (status == NT_OK && sweep->lock.fd >= 0)
        wait_for_samplers(sweep);
    while (status == NT_OK && sweep->lock.fd >= 0 && sweep->state != NT__DEVICE_IDLE && !sweep->stop_now) {
        json_t *answer;
        bool lost, timed_out;
        char how[512];
        status = nt__device_step(sweep, err);
        if (status == NT_OK)
            status = nt__wait(sweep, 1000, err);
        if (status == NT_OK)
            status = nt__device_poll(sweep, &answer, &lost, &timed_out, how, sizeof how, err);
        if (status == NT_OK && lost)
            status = nt_fail(err, NT_NO_DEVICE, "the device cannot be opened: %s", how);
    }
    return status;
}

/* NT_OK unless trials were made and not one of any problem is right. */
static nt_status judge(const nt_sweep_result *result, nt_error *err)
{
    int64_t outcome[NT_OUTCOME_COUNT] = {0}, failed = 0;
    for (int u = 0; u < result->unit_count; u++) {
        if (result->unit[u].has_best)
            return NT_OK;
        for (int i = 0; i < NT_OUTCOME_COUNT; i++)
            outcome[i] += result->unit[u].outcome[i];
    }
    nt_str counts = {0};
    for (int i = 0; i < NT_OUTCOME_COUNT; i++) {
        failed += outcome[i];
        if (outcome[i] > 0)
            nt_str_addf(&counts, "%s%lld %s", counts.length > 0 ? ", " : "", (long long)outcome[i],
                        nt_outcome_name((nt_outcome)i));
    }
    if (failed > 0) {
        nt_fail(err, outcome[NT_OUTCOME_WRONG_RESULT] > 0 ? NT_WRONG_RESULT : NT_FAILED,
                "no trial of this run gave a right result: %s%s%s", nt_str_text(&counts),
                result->first_failure[0] != '\0' ? "; the first: " : "", result->first_failure);
        nt_hint(err, "nntune query 'select kernel, params, outcome, reason from trials where run = %lld' says why",
                (long long)result->run.id);
    }
    nt_str_done(&counts);
    return failed > 0 ? err->status : NT_OK;
}

static nt_status finish_run(nt__sweep *sweep, nt_status status, nt_error *err)
{
    nt_run *run = &sweep->out->run;
    run->ended_unix_s = nt_unix_s();
    run->total_s = sweep->spent_before_s + nt_now_s() - sweep->started_s;
    run->compile_s += sweep->wait_compile_s;
    run->idle_s = fmax(0, run->total_s - run->compile_s - run->verify_s - run->measure_s);
    nt_copy(run->state, sizeof run->state,
            status != NT_OK           ? "failed"
            : sweep->stop_signal != 0 ? "interrupted"
                                      : "done");
    nt_error ignored; /* an error that ended the sweep is worth more than one of its last row */
    nt_status ended = run->id != 0 ? sweep->sink->end_run(sweep->sink, run, status == NT_OK ? err : &ignored) : NT_OK;
    sweep->out->interrupted_by = sweep->stop_signal;
    sweep->out->compile_child_s = sweep->pool != NULL ? nt_pool_work_s(sweep->pool) : 0;
    return status == NT_OK ? ended : status;
}

/* A vendor's kernels whose library is not there take no part: said once a library. */
static void warn_missing_libraries(const nt__sweep *sweep)
{
    unsigned said = 0;
    for (int i = 0; i < nt_kernel_count && sweep->events->warning != NULL; i++) {
        const nt_kernel *kernel = nt_kernels[i];
        const nt_vendor_library *library = &sweep->device.library[kernel->vendor];
        char text[400];
        if (kernel->vendor == NT_VENDOR_NONE || strcmp(kernel->layer, sweep->options->layer) != 0 ||
            kernel->device != sweep->options->device || library->missing[0] == '\0' || said & NT_BIT(kernel->vendor))
            continue;
        said |= NT_BIT(kernel->vendor);
        snprintf(text, sizeof text, "%s takes no part: %s", nt_vendor_name(kernel->vendor), library->missing);
        sweep->events->warning(sweep->events->context, "vendor-missing", text);
    }
}

static nt_status prepare_run(nt__sweep *sweep, nt_error *err)
{
    nt_status status = nt_strategy_find(sweep->options->strategy, &sweep->strategy, err);
    if (status == NT_OK)
        status = nt_objective_parse(sweep->options->objective, &sweep->objective, err);
    if (status == NT_OK)
        nt_copy(sweep->out->objective, sizeof sweep->out->objective, nt_objective_text(sweep->objective));
    if (status == NT_OK)
        status = nt__units_build(sweep->options, &sweep->device, &sweep->unit, &sweep->unit_count, err);
    if (status != NT_OK)
        return status;
    sweep->out->unit = nt_alloc_zero((size_t)sweep->unit_count, sizeof *sweep->out->unit);
    sweep->out->unit_count = sweep->unit_count;
    for (int i = 0; i < sweep->unit_count; i++) {
        nt_trial_init(&sweep->out->unit[i].best);
        nt_trial_init(&sweep->out->unit[i].vendor);
        sweep->out->unit[i].objective = NAN;
    }
    status = nt__resume_run(sweep, &sweep->out->run, &sweep->out->resumed, err);
    if (status == NT_OK)
        status = sweep->sink->begin_run(sweep->sink, &sweep->out->run, err);
    if (status == NT_OK && sweep->events->run != NULL)
        sweep->events->run(sweep->events->context, &sweep->out->run, sweep->out->resumed);
    if (status == NT_OK && sweep->options->vendor != NT_VENDOR_NEVER)
        warn_missing_libraries(sweep);
    return status;
}

static nt_status run_sweep(nt__sweep *sweep, nt_error *err)
{
    sigset_t old_mask;
    sweep->started_s = nt_now_s();
    sweep->deadline_s = INFINITY;
    sweep->best_ns = INFINITY;
    sweep->lock.fd = -1;
    sweep->worker.channel.fd = -1;
    for (int i = 0; i < NT__SPARES; i++)
        sweep->spare[i].channel.fd = -1;
    sweep->counter_worker.channel.fd = -1;
    nt__queue_init(&sweep->seeds);
    nt__queue_init(&sweep->to_compile);
    nt__queue_init(&sweep->ready);
    nt__catch_signals(&old_mask);
    nt__progress(sweep, "opening device", true);
    nt_status status = open_device(sweep, err);
    if (status == NT_OK)
        status = nt__profile_check(sweep, err);
    if (status == NT_OK && sweep->stop_signal == 0)
        status = prepare_run(sweep, err);
    if (status == NT_OK && sweep->stop_signal == 0)
        nt__profile_prepare(sweep);
    sweep->pool = nt_pool_open(nt_sweep_jobs(sweep->options));
    for (; status == NT_OK && sweep->unit_index < sweep->unit_count && sweep->stop_signal == 0; sweep->unit_index++)
        status = run_unit(sweep, err);
    if (sweep->unit_index == sweep->unit_count && sweep->unit_count > 0)
        sweep->unit_index--; /* stays inside for the progress line */
    status = finish_run(sweep, status, err);
    nt_pool_close(sweep->pool);
    sweep->pool = NULL;
    nt__device_drop_all(sweep);
    nt_child_kill(&sweep->counter_worker);
    free(sweep->counted);
    nt_lock_release(&sweep->lock);
    nt__units_free(sweep->unit, sweep->unit_count);
    nt__release_signals(&old_mask);
    /* a rerun shows its one trial; an interrupted run was not given the time to find something */
    bool judged = status == NT_OK && sweep->only == NULL && sweep->stop_signal == 0;
    return judged ? judge(sweep->out, err) : status;
}

nt_status nt_sweep_run(const nt_sweep_options *options, nt_sink *sink, const nt_sweep_events *events,
                       nt_sweep_result *out, nt_error *err)
{
    return nt_sweep_rerun(options, NULL, sink, events, out, err);
}

nt_status nt_sweep_rerun(const nt_sweep_options *options, const nt_trial *like, nt_sink *sink,
                         const nt_sweep_events *events, nt_sweep_result *out, nt_error *err)
{
    nt__sweep *sweep = nt_alloc_zero(1, sizeof *sweep);
    *out = (nt_sweep_result){0};
    sweep->options = options;
    sweep->sink = sink;
    sweep->events = events;
    sweep->out = out;
    sweep->only = like; /* NULL: the whole space */
    nt_status status = run_sweep(sweep, err);
    nt_objective_free(sweep->objective);
    nt_warm_start_done(&sweep->own);
    free(sweep);
    return status;
}

void nt_sweep_result_done(nt_sweep_result *result)
{
    for (int i = 0; i < result->unit_count; i++)
        nt_trial_done(&result->unit[i].best), nt_trial_done(&result->unit[i].vendor);
    free(result->unit);
    nt_run_done(&result->run);
    *result = (nt_sweep_result){0};
}
