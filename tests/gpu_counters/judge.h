/* judge.h: what the parts of the counters' judge share: see main.c. */
#ifndef COUNTERS_JUDGE_H
#define COUNTERS_JUDGE_H

#include <stdbool.h>
#include <stddef.h>

#include "profiler/counters.h"

/* ---- subjects.c: kernels whose counters are compared, always in the same order ---- */

enum { SUBJECT_LAUNCHES = 20, GROUPS = 2, SUBJECTS_PER_GROUP = 3 };

typedef struct subject {
    const char *entry;
    bool big; /* 500 us and more, moving at least 10 x L2 */
    uint32_t blocks, threads, smem_bytes;
    size_t in_bytes, out_bytes; /* moved by one launch */
    int slots;                  /* of the ring */
    nt_plan plan;
    nt_binding *ring;
    size_t position;
} subject;

typedef struct bench {
    const nt_device_ops *ops;
    nt_device *device;
    nt_module *module;
    nt_mem in, out;
    subject *subject;
    int subject_count;
} bench;

bool bench_open(bench *b);
void bench_close(bench *b);
nt_target bench_target(bench *b, subject *s);

/* Launches of one group, SUBJECT_LAUNCHES each, as targets in order. Returns how many. */
size_t bench_group(bench *b, int group, nt_target *targets);

/* The same launches as nt_counters_collect makes for a group, without it: for a profiler from outside to watch. */
bool bench_launch_plain(bench *b, const nt_target *targets, size_t count);

/* ---- the parts, each a sub-command; exit codes ---- */

int judge_worker(int argc, char **argv);  /* worker.c: 500 configurations through the counter worker */
int judge_compare(int argc, char **argv); /* compare.c: our values against ncu's */
int judge_slope(int argc, char **argv);   /* bar.c: cost of a launch from a file of lines "ours|ncu N launches MS ms" */
int judge_advice(int argc, char **argv);  /* advice.c: each rule on a kernel with the fault and on its repaired twin */

int judge_fail(const char *doing, const nt_error *err);

/* ---- bar.c: a figure with its bar, printed and kept in the file that JUDGE_FIGURES names ---- */

/* sign: "<=", ">=", "==". True when it holds; an unknown value never does. */
bool judge_bar(const char *bar, const char *name, const char *unit, double value, const char *sign, double limit);
void judge_tell_of(const char *bar, const char *name, const char *unit, double value);

#endif
