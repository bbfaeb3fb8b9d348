/* nsys.c: an SQLite export of Nsight Systems into a trace: kernels, copies, fills, runtime calls, NVTX ranges, devices.
 *
 * A table is there only if it would have rows, and columns come and go between versions: what is absent is unknown.
 * Work finds its range as it does in our own traces: the runtime call with its correlation id, and the ranges open on
 * that call's thread. */
#include <stdlib.h>
#include <string.h>

#include "core/mem.h"
#include "db/columns.h"
#include "db/failure.h"
#include "db/open.h"

enum { PUSH_POP = 59, START_END = 60, MOST_DEVICES = 16, MOST_ORDINALS = 256 };

/* A thread's id packs its process: the process is all but the low 24 bits. */
#define PROCESS_OF(thread) ((thread) & ~INT64_C(0xFFFFFF))

/* How a process counted a GPU. */
typedef struct counted {
    int64_t pid, ordinal, gpu;
} counted;

typedef struct reading {
    nt_db db;
    nt_trace *trace;
    int64_t base_ns; /* what the export's times are since */
    nt_device_info device[MOST_DEVICES];
    int device_count;
    counted ordinal[MOST_ORDINALS];
    int ordinal_count;
    nt_status status;
    nt_error *err;
} reading;

static const char reading_export[] = "reading an Nsight Systems export";

static bool has(reading *r, const char *table, const char *column)
{
    static const char sql[] = "SELECT count(*) FROM pragma_table_info(?1) WHERE ?2 IS NULL OR name = ?2 COLLATE NOCASE";
    sqlite3_stmt *stmt;
    int64_t count = 0;
    if (r->status != NT_OK)
        return false;
    r->status = nt_db_prepare(&r->db, sql, &stmt, reading_export, r->err);
    if (r->status != NT_OK)
        return false;
    nt_bind_text(stmt, 1, table);
    if (column != NULL)
        nt_bind_text(stmt, 2, column);
    r->status = nt_db_step_id(&r->db, stmt, &count, reading_export, r->err);
    sqlite3_finalize(stmt);
    return count > 0;
}

/* One column of a SELECT: itself, NULL where the table lacks it, or with '=' the text that it is the id of. */
static void add_column(reading *r, nt_str *sql, const char *table, const char *column)
{
    bool text = column[0] == '=';
    const char *name = column + text;
    nt_str_add(sql, sql->length > strlen("SELECT ") ? ", " : "");
    if (!has(r, table, name) || (text && !has(r, "StringIds", "value")))
        nt_str_add(sql, "NULL");
    else if (text)
        nt_str_addf(sql, "(SELECT value FROM StringIds WHERE id = %s.%s)", table, name);
    else
        nt_str_addf(sql, "%s.%s", table, name);
}

/* Calls `each` for the rows of a table. `columns` are separated by blanks. */
static void each_row(reading *r, const char *table, const char *columns, const char *order,
                     void (*each)(reading *r, sqlite3_stmt *row))
{
    nt_str sql = {0};
    sqlite3_stmt *stmt;
    if (!has(r, table, NULL))
        return;
    char *list = nt_strdup(columns), *rest = list;
    nt_str_add(&sql, "SELECT ");
    for (const char *column; (column = strsep(&rest, " ")) != NULL;)
        add_column(r, &sql, table, column);
    free(list);
    nt_str_addf(&sql, " FROM %s %s", table, order);
    if (r->status == NT_OK)
        r->status = nt_db_prepare(&r->db, nt_str_text(&sql), &stmt, reading_export, r->err);
    nt_str_done(&sql);
    if (r->status != NT_OK)
        return;
    int rc;
    while ((rc = sqlite3_step(stmt)) == SQLITE_ROW)
        each(r, stmt);
    if (rc != SQLITE_DONE)
        r->status = nt_db_error(&r->db, reading_export, r->err);
    sqlite3_finalize(stmt);
}

static int64_t integer(sqlite3_stmt *row, int index)
{
    return sqlite3_column_type(row, index) == SQLITE_INTEGER ? sqlite3_column_int64(row, index) : NT_UNKNOWN;
}

static int64_t within(sqlite3_stmt *row, int index, int64_t least, int64_t most)
{
    int64_t value = integer(row, index);
    return value >= least && value <= most ? value : NT_UNKNOWN;
}

/* Times of one session, in nanoseconds since 1970 where the export says when it began. */
static int64_t time_at(const reading *r, sqlite3_stmt *row, int index)
{
    int64_t value = within(row, index, INT64_MIN / 4, INT64_MAX / 4);
    return value == NT_UNKNOWN ? value : value + r->base_ns;
}

static int process_of(reading *r, int64_t global_id)
{
    int64_t id = global_id == NT_UNKNOWN ? 0 : PROCESS_OF(global_id);
    int64_t pid = id >> 24 & 0xFFFFFF;
    for (size_t i = 0; i < r->trace->process_count; i++)
        if (r->trace->process[i].pid == pid)
            return (int)i;
    int index = nt_trace_add_process(r->trace, pid, "(imported)");
    r->trace->process[index].used_cuda = r->trace->process[index].ended = true;
    return index;
}

/* ---- devices -------------------------------------------------------------------------------------------------------- */

static void take_device(reading *r, sqlite3_stmt *row)
{
    int64_t major = within(row, 3, 1, 99), minor = within(row, 4, 0, 9), warps = within(row, 6, 1, 1024);
    if (r->device_count == MOST_DEVICES)
        return;
    nt_device_info *info = &r->device[r->device_count++];
    nt_device_info_init(info, NT_DEVICE_CUDA);
    int64_t id = within(row, 0, 0, 65535);
    info->ordinal = id == NT_UNKNOWN ? -1 : (int)id;
    nt_copy(info->name, sizeof info->name, nt_read_text(row, 1));
    nt_copy(info->uuid, sizeof info->uuid, nt_read_text(row, 2));
    info->warp_size = 32;
    if (major != NT_UNKNOWN && minor != NT_UNKNOWN)
        info->compute_capability = major * 10 + minor;
    info->sm_count = within(row, 5, 1, 100000);
    if (warps != NT_UNKNOWN)
        info->max_threads_per_sm = warps * 32;
    info->max_blocks_per_sm = within(row, 7, 1, 1024);
    info->smem_per_sm_bytes = within(row, 8, 1, 1 << 30);
    info->regs_per_sm = within(row, 9, 1, 1 << 30);
    info->regs_per_block = within(row, 10, 1, 1 << 30);
    info->memory_bytes = within(row, 11, 1, INT64_MAX / 4);
}

static void take_ordinal(reading *r, sqlite3_stmt *row)
{
    if (r->ordinal_count < MOST_ORDINALS)
        r->ordinal[r->ordinal_count++] = (counted){integer(row, 0), integer(row, 1), integer(row, 2)};
}

static int device_of(reading *r, int process, int64_t ordinal)
{
    int64_t gpu = ordinal;
    for (int i = 0; i < r->ordinal_count; i++)
        if (r->ordinal[i].pid == r->trace->process[process].pid && r->ordinal[i].ordinal == ordinal)
            gpu = r->ordinal[i].gpu;
    for (int i = 0; i < r->device_count; i++)
        if (r->device[i].ordinal == gpu)
            return nt_trace_add_device(r->trace, process, &r->device[i]);
    return -1;
}

/* ---- ranges and calls --------------------------------------------------------------------------------------------------- */

static void take_base(reading *r, sqlite3_stmt *row)
{
    int64_t base = within(row, 0, 0, INT64_MAX / 4);
    r->base_ns = base == NT_UNKNOWN ? 0 : base;
}

/* Ranges come by thread and beginning; the one around each is the nearest before it, on its thread, that ends later. */
static void take_range(reading *r, sqlite3_stmt *row)
{
    int64_t type = integer(row, 2), thread = integer(row, 3);
    if ((type != PUSH_POP && type != START_END) || integer(row, 0) == NT_UNKNOWN)
        return;
    nt_trace *trace = r->trace;
    const char *text = nt_read_text(row, 4);
    nt_trace_range range = {.name = nt_trace_name(trace, text[0] != '\0' ? text : nt_read_text(row, 5)),
                            .process = process_of(r, thread),
                            .parent = -1,
                            .free_standing = type == START_END,
                            .thread = thread,
                            .open_ns = time_at(r, row, 0),
                            .close_ns = NT_UNKNOWN};
    int before = (int)trace->range_count - 1;
    while (before >= 0 && trace->range[before].thread == thread && trace->range[before].close_ns != NT_UNKNOWN &&
           trace->range[before].close_ns < range.open_ns)
        before = trace->range[before].parent;
    if (before >= 0 && trace->range[before].thread == thread)
        range.parent = before;
    int index = nt_trace_open_range(trace, &range);
    if (integer(row, 1) != NT_UNKNOWN)
        nt_trace_close_range(trace, index, time_at(r, row, 1));
}

/* The last range of this thread that opened before then; ranges are sorted by thread, then time. */
static int range_before(const nt_trace *trace, int64_t thread, int64_t time_ns)
{
    size_t low = 0, high = trace->range_count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        const nt_trace_range *range = &trace->range[middle];
        if (range->thread < thread || (range->thread == thread && range->open_ns <= time_ns))
            low = middle + 1;
        else
            high = middle;
    }
    return low > 0 && trace->range[low - 1].thread == thread ? (int)low - 1 : -1;
}

static void take_call(reading *r, sqlite3_stmt *row)
{
    int64_t thread = integer(row, 1), start_ns = time_at(r, row, 0);
    int64_t correlation = within(row, 2, 0, UINT32_MAX);
    if (correlation == NT_UNKNOWN || start_ns == NT_UNKNOWN)
        return;
    int range = nt_trace_range_at(r->trace, range_before(r->trace, thread, start_ns), start_ns);
    nt_trace_add_launch(r->trace, &(nt_trace_launch){.process = process_of(r, thread),
                                                     .range = range,
                                                     .correlation = (uint32_t)correlation,
                                                     .time_ns = start_ns,
                                                     .thread = thread});
}

/* ---- work ---------------------------------------------------------------------------------------------------------------- */

/* Columns 0 to 5 are those of every kind of work. */
static nt_trace_work work_of(reading *r, sqlite3_stmt *row, nt_work_kind kind)
{
    nt_trace_work work = {.kind = kind,
                          .shape = -1,
                          .start_ns = time_at(r, row, 0),
                          .end_ns = time_at(r, row, 1),
                          .process = process_of(r, integer(row, 5)),
                          .stream = integer(row, 3),
                          .correlation = within(row, 4, 0, UINT32_MAX),
                          .graph = NT_UNKNOWN,
                          .bytes = NT_UNKNOWN};
    work.device = device_of(r, work.process, integer(row, 2));
    return work;
}

static void take_kernel(reading *r, sqlite3_stmt *row)
{
    nt_trace_work work = work_of(r, row, NT_WORK_KERNEL);
    const char *name = nt_read_text(row, 6);
    nt_trace_shape shape = {.name = nt_trace_name(r->trace, name[0] != '\0' ? name : nt_read_text(row, 17)),
                            .device = work.device};
    for (int i = 0; i < 3; i++) {
        int64_t grid = within(row, 7 + i, 0, INT32_MAX), block = within(row, 10 + i, 0, INT32_MAX);
        shape.grid[i] = grid != NT_UNKNOWN ? grid : 0;
        shape.block[i] = block != NT_UNKNOWN ? block : 0;
    }
    shape.registers = within(row, 13, 0, 65536);
    shape.smem_static_bytes = within(row, 14, 0, 1 << 30);
    shape.smem_dynamic_bytes = within(row, 15, 0, 1 << 30);
    work.graph = within(row, 16, 1, UINT32_MAX);
    work.shape = nt_trace_find_shape(r->trace, &shape);
    nt_trace_add_work(r->trace, &work);
}

/* Exports number kinds of memory from pageable = 0, with unknown last. */
static int memory_at(sqlite3_stmt *row, int index)
{
    int64_t kind = within(row, index, 0, NT_MEMORY_KIND_COUNT - 2);
    return kind == NT_UNKNOWN ? NT_MEMORY_UNKNOWN : (int)kind + 1;
}

/* Copies that unified memory makes by itself have numbers of their own. */
static int direction_at(sqlite3_stmt *row, int index)
{
    static const int unified[] = {NT_COPY_HOST_TO_DEVICE, NT_COPY_DEVICE_TO_HOST, NT_COPY_DEVICE_TO_DEVICE};
    int64_t kind = within(row, index, 0, NT_COPY_DIRECTION_COUNT + 2);
    if (kind == NT_UNKNOWN)
        return NT_COPY_UNKNOWN;
    return kind < NT_COPY_DIRECTION_COUNT ? (int)kind : unified[kind - NT_COPY_DIRECTION_COUNT];
}

static void take_copy(reading *r, sqlite3_stmt *row)
{
    nt_trace_work work = work_of(r, row, NT_WORK_COPY);
    work.bytes = within(row, 6, 0, INT64_MAX / 4);
    work.direction = direction_at(row, 7);
    work.from = memory_at(row, 8);
    work.to = memory_at(row, 9);
    nt_trace_add_work(r->trace, &work);
}

static void take_fill(reading *r, sqlite3_stmt *row)
{
    nt_trace_work work = work_of(r, row, NT_WORK_FILL);
    work.bytes = within(row, 6, 0, INT64_MAX / 4);
    nt_trace_add_work(r->trace, &work);
}

/* ---- the whole ------------------------------------------------------------------------------------------------------------ */

static void read_tables(reading *r)
{
    each_row(r, "TARGET_INFO_SESSION_START_TIME", "utcEpochNs", "", take_base);
    each_row(
        r, "TARGET_INFO_GPU",
        "id name uuid computeMajor computeMinor smCount maxWarpsPerSm maxBlocksPerSm maxShmemPerSm maxRegistersPerSm "
        "maxRegistersPerBlock totalMemory",
        "", take_device);
    each_row(r, "TARGET_INFO_CUDA_DEVICE", "pid cudaId gpuId", "", take_ordinal);
    each_row(r, "NVTX_EVENTS", "start end eventType globalTid text =textId", "ORDER BY globalTid, start, end DESC",
             take_range);
    each_row(r, "CUPTI_ACTIVITY_KIND_RUNTIME", "start globalTid correlationId", "ORDER BY start", take_call);
    each_row(
        r, "CUPTI_ACTIVITY_KIND_KERNEL",
        "start end deviceId streamId correlationId globalPid =demangledName gridX gridY gridZ blockX blockY blockZ "
        "registersPerThread staticSharedMemory dynamicSharedMemory graphId =shortName",
        "", take_kernel);
    each_row(r, "CUPTI_ACTIVITY_KIND_MEMCPY",
             "start end deviceId streamId correlationId globalPid bytes copyKind srcKind dstKind", "", take_copy);
    each_row(r, "CUPTI_ACTIVITY_KIND_MEMSET", "start end deviceId streamId correlationId globalPid bytes", "",
             take_fill);
}

/* What the file is, when it is no export with anything in it. */
static nt_status refuse(reading *r)
{
    bool strings = has(r, "StringIds", NULL);
    if (r->status != NT_OK)
        return r->status;
    if (has(r, "CUPTI_ACTIVITY_KIND_KERNEL", "start") || has(r, "CUPTI_ACTIVITY_KIND_MEMCPY", "start") ||
        has(r, "CUPTI_ACTIVITY_KIND_MEMSET", "start") || r->status != NT_OK)
        return r->status;
    if (strings) {
        nt_fail(r->err, NT_NOT_FOUND, "%s holds no kernels, copies or fills", r->db.path);
        nt_hint(r->err, "record them with: nsys profile --trace=cuda,nvtx COMMAND");
        return NT_NOT_FOUND;
    }
    nt_fail(r->err, NT_CORRUPT,
            "%s is an SQLite database, but not an export of Nsight Systems: it has neither StringIds "
            "nor CUPTI_ACTIVITY_KIND_KERNEL",
            r->db.path);
    nt_hint(r->err, "make one with: nsys export --type sqlite REPORT.nsys-rep");
    return NT_CORRUPT;
}

static nt_status open_export(reading *r, const char *path)
{
    sqlite3_stmt *stmt = NULL;
    r->db.path = nt_strdup(path);
    nt_status status = nt_db_check_path_read(path, r->err);
    if (status != NT_OK)
        return status;
    int rc = sqlite3_open_v2(path, &r->db.handle, SQLITE_OPEN_READONLY | SQLITE_OPEN_NOMUTEX, NULL);
    if (rc == SQLITE_OK)
        rc = sqlite3_prepare_v2(r->db.handle, "SELECT count(*) FROM sqlite_schema", -1, &stmt, NULL);
    if (rc == SQLITE_NOTADB || (rc == SQLITE_OK && sqlite3_step(stmt) != SQLITE_ROW)) {
        nt_fail(r->err, NT_CORRUPT, "%s is not an SQLite database", path);
        nt_hint(r->err, "a report is exported with: nsys export --type sqlite REPORT.nsys-rep");
        status = NT_CORRUPT;
    } else if (rc != SQLITE_OK) {
        return nt_db_error(&r->db, reading_export, r->err);
    }
    sqlite3_finalize(stmt);
    return status;
}

nt_status nt_db_nsys_read(const char *path, nt_trace *trace, nt_error *err)
{
    reading *r = nt_alloc_zero(1, sizeof *r);
    r->trace = trace;
    r->err = err;
    r->status = open_export(r, path);
    if (r->status == NT_OK)
        r->status = refuse(r);
    if (r->status == NT_OK)
        read_tables(r);
    nt_status status = r->status;
    nt_db_close(&r->db);
    free(r);
    return status;
}
