/* worker_finals.h: finalists of one problem: verified on fresh inputs, then timed in interleaved rounds. */
#ifndef NT_WORKER_FINALS_H
#define NT_WORKER_FINALS_H

#include "autotune/worker_trial.h"

nt_status nt__worker_finals(nt_worker *worker, const json_t *request, json_t *reply, nt_error *err);

#endif
