/* test_conv3x3_winograd_mma.c: Winograd on tensor cores, run lane by lane on the host (tensor_core_emulation.h) with
 * the options and launches that its rows give, over shapes that end in every part of a tile, against its own error
 * bounds. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include <dlfcn.h>

#include "autotune/space.h"
#include "core/convert.h"
#include "core/mem.h"
#include "core/random.h"
#include "kernels/conv3x3/conv3x3.h"
#include "kernels/kernel.h"
#include "tests/unit/emulated_library.h"

extern const nt_layer nt_layer_conv3x3;
extern const nt_kernel nt_kernel_conv3x3_cuda_winograd_mma, nt_kernel_conv3x3_cuda_winograd4_mma;

enum { GUARD = 1024 };

static const nt_device_info device = {.kind = NT_DEVICE_CUDA,
                                      .compute_capability = 90,
                                      .smem_per_block_bytes = 232448,
                                      .max_threads_per_block = 1024,
                                      .regs_per_block = 65536,
                                      .regs_per_sm = 65536,
                                      .warp_size = 32,
                                      .sm_count = 132};

typedef struct example {
    const nt_kernel *kernel;
    const char *params, *shape;
    int64_t batch;
    nt_precision precision;
} example;

#define F2 &nt_kernel_conv3x3_cuda_winograd_mma
#define F4 &nt_kernel_conv3x3_cuda_winograd4_mma
static const example examples[] = {
    {F2, "block_tiles=16 block_k=16 warps=4 buffers=2", "c=36,k=18,h=9,w=5", 1, NT_FP16},
    {F2, "block_tiles=32 block_k=32 warps=8 k_steps=2 split_c=2", "c=70,k=33,h=5,w=7", 3, NT_BF16},
    {F2, "block_tiles=16 block_k=32 warps=16 split_c=2", "c=33,k=17,h=8,w=8", 1, NT_TF32},
    {F4, "block_tiles=16 block_k=16 warps=12 buffers=2", "c=21,k=9,h=9,w=13", 1, NT_FP16},
    {F4, "block_tiles=16 block_k=32 warps=9", "c=17,k=34,h=4,w=11", 2, NT_FP16},
};
enum { EXAMPLES = sizeof examples / sizeof examples[0] };

/* ---- compiling for the host ------------------------------------------------------------------------------------ */

typedef const char *(*run_function)(void *entry, const uint64_t args[12], const uint32_t grid[3], uint32_t threads,
                                    uint32_t shared_bytes, bool eager);
typedef void (*allow_function)(const void *begin, size_t bytes);

static void *compile(const example *e, const char *source, const nt_config *config, const nt_problem *problem)
{
    nt_str options = {0};
    nt_kernel_options(e->kernel, problem, config, &options);
    void *object = emulated_library("tensor_core_emulation.h", source, nt_str_text(&options));
    nt_str_done(&options);
    return object;
}

/* ---- tensors --------------------------------------------------------------------------------------------------- */

typedef struct tensor {
    unsigned char *memory; /* guard, data, guard */
    void *data;
    size_t bytes;
} tensor;

static tensor tensor_new(size_t bytes)
{
    tensor t = {.memory = aligned_alloc(256, (bytes / 256 + 1) * 256 + 2 * GUARD), .bytes = bytes};
    assert_non_null(t.memory);
    t.data = t.memory + GUARD;
    memset(t.memory, 0xff, bytes + 2 * GUARD);
    return t;
}

static void tensor_done(const char *name, tensor *t)
{
    for (size_t i = 0; i < GUARD; i++)
        if (t->memory[i] != 0xff || t->memory[GUARD + t->bytes + i] != 0xff)
            fail_msg("%s: written outside", name);
    free(t->memory);
}

/* Random values as memory of the precision holds them, in *values as well. */
static tensor inputs(nt_dtype type, uint64_t stream, int64_t count, float **values)
{
    tensor t = tensor_new((size_t)count * nt_dtype_bytes(type));
    *values = nt_alloc((size_t)count * sizeof **values);
    nt_random_fill(NT_FILL_NORMAL, 11, stream, 0, *values, (size_t)count);
    nt_pack(type, *values, (size_t)count, NULL, 0, 1, t.data);
    nt_unpack(type, t.data, (size_t)count, *values);
    return t;
}

typedef struct data {
    nt_problem problem;
    nt_extents extents;
    tensor role[NT_ROLE_WORKSPACE + 1];
    double *ref, *abs;
} data;

static data data_of(const example *e)
{
    data d = {.problem = {.layer = "conv3x3", .batch = e->batch, .precision = e->precision, .layout = NT_NHWC}};
    const nt_layer *layer = &nt_layer_conv3x3;
    const nt_precision_row *row = &nt_precisions[e->precision];
    float *in, *weight;
    assert_int_equal(layer->parse_shape(e->shape, &d.problem.shape, NULL), NT_OK);
    assert_int_equal(layer->extents(&d.problem, &d.extents, NULL), NT_OK);
    d.role[NT_ROLE_IN] = inputs(row->in, 1, d.extents.in, &in);
    d.role[NT_ROLE_WEIGHT] = inputs(row->weight, 2, d.extents.weight, &weight);
    d.role[NT_ROLE_OUT] = tensor_new((size_t)d.extents.out * nt_dtype_bytes(row->out));
    d.ref = nt_alloc((size_t)d.extents.out * sizeof *d.ref);
    d.abs = nt_alloc((size_t)d.extents.out * sizeof *d.abs);
    layer->reference(&d.problem, e->kernel->bound, in, weight, d.ref, d.abs, 0, layer->reference_rows(&d.problem));
    free(in);
    free(weight);
    return d;
}

static void data_done(data *d)
{
    for (int i = 0; i <= NT_ROLE_WORKSPACE; i++)
        tensor_done(nt_precisions[d->problem.precision].name, &d->role[i]);
    free(d->ref);
    free(d->abs);
}

/* Outputs beyond the kernel's own bound; NaN is. *largest is the largest error over its bound. */
static size_t violations(const example *e, const data *d, double *largest)
{
    const nt_precision_row *row = &nt_precisions[e->precision];
    double gamma = nt_kernel_gamma(e->kernel, &d->problem);
    size_t count = (size_t)d->extents.out, bad = 0;
    float *out = nt_alloc(count * sizeof *out);
    nt_unpack(row->out, d->role[NT_ROLE_OUT].data, count, out);
    for (size_t i = 0; i < count; i++) {
        double bound = gamma * d->abs[i] + row->unit_out * fabs(d->ref[i]) + (row->out == NT_F16 ? 0x1p-25 : 0);
        double ratio = fabs((double)out[i] - d->ref[i]) / (bound + 1e-30);
        bad += !(ratio <= 1);
        *largest = fmax(*largest, ratio);
    }
    free(out);
    return bad;
}

/* ---- running ---------------------------------------------------------------------------------------------------- */

static void run_stage(void *object, const example *e, const nt_stage *stage, const data *d, bool eager)
{
    run_function run;
    uint64_t args[12] = {0};
    *(void **)&run = dlsym(object, "nt_host_run");
    void *entry = dlsym(object, stage->entry);
    assert_non_null(run);
    assert_non_null(entry);
    assert_true(stage->arg_count <= 12);
    for (int i = 0; i < stage->arg_count; i++) {
        const nt_arg *arg = &stage->arg[i];
        args[i] = arg->kind == NT_ARG_BUFFER ? (uint64_t)(uintptr_t)d->role[arg->role].data : (uint64_t)arg->value;
    }
    const char *wrong = run(entry, args, stage->grid, stage->block[0], stage->smem_dynamic_bytes, eager);
    if (wrong != NULL)
        fail_msg("%s: %s", e->params, wrong);
}

/* All stages of the example's plan, with copies that come at once and as late as they may; `from` of the source is
 * replaced by `to` where it is not NULL. */
static size_t run(const example *e, const char *from, const char *to, double *largest)
{
    data d = data_of(e);
    nt_rule rule = {"example", e->params};
    nt_config config;
    nt_plan plan;
    nt_error err = {0};
    allow_function allow;
    if (nt_kernel_rule_config(e->kernel, &rule, &config, &err) != NT_OK ||
        e->kernel->plan(&d.problem, &config, &device, &plan, &err) != NT_OK)
        fail_msg("%s: %s", e->params, err.what);
    d.role[NT_ROLE_PACKED] = tensor_new(plan.packed_bytes);
    d.role[NT_ROLE_WORKSPACE] = tensor_new(plan.workspace_bytes);
    char *source = nt_kernel_source(e->kernel), *at = from != NULL ? strstr(source, from) : NULL;
    nt_str text = {0};
    assert_true(from == NULL || at != NULL);
    if (at != NULL)
        nt_str_addf(&text, "%.*s%s%s", (int)(at - source), source, to, at + strlen(from));
    void *object = compile(e, at != NULL ? text.data : source, &config, &d.problem);
    *(void **)&allow = dlsym(object, "nt_host_allow");
    allow(d.role[NT_ROLE_PACKED].data, plan.packed_bytes);
    size_t bad = 0;
    for (int eager = 0; eager < 2; eager++) {
        memset(d.role[NT_ROLE_OUT].data, 0xff, d.role[NT_ROLE_OUT].bytes);
        run_stage(object, e, &plan.prepare[0], &d, eager);
        for (int i = 0; i < plan.stage_count; i++)
            run_stage(object, e, &plan.stage[i], &d, eager);
        bad += violations(e, &d, largest);
    }
    dlclose(object);
    free(source);
    nt_str_done(&text);
    data_done(&d);
    return bad;
}

static void results_are_within_their_bounds(void **state)
{
    (void)state;
    for (int i = 0; i < EXAMPLES; i++) {
        const example *e = &examples[i];
        double largest = 0;
        size_t bad = run(e, NULL, NULL, &largest);
        if (bad > 0)
            fail_msg("%zu outputs of %s %s beyond the bound: %s %s", bad, e->kernel->name,
                     nt_precisions[e->precision].name, e->shape, e->params);
        assert_true(largest > 1e-3); /* a bound of thousands of times the error would judge nothing */
    }
}

static void errors_are_seen(void **state)
{
    (void)state;
    static const char *const plants[][2] = {
        {"        nt_copy_wait(0);\n", ""},
        {"2 * half]", "2 * (1 - half)]"},
        {"d[i][1][place]);", "d[i][0][place]);"},
    };
    for (size_t i = 0; i < sizeof plants / sizeof plants[0]; i++) {
        double largest = 0;
        if (run(&examples[0], plants[i][0], plants[i][1], &largest) == 0)
            fail_msg("'%s' in place of '%s' does not show", plants[i][1], plants[i][0]);
    }
}

static void whatever_is_legal_can_be_launched(void **state)
{
    (void)state;
    static const char *const shapes[] = {"64x56x56", "128x28x28", "256x14x14", "512x7x7", "c=3,k=5,h=15,w=8"};
    nt_random random = nt_random_seed(3, 1);
    for (int i = 0; i < 20; i++) {
        const nt_kernel *kernel = i % 2 ? F2 : F4;
        nt_problem problem = {.layer = "conv3x3", .batch = i % 4 < 2 ? 1 : 8, .precision = NT_FP16};
        nt_space *space = NULL;
        nt_error err = {0};
        assert_int_equal(nt_layer_conv3x3.parse_shape(shapes[i % 5], &problem.shape, NULL), NT_OK);
        if (nt_space_build(kernel, &problem, &device, NULL, 0, NULL, &space, &err) != NT_OK)
            fail_msg("%s: %s", shapes[i % 5], err.what);
        uint64_t index;
        nt_config config;
        nt_kernel_default_config(kernel, &config);
        assert_true(i % 5 == 4 || nt_space_index(space, &config, &index));
        for (int n = 0; n < 50; n++) {
            nt_plan plan;
            nt_space_config(space, nt_random_below(&random, nt_space_size(space)), &config);
            assert_int_equal(kernel->plan(&problem, &config, &device, &plan, NULL), NT_OK);
            assert_true(plan.stage[0].block[0] <= 1024 && plan.stage[0].smem_dynamic_bytes <= 232448);
        }
        nt_space_free(space);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(results_are_within_their_bounds),
        cmocka_unit_test(errors_are_seen),
        cmocka_unit_test(whatever_is_legal_can_be_launched),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
