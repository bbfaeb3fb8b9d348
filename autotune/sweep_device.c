/* sweep_device.c: the device worker as the coordinator sees it: started, asked, timed out, replaced. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "autotune/spec.h"
#include "autotune/sweep_state.h"
#include "core/clock.h"
#include "core/json.h"
#include "core/mem.h"

static const double open_deadline_s = 120, problem_deadline_s = 120;

/* Time a trial may take beyond its sampling cap: loading, two verifications, the probe. Kernels on a cpu get four
 * seconds more for each GFLOP, and share their cores with others, so that a slow one is not mistaken for a hang; of a
 * user's kernel nobody knows the work. */
static double trial_deadline_s(const nt__sweep *sweep, double cap_s)
{
    const nt__unit *unit = &sweep->unit[sweep->unit_index];
    double flop = isfinite(unit->extents.flop) ? unit->extents.flop : 0;
    double slow = sweep->device.kind == NT_DEVICE_CUDA ? flop * 1e-11 : flop * 4e-9;
    double least = nt_spec_of(unit->problem.layer) != NULL ? 30 : sweep->device.kind == NT_DEVICE_CPU ? 10 : 4;
    return least + 2 * cap_s + slow;
}

void nt__device_name(const nt__sweep *sweep, char *out, size_t capacity)
{
    const char *kind = nt_device_kind_name(sweep->options->device);
    if (sweep->options->device != NT_DEVICE_CPU)
        snprintf(out, capacity, "%s:%d", kind, sweep->options->ordinal);
    else
        snprintf(out, capacity, "%s", kind);
}

static nt_status start(nt__sweep *sweep, nt_error *err)
{
    char name[64];
    nt__device_name(sweep, name, sizeof name);
    return nt_child_start(&sweep->worker, "--device-worker", name, false, err);
}

/* Copies the error that a reply carries; NT_OK when its status is 0. */
nt_status nt__reply_status(const json_t *reply, const char *worker, nt_error *err)
{
    int64_t status = nt_json_get_int(reply, "status");
    if (status == NT_OK)
        return NT_OK;
    const char *what = nt_json_get_text(reply, "what"), *hint = nt_json_get_text(reply, "hint");
    if (status < 0 || status >= NT_STATUS_COUNT)
        return nt_fail(err, NT_CORRUPT, "the %s gave an unknown status", worker);
    if (what != NULL)
        nt_fail(err, (nt_status)status, "%s", what);
    else
        nt_fail(err, (nt_status)status, "the %s failed without a reason", worker);
    nt_hint(err, "%s", hint != NULL ? hint : "");
    return (nt_status)status;
}

/* A worker that ends while it is being asked for the first time: say how it ended. */
static nt_status died(nt__sweep *sweep, const char *doing, nt_error *err)
{
    char how[128];
    nt_child_describe_end(nt_child_reap(&sweep->worker), how, sizeof how);
    sweep->state = NT__DEVICE_NONE;
    return nt_fail(err, NT_DEVICE_LOST, "the device worker was %s while %s", how, doing);
}

nt_status nt__device_identify(nt__sweep *sweep, nt_error *err)
{
    nt_status status = start(sweep, err);
    json_t *reply = NULL;
    if (status == NT_OK)
        status = nt_channel_send(
            &sweep->worker.channel,
            json_pack("{s:s, s:b}", "op", "identify", "libraries", (int)nt__wants_vendors(sweep->options)), err);
    if (status == NT_OK)
        status = nt_channel_receive(&sweep->worker.channel, (int)(open_deadline_s * 1e3), &reply, err);
    if (status == NT_CLOSED)
        status = died(sweep, "identifying the device", err);
    if (status == NT_OK)
        status = nt__reply_status(reply, "device worker", err);
    if (status == NT_OK)
        status = nt_json_to_device(json_object_get(reply, "device"), &sweep->device, err);
    json_decref(reply);
    if (status != NT_OK)
        nt__device_drop(sweep);
    return status;
}

nt_status nt_sweep_identify_for(const nt_sweep_options *options, nt_device_info *out, nt_error *err)
{
    nt__sweep *sweep = nt_alloc_zero(1, sizeof *sweep);
    sweep->options = options;
    sweep->worker.channel.fd = -1;
    nt_status status = nt__device_identify(sweep, err);
    *out = sweep->device;
    nt__device_drop(sweep);
    free(sweep);
    return status;
}

nt_status nt_sweep_identify(nt_device_kind kind, int ordinal, nt_device_info *out, nt_error *err)
{
    nt_sweep_options options = {.device = kind, .ordinal = ordinal};
    return nt_sweep_identify_for(&options, out, err);
}

void nt__device_drop(nt__sweep *sweep)
{
    nt_child_kill(&sweep->worker);
    sweep->state = NT__DEVICE_NONE;
    sweep->deadline_s = INFINITY;
}

static nt_status ask(nt__sweep *sweep, json_t *request, nt__device_state state, double deadline_s, nt_error *err)
{
    sweep->state = state;
    sweep->busy_since_s = nt_now_s();
    sweep->deadline_s = sweep->busy_since_s + deadline_s;
    nt_status status = nt_channel_send(&sweep->worker.channel, request, err);
    return status == NT_CLOSED ? NT_OK : status; /* its end is noticed by the next poll */
}

static nt_status ask_problem(nt__sweep *sweep, nt_error *err)
{
    const nt__unit *unit = &sweep->unit[sweep->unit_index];
    double slow = sweep->device.kind == NT_DEVICE_CUDA || !isfinite(unit->extents.flop) ? 0 : unit->extents.flop * 1e-8;
    json_t *request = json_pack("{s:s, s:o, s:I, s:s}", "op", "problem", "problem", nt_json_problem(&unit->problem),
                                "seed", (json_int_t)sweep->options->seed, "cache", nt_cache_mode_name(unit->cache));
    json_object_set_new(request, "unchecked", json_boolean(sweep->timing_only));
    nt_spec_tell(request, unit->problem.layer);
    sweep->asked_unit = sweep->unit_index;
    return ask(sweep, request, NT__DEVICE_PREPARING, problem_deadline_s + slow, err);
}

/* Who is busy would answer later, to a question that nobody remembers. */
static void change_places(nt__sweep *sweep, int spare)
{
    if (sweep->state != NT__DEVICE_IDLE)
        nt__device_drop(sweep);
    nt_child held = sweep->worker;
    sweep->worker = sweep->spare[spare];
    sweep->spare[spare] = held;
    sweep->state = sweep->worker.pid > 0 ? NT__DEVICE_IDLE : NT__DEVICE_NONE;
}

nt_status nt__device_to_spare(nt__sweep *sweep, int spare, nt_error *err)
{
    change_places(sweep, spare);
    sweep->timing_only = true;
    return sweep->state == NT__DEVICE_IDLE ? ask_problem(sweep, err) : NT_OK;
}

void nt__device_from_spare(nt__sweep *sweep, int spare)
{
    change_places(sweep, spare);
    sweep->timing_only = false;
    sweep->asked_unit = sweep->unit_index; /* it prepared this unit before the spare came */
}

void nt__device_drop_all(nt__sweep *sweep)
{
    for (int i = 0; i < NT__SPARES; i++)
        nt_child_kill(&sweep->spare[i]);
    nt__device_drop(sweep);
}

void nt__device_new_problem(nt__sweep *sweep)
{
    sweep->problem_losses = 0;
    nt_error ignored;
    if (sweep->state == NT__DEVICE_IDLE)
        ask_problem(sweep, &ignored); /* a worker that opens or prepares is asked when it has answered */
}

nt_status nt__device_step(nt__sweep *sweep, nt_error *err)
{
    if (sweep->state != NT__DEVICE_NONE)
        return NT_OK;
    nt_status status = sweep->worker.pid > 0 ? NT_OK : start(sweep, err);
    return status == NT_OK ? ask(sweep, json_pack("{s:s}", "op", "open"), NT__DEVICE_OPENING, open_deadline_s, err)
                           : status;
}

static void set_limit(json_t *request, const char *key, double factor, double best_ns)
{
    if (isfinite(best_ns))
        json_object_set_new(request, key, nt_json_real(factor * best_ns));
}

/* At most budget/120: a short budget still sees many trials, compiling and finals included. */
static double cap_s(const nt__sweep *sweep)
{
    double cap = 0.5, budget = sweep->options->budget.seconds;
    return budget > 0 ? fmin(cap, budget / 120) : cap;
}

/* Ours are compared with ours, and a vendor's with the vendors': the ratio of the two bests is wanted, whatever it is.
 */
static double best_of_its_kind(const nt__sweep *sweep, const nt__candidate *candidate)
{
    if (!nt__is_rival(sweep, candidate->served))
        return sweep->best_ns;
    return sweep->has_vendor ? sweep->top[NT__TOP].trial.time_ns : INFINITY;
}

nt_status nt__device_send_trial(nt__sweep *sweep, nt__candidate *candidate, nt_error *err)
{
    static const double abandon = 3, settle = 1.25, energy_s = 1.05; /* sensors want a second */
    json_t *request = nt__candidate_json(sweep, candidate);
    json_object_set_new(request, "op", json_string("trial"));
    json_object_set_new(request, "ci_rel", nt_json_real(sweep->options->ci_rel));
    json_object_set_new(request, "cap_s", nt_json_real(cap_s(sweep)));
    if (nt_objective_needs_energy(sweep->objective))
        json_object_set_new(request, "least_s", nt_json_real(energy_s));
    /* what is slow may still be frugal */
    if (candidate->rule == NULL && sweep->only == NULL && nt_objective_is_time(sweep->objective)) {
        double best_ns = best_of_its_kind(sweep, candidate);
        set_limit(request, "abandon_over_ns", abandon, best_ns);
        set_limit(request, "settle_over_ns", settle, best_ns);
    }
    sweep->in_flight = candidate;
    double longest_s = nt_objective_needs_energy(sweep->objective) ? fmax(cap_s(sweep), energy_s) : cap_s(sweep);
    nt_status status = ask(sweep, request, NT__DEVICE_TRIAL, trial_deadline_s(sweep, longest_s), err);
    if (sweep->first_sent_s == 0)
        sweep->first_sent_s = sweep->busy_since_s;
    return status;
}

nt_status nt__device_send_finals(nt__sweep *sweep, json_t *items, int rounds, bool verify, nt_error *err)
{
    double turns = (double)(rounds + 2) * (double)json_array_size(items);
    double turn_s = 2 * fmax(sweep->best_ns * 1e-9, 200e-6) * 2;
    json_t *request = json_pack("{s:s, s:i, s:b, s:b, s:o}", "op", "finals", "rounds", rounds, "verify", (int)verify,
                                "leave", (int)sweep->timing_only, "items", items);
    return ask(sweep, request, NT__DEVICE_FINALS, trial_deadline_s(sweep, turns * turn_s) + problem_deadline_s, err);
}

/* A trial's answer is here, or its worker is lost. */
static void count_busy(nt__sweep *sweep)
{
    if (sweep->state != NT__DEVICE_TRIAL)
        return;
    sweep->last_answered_s = nt_now_s();
    sweep->out->device_busy_s += sweep->last_answered_s - sweep->busy_since_s;
}

/* Answers to open and problem move the worker on; a refusal is the sweep's end. */
static nt_status advance(nt__sweep *sweep, const json_t *reply, nt_error *err)
{
    nt_status status = nt__reply_status(reply, "device worker", err);
    if (status != NT_OK)
        return status;
    double took_s = nt_now_s() - sweep->busy_since_s;
    if (sweep->state == NT__DEVICE_PREPARING) {
        sweep->prepared_s = took_s;
        sweep->state = NT__DEVICE_IDLE;
        sweep->deadline_s = INFINITY;
        if (sweep->asked_unit != sweep->unit_index)
            return ask_problem(sweep, err); /* these are the inputs of a unit whose time has run out meanwhile */
        nt__unit_prepared(sweep);
        return NT_OK;
    }
    nt_device_info info;
    status = nt_json_to_device(json_object_get(reply, "device"), &info, err);
    if (status == NT_OK && sweep->device.uuid[0] != '\0' && strcmp(info.uuid, sweep->device.uuid) != 0)
        status = nt_fail(err, NT_DEVICE_LOST, "the device changed while it was in use: %s instead of %s", info.uuid,
                         sweep->device.uuid);
    if (status != NT_OK)
        return status;
    sweep->opened_s = took_s;
    memcpy(info.library, sweep->device.library, sizeof info.library); /* looked for when it was identified */
    sweep->device = info;
    sweep->floor_ns = nt_json_get_real(reply, "floor_ns");
    sweep->state = NT__DEVICE_IDLE;
    return sweep->unit != NULL ? ask_problem(sweep, err) : NT_OK;
}

nt_status nt__device_poll(nt__sweep *sweep, json_t **answer, bool *lost, bool *timed_out, char *how, size_t capacity,
                          nt_error *err)
{
    *answer = NULL;
    *lost = *timed_out = false;
    if (sweep->worker.pid == 0)
        return NT_OK;
    json_t *reply = NULL;
    nt_error what;
    nt_status status = nt_channel_pump(&sweep->worker.channel, &what);
    if (status == NT_OK)
        status = nt_channel_next(&sweep->worker.channel, &reply, &what);
    if (status == NT_CLOSED) {
        char end[128];
        nt_child_describe_end(nt_child_reap(&sweep->worker), end, sizeof end);
        snprintf(how, capacity, "the device worker was %s", end);
        *lost = true;
    } else if (status != NT_OK) {
        snprintf(how, capacity, "%s", what.what);
        *lost = true;
    } else if (reply == NULL && nt_now_s() > sweep->deadline_s) {
        snprintf(how, capacity, "no answer after %.1f s: the device worker was killed",
                 nt_now_s() - sweep->busy_since_s);
        *lost = *timed_out = true;
    }
    if (*lost) {
        count_busy(sweep);
        nt__device_drop(sweep);
        return NT_OK;
    }
    if (reply == NULL)
        return NT_OK;
    if (sweep->state == NT__DEVICE_TRIAL || sweep->state == NT__DEVICE_FINALS) {
        *answer = reply;
        count_busy(sweep);
        sweep->state = NT__DEVICE_IDLE;
        sweep->deadline_s = INFINITY;
        return NT_OK;
    }
    status = advance(sweep, reply, err);
    json_decref(reply);
    return status;
}
