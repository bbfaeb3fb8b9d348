/* expr.h: a safe evaluator for the part of Python that constraints and objectives are written in.
 *
 * Integers (64 bit; overflow is a fault, never a wrap), reals, booleans, text, lists. + - * / // % **, comparisons and
 * their chains, and / or / not, in / not in, `a if c else b`, min max abs len sum ceil floor range, comprehensions:
 * [x * y for x in a if x > 1 for y in range(x)] and without the brackets as an argument. The meaning is Python's:
 * // and % round towards minus infinity, / gives a real, `and` and `or` give one of their operands, + joins lists and *
 * repeats them. A tuple in parentheses is a list, and so is a range. Nothing else exists: no attribute, no assignment,
 * no call of anything else.
 *
 * An expression is compiled once against a list of names and evaluated millions of times against an array of values in
 * the same order. A value may be unknown (a limit that the device does not state); what depends on it is unknown too,
 * except where the rest decides: `unknown and False` is False. */
#ifndef NT_EXPR_H
#define NT_EXPR_H

#include "core/status.h"
#include "core/value.h"

enum {
    NT_EXPR_MAX_LENGTH = 4096,
    NT_EXPR_MAX_SYMBOLS = 64,
    NT_EXPR_MAX_DEPTH = 200,    /* of the tree; a sum of 200 terms is that deep, an `and` of 200 is not */
    NT_EXPR_MAX_ITEMS = 1024,   /* written in all lists of one expression together */
    NT_EXPR_MAX_BUILT = 65536,  /* in all lists that ranges and comprehensions build while it is evaluated */
    NT_EXPR_MAX_STEPS = 1000000 /* of all comprehensions of one evaluation */
};

/* The order matters to the evaluator: whole numbers, then numbers, then the rest. */
typedef enum nt_expr_kind {
    NT_EXPR_INT,
    NT_EXPR_BOOL,
    NT_EXPR_REAL,
    NT_EXPR_STRING,
    NT_EXPR_LIST,
    NT_EXPR_UNKNOWN,
    NT_EXPR_FAULT /* inside the evaluator only */
} nt_expr_kind;

typedef struct nt_expr_value {
    uint32_t kind;  /* nt_expr_kind */
    uint32_t count; /* LIST */
    union {
        int64_t i; /* INT, BOOL (0 or 1) */
        double r;
        const char *s;                    /* not owned */
        const struct nt_expr_value *item; /* LIST */
    };
} nt_expr_value;

/* X(name, text) */
#define NT_EXPR_FAULT_MAP(X)                               \
    X(NONE, "no fault")                                    \
    X(DIVISION, "division by zero")                        \
    X(OVERFLOW, "a number beyond 64 bits")                 \
    X(TYPE, "operands of kinds that do not go together")   \
    X(DOMAIN, "an argument outside the function's domain") \
    X(LIMIT, "a list too long to build")

typedef enum nt_expr_fault_code {
#define X(name, text) NT_EXPR_FAULT_##name,
    NT_EXPR_FAULT_MAP(X)
#undef X
        NT_EXPR_FAULT_COUNT
} nt_expr_fault_code;

const char *nt_expr_fault_text(nt_expr_fault_code code);

typedef struct nt_expr_fault {
    nt_expr_fault_code code;
    int column; /* 1-based, of the operator or function at fault */
} nt_expr_fault;

typedef enum nt_expr_truth { NT_EXPR_IS_FALSE, NT_EXPR_IS_TRUE, NT_EXPR_IS_UNKNOWN, NT_EXPR_IS_FAULT } nt_expr_truth;

typedef struct nt_expr nt_expr;

/* Compiles `text`; names resolve to their position in `symbols` (the first of equal ones). NT_USAGE names the column,
 * what is wrong and, for an unknown name, the nearest and the right ones. Free with nt_expr_free. */
nt_status nt_expr_compile(const char *text, const char *const *symbols, int symbol_count, nt_expr **out, nt_error *err);
void nt_expr_free(nt_expr *expr); /* NULL allowed */

const char *nt_expr_text(const nt_expr *expr);
uint64_t nt_expr_uses(const nt_expr *expr); /* bit i: symbol i occurs */

/* Evaluates with values[i] for symbol i. False: a fault (described in *fault, which may be NULL), among them a result
 * that is a list. The result may be unknown. Text in the result belongs to the expression or to `values`. Any number
 * of threads may evaluate the same expression. */
bool nt_expr_eval(const nt_expr *expr, const nt_expr_value *values, nt_expr_value *out, nt_expr_fault *fault);

/* The same for a result that is a list: writes up to `capacity` items and their number to *count. A list of lists is a
 * fault, as is anything that is no list. */
bool nt_expr_eval_list(const nt_expr *expr, const nt_expr_value *values, nt_expr_value *items, size_t capacity,
                       size_t *count, nt_expr_fault *fault);

/* The same as a condition: non-zero numbers and non-empty text are true. */
nt_expr_truth nt_expr_test(const nt_expr *expr, const nt_expr_value *values, nt_expr_fault *fault);

nt_expr_value nt_expr_of_int(int64_t i); /* NT_UNKNOWN gives the unknown value */
nt_expr_value nt_expr_of_value(nt_value value);

#endif
