/* sweep.c: the coordinator's loop. One thread: ask the strategy, keep the compile pool fed, keep the device busy, store what
 * comes back. Everything slow happens in children; this loop only waits for them, for signals and for the clock. */
#include "autotune/sweep.h"

#include <errno.h>
#include <math.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "autotune/sweep_state.h"
#include "core/json.h"
#include "core/mem.h"

double nt__now_s(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

static nt__unit *unit_of(nt__sweep *sweep)
{
    return &sweep->unit[sweep->unit_index];
}

/* ---- signals: the first asks to stop after the trial in flight, the second to stop at once ---------------------------- */

static volatile sig_atomic_t signal_first, signal_count;

static void note_signal(int number)
{
    if (signal_count == 0)
        signal_first = number;
    signal_count = signal_count + 1;
}

static struct sigaction old_action[3];
static const int stop_signals[3] = {SIGINT, SIGTERM, SIGHUP};

/* The signals are blocked except inside ppoll, so that none is lost between a check and the wait. */
static void catch_signals(sigset_t *old_mask)
{
    signal_first = signal_count = 0;
    struct sigaction action = {.sa_handler = note_signal};
    sigset_t block;
    sigemptyset(&block);
    for (int i = 0; i < 3; i++) {
        sigaction(stop_signals[i], &action, &old_action[i]);
        sigaddset(&block, stop_signals[i]);
    }
    sigprocmask(SIG_BLOCK, &block, old_mask);
}

static void release_signals(const sigset_t *old_mask)
{
    sigprocmask(SIG_SETMASK, old_mask, NULL);
    for (int i = 0; i < 3; i++)
        sigaction(stop_signals[i], &old_action[i], NULL);
}

static int earlier_ms(int a, int b)
{
    return a < 0 ? b : b < 0 ? a : a < b ? a : b;
}

nt_status nt__wait(nt__sweep *sweep, int timeout_ms, nt_error *err)
{
    struct pollfd fds[NT_POOL_MOST + 1];
    int count = sweep->pool != NULL ? nt_pool_poll_fds(sweep->pool, fds) : 0;
    if (sweep->worker.pid > 0)
        fds[count++] = (struct pollfd){.fd = sweep->worker.channel.fd, .events = POLLIN};
    int wait_ms = earlier_ms(timeout_ms, sweep->pool != NULL ? nt_pool_timeout_ms(sweep->pool) : -1);
    if (isfinite(sweep->deadline_s)) {
        double left_ms = ceil((sweep->deadline_s - nt__now_s()) * 1e3) + 1;
        wait_ms = earlier_ms(wait_ms, left_ms < 0 ? 0 : (int)left_ms);
    }
    wait_ms = earlier_ms(wait_ms, 250); /* the progress line moves while nothing else does */
    struct timespec limit = {.tv_sec = wait_ms / 1000, .tv_nsec = (wait_ms % 1000) * 1000000L};
    sigset_t open_mask;
    sigemptyset(&open_mask);
    double begin = nt__now_s();
    if (ppoll(fds, (nfds_t)count, &limit, &open_mask) < 0 && errno != EINTR)
        return nt_fail(err, NT_IO, "poll: %s", strerror(errno));
    if (sweep->state == NT__DEVICE_IDLE && sweep->compiling > 0)
        sweep->wait_compile_s += nt__now_s() - begin;
    sweep->stop_signal = signal_first;
    sweep->stop_now = signal_count > 1;
    nt__progress(sweep, NULL, false);
    return NT_OK;
}

/* ---- progress ------------------------------------------------------------------------------------------------------------ */

/* Seconds to the end: what is left of a time budget, or the pace so far over what is left of a count of trials. */
static double eta_s(const nt__sweep *sweep, double elapsed_s)
{
    const nt_budget *budget = &sweep->options->budget;
    double by_time = budget->seconds > 0 ? budget->seconds - elapsed_s : INFINITY;
    double by_count = INFINITY;
    if (budget->trials > 0 && sweep->trials_done > 0)
        by_count = elapsed_s / (double)sweep->trials_done * (double)(budget->trials - sweep->trials_done);
    double eta = fmin(by_time, by_count);
    return isinf(eta) ? NAN : fmax(eta, 0);
}

void nt__progress(nt__sweep *sweep, const char *phase, bool always)
{
    double now = nt__now_s();
    if (phase != NULL)
        sweep->phase = phase;
    if (sweep->events->progress == NULL || (!always && now - sweep->last_progress_s < 0.25))
        return;
    sweep->last_progress_s = now;
    nt_progress p = {.unit = sweep->unit != NULL ? sweep->unit_index + 1 : 0,
                     .unit_count = sweep->unit_count,
                     .problem = sweep->unit != NULL ? &unit_of(sweep)->problem : NULL,
                     .done = sweep->trials_done,
                     .planned = sweep->options->budget.trials,
                     .best_ns = isfinite(sweep->best_ns) ? sweep->best_ns : NAN,
                     .elapsed_s = sweep->spent_before_s + now - sweep->started_s,
                     .phase = sweep->phase};
    p.eta_s = eta_s(sweep, p.elapsed_s);
    for (int u = 0; sweep->out->unit != NULL && u <= sweep->unit_index; u++)
        for (int i = 0; i < NT_OUTCOME_COUNT; i++)
            p.outcome[i] += sweep->out->unit[u].outcome[i];
    sweep->events->progress(sweep->events->context, &p);
}

/* ---- feeding: strategy -> plan -> cache or compile queue -> ready -------------------------------------------------------- */

static bool unit_spent(const nt__sweep *sweep)
{
    return nt__now_s() >= sweep->unit_end_s || sweep->unit_done >= sweep->unit_trials;
}

static int in_pipeline(const nt__sweep *sweep)
{
    return sweep->to_compile.count + sweep->ready.count + (sweep->in_flight != NULL);
}

static int children_of(const nt_sweep_options *options)
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
    int children = children_of(sweep->options);
    return sweep->device.kind == NT_DEVICE_CPU ? 3 * children : 3 * children + 8;
}

static nt__candidate *next_candidate(nt__sweep *sweep)
{
    nt__candidate *seed = nt__queue_take(&sweep->seeds);
    if (seed != NULL || sweep->exhausted)
        return seed;
    nt_candidate ask;
    if (sweep->strategy->ask(sweep->strategy_state, &ask, 1) == 0) {
        sweep->exhausted = in_pipeline(sweep) == 0; /* with some in flight it may only be waiting for answers */
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
    nt_status status = nt__store_trial(sweep, &trial, c, sweep->in_flight, err);
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

static nt_status refill(nt__sweep *sweep, nt_error *err)
{
    int wanted = window(sweep);
    while (in_pipeline(sweep) < wanted && !unit_spent(sweep) && sweep->stop_signal == 0 &&
           sweep->unit_done + in_pipeline(sweep) < sweep->unit_trials) {
        nt__candidate *c = next_candidate(sweep);
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

static nt_status submit(nt__sweep *sweep, nt_error *err)
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

/* Failures of the machine (no compiler, no disk) would fail every compile: they end the sweep. */
static bool of_the_machine(nt_status status)
{
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
        if (status == NT_OK && c->compiling && strcmp(c->key, key) == 0)
            status = take_compiled(sweep, c, result, err);
        else
            nt__queue_add(&sweep->to_compile, c);
    }
    return status;
}

static nt_status take_results(nt__sweep *sweep, nt_error *err)
{
    nt_pool_result result;
    while (nt_pool_take(sweep->pool, &result)) {
        if (of_the_machine(result.status)) {
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

/* ---- device ------------------------------------------------------------------------------------------------------------------ */

/* The artefact may have been evicted between lookup and launch: then it goes back to the compile queue. */
static nt__candidate *next_ready(nt__sweep *sweep)
{
    if (sweep->device.kind == NT_DEVICE_CPU && (sweep->compile_phase || nt_pool_busy(sweep->pool) > 0))
        return NULL;
    return unit_spent(sweep) || sweep->stop_signal != 0 ? NULL : nt__queue_take(&sweep->ready);
}

static nt_status dispatch(nt__sweep *sweep, nt_error *err)
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
    nt_status status = nt__store_trial(sweep, trial, done, next, err);
    nt__candidate_free(done);
    if (status != NT_OK || next == NULL) {
        nt__candidate_free(next);
        return status;
    }
    return nt__device_send_trial(sweep, next, err);
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
        status = nt__check_answer(&measured, &why);
        if (status != NT_OK)
            nt_trial_done(&measured);
    }
    if (status != NT_OK) {
        nt__device_drop(sweep);
        return trial_lost(sweep, NT_OUTCOME_CRASHED, why.what, err);
    }
    sweep->losses = 0;
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

static nt_status poll_device(nt__sweep *sweep, nt_error *err)
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

/* ---- units ----------------------------------------------------------------------------------------------------------------- */

static void alternate(nt__sweep *sweep)
{
    if (sweep->device.kind != NT_DEVICE_CPU)
        return;
    if (sweep->compile_phase) {
        bool pending = sweep->compiling > 0 || (sweep->to_compile.count > 0 && sweep->stop_signal == 0);
        sweep->compile_phase = pending && !(unit_spent(sweep) && sweep->compiling == 0);
    } else if (sweep->ready.count == 0 && sweep->in_flight == NULL) {
        sweep->compile_phase = sweep->to_compile.count > 0;
    }
}

static bool unit_over(const nt__sweep *sweep)
{
    if (sweep->in_flight != NULL)
        return false;
    if (unit_spent(sweep) || sweep->stop_signal != 0)
        return true;
    return sweep->exhausted && sweep->seeds.count == 0 && in_pipeline(sweep) == 0;
}

static nt_status run_trials(nt__sweep *sweep, nt_error *err)
{
    nt_status status = NT_OK;
    while (status == NT_OK && !sweep->stop_now && !unit_over(sweep)) {
        status = nt__device_step(sweep, err);
        if (status == NT_OK && !(sweep->device.kind == NT_DEVICE_CPU && (sweep->in_flight != NULL || sweep->ready.count > 0)))
            status = refill(sweep, err);
        alternate(sweep);
        if (status == NT_OK)
            status = submit(sweep, err);
        if (status == NT_OK)
            status = dispatch(sweep, err);
        if (status != NT_OK || unit_over(sweep))
            break;
        double left_ms = (sweep->unit_end_s - nt__now_s()) * 1e3;
        nt__progress(sweep, sweep->state == NT__DEVICE_TRIAL ? "timing"
                            : sweep->state == NT__DEVICE_IDLE ? "compiling"
                            : sweep->state == NT__DEVICE_OPENING ? "opening device"
                                                                 : "preparing inputs", false);
        status = nt__wait(sweep, sweep->in_flight != NULL ? 1000 : left_ms > 1000 ? 1000 : left_ms < 1 ? 1 : (int)left_ms, err);
        if (status == NT_OK)
            status = take_results(sweep, err);
        if (status == NT_OK)
            status = poll_device(sweep, err);
    }
    return status;
}

static void add_seed(nt__sweep *sweep, int served, const nt_config *config, const char *rule)
{
    nt_candidate number = {.kernel = served};
    const nt__unit *unit = unit_of(sweep);
    if (!nt_space_index(unit->served[served].space, config, &number.index) || nt__seen_before(sweep, number))
        return; /* narrowed away, illegal for this problem, or measured by an earlier process of this run */
    for (const nt__candidate *c = sweep->seeds.first; c != NULL; c = c->next)
        if (c->served == served && nt_config_equal(&c->config, config))
            return;
    nt__candidate *c = nt__candidate_new(sweep, served, config);
    c->rule = rule;
    c->in_space = true;
    c->ask = number;
    nt__queue_add(&sweep->seeds, c);
}

/* Known starting points before the strategy: rules of thumb, then each kernel's default. */
static void add_seeds(nt__sweep *sweep)
{
    const nt__unit *unit = unit_of(sweep);
    nt_config config;
    for (int s = 0; s < unit->served_count; s++) {
        const nt_kernel *kernel = unit->served[s].kernel;
        for (int r = 0; r < kernel->rule_count; r++)
            if (nt_kernel_rule_config(kernel, &kernel->rules[r], &config, NULL) == NT_OK)
                add_seed(sweep, s, &config, kernel->rules[r].name);
        nt_kernel_default_config(kernel, &config);
        add_seed(sweep, s, &config, NULL);
    }
}

/* The strategy is not asked for what is known or comes first. */
static void open_strategy(nt__sweep *sweep)
{
    const nt__unit *unit = unit_of(sweep);
    const nt_space *space[NT__KERNELS];
    size_t count = sweep->seen_count, excluded = 0;
    nt_candidate *exclude = nt_alloc((count + (size_t)sweep->seeds.count + 1) * sizeof *exclude);
    for (int s = 0; s < unit->served_count; s++)
        space[s] = unit->served[s].space;
    for (; excluded < count; excluded++)
        exclude[excluded] = sweep->seen[excluded];
    for (const nt__candidate *c = sweep->seeds.first; c != NULL; c = c->next)
        exclude[excluded++] = c->ask;
    nt_strategy_setup setup = {.space = space,
                               .kernel_count = unit->served_count,
                               .seed = sweep->options->seed,
                               .exclude = exclude,
                               .exclude_count = excluded};
    sweep->strategy_state = sweep->strategy->create(&setup);
    free(exclude);
}

static nt_status add_only(nt__sweep *sweep, nt_error *err)
{
    const nt__unit *unit = unit_of(sweep);
    sweep->exhausted = true;
    for (int s = 0; s < unit->served_count; s++) {
        const nt_kernel *kernel = unit->served[s].kernel;
        if (strcmp(kernel->name, sweep->only->kernel) != 0)
            continue;
        json_t *params;
        nt_config config;
        nt_status status = nt_json_parse(sweep->only->params_json, &params, err);
        if (status == NT_OK)
            status = nt_json_to_config(params, kernel->params, kernel->param_count, &config, err);
        json_decref(params);
        if (status == NT_OK)
            nt__queue_add(&sweep->seeds, nt__candidate_new(sweep, s, &config));
        return status;
    }
    return nt_fail(err, NT_NOT_FOUND, "kernel '%s' is not in this version of nntune, or does not serve the problem",
                   sweep->only->kernel);
}

/* What is left of the budget is shared evenly among the units not yet begun. */
static void share_budget(nt__sweep *sweep)
{
    const nt_budget *budget = &sweep->options->budget;
    int left = sweep->unit_count - sweep->unit_index;
    double now = nt__now_s();
    sweep->unit_end_s = INFINITY;
    sweep->unit_trials = INT64_MAX;
    if (budget->seconds > 0) {
        double remaining = budget->seconds - sweep->spent_before_s - (now - sweep->started_s);
        static const double for_trials = 0.92; /* the rest is for the finals */
        sweep->unit_end_s = now + for_trials * fmax(remaining, 0) / left;
    }
    if (budget->trials > 0) {
        int64_t remaining = budget->trials - sweep->trials_done;
        sweep->unit_trials = remaining > 0 ? (remaining + left - 1) / left : 0;
    }
}

static void describe_unit(nt__sweep *sweep)
{
    const nt__unit *unit = unit_of(sweep);
    nt_unit_result *result = &sweep->out->unit[sweep->unit_index];
    result->problem = unit->problem;
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
    sweep->unit_first_job = sweep->next_job;
    sweep->compiling = 0;
    sweep->compile_phase = true;
    sweep->exhausted = false;
    describe_unit(sweep);
    share_budget(sweep);
    nt_status status = nt__resume_unit(sweep, err);
    if (status == NT_OK && sweep->only != NULL)
        status = add_only(sweep, err);
    else if (status == NT_OK) {
        add_seeds(sweep);
        open_strategy(sweep);
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
    sweep->top_count = 0;
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
    if (status == NT_OK && sweep->stop_now && sweep->in_flight != NULL)
        nt__device_drop(sweep);
    if (status == NT_OK)
        status = nt__finals_run(sweep, result, err);
    if (status == NT_OK && sweep->events->unit != NULL)
        sweep->events->unit(sweep->events->context, result);
    end_unit(sweep);
    return status;
}

/* ---- the whole ------------------------------------------------------------------------------------------------------------ */

static nt_status take_lock(nt__sweep *sweep, nt_error *err)
{
    const char *uuid = sweep->device.uuid[0] != '\0' ? sweep->device.uuid : "fake";
    nt_status status = nt_lock_try(uuid, &sweep->lock, err);
    while (status == NT_BUSY && sweep->options->wait && sweep->stop_signal == 0) {
        nt__progress(sweep, "waiting for the device", false);
        nt_status waited = nt__wait(sweep, 250, err);
        status = waited == NT_OK ? nt_lock_try(uuid, &sweep->lock, err) : waited;
    }
    return status;
}

static nt_status open_device(nt__sweep *sweep, nt_error *err)
{
    nt_status status = NT_OK;
    if (sweep->options->device != NT_DEVICE_FAKE)
        status = nt__device_identify(sweep, err);
    if (status == NT_OK)
        status = take_lock(sweep, err);
    while (status == NT_OK && sweep->state != NT__DEVICE_IDLE && !sweep->stop_now) {
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

static void finish_run(nt__sweep *sweep, nt_status status, nt_error *err)
{
    nt_run *run = &sweep->out->run;
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    run->ended_unix_s = (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
    run->total_s = sweep->spent_before_s + nt__now_s() - sweep->started_s;
    run->compile_s += sweep->wait_compile_s;
    run->idle_s = fmax(0, run->total_s - run->compile_s - run->verify_s - run->measure_s);
    nt_copy(run->state, sizeof run->state, status != NT_OK ? "failed" : sweep->stop_signal != 0 ? "interrupted" : "done");
    nt_error ignored; /* an error that ended the sweep is worth more than one of its last row */
    nt_status ended = run->id != 0 ? sweep->sink->end_run(sweep->sink, run, status == NT_OK ? err : &ignored) : NT_OK;
    (void)ended;
    sweep->out->interrupted_by = sweep->stop_signal;
    sweep->out->compile_child_s = sweep->pool != NULL ? nt_pool_work_s(sweep->pool) : 0;
}

static nt_status prepare_run(nt__sweep *sweep, nt_error *err)
{
    nt_status status = nt_strategy_find(sweep->options->strategy, &sweep->strategy, err);
    if (status == NT_OK)
        status = nt__units_build(sweep->options, &sweep->device, &sweep->unit, &sweep->unit_count, err);
    if (status != NT_OK)
        return status;
    sweep->out->unit = nt_alloc_zero((size_t)sweep->unit_count, sizeof *sweep->out->unit);
    sweep->out->unit_count = sweep->unit_count;
    for (int i = 0; i < sweep->unit_count; i++)
        nt_trial_init(&sweep->out->unit[i].best);
    status = nt__resume_run(sweep, &sweep->out->run, &sweep->out->resumed, err);
    if (status == NT_OK)
        status = sweep->sink->begin_run(sweep->sink, &sweep->out->run, err);
    if (status == NT_OK && sweep->events->run != NULL)
        sweep->events->run(sweep->events->context, &sweep->out->run, sweep->out->resumed);
    return status;
}

static nt_status run_sweep(nt__sweep *sweep, nt_error *err)
{
    sigset_t old_mask;
    sweep->started_s = nt__now_s();
    sweep->deadline_s = INFINITY;
    sweep->best_ns = INFINITY;
    sweep->lock.fd = -1;
    sweep->worker.channel.fd = -1;
    nt__queue_init(&sweep->seeds);
    nt__queue_init(&sweep->to_compile);
    nt__queue_init(&sweep->ready);
    catch_signals(&old_mask);
    nt__progress(sweep, "opening device", true);
    nt_status status = open_device(sweep, err);
    if (status == NT_OK && sweep->stop_signal == 0)
        status = prepare_run(sweep, err);
    sweep->pool = nt_pool_open(children_of(sweep->options));
    for (; status == NT_OK && sweep->unit_index < sweep->unit_count && sweep->stop_signal == 0; sweep->unit_index++)
        status = run_unit(sweep, err);
    if (sweep->unit_index == sweep->unit_count && sweep->unit_count > 0)
        sweep->unit_index--; /* stays inside for the progress line */
    finish_run(sweep, status, err);
    nt_pool_close(sweep->pool);
    sweep->pool = NULL;
    nt__device_drop(sweep);
    nt_lock_release(&sweep->lock);
    nt__units_free(sweep->unit, sweep->unit_count);
    release_signals(&old_mask);
    return status;
}

nt_status nt_sweep_run(const nt_sweep_options *options, nt_sink *sink, const nt_sweep_events *events,
                       nt_sweep_result *out, nt_error *err)
{
    nt__sweep *sweep = nt_alloc_zero(1, sizeof *sweep);
    *out = (nt_sweep_result){0};
    sweep->options = options;
    sweep->sink = sink;
    sweep->events = events;
    sweep->out = out;
    nt_status status = run_sweep(sweep, err);
    free(sweep);
    return status;
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
    sweep->only = like;
    nt_status status = run_sweep(sweep, err);
    free(sweep);
    return status;
}

void nt_sweep_result_done(nt_sweep_result *result)
{
    for (int i = 0; i < result->unit_count; i++)
        nt_trial_done(&result->unit[i].best);
    free(result->unit);
    nt_run_done(&result->run);
    *result = (nt_sweep_result){0};
}
