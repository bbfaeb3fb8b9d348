/* sweep_seeds.c: what a unit begins with: rules of thumb and defaults before the strategy, or the one configuration of
 * a rerun. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "autotune/sweep_state.h"
#include "autotune/warm_start.h"
#include "core/clock.h"
#include "core/json.h"
#include "core/mem.h"

static nt__unit *unit_of(const nt__sweep *sweep)
{
    return &sweep->unit[sweep->unit_index];
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
void nt__add_seeds(nt__sweep *sweep)
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

/* What the unit may spend; 0: not limited. */
static uint64_t trials_left(const nt__sweep *sweep)
{
    bool limited = sweep->unit_trials < INT64_MAX && sweep->unit_trials > sweep->unit_done;
    return limited ? (uint64_t)(sweep->unit_trials - sweep->unit_done) : 0;
}

static double seconds_left(const nt__sweep *sweep)
{
    return isfinite(sweep->unit_end_s)
               ? fmax((sweep->unit_end_s - nt_now_s()) / (sweep->unit_count - sweep->unit_index), 1e-3)
               : 0;
}

/* Appends what `warm` knows of the unit's candidates; `mark` tells its groups from those of others. */
static void add_earlier(const nt__sweep *sweep, const nt_warm_start *warm, int mark, const nt_space *const *space,
                        nt_earlier **all, size_t *count)
{
    const nt__unit *unit = unit_of(sweep);
    nt_warm_group like = {.problem = unit->problem, .cache = unit->cache};
    nt_earlier *some = NULL;
    nt_copy(like.device_uuid, sizeof like.device_uuid, sweep->device.uuid);
    size_t found = nt_warm_start_for(warm, &like, space, unit->served_count, &some);
    *all = nt_realloc_array(*all, *count + found + 1, sizeof **all);
    for (size_t i = 0; i < found; i++) {
        (*all)[*count] = some[i];
        (*all)[(*count)++].run += mark;
    }
    free(some);
}

/* What earlier runs and the units before this one know of its candidates; to be freed. */
static nt_earlier *earlier_of(const nt__sweep *sweep, const nt_space *const *space, size_t *count)
{
    enum { OF_EARLIER_RUNS = 1 << 24 };
    nt_earlier *earlier = NULL;
    *count = 0;
    if (sweep->options->warm != NULL)
        add_earlier(sweep, sweep->options->warm, OF_EARLIER_RUNS, space, &earlier, count);
    add_earlier(sweep, &sweep->own, 0, space, &earlier, count);
    return earlier;
}

/* The strategy is not asked for what is known or comes first. */
void nt__open_strategy(nt__sweep *sweep)
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
    size_t earlier_count;
    nt_earlier *earlier = earlier_of(sweep, space, &earlier_count);
    nt_strategy_setup setup = {.space = space,
                               .kernel_count = unit->served_count,
                               .seed = sweep->options->seed,
                               .exclude = exclude,
                               .exclude_count = excluded,
                               .earlier = earlier,
                               .earlier_count = earlier_count,
                               .budget_trials = trials_left(sweep),
                               .budget_s = seconds_left(sweep)};
    sweep->strategy_state = sweep->strategy->create(&setup);
    free(earlier);
    free(exclude);
}

nt_status nt__add_only(nt__sweep *sweep, nt_error *err)
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
