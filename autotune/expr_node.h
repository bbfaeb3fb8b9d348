/* expr_node.h: the tree between the parser (text to tree) and the evaluator (tree to value): expr*.c only. */
#ifndef NT_EXPR_NODE_H
#define NT_EXPR_NODE_H

#include "autotune/expr.h"

typedef struct nt_expr_node nt_expr_node;

enum { NT_EXPR_MAX_LOCALS = 8 };

typedef struct nt_expr_state {
    const nt_expr_value *values;
    nt_expr_value *scratch; /* room for the items of lists that are not constant */
    size_t used, capacity;
    nt_expr_value local[NT_EXPR_MAX_LOCALS]; /* names that `for` binds */
    size_t steps;                            /* of all comprehensions */
    nt_expr_fault fault;
} nt_expr_state;

typedef nt_expr_value nt_expr_node_fn(nt_expr_state *state, const nt_expr_node *node);

/* How two values may stand to each other, as bits so that a comparison is the set of those it accepts. */
enum {
    NT_ORDER_LESS = 1,
    NT_ORDER_EQUAL = 2,
    NT_ORDER_GREATER = 4,
    NT_ORDER_NONE = 8 /* NaN */,
    NT_ORDER_MISMATCH = 16
};
enum {
    NT_COMPARE_EQUAL = NT_ORDER_EQUAL,
    NT_COMPARE_UNEQUAL = NT_ORDER_LESS | NT_ORDER_GREATER | NT_ORDER_NONE | NT_ORDER_MISMATCH,
    NT_COMPARE_IN = 32,
    NT_COMPARE_NOT_IN = 64
};

typedef struct nt_expr_arithmetic {
    nt_expr_value (*whole)(nt_expr_state *state, const nt_expr_node *node, int64_t a, int64_t b);
    nt_expr_value (*real)(nt_expr_state *state, const nt_expr_node *node, double a, double b);
} nt_expr_arithmetic;

/* Children are a list through `next`: every node has one parent. */
struct nt_expr_node {
    nt_expr_node_fn *eval;
    nt_expr_node *first, *next;
    uint32_t count; /* children */
    uint16_t depth;
    uint16_t position; /* byte offset in the text */
    uint32_t slot;
    uint32_t compare; /* of an operand of a chain: how it must stand to the one before it */
    const nt_expr_arithmetic *arithmetic;
    nt_expr_value value;
};

struct nt_expr {
    char *text;
    nt_expr_node *nodes; /* each takes at least one character, so the length bounds them; the same for items, letters */
    nt_expr_value *items;
    char *letters;
    size_t node_count, item_count, letter_count;
    nt_expr_node *root;
    uint64_t uses;
    bool has_lists;        /* lists remain that must be built on evaluation */
    bool has_ranges;       /* and some whose length only the evaluation knows */
    nt_expr_value **owned; /* items of lists that were built by the compiler */
    size_t owned_count, owned_capacity;
};

typedef struct nt_expr_function {
    const char *name;
    nt_expr_node_fn *eval;
    uint32_t least, most; /* arguments */
    bool builds;          /* a list, of a length that its arguments decide */
} nt_expr_function;

extern const nt_expr_function nt_expr_functions[];
extern const int nt_expr_function_count;
extern const nt_expr_arithmetic nt_expr_add, nt_expr_subtract, nt_expr_multiply, nt_expr_divide, nt_expr_floor_divide,
    nt_expr_modulo, nt_expr_power;

/* a + b, for sum(). */
nt_expr_value nt_expr_sum(nt_expr_state *state, const nt_expr_node *node, nt_expr_value a, nt_expr_value b);

nt_expr_node_fn nt_expr_node_constant, nt_expr_node_slot, nt_expr_node_arithmetic, nt_expr_node_negate,
    nt_expr_node_plus, nt_expr_node_not, nt_expr_node_and, nt_expr_node_or, nt_expr_node_compare, nt_expr_node_if,
    nt_expr_node_list, nt_expr_node_local, nt_expr_node_comprehension;

/* A comprehension's children: what an item is, then its clauses; a clause's: what to walk over, then conditions. */

/* Room for a list of that many items in the scratch; NULL when it is used up, with the fault noted. */
nt_expr_value *nt_expr_room(nt_expr_state *state, const nt_expr_node *node, size_t count);

/* a + b, list * times: new lists in the scratch. */
nt_expr_value nt_expr_joined(nt_expr_state *state, const nt_expr_node *node, nt_expr_value a, nt_expr_value b);
nt_expr_value nt_expr_repeated(nt_expr_state *state, const nt_expr_node *node, nt_expr_value list, int64_t times);

nt_expr_truth nt_expr_truth_of(nt_expr_value value);

static inline nt_expr_value nt_expr_whole(int64_t i)
{
    return (nt_expr_value){.kind = NT_EXPR_INT, .i = i};
}

static inline nt_expr_value nt_expr_real(double r)
{
    return (nt_expr_value){.kind = NT_EXPR_REAL, .r = r};
}

static inline nt_expr_value nt_expr_boolean(bool b)
{
    return (nt_expr_value){.kind = NT_EXPR_BOOL, .i = b};
}

static inline nt_expr_value nt_expr_unknown(void)
{
    return (nt_expr_value){.kind = NT_EXPR_UNKNOWN};
}

static inline bool nt_expr_is_whole(nt_expr_value v)
{
    return v.kind <= NT_EXPR_BOOL;
}

static inline bool nt_expr_is_number(nt_expr_value v)
{
    return v.kind <= NT_EXPR_REAL;
}

/* Notes the byte offset; it becomes a column when the evaluation ends. */
static inline nt_expr_value nt_expr_fail(nt_expr_state *state, const nt_expr_node *node, nt_expr_fault_code code)
{
    state->fault = (nt_expr_fault){code, node->position};
    return (nt_expr_value){.kind = NT_EXPR_FAULT};
}

static inline nt_expr_value nt_expr_node_eval(nt_expr_state *state, const nt_expr_node *node)
{
    return node->eval(state, node);
}

/* 1-based column, in characters rather than bytes, of a byte offset. */
int nt_expr_column(const char *text, size_t position);

#endif
