/* expr_parse.h: what the grammar (expr_parse.c) and the building of the tree (expr.c) share. No one else includes it.
 */
#ifndef NT_EXPR_PARSE_H
#define NT_EXPR_PARSE_H

#include "autotune/expr_lex.h"

typedef struct nt_expr_parser {
    nt_expr_lexer lex;
    nt_expr *expr;
    const char *const *symbols;
    int symbol_count;
    int nesting;
    size_t list_items;
    /* Names that `for` binds here, as bytes of the text, and how many of them are in sight. */
    size_t local_start[NT_EXPR_MAX_LOCALS], local_end[NT_EXPR_MAX_LOCALS];
    int local_count;
} nt_expr_parser;

/* The whole text as a tree; NULL once anything has failed. */
nt_expr_node *nt_expr_parse(nt_expr_parser *p);

nt_expr_node *nt_expr_new_node(nt_expr_parser *p, nt_expr_node_fn *eval, size_t position);
nt_expr_node *nt_expr_new_constant(nt_expr_parser *p, nt_expr_value value, size_t position);

/* Appends a child after `last`, its sibling (NULL for the first), and returns it. NULL: the child was NULL, which
 * passes an earlier failure on, or the tree has become too deep. */
nt_expr_node *nt_expr_append(nt_expr_parser *p, nt_expr_node *node, nt_expr_node *last, nt_expr_node *child);

bool nt_expr_all_constant(const nt_expr_node *node); /* all its children */

/* Evaluates now what has only constant children. A fault stays in the tree: a condition may keep it from happening. */
nt_expr_node *nt_expr_folded(nt_expr_node *node);
nt_expr_node *nt_expr_folded_list(nt_expr_parser *p, nt_expr_node *list);
/* A range or comprehension: built now when it depends on nothing (`open` false), else on evaluation. */
nt_expr_node *nt_expr_folded_range(nt_expr_parser *p, nt_expr_node *node, bool open);

#endif
