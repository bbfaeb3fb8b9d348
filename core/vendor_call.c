/* vendor_call.c: the numbers of a vendor's convolution as arguments of a stage: one list, written and read in its
 * order. */
#include "core/vendor_call.h"

#include "core/str.h"

#include <assert.h>

#define NUMBERS(X)                                                                                                \
    X(n)                                                                                                          \
    X(c) X(k) X(h) X(w) X(r) X(s) X(stride) X(pad) X(groups) X(precision) X(layout) X(own_layout) X(packed_bytes) \
        X(workspace_bytes)

void nt_stage_vendor_conv(nt_stage *stage, nt_vendor vendor, const char *entry, int64_t algorithm,
                          const nt_vendor_conv *conv)
{
    *stage = (nt_stage){.kind = NT_STAGE_VENDOR,
                        .grid = {1, 1, 1},
                        .block = {1, 1, 1},
                        .cluster = {1, 1, 1},
                        .vendor_id = (int)vendor,
                        .vendor_algorithm = algorithm};
    bool fits = nt_copy(stage->entry, sizeof stage->entry, entry);
    assert(fits);
    (void)fits;
#define X(name) nt_stage_arg_i64(stage, (int64_t)conv->name);
    NUMBERS(X)
#undef X
}

void nt_vendor_conv_of(const nt_stage *stage, nt_vendor_conv *out)
{
    int at = 0;
    assert(stage->kind == NT_STAGE_VENDOR);
#define X(name) out->name = (__typeof__(out->name))stage->arg[at++].value;
    NUMBERS(X)
#undef X
    assert(at == stage->arg_count);
}
