/* test_reports_result.c: the read model and its answers over a database that the real writer made: groups, winners,
 * filters, top lists, failures counted by reason, devices of one name; and each kind's chart from it. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "db_fixture.h"
#include "reports/kinds.h"
#include "reports/report.h"

typedef struct room {
    char path[256];
    nt_sink *sink;
    nt_reader *reader;
    nt_report_source source;
    int64_t winner; /* trial with rank 1 of batch 1 on the first device */
} room;

static void work(const nt_problem *problem, double *flop, double *bytes)
{
    *flop = 1e9 * (double)problem->batch;
    *bytes = 1e6 * (double)problem->batch;
}

static void must(nt_status status, const nt_error *err)
{
    if (status != NT_OK)
        fail_msg("%s", err->what);
}

static void put_failure(nt_sink *sink, int params, const char *reason)
{
    nt_trial trial;
    nt_error err;
    fixture_trial(&trial, 1, params, 1e5);
    trial.outcome = NT_OUTCOME_COMPILE_FAILED;
    trial.time_ns = trial.time_lo_ns = trial.time_hi_ns = (double)NAN;
    nt_samples_done(&trial.samples);
    nt_copy(trial.reason, sizeof trial.reason, reason);
    must(sink->put(sink, &trial, NULL, &err), &err);
    nt_trial_done(&trial);
}

/* Thirty trials of batch 1 and 2 on each of two devices of one name; the second device is twice as fast. */
static void fill(room *r)
{
    nt_error err;
    nt_run run;
    for (int device = 0; device < 2; device++) {
        fixture_run(&run, device, "{}");
        nt_copy(run.device.name, sizeof run.device.name, "Twin");
        run.device.dram_peak_bytes_per_s = 1e12;
        must(r->sink->begin_run(r->sink, &run, &err), &err);
        for (int i = 0; i < 60; i++) {
            int64_t id;
            must(fixture_put(r->sink, 1 + i % 2, i, (1000 + 10 * i) * (device == 0 ? 2 : 1), &id, &err), &err);
            if (device == 0 && i == 4)
                r->winner = id;
        }
        if (device == 0) {
            nt_problem problem = fixture_problem(1);
            nt_final final = {
                .trial_id = r->winner, .rank = 1, .ratio = 1, .time_ns = 2100, .time_lo_ns = 2090, .time_hi_ns = 2110};
            must(r->sink->put_finals(r->sink, &problem, &final, 1, &err), &err);
            put_failure(r->sink, 100, "k.c(12): error 3");
            put_failure(r->sink, 101, "k.c(7): error 44");
            put_failure(r->sink, 102, "out of room");
        }
        run.compile_s = 3;
        run.measure_s = 4.5;
        nt_copy(run.state, sizeof run.state, "done");
        must(r->sink->end_run(r->sink, &run, &err), &err);
        nt_run_done(&run);
    }
}

static int open_room(void **state)
{
    room *r = nt_alloc_zero(1, sizeof *r);
    nt_error err;
    fixture_path(r->path);
    must(nt_db_sink_open(r->path, &r->sink, &err), &err);
    fill(r);
    nt_sink_close(r->sink);
    must(nt_db_reader_open(r->path, &r->reader, &err), &err);
    r->source = (nt_report_source){.reader = r->reader, .database = r->path, .work = work};
    *state = r;
    return 0;
}

static int close_room(void **state)
{
    room *r = *state;
    r->reader->close(r->reader);
    fixture_remove(r->path);
    free(r);
    return 0;
}

static nt_result read_all(room *r, const nt_result_filter *filter)
{
    nt_result result;
    nt_error err;
    must(nt_result_read(&result, &r->source, filter, &err), &err);
    return result;
}

static void test_groups_and_winners(void **state)
{
    room *r = *state;
    nt_result_filter all = {0};
    nt_result result = read_all(r, &all);
    assert_int_equal(result.runs, 2);
    assert_int_equal(result.devices, 2);
    assert_int_equal(result.groups, 4);
    assert_int_equal(result.trials, 123);
    /* The place in the finals counts, not the least time of a single measurement. */
    assert_int_equal(result.trial[result.group[0].best].id, r->winner);
    assert_true(result.trial[result.group[0].best].time_ns == 2100);
    assert_true(result.trial[result.group[1].best].time_ns == 2 * 1010);
    assert_int_equal(result.group[0].outcome[NT_OUTCOME_OK], 30);
    assert_int_equal(result.group[0].outcome[NT_OUTCOME_COMPILE_FAILED], 3);
    assert_string_not_equal(result.device[0].label, result.device[1].label);
    assert_true(nt_result_flops(&result.group[1], 1e6) == 2e12);
    nt_result_done(&result);
}

static void test_filters(void **state)
{
    room *r = *state;
    nt_error err;
    nt_result result;
    result = read_all(r, &(nt_result_filter){.batch = 2, .device = "FAKE-1"});
    assert_int_equal(result.trials, 30);
    assert_int_equal(result.groups, 1);
    nt_result_done(&result);
    result = read_all(r, &(nt_result_filter){.run = 1, .shape = "c=64,k=64,h=56,w=56", .precision = "bf16"});
    assert_int_equal(result.trials, 63);
    assert_int_equal(result.runs, 1);
    assert_int_equal(result.devices, 1);
    assert_int_equal(result.trial[result.group[0].best].id, r->winner); /* of the run by itself as well */
    nt_result_done(&result);
    assert_int_equal(nt_result_read(&result, &r->source, &(nt_result_filter){.kernel = "none"}, &err), NT_NOT_FOUND);
    assert_non_null(strstr(err.what, "that match"));
}

static void test_answers(void **state)
{
    room *r = *state;
    nt_result_filter all = {0};
    nt_result result = read_all(r, &all);
    nt_answer *answers;
    nt_error err;
    must(nt_answers_make(&result, &answers, &err), &err);
    const nt_answer *a = &answers[0];
    assert_int_equal(a->top_count, NT_ANSWER_TOP);
    for (size_t i = 1; i < a->top_count; i++)
        assert_true(result.trial[a->top[i - 1]].time_ns <= result.trial[a->top[i]].time_ns);
    assert_true(result.trial[a->top[0]].time_ns == 2000);
    assert_int_equal(a->failures, 2);
    assert_int_equal(a->failure[0].count, 2);
    assert_string_equal(a->failure[0].reason, "k.c(#): error #");
    assert_int_equal(a->failure[1].count, 1);
    assert_int_equal(a->failed, 3);
    /* 1e9 FLOP and 1e6 bytes in 2.1 us: the compute roof of 1e12 FLOP/s is not told for bf16, so none is made up. */
    assert_true(isnan(a->roof_pct));
    assert_true(isnan(a->p99_ns)); /* six samples tell no tail */
    assert_true(isnan(a->vendor_ratio) && isnan(a->rule_ratio));
    nt_answers_free(answers, result.groups);
    nt_result_done(&result);
}

static void test_kinds(void **state)
{
    static const struct {
        const char *name;
        bool there;
    } kinds[] = {{"heatmap", true},   {"roofline", true},   {"batch", true},
                 {"precision", true}, {"occupancy", false}, {"convergence", true},
                 {"budget", true},    {"samples", true},    {"devices", true}, {"crossover", false}};
    room *r = *state;
    nt_result_filter all = {0};
    nt_result result = read_all(r, &all);
    nt_plot_options options = {.group = -1, .device = -1, .x = "tile_m", .y = "tile_n", .max_latency_ms = 0.0025};
    assert_int_equal(nt_plot_kind_count, sizeof kinds / sizeof kinds[0] + 1); /* and that of a log */
    for (size_t i = 0; i < sizeof kinds / sizeof kinds[0]; i++) {
        const nt_plot_kind *kind;
        nt_chart chart;
        nt_error err;
        must(nt_plot_kind_find(kinds[i].name, &kind, &err), &err);
        nt_status status = nt_plot_make(kind, &result, &options, NT_CHART_MOST_POINTS, &chart, &err);
        if (status != (kinds[i].there ? NT_OK : NT_NOT_FOUND))
            fail_msg("%s: %s", kinds[i].name, status == NT_OK ? "drawn from nothing" : err.what);
        if (status != NT_OK) {
            assert_non_null(strstr(err.what, "nothing to plot"));
            continue;
        }
        assert_true(chart.title[0] != '\0' && chart.words.length > 0 && chart.y.label[0] != '\0');
        nt_chart_done(&chart);
    }
    nt_result_done(&result);
}

static void test_cells_hold_the_best_of_the_others(void **state)
{
    room *r = *state;
    nt_result result = read_all(r, &(nt_result_filter){.run = 2, .batch = 1});
    nt_plot_options options = {.group = -1, .device = -1, .x = "tile_m", .y = "tile_n"};
    nt_chart chart;
    nt_error err;
    nt_chart_init(&chart);
    must(nt_plot_heatmap(&result, &options, &chart, &err), &err);
    assert_int_equal(chart.x.categories, 30);
    assert_int_equal(chart.y.categories, 1);
    assert_string_equal(chart.x.category[1], "2"); /* numbers in their order, not that of letters */
    assert_true(chart.series[0].point[0].lo == 1); /* us */
    nt_chart_done(&chart);
    options.x = "tile_x";
    assert_int_equal(nt_plot_heatmap(&result, &options, &chart, &err), NT_USAGE);
    assert_non_null(strstr(err.hint, "tile_m"));
    nt_chart_done(&chart);
    nt_result_done(&result);
}

static char *written(room *r, const char *format_name, size_t *length)
{
    const nt_report_format *format;
    nt_result_filter all = {0};
    nt_error err;
    bool no_gnuplot;
    char *text = NULL;
    FILE *out = open_memstream(&text, length);
    must(nt_report_format_find(format_name, "", &format, &err), &err);
    must(nt_report_write(&r->source, &all, format, out, &no_gnuplot, &err), &err);
    fclose(out);
    return text;
}

static void test_reports_repeat(void **state)
{
    static const char *const names[] = {"markdown", "csv", "json"};
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        size_t first_length, second_length;
        char *first = written(*state, names[i], &first_length), *second = written(*state, names[i], &second_length);
        assert_int_equal(first_length, second_length);
        assert_memory_equal(first, second, first_length);
        free(first);
        free(second);
    }
}

static void test_csv_has_every_trial(void **state)
{
    size_t length, lines = 0;
    char *text = written(*state, "csv", &length);
    for (size_t i = 0; i < length; i++)
        lines += text[i] == '\n';
    assert_int_equal(lines, 1 + 123);
    assert_non_null(strstr(text, "\"{\"\"tile_m\"\":0,\"\"tile_n\"\":0,\"\"stages\"\":0}\""));
    free(text);
}

static void test_where_lines_cross(void **state)
{
    (void)state;
    const int64_t batch[] = {1, 2, 4, 8};
    const double cpu[] = {100, 200, 400, 800}, gpu[] = {200, 220, 300, 400}, slow[] = {900, 900, 900, 900};
    nt_crossover c = nt_crossover_of(batch, cpu, gpu, 4);
    assert_int_equal(c.from_batch, 4);
    assert_true(c.batch > 2 && c.batch < 4 && c.time_ns > 220 && c.time_ns < 300 && !c.always);
    /* the cpu is 1.1 times as fast at 2, the GPU 4/3 at 4 */
    assert_true(fabs(c.batch - 2 * pow(2, log(1.1) / (log(1.1) + log(4.0 / 3)))) < 1e-9);
    c = nt_crossover_of(batch, slow, gpu, 4);
    assert_true(c.always && isnan(c.batch));
    c = nt_crossover_of(batch, cpu, slow, 4);
    assert_true(!c.always && isnan(c.batch));
    assert_true(isnan(nt_crossover_of(batch, cpu, gpu, 0).batch));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_groups_and_winners),
        cmocka_unit_test(test_filters),
        cmocka_unit_test(test_answers),
        cmocka_unit_test(test_kinds),
        cmocka_unit_test(test_where_lines_cross),
        cmocka_unit_test(test_cells_hold_the_best_of_the_others),
        cmocka_unit_test(test_reports_repeat),
        cmocka_unit_test(test_csv_has_every_trial),
    };
    return cmocka_run_group_tests(tests, open_room, close_room);
}
