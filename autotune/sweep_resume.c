/* sweep_resume.c: going on where an earlier process of the same run stopped, and taking over equal trials (--reuse). */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "autotune/spec.h"
#include "autotune/sweep_state.h"
#include "core/clock.h"
#include "core/json.h"
#include "core/mem.h"

/* ---- the run record ------------------------------------------------------------------------------------------------- */

static json_t *shape_texts(const nt_sweep_options *o)
{
    json_t *list = json_array();
    for (int i = 0; i < o->shape_count; i++)
        json_array_append_new(list, json_string(o->shape[i]));
    return list;
}

static json_t *narrowing_texts(const nt_sweep_options *o)
{
    json_t *object = json_object();
    for (int i = 0; i < o->narrowing_count; i++) {
        json_t *values = json_array();
        for (int v = 0; v < o->narrowing[i].count; v++)
            json_array_append_new(values, json_string(o->narrowing[i].values[v]));
        json_object_set_new(object, o->narrowing[i].param, values);
    }
    return object;
}

static json_t *names(int count, const char *(*name)(const nt_sweep_options *o, int i), const nt_sweep_options *o)
{
    json_t *list = json_array();
    for (int i = 0; i < count; i++)
        json_array_append_new(list, json_string(name(o, i)));
    return list;
}

static const char *precision_at(const nt_sweep_options *o, int i)
{
    return nt_precisions[o->precision[i]].name;
}

static const char *layout_at(const nt_sweep_options *o, int i)
{
    return nt_layout_name(o->layout[i]);
}

static const char *cache_at(const nt_sweep_options *o, int i)
{
    return nt_cache_mode_name(o->cache[i]);
}

/* Every option that shapes the run. Runs with equal options can be resumed; the budget may differ, so that more can be
 * spent on a run than was first planned. */
static char *options_json(const nt_sweep_options *o)
{
    json_t *batch = json_array();
    for (int i = 0; i < o->batch_count; i++)
        json_array_append_new(batch, json_integer(o->batch[i]));
    json_t *all =
        json_pack("{s:s, s:o, s:o, s:o, s:o, s:o, s:s, s:s*, s:o, s:o*, s:o, s:o}", "layer", o->layer, "shape",
                  shape_texts(o), "batch", batch, "precision", names(o->precision_count, precision_at, o), "layout",
                  names(o->layout_count, layout_at, o), "cache", names(o->cache_count, cache_at, o), "fill",
                  nt_fill_name(o->fill), "kernel", o->kernel, "param", narrowing_texts(o), "where",
                  o->where != NULL ? nt_json_text(o->where) : NULL, "ci_rel", nt_json_real(o->ci_rel), "max_error",
                  nt_json_real(o->max_error));
    if (o->vendor != NT_VENDOR_NEVER)
        json_object_set_new(all, "vendor", json_string(o->vendor == NT_VENDOR_ONLY ? "only" : "also"));
    if (o->objective != NULL && strcmp(o->objective, "time") != 0)
        json_object_set_new(all, "objective", json_string(o->objective));
    if (o->warm_from != NULL)
        json_object_set_new(all, "warm_start", json_string(o->warm_from));
    nt_spec_tell(all, o->layer);
    return nt_json_dump_done(all);
}

static void new_run(const nt__sweep *sweep, nt_run *run)
{
    *run = (nt_run){.seed = sweep->options->seed, .device = sweep->device, .ended_unix_s = NAN};
    run->started_unix_s = nt_unix_s();
    run->command = nt_strdup(sweep->options->command != NULL ? sweep->options->command : "");
    run->options_json = options_json(sweep->options);
    nt_copy(run->nntune_version, sizeof run->nntune_version, NT_VERSION);
    nt_copy(run->strategy, sizeof run->strategy, sweep->strategy->name);
    nt_copy(run->state, sizeof run->state, "running");
    gethostname(run->host, sizeof run->host - 1);
}

static double known(double value)
{
    return isfinite(value) ? value : 0;
}

nt_status nt__resume_run(nt__sweep *sweep, nt_run *run, bool *resumed, nt_error *err)
{
    nt_run earlier;
    new_run(sweep, run);
    *resumed = false;
    if (!sweep->options->resume)
        return NT_OK;
    nt_status status = sweep->sink->find_resumable(sweep->sink, run, &earlier, err);
    if (status == NT_NOT_FOUND)
        return NT_OK;
    if (status != NT_OK)
        return status;
    sweep->spent_before_s = known(earlier.total_s);
    earlier.device = sweep->device;
    nt_run_done(run);
    *run = earlier;
    run->compile_s = known(run->compile_s);
    run->verify_s = known(run->verify_s);
    run->measure_s = known(run->measure_s);
    *resumed = true;
    return NT_OK;
}

/* ---- the unit's earlier trials ----------------------------------------------------------------------------------------- */

static bool of_this_unit(const nt__sweep *sweep, const nt_trial *trial)
{
    const nt__unit *unit = &sweep->unit[sweep->unit_index];
    return trial->cache == unit->cache && nt_problem_equal(&trial->problem, &unit->problem);
}

/* Finds a stored trial's configuration in the present spaces; false when its kernel or values are gone. */
static bool locate(const nt__sweep *sweep, const nt_trial *trial, nt_candidate *number, nt_config *config)
{
    const nt__unit *unit = &sweep->unit[sweep->unit_index];
    for (int s = 0; s < unit->served_count; s++) {
        const nt_kernel *kernel = unit->served[s].kernel;
        json_t *params = NULL;
        if (strcmp(kernel->name, trial->kernel) != 0 || nt_json_parse(trial->params_json, &params, NULL) != NT_OK)
            continue;
        bool found = nt_json_to_config(params, kernel->params, kernel->param_count, config, NULL) == NT_OK &&
                     nt_space_index(unit->served[s].space, config, &number->index);
        json_decref(params);
        number->kernel = s;
        return found;
    }
    return false;
}

static bool count_earlier(void *context, const nt_trial *trial)
{
    nt__sweep *sweep = context;
    nt_candidate number;
    nt_config config;
    if (!of_this_unit(sweep, trial) || !locate(sweep, trial, &number, &config))
        return true;
    void *seen = sweep->seen;
    nt_grow(&seen, &sweep->seen_capacity, sweep->seen_count + 1, sizeof *sweep->seen);
    sweep->seen = seen;
    sweep->seen[sweep->seen_count++] = number;
    nt__count_trial(sweep, trial, number.kernel, &config);
    sweep->unit_cost_s += (known(trial->verify_ms) + known(trial->measure_ms) +
                           known(trial->compile_ms) / nt_sweep_jobs(sweep->options)) /
                          1e3;
    return true;
}

static int by_number(const void *a, const void *b)
{
    const nt_candidate *x = a, *y = b;
    if (x->kernel != y->kernel)
        return x->kernel < y->kernel ? -1 : 1;
    return x->index < y->index ? -1 : x->index > y->index;
}

/* A trial that was in flight twice when the process died is not tried a third time. */
static nt_status give_up_on_killer(nt__sweep *sweep, nt_error *err)
{
    nt_trial trial;
    int attempts = 0;
    nt_candidate number;
    nt_config config;
    nt_status status = sweep->sink->in_flight(sweep->sink, sweep->out->run.id, &trial, &attempts, err);
    if (status == NT_NOT_FOUND)
        return NT_OK;
    if (status != NT_OK)
        return status;
    trial.cache = sweep->unit[sweep->unit_index].cache;
    if (attempts >= 2 && of_this_unit(sweep, &trial) && locate(sweep, &trial, &number, &config) &&
        !nt__seen_before(sweep, number)) {
        nt__candidate *c = nt__candidate_new(sweep, number.kernel, &config);
        nt_trial record;
        c->in_space = true;
        c->ask = number;
        nt__candidate_trial(sweep, c, NT_OUTCOME_CRASHED, "nntune itself died twice while it ran", &record);
        status = nt__store_trial(sweep, &record, c, NULL, err);
        if (status == NT_OK)
            count_earlier(sweep, &record);
        nt_trial_done(&record);
        nt__candidate_free(c);
    }
    nt_trial_done(&trial);
    return status;
}

nt_status nt__resume_unit(nt__sweep *sweep, nt_error *err)
{
    if (!sweep->out->resumed)
        return NT_OK;
    nt_status status = sweep->sink->each_trial(sweep->sink, sweep->out->run.id, count_earlier, sweep, err);
    if (status != NT_OK)
        return status;
    if (sweep->seen_count > 1)
        qsort(sweep->seen, sweep->seen_count, sizeof *sweep->seen, by_number);
    return give_up_on_killer(sweep, err);
}

bool nt__seen_before(const nt__sweep *sweep, nt_candidate number)
{
    return sweep->seen_count > 0 &&
           bsearch(&number, sweep->seen, sweep->seen_count, sizeof *sweep->seen, by_number) != NULL;
}

static bool tell_earlier(void *context, const nt_trial *trial)
{
    nt__sweep *sweep = context;
    nt_candidate number;
    nt_config config;
    if (!of_this_unit(sweep, trial) || !locate(sweep, trial, &number, &config))
        return true;
    nt__tell_strategy(sweep, trial, number);
    return true;
}

nt_status nt__resume_tell(nt__sweep *sweep, nt_error *err)
{
    if (!sweep->out->resumed)
        return NT_OK;
    return sweep->sink->each_trial(sweep->sink, sweep->out->run.id, tell_earlier, sweep, err);
}

/* ---- reuse ---------------------------------------------------------------------------------------------------------------- */

nt_status nt__reuse(nt__sweep *sweep, nt__candidate *c, bool *reused, nt_error *err)
{
    nt_trial like, found;
    nt__candidate_trial(sweep, c, NT_OUTCOME_OK, NULL, &like);
    nt_error none;
    nt_status status = sweep->sink->find_equal(sweep->sink, &like, &found, &none);
    if (status == NT_OK && isnan(nt__score(sweep, &found))) { /* measured without what the objective needs */
        nt_trial_done(&found);
        status = NT_NOT_FOUND;
    }
    *reused = status == NT_OK;
    if (status == NT_OK) {
        found.id = 0;
        found.run_id = sweep->out->run.id;
        found.reused = true;
        nt_copy(found.rule, sizeof found.rule, c->rule != NULL ? c->rule : "");
        /* its costs were paid by the earlier run */
        found.compile_ms = found.verify_ms = found.measure_ms = 0;
        sweep->out->reused++;
        status = nt__store_trial(sweep, &found, c, NULL, err);
        nt_trial_done(&found);
        nt__candidate_free(c);
    } else if (status == NT_NOT_FOUND) {
        status = NT_OK;
    } else {
        *err = none;
        nt__candidate_free(c);
    }
    nt_trial_done(&like);
    return status;
}
