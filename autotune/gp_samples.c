/* gp_samples.c: samples in the order asked, their levels beside them. */
#include "autotune/gp_samples.h"

#include <math.h>
#include <stdlib.h>

#include "core/mem.h"

void nt_gp_samples_init(nt_gp_samples *samples, const nt_features *features)
{
    *samples = (nt_gp_samples){.features = features};
}

void nt_gp_samples_done(nt_gp_samples *samples)
{
    free(samples->item);
    free(samples->level);
    *samples = (nt_gp_samples){0};
}

const uint16_t *nt_gp_samples_level(const nt_gp_samples *samples, size_t i)
{
    return samples->level + i * (size_t)samples->features->count;
}

size_t nt_gp_samples_add(nt_gp_samples *samples, nt_candidate candidate, uint64_t position)
{
    size_t at = samples->count++, width = (size_t)samples->features->count;
    void *items = samples->item, *levels = samples->level;
    nt_grow(&items, &samples->capacity, samples->count, sizeof *samples->item);
    nt_grow(&levels, &samples->level_capacity, samples->count * width + 1, sizeof *samples->level);
    samples->item = items;
    samples->level = levels;
    samples->item[at] =
        (nt_gp_sample){.position = position, .fate = NT_GP_PENDING, .value = (double)NAN, .log_cost = (double)NAN};
    nt_features_of(samples->features, candidate, samples->level + at * width);
    return at;
}

/* Most answers are about what was asked last. */
static bool find(const nt_gp_samples *samples, uint64_t position, size_t *at)
{
    for (*at = samples->count; *at > 0;)
        if (samples->item[--*at].position == position)
            return true;
    return false;
}

/* A trial that was abandoned was timed all the same, if briefly. */
static bool is_good(const nt_answer *answer)
{
    return (answer->outcome == NT_OUTCOME_OK || answer->outcome == NT_OUTCOME_ABANDONED) && answer->time_ns > 0;
}

bool nt_gp_samples_tell(nt_gp_samples *samples, const nt_answer *answer, uint64_t position, size_t *at)
{
    if (!find(samples, position, at))
        *at = nt_gp_samples_add(samples, answer->candidate, position);
    nt_gp_sample *sample = &samples->item[*at];
    if (sample->fate != NT_GP_PENDING)
        return false;
    if (answer->cost_s > 0) {
        sample->log_cost = log(answer->cost_s);
        samples->cost_sum += sample->log_cost;
        samples->costs++;
    }
    sample->fate = is_good(answer) ? NT_GP_GOOD : NT_GP_BAD;
    if (sample->fate == NT_GP_BAD) {
        samples->bad++;
        return true;
    }
    sample->value = log(answer->time_ns);
    if (samples->good++ == 0 || sample->value < samples->item[samples->best].value)
        samples->best = *at;
    return true;
}

/* ---- picking ---------------------------------------------------------------------------------------------------- */

typedef struct ranked {
    double value;
    size_t at;
} ranked;

static int by_value(const void *a, const void *b)
{
    const ranked *x = a, *y = b;
    if (x->value != y->value)
        return (x->value > y->value) - (x->value < y->value);
    return (x->at > y->at) - (x->at < y->at);
}

size_t nt_gp_samples_pick(const nt_gp_samples *samples, size_t most, size_t *out)
{
    ranked *all = nt_alloc_zero(samples->good, sizeof *all);
    size_t count = 0, fastest = most / 2;
    for (size_t i = 0; i < samples->count; i++)
        if (samples->item[i].fate == NT_GP_GOOD)
            all[count++] = (ranked){samples->item[i].value, i};
    qsort(all, count, sizeof *all, by_value);
    size_t picked = count < most ? count : most;
    for (size_t i = 0; i < picked; i++) {
        bool is_rest = count > most && i >= fastest;
        out[i] = all[is_rest ? fastest + (i - fastest) * (count - fastest) / (most - fastest) : i].at;
    }
    free(all);
    return picked;
}
