/* expr.c: compiling an expression and what the compiled form is made of. Every node takes at least one character of the
 * text, so the text's length bounds all memory, which is allocated once. What depends on constants alone is evaluated
 * here, while the tree grows. */
#include "autotune/expr.h"

#include <stdlib.h>
#include <string.h>

#include "autotune/expr_parse.h"
#include "core/mem.h"

/* ---- the tree -------------------------------------------------------------------------------------------------- */

nt_expr_node *nt_expr_new_node(nt_expr_parser *p, nt_expr_node_fn *eval, size_t position)
{
    nt_expr_node *node = &p->expr->nodes[p->expr->node_count++];
    *node = (nt_expr_node){.eval = eval, .position = (uint16_t)position, .depth = 1};
    return node;
}

nt_expr_node *nt_expr_new_constant(nt_expr_parser *p, nt_expr_value value, size_t position)
{
    nt_expr_node *node = nt_expr_new_node(p, nt_expr_node_constant, position);
    node->value = value;
    return node;
}

nt_expr_node *nt_expr_append(nt_expr_parser *p, nt_expr_node *node, nt_expr_node *last, nt_expr_node *child)
{
    if (child == NULL)
        return NULL;
    if (last == NULL)
        node->first = child;
    else
        last->next = child;
    node->count++;
    if (child->depth >= node->depth)
        node->depth = (uint16_t)(child->depth + 1);
    if (node->depth <= NT_EXPR_MAX_DEPTH)
        return child;
    nt_expr_fail_at(&p->lex, node->position, "nested too deeply", "at most 200 levels; `and` and `or` need only one");
    return NULL;
}

bool nt_expr_all_constant(const nt_expr_node *node)
{
    for (const nt_expr_node *child = node->first; child != NULL; child = child->next)
        if (child->eval != nt_expr_node_constant)
            return false;
    return true;
}

static void become_constant(nt_expr_node *node, nt_expr_value value)
{
    node->eval = nt_expr_node_constant;
    node->value = value;
    node->first = NULL;
    node->depth = 1;
}

nt_expr_node *nt_expr_folded(nt_expr_node *node)
{
    if (!nt_expr_all_constant(node))
        return node;
    nt_expr_state state = {0};
    nt_expr_value value = node->eval(&state, node);
    if (value.kind != NT_EXPR_FAULT)
        become_constant(node, value);
    return node;
}

nt_expr_node *nt_expr_folded_list(nt_expr_parser *p, nt_expr_node *list)
{
    if (!nt_expr_all_constant(list)) {
        p->expr->has_lists = true;
        return list;
    }
    nt_expr_value *items = p->expr->items + p->expr->item_count;
    for (const nt_expr_node *child = list->first; child != NULL; child = child->next)
        p->expr->items[p->expr->item_count++] = child->value;
    become_constant(list, (nt_expr_value){.kind = NT_EXPR_LIST, .count = list->count, .item = items});
    return list;
}

nt_expr_node *nt_expr_folded_range(nt_expr_parser *p, nt_expr_node *node, bool open)
{
    nt_expr *expr = p->expr;
    if (open) {
        expr->has_lists = expr->has_ranges = true;
        return node;
    }
    nt_expr_state state = {.capacity = NT_EXPR_MAX_BUILT};
    state.scratch = nt_alloc(state.capacity * sizeof *state.scratch);
    nt_expr_value value = node->eval(&state, node);
    bool flat = value.kind == NT_EXPR_LIST;
    for (uint32_t i = 0; flat && i < value.count; i++)
        flat = value.item[i].kind < NT_EXPR_LIST;
    if (flat) {
        void *owned = expr->owned;
        nt_grow(&owned, &expr->owned_capacity, expr->owned_count + 1, sizeof *expr->owned);
        expr->owned = owned;
        nt_expr_value *items = nt_alloc(value.count * sizeof *items);
        memcpy(items, value.item, value.count * sizeof *items);
        expr->owned[expr->owned_count++] = items;
        value.item = items;
        become_constant(node, value);
    } else { /* a fault, or lists in a list: left to the evaluation */
        expr->has_lists = expr->has_ranges = true;
    }
    free(state.scratch);
    return node;
}

/* ---- the public face ------------------------------------------------------------------------------------------- */

static nt_expr *allocate(const char *text, size_t length)
{
    nt_expr *expr = nt_alloc_zero(1, sizeof *expr);
    expr->text = nt_strndup(text, length);
    expr->nodes = nt_alloc_zero(length + 1, sizeof *expr->nodes);
    expr->items = nt_alloc_zero(length + 1, sizeof *expr->items);
    expr->letters = nt_alloc(length + 1);
    return expr;
}

nt_status nt_expr_compile(const char *text, const char *const *symbols, int symbol_count, nt_expr **out, nt_error *err)
{
    *out = NULL;
    size_t length = strnlen(text, NT_EXPR_MAX_LENGTH + 1);
    if (length > NT_EXPR_MAX_LENGTH)
        return nt_fail(err, NT_USAGE, "an expression of more than %d characters", NT_EXPR_MAX_LENGTH);
    if (symbol_count > NT_EXPR_MAX_SYMBOLS)
        return nt_fail(err, NT_USAGE, "%d names for an expression, at most %d", symbol_count, NT_EXPR_MAX_SYMBOLS);
    nt_expr_parser p = {.expr = allocate(text, length), .symbols = symbols, .symbol_count = symbol_count};
    p.lex = (nt_expr_lexer){.text = p.expr->text, .letters = p.expr->letters, .err = err};
    p.expr->root = nt_expr_parse(&p);
    if (p.expr->root == NULL) {
        nt_expr_free(p.expr);
        return NT_USAGE;
    }
    *out = p.expr;
    return NT_OK;
}

void nt_expr_free(nt_expr *expr)
{
    if (expr == NULL)
        return;
    for (size_t i = 0; i < expr->owned_count; i++)
        free(expr->owned[i]);
    free(expr->owned);
    free(expr->text);
    free(expr->nodes);
    free(expr->items);
    free(expr->letters);
    free(expr);
}

const char *nt_expr_text(const nt_expr *expr)
{
    return expr->text;
}

uint64_t nt_expr_uses(const nt_expr *expr)
{
    return expr->uses;
}
