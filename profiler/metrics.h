/* metrics.h: what nntune measures with hardware counters, by names of its own: columns, and sets of columns. Tables and
 * text only; metric_plan.h brings them together with what a chip has.
 *
 * A column is one number with a unit, and the CUPTI metric behind it, which on some chips has another name. A metric of
 * CUPTI by its full name (roll-up included) is as good as a column wherever a list of metrics is asked for. */
#ifndef NT_METRICS_H
#define NT_METRICS_H

#include <stdbool.h>
#include <stddef.h>

enum { NT_METRIC_SPELLINGS = 2 };

typedef struct nt_metric_column {
    const char *name;                         /* "occupancy_pct": in the database, in JSON and for --metrics */
    const char *unit;                         /* "%", "bytes", "ns", ... */
    const char *counter[NT_METRIC_SPELLINGS]; /* the first that the chip knows is taken; NULL ends the list */
    const char *what;                         /* one line for people */
} nt_metric_column;

typedef struct nt_metric_set {
    const char *name;           /* "t1" */
    const char *what;           /* one line for people */
    const char *const *columns; /* NULL at the end; NULL instead of a list when the set is a prefix */
    const char *prefix;         /* every counter of the chip whose name starts so, as sums */
    const char *prefix_without; /* but none that contains this */
} nt_metric_set;

extern const nt_metric_column nt_metric_columns[];
extern const size_t nt_metric_column_count;
extern const nt_metric_set nt_metric_sets[];
extern const size_t nt_metric_set_count;

const nt_metric_column *nt_metric_column_find(const char *name); /* NULL when there is none */
const nt_metric_set *nt_metric_set_find(const char *name);       /* whatever the case of its letters */

/* The metric whose value is how long a range took: the weight of percentages. */
extern const char nt_metric_duration[];

/* How the values of a plan's kernels make one value for the plan: counts add up, shares and rates are means weighted by
 * duration. By the name of the CUPTI metric. */
bool nt_metric_adds_up(const char *counter);

#endif
