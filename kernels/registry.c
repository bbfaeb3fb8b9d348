/* registry.c: every layer and every kernel. Adding one is a line here. */
#include "kernels/kernel.h"

#include <string.h>

extern const nt_layer nt_layer_conv3x3;

const nt_layer *const nt_layers[] = {&nt_layer_conv3x3};
const int nt_layer_count = sizeof nt_layers / sizeof nt_layers[0];

/* One extern and one row each; rows of a layer and device are swept in this order. */
extern const nt_kernel nt_kernel_conv3x3_cpu_direct, nt_kernel_conv3x3_cpu_im2col, nt_kernel_conv3x3_cpu_winograd;
extern const nt_kernel nt_kernel_conv3x3_cuda_direct, nt_kernel_conv3x3_cuda_igemm, nt_kernel_conv3x3_cuda_fault;
extern const nt_kernel nt_kernel_conv3x3_fake;
extern const nt_kernel nt_kernel_conv3x3_cuda_wgmma;

const nt_kernel *const nt_kernels[] = {
    &nt_kernel_conv3x3_cpu_direct,
    &nt_kernel_conv3x3_cpu_im2col,
    &nt_kernel_conv3x3_cpu_winograd,
    &nt_kernel_conv3x3_cuda_direct,
    &nt_kernel_conv3x3_cuda_igemm,
    &nt_kernel_conv3x3_cuda_wgmma,
    &nt_kernel_conv3x3_cuda_fault,
    &nt_kernel_conv3x3_fake,
};
const int nt_kernel_count = sizeof nt_kernels / sizeof nt_kernels[0];

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
