/* pool.h: what maxpool and avgpool share: sizes, references, and the launches of their kernels.
 *
 * Error bound. A maximum rounds nothing: kernels charge 0 additions and are right when they are equal. An average of k
 * elements in any order makes at most k - 1 additions, the product with 1/k one rounding, and 1/k itself another:
 * k + 1 roundings of relative size u, so |out - ref| <= gamma_(k+1) mean|x| (Higham, Accuracy and Stability of
 * Numerical Algorithms, 3.1 and 4.2). `abs` is mean|x|; for the maximum it is |ref|. */
#ifndef NT_KERNELS_POOL_H
#define NT_KERNELS_POOL_H

#include "kernels/common/shape.h"
#include "kernels/kernel.h"

typedef struct nt_pool {
    int64_t n, c, h, w;
    int64_t window_h, window_w, stride;
    int64_t pad; /* border on each side that counts as absent */
    int64_t out_h, out_w;
    bool is_max;
    bool is_global; /* the window is the image */
} nt_pool;

/* Sizes of a problem of the layers maxpool and avgpool. maxpool: window 3 and stride 2 where left out, border
 * (window - 1) / 2. avgpool: the whole image where no window is given, stride = window, no border. */
nt_pool nt_pool_of(const nt_problem *problem);

nt_status nt__pool_extents(const nt_problem *problem, nt_extents *out, nt_error *err);
int64_t nt__pool_reference_rows(const nt_problem *problem);
void nt__pool_reference(const nt_problem *problem, nt_bound bound, const float *in, const float *weight, double *out,
                        double *abs, int64_t begin, int64_t end);
nt_status nt__pool_reference_cuda_plan(const nt_problem *problem, nt_bound bound, nt_plan *out, nt_error *err);
extern const char nt_embed_common_pool_reference_cu[];

/* ---- kernel rows ------------------------------------------------------------------------------------------------- */

extern const char nt_embed_common_prelude_cuh[], nt_embed_common_vector_cuh[], nt_embed_common_pool_cu[];
extern const char nt_embed_common_vector_cpu_c[], nt_embed_common_pool_cpu_c[];

enum { NT_POOL_CUDA_PARAMS = 3, NT_POOL_CUDA_CONSTRAINTS = 2, NT_POOL_CPU_PARAMS = 3, NT_POOL_CPU_CONSTRAINTS = 2 };
extern const nt_param nt__pool_cuda_params[NT_POOL_CUDA_PARAMS], nt__pool_cpu_params[NT_POOL_CPU_PARAMS];
extern const nt_constraint nt__pool_cuda_constraints[NT_POOL_CUDA_CONSTRAINTS],
    nt__pool_cpu_constraints[NT_POOL_CPU_CONSTRAINTS];
extern const nt_rule nt__pool_cuda_rule, nt__pool_cpu_rule;

double nt__pool_additions(const nt_problem *problem);
const char *nt__pool_cuda_refuses(const nt_problem *problem); /* of the kernel over windows */
const char *nt__pool_cpu_refuses(const nt_problem *problem);
void nt__pool_options(const nt_problem *problem, const nt_config *config, nt_str *out);
void nt__pool_cpu_options(const nt_problem *problem, const nt_config *config, nt_str *out);
nt_status nt__pool_cuda_plan(const nt_problem *problem, const nt_config *config, const nt_device_info *device,
                             nt_plan *out, nt_error *err);
nt_status nt__pool_cpu_plan(const nt_problem *problem, const nt_config *config, const nt_device_info *device,
                            nt_plan *out, nt_error *err);

#endif
