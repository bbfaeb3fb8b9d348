/* openblas.c: fp32 matrix products of OpenBLAS, as the product of a convolution whose patches lie one after another:
 * fc and NHWC 1x1 convolutions read their input, others what an earlier stage laid out in the workspace.
 *
 * cblas_sgemm is declared here: the interface is the reference BLAS's, whose integers are int unless a library says
 * otherwise in its name. */
#include "device/cpu_vendor.h"

#include "core/mem.h"
#include "core/vendor_call.h"
#include "device/vendor_library.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { ROW_MAJOR = 101, AS_IS = 111, TRANSPOSED = 112 };

typedef void sgemm_fn(int order, int transpose_a, int transpose_b, int m, int n, int k, float alpha, const float *a,
                      int lda, const float *b, int ldb, float beta, float *c, int ldc);

typedef struct functions {
    sgemm_fn *sgemm;
    char *(*config)(void);
} functions;

static const nt_symbol symbols[] = {
    {"cblas_sgemm", offsetof(functions, sgemm), false},
    {"openblas_get_config", offsetof(functions, config), false},
};

static struct {
    void *handle;
    functions f;
    nt_vendor_library found;
} library;

static const nt_vendor_source source = {
    .override = "NNTUNE_OPENBLAS",
    .names = {"libopenblas.so.0"},
    .name_count = 1,
    .where = "Debian has it in libopenblas0",
    .is = "OpenBLAS",
    .symbols = symbols,
    .symbol_count = sizeof symbols / sizeof symbols[0],
};

/* "OpenBLAS 0.3.21 DYNAMIC_ARCH .." gives 0.3.21 */
static void open_library(nt_vendor_library *out)
{
    library.handle = nt_vendor_library_open(&source, &library.f, out);
    if (library.handle == NULL)
        return;
    const char *config = library.f.config(), *version = strchr(config, ' ');
    version = version != NULL ? version + 1 : config;
    snprintf(out->version, sizeof out->version, "%.*s", (int)strcspn(version, " "), version);
}

static void find(nt_vendor_library *out)
{
    if (library.found.version[0] == '\0' && library.found.missing[0] == '\0')
        open_library(&library.found);
    *out = library.found;
}

typedef struct call {
    nt_vendor_call base;
    int rows, columns, depth;
    nt_role in;
} call;

static void run(nt_vendor_call *base, const nt_binding *binding)
{
    const call *c = (const call *)base;
    const float *in = (const float *)(uintptr_t)binding->address[c->in];
    const float *weight = (const float *)(uintptr_t)binding->address[NT_ROLE_WEIGHT];
    float *out = (float *)(uintptr_t)binding->address[NT_ROLE_OUT];
    library.f.sgemm(ROW_MAJOR, AS_IS, TRANSPOSED, c->rows, c->columns, c->depth, 1, in, c->depth, weight, c->depth, 0,
                    out, c->columns);
}

static void free_call(nt_vendor_call *base)
{
    free(base);
}

static nt_status make(const nt_stage *stage, nt_vendor_call **out, nt_error *err)
{
    nt_vendor_conv c;
    nt_vendor_conv_of(stage, &c);
    int64_t rows = c.n * nt_vendor_conv_out(c.h, c.r, c.stride, c.pad) * nt_vendor_conv_out(c.w, c.s, c.stride, c.pad);
    int64_t depth = c.r * c.s * c.c;
    bool as_it_lies = c.r == 1 && c.s == 1 && c.stride == 1 && c.pad == 0;
    if (c.precision != NT_FP32 || c.layout != NT_NHWC || c.groups != 1)
        return nt_fail(err, NT_LAUNCH_FAILED, "OpenBLAS multiplies fp32 matrices in nhwc, without groups");
    if (rows > INT32_MAX || depth > INT32_MAX || c.k > INT32_MAX)
        return nt_fail(err, NT_LAUNCH_FAILED, "%" PRId64 " x %" PRId64 " x %" PRId64 " is more than OpenBLAS can count",
                       rows, c.k, depth);
    call *made = nt_alloc_zero(1, sizeof *made);
    *made = (call){{run, free_call}, (int)rows, (int)c.k, (int)depth, as_it_lies ? NT_ROLE_IN : NT_ROLE_WORKSPACE};
    *out = &made->base;
    return NT_OK;
}

const nt_vendor_ops nt_vendor_openblas = {.vendor = NT_VENDOR_OPENBLAS, .find = find, .make = make};
