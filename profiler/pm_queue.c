/* pm_queue.c: see pm_queue.h. */
#include "profiler/pm_queue.h"

#include <math.h>
#include <string.h>

static nt_pm_sample nothing(void)
{
    nt_pm_sample none;
    memset(&none, 0, sizeof none);
    none.begin_s = none.end_s = NAN;
    for (int i = 0; i < NT_PM_MOST; i++)
        none.value[i] = NAN;
    return none;
}

/* Averages are weighted by the time that each value stands for. */
static void add(nt_pm_sample *to, const nt_pm_sample *from)
{
    to->begin_s = fmin(to->begin_s, from->begin_s);
    to->end_s = fmax(to->end_s, from->end_s);
    to->samples += from->samples;
    for (int i = 0; i < NT_PM_MOST; i++) {
        double weight_s = to->weight_s[i] + from->weight_s[i];
        if (!isfinite(from->value[i]) || !(from->weight_s[i] > 0))
            continue;
        double sum = (to->weight_s[i] > 0 ? to->value[i] * to->weight_s[i] : 0) + from->value[i] * from->weight_s[i];
        to->value[i] = sum / weight_s;
        to->weight_s[i] = weight_s;
    }
}

static void halve(nt_pm_queue *queue)
{
    for (size_t i = 0; i < queue->count / 2; i++) {
        nt_pm_sample pair = queue->sample[2 * i];
        add(&pair, &queue->sample[2 * i + 1]);
        queue->sample[i] = pair;
    }
    queue->count /= 2;
}

void nt_pm_queue_push(nt_pm_queue *queue, const nt_pm_sample *sample)
{
    if (queue->count == NT_PM_QUEUED)
        halve(queue);
    queue->sample[queue->count++] = *sample;
}

double nt_pm_queue_span_s(const nt_pm_queue *queue)
{
    return queue->count > 0 ? queue->sample[queue->count - 1].end_s - queue->sample[0].begin_s : 0;
}

nt_pm_sample nt_pm_queue_take(nt_pm_queue *queue, double window_s)
{
    nt_pm_sample all = nothing();
    double until_s = queue->count > 0 ? queue->sample[0].begin_s + window_s : 0;
    size_t taken = 0;
    while (taken < queue->count && (taken == 0 || queue->sample[taken].begin_s < until_s))
        add(&all, &queue->sample[taken++]);
    queue->count -= taken;
    memmove(queue->sample, queue->sample + taken, queue->count * sizeof queue->sample[0]);
    return all;
}
