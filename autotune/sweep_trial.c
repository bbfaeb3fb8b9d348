/* sweep_trial.c: a ready candidate on the device: journalled, sent, its answer checked and stored, its death recorded.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "autotune/sweep_state.h"
#include "core/json.h"

/* The artefact may have been evicted, or the cache removed, between lookup and loading: then the candidate goes back to
 * the compile queue, once. */
static bool send_back(nt__sweep *sweep, nt__candidate *c)
{
    if (c->sent_back || c->artefact.path[0] == '\0' || access(c->artefact.path, R_OK) == 0)
        return false;
    c->sent_back = true;
    c->compiling = false;
    nt__queue_add(&sweep->to_compile, c);
    return true;
}

static nt__candidate *next_ready(nt__sweep *sweep)
{
    if (sweep->device.kind == NT_DEVICE_CPU && (sweep->compile_phase || nt_pool_busy(sweep->pool) > 0))
        return NULL;
    if (nt__unit_spent(sweep) || sweep->stop_signal != 0)
        return NULL;
    nt__candidate *next = nt__queue_take(&sweep->ready);
    while (next != NULL && send_back(sweep, next))
        next = nt__queue_take(&sweep->ready);
    return next;
}

nt_status nt__dispatch(nt__sweep *sweep, nt_error *err)
{
    if (sweep->state != NT__DEVICE_IDLE)
        return NT_OK;
    nt__candidate *next = next_ready(sweep);
    if (next == NULL)
        return NT_OK;
    nt_status status = nt__store_journal(sweep, next, err);
    if (status != NT_OK) {
        nt__candidate_free(next);
        return status;
    }
    return nt__device_send_trial(sweep, next, err);
}

/* Stores the result of the trial in flight together with the journal of the next, then sends the next. */
static nt_status finish_trial(nt__sweep *sweep, nt_trial *trial, nt_error *err)
{
    nt__candidate *done = sweep->in_flight;
    sweep->in_flight = NULL;
    nt__candidate *next = sweep->state == NT__DEVICE_IDLE ? next_ready(sweep) : NULL;
    nt_status status = nt__record_trial(sweep, trial, done, next, err);
    bool recorded = status == NT_OK;
    nt__candidate_free(done);
    if (recorded && next != NULL)
        status = nt__device_send_trial(sweep, next, err);
    else
        nt__candidate_free(next);
    if (recorded) /* the device has work again: time for people */
        nt__announce_trial(sweep, trial);
    return status;
}

/* The worker's measurements over what the coordinator knows of the candidate. */
static void merge(nt_trial *trial, nt_trial *measured)
{
    nt_trial known = *trial;
    *trial = *measured;
    trial->id = 0;
    trial->run_id = known.run_id;
    trial->problem = known.problem;
    trial->cache = known.cache;
    memcpy(trial->kernel, known.kernel, sizeof trial->kernel);
    memcpy(trial->source_hash, known.source_hash, sizeof trial->source_hash);
    trial->vendor = known.vendor;
    memcpy(trial->rule, known.rule, sizeof trial->rule);
    trial->artefact = known.artefact;
    trial->compile_ms = known.compile_ms;
    free(measured->params_json);
    trial->params_json = known.params_json;
}

static nt_status trial_lost(nt__sweep *sweep, nt_outcome outcome, const char *how, nt_error *err)
{
    nt_trial trial;
    sweep->losses++;
    nt__candidate_trial(sweep, sweep->in_flight, outcome, how, &trial);
    nt_status status = finish_trial(sweep, &trial, err);
    nt_trial_done(&trial);
    if (status == NT_OK && sweep->losses >= NT__LOSSES) {
        nt_fail(err, NT_DEVICE_LOST, "the device worker was lost %d times in a row; last: %s", sweep->losses, how);
        nt_hint(err, "results so far are kept; --resume goes on behind the trials that failed");
        return NT_DEVICE_LOST;
    }
    return status;
}

/* A worker that was replaced or fell behind must not answer for another problem. */
static nt_status of_this_unit(const nt__sweep *sweep, const nt_trial *trial, nt_error *err)
{
    const nt__unit *unit = &sweep->unit[sweep->unit_index];
    if (nt_problem_equal(&trial->problem, &unit->problem) && trial->cache == unit->cache)
        return NT_OK;
    return nt_fail(err, NT_CORRUPT, "the worker's answer makes no sense: it is about another problem");
}

static nt_status trial_answered(nt__sweep *sweep, const json_t *answer, nt_error *err)
{
    nt_error why = {0};
    nt_trial measured, trial;
    if (nt_json_get_int(answer, "status") != NT_OK) {
        const char *what = nt_json_get_text(answer, "what");
        char how[512];
        snprintf(how, sizeof how, "%s", what != NULL ? what : "the worker failed without a reason");
        nt__device_drop(sweep);
        return trial_lost(sweep, NT_OUTCOME_CRASHED, how, err);
    }
    nt_status status = nt_json_to_trial(json_object_get(answer, "trial"), &measured, &why);
    if (status == NT_OK) {
        status = of_this_unit(sweep, &measured, &why);
        if (status == NT_OK)
            status = nt__check_answer(&measured, &why);
        if (status != NT_OK)
            nt_trial_done(&measured);
    }
    if (status != NT_OK) {
        nt__device_drop(sweep);
        return trial_lost(sweep, NT_OUTCOME_CRASHED, why.what, err);
    }
    sweep->losses = 0;
    bool failed = measured.outcome != NT_OUTCOME_OK && measured.outcome != NT_OUTCOME_ABANDONED;
    if (failed && send_back(sweep, sweep->in_flight)) {
        sweep->in_flight = NULL; /* its code was taken away under the worker's hands */
        nt_trial_done(&measured);
        return NT_OK;
    }
    nt__candidate_trial(sweep, sweep->in_flight, measured.outcome, NULL, &trial);
    merge(&trial, &measured);
    status = finish_trial(sweep, &trial, err);
    nt_trial_done(&trial);
    return status;
}

/* Lost without a trial in flight: while opening or preparing. */
static nt_status preparation_lost(nt__sweep *sweep, const char *how, nt_error *err)
{
    if (++sweep->problem_losses < 2)
        return NT_OK;
    return nt_fail(err, NT_DEVICE_LOST, "%s while preparing the problem, twice", how);
}

nt_status nt__poll_trial(nt__sweep *sweep, nt_error *err)
{
    json_t *answer = NULL;
    bool lost, timed_out;
    char how[512];
    nt_status status = nt__device_poll(sweep, &answer, &lost, &timed_out, how, sizeof how, err);
    if (status == NT_OK && lost && sweep->in_flight != NULL)
        status = trial_lost(sweep, timed_out ? NT_OUTCOME_TIMED_OUT : NT_OUTCOME_CRASHED, how, err);
    else if (status == NT_OK && lost)
        status = preparation_lost(sweep, how, err);
    else if (status == NT_OK && answer != NULL && sweep->in_flight != NULL)
        status = trial_answered(sweep, answer, err);
    json_decref(answer);
    return status;
}
