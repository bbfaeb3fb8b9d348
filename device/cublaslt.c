/* cublaslt.c: matrix products of cuBLASLt: fully connected layers, and 1x1 convolutions of stride 1.
 *
 * The library counts matrices by columns. Channels last: out (filters x pixels) = weight' (channels x filters,
 * transposed) times in (channels x pixels), the one arrangement that int8 and fp8 have. Channels first: one product an
 * image, out (pixels x filters) = in (pixels x channels) times weight (channels x filters).
 *
 * Algorithms are the library's heuristic list for the problem, best guess first, with the workspace of the plan. In
 * fp8 every entry comes twice: number 2 i sums precisely, 2 i + 1 fast (CUBLASLT_MATMUL_DESC_FAST_ACCUM). */
#include "device/cuda_vendor.h"

#ifdef NT_HAVE_CUDA_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/mem.h"
#include "core/str.h"
#include "device/vendor_library.h"

#if NT_HAVE_CUBLASLT_H
#include <cublasLt.h>

enum { MOST_ALGORITHMS = 64 };

#define FUNCTIONS(X)                                                                                             \
    X(GetVersion)                                                                                                \
    X(Create) X(Matmul) X(MatmulDescCreate) X(MatmulDescDestroy) X(MatmulDescSetAttribute) X(MatrixLayoutCreate) \
        X(MatrixLayoutDestroy) X(MatrixLayoutSetAttribute) X(MatmulPreferenceCreate) X(MatmulPreferenceDestroy)  \
            X(MatmulPreferenceSetAttribute) X(MatmulAlgoGetHeuristic) X(GetStatusString)

/* The functions' types are the header's, so a prototype that changed does not compile. */
typedef struct functions {
#define X(name) __typeof__(&cublasLt##name) name;
    FUNCTIONS(X)
#undef X
} functions;

static struct {
    void *handle;
    functions f;
    cublasLtHandle_t context; /* made by the first call: it needs the device's context */
    nt_vendor_library found;
} library;

static const nt_symbol symbols[] = {
#define X(name) {"cublasLt" #name, offsetof(functions, name), false},
    FUNCTIONS(X)
#undef X
};

static const nt_vendor_source source = {
    .override = "NNTUNE_CUBLASLT",
    .names = {"libcublasLt.so.13", "libcublasLt.so.12"},
    .name_count = 2,
    .of_toolkit = true,
    .where = "it comes with NVIDIA's CUDA toolkit",
    .is = "cuBLASLt of version 12 or 13",
    .symbols = symbols,
    .symbol_count = sizeof symbols / sizeof symbols[0],
};

static void open_library(nt_vendor_library *out)
{
    library.handle = nt_vendor_library_open(&source, &library.f, out);
    if (library.handle == NULL)
        return;
    size_t version = library.f.GetVersion();
    snprintf(out->version, sizeof out->version, "%zu.%zu.%zu", version / 10000, version / 100 % 100, version % 100);
}

static void find(nt_vendor_library *out)
{
    if (library.found.version[0] == '\0')
        open_library(&library.found);
    *out = library.found;
}

/* ---- a call ------------------------------------------------------------------------------------------------------------- */

typedef struct gemm {
    nt_cuda_call call;
    cublasLtMatmulDesc_t desc;
    cublasLtMatrixLayout_t a, b, d;
    cublasLtMatmulAlgo_t algorithm;
    nt_role role_a, role_b;
    size_t workspace_bytes;
    bool whole; /* alpha and beta are 32-bit integers */
} gemm;

static const char *explain(int code)
{
    return library.f.GetStatusString((cublasStatus_t)code);
}

static int run(nt_cuda_call *call, const nt_binding *binding, CUstream stream)
{
    gemm *g = (gemm *)call;
    static const float one = 1, zero = 0;
    static const int32_t one_whole = 1, zero_whole = 0;
    void *out = (void *)(uintptr_t)binding->address[NT_ROLE_OUT];
    return (int)library.f.Matmul(library.context, g->desc, g->whole ? (const void *)&one_whole : &one,
                                 (const void *)(uintptr_t)binding->address[g->role_a], g->a,
                                 (const void *)(uintptr_t)binding->address[g->role_b], g->b,
                                 g->whole ? (const void *)&zero_whole : &zero, out, g->d, out, g->d, &g->algorithm,
                                 (void *)(uintptr_t)binding->address[NT_ROLE_WORKSPACE], g->workspace_bytes,
                                 (cudaStream_t)stream);
}

static void free_call(nt_cuda_call *call)
{
    gemm *g = (gemm *)call;
    if (g->desc != NULL)
        library.f.MatmulDescDestroy(g->desc);
    cublasLtMatrixLayout_t layouts[] = {g->a, g->b, g->d};
    for (int i = 0; i < 3; i++)
        if (layouts[i] != NULL)
            library.f.MatrixLayoutDestroy(layouts[i]);
    free(g);
}

/* What the library calls a precision. */
static const struct types {
    cudaDataType_t in, out, scale;
    cublasComputeType_t compute;
} types[NT_PRECISION_COUNT] = {
    [NT_FP32] = {CUDA_R_32F, CUDA_R_32F, CUDA_R_32F, CUBLAS_COMPUTE_32F},
    [NT_TF32] = {CUDA_R_32F, CUDA_R_32F, CUDA_R_32F, CUBLAS_COMPUTE_32F_FAST_TF32},
    [NT_FP16] = {CUDA_R_16F, CUDA_R_16F, CUDA_R_32F, CUBLAS_COMPUTE_32F},
    [NT_BF16] = {CUDA_R_16BF, CUDA_R_16BF, CUDA_R_32F, CUBLAS_COMPUTE_32F},
    [NT_INT8] = {CUDA_R_8I, CUDA_R_32I, CUDA_R_32I, CUBLAS_COMPUTE_32I},
    [NT_FP8] = {CUDA_R_8F_E4M3, CUDA_R_16BF, CUDA_R_32F, CUBLAS_COMPUTE_32F},
};

static cublasStatus_t layout_of(cublasLtMatrixLayout_t *out, cudaDataType_t type, int64_t rows, int64_t columns,
                                int32_t batch, int64_t stride)
{
    cublasStatus_t code = library.f.MatrixLayoutCreate(out, type, (uint64_t)rows, (uint64_t)columns, rows);
    if (code == CUBLAS_STATUS_SUCCESS && batch > 1)
        code = library.f.MatrixLayoutSetAttribute(*out, CUBLASLT_MATRIX_LAYOUT_BATCH_COUNT, &batch, sizeof batch);
    if (code == CUBLAS_STATUS_SUCCESS && batch > 1)
        code = library.f.MatrixLayoutSetAttribute(*out, CUBLASLT_MATRIX_LAYOUT_STRIDED_BATCH_OFFSET, &stride,
                                                  sizeof stride);
    return code;
}

static cublasStatus_t describe_last(gemm *g, const nt_vendor_conv *c, const struct types *t)
{
    int64_t pixels = c->n * c->h * c->w;
    const cublasOperation_t transposed = CUBLAS_OP_T;
    g->role_a = NT_ROLE_WEIGHT;
    g->role_b = NT_ROLE_IN;
    cublasStatus_t code =
        library.f.MatmulDescSetAttribute(g->desc, CUBLASLT_MATMUL_DESC_TRANSA, &transposed, sizeof transposed);
    if (code == CUBLAS_STATUS_SUCCESS)
        code = layout_of(&g->a, t->in, c->c, c->k, 1, 0);
    if (code == CUBLAS_STATUS_SUCCESS)
        code = layout_of(&g->b, t->in, c->c, pixels, 1, 0);
    return code == CUBLAS_STATUS_SUCCESS ? layout_of(&g->d, t->out, c->k, pixels, 1, 0) : code;
}

static cublasStatus_t describe_first(gemm *g, const nt_vendor_conv *c, const struct types *t)
{
    int64_t pixels = c->h * c->w;
    g->role_a = NT_ROLE_IN;
    g->role_b = NT_ROLE_WEIGHT;
    cublasStatus_t code = layout_of(&g->a, t->in, pixels, c->c, (int32_t)c->n, pixels * c->c);
    if (code == CUBLAS_STATUS_SUCCESS)
        code = layout_of(&g->b, t->in, c->c, c->k, (int32_t)c->n, 0);
    return code == CUBLAS_STATUS_SUCCESS ? layout_of(&g->d, t->out, pixels, c->k, (int32_t)c->n, pixels * c->k) : code;
}

static cublasStatus_t describe(gemm *g, const nt_vendor_conv *c, bool fast)
{
    const struct types *t = &types[c->precision];
    const int8_t accumulate_fast = fast;
    g->whole = t->scale == CUDA_R_32I;
    cublasStatus_t code = library.f.MatmulDescCreate(&g->desc, t->compute, t->scale);
    if (code == CUBLAS_STATUS_SUCCESS && c->precision == NT_FP8)
        code = library.f.MatmulDescSetAttribute(g->desc, CUBLASLT_MATMUL_DESC_FAST_ACCUM, &accumulate_fast,
                                                sizeof accumulate_fast);
    if (code != CUBLAS_STATUS_SUCCESS)
        return code;
    return c->layout == NT_NHWC ? describe_last(g, c, t) : describe_first(g, c, t);
}

/* Entry `index` of the heuristic list. *count is how many there are. */
static cublasStatus_t choose(gemm *g, uint64_t workspace_bytes, int index, int *count)
{
    static cublasLtMatmulHeuristicResult_t results[MOST_ALGORITHMS];
    cublasLtMatmulPreference_t preference = NULL;
    *count = 0;
    cublasStatus_t code = library.f.MatmulPreferenceCreate(&preference);
    if (code != CUBLAS_STATUS_SUCCESS)
        return code;
    code = library.f.MatmulPreferenceSetAttribute(preference, CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES,
                                                  &workspace_bytes, sizeof workspace_bytes);
    if (code == CUBLAS_STATUS_SUCCESS)
        code = library.f.MatmulAlgoGetHeuristic(library.context, g->desc, g->a, g->b, g->d, g->d, preference,
                                                MOST_ALGORITHMS, results, count);
    library.f.MatmulPreferenceDestroy(preference);
    if (code != CUBLAS_STATUS_SUCCESS || index >= *count)
        return code;
    g->algorithm = results[index].algo;
    g->workspace_bytes = results[index].workspaceSize;
    return results[index].state;
}

static const char *refuses(const nt_vendor_conv *c)
{
    if (c->r != 1 || c->s != 1 || c->stride != 1 || c->pad != 0 || c->groups != 1)
        return "cuBLASLt multiplies matrices: fc, and conv1x1 of stride 1";
    if (c->layout == NT_NCHW && c->n > INT32_MAX)
        return "cuBLASLt takes up to 2147483647 images with channels first";
    return NULL;
}

static nt_status make(const nt_vendor_conv *conv, int64_t algorithm, nt_cuda_call **out, nt_error *err)
{
    const char *refused = refuses(conv);
    bool fp8 = conv->precision == NT_FP8;
    int index = (int)(fp8 ? algorithm / 2 : algorithm), count = 0;
    if (refused != NULL)
        return nt_fail(err, NT_LAUNCH_FAILED, "%s", refused);
    cublasStatus_t code = library.context == NULL ? library.f.Create(&library.context) : CUBLAS_STATUS_SUCCESS;
    gemm *g = nt_alloc_zero(1, sizeof *g);
    g->call = (nt_cuda_call){run, free_call, 0};
    if (code == CUBLAS_STATUS_SUCCESS)
        code = describe(g, conv, fp8 && algorithm % 2 == 1);
    if (code == CUBLAS_STATUS_SUCCESS)
        code = choose(g, (uint64_t)conv->workspace_bytes, index, &count);
    if (code == CUBLAS_STATUS_SUCCESS && index < count) {
        *out = &g->call;
        return NT_OK;
    }
    free_call(&g->call);
    if (code != CUBLAS_STATUS_SUCCESS)
        return nt_fail(err, NT_LAUNCH_FAILED, "cuBLASLt does not compute this: %s", explain((int)code));
    return nt_fail(err, NT_LAUNCH_FAILED, "algorithm %lld: cuBLASLt's heuristics give %d for this problem",
                   (long long)algorithm, fp8 ? 2 * count : count);
}

#else

static void find(nt_vendor_library *out)
{
    snprintf(out->missing, sizeof out->missing, "built without NVIDIA's header cublasLt.h");
}

static nt_status make(const nt_vendor_conv *conv, int64_t algorithm, nt_cuda_call **out, nt_error *err)
{
    (void)conv, (void)algorithm, (void)out;
    return nt_fail(err, NT_NOT_FOUND, "built without NVIDIA's header cublasLt.h");
}

static const char *explain(int code)
{
    (void)code;
    return "it was never called";
}

#endif

const nt_cuda_vendor_ops nt_vendor_cublaslt = {NT_VENDOR_CUBLASLT, find, make, explain};

#endif
