/* count_summary.h: what counted launches of a trace come to, by kernel and metric. Pure. */
#ifndef NT_COUNT_SUMMARY_H
#define NT_COUNT_SUMMARY_H

#include "core/trace.h"

/* Over the launches of one kernel whose value is known. */
typedef struct nt_count_row {
    int kernel; /* names of the trace, as the next three */
    int metric, unit;
    int counter; /* CUPTI's name; -1 where the chip has none */
    int64_t launches;
    double median, least, most; /* NAN from no launch */
} nt_count_row;

typedef struct nt_count_summary {
    nt_count_row *row; /* kernels as they were first counted, metrics of each as asked for */
    size_t count;
    int64_t launches; /* counted in all */
    int passes;       /* the most that a launch took */
    int64_t uncounted[NT_UNCOUNTED_COUNT];
} nt_count_summary;

void nt_count_summarise(const nt_trace *trace, nt_count_summary *out);
void nt_count_summary_done(nt_count_summary *summary);

/* What the caches held when a launch of so many passes was counted: "as_left" by the program, or "replayed": memory was
 * put back between passes, which is neither that nor cold. */
const char *nt_count_cache(int passes);

#endif
