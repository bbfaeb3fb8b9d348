/* product.c: the product that a layer's problem is: pixels x filters, summed over taps and channels. */
#include "kernels/common/shape.h"
#include "kernels/gemm/gemm.h"

#include <assert.h>
#include <string.h>

/* Where a layer's sizes differ from a 1x1 convolution's. `matrix`: no height and width; one pixel an example. */
static const struct geometry {
    const char *layer;
    int64_t filter_size, border, stride; /* stride where the shape does not say */
    bool matrix;
} geometries[] = {
    {"fc", 1, 0, 1, true},       {"conv1x1", 1, 0, 1, false},      {"conv3x3", 3, 1, 1, false},
    {"conv7x7", 7, 3, 2, false}, {"conv_bn_relu", 3, 1, 1, false},
};

static const struct geometry *geometry_of(const char *layer)
{
    for (size_t i = 0; i < sizeof geometries / sizeof geometries[0]; i++)
        if (strcmp(geometries[i].layer, layer) == 0)
            return &geometries[i];
    return NULL;
}

nt_product_shape nt__product_of(const nt_problem *problem)
{
    const struct geometry *g = geometry_of(problem->layer);
    assert(g != NULL);
    nt_product_shape p = {
        .images = problem->batch,
        .height = g->matrix ? 1 : nt_shape_get(&problem->shape, "h"),
        .width = g->matrix ? 1 : nt_shape_get(&problem->shape, "w"),
        .channels = nt_shape_get(&problem->shape, "c"),
        .filters = nt_shape_get(&problem->shape, "k"),
        .filter_size = g->filter_size,
        .stride = nt_shape_get_or(&problem->shape, "stride", g->stride),
        .border = g->border,
        .taps = g->filter_size * g->filter_size,
    };
    p.out_height = (p.height + 2 * p.border - p.filter_size) / p.stride + 1;
    p.out_width = (p.width + 2 * p.border - p.filter_size) / p.stride + 1;
    p.pixels = p.images * p.out_height * p.out_width;
    p.gathered = p.taps > 1 || p.stride > 1;
    return p;
}

double nt__product_additions(const nt_problem *problem)
{
    nt_product_shape p = nt__product_of(problem);
    return (double)(p.taps * p.channels) + NT__GEMM_MAX_SPLIT;
}
