/* answers.h: what a report says about each problem: the best and why, against rule of thumb, vendor and roof, latency,
 * energy, what failed. Every format is made from these. */
#ifndef NT_ANSWERS_H
#define NT_ANSWERS_H

#include "core/advice.h"
#include "reports/result.h"

/* Trials that failed alike. */
typedef struct nt_failure_count {
    nt_outcome outcome;
    const char *reason;     /* with # for figures */
    int64_t count, example; /* example: number of the first such trial */
} nt_failure_count;

/* Fewest samples that a tail is told from. */
enum { NT_SAMPLES_FOR_P90 = 10, NT_SAMPLES_FOR_P99 = 100 };

typedef struct nt_answer {
    const nt_result_group *group;
    const nt_result_trial *best, *rule, *vendor; /* NULL where there is none */
    double flop_per_s, images_per_s, roof_pct;
    double rule_ratio, vendor_ratio;         /* their time over the best; NAN */
    double first_ns, p50_ns, p90_ns, p99_ns; /* first sample of all; NAN where samples are too few */
    double inference_mj;
    nt_advice advice;
    int64_t ok, failed; /* failed: neither ok nor pruned nor abandoned */
    int *top;           /* indices of the fastest ok trials */
    size_t top_count;
    nt_failure_count *failure; /* most frequent first */
    size_t failures;
} nt_answer;

enum { NT_ANSWER_TOP = 20 };

/* One answer a group, in the order of device and problem. Free with nt_answers_free. */
nt_status nt_answers_make(const nt_result *result, nt_answer **out, nt_error *err);
void nt_answers_free(nt_answer *answers, size_t count);

/* What a precision costs: its answer against fp32 of the same layer, shape, batch and device; NULL without fp32. */
const nt_answer *nt_answer_fp32(const nt_answer *answers, size_t count, const nt_answer *of);

#endif
