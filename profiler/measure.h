/* measure.h: timing one plan: probe, adaptive samples, when to stop.
 *
 * A sample is max(1, ceil(sample_ns / t)) back-to-back executions in one bracket, so launch latency and timer
 * resolution are outside. Sampling ends when the distribution-free interval of the median is within ci_rel, at the time
 * cap, or as soon as six samples show that the plan is not among the best (settle_over_ns). Samples taken at a lower SM
 * clock than the others are retaken, at most 30 % of them. */
#ifndef NT_MEASURE_H
#define NT_MEASURE_H

#include "core/stats.h"
#include "device/device.h"

typedef struct nt_measure_options {
    double sample_ns;       /* length of a bracket: 200,000 */
    double ci_rel;          /* wanted half-width of the interval over the median: 0.005 */
    double least_s;         /* sampling goes on for so long whatever the interval says, for sensors that are slow: 0 */
    double cap_s;           /* time allowed for all samples */
    double abandon_over_ns; /* a probe above it ends the trial; INFINITY: never */
    double settle_over_ns;  /* an interval wholly above it ends the trial after six samples; INFINITY: never */
} nt_measure_options;

/* What is measured: a plan over a ring of bindings (one binding: hot). */
typedef struct nt_target {
    const nt_device_ops *ops;
    nt_device *device;
    nt_module *module;
    const nt_plan *plan;
    const nt_binding *ring;
    size_t ring_count;
    size_t *position;
    /* Called before each sample, outside its bracket; NULL where launches leave what they read as it is. */
    nt_status (*restore)(void *context, nt_error *err);
    void *restore_context;
} nt_target;

typedef struct nt_measurement {
    bool abandoned;
    bool converged;
    double probe_ns;
    nt_interval time; /* of one execution */
    nt_samples samples;
    double sm_clock_mhz; /* median over the samples; NAN where unknown */
    size_t retaken;
} nt_measurement;

extern const nt_measure_options nt_measure_defaults;

/* Executions per sample for a plan of period t_ns. */
int64_t nt_measure_launches(double sample_ns, double t_ns);

/* NT_OK also when abandoned. `out` is filled; free its samples with nt_samples_done. */
nt_status nt_measure(const nt_target *target, const nt_measure_options *options, nt_measurement *out, nt_error *err);

/* One more sample of `launches` executions: for interleaved rounds. */
nt_status nt_measure_once(const nt_target *target, int64_t launches, double *period_ns, nt_error *err);

#endif
