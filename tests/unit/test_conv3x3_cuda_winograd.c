/* test_conv3x3_cuda_winograd.c: the CUDA kernels of Winograd's algorithms, compiled as C and run on the host, over
 * shapes that end in every part of a tile, and against their own error bounds; what a small error in them does; and
 * that what is legal can be launched. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "autotune/space.h"
#include "core/convert.h"
#include "core/mem.h"
#include "core/random.h"
#include "cuda_emulated.h"
#include "kernels/conv3x3/conv3x3.h"
#include "kernels/kernel.h"

extern const nt_layer nt_layer_conv3x3;
extern const nt_kernel nt_kernel_conv3x3_cuda_winograd, nt_kernel_conv3x3_cuda_winograd4;

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
    nt_layout layout;
} example;

#define F2 &nt_kernel_conv3x3_cuda_winograd
#define F4 &nt_kernel_conv3x3_cuda_winograd4
static const example examples[] = {
    {F2, "threads_p=2 threads_k=4 tile_p=4 tile_k=4 c_step=4 unroll=2", "c=6,k=18,h=9,w=11", 1, NT_NHWC},
    {F2, "threads_p=2 threads_k=4 tile_p=4 tile_k=4 c_step=4 unroll=2 buffers=1", "c=6,k=18,h=9,w=11", 2, NT_NCHW},
    {F2, "threads_p=1 threads_k=8 tile_p=8 tile_k=8 c_step=8 split_c=2", "c=33,k=40,h=5,w=8", 1, NT_NHWC},
    {F2, "threads_p=4 threads_k=2 tile_p=4 tile_k=8 c_step=16 split_c=3", "c=97,k=3,h=3,w=8", 3, NT_NCHW},
    {F4, "threads_p=2 threads_k=4 tile_p=4 tile_k=4 c_step=4 unroll=2 buffers=1", "c=6,k=18,h=9,w=11", 1, NT_NHWC},
    {F4, "threads_p=2 threads_k=4 tile_p=8 tile_k=4 c_step=4 unroll=2", "c=3,k=18,h=11,w=16", 1, NT_NCHW},
    {F4, "threads_p=1 threads_k=8 tile_p=4 tile_k=8 c_step=8 split_c=2", "c=33,k=64,h=1,w=1", 1, NT_NHWC},
};
enum { EXAMPLES = sizeof examples / sizeof examples[0] };

typedef struct data {
    nt_problem problem;
    nt_extents extents;
    float *in, *weight;
    double *ref, *abs;
} data;

static data data_of(const example *e)
{
    data d = {.problem = {.layer = "conv3x3", .batch = e->batch, .precision = NT_FP32, .layout = e->layout}};
    const nt_layer *layer = &nt_layer_conv3x3;
    assert_int_equal(layer->parse_shape(e->shape, &d.problem.shape, NULL), NT_OK);
    assert_int_equal(layer->extents(&d.problem, &d.extents, NULL), NT_OK);
    d.in = nt_alloc((size_t)d.extents.in * sizeof *d.in);
    d.weight = nt_alloc((size_t)d.extents.weight * sizeof *d.weight);
    d.ref = nt_alloc((size_t)d.extents.out * sizeof *d.ref);
    d.abs = nt_alloc((size_t)d.extents.out * sizeof *d.abs);
    nt_random_fill(NT_FILL_NORMAL, 5, 1, 0, d.in, (size_t)d.extents.in);
    nt_random_fill(NT_FILL_NORMAL, 5, 2, 0, d.weight, (size_t)d.extents.weight);
    layer->reference(&d.problem, e->kernel->bound, d.in, d.weight, d.ref, d.abs, 0, layer->reference_rows(&d.problem));
    return d;
}

static void data_done(data *d)
{
    free(d->in);
    free(d->weight);
    free(d->ref);
    free(d->abs);
}

/* A change of the source that has to show, or none. */
typedef struct plant {
    const char *from, *to;
} plant;

static char *source_of(const nt_kernel *kernel, plant change)
{
    char *source = nt_kernel_source(kernel), *at = change.from != NULL ? strstr(source, change.from) : NULL;
    if (change.from == NULL)
        return source;
    if (at == NULL)
        fail_msg("the source has no '%s'", change.from);
    nt_str changed = {0};
    nt_str_addf(&changed, "%.*s%s%s", (int)(at - source), source, change.to, at + strlen(change.from));
    free(source);
    return changed.data;
}

typedef struct buffers {
    guarded in, weight, out, packed, workspace;
    void *role[NT_ROLE_COUNT];
} buffers;

static buffers buffers_of(const data *d, const nt_plan *plan)
{
    size_t in = (size_t)d->extents.in * sizeof(float), weight = (size_t)d->extents.weight * sizeof(float);
    buffers b = {guarded_new(in),
                 guarded_new(weight),
                 guarded_new((size_t)d->extents.out * sizeof(float)),
                 guarded_new(plan->packed_bytes),
                 guarded_new(plan->workspace_bytes),
                 {0}};
    memcpy(b.in.data, d->in, in);
    memcpy(b.weight.data, d->weight, weight);
    b.role[NT_ROLE_IN] = b.in.data;
    b.role[NT_ROLE_WEIGHT] = b.weight.data;
    b.role[NT_ROLE_OUT] = b.out.data;
    b.role[NT_ROLE_PACKED] = b.packed.data;
    b.role[NT_ROLE_WORKSPACE] = b.workspace.data;
    return b;
}

static void buffers_done(buffers *b)
{
    guarded_done(&b->in);
    guarded_done(&b->weight);
    guarded_done(&b->out);
    guarded_done(&b->packed);
    guarded_done(&b->workspace);
}

/* Outputs beyond the kernel's own bound; NaN is. *largest is the largest error over its bound. */
static size_t violations(const example *e, const data *d, const float *out, double *largest)
{
    double gamma = nt_kernel_gamma(e->kernel, &d->problem);
    size_t bad = 0;
    for (int64_t i = 0; i < d->extents.out; i++) {
        double ratio = fabs((double)out[i] - d->ref[i]) / (gamma * d->abs[i] + 1e-30);
        bad += !(ratio <= 1);
        *largest = fmax(*largest, ratio);
    }
    return bad;
}

/* All stages of the example's plan, both ways through the threads. */
static size_t run(const example *e, plant change, double *largest)
{
    data d = data_of(e);
    nt_rule rule = {"test", e->params};
    nt_config config;
    nt_plan plan;
    nt_str options = {0};
    assert_int_equal(nt_kernel_rule_config(e->kernel, &rule, &config, NULL), NT_OK);
    assert_null(e->kernel->refuses(&d.problem));
    assert_int_equal(e->kernel->plan(&d.problem, &config, &device, &plan, NULL), NT_OK);
    nt_kernel_options(e->kernel, &d.problem, &config, &options);
    char *source = source_of(e->kernel, change);
    const nt_stage *stages[] = {&plan.prepare[0], &plan.stage[0], &plan.stage[1]};
    int count = 1 + plan.stage_count;
    program p = compile_stages(source, options.data, stages, count);
    buffers b = buffers_of(&d, &plan);
    size_t bad = 0;
    for (int descending = 0; descending < 2; descending++) {
        memset(b.out.data, 0xff, (size_t)d.extents.out * sizeof(float));
        for (*p.entry = 0; *p.entry < count; ++*p.entry)
            launch(&p, stages[*p.entry], b.role, descending);
        bad += violations(e, &d, b.out.data, largest);
    }
    buffers_done(&b);
    dlclose(p.handle);
    free(source);
    nt_str_done(&options);
    data_done(&d);
    return bad;
}

static void results_are_within_their_bounds(void **state)
{
    (void)state;
    for (int i = 0; i < EXAMPLES; i++) {
        const example *e = &examples[i];
        double largest = 0;
        size_t bad = run(e, (plant){NULL, NULL}, &largest);
        if (bad > 0)
            fail_msg("%zu outputs of %s beyond the bound: %s batch %d %s, %s", bad, e->kernel->name, e->shape,
                     (int)e->batch, nt_layout_name(e->layout), e->params);
        assert_true(largest > 2e-4); /* a bound of thousands of times the error would judge nothing */
    }
}

/* What a bound has to see: a barrier or a wait less, a wrong sign, a border, a weight that is off by one in 10^4. */
static void errors_are_seen(void **state)
{
    (void)state;
    static const plant plants[] = {
        {"        nt_fetch_wait();\n", ""},
        {"even - odd", "odd - even"},
        {"v[j] - v[j + 1]", "v[j + 1] - v[j]"},
        {"first + i >= 0", "first + i >= -1"},
        {"        __syncthreads();\n        packed", "        packed"},
        {"(float)transformed_weight(from, step, place)", "(float)transformed_weight(from, step, place) * 1.0001f"},
    };
    for (size_t i = 0; i < sizeof plants / sizeof plants[0]; i++) {
        double largest = 0;
        const example *e = &examples[i % 2 == 0 ? 0 : 4];
        if (run(e, plants[i], &largest) == 0)
            fail_msg("'%s' in place of '%s' does not show", plants[i].to, plants[i].from);
    }
}

/* Problems of the grid that the fp32 bars are about: defaults are legal, whatever is drawn makes a plan within limits.
 */
static void whatever_is_legal_can_be_launched(void **state)
{
    (void)state;
    static const char *const shapes[] = {"64x56x56", "128x28x28", "256x14x14", "512x7x7", "c=3,k=5,h=15,w=8"};
    static const nt_kernel *const kernels[] = {F2, F4};
    nt_random random = nt_random_seed(3, 1);
    for (int i = 0; i < 20; i++) {
        const nt_kernel *kernel = kernels[i % 2];
        nt_problem problem = {.layer = "conv3x3", .batch = i % 4 < 2 ? 1 : 8, .layout = (nt_layout)(i / 2 % 2)};
        nt_space *space = NULL;
        nt_error err = {0};
        assert_int_equal(nt_layer_conv3x3.parse_shape(shapes[i % 5], &problem.shape, NULL), NT_OK);
        if (nt_space_build(kernel, &problem, &device, NULL, 0, NULL, &space, &err) != NT_OK)
            fail_msg("%s: %s", shapes[i % 5], err.what);
        for (int n = 0; n < 50; n++) {
            nt_config config;
            nt_plan plan;
            nt_space_config(space, nt_random_below(&random, nt_space_size(space)), &config);
            assert_int_equal(kernel->plan(&problem, &config, &device, &plan, NULL), NT_OK);
            assert_true(plan.stage[0].block[0] % 32 == 0 && plan.stage[0].block[0] <= 1024);
            assert_true(plan.stage[0].smem_dynamic_bytes <= 232448);
        }
        nt_space_free(space);
    }
}

static void other_problems_are_refused(void **state)
{
    (void)state;
    nt_problem problem = {.layer = "conv3x3", .batch = 1};
    assert_int_equal(nt_layer_conv3x3.parse_shape("c=8,k=8,h=8,w=8,stride=2", &problem.shape, NULL), NT_OK);
    assert_non_null(strstr((F2)->refuses(&problem), "stride 1"));
    nt_device_info small = device;
    small.smem_per_block_bytes = 4096;
    nt_config config;
    nt_plan plan;
    nt_error err = {0};
    assert_int_equal(nt_layer_conv3x3.parse_shape("64x56x56", &problem.shape, NULL), NT_OK);
    nt_kernel_default_config(F4, &config);
    assert_int_equal((F4)->plan(&problem, &config, &small, &plan, &err), NT_LAUNCH_FAILED);
    assert_non_null(strstr(err.what, "a block may have 4096"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(results_are_within_their_bounds),
        cmocka_unit_test(errors_are_seen),
        cmocka_unit_test(whatever_is_legal_can_be_launched),
        cmocka_unit_test(other_problems_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
