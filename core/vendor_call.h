/* vendor_call.h: a convolution or matrix product as a stage that a vendor's library computes (NT_STAGE_VENDOR).
 *
 * The stage's entry says what is to be done, its numbers what with. A kernel's plan writes them, the device reads them;
 * neither knows more of the other. A matrix product (fc) is the convolution of 1 x 1 pixels with 1 x 1 taps.
 *
 *   entry             buffers used
 *   prepare_weights   weight -> packed, in the layout that the library likes: untimed
 *   convolve          in, packed (or weight, where nothing was prepared) -> out, by way of workspace */
#ifndef NT_VENDOR_CALL_H
#define NT_VENDOR_CALL_H

#include "core/plan.h"
#include "core/record.h"

typedef struct nt_vendor_conv {
    int64_t n, c, k, h, w;     /* h and w of the input */
    int64_t r, s, stride, pad; /* taps; `pad` zeros on all four sides */
    int64_t groups;            /* 1; c for a depthwise convolution */
    nt_precision precision;
    nt_layout layout;
    bool own_layout; /* activations are moved into the library's favourite layout and back, within the timed call */
    int64_t packed_bytes, workspace_bytes; /* what the plan sets aside: a call that needs more is refused */
} nt_vendor_conv;

static inline int64_t nt_vendor_conv_out(int64_t size, int64_t taps, int64_t stride, int64_t pad)
{
    return (size + 2 * pad - taps) / stride + 1;
}

/* `algorithm` is the library's business. */
void nt_stage_vendor_conv(nt_stage *stage, nt_vendor vendor, const char *entry, int64_t algorithm,
                          const nt_vendor_conv *conv);
/* Reads back what nt_stage_vendor_conv wrote. */
void nt_vendor_conv_of(const nt_stage *stage, nt_vendor_conv *out);

#endif
