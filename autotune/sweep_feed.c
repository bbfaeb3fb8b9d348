/* sweep_feed.c: from the strategy to the device's door: a candidate is planned, found in the cache or compiled by the
 * pool, and made ready. The pool runs ahead of the device by a window; on a cpu compiling and timing alternate. */
#include <sched.h>
#include <stdlib.h>
#include <string.h>

#include "autotune/sweep_state.h"
#include "core/clock.h"

static nt__unit *unit_of(nt__sweep *sweep)
{
    return &sweep->unit[sweep->unit_index];
}

/* ---- feeding: strategy -> plan -> cache or compile queue -> ready -------------------------------------------------------- */

double nt__unit_end_s(const nt__sweep *sweep)
{
    return sweep->unit_done > 0 || sweep->out->resumed ? sweep->unit_end_s : sweep->budget_end_s;
}

bool nt__unit_spent(const nt__sweep *sweep)
{
    /* A budget however short gives one trial, and a unit goes on to its first as long as there is budget: shares too
     * short for a trial would otherwise be spent on every unit's inputs and compiles, and measure none. */
    bool late = sweep->trials_done > 0 && nt_now_s() >= nt__unit_end_s(sweep);
    return late || sweep->unit_done >= sweep->unit_trials;
}

int nt__in_pipeline(const nt__sweep *sweep)
{
    return sweep->to_compile.count + sweep->ready.count + (sweep->in_flight != NULL);
}

int nt_sweep_jobs(const nt_sweep_options *options)
{
    if (options->compile_children > 0)
        return options->compile_children;
    cpu_set_t allowed;
    int cores = sched_getaffinity(0, sizeof allowed, &allowed) == 0 ? CPU_COUNT(&allowed) : 1;
    return cores > 16 ? 16 : cores;
}

/* How far the compile pool runs ahead of the device. On a cpu a batch is compiled, then timed. */
static int window(const nt__sweep *sweep)
{
    int children = nt_sweep_jobs(sweep->options);
    return sweep->device.kind == NT_DEVICE_CPU ? 3 * children : 3 * children + 8;
}

static nt__candidate *next_candidate(nt__sweep *sweep)
{
    nt__candidate *seed = nt__queue_take(&sweep->seeds);
    if (seed != NULL || sweep->exhausted)
        return seed;
    nt_candidate ask;
    if (sweep->strategy->ask(sweep->strategy_state, &ask, 1) == 0) {
        sweep->exhausted = nt__in_pipeline(sweep) == 0; /* with some in flight it may only be waiting for answers */
        return NULL;
    }
    nt_config config;
    nt_space_config(unit_of(sweep)->served[ask.kernel].space, ask.index, &config);
    nt__candidate *c = nt__candidate_new(sweep, ask.kernel, &config);
    c->in_space = true;
    c->ask = ask;
    return c;
}

static nt_status store_early(nt__sweep *sweep, nt__candidate *c, nt_outcome outcome, const char *reason, nt_error *err)
{
    nt_trial trial;
    nt__candidate_trial(sweep, c, outcome, reason, &trial);
    nt_status status = nt__store_trial(sweep, &trial, c, NULL, err); /* the journal of the one in flight stands */
    nt_trial_done(&trial);
    nt__candidate_free(c);
    return status;
}

static nt_status make_ready(nt__sweep *sweep, nt__candidate *c, nt_error *err)
{
    char reason[256];
    if (!nt__candidate_fits(sweep, c, reason, sizeof reason))
        return store_early(sweep, c, NT_OUTCOME_PRUNED, reason, err);
    nt__queue_add(&sweep->ready, c);
    return NT_OK;
}

/* One new candidate as far as it goes without a child: known, pruned, in the cache, or to be compiled. */
static nt_status admit(nt__sweep *sweep, nt__candidate *c, nt_error *err)
{
    char reason[256];
    bool reused = false;
    if (!nt__candidate_plan(sweep, c, reason, sizeof reason))
        return store_early(sweep, c, NT_OUTCOME_PRUNED, reason, err);
    if (sweep->options->reuse) {
        nt_status status = nt__reuse(sweep, c, &reused, err);
        if (status != NT_OK || reused)
            return status;
    }
    if (unit_of(sweep)->served[c->served].source[0] == '\0') /* a vendor's call: nothing to compile */
        return make_ready(sweep, c, err);
    nt_compile_request request;
    nt_error why;
    nt__candidate_request(sweep, c, &request);
    nt_status status = nt_compile_lookup(&request, &c->artefact, &why);
    if (status == NT_OK) {
        sweep->out->cache_hits++;
        c->compile_ms = 0;
        return make_ready(sweep, c, err);
    }
    if (status == NT_COMPILE_FAILED)
        return store_early(sweep, c, NT_OUTCOME_COMPILE_FAILED, why.what, err);
    if (status != NT_NOT_FOUND) {
        nt__candidate_free(c);
        *err = why;
        return status;
    }
    nt__queue_add(&sweep->to_compile, c);
    return NT_OK;
}

/* Many candidates in a row may be pruned or reused; between some of them the loop looks after children and signals. */
enum { MOST_AT_ONCE = 256 };

nt_status nt__refill(nt__sweep *sweep, nt_error *err)
{
    int wanted = window(sweep), admitted = 0;
    sweep->more_to_feed = false;
    while (nt__in_pipeline(sweep) < wanted && !nt__unit_spent(sweep) && sweep->stop_signal == 0 &&
           sweep->unit_done + nt__in_pipeline(sweep) < sweep->unit_trials) {
        sweep->more_to_feed = admitted++ == MOST_AT_ONCE;
        nt__candidate *c = sweep->more_to_feed ? NULL : next_candidate(sweep);
        if (c == NULL)
            return NT_OK;
        nt_status status = admit(sweep, c, err);
        if (status != NT_OK)
            return status;
    }
    return NT_OK;
}

/* ---- compile pool ---------------------------------------------------------------------------------------------------------- */

static bool key_is_compiling(const nt__sweep *sweep, const nt__candidate *c)
{
    for (const nt__candidate *other = sweep->to_compile.first; other != NULL; other = other->next)
        if (other->compiling && other != c && strcmp(other->key, c->key) == 0)
            return true;
    return false;
}

/* On a cpu compiling and timing alternate: no compile starts while the device has work, none runs while it is timed. */
static bool may_compile(const nt__sweep *sweep)
{
    return sweep->device.kind != NT_DEVICE_CPU || sweep->compile_phase;
}

nt_status nt__submit(nt__sweep *sweep, nt_error *err)
{
    if (!may_compile(sweep) || sweep->stop_signal != 0)
        return NT_OK;
    for (nt__candidate *c = sweep->to_compile.first; c != NULL && nt_pool_idle(sweep->pool) > 0; c = c->next) {
        if (c->compiling)
            continue;
        if (key_is_compiling(sweep, c)) {
            c->compiling = true; /* the child that has its twin answers for both */
            continue;
        }
        nt_compile_request request;
        nt__candidate_request(sweep, c, &request);
        nt_status status = nt_pool_submit(sweep->pool, c->job, &request, err);
        if (status != NT_OK)
            return status;
        c->compiling = true;
        sweep->compiling++;
        sweep->out->compiles++;
    }
    return NT_OK;
}

static nt_status take_compiled(nt__sweep *sweep, nt__candidate *c, const nt_pool_result *result, nt_error *err)
{
    c->compile_ms = result->job == c->job ? result->wall_s * 1e3 : 0;
    if (result->status == NT_OK) {
        c->artefact = result->artefact;
        return make_ready(sweep, c, err);
    }
    return store_early(sweep, c, NT_OUTCOME_COMPILE_FAILED, result->error.what, err);
}

/* Failures of the machine (no compiler, no disk) would fail every compile: they end the sweep. One that says nothing of
 * its cause, such as a compiler that somebody killed, costs its candidate alone, unless it comes again and again. */
static bool of_the_machine(nt__sweep *sweep, nt_status status)
{
    if (status == NT_FAILED)
        return ++sweep->compile_losses >= NT__LOSSES;
    if (status == NT_OK || status == NT_COMPILE_FAILED)
        sweep->compile_losses = 0;
    return status != NT_OK && status != NT_COMPILE_FAILED && status != NT_TIMED_OUT;
}

static nt_status resolve(nt__sweep *sweep, const nt_pool_result *result, nt_error *err)
{
    char key[NT_KEY_BYTES] = "";
    for (nt__candidate *c = sweep->to_compile.first; c != NULL; c = c->next)
        if (c->job == result->job)
            memcpy(key, c->key, sizeof key);
    nt__queue all = sweep->to_compile;
    nt__queue_init(&sweep->to_compile);
    if (all.first == NULL)
        return NT_OK;
    nt_status status = NT_OK;
    for (nt__candidate *c = all.first, *next; c != NULL; c = next) {
        next = c->next;
        if (status == NT_OK && strcmp(c->key, key) == 0) /* its twins too, whether or not they were to wait for it */
            status = take_compiled(sweep, c, result, err);
        else
            nt__queue_add(&sweep->to_compile, c);
    }
    return status;
}

nt_status nt__take_compiled(nt__sweep *sweep, nt_error *err)
{
    nt_pool_result result;
    while (nt_pool_take(sweep->pool, &result)) {
        if (of_the_machine(sweep, result.status)) {
            *err = result.error;
            return result.status;
        }
        if (result.job < sweep->unit_first_job)
            continue; /* of an earlier problem: the cache has it */
        sweep->compiling--;
        nt_status status = resolve(sweep, &result, err);
        if (status != NT_OK)
            return status;
    }
    return NT_OK;
}
