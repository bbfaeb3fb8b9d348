/* test_reports_chart.c: charts as data, as gnuplot scripts and as text: what is left out, what becomes bins, and that
 * no text from a database can become gnuplot's or HTML's words. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "reports/gnuplot.h"
#include "reports/inline_svg.h"
#include "reports/pool.h"
#include "reports/text_chart.h"

static void scatter(nt_chart *chart, size_t count)
{
    nt_chart_init(chart);
    nt_series *points = nt_chart_add(chart, NT_MARK_POINTS, 0, "points");
    for (size_t i = 0; i < count; i++)
        nt_chart_point_add(chart, points, (double)(i % 97) + 1, (double)(i % 89) + 1);
    nt_series *best = nt_chart_add(chart, NT_MARK_CHOSEN, 0, "best");
    nt_chart_point_add(chart, best, 3, 4);
}

static void test_what_is_no_number_is_left_out(void **state)
{
    (void)state;
    nt_chart chart;
    nt_chart_init(&chart);
    chart.y.log = true;
    nt_series *points = nt_chart_add(&chart, NT_MARK_POINTS, 0, "points");
    nt_chart_point_add(&chart, points, 1, (double)NAN);
    nt_chart_point_add(&chart, points, HUGE_VAL, 1);
    nt_chart_point_add(&chart, points, 1, 0);
    nt_chart_range_add(&chart, points, 1, 1, (double)NAN, 2);
    nt_chart_label_add(&chart, points, 1, -1, 0, "kept nowhere");
    assert_true(nt_chart_is_empty(&chart));
    nt_chart_point_add(&chart, points, 1, 5);
    assert_false(nt_chart_is_empty(&chart));
    nt_chart_done(&chart);
}

static void test_roofs_alone_are_no_result(void **state)
{
    (void)state;
    nt_chart chart;
    nt_chart_init(&chart);
    nt_series *roof = nt_chart_add(&chart, NT_MARK_ROOF, 0, "roof");
    nt_chart_point_add(&chart, roof, 1, 1);
    assert_true(nt_chart_is_empty(&chart));
    nt_chart_done(&chart);
}

static void test_many_points_become_bins_that_hold_them_all(void **state)
{
    (void)state;
    nt_chart chart;
    scatter(&chart, NT_CHART_MOST_POINTS);
    nt_chart_thin(&chart, NT_CHART_MOST_POINTS);
    assert_int_equal(chart.series[0].mark, NT_MARK_POINTS);
    assert_string_equal(chart.note, "");
    nt_chart_done(&chart);

    scatter(&chart, 20000);
    nt_chart_thin(&chart, NT_CHART_MOST_POINTS);
    assert_int_equal(chart.count, 2);
    assert_int_equal(chart.series[0].mark, NT_MARK_DENSITY);
    assert_int_equal(chart.series[1].mark, NT_MARK_CHOSEN);
    assert_true(chart.series[1].point[0].x == 3 && chart.series[1].point[0].y == 4);
    assert_true(chart.series[0].count <= 60 * 36);
    double points = 0;
    for (size_t i = 0; i < chart.series[0].count; i++)
        points += chart.series[0].point[i].lo;
    assert_true(points == 20000);
    assert_non_null(strstr(chart.note, "20000 points"));
    nt_chart_done(&chart);
}

/* As many as a large database has: the script stays small, and every point is counted. */
static void test_a_million_points(void **state)
{
    (void)state;
    enum { MILLION = 1000000 };
    nt_chart chart;
    nt_str data = {0};
    double points = 0;
    scatter(&chart, MILLION);
    nt_chart_point_add(&chart, &chart.series[0], NAN, 1); /* and one that is none */
    nt_chart_thin(&chart, NT_CHART_MOST_POINTS);
    for (size_t i = 0; i < chart.series[0].count; i++)
        points += chart.series[0].point[i].lo;
    assert_true(points == MILLION);
    assert_true(nt_chart_points(&chart) <= NT_CHART_MOST_POINTS);
    nt_gnuplot_data(&data, &chart);
    assert_true(data.length < 300000);
    nt_str_done(&data);
    nt_chart_done(&chart);
}

static void test_equal_points_become_one_bin(void **state)
{
    (void)state;
    nt_chart chart;
    nt_str text = {0};
    nt_chart_init(&chart);
    nt_series *points = nt_chart_add(&chart, NT_MARK_POINTS, 0, "points");
    for (int i = 0; i < 10; i++)
        nt_chart_point_add(&chart, points, 7, 7);
    nt_chart_thin(&chart, 5);
    assert_int_equal(chart.series[0].count, 1);
    assert_true(chart.series[0].point[0].lo == 10);
    nt_gnuplot_body(&text, &chart, "data");
    assert_null(strstr(nt_str_text(&text), "nan"));
    nt_str_done(&text);
    nt_chart_done(&chart);
}

static void test_texts_stay_texts_in_a_script(void **state)
{
    (void)state;
    nt_chart chart;
    nt_str script = {0}, data = {0};
    nt_chart_init(&chart);
    nt_copy(chart.title, sizeof chart.title, "it's `id` \"x\"\nset output 'y'");
    nt_series *points = nt_chart_add(&chart, NT_MARK_POINTS, 0, "a'\n!rm");
    nt_chart_point_add(&chart, points, 1, 1);
    nt_series *tags = nt_chart_add(&chart, NT_MARK_TAGS, 0, "%s", "");
    nt_chart_label_add(&chart, tags, 1, 1, 0, "q\"\\\nEndOfData\n");
    nt_gnuplot_body(&script, &chart, "data");
    nt_gnuplot_data(&data, &chart);
    assert_non_null(strstr(nt_str_text(&script), "'it''s `id` \"x\" set output ''y'''"));
    assert_non_null(strstr(nt_str_text(&script), "title 'a'' !rm'"));
    assert_non_null(strstr(nt_str_text(&data), "# a' !rm\n"));
    assert_null(strstr(nt_str_text(&data), "\nEndOfData"));
    assert_non_null(strstr(nt_str_text(&data), "\"q'''EndOfData'\""));
    nt_str_done(&script);
    nt_str_done(&data);
    nt_chart_done(&chart);
}

static void test_blocks_of_data_are_those_that_the_script_counts(void **state)
{
    (void)state;
    nt_chart chart;
    nt_str script = {0}, data = {0};
    nt_chart_init(&chart);
    nt_chart_add(&chart, NT_MARK_POINTS, 0, "empty");
    nt_series *points = nt_chart_add(&chart, NT_MARK_POINTS, 1, "first");
    nt_chart_point_add(&chart, points, 1, 2);
    nt_series *band = nt_chart_add(&chart, NT_MARK_BAND, 1, "second");
    nt_chart_range_add(&chart, band, 1, 2, 1, 3);
    nt_gnuplot_body(&script, &chart, "data");
    nt_gnuplot_data(&data, &chart);
    assert_string_equal(
        nt_str_text(&data),
        "# first\n# x y low high label\n1 2 nan nan \"\"\n\n\n# second\n# x y low high label\n1 2 1 3 \"\"\n");
    const char *under = strstr(nt_str_text(&script), "data index 1 "),
               *over = strstr(nt_str_text(&script), "data index 0 ");
    assert_non_null(under);
    assert_non_null(over);
    assert_true(under < over); /* the band is drawn first */
    assert_null(strstr(nt_str_text(&script), "index 2"));
    nt_str_done(&script);
    nt_str_done(&data);
    nt_chart_done(&chart);
}

static void test_short_logarithmic_axes_have_ticks(void **state)
{
    (void)state;
    nt_chart chart;
    nt_str script = {0};
    nt_chart_init(&chart);
    chart.y.log = true;
    nt_series *points = nt_chart_add(&chart, NT_MARK_POINTS, 0, "points");
    nt_chart_point_add(&chart, points, 1, 62);
    nt_chart_point_add(&chart, points, 2, 88);
    nt_gnuplot_body(&script, &chart, "data");
    assert_non_null(strstr(nt_str_text(&script), "set ytics ('60' 60, '70' 70, '80' 80, '90' 90)"));
    nt_str_done(&script);
    nt_chart_done(&chart);
}

static void test_formats_of_pictures(void **state)
{
    (void)state;
    const nt_picture_format *format;
    nt_error err;
    assert_int_equal(nt_picture_format_of("a.b/c", &format, &err), NT_OK);
    assert_string_equal(format->suffix, ".svg");
    assert_int_equal(nt_picture_format_of("c.pdf", &format, &err), NT_OK);
    assert_string_equal(format->suffix, ".pdf");
    assert_int_equal(nt_picture_format_of("c.jpg", &format, &err), NT_USAGE);
    assert_non_null(strstr(err.what, ".svg, .png or .pdf"));
}

static void test_text_fits_its_columns(void **state)
{
    (void)state;
    nt_chart chart;
    nt_str text = {0};
    scatter(&chart, 500);
    nt_str_add(&chart.words,
               "Words that tell the same as the picture does, at some length, so that they take several lines.");
    nt_text_chart(&text, &chart, 60);
    size_t width = 0;
    for (const char *line = nt_str_text(&text); *line != '\0'; line += width + (line[width] == '\n')) {
        width = strcspn(line, "\n");
        assert_true(width <= 60);
    }
    assert_non_null(strchr(nt_str_text(&text), '@'));
    assert_non_null(strstr(nt_str_text(&text), "Words that tell"));
    nt_str_done(&text);
    nt_chart_done(&chart);
}

static void test_html_has_no_words_of_ours(void **state)
{
    (void)state;
    nt_str text = {0};
    nt_html_text(&text, "<b a=\"1\">&\n\x1b");
    assert_string_equal(nt_str_text(&text), "&lt;b a=&quot;1&quot;&gt;&amp;  ");
    nt_str_done(&text);
}

static void test_pictures_are_made_small_and_keep_what_they_show(void **state)
{
    (void)state;
    nt_inline_svg svg = {.first = true};
    nt_str out = {0};
    nt_str_add(&svg.raw, "<?xml?>\n<svg \n width=\"800\">\n<title>Gnuplot</title>\n<defs>marks</defs>\n"
                         "<g fill=\"none\" color=\"black\" stroke=\"currentColor\" stroke-width=\"1.00\" "
                         "stroke-linecap=\"butt\" stroke-linejoin=\"miter\">\n</g>\n\t<text>a b</text>\n</svg>\n"
                         "<?xml?>\n<svg \n>\n<defs>marks</defs>\n<text>c</text></svg>\n");
    assert_true(nt_inline_svg_next(&svg, &out, "says <it>"));
    assert_string_equal(nt_str_text(&out), "<svg viewBox=\"0 0 800 520\" role=\"img\" aria-label=\"says &lt;it&gt;\">"
                                           "<defs>marks</defs><text>a b</text></svg>\n");
    nt_str_clear(&out);
    assert_true(nt_inline_svg_next(&svg, &out, "second"));
    assert_non_null(strstr(nt_str_text(&out), "aria-label=\"second\"><text>c</text></svg>"));
    assert_false(nt_inline_svg_next(&svg, &out, "third"));
    nt_inline_svg_done(&svg);
    nt_str_done(&out);
}

static void test_equal_texts_are_one(void **state)
{
    (void)state;
    nt_pool pool = {0};
    char text[16];
    const char *first[1000];
    for (int i = 0; i < 1000; i++) {
        snprintf(text, sizeof text, "text %d", i);
        first[i] = nt_pool_text(&pool, text);
    }
    for (int i = 0; i < 1000; i++) {
        snprintf(text, sizeof text, "text %d", i);
        assert_ptr_equal(nt_pool_text(&pool, text), first[i]);
        assert_string_equal(first[i], text);
    }
    assert_string_equal(nt_pool_text(&pool, NULL), "");
    assert_int_equal(pool.count, 1000);
    nt_pool_done(&pool);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_what_is_no_number_is_left_out),
        cmocka_unit_test(test_roofs_alone_are_no_result),
        cmocka_unit_test(test_many_points_become_bins_that_hold_them_all),
        cmocka_unit_test(test_a_million_points),
        cmocka_unit_test(test_equal_points_become_one_bin),
        cmocka_unit_test(test_texts_stay_texts_in_a_script),
        cmocka_unit_test(test_blocks_of_data_are_those_that_the_script_counts),
        cmocka_unit_test(test_short_logarithmic_axes_have_ticks),
        cmocka_unit_test(test_formats_of_pictures),
        cmocka_unit_test(test_text_fits_its_columns),
        cmocka_unit_test(test_html_has_no_words_of_ours),
        cmocka_unit_test(test_pictures_are_made_small_and_keep_what_they_show),
        cmocka_unit_test(test_equal_texts_are_one),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
