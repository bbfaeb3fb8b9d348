/* space_tree.h: the legal configurations of a space too large to list, counted and numbered all the same.
 *
 * Parameters take their values one after another. What may follow depends only on the values that constraints still
 * wait for, so partial configurations that agree in those share one node, which holds how many ways lead on to the end.
 * Numbers follow nested loops over the parameters in the order of the search. Between the space*.c files. */
#ifndef NT_SPACE_TREE_H
#define NT_SPACE_TREE_H

#include "autotune/space_model.h"

typedef struct nt_space_tree nt_space_tree;

/* NULL when it would take too many nodes: constraints that tie nearly everything to everything. */
nt_space_tree *nt_space_tree_build(nt_space_model *model);
void nt_space_tree_free(nt_space_tree *tree); /* NULL allowed */

uint64_t nt_space_tree_size(const nt_space_tree *tree); /* 0: no legal configuration */
/* Digits by parameter. */
void nt_space_tree_digits(const nt_space_tree *tree, uint64_t index, int digit[NT_MAX_PARAMS]);
bool nt_space_tree_index(const nt_space_tree *tree, const int digit[NT_MAX_PARAMS], uint64_t *index);

#endif
