/* subject.h: a stored configuration on the device again, for judges that run kernels themselves. */
#ifndef SUBJECT_H
#define SUBJECT_H

#include "autotune/worker_trial.h"
#include "tests/gpu/judge.h"

/* A row of a database. */
typedef struct stored {
    int64_t trial;
    nt_problem problem;
    char kernel[NT_NAME_BYTES];
    char *params; /* JSON */
    double time_ns;
} stored;

typedef struct stored_list {
    stored *row;
    size_t count, capacity;
} stored_list;

/* Rows of the view `trials` with this condition (and order), by problem. */
bool judge_stored(judge *j, const char *db, const char *where, stored_list *out);
void judge_stored_done(stored_list *list);

/* The device, opened in this process. The worker's own functions run on it; nothing is asked of another process. */
typedef struct bench {
    nt_worker worker;
} bench;

nt_status bench_open(bench *b, nt_error *err);
/* Inputs, references and ring of a problem; nothing to do when it is there already. */
nt_status bench_problem(bench *b, const nt_problem *problem, uint64_t seed, nt_cache_mode cache, nt_error *err);
/* Finds its compiled code in the cache, or compiles it, and loads it. Free with nt__worker_unload. */
nt_status bench_load(bench *b, const stored *row, nt_loaded *out, nt_error *err);
/* {kernel, params, artefact}: the same as a request of the coordinator would say it. */
nt_status bench_item(bench *b, const stored *row, json_t **out, nt_error *err);
void bench_close(bench *b);

#endif
