/* array_sink.h: a sink that keeps what it is given and the order of the calls, and fails when told to. */
#ifndef NT_TEST_ARRAY_SINK_H
#define NT_TEST_ARRAY_SINK_H

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/mem.h"
#include "core/store.h"

enum { ARRAY_MOST = 4096 };

/* One call of put: what was stored and what was journalled, as indices and texts. */
typedef struct array_put {
    int finished; /* index into trials, -1 for none */
    char *next;   /* kernel and params of the journalled trial, NULL for none */
    double total_s;
} array_put;

typedef struct array_sink {
    nt_sink sink;
    nt_run run;
    int begins, ends, finals_calls, finals_winners;
    int64_t finals_rounds, finals_per_block; /* of the last winner */
    nt_trial trials[ARRAY_MOST];             /* without samples; sample counts in samples[] */
    size_t samples[ARRAY_MOST];
    int trial_count;
    array_put puts[ARRAY_MOST];
    int put_count;
    int fail_put; /* call of put that fails, from 1; 0: none */
    bool fail_end, has_earlier;
    char end_state[16];
    const nt_trial *equal; /* what find_equal gives for any key */
} array_sink;

static inline char *array_key(const char *kernel, const char *params)
{
    nt_str text = {0};
    nt_str_addf(&text, "%s %s", kernel, params);
    return text.data;
}

static inline nt_status array_begin(nt_sink *sink, nt_run *run, nt_error *err)
{
    array_sink *a = sink->state;
    (void)err;
    a->begins++;
    run->id = 1;
    return NT_OK;
}

static inline nt_status array_put_one(nt_sink *sink, nt_trial *finished, const nt_journal *next, nt_error *err)
{
    array_sink *a = sink->state;
    if (a->put_count + 1 == a->fail_put || a->put_count == ARRAY_MOST || a->trial_count == ARRAY_MOST)
        return nt_fail(err, NT_IO, "the array is full");
    array_put *put = &a->puts[a->put_count++];
    *put = (array_put){.finished = -1, .total_s = next != NULL ? next->total_s : (double)NAN};
    if (next != NULL)
        put->next = array_key(next->kernel, next->params_json);
    if (finished != NULL) {
        nt_trial *kept = &a->trials[a->trial_count];
        a->samples[a->trial_count] = finished->samples.count;
        *kept = *finished;
        kept->samples = (nt_samples){0};
        kept->params_json = nt_strdup(finished->params_json);
        put->finished = a->trial_count++;
        kept->id = finished->id = a->trial_count;
    }
    return NT_OK;
}

static inline nt_status array_finals(nt_sink *sink, const nt_problem *problem, const nt_final *finals, int count,
                                     nt_error *err)
{
    array_sink *a = sink->state;
    (void)problem;
    (void)err;
    a->finals_calls++;
    for (int i = 0; i < count; i++) {
        a->finals_winners += finals[i].rank == 1;
        if (finals[i].rank == 1) {
            a->finals_rounds = (int64_t)finals[i].samples.count;
            a->finals_per_block = finals[i].samples.per_block;
        }
    }
    return NT_OK;
}

static inline nt_status array_end(nt_sink *sink, const nt_run *run, nt_error *err)
{
    array_sink *a = sink->state;
    a->ends++;
    nt_copy(a->end_state, sizeof a->end_state, run->state);
    return a->fail_end ? nt_fail(err, NT_IO, "the run cannot be ended") : NT_OK;
}

static inline nt_status array_resumable(nt_sink *sink, const nt_run *like, nt_run *out, nt_error *err)
{
    array_sink *a = sink->state;
    if (!a->has_earlier)
        return nt_fail(err, NT_NOT_FOUND, "no earlier run");
    nt_run_init(out);
    *out = *like;
    out->command = nt_strdup(like->command);
    out->options_json = nt_strdup(like->options_json);
    out->id = 1;
    out->total_s = 5;
    return NT_OK;
}

static inline nt_status array_each(nt_sink *sink, int64_t run_id, bool (*each)(void *context, const nt_trial *trial),
                                   void *context, nt_error *err)
{
    array_sink *a = sink->state;
    (void)run_id;
    (void)err;
    for (int i = 0, count = a->trial_count; i < count && each(context, &a->trials[i]); i++)
        continue;
    return NT_OK;
}

static inline nt_status array_equal(nt_sink *sink, const nt_trial *like, nt_trial *out, nt_error *err)
{
    array_sink *a = sink->state;
    nt_trial_init(out);
    if (a->equal == NULL)
        return nt_fail(err, NT_NOT_FOUND, "none");
    *out = *a->equal;
    out->problem = like->problem;
    out->params_json = nt_strdup(like->params_json);
    return NT_OK;
}

static inline nt_status array_in_flight(nt_sink *sink, int64_t run_id, nt_trial *trial, int *attempts, nt_error *err)
{
    (void)sink;
    (void)run_id;
    nt_trial_init(trial);
    *attempts = 0;
    return nt_fail(err, NT_NOT_FOUND, "none");
}

static inline array_sink *array_sink_new(void)
{
    array_sink *a = nt_alloc_zero(1, sizeof *a);
    a->sink = (nt_sink){.state = a,
                        .begin_run = array_begin,
                        .put = array_put_one,
                        .put_finals = array_finals,
                        .end_run = array_end,
                        .find_resumable = array_resumable,
                        .each_trial = array_each,
                        .find_equal = array_equal,
                        .in_flight = array_in_flight};
    return a;
}

static inline void array_sink_free(array_sink *a)
{
    for (int i = 0; i < a->trial_count; i++)
        nt_trial_done(&a->trials[i]);
    for (int i = 0; i < a->put_count; i++)
        free(a->puts[i].next);
    free(a);
}

#endif
