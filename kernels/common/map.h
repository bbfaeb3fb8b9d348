/* map.h: what the elementwise layers relu and add share: shape keys, sizes, references, parameters and launches.
 *
 * Error bound. relu rounds nothing: its kernels charge 0 additions. add makes one rounding, fl(a + b) = (a + b)(1 + d)
 * with |d| <= u (Higham, Accuracy and Stability of Numerical Algorithms, 2.4): 1 addition. `abs` is |ref| for both, so
 * that the bound gamma |ref| is what the arithmetic guarantees and no more.
 * The layout only says how the caller counts elements: kernels see count elements in a row, the same in both. */
#ifndef NT_KERNELS_MAP_H
#define NT_KERNELS_MAP_H

#include "kernels/common/shape.h"
#include "kernels/kernel.h"

enum { NT_MAP_KEYS = 3 };
extern const nt_shape_key nt__map_keys[NT_MAP_KEYS]; /* c, h, w */
#define NT_MAP_EXAMPLE "64x56x56 (CxHxW) or c=64,h=56,w=56"

/* Extents of n * c * h * w elements; a second operand of as many where is_add. One operation an element. */
nt_status nt__map_extents(const nt_problem *problem, bool is_add, nt_extents *out, nt_error *err);

/* References: rows are chunks of the tensor; the second operand is the weight, or NULL for relu. */
int64_t nt__map_reference_rows(const nt_problem *problem);
void nt__map_reference(const nt_problem *problem, const float *a, const float *b, double *out, double *abs,
                       int64_t begin, int64_t end);
nt_status nt__map_reference_cuda_plan(const nt_problem *problem, bool is_add, nt_plan *out, nt_error *err);
extern const char nt_embed_common_map_reference_cu[];

/* Kernel rows: texts, parameters, constraints, plans. `is_add` of the plans is whether the layer has a second operand.
 */
extern const char nt_embed_common_prelude_cuh[], nt_embed_common_vector_cuh[], nt_embed_common_map_cu[];
extern const char nt_embed_common_vector_cpu_c[], nt_embed_common_map_cpu_c[];

enum { NT_MAP_CUDA_PARAMS = 4, NT_MAP_CUDA_CONSTRAINTS = 3, NT_MAP_CPU_PARAMS = 4, NT_MAP_CPU_CONSTRAINTS = 2 };
extern const nt_param nt__map_cuda_params[NT_MAP_CUDA_PARAMS], nt__map_cpu_params[NT_MAP_CPU_PARAMS];
extern const nt_constraint nt__map_cuda_constraints[NT_MAP_CUDA_CONSTRAINTS],
    nt__map_cpu_constraints[NT_MAP_CPU_CONSTRAINTS];
extern const nt_rule nt__map_cuda_rule, nt__map_cpu_rule;
nt_status nt__map_cuda_plan(const nt_problem *problem, const nt_config *config, bool is_add, nt_plan *out,
                            nt_error *err);
nt_status nt__map_cpu_plan(const nt_problem *problem, const nt_config *config, bool is_add, nt_plan *out,
                           nt_error *err);

#endif
