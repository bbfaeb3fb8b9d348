#include "autotune/worker_finals.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "autotune/finals.h"
#include "core/json.h"
#include "core/mem.h"
#include "core/random.h"

/* One finalist while it is re-measured. */
typedef struct entrant {
    nt_loaded loaded;
    nt_target target;
    nt_verdict verdict; /* one that is not right is not timed */
    int64_t launches;
    double *round_ns;
} entrant;

enum { MOST_ROUNDS = 200 };
static const double sample_ns = 200e3;

/* Packed weights share one ring, so a plan with a preparation packs again before its turn. */
static nt_status take_turn(nt_worker *worker, entrant *e, double *ns, nt_error *err)
{
    nt_status status = NT_OK;
    if (e->loaded.plan.prepare_count > 0)
        status = nt_workload_target(worker->workload, e->loaded.module, &e->loaded.plan, &e->target, err);
    double warm;
    if (status == NT_OK)
        status = nt_measure_once(&e->target, 1, &warm, err); /* code and clocks: not counted */
    return status == NT_OK ? nt_measure_once(&e->target, e->launches, ns, err) : status;
}

static nt_status get_ready(nt_worker *worker, const json_t *item, bool verify, entrant *e, nt_error *err)
{
    nt_status status = nt__worker_load(worker, item, &e->loaded, err);
    for (int i = 0; status == NT_OK && i < e->loaded.plan.stage_count; i++) {
        const nt_stage *stage = &e->loaded.plan.stage[i];
        nt_function_info info; /* asked for its side effect: the dynamic shared memory limit */
        if (stage->kind == NT_STAGE_KERNEL)
            status = worker->ops->function_info(worker->device, e->loaded.module, stage->entry,
                                                stage->block[0] * stage->block[1] * stage->block[2],
                                                stage->smem_dynamic_bytes, &info, err);
    }
    e->verdict = (nt_verdict){.right = true, .error_impl = NAN, .error_prec = NAN};
    if (status == NT_OK && verify)
        status = nt_workload_verify_fresh(worker->workload, e->loaded.kernel, e->loaded.module, &e->loaded.plan,
                                          &e->verdict, err);
    if (status != NT_OK || !e->verdict.right)
        return status;
    status = nt_workload_target(worker->workload, e->loaded.module, &e->loaded.plan, &e->target, err);
    if (status == NT_OK)
        status = nt__worker_warm(worker, &e->target, err);
    double ns = 0;
    if (status == NT_OK)
        status = take_turn(worker, e, &ns, err); /* launches = 0 is not allowed */
    e->launches = nt_measure_launches(sample_ns, ns);
    return status;
}

/* A finalist that cannot be launched any more is out; it does not spoil the others' rounds. */
static nt_status admit(nt_worker *worker, const json_t *item, size_t rounds, bool verify, entrant *e, nt_error *err)
{
    e->launches = 1;
    e->round_ns = nt_alloc_zero(rounds, sizeof(double));
    nt_status status = get_ready(worker, item, verify, e, err);
    if (status != NT_LAUNCH_FAILED && status != NT_NO_MEMORY)
        return status;
    e->verdict = (nt_verdict){.right = false, .error_impl = NAN, .error_prec = NAN};
    nt_copy(e->verdict.reason, sizeof e->verdict.reason, err->what);
    *err = (nt_error){0};
    return NT_OK;
}

/* Every entrant once a round, in an order drawn anew each round. */
static nt_status run_rounds(nt_worker *worker, entrant *entrants, int count, size_t rounds, nt_error *err)
{
    nt_random random = nt_random_seed(worker->workload->seed, 77);
    int order[NT_FINALISTS];
    for (int i = 0; i < count; i++)
        order[i] = i;
    for (size_t round = 0; round < rounds; round++) {
        for (int i = count - 1; i > 0; i--) {
            int j = (int)nt_random_below(&random, (uint64_t)i + 1), held = order[i];
            order[i] = order[j];
            order[j] = held;
        }
        for (int i = 0; i < count; i++) {
            entrant *e = &entrants[order[i]];
            if (!e->verdict.right)
                continue;
            nt_status status = take_turn(worker, e, &e->round_ns[round], err);
            if (status != NT_OK)
                return status;
        }
    }
    return NT_OK;
}

static json_t *describe(const entrant *e, size_t rounds)
{
    json_t *times = json_array();
    for (size_t i = 0; i < rounds; i++)
        json_array_append_new(times, nt_json_real(e->round_ns[i]));
    return json_pack("{s:b, s:o, s:o, s:o, s:I, s:o}", "right", e->verdict.right, "reason",
                     nt_json_text(e->verdict.reason), "error_impl", nt_json_real(e->verdict.error_impl), "error_prec",
                     nt_json_real(e->verdict.error_prec), "launches", (json_int_t)e->launches, "round_ns", times);
}

nt_status nt__worker_finals(nt_worker *worker, const json_t *request, json_t *reply, nt_error *err)
{
    json_t *items;
    json_int_t rounds;
    int verify, leave;
    if (json_unpack((json_t *)request, "{s:I, s:b, s:b, s:o}", "rounds", &rounds, "verify", &verify, "leave", &leave,
                    "items", &items) != 0 ||
        rounds < 1 || rounds > MOST_ROUNDS || !json_is_array(items) || json_array_size(items) > NT_FINALISTS)
        return nt_fail(err, NT_CORRUPT, "a finals request is damaged");
    int count = (int)json_array_size(items);
    entrant entrants[NT_FINALISTS];
    memset(entrants, 0, sizeof entrants);
    nt_status status = NT_OK;
    for (int i = 0; status == NT_OK && i < count; i++)
        status = admit(worker, json_array_get(items, (size_t)i), (size_t)rounds, verify != 0, &entrants[i], err);
    nt_workload_drop_fresh(worker->workload);
    if (status == NT_OK)
        status = run_rounds(worker, entrants, count, (size_t)rounds, err);
    json_t *finals = json_array();
    for (int i = 0; i < count; i++) {
        if (status == NT_OK)
            json_array_append_new(finals, describe(&entrants[i], (size_t)rounds));
        if (status != NT_DEVICE_LOST)
            nt__worker_unload(worker, &entrants[i].loaded);
        free(entrants[i].round_ns);
    }
    json_object_set_new(reply, "finals", finals);
    if (leave && status != NT_DEVICE_LOST) {
        nt_workload_close(worker->workload);
        worker->workload = NULL;
    }
    return status;
}
