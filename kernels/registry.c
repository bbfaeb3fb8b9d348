/* registry.c: every layer and every kernel. Adding one is a line here; a user's own are added while the program runs. */
#include "kernels/kernel.h"

#include <string.h>

extern const nt_layer nt_layer_conv3x3;

enum { LAYERS = 1, KERNELS = 8, MOST_ADDED = 8 };

const nt_layer *nt_layers[LAYERS + MOST_ADDED] = {&nt_layer_conv3x3};
int nt_layer_count = LAYERS;

/* One extern and one row each; rows of a layer and device are swept in this order. */
extern const nt_kernel nt_kernel_conv3x3_cpu_direct, nt_kernel_conv3x3_cpu_im2col, nt_kernel_conv3x3_cpu_winograd;
extern const nt_kernel nt_kernel_conv3x3_cuda_direct, nt_kernel_conv3x3_cuda_igemm, nt_kernel_conv3x3_cuda_fault;
extern const nt_kernel nt_kernel_conv3x3_fake;
extern const nt_kernel nt_kernel_conv3x3_cuda_wgmma;

const nt_kernel *nt_kernels[KERNELS + MOST_ADDED] = {
    &nt_kernel_conv3x3_cpu_direct,
    &nt_kernel_conv3x3_cpu_im2col,
    &nt_kernel_conv3x3_cpu_winograd,
    &nt_kernel_conv3x3_cuda_direct,
    &nt_kernel_conv3x3_cuda_igemm,
    &nt_kernel_conv3x3_cuda_wgmma,
    &nt_kernel_conv3x3_cuda_fault,
    &nt_kernel_conv3x3_fake,
};
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
