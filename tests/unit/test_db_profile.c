/* Profiles in the database: stored as they grow, views equal to the summary, a file of the version before, and exports
 * of Nsight Systems. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <sqlite3.h>

#include "db/open.h"
#include "db_fixture.h"
#include "profiler/count_summary.h"
#include "profiler/trace_summary.h"

extern const char nt_embed_db_schema_sql[];

typedef struct place {
    char path[256];
    nt_error err;
} place;

static int setup(void **state)
{
    place *p = nt_alloc_zero(1, sizeof *p);
    fixture_path(p->path);
    *state = p;
    return 0;
}

static int teardown(void **state)
{
    place *p = *state;
    fixture_remove(p->path);
    free(p);
    return 0;
}

static void raw(const char *path, const char *sql)
{
    sqlite3 *db;
    assert_int_equal(sqlite3_open(path, &db), SQLITE_OK);
    if (sqlite3_exec(db, sql, NULL, NULL, NULL) != SQLITE_OK)
        fail_msg("%s: %s", sql, sqlite3_errmsg(db));
    sqlite3_close(db);
}

/* The first column of the first row as text. */
static char *asked(const char *path, const char *sql)
{
    sqlite3 *db;
    sqlite3_stmt *stmt;
    assert_int_equal(sqlite3_open(path, &db), SQLITE_OK);
    if (sqlite3_prepare_v2(db, sql, -1, &stmt, NULL) != SQLITE_OK)
        fail_msg("%s: %s", sql, sqlite3_errmsg(db));
    assert_int_equal(sqlite3_step(stmt), SQLITE_ROW);
    const char *text = (const char *)sqlite3_column_text(stmt, 0);
    char *copy = nt_strdup(text != NULL ? text : "NULL");
    sqlite3_finalize(stmt);
    sqlite3_close(db);
    return copy;
}

static void says(const char *path, const char *sql, const char *wanted)
{
    char *found = asked(path, sql);
    assert_string_equal(found, wanted);
    free(found);
}

static void near(const char *path, const char *sql, double wanted)
{
    char *found = asked(path, sql);
    double number = strcmp(found, "NULL") == 0 ? (double)NAN : atof(found);
    if (!(isnan(wanted) ? isnan(number) : fabs(number - wanted) <= 1e-9 * fabs(wanted)))
        fail_msg("%s gives %s instead of %.17g", sql, found, wanted);
    free(found);
}

/* ---- growing traces ---------------------------------------------------------------------------------------------------- */

typedef struct program {
    nt_trace trace;
    uint32_t correlation, random;
    int64_t now;
    int outer;
} program;

static int64_t next(program *g, int64_t most)
{
    g->random = g->random * 1664525u + 1013904223u;
    return 1 + (int64_t)(g->random >> 8) % most;
}

static int range(program *g, const char *name, int parent)
{
    return nt_trace_open_range(&g->trace, &(nt_trace_range){.name = nt_trace_name(&g->trace, name),
                                                            .parent = parent,
                                                            .thread = 1,
                                                            .open_ns = g->now++,
                                                            .close_ns = NT_UNKNOWN});
}

static void work(program *g, nt_work_kind kind, int in)
{
    char name[16];
    nt_trace_add_launch(&g->trace,
                        &(nt_trace_launch){.range = in, .correlation = ++g->correlation, .time_ns = g->now++});
    snprintf(name, sizeof name, "k%d", (int)next(g, 3));
    nt_trace_shape shape = {
        .name = nt_trace_name(&g->trace, name), .grid = {next(g, 4), 1, 1}, .block = {128, 1, 1}, .registers = 64};
    nt_trace_work w = {.kind = kind,
                       .shape = -1,
                       .start_ns = g->now,
                       .end_ns = g->now + next(g, 1000),
                       .correlation = g->correlation,
                       .direction = NT_COPY_DEVICE_TO_HOST,
                       .from = NT_MEMORY_DEVICE,
                       .to = NT_MEMORY_PAGEABLE,
                       .bytes = kind == NT_WORK_COPY ? next(g, 100000) : NT_UNKNOWN};
    if (kind == NT_WORK_KERNEL)
        w.shape = nt_trace_find_shape(&g->trace, &shape);
    nt_trace_add_work(&g->trace, &w);
    g->now = w.end_ns + 1;
}

static void begin(program *g)
{
    nt_device_info info;
    *g = (program){.now = 1000000, .random = 7};
    nt_device_info_init(&info, NT_DEVICE_CUDA);
    info.warp_size = 32;
    info.max_threads_per_sm = 2048;
    info.max_blocks_per_sm = 32;
    info.regs_per_sm = 65536;
    nt_trace_add_process(&g->trace, 5, "./program");
    nt_trace_add_device(&g->trace, 0, &info);
    g->outer = range(g, "outer", -1);
}

static void iterate(program *g, int count)
{
    for (int i = 0; i < count; i++) {
        int in = range(g, "iteration", g->outer);
        work(g, NT_WORK_KERNEL, in);
        work(g, i % 5 == 0 ? NT_WORK_COPY : NT_WORK_KERNEL, in);
        nt_trace_close_range(&g->trace, in, g->now++);
        work(g, NT_WORK_KERNEL, i % 2 == 0 ? g->outer : -1);
    }
}

static nt_profile_sink *open_sink(place *p, nt_profile_run *run)
{
    nt_profile_sink *sink;
    *run = (nt_profile_run){.command = "./program", .source = "measured", .started_unix_s = 1, .exit_code = NT_UNKNOWN};
    if (nt_db_profile_open(p->path, &sink, &p->err) != NT_OK || sink->begin(sink, run, &p->err) != NT_OK)
        fail_msg("%s", p->err.what);
    return sink;
}

static void put(place *p, nt_profile_sink *sink, const nt_trace *trace)
{
    if (sink->put(sink, trace, &p->err) != NT_OK)
        fail_msg("%s", p->err.what);
}

static void compare_kernels(const place *p, const nt_trace *trace, const nt_trace_summary *s)
{
    static const char *const columns[] = {"calls", "total_ns", "median_ns", "p99_ns", "share_pct"};
    char sql[128];
    assert_int_equal(s->kernel_count, 3);
    for (size_t i = 0; i < s->kernel_count; i++) {
        const nt_kernel_row *row = &s->kernel[i];
        double wanted[] = {(double)row->calls, row->total_ns, row->median_ns, row->p99_ns, row->share_pct};
        for (size_t c = 0; c < sizeof columns / sizeof columns[0]; c++) {
            snprintf(sql, sizeof sql, "select %s from profile_kernels where kernel = '%s'", columns[c],
                     trace->name[row->name]);
            near(p->path, sql, wanted[c]);
        }
    }
    assert_false(isnan(s->kernel[0].p99_ns)); /* or nothing was compared */
}

static void compare_ranges(const place *p, const nt_trace *trace, const nt_trace_summary *s)
{
    static const char *const columns[] = {"calls", "open", "kernels", "copies", "total_ns", "wall_ns"};
    char sql[128];
    for (size_t i = 0; i < s->range_count; i++) {
        const nt_range_row *row = &s->range[i];
        if (row->name < 0)
            continue;
        double wanted[] = {(double)row->calls,   (double)row->open,
                           (double)row->kernels, (double)row->copies,
                           row->total_ns,        row->open == row->calls ? (double)NAN : row->wall_ns};
        for (size_t c = 0; c < sizeof columns / sizeof columns[0]; c++) {
            snprintf(sql, sizeof sql, "select %s from profile_ranges where \"range\" = '%s'", columns[c],
                     trace->name[row->name]);
            near(p->path, sql, wanted[c]);
        }
    }
}

static void views_equal_the_summary(void **state)
{
    place *p = *state;
    program g;
    nt_profile_run run;
    nt_trace_summary s;
    nt_profile_sink *sink = open_sink(p, &run);
    begin(&g);
    iterate(&g, 300);
    put(p, sink, &g.trace);
    says(p->path, "select state from profiles", "running");
    iterate(&g, 500);
    put(p, sink, &g.trace);
    put(p, sink, &g.trace); /* nothing new */
    nt_trace_summarise(&g.trace, &s);
    compare_kernels(p, &g.trace, &s);
    compare_ranges(p, &g.trace, &s); /* with `outer` open */
    near(p->path, "select bytes from profile_copies", (double)s.copy[0].bytes);
    near(p->path, "select bytes_per_s from profile_copies", s.copy[0].bytes_per_s);
    near(p->path, "select gpu_ns from profiles", s.kernel_ns);
    nt_trace_summary_done(&s);
    nt_trace_close_range(&g.trace, g.outer, g.now++);
    put(p, sink, &g.trace);
    nt_copy(run.state, sizeof run.state, "done");
    run.exit_code = 3;
    run.ended_unix_s = 2;
    assert_int_equal(sink->end(sink, &run, &p->err), NT_OK);
    nt_trace_summarise(&g.trace, &s);
    compare_ranges(p, &g.trace, &s);
    says(p->path, "select state || exit_code from profiles", "done3");
    says(p->path, "select count(*) from pragma_foreign_key_check", "0");
    nt_trace_summary_done(&s);
    sink->close(sink);
    nt_trace_done(&g.trace);
}

static size_t add_metric(program *g, const char *name, const char *unit)
{
    return nt_trace_add_metric(&g->trace, &(nt_trace_metric){.name = nt_trace_name(&g->trace, name),
                                                             .unit = nt_trace_name(&g->trace, unit),
                                                             .counter = nt_trace_name(&g->trace, "a__counter.sum")});
}

/* Two kernels, three metrics of which one is never known and one now and then. */
static void count_launches(program *g, size_t first, int launches)
{
    for (int i = 0; i < launches; i++) {
        char kernel[16];
        const double values[] = {(double)next(g, 1000) / 7, i % 3 == 0 ? (double)NAN : (double)next(g, 50),
                                 (double)NAN};
        snprintf(kernel, sizeof kernel, "k%d", i % 2);
        nt_trace_counted counted = {.device = -1,
                                    .name = nt_trace_name(&g->trace, kernel),
                                    .correlation = i,
                                    .time_ns = g->now++,
                                    .passes = 1,
                                    .first_metric = first,
                                    .count = 3};
        nt_trace_add_counted(&g->trace, &counted, values);
    }
}

static void counters_equal_the_summary(void **state)
{
    static const char *const columns[] = {"launches", "median", "least", "most"};
    place *p = *state;
    program g;
    nt_profile_run run;
    nt_count_summary s;
    nt_profile_sink *sink = open_sink(p, &run);
    begin(&g);
    size_t first = add_metric(&g, "occupancy_pct", "%");
    add_metric(&g, "dram_read_bytes", "bytes");
    add_metric(&g, "never", "");
    count_launches(&g, first, 7);
    put(p, sink, &g.trace);
    count_launches(&g, first, 12);
    put(p, sink, &g.trace);
    put(p, sink, &g.trace); /* nothing new */
    nt_count_summarise(&g.trace, &s);
    assert_int_equal(s.count, 6);
    assert_int_equal(s.launches, 19);
    for (size_t i = 0; i < s.count; i++) {
        const nt_count_row *row = &s.row[i];
        const double wanted[] = {(double)row->launches, row->median, row->least, row->most};
        for (size_t c = 0; c < sizeof columns / sizeof columns[0]; c++) {
            char sql[256];
            snprintf(sql, sizeof sql, "select %s from profile_counters where kernel = '%s' and name = '%s'", columns[c],
                     g.trace.name[row->kernel], g.trace.name[row->metric]);
            near(p->path, sql, wanted[c]);
        }
    }
    says(p->path, "select count(*) from profile_counters", "6");
    says(p->path, "select count(*) from profile_counter", "57");
    says(p->path, "select distinct source || passes || cache from profile_counters", "cupti range1as_left");
    says(p->path, "select count(*) from pragma_foreign_key_check", "0");
    nt_count_summary_done(&s);
    sink->close(sink);
    nt_trace_done(&g.trace);
}

static void two_profiles_stand_apart(void **state)
{
    place *p = *state;
    for (int i = 1; i <= 2; i++) {
        program g;
        nt_profile_run run;
        nt_profile_sink *sink = open_sink(p, &run);
        assert_int_equal(run.id, i);
        begin(&g);
        iterate(&g, i * 10);
        put(p, sink, &g.trace);
        sink->close(sink);
        nt_trace_done(&g.trace);
    }
    says(p->path, "select group_concat(kernels) from (select kernels from profiles order by profile)", "28,56");
    says(p->path, "select group_concat(calls) from profile_ranges where \"range\" = 'iteration'", "10,20");
}

/* ---- a file of version 1 -------------------------------------------------------------------------------------------------- */

static void an_older_file_is_read_and_migrated(void **state)
{
    place *p = *state;
    nt_reader *reader;
    nt_profile_run run;
    raw(p->path, nt_embed_db_schema_sql);
    raw(p->path,
        "pragma application_id = 1852732533; pragma user_version = 1; insert into problem (layer, shape, batch, "
        "precision, layout, fill) values ('conv3x3', 'c=1', 7, 'fp32', 'nhwc', 'normal')");
    if (nt_db_reader_open(p->path, &reader, &p->err) != NT_OK)
        fail_msg("%s", p->err.what);
    reader->close(reader);
    says(p->path, "pragma user_version", "1"); /* reading changes nothing */
    nt_profile_sink *sink = open_sink(p, &run);
    sink->close(sink);
    near(p->path, "pragma user_version", NT_DB_SCHEMA_VERSION);
    says(p->path, "select batch from problem", "7");
    says(p->path, "select count(*) from profiles", "1");
}

/* ---- Nsight Systems -------------------------------------------------------------------------------------------------------- */

/* Two processes with equal correlation ids; a graph's two kernels under one; a copy outside of ranges; a range left
 * open. */
static const char export[] =
    "create table StringIds (id integer primary key, value text not null);"
    "insert into StringIds values (1, 'conv(float*)'), (2, 'relu'), (3, 'named by id');"
    "create table TARGET_INFO_SESSION_START_TIME (utcEpochNs integer, utcTime text);"
    "insert into TARGET_INFO_SESSION_START_TIME values (1700000000000000000, '');"
    "create table TARGET_INFO_GPU (id integer, name text, uuid text, computeMajor integer, computeMinor integer, "
    "smCount "
    "integer, maxWarpsPerSm integer, maxBlocksPerSm integer, maxShmemPerSm integer, maxRegistersPerSm integer, "
    "maxRegistersPerBlock integer, totalMemory integer);"
    "insert into TARGET_INFO_GPU values (4, 'NVIDIA H200', 'GPU-4', 9, 0, 132, 64, 32, 233472, 65536, 65536, 1 << 37);"
    "create table TARGET_INFO_CUDA_DEVICE (gpuId integer, cudaId integer, pid integer);"
    "insert into TARGET_INFO_CUDA_DEVICE values (4, 0, 100), (4, 0, 200);"
    "create table NVTX_EVENTS (start integer, end integer, eventType integer, globalTid integer, text text, textId "
    "integer);"
    "insert into NVTX_EVENTS values (100, 900, 59, (100 << 24) | 1, 'outer', NULL),"
    " (200, 300, 59, (100 << 24) | 1, NULL, 3), (100, NULL, 59, (200 << 24) | 2, 'other', NULL),"
    " (150, 160, 34, (100 << 24) | 1, 'a mark', NULL);"
    "create table CUPTI_ACTIVITY_KIND_RUNTIME (start integer, end integer, globalTid integer, correlationId integer);"
    "insert into CUPTI_ACTIVITY_KIND_RUNTIME values (210, 220, (100 << 24) | 1, 1), (400, 410, (100 << 24) | 1, 2),"
    " (250, 260, (200 << 24) | 2, 1), (1000, 1010, (100 << 24) | 1, 3);"
    "create table CUPTI_ACTIVITY_KIND_KERNEL (start integer, end integer, deviceId integer, streamId integer, "
    "correlationId "
    "integer, globalPid integer, demangledName integer, gridX integer, gridY integer, gridZ integer, blockX integer, "
    "blockY "
    "integer, blockZ integer, registersPerThread integer, staticSharedMemory integer, dynamicSharedMemory integer);"
    "insert into CUPTI_ACTIVITY_KIND_KERNEL values (500, 600, 0, 7, 1, 100 << 24, 1, 8, 1, 1, 256, 1, 1, 64, 0, 0),"
    " (600, 650, 0, 7, 2, 100 << 24, 2, 8, 1, 1, 256, 1, 1, 32, 0, 0),"
    " (650, 700, 0, 7, 2, 100 << 24, 2, 8, 1, 1, 256, 1, 1, 32, 0, 0),"
    " (300, 400, 0, 7, 1, 200 << 24, 1, 8, 1, 1, 256, 1, 1, 64, 0, 0);"
    "create table CUPTI_ACTIVITY_KIND_MEMCPY (start integer, end integer, deviceId integer, streamId integer, "
    "correlationId "
    "integer, globalPid integer, bytes integer, copyKind integer, srcKind integer, dstKind integer);"
    "insert into CUPTI_ACTIVITY_KIND_MEMCPY values (1100, 1200, 0, 7, 3, 100 << 24, 1000, 1, 1, 2);";

static const nt_range_row *row_of(const nt_trace *trace, const nt_trace_summary *s, const char *name)
{
    for (size_t i = 0; i < s->range_count; i++)
        if (s->range[i].name >= 0 && strcmp(trace->name[s->range[i].name], name) == 0)
            return &s->range[i];
    fail_msg("no range %s", name);
    return NULL;
}

static void an_export_gives_the_same_summary(void **state)
{
    place *p = *state;
    nt_trace trace = {0};
    nt_trace_summary s;
    raw(p->path, export);
    if (nt_db_nsys_read(p->path, &trace, &p->err) != NT_OK)
        fail_msg("%s", p->err.what);
    nt_trace_summarise(&trace, &s);
    assert_int_equal(s.kernels, 4);
    assert_true(s.kernel_ns == 300);
    assert_int_equal(s.unplaced, 0);
    assert_string_equal(trace.name[s.kernel[0].name], "conv(float*)");
    assert_true(s.kernel[0].total_ns == 200);
    assert_true(s.kernel[0].occupancy_limit_pct == 50);
    assert_int_equal(row_of(&trace, &s, "outer")->kernels, 3);
    assert_int_equal(row_of(&trace, &s, "named by id")->kernels, 1);
    assert_int_equal(row_of(&trace, &s, "other")->kernels, 1); /* its process has the same correlation id */
    assert_int_equal(row_of(&trace, &s, "other")->open, 1);
    assert_int_equal(row_of(&trace, &s, "outer")->copies, 0);
    assert_int_equal(trace.range_count, 3);
    assert_int_equal(s.copy[0].from, NT_MEMORY_PINNED);
    assert_int_equal(s.copy[0].to, NT_MEMORY_DEVICE);
    assert_int_equal(trace.work[0].start_ns, 1700000000000000500);
    nt_trace_summary_done(&s);
    nt_trace_done(&trace);
}

static void an_export_without_most_columns(void **state)
{
    place *p = *state;
    nt_trace trace = {0};
    nt_trace_summary s;
    raw(p->path, "create table CUPTI_ACTIVITY_KIND_KERNEL (start integer, end integer, shortName integer);"
                 "insert into CUPTI_ACTIVITY_KIND_KERNEL values (10, 30, 1), (40, 20, 1), ('text', x'00', 'x')");
    if (nt_db_nsys_read(p->path, &trace, &p->err) != NT_OK)
        fail_msg("%s", p->err.what);
    nt_trace_summarise(&trace, &s);
    assert_int_equal(s.kernels, 3);
    assert_true(s.kernel_ns == 20);
    assert_int_equal(s.backwards, 1);
    assert_int_equal(s.unplaced, 3);
    assert_true(isnan(s.kernel[0].occupancy_limit_pct));
    nt_trace_summary_done(&s);
    nt_trace_done(&trace);
}

static void other_files_are_named(void **state)
{
    place *p = *state;
    nt_trace trace = {0};
    assert_int_equal(nt_db_nsys_read(p->path, &trace, &p->err), NT_NOT_FOUND);
    FILE *file = fopen(p->path, "w");
    for (int i = 0; i < 1000; i++)
        fputs("no database at all\n", file);
    fclose(file);
    assert_int_equal(nt_db_nsys_read(p->path, &trace, &p->err), NT_CORRUPT);
    assert_non_null(strstr(p->err.what, "not an SQLite database"));
    unlink(p->path);
    raw(p->path, "create table cookies (host text)");
    assert_int_equal(nt_db_nsys_read(p->path, &trace, &p->err), NT_CORRUPT);
    assert_non_null(strstr(p->err.what, "not an export of Nsight Systems"));
    raw(p->path, "create table StringIds (id integer, value text)");
    assert_int_equal(nt_db_nsys_read(p->path, &trace, &p->err), NT_NOT_FOUND);
    assert_non_null(strstr(p->err.what, "no kernels"));
    nt_trace_done(&trace);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(views_equal_the_summary, setup, teardown),
        cmocka_unit_test_setup_teardown(counters_equal_the_summary, setup, teardown),
        cmocka_unit_test_setup_teardown(two_profiles_stand_apart, setup, teardown),
        cmocka_unit_test_setup_teardown(an_older_file_is_read_and_migrated, setup, teardown),
        cmocka_unit_test_setup_teardown(an_export_gives_the_same_summary, setup, teardown),
        cmocka_unit_test_setup_teardown(an_export_without_most_columns, setup, teardown),
        cmocka_unit_test_setup_teardown(other_files_are_named, setup, teardown),
    };
    return cmocka_run_group_tests_name("db_profile", tests, NULL, NULL);
}
