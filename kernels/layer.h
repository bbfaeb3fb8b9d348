/* layer.h: a layer is a reference operation: its shapes, buffers, work, fp64 reference and error bound.
 * A kernel (kernel.h) is one implementation of it. */
#ifndef NT_LAYER_H
#define NT_LAYER_H

#include "core/plan.h"
#include "core/record.h"

/* The rounding-error analysis an algorithm needs. DIRECT: abs = |x| conv |w|. WINOGRAD_F2 and _F4: the bound runs
 * through the transforms of F(2x2, 3x3) and F(4x4, 3x3), |A^T| ((|G||g||G^T|) . (|B^T||d||B|)) |A|;
 * kernels/conv3x3/conv3x3.h derives it. */
typedef enum nt_bound { NT_BOUND_DIRECT, NT_BOUND_WINOGRAD_F2, NT_BOUND_WINOGRAD_F4, NT_BOUND_COUNT } nt_bound;

/* The bound of Winograd's algorithm with tiles of that many outputs a side (2 or 4); DIRECT for 0. */
static inline nt_bound nt_bound_of_tile(int out_tile)
{
    return out_tile == 0 ? NT_BOUND_DIRECT : out_tile == 2 ? NT_BOUND_WINOGRAD_F2 : NT_BOUND_WINOGRAD_F4;
}

typedef struct nt_named_shape {
    const char *name; /* 64x56x56 */
    const char *dims; /* c=64,k=64,h=56,w=56 */
} nt_named_shape;

/* Element counts of a problem's tensors. Weight is [k][r][s][c] for NHWC and [k][c][r][s] for NCHW. */
typedef struct nt_extents {
    int64_t in, weight, out;
    int64_t out_channels;       /* channels of out, for per-channel scales */
    int64_t out_channel_stride; /* channel of out element i = (i / stride) % out_channels */
    int64_t reduction;          /* products summed into one output */
    double flop;                /* multiply and add count 2, padding included as the field counts it */
    double bytes;               /* each tensor moved once, in the problem's precision */
    int64_t buffer_bytes; /* of one slot of a user's kernel, which has buffers of its own; 0: in, weight and out */
} nt_extents;

enum { NT_MAX_REFERENCE_SOURCES = 4 };

typedef struct nt_layer {
    const char *name;
    const char *summary;
    const char *shape_keys; /* "c,k,h,w" in canonical order, optional ones at the end (kernels/common/shape.h) */
    const char *word_key;   /* the one whose sizes are words: "act"; NULL: none */
    const nt_named_shape *shapes;
    int shape_count;
    const char *form; /* how a shape may be abbreviated: "CxHxW" with k = c */

    /* Fills a shape from "64x56x56", a named shape or "c=..,k=..". NT_USAGE names the keys and forms. */
    nt_status (*parse_shape)(const char *text, nt_shape *out, nt_error *err);
    /* Extents with every multiplication checked; NT_USAGE when the problem is not representable. */
    nt_status (*extents)(const nt_problem *problem, nt_extents *out, nt_error *err);

    /* Makes a filled weight buffer legal where not every number is (a variance is positive). NULL: every number is. */
    void (*amend_weight)(const nt_problem *problem, float *weight);

    /* fp64 reference over output rows [begin, end) of `rows` (rows = batch * out height), so that threads can share it.
     * Inputs are f32 arrays holding the values as rounded in memory (integers as their value). abs may be NULL. */
    int64_t (*reference_rows)(const nt_problem *problem);
    void (*reference)(const nt_problem *problem, nt_bound bound, const float *in, const float *weight, double *out,
                      double *abs, int64_t begin, int64_t end);

    /* The same on a CUDA device: source for NVRTC (f32 inputs, roles IN, WEIGHT -> REF and ABS), texts one after
     * another and NULL after the last, and its plan. */
    const char *reference_cuda_source[NT_MAX_REFERENCE_SOURCES];
    nt_status (*reference_cuda_plan)(const nt_problem *problem, nt_bound bound, nt_plan *out, nt_error *err);
} nt_layer;

extern const nt_layer *nt_layers[];
extern int nt_layer_count;
const nt_layer *nt_layer_find(const char *name); /* NULL when unknown */

/* Whole text of reference_cuda_source; NULL when there is none. Caller frees. */
char *nt_layer_reference_source(const nt_layer *layer);

/* A layer made while the program runs, of a user's kernel: found like the others from then on. The row is not copied.
 * False when there is no more room. */
bool nt_layer_add(const nt_layer *layer);

#endif
