/* test_expr.c: the expression language. The table of meanings was made by Python 3 itself: each row is an expression
 * and what Python says to it, the kind of the result included. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "autotune/expr.h"
#include "core/random.h"
#include "core/record.h"

/* The names of the table, and their values in its making. */
static const char *const names[] = {"a", "b", "z", "x", "y", "t", "f", "s", "big", "m", "u"};
enum { NAME_COUNT = sizeof names / sizeof names[0] };

static const nt_expr_value values[NAME_COUNT] = {
    {.kind = NT_EXPR_INT, .i = 7},
    {.kind = NT_EXPR_INT, .i = -3},
    {.kind = NT_EXPR_INT, .i = 0},
    {.kind = NT_EXPR_REAL, .r = 2.5},
    {.kind = NT_EXPR_REAL, .r = -0.5},
    {.kind = NT_EXPR_BOOL, .i = 1},
    {.kind = NT_EXPR_BOOL, .i = 0},
    {.kind = NT_EXPR_STRING, .s = "winograd"},
    {.kind = NT_EXPR_INT, .i = INT64_C(1) << 62},
    {.kind = NT_EXPR_INT, .i = INT64_MIN},
    {.kind = NT_EXPR_UNKNOWN, .i = 0},
};

typedef struct meaning {
    const char *text;
    nt_expr_kind kind; /* FAULT: see fault */
    union {
        int64_t i;
        double r;
        const char *s;
        nt_expr_fault_code fault;
    };
} meaning;

static const meaning python[] = {
    {"1 + 2 * 3", NT_EXPR_INT, .i = 7},
    {"(1 + 2) * 3", NT_EXPR_INT, .i = 9},
    {"sum([i for i in range(5)])", NT_EXPR_INT, .i = 10},
    {"len(range(3, 20, 4))", NT_EXPR_INT, .i = 5},
    {"sum(i * i for i in range(a))", NT_EXPR_INT, .i = 91},
    {"max(i for i in [3, 1, 2] if i != 3)", NT_EXPR_INT, .i = 2},
    {"len([i for i in range(10) if i % 2 == 0 if i > 2])", NT_EXPR_INT, .i = 3},
    {"sum([i * j for i in range(4) for j in range(i)])", NT_EXPR_INT, .i = 11},
    {"6 in range(0, 12, 3)", NT_EXPR_BOOL, .i = 1},
    {"a in [2 ** i - 1 for i in range(1, 5)]", NT_EXPR_BOOL, .i = 1},
    {"sum([sum([i + j for j in range(3)]) for i in range(3)])", NT_EXPR_INT, .i = 18},
    {"len(range(0))", NT_EXPR_INT, .i = 0},
    {"len(range(5, 1))", NT_EXPR_INT, .i = 0},
    {"sum(range(5, 1, -2))", NT_EXPR_INT, .i = 8},
    {"[i for i in range(3)] == [0, 1, 2]", NT_EXPR_BOOL, .i = 1},
    {"max([len([k for k in range(j)]) for j in [1, 4, 2]])", NT_EXPR_INT, .i = 4},
    {"sum([i for i in [j + 1 for j in range(4)]])", NT_EXPR_INT, .i = 10},
    {"sum([j for i in [[1, 2], [3]] for j in i])", NT_EXPR_INT, .i = 6},
    {"sum([a for a in range(3)]) + a", NT_EXPR_INT, .i = 10},
    {"len([z for z in range(3) if z])", NT_EXPR_INT, .i = 2},
    {"min(32 * i for i in range(1, 5))", NT_EXPR_INT, .i = 32},
    {"len([c for c in [1, a, b] if c > 0])", NT_EXPR_INT, .i = 2},
    {"sum([i for i in range(a) if i in [k * 2 for k in range(i)] or i == 1])", NT_EXPR_INT, .i = 13},
    {"sum([k for i in [1, 2] for k in [m * i for m in [1, 2]]])", NT_EXPR_INT, .i = 9},
    {"range(3) == range(0, 3)", NT_EXPR_BOOL, .i = 1},
    {"7 // 2", NT_EXPR_INT, .i = 3},
    {"-7 // 2", NT_EXPR_INT, .i = -4},
    {"7 // -2", NT_EXPR_INT, .i = -4},
    {"-7 // -2", NT_EXPR_INT, .i = 3},
    {"a // b", NT_EXPR_INT, .i = -3},
    {"a % b", NT_EXPR_INT, .i = -2},
    {"b % a", NT_EXPR_INT, .i = 4},
    {"-7 % 3", NT_EXPR_INT, .i = 2},
    {"7 % -3", NT_EXPR_INT, .i = -2},
    {"-7 % -3", NT_EXPR_INT, .i = -1},
    {"6 % -3", NT_EXPR_INT, .i = 0},
    {"0 // 5", NT_EXPR_INT, .i = 0},
    {"a / 2", NT_EXPR_REAL, .r = 3.5},
    {"6 / 3", NT_EXPR_REAL, .r = 2.0},
    {"1 / 3", NT_EXPR_REAL, .r = 0.3333333333333333},
    {"7.5 // 2", NT_EXPR_REAL, .r = 3.0},
    {"-7.5 // 2", NT_EXPR_REAL, .r = -4.0},
    {"7.5 % -2", NT_EXPR_REAL, .r = -0.5},
    {"-7.5 % 2", NT_EXPR_REAL, .r = 0.5},
    {"-1e-20 % 3", NT_EXPR_REAL, .r = 3.0},
    {"1.0 // 0.1", NT_EXPR_REAL, .r = 9.0},
    {"1.0 % 0.1", NT_EXPR_REAL, .r = 0.09999999999999995},
    {"6.0 // -0.7", NT_EXPR_REAL, .r = -9.0},
    {"9469028097760528.0 // 7.0", NT_EXPR_REAL, .r = 1352718299680075.0},
    {"0.0 // -2", NT_EXPR_REAL, .r = -0.0},
    {"-0.0 + 0", NT_EXPR_REAL, .r = 0.0},
    {"x // y", NT_EXPR_REAL, .r = -5.0},
    {"x % y", NT_EXPR_REAL, .r = -0.0},
    {"2 ** 10", NT_EXPR_INT, .i = 1024},
    {"2 ** 62", NT_EXPR_INT, .i = 4611686018427387904},
    {"-2 ** 2", NT_EXPR_INT, .i = -4},
    {"(-2) ** 2", NT_EXPR_INT, .i = 4},
    {"(-2) ** 63", NT_EXPR_INT, .i = INT64_MIN},
    {"2 ** -1", NT_EXPR_REAL, .r = 0.5},
    {"2 ** 3 ** 2", NT_EXPR_INT, .i = 512},
    {"2 ** -2 ** 2", NT_EXPR_REAL, .r = 0.0625},
    {"0 ** 0", NT_EXPR_INT, .i = 1},
    {"1 ** 1000000", NT_EXPR_INT, .i = 1},
    {"(-1) ** 1000001", NT_EXPR_INT, .i = -1},
    {"0 ** 5", NT_EXPR_INT, .i = 0},
    {"2.0 ** 0.5", NT_EXPR_REAL, .r = 1.4142135623730951},
    {"4 ** 0.5", NT_EXPR_REAL, .r = 2.0},
    {"True + True", NT_EXPR_INT, .i = 2},
    {"True ** 2", NT_EXPR_INT, .i = 1},
    {"t + 1", NT_EXPR_INT, .i = 2},
    {"t * 2.5", NT_EXPR_REAL, .r = 2.5},
    {"-t", NT_EXPR_INT, .i = -1},
    {"+t", NT_EXPR_INT, .i = 1},
    {"- -a", NT_EXPR_INT, .i = 7},
    {"-+-a", NT_EXPR_INT, .i = 7},
    {"not a", NT_EXPR_BOOL, .i = 0},
    {"not z", NT_EXPR_BOOL, .i = 1},
    {"not not a", NT_EXPR_BOOL, .i = 1},
    {"not 1 == 2", NT_EXPR_BOOL, .i = 1},
    {"1 < 2 < 3", NT_EXPR_BOOL, .i = 1},
    {"1 < 2 > 3", NT_EXPR_BOOL, .i = 0},
    {"3 > 2 > 2", NT_EXPR_BOOL, .i = 0},
    {"1 < 3 > 2 == 2", NT_EXPR_BOOL, .i = 1},
    {"1 < z < 1 // z", NT_EXPR_BOOL, .i = 0},
    {"a == 7 == 7.0", NT_EXPR_BOOL, .i = 1},
    {"a != b != a", NT_EXPR_BOOL, .i = 1},
    {"1 == 1.0", NT_EXPR_BOOL, .i = 1},
    {"True == 1", NT_EXPR_BOOL, .i = 1},
    {"True == 2", NT_EXPR_BOOL, .i = 0},
    {"'a' == 1", NT_EXPR_BOOL, .i = 0},
    {"'a' != 1", NT_EXPR_BOOL, .i = 1},
    {"1 == 'a'", NT_EXPR_BOOL, .i = 0},
    {"'a' < 'b'", NT_EXPR_BOOL, .i = 1},
    {"'abc' < 'abd' <= 'abd'", NT_EXPR_BOOL, .i = 1},
    {"'a' < 1", NT_EXPR_FAULT, .fault = NT_EXPR_FAULT_TYPE},
    {"1 < 'a'", NT_EXPR_FAULT, .fault = NT_EXPR_FAULT_TYPE},
    {"[1] < 2", NT_EXPR_FAULT, .fault = NT_EXPR_FAULT_TYPE},
    {"9007199254740993 == 9007199254740992.0", NT_EXPR_BOOL, .i = 0},
    {"9007199254740993 > 9007199254740992.0", NT_EXPR_BOOL, .i = 1},
    {"9007199254740992 >= 9007199254740992.0", NT_EXPR_BOOL, .i = 1},
    {"9223372036854775807 < 9223372036854775808.0", NT_EXPR_BOOL, .i = 1},
    {"9223372036854775807 == 9223372036854775808.0", NT_EXPR_BOOL, .i = 0},
    {"m == -9223372036854775808.0", NT_EXPR_BOOL, .i = 1},
    {"m > -1e300", NT_EXPR_BOOL, .i = 1},
    {"2 < 2.5", NT_EXPR_BOOL, .i = 1},
    {"-2 > -2.5", NT_EXPR_BOOL, .i = 1},
    {"2.5 > 2", NT_EXPR_BOOL, .i = 1},
    {"3 and 5", NT_EXPR_INT, .i = 5},
    {"0 and 5", NT_EXPR_INT, .i = 0},
    {"0 or 5", NT_EXPR_INT, .i = 5},
    {"3 or 5", NT_EXPR_INT, .i = 3},
    {"'' or 'x'", NT_EXPR_STRING, .s = "x"},
    {"'' and 1", NT_EXPR_STRING, .s = ""},
    {"z and 1 // z", NT_EXPR_INT, .i = 0},
    {"a or 1 // z", NT_EXPR_INT, .i = 7},
    {"1 and 2 and 3", NT_EXPR_INT, .i = 3},
    {"1 and 0 and 1 // z", NT_EXPR_INT, .i = 0},
    {"0 or 0 or 7", NT_EXPR_INT, .i = 7},
    {"1 or 0 and 0", NT_EXPR_INT, .i = 1},
    {"not 0 and 0", NT_EXPR_INT, .i = 0},
    {"a in [1, 7, 9]", NT_EXPR_BOOL, .i = 1},
    {"a in [1, 2]", NT_EXPR_BOOL, .i = 0},
    {"a not in [1, 2]", NT_EXPR_BOOL, .i = 1},
    {"a in (1, 7)", NT_EXPR_BOOL, .i = 1},
    {"a in [1.0, 7.0]", NT_EXPR_BOOL, .i = 1},
    {"s in ['direct', 'winograd']", NT_EXPR_BOOL, .i = 1},
    {"s == \"winograd\"", NT_EXPR_BOOL, .i = 1},
    {"'win' in s", NT_EXPR_BOOL, .i = 1},
    {"'wine' in s", NT_EXPR_BOOL, .i = 0},
    {"'wine' not in s", NT_EXPR_BOOL, .i = 1},
    {"'' in s", NT_EXPR_BOOL, .i = 1},
    {"1 in []", NT_EXPR_BOOL, .i = 0},
    {"a in [a + 1, a]", NT_EXPR_BOOL, .i = 1},
    {"[1, 2] == [1, 2]", NT_EXPR_BOOL, .i = 1},
    {"[1, 2] == [1, 2, 3]", NT_EXPR_BOOL, .i = 0},
    {"[1, 2] < [1, 3]", NT_EXPR_BOOL, .i = 1},
    {"[1, 2] < [1, 2, 0]", NT_EXPR_BOOL, .i = 1},
    {"[1, 'a'] == [1, 'a']", NT_EXPR_BOOL, .i = 1},
    {"[1, 'a'] < [1, 2]", NT_EXPR_FAULT, .fault = NT_EXPR_FAULT_TYPE},
    {"[1] in [[1], [2]]", NT_EXPR_BOOL, .i = 1},
    {"1 in 5", NT_EXPR_FAULT, .fault = NT_EXPR_FAULT_TYPE},
    {"1 in 'abc'", NT_EXPR_FAULT, .fault = NT_EXPR_FAULT_TYPE},
    {"a if t else b", NT_EXPR_INT, .i = 7},
    {"a if f else b", NT_EXPR_INT, .i = -3},
    {"1 // z if z else 5", NT_EXPR_INT, .i = 5},
    {"1 if 0 else 2 if 0 else 3", NT_EXPR_INT, .i = 3},
    {"(1 if t else 2) + 1", NT_EXPR_INT, .i = 2},
    {"min(3, 1, 2)", NT_EXPR_INT, .i = 1},
    {"max(3, 1, 2)", NT_EXPR_INT, .i = 3},
    {"min([3, 1, 2])", NT_EXPR_INT, .i = 1},
    {"max(a, b, x)", NT_EXPR_INT, .i = 7},
    {"min(1, 1.0)", NT_EXPR_INT, .i = 1},
    {"max(1.0, 1)", NT_EXPR_REAL, .r = 1.0},
    {"max(1, True)", NT_EXPR_INT, .i = 1},
    {"max(True, 1)", NT_EXPR_BOOL, .i = 1},
    {"min('b', 'a')", NT_EXPR_STRING, .s = "a"},
    {"min(1, 'a')", NT_EXPR_FAULT, .fault = NT_EXPR_FAULT_TYPE},
    {"min([])", NT_EXPR_FAULT, .fault = NT_EXPR_FAULT_DOMAIN},
    {"max(3)", NT_EXPR_FAULT, .fault = NT_EXPR_FAULT_TYPE},
    {"max([a, 8])", NT_EXPR_INT, .i = 8},
    {"abs(-5)", NT_EXPR_INT, .i = 5},
    {"abs(b)", NT_EXPR_INT, .i = 3},
    {"abs(y)", NT_EXPR_REAL, .r = 0.5},
    {"abs(True)", NT_EXPR_INT, .i = 1},
    {"abs('a')", NT_EXPR_FAULT, .fault = NT_EXPR_FAULT_TYPE},
    {"abs(m)", NT_EXPR_FAULT, .fault = NT_EXPR_FAULT_OVERFLOW},
    {"len([1, 2, 3])", NT_EXPR_INT, .i = 3},
    {"len([])", NT_EXPR_INT, .i = 0},
    {"len('abc')", NT_EXPR_INT, .i = 3},
    {"len('äöü')", NT_EXPR_INT, .i = 3},
    {"len(3)", NT_EXPR_FAULT, .fault = NT_EXPR_FAULT_TYPE},
    {"len((1,))", NT_EXPR_INT, .i = 1},
    {"sum([1, 2, 3])", NT_EXPR_INT, .i = 6},
    {"sum([])", NT_EXPR_INT, .i = 0},
    {"sum([1, 2.5])", NT_EXPR_REAL, .r = 3.5},
    {"sum([True, True])", NT_EXPR_INT, .i = 2},
    {"sum(['a'])", NT_EXPR_FAULT, .fault = NT_EXPR_FAULT_TYPE},
    {"sum(3)", NT_EXPR_FAULT, .fault = NT_EXPR_FAULT_TYPE},
    {"ceil(2.1)", NT_EXPR_INT, .i = 3},
    {"floor(-2.1)", NT_EXPR_INT, .i = -3},
    {"ceil(a / 2)", NT_EXPR_INT, .i = 4},
    {"floor(7)", NT_EXPR_INT, .i = 7},
    {"ceil(True)", NT_EXPR_INT, .i = 1},
    {"ceil(-0.5)", NT_EXPR_INT, .i = 0},
    {"ceil('a')", NT_EXPR_FAULT, .fault = NT_EXPR_FAULT_TYPE},
    {"1 // 0", NT_EXPR_FAULT, .fault = NT_EXPR_FAULT_DIVISION},
    {"1 % 0", NT_EXPR_FAULT, .fault = NT_EXPR_FAULT_DIVISION},
    {"1 / 0", NT_EXPR_FAULT, .fault = NT_EXPR_FAULT_DIVISION},
    {"1.0 // 0", NT_EXPR_FAULT, .fault = NT_EXPR_FAULT_DIVISION},
    {"1.0 % 0.0", NT_EXPR_FAULT, .fault = NT_EXPR_FAULT_DIVISION},
    {"1 / 0.0", NT_EXPR_FAULT, .fault = NT_EXPR_FAULT_DIVISION},
    {"0 ** -1", NT_EXPR_FAULT, .fault = NT_EXPR_FAULT_DIVISION},
    {"0.0 ** -1", NT_EXPR_FAULT, .fault = NT_EXPR_FAULT_DIVISION},
    {"10.0 ** 400", NT_EXPR_FAULT, .fault = NT_EXPR_FAULT_OVERFLOW},
    {"1e308 * 10", NT_EXPR_REAL, .r = INFINITY},
    {"1e308 * 10 - 1e308 * 10 == 0", NT_EXPR_BOOL, .i = 0},
    {"ceil(1e308 * 10)", NT_EXPR_FAULT, .fault = NT_EXPR_FAULT_OVERFLOW},
    {"'a' + 1", NT_EXPR_FAULT, .fault = NT_EXPR_FAULT_TYPE},
    {"'a' * 'b'", NT_EXPR_FAULT, .fault = NT_EXPR_FAULT_TYPE},
    {"-'a'", NT_EXPR_FAULT, .fault = NT_EXPR_FAULT_TYPE},
    {"[1] + 1", NT_EXPR_FAULT, .fault = NT_EXPR_FAULT_TYPE},
    {"[1] - [1]", NT_EXPR_FAULT, .fault = NT_EXPR_FAULT_TYPE},
    {".5 + 1.", NT_EXPR_REAL, .r = 1.5},
    {"1e3", NT_EXPR_REAL, .r = 1000.0},
    {"1E-2", NT_EXPR_REAL, .r = 0.01},
    {"1.5e+2", NT_EXPR_REAL, .r = 150.0},
    {"16", NT_EXPR_INT, .i = 16},
    {"0", NT_EXPR_INT, .i = 0},
    {"0.1 + 0.2", NT_EXPR_REAL, .r = 0.30000000000000004},
    {"1 - -1", NT_EXPR_INT, .i = 2},
    {"2 * -3", NT_EXPR_INT, .i = -6},
    {"2 ** - 1", NT_EXPR_REAL, .r = 0.5},
    {"a*b+x", NT_EXPR_REAL, .r = -18.5},
    {"a - b - 1", NT_EXPR_INT, .i = 9},
    {"a - (b - 1)", NT_EXPR_INT, .i = 11},
    {"100 // 7 // 2", NT_EXPR_INT, .i = 7},
    {"2 * 3 % 4", NT_EXPR_INT, .i = 2},
    {"-a % 4", NT_EXPR_INT, .i = 1},
    {"-3 ** 2 % 5", NT_EXPR_INT, .i = 1},
    {"a % 4 == 3 and a // 4 == 1", NT_EXPR_BOOL, .i = 1},
    {"(a + 32 - 1) // 32 * 32", NT_EXPR_INT, .i = 32},
    {"'it\\'s' == \"it's\"", NT_EXPR_BOOL, .i = 1},
    {"'\\\\' == \"\\\\\"", NT_EXPR_BOOL, .i = 1},
    {"len(\"\\\"\")", NT_EXPR_INT, .i = 1},
    {"not 'a'", NT_EXPR_BOOL, .i = 0},
    {"not []", NT_EXPR_BOOL, .i = 1},
    {"[] or 1", NT_EXPR_INT, .i = 1},
    {"[0] and 1", NT_EXPR_INT, .i = 1},
    {"big - 1 + big", NT_EXPR_INT, .i = 9223372036854775807},
    {"1 if 'a' in ['a'] else 0", NT_EXPR_INT, .i = 1},
    {"3 - 2 in [1]", NT_EXPR_BOOL, .i = 1},
    {"not a in [7]", NT_EXPR_BOOL, .i = 0},
    {"a == 7 in [True]", NT_EXPR_BOOL, .i = 0},
    {"1 < 2 in [2]", NT_EXPR_BOOL, .i = 1},
    {"( 1 )", NT_EXPR_INT, .i = 1},
};

static nt_expr *compiled(const char *text)
{
    nt_expr *expr = NULL;
    nt_error err = {0};
    if (nt_expr_compile(text, names, NAME_COUNT, &expr, &err) != NT_OK)
        fail_msg("%s: %s", text, err.what);
    return expr;
}

static bool same(const meaning *want, bool ok, nt_expr_value got, nt_expr_fault fault)
{
    if (want->kind == NT_EXPR_FAULT)
        return !ok && fault.code == want->fault;
    if (!ok || got.kind != want->kind)
        return false;
    if (want->kind == NT_EXPR_REAL) /* bit by bit, for the sign of zero */
        return memcmp(&got.r, &want->r, sizeof got.r) == 0;
    return want->kind == NT_EXPR_STRING ? strcmp(got.s, want->s) == 0 : got.i == want->i;
}

static void check(const meaning *rows, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        nt_expr *expr = compiled(rows[i].text);
        nt_expr_value got;
        nt_expr_fault fault = {0};
        bool ok = nt_expr_eval(expr, values, &got, &fault);
        if (!same(&rows[i], ok, got, fault))
            fail_msg("%s gives kind %u, %lld or %.17g, fault %s", rows[i].text, got.kind, (long long)got.i, got.r,
                     nt_expr_fault_text(fault.code));
        nt_expr_free(expr);
    }
}

static void test_means_what_python_means(void **state)
{
    (void)state;
    check(python, sizeof python / sizeof python[0]);
}

/* Where Python has an integer of any size, a complex number or a list, here is a fault. */
static void test_faults_where_python_goes_on(void **state)
{
    (void)state;
    static const meaning rows[] = {
        {"big + big", NT_EXPR_FAULT, .fault = NT_EXPR_FAULT_OVERFLOW},
        {"big * 2", NT_EXPR_FAULT, .fault = NT_EXPR_FAULT_OVERFLOW},
        {"m - 1", NT_EXPR_FAULT, .fault = NT_EXPR_FAULT_OVERFLOW},
        {"-m", NT_EXPR_FAULT, .fault = NT_EXPR_FAULT_OVERFLOW},
        {"m // -1", NT_EXPR_FAULT, .fault = NT_EXPR_FAULT_OVERFLOW},
        {"m % -1", NT_EXPR_INT, .i = 0},
        {"2 ** 63", NT_EXPR_FAULT, .fault = NT_EXPR_FAULT_OVERFLOW},
        {"3 ** 100000000000", NT_EXPR_FAULT, .fault = NT_EXPR_FAULT_OVERFLOW},
        {"sum([big, big])", NT_EXPR_FAULT, .fault = NT_EXPR_FAULT_OVERFLOW},
        {"floor(1e300)", NT_EXPR_FAULT, .fault = NT_EXPR_FAULT_OVERFLOW},
        {"len(range(1000000000))", NT_EXPR_FAULT, .fault = NT_EXPR_FAULT_LIMIT},
        {"len(range(big))", NT_EXPR_FAULT, .fault = NT_EXPR_FAULT_LIMIT},
        {"len(range(m, big, 1))", NT_EXPR_FAULT, .fault = NT_EXPR_FAULT_LIMIT},
        {"sum([1 for i in range(60000) for j in range(60000) if j < 0])", NT_EXPR_FAULT, .fault = NT_EXPR_FAULT_LIMIT},
        {"len([i for i in range(60000) for j in [1, 2, a]])", NT_EXPR_FAULT, .fault = NT_EXPR_FAULT_LIMIT},
        {"(-8) ** 0.5", NT_EXPR_FAULT, .fault = NT_EXPR_FAULT_DOMAIN},
        {"[1, a]", NT_EXPR_FAULT, .fault = NT_EXPR_FAULT_TYPE},
        {"[1, 2]", NT_EXPR_FAULT, .fault = NT_EXPR_FAULT_TYPE},
        {"[1] * 2", NT_EXPR_FAULT, .fault = NT_EXPR_FAULT_TYPE},
        {"max([a])", NT_EXPR_INT, .i = 7},
    };
    check(rows, sizeof rows / sizeof rows[0]);
}

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
                {"range(2)", {0, 1}, 2}};
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
        cmocka_unit_test(test_means_what_python_means),
        cmocka_unit_test(test_faults_where_python_goes_on),
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
