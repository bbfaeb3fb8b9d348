/* expr_eval.c: from tree to value. One small function per kind of node; what an operator does is a table row of two
 * functions, for whole numbers and for reals. Faults and unknown values are kinds of value, so that they pass upwards
 * like any other. Evaluation allocates nothing unless ranges or comprehensions depend on values. */
#include "autotune/expr_node.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/mem.h"
#include "core/record.h"

static double to_real(nt_expr_value v)
{
    return v.kind == NT_EXPR_REAL ? v.r : (double)v.i;
}

/* ---- arithmetic ------------------------------------------------------------------------------------------------ */

static nt_expr_value add_whole(nt_expr_state *state, const nt_expr_node *node, int64_t a, int64_t b)
{
    int64_t sum;
    return __builtin_add_overflow(a, b, &sum) ? nt_expr_fail(state, node, NT_EXPR_FAULT_OVERFLOW) : nt_expr_whole(sum);
}

static nt_expr_value subtract_whole(nt_expr_state *state, const nt_expr_node *node, int64_t a, int64_t b)
{
    int64_t difference;
    return __builtin_sub_overflow(a, b, &difference) ? nt_expr_fail(state, node, NT_EXPR_FAULT_OVERFLOW)
                                                     : nt_expr_whole(difference);
}

static nt_expr_value multiply_whole(nt_expr_state *state, const nt_expr_node *node, int64_t a, int64_t b)
{
    int64_t product;
    return __builtin_mul_overflow(a, b, &product) ? nt_expr_fail(state, node, NT_EXPR_FAULT_OVERFLOW)
                                                  : nt_expr_whole(product);
}

/* Beyond 2^53 the 64-bit mantissa of long double keeps both operands exact. */
static nt_expr_value divide_whole(nt_expr_state *state, const nt_expr_node *node, int64_t a, int64_t b)
{
    return b == 0 ? nt_expr_fail(state, node, NT_EXPR_FAULT_DIVISION)
                  : nt_expr_real((double)((long double)a / (long double)b));
}

static nt_expr_value floor_divide_whole(nt_expr_state *state, const nt_expr_node *node, int64_t a, int64_t b)
{
    if (b == 0)
        return nt_expr_fail(state, node, NT_EXPR_FAULT_DIVISION);
    if (b == -1) /* the one quotient that can overflow */
        return subtract_whole(state, node, 0, a);
    return nt_expr_whole(a / b - (a % b != 0 && (a < 0) != (b < 0)));
}

static nt_expr_value modulo_whole(nt_expr_state *state, const nt_expr_node *node, int64_t a, int64_t b)
{
    if (b == 0)
        return nt_expr_fail(state, node, NT_EXPR_FAULT_DIVISION);
    if (b == -1)
        return nt_expr_whole(0);
    int64_t rest = a % b;
    return nt_expr_whole(rest != 0 && (rest < 0) != (b < 0) ? rest + b : rest);
}

static nt_expr_value power_real(nt_expr_state *state, const nt_expr_node *node, double a, double b)
{
    if (a == 0 && b < 0)
        return nt_expr_fail(state, node, NT_EXPR_FAULT_DIVISION);
    if (a < 0 && isfinite(a) && isfinite(b) && floor(b) != b) /* a complex number in Python */
        return nt_expr_fail(state, node, NT_EXPR_FAULT_DOMAIN);
    double result = pow(a, b);
    return isinf(result) && isfinite(a) && isfinite(b) ? nt_expr_fail(state, node, NT_EXPR_FAULT_OVERFLOW)
                                                       : nt_expr_real(result);
}

static nt_expr_value power_whole(nt_expr_state *state, const nt_expr_node *node, int64_t a, int64_t b)
{
    if (b < 0)
        return power_real(state, node, (double)a, (double)b);
    int64_t result = 1;
    bool over = false;
    for (;; b /= 2) {
        if (b % 2 != 0)
            over = __builtin_mul_overflow(result, a, &result);
        if (b <= 1 || over)
            break;
        over = __builtin_mul_overflow(a, a, &a);
        if (over)
            break;
    }
    return over ? nt_expr_fail(state, node, NT_EXPR_FAULT_OVERFLOW) : nt_expr_whole(result);
}

static nt_expr_value add_real(nt_expr_state *state, const nt_expr_node *node, double a, double b)
{
    (void)state, (void)node;
    return nt_expr_real(a + b);
}

static nt_expr_value subtract_real(nt_expr_state *state, const nt_expr_node *node, double a, double b)
{
    (void)state, (void)node;
    return nt_expr_real(a - b);
}

static nt_expr_value multiply_real(nt_expr_state *state, const nt_expr_node *node, double a, double b)
{
    (void)state, (void)node;
    return nt_expr_real(a * b);
}

static nt_expr_value divide_real(nt_expr_state *state, const nt_expr_node *node, double a, double b)
{
    return b == 0 ? nt_expr_fail(state, node, NT_EXPR_FAULT_DIVISION) : nt_expr_real(a / b);
}

/* The remainder with the divisor's sign; a zero takes it too. */
static double modulo(double a, double b)
{
    double rest = fmod(a, b);
    if (rest == 0)
        return copysign(0, b);
    return (rest < 0) != (b < 0) ? rest + b : rest;
}

static nt_expr_value modulo_real(nt_expr_state *state, const nt_expr_node *node, double a, double b)
{
    return b == 0 ? nt_expr_fail(state, node, NT_EXPR_FAULT_DIVISION) : nt_expr_real(modulo(a, b));
}

/* From the remainder, so that a == (a // b) * b + a % b as nearly as can be: floor(a / b) may round up to a whole. The
 * remainder before its sign is mended keeps a - rest exact. */
static nt_expr_value floor_divide_real(nt_expr_state *state, const nt_expr_node *node, double a, double b)
{
    if (b == 0)
        return nt_expr_fail(state, node, NT_EXPR_FAULT_DIVISION);
    double rest = fmod(a, b);
    double quotient = (a - rest) / b;
    if (rest != 0 && (rest < 0) != (b < 0))
        quotient -= 1;
    if (quotient == 0)
        return nt_expr_real(copysign(0, a / b));
    double down = floor(quotient);
    return nt_expr_real(quotient - down > 0.5 ? down + 1 : down);
}

const nt_expr_arithmetic nt_expr_add = {add_whole, add_real};
const nt_expr_arithmetic nt_expr_subtract = {subtract_whole, subtract_real};
const nt_expr_arithmetic nt_expr_multiply = {multiply_whole, multiply_real};
const nt_expr_arithmetic nt_expr_divide = {divide_whole, divide_real};
const nt_expr_arithmetic nt_expr_floor_divide = {floor_divide_whole, floor_divide_real};
const nt_expr_arithmetic nt_expr_modulo = {modulo_whole, modulo_real};
const nt_expr_arithmetic nt_expr_power = {power_whole, power_real};

/* a + b and a * n of lists; NT_EXPR_INT for anything else. */
static nt_expr_value apply_lists(nt_expr_state *state, const nt_expr_node *node, const nt_expr_arithmetic *arithmetic,
                                 nt_expr_value a, nt_expr_value b)
{
    if (arithmetic == &nt_expr_add && a.kind == NT_EXPR_LIST && b.kind == NT_EXPR_LIST)
        return nt_expr_joined(state, node, a, b);
    if (arithmetic == &nt_expr_multiply && a.kind == NT_EXPR_LIST && nt_expr_is_whole(b))
        return nt_expr_repeated(state, node, a, b.i);
    if (arithmetic == &nt_expr_multiply && nt_expr_is_whole(a) && b.kind == NT_EXPR_LIST)
        return nt_expr_repeated(state, node, b, a.i);
    return nt_expr_whole(0);
}

static nt_expr_value apply(nt_expr_state *state, const nt_expr_node *node, const nt_expr_arithmetic *arithmetic,
                           nt_expr_value a, nt_expr_value b)
{
    if (nt_expr_is_whole(a) && nt_expr_is_whole(b))
        return arithmetic->whole(state, node, a.i, b.i);
    if (nt_expr_is_number(a) && nt_expr_is_number(b))
        return arithmetic->real(state, node, to_real(a), to_real(b));
    if (a.kind == NT_EXPR_UNKNOWN) /* even when b is a fault: nothing is known about it either */
        return a;
    if (b.kind >= NT_EXPR_UNKNOWN)
        return b;
    nt_expr_value list = apply_lists(state, node, arithmetic, a, b);
    return list.kind != NT_EXPR_INT ? list : nt_expr_fail(state, node, NT_EXPR_FAULT_TYPE);
}

nt_expr_value nt_expr_node_arithmetic(nt_expr_state *state, const nt_expr_node *node)
{
    nt_expr_value a = nt_expr_node_eval(state, node->first);
    if (a.kind == NT_EXPR_FAULT)
        return a;
    return apply(state, node, node->arithmetic, a, nt_expr_node_eval(state, node->first->next));
}

nt_expr_value nt_expr_sum(nt_expr_state *state, const nt_expr_node *node, nt_expr_value a, nt_expr_value b)
{
    return apply(state, node, &nt_expr_add, a, b);
}

static nt_expr_value signed_operand(nt_expr_state *state, const nt_expr_node *node, int64_t sign)
{
    nt_expr_value a = nt_expr_node_eval(state, node->first);
    if (nt_expr_is_whole(a))
        return multiply_whole(state, node, a.i, sign);
    if (a.kind == NT_EXPR_REAL)
        return nt_expr_real(sign < 0 ? -a.r : a.r);
    return a.kind >= NT_EXPR_UNKNOWN ? a : nt_expr_fail(state, node, NT_EXPR_FAULT_TYPE);
}

nt_expr_value nt_expr_node_negate(nt_expr_state *state, const nt_expr_node *node)
{
    return signed_operand(state, node, -1);
}

nt_expr_value nt_expr_node_plus(nt_expr_state *state, const nt_expr_node *node)
{
    return signed_operand(state, node, 1);
}

/* ---- truth ----------------------------------------------------------------------------------------------------- */

nt_expr_truth nt_expr_truth_of(nt_expr_value v)
{
    switch ((nt_expr_kind)v.kind) {
    case NT_EXPR_INT:
    case NT_EXPR_BOOL:
        return v.i != 0 ? NT_EXPR_IS_TRUE : NT_EXPR_IS_FALSE;
    case NT_EXPR_REAL:
        return v.r != 0 ? NT_EXPR_IS_TRUE : NT_EXPR_IS_FALSE;
    case NT_EXPR_STRING:
        return v.s[0] != '\0' ? NT_EXPR_IS_TRUE : NT_EXPR_IS_FALSE;
    case NT_EXPR_LIST:
        return v.count != 0 ? NT_EXPR_IS_TRUE : NT_EXPR_IS_FALSE;
    case NT_EXPR_UNKNOWN:
        return NT_EXPR_IS_UNKNOWN;
    case NT_EXPR_FAULT:
        break;
    }
    return NT_EXPR_IS_FAULT;
}

nt_expr_value nt_expr_node_not(nt_expr_state *state, const nt_expr_node *node)
{
    nt_expr_value a = nt_expr_node_eval(state, node->first);
    return a.kind >= NT_EXPR_UNKNOWN ? a : nt_expr_boolean(nt_expr_truth_of(a) == NT_EXPR_IS_FALSE);
}

/* Gives the first operand whose truth is `decisive`, else the last. An unknown operand leaves the answer open unless a
 * later one decides; a fault after it may be one that the unknown value would have kept away, so it stays unknown. */
static nt_expr_value junction(nt_expr_state *state, const nt_expr_node *node, nt_expr_truth decisive)
{
    nt_expr_value last = nt_expr_unknown();
    bool open = false;
    for (const nt_expr_node *child = node->first; child != NULL; child = child->next) {
        last = nt_expr_node_eval(state, child);
        nt_expr_truth is = nt_expr_truth_of(last);
        if (is == decisive)
            return last;
        if (is == NT_EXPR_IS_FAULT)
            return open ? nt_expr_unknown() : last;
        open = open || is == NT_EXPR_IS_UNKNOWN;
    }
    return open ? nt_expr_unknown() : last;
}

nt_expr_value nt_expr_node_and(nt_expr_state *state, const nt_expr_node *node)
{
    return junction(state, node, NT_EXPR_IS_FALSE);
}

nt_expr_value nt_expr_node_or(nt_expr_state *state, const nt_expr_node *node)
{
    return junction(state, node, NT_EXPR_IS_TRUE);
}

nt_expr_value nt_expr_node_if(nt_expr_state *state, const nt_expr_node *node)
{
    nt_expr_value condition = nt_expr_node_eval(state, node->first);
    if (condition.kind >= NT_EXPR_UNKNOWN)
        return condition;
    const nt_expr_node *then = node->first->next;
    return nt_expr_node_eval(state, nt_expr_truth_of(condition) == NT_EXPR_IS_TRUE ? then : then->next);
}

/* ---- leaves, lists --------------------------------------------------------------------------------------------- */

nt_expr_value nt_expr_node_constant(nt_expr_state *state, const nt_expr_node *node)
{
    (void)state;
    return node->value;
}

nt_expr_value nt_expr_node_slot(nt_expr_state *state, const nt_expr_node *node)
{
    return state->values[node->slot];
}

nt_expr_value nt_expr_node_local(nt_expr_state *state, const nt_expr_node *node)
{
    return state->local[node->slot];
}

nt_expr_value nt_expr_node_list(nt_expr_state *state, const nt_expr_node *node)
{
    nt_expr_value *item = nt_expr_room(state, node, node->count);
    if (item == NULL)
        return nt_expr_fail(state, node, NT_EXPR_FAULT_LIMIT);
    uint32_t i = 0;
    for (const nt_expr_node *child = node->first; child != NULL; child = child->next) {
        item[i] = nt_expr_node_eval(state, child);
        if (item[i++].kind == NT_EXPR_FAULT)
            return item[i - 1];
    }
    return (nt_expr_value){.kind = NT_EXPR_LIST, .count = node->count, .item = item};
}

/* ---- the public face ------------------------------------------------------------------------------------------- */

static void note_fault(const nt_expr *expr, const nt_expr_state *state, nt_expr_value result, nt_expr_fault *out)
{
    if (out == NULL)
        return;
    *out = (nt_expr_fault){0};
    if (result.kind == NT_EXPR_FAULT)
        *out = (nt_expr_fault){state->fault.code, nt_expr_column(expr->text, (size_t)state->fault.column)};
}

/* With room for lists. Items of the result go to items, when it wants them, as they die with the room. */
static nt_expr_value run_with_lists(const nt_expr *expr, nt_expr_state *state, nt_expr_value *items, size_t capacity)
{
    nt_expr_value few[NT_EXPR_MAX_ITEMS];
    state->capacity = expr->has_ranges ? NT_EXPR_MAX_BUILT : NT_EXPR_MAX_ITEMS;
    state->scratch = expr->has_ranges ? nt_alloc(state->capacity * sizeof *few) : few;
    nt_expr_value result = nt_expr_node_eval(state, expr->root);
    if (result.kind == NT_EXPR_LIST) {
        for (uint32_t i = 0; i < result.count && i < capacity; i++)
            items[i] = result.item[i];
        result.item = NULL;
    }
    if (expr->has_ranges)
        free(state->scratch);
    return result;
}

static nt_expr_value run(const nt_expr *expr, const nt_expr_value *values, nt_expr_fault *fault)
{
    nt_expr_state state;
    state.values = values;
    state.scratch = NULL;
    nt_expr_value result;
    if (expr->has_lists) {
        state.used = state.steps = 0;
        result = run_with_lists(expr, &state, NULL, 0);
    } else {
        result = nt_expr_node_eval(&state, expr->root);
    }
    note_fault(expr, &state, result, fault);
    return result;
}

bool nt_expr_eval_list(const nt_expr *expr, const nt_expr_value *values, nt_expr_value *items, size_t capacity,
                       size_t *count, nt_expr_fault *fault)
{
    nt_expr_state state = {.values = values};
    nt_expr_value result = run_with_lists(expr, &state, items, capacity);
    bool flat = result.kind == NT_EXPR_LIST;
    for (uint32_t i = 0; flat && i < result.count && i < capacity; i++)
        flat = items[i].kind < NT_EXPR_LIST;
    note_fault(expr, &state, result, fault);
    if (!flat && result.kind != NT_EXPR_FAULT && fault != NULL)
        *fault = (nt_expr_fault){NT_EXPR_FAULT_TYPE, 1};
    *count = flat ? result.count : 0;
    return flat;
}

bool nt_expr_eval(const nt_expr *expr, const nt_expr_value *values, nt_expr_value *out, nt_expr_fault *out_fault)
{
    *out = run(expr, values, out_fault);
    if (out->kind == NT_EXPR_LIST && out_fault != NULL)
        *out_fault = (nt_expr_fault){NT_EXPR_FAULT_TYPE, 1};
    return out->kind != NT_EXPR_LIST && out->kind != NT_EXPR_FAULT;
}

nt_expr_truth nt_expr_test(const nt_expr *expr, const nt_expr_value *values, nt_expr_fault *out_fault)
{
    return nt_expr_truth_of(run(expr, values, out_fault));
}

const char *nt_expr_fault_text(nt_expr_fault_code code)
{
    static const char *const text[] = {
#define X(name, words) [NT_EXPR_FAULT_##name] = (words),
        NT_EXPR_FAULT_MAP(X)
#undef X
    };
    return (unsigned)code < NT_EXPR_FAULT_COUNT ? text[code] : "unknown fault";
}

nt_expr_value nt_expr_of_int(int64_t i)
{
    return i == NT_UNKNOWN ? nt_expr_unknown() : nt_expr_whole(i);
}

nt_expr_value nt_expr_of_value(nt_value value)
{
    switch (value.kind) {
    case NT_VALUE_INT:
        return nt_expr_whole(value.i);
    case NT_VALUE_BOOL:
        return nt_expr_boolean(value.i != 0);
    case NT_VALUE_REAL:
        return nt_expr_real(value.r);
    case NT_VALUE_STRING:
        return (nt_expr_value){.kind = NT_EXPR_STRING, .s = value.s};
    }
    return nt_expr_unknown();
}
