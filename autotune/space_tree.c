/* space_tree.c: the tree is built from its root, each node once: nodes of one depth are found again by the digits that
 * constraints still wait for. */
#include "autotune/space_tree.h"

#include <stdlib.h>
#include <string.h>

#include "core/mem.h"

enum { MOST_NODES = 1 << 20, MOST_EDGES = 1 << 22 };
#define NONE UINT32_MAX /* no legal configuration lies that way */

typedef struct node {
    uint64_t count; /* configurations below */
    uint32_t edge;  /* first of the edges, one for each digit: the node it leads to, or NONE */
} node;

/* A table from keys to nodes, of one depth. */
typedef struct known {
    uint64_t *key; /* key + 1; 0 where free */
    uint32_t *node;
    size_t length, count;
} known;

struct nt_space_tree {
    nt_space_plan plan;
    int axis_count;
    int values[NT_MAX_PARAMS]; /* of each parameter */
    node *node;
    uint32_t *edge;
    size_t node_count, node_capacity, edge_count, edge_capacity;
    uint32_t root;
};

typedef struct builder {
    nt_space_tree *tree;
    nt_space_model *model;
    known known[NT_MAX_PARAMS + 1];
    uint64_t waited[NT_MAX_PARAMS + 1]; /* parameters with a value at a depth that constraints still wait for */
    int digit[NT_MAX_PARAMS];
    bool too_large;
} builder;

/* ---- nodes known ------------------------------------------------------------------------------------------------ */

static size_t slot_of(const known *k, uint64_t key)
{
    size_t i = (size_t)((key + 1) * UINT64_C(0x9e3779b97f4a7c15) >> 32) & (k->length - 1);
    while (k->key[i] != 0 && k->key[i] != key + 1)
        i = (i + 1) & (k->length - 1);
    return i;
}

static void grow_known(known *k)
{
    known old = *k;
    k->length = old.length == 0 ? 16 : old.length * 2;
    k->key = nt_alloc_zero(k->length, sizeof *k->key);
    k->node = nt_alloc_zero(k->length, sizeof *k->node);
    for (size_t i = 0; i < old.length; i++)
        if (old.key[i] != 0) {
            size_t at = slot_of(k, old.key[i] - 1);
            k->key[at] = old.key[i];
            k->node[at] = old.node[i];
        }
    free(old.key);
    free(old.node);
}

static bool recall(const known *k, uint64_t key, uint32_t *found)
{
    if (k->length == 0)
        return false;
    size_t at = slot_of(k, key);
    *found = k->node[at];
    return k->key[at] != 0;
}

static void remember(known *k, uint64_t key, uint32_t node_number)
{
    if (k->count * 2 >= k->length)
        grow_known(k);
    size_t at = slot_of(k, key);
    k->key[at] = key + 1;
    k->node[at] = node_number;
    k->count++;
}

/* ---- building --------------------------------------------------------------------------------------------------- */

/* Parameters that have a value at a depth and that a constraint tested deeper uses. */
static void find_waited(builder *b)
{
    const nt_space_plan *plan = &b->tree->plan;
    uint64_t assigned = 0;
    for (int depth = 0; depth <= b->model->axis_count; depth++) {
        uint64_t needed = 0;
        for (int i = plan->first[depth + 1]; i < plan->first[b->model->axis_count + 1]; i++)
            needed |= b->model->constraint[plan->test[i]].params;
        b->waited[depth] = assigned & needed;
        if (depth < b->model->axis_count)
            assigned |= UINT64_C(1) << plan->order[depth];
    }
}

/* The digits that are waited for, as one number: below the total of the space, so it fits. */
static uint64_t key_of(const builder *b, int depth)
{
    uint64_t key = 0;
    for (int i = 0; i < b->model->axis_count; i++)
        if (b->waited[depth] >> i & 1)
            key = key * (uint64_t)b->model->axis[i].count + (uint64_t)b->digit[i];
    return key;
}

static uint32_t add_node(builder *b, int values)
{
    nt_space_tree *tree = b->tree;
    void *nodes = tree->node, *edges = tree->edge;
    nt_grow(&nodes, &tree->node_capacity, tree->node_count + 1, sizeof *tree->node);
    nt_grow(&edges, &tree->edge_capacity, tree->edge_count + (size_t)values, sizeof *tree->edge);
    tree->node = nodes;
    tree->edge = edges;
    tree->node[tree->node_count] = (node){.edge = (uint32_t)tree->edge_count};
    tree->edge_count += (size_t)values;
    b->too_large = tree->node_count >= MOST_NODES || tree->edge_count >= MOST_EDGES;
    return (uint32_t)tree->node_count++;
}

static uint32_t build(builder *b, int depth)
{
    uint32_t number = NONE;
    uint64_t key = key_of(b, depth);
    if (b->too_large || recall(&b->known[depth], key, &number))
        return number;
    int at = depth < b->model->axis_count ? b->tree->plan.order[depth] : -1;
    int values = at < 0 ? 0 : b->model->axis[at].count;
    number = add_node(b, values);
    uint64_t count = at < 0;
    for (int digit = 0; digit < values && !b->too_large; digit++) {
        b->digit[at] = digit;
        b->model->value[at] = b->model->axis[at].value[digit];
        uint32_t below = nt_space_survives(b->model, &b->tree->plan, depth + 1) ? build(b, depth + 1) : NONE;
        b->tree->edge[b->tree->node[number].edge + (uint32_t)digit] = below;
        count += below == NONE ? 0 : b->tree->node[below].count;
    }
    b->tree->node[number].count = count;
    if (count == 0)
        number = NONE;
    remember(&b->known[depth], key, number);
    return number;
}

nt_space_tree *nt_space_tree_build(nt_space_model *model)
{
    builder b = {.model = model, .tree = nt_alloc_zero(1, sizeof *b.tree)};
    nt_space_tree *tree = b.tree;
    tree->axis_count = model->axis_count;
    for (int i = 0; i < model->axis_count; i++)
        tree->values[i] = model->axis[i].count;
    nt_space_plan_init(&tree->plan, model);
    find_waited(&b);
    tree->root = nt_space_survives(model, &tree->plan, 0) ? build(&b, 0) : NONE;
    for (int depth = 0; depth <= model->axis_count; depth++) {
        free(b.known[depth].key);
        free(b.known[depth].node);
    }
    if (!b.too_large)
        return tree;
    nt_space_tree_free(tree);
    return NULL;
}

void nt_space_tree_free(nt_space_tree *tree)
{
    if (tree == NULL)
        return;
    nt_space_plan_done(&tree->plan);
    free(tree->node);
    free(tree->edge);
    free(tree);
}

/* ---- numbers ---------------------------------------------------------------------------------------------------- */

uint64_t nt_space_tree_size(const nt_space_tree *tree)
{
    return tree->root == NONE ? 0 : tree->node[tree->root].count;
}

static uint64_t count_below(const nt_space_tree *tree, uint32_t number)
{
    return number == NONE ? 0 : tree->node[number].count;
}

void nt_space_tree_digits(const nt_space_tree *tree, uint64_t index, int digit[NT_MAX_PARAMS])
{
    uint32_t at = tree->root;
    for (int depth = 0; depth < tree->axis_count; depth++) {
        const uint32_t *edge = tree->edge + tree->node[at].edge;
        int d = 0;
        for (uint64_t below; index >= (below = count_below(tree, edge[d])); d++)
            index -= below;
        digit[tree->plan.order[depth]] = d;
        at = edge[d];
    }
}

bool nt_space_tree_index(const nt_space_tree *tree, const int digit[NT_MAX_PARAMS], uint64_t *index)
{
    uint32_t at = tree->root;
    *index = 0;
    for (int depth = 0; depth < tree->axis_count && at != NONE; depth++) {
        const uint32_t *edge = tree->edge + tree->node[at].edge;
        int own = digit[tree->plan.order[depth]];
        for (int d = 0; d < own; d++)
            *index += count_below(tree, edge[d]);
        at = edge[own];
    }
    return at != NONE;
}
