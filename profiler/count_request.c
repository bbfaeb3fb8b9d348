/* count_request.c: see count_request.h. */
#include "profiler/count_request.h"

#include <string.h>

#include "profiler/metric_plan.h"
#include "profiler/metrics.h"

enum { MOST_NAMES = 512 };

static void add_line(nt_str *out, const char *name, const char *unit, const char *first, const char *second)
{
    bool blank = second != NULL && *second != '\0';
    nt_str_addf(out, "%s%s\t%s\t%s%s%s", out->length > 0 ? "\n" : "", name, unit, first, blank ? " " : "",
                blank ? second : "");
}

static void add_column(nt_str *out, const nt_metric_column *column)
{
    add_line(out, column->name, column->unit, column->counter[0], column->counter[1]);
}

/* ---- a chip that is known ---- */

static nt_status by_plan(const char *const *asked, size_t count, const char *chip, nt_str *out, int *passes,
                         nt_error *err)
{
    nt_metric_plan *plan;
    nt_status status = nt_metric_plan_open(NT_CUPTI_RANGES, chip, NULL, asked, count, 0, &plan, err);
    if (status != NT_OK)
        return status;
    *passes = plan->passes;
    for (size_t i = 0; i < plan->count; i++) {
        const nt_metric *metric = &plan->metric[i];
        const nt_metric_column *column = nt_metric_column_find(metric->name);
        if (metric->counter != NULL)
            add_line(out, metric->name, metric->unit, metric->counter, NULL);
        else if (column != NULL)
            add_column(out, column);
    }
    nt_metric_plan_close(plan);
    return NT_OK;
}

/* ---- without one ---- */

static nt_status unknown(const char *name, nt_error *err)
{
    const char *names[MOST_NAMES];
    int count = 0;
    for (size_t i = 0; i < nt_metric_set_count && count < MOST_NAMES; i++)
        names[count++] = nt_metric_sets[i].name;
    for (size_t i = 0; i < nt_metric_column_count && count < MOST_NAMES; i++)
        names[count++] = nt_metric_columns[i].name;
    int nearest = nt_nearest(name, names, count);
    nt_fail(err, NT_USAGE, "--metrics: '%s' is neither a set, nor a column, nor a metric of CUPTI", name);
    if (nearest >= 0)
        return nt_hint(err, "did you mean '%s'?", names[nearest]);
    return nt_hint(err, "sets: t1, t2, sol, stall, banks, access, coalescing, flop, tensor; metrics of CUPTI by their "
                        "full names, such as sm__warps_active.avg.pct_of_peak_sustained_active");
}

static nt_status by_tables(const char *name, nt_str *out, nt_error *err)
{
    const nt_metric_set *set = nt_metric_set_find(name);
    const nt_metric_column *column = nt_metric_column_find(name);
    if (column != NULL) {
        add_column(out, column);
    } else if (set != NULL && set->columns != NULL) {
        for (size_t i = 0; set->columns[i] != NULL; i++)
            add_column(out, nt_metric_column_find(set->columns[i]));
    } else if (set != NULL) {
        nt_fail(err, NT_NO_DEVICE, "the set '%s' differs from chip to chip, and there is no usable GPU here", name);
        return nt_hint(err, "`nntune doctor` says what is missing; name single metrics of CUPTI instead");
    } else if (strstr(name, "__") != NULL && strchr(name, '.') != NULL && strpbrk(name, " \t\n") == NULL) {
        add_line(out, name, "", name, NULL);
    } else {
        return unknown(name, err);
    }
    return NT_OK;
}

nt_status nt_count_request(const char *const *asked, size_t count, const char *chip, nt_str *out, int *passes,
                           nt_error *err)
{
    nt_status status = NT_OK;
    *passes = 0;
    if (chip[0] != '\0')
        return by_plan(asked, count, chip, out, passes, err);
    for (size_t i = 0; i < count && status == NT_OK; i++)
        status = by_tables(asked[i], out, err);
    return status;
}
