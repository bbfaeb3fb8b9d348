/* test_cli_table.c: what people see: aligned tables, wrapped help, shapes in short form, rates, speed against the roof.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/present.h"
#include "cli/table.h"
#include "cli/wrap.h"

/* A stream into memory; `finish` gives its text. */
typedef struct memory {
    FILE *file;
    char *text;
    size_t size;
} memory;

static void begin(memory *m)
{
    m->file = open_memstream(&m->text, &m->size);
    assert_non_null(m->file);
}

static void expect(memory *m, const char *text)
{
    assert_int_equal(fclose(m->file), 0);
    assert_string_equal(m->text, text);
    free(m->text);
}

static void expect_table(nt_table *table, bool bold, const char *text)
{
    memory m;
    begin(&m);
    nt_table_print(table, m.file, bold);
    expect(&m, text);
}

/* ---- tables ------------------------------------------------------------------------------------------------------ */

static void columns_are_as_wide_as_their_widest_cell(void **state)
{
    (void)state;
    nt_table *table = nt_table_new("name|>time|note");
    nt_table_cell(table, "a");
    nt_table_cell(table, "%d ns", 1234567);
    nt_table_cell(table, "x");
    nt_table_line(table, "  over the full width, however long it is");
    nt_table_cell(table, "longer");
    nt_table_cell(table, "5 ns");
    nt_table_cell(table, "%s", "");
    expect_table(table, false,
                 "name          time  note\n"
                 "a       1234567 ns  x\n"
                 "  over the full width, however long it is\n"
                 "longer        5 ns  \n");
    nt_table_free(table);
}

static void characters_count_and_not_bytes(void **state)
{
    (void)state;
    nt_table *table = nt_table_new("a|b");
    nt_table_cell(table, "\xc2\xb5s");
    nt_table_cell(table, "1");
    nt_table_cell(table, "abc");
    nt_table_cell(table, "2");
    expect_table(table, false, "a    b\n\xc2\xb5s   1\nabc  2\n");
    nt_table_free(table);
}

static void no_control_character_reaches_the_terminal(void **state)
{
    (void)state;
    nt_table *table = nt_table_new_empty();
    nt_table_column(table, "a\tb", false);
    nt_table_column(table, ">c|d", true); /* a heading may hold anything */
    nt_table_cell(table, "\033[2J\n");
    nt_table_cell(table, "\177");
    expect_table(table, false, "a?b    >c|d\n?[2J?     ?\n");
    nt_table_free(table);
}

static void a_table_goes_on_where_it_was_printed(void **state)
{
    (void)state;
    nt_table *table = nt_table_new(">n");
    nt_table_cell(table, "12345");
    expect_table(table, true, "\033[1m    n\n\033[0m12345\n");
    nt_table_cell(table, "1");
    expect_table(table, true, "    1\n");
    nt_table_cell(table, "1234567");
    nt_table_cell(table, "1");
    expect_table(table, true, "1234567\n      1\n");
    nt_table_free(table);
    nt_table_free(NULL);
}

/* ---- paragraphs -------------------------------------------------------------------------------------------------- */

static void paragraphs_hang_by_their_indent(void **state)
{
    memory m;
    (void)state;
    begin(&m);
    fputs("--x ", m.file);
    nt_wrap(m.file, "one two three fourteen five", 4, 4, 14);
    expect(&m, "--x one two\n"
               "    three\n"
               "    fourteen\n"
               "    five\n");
    begin(&m);
    nt_wrap(m.file, "unbreakable-word b", 0, 2, 8);
    expect(&m, "unbreakable-word\n  b\n");
    begin(&m);
    nt_wrap(m.file, "", 0, 2, 8);
    expect(&m, "\n");
}

/* ---- trials ------------------------------------------------------------------------------------------------------ */

static nt_problem problem_of(const char *shape, int64_t batch, nt_precision precision)
{
    nt_problem problem = {.batch = batch, .precision = precision, .layout = NT_NHWC, .fill = NT_FILL_NORMAL};
    nt_copy(problem.layer, sizeof problem.layer, "conv3x3");
    assert_int_equal(nt_shape_parse(shape, &problem.shape, NULL), NT_OK);
    return problem;
}

static void expect_problem(const nt_problem *problem, nt_cache_mode cache, const char *text)
{
    nt_str out = {0};
    nt_present_problem(&out, problem, cache);
    assert_string_equal(nt_str_text(&out), text);
    nt_str_done(&out);
}

static void shapes_are_short_where_that_says_it_all(void **state)
{
    (void)state;
    nt_problem problem = problem_of("c=64,k=64,h=56,w=56", 8, NT_FP32);
    expect_problem(&problem, NT_COLD, "conv3x3 64x56x56 batch 8 fp32");
    problem = problem_of("c=64,k=65,h=56,w=56", 1, NT_BF16);
    expect_problem(&problem, NT_HOT, "conv3x3 c=64,k=65,h=56,w=56 batch 1 bf16 hot");
    problem = problem_of("c=5,k=5,h=3,w=2", 1, NT_INT8);
    problem.layout = NT_NCHW;
    problem.fill = NT_FILL_UNIFORM;
    expect_problem(&problem, NT_COLD, "conv3x3 5x3x2 batch 1 int8 nchw uniform");
    nt_copy(problem.layer, sizeof problem.layer, "elsewhere"); /* a layer this program does not know */
    expect_problem(&problem, NT_COLD, "elsewhere c=5,k=5,h=3,w=2 batch 1 int8 nchw uniform");
}

static void parameters_read_like_the_option(void **state)
{
    nt_str out = {0};
    (void)state;
    nt_present_params(&out, "{\"tile\":8,\"order\":true,\"mode\":\"a b\",\"x\":0.5}");
    assert_string_equal(nt_str_text(&out), "tile=8 order=true mode=a b x=0.5");
    nt_present_params(&out, "not JSON");
    nt_present_params(&out, NULL);
    assert_string_equal(nt_str_text(&out), "tile=8 order=true mode=a b x=0.5");
    nt_str_done(&out);
}

static void integers_have_no_floating_point_operations(void **state)
{
    (void)state;
    assert_string_equal(nt_present_rate(NT_FP32, 2.5e12).s, "2.5 TFLOP/s");
    assert_string_equal(nt_present_rate(NT_INT8, 2.5e12).s, "2.5 TOP/s");
    assert_string_equal(nt_present_rate(NT_INT8, NAN).s, "-");
}

/* 1 GFLOP and 1 MB in 1 ms are 1 TFLOP/s and 1 GB/s. */
static void speed_is_measured_against_the_higher_roof(void **state)
{
    nt_device_info device;
    nt_problem problem = problem_of("c=64,k=64,h=56,w=56", 4, NT_FP32);
    nt_extents extents = {.flop = 1e9, .bytes = 1e6};
    (void)state;
    nt_device_info_init(&device, NT_DEVICE_CPU);
    nt_speed speed = nt_speed_of(&device, &problem, &extents, 1e6);
    assert_float_equal(speed.flop_per_s, 1e12, 1);
    assert_float_equal(speed.bytes_per_s, 1e9, 1);
    assert_float_equal(speed.images_per_s, 4000, 1e-6);
    assert_float_equal(speed.launches_per_s, 1000, 1e-6);
    assert_true(isnan(speed.roof_pct));
    device.peak_flops[NT_FP32] = 4e12;
    device.dram_peak_bytes_per_s = 1e10;
    assert_float_equal(nt_speed_of(&device, &problem, &extents, 1e6).roof_pct, 25, 1e-6);
    device.dram_peak_bytes_per_s = 2e9;
    assert_float_equal(nt_speed_of(&device, &problem, &extents, 1e6).roof_pct, 50, 1e-6);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(columns_are_as_wide_as_their_widest_cell),
        cmocka_unit_test(characters_count_and_not_bytes),
        cmocka_unit_test(no_control_character_reaches_the_terminal),
        cmocka_unit_test(a_table_goes_on_where_it_was_printed),
        cmocka_unit_test(paragraphs_hang_by_their_indent),
        cmocka_unit_test(shapes_are_short_where_that_says_it_all),
        cmocka_unit_test(parameters_read_like_the_option),
        cmocka_unit_test(integers_have_no_floating_point_operations),
        cmocka_unit_test(speed_is_measured_against_the_higher_roof),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
