#include "autotune/sweep_rounds.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/clock.h"
#include "core/json.h"
#include "core/mem.h"

enum { ROUNDS = 15, BLOCKS = 1 + NT__SPARES };

static void warn(nt__sweep *sweep, const char *id, const char *text)
{
    if (sweep->events->warning != NULL)
        sweep->events->warning(sweep->events->context, id, text);
}

static void warn_not_held(nt__sweep *sweep, bool first, const char *why)
{
    char text[700];
    if (first)
        snprintf(text, sizeof text, "the finalists could not be measured again (%s); first measurements stand", why);
    else
        snprintf(text, sizeof text, "the final rounds are of fewer processes (%s)", why);
    warn(sweep, "finals-lost", text);
}

/* A compile whose trial will not come any more may still end, for the cache's sake; a hung one is not waited for. */
static const double stale_compile_s = 3;

/* Asks the worker and waits for the answer. *reply stays NULL when the rounds could not be held (a warning says why).
 */
static nt_status hold(nt__sweep *sweep, json_t *items, size_t rounds, bool first, json_t **reply, nt_error *err)
{
    nt_status status = NT_OK;
    bool sent = false;
    int losses = 0;
    while (status == NT_OK && !sweep->stop_now && *reply == NULL) {
        bool lost, timed_out;
        char how[256];
        status = nt__device_step(sweep, err);
        nt_pool_result stale; /* compiles begun for trials that time ran out for */
        while (nt_pool_take(sweep->pool, &stale))
            continue;
        nt_pool_drop(sweep->pool, stale_compile_s);
        bool quiet = sweep->device.kind != NT_DEVICE_CPU || nt_pool_busy(sweep->pool) == 0;
        if (status == NT_OK && sweep->state == NT__DEVICE_IDLE && quiet && !sent) {
            sent = true;
            status = nt__device_send_finals(sweep, json_incref(items), (int)rounds, first, err);
        }
        if (status == NT_OK)
            status = nt__wait(sweep, 1000, err);
        if (status == NT_OK)
            status = nt__device_poll(sweep, reply, &lost, &timed_out, how, sizeof how, err);
        if (status != NT_OK && !first) { /* a spare that is refused its memory, for example, is no harm to the sweep */
            warn_not_held(sweep, first, err->what);
            nt__device_drop(sweep);
            return NT_OK;
        }
        if (status == NT_OK && lost && (sent || ++losses == 2)) {
            warn_not_held(sweep, first, how);
            break;
        }
    }
    if (status == NT_OK && *reply != NULL && nt_json_get_int(*reply, "status") != NT_OK) {
        const char *what = nt_json_get_text(*reply, "what");
        warn_not_held(sweep, first, what != NULL ? what : "the worker gave no reason");
    }
    return status;
}

/* ---- answers --------------------------------------------------------------------------------------------------------- */

static bool read_rounds(const json_t *answer, size_t rounds, double *out)
{
    const json_t *list = json_object_get(answer, "round_ns");
    bool sound = json_array_size(list) == rounds && json_is_true(json_object_get(answer, "right"));
    for (size_t i = 0; sound && i < rounds; i++) {
        out[i] = json_number_value(json_array_get(list, i));
        sound = out[i] > 0 && isfinite(out[i]);
    }
    return sound;
}

static void warn_out(nt__sweep *sweep, const nt_trial *trial, bool first, const json_t *answer)
{
    char text[700];
    const char *reason = nt_json_get_text(answer, "reason");
    snprintf(text, sizeof text, "trial %lld of kernel %s %s and cannot win: %s", (long long)trial->id, trial->kernel,
             first ? "is wrong on fresh inputs" : "could not be timed in a new process",
             reason != NULL ? reason : "no times");
    warn(sweep, "fresh-wrong", text);
}

static void enter(const nt__sweep *sweep, nt__field *f, int i, const json_t *answer)
{
    const nt_trial *trial = &sweep->top[f->top[i]].trial;
    f->launches[i] = nt_json_get_int(answer, "launches");
    f->finalist[i] = (nt_finalist){.round_ns = f->round_ns[i],
                                   .registers = trial->artefact.registers,
                                   .smem_bytes = trial->smem_bytes,
                                   .params = trial->params_json};
}

static void take_out(nt__field *f, int i)
{
    double *rounds = f->round_ns[i];
    f->count--;
    for (int j = i; j < f->count; j++) {
        f->top[j] = f->top[j + 1];
        f->round_ns[j] = f->round_ns[j + 1];
        f->launches[j] = f->launches[j + 1];
        f->finalist[j] = f->finalist[j + 1];
    }
    f->round_ns[f->count] = NULL;
    json_array_remove(f->items, (size_t)i);
    free(rounds);
}

/* Adds a block's rounds; whose answer makes no sense is out. */
static void take_block(nt__sweep *sweep, nt__field *f, const json_t *answers, size_t rounds)
{
    bool first = !f->measured;
    int asked = f->count;
    for (int i = 0, at = 0; at < asked; at++) {
        const json_t *answer = json_array_get(answers, (size_t)at);
        if (read_rounds(answer, rounds, f->round_ns[i] + f->rounds)) {
            if (first)
                enter(sweep, f, i, answer);
            i++;
            continue;
        }
        warn_out(sweep, &sweep->top[f->top[i]].trial, first, answer);
        take_out(f, i);
    }
    f->measured = true;
    f->rounds += rounds;
}

/* ---- blocks ---------------------------------------------------------------------------------------------------------- */

/* Further processes only where what they cost is little beside the rest: a twentieth of the unit's share of a time
 * budget, else two seconds or a quarter of what the unit took. They make the inputs again; the device is opened once. */
static int affordable_blocks(const nt__sweep *sweep)
{
    double cost_s = 0, budget_s = sweep->options->budget.seconds;
    for (int i = 0; i < NT__SPARES; i++)
        cost_s += sweep->prepared_s + (sweep->spare[i].pid > 0 ? 0 : sweep->opened_s);
    double elapsed_s = sweep->first_sent_s > 0 ? nt_now_s() - sweep->first_sent_s : 0;
    double most_s = budget_s > 0 ? 0.05 * budget_s / sweep->unit_count : fmax(2, 0.25 * elapsed_s);
    return sweep->only == NULL && !sweep->spares_refused && cost_s <= most_s ? BLOCKS : 1;
}

/* Where no further process took part, the first goes on: a block alone is too few rounds for an interval. */
static nt_status hold_rest(nt__sweep *sweep, nt__field *f, nt_error *err)
{
    size_t rest = ROUNDS - f->rounds;
    json_t *reply = NULL;
    nt_status status = hold(sweep, f->items, rest, false, &reply, err);
    const json_t *answers = json_object_get(reply, "finals");
    f->per_block = 0;
    if (status == NT_OK && answers != NULL)
        take_block(sweep, f, answers, rest);
    json_decref(reply);
    return status;
}

nt_status nt__field_measure(nt__sweep *sweep, nt__field *f, nt_error *err)
{
    int blocks = affordable_blocks(sweep);
    size_t rounds = (size_t)(ROUNDS / blocks);
    nt_status status = NT_OK;
    f->per_block = blocks > 1 ? rounds : 0;
    for (int i = 0; i < f->count; i++)
        f->round_ns[i] = nt_alloc(ROUNDS * sizeof(double));
    for (int block = 0; status == NT_OK && block < blocks && f->count > 0; block++) {
        json_t *reply = NULL;
        if (block > 0)
            status = nt__device_to_spare(sweep, block - 1, err);
        if (status == NT_OK)
            status = hold(sweep, f->items, rounds, block == 0, &reply, err);
        if (block > 0)
            nt__device_from_spare(sweep, block - 1);
        const json_t *answers = json_object_get(reply, "finals");
        bool answered = status == NT_OK && answers != NULL;
        sweep->spares_refused = sweep->spares_refused || (block > 0 && !answered);
        if (answered)
            take_block(sweep, f, answers, rounds);
        json_decref(reply);
        if (!answered)
            break;
    }
    if (status == NT_OK && blocks > 1 && f->rounds == rounds && f->count > 0)
        status = hold_rest(sweep, f, err);
    return status;
}

void nt__field_done(nt__field *f)
{
    json_decref(f->items);
    for (int i = 0; i < NT_FINALISTS; i++)
        free(f->round_ns[i]);
    *f = (nt__field){0};
}
