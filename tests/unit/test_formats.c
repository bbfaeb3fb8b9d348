/* Tests of db/formats: walking JSON in place, what a patch keeps, how numbers are spelt, each reader's meaning of each
 * field, what a format drops, errors with their place, any cut, hostile text. */
#include <math.h>

#include "core/clock.h"
#include "core_check.h"
#include "db/formats/format.h"
#include "db/formats/patch.h"
#include "db/formats/scan.h"
#include "db/formats/spell.h"

/* ---- a target that keeps the results -------------------------------------------------------------------------------- */

typedef struct kept {
    int runs;
    size_t count;
    char device[128], kernel[48], uuid[64], shape[64];
    nt_trial last; /* without what it owns */
    char params[512], timestamp[48];
    double framework_ms, search_ms, sample_ns[8];
    const nt_format *write; /* NULL: nothing is written */
    nt_format_writer writer;
} kept;

static nt_status keep_run(void *context, nt_foreign_run *run, nt_error *err)
{
    kept *k = context;
    nt_str shape = {0};
    (void)err;
    k->runs++;
    nt_copy(k->device, sizeof k->device, run->run.device.name);
    nt_copy(k->uuid, sizeof k->uuid, run->run.device.uuid);
    nt_copy(k->kernel, sizeof k->kernel, run->kernel);
    nt_shape_print(&shape, &run->problem.shape);
    nt_copy(k->shape, sizeof k->shape, nt_str_text(&shape));
    nt_str_done(&shape);
    assert_true(run->run.recorded);
    if (k->write != NULL)
        nt_format_begin(&k->writer, k->write, run);
    return NT_OK;
}

static nt_status keep_result(void *context, nt_foreign *result, nt_error *err)
{
    kept *k = context;
    (void)err;
    k->count++;
    k->last = result->trial;
    nt_copy(k->params, sizeof k->params, result->trial.params_json);
    for (size_t i = 0; i < result->trial.samples.count && i < 8; i++)
        k->sample_ns[i] = result->trial.samples.sample_ns[i];
    nt_copy(k->timestamp, sizeof k->timestamp, result->timestamp);
    k->framework_ms = result->framework_ms;
    k->search_ms = result->search_ms;
    if (k->write != NULL)
        nt_format_put(&k->writer, result);
    return NT_OK;
}

static nt_status read_text(const char *text, size_t length, kept *k, nt_import_report *report, nt_error *err)
{
    const nt_format *write = k->write;
    *k = (kept){.write = write};
    *err = (nt_error){0};
    nt_status status = nt_format_read("dir/file.json.gz", text, length, NULL,
                                      &(nt_import_target){k, keep_run, keep_result}, report, err);
    if (status == NT_OK && write != NULL)
        nt_format_end(&k->writer);
    return status;
}

static nt_status read_all(const char *text, kept *k, nt_error *err)
{
    nt_import_report report;
    return read_text(text, strlen(text), k, &report, err);
}

#define READ(text, k, err)                                \
    do {                                                  \
        if (read_all((text), (k), (err)) != NT_OK)        \
            fail_msg("%s; %s", (err)->what, (err)->hint); \
    } while (0)

/* ---- texts ---------------------------------------------------------------------------------------------------------- */

#define T4_ENTRY(more, invalidity, value)                                                                          \
    "{\"timestamp\":\"2023-01-26 01:05:09\",\"configuration\":{\"bx\":32,\"fast\":true,\"w\":0.5,\"m\":\"a\"},"    \
    "\"times\":{" more "\"framework\":26.5,\"search_algorithm\":0.25,\"validation\":1.5,\"runtimes\":[4.5,4.25]}," \
    "\"invalidity\":\"" invalidity                                                                                 \
    "\",\"correctness\":1,\"measurements\":[{\"name\":\"power\",\"value\":1,\"unit\":\"W\"},"                      \
    "{\"name\":\"time\",\"value\":" value ",\"unit\":\"\"}],\"objectives\":[\"time\"]}"
#define T4(entry) "{\"metadata\":{\"timeunit\":\"miliseconds\"},\"results\":[" entry "],\"schema_version\":\"1.0.0\"}"
#define KT_HEAD                                                                                             \
    "{\"device_name\":\"Some GPU\",\"kernel_name\":\"relu\",\"problem_size\":[64,32],\"tune_params_keys\":" \
    "[\"bx\",\"fast\"],\"tune_params\":{\"bx\":[32,64],\"fast\":[true]},\"objective\":\"time\",\"cache\":{"
#define KT_OK                                                                                            \
    "\"32,True\":{\"fast\":true,\"bx\":32,\"time\":0.021,\"times\":[0.022,0.02],\"compile_time\":310.5," \
    "\"verification_time\":0,\"benchmark_time\":1.5,\"strategy_time\":0.5,\"framework_time\":0.75,"      \
    "\"timestamp\":\"2026-01-02 03:04:05.000000+00:00\",\"GFLOP/s\":7.5}"
#define KT_FAILED(how) "\"64,True\":{\"bx\":64,\"fast\":true," how "}"
#define KTT(status, duration)                                                                                         \
    "{\"Metadata\":{\"Device\":\"Some GPU\",\"TimeUnit\":\"Nanoseconds\",\"KttVersion\":\"2\"},\"Results\":[{"        \
    "\"KernelName\":\"relu\",\"Status\":\"" status "\",\"TotalDuration\":" duration ",\"SearcherOverhead\":2000000,"  \
    "\"ValidationOverhead\":500000,\"Configuration\":[{\"Name\":\"bx\",\"ValueType\":\"UnsignedInt\",\"Value\":32}]," \
    "\"ComputationResults\":[{\"KernelFunction\":\"relu\",\"Duration\":" duration ",\"LocalSize\":{\"X\":32,\"Y\":4," \
    "\"Z\":1},\"CompilationData\":{\"RegistersCount\":21,\"LocalMemorySize\":128}}]}]}"
#define CSV                                                                                               \
    "# space=s\n# kernel=relu\n# device=Some GPU\n# problem=64x32\n# param bx=32,64\n# const fast=True\n" \
    "bx,status,time_ms,compile_ms,bench_ms,samples_ms\n32,ok,0.021,310.5,1.5,0.022;0.02\n"

/* ---- each reader ---------------------------------------------------------------------------------------------------- */

static void t4_is_read(void **state)
{
    nt_error err;
    kept k = {0};
    (void)state;
    READ(T4(T4_ENTRY("\"compilation\":3.5,", "correct", "4.375")), &k, &err);
    assert_int_equal(k.count, 1);
    assert_int_equal(k.last.outcome, NT_OUTCOME_OK);
    assert_close(k.last.time_ns, 4.375e6, 0);
    assert_close(k.last.compile_ms, 3.5, 0);
    assert_close(k.last.verify_ms, 1.5, 0);
    assert_close(k.framework_ms, 26.5, 0);
    assert_close(k.search_ms, 0.25, 0);
    assert_true(isnan(k.last.measure_ms) && isnan(k.last.time_lo_ns));
    assert_int_equal(k.last.samples.count, 2);
    assert_close(k.sample_ns[1], 4.25e6, 0);
    assert_string_equal(k.params, "{\"bx\":32,\"fast\":true,\"w\":0.5,\"m\":\"a\"}");
    assert_string_equal(k.timestamp, "2023-01-26 01:05:09");
    assert_string_equal(k.kernel, "file"); /* T4 names none */
    assert_string_equal(k.device, "unknown");
    READ(T4(T4_ENTRY("\"compilation_time\":7,", "correct", "4.375")), &k, &err);
    assert_close(k.last.compile_ms, 7, 0);
    READ(T4(T4_ENTRY("", "correct", "null")), &k, &err); /* no measured time: the mean of the runtimes */
    assert_close(k.last.time_ns, 4.375e6, 0);
}

static void t4_failures_keep_their_word(void **state)
{
    static const struct {
        const char *text;
        nt_outcome outcome;
        const char *word;
    } rows[] = {
        {T4(T4_ENTRY("", "timeout", "null")), NT_OUTCOME_TIMED_OUT, "timeout"},
        {T4(T4_ENTRY("", "compile", "\"CompilationFailedConfig\"")), NT_OUTCOME_COMPILE_FAILED, "compile"},
        {T4(T4_ENTRY("", "runtime", "\"RuntimeFailedConfig\"")), NT_OUTCOME_LAUNCH_FAILED, "runtime"},
        {T4(T4_ENTRY("", "correctness", "1")), NT_OUTCOME_WRONG_RESULT, "correctness"},
        {T4(T4_ENTRY("", "constraints", "\"InvalidConfig\"")), NT_OUTCOME_PRUNED, "constraints"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        nt_error err;
        kept k = {0};
        READ(rows[i].text, &k, &err);
        assert_int_equal(k.last.outcome, rows[i].outcome);
        assert_string_equal(k.last.reason, rows[i].word);
        assert_true(isnan(k.last.time_ns));
    }
}

static void kernel_tuner_is_read(void **state)
{
    nt_error err;
    kept k = {0};
    (void)state;
    READ(KT_HEAD KT_OK "}}", &k, &err);
    assert_string_equal(k.device, "Some GPU");
    assert_string_equal(k.uuid, "recorded:Some GPU");
    assert_string_equal(k.kernel, "relu");
    assert_string_equal(k.shape, "x=64,y=32");
    assert_string_equal(k.last.problem.layer, "user:relu");
    assert_string_equal(k.params, "{\"bx\":32,\"fast\":true}"); /* in the order of tune_params_keys */
    assert_close(k.last.time_ns, 21000, 1e-12);
    assert_close(k.last.compile_ms, 310.5, 0);
    assert_close(k.last.measure_ms, 1.5, 0);
    assert_close(k.last.verify_ms, 0, 0);
    assert_close(k.search_ms, 0.5, 0);
    assert_close(k.framework_ms, 0.75, 0);
    assert_int_equal(k.last.samples.count, 2);
}

static void kernel_tuner_failures(void **state)
{
    static const struct {
        const char *text;
        nt_outcome outcome;
        const char *word;
    } rows[] = {
        {KT_HEAD KT_FAILED("\"time\":\"RuntimeFailedConfig\"") "}}", NT_OUTCOME_LAUNCH_FAILED, "RuntimeFailedConfig"},
        {KT_HEAD KT_FAILED("\"__error__\":\"CompilationFailedConfig\"") "}}", NT_OUTCOME_COMPILE_FAILED,
         "CompilationFailedConfig"},
        {KT_HEAD KT_FAILED("\"__error__\":\"InvalidConfig\",\"time\":1") "}}", NT_OUTCOME_PRUNED, "InvalidConfig"},
        {KT_HEAD KT_FAILED("\"time\":1e20") "}}", NT_OUTCOME_LAUNCH_FAILED, "time 1e20"},
        {KT_HEAD KT_FAILED("\"time\":\"Novel\"") "}}", NT_OUTCOME_CRASHED, "Novel"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        nt_error err;
        kept k = {0};
        READ(rows[i].text, &k, &err);
        assert_int_equal(k.last.outcome, rows[i].outcome);
        assert_string_equal(k.last.reason, rows[i].word);
    }
}

static void ktt_is_read(void **state)
{
    nt_error err;
    kept k = {0};
    (void)state;
    READ(KTT("Ok", "46268.5"), &k, &err);
    assert_close(k.last.time_ns, 46268.5, 0); /* the file's unit is the nanosecond */
    assert_close(k.search_ms, 2, 1e-12);
    assert_close(k.last.verify_ms, 0.5, 1e-12);
    assert_int_equal(k.last.artefact.registers, 21);
    assert_int_equal(k.last.artefact.smem_static_bytes, 128);
    assert_int_equal(k.last.threads_per_block, 128);
    assert_string_equal(k.last.kernel, "relu");
    assert_string_equal(k.last.problem.layer, "user:relu");
    READ(KTT("ValidationFailed", "0.0"), &k, &err);
    assert_int_equal(k.last.outcome, NT_OUTCOME_WRONG_RESULT);
    READ(KTT("DeviceLimitsExceeded", "0.0"), &k, &err);
    assert_int_equal(k.last.outcome, NT_OUTCOME_PRUNED);
}

static void csv_is_read(void **state)
{
    nt_error err;
    kept k = {0};
    (void)state;
    READ(CSV, &k, &err);
    assert_string_equal(k.device, "Some GPU");
    assert_string_equal(k.shape, "x=64,y=32");
    assert_string_equal(k.params, "{\"bx\":32,\"fast\":true}");
    assert_close(k.last.time_ns, 21000, 1e-12);
    assert_close(k.last.compile_ms, 310.5, 0);
    assert_int_equal(k.last.samples.count, 2);
    READ("a,\"b,\"\"c\",status,time_ms,compile_ms,bench_ms,samples_ms\r\n1,\"x,y\",run_failed,,,,\r\n", &k, &err);
    assert_string_equal(k.params, "{\"a\":1,\"b,\\\"c\":\"x,y\"}");
    assert_int_equal(k.last.outcome, NT_OUTCOME_LAUNCH_FAILED);
}

/* ---- the same again, and across ------------------------------------------------------------------------------------- */

static const struct {
    const nt_format *format;
    const char *text;
} originals[] = {
    {&nt_format_t4, T4(T4_ENTRY("\"compilation\":3.5,\"own\":{\"a\":[1,null]},", "correct", "4.3700000000000001"))},
    {&nt_format_t4, T4(T4_ENTRY("\"compilation_time\":0.1,\"compilation\":0.2,", "timeout", "7"))},
    {&nt_format_kernel_tuner, KT_HEAD KT_OK "," KT_FAILED("\"__error__\":\"InvalidConfig\",\"x\":[{}]") "}}"},
    {&nt_format_kernel_tuner, KT_HEAD "\"odd key\":{\"bx\":64,\"fast\":true,\"time\":1e20}},\"later\":[1,[2]]}"},
    {&nt_format_ktt, KTT("Ok", "46268.5")},
    {&nt_format_ktt, KTT("CompilationFailed", "0")},
};

static void the_same_format_gives_the_file_back(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof originals / sizeof originals[0]; i++) {
        nt_error err;
        kept k = {.write = originals[i].format};
        READ(originals[i].text, &k, &err);
        json_t *before = json_loads(originals[i].text, 0, NULL);
        json_t *after = json_loads(nt_str_text(&k.writer.out), 0, NULL);
        if (!json_equal(before, after))
            fail_msg("original %zu came back as %s", i, nt_str_text(&k.writer.out));
        assert_int_equal(json_object_size(k.writer.dropped), 0);
        json_decref(before);
        json_decref(after);
        nt_format_writer_done(&k.writer);
    }
}

static void common_fields_cross(void **state)
{
    (void)state;
    for (int i = 0; nt_formats[i] != NULL; i++) {
        nt_error err;
        kept k = {.write = nt_formats[i]}, again = {0};
        if (nt_formats[i] == &nt_format_csv) /* needs the values of all results before: tests/unit/test_db_import.c */
            continue;
        READ(KT_HEAD KT_OK "}}", &k, &err);
        READ(nt_str_text(&k.writer.out), &again, &err);
        assert_string_equal(again.params, k.params);
        assert_close(again.last.time_ns, k.last.time_ns, 1e-12);
        assert_close(again.last.compile_ms, k.last.compile_ms, 1e-12);
        assert_string_equal(again.device, k.device);
        assert_string_equal(again.last.kernel, k.last.kernel);
        if (nt_formats[i]->carries & 1 << NT_COMMON_SAMPLES)
            assert_int_equal(again.last.samples.count, 2);
        if (nt_formats[i]->carries & 1 << NT_COMMON_TIMESTAMP)
            assert_string_equal(again.timestamp, k.timestamp);
        nt_format_writer_done(&k.writer);
    }
}

static void what_is_dropped_is_named(void **state)
{
    static const char *const dropped[] = {"single samples", "timestamps", "GFLOP/s", "tune_params", "problem size"};
    nt_error err;
    kept k = {.write = &nt_format_ktt};
    (void)state;
    READ(KT_HEAD KT_OK "}}", &k, &err);
    for (size_t i = 0; i < sizeof dropped / sizeof dropped[0]; i++)
        if (json_object_get(k.writer.dropped, dropped[i]) == NULL)
            fail_msg("%s is not named", dropped[i]);
    assert_null(json_object_get(k.writer.dropped, "compile times"));
    assert_null(json_object_get(k.writer.dropped, "kinds of failure"));
    nt_format_writer_done(&k.writer);
}

/* ---- bad files ------------------------------------------------------------------------------------------------------ */

static void errors_say_what_and_where(void **state)
{
    static const struct {
        const char *text, *what, *hint;
    } rows[] = {
        {"", "empty", "Kernel Tuner cache"},
        {"hello", "no results in a format", "T4 results"},
        {"[1]", "no results in a format", "KTT results"},
        {"{\"a\":1}", "JSON without results", "CSV of a recorded space"},
        {"{\"ConfigurationSpace\":{}}", "T1 file", "sweep --spec"},
        {"SQLite format 3", "SQLite database", "nntune merge"},
        {"{\"results\":[{}]}", "results[0]: there is no configuration", ""},
        {"{\"results\":[1]}", "results[0]: this is no object", ""},
        {"{\"results\":[],\"schema_version\":\"2.0.0\"}", "schema_version is '2.0.0'", "1.x"},
        {"{\"results\":[],\"metadata\":{\"timeunit\":\"fortnights\"}}", "timeunit is 'fortnights'", "microseconds"},
        {T4(T4_ENTRY("", "odd", "1")), "results[0]: invalidity is 'odd'", "correct, compile, runtime"},
        {T4(T4_ENTRY("", "correct", "-1")), "no time", "named 'time'"},
        {"{\"results\":[{\"configuration\":{\"a\":[1]},\"invalidity\":\"correct\"}]}", "'a' has no plain value", ""},
        {"{\"results\":[],\"x\":1,\"x\":2}", "'x' stands twice", ""},
        {"{\"results\":[}", "line 1, column 13", "'}'"},
        {"{\"results\":[]} x", "line 1, column 16", ""},
        {"{\"results\":[{\"configuration\":{\"a\":1},\"a\":tru}]}", "line 1", ""},
        {"{\"cache\":{}}", "tune_params_keys", ""},
        {KT_HEAD "\"64\":{\"bx\":64,\"time\":1}}}", "cache[64]: parameter 'fast' is missing", ""},
        {KT_HEAD KT_FAILED("\"time\":null") "}}", "cache[64,True]: time is missing", "milliseconds"},
        {"{\"Results\":[],\"Metadata\":{\"TimeUnit\":\"h\"}}", "TimeUnit is 'h'", "Microseconds"},
        {KTT("Fine", "1"), "Status is 'Fine'", "ComputationFailed"},
        {KTT("Ok", "\"x\""), "TotalDuration", ""},
        {"# x\n", "no header", ""},
        {"# x\na,b\n", "no parameters before", ""},
        {"# x\na,b,c,d,e,f\n", "must end in status", ""},
        {"a,a,status,time_ms,compile_ms,bench_ms,samples_ms\n", "twice", ""},
        {"a,status,time_ms,compile_ms,bench_ms,samples_ms\n1,ok,1,1\n", "line 2: the row", ""},
        {"a,status,time_ms,compile_ms,bench_ms,samples_ms\n1,ok,,,,\n", "no time_ms", ""},
        {"a,status,time_ms,compile_ms,bench_ms,samples_ms\n1,ok,x,,,\n", "no time in milliseconds", ""},
        {"a,status,time_ms,compile_ms,bench_ms,samples_ms\n1,good,1,,,\n", "status is 'good'", "run_failed"},
        {"{\"type\":\"run\",\"trials\":[],\"schema_version\":9}", "schema_version is 9", "version 1"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        nt_error err;
        kept k = {0};
        nt_status status = read_all(rows[i].text, &k, &err);
        if (status == NT_OK || strstr(err.what, rows[i].what) == NULL || strstr(err.hint, rows[i].hint) == NULL)
            fail_msg("row %zu: status %d, %s; %s", i, (int)status, err.what, err.hint);
        assert_non_null(strstr(err.what, "file.json.gz"));
    }
}

static void a_cut_cache_gives_its_whole_results(void **state)
{
    static const char text[] = KT_HEAD KT_OK ",\n" KT_FAILED("\"time\":3") "}}";
    const char *first = strstr(text, ",\n"), *second = strstr(text, "3}") + 2;
    (void)state;
    for (size_t length = 0; length < strlen(text); length++) {
        nt_error err;
        nt_import_report report;
        kept k = {0};
        nt_status status = read_text(text, length, &k, &report, &err);
        if (length < sizeof KT_HEAD - 1 - 1) {
            assert_int_not_equal(status, NT_OK);
            continue;
        }
        if (status != NT_OK) /* between key and bracket nothing tells that results follow */
            assert_int_equal(length, sizeof KT_HEAD - 2);
        else {
            assert_true(report.cut);
            assert_int_equal(k.count, text + length >= second ? 2 : text + length >= first ? 1 : 0);
        }
    }
}

static void other_cut_files_are_refused(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof originals / sizeof originals[0]; i++)
        for (size_t length = 0; !originals[i].format->may_be_cut && length < strlen(originals[i].text); length++) {
            nt_error err;
            nt_import_report report;
            kept k = {0};
            assert_int_not_equal(read_text(originals[i].text, length, &k, &report, &err), NT_OK);
            assert_true(err.what[0] != '\0');
        }
}

static void what_is_no_number_is_unknown(void **state)
{
    nt_error err;
    nt_import_report report;
    kept k = {.write = &nt_format_kernel_tuner};
    static const char text[] = KT_HEAD KT_FAILED("\"time\":3,\"a\":NaN,\"b\":[-Infinity,Infinity],\"c\":\"NaN\"") "}}";
    (void)state;
    assert_int_equal(read_text(text, strlen(text), &k, &report, &err), NT_OK);
    assert_int_equal(report.not_numbers, 3);
    assert_non_null(strstr(nt_str_text(&k.writer.out), "\"a\": null, \"b\": [null, null], \"c\": \"NaN\""));
    nt_format_writer_done(&k.writer);
}

/* 100 MB each, of the kinds that cost a careless reader most. */
static void large_files_end_soon(void **state)
{
    static const struct {
        const char *head, *repeated;
    } rows[] = {
        {"{\"results\":", "["},
        {"{\"a\":[", "0,"},
        {"{\"results\":[{\"configuration\":{\"a\":1},\"x\":[", "0,"},
        {"{\"results\":[], \"x\":\"", "\\\\"},
        {"", "{\"a\":"},
        {"", " "},
        {"#", "x"},
    };
    const size_t length = 100 << 20;
    char *text = malloc(length);
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        nt_error err;
        nt_import_report report;
        kept k = {0};
        size_t head = strlen(rows[i].head), step = strlen(rows[i].repeated);
        memcpy(text, rows[i].head, head);
        for (size_t at = head; at < length; at++)
            text[at] = rows[i].repeated[(at - head) % step];
        double begin_s = nt_now_s();
        assert_int_not_equal(read_text(text, length, &k, &report, &err), NT_OK);
        double seconds = nt_now_s() - begin_s;
        if (seconds > 20) /* far above what it takes, far below what a loop in a loop would */
            fail_msg("row %zu took %.1f s", i, seconds);
    }
    free(text);
}

/* ---- parts ---------------------------------------------------------------------------------------------------------- */

static void a_patch_leads_back(void **state)
{
    static const char *const pairs[][2] = {
        {"{\"a\":1,\"b\":[1,2]}", "{\"a\":1.0,\"b\":[1,2.5,3]}"},
        {"{\"a\":{\"b\":{\"c\":1}}}", "{\"a\":{\"b\":{\"d\":1}}}"},
        {"{\"a\":[{\"b\":1}]}", "{\"a\":[{\"b\":1,\"c\":{}},{\"d\":2}]}"},
        {"{\"a\":[1,2,3]}", "{\"a\":[1]}"},
        {"{\"a\":[1,[2]]}", "{\"a\":[[1],2]}"},
        {"{\"a\":{}}", "{\"a\":[]}"},
        {"{\"a\":null}", "{\"a\":{\"0\":1}}"},
        {"{\"a\":[{\"x\":[1]}]}", "{\"a\":[{\"x\":{\"0\":1}}]}"},
        {"{}", "{\"more\":{\"without\":{}},\"\":0}"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof pairs / sizeof pairs[0]; i++) {
        json_t *ours = json_loads(pairs[i][0], 0, NULL), *theirs = json_loads(pairs[i][1], 0, NULL);
        json_t *patch = nt_patch_make(ours, theirs);
        assert_non_null(patch);
        nt_patch_apply(ours, patch);
        if (!json_equal(ours, theirs))
            fail_msg("pair %zu: %s gives %s", i, json_dumps(patch, 0), json_dumps(ours, 0));
        assert_null(nt_patch_make(ours, theirs));
        json_decref(patch);
        json_decref(ours);
        json_decref(theirs);
    }
}

static void a_damaged_patch_does_no_harm(void **state)
{
    static const char *const patches[] = {"7", "{\"more\":[1]}", "{\"more\":{\"a\":{\"b\":1}},\"without\":{\"a\":3}}",
                                          "{\"instead\":{\"9\":{\"z\":[1]}},\"without\":{\"a\":{\"b\":{\"c\":true}}}}"};
    (void)state;
    for (size_t i = 0; i < sizeof patches / sizeof patches[0]; i++) {
        json_t *ours = json_loads("{\"a\":[1,{\"b\":2}]}", 0, NULL),
               *patch = json_loads(patches[i], JSON_DECODE_ANY, NULL);
        nt_patch_apply(ours, patch);
        assert_true(json_is_object(ours));
        json_decref(ours);
        json_decref(patch);
    }
}

/* Spelt as Python's repr does. */
static void reals_are_spelt_shortest(void **state)
{
    static const struct {
        double value;
        const char *text;
    } rows[] = {{0.1, "0.1"},
                {3, "3.0"},
                {46268.736, "46268.736"},
                {43.293697357177734, "43.293697357177734"},
                {-0.5, "-0.5"},
                {0, "0.0"},
                {1e20, "1e+20"},
                {123456789012345680.0, "1.2345678901234568e+17"},
                {1000000, "1000000.0"},
                {1e-7, "1e-07"},
                {(double)INFINITY, "null"}};
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        nt_str out = {0};
        nt_spell_real(&out, rows[i].value);
        assert_string_equal(nt_str_text(&out), rows[i].text);
        nt_str_done(&out);
    }
    for (double value = 1e-310; value < 1e300; value *= 7.3) {
        nt_str out = {0};
        nt_spell_real(&out, value);
        assert_true(strtod(nt_str_text(&out), NULL) == value);
        nt_str_done(&out);
    }
}

static void a_walk_knows_why_it_ends(void **state)
{
    static const struct {
        const char *text;
        nt_scan_state state;
    } rows[] = {{"[1, {\"a\": \"]\"}]", NT_SCAN_GOES_ON},
                {"[1", NT_SCAN_CUT},
                {"\"a\\", NT_SCAN_CUT},
                {"[1}", NT_SCAN_WRONG},
                {"]", NT_SCAN_WRONG},
                {"\"a\\\"", NT_SCAN_CUT},
                {"{\"a\":[}]", NT_SCAN_WRONG},
                {"  ", NT_SCAN_CUT},
                {"12", NT_SCAN_CUT}};
    char deep[200];
    nt_piece piece;
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        nt_scan scan = nt_scan_of(rows[i].text, strlen(rows[i].text));
        nt_scan_value(&scan, &piece);
        assert_int_equal(scan.state, rows[i].state);
    }
    for (size_t depth = NT_SCAN_MAX_DEPTH; depth <= NT_SCAN_MAX_DEPTH + 1; depth++) {
        memset(deep, '[', depth);
        memset(deep + depth, ']', depth);
        nt_scan scan = nt_scan_of(deep, 2 * depth);
        assert_true(nt_scan_value(&scan, &piece) == (depth == NT_SCAN_MAX_DEPTH));
        assert_int_equal(scan.state, depth == NT_SCAN_MAX_DEPTH ? NT_SCAN_GOES_ON : NT_SCAN_DEEP);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(t4_is_read),
        cmocka_unit_test(t4_failures_keep_their_word),
        cmocka_unit_test(kernel_tuner_is_read),
        cmocka_unit_test(kernel_tuner_failures),
        cmocka_unit_test(ktt_is_read),
        cmocka_unit_test(csv_is_read),
        cmocka_unit_test(the_same_format_gives_the_file_back),
        cmocka_unit_test(common_fields_cross),
        cmocka_unit_test(what_is_dropped_is_named),
        cmocka_unit_test(errors_say_what_and_where),
        cmocka_unit_test(a_cut_cache_gives_its_whole_results),
        cmocka_unit_test(other_cut_files_are_refused),
        cmocka_unit_test(what_is_no_number_is_unknown),
        cmocka_unit_test(large_files_end_soon),
        cmocka_unit_test(a_patch_leads_back),
        cmocka_unit_test(a_damaged_patch_does_no_harm),
        cmocka_unit_test(reals_are_spelt_shortest),
        cmocka_unit_test(a_walk_knows_why_it_ends),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
