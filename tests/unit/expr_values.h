/* expr_values.h: names with values for tests of expressions, and rows of an expression and what it means. Included
 * after cmocka.h, which needs its own headers first. */
#ifndef NT_TEST_EXPR_VALUES_H
#define NT_TEST_EXPR_VALUES_H

#include <string.h>

#include "autotune/expr.h"

/* The names of the tables, and their values in their making. */
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

static inline nt_expr *compiled(const char *text)
{
    nt_expr *expr = NULL;
    nt_error err = {0};
    if (nt_expr_compile(text, names, NAME_COUNT, &expr, &err) != NT_OK)
        fail_msg("%s: %s", text, err.what);
    return expr;
}

static inline bool same(const meaning *want, bool ok, nt_expr_value got, nt_expr_fault fault)
{
    if (want->kind == NT_EXPR_FAULT)
        return !ok && fault.code == want->fault;
    if (!ok || got.kind != want->kind)
        return false;
    if (want->kind == NT_EXPR_REAL) /* bit by bit, for the sign of zero */
        return memcmp(&got.r, &want->r, sizeof got.r) == 0;
    return want->kind == NT_EXPR_STRING ? strcmp(got.s, want->s) == 0 : got.i == want->i;
}

static inline void check(const meaning *rows, size_t count)
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

#endif
