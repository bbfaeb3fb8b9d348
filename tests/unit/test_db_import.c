/* Tests of db/import, db/export and db/merge over files: what arrives in the database and how it is labelled, that a
 * damaged file leaves nothing, that a run goes out as it came in, repeated results, older databases, merging. */
#include <sqlite3.h>
#include <sys/stat.h>

#include "core/json.h"
#include "core/text_file.h"
#include "core_check.h"
#include "db/export.h"
#include "db/import.h"
#include "db/merge.h"
#include "db_fixture.h"
#include "field_samples.h"


typedef struct place {
    char path[256], file[300], other[300];
    nt_error err;
} place;

static int set_up(void **state)
{
    place *p = calloc(1, sizeof *p);
    fixture_path(p->path);
    int folder = (int)strlen(p->path) - (int)strlen("t.db");
    snprintf(p->file, sizeof p->file, "%.*sfile.json", folder, p->path);
    snprintf(p->other, sizeof p->other, "%.*sother.db", folder, p->path);
    *state = p;
    return 0;
}

static int tear_down(void **state)
{
    place *p = *state;
    fixture_remove(p->path);
    free(p);
    return 0;
}

#define OK(p, call)                                           \
    do {                                                      \
        if ((call) != NT_OK)                                  \
            fail_msg("%s; %s", (p)->err.what, (p)->err.hint); \
    } while (0)

/* One value of a query over a file, as text. */
static const char *ask(const char *path, const char *sql)
{
    static char answer[4096];
    sqlite3 *db;
    sqlite3_stmt *stmt;
    answer[0] = '\0';
    assert_int_equal(sqlite3_open(path, &db), SQLITE_OK);
    if (sqlite3_prepare_v2(db, sql, -1, &stmt, NULL) != SQLITE_OK)
        fail_msg("%s: %s", sql, sqlite3_errmsg(db));
    if (sqlite3_step(stmt) == SQLITE_ROW && sqlite3_column_text(stmt, 0) != NULL)
        nt_copy(answer, sizeof answer, (const char *)sqlite3_column_text(stmt, 0));
    sqlite3_finalize(stmt);
    sqlite3_close(db);
    return answer;
}

static nt_status import_file(place *p, const char *file, nt_import_report *report)
{
    nt_sink *sink;
    int64_t run;
    OK(p, nt_db_sink_open(p->path, &sink, &p->err));
    nt_status status = nt_db_import(sink, file, &(nt_import_options){.command = "import"}, &run, report, &p->err);
    nt_sink_close(sink);
    return status;
}

static nt_status import_text(place *p, const char *text, nt_import_report *report)
{
    OK(p, nt_text_file_write(p->file, text, strlen(text), &p->err));
    return import_file(p, p->file, report);
}

static json_t *export_run(place *p, const char *format, int64_t run, json_t **dropped)
{
    nt_export_options options = {.format = nt_format_find(format), .run_id = run};
    nt_export_report report;
    nt_str text = {0};
    OK(p, nt_db_export(p->path, &options, &text, &report, &p->err));
    json_t *json = json_loads(nt_str_text(&text), 0, NULL);
    if (dropped != NULL)
        *dropped = report.dropped;
    else
        json_decref(report.dropped);
    nt_str_done(&text);
    return json;
}

#define HEAD                                                                                                    \
    "{\"device_name\":\"Some GPU\",\"kernel_name\":\"relu\",\"problem_size\":64,\"tune_params_keys\":[\"bx\"]," \
    "\"tune_params\":{\"bx\":[32,64,96]},\"objective\":\"time\",\"cache\":{\n"
#define FIRST                                                                                           \
    "\"32\":{\"bx\":32,\"time\":0.021,\"times\":[0.022,0.02],\"compile_time\":310.5,\"odd\":{\"a\":1}," \
    "\"timestamp\":\"2023-01-26 01:05:09.7+00:00\"}"
#define SECOND "\"64\":{\"bx\":64,\"time\":\"RuntimeFailedConfig\",\"timestamp\":\"2023-01-26 01:06:09\"}"
#define WHOLE  HEAD FIRST ",\n" SECOND "}\n}"

static void recorded_runs_are_labelled(void **state)
{
    place *p = *state;
    nt_import_report report;
    OK(p, import_text(p, WHOLE, &report));
    assert_int_equal(report.results, 2);
    assert_string_equal(ask(p->path, "select group_concat(distinct source) from trials"), "recorded");
    assert_string_equal(ask(p->path, "select group_concat(distinct source) from best"), "recorded");
    assert_string_equal(ask(p->path, "select device || '|' || device_uuid from best"), "Some GPU|recorded:Some GPU");
    assert_string_equal(ask(p->path, "select layer || ' ' || shape || ' ' || kernel from best"), "user:relu x=64 relu");
    assert_string_equal(ask(p->path, "select params || time_ns || samples from best"), "{\"bx\":32}21000.02");
    assert_string_equal(ask(p->path, "select outcome || ' ' || reason from trials where outcome <> 'ok'"),
                        "launch_failed RuntimeFailedConfig");
    assert_string_equal(ask(p->path, "select count(*) from trials where time_lo_ns is null"), "2");
    assert_string_equal(ask(p->path, "select length(ns) from sample"), "16");
    assert_string_equal(ask(p->path, "select state || ' ' || cast(ended_unix_s - started_unix_s as int) from runs"),
                        "done 60");
    assert_string_equal(ask(p->path, "select format || file || cut from imported"), "kernel-tunerfile.json0");
    assert_string_equal(ask(p->path, "select json_extract(extra, '$.more.odd.a') from imported_trial limit 1"), "1");
}

/* A sweep neither goes on with a recorded run nor takes its times over. */
static void recorded_results_are_never_reused(void **state)
{
    place *p = *state;
    nt_import_report report;
    nt_sink *sink;
    nt_run like, out;
    OK(p, import_text(p, HEAD FIRST ",\n", &report));
    assert_true(report.cut);
    assert_string_equal(ask(p->path, "select state from runs"), "interrupted");
    OK(p, nt_db_sink_open(p->path, &sink, &p->err));
    nt_run_init(&like);
    nt_device_info_init(&like.device, NT_DEVICE_CUDA);
    nt_copy(like.device.name, sizeof like.device.name, "Some GPU");
    nt_copy(like.device.uuid, sizeof like.device.uuid, "recorded:Some GPU");
    assert_int_equal(sink->find_resumable(sink, &like, &out, &p->err), NT_NOT_FOUND);
    nt_run_done(&out);
    nt_run_done(&like);
    nt_sink_close(sink);
}

static void a_damaged_file_leaves_nothing(void **state)
{
    place *p = *state;
    nt_import_report report;
    OK(p, import_text(p, WHOLE, &report));
    assert_int_equal(import_text(p, HEAD FIRST ",\n\"96\":{\"bx\":96}}}", &report), NT_CORRUPT);
    assert_contains(p->err.what, "cache[96]: time is missing");
    assert_string_equal(ask(p->path, "select count(*) || ' ' || (select count(*) from trial) from run"), "1 2");
    assert_string_equal(ask(p->path, "select count(*) from imported"), "1");
    OK(p, import_text(p, WHOLE, &report)); /* the database goes on working */
    assert_string_equal(ask(p->path, "select count(*) || ' ' || (select count(*) from trial) from run"), "2 4");
}

static void a_repeated_result_counts_once(void **state)
{
    place *p = *state;
    nt_import_report report;
    OK(p, import_text(p, HEAD FIRST ",\n\"again\":{\"bx\":32,\"time\":9}}}", &report));
    assert_int_equal(report.repeated, 1);
    assert_string_equal(ask(p->path, "select time_ns from trials"), "21000.0");
}

static void runs_go_out_as_they_came(void **state)
{
    place *p = *state;
    nt_import_report report;
    OK(p, import_text(p, WHOLE, &report));
    json_t *before = json_loads(WHOLE, 0, NULL), *after = export_run(p, "kernel-tuner", 0, NULL);
    assert_true(json_equal(before, after));
    json_decref(before);
    json_decref(after);
}

/* Every format and back into the database: the fields both have are the same. */
static void every_format_carries_the_common_fields(void **state)
{
    place *p = *state;
    nt_import_report report;
    OK(p, import_text(p, WHOLE, &report));
    for (int i = 0; nt_formats[i] != NULL; i++) {
        nt_export_options options = {.format = nt_formats[i], .run_id = 1};
        nt_export_report exported;
        nt_str text = {0};
        char sql[256];
        OK(p, nt_db_export(p->path, &options, &text, &exported, &p->err));
        json_decref(exported.dropped);
        OK(p, import_text(p, nt_str_text(&text), &report));
        nt_str_done(&text);
        snprintf(
            sql, sizeof sql,
            "select params || cast(round(time_ns) as int) || outcome || compile_ms || device || kernel from trials "
            "where run = %d and outcome = 'ok'",
            i + 2);
        assert_string_equal(ask(p->path, sql), "{\"bx\":32}21000ok310.5Some GPUrelu");
        snprintf(sql, sizeof sql, "select group_concat(outcome) from trials where run = %d", i + 2);
        assert_string_equal(ask(p->path, sql), "ok,launch_failed");
    }
}

static void samples_of_the_field_go_out_as_they_came(void **state)
{
    static const struct {
        const char *file, *format;
    } rows[] = {{"pnpoly-RTX_3090.T4.json.gz", "t4"},
                {"pnpoly-RTX_3090.kernel_tuner_cache.json.gz", "kernel-tuner"},
                {"pnpoly-RTX_3090.ktt.json.gz", "ktt"}};
    place *p = *state;
    for (size_t i = 0; i < 3; i++) {
        nt_import_report report;
        char *path = field_sample(rows[i].file), *text, sql[128];
        size_t length;
        if (path == NULL)
            skip();
        OK(p, import_file(p, path, &report));
        assert_int_equal(report.results, 4092);
        OK(p, nt_text_file_read(path, NT_IMPORT_MAX_BYTES, &text, &length, &p->err));
        json_t *before = json_loadb(text, length, 0, NULL), *after = export_run(p, rows[i].format, 0, NULL);
        assert_true(json_equal(before, after));
        json_decref(before);
        json_decref(after);
        free(text);
        free(path);
        snprintf(sql, sizeof sql, "select count(*) from trials where run = %zu", i + 1);
        assert_string_equal(ask(p->path, sql), "4092");
    }
    assert_string_equal(ask(p->path, "select count(*) from trials where run = 1 and outcome = 'ok'"), "3762");
    assert_string_equal(ask(p->path, "select count(*) from trials where run = 2 and outcome = 'ok'"), "3774");
    assert_string_equal(ask(p->path, "select count(*) from trials where run = 3 and outcome = 'ok'"), "3818");
    assert_string_equal(ask(p->path, "select count(*) from sample"), "7548"); /* runs 1 and 2 alone have some */
}

/* A measured run: several kernels and problems need a choice, and what other tools do not know is named. */
static void a_measured_run_is_exported(void **state)
{
    place *p = *state;
    nt_sink *sink;
    nt_run run;
    nt_trial trial;
    json_t *dropped = NULL;
    OK(p, nt_db_sink_open(p->path, &sink, &p->err));
    fixture_run(&run, 1, "{}");
    OK(p, sink->begin_run(sink, &run, &p->err));
    for (int batch = 1; batch <= 2; batch++) {
        fixture_trial(&trial, batch, 1, 5000);
        OK(p, sink->put(sink, &trial, NULL, &p->err));
        nt_trial_done(&trial);
    }
    OK(p, sink->end_run(sink, &run, &p->err));
    nt_sink_close(sink);
    nt_run_done(&run);
    nt_export_options options = {.format = &nt_format_t4};
    nt_export_report report;
    nt_str text = {0};
    assert_int_equal(nt_db_export(p->path, &options, &text, &report, &p->err), NT_USAGE);
    assert_contains(p->err.hint, "--kernel direct --problem 'conv3x3 c=64,k=64,h=56,w=56 batch 1 bf16 nhwc'");
    options.problem = "conv3x3 c=64,k=64,h=56,w=56 batch 2 bf16 nhwc";
    OK(p, nt_db_export(p->path, &options, &text, &report, &p->err));
    assert_int_equal(report.results, 1);
    assert_non_null(json_object_get(report.dropped, "layer, batch, precision, layout"));
    json_decref(report.dropped);
    nt_str_done(&text);
    json_t *all = export_run(p, "json", 1, &dropped);
    assert_int_equal(json_array_size(json_object_get(all, "trials")), 2);
    assert_string_equal(nt_json_get_text(all, "source"), "measured");
    assert_int_equal(json_object_size(dropped), 0);
    json_decref(all);
    json_decref(dropped);
    options.run_id = 9;
    assert_int_equal(nt_db_export(p->path, &options, &text, &report, &p->err), NT_NOT_FOUND);
}

static void databases_merge(void **state)
{
    place *p = *state;
    nt_import_report report;
    nt_merge_report merged;
    OK(p, import_text(p, WHOLE, &report));
    OK(p, import_text(p, HEAD "\"64\":{\"bx\":64,\"time\":7}}}", &report));
    OK(p, nt_db_merge(p->other, p->path, &merged, &p->err));
    assert_int_equal(merged.runs, 2);
    assert_int_equal(merged.trials, 3);
    OK(p, import_text(p, HEAD "\"96\":{\"bx\":96,\"time\":0.001}}}", &report));
    OK(p, nt_db_merge(p->other, p->path, &merged, &p->err));
    assert_int_equal(merged.runs, 1);
    assert_int_equal(merged.repeated, 2);
    static const char *const same[] = {
        "select group_concat(run || source || params || outcome || ifnull(time_ns, '') || device, ';') from trials",
        "select group_concat(params || time_ns) from best",
        "select count(*) || ' ' || sum(trials) from rollup",
        "select group_concat(run_id || format || extra) from imported",
        "select count(*) || ' ' || count(extra) || ' ' || count(recorded_at) from imported_trial",
        "select count(*) from device",
        "select count(*) from problem",
        "select count(*) from configuration",
        "select group_concat(hex(ns)) from sample",
    };
    for (size_t i = 0; i < sizeof same / sizeof same[0]; i++) {
        char *before = nt_strdup(ask(p->path, same[i]));
        assert_string_equal(ask(p->other, same[i]), before);
        free(before);
    }
    assert_string_equal(ask(p->other, "pragma foreign_key_check"), "");
    assert_string_equal(ask(p->other, "pragma integrity_check"), "ok");
}

static void change(const char *path, const char *sql)
{
    sqlite3 *db;
    assert_int_equal(sqlite3_open(path, &db), SQLITE_OK);
    if (sqlite3_exec(db, sql, NULL, NULL, NULL) != SQLITE_OK)
        fail_msg("%s", sqlite3_errmsg(db));
    sqlite3_close(db);
}

/* Takes a file back to schema version 2, without what came later. Its views are made anew whatever they were. */
static void make_older(const char *path)
{
    change(path, "delete from imported; drop table imported_trial; drop table imported; drop view profile_counters; drop "
                 "table profile_counter; drop view best; drop view trials; alter table kernel drop column vendor; alter "
                 "table sample drop column per_block; create view trials as select 1 as trial; pragma user_version = 2;");
}

/* Activations were numbers once. */
static void an_older_shape_gains_its_word(void **state)
{
    static const char shapes[] = "select group_concat(shape, ' ') from (select shape from problem where shape like "
                                 "'c=8%' or shape like 'n=8%' order by id)",
                      in_words[] = "c=8,k=8,h=5,w=5,stride=2,act=silu c=8,k=8,h=5,w=5,stride=2 n=8,act=3";
    place *p = *state;
    nt_import_report report;
    nt_merge_report merged;
    OK(p, import_text(p, WHOLE, &report));
    change(p->path, "insert into problem (layer, shape, batch, precision, layout, fill) values "
                    "('conv_bn_relu', 'c=8,k=8,h=5,w=5,stride=2,act=3', 1, 'fp32', 'nhwc', 'normal'), "
                    "('conv_bn_relu', 'c=8,k=8,h=5,w=5,stride=2', 1, 'fp32', 'nhwc', 'normal'), "
                    "('user:own', 'n=8,act=3', 1, 'fp32', 'nhwc', 'normal')");
    make_older(p->path);
    OK(p, nt_db_merge(p->other, p->path, &merged, &p->err)); /* from a file that is left as it is */
    assert_string_equal(ask(p->other, shapes), in_words);
    OK(p, import_text(p, HEAD "\"96\":{\"bx\":96,\"time\":0.001}}}", &report));
    assert_string_equal(ask(p->path, shapes), in_words);
    OK(p, nt_db_merge(p->other, p->path, &merged, &p->err));
    assert_string_equal(ask(p->other, shapes), in_words);
}

static void an_older_database_gains_the_tables(void **state)
{
    place *p = *state;
    nt_import_report report;
    OK(p, import_text(p, WHOLE, &report));
    make_older(p->path);
    json_t *plain = export_run(p, "kernel-tuner", 1, NULL); /* readable as it is */
    assert_int_equal(json_object_size(json_object_get(plain, "cache")), 2);
    json_decref(plain);
    OK(p, import_text(p, HEAD "\"96\":{\"bx\":96,\"time\":0.001}}}", &report));
    assert_string_equal(ask(p->path, "select count(*) from trials"), "3");
    assert_string_equal(ask(p->path, "select count(*) from imported"), "1");
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(recorded_runs_are_labelled),
        TEST(recorded_results_are_never_reused),
        TEST(a_damaged_file_leaves_nothing),
        TEST(a_repeated_result_counts_once),
        TEST(runs_go_out_as_they_came),
        TEST(every_format_carries_the_common_fields),
        TEST(samples_of_the_field_go_out_as_they_came),
        TEST(a_measured_run_is_exported),
        TEST(databases_merge),
        TEST(an_older_database_gains_the_tables),
        TEST(an_older_shape_gains_its_word),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
