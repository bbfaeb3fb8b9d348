/* shape.h: what a layer's shapes are called, as a table, and the one parser of all layers.
 *
 * A shape is written in three ways: by keys, "c=64,k=64,h=56,w=56" in any order; abbreviated, sizes in the order of the
 * table's `form`, "64x56x56" for "CxHxW"; or by one of the layer's names. Batch is no key. A size may be a word,
 * "act=silu".
 *
 * Canonical order is the table's. Keys that must be given come first; optional keys follow, and are stored only when
 * they, or a later one, differ from what leaving them out means: adding an optional key to a layer changes no shape
 * that was stored before, and the sizes alone say which keys they are of. */
#ifndef NT_KERNELS_SHAPE_H
#define NT_KERNELS_SHAPE_H

#include "kernels/layer.h"

typedef struct nt_shape_key {
    const char *key;     /* at most 7 letters: "c" */
    const char *meaning; /* "input channels" */
    /* A required key that the abbreviated form leaves out takes the value of this one (k of c); NULL: its own form
     * names it. An optional key that was left out means the value of this one, where there is one. */
    const char *same_as;
    bool is_optional;
    int64_t dflt;  /* optional: what leaving it out means when same_as is NULL; 0 where the layer has a word for it */
    int64_t least; /* least size; 0 means 1 */
    int64_t most;  /* largest size; 0 means 2147483647 */
    bool is_word;  /* the size is one of core's words (nt_shape_word) from `least` to `most`: act=silu */
} nt_shape_key;

typedef struct nt_shape_table {
    const char *layer;
    const nt_shape_key *keys;
    int key_count;
    const char *form;             /* "CxHxW": the keys of the abbreviated form in capitals */
    const char *example;          /* "64x56x56 (CxHxW with k = c) or c=64,k=64,h=56,w=56", as hints show it */
    const nt_named_shape *shapes; /* of the layer's row */
    int shape_count;
} nt_shape_table;

/* Fills a shape from any of the three forms. NT_USAGE names the layer's keys, forms and names. */
nt_status nt_shape_table_parse(const nt_shape_table *table, const char *text, nt_shape *out, nt_error *err);

/* Size of a key, or `otherwise` where the shape does not store it (an optional key left out). */
int64_t nt_shape_get_or(const nt_shape *shape, const char *key, int64_t otherwise);

/* ---- sizes and work of a problem -------------------------------------------------------------------------------- */

/* The product of the factors; false when it passes 2^59, so that bytes and sums of bytes fit as well. */
bool nt_product(int64_t *out, int count, const int64_t *factors);

#define NT_PRODUCT(out, ...) \
    nt_product(out, (int)(sizeof((const int64_t[]){__VA_ARGS__}) / sizeof(int64_t)), (const int64_t[]){__VA_ARGS__})

/* NT_USAGE: a tensor of this problem has more elements than 64 bits can address; says what to make smaller. */
nt_status nt_problem_too_large(const nt_problem *problem, nt_error *err);

/* NT_USAGE unless the batch is 1 or more. */
nt_status nt_problem_batch_check(const nt_problem *problem, nt_error *err);

/* Bytes of in, weight and out, each moved once, in the problem's precision. */
double nt_extents_tensor_bytes(const nt_problem *problem, const nt_extents *extents);

#endif
