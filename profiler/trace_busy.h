/* trace_busy.h: time covered by work that may overlap, when it comes in the order of its beginnings. */
#ifndef NT_TRACE_BUSY_H
#define NT_TRACE_BUSY_H

#include "core/trace.h"

typedef struct nt_busy {
    int64_t first_ns, covered_to_ns; /* 0 before the first */
    double busy_ns;
} nt_busy;

static inline void nt_busy_add(nt_busy *busy, int64_t start_ns, int64_t end_ns)
{
    if (busy->covered_to_ns == 0) {
        busy->first_ns = start_ns;
        busy->covered_to_ns = start_ns;
    }
    int64_t from = start_ns > busy->covered_to_ns ? start_ns : busy->covered_to_ns;
    if (end_ns > from)
        busy->busy_ns += (double)(end_ns - from);
    if (end_ns > busy->covered_to_ns)
        busy->covered_to_ns = end_ns;
}

static inline double nt_busy_span_ns(const nt_busy *busy)
{
    return (double)(busy->covered_to_ns - busy->first_ns);
}

/* Indices of the work with known times, by beginning. Free it. */
size_t *nt_trace_by_start(const nt_trace *trace, size_t *count);

#endif
