/* rows.h: what softmax and layernorm share: matrices of rows, shape keys, references by rows and launches.
 *
 * A problem has batch * rows rows of c elements each, one after another; the layout nhwc means just that. */
#ifndef NT_KERNELS_ROWS_H
#define NT_KERNELS_ROWS_H

#include "kernels/common/shape.h"
#include "kernels/kernel.h"

typedef struct nt_rows {
    int64_t rows, c;
} nt_rows;

static inline nt_rows nt_rows_of(const nt_problem *problem)
{
    return (nt_rows){problem->batch * nt_shape_get(&problem->shape, "rows"), nt_shape_get(&problem->shape, "c")};
}

enum { NT_ROWS_KEYS = 2 };
extern const nt_shape_key nt__rows_keys[NT_ROWS_KEYS]; /* rows, c */

/* In and out of batch * rows * c elements, `weights` for each of the c columns, `flop` operations an element. */
nt_status nt__rows_extents(const nt_problem *problem, int64_t weights, double flop, nt_extents *out, nt_error *err);
int64_t nt__rows_reference_rows(const nt_problem *problem);
/* One thread a row: in, weight (where the layer has one), ref, abs, rows, c and a charge for the bound. */
nt_status nt__rows_reference_cuda_plan(const nt_problem *problem, const char *entry, bool has_weight, float charge,
                                       nt_plan *out, nt_error *err);

/* ---- kernel rows ------------------------------------------------------------------------------------------------- */

extern const char nt_embed_common_prelude_cuh[], nt_embed_common_vector_cuh[], nt_embed_common_row_cuh[];
extern const char nt_embed_common_vector_cpu_c[];

enum { NT_ROWS_CUDA_PARAMS = 4, NT_ROWS_CUDA_CONSTRAINTS = 6, NT_ROWS_CPU_PARAMS = 3, NT_ROWS_CPU_CONSTRAINTS = 2 };
extern const nt_param nt__rows_cuda_params[NT_ROWS_CUDA_PARAMS], nt__rows_cpu_params[NT_ROWS_CPU_PARAMS];
extern const nt_constraint nt__rows_cuda_constraints[NT_ROWS_CUDA_CONSTRAINTS],
    nt__rows_cpu_constraints[NT_ROWS_CPU_CONSTRAINTS];
extern const nt_rule nt__rows_cuda_rule, nt__rows_cpu_rule;

const char *nt__rows_cuda_refuses(const nt_problem *problem);
const char *nt__rows_cpu_refuses(const nt_problem *problem);
/* -DITEMS: vectors of a row that a thread holds. */
void nt__rows_cuda_options(const nt_problem *problem, const nt_config *config, nt_str *out);
/* Longest chain of additions of row.cuh's sums over a row: a thread's own elements, a tree over the threads of a warp,
 * the warps one after another; of all configurations the longest. */
double nt__rows_cuda_chain(const nt_problem *problem);
nt_status nt__rows_cuda_plan(const nt_problem *problem, const nt_config *config, const char *entry, bool has_weight,
                             nt_plan *out, nt_error *err);
nt_status nt__rows_cpu_plan(const nt_problem *problem, const nt_config *config, const char *entry, bool has_weight,
                            nt_plan *out, nt_error *err);

#endif
