/* product.c: the product that a layer's problem is: pixels x filters, summed over taps and channels. */
#include "kernels/gemm/gemm.h"

nt_product_shape nt__product_of(const nt_problem *problem)
{
    nt_conv c = nt_conv_of(problem);
    nt_product_shape p = {
        .images = c.n,
        .height = c.h,
        .width = c.w,
        .channels = c.c,
        .filters = c.k,
        .filter_size = c.taps,
        .stride = c.stride,
        .border = c.pad,
        .out_height = c.out_h,
        .out_width = c.out_w,
        .pixels = c.n * c.out_h * c.out_w,
        .taps = c.taps * c.taps,
        .batch_norm = c.batch_norm,
        .activation = c.batch_norm ? c.act : NT_ACT_NONE,
    };
    p.gathered = p.taps > 1 || p.stride > 1;
    return p;
}

double nt__product_additions(const nt_problem *problem)
{
    return nt_conv_additions(problem) + NT__GEMM_MAX_SPLIT;
}
