/* answers.c: one pass over the trials for the top lists and failures, then a question or two to the database for the
 * winner of each problem: its samples, its counters, its whole record for the advice. */
#include "reports/answers.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/json.h"
#include "core/mem.h"
#include "core/stats.h"

/* ---- top lists --------------------------------------------------------------------------------------------------- */

/* Keeps the fastest in order; `top` has room for one more than it holds. Places of the finals come first, as they are
 * shown: a final's time was taken beside the winner's. */
static bool is_ahead(const nt_result *r, int a, int b)
{
    const nt_result_trial *x = &r->trial[a], *y = &r->trial[b];
    if (x->time_ns != y->time_ns)
        return x->time_ns < y->time_ns;
    return x->id < y->id;
}

static void keep_top(const nt_result *r, nt_answer *answer, int *top, int trial)
{
    size_t at = answer->top_count;
    while (at > 0 && is_ahead(r, trial, top[at - 1]))
        at--;
    if (at == NT_ANSWER_TOP)
        return;
    if (answer->top_count < NT_ANSWER_TOP)
        answer->top_count++;
    memmove(&top[at + 1], &top[at], (answer->top_count - at - 1) * sizeof *top);
    top[at] = trial;
}

/* ---- failures ---------------------------------------------------------------------------------------------------- */

static void count_failure(nt_answer *answer, nt_failure_count **list, size_t *capacity, const nt_result_trial *t)
{
    for (size_t i = 0; i < answer->failures; i++)
        if ((*list)[i].outcome == t->outcome && (*list)[i].reason == t->reason) {
            (*list)[i].count++;
            return;
        }
    nt_grow((void **)list, capacity, answer->failures + 1, sizeof **list);
    (*list)[answer->failures++] =
        (nt_failure_count){.outcome = t->outcome, .reason = t->reason, .count = 1, .example = t->id};
}

static int most_first(const void *a, const void *b)
{
    const nt_failure_count *x = a, *y = b;
    if (x->count != y->count)
        return x->count > y->count ? -1 : 1;
    return x->example < y->example ? -1 : x->example > y->example;
}

/* ---- the winner -------------------------------------------------------------------------------------------------- */

static bool keep_row(void *context, const nt_row *row)
{
    *(json_t **)context = nt_json_row(row);
    return false;
}

static bool keep_counter(void *context, const nt_row *row)
{
    json_array_append_new(context, nt_json_row(row));
    return true;
}

static nt_counter *counter_records(const json_t *rows)
{
    size_t count = json_array_size(rows);
    nt_counter *list = nt_alloc_zero(count + 1, sizeof *list);
    for (size_t i = 0; i < count; i++) {
        const json_t *one = json_array_get(rows, i);
        list[i] = (nt_counter){.name = nt_json_get_text(one, "name"),
                               .value = nt_json_get_real(one, "value"),
                               .unit = nt_json_get_text(one, "unit")};
    }
    return list;
}

/* A key that is absent is unknown to the reader of a record; NULL is so for numbers and texts alone. */
static nt_status trial_record(json_t *row, nt_trial *out)
{
    json_t *known = json_object(), *value;
    const char *key;
    json_object_foreach (row, key, value)
        if (!json_is_null(value))
            json_object_set(known, key, value);
    nt_status status = nt_json_to_trial(known, out, NULL);
    json_decref(known);
    return status;
}

static nt_status advise(const nt_result *r, nt_answer *answer, nt_error *err)
{
    json_t *row = NULL, *counters = json_array();
    nt_reader *reader = r->source.reader;
    nt_trial trial;
    nt_status status = reader->trial(reader, answer->best->id, keep_row, &row, err);
    if (status == NT_OK)
        status = reader->counters(reader, answer->best->id, keep_counter, counters, err);
    /* A record of another version is no reason to have no report: it has no advice. */
    if (status == NT_OK && row != NULL && trial_record(row, &trial) == NT_OK) {
        nt_counter *records = counter_records(counters);
        nt_advice_input input = {.device = &r->device[answer->group->device].info,
                                 .trial = &trial,
                                 .counters = records,
                                 .counter_count = json_array_size(counters),
                                 .flop = answer->group->flop,
                                 .bytes = answer->group->bytes};
        nt_advice_of(&input, &answer->advice);
        free(records);
        nt_trial_done(&trial);
    }
    json_decref(row);
    json_decref(counters);
    return status;
}

static nt_status latencies(const nt_result *r, nt_answer *answer, nt_error *err)
{
    nt_samples samples = {0};
    nt_status status = r->source.reader->samples(r->source.reader, answer->best->id, &samples, err);
    if (status == NT_NOT_FOUND)
        return NT_OK; /* imported without samples */
    if (status == NT_OK && samples.count > 0) {
        answer->first_ns = samples.sample_ns[0];
        answer->p50_ns = nt_median(samples.sample_ns, samples.count);
        if (samples.count >= NT_SAMPLES_FOR_P90)
            answer->p90_ns = nt_quantile(samples.sample_ns, samples.count, 0.9);
        if (samples.count >= NT_SAMPLES_FOR_P99)
            answer->p99_ns = nt_quantile(samples.sample_ns, samples.count, 0.99);
    }
    nt_samples_done(&samples);
    return status;
}

static nt_status answer_of(const nt_result *r, nt_answer *answer, nt_error *err)
{
    const nt_result_group *group = answer->group;
    if (group->best < 0)
        return NT_OK;
    answer->best = &r->trial[group->best];
    double time_ns = answer->best->time_ns;
    answer->flop_per_s = nt_result_flops(group, time_ns);
    answer->images_per_s =
        nt_layer_is_users(group->problem.layer) ? NAN : (double)group->problem.batch / (time_ns * 1e-9);
    answer->roof_pct = nt_result_roof_pct(r, group, time_ns);
    answer->inference_mj = answer->best->energy_mj / (double)group->problem.batch;
    if (group->rule >= 0) {
        answer->rule = &r->trial[group->rule];
        answer->rule_ratio = answer->rule->time_ns / time_ns;
    }
    if (group->vendor >= 0) {
        answer->vendor = &r->trial[group->vendor];
        answer->vendor_ratio = answer->vendor->time_ns / time_ns;
    }
    nt_status status = latencies(r, answer, err);
    return status == NT_OK ? advise(r, answer, err) : status;
}

/* ---- all of them ------------------------------------------------------------------------------------------------- */

static int by_device_and_problem(const void *a, const void *b)
{
    const nt_result_group *x = ((const nt_answer *)a)->group, *y = ((const nt_answer *)b)->group;
    const nt_problem *p = &x->problem, *q = &y->problem;
    if (x->device != y->device)
        return x->device < y->device ? -1 : 1;
    int layer = strcmp(p->layer, q->layer);
    if (layer != 0)
        return layer;
    for (int i = 0; i < p->shape.count && i < q->shape.count; i++)
        if (p->shape.dim[i].size != q->shape.dim[i].size)
            return p->shape.dim[i].size < q->shape.dim[i].size ? -1 : 1;
    if (p->precision != q->precision)
        return p->precision < q->precision ? -1 : 1;
    if (p->batch != q->batch)
        return p->batch < q->batch ? -1 : 1;
    return x < y ? -1 : x > y; /* as they came */
}

nt_status nt_answers_make(const nt_result *r, nt_answer **out, nt_error *err)
{
    nt_answer *answers = nt_alloc_zero(r->groups + 1, sizeof *answers);
    size_t *capacity = nt_alloc_zero(r->groups + 1, sizeof *capacity);
    for (size_t g = 0; g < r->groups; g++) {
        const nt_result_group *group = &r->group[g];
        answers[g] = (nt_answer){.group = group,
                                 .flop_per_s = NAN,
                                 .images_per_s = NAN,
                                 .roof_pct = NAN,
                                 .rule_ratio = NAN,
                                 .vendor_ratio = NAN,
                                 .first_ns = NAN,
                                 .p50_ns = NAN,
                                 .p90_ns = NAN,
                                 .p99_ns = NAN,
                                 .inference_mj = NAN,
                                 .ok = group->outcome[NT_OUTCOME_OK],
                                 .top = nt_alloc_zero(NT_ANSWER_TOP + 1, sizeof(int))};
        for (int i = 0; i < NT_OUTCOME_COUNT; i++)
            if (i != NT_OUTCOME_OK && i != NT_OUTCOME_PRUNED && i != NT_OUTCOME_ABANDONED)
                answers[g].failed += group->outcome[i];
    }
    for (size_t i = 0; i < r->trials; i++) {
        const nt_result_trial *t = &r->trial[i];
        nt_answer *answer = &answers[t->group];
        if (t->outcome == NT_OUTCOME_OK)
            keep_top(r, answer, answer->top, (int)i);
        else
            count_failure(answer, &answer->failure, &capacity[t->group], t);
    }
    nt_status status = NT_OK;
    for (size_t g = 0; g < r->groups; g++) {
        if (answers[g].failures > 0)
            qsort(answers[g].failure, answers[g].failures, sizeof(nt_failure_count), most_first);
        if (status == NT_OK)
            status = answer_of(r, &answers[g], err);
    }
    qsort(answers, r->groups, sizeof *answers, by_device_and_problem);
    free(capacity);
    if (status != NT_OK)
        nt_answers_free(answers, r->groups);
    *out = status == NT_OK ? answers : NULL;
    return status;
}

void nt_answers_free(nt_answer *answers, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        free(answers[i].top);
        free(answers[i].failure);
    }
    free(answers);
}

const nt_answer *nt_answer_fp32(const nt_answer *answers, size_t count, const nt_answer *of)
{
    nt_problem wanted = of->group->problem;
    wanted.precision = NT_FP32;
    for (size_t i = 0; i < count; i++)
        if (answers[i].best != NULL && answers[i].group->device == of->group->device &&
            answers[i].group->cache == of->group->cache && nt_problem_equal(&answers[i].group->problem, &wanted))
            return &answers[i];
    return NULL;
}
