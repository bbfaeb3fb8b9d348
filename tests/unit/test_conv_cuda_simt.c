/* test_conv_cuda_simt.c: the convolutions for CUDA cores and the CUDA reference of all convolutions, compiled as C and run
 * on the host over buffers that end at an unmapped page, against the fp64 reference under each kernel's own bound. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "core/convert.h"
#include "core/mem.h"
#include "core/random.h"
#include "cuda_emulated.h"
#include "kernels/conv/conv.h"
#include "kernels/kernel.h"

extern const nt_kernel nt_kernel_dwconv3x3_cuda_depthwise, nt_kernel_conv7x7_cuda_simt;
extern const nt_kernel nt_kernel_conv_bn_relu_cuda_simt, nt_kernel_conv_bn_relu_cuda_chain;

static const nt_device_info device = {
    .kind = NT_DEVICE_CUDA, .compute_capability = 90, .smem_per_block_bytes = 232448, .max_threads_per_block = 1024};

typedef struct data {
    nt_problem problem;
    nt_extents extents;
    float *in, *weight; /* as rounded in memory */
    double *ref, *abs;
} data;

static void rounded(nt_dtype type, float *values, size_t n)
{
    void *packed = nt_alloc(n * nt_dtype_bytes(type) + 1);
    float one = 0.05f;
    nt_pack(type, values, n, type == NT_I8 ? &one : NULL, type == NT_I8, n, packed);
    nt_unpack(type, packed, n, values);
    free(packed);
}

static data make(const char *layer_name, const char *shape, nt_precision precision, nt_layout layout)
{
    data d = {.problem = {.batch = 2, .precision = precision, .layout = layout}};
    const nt_layer *layer = nt_layer_find(layer_name);
    nt_error err;
    nt_copy(d.problem.layer, sizeof d.problem.layer, layer_name);
    assert_int_equal(layer->parse_shape(shape, &d.problem.shape, &err), NT_OK);
    assert_int_equal(layer->extents(&d.problem, &d.extents, &err), NT_OK);
    d.in = nt_alloc((size_t)d.extents.in * sizeof(float));
    d.weight = nt_alloc((size_t)d.extents.weight * sizeof(float));
    d.ref = nt_alloc((size_t)d.extents.out * sizeof(double));
    d.abs = nt_alloc((size_t)d.extents.out * sizeof(double));
    nt_random_fill(NT_FILL_NORMAL, 3, 1, 0, d.in, (size_t)d.extents.in);
    nt_random_fill(NT_FILL_NORMAL, 3, 2, 0, d.weight, (size_t)d.extents.weight);
    if (layer->amend_weight != NULL)
        layer->amend_weight(&d.problem, d.weight);
    rounded(nt_precisions[precision].in, d.in, (size_t)d.extents.in);
    rounded(nt_precisions[precision].weight, d.weight, (size_t)d.extents.weight);
    layer->reference(&d.problem, NT_BOUND_DIRECT, d.in, d.weight, d.ref, d.abs, 0, layer->reference_rows(&d.problem));
    return d;
}

static void done(data *d)
{
    free(d->in);
    free(d->weight);
    free(d->ref);
    free(d->abs);
}

static guarded as_memory(nt_dtype type, const float *values, size_t n)
{
    guarded g = guarded_new(n * nt_dtype_bytes(type));
    float one = 1;
    nt_pack(type, values, n, type == NT_I8 ? &one : NULL, type == NT_I8, n, g.data);
    return g;
}

static void run_stages(const nt_stage *stages, int count, const char *source, const char *options,
                       void *const role[NT_ROLE_COUNT], int descending)
{
    for (int i = 0; i < count; i++) {
        nt_stage stage = stages[i];
        program p = compile(source, options, &stage);
        launch(&p, &stage, role, descending);
        dlclose(p.handle);
    }
}

static double value_at(nt_dtype type, const void *from, size_t i)
{
    float value;
    if (type == NT_I32)
        return ((const int32_t *)from)[i];
    nt_unpack(type, (const char *)from + i * nt_dtype_bytes(type), 1, &value);
    return (double)value;
}

static void check(const nt_kernel *kernel, const char *setting, const char *shape, nt_precision precision,
                  nt_layout layout)
{
    data d = make(kernel->layer, shape, precision, layout);
    const nt_precision_row *row = &nt_precisions[precision];
    nt_rule rule = {"test", setting};
    nt_config config;
    nt_plan plan;
    nt_error err;
    nt_str options = {0};
    assert_int_equal(nt_kernel_rule_config(kernel, &rule, &config, &err), NT_OK);
    assert_int_equal(kernel->plan(&d.problem, &config, &device, &plan, &err), NT_OK);
    nt_kernel_options(kernel, &d.problem, &config, &options);
    char *source = nt_kernel_source(kernel);
    guarded in = as_memory(row->in, d.in, (size_t)d.extents.in);
    guarded weight = as_memory(row->weight, d.weight, (size_t)d.extents.weight);
    guarded out = guarded_new((size_t)d.extents.out * nt_dtype_bytes(row->out));
    guarded packed = guarded_new((plan.packed_bytes + 255) / 256 * 256);
    guarded workspace = guarded_new((plan.workspace_bytes + 255) / 256 * 256 + 256);
    void *role[NT_ROLE_COUNT] = {[NT_ROLE_IN] = in.data,         [NT_ROLE_WEIGHT] = weight.data,
                                 [NT_ROLE_OUT] = out.data,       [NT_ROLE_PACKED] = packed.data,
                                 [NT_ROLE_WORKSPACE] = workspace.data};
    run_stages(plan.prepare, plan.prepare_count, source, nt_str_text(&options), role, 0);
    run_stages(plan.stage, plan.stage_count, source, nt_str_text(&options), role, 1);
    double gamma = nt_kernel_gamma(kernel, &d.problem);
    for (size_t i = 0; i < (size_t)d.extents.out; i++) {
        double got = value_at(row->out, out.data, i);
        double bound = gamma * d.abs[i] + row->unit_out * fabs(d.ref[i]) + (row->out == NT_F16 ? 0x1p-25 : 0);
        if (!(fabs(got - d.ref[i]) <= bound))
            fail_msg("%s %s %s %s %s, element %zu: %g instead of %g", kernel->name, setting, shape, row->name,
                     nt_layout_name(layout), i, got, d.ref[i]);
    }
    guarded_done(&in);
    guarded_done(&weight);
    guarded_done(&out);
    guarded_done(&packed);
    guarded_done(&workspace);
    nt_str_done(&options);
    free(source);
    done(&d);
}

static void depthwise(void **state)
{
    (void)state;
    const nt_kernel *kernel = &nt_kernel_dwconv3x3_cuda_depthwise;
    check(kernel, "vec=4 pixels=2 threads=64", "c=12,h=7,w=9", NT_FP32, NT_NHWC);
    check(kernel, "vec=2 pixels=7 threads=128", "c=6,h=5,w=11,stride=2", NT_FP16, NT_NHWC);
    check(kernel, "vec=8 pixels=1 threads=64", "c=8,h=1,w=3", NT_BF16, NT_NHWC);
    check(kernel, "vec=4 pixels=4 threads=64", "c=4,h=6,w=6", NT_INT8, NT_NHWC);
    check(kernel, "vec=1 pixels=4 threads=64", "c=5,h=7,w=9,stride=2", NT_FP32, NT_NCHW);
    check(kernel, "vec=1 pixels=2 threads=64", "c=3,h=4,w=5", NT_INT8, NT_NCHW);
}

static void seven_by_seven(void **state)
{
    (void)state;
    const nt_kernel *kernel = &nt_kernel_conv7x7_cuda_simt;
    check(kernel, "block_x=8 block_y=8 pixels=2 channels=2", "c=3,k=20,h=9,w=11", NT_FP32, NT_NHWC);
    check(kernel, "block_x=16 block_y=4 pixels=4 channels=1", "c=3,k=5,h=8,w=7", NT_BF16, NT_NCHW);
    check(kernel, "block_x=8 block_y=8 pixels=1 channels=4", "c=2,k=9,h=7,w=7,stride=1", NT_INT8, NT_NHWC);
}

static void batch_norm_and_activations(void **state)
{
    (void)state;
    check(&nt_kernel_conv_bn_relu_cuda_simt, "block_x=8 block_y=8", "c=5,k=11,h=6,w=7", NT_FP32, NT_NHWC);
    check(&nt_kernel_conv_bn_relu_cuda_simt, "block_x=8 block_y=8", "c=5,k=3,h=6,w=7,act=silu", NT_FP16, NT_NCHW);
    check(&nt_kernel_conv_bn_relu_cuda_simt, "block_x=8 block_y=8", "c=4,k=3,h=6,w=7,act=gelu", NT_FP32, NT_NHWC);
    check(&nt_kernel_conv_bn_relu_cuda_chain, "block_x=8 block_y=8", "c=5,k=11,h=6,w=7,act=relu6", NT_FP32, NT_NHWC);
    check(&nt_kernel_conv_bn_relu_cuda_chain, "block_x=8 block_y=8", "c=5,k=3,h=6,w=7,stride=2,act=none", NT_BF16, NT_NCHW);
}

static void check_reference(const char *layer, const char *shape, nt_layout layout)
{
    data d = make(layer, shape, NT_FP32, layout);
    size_t count = (size_t)d.extents.out;
    nt_plan plan;
    assert_int_equal(nt_conv_reference_cuda_plan(&d.problem, NT_BOUND_DIRECT, &plan, NULL), NT_OK);
    guarded in = as_memory(NT_F32, d.in, (size_t)d.extents.in), weight = as_memory(NT_F32, d.weight, (size_t)d.extents.weight);
    guarded ref = guarded_new(count * sizeof(double)), abs = guarded_new(count * sizeof(double));
    void *role[NT_ROLE_COUNT] = {[NT_ROLE_IN] = in.data, [NT_ROLE_WEIGHT] = weight.data, [NT_ROLE_REF] = ref.data,
                                 [NT_ROLE_ABS] = abs.data};
    run_stages(plan.stage, 1, nt_embed_conv_reference_cu, "", role, 0);
    for (size_t i = 0; i < count; i++) {
        assert_true(fabs(((const double *)ref.data)[i] - d.ref[i]) <= 1e-13 * d.abs[i]);
        assert_true(fabs(((const double *)abs.data)[i] - d.abs[i]) <= 1e-13 * d.abs[i]);
    }
    guarded_done(&in);
    guarded_done(&weight);
    guarded_done(&ref);
    guarded_done(&abs);
    done(&d);
}

static void the_references_agree(void **state)
{
    static const struct {
        const char *layer, *shape;
    } cases[] = {
        {"conv3x3", "c=5,k=7,h=6,w=9,stride=2"}, {"conv1x1", "c=5,k=70,h=4,w=5"},
        {"conv7x7", "c=3,k=4,h=9,w=8"},          {"dwconv3x3", "c=9,h=5,w=6,stride=2"},
        {"fc", "c=33,k=17"},                     {"conv_bn_relu", "c=4,k=5,h=5,w=4,act=silu"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++)
        for (int layout = 0; layout < NT_LAYOUT_COUNT; layout++)
            check_reference(cases[i].layer, cases[i].shape, (nt_layout)layout);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(depthwise),
        cmocka_unit_test(seven_by_seven),
        cmocka_unit_test(batch_norm_and_activations),
        cmocka_unit_test(the_references_agree),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
