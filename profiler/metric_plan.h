/* metric_plan.h: a list of metrics on one chip: which of them it knows, by what name, in how many passes. Needs CUPTI's
 * library, but no GPU.
 *
 * Every metric keeps its place in the list. One that the chip lacks stays without a counter (its values are unknown,
 * NAN) when it is a column of ours; a name that is neither a set, a column nor a metric of the chip is refused with the
 * names nearest to it. */
#ifndef NT_METRIC_PLAN_H
#define NT_METRIC_PLAN_H

#include "profiler/cupti_host.h"
#include "profiler/metrics.h"

enum { NT_CHIP_BYTES = 32 };

typedef struct nt_metric {
    char *name;          /* as asked for: a column or a metric of CUPTI */
    const char *unit;    /* "" where unknown */
    const char *what;    /* one line for people */
    const char *counter; /* CUPTI's name for it on this chip; NULL when the chip has none */
    int index;           /* of `counter` among the plan's; -1 likewise */
    bool adds_up;        /* over the kernels of a plan; otherwise a mean weighted by duration */
    bool required;       /* named itself as a metric of CUPTI, so refusing it is an error */
} nt_metric;

typedef struct nt_metric_plan {
    char chip[NT_CHIP_BYTES];
    nt_metric *metric; /* in the order asked for, sets in place of their names */
    size_t count;
    const char **counter; /* what is collected, each once */
    size_t counter_count;
    int duration; /* index of nt_metric_duration among the counters; -1 when no metric needs a weight */
    int passes;
    nt_cupti_image config;
    nt_cupti_host *host; /* evaluates what was collected with `config` */
    nt_cupti_host *look; /* holds the texts of the metrics; nothing is ever added to it */
} nt_metric_plan;

/* `asked` holds sets, columns and metrics of CUPTI. `most_passes` 0: any number; otherwise more are refused, naming the
 * dearest metric. NT_USAGE for a name that is wrong. */
nt_status nt_metric_plan_open(nt_cupti_way way, const char *chip, const nt_cupti_image *available,
                              const char *const *asked, size_t count, int most_passes, nt_metric_plan **out,
                              nt_error *err);
void nt_metric_plan_close(nt_metric_plan *plan); /* NULL allowed */

/* Says in err->hint which names are nearest to a metric that `host` does not know. */
void nt_metric_suggest(nt_cupti_host *host, const char *name, nt_error *err);

#endif
