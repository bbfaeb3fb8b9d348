/* kinds.h: the kinds of plots: a table row each, that makes a chart of the read model. */
#ifndef NT_KINDS_H
#define NT_KINDS_H

#include "reports/chart.h"
#include "reports/result.h"

/* What a plot is to show where there is a choice; zero and NULL leave it to the plot. */
typedef struct nt_plot_options {
    int group;               /* index of a problem of the model; -1: the one with the most results */
    int device;              /* index; -1 likewise */
    const char *x, *y;       /* parameters of the heat map */
    int64_t trial;           /* whose samples */
    const char *log;         /* of frames, for what a device did over time */
    const char *log_device;  /* whose frames: a part of a name or a uuid; NULL: the first */
    double max_latency_ms;   /* bound drawn over batches; NAN for none */
    double link_bytes_per_s; /* rate of copies between host and device, each way; 0: as the database has measured it */
} nt_plot_options;

/* Whether a plot belongs to a problem, a device or the whole database: what a report draws it for. One of a log needs
 * no database, and its model is NULL. */
typedef enum nt_plot_scope { NT_PLOT_OF_PROBLEM, NT_PLOT_OF_DEVICE, NT_PLOT_OF_ALL, NT_PLOT_OF_LOG } nt_plot_scope;

typedef struct nt_plot_kind {
    const char *name;
    const char *summary; /* what it shows, one line */
    const char *needs;   /* what must be there; for the message that there is nothing to plot */
    nt_plot_scope scope;
    nt_status (*make)(const nt_result *result, const nt_plot_options *options, nt_chart *chart, nt_error *err);
} nt_plot_kind;

extern const nt_plot_kind nt_plot_kinds[];
extern const int nt_plot_kind_count;

/* NT_USAGE with the kinds there are. */
nt_status nt_plot_kind_find(const char *name, const nt_plot_kind **out, nt_error *err);

/* Makes the chart of a kind and thins it to `most` points; NT_NOT_FOUND when it would be empty. The chart is
 * initialised, and empty after a failure. */
nt_status nt_plot_make(const nt_plot_kind *kind, const nt_result *result, const nt_plot_options *options, size_t most,
                       nt_chart *chart, nt_error *err);

/* ---- for the kinds themselves ------------------------------------------------------------------------------------ */

/* The group asked for, or the one with the most ok trials of the device asked for; NULL when none has any. */
const nt_result_group *nt_plot_group(const nt_result *result, const nt_plot_options *options);
int nt_plot_device(const nt_result *result, const nt_plot_options *options); /* -1 when there is none */
void nt_plot_titles(nt_chart *chart, const nt_result *result, const nt_result_group *group, const char *title);
nt_status nt_plot_nothing(nt_error *err, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* Where a GPU becomes faster than a cpu for good, by the line between the logarithms of two measured batches. */
typedef struct nt_crossover {
    bool always;           /* at all of them */
    int64_t from_batch;    /* the first measured one from which on it is */
    double batch, time_ns; /* where the lines cross; NAN when they do not */
} nt_crossover;
/* Rates of a GPU's copies of 1 MiB and more, bytes/s, as `nntune profile` measured them; NAN when it did not. */
void nt_copy_rates(nt_reader *reader, const char *device_uuid, double *to_device, double *from_device);
nt_crossover nt_crossover_of(const int64_t *batch, const double *cpu_ns, const double *gpu_ns, int count);

nt_status nt_plot_heatmap(const nt_result *, const nt_plot_options *, nt_chart *, nt_error *);
nt_status nt_plot_roofline(const nt_result *, const nt_plot_options *, nt_chart *, nt_error *);
nt_status nt_plot_batch(const nt_result *, const nt_plot_options *, nt_chart *, nt_error *);
nt_status nt_plot_precision(const nt_result *, const nt_plot_options *, nt_chart *, nt_error *);
nt_status nt_plot_occupancy(const nt_result *, const nt_plot_options *, nt_chart *, nt_error *);
nt_status nt_plot_convergence(const nt_result *, const nt_plot_options *, nt_chart *, nt_error *);
nt_status nt_plot_budget(const nt_result *, const nt_plot_options *, nt_chart *, nt_error *);
nt_status nt_plot_samples(const nt_result *, const nt_plot_options *, nt_chart *, nt_error *);
nt_status nt_plot_devices(const nt_result *, const nt_plot_options *, nt_chart *, nt_error *);
nt_status nt_plot_crossover(const nt_result *, const nt_plot_options *, nt_chart *, nt_error *);
nt_status nt_plot_live(const nt_result *, const nt_plot_options *, nt_chart *, nt_error *);

#endif
