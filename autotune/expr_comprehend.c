/* expr_comprehend.c: lists that evaluation builds: joined, repeated, and by comprehensions: nested loops over the
 * clauses, the items gathered as they come. */
#include <stdlib.h>

#include "autotune/expr_node.h"
#include "core/mem.h"

typedef struct gathering {
    nt_expr_value *item;
    size_t count, capacity;
    nt_expr_value stop; /* the fault or unknown value that ends it; NT_EXPR_INT: none */
} gathering;

nt_expr_value *nt_expr_room(nt_expr_state *state, const nt_expr_node *node, size_t count)
{
    (void)node;
    if (state->scratch == NULL || count > state->capacity - state->used)
        return NULL;
    nt_expr_value *room = state->scratch + state->used;
    state->used += count;
    return room;
}

/* ---- lists made of lists ------------------------------------------------------------------------------------------- */

nt_expr_value nt_expr_joined(nt_expr_state *state, const nt_expr_node *node, nt_expr_value a, nt_expr_value b)
{
    size_t count = (size_t)a.count + b.count;
    nt_expr_value *item = nt_expr_room(state, node, count);
    if (item == NULL)
        return nt_expr_fail(state, node, NT_EXPR_FAULT_LIMIT);
    for (uint32_t i = 0; i < a.count; i++)
        item[i] = a.item[i];
    for (uint32_t i = 0; i < b.count; i++)
        item[a.count + i] = b.item[i];
    return (nt_expr_value){.kind = NT_EXPR_LIST, .count = (uint32_t)count, .item = item};
}

nt_expr_value nt_expr_repeated(nt_expr_state *state, const nt_expr_node *node, nt_expr_value list, int64_t times)
{
    uint64_t repeats = times < 0 ? 0 : (uint64_t)times;
    bool fits = list.count == 0 || repeats <= NT_EXPR_MAX_BUILT / list.count;
    size_t count = fits ? list.count * repeats : 0;
    nt_expr_value *item = fits ? nt_expr_room(state, node, count) : NULL;
    if (item == NULL)
        return nt_expr_fail(state, node, NT_EXPR_FAULT_LIMIT);
    for (size_t i = 0; i < count; i++)
        item[i] = list.item[i % list.count];
    return (nt_expr_value){.kind = NT_EXPR_LIST, .count = (uint32_t)count, .item = item};
}

/* ---- comprehensions ------------------------------------------------------------------------------------------------ */

static void walk(nt_expr_state *state, const nt_expr_node *node, const nt_expr_node *clause, gathering *g);

static void gather(nt_expr_state *state, const nt_expr_node *node, gathering *g)
{
    nt_expr_value item = nt_expr_node_eval(state, node->first);
    if (item.kind == NT_EXPR_FAULT) {
        g->stop = item;
        return;
    }
    void *memory = g->item;
    nt_grow(&memory, &g->capacity, g->count + 1, sizeof item);
    g->item = memory;
    g->item[g->count++] = item;
    if (g->count > NT_EXPR_MAX_BUILT)
        g->stop = nt_expr_fail(state, node, NT_EXPR_FAULT_LIMIT);
}

/* Whether all conditions of a clause hold; what is unknown or a fault stops the gathering. */
static bool passes(nt_expr_state *state, const nt_expr_node *clause, gathering *g)
{
    for (const nt_expr_node *condition = clause->first->next; condition != NULL; condition = condition->next) {
        nt_expr_value v = nt_expr_node_eval(state, condition);
        if (v.kind >= NT_EXPR_UNKNOWN) {
            g->stop = v;
            return false;
        }
        if (nt_expr_truth_of(v) == NT_EXPR_IS_FALSE)
            return false;
    }
    return true;
}

static void walk(nt_expr_state *state, const nt_expr_node *node, const nt_expr_node *clause, gathering *g)
{
    nt_expr_value list = nt_expr_node_eval(state, clause->first);
    if (list.kind != NT_EXPR_LIST) {
        g->stop = list.kind >= NT_EXPR_UNKNOWN ? list : nt_expr_fail(state, clause, NT_EXPR_FAULT_TYPE);
        return;
    }
    for (uint32_t i = 0; i < list.count && g->stop.kind == NT_EXPR_INT; i++) {
        if (++state->steps > NT_EXPR_MAX_STEPS) {
            g->stop = nt_expr_fail(state, node, NT_EXPR_FAULT_LIMIT);
            return;
        }
        state->local[clause->slot] = list.item[i];
        if (!passes(state, clause, g))
            continue;
        if (clause->next != NULL)
            walk(state, node, clause->next, g);
        else
            gather(state, node, g);
    }
}

nt_expr_value nt_expr_node_comprehension(nt_expr_state *state, const nt_expr_node *node)
{
    gathering g = {.stop = {.kind = NT_EXPR_INT}};
    walk(state, node, node->first->next, &g);
    nt_expr_value *item = g.stop.kind == NT_EXPR_INT ? nt_expr_room(state, node, g.count) : NULL;
    nt_expr_value result = g.stop;
    if (g.stop.kind == NT_EXPR_INT && item == NULL)
        result = nt_expr_fail(state, node, NT_EXPR_FAULT_LIMIT);
    if (item != NULL) {
        for (size_t i = 0; i < g.count; i++)
            item[i] = g.item[i];
        result = (nt_expr_value){.kind = NT_EXPR_LIST, .count = (uint32_t)g.count, .item = item};
    }
    free(g.item);
    return result;
}
