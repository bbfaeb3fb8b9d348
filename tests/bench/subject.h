/* subject.h: something that a benchmark times: a run function, launched back to back until a sample is long enough. */
#ifndef BENCH_SUBJECT_H
#define BENCH_SUBJECT_H

#include "core/clock.h"
#include "core/stats.h"
#include "tests/unit/cpu_run.h"

#include <dnnl.h>
#include <math.h>

#define SAMPLE_S 0.002

typedef struct subject subject;
struct subject {
    void (*run)(subject *);
    double launches; /* of one sample */
    /* a plan of ours with one stage */
    void *library;
    nt_plan plan;
    cpu_entry entry;
    cpu_args args;
    /* oneDNN's */
    dnnl_primitive_t primitive;
    dnnl_stream_t stream;
    dnnl_exec_arg_t arg[3];
};

static inline double sample_s(subject *s)
{
    double begin = nt_now_s();
    for (double i = 0; i < s->launches; i++)
        s->run(s);
    return (nt_now_s() - begin) / s->launches;
}

static inline void calibrate(subject *s)
{
    s->launches = 1;
    sample_s(s);
    s->launches = ceil(SAMPLE_S / sample_s(s));
}

static inline double median_of_three(subject *s)
{
    double t[3] = {sample_s(s), sample_s(s), sample_s(s)};
    return nt_median(t, 3);
}

#endif
