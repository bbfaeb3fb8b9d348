/* onednn.c: convolutions and inner products of oneDNN, version 2, through its C interface.
 *
 * Weights are moved once, untimed, into the layout that the library asks for, as our own kernels pack theirs.
 * Activations stay in the problem's layout, or with `own_layout` are moved into the library's favourite one and back
 * within the call. Memory comes from the plan's buffers; the library's own scratchpad is its own. */
#include "device/cpu_vendor.h"

#include "core/mem.h"
#include "core/vendor_call.h"
#include "device/vendor_library.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#if NT_HAVE_DNNL_H
#include <dnnl.h>
#endif

#if NT_HAVE_DNNL_H && DNNL_VERSION_MAJOR == 2

#define FUNCTIONS(X)                                                                                             \
    X(version)                                                                                                   \
    X(engine_create)                                                                                             \
    X(stream_create) X(stream_wait) X(memory_create) X(memory_set_data_handle) X(memory_destroy)                 \
        X(memory_desc_init_by_tag) X(memory_desc_get_size) X(memory_desc_equal) X(convolution_forward_desc_init) \
            X(inner_product_forward_desc_init) X(primitive_desc_create) X(primitive_desc_query_md)               \
                X(primitive_desc_destroy) X(primitive_create) X(primitive_execute) X(primitive_destroy)          \
                    X(reorder_primitive_desc_create)

/* The functions' types are the header's, so a prototype that changed does not compile. */
typedef struct functions {
#define X(name) __typeof__(&dnnl_##name) name;
    FUNCTIONS(X)
#undef X
} functions;

static struct {
    void *handle;
    functions f;
    dnnl_engine_t engine;
    dnnl_stream_t stream;
    nt_vendor_library found;
} library;

static const nt_symbol symbols[] = {
#define X(name) {"dnnl_" #name, offsetof(functions, name), false},
    FUNCTIONS(X)
#undef X
};

static const nt_vendor_source source = {
    .override = "NNTUNE_ONEDNN",
    .names = {"libdnnl.so.2"},
    .name_count = 1,
    .where = "Debian has it in libdnnl2",
    .is = "oneDNN of version 2",
    .symbols = symbols,
    .symbol_count = sizeof symbols / sizeof symbols[0],
};

static void open_library(nt_vendor_library *out)
{
    library.handle = nt_vendor_library_open(&source, &library.f, out);
    if (library.handle == NULL)
        return;
    const dnnl_version_t *version = library.f.version();
    if (version->major != DNNL_VERSION_MAJOR)
        snprintf(out->missing, sizeof out->missing, "it is version %d.%d.%d; nntune was built for version %d",
                 version->major, version->minor, version->patch, DNNL_VERSION_MAJOR);
    else if (library.f.engine_create(&library.engine, dnnl_cpu, 0) != dnnl_success ||
             library.f.stream_create(&library.stream, library.engine, dnnl_stream_default_flags) != dnnl_success)
        snprintf(out->missing, sizeof out->missing, "it gives no cpu engine");
    else
        snprintf(out->version, sizeof out->version, "%d.%d.%d", version->major, version->minor, version->patch);
}

static void find(nt_vendor_library *out)
{
    if (library.found.version[0] == '\0' && library.found.missing[0] == '\0')
        open_library(&library.found);
    *out = library.found;
}

/* ---- a call --------------------------------------------------------------------------------------------------------- */

/* A memory object whose address is bound anew for each run. */
typedef struct bound {
    dnnl_memory_t memory;
    nt_role role;
    size_t offset; /* into the role's buffer */
} bound;

enum { MOST_STEPS = 3, MOST_ARGS = 3 };

/* One primitive with its arguments, which are indices into the call's memory objects. */
typedef struct step {
    dnnl_primitive_t primitive;
    dnnl_exec_arg_t arg[MOST_ARGS];
    int arg_count;
} step;

typedef struct call {
    nt_vendor_call base;
    nt_vendor_conv conv;
    bound bound[MOST_STEPS * 2 + 1];
    int bound_count;
    step step[MOST_STEPS];
    int step_count;
} call;

static void run(nt_vendor_call *base, const nt_binding *binding)
{
    call *c = (call *)base;
    for (int i = 0; i < c->bound_count; i++) {
        char *at = (char *)(uintptr_t)binding->address[c->bound[i].role] + c->bound[i].offset;
        library.f.memory_set_data_handle(c->bound[i].memory, at);
    }
    for (int i = 0; i < c->step_count; i++)
        library.f.primitive_execute(c->step[i].primitive, library.stream, c->step[i].arg_count, c->step[i].arg);
    library.f.stream_wait(library.stream);
}

static void free_call(nt_vendor_call *base)
{
    call *c = (call *)base;
    for (int i = 0; i < c->step_count; i++)
        library.f.primitive_destroy(c->step[i].primitive);
    for (int i = 0; i < c->bound_count; i++)
        library.f.memory_destroy(c->bound[i].memory);
    free(c);
}

static bool bind_memory(call *c, const dnnl_memory_desc_t *desc, nt_role role, size_t offset, dnnl_memory_t *out)
{
    if (library.f.memory_create(out, desc, library.engine, DNNL_MEMORY_NONE) != dnnl_success)
        return false;
    c->bound[c->bound_count++] = (bound){*out, role, offset};
    return true;
}

/* Takes over the description: it is destroyed. */
static bool add_step(call *c, dnnl_primitive_desc_t desc, const dnnl_exec_arg_t *arg, int count)
{
    step *s = &c->step[c->step_count];
    bool made = library.f.primitive_create(&s->primitive, desc) == dnnl_success;
    library.f.primitive_desc_destroy(desc);
    if (!made)
        return false;
    memcpy(s->arg, arg, (size_t)count * sizeof *arg);
    s->arg_count = count;
    c->step_count++;
    return true;
}

static bool add_reorder(call *c, const dnnl_memory_desc_t *from_desc, dnnl_memory_t from,
                        const dnnl_memory_desc_t *to_desc, dnnl_memory_t to)
{
    dnnl_primitive_desc_t desc;
    dnnl_exec_arg_t arg[] = {{DNNL_ARG_FROM, from}, {DNNL_ARG_TO, to}};
    return library.f.reorder_primitive_desc_create(&desc, from_desc, library.engine, to_desc, library.engine, NULL) ==
               dnnl_success &&
           add_step(c, desc, arg, 2);
}

/* ---- what is computed ------------------------------------------------------------------------------------------------ */

static const struct {
    bool served;
    dnnl_data_type_t in, out;
} types[NT_PRECISION_COUNT] = {
    [NT_FP32] = {true, dnnl_f32, dnnl_f32},
    [NT_BF16] = {true, dnnl_bf16, dnnl_bf16},
    [NT_INT8] = {true, dnnl_s8, dnnl_s32},
};

/* The tensors as they lie in the plan's buffers, and as the library is asked for them. */
typedef struct tensors {
    dnnl_memory_desc_t in, weight, out;
    dnnl_memory_desc_t asked_in, asked_weight, asked_out;
} tensors;

static bool is_product(const nt_vendor_conv *c)
{
    return c->h == 1 && c->w == 1 && c->r == 1 && c->s == 1 && c->groups == 1;
}

static bool describe(const nt_vendor_conv *c, tensors *t)
{
    bool nhwc = c->layout == NT_NHWC, grouped = c->groups > 1;
    dnnl_data_type_t in_type = types[c->precision].in, out_type = types[c->precision].out;
    dnnl_dims_t in = {c->n, c->c, c->h, c->w};
    dnnl_dims_t out = {c->n, c->k, nt_vendor_conv_out(c->h, c->r, c->stride, c->pad),
                       nt_vendor_conv_out(c->w, c->s, c->stride, c->pad)};
    dnnl_dims_t plain = {c->k, c->c, c->r, c->s};
    dnnl_dims_t groups = {c->groups, c->k / c->groups, c->c / c->groups, c->r, c->s};
    dnnl_format_tag_t image = nhwc ? dnnl_nhwc : dnnl_nchw;
    dnnl_format_tag_t weight = grouped ? (nhwc ? dnnl_abdec : dnnl_abcde) : nhwc ? dnnl_acdb : dnnl_abcd;
    const int64_t *weight_dims = grouped ? groups : plain;
    int image_ndims = 4, weight_ndims = grouped ? 5 : 4;
    if (is_product(c)) {
        image_ndims = weight_ndims = 2;
        image = weight = dnnl_ab;
    }
    struct {
        dnnl_memory_desc_t *desc;
        int ndims;
        const int64_t *dims;
        dnnl_data_type_t type;
        dnnl_format_tag_t tag;
    } rows[] = {
        {&t->in, image_ndims, in, in_type, image},
        {&t->out, image_ndims, out, out_type, image},
        {&t->weight, weight_ndims, weight_dims, in_type, weight},
        {&t->asked_in, image_ndims, in, in_type, c->own_layout ? dnnl_format_tag_any : image},
        {&t->asked_out, image_ndims, out, out_type, c->own_layout ? dnnl_format_tag_any : image},
        {&t->asked_weight, weight_ndims, weight_dims, in_type, dnnl_format_tag_any},
    };
    bool fine = true;
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
        fine = fine && library.f.memory_desc_init_by_tag(rows[i].desc, rows[i].ndims, rows[i].dims, rows[i].type,
                                                         rows[i].tag) == dnnl_success;
    return fine;
}

/* The primitive with its algorithm; false when the library has none. */
static bool choose(const nt_vendor_conv *c, int64_t algorithm, const tensors *t, dnnl_primitive_desc_t *out)
{
    if (is_product(c)) {
        dnnl_inner_product_desc_t product;
        return library.f.inner_product_forward_desc_init(&product, dnnl_forward_inference, &t->asked_in,
                                                         &t->asked_weight, NULL, &t->asked_out) == dnnl_success &&
               library.f.primitive_desc_create(out, &product, NULL, library.engine, NULL) == dnnl_success;
    }
    dnnl_convolution_desc_t conv;
    dnnl_dims_t strides = {c->stride, c->stride}, before = {c->pad, c->pad}, after;
    int64_t size[2] = {c->h, c->w}, taps[2] = {c->r, c->s};
    for (int i = 0; i < 2; i++) /* what the last tap needs, which may be less than `pad` when the stride is not 1 */
        after[i] =
            (nt_vendor_conv_out(size[i], taps[i], c->stride, c->pad) - 1) * c->stride + taps[i] - size[i] - c->pad;
    return library.f.convolution_forward_desc_init(
               &conv, dnnl_forward_inference, algorithm == 0 ? dnnl_convolution_direct : dnnl_convolution_auto,
               &t->asked_in, &t->asked_weight, NULL, &t->asked_out, strides, before, after) == dnnl_success &&
           library.f.primitive_desc_create(out, &conv, NULL, library.engine, NULL) == dnnl_success;
}

static nt_status too_small(const char *what, size_t needed, int64_t given, nt_error *err)
{
    return nt_fail(err, NT_LAUNCH_FAILED, "oneDNN needs %zu bytes of %s, the plan has %" PRId64, needed, what, given);
}

/* Activation moves, where asked for, around the primitive. */
static bool build(call *c, dnnl_primitive_desc_t desc, const tensors *t)
{
    const dnnl_memory_desc_t *in = library.f.primitive_desc_query_md(desc, dnnl_query_src_md, 0);
    const dnnl_memory_desc_t *weight = library.f.primitive_desc_query_md(desc, dnnl_query_weights_md, 0);
    const dnnl_memory_desc_t *out = library.f.primitive_desc_query_md(desc, dnnl_query_dst_md, 0);
    bool move_in = !library.f.memory_desc_equal(in, &t->in), move_out = !library.f.memory_desc_equal(out, &t->out);
    size_t in_bytes = (library.f.memory_desc_get_size(in) + 255) / 256 * 256;
    dnnl_memory_t in_memory = NULL, weight_memory = NULL, out_memory = NULL, own_in, own_out;
    bool fine = bind_memory(c, &t->in, NT_ROLE_IN, 0, &in_memory) &&
                bind_memory(c, weight, NT_ROLE_PACKED, 0, &weight_memory) &&
                bind_memory(c, &t->out, NT_ROLE_OUT, 0, &out_memory);
    own_in = in_memory, own_out = out_memory;
    if (fine && move_in)
        fine = bind_memory(c, in, NT_ROLE_WORKSPACE, 0, &own_in) && add_reorder(c, &t->in, in_memory, in, own_in);
    if (fine && move_out)
        fine = bind_memory(c, out, NT_ROLE_WORKSPACE, in_bytes, &own_out);
    dnnl_exec_arg_t arg[] = {{DNNL_ARG_SRC, own_in}, {DNNL_ARG_WEIGHTS, weight_memory}, {DNNL_ARG_DST, own_out}};
    dnnl_memory_desc_t out_desc = *out;
    if (!fine || !add_step(c, desc, arg, 3))
        return false;
    return !move_out || add_reorder(c, &out_desc, own_out, &t->out, out_memory);
}

static bool build_preparation(call *c, dnnl_primitive_desc_t desc, const tensors *t)
{
    const dnnl_memory_desc_t to = *library.f.primitive_desc_query_md(desc, dnnl_query_weights_md, 0);
    dnnl_memory_t from_memory, to_memory;
    library.f.primitive_desc_destroy(desc);
    return bind_memory(c, &t->weight, NT_ROLE_WEIGHT, 0, &from_memory) &&
           bind_memory(c, &to, NT_ROLE_PACKED, 0, &to_memory) &&
           add_reorder(c, &t->weight, from_memory, &to, to_memory);
}

static nt_status check_room(const nt_vendor_conv *c, dnnl_primitive_desc_t desc, nt_error *err)
{
    size_t weight = library.f.memory_desc_get_size(library.f.primitive_desc_query_md(desc, dnnl_query_weights_md, 0));
    size_t in = library.f.memory_desc_get_size(library.f.primitive_desc_query_md(desc, dnnl_query_src_md, 0));
    size_t out = library.f.memory_desc_get_size(library.f.primitive_desc_query_md(desc, dnnl_query_dst_md, 0));
    size_t moved = c->own_layout ? (in + 255) / 256 * 256 + out : 0;
    if ((int64_t)weight > c->packed_bytes)
        return too_small("packed weights", weight, c->packed_bytes, err);
    if ((int64_t)moved > c->workspace_bytes)
        return too_small("workspace", moved, c->workspace_bytes, err);
    return NT_OK;
}

static nt_status make(const nt_stage *stage, nt_vendor_call **out, nt_error *err)
{
    call *c = nt_alloc_zero(1, sizeof *c);
    tensors t;
    dnnl_primitive_desc_t desc;
    c->base = (nt_vendor_call){run, free_call};
    nt_vendor_conv_of(stage, &c->conv);
    bool prepare = strcmp(stage->entry, "prepare_weights") == 0;
    nt_status status = NT_OK;
    if (!types[c->conv.precision].served || !describe(&c->conv, &t) ||
        !choose(&c->conv, stage->vendor_algorithm, &t, &desc)) {
        nt_fail(err, NT_LAUNCH_FAILED, "oneDNN has no such convolution in %s", nt_precisions[c->conv.precision].name);
        free(c);
        return NT_LAUNCH_FAILED;
    }
    status = check_room(&c->conv, desc, err);
    if (status != NT_OK)
        library.f.primitive_desc_destroy(desc);
    else if (!(prepare ? build_preparation(c, desc, &t) : build(c, desc, &t)))
        status = nt_fail(err, NT_LAUNCH_FAILED, "oneDNN could not make %s", stage->entry);
    if (status != NT_OK) {
        free_call(&c->base);
        return status;
    }
    *out = &c->base;
    return NT_OK;
}

#else

static void find(nt_vendor_library *out)
{
    nt_copy(out->missing, sizeof out->missing,
            "nntune was built without the header of oneDNN 2: apt-get install libdnnl-dev, and build again");
}

static nt_status make(const nt_stage *stage, nt_vendor_call **out, nt_error *err)
{
    (void)stage;
    (void)out;
    return nt_fail(err, NT_LAUNCH_FAILED, "nntune was built without oneDNN");
}

#endif

const nt_vendor_ops nt_vendor_onednn = {.vendor = NT_VENDOR_ONEDNN, .find = find, .make = make};
