/* chrome_trace.c: one track for each stream of a device and each thread of a process. Slices on one track must nest,
 * and kernels of a graph may overlap on their stream, so a stream has as many lanes as it needs. */
#include "profiler/chrome_trace.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "core/json.h"
#include "core/mem.h"
#include "profiler/trace_busy.h"

/* Numbers of tracks that cannot be those of processes. */
enum { FIRST_DEVICE = 1 << 24 };

typedef struct lane {
    int device;
    int64_t stream;
    int64_t end_ns;
} lane;

typedef struct output {
    FILE *file;
    const nt_trace *trace;
    int64_t origin_ns; /* the first time there is: microseconds since then keep their digits */
    bool any;
    lane *lane;
    size_t lane_count, lane_capacity;
} output;

static json_t *micros(const output *out, int64_t ns)
{
    return json_real((double)(ns - out->origin_ns) / 1000.0);
}

static void put(output *out, json_t *event)
{
    fputs(out->any ? ",\n" : "\n", out->file);
    out->any = true;
    json_dumpf(event, out->file, JSON_COMPACT | JSON_REAL_PRECISION(15));
    json_decref(event);
}

static void put_name(output *out, const char *kind, int64_t pid, int64_t tid, const char *name)
{
    put(out, json_pack("{s:s, s:s, s:I, s:I, s:{s:o}}", "ph", "M", "name", kind, "pid", (json_int_t)pid, "tid",
                       (json_int_t)tid, "args", "name", nt_json_text(name)));
}

/* ---- work ------------------------------------------------------------------------------------------------------------ */

/* The first lane of the stream that is free by then. */
static size_t lane_of(output *out, const nt_trace_work *work)
{
    for (size_t i = 0; i < out->lane_count; i++) {
        lane *l = &out->lane[i];
        if (l->device == work->device && l->stream == work->stream && l->end_ns <= work->start_ns) {
            l->end_ns = work->end_ns;
            return i;
        }
    }
    void *lanes = out->lane;
    nt_grow(&lanes, &out->lane_capacity, out->lane_count + 1, sizeof *out->lane);
    out->lane = lanes;
    out->lane[out->lane_count] = (lane){work->device, work->stream, work->end_ns};
    char name[48];
    snprintf(name, sizeof name, "stream %lld", (long long)work->stream);
    put_name(out, "thread_name", FIRST_DEVICE + work->device, (int64_t)out->lane_count, name);
    return out->lane_count++;
}

static json_t *known(int64_t value)
{
    return value != NT_UNKNOWN ? json_integer(value) : json_null();
}

static json_t *kernel_args(const nt_trace *trace, const nt_trace_work *work)
{
    const nt_trace_shape *s = &trace->shape[work->shape];
    const char *limiter;
    double pct = nt_trace_occupancy(trace, s, &limiter);
    return json_pack("{s:[I,I,I], s:[I,I,I], s:o, s:o, s:o, s:s, s:o}", "grid", (json_int_t)s->grid[0],
                     (json_int_t)s->grid[1], (json_int_t)s->grid[2], "block", (json_int_t)s->block[0],
                     (json_int_t)s->block[1], (json_int_t)s->block[2], "registers", known(s->registers), "smem_bytes",
                     known(nt_trace_smem_bytes(s)), "occupancy_limit_pct", pct == pct ? json_real(pct) : json_null(),
                     "occupancy_limiter", limiter, "correlation", known(work->correlation));
}

static json_t *transfer_args(const nt_trace_work *work)
{
    return json_pack("{s:o, s:s, s:s, s:o}", "bytes", known(work->bytes), "from", nt_memory_kind_name(work->from), "to",
                     nt_memory_kind_name(work->to), "correlation", known(work->correlation));
}

static void put_work(output *out, const nt_trace_work *work)
{
    const nt_trace *trace = out->trace;
    size_t track = lane_of(out, work);
    bool kernel = work->kind == NT_WORK_KERNEL;
    const char *name = kernel                       ? trace->name[trace->shape[work->shape].name]
                       : work->kind == NT_WORK_COPY ? nt_copy_direction_name(work->direction)
                                                    : "fill";
    json_t *args = kernel ? kernel_args(trace, work) : transfer_args(work);
    if (work->range >= 0)
        json_object_set_new(args, "range", nt_json_text(trace->name[trace->range[work->range].name]));
    put(out, json_pack("{s:s, s:o, s:s, s:I, s:I, s:o, s:o, s:o}", "ph", "X", "name", nt_json_text(name), "cat",
                       nt_work_kind_name(work->kind), "pid", FIRST_DEVICE + (json_int_t)work->device, "tid",
                       (json_int_t)track, "ts", micros(out, work->start_ns), "dur",
                       json_real((double)(work->end_ns - work->start_ns) / 1000.0), "args", args));
}

/* ---- ranges ---------------------------------------------------------------------------------------------------------- */

static int64_t pid_of(const output *out, int process)
{
    int64_t pid = out->trace->process[process].pid;
    return pid != NT_UNKNOWN ? pid : process;
}

/* A pushed range is a slice of its thread; one begun and ended by id may overlap others and has a track of its own
 * kind. A range never closed has no end here either: viewers draw it to the last moment. */
static void put_range(output *out, size_t index)
{
    const nt_trace_range *range = &out->trace->range[index];
    bool closed = range->close_ns != NT_UNKNOWN;
    const char *phase = range->free_standing ? "b" : closed ? "X" : "B";
    json_t *event =
        json_pack("{s:s, s:o, s:s, s:I, s:I, s:o}", "ph", phase, "name", nt_json_text(out->trace->name[range->name]),
                  "cat", "range", "pid", (json_int_t)pid_of(out, range->process), "tid",
                  (json_int_t)(range->thread & 0xFFFFFF), "ts", micros(out, range->open_ns));
    if (range->free_standing)
        json_object_set_new(event, "id", json_integer((json_int_t)index));
    if (!range->free_standing && closed)
        json_object_set_new(event, "dur", json_real((double)(range->close_ns - range->open_ns) / 1000.0));
    json_t *ending = range->free_standing && closed ? json_copy(event) : NULL;
    put(out, event);
    if (ending == NULL)
        return;
    json_object_set_new(ending, "ph", json_string("e"));
    json_object_set_new(ending, "ts", micros(out, range->close_ns));
    put(out, ending);
}

static void put_tracks(output *out)
{
    for (size_t i = 0; i < out->trace->process_count; i++)
        put_name(out, "process_name", pid_of(out, (int)i), 0, out->trace->name[out->trace->process[i].name]);
    for (size_t i = 0; i < out->trace->device_count; i++)
        put_name(out, "process_name", FIRST_DEVICE + (int64_t)i, 0, out->trace->device[i].info.name);
}

static int64_t first_time(const nt_trace *trace)
{
    int64_t first = INT64_MAX;
    for (size_t i = 0; i < trace->work_count; i++)
        if (trace->work[i].start_ns != NT_UNKNOWN && trace->work[i].start_ns < first)
            first = trace->work[i].start_ns;
    for (size_t i = 0; i < trace->range_count; i++)
        if (trace->range[i].open_ns < first)
            first = trace->range[i].open_ns;
    return first == INT64_MAX ? 0 : first;
}

static void put_all(output *out)
{
    size_t count;
    size_t *order = nt_trace_by_start(out->trace, &count);
    fputs("{\"displayTimeUnit\":\"ns\",\"traceEvents\":[", out->file);
    put_tracks(out);
    for (size_t i = 0; i < count; i++)
        put_work(out, &out->trace->work[order[i]]);
    for (size_t i = 0; i < out->trace->range_count; i++)
        put_range(out, i);
    fputs("\n]}\n", out->file);
    free(order);
}

nt_status nt_chrome_trace_write(const nt_trace *trace, const char *path, nt_error *err)
{
    nt_str beside = {0};
    nt_str_addf(&beside, "%s.part", path);
    output out = {.file = fopen(nt_str_text(&beside), "we"), .trace = trace, .origin_ns = first_time(trace)};
    nt_status status = NT_OK;
    if (out.file == NULL) {
        status = nt_fail(err, NT_IO, "cannot write %s: %s", path, strerror(errno));
    } else {
        put_all(&out);
        errno = 0;
        bool bad = ferror(out.file) != 0;
        bad = fclose(out.file) != 0 || bad;
        if (bad || rename(nt_str_text(&beside), path) != 0) {
            status = nt_fail(err, NT_IO, "cannot write %s: %s", path, strerror(errno != 0 ? errno : EIO));
            unlink(nt_str_text(&beside));
        }
    }
    free(out.lane);
    nt_str_done(&beside);
    return status;
}
