/* profile.c: profiles of programs: rows that a growing trace has not stored yet, one transaction a call. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/mem.h"
#include "db/columns.h"
#include "db/writer.h"

static const char doing[] = "storing a profile";

typedef struct profile_writer {
    nt_profile_sink sink;
    nt_db db;
    int64_t run_id;
    sqlite3_stmt *add_kernel, *add_range, *close_range, *add_work, *put_process, *add_counter;
    size_t kernels, ranges, works, counted; /* stored so far */
    size_t *open;                           /* numbers of stored ranges that were open then */
    size_t open_count, open_capacity;
} profile_writer;

static void bind_int(sqlite3_stmt *stmt, int index, int64_t value)
{
    if (value == NT_UNKNOWN)
        sqlite3_bind_null(stmt, index);
    else
        sqlite3_bind_int64(stmt, index, value);
}

static void bind_index(sqlite3_stmt *stmt, int index, int value)
{
    bind_int(stmt, index, value >= 0 ? value : NT_UNKNOWN);
}

static void bind_text_or_null(sqlite3_stmt *stmt, int index, const char *text)
{
    if (text == NULL || text[0] == '\0')
        sqlite3_bind_null(stmt, index);
    else
        nt_bind_text(stmt, index, text);
}

static nt_status begin(nt_profile_sink *sink, nt_profile_run *run, nt_error *err)
{
    profile_writer *w = sink->state;
    sqlite3_stmt *stmt;
    nt_status status = nt_db_prepare(&w->db,
                                     "INSERT INTO profile_run (source, state, command, nntune_version, host, "
                                     "started_unix_s) VALUES (?, 'running', ?, ?, ?, ?) RETURNING id",
                                     &stmt, doing, err);
    if (status != NT_OK)
        return status;
    nt_bind_text(stmt, 1, run->source);
    nt_bind_text(stmt, 2, run->command);
    nt_bind_text(stmt, 3, run->nntune_version);
    nt_bind_text(stmt, 4, run->host);
    nt_bind_real(stmt, 5, run->started_unix_s);
    status = nt_db_begin(&w->db, doing, err);
    if (status == NT_OK) {
        status = nt_db_step_id(&w->db, stmt, &run->id, doing, err);
        status = nt_db_finish(&w->db, status, doing, err);
    }
    sqlite3_finalize(stmt);
    w->run_id = run->id;
    return status;
}

static nt_status end(nt_profile_sink *sink, const nt_profile_run *run, nt_error *err)
{
    profile_writer *w = sink->state;
    sqlite3_stmt *stmt;
    nt_status status = nt_db_prepare(
        &w->db, "UPDATE profile_run SET state = ?, ended_unix_s = ?, exit_code = ? WHERE id = ?", &stmt, doing, err);
    if (status != NT_OK)
        return status;
    nt_bind_text(stmt, 1, run->state);
    nt_bind_real(stmt, 2, run->ended_unix_s);
    bind_int(stmt, 3, run->exit_code);
    sqlite3_bind_int64(stmt, 4, w->run_id);
    status = nt_db_step(&w->db, stmt, doing, err);
    sqlite3_finalize(stmt);
    return status;
}

/* ---- rows ----------------------------------------------------------------------------------------------------------- */

static nt_status put_kernel(profile_writer *w, const nt_trace *trace, size_t number, nt_error *err)
{
    const nt_trace_shape *shape = &trace->shape[number];
    const nt_device_info *device = shape->device >= 0 ? &trace->device[shape->device].info : NULL;
    const char *limiter;
    double pct = nt_trace_occupancy(trace, shape, &limiter);
    sqlite3_stmt *stmt = w->add_kernel;
    sqlite3_bind_int64(stmt, 1, w->run_id);
    sqlite3_bind_int64(stmt, 2, (int64_t)number);
    nt_bind_text(stmt, 3, trace->name[shape->name]);
    bind_text_or_null(stmt, 4, device != NULL ? device->name : NULL);
    bind_text_or_null(stmt, 5, device != NULL ? device->uuid : NULL);
    for (int i = 0; i < 3; i++) {
        sqlite3_bind_int64(stmt, 6 + i, shape->grid[i]);
        sqlite3_bind_int64(stmt, 9 + i, shape->block[i]);
    }
    bind_int(stmt, 12, shape->registers);
    bind_int(stmt, 13, shape->smem_static_bytes);
    bind_int(stmt, 14, shape->smem_dynamic_bytes);
    nt_bind_real(stmt, 15, pct);
    bind_text_or_null(stmt, 16, limiter);
    return nt_db_step(&w->db, stmt, doing, err);
}

static nt_status put_range(profile_writer *w, const nt_trace *trace, size_t number, nt_error *err)
{
    const nt_trace_range *range = &trace->range[number];
    sqlite3_stmt *stmt = w->add_range;
    sqlite3_bind_int64(stmt, 1, w->run_id);
    sqlite3_bind_int64(stmt, 2, (int64_t)number);
    nt_bind_text(stmt, 3, trace->name[range->name]);
    sqlite3_bind_int64(stmt, 4, range->process);
    bind_int(stmt, 5, range->thread);
    bind_index(stmt, 6, range->parent);
    sqlite3_bind_int(stmt, 7, range->free_standing);
    sqlite3_bind_int64(stmt, 8, range->open_ns);
    bind_int(stmt, 9, range->close_ns);
    if (range->close_ns == NT_UNKNOWN) {
        void *open = w->open;
        nt_grow(&open, &w->open_capacity, w->open_count + 1, sizeof *w->open);
        w->open = open;
        w->open[w->open_count++] = number;
    }
    return nt_db_step(&w->db, stmt, doing, err);
}

static nt_status close_ranges(profile_writer *w, const nt_trace *trace, nt_error *err)
{
    nt_status status = NT_OK;
    size_t left = 0;
    for (size_t i = 0; i < w->open_count && status == NT_OK; i++) {
        int64_t close_ns = trace->range[w->open[i]].close_ns;
        if (close_ns == NT_UNKNOWN) {
            w->open[left++] = w->open[i];
            continue;
        }
        sqlite3_bind_int64(w->close_range, 1, close_ns);
        sqlite3_bind_int64(w->close_range, 2, w->run_id);
        sqlite3_bind_int64(w->close_range, 3, (int64_t)w->open[i]);
        status = nt_db_step(&w->db, w->close_range, doing, err);
    }
    w->open_count = left;
    return status;
}

static nt_status put_work(profile_writer *w, const nt_trace *trace, size_t number, nt_error *err)
{
    const nt_trace_work *work = &trace->work[number];
    bool copy = work->kind == NT_WORK_COPY;
    sqlite3_stmt *stmt = w->add_work;
    sqlite3_bind_int64(stmt, 1, w->run_id);
    sqlite3_bind_int64(stmt, 2, (int64_t)number);
    nt_bind_text(stmt, 3, nt_work_kind_name(work->kind));
    sqlite3_bind_int64(stmt, 4, work->process);
    bind_text_or_null(stmt, 5, work->device >= 0 ? trace->device[work->device].info.uuid : NULL);
    bind_index(stmt, 6, work->shape);
    bind_index(stmt, 7, work->range);
    bind_int(stmt, 8, work->start_ns);
    bind_int(stmt, 9, work->start_ns != NT_UNKNOWN ? work->end_ns - work->start_ns : NT_UNKNOWN);
    bind_int(stmt, 10, work->launch_ns);
    bind_int(stmt, 11, work->thread);
    bind_int(stmt, 12, work->stream);
    bind_int(stmt, 13, work->graph);
    bind_int(stmt, 14, work->correlation);
    bind_int(stmt, 15, work->bytes);
    bind_text_or_null(stmt, 16, copy ? nt_copy_direction_name(work->direction) : NULL);
    bind_text_or_null(stmt, 17, copy ? nt_memory_kind_name(work->from) : NULL);
    bind_text_or_null(stmt, 18, copy ? nt_memory_kind_name(work->to) : NULL);
    return nt_db_step(&w->db, stmt, doing, err);
}

static nt_status put_counter(profile_writer *w, const nt_trace *trace, size_t number, size_t k, nt_error *err)
{
    const nt_trace_counted *counted = &trace->counted[number];
    const nt_trace_metric *metric = &trace->metric[counted->first_metric + k];
    sqlite3_stmt *stmt = w->add_counter;
    sqlite3_bind_int64(stmt, 1, w->run_id);
    sqlite3_bind_int64(stmt, 2, (int64_t)number);
    nt_bind_text(stmt, 3, trace->name[metric->name]);
    sqlite3_bind_int64(stmt, 4, counted->process);
    nt_bind_text(stmt, 5, trace->name[counted->name]);
    bind_text_or_null(stmt, 6, counted->device >= 0 ? trace->device[counted->device].info.uuid : NULL);
    sqlite3_bind_int64(stmt, 7, counted->correlation);
    sqlite3_bind_int64(stmt, 8, counted->time_ns);
    nt_bind_real(stmt, 9, trace->value[counted->first_value + k]);
    nt_bind_text(stmt, 10, trace->name[metric->unit]);
    bind_text_or_null(stmt, 11, metric->counter >= 0 ? trace->name[metric->counter] : NULL);
    sqlite3_bind_int(stmt, 12, counted->passes);
    nt_bind_text(stmt, 13, counted->passes > 1 ? "replayed" : "as_left");
    return nt_db_step(&w->db, stmt, doing, err);
}

static nt_status put_counted(profile_writer *w, const nt_trace *trace, size_t number, nt_error *err)
{
    nt_status status = NT_OK;
    for (size_t k = 0; k < trace->counted[number].count && status == NT_OK; k++)
        status = put_counter(w, trace, number, k, err);
    return status;
}

static nt_status put_process(profile_writer *w, const nt_trace *trace, size_t number, nt_error *err)
{
    const nt_trace_process *process = &trace->process[number];
    sqlite3_stmt *stmt = w->put_process;
    sqlite3_bind_int64(stmt, 1, w->run_id);
    sqlite3_bind_int64(stmt, 2, (int64_t)number);
    bind_int(stmt, 3, process->pid);
    nt_bind_text(stmt, 4, trace->name[process->name]);
    sqlite3_bind_int(stmt, 5, process->used_cuda);
    sqlite3_bind_int64(stmt, 6, process->graph_launches);
    sqlite3_bind_int64(stmt, 7, process->memory_peak_bytes);
    sqlite3_bind_int64(stmt, 8, process->dropped);
    sqlite3_bind_int64(stmt, 9, process->lost_bytes);
    bind_int(stmt, 10, process->problem != 0 ? process->problem : NT_UNKNOWN);
    bind_text_or_null(stmt, 11, process->problem_text);
    return nt_db_step(&w->db, stmt, doing, err);
}

static nt_status put_new(profile_writer *w, const nt_trace *trace, nt_error *err)
{
    nt_status status = NT_OK;
    for (size_t i = 0; i < trace->process_count && status == NT_OK; i++)
        status = put_process(w, trace, i, err);
    for (size_t i = w->kernels; i < trace->shape_count && status == NT_OK; i++)
        status = put_kernel(w, trace, i, err);
    if (status == NT_OK)
        status = close_ranges(w, trace, err);
    for (size_t i = w->ranges; i < trace->range_count && status == NT_OK; i++)
        status = put_range(w, trace, i, err);
    for (size_t i = w->works; i < trace->work_count && status == NT_OK; i++)
        status = put_work(w, trace, i, err);
    for (size_t i = w->counted; i < trace->counted_count && status == NT_OK; i++)
        status = put_counted(w, trace, i, err);
    return status;
}

static nt_status put(nt_profile_sink *sink, const nt_trace *trace, nt_error *err)
{
    profile_writer *w = sink->state;
    nt_status status = nt_db_begin(&w->db, doing, err);
    if (status == NT_OK) {
        status = put_new(w, trace, err);
        status = nt_db_finish(&w->db, status, doing, err);
    }
    if (status != NT_OK)
        return status;
    w->kernels = trace->shape_count;
    w->ranges = trace->range_count;
    w->works = trace->work_count;
    w->counted = trace->counted_count;
    return NT_OK;
}

/* ---- opening ---------------------------------------------------------------------------------------------------------- */

static void close_sink(nt_profile_sink *sink)
{
    profile_writer *w = sink->state;
    sqlite3_finalize(w->add_kernel);
    sqlite3_finalize(w->add_range);
    sqlite3_finalize(w->close_range);
    sqlite3_finalize(w->add_work);
    sqlite3_finalize(w->put_process);
    sqlite3_finalize(w->add_counter);
    nt_db_close(&w->db);
    free(w->open);
    free(w);
}

static nt_status prepare(profile_writer *w, nt_error *err)
{
    const struct {
        const char *sql;
        sqlite3_stmt **stmt;
    } rows[] = {
        {"INSERT INTO profile_kernel (run_id, number, name, device, device_uuid, grid_x, grid_y, grid_z, block_x, "
         "block_y, "
         "block_z, registers, smem_static_bytes, smem_dynamic_bytes, occupancy_limit_pct, occupancy_limiter) "
         "VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
         &w->add_kernel},
        {"INSERT INTO profile_range (run_id, number, name, process, thread, parent, free_standing, open_ns, close_ns) "
         "VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)",
         &w->add_range},
        {"UPDATE profile_range SET close_ns = ? WHERE run_id = ? AND number = ?", &w->close_range},
        {"INSERT INTO profile_work (run_id, number, kind, process, device_uuid, kernel, \"range\", start_ns, "
         "duration_ns, "
         "launch_ns, thread, stream, graph, correlation, bytes, direction, from_memory, to_memory) "
         "VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
         &w->add_work},
        {"INSERT OR REPLACE INTO profile_process (run_id, number, pid, command, used_cuda, graph_launches, "
         "memory_peak_bytes, dropped, lost_bytes, problem, problem_text) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
         &w->put_process},
        {"INSERT OR REPLACE INTO profile_counter (run_id, number, name, process, kernel, device_uuid, correlation, "
         "counted_ns, value, unit, counter, source, passes, cache) "
         "VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, 'cupti range', ?, ?)",
         &w->add_counter},
    };
    nt_status status = NT_OK;
    for (size_t i = 0; i < sizeof rows / sizeof rows[0] && status == NT_OK; i++)
        status = nt_db_prepare(&w->db, rows[i].sql, rows[i].stmt, doing, err);
    return status;
}

nt_status nt_db_profile_open(const char *path, nt_profile_sink **out, nt_error *err)
{
    profile_writer *w = nt_alloc_zero(1, sizeof *w);
    *out = NULL;
    w->sink = (nt_profile_sink){.state = w, .begin = begin, .put = put, .end = end, .close = close_sink};
    nt_status status = nt_db_open_write(&w->db, path, NULL, err);
    if (status != NT_OK) {
        free(w);
        return status;
    }
    status = prepare(w, err);
    if (status != NT_OK) {
        close_sink(&w->sink);
        return status;
    }
    *out = &w->sink;
    return NT_OK;
}
