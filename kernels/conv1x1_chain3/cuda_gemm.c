/* cuda_gemm.c: the chain as three launches of the matrix product of kernels/gemm, relu applied to its sums: what fusing
 * is compared with on compute capability 9.0. */
#include "kernels/conv1x1_chain3/chain3.h"
#include "kernels/gemm/gemm.h"

#define LEAST(A, B) "(" A " if " A " < " B " else " B ")"
#define LEAST_IN    LEAST("c", LEAST("k1", "k2"))
#define LEAST_OUT   LEAST("k", LEAST("k1", "k2"))

static const nt_constraint constraints[] = {
    NT__GEMM_CONSTRAINTS("(n * h * w)", "1", "1", "4096"),
    {"not stream_k", "the last waves of three products differ"},
    {"split_k == 1 or (" LEAST_IN " + " NT__GEMM_TILE_K " - 1) // " NT__GEMM_TILE_K " >= 2 * split_k",
     "each part of each convolution has two tiles or more"},
    {"cluster_n == 1 or " LEAST("(n * h * w)", LEAST_OUT) " > tile_n", "a cluster of two has two tiles each time"},
    {"cluster_m == 1 or " LEAST("(n * h * w)", LEAST_OUT) " > tile_m", "a cluster of two has two tiles each time"},
};

static const char *refuses(const nt_problem *problem)
{
    for (int i = 0; i < 3; i++) {
        nt_problem one = nt_chain3_problem(problem, i);
        const char *refusal = nt__gemm_refuses(&one);
        if (refusal != NULL)
            return refusal;
    }
    return NULL;
}

static int64_t common_divisor(int64_t a, int64_t b)
{
    return b == 0 ? a : common_divisor(b, a % b);
}

/* One text for the three: stores are as wide as all of their outputs allow. */
static void options(const nt_problem *problem, const nt_config *config, nt_str *out)
{
    nt_chain3 d = nt_chain3_of(problem);
    nt_problem one = nt_chain3_problem(problem, 0);
    one.shape.dim[1].size = common_divisor(common_divisor(d.k1, d.k2), d.k);
    nt__gemm_options(&one, config, out);
    nt_str_add(out, " -DACTIVATION=1");
}

static nt_status plan(const nt_problem *problem, const nt_config *config, const nt_device_info *device, nt_plan *out,
                      nt_error *err)
{
    *out = (nt_plan){.stage_count = 0};
    for (int i = 0; i < 3; i++) {
        nt_problem one = nt_chain3_problem(problem, i);
        nt_plan step;
        nt_status status = nt__gemm_plan(&one, config, device, &step, err);
        if (status != NT_OK)
            return status;
        nt_chain3_append(problem, i, &step, out);
    }
    return NT_OK;
}

const nt_kernel nt_kernel_conv1x1_chain3_cuda_gemm_three = {
    .name = "gemm_three",
    .summary = "three launches on Hopper's tensor cores (wgmma, TMA), by way of memory",
    .layer = "conv1x1_chain3",
    .device = NT_DEVICE_CUDA,
    .source = {nt_embed_common_prelude_cuh, nt_embed_common_tensor_core_cuh, NT__GEMM_TEXTS},
    .precisions = NT_BIT(NT_FP16) | NT_BIT(NT_BF16),
    .layouts = NT_BIT(NT_NHWC),
    .min_compute_capability = 90,
    .arch_specific = true,
    .params = nt__gemm_params,
    .param_count = NT__GEMM_PARAMS,
    .constraints = constraints,
    .constraint_count = sizeof constraints / sizeof constraints[0],
    .bound = NT_BOUND_DIRECT,
    .additions = nt_chain3_additions,
    .refuses = refuses,
    .options = options,
    .plan = plan,
};
