/* trace.c: growing the arrays of a trace and finding what is in them already: names, launch shapes, launches. */
#include "core/trace.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/mem.h"
#include "core/occupancy.h"

static const char *const work_names[NT_WORK_KIND_COUNT] = {"kernel", "copy", "fill"};
static const char *const direction_names[NT_COPY_DIRECTION_COUNT] = {
    "unknown",         "host to device",  "device to host",   "host to array", "array to host", "array to array",
    "array to device", "device to array", "device to device", "host to host",  "peer to peer",
};
static const char *const memory_names[NT_MEMORY_KIND_COUNT] = {
    "unknown", "pageable", "pinned", "device", "array", "managed", "device static", "managed static",
};

static const char *name_in(const char *const *names, int count, int index)
{
    return names[index >= 0 && index < count ? index : 0];
}

const char *nt_work_kind_name(int kind)
{
    return name_in(work_names, NT_WORK_KIND_COUNT, kind);
}

const char *nt_copy_direction_name(int direction)
{
    return name_in(direction_names, NT_COPY_DIRECTION_COUNT, direction);
}

const char *nt_memory_kind_name(int kind)
{
    return name_in(memory_names, NT_MEMORY_KIND_COUNT, kind);
}

void nt_trace_done(nt_trace *trace)
{
    for (size_t i = 0; i < trace->name_count; i++)
        free(trace->name[i]);
    free(trace->name);
    free(trace->process);
    free(trace->device);
    free(trace->shape);
    free(trace->work);
    free(trace->range);
    free(trace->launch);
    free(trace->metric);
    free(trace->counted);
    free(trace->value);
    free(trace->names.slot);
    free(trace->shapes.slot);
    free(trace->launches.slot);
    *trace = (nt_trace){0};
}

/* ---- lookups ------------------------------------------------------------------------------------------------------- */

static uint64_t mix(uint64_t hash, uint64_t value)
{
    hash = (hash ^ value) * 0x9E3779B97F4A7C15u;
    return hash ^ (hash >> 29);
}

static uint64_t hash_text(const char *text)
{
    uint64_t hash = 14695981039346656037u;
    for (; *text != '\0'; text++)
        hash = (hash ^ (unsigned char)*text) * 1099511628211u;
    return hash;
}

static uint64_t hash_shape(const nt_trace_shape *shape)
{
    uint64_t hash = mix((uint64_t)shape->name, (uint64_t)shape->device);
    for (int i = 0; i < 3; i++)
        hash = mix(mix(mix(hash, (uint64_t)shape->grid[i]), (uint64_t)shape->block[i]), (uint64_t)shape->cluster[i]);
    hash = mix(hash, (uint64_t)shape->registers);
    return mix(mix(hash, (uint64_t)shape->smem_static_bytes), (uint64_t)shape->smem_dynamic_bytes);
}

static uint64_t hash_launch(int process, uint32_t correlation)
{
    return mix((uint64_t)process + 1, correlation);
}

static bool shape_equal(const nt_trace_shape *a, const nt_trace_shape *b)
{
    return a->name == b->name && a->device == b->device && memcmp(a->grid, b->grid, sizeof a->grid) == 0 &&
           memcmp(a->block, b->block, sizeof a->block) == 0 && memcmp(a->cluster, b->cluster, sizeof a->cluster) == 0 &&
           a->registers == b->registers && a->smem_static_bytes == b->smem_static_bytes &&
           a->smem_dynamic_bytes == b->smem_dynamic_bytes;
}

/* Three kinds of entries in tables of one form: how each is hashed, by index. */
typedef uint64_t (*hash_at)(const nt_trace *trace, uint32_t index);

static uint64_t name_hash_at(const nt_trace *trace, uint32_t index)
{
    return hash_text(trace->name[index]);
}

static uint64_t shape_hash_at(const nt_trace *trace, uint32_t index)
{
    return hash_shape(&trace->shape[index]);
}

static uint64_t launch_hash_at(const nt_trace *trace, uint32_t index)
{
    return hash_launch(trace->launch[index].process, trace->launch[index].correlation);
}

static void place(nt_trace_table *table, uint64_t hash, uint32_t index)
{
    size_t at = (size_t)hash & (table->size - 1);
    while (table->slot[at] != 0)
        at = (at + 1) & (table->size - 1);
    table->slot[at] = index + 1;
    table->used++;
}

static void insert(nt_trace *trace, nt_trace_table *table, hash_at hash, uint32_t index)
{
    if ((table->used + 1) * 2 > table->size) {
        nt_trace_table old = *table;
        table->size = old.size > 0 ? old.size * 2 : 64;
        table->used = 0;
        table->slot = nt_alloc_zero(table->size, sizeof *table->slot);
        for (size_t i = 0; i < old.size; i++)
            if (old.slot[i] != 0)
                place(table, hash(trace, old.slot[i] - 1), old.slot[i] - 1);
        free(old.slot);
    }
    place(table, hash(trace, index), index);
}

/* The next entry of the chain that begins at `hash`; *step is 0 at first. False at its end. */
static bool next_in(const nt_trace_table *table, uint64_t hash, size_t *step, uint32_t *index)
{
    if (table->size == 0)
        return false;
    uint32_t slot = table->slot[((size_t)hash + *step) & (table->size - 1)];
    (*step)++;
    *index = slot - 1;
    return slot != 0;
}

/* ---- entries ----------------------------------------------------------------------------------------------------------- */

/* Room for one more element at the end of an array of the trace. */
#define GROW(trace, member)                                                                                 \
    do {                                                                                                    \
        void *grown = (trace)->member;                                                                      \
        nt_grow(&grown, &(trace)->member##_capacity, (trace)->member##_count + 1, sizeof *(trace)->member); \
        (trace)->member = grown;                                                                            \
    } while (0)

int nt_trace_name(nt_trace *trace, const char *text)
{
    uint64_t hash = hash_text(text);
    uint32_t index;
    for (size_t step = 0; next_in(&trace->names, hash, &step, &index);)
        if (strcmp(trace->name[index], text) == 0)
            return (int)index;
    GROW(trace, name);
    trace->name[trace->name_count] = nt_strdup(text);
    insert(trace, &trace->names, name_hash_at, (uint32_t)trace->name_count);
    return (int)trace->name_count++;
}

int nt_trace_add_process(nt_trace *trace, int64_t pid, const char *command)
{
    GROW(trace, process);
    trace->process[trace->process_count] = (nt_trace_process){.pid = pid, .name = nt_trace_name(trace, command)};
    return (int)trace->process_count++;
}

int nt_trace_find_device(const nt_trace *trace, int process, int ordinal)
{
    for (size_t i = 0; i < trace->device_count; i++)
        if (trace->device[i].process == process && trace->device[i].info.ordinal == ordinal)
            return (int)i;
    return -1;
}

int nt_trace_add_device(nt_trace *trace, int process, const nt_device_info *info)
{
    int found = nt_trace_find_device(trace, process, info->ordinal);
    if (found >= 0)
        return found;
    GROW(trace, device);
    trace->device[trace->device_count] = (nt_trace_device){.info = *info, .process = process};
    return (int)trace->device_count++;
}

int nt_trace_find_shape(nt_trace *trace, const nt_trace_shape *shape)
{
    uint64_t hash = hash_shape(shape);
    uint32_t index;
    for (size_t step = 0; next_in(&trace->shapes, hash, &step, &index);)
        if (shape_equal(&trace->shape[index], shape))
            return (int)index;
    GROW(trace, shape);
    trace->shape[trace->shape_count] = *shape;
    insert(trace, &trace->shapes, shape_hash_at, (uint32_t)trace->shape_count);
    return (int)trace->shape_count++;
}

int nt_trace_open_range(nt_trace *trace, const nt_trace_range *range)
{
    GROW(trace, range);
    trace->range[trace->range_count] = *range;
    return (int)trace->range_count++;
}

void nt_trace_close_range(nt_trace *trace, int range, int64_t close_ns)
{
    nt_trace_range *r = &trace->range[range];
    if (close_ns < r->open_ns)
        trace->backwards++;
    else
        r->close_ns = close_ns;
}

int nt_trace_range_at(const nt_trace *trace, int range, int64_t time_ns)
{
    while (range >= 0) {
        int64_t close = trace->range[range].close_ns;
        if (close == NT_UNKNOWN || time_ns == NT_UNKNOWN || time_ns <= close)
            return range;
        range = trace->range[range].parent;
    }
    return -1;
}

static const nt_trace_launch *find_launch(const nt_trace *trace, int process, uint32_t correlation)
{
    uint64_t hash = hash_launch(process, correlation);
    uint32_t index;
    for (size_t step = 0; next_in(&trace->launches, hash, &step, &index);)
        if (trace->launch[index].process == process && trace->launch[index].correlation == correlation)
            return &trace->launch[index];
    return NULL;
}

void nt_trace_add_launch(nt_trace *trace, const nt_trace_launch *launch)
{
    if (find_launch(trace, launch->process, launch->correlation) != NULL)
        return; /* the outermost call comes first and stands for those inside it */
    GROW(trace, launch);
    trace->launch[trace->launch_count] = *launch;
    insert(trace, &trace->launches, launch_hash_at, (uint32_t)trace->launch_count++);
}

void nt_trace_add_work(nt_trace *trace, const nt_trace_work *work)
{
    GROW(trace, work);
    nt_trace_work *w = &trace->work[trace->work_count++];
    *w = *work;
    if (w->start_ns <= 0 || w->end_ns <= 0) {
        w->start_ns = w->end_ns = NT_UNKNOWN;
    } else if (w->end_ns < w->start_ns) {
        w->start_ns = w->end_ns = NT_UNKNOWN;
        trace->backwards++;
    }
    const nt_trace_launch *launch = find_launch(trace, w->process, (uint32_t)w->correlation);
    w->range = launch != NULL ? nt_trace_range_at(trace, launch->range, launch->time_ns) : -1;
    w->launch_ns = launch != NULL ? launch->time_ns : NT_UNKNOWN;
    w->thread = launch != NULL ? launch->thread : NT_UNKNOWN;
    trace->unplaced += launch == NULL;
}

size_t nt_trace_add_metric(nt_trace *trace, const nt_trace_metric *metric)
{
    GROW(trace, metric);
    trace->metric[trace->metric_count] = *metric;
    return trace->metric_count++;
}

void nt_trace_add_counted(nt_trace *trace, const nt_trace_counted *counted, const double *values)
{
    void *all = trace->value;
    nt_grow(&all, &trace->value_capacity, trace->value_count + counted->count, sizeof *trace->value);
    trace->value = all;
    GROW(trace, counted);
    trace->counted[trace->counted_count] = *counted;
    trace->counted[trace->counted_count++].first_value = trace->value_count;
    if (counted->count > 0)
        memcpy(&trace->value[trace->value_count], values, counted->count * sizeof *values);
    trace->value_count += counted->count;
}

int64_t nt_trace_threads(const nt_trace_shape *shape)
{
    for (int i = 0; i < 3; i++)
        if (shape->block[i] < 1 || shape->block[i] > 65536)
            return NT_UNKNOWN;
    return shape->block[0] * shape->block[1] * shape->block[2];
}

int64_t nt_trace_smem_bytes(const nt_trace_shape *shape)
{
    if (shape->smem_static_bytes == NT_UNKNOWN || shape->smem_dynamic_bytes == NT_UNKNOWN)
        return NT_UNKNOWN;
    return shape->smem_static_bytes + shape->smem_dynamic_bytes;
}

double nt_trace_occupancy(const nt_trace *trace, const nt_trace_shape *shape, const char **limiter)
{
    int64_t threads = nt_trace_threads(shape);
    *limiter = "";
    if (shape->device < 0 || threads == NT_UNKNOWN)
        return (double)NAN;
    nt_occupancy o =
        nt_occupancy_of(&trace->device[shape->device].info, threads, shape->registers, nt_trace_smem_bytes(shape));
    if (isnan(o.pct))
        return o.pct;
    *limiter = nt_limiter_name(o.limiter);
    return o.pct;
}
