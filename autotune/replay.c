/* replay.c: the loop of a sweep with a recording in place of compiler and device. A trial in flight is ready when its
 * recorded compile time has passed since it was asked for; those that are ready are timed one after another. */
#include "autotune/replay.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>
#include <time.h>

#include "core/clock.h"
#include "core/mem.h"
#include "core/random.h"

typedef struct flight {
    uint64_t index;
    double asked_s, ready_s;
} flight;

typedef struct replay {
    const nt_recorded *recorded;
    const nt_replay_options *options;
    void *state;
    nt_random random; /* draws samples */
    flight *flight;   /* in the order asked */
    int flying;
    size_t asked;
    double clock_s;
    nt_replay_run *out;
    double thought_s; /* since the last evaluation */
} replay;

static double known_s(double ms)
{
    return isnan(ms) ? 0 : ms / 1e3;
}

/* Asks until as many are in flight as may be. */
static void ask(replay *r)
{
    nt_candidate candidate;
    while (r->flying < r->options->in_flight && r->asked < r->options->trials) {
        double before = nt_cpu_s();
        size_t got = r->options->strategy->ask(r->state, &candidate, 1);
        r->thought_s += nt_cpu_s() - before;
        if (got == 0)
            return;
        assert(candidate.kernel == 0 && candidate.index < r->recorded->row_count);
        double compile_s = known_s(r->recorded->row[candidate.index].compile_ms);
        r->flight[r->flying++] = (flight){candidate.index, r->clock_s, r->clock_s + compile_s};
        r->asked++;
    }
}

/* Takes out the flight that is ready first; of equal ones that asked first. */
static flight land(replay *r)
{
    int first = 0;
    if (r->options->seconds > 0)
        for (int i = 1; i < r->flying; i++)
            if (r->flight[i].ready_s < r->flight[first].ready_s)
                first = i;
    flight out = r->flight[first];
    for (int i = first; i + 1 < r->flying; i++)
        r->flight[i] = r->flight[i + 1];
    r->flying--;
    return out;
}

static double answer_ms(replay *r, const nt_recorded_row *row)
{
    if (!r->options->noise || row->outcome != NT_OUTCOME_OK || row->sample_count == 0)
        return row->time_ms;
    return (double)r->recorded->sample_ms[row->first_sample + nt_random_below(&r->random, row->sample_count)];
}

static void note(replay *r, uint64_t index, double ms)
{
    void *memory = r->out->evaluation;
    nt_grow(&memory, &r->out->capacity, r->out->count + 1, sizeof *r->out->evaluation);
    r->out->evaluation = memory;
    r->out->evaluation[r->out->count++] = (nt_evaluation){index, ms, r->clock_s};
}

/* False when the budget of seconds ends before this trial does. */
static bool answer(replay *r)
{
    flight f = land(r);
    const nt_recorded_row *row = &r->recorded->row[f.index];
    r->clock_s = fmax(r->clock_s, f.ready_s) + known_s(row->bench_ms);
    if (r->options->seconds > 0 && r->clock_s > r->options->seconds)
        return false;
    double ms = answer_ms(r, row), before = nt_cpu_s();
    nt_answer told = {.candidate = {0, f.index},
                      .outcome = row->outcome,
                      .time_ns = ms * 1e6,
                      .cost_s = r->options->hide_cost ? 0 : known_s(row->compile_ms) + known_s(row->bench_ms)};
    r->options->strategy->tell(r->state, &told);
    r->thought_s += nt_cpu_s() - before;
    note(r, f.index, ms);
    r->out->think_s += r->thought_s;
    r->out->think_most_s = fmax(r->out->think_most_s, r->thought_s);
    r->thought_s = 0;
    return true;
}

void nt_replay(const nt_recorded *recorded, const nt_replay_options *options, uint64_t repeat, nt_replay_run *out)
{
    *out = (nt_replay_run){0};
    nt_random seeds = nt_random_seed(options->seed, repeat);
    const nt_space *space = recorded->space;
    nt_strategy_setup setup = {.space = &space,
                               .kernel_count = 1,
                               .seed = nt_random_u64(&seeds),
                               .budget_trials = options->seconds > 0 ? 0 : options->trials,
                               .budget_s = options->hide_cost ? 0 : options->seconds,
                               .earlier = options->earlier,
                               .earlier_count = options->earlier_count};
    replay r = {.recorded = recorded, .options = options, .random = seeds, .out = out};
    r.flight = nt_alloc_zero((size_t)options->in_flight, sizeof *r.flight);
    r.state = options->strategy->create(&setup);
    do
        ask(&r);
    while (r.flying > 0 && answer(&r));
    options->strategy->destroy(r.state);
    free(r.flight);
}

void nt_replay_run_done(nt_replay_run *run)
{
    free(run->evaluation);
    *run = (nt_replay_run){0};
}
