/* sweep_profile.c: hardware counters of a unit's trials, by the counter worker, after their times are final and while
 * the device worker is idle. Counters that cannot be had never cost a sweep anything but a line of advice. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "autotune/spec.h"
#include "autotune/sweep_state.h"
#include "core/clock.h"
#include "core/json.h"
#include "core/mem.h"
#include "profiler/counters.h"

enum { BATCH = NT_COUNTERS_BATCH, MOST_LOSSES = 8, FIRST_PASSES = 3, FINAL_PASSES = 60 };
static const double open_s = 90, problem_s = 120, batch_s = 120;
/* The one-pass set for every configuration; for finalists what says why: speed of light, stalls, conflicts, arithmetic.
 */
static const char *const first_set[] = {"t1"};
static const char *const final_sets[] = {"sol", "stall", "banks", "coalescing", "flop"};

/* Metrics of the worker as it is open now. */
typedef struct opened {
    int count, passes;
    char **name, **unit;
    char *source;
} opened;

static void opened_done(opened *o)
{
    for (int i = 0; i < o->count; i++) {
        free(o->name[i]);
        free(o->unit[i]);
    }
    free(o->name);
    free(o->unit);
    free(o->source);
    *o = (opened){0};
}

static void advise(nt__sweep *sweep, const char *id, const nt_error *why)
{
    char text[1700];
    snprintf(text, sizeof text, "%s%s%s", why->what, why->hint[0] != '\0' ? "; " : "", why->hint);
    if (sweep->events->warning != NULL)
        sweep->events->warning(sweep->events->context, id, text);
}

/* ---- the child --------------------------------------------------------------------------------------------------------- */

static nt_status start(nt__sweep *sweep, nt_error *err)
{
    char name[64];
    nt__device_name(sweep, name, sizeof name);
    sweep->counters_problem = -1;
    sweep->counters_owed = 0;
    return nt_child_start(&sweep->counter_worker, "--counter-worker", name, false, err);
}

/* One question, its answer waited for. NT_DEVICE_LOST: the child is gone, with how it ended. */
static nt_status ask(nt__sweep *sweep, json_t *request, double deadline_s, json_t **reply, nt_error *err)
{
    double end = nt_now_s() + deadline_s;
    nt_channel *channel = &sweep->counter_worker.channel;
    nt_status status = nt_channel_send(channel, request, err);
    *reply = NULL;
    while (status == NT_OK && *reply == NULL) {
        if (sweep->stop_now || nt_now_s() > end) {
            nt_child_kill(&sweep->counter_worker);
            return nt_fail(err, sweep->stop_now ? NT_CLOSED : NT_DEVICE_LOST,
                           "the counter worker did not answer in %.0f s", deadline_s);
        }
        status = nt__wait(sweep, 1000, err);
        if (status == NT_OK)
            status = nt_channel_pump(channel, err);
        if (status == NT_OK)
            status = nt_channel_next(channel, reply, err);
        if (*reply != NULL && sweep->counters_owed > 0) {
            sweep->counters_owed--; /* what it was told to prepare; where that failed, this question fails as well */
            json_decref(*reply);
            *reply = NULL;
        }
    }
    if (status == NT_OK)
        return NT_OK;
    char how[128];
    nt_child_describe_end(nt_child_reap(&sweep->counter_worker), how, sizeof how);
    return nt_fail(err, NT_DEVICE_LOST, "the counter worker was %s", how);
}

static json_t *metrics_json(nt__sweep *sweep, bool finalists)
{
    json_t *list = json_array();
    const nt_sweep_options *o = sweep->options;
    if (o->metric_count > 0) {
        for (int i = 0; i < o->metric_count; i++)
            json_array_append_new(list, json_string(o->metric[i]));
    } else if (finalists) {
        for (size_t i = 0; i < sizeof final_sets / sizeof final_sets[0]; i++)
            json_array_append_new(list, json_string(final_sets[i]));
    } else {
        json_array_append_new(list, json_string(first_set[0]));
    }
    return list;
}

static void read_opened(const json_t *reply, opened *out)
{
    const json_t *metrics = json_object_get(reply, "metrics");
    const char *source = nt_json_get_text(reply, "source");
    size_t count = json_array_size(metrics);
    *out = (opened){.name = nt_alloc_zero(count, sizeof(char *)), .unit = nt_alloc_zero(count, sizeof(char *))};
    out->passes = (int)nt_json_get_int(reply, "passes");
    out->source = nt_strdup(source != NULL ? source : "");
    for (size_t i = 0; i < count; i++) {
        const char *name = nt_json_get_text(json_array_get(metrics, i), "name");
        const char *unit = nt_json_get_text(json_array_get(metrics, i), "unit");
        if (name == NULL)
            continue;
        out->name[out->count] = nt_strdup(name);
        out->unit[out->count++] = nt_strdup(unit != NULL ? unit : "");
    }
}

static nt_status open_metrics(nt__sweep *sweep, bool finalists, opened *out, nt_error *err)
{
    json_t *reply = NULL;
    int passes = sweep->options->metric_count > 0 || finalists ? FINAL_PASSES : FIRST_PASSES;
    nt_status status = sweep->counter_worker.pid > 0 ? NT_OK : start(sweep, err);
    if (status == NT_OK)
        status = ask(sweep,
                     json_pack("{s:s, s:o, s:i}", "op", "open", "metrics", metrics_json(sweep, finalists),
                               "most_passes", passes),
                     open_s, &reply, err);
    if (status == NT_OK)
        status = nt__reply_status(reply, "counter worker", err);
    if (status == NT_OK)
        read_opened(reply, out);
    json_decref(reply);
    return status;
}

static nt_status open_problem(nt__sweep *sweep, nt_error *err)
{
    const nt__unit *unit = &sweep->unit[sweep->unit_index];
    json_t *reply = NULL;
    if (sweep->counters_problem == sweep->unit_index)
        return NT_OK;
    json_t *request = json_pack("{s:s, s:o, s:I, s:s}", "op", "problem", "problem", nt_json_problem(&unit->problem),
                                "seed", (json_int_t)sweep->options->seed, "cache", nt_cache_mode_name(unit->cache));
    nt_spec_tell(request, unit->problem.layer);
    nt_status status = ask(sweep, request, problem_s, &reply, err);
    if (status == NT_OK)
        status = nt__reply_status(reply, "counter worker", err);
    if (status == NT_OK)
        sweep->counters_problem = sweep->unit_index;
    json_decref(reply);
    return status;
}

/* ---- batches -------------------------------------------------------------------------------------------------------------- */

static json_t *item_json(nt__sweep *sweep, const nt__counted *trial)
{
    nt__candidate *c = nt__candidate_new(sweep, trial->served, &trial->config);
    nt_compile_request request;
    char reason[256];
    json_t *item = NULL;
    if (nt__candidate_plan(sweep, c, reason, sizeof reason)) {
        nt__candidate_request(sweep, c, &request);
        if (nt_compile_lookup(&request, &c->artefact, NULL) == NT_OK)
            item = nt__candidate_json(sweep, c);
    }
    if (item != NULL)
        json_object_set_new(item, "trial", json_integer((json_int_t)trial->trial_id));
    nt__candidate_free(c);
    return item;
}

static nt_status store_values(nt__sweep *sweep, const opened *metrics, const json_t *reply, nt_error *err)
{
    const json_t *list = json_object_get(reply, "counters");
    size_t count = json_array_size(list);
    nt_counter *rows = nt_alloc_zero(count * (size_t)metrics->count, sizeof *rows);
    int filled = 0;
    for (size_t i = 0; i < count; i++) {
        const json_t *one = json_array_get(list, i), *values = json_object_get(one, "values");
        int64_t trial = nt_json_get_int(one, "trial");
        for (int m = 0; values != NULL && trial > 0 && m < metrics->count; m++)
            rows[filled++] = (nt_counter){.trial_id = trial,
                                          .name = metrics->name[m],
                                          .value = nt_json_get_real(values, metrics->name[m]),
                                          .unit = metrics->unit[m],
                                          .source = metrics->source,
                                          .passes = metrics->passes,
                                          .cache = sweep->unit[sweep->unit_index].cache};
        sweep->out->counted += values != NULL;
        nt__profile_note(sweep, trial, values);
    }
    nt_status status = filled > 0 ? sweep->sink->put_counters(sweep->sink, rows, filled, err) : NT_OK;
    free(rows);
    return status;
}

/* Counting a list of trials. A trial that takes the device or the worker with it is set apart, and the others of its
 * batch are counted again without it. Where the worker ends without saying whose launch it was, the batch goes on one
 * by one, so that the next loss tells. */
typedef struct counting {
    opened metrics;
    bool finalists;
    bool sink_failed; /* a database error, which ends the sweep; anything else does not */
    int losses;
    int64_t apart[MOST_LOSSES]; /* trials */
    int apart_count;
    int singly_to;   /* one by one up to here */
    int64_t culprit; /* of the last batch, where the worker told; else NT_UNKNOWN */
} counting;

static bool is_apart(const counting *c, int64_t trial)
{
    for (int i = 0; i < c->apart_count; i++)
        if (c->apart[i] == trial)
            return true;
    return false;
}

static json_t *items_json(nt__sweep *sweep, const counting *c, const nt__counted *trials, int count)
{
    json_t *items = json_array();
    for (int i = 0; i < count; i++) {
        json_t *item = is_apart(c, trials[i].trial_id) ? NULL : item_json(sweep, &trials[i]);
        if (item != NULL)
            json_array_append_new(items, item);
    }
    return items;
}

static nt_status count_batch(nt__sweep *sweep, counting *c, const nt__counted *trials, int count, nt_error *err)
{
    json_t *items = items_json(sweep, c, trials, count), *reply = NULL;
    c->culprit = NT_UNKNOWN;
    nt_status status = open_problem(sweep, err);
    if (status == NT_OK && json_array_size(items) > 0) {
        status = ask(sweep, json_pack("{s:s, s:O}", "op", "counters", "items", items), batch_s, &reply, err);
        if (status == NT_OK)
            status = nt__reply_status(reply, "counter worker", err);
        if (status == NT_OK) {
            status = store_values(sweep, &c->metrics, reply, err);
            c->sink_failed = status != NT_OK;
        } else if (json_is_integer(json_object_get(reply, "trial"))) {
            c->culprit = nt_json_get_int(reply, "trial");
        }
    }
    json_decref(items);
    json_decref(reply);
    return status;
}

static void set_apart(nt__sweep *sweep, counting *c, const nt__counted *trial, const nt_error *why)
{
    nt_error text = {0};
    c->apart[c->apart_count++] = trial->trial_id;
    nt_fail(&text, NT_DEVICE_LOST, "trial %lld fails under the counters and has none: %.300s",
            (long long)trial->trial_id, why->what);
    nt_hint(&text, "`nntune show %lld` tells what it is, `nntune rerun %lld` runs it without them",
            (long long)trial->trial_id, (long long)trial->trial_id);
    advise(sweep, "counter-fault", &text);
}

static const nt__counted *find_counted(const nt__counted *trials, int count, int64_t trial)
{
    for (int i = 0; i < count; i++)
        if (trials[i].trial_id == trial)
            return &trials[i];
    return NULL;
}

/* After a loss in trials[0..count), the first of which is number `at`: another worker, and whom to leave out. */
static nt_status recover(nt__sweep *sweep, counting *c, const nt__counted *trials, int at, int count, nt_error *why)
{
    const nt__counted *culprit = count == 1 ? trials : find_counted(trials, count, c->culprit);
    if (culprit != NULL)
        set_apart(sweep, c, culprit, why);
    else
        c->singly_to = at + count;
    nt_child_kill(&sweep->counter_worker);
    opened_done(&c->metrics);
    return open_metrics(sweep, c->finalists, &c->metrics, why);
}

static nt_status count_trials(nt__sweep *sweep, const nt__counted *trials, int count, bool finalists, nt_error *err)
{
    counting c = {.finalists = finalists};
    nt_error why = {0};
    nt_status status = open_metrics(sweep, finalists, &c.metrics, &why);
    for (int at = 0; status == NT_OK && at < count && sweep->stop_signal == 0;) {
        int batch = at < c.singly_to ? 1 : count - at < BATCH ? count - at : BATCH;
        status = count_batch(sweep, &c, trials + at, batch, &why);
        if (status == NT_DEVICE_LOST && c.losses++ < MOST_LOSSES - 1)
            status = recover(sweep, &c, trials + at, at, batch, &why); /* and the same again without it */
        else
            at += batch;
    }
    opened_done(&c.metrics);
    if (c.sink_failed) {
        *err = why;
        return status;
    }
    if (status != NT_OK && !sweep->stop_now) {
        advise(sweep, "no-counters", &why);
        nt_child_kill(&sweep->counter_worker);
        sweep->counters_refused = true; /* said once; the sweep goes on without them */
    }
    return NT_OK;
}

/* ---- one unit --------------------------------------------------------------------------------------------------------------- */

void nt__profile_remember(nt__sweep *sweep, const nt_trial *trial, int served, const nt_config *config)
{
    if (sweep->options->profile != NT_PROFILE_ALL || sweep->counters_refused)
        return;
    void *list = sweep->counted;
    nt_grow(&list, &sweep->counted_capacity, sweep->counted_count + 1, sizeof *sweep->counted);
    sweep->counted = list;
    sweep->counted[sweep->counted_count++] = (nt__counted){trial->id, served, *config};
}

/* The winner's own counters go into the unit's result. */
void nt__profile_note(nt__sweep *sweep, int64_t trial, const json_t *values)
{
    nt_unit_result *result = &sweep->out->unit[sweep->unit_index];
    if (!result->has_best || trial != result->best.id || values == NULL)
        return;
    const struct {
        const char *name;
        double *to;
    } wanted[] = {{"occupancy_pct", &result->occupancy_pct},
                  {"dram_read_bytes", &result->dram_read_bytes},
                  {"dram_write_bytes", &result->dram_write_bytes},
                  {"dram_pct", &result->dram_pct},
                  {"tensor_pct", &result->tensor_pct}};
    for (size_t i = 0; i < sizeof wanted / sizeof wanted[0]; i++) {
        double value = nt_json_get_real(values, wanted[i].name);
        if (isfinite(value))
            *wanted[i].to = value;
    }
}

nt_status nt__profile_check(nt__sweep *sweep, nt_error *err)
{
    opened metrics = {0};
    if (sweep->options->profile == NT_PROFILE_NONE || sweep->options->metric_count == 0)
        return NT_OK;
    nt_status status = open_metrics(sweep, false, &metrics, err);
    opened_done(&metrics);
    nt_child_kill(&sweep->counter_worker); /* nothing holds the counters while trials are timed */
    return status == NT_USAGE ? status : NT_OK;
}

void nt__profile_prepare(nt__sweep *sweep)
{
    nt_error ignored; /* whoever asks first hears it */
    if (sweep->options->profile == NT_PROFILE_NONE || sweep->options->device == NT_DEVICE_CPU ||
        start(sweep, &ignored) != NT_OK)
        return;
    if (nt_channel_send(&sweep->counter_worker.channel, json_pack("{s:s}", "op", "prepare"), &ignored) == NT_OK)
        sweep->counters_owed = 1;
}

nt_status nt__profile_run(nt__sweep *sweep, nt_error *err)
{
    if (sweep->options->profile == NT_PROFILE_NONE || sweep->counters_refused || sweep->stop_signal != 0 ||
        sweep->top_count == 0)
        return NT_OK;
    nt__progress(sweep, "counters", true);
    double begin = nt_now_s();
    nt__counted finalist[NT_FINALISTS];
    int finalists = nt__finalist_count(sweep);
    for (int i = 0; i < finalists; i++)
        finalist[i] = (nt__counted){sweep->top[i].trial.id, sweep->top[i].served, sweep->top[i].config};
    nt_status status = NT_OK;
    if (sweep->options->profile == NT_PROFILE_ALL)
        status = count_trials(sweep, sweep->counted, (int)sweep->counted_count, false, err);
    else
        status = count_trials(sweep, finalist, finalists, false, err);
    if (status == NT_OK && sweep->options->metric_count == 0 && !sweep->counters_refused)
        status = count_trials(sweep, finalist, finalists, true, err);
    sweep->out->counters_s += nt_now_s() - begin;
    return status;
}
