/* spool_count.c: records of launches that were counted. */
#include <math.h>
#include <stdlib.h>

#include "core/mem.h"
#include "profiler/spool_record.h"

enum { MOST_METRICS = 256 };

/* Where it is, or belongs. */
static size_t place_of(const nt_spool_state *state, uint32_t correlation)
{
    size_t low = 0, high = state->replayed_count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (state->replayed[middle].correlation < correlation)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

nt_spool_replayed *nt_spool_find_replayed(nt_spool_state *state, uint32_t correlation)
{
    size_t place = place_of(state, correlation);
    bool there = place < state->replayed_count && state->replayed[place].correlation == correlation;
    return there ? &state->replayed[place] : NULL;
}

static void add_replayed(nt_spool_state *state, uint32_t correlation)
{
    if (nt_spool_find_replayed(state, correlation) != NULL)
        return;
    size_t place = place_of(state, correlation);
    void *all = state->replayed;
    nt_grow(&all, &state->replayed_capacity, state->replayed_count + 1, sizeof *state->replayed);
    state->replayed = all;
    memmove(&state->replayed[place + 1], &state->replayed[place],
            (state->replayed_count - place) * sizeof *state->replayed);
    state->replayed[place] = (nt_spool_replayed){.correlation = correlation};
    state->replayed_count++;
}

bool nt_spool_take_counting(nt_spool_state *state, const void *body, uint32_t bytes)
{
    READ(counting, nt_spool_counting);
    (void)bytes;
    add_replayed(state, counting.correlation);
    add_replayed(state, counting.outer);
    return true;
}

/* Three texts with tabs between. */
bool nt_spool_take_metric(nt_spool_state *state, const void *body, uint32_t bytes)
{
    READ(m, nt_spool_metric);
    char *text = nt_spool_text(body, bytes, sizeof m), *rest = text;
    const char *name = strsep(&rest, "\t"), *unit = strsep(&rest, "\t"), *counter = strsep(&rest, "\t");
    bool good = counter != NULL && m.number > 0;
    if (good) {
        nt_trace_metric metric = {.process = state->process,
                                  .name = nt_trace_name(state->trace, name),
                                  .unit = nt_trace_name(state->trace, unit),
                                  .counter = *counter != '\0' ? nt_trace_name(state->trace, counter) : -1};
        good = nt_spool_set_index(&state->metrics, m.number, (int)nt_trace_add_metric(state->trace, &metric));
    }
    free(text);
    return good;
}

bool nt_spool_take_counted(nt_spool_state *state, const void *body, uint32_t bytes)
{
    READ(c, nt_spool_counted);
    double values[MOST_METRICS];
    int first = nt_spool_index(&state->metrics, c.first_metric);
    if (c.count > MOST_METRICS || bytes - sizeof c != c.count * sizeof values[0] || first < 0 ||
        nt_spool_index(&state->metrics, c.first_metric + c.count - 1) != first + (int)c.count - 1)
        return false; /* metrics are told together, before what was counted with them */
    memcpy(values, (const char *)body + sizeof c, c.count * sizeof values[0]);
    for (uint32_t i = 0; i < c.count; i++)
        values[i] = isfinite(values[i]) ? values[i] : (double)NAN;
    nt_trace_counted counted = {
        .process = state->process,
        .device = nt_trace_find_device(state->trace, state->process, (int)(c.device & 0xFFFF)),
        .name = nt_spool_name_of(state, c.name),
        .correlation = c.correlation,
        .time_ns = nt_spool_time(c.time_ns),
        .passes = (int)(c.passes & 0xFFFF),
        .first_metric = (size_t)first,
        .count = c.count,
    };
    nt_trace_add_counted(state->trace, &counted, values);
    return true;
}

bool nt_spool_take_uncounted(nt_spool_state *state, const void *body, uint32_t bytes)
{
    READ(u, nt_spool_uncounted);
    (void)bytes;
    if (u.reason < NT_UNCOUNTED_COUNT)
        state->trace->process[state->process].uncounted[u.reason]++;
    return true;
}

bool nt_spool_take_count_problem(nt_spool_state *state, const void *body, uint32_t bytes)
{
    READ(number, nt_spool_number);
    char *text = nt_spool_text(body, bytes, sizeof number);
    nt_trace_process *process = &state->trace->process[state->process];
    process->count_problem = number.value > 0 && number.value <= INT32_MAX ? (int)number.value : -1;
    nt_copy(process->count_problem_text, sizeof process->count_problem_text, text);
    free(text);
    return true;
}
