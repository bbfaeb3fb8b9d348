/* shift.h: what other rows of shift.cu than its own need of it: parameters and constraints. */
#ifndef NT_CONV3X3_SHIFT_H
#define NT_CONV3X3_SHIFT_H

#include "kernels/kernel.h"

enum { NT__SHIFT_PARAMS = 9, NT__SHIFT_CONSTRAINTS = 15 };
extern const nt_param nt__shift_params[NT__SHIFT_PARAMS];
extern const nt_constraint nt__shift_constraints[NT__SHIFT_CONSTRAINTS];
extern const nt_kernel nt_kernel_conv3x3_cuda_shift;
extern const char nt_embed_conv3x3_shift_cu[];

#endif
