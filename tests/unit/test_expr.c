/* test_expr.c: the expression language beside what Python says: unknown values, truth, errors with their column,
 * limits, lists as results, and random texts. Meanings are in test_expr_meaning.c. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "core/random.h"
#include "core/record.h"
#include "expr_values.h"

/* u is unknown: what depends on it is, except where the rest decides. */
static void test_unknown_values(void **state)
{
    (void)state;
    static const meaning rows[] = {
        {"u", NT_EXPR_UNKNOWN, .i = 0},
        {"u + 1 < 5", NT_EXPR_UNKNOWN, .i = 0},
        {"-u", NT_EXPR_UNKNOWN, .i = 0},
        {"abs(u)", NT_EXPR_UNKNOWN, .i = 0},
        {"not u", NT_EXPR_UNKNOWN, .i = 0},
        {"u and False", NT_EXPR_BOOL, .i = 0},
        {"u and True", NT_EXPR_UNKNOWN, .i = 0},
        {"True and u", NT_EXPR_UNKNOWN, .i = 0},
        {"u or 7", NT_EXPR_INT, .i = 7},
        {"u or False", NT_EXPR_UNKNOWN, .i = 0},
        {"u and 1 // z", NT_EXPR_UNKNOWN, .i = 0},
        {"u < 1 < 0", NT_EXPR_BOOL, .i = 0},
        {"u < 1 < 2", NT_EXPR_UNKNOWN, .i = 0},
        {"1 if u else 2", NT_EXPR_UNKNOWN, .i = 0},
        {"a in [u, 7]", NT_EXPR_BOOL, .i = 1},
        {"a in [u, 8]", NT_EXPR_UNKNOWN, .i = 0},
        {"u in [1]", NT_EXPR_UNKNOWN, .i = 0},
        {"max(1, u)", NT_EXPR_UNKNOWN, .i = 0},
        {"min([u, 1])", NT_EXPR_UNKNOWN, .i = 0},
        {"sum([1, u])", NT_EXPR_UNKNOWN, .i = 0},
        {"len([1, u])", NT_EXPR_INT, .i = 2},
        {"1 // z + u", NT_EXPR_FAULT, .fault = NT_EXPR_FAULT_DIVISION},
    };
    check(rows, sizeof rows / sizeof rows[0]);
}

static void test_truth(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        nt_expr_truth truth;
        int column;
    } rows[] = {
        {"a", NT_EXPR_IS_TRUE, 0},
        {"z", NT_EXPR_IS_FALSE, 0},
        {"0.0", NT_EXPR_IS_FALSE, 0},
        {"''", NT_EXPR_IS_FALSE, 0},
        {"s", NT_EXPR_IS_TRUE, 0},
        {"[]", NT_EXPR_IS_FALSE, 0},
        {"[a]", NT_EXPR_IS_TRUE, 0},
        {"u > 1", NT_EXPR_IS_UNKNOWN, 0},
        {"a + 1 // z", NT_EXPR_IS_FAULT, 7},
        {"'ä' == s or a % z", NT_EXPR_IS_FAULT, 15},
        {"1 < 2 < max([])", NT_EXPR_IS_FAULT, 9},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        nt_expr *expr = compiled(rows[i].text);
        nt_expr_fault fault = {0};
        assert_int_equal(nt_expr_test(expr, values, &fault), rows[i].truth);
        assert_int_equal(fault.column, rows[i].column);
        assert_int_equal(nt_expr_test(expr, values, NULL), rows[i].truth);
        nt_expr_free(expr);
    }
}

static void test_errors_say_where_and_what(void **state)
{
    (void)state;
    static const struct {
        const char *text, *what, *hint;
    } rows[] = {
        {"a + bb", "column 5 of 'a + bb': unknown name 'bb'", "did you mean 'b'? there are a, b,"},
        {"sq == 1", "column 1 of", "there are a"},
        {"a == true", "column 6 of", "write True and False; there are"},
        {"maxx(1, 2)", "column 1 of 'maxx(1, 2)': unknown function 'maxx'", "did you mean 'max'? there are min, max"},
        {"__import__('os')", "column 1", "there are min"},
        {"a.b", "column 2", "attributes"},
        {"abs(1, 2)", "column 1 of 'abs(1, 2)': abs() takes one argument", ""},
        {"min()", "column 1 of 'min()': min() takes one argument or more", ""},
        {"a +", "column 4 of 'a +': ends where a value is expected", ""},
        {"", "column 1 of '': ends where", ""},
        {"   ", "column 4", ""},
        {"(a", "column 3 of '(a': expected )", ""},
        {"[a", "column 3 of '[a': expected , or ]", ""},
        {"min(a", "column 6 of 'min(a': expected , or )", ""},
        {"a)", "column 2 of 'a)': expected an operator or the end", ""},
        {"a b", "column 3", ""},
        {"a && b", "column 3 of 'a && b': not an operator here", "write and"},
        {"a || b", "column 3", "write or"},
        {"!a", "column 1", "write not"},
        {"a = 1", "column 3", "=="},
        {"a ^ 2", "column 3", "**"},
        {"a & 2", "column 3", "bitwise"},
        {"a if b", "column 7 of 'a if b': expected `else`", ""},
        {"a not 1", "column 7 of 'a not 1': expected `in` after `not`", ""},
        {"'abc", "column 1 of ''abc': text without its closing quote", ""},
        {"'\\n'", "column 2", "quotes"},
        {"9223372036854775808", "column 1 of '9223372036854775808': a number beyond 64 bits", ""},
        {"1e999", "column 1 of '1e999': a number out of range", ""},
        {"1e", "column 1", ""},
        {"012", "column 1", ""},
        {"12ab", "column 1", ""},
        {"0x10", "column 1", ""},
        {"1.2.3", "column 1", ""},
        {"'ä' + ß", "column 7", ""},
        {"a\x1b[2J", "column 2 of 'a?[2J'", ""},
        {"a, b", "column 2", ""},
        {"lambda: 1", "column 1", ""},
        {"[i for i in [1]", "column 16", ""},
        {"[1 for 1 in [1]]", "column 8 of '[1 for 1 in [1]]': expected a name after `for`", ""},
        {"[i for i of [1]]", "column 10", ""},
        {"[i for i in j for j in [1]]", "column 13", "there are"},
        {"[k for i in [1]]", "column 2 of '[k for i in [1]]': unknown name 'k'", ""},
        {"i + sum(i for i in [1])", "column 1", ""},
        {"[i for i in [1], 2]", "column 16", ""},
        {"range(1, 2, 3, 4)", "column 1 of 'range(1, 2, 3, 4)': range() takes one to three arguments", ""},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        nt_expr *expr = (nt_expr *)&rows;
        nt_error err = {0};
        assert_int_equal(nt_expr_compile(rows[i].text, names, NAME_COUNT, &expr, &err), NT_USAGE);
        assert_null(expr);
        if (strstr(err.what, rows[i].what) == NULL || strstr(err.hint, rows[i].hint) == NULL)
            fail_msg("%s: %s; %s", rows[i].text, err.what, err.hint);
        assert_int_equal(nt_expr_compile(rows[i].text, names, NAME_COUNT, &expr, NULL), NT_USAGE);
    }
}

static char *repeated(const char *head, const char *part, int times, const char *tail)
{
    nt_str text = {0};
    nt_str_add(&text, head);
    for (int i = 0; i < times; i++)
        nt_str_add(&text, part);
    nt_str_add(&text, tail);
    return text.data;
}

static nt_status compile_status(char *text, const char *what)
{
    nt_expr *expr = NULL;
    nt_error err = {0};
    nt_status status = nt_expr_compile(text, names, NAME_COUNT, &expr, &err);
    if (status != NT_OK && strstr(err.what, what) == NULL)
        fail_msg("%s", err.what);
    if (status == NT_OK)
        (void)nt_expr_test(expr, values, NULL);
    nt_expr_free(expr);
    free(text);
    return status;
}

static void test_limits(void **state)
{
    (void)state;
    assert_int_equal(compile_status(repeated("1", " ", 4095, ""), ""), NT_OK);
    assert_int_equal(compile_status(repeated("1", " ", 4096, ""), "4096 characters"), NT_USAGE);
    assert_int_equal(compile_status(repeated("", "(", 60, "a"), "expected )"), NT_USAGE);
    assert_int_equal(compile_status(repeated("", "(", 2000, "a"), "nested too deeply"), NT_USAGE);
    assert_int_equal(compile_status(repeated("", "-", 2000, "a"), "nested too deeply"), NT_USAGE);
    assert_int_equal(compile_status(repeated("", "not ", 900, "a"), "nested too deeply"), NT_USAGE);
    assert_int_equal(compile_status(repeated("a", "**a", 900, ""), "nested too deeply"), NT_USAGE);
    assert_int_equal(compile_status(repeated("a", "+a", 190, ""), ""), NT_OK);
    assert_int_equal(compile_status(repeated("a", "+a", 210, ""), "nested too deeply"), NT_USAGE);
    assert_int_equal(compile_status(repeated("a", " and a", 600, ""), ""), NT_OK);
    assert_int_equal(compile_status(repeated("a in [1", ",1", 1023, "]"), ""), NT_OK);
    assert_int_equal(compile_status(repeated("a in [1", ",1", 1024, "]"), "too many list items"), NT_USAGE);
    assert_int_equal(compile_status(repeated("a in [1", ",a", 1023, "]"), ""), NT_OK);
    assert_int_equal(compile_status(repeated("a in [1] ", " and a in [1,a]", 200, ""), ""), NT_OK);
}

static void test_lists_as_results(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        int64_t item[4];
        size_t count;
    } rows[] = {{"[32 * i for i in range(1, 5)]", {32, 64, 96, 128}, 4},
                {"[]", {0}, 0},
                {"(a, b)", {7, -3}, 2},
                {"[i for i in range(a, 3, b)]", {7, 4}, 2},
                {"range(2)", {0, 1}, 2},
                {"[1] + [2 * i for i in range(1, 4)]", {1, 2, 4, 6}, 4},
                {"[a] * 2 + [b]", {7, 7, -3}, 3}};
    for (size_t r = 0; r < sizeof rows / sizeof rows[0]; r++) {
        nt_expr *expr = NULL;
        nt_expr_value item[4];
        size_t count = 99;
        assert_int_equal(nt_expr_compile(rows[r].text, names, NAME_COUNT, &expr, NULL), NT_OK);
        assert_true(nt_expr_eval_list(expr, values, item, 4, &count, NULL));
        assert_int_equal(count, rows[r].count);
        for (size_t i = 0; i < count; i++)
            assert_int_equal(item[i].i, rows[r].item[i]);
        if (count > 0)
            assert_true(nt_expr_eval_list(expr, values, item, 1, &count, NULL));
        assert_int_equal(count, rows[r].count);
        nt_expr_free(expr);
    }
    static const char *const none[] = {"a", "[[1], [2]]", "[i / z for i in [1]]", "u"};
    for (size_t r = 0; r < sizeof none / sizeof none[0]; r++) {
        nt_expr *expr = NULL;
        nt_expr_value item[4];
        nt_expr_fault fault;
        size_t count;
        assert_int_equal(nt_expr_compile(none[r], names, NAME_COUNT, &expr, NULL), NT_OK);
        assert_false(nt_expr_eval_list(expr, values, item, 4, &count, &fault));
        assert_int_equal(fault.code, r == 2 ? NT_EXPR_FAULT_DIVISION : NT_EXPR_FAULT_TYPE);
        nt_expr_free(expr);
    }
}

static void test_symbols(void **state)
{
    (void)state;
    const char *many[NT_EXPR_MAX_SYMBOLS + 1];
    for (int i = 0; i <= NT_EXPR_MAX_SYMBOLS; i++)
        many[i] = "same";
    nt_expr *expr = NULL;
    nt_error err = {0};
    assert_int_equal(nt_expr_compile("same", many, NT_EXPR_MAX_SYMBOLS + 1, &expr, &err), NT_USAGE);
    assert_int_equal(nt_expr_compile("same", many, NT_EXPR_MAX_SYMBOLS, &expr, &err), NT_OK);
    assert_true(nt_expr_uses(expr) == 1); /* the first of equal names */
    nt_expr_free(expr);
    expr = compiled("a + x * (0 and u) < max(m, 1)");
    assert_true(nt_expr_uses(expr) == (1u | 1u << 3 | 1u << 9 | 1u << 10));
    assert_string_equal(nt_expr_text(expr), "a + x * (0 and u) < max(m, 1)");
    nt_expr_free(expr);
    expr = compiled("1 + 2");
    assert_true(nt_expr_uses(expr) == 0);
    nt_expr_free(expr);
    nt_expr_free(NULL);
}

static void test_values_from_parameters(void **state)
{
    (void)state;
    assert_int_equal(nt_expr_of_int(5).i, 5);
    assert_int_equal(nt_expr_of_int(NT_UNKNOWN).kind, NT_EXPR_UNKNOWN);
    assert_int_equal(nt_expr_of_value((nt_value){.kind = NT_VALUE_BOOL, .i = 1}).kind, NT_EXPR_BOOL);
    assert_true(nt_expr_of_value((nt_value){.kind = NT_VALUE_REAL, .r = 0.5}).r == 0.5);
    assert_string_equal(nt_expr_of_value((nt_value){.kind = NT_VALUE_STRING, .s = "q"}).s, "q");
}

/* Strings of tokens in random order: nothing may crash, read outside or run away; most fail, some compile and run. */
static void test_random_texts(void **state)
{
    (void)state;
    static const char *const pieces[] = {
        "a",
        "b",
        "z",
        "x",
        "t",
        "s",
        "u",
        "m",
        "1",
        "2.5",
        "0",
        "'q'",
        "\"",
        "'",
        "(",
        ")",
        "[",
        "]",
        ",",
        "+",
        "-",
        "*",
        "/",
        "//",
        "%",
        "**",
        " for ",
        "range(",
        "for a in ",
        "i",
        "for i in [1, a]",
        "<",
        "<=",
        "==",
        "!=",
        " and ",
        " or ",
        " not ",
        " in ",
        " if ",
        " else ",
        "min(",
        "max(",
        "sum(",
        "len(",
        "abs(",
        "ceil(",
        "True",
        " ",
        "\xff",
        "\x01",
        "\xc3\xa4",
        ".",
        "e5",
        "\\",
        "&&",
    };
    nt_random random = nt_random_seed(1, 2);
    int good = 0;
    for (int i = 0; i < 60000; i++) {
        nt_str text = {0};
        uint64_t length = nt_random_below(&random, 14) + 1;
        for (uint64_t j = 0; j < length; j++)
            nt_str_add(&text, pieces[nt_random_below(&random, sizeof pieces / sizeof pieces[0])]);
        nt_expr *expr = NULL;
        nt_error err = {0};
        if (nt_expr_compile(nt_str_text(&text), names, NAME_COUNT, &expr, &err) == NT_OK) {
            good++;
            (void)nt_expr_test(expr, values, NULL);
        } else if (strstr(err.what, "column ") == NULL) {
            fail_msg("%s: %s", nt_str_text(&text), err.what);
        }
        nt_expr_free(expr);
        nt_str_done(&text);
    }
    assert_true(good > 200);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_unknown_values),
        cmocka_unit_test(test_truth),
        cmocka_unit_test(test_errors_say_where_and_what),
        cmocka_unit_test(test_limits),
        cmocka_unit_test(test_lists_as_results),
        cmocka_unit_test(test_symbols),
        cmocka_unit_test(test_values_from_parameters),
        cmocka_unit_test(test_random_texts),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
