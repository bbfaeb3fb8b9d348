/* metric_plan.c: see metric_plan.h. Names are looked up first, since adding an unknown one would spoil the host object;
 * then all are added at once to a fresh object, because CUPTI finds fewer passes for a list than for its parts one
 * after another. Where it refuses, each name is tried alone on an object of its own. */
#include "profiler/metric_plan.h"

#include <stdlib.h>
#include <string.h>

#include "core/mem.h"
#include "core/str.h"

typedef struct planner {
    nt_cupti_way way;
    const char *chip;
    const nt_cupti_image *available;
    nt_metric_plan *plan;
    size_t capacity;
} planner;

/* ---- from names to metrics ---- */

static nt_metric *append(planner *p, const char *name)
{
    nt_metric_plan *plan = p->plan;
    nt_grow((void **)&plan->metric, &p->capacity, plan->count + 1, sizeof *plan->metric);
    nt_metric *metric = &plan->metric[plan->count++];
    *metric = (nt_metric){.name = nt_strdup(name), .unit = "", .what = "", .index = -1};
    return metric;
}

static bool listed(const nt_metric_plan *plan, const char *name)
{
    for (size_t i = 0; i < plan->count; i++)
        if (strcmp(plan->metric[i].name, name) == 0)
            return true;
    return false;
}

static bool known(const planner *p, const char *counter, nt_cupti_metric *about)
{
    nt_error ignored;
    return nt_cupti_host_describe(p->plan->look, counter, about, &ignored) == NT_OK;
}

static void append_column(planner *p, const nt_metric_column *column)
{
    nt_cupti_metric about;
    nt_metric *metric = append(p, column->name);
    metric->unit = column->unit;
    metric->what = column->what;
    for (int i = 0; i < NT_METRIC_SPELLINGS && column->counter[i] != NULL && metric->counter == NULL; i++)
        if (known(p, column->counter[i], &about))
            metric->counter = column->counter[i];
}

static nt_status append_counter(planner *p, const char *name, bool required, nt_error *err)
{
    nt_cupti_metric about;
    if (!known(p, name, &about)) {
        nt_fail(err, NT_USAGE, "chip %s has no metric '%s', and nntune no column or set of that name", p->chip, name);
        nt_metric_suggest(p->plan->look, name, err);
        return NT_USAGE;
    }
    nt_metric *metric = append(p, name);
    metric->counter = metric->name;
    metric->required = required;
    metric->unit = about.unit != NULL ? about.unit : "";
    metric->what = about.description != NULL ? about.description : "";
    return NT_OK;
}

static nt_status append_prefix(planner *p, const nt_metric_set *set, nt_error *err)
{
    const char *const *base;
    size_t count;
    nt_status status = nt_cupti_host_base(p->plan->look, 0, &base, &count, err);
    for (size_t i = 0; status == NT_OK && i < count; i++) {
        char name[256];
        size_t length = strlen(base[i]);
        if (strncmp(base[i], set->prefix, strlen(set->prefix)) != 0 || strstr(base[i], set->prefix_without) != NULL ||
            length + sizeof ".sum" > sizeof name)
            continue;
        memcpy(name, base[i], length);
        memcpy(name + length, ".sum", sizeof ".sum");
        if (!listed(p->plan, name))
            status = append_counter(p, name, false, err);
    }
    return status;
}

static nt_status expand(planner *p, const char *name, nt_error *err)
{
    const nt_metric_set *set = nt_metric_set_find(name);
    const nt_metric_column *column = nt_metric_column_find(name);
    if (column != NULL)
        append_column(p, column);
    else if (set == NULL)
        return append_counter(p, name, true, err);
    else if (set->columns == NULL)
        return append_prefix(p, set, err);
    for (size_t i = 0; set != NULL && set->columns[i] != NULL; i++)
        if (!listed(p->plan, set->columns[i]))
            append_column(p, nt_metric_column_find(set->columns[i]));
    return NT_OK;
}

/* ---- from metrics to counters ---- */

static int counter_index(const nt_metric_plan *plan, const char *name)
{
    for (size_t i = 0; i < plan->counter_count; i++)
        if (strcmp(plan->counter[i], name) == 0)
            return (int)i;
    return -1;
}

static int use_counter(nt_metric_plan *plan, const char *name)
{
    int index = counter_index(plan, name);
    if (index >= 0)
        return index;
    plan->counter[plan->counter_count] = name;
    return (int)plan->counter_count++;
}

static void gather(nt_metric_plan *plan)
{
    bool weighted = false;
    plan->counter_count = 0;
    for (size_t i = 0; i < plan->count; i++) {
        nt_metric *metric = &plan->metric[i];
        metric->index = metric->counter != NULL ? use_counter(plan, metric->counter) : -1;
        metric->adds_up = metric->counter == NULL || nt_metric_adds_up(metric->counter);
        weighted = weighted || !metric->adds_up;
    }
    plan->duration = weighted ? use_counter(plan, nt_metric_duration) : counter_index(plan, nt_metric_duration);
}

static nt_status add_fresh(const planner *p, const char *const *names, size_t count, nt_cupti_host **host,
                           nt_error *err)
{
    nt_status status = nt_cupti_host_open(p->way, p->chip, p->available, host, err);
    if (status == NT_OK)
        status = nt_cupti_host_add(*host, names, count, err);
    if (status == NT_OK)
        return NT_OK;
    nt_cupti_host_close(*host);
    *host = NULL;
    return status;
}

static nt_status refused(const planner *p, const char *name, nt_error *err)
{
    nt_fail(err, NT_USAGE, "the metric '%s' cannot be collected on this %s", name, p->chip);
    nt_metric_suggest(p->plan->look, name, err);
    return NT_USAGE;
}

/* What is refused although it is known: a name without roll-up, or counters that this device or driver keeps back. */
static nt_status drop_refused(planner *p, nt_error *err)
{
    for (size_t i = 0; i < p->plan->count; i++) {
        nt_metric *metric = &p->plan->metric[i];
        nt_cupti_host *alone;
        nt_error ignored;
        if (metric->counter == NULL)
            continue;
        nt_status status = add_fresh(p, &metric->counter, 1, &alone, &ignored);
        nt_cupti_host_close(alone);
        if (status == NT_OK)
            continue;
        if (metric->required)
            return refused(p, metric->name, err);
        metric->counter = NULL;
    }
    gather(p->plan);
    return NT_OK;
}

static nt_status configure(planner *p, nt_error *err)
{
    nt_metric_plan *plan = p->plan;
    plan->counter = nt_alloc_zero(plan->count + 1, sizeof *plan->counter);
    gather(plan);
    nt_status status = add_fresh(p, plan->counter, plan->counter_count, &plan->host, err);
    if (status != NT_OK) {
        status = drop_refused(p, err);
        if (status == NT_OK && plan->counter_count == 0)
            return nt_fail(err, NT_NO_DEVICE, "chip %s gives none of the metrics asked for", p->chip);
        if (status == NT_OK)
            status = add_fresh(p, plan->counter, plan->counter_count, &plan->host, err);
    }
    return status == NT_OK ? nt_cupti_host_image(plan->host, &plan->config, &plan->passes, err) : status;
}

/* ---- too many passes ---- */

static int passes_alone(const planner *p, const char *counter)
{
    nt_cupti_host *host;
    nt_cupti_image image = {0};
    nt_error ignored;
    int passes = 0;
    if (add_fresh(p, &counter, 1, &host, &ignored) == NT_OK)
        nt_cupti_host_image(host, &image, &passes, &ignored);
    nt_cupti_image_done(&image);
    nt_cupti_host_close(host);
    return passes;
}

static nt_status too_many_passes(const planner *p, int most, nt_error *err)
{
    int dearest = 0;
    const char *name = "";
    for (size_t i = 0; i < p->plan->count; i++) {
        const nt_metric *metric = &p->plan->metric[i];
        int passes = metric->counter != NULL ? passes_alone(p, metric->counter) : 0;
        if (passes > dearest) {
            dearest = passes;
            name = metric->name;
        }
    }
    nt_fail(err, NT_USAGE, "these %zu metrics take %d passes on %s, %d allowed", p->plan->count, p->plan->passes,
            p->chip, most);
    nt_hint(err, "leave some out; '%s' alone takes %d. The set t1 takes one on most chips", name, dearest);
    return NT_USAGE;
}

/* ---- open, close ---- */

nt_status nt_metric_plan_open(nt_cupti_way way, const char *chip, const nt_cupti_image *available,
                              const char *const *asked, size_t count, int most_passes, nt_metric_plan **out,
                              nt_error *err)
{
    planner p = {.way = way, .chip = chip, .available = available};
    *out = NULL;
    if (count == 0)
        return nt_fail(err, NT_USAGE, "no metrics were asked for");
    p.plan = nt_alloc_zero(1, sizeof *p.plan);
    nt_copy(p.plan->chip, sizeof p.plan->chip, chip);
    nt_status status = nt_cupti_host_open(way, chip, available, &p.plan->look, err);
    for (size_t i = 0; status == NT_OK && i < count; i++)
        status = expand(&p, asked[i], err);
    if (status == NT_OK)
        status = configure(&p, err);
    if (status == NT_OK && most_passes > 0 && p.plan->passes > most_passes)
        status = too_many_passes(&p, most_passes, err);
    if (status == NT_OK)
        *out = p.plan;
    else
        nt_metric_plan_close(p.plan);
    return status;
}

void nt_metric_plan_close(nt_metric_plan *plan)
{
    if (plan == NULL)
        return;
    for (size_t i = 0; i < plan->count; i++)
        free(plan->metric[i].name);
    free(plan->metric);
    free(plan->counter);
    nt_cupti_image_done(&plan->config);
    nt_cupti_host_close(plan->host);
    nt_cupti_host_close(plan->look);
    free(plan);
}
