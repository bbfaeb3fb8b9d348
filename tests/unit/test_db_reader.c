/* test_db_reader.c: the views as a contract, queries that only read, and the schema page of the documentation. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "core/paths.h"
#include "db_fixture.h"

typedef struct fixture {
    char path[256];
    nt_sink *sink;
    nt_reader *reader;
    nt_run run;
    nt_error err;
} fixture;

#define assert_ok(call, f)                            \
    do {                                              \
        if ((call) != NT_OK)                          \
            fail_msg("%s: %s", #call, (f)->err.what); \
    } while (0)

static int setup(void **state)
{
    fixture *f = nt_alloc_zero(1, sizeof *f);
    nt_db_options quick = {.query_ms = 200};
    fixture_path(f->path);
    fixture_run(&f->run, 1, "{}");
    if (nt_db_sink_open(f->path, &f->sink, &f->err) != NT_OK ||
        f->sink->begin_run(f->sink, &f->run, &f->err) != NT_OK ||
        nt_db_reader_open_with(f->path, &quick, &f->reader, &f->err) != NT_OK) {
        fprintf(stderr, "%s\n", f->err.what);
        return -1;
    }
    *state = f;
    return 0;
}

static int teardown(void **state)
{
    fixture *f = *state;
    f->reader->close(f->reader);
    nt_sink_close(f->sink);
    nt_run_done(&f->run);
    fixture_remove(f->path);
    free(f);
    return 0;
}

static bool count_rows(void *context, const nt_row *row)
{
    (void)row;
    (*(int *)context)++;
    return true;
}

static bool keep_names(void *context, const nt_row *row)
{
    nt_str *out = context;
    for (int i = 0; i < row->count; i++)
        nt_str_addf(out, "%s%s", i ? " " : "", row->name[i]);
    return false;
}

static const char contract[] =
    "run source device layer shape batch precision layout fill kernel params outcome reason time_ns time_lo_ns "
    "time_hi_ns "
    "floor_ns samples converged cache error_impl error_prec registers smem_bytes spill_bytes occupancy_limit_pct "
    "occupancy_limiter occupancy_pct dram_read_bytes dram_write_bytes sm_clock_mhz power_mw ";

static void views_keep_the_contract(void **state)
{
    fixture *f = *state;
    assert_ok(fixture_put(f->sink, 1, 1, 100, NULL, &f->err), f);
    const char *sql[] = {"select * from trials", "select * from best"};
    for (int i = 0; i < 2; i++) {
        nt_str names = {0};
        assert_ok(f->reader->query(f->reader, sql[i], keep_names, &names, &f->err), f);
        assert_memory_equal(nt_str_text(&names), contract, sizeof contract - 1);
        nt_str_done(&names);
    }
}

typedef struct documented {
    const char *page;
    int columns;
} documented;

static bool stands_on_page(void *context, const nt_row *row)
{
    documented *d = context;
    char word[128];
    snprintf(word, sizeof word, "`%s`", row->cell[0].text);
    if (strstr(d->page, word) == NULL)
        fail_msg("docs/SCHEMA.md does not explain %s of %s", word, row->cell[1].text);
    d->columns++;
    return true;
}

static void every_column_is_documented(void **state)
{
    fixture *f = *state;
    char *page;
    size_t bytes;
    documented d = {0};
    assert_ok(nt_read_file("docs/SCHEMA.md", 1 << 20, &page, &bytes, &f->err), f);
    d.page = page;
    assert_ok(f->reader->query(f->reader,
                               "select p.name, s.name from sqlite_schema s, pragma_table_info(s.name) p "
                               "where s.type in ('table', 'view')",
                               stands_on_page, &d, &f->err),
              f);
    assert_true(d.columns > 150);
    free(page);
}

static bool check_cells(void *context, const nt_row *row)
{
    int *seen = context;
    for (int i = 0; i < row->count; i++) {
        const nt_cell *cell = &row->cell[i];
        if (strcmp(row->name[i], "shape") == 0)
            *seen += cell->kind == NT_CELL_TEXT && strcmp(cell->text, "c=64,k=64,h=56,w=56") == 0;
        if (strcmp(row->name[i], "batch") == 0)
            *seen += cell->kind == NT_CELL_INT && cell->i == 8;
        if (strcmp(row->name[i], "time_ns") == 0)
            *seen += cell->kind == NT_CELL_REAL && cell->r == 100.5;
        if (strcmp(row->name[i], "registers") == 0 || strcmp(row->name[i], "reason") == 0)
            *seen += cell->kind == NT_CELL_NULL;
        if (strcmp(row->name[i], "device") == 0)
            *seen += strcmp(cell->text, "Fake 1") == 0;
    }
    return true;
}

static void a_trial_by_number(void **state)
{
    fixture *f = *state;
    int64_t id;
    int seen = 0;
    assert_ok(fixture_put(f->sink, 8, 1, 100.5, &id, &f->err), f);
    assert_ok(f->reader->trial(f->reader, id, check_cells, &seen, &f->err), f);
    assert_int_equal(seen, 6);
    assert_int_equal(f->reader->trial(f->reader, id + 1, check_cells, &seen, &f->err), NT_NOT_FOUND);
    assert_non_null(strstr(f->err.hint, "from 1 to 1"));
}

static void samples_of_the_shown_time(void **state)
{
    fixture *f = *state;
    int64_t id;
    nt_samples samples;
    double rounds[] = {98, 99, 97, 98, 99, 98, 98};
    nt_problem problem = fixture_problem(1);
    assert_ok(fixture_put(f->sink, 1, 1, 100, &id, &f->err), f);
    assert_ok(f->reader->samples(f->reader, id, &samples, &f->err), f);
    assert_true(samples.count == FIXTURE_SAMPLES && samples.sample_ns[0] == 100 * (1 - 0.0025));
    nt_samples_done(&samples);
    nt_final final = {.trial_id = id, .rank = 1, .ratio = 1, .time_ns = 98, .time_lo_ns = 97, .time_hi_ns = 99};
    final.samples = (nt_samples){rounds, 6, 5, .per_block = 2};
    assert_ok(f->sink->put_finals(f->sink, &problem, &final, 1, &f->err), f);
    assert_ok(f->reader->samples(f->reader, id, &samples, &f->err), f);
    assert_true(samples.count == 6 && samples.sample_ns[2] == 97 && samples.launches_per_sample == 5 &&
                samples.per_block == 2);
    nt_samples_done(&samples);
    assert_int_equal(f->reader->samples(f->reader, 99, &samples, &f->err), NT_NOT_FOUND);
}

static void best_is_narrowed(void **state)
{
    fixture *f = *state;
    int rows = 0;
    for (int batch = 1; batch <= 3; batch++)
        assert_ok(fixture_put(f->sink, batch, 1, 100, NULL, &f->err), f);
    assert_ok(f->reader->best(f->reader, NULL, NULL, count_rows, &rows, &f->err), f);
    assert_ok(f->reader->best(f->reader, "conv3x3", "Fake 1", count_rows, &rows, &f->err), f);
    assert_ok(f->reader->best(f->reader, NULL, "FAKE-1", count_rows, &rows, &f->err), f);
    assert_int_equal(rows, 9);
    assert_ok(f->reader->best(f->reader, "fc", NULL, count_rows, &rows, &f->err), f);
    assert_ok(f->reader->best(f->reader, NULL, "Fake 2", count_rows, &rows, &f->err), f);
    assert_int_equal(rows, 9);
    rows = 0;
    assert_ok(f->reader->runs(f->reader, count_rows, &rows, &f->err), f);
    assert_int_equal(rows, 1);
}

static void writing_is_refused(void **state)
{
    static const char *const statements[] = {
        "delete from trial",
        "insert into problem values (1, 'a', 'b', 1, 'c', 'd', 'e')",
        "update run set state = 'done'",
        "drop view best",
        "create table x (y)",
        "create temp table x (y)",
        "attach '/tmp/nntune-never.db' as other",
        "vacuum into '/tmp/nntune-never.db'",
        "vacuum",
        "pragma user_version = 7",
        "pragma query_only = 0",
        "pragma journal_mode = delete",
        "pragma writable_schema = 1",
        "begin",
        "savepoint s",
        "reindex",
        "analyze",
        "select load_extension('x')",
        "with a as (select 1) delete from trial",
        "explain delete from trial",
        "update sqlite_master set sql = ''",
    };
    fixture *f = *state;
    int rows = 0;
    assert_ok(fixture_put(f->sink, 1, 1, 100, NULL, &f->err), f);
    for (size_t i = 0; i < sizeof statements / sizeof statements[0]; i++) {
        f->err = (nt_error){0};
        if (f->reader->query(f->reader, statements[i], count_rows, &rows, &f->err) != NT_USAGE)
            fail_msg("'%s' gave %s: %s", statements[i], nt_status_text(f->err.status), f->err.what);
        if (f->err.hint[0] == '\0')
            fail_msg("'%s' gave no hint: %s", statements[i], f->err.what);
    }
    assert_int_equal(rows, 0);
    assert_int_equal(access("/tmp/nntune-never.db", F_OK), -1);
    assert_true(fixture_number(f->path, "select count(*) from trials") == 1);
}

static void odd_queries(void **state)
{
    fixture *f = *state;
    int rows = 0;
    assert_int_equal(f->reader->query(f->reader, "  -- nothing\n", count_rows, &rows, &f->err), NT_USAGE);
    assert_non_null(strstr(f->err.what, "empty"));
    assert_int_equal(f->reader->query(f->reader, "select 1; select 2", count_rows, &rows, &f->err), NT_USAGE);
    assert_non_null(strstr(f->err.what, "more than one statement"));
    assert_int_equal(f->reader->query(f->reader, "select 1; drop table trial", count_rows, &rows, &f->err), NT_USAGE);
    assert_int_equal(f->reader->query(f->reader, "select speed from trials", count_rows, &rows, &f->err), NT_USAGE);
    assert_non_null(strstr(f->err.what, "no such column: speed"));
    assert_non_null(strstr(f->err.hint, "pragma_table_info"));
    assert_int_equal(rows, 0);
    assert_ok(f->reader->query(f->reader, "select 1; -- done\n ;", count_rows, &rows, &f->err), f);
    assert_ok(f->reader->query(f->reader, "pragma integrity_check", count_rows, &rows, &f->err), f);
    assert_ok(f->reader->query(f->reader, "pragma user_version", count_rows, &rows, &f->err), f);
    assert_ok(f->reader->query(f->reader, "explain query plan select 1", count_rows, &rows, &f->err), f);
    assert_ok(f->reader->query(f->reader, "select value from json_each('[1, 2]')", count_rows, &rows, &f->err), f);
    assert_int_equal(rows, 6);
}

static void an_endless_query_ends(void **state)
{
    fixture *f = *state;
    double count = 0;
    const char *endless = "with recursive n(i) as (select 1 union all select i + 1 from n) select count(*) from n";
    assert_int_equal(f->reader->query(f->reader, endless, fixture_first_cell, &count, &f->err), NT_TIMED_OUT);
    assert_non_null(strstr(f->err.what, "longer than 0.2 s"));
    assert_ok(nt_db_sink_batch(f->sink, 1000, &f->err), f);
    for (int batch = 1; batch <= 500; batch++)
        assert_ok(fixture_put(f->sink, batch, 1, 100, NULL, &f->err), f);
    assert_ok(nt_db_sink_batch(f->sink, 0, &f->err), f);
    usleep(250000);
    /* The limit was that query's: later calls are not cut short by it. */
    int rows = 0;
    assert_ok(f->reader->best(f->reader, NULL, NULL, count_rows, &rows, &f->err), f);
    assert_int_equal(rows, 500);
    assert_ok(f->reader->query(f->reader, "select 5", fixture_first_cell, &count, &f->err), f);
    assert_true(count == 5);
}

static bool keep_text(void *context, const nt_row *row)
{
    nt_str *out = context;
    nt_str_addf(out, "%s|%s", row->cell[0].text, row->cell[1].text);
    return true;
}

static void blobs_are_shown_as_hexadecimal(void **state)
{
    fixture *f = *state;
    nt_str out = {0};
    assert_ok(f->reader->query(f->reader, "select x'00ff10', x''", keep_text, &out, &f->err), f);
    assert_string_equal(nt_str_text(&out), "00ff10|");
    nt_str_done(&out);
}

static void new_trials_are_seen(void **state)
{
    fixture *f = *state;
    double count = 0;
    for (int i = 0; i < 3; i++) {
        assert_ok(fixture_put(f->sink, 1, i, 100, NULL, &f->err), f);
        assert_ok(f->reader->query(f->reader, "select ok from runs", fixture_first_cell, &count, &f->err), f);
        assert_true(count == i + 1);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
#define T(f) cmocka_unit_test_setup_teardown(f, setup, teardown)
        T(views_keep_the_contract),
        T(every_column_is_documented),
        T(a_trial_by_number),
        T(samples_of_the_shown_time),
        T(best_is_narrowed),
        T(writing_is_refused),
        T(odd_queries),
        T(an_endless_query_ends),
        T(blobs_are_shown_as_hexadecimal),
        T(new_trials_are_seen),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
