#include "profiler/measure.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "core/clock.h"
#include "core/mem.h"

enum { FIRST_SAMPLES = 6, MOST_SAMPLES = 4096 };
static const double confidence = 0.95;
static const double clock_tolerance = 0.02; /* a sample this far below the median clock was throttled */
static const double retake_share = 0.30;

const nt_measure_options nt_measure_defaults = {
    .sample_ns = 200e3, .ci_rel = 0.005, .cap_s = 0.5, .abandon_over_ns = INFINITY, .settle_over_ns = INFINITY};

/* Samples with their clocks while a trial is measured. */
typedef struct collection {
    double *ns, *mhz;
    size_t count, capacity;
} collection;

int64_t nt_measure_launches(double sample_ns, double t_ns)
{
    if (!(t_ns > 0))
        return 1;
    double launches = ceil(sample_ns / t_ns);
    return launches < 1 ? 1 : launches > 20000 ? 20000 : (int64_t)launches;
}

static nt_status take_together(const nt_target *target, int64_t launches, size_t count, double *ns, double *mhz,
                               nt_error *err)
{
    nt_sample_request request = {.plan = target->plan,
                                 .module = target->module,
                                 .ring = target->ring,
                                 .ring_count = target->ring_count,
                                 .position = target->position,
                                 .launches = launches,
                                 .count = count,
                                 .out_ns = ns,
                                 .out_clock_mhz = mhz};
    return target->ops->sample(target->device, &request, err);
}

static nt_status take(const nt_target *target, int64_t launches, size_t count, double *ns, double *mhz, nt_error *err)
{
    nt_status status = NT_OK;
    if (target->restore == NULL)
        return take_together(target, launches, count, ns, mhz, err);
    for (size_t i = 0; status == NT_OK && i < count; i++) {
        status = target->restore(target->restore_context, err);
        if (status == NT_OK)
            status = take_together(target, launches, 1, ns + i, mhz != NULL ? mhz + i : NULL, err);
    }
    return status;
}

nt_status nt_measure_once(const nt_target *target, int64_t launches, double *period_ns, nt_error *err)
{
    return take(target, launches, 1, period_ns, NULL, err);
}

/* Period of one execution, good enough to size samples: single launches first, then a short bracket where a single one
 * is mostly event overhead. */
static nt_status probe(const nt_target *target, const nt_measure_options *options, double *period_ns, nt_error *err)
{
    double ns[2];
    nt_status status = take(target, 1, 2, ns, NULL, err);
    if (status != NT_OK)
        return status;
    *period_ns = fmin(ns[0], ns[1]);
    if (*period_ns >= options->sample_ns / 2)
        return NT_OK;
    status = take(target, nt_measure_launches(options->sample_ns / 4, *period_ns), 1, ns, NULL, err);
    if (status == NT_OK)
        *period_ns = fmin(*period_ns, ns[0]);
    return status;
}

static nt_status collect(collection *all, const nt_target *target, int64_t launches, size_t count, nt_error *err)
{
    size_t capacity = all->capacity;
    void *ns = all->ns, *mhz = all->mhz;
    nt_grow(&ns, &capacity, all->count + count, sizeof(double));
    capacity = all->capacity;
    nt_grow(&mhz, &capacity, all->count + count, sizeof(double));
    all->ns = ns;
    all->mhz = mhz;
    all->capacity = capacity;
    nt_status status = take(target, launches, count, all->ns + all->count, all->mhz + all->count, err);
    if (status == NT_OK)
        all->count += count;
    return status;
}

/* Drops samples whose clock fell below the others'; returns how many. */
static size_t drop_throttled(collection *all, size_t allowed)
{
    double reference = nt_median(all->mhz, all->count);
    if (!(reference > 0))
        return 0; /* clocks unknown */
    size_t kept = 0, dropped = 0;
    for (size_t i = 0; i < all->count; i++) {
        if (dropped < allowed && all->mhz[i] < reference * (1 - clock_tolerance)) {
            dropped++;
            continue;
        }
        all->ns[kept] = all->ns[i];
        all->mhz[kept++] = all->mhz[i];
    }
    all->count = kept;
    return dropped;
}

static bool settled(const nt_interval *time, const nt_measure_options *options, bool *converged)
{
    *converged = nt_interval_rel(*time) <= options->ci_rel;
    return *converged || time->lo > options->settle_over_ns;
}

static nt_status sample_until_settled(const nt_target *target, const nt_measure_options *options, int64_t launches,
                                      collection *all, nt_measurement *out, nt_error *err)
{
    double begin = nt_now_s(), least = begin + options->least_s, end = fmax(begin + options->cap_s, least);
    size_t batch = FIRST_SAMPLES;
    for (;;) {
        nt_status status = collect(all, target, launches, batch, err);
        if (status != NT_OK)
            return status;
        size_t allowed = (size_t)(retake_share * (double)(all->count + out->retaken));
        out->retaken += drop_throttled(all, allowed > out->retaken ? allowed - out->retaken : 0);
        out->time = nt_median_interval(all->ns, all->count, confidence);
        bool enough =
            all->count >= FIRST_SAMPLES && settled(&out->time, options, &out->converged) && nt_now_s() >= least;
        bool spent = all->count >= FIRST_SAMPLES && (nt_now_s() >= end || all->count >= MOST_SAMPLES);
        if (enough || spent)
            return NT_OK;
        batch = all->count < FIRST_SAMPLES ? FIRST_SAMPLES - all->count : all->count / 2 < 4 ? 4 : all->count / 2;
        /* A slow plan takes few samples at a time, so that the cap is not overrun by a whole batch. */
        double per_sample_s = out->time.median * (double)launches * 1e-9;
        double fits = (end - nt_now_s()) / (per_sample_s > 0 ? per_sample_s : 1e-4);
        if (fits < (double)batch)
            batch = fits < 1 ? 1 : (size_t)fits;
    }
}

nt_status nt_measure(const nt_target *target, const nt_measure_options *options, nt_measurement *out, nt_error *err)
{
    *out = (nt_measurement){.probe_ns = NAN, .time = {NAN, NAN, NAN, NAN}, .sm_clock_mhz = NAN};
    nt_status status = probe(target, options, &out->probe_ns, err);
    if (status != NT_OK)
        return status;
    if (out->probe_ns > options->abandon_over_ns) {
        out->abandoned = true;
        return NT_OK;
    }
    int64_t launches = nt_measure_launches(options->sample_ns, out->probe_ns);
    collection all = {0};
    status = sample_until_settled(target, options, launches, &all, out, err);
    out->samples = (nt_samples){.sample_ns = all.ns, .count = all.count, .launches_per_sample = launches};
    out->sm_clock_mhz = nt_median(all.mhz, all.count);
    free(all.mhz);
    if (status != NT_OK)
        nt_samples_done(&out->samples);
    return status;
}
