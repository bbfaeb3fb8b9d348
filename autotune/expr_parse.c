/* expr_parse.c: the grammar, one function per level of precedence. The first error wins; after it every function
 * returns NULL. */
#include "autotune/expr_parse.h"

#include <string.h>

enum { MAX_NESTING = 64 }; /* of parentheses and signs: bounds the parser's own recursion */

static nt_expr_node *parse_expression(nt_expr_parser *p);
static nt_expr_node *parse_or(nt_expr_parser *p);
static nt_expr_node *parse_factor(nt_expr_parser *p);

static nt_expr_node *fail_here(nt_expr_parser *p, const char *problem)
{
    nt_expr_fail_at(&p->lex, p->lex.start, problem, NULL);
    return NULL;
}

static bool accept(nt_expr_parser *p, nt_token token)
{
    if (p->lex.is != token)
        return false;
    nt_expr_advance(&p->lex);
    return true;
}

/* ---- atoms ----------------------------------------------------------------------------------------------------- */

/* Expressions up to the closing token, a comma between them and perhaps after the last. */
static bool parse_items(nt_expr_parser *p, nt_expr_node *node, nt_expr_node *last, nt_token closing)
{
    while (p->lex.is != closing) {
        last = nt_expr_append(p, node, last, parse_expression(p));
        if (last == NULL)
            return false;
        if (!accept(p, NT_TOKEN_COMMA) && p->lex.is != closing)
            return fail_here(p, closing == NT_TOKEN_CLOSE ? "expected , or )" : "expected , or ]") != NULL;
    }
    nt_expr_advance(&p->lex);
    return true;
}

static nt_expr_node *finish_list(nt_expr_parser *p, nt_expr_node *list, nt_expr_node *last, nt_token closing)
{
    if (!parse_items(p, list, last, closing))
        return NULL;
    p->list_items += list->count;
    if (p->list_items > NT_EXPR_MAX_ITEMS) {
        nt_expr_fail_at(&p->lex, list->position, "too many list items", "at most 1024 in all lists together");
        return NULL;
    }
    return nt_expr_folded_list(p, list);
}

/* Notes the names bound by the `for` clauses that come before the closing bracket at hand, and returns how many. Those
 * names are in sight before they are bound: that is why the text is read ahead. */
static int find_bound(nt_expr_parser *p)
{
    nt_expr_lexer ahead = p->lex;
    int depth = 0, count = 0;
    ahead.err = NULL;
    while (depth >= 0 && ahead.is != NT_TOKEN_END && ahead.is != NT_TOKEN_ERROR) {
        depth += ahead.is == NT_TOKEN_OPEN || ahead.is == NT_TOKEN_OPEN_LIST;
        depth -= ahead.is == NT_TOKEN_CLOSE || ahead.is == NT_TOKEN_CLOSE_LIST;
        bool binds = depth == 0 && ahead.is == NT_TOKEN_FOR;
        nt_expr_advance(&ahead);
        if (!binds)
            continue;
        int at = p->local_count + count++;
        if (at < NT_EXPR_MAX_LOCALS) {
            p->local_start[at] = ahead.start;
            p->local_end[at] = ahead.is == NT_TOKEN_NAME ? ahead.end : ahead.start;
        }
    }
    return count;
}

/* for NAME in LIST if CONDITION..; its name is number `local`. */
static nt_expr_node *parse_clause(nt_expr_parser *p, int local)
{
    nt_expr_node *clause = nt_expr_new_node(p, NULL, p->lex.start);
    clause->slot = (uint32_t)local;
    nt_expr_advance(&p->lex);
    size_t start = p->lex.start, end = p->lex.end;
    if (!accept(p, NT_TOKEN_NAME))
        return fail_here(p, "expected a name after `for`");
    if (!accept(p, NT_TOKEN_IN))
        return fail_here(p, "expected `in` after the name");
    p->local_count = local;
    nt_expr_node *last = nt_expr_append(p, clause, NULL, parse_or(p));
    p->local_start[local] = start; /* a comprehension in the list may have used its place */
    p->local_end[local] = end;
    p->local_count = local + 1;
    while (last != NULL && accept(p, NT_TOKEN_IF))
        last = nt_expr_append(p, clause, last, parse_or(p));
    return last == NULL ? NULL : clause;
}

/* Up to and with the closing bracket; `bound` names from find_bound. */
static nt_expr_node *parse_comprehension(nt_expr_parser *p, size_t position, int bound, nt_token closing)
{
    int outside = p->local_count;
    if (outside + bound > NT_EXPR_MAX_LOCALS)
        return fail_here(p, "more than 8 names bound by `for`");
    uint64_t uses = p->expr->uses;
    p->expr->uses = 0;
    p->local_count = outside + bound;
    nt_expr_node *node = nt_expr_new_node(p, nt_expr_node_comprehension, position);
    nt_expr_node *last = nt_expr_append(p, node, NULL, parse_expression(p));
    if (last != NULL && p->lex.is != NT_TOKEN_FOR)
        return fail_here(p, "expected `for`");
    for (int i = 0; last != NULL && p->lex.is == NT_TOKEN_FOR; i++)
        last = nt_expr_append(p, node, last, parse_clause(p, outside + i));
    p->local_count = outside;
    bool open = p->expr->uses != 0 || outside > 0;
    p->expr->uses |= uses;
    if (last == NULL)
        return NULL;
    if (!accept(p, closing))
        return fail_here(p, closing == NT_TOKEN_CLOSE ? "expected )" : "expected ]");
    return nt_expr_folded_range(p, node, open);
}

static nt_expr_node *parse_list(nt_expr_parser *p, size_t position)
{
    int bound = find_bound(p);
    if (bound > 0)
        return parse_comprehension(p, position, bound, NT_TOKEN_CLOSE_LIST);
    return finish_list(p, nt_expr_new_node(p, nt_expr_node_list, position), NULL, NT_TOKEN_CLOSE_LIST);
}

/* (a) is a; (), (a,) and (a, b) are lists. */
static nt_expr_node *parse_parentheses(nt_expr_parser *p, size_t position)
{
    if (accept(p, NT_TOKEN_CLOSE))
        return nt_expr_folded_list(p, nt_expr_new_node(p, nt_expr_node_list, position));
    nt_expr_node *inner = parse_expression(p);
    if (inner == NULL || accept(p, NT_TOKEN_CLOSE))
        return inner;
    if (!accept(p, NT_TOKEN_COMMA))
        return fail_here(p, "expected )");
    nt_expr_node *list = nt_expr_new_node(p, nt_expr_node_list, position);
    return nt_expr_append(p, list, NULL, inner) == NULL ? NULL : finish_list(p, list, inner, NT_TOKEN_CLOSE);
}

static bool spells(const nt_expr_parser *p, size_t start, size_t end, const char *name)
{
    return strlen(name) == end - start && memcmp(p->expr->text + start, name, end - start) == 0;
}

static nt_expr_node *fail_function(nt_expr_parser *p, size_t start, size_t end)
{
    const char *names[16];
    int count = 0;
    for (; count < nt_expr_function_count && count < 16; count++)
        names[count] = nt_expr_functions[count].name;
    nt_expr_fail_name(&p->lex, start, end, "function", names, count);
    return NULL;
}

/* The name is at [start, end); the open parenthesis has been read. */
static nt_expr_node *parse_call(nt_expr_parser *p, size_t start, size_t end)
{
    const nt_expr_function *function = NULL;
    for (int i = 0; i < nt_expr_function_count && function == NULL; i++)
        if (spells(p, start, end, nt_expr_functions[i].name))
            function = &nt_expr_functions[i];
    if (function == NULL)
        return fail_function(p, start, end);
    nt_expr_node *node = nt_expr_new_node(p, function->eval, start);
    int bound = find_bound(p);
    if (bound > 0) {
        nt_expr_node *list = parse_comprehension(p, p->lex.start, bound, NT_TOKEN_CLOSE);
        return nt_expr_append(p, node, NULL, list) == NULL ? NULL : nt_expr_folded(node);
    }
    if (!parse_items(p, node, NULL, NT_TOKEN_CLOSE))
        return NULL;
    if (node->count >= function->least && node->count <= function->most)
        return function->builds ? nt_expr_folded_range(p, node, !nt_expr_all_constant(node)) : nt_expr_folded(node);
    nt_str problem = {0};
    nt_str_addf(&problem, "%s() takes %s", function->name,
                function->most == 1   ? "one argument"
                : function->most == 3 ? "one to three arguments"
                                      : "one argument or more");
    nt_expr_fail_at(&p->lex, start, nt_str_text(&problem), NULL);
    nt_str_done(&problem);
    return NULL;
}

static bool call_follows(const nt_expr_parser *p)
{
    const char *after = p->expr->text + p->lex.end;
    return after[strspn(after, " \t\r\n")] == '(';
}

/* A bad name is reported before whatever may be wrong behind it is read. */
static nt_expr_node *parse_name(nt_expr_parser *p)
{
    size_t start = p->lex.start, end = p->lex.end;
    if (call_follows(p)) {
        nt_expr_advance(&p->lex);
        nt_expr_advance(&p->lex);
        return parse_call(p, start, end);
    }
    for (int i = p->local_count - 1; i >= 0; i--)
        if (p->local_end[i] - p->local_start[i] == end - start &&
            memcmp(p->expr->text + p->local_start[i], p->expr->text + start, end - start) == 0) {
            nt_expr_node *node = nt_expr_new_node(p, nt_expr_node_local, start);
            node->slot = (uint32_t)i;
            nt_expr_advance(&p->lex);
            return node;
        }
    for (int i = 0; i < p->symbol_count; i++)
        if (spells(p, start, end, p->symbols[i])) {
            nt_expr_node *node = nt_expr_new_node(p, nt_expr_node_slot, start);
            node->slot = (uint32_t)i;
            p->expr->uses |= UINT64_C(1) << i;
            nt_expr_advance(&p->lex);
            return node;
        }
    nt_expr_fail_name(&p->lex, start, end, "name", p->symbols, p->symbol_count);
    return NULL;
}

static nt_expr_node *parse_atom(nt_expr_parser *p)
{
    size_t position = p->lex.start;
    nt_expr_value value = p->lex.value;
    if (p->lex.is == NT_TOKEN_NAME)
        return parse_name(p);
    if (accept(p, NT_TOKEN_VALUE))
        return nt_expr_new_constant(p, value, position);
    if (accept(p, NT_TOKEN_TRUE))
        return nt_expr_new_constant(p, nt_expr_boolean(true), position);
    if (accept(p, NT_TOKEN_FALSE))
        return nt_expr_new_constant(p, nt_expr_boolean(false), position);
    if (accept(p, NT_TOKEN_OPEN))
        return parse_parentheses(p, position);
    if (accept(p, NT_TOKEN_OPEN_LIST))
        return parse_list(p, position);
    return fail_here(p, p->lex.is == NT_TOKEN_END ? "ends where a value is expected" : "expected a value");
}

/* ---- operators, from the tightest ------------------------------------------------------------------------------ */

/* Whether a node's value can be a list that stands in the text; names of lists are not looked through. */
static bool makes_list(const nt_expr_node *node)
{
    if (node->eval == nt_expr_node_constant)
        return node->value.kind == NT_EXPR_LIST;
    if (node->eval == nt_expr_node_list || node->eval == nt_expr_node_comprehension)
        return true;
    for (int i = 0; i < nt_expr_function_count; i++)
        if (node->eval == nt_expr_functions[i].eval)
            return nt_expr_functions[i].builds;
    for (const nt_expr_node *child = node->first; child != NULL; child = child->next)
        if (child->eval != NULL && makes_list(child))
            return true;
    return false;
}

static nt_expr_node *binary(nt_expr_parser *p, const nt_expr_arithmetic *arithmetic, size_t position,
                            nt_expr_node *left, nt_expr_node *right)
{
    if (left == NULL || right == NULL)
        return NULL;
    nt_expr_node *node = nt_expr_new_node(p, nt_expr_node_arithmetic, position);
    node->arithmetic = arithmetic;
    if (nt_expr_append(p, node, NULL, left) == NULL || nt_expr_append(p, node, left, right) == NULL)
        return NULL;
    if (makes_list(node)) /* [1] + [2 * i for i in range(4)] */
        return nt_expr_folded_range(p, node, !nt_expr_all_constant(node));
    return nt_expr_folded(node);
}

static nt_expr_node *unary(nt_expr_parser *p, nt_expr_node_fn *eval, size_t position, nt_expr_node *operand)
{
    if (operand == NULL)
        return NULL;
    nt_expr_node *node = nt_expr_new_node(p, eval, position);
    return nt_expr_append(p, node, NULL, operand) == NULL ? NULL : nt_expr_folded(node);
}

static nt_expr_node *nested(nt_expr_parser *p, nt_expr_node *(*parse)(nt_expr_parser *p))
{
    if (p->nesting >= MAX_NESTING)
        return fail_here(p, "nested too deeply");
    p->nesting++;
    nt_expr_node *node = parse(p);
    p->nesting--;
    return node;
}

/* ** binds tighter than a sign on its left and looser than one on its right: -2 ** -1 is -(2 ** (-1)). */
static nt_expr_node *parse_power(nt_expr_parser *p)
{
    nt_expr_node *base = parse_atom(p);
    size_t position = p->lex.start;
    if (base == NULL || !accept(p, NT_TOKEN_POWER))
        return base;
    return binary(p, &nt_expr_power, position, base, nested(p, parse_factor));
}

static nt_expr_node *parse_factor(nt_expr_parser *p)
{
    size_t position = p->lex.start;
    if (accept(p, NT_TOKEN_MINUS))
        return unary(p, nt_expr_node_negate, position, nested(p, parse_factor));
    if (accept(p, NT_TOKEN_PLUS))
        return unary(p, nt_expr_node_plus, position, nested(p, parse_factor));
    return parse_power(p);
}

typedef struct operator_row {
    nt_token token;
    const nt_expr_arithmetic *arithmetic;
} operator_row;

static const operator_row term_operators[] = {
    {NT_TOKEN_TIMES, &nt_expr_multiply},
    {NT_TOKEN_DIVIDE, &nt_expr_divide},
    {NT_TOKEN_FLOOR_DIVIDE, &nt_expr_floor_divide},
    {NT_TOKEN_MODULO, &nt_expr_modulo},
    {NT_TOKEN_END, NULL},
};
static const operator_row sum_operators[] = {
    {NT_TOKEN_PLUS, &nt_expr_add}, {NT_TOKEN_MINUS, &nt_expr_subtract}, {NT_TOKEN_END, NULL}};

static nt_expr_node *parse_left(nt_expr_parser *p, const operator_row *rows,
                                nt_expr_node *(*operand)(nt_expr_parser *p))
{
    nt_expr_node *left = operand(p);
    while (left != NULL) {
        const operator_row *row = rows;
        while (row->arithmetic != NULL && row->token != p->lex.is)
            row++;
        if (row->arithmetic == NULL)
            break;
        size_t position = p->lex.start;
        nt_expr_advance(&p->lex);
        left = binary(p, row->arithmetic, position, left, operand(p));
    }
    return left;
}

static nt_expr_node *parse_term(nt_expr_parser *p)
{
    return parse_left(p, term_operators, parse_factor);
}

static nt_expr_node *parse_sum(nt_expr_parser *p)
{
    return parse_left(p, sum_operators, parse_term);
}

/* 0: no comparison follows. `not` here can only begin `not in`. */
static uint32_t parse_comparison_sign(nt_expr_parser *p)
{
    static const uint32_t accepted[NT_TOKEN_COUNT] = {
        [NT_TOKEN_LT] = NT_ORDER_LESS,    [NT_TOKEN_LE] = NT_ORDER_LESS | NT_ORDER_EQUAL,
        [NT_TOKEN_GT] = NT_ORDER_GREATER, [NT_TOKEN_GE] = NT_ORDER_GREATER | NT_ORDER_EQUAL,
        [NT_TOKEN_EQ] = NT_COMPARE_EQUAL, [NT_TOKEN_NE] = NT_COMPARE_UNEQUAL,
        [NT_TOKEN_IN] = NT_COMPARE_IN,    [NT_TOKEN_NOT] = NT_COMPARE_NOT_IN,
    };
    uint32_t sign = accepted[p->lex.is];
    if (sign == 0)
        return 0;
    nt_expr_advance(&p->lex);
    if (sign == NT_COMPARE_NOT_IN && !accept(p, NT_TOKEN_IN)) {
        fail_here(p, "expected `in` after `not`");
        return 0;
    }
    return sign;
}

static nt_expr_node *parse_comparison(nt_expr_parser *p)
{
    nt_expr_node *last = parse_sum(p), *chain = NULL;
    while (last != NULL) {
        size_t position = p->lex.start;
        uint32_t sign = parse_comparison_sign(p);
        if (sign == 0)
            break;
        if (chain == NULL) {
            chain = nt_expr_new_node(p, nt_expr_node_compare, position);
            if (nt_expr_append(p, chain, NULL, last) == NULL)
                return NULL;
        }
        last = nt_expr_append(p, chain, last, parse_sum(p));
        if (last != NULL)
            last->compare = sign;
    }
    return last == NULL || p->lex.failed ? NULL : chain == NULL ? last : nt_expr_folded(chain);
}

static nt_expr_node *parse_not(nt_expr_parser *p)
{
    size_t position = p->lex.start;
    if (accept(p, NT_TOKEN_NOT))
        return unary(p, nt_expr_node_not, position, nested(p, parse_not));
    return parse_comparison(p);
}

static nt_expr_node *parse_junction(nt_expr_parser *p, nt_token token, nt_expr_node_fn *eval,
                                    nt_expr_node *(*operand)(nt_expr_parser *p))
{
    nt_expr_node *last = operand(p), *node = NULL;
    size_t position = p->lex.start;
    while (last != NULL && accept(p, token)) {
        if (node == NULL) {
            node = nt_expr_new_node(p, eval, position);
            if (nt_expr_append(p, node, NULL, last) == NULL)
                return NULL;
        }
        last = nt_expr_append(p, node, last, operand(p));
    }
    return last == NULL ? NULL : node == NULL ? last : nt_expr_folded(node);
}

static nt_expr_node *parse_and(nt_expr_parser *p)
{
    return parse_junction(p, NT_TOKEN_AND, nt_expr_node_and, parse_not);
}

static nt_expr_node *parse_or(nt_expr_parser *p)
{
    return parse_junction(p, NT_TOKEN_OR, nt_expr_node_or, parse_and);
}

/* a if c else b: the condition becomes the first child. */
static nt_expr_node *parse_conditional(nt_expr_parser *p)
{
    nt_expr_node *then = parse_or(p);
    size_t position = p->lex.start;
    if (then == NULL || !accept(p, NT_TOKEN_IF))
        return then;
    nt_expr_node *condition = parse_or(p);
    if (condition == NULL)
        return NULL;
    if (!accept(p, NT_TOKEN_ELSE))
        return fail_here(p, "expected `else`");
    nt_expr_node *otherwise = parse_expression(p);
    nt_expr_node *node = nt_expr_new_node(p, nt_expr_node_if, position);
    if (nt_expr_append(p, node, NULL, condition) == NULL || nt_expr_append(p, node, condition, then) == NULL ||
        nt_expr_append(p, node, then, otherwise) == NULL)
        return NULL;
    return nt_expr_folded(node);
}

static nt_expr_node *parse_expression(nt_expr_parser *p)
{
    return nested(p, parse_conditional);
}

nt_expr_node *nt_expr_parse(nt_expr_parser *p)
{
    nt_expr_advance(&p->lex);
    nt_expr_node *root = parse_expression(p);
    if (root != NULL && p->lex.is != NT_TOKEN_END)
        return fail_here(p, "expected an operator or the end");
    return p->lex.failed ? NULL : root;
}
