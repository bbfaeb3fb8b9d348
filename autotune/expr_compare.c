/* expr_compare.c: how values stand to each other, and what depends on it: comparison chains, `in`, min and max; with
 * them the other functions. Whole numbers and reals compare exactly, not by rounding one to the other's type. */
#include "autotune/expr_node.h"

#include <math.h>
#include <string.h>

#define TWO_POW_63 9223372036854775808.0

static int order_of(int less, int greater)
{
    return less ? NT_ORDER_LESS : greater ? NT_ORDER_GREATER : NT_ORDER_EQUAL;
}

static int order_whole_real(int64_t a, double b)
{
    if (isnan(b))
        return NT_ORDER_NONE;
    if (b >= TWO_POW_63 || b < -TWO_POW_63)
        return order_of(b > 0, b < 0);
    int64_t down = (int64_t)b; /* towards zero; the rest decides between equals */
    double rest = b - (double)down;
    return a != down ? order_of(a<down, a> down) : order_of(rest > 0, rest < 0);
}

static int order_reversed(int order)
{
    return order == NT_ORDER_LESS ? NT_ORDER_GREATER : order == NT_ORDER_GREATER ? NT_ORDER_LESS : order;
}

static int order_numbers(nt_expr_value a, nt_expr_value b)
{
    if (nt_expr_is_whole(a))
        return nt_expr_is_whole(b) ? order_of(a.i<b.i, a.i> b.i) : order_whole_real(a.i, b.r);
    if (nt_expr_is_whole(b))
        return order_reversed(order_whole_real(b.i, a.r));
    return isnan(a.r) || isnan(b.r) ? NT_ORDER_NONE : order_of(a.r<b.r, a.r> b.r);
}

static int order_values(nt_expr_value a, nt_expr_value b);

/* By the first items that differ, then by length. Recursion is bounded by the depth of the expression. */
static int order_lists(nt_expr_value a, nt_expr_value b)
{
    for (uint32_t i = 0; i < a.count && i < b.count; i++) {
        int order = order_values(a.item[i], b.item[i]);
        if (order != NT_ORDER_EQUAL)
            return order;
    }
    return order_of(a.count<b.count, a.count> b.count);
}

/* 0 when either is unknown, so that no comparison accepts it. */
static int order_values(nt_expr_value a, nt_expr_value b)
{
    if (nt_expr_is_number(a) && nt_expr_is_number(b))
        return order_numbers(a, b);
    if (a.kind == NT_EXPR_UNKNOWN || b.kind == NT_EXPR_UNKNOWN)
        return 0;
    if (a.kind == NT_EXPR_STRING && b.kind == NT_EXPR_STRING) {
        int difference = strcmp(a.s, b.s);
        return order_of(difference<0, difference> 0);
    }
    return a.kind == NT_EXPR_LIST && b.kind == NT_EXPR_LIST ? order_lists(a, b) : NT_ORDER_MISMATCH;
}

static nt_expr_value contains(nt_expr_state *state, const nt_expr_node *node, nt_expr_value item, nt_expr_value in)
{
    if (item.kind == NT_EXPR_UNKNOWN || in.kind == NT_EXPR_UNKNOWN)
        return nt_expr_unknown();
    if (item.kind == NT_EXPR_STRING && in.kind == NT_EXPR_STRING)
        return nt_expr_boolean(strstr(in.s, item.s) != NULL);
    if (in.kind != NT_EXPR_LIST)
        return nt_expr_fail(state, node, NT_EXPR_FAULT_TYPE);
    bool open = false;
    for (uint32_t i = 0; i < in.count; i++) {
        int order = order_values(item, in.item[i]);
        if (order == NT_ORDER_EQUAL)
            return nt_expr_boolean(true);
        open = open || order == 0;
    }
    return open ? nt_expr_unknown() : nt_expr_boolean(false);
}

/* One link of a chain: true, false, unknown or a fault. */
static nt_expr_value link(nt_expr_state *state, const nt_expr_node *node, uint32_t accepted, nt_expr_value a,
                          nt_expr_value b)
{
    if (accepted & (NT_COMPARE_IN | NT_COMPARE_NOT_IN)) {
        nt_expr_value found = contains(state, node, a, b);
        if (found.kind == NT_EXPR_BOOL && (accepted & NT_COMPARE_NOT_IN))
            found.i = !found.i;
        return found;
    }
    int order = order_values(a, b);
    if (order == 0)
        return nt_expr_unknown();
    bool is_equality = accepted == NT_COMPARE_EQUAL || accepted == NT_COMPARE_UNEQUAL;
    if (order == NT_ORDER_MISMATCH && !is_equality)
        return nt_expr_fail(state, node, NT_EXPR_FAULT_TYPE);
    return nt_expr_boolean((accepted & (uint32_t)order) != 0);
}

/* a < b <= c: each operand is evaluated once, and none after a link that is false. As in `and`, an unknown link leaves
 * the answer open unless a later one is false. */
nt_expr_value nt_expr_node_compare(nt_expr_state *state, const nt_expr_node *node)
{
    bool open = false;
    nt_expr_value left = nt_expr_node_eval(state, node->first);
    if (left.kind == NT_EXPR_FAULT)
        return left;
    for (const nt_expr_node *child = node->first->next; child != NULL; child = child->next) {
        nt_expr_value right = nt_expr_node_eval(state, child);
        nt_expr_value holds = right;
        if (right.kind != NT_EXPR_FAULT)
            holds = link(state, node, child->compare, left, right);
        if (holds.kind == NT_EXPR_FAULT)
            return open ? nt_expr_unknown() : holds;
        if (holds.kind == NT_EXPR_BOOL && !holds.i)
            return holds;
        open = open || holds.kind == NT_EXPR_UNKNOWN;
        left = right;
    }
    return open ? nt_expr_unknown() : nt_expr_boolean(true);
}

/* ---- functions ------------------------------------------------------------------------------------------------- */

static nt_expr_value argument(nt_expr_state *state, const nt_expr_node *node)
{
    return nt_expr_node_eval(state, node->first);
}

/* Keeps in *best whichever of it and `item` stands as `wanted`; the first of equal ones, as Python does. */
static bool take_extreme(nt_expr_state *state, const nt_expr_node *node, int wanted, bool is_first, nt_expr_value item,
                         nt_expr_value *best)
{
    if (is_first || item.kind >= NT_EXPR_UNKNOWN) {
        *best = item;
        return item.kind < NT_EXPR_UNKNOWN;
    }
    int order = order_values(item, *best);
    if (order == NT_ORDER_MISMATCH || order == 0) {
        *best = order == 0 ? nt_expr_unknown() : nt_expr_fail(state, node, NT_EXPR_FAULT_TYPE);
        return false;
    }
    if (order == wanted)
        *best = item;
    return true;
}

static nt_expr_value extreme_of_list(nt_expr_state *state, const nt_expr_node *node, int wanted)
{
    nt_expr_value list = argument(state, node), best = list;
    if (list.kind >= NT_EXPR_UNKNOWN)
        return list;
    if (list.kind != NT_EXPR_LIST)
        return nt_expr_fail(state, node, NT_EXPR_FAULT_TYPE);
    if (list.count == 0)
        return nt_expr_fail(state, node, NT_EXPR_FAULT_DOMAIN);
    for (uint32_t i = 0; i < list.count; i++)
        if (!take_extreme(state, node, wanted, i == 0, list.item[i], &best))
            break;
    return best;
}

static nt_expr_value extreme(nt_expr_state *state, const nt_expr_node *node, int wanted)
{
    if (node->count == 1)
        return extreme_of_list(state, node, wanted);
    nt_expr_value best = nt_expr_unknown();
    for (const nt_expr_node *child = node->first; child != NULL; child = child->next)
        if (!take_extreme(state, node, wanted, child == node->first, nt_expr_node_eval(state, child), &best))
            break;
    return best;
}

static nt_expr_value call_min(nt_expr_state *state, const nt_expr_node *node)
{
    return extreme(state, node, NT_ORDER_LESS);
}

static nt_expr_value call_max(nt_expr_state *state, const nt_expr_node *node)
{
    return extreme(state, node, NT_ORDER_GREATER);
}

static nt_expr_value call_abs(nt_expr_state *state, const nt_expr_node *node)
{
    nt_expr_value a = argument(state, node);
    if (a.kind == NT_EXPR_REAL)
        return nt_expr_real(fabs(a.r));
    if (!nt_expr_is_whole(a))
        return a.kind >= NT_EXPR_UNKNOWN ? a : nt_expr_fail(state, node, NT_EXPR_FAULT_TYPE);
    return a.i == INT64_MIN ? nt_expr_fail(state, node, NT_EXPR_FAULT_OVERFLOW) : nt_expr_whole(a.i < 0 ? -a.i : a.i);
}

/* Text is counted in characters: bytes that do not continue one. */
static nt_expr_value call_len(nt_expr_state *state, const nt_expr_node *node)
{
    nt_expr_value a = argument(state, node);
    if (a.kind == NT_EXPR_LIST)
        return nt_expr_whole(a.count);
    if (a.kind != NT_EXPR_STRING)
        return a.kind >= NT_EXPR_UNKNOWN ? a : nt_expr_fail(state, node, NT_EXPR_FAULT_TYPE);
    return nt_expr_whole(nt_expr_column(a.s, strlen(a.s)) - 1);
}

static nt_expr_value call_sum(nt_expr_state *state, const nt_expr_node *node)
{
    nt_expr_value list = argument(state, node), sum = nt_expr_whole(0);
    if (list.kind != NT_EXPR_LIST)
        return list.kind >= NT_EXPR_UNKNOWN ? list : nt_expr_fail(state, node, NT_EXPR_FAULT_TYPE);
    for (uint32_t i = 0; i < list.count && sum.kind < NT_EXPR_UNKNOWN; i++)
        sum = nt_expr_sum(state, node, sum, list.item[i]);
    return sum;
}

static nt_expr_value rounded(nt_expr_state *state, const nt_expr_node *node, double (*round_real)(double))
{
    nt_expr_value a = argument(state, node);
    if (nt_expr_is_whole(a))
        return nt_expr_whole(a.i);
    if (a.kind != NT_EXPR_REAL)
        return a.kind >= NT_EXPR_UNKNOWN ? a : nt_expr_fail(state, node, NT_EXPR_FAULT_TYPE);
    double r = round_real(a.r);
    if (isnan(r))
        return nt_expr_fail(state, node, NT_EXPR_FAULT_DOMAIN);
    bool fits = r >= -TWO_POW_63 && r < TWO_POW_63;
    return fits ? nt_expr_whole((int64_t)r) : nt_expr_fail(state, node, NT_EXPR_FAULT_OVERFLOW);
}

static nt_expr_value call_ceil(nt_expr_state *state, const nt_expr_node *node)
{
    return rounded(state, node, ceil);
}

static nt_expr_value call_floor(nt_expr_state *state, const nt_expr_node *node)
{
    return rounded(state, node, floor);
}

/* How many values from begin, by step, before end; -1: more than a list may have. */
static int64_t range_count(int64_t begin, int64_t end, int64_t step)
{
    if (step > 0 ? begin >= end : begin <= end)
        return 0;
    uint64_t span = step > 0 ? (uint64_t)end - (uint64_t)begin : (uint64_t)begin - (uint64_t)end;
    uint64_t stride = step > 0 ? (uint64_t)step : -(uint64_t)step, count = (span - 1) / stride + 1;
    return count > NT_EXPR_MAX_BUILT ? -1 : (int64_t)count;
}

static nt_expr_value call_range(nt_expr_state *state, const nt_expr_node *node)
{
    int64_t bound[3] = {0, 0, 1};
    int at = node->count == 1; /* a single argument is the end */
    for (const nt_expr_node *child = node->first; child != NULL; child = child->next) {
        nt_expr_value v = nt_expr_node_eval(state, child);
        if (!nt_expr_is_whole(v))
            return v.kind >= NT_EXPR_UNKNOWN ? v : nt_expr_fail(state, node, NT_EXPR_FAULT_TYPE);
        bound[at++] = v.i;
    }
    if (bound[2] == 0)
        return nt_expr_fail(state, node, NT_EXPR_FAULT_DOMAIN);
    int64_t count = range_count(bound[0], bound[1], bound[2]);
    nt_expr_value *item = count < 0 ? NULL : nt_expr_room(state, node, (size_t)count);
    if (item == NULL)
        return nt_expr_fail(state, node, NT_EXPR_FAULT_LIMIT);
    for (int64_t i = 0; i < count; i++)
        item[i] = nt_expr_whole(bound[0] + i * bound[2]);
    return (nt_expr_value){.kind = NT_EXPR_LIST, .count = (uint32_t)count, .item = item};
}

const nt_expr_function nt_expr_functions[] = {
    {"min", call_min, 1, UINT32_MAX, false}, {"max", call_max, 1, UINT32_MAX, false}, {"abs", call_abs, 1, 1, false},
    {"len", call_len, 1, 1, false},          {"sum", call_sum, 1, 1, false},          {"ceil", call_ceil, 1, 1, false},
    {"floor", call_floor, 1, 1, false},      {"range", call_range, 1, 3, true},
};
const int nt_expr_function_count = sizeof nt_expr_functions / sizeof nt_expr_functions[0];
