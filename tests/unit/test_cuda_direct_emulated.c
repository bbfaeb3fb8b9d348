/* test_cuda_direct_emulated.c: the CUDA convolutions and their fp64 reference, compiled as C and run on the host.
 *
 * What is tested is what a GPU would get: the kernel's own text, options and plan, at shapes that end in the middle of
 * every tile. Buffers end at an unmapped page and the compiled code traps on misaligned or overflowing arithmetic, so
 * that a read past the end or a wrong vector load fails as well as a wrong number does. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "core/convert.h"
#include "core/mem.h"
#include "core/random.h"
#include "cuda_emulated.h"
#include "kernels/conv3x3/conv3x3.h"
#include "kernels/kernel.h"

extern const nt_layer nt_layer_conv3x3;
extern const nt_kernel nt_kernel_conv3x3_cuda_direct, nt_kernel_conv3x3_cuda_fault;

/* Limits of a large GPU; plans read them. */
static const nt_device_info device = {
    .kind = NT_DEVICE_CUDA, .compute_capability = 90, .smem_per_block_bytes = 232448, .max_threads_per_block = 1024};

/* ---- a problem, its data and what is right ----------------------------------------------------------------------- */

typedef struct tensors {
    nt_problem problem;
    int64_t c, k, h, w;
    size_t in_count, weight_count, out_count;
    float *in, *weight; /* as rounded in memory */
    double *ref, *abs;
} tensors;

static size_t in_at(const tensors *t, int64_t n, int64_t c, int64_t y, int64_t x)
{
    return (size_t)(t->problem.layout == NT_NHWC ? ((n * t->h + y) * t->w + x) * t->c + c
                                                 : ((n * t->c + c) * t->h + y) * t->w + x);
}

static size_t out_at(const tensors *t, int64_t n, int64_t k, int64_t y, int64_t x)
{
    return (size_t)(t->problem.layout == NT_NHWC ? ((n * t->h + y) * t->w + x) * t->k + k
                                                 : ((n * t->k + k) * t->h + y) * t->w + x);
}

/* Zero outside the image. */
static double in_value(const tensors *t, int64_t n, int64_t c, int64_t y, int64_t x)
{
    return y < 0 || y >= t->h || x < 0 || x >= t->w ? 0.0 : (double)t->in[in_at(t, n, c, y, x)];
}

static double weight_value(const tensors *t, int64_t k, int64_t c, int64_t tap)
{
    return (double)t->weight[t->problem.layout == NT_NHWC ? (k * 9 + tap) * t->c + c : (k * t->c + c) * 9 + tap];
}

static void fill_expected(tensors *t)
{
    for (int64_t n = 0; n < t->problem.batch; n++)
        for (int64_t k = 0; k < t->k; k++)
            for (int64_t y = 0; y < t->h; y++)
                for (int64_t x = 0; x < t->w; x++) {
                    double sum = 0.0, size = 0.0;
                    for (int64_t c = 0; c < t->c; c++)
                        for (int tap = 0; tap < 9; tap++) {
                            double p = in_value(t, n, c, y + tap / 3 - 1, x + tap % 3 - 1) * weight_value(t, k, c, tap);
                            sum += p;
                            size += fabs(p);
                        }
                    size_t i = out_at(t, n, k, y, x);
                    t->ref[i] = sum;
                    t->abs[i] = size;
                }
}

/* Random values, rounded as memory of the precision rounds them. */
static float *rounded(nt_dtype type, uint64_t stream, size_t count)
{
    float *values = nt_alloc(count * sizeof *values);
    void *packed = nt_alloc(count * nt_dtype_bytes(type));
    nt_random_fill(NT_FILL_NORMAL, 7, stream, 0, values, count);
    nt_pack(type, values, count, NULL, 0, 1, packed);
    nt_unpack(type, packed, count, values);
    free(packed);
    return values;
}

static tensors tensors_new(const char *shape, int64_t batch, nt_precision precision, nt_layout layout)
{
    tensors t = {.problem = {.layer = "conv3x3", .batch = batch, .precision = precision, .layout = layout}};
    assert_int_equal(nt_shape_parse(shape, &t.problem.shape, NULL), NT_OK);
    t.c = nt_shape_get(&t.problem.shape, "c");
    t.k = nt_shape_get(&t.problem.shape, "k");
    t.h = nt_shape_get(&t.problem.shape, "h");
    t.w = nt_shape_get(&t.problem.shape, "w");
    t.in_count = (size_t)(batch * t.c * t.h * t.w);
    t.weight_count = (size_t)(t.k * t.c * 9);
    t.out_count = (size_t)(batch * t.k * t.h * t.w);
    t.in = rounded(nt_precisions[precision].in, 1, t.in_count);
    t.weight = rounded(nt_precisions[precision].weight, 2, t.weight_count);
    t.ref = nt_alloc(t.out_count * sizeof(double));
    t.abs = nt_alloc(t.out_count * sizeof(double));
    fill_expected(&t);
    return t;
}

static void tensors_done(tensors *t)
{
    free(t->in);
    free(t->weight);
    free(t->ref);
    free(t->abs);
}

/* ---- kernels ----------------------------------------------------------------------------------------------------- */

/* Outputs beyond the kernel's own error bound; NaN is beyond it. */
static size_t violations(const nt_kernel *kernel, const tensors *t, const float *out)
{
    const nt_precision_row *row = &nt_precisions[t->problem.precision];
    double gamma = nt_kernel_gamma(kernel, &t->problem);
    size_t bad = 0;
    for (size_t i = 0; i < t->out_count; i++) {
        double bound = gamma * t->abs[i] + row->unit_out * fabs(t->ref[i]) + 1e-30;
        if (!(fabs((double)out[i] - t->ref[i]) <= bound))
            bad++;
    }
    return bad;
}

/* Violations of one configuration, both ways through the threads. */
static size_t run_kernel(const nt_kernel *kernel, const char *params, tensors *t)
{
    const nt_precision_row *row = &nt_precisions[t->problem.precision];
    nt_rule rule = {"test", params};
    nt_config config;
    nt_plan plan;
    nt_str options = {0};
    assert_int_equal(nt_kernel_rule_config(kernel, &rule, &config, NULL), NT_OK);
    assert_null(kernel->refuses(&t->problem));
    assert_int_equal(kernel->plan(&t->problem, &config, &device, &plan, NULL), NT_OK);
    nt_kernel_options(kernel, &t->problem, &config, &options);
    char *source = nt_kernel_source(kernel);
    program p = compile(source, options.data, &plan.stage[0]);
    guarded in = guarded_new(t->in_count * nt_dtype_bytes(row->in));
    guarded weight = guarded_new(t->weight_count * nt_dtype_bytes(row->weight));
    float *out_values = nt_alloc(t->out_count * sizeof(float));
    nt_pack(row->in, t->in, t->in_count, NULL, 0, 1, in.data);
    nt_pack(row->weight, t->weight, t->weight_count, NULL, 0, 1, weight.data);
    size_t bad = 0;
    for (int descending = 0; descending < 2; descending++) {
        guarded out = guarded_new(t->out_count * nt_dtype_bytes(row->out));
        void *role[NT_ROLE_COUNT] = {[NT_ROLE_IN] = in.data, [NT_ROLE_WEIGHT] = weight.data, [NT_ROLE_OUT] = out.data};
        launch(&p, &plan.stage[0], role, descending);
        nt_unpack(row->out, out.data, t->out_count, out_values);
        bad += violations(kernel, t, out_values);
        guarded_done(&out);
    }
    guarded_done(&in);
    guarded_done(&weight);
    dlclose(p.handle);
    free(out_values);
    free(source);
    nt_str_done(&options);
    return bad;
}

static void check_direct(const char *shape, int64_t batch, nt_precision precision, nt_layout layout, const char *params)
{
    tensors t = tensors_new(shape, batch, precision, layout);
    size_t bad = run_kernel(&nt_kernel_conv3x3_cuda_direct, params, &t);
    if (bad > 0)
        fail_msg("%zu outputs beyond the bound: %s batch %d %s %s, %s", bad, shape, (int)batch,
                 nt_precisions[precision].name, nt_layout_name(layout), params);
    tensors_done(&t);
}

static void the_default_and_the_rule_are_right(void **state)
{
    (void)state;
    const nt_kernel *kernel = &nt_kernel_conv3x3_cuda_direct;
    check_direct("c=16,k=64,h=9,w=7", 2, NT_FP32, NT_NHWC, "");
    check_direct("c=5,k=17,h=9,w=7", 2, NT_FP32, NT_NHWC, kernel->rules[0].params);
    check_direct("c=5,k=17,h=9,w=7", 2, NT_FP32, NT_NCHW, kernel->rules[0].params);
}

static void staged_tiles_are_right_at_odd_shapes(void **state)
{
    (void)state;
    static const char *const tiles[] = {
        "block_x=8 block_y=8 tile_w=8 tile_k=8 c_step=8 vec=4 unroll=1 buffers=2 min_blocks=2 group=1",
        "block_x=16 block_y=4 tile_w=7 tile_k=2 c_step=16 vec=2 unroll=4 buffers=1 min_blocks=1 group=8",
        "block_x=32 block_y=8 tile_w=1 tile_k=1 c_step=4 vec=1 unroll=1 buffers=2 min_blocks=1 group=64",
    };
    for (size_t i = 0; i < sizeof tiles / sizeof tiles[0]; i++)
        for (int layout = 0; layout < NT_LAYOUT_COUNT; layout++) {
            check_direct("c=12,k=70,h=7,w=9", 2, NT_FP32, (nt_layout)layout, tiles[i]);
            check_direct("c=3,k=10,h=5,w=1", 1, NT_FP32, (nt_layout)layout, tiles[i]);
        }
}

static void tiles_without_shared_memory_are_right_at_odd_shapes(void **state)
{
    (void)state;
    static const char *const tiles[] = {
        "block_x=8 block_y=8 tile_w=4 tile_k=4 c_step=8 vec=4 unroll=2 smem=false buffers=1 min_blocks=2 group=8",
        "block_x=32 block_y=4 tile_w=7 tile_k=1 c_step=4 vec=2 unroll=1 smem=false buffers=1 min_blocks=1 group=1",
    };
    for (size_t i = 0; i < sizeof tiles / sizeof tiles[0]; i++)
        for (int layout = 0; layout < NT_LAYOUT_COUNT; layout++) {
            check_direct("c=12,k=70,h=7,w=9", 2, NT_FP32, (nt_layout)layout, tiles[i]);
            check_direct("c=7,k=3,h=1,w=6", 2, NT_FP32, (nt_layout)layout, tiles[i]);
        }
}

static void half_precisions_are_right(void **state)
{
    (void)state;
    for (int layout = 0; layout < NT_LAYOUT_COUNT; layout++) {
        check_direct("c=12,k=20,h=6,w=7", 2, NT_FP16, (nt_layout)layout, "vec=4");
        check_direct("c=12,k=20,h=6,w=7", 2, NT_BF16, (nt_layout)layout, "vec=2 smem=false buffers=1");
    }
    check_direct("c=9,k=5,h=6,w=7", 2, NT_BF16, NT_NHWC, "vec=4");
}

static void the_faulty_kernel_is_right_until_asked(void **state)
{
    (void)state;
    for (int layout = 0; layout < NT_LAYOUT_COUNT; layout++) {
        tensors t = tensors_new("c=5,k=6,h=4,w=7", 2, NT_FP32, (nt_layout)layout);
        assert_int_equal(run_kernel(&nt_kernel_conv3x3_cuda_fault, "fault=none", &t), 0);
        assert_int_equal(run_kernel(&nt_kernel_conv3x3_cuda_fault, "fault=wrong_result", &t), 2); /* one each way */
        tensors_done(&t);
    }
}

/* ---- the reference ----------------------------------------------------------------------------------------------- */

/* Against plain loops, and the magnitudes of bounds against the host's, which test_conv3x3_layer.c checks. */
static void check_reference(const program *p, const char *shape, int64_t batch, nt_layout layout, nt_bound bound)
{
    tensors t = tensors_new(shape, batch, NT_FP32, layout);
    nt_plan plan;
    assert_int_equal(nt_conv3x3_reference_cuda_plan(&t.problem, bound, &plan, NULL), NT_OK);
    guarded in = guarded_new(t.in_count * sizeof(float)), weight = guarded_new(t.weight_count * sizeof(float));
    guarded ref = guarded_new(t.out_count * sizeof(double)), size = guarded_new(t.out_count * sizeof(double));
    memcpy(in.data, t.in, t.in_count * sizeof(float));
    memcpy(weight.data, t.weight, t.weight_count * sizeof(float));
    void *role[NT_ROLE_COUNT] = {
        [NT_ROLE_IN] = in.data, [NT_ROLE_WEIGHT] = weight.data, [NT_ROLE_REF] = ref.data, [NT_ROLE_ABS] = size.data};
    *p->entry = (int)bound;
    launch(p, &plan.stage[0], role, 0);
    const double *got_ref = ref.data, *got_size = size.data;
    double *want_ref = nt_alloc(t.out_count * sizeof(double)), *want_size = nt_alloc(t.out_count * sizeof(double));
    nt_conv3x3_reference(&t.problem, bound, t.in, t.weight, want_ref, want_size, 0, batch * t.h);
    for (size_t i = 0; i < t.out_count; i++) {
        assert_true(fabs(got_ref[i] - t.ref[i]) <= 1e-13 * t.abs[i]);
        assert_true(fabs(got_size[i] - want_size[i]) <= 1e-13 * want_size[i]);
    }
    role[NT_ROLE_ABS] = NULL; /* the magnitudes need not be wanted */
    launch(p, &plan.stage[0], role, 1);
    free(want_ref);
    free(want_size);
    guarded_done(&in);
    guarded_done(&weight);
    guarded_done(&ref);
    guarded_done(&size);
    tensors_done(&t);
}

/* The entries of all bounds, compiled once. */
static program compile_reference(void)
{
    nt_problem problem = {.layer = "conv3x3", .batch = 1};
    nt_plan plan[NT_BOUND_COUNT];
    const nt_stage *stages[NT_BOUND_COUNT];
    assert_int_equal(nt_shape_parse("c=1,k=1,h=1,w=1", &problem.shape, NULL), NT_OK);
    for (int bound = 0; bound < NT_BOUND_COUNT; bound++) {
        assert_int_equal(nt_conv3x3_reference_cuda_plan(&problem, (nt_bound)bound, &plan[bound], NULL), NT_OK);
        stages[bound] = &plan[bound].stage[0];
    }
    char *source = nt_layer_reference_source(&nt_layer_conv3x3);
    program p = compile_stages(source, "", stages, NT_BOUND_COUNT);
    free(source);
    return p;
}

static void the_reference_agrees_with_plain_loops(void **state)
{
    (void)state;
    program p = compile_reference();
    for (int layout = 0; layout < NT_LAYOUT_COUNT; layout++)
        for (int bound = 0; bound < NT_BOUND_COUNT; bound++) {
            check_reference(&p, "c=11,k=70,h=7,w=9", 2, (nt_layout)layout, (nt_bound)bound);
            check_reference(&p, "c=1,k=1,h=1,w=1", 1, (nt_layout)layout, (nt_bound)bound);
        }
    dlclose(p.handle);
}

static void problems_beyond_32_bits_are_refused(void **state)
{
    (void)state;
    nt_problem problem = {.layer = "conv3x3", .batch = (int64_t)1 << 40, .precision = NT_FP32, .layout = NT_NHWC};
    nt_plan plan;
    nt_error err;
    assert_int_equal(nt_shape_parse("c=64,k=64,h=56,w=56", &problem.shape, &err), NT_OK);
    assert_non_null(nt_kernel_conv3x3_cuda_direct.refuses(&problem));
    assert_non_null(nt_kernel_conv3x3_cuda_fault.refuses(&problem));
    assert_int_equal(nt_conv_reference_cuda_plan(&problem, NT_BOUND_DIRECT, &plan, &err), NT_USAGE);
    assert_non_null(strstr(err.what, "2^31"));
}

/* The space prunes such configurations; a plan made without one still says why. */
static void plans_beyond_the_device_say_why(void **state)
{
    (void)state;
    const nt_kernel *kernel = &nt_kernel_conv3x3_cuda_direct;
    nt_device_info small = device;
    small.smem_per_block_bytes = 4096;
    nt_problem problem = {.layer = "conv3x3", .batch = 8, .precision = NT_FP32, .layout = NT_NHWC};
    nt_config config;
    nt_plan plan;
    nt_error err;
    assert_int_equal(nt_shape_parse("c=64,k=64,h=56,w=56", &problem.shape, &err), NT_OK);
    nt_kernel_default_config(kernel, &config);
    assert_int_equal(kernel->plan(&problem, &config, &small, &plan, &err), NT_LAUNCH_FAILED);
    assert_non_null(strstr(err.what, "4096"));
    assert_int_equal(kernel->plan(&problem, &config, &device, &plan, &err), NT_OK);
    assert_int_equal(plan.stage[0].grid[0], 392); /* 25088 pixels in tiles of 64, 64 channels in one */
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_default_and_the_rule_are_right),
        cmocka_unit_test(staged_tiles_are_right_at_odd_shapes),
        cmocka_unit_test(tiles_without_shared_memory_are_right_at_odd_shapes),
        cmocka_unit_test(half_precisions_are_right),
        cmocka_unit_test(the_faulty_kernel_is_right_until_asked),
        cmocka_unit_test(the_reference_agrees_with_plain_loops),
        cmocka_unit_test(problems_beyond_32_bits_are_refused),
        cmocka_unit_test(plans_beyond_the_device_say_why),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
