/* trace.h: what a profiled program did on its GPUs, in memory: kernels, copies, fills, the ranges they were launched
 * in.
 *
 * Filled by the spool reader (profiler/) or an importer (db/), read by summaries, stores and exporters. Indices point
 * into the arrays of the same trace; -1 is none. Times are nanoseconds since 1970. Launches must be told before the
 * work they launched: that is how work finds its range, by thread and call, never by overlap in time. */
#ifndef NT_TRACE_H
#define NT_TRACE_H

#include "core/record.h"

typedef enum nt_work_kind { NT_WORK_KERNEL, NT_WORK_COPY, NT_WORK_FILL, NT_WORK_KIND_COUNT } nt_work_kind;

/* Numbered as CUPTI and Nsight Systems number them. */
typedef enum nt_copy_direction {
    NT_COPY_UNKNOWN,
    NT_COPY_HOST_TO_DEVICE,
    NT_COPY_DEVICE_TO_HOST,
    NT_COPY_HOST_TO_ARRAY,
    NT_COPY_ARRAY_TO_HOST,
    NT_COPY_ARRAY_TO_ARRAY,
    NT_COPY_ARRAY_TO_DEVICE,
    NT_COPY_DEVICE_TO_ARRAY,
    NT_COPY_DEVICE_TO_DEVICE,
    NT_COPY_HOST_TO_HOST,
    NT_COPY_PEER_TO_PEER,
    NT_COPY_DIRECTION_COUNT
} nt_copy_direction;

typedef enum nt_memory_kind {
    NT_MEMORY_UNKNOWN,
    NT_MEMORY_PAGEABLE,
    NT_MEMORY_PINNED,
    NT_MEMORY_DEVICE,
    NT_MEMORY_ARRAY,
    NT_MEMORY_MANAGED,
    NT_MEMORY_DEVICE_STATIC,
    NT_MEMORY_MANAGED_STATIC,
    NT_MEMORY_KIND_COUNT
} nt_memory_kind;

/* Numbers beyond the last give the text of the first, "unknown". */
const char *nt_work_kind_name(int kind);
const char *nt_copy_direction_name(int direction);
const char *nt_memory_kind_name(int kind);

typedef enum nt_trace_uncounted { /* why a chosen launch was not counted */
    NT_UNCOUNTED_CAPTURED,        /* launched into a graph; once for each kernel */
    NT_UNCOUNTED_DISTURBED,       /* another launch came in between */
    NT_UNCOUNTED_FAILED,          /* nothing ran */
    NT_UNCOUNTED_COUNT
} nt_trace_uncounted;

typedef struct nt_trace_process {
    int64_t pid;
    int name; /* its command line */
    bool used_cuda;
    bool ended; /* it said goodbye; one that was killed or still runs did not */
    int64_t graph_launches;
    int64_t memory_now_bytes; /* device memory allocated by calls of this process */
    int64_t memory_peak_bytes;
    int64_t dropped;        /* records that the tracing library lost for want of buffers */
    int64_t lost_bytes;     /* of its spool, behind the last whole frame */
    int problem;            /* result code of the tracing library that kept it from recording; 0 for none */
    char problem_text[256]; /* what failed; names the other tool where one holds the tracing */
    int count_problem;      /* result code that ended the counting of launches; 0 for none */
    char count_problem_text[128];
    int64_t uncounted[NT_UNCOUNTED_COUNT];
} nt_trace_process;

typedef struct nt_trace_device {
    nt_device_info info;
    int process; /* whose ordinal it is */
} nt_trace_device;

/* One way a kernel is launched. */
typedef struct nt_trace_shape {
    int name;
    int device;
    int64_t grid[3], block[3], cluster[3];
    int64_t registers;
    int64_t smem_static_bytes, smem_dynamic_bytes;
} nt_trace_shape;

typedef struct nt_trace_work {
    nt_work_kind kind;
    int process, device;
    int range;                /* innermost one open on the launching thread */
    int shape;                /* of a kernel */
    int64_t start_ns, end_ns; /* both NT_UNKNOWN when not recorded or impossible */
    int64_t launch_ns;
    int64_t thread;
    int64_t stream, graph, correlation; /* graph: NT_UNKNOWN outside of graphs */
    int64_t bytes;                      /* of a copy or fill */
    int direction, from, to;            /* of a copy: nt_copy_direction, nt_memory_kind */
} nt_trace_work;

typedef struct nt_trace_range {
    int name;
    int process;
    int parent;
    bool free_standing; /* begun and ended by id, so it need not nest */
    int64_t thread;
    int64_t open_ns;
    int64_t close_ns; /* NT_UNKNOWN while open, and for good when it was never closed */
} nt_trace_range;

/* A metric that launches of a process were counted with. */
typedef struct nt_trace_metric {
    int process;
    int name, unit;
    int counter; /* CUPTI's name for it; -1 where the chip has none */
} nt_trace_metric;

/* One launch that was counted. Its values are value[first_value + k] for metric first_metric + k; NAN where unknown. */
typedef struct nt_trace_counted {
    int process, device;
    int name; /* of the kernel */
    int64_t correlation, time_ns;
    int passes;
    size_t first_metric, count, first_value;
} nt_trace_counted;

typedef struct nt_trace_table { /* open addressing: index + 1 of an entry, 0 for a free slot */
    uint32_t *slot;
    size_t size, used;
} nt_trace_table;

typedef struct nt_trace_launch {
    int process, range;
    uint32_t correlation;
    int64_t time_ns, thread;
} nt_trace_launch;

typedef struct nt_trace {
    char **name;
    size_t name_count, name_capacity;
    nt_trace_process *process;
    size_t process_count, process_capacity;
    nt_trace_device *device;
    size_t device_count, device_capacity;
    nt_trace_shape *shape;
    size_t shape_count, shape_capacity;
    nt_trace_work *work;
    size_t work_count, work_capacity;
    nt_trace_range *range;
    size_t range_count, range_capacity;
    nt_trace_metric *metric;
    size_t metric_count, metric_capacity;
    nt_trace_counted *counted;
    size_t counted_count, counted_capacity;
    double *value;
    size_t value_count, value_capacity;
    int64_t backwards; /* records and ranges that end before they begin: their times are unknown */
    int64_t unplaced;  /* work whose launch was not recorded */
    /* lookups */
    nt_trace_launch *launch;
    size_t launch_count, launch_capacity;
    nt_trace_table names, shapes, launches;
} nt_trace;

void nt_trace_done(nt_trace *trace); /* a trace begins as {0}; this leaves it so */

int nt_trace_name(nt_trace *trace, const char *text); /* the index of an equal text, added when new */
int nt_trace_add_process(nt_trace *trace, int64_t pid, const char *command);
/* The device of this process and ordinal; -1 when it was not told. */
int nt_trace_find_device(const nt_trace *trace, int process, int ordinal);
int nt_trace_add_device(nt_trace *trace, int process, const nt_device_info *info);
int nt_trace_find_shape(nt_trace *trace, const nt_trace_shape *shape); /* added when new */

int nt_trace_open_range(nt_trace *trace, const nt_trace_range *range);
/* A close before the opening counts as backwards and leaves the end unknown. */
void nt_trace_close_range(nt_trace *trace, int range, int64_t close_ns);
/* The range itself, or the nearest of those around it, that was still open then; -1 for none. */
int nt_trace_range_at(const nt_trace *trace, int range, int64_t time_ns);

void nt_trace_add_launch(nt_trace *trace, const nt_trace_launch *launch);
/* Adds a copy of `work`, placed by its process and correlation; times that run backwards become unknown. */
void nt_trace_add_work(nt_trace *trace, const nt_trace_work *work);

/* The index of the metric. */
size_t nt_trace_add_metric(nt_trace *trace, const nt_trace_metric *metric);
/* Adds copies of `counted`, whose first_value it sets, and of its values. */
void nt_trace_add_counted(nt_trace *trace, const nt_trace_counted *counted, const double *values);

/* Threads of a block and shared memory of a launch, for the occupancy model; NT_UNKNOWN for what cannot be. */
int64_t nt_trace_threads(const nt_trace_shape *shape);
int64_t nt_trace_smem_bytes(const nt_trace_shape *shape);

/* Theoretical occupancy of a launch shape, NAN where its device or block is unknown. */
double nt_trace_occupancy(const nt_trace *trace, const nt_trace_shape *shape, const char **limiter);

#endif
