/* test_db_window.c: windows on a run's trials give what plain SQL gives, however they are found: 300 random windows of
 * conditions, orders and places over 12,000 trials, with the index and without; and what a screen follows a run by. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <sqlite3.h>

#include "core/random.h"
#include "db_fixture.h"

/* Two runs, 12 problems one after another in the first, ties in every column, and NULL where a real one has it. */
static const char made[] =
    "INSERT INTO problem (id, layer, shape, batch, precision, layout, fill) "
    "SELECT 100 + p, CASE WHEN p < 9 THEN 'conv3x3' ELSE 'fc' END, 'c=' || (p % 3), 1 << (p % 4), "
    "CASE p % 2 WHEN 0 THEN 'bf16' ELSE 'fp32' END, 'nhwc', 'normal' "
    "FROM (WITH RECURSIVE c (p) AS (SELECT 0 UNION ALL SELECT p + 1 FROM c WHERE p < 11) SELECT p FROM c);"
    "INSERT INTO kernel (id, layer, name, device_kind, source_hash) VALUES (100, 'conv3x3', 'a', 'fake', ''), (101, "
    "'fc', "
    "'b', 'fake', '');"
    "CREATE TEMP TABLE n AS WITH RECURSIVE c (i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM c WHERE i < 11999) "
    "SELECT i, i * 7919 % 10007 AS h FROM c;"
    "INSERT INTO configuration (id, params) SELECT 100 + i, json_object('tile_m', 16 << (h % 4), 'name', 'k' || (h % "
    "5), "
    "'id', i) FROM n;"
    "INSERT INTO trial (id, run_id, problem_id, kernel_id, configuration_id, cache, outcome, stored_unix_s, time_ns, "
    "samples, converged, reused, artefact_cached, registers, occupancy_limit_pct, occupancy_limiter) "
    "SELECT 10 + i, 1 + (i % 400 = 7), 100 + i / 1000, 100 + h % 2, 100 + i, 'cold', o, 1000 + i, CASE o WHEN 'ok' "
    "THEN "
    "100.0 + h % 211 END, 0, 0, 0, 0, CASE WHEN h % 13 > 0 THEN 32 + h % 3 * 16 END, CASE WHEN h % 17 > 0 THEN 100.0 / "
    "(1 + "
    "h % 6) END, CASE WHEN h % 17 > 0 THEN CASE h % 2 WHEN 0 THEN 'smem' ELSE 'registers' END END "
    "FROM (SELECT i, h, CASE WHEN h % 9 = 1 THEN 'pruned' WHEN h % 301 = 2 THEN 'crashed' ELSE 'ok' END AS o FROM n);"
    "INSERT INTO counter (trial_id, name, value) SELECT 10 + i, 'occupancy_pct', h % 7 * 10 FROM n WHERE h % 3 = 0;"
    "INSERT INTO rollup (run_id, problem_id, cache, outcome, trials, least_time_ns, least_trial_id) "
    "SELECT run_id, problem_id, 'cold', outcome, count(*), min(time_ns), CASE outcome WHEN 'ok' THEN id END FROM trial "
    "GROUP BY run_id, problem_id, outcome;";

static char path[256];
static nt_reader *reader;

static void raw_sql(const char *sql)
{
    sqlite3 *db;
    assert_int_equal(sqlite3_open(path, &db), SQLITE_OK);
    if (sqlite3_exec(db, sql, NULL, NULL, NULL) != SQLITE_OK)
        fail_msg("%s", sqlite3_errmsg(db));
    sqlite3_close(db);
}

static void open_again(void)
{
    nt_error err = {0};
    if (reader != NULL)
        reader->close(reader);
    if (nt_db_reader_open(path, &reader, &err) != NT_OK)
        fail_msg("%s", err.what);
}

static int setup(void **state)
{
    nt_sink *sink;
    nt_run run;
    nt_error err = {0};
    (void)state;
    fixture_path(path);
    fixture_run(&run, 1, "{}");
    if (nt_db_sink_open(path, &sink, &err) != NT_OK)
        return -1;
    for (int i = 0; i < 2; i++) {
        run.id = 0;
        if (sink->begin_run(sink, &run, &err) != NT_OK)
            return -1;
    }
    nt_sink_close(sink);
    nt_run_done(&run);
    raw_sql(made);
    open_again();
    return 0;
}

static int teardown(void **state)
{
    (void)state;
    reader->close(reader);
    fixture_remove(path);
    return 0;
}

/* ---- windows ----------------------------------------------------------------------------------------------------------- */

static nt_random dice;

static int below(int bound)
{
    return (int)nt_random_below(&dice, (uint64_t)bound);
}

static const struct {
    const char *name;
    bool param;
    const char *values[4];
} columns[] = {
    {"trial", false, {"3000", "11990", "1", "9"}},
    {"first_time_ns", false, {"150", "101", "309.5", "5000"}},
    {"outcome", false, {"ok", "pruned", "crashed", "timed_out"}},
    {"occupancy_limit_pct", false, {"50", "100", "17", "101"}},
    {"batch", false, {"1", "2", "8", "64"}},
    {"shape", false, {"c=0", "c=1", "c=2", "c=3"}},
    {"precision", false, {"bf16", "fp32", "int8", "bf16"}},
    {"layer", false, {"conv3x3", "fc", "pool", "fc"}},
    {"registers", false, {"32", "48", "64", "40"}},
    {"kernel", false, {"a", "b", "c", "a"}},
    {"occupancy_pct", false, {"10", "30", "60", "70"}},
    {"occupancy_limiter", false, {"smem", "registers", "blocks", "smem"}},
    {"tile_m", true, {"16", "64", "128", "9999"}},
    {"name", true, {"k0", "k3", "k4", "k9"}},
};
enum { COLUMNS = sizeof columns / sizeof columns[0] };

static void random_key(nt_window_key *key, int column)
{
    *key = (nt_window_key){.param = columns[column].param, .descending = below(2) == 1};
    nt_copy(key->name, sizeof key->name, columns[column].name);
}

static nt_window random_window(void)
{
    nt_window w = {.run = 1, .until_unix_s = below(8) == 0 ? 1000 + below(12000) : (double)NAN};
    w.keys = below(3);
    w.terms = below(3) * below(2);
    for (int i = 0; i < w.keys; i++)
        random_key(&w.key[i], below(COLUMNS));
    for (int i = 0; i < w.terms; i++) {
        int column = below(COLUMNS);
        const char *value = columns[column].values[below(4)];
        char *end;
        random_key(&w.term[i].key, column);
        w.term[i].op = (nt_window_op)below(NT_WINDOW_OPS);
        w.term[i].number = strtod(value, &end);
        w.term[i].is_text = *end != '\0';
        nt_copy(w.term[i].text, sizeof w.term[i].text, value);
    }
    w.first = below(3) == 0 ? below(14000) : below(3) * 20;
    w.count = 1 + below(60);
    return w;
}

static void say_key(nt_str *sql, const nt_window_key *key)
{
    nt_str_addf(sql, key->param ? "json_extract(params, '$.%s')" : "%s", key->name);
}

/* The same in SQL that a person would write. */
static void plainly(const nt_window *w, const char *what, bool rows, nt_str *sql)
{
    static const char *const signs[] = {"=", "IS NOT", "<", "<=", ">", ">="};
    nt_str_addf(sql, "SELECT %s FROM trials WHERE +run = %lld", what, (long long)w->run);
    if (!isnan(w->until_unix_s))
        nt_str_addf(sql, " AND stored_unix_s <= %.17g", w->until_unix_s);
    for (int i = 0; i < w->terms; i++) {
        nt_str_add(sql, " AND ");
        say_key(sql, &w->term[i].key);
        nt_str_addf(sql, w->term[i].is_text ? " %s '%s'" : " %s %s", signs[w->term[i].op], w->term[i].text);
    }
    if (!rows)
        return;
    nt_str_add(sql, " ORDER BY ");
    for (int i = 0; i < w->keys; i++) {
        say_key(sql, &w->key[i]);
        nt_str_addf(sql, "%s NULLS LAST, ", w->key[i].descending ? " DESC" : "");
    }
    nt_str_addf(sql, "trial LIMIT %lld OFFSET %lld", (long long)w->count, (long long)w->first);
}

static bool add_number(void *context, const nt_row *row)
{
    for (int i = 0; i < row->count; i++)
        if (strcmp(row->name[i], "trial") == 0)
            nt_str_addf(context, "%lld ", (long long)row->cell[i].i);
    return true;
}

static void check_one(const nt_window *w)
{
    nt_error err = {0};
    nt_str plain = {0}, expected = {0}, found = {0}, counting = {0};
    double count = -1;
    int64_t counted = -2;
    plainly(w, "trial", true, &plain);
    plainly(w, "count(*)", false, &counting);
    if (reader->query(reader, nt_str_text(&plain), add_number, &expected, &err) != NT_OK ||
        reader->query(reader, nt_str_text(&counting), fixture_first_cell, &count, &err) != NT_OK ||
        reader->window(reader, w, add_number, &found, &err) != NT_OK ||
        reader->window_count(reader, w, &counted, &err) != NT_OK)
        fail_msg("%s: %s", nt_str_text(&plain), err.what);
    if (strcmp(nt_str_text(&expected), nt_str_text(&found)) != 0)
        fail_msg("%s\nexpected %s\nfound    %s", nt_str_text(&plain), nt_str_text(&expected), nt_str_text(&found));
    if (counted != (int64_t)count)
        fail_msg("%s: %lld, expected %.0f", nt_str_text(&counting), (long long)counted, count);
    nt_str_done(&plain);
    nt_str_done(&counting);
    nt_str_done(&expected);
    nt_str_done(&found);
}

static void windows_are_what_plain_sql_gives(void **state)
{
    (void)state;
    dice = nt_random_seed(7, 0);
    for (int i = 0; i < 300; i++) {
        nt_window w = random_window();
        check_one(&w);
    }
}

/* A file of an earlier version, which nobody has written to since. */
static void without_the_index_too(void **state)
{
    (void)state;
    raw_sql("DROP INDEX trial_by_problem");
    open_again();
    for (int i = 0; i < 50; i++) {
        nt_window w = random_window();
        check_one(&w);
    }
    raw_sql("CREATE INDEX trial_by_problem ON trial (run_id, problem_id, id, time_ns, occupancy_limit_pct, outcome)");
    open_again();
}

static void names_that_are_none(void **state)
{
    nt_window w = {.run = 1, .until_unix_s = (double)NAN, .keys = 1, .count = 1};
    nt_error err = {0};
    int64_t count;
    nt_str found = {0};
    (void)state;
    nt_copy(w.key[0].name, sizeof w.key[0].name, "batch\" DESC; --");
    assert_int_equal(reader->window(reader, &w, add_number, &found, &err), NT_USAGE);
    assert_non_null(strstr(err.what, "is no name"));
    assert_int_equal(reader->window_count(reader, &w, &count, &err), NT_USAGE);
    assert_int_equal(found.length, 0);
}

/* ---- following ---------------------------------------------------------------------------------------------------------- */

static bool add_cells(void *context, const nt_row *row)
{
    for (int i = 0; i < row->count; i++)
        if (row->cell[i].kind == NT_CELL_TEXT)
            nt_str_addf(context, "%s ", row->cell[i].text);
        else if (row->cell[i].kind == NT_CELL_NULL)
            nt_str_add(context, "- ");
        else
            nt_str_addf(context, "%.10g ", row->cell[i].kind == NT_CELL_INT ? (double)row->cell[i].i : row->cell[i].r);
    nt_str_add(context, "\n");
    return true;
}

static void same_rows(const char *sql, nt_str *found)
{
    nt_error err = {0};
    nt_str expected = {0};
    if (reader->query(reader, sql, add_cells, &expected, &err) != NT_OK)
        fail_msg("%s: %s", sql, err.what);
    if (expected.length == 0)
        fail_msg("%s gives nothing", sql);
    assert_string_equal(nt_str_text(&expected), nt_str_text(found));
    nt_str_done(&expected);
    nt_str_done(found);
}

static void what_is_new_comes_in_order(void **state)
{
    nt_str found = {0};
    nt_error err = {0};
    (void)state;
    assert_int_equal(reader->follow(reader, 1, 11980, 25, add_number, &found, &err), NT_OK);
    nt_str expected = {0};
    for (int i = 11981, count = 0; i < 12010 && count < 25; i++)
        if ((i - 10) % 400 != 7) {
            nt_str_addf(&expected, "%d ", i);
            count++;
        }
    assert_string_equal(nt_str_text(&expected), nt_str_text(&found));
    nt_str_done(&expected);
    nt_str_done(&found);
}

static void limiters_of_a_slice(void **state)
{
    nt_str found = {0};
    nt_error err = {0};
    (void)state;
    assert_int_equal(reader->limiters(reader, 1, 500, 4000, add_cells, &found, &err), NT_OK);
    same_rows("SELECT occupancy_limiter, count(*) FROM trials WHERE run = 1 AND trial > 500 AND trial <= 4000 AND "
              "occupancy_limiter IS NOT NULL GROUP BY 1",
              &found);
}

static bool add_unit(void *context, const nt_row *row)
{
    static const char *const names[] = {"shape", "batch", "trials", "ok", "pruned", "crashed", "least_time_ns"};
    for (size_t n = 0; n < sizeof names / sizeof names[0]; n++)
        for (int i = 0; i < row->count; i++)
            if (strcmp(row->name[i], names[n]) == 0)
                add_cells(context, &(nt_row){1, &row->name[i], &row->cell[i]});
    return true;
}

static void units_count_and_scan_alike(void **state)
{
    nt_str counted = {0}, scanned = {0};
    nt_error err = {0};
    (void)state;
    assert_int_equal(reader->units(reader, 1, (double)NAN, add_unit, &counted, &err), NT_OK);
    assert_int_equal(reader->units(reader, 1, 1e9, add_unit, &scanned, &err), NT_OK);
    assert_true(counted.length > 100);
    assert_string_equal(nt_str_text(&counted), nt_str_text(&scanned));
    nt_str_done(&counted);
    nt_str_done(&scanned);
}

static void one_run_and_the_newest(void **state)
{
    nt_str found = {0};
    nt_error err = {0};
    (void)state;
    assert_int_equal(reader->run(reader, 1, add_cells, &found, &err), NT_OK);
    same_rows("SELECT * FROM runs WHERE run = 1", &found);
    assert_int_equal(reader->run(reader, 0, add_cells, &found, &err), NT_OK);
    same_rows("SELECT * FROM runs WHERE run = 2", &found);
    assert_int_equal(reader->run(reader, 99, add_cells, &found, &err), NT_OK);
    assert_int_equal(found.length, 0);
}

static void the_version_tells_of_changes(void **state)
{
    int64_t before, same, after;
    nt_error err = {0};
    (void)state;
    assert_int_equal(reader->version(reader, &before, &err), NT_OK);
    assert_int_equal(reader->version(reader, &same, &err), NT_OK);
    raw_sql("UPDATE run SET total_s = 1 WHERE id = 1");
    assert_int_equal(reader->version(reader, &after, &err), NT_OK);
    assert_int_equal(before, same);
    assert_int_not_equal(before, after);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(windows_are_what_plain_sql_gives),
        cmocka_unit_test(without_the_index_too),
        cmocka_unit_test(names_that_are_none),
        cmocka_unit_test(what_is_new_comes_in_order),
        cmocka_unit_test(limiters_of_a_slice),
        cmocka_unit_test(units_count_and_scan_alike),
        cmocka_unit_test(one_run_and_the_newest),
        cmocka_unit_test(the_version_tells_of_changes),
    };
    return cmocka_run_group_tests_name("windows", tests, setup, teardown);
}
