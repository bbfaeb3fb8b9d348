/* registry.c: every layer and every kernel. Adding one is a line here; a user's own are added at run time. */
#include "kernels/kernel.h"

#include <string.h>

/* clang-format off */
/* X(layer): the row nt_layer_<layer>. Layers are listed in this order. */
#define LAYER_ROWS(X) \
    X(conv3x3) \
    X(conv1x1) \
    X(conv7x7) \
    X(dwconv3x3) \
    X(fc) \
    X(conv_bn_relu) \
    X(conv1x1_chain3) \
    X(relu) \
    X(residual_add) \
    X(maxpool) \
    X(avgpool) \
    X(softmax) \
    X(layernorm) \
    X(attention)

/* X(layer_device_kernel): the row nt_kernel_<..>; rows of a layer and device are swept in this order. */
#define KERNEL_ROWS(X) \
    X(conv3x3_cpu_direct) \
    X(conv3x3_cpu_im2col) \
    X(conv3x3_cpu_winograd) \
    X(conv1x1_cpu_gemm) \
    X(conv7x7_cpu_direct) \
    X(conv7x7_cpu_im2col) \
    X(fc_cpu_gemm) \
    X(conv_bn_relu_cpu_direct) \
    X(conv_bn_relu_cpu_im2col) \
    X(conv_bn_relu_cpu_chain) \
    X(conv_bn_relu_cpu_chain_im2col) \
    X(conv1x1_chain3_cpu_fused) \
    X(conv1x1_chain3_cpu_three) \
    X(dwconv3x3_cpu_depthwise) \
    X(conv3x3_cpu_onednn) \
    X(conv1x1_cpu_onednn) \
    X(conv1x1_cpu_openblas) \
    X(conv7x7_cpu_onednn) \
    X(dwconv3x3_cpu_onednn) \
    X(fc_cpu_onednn) \
    X(fc_cpu_openblas) \
    X(conv3x3_cuda_direct) \
    X(conv3x3_cuda_winograd) \
    X(conv3x3_cuda_winograd4) \
    X(conv3x3_cuda_winograd_mma) \
    X(conv3x3_cuda_winograd4_mma) \
    X(conv3x3_cuda_igemm) \
    X(conv3x3_cuda_wgmma) \
    X(conv3x3_cuda_gemm) \
    X(conv3x3_cuda_shift) \
    X(conv3x3_cuda_gemm3) \
    X(conv3x3_cuda_gemm_first) \
    X(conv3x3_cuda_gemm3_first) \
    X(conv3x3_cuda_cudnn) \
    X(conv3x3_cuda_fault) \
    X(conv1x1_cuda_igemm) \
    X(conv1x1_cuda_gemm) \
    X(conv1x1_cuda_sparse) \
    X(conv1x1_cuda_gemm_sparse) \
    X(conv1x1_cuda_gemm3) \
    X(conv1x1_cuda_gemm_first) \
    X(conv1x1_cuda_gemm3_first) \
    X(conv1x1_cuda_cudnn) \
    X(conv1x1_cuda_cublaslt) \
    X(conv7x7_cuda_simt) \
    X(conv7x7_cuda_strip) \
    X(conv7x7_cuda_strip3) \
    X(conv7x7_cuda_gemm) \
    X(conv7x7_cuda_gemm3) \
    X(conv7x7_cuda_cudnn) \
    X(dwconv3x3_cuda_depthwise) \
    X(dwconv3x3_cuda_cudnn) \
    X(fc_cuda_gemv) \
    X(fc_cuda_igemm) \
    X(fc_cuda_gemm) \
    X(fc_cuda_sparse) \
    X(fc_cuda_gemm_sparse) \
    X(fc_cuda_gemm3) \
    X(fc_cuda_cublaslt) \
    X(conv_bn_relu_cuda_simt) \
    X(conv_bn_relu_cuda_chain) \
    X(conv_bn_relu_cuda_gemm) \
    X(conv_bn_relu_cuda_gemm3) \
    X(conv_bn_relu_cuda_gemm_first) \
    X(conv_bn_relu_cuda_gemm3_first) \
    X(conv_bn_relu_cuda_shift) \
    X(conv_bn_relu_cuda_gemm_chain) \
    X(conv_bn_relu_cuda_gemm3_chain) \
    X(conv_bn_relu_cuda_shift_chain) \
    X(conv1x1_chain3_cuda_simt) \
    X(conv1x1_chain3_cuda_simt_three) \
    X(conv1x1_chain3_cuda_mma) \
    X(conv1x1_chain3_cuda_mma_cluster) \
    X(conv1x1_chain3_cuda_mma_three) \
    X(conv1x1_chain3_cuda_gemm_three) \
    X(conv3x3_fake) \
    X(relu_cpu_map) \
    X(relu_cuda_map) \
    X(add_cpu_map) \
    X(add_cuda_map) \
    X(maxpool_cpu_rows) \
    X(maxpool_cuda_window) \
    X(avgpool_cpu_rows) \
    X(avgpool_cuda_window) \
    X(avgpool_cuda_global) \
    X(softmax_cpu_rows) \
    X(softmax_cuda_rows) \
    X(softmax_cuda_half_sums) \
    X(layernorm_cpu_rows) \
    X(layernorm_cuda_rows) \
    X(layernorm_cuda_half_sums) \
    X(attention_cpu_blocks) \
    X(attention_cuda_flash) \
    X(attention_cuda_simt)
/* clang-format on */

#define LAYER_EXTERN(name)   extern const nt_layer nt_layer_##name;
#define KERNEL_EXTERN(name)  extern const nt_kernel nt_kernel_##name;
#define LAYER_ADDRESS(name)  &nt_layer_##name,
#define KERNEL_ADDRESS(name) &nt_kernel_##name,
#define ONE(name)            +1
LAYER_ROWS(LAYER_EXTERN)
KERNEL_ROWS(KERNEL_EXTERN)

enum { LAYERS = 0 LAYER_ROWS(ONE), KERNELS = 0 KERNEL_ROWS(ONE), MOST_ADDED = 8 };

const nt_layer *nt_layers[LAYERS + MOST_ADDED] = {LAYER_ROWS(LAYER_ADDRESS)};
int nt_layer_count = LAYERS;

const nt_kernel *nt_kernels[KERNELS + MOST_ADDED] = {KERNEL_ROWS(KERNEL_ADDRESS)};
int nt_kernel_count = KERNELS;

bool nt_layer_add(const nt_layer *layer)
{
    if (nt_layer_count == LAYERS + MOST_ADDED)
        return false;
    nt_layers[nt_layer_count++] = layer;
    return true;
}

bool nt_kernel_add(const nt_kernel *kernel)
{
    if (nt_kernel_count == KERNELS + MOST_ADDED)
        return false;
    nt_kernels[nt_kernel_count++] = kernel;
    return true;
}

void nt_registry_reset(void)
{
    nt_layer_count = LAYERS;
    nt_kernel_count = KERNELS;
}

const nt_layer *nt_layer_find(const char *name)
{
    for (int i = 0; i < nt_layer_count; i++)
        if (strcmp(nt_layers[i]->name, name) == 0)
            return nt_layers[i];
    return NULL;
}

const nt_kernel *nt_kernel_find(const char *layer, nt_device_kind device, const char *name)
{
    for (int i = 0; i < nt_kernel_count; i++)
        if (nt_kernels[i]->device == device && strcmp(nt_kernels[i]->layer, layer) == 0 &&
            strcmp(nt_kernels[i]->name, name) == 0)
            return nt_kernels[i];
    return NULL;
}
