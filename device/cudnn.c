/* cudnn.c: convolutions of cuDNN 9 through its backend (a graph of one operation).
 *
 * Algorithms are engine configurations, 32 numbers a list: 0 on, heuristic A's, best guess first; 32 on, heuristic B's;
 * 64 on, the fallbacks; 96 on, engine 0, 1, 2.. of the operation with its default settings. A configuration that the
 * library does not finalise, or that wants more workspace than the plan has, is refused. fp32 takes no engine that the
 * library notes as using tensor cores or converting inputs down: those are tf32's. */
#include "device/cuda_vendor.h"

#ifdef NT_HAVE_CUDA_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/mem.h"
#include "core/str.h"
#include "device/vendor_library.h"

#if NT_HAVE_CUDNN_H
#include <cudnn.h>

enum { LIST_LENGTH = 32, ALIGNMENT_BYTES = 16, DIMS = 4, MOST_MADE = 96 };
enum { UID_IN = 1, UID_WEIGHT, UID_OUT, TENSORS = 3 };

#define FUNCTIONS(X)                                                                                                  \
    X(GetVersion)                                                                                                     \
    X(GetErrorString)                                                                                                 \
    X(Create)                                                                                                         \
    X(SetStream) X(BackendCreateDescriptor) X(BackendDestroyDescriptor) X(BackendSetAttribute) X(BackendGetAttribute) \
        X(BackendFinalize) X(BackendExecute)

/* The functions' types are the header's, so a prototype that changed does not compile. */
typedef struct functions {
#define X(name) __typeof__(&cudnn##name) name;
    FUNCTIONS(X)
#undef X
} functions;

static struct {
    void *handle;
    functions f;
    cudnnHandle_t context; /* made by the first call: it needs the device's context */
    CUstream stream;       /* that the context works on */
    nt_vendor_library found;
} library;

static const nt_symbol symbols[] = {
#define X(name) {"cudnn" #name, offsetof(functions, name), false},
    FUNCTIONS(X)
#undef X
};

static const nt_vendor_source source = {
    .override = "NNTUNE_CUDNN",
    .names = {"libcudnn.so.9"},
    .name_count = 1,
    .of_toolkit = true,
    .where = "NVIDIA's packages cudnn9 or nvidia-cudnn (Python) have it",
    .is = "cuDNN of version 9",
    .symbols = symbols,
    .symbol_count = sizeof symbols / sizeof symbols[0],
};

static void open_library(nt_vendor_library *out)
{
    library.handle = nt_vendor_library_open(&source, &library.f, out);
    if (library.handle == NULL)
        return;
    size_t version = library.f.GetVersion();
    if (version / 10000 != CUDNN_MAJOR)
        snprintf(out->missing, sizeof out->missing, "version %zu.%zu was found, %d is needed", version / 10000,
                 version / 100 % 100, CUDNN_MAJOR);
    else
        snprintf(out->version, sizeof out->version, "%zu.%zu.%zu", version / 10000, version / 100 % 100, version % 100);
}

static void find(nt_vendor_library *out)
{
    if (library.found.version[0] == '\0')
        open_library(&library.found);
    *out = library.found;
}

/* ---- descriptors: made one after another, and gone with the call --------------------------------------------------------- */

typedef struct convolution {
    nt_cuda_call call;
    cudnnBackendDescriptor_t made[MOST_MADE];
    int made_count;
    cudnnStatus_t code; /* of the first step that failed; later steps do nothing */
    cudnnBackendDescriptor_t plan;
} convolution;

static cudnnBackendDescriptor_t create(convolution *c, cudnnBackendDescriptorType_t type)
{
    cudnnBackendDescriptor_t made = NULL;
    if (c->code == CUDNN_STATUS_SUCCESS)
        c->code =
            c->made_count < MOST_MADE ? library.f.BackendCreateDescriptor(type, &made) : CUDNN_STATUS_INTERNAL_ERROR;
    if (c->code == CUDNN_STATUS_SUCCESS)
        c->made[c->made_count++] = made;
    return made;
}

static void set(convolution *c, cudnnBackendDescriptor_t of, cudnnBackendAttributeName_t name,
                cudnnBackendAttributeType_t type, int64_t count, const void *values)
{
    if (c->code == CUDNN_STATUS_SUCCESS)
        c->code = library.f.BackendSetAttribute(of, name, type, count, values);
}

static void finalize(convolution *c, cudnnBackendDescriptor_t descriptor)
{
    if (c->code == CUDNN_STATUS_SUCCESS)
        c->code = library.f.BackendFinalize(descriptor);
}

static void set_number(convolution *c, cudnnBackendDescriptor_t of, cudnnBackendAttributeName_t name, int64_t value)
{
    set(c, of, name, CUDNN_TYPE_INT64, 1, &value);
}

static void set_descriptor(convolution *c, cudnnBackendDescriptor_t of, cudnnBackendAttributeName_t name,
                           cudnnBackendDescriptor_t value)
{
    set(c, of, name, CUDNN_TYPE_BACKEND_DESCRIPTOR, 1, &value);
}

static void set_type(convolution *c, cudnnBackendDescriptor_t of, cudnnBackendAttributeName_t name,
                     cudnnDataType_t type)
{
    set(c, of, name, CUDNN_TYPE_DATA_TYPE, 1, &type);
}

/* ---- the operation -------------------------------------------------------------------------------------------------------- */

static const struct types {
    cudnnDataType_t in, out, compute;
} types[NT_PRECISION_COUNT] = {
    [NT_FP32] = {CUDNN_DATA_FLOAT, CUDNN_DATA_FLOAT, CUDNN_DATA_FLOAT},
    [NT_TF32] = {CUDNN_DATA_FLOAT, CUDNN_DATA_FLOAT, CUDNN_DATA_FLOAT},
    [NT_FP16] = {CUDNN_DATA_HALF, CUDNN_DATA_HALF, CUDNN_DATA_FLOAT},
    [NT_BF16] = {CUDNN_DATA_BFLOAT16, CUDNN_DATA_BFLOAT16, CUDNN_DATA_FLOAT},
    [NT_INT8] = {CUDNN_DATA_INT8, CUDNN_DATA_INT32, CUDNN_DATA_INT32},
    [NT_FP8] = {CUDNN_DATA_FP8_E4M3, CUDNN_DATA_BFLOAT16, CUDNN_DATA_FLOAT},
};

/* Sizes are images or filters, channels, height, width; strides say where they lie. */
static cudnnBackendDescriptor_t tensor(convolution *c, int64_t uid, cudnnDataType_t type, nt_layout layout, int64_t n,
                                       int64_t channels, int64_t h, int64_t w)
{
    const int64_t size[DIMS] = {n, channels, h, w};
    const int64_t last[DIMS] = {channels * h * w, 1, w * channels, channels};
    const int64_t first[DIMS] = {channels * h * w, h * w, w, 1};
    cudnnBackendDescriptor_t t = create(c, CUDNN_BACKEND_TENSOR_DESCRIPTOR);
    set_type(c, t, CUDNN_ATTR_TENSOR_DATA_TYPE, type);
    set(c, t, CUDNN_ATTR_TENSOR_DIMENSIONS, CUDNN_TYPE_INT64, DIMS, size);
    set(c, t, CUDNN_ATTR_TENSOR_STRIDES, CUDNN_TYPE_INT64, DIMS, layout == NT_NHWC ? last : first);
    set_number(c, t, CUDNN_ATTR_TENSOR_UNIQUE_ID, uid);
    set_number(c, t, CUDNN_ATTR_TENSOR_BYTE_ALIGNMENT, ALIGNMENT_BYTES);
    finalize(c, t);
    return t;
}

static cudnnBackendDescriptor_t geometry(convolution *c, const nt_vendor_conv *p, cudnnDataType_t compute)
{
    const int64_t pad[2] = {p->pad, p->pad}, stride[2] = {p->stride, p->stride}, dilation[2] = {1, 1};
    const cudnnConvolutionMode_t mode = CUDNN_CROSS_CORRELATION;
    cudnnBackendDescriptor_t d = create(c, CUDNN_BACKEND_CONVOLUTION_DESCRIPTOR);
    set_number(c, d, CUDNN_ATTR_CONVOLUTION_SPATIAL_DIMS, 2);
    set_type(c, d, CUDNN_ATTR_CONVOLUTION_COMP_TYPE, compute);
    set(c, d, CUDNN_ATTR_CONVOLUTION_CONV_MODE, CUDNN_TYPE_CONVOLUTION_MODE, 1, &mode);
    set(c, d, CUDNN_ATTR_CONVOLUTION_PRE_PADDINGS, CUDNN_TYPE_INT64, 2, pad);
    set(c, d, CUDNN_ATTR_CONVOLUTION_POST_PADDINGS, CUDNN_TYPE_INT64, 2, pad);
    set(c, d, CUDNN_ATTR_CONVOLUTION_DILATIONS, CUDNN_TYPE_INT64, 2, dilation);
    set(c, d, CUDNN_ATTR_CONVOLUTION_FILTER_STRIDES, CUDNN_TYPE_INT64, 2, stride);
    finalize(c, d);
    return d;
}

static cudnnBackendDescriptor_t graph(convolution *c, const nt_vendor_conv *p)
{
    const struct types *t = &types[p->precision];
    const float one = 1, zero = 0;
    int64_t out_h = nt_vendor_conv_out(p->h, p->r, p->stride, p->pad);
    int64_t out_w = nt_vendor_conv_out(p->w, p->s, p->stride, p->pad);
    cudnnBackendDescriptor_t x = tensor(c, UID_IN, t->in, p->layout, p->n, p->c, p->h, p->w);
    cudnnBackendDescriptor_t w = tensor(c, UID_WEIGHT, t->in, p->layout, p->k, p->c / p->groups, p->r, p->s);
    cudnnBackendDescriptor_t y = tensor(c, UID_OUT, t->out, p->layout, p->n, p->k, out_h, out_w);
    cudnnBackendDescriptor_t d = geometry(c, p, t->compute);
    cudnnBackendDescriptor_t op = create(c, CUDNN_BACKEND_OPERATION_CONVOLUTION_FORWARD_DESCRIPTOR);
    set_descriptor(c, op, CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_X, x);
    set_descriptor(c, op, CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_W, w);
    set_descriptor(c, op, CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_Y, y);
    set_descriptor(c, op, CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_CONV_DESC, d);
    set(c, op, CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_ALPHA, CUDNN_TYPE_FLOAT, 1, &one);
    set(c, op, CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_BETA, CUDNN_TYPE_FLOAT, 1, &zero);
    finalize(c, op);
    cudnnBackendDescriptor_t g = create(c, CUDNN_BACKEND_OPERATIONGRAPH_DESCRIPTOR);
    set_descriptor(c, g, CUDNN_ATTR_OPERATIONGRAPH_OPS, op);
    set(c, g, CUDNN_ATTR_OPERATIONGRAPH_HANDLE, CUDNN_TYPE_HANDLE, 1, &library.context);
    finalize(c, g);
    return g;
}

/* ---- algorithms ------------------------------------------------------------------------------------------------------------ */

/* Configuration `index` of a heuristic's list; NULL when it has fewer. *count is how many it has, up to LIST_LENGTH. */
static cudnnBackendDescriptor_t advised(convolution *c, cudnnBackendDescriptor_t of, cudnnBackendHeurMode_t mode,
                                        int64_t index, int64_t *count)
{
    cudnnBackendDescriptor_t results[LIST_LENGTH] = {NULL}, heuristic = create(c, CUDNN_BACKEND_ENGINEHEUR_DESCRIPTOR);
    set_descriptor(c, heuristic, CUDNN_ATTR_ENGINEHEUR_OPERATION_GRAPH, of);
    set(c, heuristic, CUDNN_ATTR_ENGINEHEUR_MODE, CUDNN_TYPE_HEUR_MODE, 1, &mode);
    finalize(c, heuristic);
    for (int i = 0; i < LIST_LENGTH; i++)
        results[i] = create(c, CUDNN_BACKEND_ENGINECFG_DESCRIPTOR);
    if (c->code == CUDNN_STATUS_SUCCESS)
        c->code = library.f.BackendGetAttribute(heuristic, CUDNN_ATTR_ENGINEHEUR_RESULTS, CUDNN_TYPE_BACKEND_DESCRIPTOR,
                                                LIST_LENGTH, count, results);
    return c->code == CUDNN_STATUS_SUCCESS && index < *count ? results[index] : NULL;
}

static cudnnBackendDescriptor_t plain_engine(convolution *c, cudnnBackendDescriptor_t of, int64_t index, int64_t *count)
{
    int64_t got = 0;
    if (c->code == CUDNN_STATUS_SUCCESS)
        c->code = library.f.BackendGetAttribute(of, CUDNN_ATTR_OPERATIONGRAPH_ENGINE_GLOBAL_COUNT, CUDNN_TYPE_INT64, 1,
                                                &got, count);
    if (c->code != CUDNN_STATUS_SUCCESS || index >= *count)
        return NULL;
    cudnnBackendDescriptor_t engine = create(c, CUDNN_BACKEND_ENGINE_DESCRIPTOR);
    set_descriptor(c, engine, CUDNN_ATTR_ENGINE_OPERATION_GRAPH, of);
    set_number(c, engine, CUDNN_ATTR_ENGINE_GLOBAL_INDEX, index);
    finalize(c, engine);
    cudnnBackendDescriptor_t config = create(c, CUDNN_BACKEND_ENGINECFG_DESCRIPTOR);
    set_descriptor(c, config, CUDNN_ATTR_ENGINECFG_ENGINE, engine);
    finalize(c, config);
    return config;
}

static cudnnBackendDescriptor_t chosen(convolution *c, cudnnBackendDescriptor_t of, int64_t algorithm, int64_t *count)
{
    static const cudnnBackendHeurMode_t modes[] = {CUDNN_HEUR_MODE_A, CUDNN_HEUR_MODE_B, CUDNN_HEUR_MODE_FALLBACK};
    int64_t list = algorithm / LIST_LENGTH, index = algorithm % LIST_LENGTH;
    *count = 0;
    return list < 3 ? advised(c, of, modes[list], index, count)
                    : plain_engine(c, of, algorithm - INT64_C(3) * LIST_LENGTH, count);
}

/* What the library notes of a configuration's engine, a bit each. */
static unsigned notes_of(convolution *c, cudnnBackendDescriptor_t config)
{
    cudnnBackendNumericalNote_t notes[CUDNN_NUMERICAL_NOTE_TYPE_COUNT];
    cudnnBackendDescriptor_t engine = create(c, CUDNN_BACKEND_ENGINE_DESCRIPTOR);
    int64_t count = 0;
    unsigned bits = 0;
    if (c->code == CUDNN_STATUS_SUCCESS)
        c->code = library.f.BackendGetAttribute(config, CUDNN_ATTR_ENGINECFG_ENGINE, CUDNN_TYPE_BACKEND_DESCRIPTOR, 1,
                                                &count, &engine);
    if (c->code == CUDNN_STATUS_SUCCESS)
        c->code = library.f.BackendGetAttribute(engine, CUDNN_ATTR_ENGINE_NUMERICAL_NOTE, CUDNN_TYPE_NUMERICAL_NOTE,
                                                CUDNN_NUMERICAL_NOTE_TYPE_COUNT, &count, notes);
    for (int64_t i = 0; c->code == CUDNN_STATUS_SUCCESS && i < count; i++)
        bits |= 1u << notes[i];
    return bits;
}

#define NOTED(bits, note) (((bits) >> CUDNN_NUMERICAL_NOTE_##note & 1u) != 0)

/* Outputs along the side of Winograd's tile: the library names the tile of inputs, 2 more for 3x3 taps. Where it does
 * not, it may be the larger. -1: a tile that no error bound is known for. */
static int out_tile_of(unsigned notes)
{
    if (NOTED(notes, WINOGRAD_TILE_13x13))
        return -1;
    if (NOTED(notes, WINOGRAD_TILE_4x4))
        return 2;
    return NOTED(notes, WINOGRAD_TILE_6x6) || NOTED(notes, WINOGRAD) ? 4 : 0;
}

static int64_t make_plan(convolution *c, cudnnBackendDescriptor_t config)
{
    int64_t workspace_bytes = 0, count = 0;
    c->plan = create(c, CUDNN_BACKEND_EXECUTION_PLAN_DESCRIPTOR);
    set(c, c->plan, CUDNN_ATTR_EXECUTION_PLAN_HANDLE, CUDNN_TYPE_HANDLE, 1, &library.context);
    set_descriptor(c, c->plan, CUDNN_ATTR_EXECUTION_PLAN_ENGINE_CONFIG, config);
    finalize(c, c->plan);
    if (c->code == CUDNN_STATUS_SUCCESS)
        c->code = library.f.BackendGetAttribute(c->plan, CUDNN_ATTR_EXECUTION_PLAN_WORKSPACE_SIZE, CUDNN_TYPE_INT64, 1,
                                                &count, &workspace_bytes);
    return workspace_bytes;
}

/* ---- a call ------------------------------------------------------------------------------------------------------------------ */

static const char *explain(int code)
{
    return library.f.GetErrorString((cudnnStatus_t)code);
}

static cudnnStatus_t execute(convolution *c, const nt_binding *binding)
{
    void *data[TENSORS] = {(void *)(uintptr_t)binding->address[NT_ROLE_IN],
                           (void *)(uintptr_t)binding->address[NT_ROLE_WEIGHT],
                           (void *)(uintptr_t)binding->address[NT_ROLE_OUT]};
    void *workspace = (void *)(uintptr_t)binding->address[NT_ROLE_WORKSPACE];
    const int64_t uids[TENSORS] = {UID_IN, UID_WEIGHT, UID_OUT};
    c->code = CUDNN_STATUS_SUCCESS;
    cudnnBackendDescriptor_t pack = create(c, CUDNN_BACKEND_VARIANT_PACK_DESCRIPTOR);
    set(c, pack, CUDNN_ATTR_VARIANT_PACK_DATA_POINTERS, CUDNN_TYPE_VOID_PTR, TENSORS, data);
    set(c, pack, CUDNN_ATTR_VARIANT_PACK_UNIQUE_IDS, CUDNN_TYPE_INT64, TENSORS, uids);
    set(c, pack, CUDNN_ATTR_VARIANT_PACK_WORKSPACE, CUDNN_TYPE_VOID_PTR, 1, &workspace);
    finalize(c, pack);
    if (c->code == CUDNN_STATUS_SUCCESS)
        c->code = library.f.BackendExecute(library.context, c->plan, pack);
    if (pack != NULL)
        library.f.BackendDestroyDescriptor(c->made[--c->made_count]);
    return c->code;
}

static int run(nt_cuda_call *call, const nt_binding *binding, CUstream stream)
{
    if (library.stream != stream) {
        cudnnStatus_t code = library.f.SetStream(library.context, (cudaStream_t)stream);
        if (code != CUDNN_STATUS_SUCCESS)
            return (int)code;
        library.stream = stream;
    }
    return (int)execute((convolution *)call, binding);
}

static void free_call(nt_cuda_call *call)
{
    convolution *c = (convolution *)call;
    while (c->made_count > 0)
        library.f.BackendDestroyDescriptor(c->made[--c->made_count]);
    free(c);
}

/* Why a configuration is not used; NT_OK when it is. */
static nt_status judge(convolution *c, const nt_vendor_conv *p, int64_t algorithm, nt_error *err)
{
    int64_t count = 0;
    cudnnBackendDescriptor_t config = chosen(c, graph(c, p), algorithm, &count);
    if (c->code == CUDNN_STATUS_SUCCESS && config == NULL)
        return nt_fail(err, NT_LAUNCH_FAILED, "algorithm %lld: cuDNN's list for this problem has %lld from %lld on",
                       (long long)algorithm, (long long)count,
                       (long long)(algorithm / LIST_LENGTH < 3 ? algorithm / LIST_LENGTH : 3) * LIST_LENGTH);
    unsigned notes = c->code == CUDNN_STATUS_SUCCESS ? notes_of(c, config) : 0;
    if (p->precision == NT_FP32 && (NOTED(notes, TENSOR_CORE) || NOTED(notes, DOWN_CONVERT_INPUTS)))
        return nt_fail(err, NT_LAUNCH_FAILED, "algorithm %lld rounds operands to fewer bits: no fp32 (see tf32)",
                       (long long)algorithm);
    c->call.out_tile = out_tile_of(notes);
    if (c->call.out_tile < 0)
        return nt_fail(err, NT_LAUNCH_FAILED, "algorithm %lld is Winograd's with tiles of 13x13 inputs: no error bound",
                       (long long)algorithm);
    int64_t workspace_bytes = make_plan(c, config);
    if (c->code != CUDNN_STATUS_SUCCESS)
        return nt_fail(err, NT_LAUNCH_FAILED, "cuDNN does not compute this with algorithm %lld: %s",
                       (long long)algorithm, explain((int)c->code));
    if (workspace_bytes > p->workspace_bytes)
        return nt_fail(err, NT_LAUNCH_FAILED, "algorithm %lld wants %lld bytes of workspace, the plan has %lld",
                       (long long)algorithm, (long long)workspace_bytes, (long long)p->workspace_bytes);
    return NT_OK;
}

static nt_status make(const nt_vendor_conv *conv, int64_t algorithm, nt_cuda_call **out, nt_error *err)
{
    cudnnStatus_t code = library.context == NULL ? library.f.Create(&library.context) : CUDNN_STATUS_SUCCESS;
    if (code != CUDNN_STATUS_SUCCESS)
        return nt_fail(err, NT_LAUNCH_FAILED, "cuDNN does not start: %s", explain((int)code));
    convolution *c = nt_alloc_zero(1, sizeof *c);
    c->call = (nt_cuda_call){run, free_call, 0};
    nt_status status = judge(c, conv, algorithm, err);
    if (status == NT_OK)
        *out = &c->call;
    else
        free_call(&c->call);
    return status;
}

#else

static void find(nt_vendor_library *out)
{
    snprintf(out->missing, sizeof out->missing, "built without NVIDIA's header cudnn.h");
}

static nt_status make(const nt_vendor_conv *conv, int64_t algorithm, nt_cuda_call **out, nt_error *err)
{
    (void)conv, (void)algorithm, (void)out;
    return nt_fail(err, NT_NOT_FOUND, "built without NVIDIA's header cudnn.h");
}

static const char *explain(int code)
{
    (void)code;
    return "it was never called";
}

#endif

const nt_cuda_vendor_ops nt_vendor_cudnn = {NT_VENDOR_CUDNN, find, make, explain};

#endif
