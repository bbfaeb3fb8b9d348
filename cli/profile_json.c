/* profile_json.c: the summary of a profile as one JSON document; names as in the database's views. */
#include <stdlib.h>
#include <string.h>

#include "cli/output.h"
#include "cli/profile_view.h"
#include "core/json.h"

static void set_int(json_t *object, const char *key, int64_t value)
{
    json_object_set_new(object, key, nt_json_int(value));
}

static void set_real(json_t *object, const char *key, double value)
{
    json_object_set_new(object, key, nt_json_real(value));
}

static void set_text(json_t *object, const char *key, const char *text)
{
    json_object_set_new(object, key, nt_json_text(text));
}

static json_t *triple(const int64_t *values)
{
    return json_pack("[I,I,I]", (json_int_t)values[0], (json_int_t)values[1], (json_int_t)values[2]);
}

static json_t *kernel_json(const nt_trace *trace, const nt_kernel_row *row)
{
    const nt_trace_shape *shape = &trace->shape[row->most_shape];
    json_t *o = json_object();
    set_text(o, "kernel", trace->name[row->name]);
    set_int(o, "calls", row->calls);
    set_real(o, "total_ns", row->total_ns);
    set_real(o, "median_ns", row->median_ns);
    set_real(o, "p99_ns", row->p99_ns);
    set_real(o, "share_pct", row->share_pct);
    set_real(o, "first_ns", row->first_ns);
    set_real(o, "steady_ns", row->steady_ns);
    set_real(o, "occupancy_limit_pct", row->occupancy_limit_pct);
    set_text(o, "occupancy_limiter", row->occupancy_limiter);
    set_int(o, "shapes", row->shapes);
    json_object_set_new(o, "grid", triple(shape->grid)); /* of the shape that took the most time */
    json_object_set_new(o, "block", triple(shape->block));
    set_int(o, "registers", shape->registers);
    set_int(o, "smem_bytes", nt_trace_smem_bytes(shape));
    return o;
}

static json_t *range_json(const nt_trace *trace, const nt_range_row *row)
{
    json_t *o = json_object();
    set_text(o, "range", row->name >= 0 ? trace->name[row->name] : NULL); /* null: outside of ranges */
    set_int(o, "calls", row->calls);
    set_int(o, "open", row->open);
    set_int(o, "kernels", row->kernels);
    set_int(o, "copies", row->copies);
    set_real(o, "wall_ns", row->wall_ns);
    set_real(o, "total_ns", row->total_ns);
    set_real(o, "median_ns", row->median_ns);
    set_real(o, "p99_ns", row->p99_ns);
    set_real(o, "share_pct", row->share_pct);
    set_real(o, "first_ns", row->first_ns);
    set_real(o, "steady_ns", row->steady_ns);
    set_real(o, "copy_pct", row->copy_pct);
    set_real(o, "idle_pct", row->idle_pct);
    return o;
}

static json_t *copy_json(const nt_copy_row *row)
{
    json_t *o = json_object();
    set_text(o, "direction", nt_copy_direction_name(row->direction));
    set_text(o, "from_memory", nt_memory_kind_name(row->from));
    set_text(o, "to_memory", nt_memory_kind_name(row->to));
    set_int(o, "calls", row->calls);
    set_int(o, "bytes", row->bytes);
    set_real(o, "total_ns", row->total_ns);
    set_real(o, "share_pct", row->share_pct);
    set_real(o, "bytes_per_s", row->bytes_per_s);
    return o;
}

static json_t *process_json(const nt_trace *trace, const nt_trace_process *process)
{
    json_t *o = json_object();
    set_int(o, "pid", process->pid);
    set_text(o, "command", trace->name[process->name]);
    json_object_set_new(o, "used_cuda", json_boolean(process->used_cuda));
    json_object_set_new(o, "ended", json_boolean(process->ended));
    set_int(o, "graph_launches", process->graph_launches);
    set_int(o, "memory_peak_bytes", process->memory_peak_bytes);
    set_int(o, "dropped", process->dropped);
    set_int(o, "lost_bytes", process->lost_bytes);
    set_text(o, "problem", process->problem_text);
    return o;
}

static json_t *count_json(const nt_trace *trace, const nt_count_row *row)
{
    json_t *o = json_object();
    set_text(o, "kernel", trace->name[row->kernel]);
    set_text(o, "name", trace->name[row->metric]);
    set_int(o, "launches", row->launches);
    set_real(o, "median", row->median);
    set_real(o, "least", row->least);
    set_real(o, "most", row->most);
    set_text(o, "unit", trace->name[row->unit]);
    set_text(o, "counter", row->counter >= 0 ? trace->name[row->counter] : NULL);
    return o;
}

/* null where nothing was to be counted. */
static json_t *counts_json(const nt_trace *trace, const nt_count_summary *counts)
{
    if (counts == NULL)
        return json_null();
    json_t *o = json_object(), *rows = json_array();
    for (size_t i = 0; i < counts->count; i++)
        json_array_append_new(rows, count_json(trace, &counts->row[i]));
    set_text(o, "source", "cupti range");
    set_int(o, "launches", counts->launches);
    set_int(o, "passes", counts->passes > 0 ? counts->passes : NT_UNKNOWN);
    set_text(o, "cache", counts->passes > 0 ? nt_count_cache(counts->passes) : NULL);
    set_int(o, "disturbed", counts->uncounted[NT_UNCOUNTED_DISTURBED]);
    set_int(o, "kernels_in_graphs", counts->uncounted[NT_UNCOUNTED_CAPTURED]);
    json_object_set_new(o, "kernels", rows);
    return o;
}

static void add_whole(json_t *o, const nt_profile_run *run, const nt_trace_summary *s)
{
    set_int(o, "profile", run->id);
    set_text(o, "command", run->command);
    set_text(o, "source", run->source);
    set_int(o, "exit_code", run->exit_code);
    set_int(o, "kernel_calls", s->kernels);
    set_int(o, "copy_calls", s->copies);
    set_int(o, "fill_calls", s->fills);
    set_int(o, "graph_launches", s->graph_launches);
    set_real(o, "gpu_ns", s->kernel_ns);
    set_real(o, "copy_ns", s->copy_ns);
    set_real(o, "fill_ns", s->fill_ns);
    set_real(o, "busy_ns", s->busy_ns);
    set_real(o, "span_ns", s->span_ns);
    set_real(o, "idle_pct", s->idle_pct);
    set_real(o, "copy_pct", s->copy_pct);
    set_int(o, "memory_peak_bytes", s->memory_peak_bytes);
    set_int(o, "open_ranges", s->open_ranges);
    set_int(o, "dropped", s->dropped);
    set_int(o, "lost_bytes", s->lost_bytes);
    set_int(o, "backwards", s->backwards);
    set_int(o, "unplaced", s->unplaced);
}

void nt_profile_print_json(const nt_profile_run *run, const nt_trace *trace, const nt_trace_summary *summary,
                           const nt_count_summary *counts)
{
    json_t *o = nt_output_document("profile");
    json_t *kernels = json_array(), *ranges = json_array(), *copies = json_array(), *processes = json_array();
    add_whole(o, run, summary);
    for (size_t i = 0; i < summary->kernel_count; i++)
        json_array_append_new(kernels, kernel_json(trace, &summary->kernel[i]));
    for (size_t i = 0; i < summary->range_count; i++)
        json_array_append_new(ranges, range_json(trace, &summary->range[i]));
    for (size_t i = 0; i < summary->copy_count; i++)
        json_array_append_new(copies, copy_json(&summary->copy[i]));
    for (size_t i = 0; i < trace->process_count; i++)
        json_array_append_new(processes, process_json(trace, &trace->process[i]));
    json_object_set_new(o, "kernels", kernels);
    json_object_set_new(o, "ranges", ranges);
    json_object_set_new(o, "copies", copies);
    json_object_set_new(o, "processes", processes);
    json_object_set_new(o, "counters", counts_json(trace, counts));
    nt_output_json(o);
}
