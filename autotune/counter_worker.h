/* counter_worker.h: the counter worker: the child that holds CUPTI, so that no profiler is ever attached to what is
 * timed. It runs while the device worker is idle.
 *
 * Messages as the device worker's (worker.h), all objects with "op":
 *   open     {metrics: [NAME], most_passes} -> {status, device, chip, passes, source, metrics: [{name, unit, counter,
 * what}]} sets among the metrics are replaced by their members; counter is null where the chip has none. A later open
 *            changes the metrics and keeps the device
 *   problem  {problem, seed, cache} -> {status, ms, slots, slot_bytes}
 *   counters {items: [{kernel, params, artefact, trial}]} -> {status, ms, load_ms, count_ms, cache, passes, counters:
 * [{trial, values: {NAME: number}} or {trial, reason}]}: in the order of the items, unknown values null status other
 * than 0 comes with "what" and "hint": that counters are refused shows on open. After DEVICE_LOST the worker ends, and
 * the "trial" that did it stands in the reply where it is known. */
#ifndef NT_COUNTER_WORKER_H
#define NT_COUNTER_WORKER_H

#include <jansson.h>

#include "autotune/worker_trial.h"
#include "profiler/counters.h"

typedef struct nt_counter_worker {
    nt_worker base; /* device and workload, as the device worker has them */
    nt_counters *counters;
} nt_counter_worker;

/* Main of `nntune --counter-worker PARENT DEVICE`. Returns the exit code. */
int nt_counter_worker_main(const char *parent_pid, const char *device);

/* Answers one request. *lost: the device is gone and the worker must end. */
json_t *nt__counter_worker_answer(nt_counter_worker *worker, const json_t *request, bool *lost);

void nt__counter_worker_done(nt_counter_worker *worker);

/* The request "counters", see above (counter_batch.c). */
nt_status nt__counter_batch(nt_counter_worker *worker, const json_t *request, json_t *reply, nt_error *err);

#endif
