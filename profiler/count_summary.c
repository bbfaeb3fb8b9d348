/* count_summary.c: see count_summary.h. */
#include "profiler/count_summary.h"

#include <math.h>
#include <stdlib.h>

#include "core/mem.h"
#include "core/stats.h"

/* Values in the order of their launches; which row each belongs to. */
typedef struct gathering {
    nt_count_summary *out;
    size_t capacity;
    double *value;
    size_t *row;
    size_t count;
} gathering;

const char *nt_count_cache(int passes)
{
    return passes > 1 ? "replayed" : "as_left";
}

static size_t row_of(gathering *g, int kernel, const nt_trace_metric *metric)
{
    nt_count_summary *out = g->out;
    for (size_t i = 0; i < out->count; i++)
        if (out->row[i].kernel == kernel && out->row[i].metric == metric->name)
            return i;
    void *rows = out->row;
    nt_grow(&rows, &g->capacity, out->count + 1, sizeof *out->row);
    out->row = rows;
    out->row[out->count] =
        (nt_count_row){.kernel = kernel, .metric = metric->name, .unit = metric->unit, .counter = -1};
    return out->count++;
}

static void gather(gathering *g, const nt_trace *trace)
{
    for (size_t i = 0; i < trace->counted_count; i++) {
        const nt_trace_counted *counted = &trace->counted[i];
        g->out->passes = counted->passes > g->out->passes ? counted->passes : g->out->passes;
        for (size_t k = 0; k < counted->count; k++) {
            const nt_trace_metric *metric = &trace->metric[counted->first_metric + k];
            size_t row = row_of(g, counted->name, metric);
            double value = trace->value[counted->first_value + k];
            if (g->out->row[row].counter < 0)
                g->out->row[row].counter = metric->counter;
            if (isnan(value))
                continue;
            g->row[g->count] = row;
            g->value[g->count++] = value;
        }
    }
}

static void finish_row(gathering *g, size_t number, double *scratch)
{
    nt_count_row *row = &g->out->row[number];
    size_t count = 0;
    for (size_t i = 0; i < g->count; i++)
        if (g->row[i] == number)
            scratch[count++] = g->value[i];
    row->launches = (int64_t)count;
    row->median = row->least = row->most = (double)NAN;
    if (count == 0)
        return;
    row->median = nt_median(scratch, count);
    row->least = row->most = scratch[0];
    for (size_t i = 1; i < count; i++) {
        row->least = fmin(row->least, scratch[i]);
        row->most = fmax(row->most, scratch[i]);
    }
}

void nt_count_summarise(const nt_trace *trace, nt_count_summary *out)
{
    *out = (nt_count_summary){.launches = (int64_t)trace->counted_count};
    gathering g = {.out = out,
                   .value = nt_alloc_zero(trace->value_count + 1, sizeof(double)),
                   .row = nt_alloc_zero(trace->value_count + 1, sizeof(size_t))};
    double *scratch = nt_alloc_zero(trace->value_count + 1, sizeof *scratch);
    gather(&g, trace);
    for (size_t i = 0; i < out->count; i++)
        finish_row(&g, i, scratch);
    for (size_t i = 0; i < trace->process_count; i++)
        for (int k = 0; k < NT_UNCOUNTED_COUNT; k++)
            out->uncounted[k] += trace->process[i].uncounted[k];
    free(scratch);
    free(g.value);
    free(g.row);
}

void nt_count_summary_done(nt_count_summary *summary)
{
    free(summary->row);
    *summary = (nt_count_summary){0};
}
