/* test_shape_table.c: the parser of shapes on a table with everything a table can have: a key that follows another,
 * optional keys with and without a value of their own, limits, an abbreviated form of words, names. The messages of
 * plain keys are tested with the convolution's. */
#include "kernels/common/shape.h"

#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

#include <cmocka.h>

static const nt_named_shape shapes[] = {{"7x5", "rows=7,c=5,k=5"}, {"wide", "rows=1,c=1000,k=2,window=3,stride=1"}};

static const nt_shape_key keys[] = {
    {.key = "rows", .meaning = "rows"},
    {.key = "c", .meaning = "channels", .least = 2, .most = 1000},
    {.key = "k", .meaning = "outputs", .same_as = "c"},
    {.key = "window", .meaning = "window (left out: all rows)", .is_optional = true},
    {.key = "stride", .meaning = "step (left out: the window)", .is_optional = true, .same_as = "window"},
    {.key = "pad", .meaning = "border", .is_optional = true, .dflt = 1},
    {.key = "act", .meaning = "activation", .is_optional = true, .dflt = 1, .least = 1, .most = 3, .is_word = true},
};

static const nt_shape_table table = {
    .layer = "sample",
    .keys = keys,
    .key_count = sizeof keys / sizeof keys[0],
    .form = "ROWSxC",
    .example = "7x5 (ROWSxC with k = c) or rows=7,c=5,k=5",
    .shapes = shapes,
    .shape_count = 2,
};

/* What a text means in canonical form; NULL: it is refused. */
static const struct {
    const char *text, *canonical, *what, *hint;
} cases[] = {
    {"7x5", "rows=7,c=5,k=5", "", ""},
    {"9x4", "rows=9,c=4,k=4", "", ""},
    {"wide", "rows=1,c=1000,k=2,window=3,stride=1", "", ""},
    {"k=3,c=4,rows=9", "rows=9,c=4,k=3", "", ""},
    /* optional keys: stored when they say something, and all before the last that does */
    {"rows=9,c=4,k=4,window=2", "rows=9,c=4,k=4,window=2", "", ""},
    {"rows=9,c=4,k=4,window=2,stride=2", "rows=9,c=4,k=4,window=2", "", ""},
    {"stride=1,rows=9,c=4,k=4,window=2", "rows=9,c=4,k=4,window=2,stride=1", "", ""},
    {"rows=9,c=4,k=4,pad=1", "rows=9,c=4,k=4", "", ""},
    {"rows=9,c=4,k=4,window=2,pad=2", "rows=9,c=4,k=4,window=2,stride=2,pad=2", "", ""},
    {"rows=9,c=4,k=4,act=relu", "rows=9,c=4,k=4", "", ""},
    {"rows=9,c=4,k=4,window=2,act=silu", "rows=9,c=4,k=4,window=2,stride=2,pad=1,act=silu", "", ""},
    {"rows=9,c=4,k=4,act=3", NULL, "act is '3', not one of relu, relu6, silu", "act=silu"},
    {"rows=9,c=4,k=4,act=none", NULL, "act is 'none', not one of relu, relu6, silu", "act=silu"},
    {"rows=9,c=silu,k=4", NULL, "c is 'silu', not a whole number", ""},
    {"rows=9,c=4,k=4,stride=2", NULL, "gives stride without window", "window window"},
    {"rows=9,c=4", NULL, "leaves out k", "k outputs"},
    {"rows=9,c=1,k=4", NULL, "c is '1', not a whole number from 2 up to 1000", "c channels"},
    {"9x1001", NULL, "c is 1001, more than 1000", "ROWSxC"},
    {"9", NULL, "sample names 7x5 and wide", "rows=7"},
    {"wider", NULL, "sample names 7x5 and wide", "rows=7"},
    {"box", NULL, "'box' is unknown", "rows=7"},
    {"9x4x4", NULL, "not of the form ROWSxC", "k outputs"},
    {"9x4,k=3", NULL, "'9x4' is not key=size", ""},
    {"row=9,c=4,k=4", NULL, "its keys are rows, c, k, window, stride, pad, act", "did you mean 'rows'"},
    {"c=4,c=4", NULL, "gives c twice", ""},
    {"batch=4", NULL, "no key 'batch'", "--batch"},
};

static void test_cases(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        nt_shape shape;
        nt_error err = {0};
        nt_str printed = {0};
        nt_status status = nt_shape_table_parse(&table, cases[i].text, &shape, &err);
        if (status == NT_OK)
            nt_shape_print(&printed, &shape);
        if (cases[i].canonical != NULL && (status != NT_OK || strcmp(nt_str_text(&printed), cases[i].canonical) != 0))
            fail_msg("'%s' means '%s' (%s)", cases[i].text, nt_str_text(&printed), err.what);
        if (cases[i].canonical == NULL &&
            (status != NT_USAGE || !strstr(err.what, cases[i].what) || !strstr(err.hint, cases[i].hint)))
            fail_msg("'%s' gives '%s': %s (%s)", cases[i].text, nt_str_text(&printed), err.what, err.hint);
        nt_str_done(&printed);
    }
}

/* The canonical form is read back as itself. */
static void test_canonical_is_stable(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        nt_shape shape, again;
        if (cases[i].canonical == NULL)
            continue;
        assert_int_equal(nt_shape_table_parse(&table, cases[i].text, &shape, NULL), NT_OK);
        assert_int_equal(nt_shape_table_parse(&table, cases[i].canonical, &again, NULL), NT_OK);
        assert_true(nt_shape_equal(&shape, &again));
    }
}

static void test_optional_sizes(void **state)
{
    (void)state;
    nt_shape shape;
    assert_int_equal(nt_shape_table_parse(&table, "rows=9,c=4,k=4,window=2", &shape, NULL), NT_OK);
    assert_int_equal(nt_shape_get_or(&shape, "window", 0), 2);
    assert_int_equal(nt_shape_get_or(&shape, "stride", 7), 7);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_cases),
        cmocka_unit_test(test_canonical_is_stable),
        cmocka_unit_test(test_optional_sizes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
