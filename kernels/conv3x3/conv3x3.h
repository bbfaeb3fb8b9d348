/* conv3x3.h: what the files of this layer share beside conv.h. */
#ifndef NT_CONV3X3_H
#define NT_CONV3X3_H

#include "kernels/conv/conv.h"

/* The fp64 reference on the host, with Winograd's bound (reference.c). */
void nt_conv3x3_reference(const nt_problem *problem, nt_bound bound, const float *in, const float *weight, double *out,
                          double *abs, int64_t begin, int64_t end);

/* Kernels of stride 1: NULL when the problem has it and is within the limits of CUDA kernels. */
const char *nt__conv3x3_cuda_refuses(const nt_problem *problem);

#endif
