/* cublaslt.c: cuBLASLt's matrix products as rivals, with its heuristic list as parameter (device/cublaslt.c). */
#include "kernels/vendor/cuda.h"

static const nt_param cublaslt_params[] = {
    {.name = "algorithm",
     .help = "place in the library's heuristic list; in fp8 place times 2, plus 1 for fast accumulation",
     .NT__NUMBERS_0_TO_31,
     .dflt = 0,
     .use = NT_PARAM_LAUNCH},
};

static nt_status cublaslt_plan(const nt_problem *problem, const nt_config *config, const nt_device_info *device,
                               nt_plan *out, nt_error *err)
{
    (void)device, (void)err;
    return nt__vendor_cuda_plan(problem, NT_VENDOR_CUBLASLT, nt_config_int(cublaslt_params, config, "algorithm"), out);
}

static const char *cublaslt_refuses(const nt_problem *problem)
{
    nt_conv c = nt_conv_of(problem);
    if (c.stride != 1)
        return "cuBLASLt multiplies matrices: stride 1 is needed";
    return problem->layout == NT_NCHW && c.n > INT32_MAX ? "more images than a batched product has" : NULL;
}

#define CUBLASLT(LAYER)                                                    \
    const nt_kernel nt_kernel_##LAYER##_cuda_cublaslt = {                  \
        .name = "cublaslt",                                                \
        .summary = "cuBLASLt's matrix product, by its heuristic list",     \
        .layer = #LAYER,                                                   \
        .device = NT_DEVICE_CUDA,                                          \
        .vendor = NT_VENDOR_CUBLASLT,                                      \
        .precisions = NT__VENDOR_ALL_PRECISIONS,                           \
        .layouts = NT_BIT(NT_NHWC) | NT_BIT(NT_NCHW),                      \
        .params = cublaslt_params,                                         \
        .param_count = sizeof cublaslt_params / sizeof cublaslt_params[0], \
        .bound = NT_BOUND_DIRECT,                                          \
        .additions = nt_conv_additions,                                    \
        .refuses = cublaslt_refuses,                                       \
        .plan = cublaslt_plan}

CUBLASLT(fc);
CUBLASLT(conv1x1);
