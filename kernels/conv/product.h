/* product.h: the product of matrices of doubles that the fp64 references of convolutions are made of, vectorised over
 * output channels. No rule of IEEE arithmetic is relaxed: vectors only regroup independent sums. */
#ifndef NT_CONV_PRODUCT_H
#define NT_CONV_PRODUCT_H

#include <stdint.h>

enum { NT_PRODUCT_LANES = 4, NT_PRODUCT_BLOCK = 2 * NT_PRODUCT_LANES, NT_PRODUCT_PIXELS = 4 };
typedef double nt_product_lanes __attribute__((vector_size(NT_PRODUCT_LANES * sizeof(double)), aligned(8), may_alias));

typedef struct nt_matrix_product {
    const double *a; /* [pixels][a_stride], c used */
    const double *b; /* [k / NT_PRODUCT_BLOCK][b_stride], of which [c][NT_PRODUCT_BLOCK] is used */
    double *out;     /* [pixels][k], added to */
    int64_t pixels, c, k, a_stride, b_stride; /* k a multiple of NT_PRODUCT_BLOCK */
} nt_matrix_product;

/* `count` pixels by two vectors of output channels. */
static inline __attribute__((always_inline)) void nt__product_tile(const nt_matrix_product *m, int64_t pixel, int64_t k,
                                                                   const int count)
{
    nt_product_lanes sum[NT_PRODUCT_PIXELS][2];
    double *out = m->out + pixel * m->k + k;
    for (int p = 0; p < count; p++) {
        sum[p][0] = *(const nt_product_lanes *)(out + p * m->k);
        sum[p][1] = *(const nt_product_lanes *)(out + p * m->k + NT_PRODUCT_LANES);
    }
    const double *a = m->a + pixel * m->a_stride, *b = m->b + k / NT_PRODUCT_BLOCK * m->b_stride;
    for (int64_t c = 0; c < m->c; c++, b += NT_PRODUCT_BLOCK) {
        nt_product_lanes b0 = *(const nt_product_lanes *)b, b1 = *(const nt_product_lanes *)(b + NT_PRODUCT_LANES);
        for (int p = 0; p < count; p++) {
            sum[p][0] += b0 * a[p * m->a_stride + c];
            sum[p][1] += b1 * a[p * m->a_stride + c];
        }
    }
    for (int p = 0; p < count; p++) {
        *(nt_product_lanes *)(out + p * m->k) = sum[p][0];
        *(nt_product_lanes *)(out + p * m->k + NT_PRODUCT_LANES) = sum[p][1];
    }
}

static inline __attribute__((always_inline)) void nt__product_body(const nt_matrix_product *m)
{
    for (int64_t k = 0; k < m->k; k += NT_PRODUCT_BLOCK) {
        int64_t pixel = 0;
        for (; pixel + NT_PRODUCT_PIXELS <= m->pixels; pixel += NT_PRODUCT_PIXELS)
            nt__product_tile(m, pixel, k, NT_PRODUCT_PIXELS);
        for (; pixel < m->pixels; pixel++)
            nt__product_tile(m, pixel, k, 1);
    }
}

static inline void nt__product_any(const nt_matrix_product *m)
{
    nt__product_body(m);
}

#if defined(__x86_64__)
/* The same text with wider vectors: the program itself is built for any x86-64. */
__attribute__((target("avx2"))) static inline void nt__product_avx2(const nt_matrix_product *m)
{
    nt__product_body(m);
}
#endif

static inline void nt_product_add(const nt_matrix_product *m)
{
#if defined(__x86_64__)
    if (__builtin_cpu_supports("avx2")) {
        nt__product_avx2(m);
        return;
    }
#endif
    nt__product_any(m);
}

#endif
