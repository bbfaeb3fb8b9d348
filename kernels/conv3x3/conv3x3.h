/* conv3x3.h: what the files of this layer share.
 *
 * Sizes of a problem by name, and the launches of the fp64 reference on a CUDA device. */
#ifndef NT_CONV3X3_H
#define NT_CONV3X3_H

#include "kernels/layer.h"

/* The problem's sizes by name; n is the batch. */
typedef struct nt_conv3x3 {
    int64_t n, c, k, h, w;
} nt_conv3x3;

static inline nt_conv3x3 nt_conv3x3_of(const nt_problem *problem)
{
    return (nt_conv3x3){problem->batch, nt_shape_get(&problem->shape, "c"), nt_shape_get(&problem->shape, "k"),
                        nt_shape_get(&problem->shape, "h"), nt_shape_get(&problem->shape, "w")};
}

/* The fp64 reference on the host (reference.c). */
int64_t nt_conv3x3_reference_rows(const nt_problem *problem);
void nt_conv3x3_reference(const nt_problem *problem, nt_bound bound, const float *in, const float *weight, double *out,
                          double *abs, int64_t begin, int64_t end);

/* Limits that keep every index computation of the CUDA kernels in range; NULL when the problem is within them. */
const char *nt__conv3x3_cuda_refuses(const nt_problem *problem);

/* reference.cu on any problem: roles IN and WEIGHT (f32) to REF and ABS (f64). */
nt_status nt__conv3x3_reference_cuda_plan(const nt_problem *problem, nt_bound bound, nt_plan *out, nt_error *err);
extern const char nt_embed_conv3x3_reference_cu[];

#endif
