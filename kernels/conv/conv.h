/* conv.h: what all convolutions share: conv3x3, conv1x1, conv7x7, dwconv3x3, conv_bn_relu, and fc, which is the
 * convolution of images of one pixel. Their sizes by name, extents, and the fp64 reference on the host and on CUDA.
 *
 * Error bound. Without batch norm and activation abs = |x| conv |w|: each of the products and sums rounds once. With
 * batch norm the output is act(a z + b), a = gamma / sqrt(variance + epsilon), b = beta - mean a, of the convolution z:
 *   abs = L (|a| (|x| conv |w|) + |beta| + |mean a|)
 * where L bounds the activation's slope (relu, relu6 1; silu 1.1, gelu 1.13, found where the second derivative is 0),
 * and a kernel charges NT_CONV_EPILOGUE_ADDITIONS more: a and b round 6 times, their use twice, and an activation that
 * is computed from exp or erf is right to NT_CONV_EPILOGUE_ADDITIONS - 8 roundings of the magnitude. */
#ifndef NT_CONV_H
#define NT_CONV_H

#include "kernels/layer.h"

/* The values of the shape key `act`: numbers of core's words of the same names. */
typedef enum nt_activation {
    NT_ACT_RELU = 1,
    NT_ACT_RELU6,
    NT_ACT_SILU,
    NT_ACT_GELU,
    NT_ACT_NONE,
    NT_ACT_COUNT
} nt_activation;
double nt_activation_of(nt_activation act, double x);
double nt_activation_slope(nt_activation act); /* the largest: L above */

#define NT_CONV_EPSILON            1e-5 /* added to the variance, as frameworks do */
#define NT_CONV_EPILOGUE_ADDITIONS 24

/* A problem's sizes; taps are square. */
typedef struct nt_conv {
    int64_t n, c, k, h, w;     /* h and w of the input */
    int64_t taps, stride, pad; /* `pad` zeros around the input */
    int64_t groups;            /* 1, or c: depthwise, and k = c */
    int64_t out_h, out_w;
    bool batch_norm; /* weights are followed by gamma, beta, mean and variance of k each */
    nt_activation act;
} nt_conv;

nt_conv nt_conv_of(const nt_problem *problem);

static inline int64_t nt_conv_filters(const nt_conv *d) /* elements of the filters alone */
{
    return d->k * d->taps * d->taps * (d->c / d->groups);
}

/* nt_layer's functions for all of these layers. */
nt_status nt_conv_extents(const nt_problem *problem, nt_extents *out, nt_error *err);
int64_t nt_conv_reference_rows(const nt_problem *problem);
void nt_conv_reference(const nt_problem *problem, nt_bound bound, const float *in, const float *weight, double *out,
                       double *abs, int64_t begin, int64_t end);
nt_status nt_conv_reference_cuda_plan(const nt_problem *problem, nt_bound bound, nt_plan *out, nt_error *err);
extern const char nt_embed_conv_reference_cu[];

/* The additions that a kernel without transforms makes for one output: nt_kernel.additions. */
double nt_conv_additions(const nt_problem *problem);

/* The same where the convolution, batch norm and activation are passes over memory that store their results as the
 * output's type: two more roundings by unit_out, each of at most the magnitude that the bound multiplies. */
double nt_conv_chain_additions(const nt_problem *problem);

/* Limits that keep every index computation of CUDA kernels in range; NULL when the problem is within them. */
const char *nt_conv_cuda_refuses(const nt_problem *problem);

/* What layers' rows have in common. */
#define NT_CONV_LAYER_FUNCTIONS                                                                       \
    .parse_shape = parse_shape, .extents = nt_conv_extents, .reference_rows = nt_conv_reference_rows, \
    .reference = nt_conv_reference, .reference_cuda_source = {nt_embed_conv_reference_cu},            \
    .reference_cuda_plan = nt_conv_reference_cuda_plan

/* Rows of shape keys that the layers share. */
#define NT_CONV_KEY_C                           \
    {                                           \
        .key = "c", .meaning = "input channels" \
    }
#define NT_CONV_KEY_K                                            \
    {                                                            \
        .key = "k", .meaning = "output channels", .same_as = "c" \
    }
#define NT_CONV_KEYS_HW                \
    {.key = "h", .meaning = "height"}, \
    {                                  \
        .key = "w", .meaning = "width" \
    }
#define NT_CONV_KEY_STRIDE(usual)                                                                             \
    {                                                                                                         \
        .key = "stride", .meaning = "step from one output to the next", .is_optional = true, .dflt = (usual), \
        .most = 8                                                                                             \
    }

#endif
