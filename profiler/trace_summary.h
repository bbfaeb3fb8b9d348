/* trace_summary.h: what a trace comes to: by kernel, by range, by kind of copy, and as a whole. Pure.
 *
 * GPU time is the sum of the durations of kernels. The whole that shares are of: kernels for shares of kernels and
 * ranges, kernels, copies and fills together for the copies' share. Idle is the time between the first and the last
 * work on a device in which it ran none. A range has all that was launched while it was open on the launching thread,
 * so a range inside another counts for both. Unknown is NAN. */
#ifndef NT_TRACE_SUMMARY_H
#define NT_TRACE_SUMMARY_H

#include "core/trace.h"

/* A percentile from fewer samples is a guess: 99 % needs this many. */
enum { NT_P99_LEAST = 662 };

typedef struct nt_kernel_row {
    int name;
    int64_t calls, timed; /* timed: those with times */
    int64_t shapes;       /* ways it was launched */
    int most_shape;       /* the one with the most GPU time */
    double total_ns, median_ns, p99_ns, share_pct;
    double first_ns, steady_ns; /* the first call, and the median of all later ones */
    double occupancy_limit_pct; /* theoretical, weighted by time */
    char occupancy_limiter[24]; /* of most_shape; empty when unknown */
} nt_kernel_row;

typedef struct nt_range_row {
    int name;      /* -1: launched outside of every range */
    int64_t calls; /* times it was opened */
    int64_t open;  /* of those, never closed */
    int64_t kernels, copies;
    double wall_ns;                                /* from opening to closing, all calls */
    double total_ns, median_ns, p99_ns, share_pct; /* GPU time; median and p99 of a call's */
    double first_ns, steady_ns;                    /* of the first call, median of the later ones */
    double copy_pct, idle_pct;
} nt_range_row;

typedef struct nt_copy_row {
    int direction, from, to;
    int64_t calls, bytes;
    double total_ns, share_pct;
    double bytes_per_s; /* over the time of copies whose times are known */
} nt_copy_row;

typedef struct nt_trace_summary {
    nt_kernel_row *kernel; /* most GPU time first, as the others */
    size_t kernel_count;
    nt_range_row *range;
    size_t range_count;
    nt_copy_row *copy;
    size_t copy_count;
    int64_t kernels, copies, fills, graph_launches;
    double kernel_ns, copy_ns, fill_ns;
    double busy_ns, span_ns; /* over the devices with work */
    double idle_pct, copy_pct;
    int64_t memory_peak_bytes; /* the most of any process; NT_UNKNOWN when none allocated */
    int64_t open_ranges, dropped, lost_bytes, backwards, unplaced;
} nt_trace_summary;

void nt_trace_summarise(const nt_trace *trace, nt_trace_summary *out);
void nt_trace_summary_done(nt_trace_summary *summary);

#endif
