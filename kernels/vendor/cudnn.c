/* cudnn.c: cuDNN's convolutions as rivals, with the library's own algorithms as parameters (device/cudnn.c says which
 * number means which). Where it notes one of Winograd's algorithms, results are held to that one's bound, else to the
 * direct one (nt_device_ops.vendor_tile). */
#include "kernels/vendor/cuda.h"

enum { LIST_LENGTH = 32 };

static const nt_param cudnn_params[] = {
    {.name = "list",
     .help = "whose list of engines: a heuristic's, the fallbacks, or all in the library's own order",
     .NT_STRINGS("heuristic_a", "heuristic_b", "fallback", "engines", "engines_32"),
     .dflt = 0,
     .use = NT_PARAM_LAUNCH},
    {.name = "index", .help = "place in that list", .NT__NUMBERS_0_TO_31, .dflt = 0, .use = NT_PARAM_LAUNCH},
};

static nt_status cudnn_plan(const nt_problem *problem, const nt_config *config, const nt_device_info *device,
                            nt_plan *out, nt_error *err)
{
    (void)device, (void)err;
    /* The parameter's values in order are the lists in order, the library's own having room for two. */
    int64_t list = config->index[0], index = nt_config_int(cudnn_params, config, "index");
    return nt__vendor_cuda_plan(problem, NT_VENDOR_CUDNN, list * LIST_LENGTH + index, out);
}

#define CUDNN(LAYER)                                                                                               \
    const nt_kernel nt_kernel_##LAYER##_cuda_cudnn = {.name = "cudnn",                                             \
                                                      .summary = "cuDNN's convolution, by heuristic or engine",    \
                                                      .layer = #LAYER,                                             \
                                                      .device = NT_DEVICE_CUDA,                                    \
                                                      .vendor = NT_VENDOR_CUDNN,                                   \
                                                      .precisions = NT__VENDOR_ALL_PRECISIONS,                     \
                                                      .layouts = NT_BIT(NT_NHWC) | NT_BIT(NT_NCHW),                \
                                                      .params = cudnn_params,                                      \
                                                      .param_count = sizeof cudnn_params / sizeof cudnn_params[0], \
                                                      .bound = NT_BOUND_DIRECT,                                    \
                                                      .additions = nt_conv_additions,                              \
                                                      .plan = cudnn_plan}

CUDNN(conv3x3);
CUDNN(conv1x1);
CUDNN(conv7x7);
CUDNN(dwconv3x3);
