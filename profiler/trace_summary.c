/* trace_summary.c: one pass over the work in the order it began, which feeds a group for each kernel name, each call of
 * a range, each kind of copy and each device; then each group is brought to its row. */
#include "profiler/trace_summary.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/mem.h"
#include "core/stats.h"
#include "profiler/trace_busy.h"

enum { MOST_COPY_ROWS = NT_COPY_DIRECTION_COUNT * NT_MEMORY_KIND_COUNT * NT_MEMORY_KIND_COUNT };

typedef struct series { /* values in the order they came */
    double *value;
    size_t count, capacity;
} series;

typedef struct kernel_group {
    series ns;
    int64_t calls;
} kernel_group;

/* One call of a range. */
typedef struct call {
    int64_t kernels, copies;
    double kernel_ns, copy_ns, fill_ns;
    nt_busy busy;
} call;

typedef struct range_group {
    series ns; /* GPU time of each call */
    nt_range_row row;
    double all_ns, copy_ns, busy_ns, span_ns;
} range_group;

static void series_add(series *s, double value)
{
    void *values = s->value;
    nt_grow(&values, &s->capacity, s->count + 1, sizeof *s->value);
    s->value = values;
    s->value[s->count++] = value;
}

static double percent(double part, double whole)
{
    return whole > 0 ? 100 * part / whole : (double)NAN;
}

static double series_p99(const series *s)
{
    return s->count >= NT_P99_LEAST ? nt_quantile(s->value, s->count, 0.99) : (double)NAN;
}

static double series_steady(const series *s)
{
    return s->count > 1 ? nt_median(s->value + 1, s->count - 1) : (double)NAN;
}

static double duration(const nt_trace_work *work)
{
    return (double)(work->end_ns - work->start_ns);
}

/* ---- order ------------------------------------------------------------------------------------------------------------- */

typedef struct started {
    int64_t ns;
    size_t index;
} started;

static int by_start(const void *a, const void *b)
{
    const started *x = a, *y = b;
    if (x->ns != y->ns)
        return x->ns < y->ns ? -1 : 1;
    return x->index < y->index ? -1 : x->index > y->index;
}

size_t *nt_trace_by_start(const nt_trace *trace, size_t *count)
{
    started *all = nt_alloc_zero(trace->work_count + 1, sizeof *all);
    size_t *order = nt_alloc_zero(trace->work_count + 1, sizeof *order);
    *count = 0;
    for (size_t i = 0; i < trace->work_count; i++)
        if (trace->work[i].start_ns != NT_UNKNOWN)
            all[(*count)++] = (started){trace->work[i].start_ns, i};
    qsort(all, *count, sizeof *all, by_start);
    for (size_t i = 0; i < *count; i++)
        order[i] = all[i].index;
    free(all);
    return order;
}

/* ---- kernels ------------------------------------------------------------------------------------------------------------ */

static double *time_of_shapes(const nt_trace *trace)
{
    double *ns = nt_alloc_zero(trace->shape_count + 1, sizeof *ns);
    for (size_t i = 0; i < trace->work_count; i++)
        if (trace->work[i].kind == NT_WORK_KERNEL && trace->work[i].start_ns != NT_UNKNOWN)
            ns[trace->work[i].shape] += duration(&trace->work[i]);
    return ns;
}

/* Occupancy of each name from those of its shapes, by the time each took. */
static void add_shapes(const nt_trace *trace, nt_kernel_row *rows, const int *row_of_name)
{
    double *ns = time_of_shapes(trace);
    double *weight = nt_alloc_zero(trace->name_count + 1, sizeof *weight);
    double *most = nt_alloc_zero(trace->name_count + 1, sizeof *most);
    for (size_t i = 0; i < trace->shape_count; i++) {
        const nt_trace_shape *shape = &trace->shape[i];
        nt_kernel_row *row = &rows[row_of_name[shape->name]];
        const char *limiter;
        double pct = nt_trace_occupancy(trace, shape, &limiter);
        if (row->shapes++ == 0 || ns[i] > most[shape->name]) {
            row->most_shape = (int)i;
            most[shape->name] = ns[i];
            nt_copy(row->occupancy_limiter, sizeof row->occupancy_limiter, limiter);
        }
        if (isnan(pct) || !(ns[i] > 0))
            continue;
        row->occupancy_limit_pct = (isnan(row->occupancy_limit_pct) ? 0 : row->occupancy_limit_pct) + pct * ns[i];
        weight[shape->name] += ns[i];
    }
    for (size_t i = 0; i < trace->name_count; i++)
        if (weight[i] > 0)
            rows[row_of_name[i]].occupancy_limit_pct /= weight[i];
    free(most);
    free(weight);
    free(ns);
}

static int by_kernel_time(const void *a, const void *b)
{
    const nt_kernel_row *x = a, *y = b;
    if (x->total_ns != y->total_ns)
        return x->total_ns > y->total_ns ? -1 : 1;
    return x->name < y->name ? -1 : x->name > y->name;
}

static void finish_kernels(const nt_trace *trace, kernel_group *groups, nt_trace_summary *out)
{
    int *row_of_name = nt_alloc_zero(trace->name_count + 1, sizeof *row_of_name);
    out->kernel = nt_alloc_zero(trace->name_count + 1, sizeof *out->kernel);
    for (size_t i = 0; i < trace->name_count; i++) {
        kernel_group *group = &groups[i];
        if (group->calls > 0) {
            row_of_name[i] = (int)out->kernel_count;
            nt_kernel_row *row = &out->kernel[out->kernel_count++];
            *row = (nt_kernel_row){.name = (int)i,
                                   .calls = group->calls,
                                   .timed = (int64_t)group->ns.count,
                                   .median_ns = nt_median(group->ns.value, group->ns.count),
                                   .p99_ns = series_p99(&group->ns),
                                   .first_ns = group->ns.count > 0 ? group->ns.value[0] : (double)NAN,
                                   .steady_ns = series_steady(&group->ns),
                                   .occupancy_limit_pct = (double)NAN};
            for (size_t k = 0; k < group->ns.count; k++)
                row->total_ns += group->ns.value[k];
            row->share_pct = percent(row->total_ns, out->kernel_ns);
        }
        free(group->ns.value);
    }
    if (out->kernel_count > 0)
        add_shapes(trace, out->kernel, row_of_name);
    free(row_of_name);
    qsort(out->kernel, out->kernel_count, sizeof *out->kernel, by_kernel_time);
}

/* ---- ranges --------------------------------------------------------------------------------------------------------------- */

static void add_to_call(call *c, const nt_trace_work *work)
{
    c->kernels += work->kind == NT_WORK_KERNEL;
    c->copies += work->kind == NT_WORK_COPY;
    if (work->start_ns == NT_UNKNOWN)
        return;
    double *sum[NT_WORK_KIND_COUNT] = {&c->kernel_ns, &c->copy_ns, &c->fill_ns};
    *sum[work->kind] += duration(work);
    nt_busy_add(&c->busy, work->start_ns, work->end_ns);
}

/* Every range around the launch that was still open; without one, the call behind the last. */
static void add_to_ranges(const nt_trace *trace, call *calls, const nt_trace_work *work)
{
    int range = work->range;
    if (range < 0)
        add_to_call(&calls[trace->range_count], work);
    while (range >= 0) {
        add_to_call(&calls[range], work);
        range = nt_trace_range_at(trace, trace->range[range].parent, work->launch_ns);
    }
}

static void add_call(range_group *group, const call *c)
{
    series_add(&group->ns, c->kernel_ns);
    group->row.calls++;
    group->row.kernels += c->kernels;
    group->row.copies += c->copies;
    group->row.total_ns += c->kernel_ns;
    group->copy_ns += c->copy_ns;
    group->all_ns += c->kernel_ns + c->copy_ns + c->fill_ns;
    group->busy_ns += c->busy.busy_ns;
    group->span_ns += nt_busy_span_ns(&c->busy);
}

static void finish_group(range_group *group, nt_trace_summary *out)
{
    nt_range_row *row = &group->row;
    row->median_ns = nt_median(group->ns.value, group->ns.count);
    row->p99_ns = series_p99(&group->ns);
    row->first_ns = group->ns.value[0];
    row->steady_ns = series_steady(&group->ns);
    row->share_pct = percent(row->total_ns, out->kernel_ns);
    row->copy_pct = percent(group->copy_ns, group->all_ns);
    row->idle_pct = percent(group->span_ns - group->busy_ns, group->span_ns);
    if (row->name < 0) /* no calls to speak of */
        row->calls = NT_UNKNOWN,
        row->wall_ns = row->median_ns = row->p99_ns = row->first_ns = row->steady_ns = (double)NAN;
    out->range[out->range_count++] = *row;
    free(group->ns.value);
}

static int by_range_time(const void *a, const void *b)
{
    const nt_range_row *x = a, *y = b;
    if (x->total_ns != y->total_ns)
        return x->total_ns > y->total_ns ? -1 : 1;
    return x->name < y->name ? -1 : x->name > y->name;
}

static void finish_ranges(const nt_trace *trace, const call *calls, nt_trace_summary *out)
{
    range_group *groups = nt_alloc_zero(trace->name_count + 1, sizeof *groups);
    for (size_t i = 0; i < trace->range_count; i++) {
        const nt_trace_range *range = &trace->range[i];
        range_group *group = &groups[range->name];
        group->row.name = range->name;
        if (range->close_ns == NT_UNKNOWN)
            group->row.open++;
        else
            group->row.wall_ns += (double)(range->close_ns - range->open_ns);
        add_call(group, &calls[i]);
    }
    const call *outside = &calls[trace->range_count];
    if (trace->range_count > 0 && outside->kernels + outside->copies > 0) {
        groups[trace->name_count].row.name = -1;
        add_call(&groups[trace->name_count], outside);
    }
    out->range = nt_alloc_zero(trace->name_count + 1, sizeof *out->range);
    for (size_t i = 0; i <= trace->name_count; i++) {
        out->open_ranges += groups[i].row.open;
        if (groups[i].row.calls > 0)
            finish_group(&groups[i], out);
    }
    free(groups);
    qsort(out->range, out->range_count, sizeof *out->range, by_range_time);
}

/* ---- copies and the whole ------------------------------------------------------------------------------------------------- */

static nt_copy_row *copy_row(nt_trace_summary *out, const nt_trace_work *work)
{
    for (size_t i = 0; i < out->copy_count; i++) {
        nt_copy_row *row = &out->copy[i];
        if (row->direction == work->direction && row->from == work->from && row->to == work->to)
            return row;
    }
    nt_copy_row *row = &out->copy[out->copy_count++];
    *row = (nt_copy_row){.direction = work->direction, .from = work->from, .to = work->to};
    return row;
}

static void add_copy(nt_trace_summary *out, const nt_trace_work *work)
{
    nt_copy_row *row = copy_row(out, work);
    row->calls++;
    if (work->bytes != NT_UNKNOWN && row->bytes < INT64_MAX / 2)
        row->bytes += work->bytes;
    if (work->start_ns == NT_UNKNOWN)
        return;
    row->total_ns += duration(work);
    if (work->bytes != NT_UNKNOWN)
        row->bytes_per_s += (double)work->bytes; /* divided by the time at the end */
}

static int by_copy_time(const void *a, const void *b)
{
    const nt_copy_row *x = a, *y = b;
    return x->total_ns > y->total_ns ? -1 : x->total_ns < y->total_ns;
}

static void finish_copies(nt_trace_summary *out)
{
    for (size_t i = 0; i < out->copy_count; i++) {
        nt_copy_row *row = &out->copy[i];
        row->bytes_per_s = row->total_ns > 0 ? row->bytes_per_s / (row->total_ns * 1e-9) : (double)NAN;
        row->share_pct = percent(row->total_ns, out->kernel_ns + out->copy_ns + out->fill_ns);
    }
    qsort(out->copy, out->copy_count, sizeof *out->copy, by_copy_time);
}

static void finish_whole(const nt_trace *trace, const nt_busy *busy, nt_trace_summary *out)
{
    for (size_t i = 0; i <= trace->device_count; i++) {
        out->busy_ns += busy[i].busy_ns;
        out->span_ns += nt_busy_span_ns(&busy[i]);
    }
    out->idle_pct = percent(out->span_ns - out->busy_ns, out->span_ns);
    out->copy_pct = percent(out->copy_ns, out->kernel_ns + out->copy_ns + out->fill_ns);
    out->memory_peak_bytes = NT_UNKNOWN;
    for (size_t i = 0; i < trace->process_count; i++) {
        const nt_trace_process *process = &trace->process[i];
        out->graph_launches += process->graph_launches;
        out->dropped += process->dropped;
        out->lost_bytes += process->lost_bytes;
        if (process->memory_peak_bytes > 0 && process->memory_peak_bytes > out->memory_peak_bytes)
            out->memory_peak_bytes = process->memory_peak_bytes;
    }
    out->backwards = trace->backwards;
    out->unplaced = trace->unplaced;
}

static void add_to_whole(const nt_trace *trace, nt_trace_summary *out, nt_busy *busy, const nt_trace_work *work)
{
    int64_t *count[NT_WORK_KIND_COUNT] = {&out->kernels, &out->copies, &out->fills};
    double *sum[NT_WORK_KIND_COUNT] = {&out->kernel_ns, &out->copy_ns, &out->fill_ns};
    ++*count[work->kind];
    if (work->kind == NT_WORK_COPY)
        add_copy(out, work);
    if (work->start_ns == NT_UNKNOWN)
        return;
    *sum[work->kind] += duration(work);
    nt_busy_add(&busy[work->device >= 0 ? (size_t)work->device : trace->device_count], work->start_ns, work->end_ns);
}

static void add_work(const nt_trace *trace, nt_trace_summary *out, kernel_group *kernels, call *calls, nt_busy *busy,
                     const nt_trace_work *work)
{
    add_to_whole(trace, out, busy, work);
    add_to_ranges(trace, calls, work);
    if (work->kind != NT_WORK_KERNEL)
        return;
    kernel_group *group = &kernels[trace->shape[work->shape].name];
    group->calls++;
    if (work->start_ns != NT_UNKNOWN)
        series_add(&group->ns, duration(work));
}

void nt_trace_summarise(const nt_trace *trace, nt_trace_summary *out)
{
    *out = (nt_trace_summary){0};
    out->copy = nt_alloc_zero(MOST_COPY_ROWS, sizeof *out->copy);
    kernel_group *kernels = nt_alloc_zero(trace->name_count + 1, sizeof *kernels);
    call *calls = nt_alloc_zero(trace->range_count + 1, sizeof *calls);
    nt_busy *busy = nt_alloc_zero(trace->device_count + 1, sizeof *busy);
    size_t timed;
    size_t *order = nt_trace_by_start(trace, &timed);
    for (size_t i = 0; i < timed; i++)
        add_work(trace, out, kernels, calls, busy, &trace->work[order[i]]);
    for (size_t i = 0; i < trace->work_count; i++)
        if (trace->work[i].start_ns == NT_UNKNOWN)
            add_work(trace, out, kernels, calls, busy, &trace->work[i]);
    finish_whole(trace, busy, out);
    finish_kernels(trace, kernels, out);
    finish_ranges(trace, calls, out);
    finish_copies(out);
    free(order);
    free(busy);
    free(calls);
    free(kernels);
}

void nt_trace_summary_done(nt_trace_summary *summary)
{
    free(summary->kernel);
    free(summary->range);
    free(summary->copy);
    *summary = (nt_trace_summary){0};
}
