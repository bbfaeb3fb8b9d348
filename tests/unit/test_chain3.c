/* test_chain3.c: three 1x1 convolutions with relu: sizes, the fp64 reference by hand and on a CUDA device, and every
 * kernel against it under its own bound: those of the cpu compiled and run, those of CUDA as C on the host, thread by
 * thread (cuda_emulation.h) or, on tensor cores, lane by lane (hopper_emulation.h). Channels and pixels end in the
 * middle of vectors, tiles and blocks. Faults put into the sources must be found. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "cpu_run.h"
#include "kernels/conv1x1_chain3/chain3.h"
#include "plans_emulated.h"

#define LAYER "conv1x1_chain3"

/* ---- ways to run a plan ------------------------------------------------------------------------------------------------- */

static size_t run_cpu(const nt_kernel *kernel, const fixture *f, const nt_config *config, const nt_plan *plan,
                      const char *source, const char *options)
{
    (void)config;
    void *library = cpu_compile(source, options, "-O1 -march=native");
    size_t found = 0;
    assert_non_null(library);
    for (int parts = 1; parts <= 3; parts += 2) {
        memory m = memory_of(f, plan);
        nt_binding binding = {.address = {0}};
        for (int i = 0; i < NT_ROLE_COUNT; i++)
            binding.address[i] = (uintptr_t)m.role[i];
        assert_true(cpu_run_plan(library, plan, &binding, parts));
        found += faults_of(&m, f, kernel);
    }
    dlclose(library);
    return found;
}

/* Thread by thread; each entry is a program of its own, because a program calls one. */
static size_t run_threads(const nt_kernel *kernel, const fixture *f, const nt_plan *plan, const char *source,
                          const char *options)
{
    const nt_stage *stages[NT_MAX_PREPARES + NT_MAX_STAGES];
    program programs[NT_MAX_PREPARES + NT_MAX_STAGES];
    int count = 0;
    size_t found = 0;
    for (int i = 0; i < plan->prepare_count; i++)
        stages[count++] = &plan->prepare[i];
    for (int i = 0; i < plan->stage_count; i++)
        stages[count++] = &plan->stage[i];
    for (int i = 0; i < count; i++)
        programs[i] = i > 0 && strcmp(stages[i]->entry, stages[i - 1]->entry) == 0
                          ? programs[i - 1]
                          : compile(source, options, stages[i]);
    for (int descending = 0; descending < 2; descending++) {
        memory m = memory_of(f, plan);
        for (int i = 0; i < count; i++)
            launch(&programs[i], stages[i], m.role, descending);
        found += faults_of(&m, f, kernel);
    }
    return found;
}

/* ---- every kernel ---------------------------------------------------------------------------------------------------- */

typedef struct example {
    const char *kernel, *shape, *params;
    nt_precision precision;
    nt_layout layout;
} example;

static size_t faults(const example *e, nt_device_kind kind, const char *source, const char **wrong)
{
    const nt_kernel *kernel = nt_kernel_find(LAYER, kind, e->kernel);
    assert_non_null(kernel);
    fixture f = fixture_new(LAYER, e->shape, FIXTURE_BATCH, e->precision, e->layout);
    nt_config config = config_of(kernel, e->params);
    nt_plan plan = plan_of(kernel, &f, &config);
    nt_str options = {0};
    nt_kernel_options(kernel, &f.problem, &config, &options);
    *wrong = NULL;
    size_t found = kind == NT_DEVICE_CPU ? run_cpu(kernel, &f, &config, &plan, source, nt_str_text(&options))
                   : strncmp(e->kernel, "simt", 4) == 0
                       ? run_threads(kernel, &f, &plan, source, nt_str_text(&options))
                       : run_lanes(kernel, &f, &plan, source, nt_str_text(&options), wrong);
    nt_str_done(&options);
    fixture_done(&f);
    return found;
}

static void check(const example *e, int count, nt_device_kind kind)
{
    for (int i = 0; i < count; i++) {
        const char *wrong;
        char *source = nt_kernel_source(nt_kernel_find(LAYER, kind, e[i].kernel));
        size_t found = faults(&e[i], kind, source, &wrong);
        if (found > 0)
            fail_msg("%s %s %s %s %s: %zu faults; %s", e[i].kernel, e[i].shape, e[i].params,
                     nt_precisions[e[i].precision].name, nt_layout_name(e[i].layout), found, wrong ? wrong : "");
        free(source);
    }
}

#define COUNT(list) ((int)(sizeof list / sizeof list[0]))

static void kernels_of_the_cpu(void **state)
{
    (void)state;
    static const example list[] = {
        {"fused", "c=5,k1=33,k2=3,k=17,h=3,w=5", "vector_bytes=32 positions=6 vectors=2", NT_FP32, NT_NHWC},
        {"fused", "c=40,k1=9,k2=70,k=64,h=5,w=7", "vector_bytes=16 positions=4 vectors=2 unroll=2", NT_FP32, NT_NCHW},
        {"fused", "c=5,k1=33,k2=3,k=17,h=3,w=5", "vector_bytes=32 positions=4 vectors=2 pixel_tiles=1", NT_BF16,
         NT_NHWC},
        {"fused", "c=16,k1=32,k2=8,k=41,h=5,w=3", "vector_bytes=64 positions=2 vectors=4", NT_BF16, NT_NCHW},
        {"three", "c=5,k1=33,k2=3,k=17,h=3,w=5", "vector_bytes=32 positions=6 vectors=2", NT_FP32, NT_NHWC},
        {"three", "c=150,k1=9,k2=70,k=64,h=5,w=7", "vector_bytes=16 positions=4 vectors=2 depth=64", NT_BF16, NT_NCHW},
    };
    check(list, COUNT(list), NT_DEVICE_CPU);
}

static void kernels_on_cuda_cores(void **state)
{
    (void)state;
    static const example list[] = {
        {"simt", "c=5,k1=33,k2=3,k=17,h=3,w=5", "block_x=16 block_y=4 pixels=4 channels=1", NT_FP32, NT_NHWC},
        {"simt", "c=40,k1=9,k2=70,k=66,h=5,w=7", "block_x=8 block_y=8 pixels=2 channels=4", NT_FP32, NT_NCHW},
        {"simt_three", "c=5,k1=33,k2=3,k=17,h=3,w=5", "block_x=8 block_y=8 pixels=1 channels=2 parts=2", NT_FP32,
         NT_NCHW},
        {"simt_three", "c=8,k1=9,k2=70,k=66,h=5,w=7", "block_x=16 block_y=4 pixels=8 channels=4", NT_FP32, NT_NHWC},
    };
    check(list, COUNT(list), NT_DEVICE_CUDA);
}

static void kernels_on_tensor_cores(void **state)
{
    (void)state;
    static const example list[] = {
        {"mma", "c=40,k1=24,k2=72,k=36,h=5,w=9", "tiles=2 warps_m=1 warps_n=2 blocks=2 prefetch=2", NT_BF16, NT_NHWC},
        {"mma", "c=5,k1=33,k2=3,k=17,h=3,w=5", "tiles=1 warps_m=2 warps_n=2 blocks=1 prefetch=8", NT_FP16, NT_NHWC},
        {"mma", "c=21,k1=16,k2=48,k=65,h=5,w=7", "tiles=1 warps_m=1 warps_n=4 blocks=4 prefetch=1", NT_BF16, NT_NCHW},
        {"mma_cluster", "c=72,k1=40,k2=136,k=70,h=3,w=3", "tiles=1 warps_n=2 blocks=1 cluster=4", NT_FP16, NT_NHWC},
        {"mma_cluster", "c=24,k1=65,k2=9,k=130,h=5,w=7", "tiles=2 warps_n=2 blocks=2 cluster=2", NT_BF16, NT_NHWC},
        {"mma_three", "c=40,k1=24,k2=72,k=36,h=5,w=9", "tiles=1 warps_m=1 warps_n=2 blocks=2 parts=2", NT_BF16,
         NT_NHWC},
        {"mma_three", "c=5,k1=33,k2=3,k=17,h=3,w=5", "tiles=2 warps_m=1 warps_n=2 blocks=1", NT_FP16, NT_NCHW},
        {"gemm_three", "c=72,k1=24,k2=40,k=136,h=5,w=9", "tile_m=64 tile_n=32 groups=1 stages=3", NT_BF16, NT_NHWC},
        {"gemm_three", "c=136,k1=256,k2=264,k=72,h=3,w=3",
         "tile_m=64 tile_n=32 groups=1 stages=2 split_k=1 transposed=true", NT_FP16, NT_NHWC},
    };
    check(list, COUNT(list), NT_DEVICE_CUDA);
}

/* ---- the layer --------------------------------------------------------------------------------------------------------- */

static void sizes_and_reference(void **state)
{
    (void)state;
    /* t1 = (3, 0), t2 = (6), out = (6, 0); by magnitudes: c = 2, k1 = 2, k2 = 1 */
    const float in[] = {1, -2}, weight[] = {1, -1, 2, 3, 2, -5, 1, -1};
    nt_problem p = {.batch = 1, .precision = NT_FP32, .layout = NT_NHWC};
    nt_extents e;
    nt_error err;
    double out[2], abs[2];
    const nt_layer *layer = nt_layer_find(LAYER);
    nt_copy(p.layer, sizeof p.layer, LAYER);
    assert_int_equal(layer->parse_shape("c=2,k1=2,k2=1,k=2,h=1,w=1", &p.shape, &err), NT_OK);
    assert_int_equal(layer->extents(&p, &e, &err), NT_OK);
    assert_true(e.in == 2 && e.weight == 8 && e.out == 2 && e.flop == 16 && e.bytes == 48);
    layer->reference(&p, NT_BOUND_DIRECT, in, weight, out, abs, 0, 1);
    assert_true(out[0] == 6 && out[1] == 0);
    /* q1 = 2 (3, 8) + 2 (3, 0) = (12, 16); q2 = 2 * 12 + 5 * 16 + 1 * 6 = 110; abs = 110 / 5 */
    assert_true(fabs(abs[0] - 22) < 1e-12 && fabs(abs[1] - 22) < 1e-12);
    assert_int_equal(layer->parse_shape("256x64x56x56", &p.shape, &err), NT_OK);
    nt_str text = {0};
    nt_shape_print(&text, &p.shape);
    assert_string_equal(nt_str_text(&text), "c=256,k1=64,k2=64,k=256,h=56,w=56");
    nt_str_done(&text);
    assert_int_equal(layer->parse_shape("c=8,k1=1537,k2=8,k=8,h=1,w=1", &p.shape, &err), NT_USAGE);
    assert_non_null(strstr(err.what, "more than 1536"));
}

/* Random weights keep values in the range of fp16, also where there are many channels; a file's stay as they are. */
static void weights_keep_values_in_range(void **state)
{
    (void)state;
    nt_problem p = {.batch = 1, .precision = NT_FP16, .layout = NT_NHWC};
    const nt_layer *layer = nt_layer_find(LAYER);
    nt_copy(p.layer, sizeof p.layer, LAYER);
    assert_int_equal(layer->parse_shape("c=64,k1=3,k2=4,k=2,h=1,w=1", &p.shape, NULL), NT_OK);
    float weight[64 * 3 + 3 * 4 + 4 * 2];
    for (int file = 0; file < 2; file++) {
        for (size_t i = 0; i < sizeof weight / sizeof weight[0]; i++)
            weight[i] = 1;
        p.fill = file ? NT_FILL_FILE : NT_FILL_NORMAL;
        layer->amend_weight(&p, weight);
        assert_true(weight[0] == (file ? 1 : 0.125f) && weight[64 * 3] == 1 &&
                    weight[64 * 3 + 12] == (file ? 1 : 0.5f));
    }
}

static void reference_on_a_device(void **state)
{
    (void)state;
    static const nt_layout layouts[] = {NT_NHWC, NT_NCHW};
    for (int i = 0; i < 2; i++) {
        fixture f =
            fixture_new(LAYER, "c=37,k1=300,k2=9,k=21,h=3,w=5", FIXTURE_BATCH, i ? NT_BF16 : NT_FP32, layouts[i]);
        nt_plan plan;
        nt_error err;
        assert_int_equal(f.layer->reference_cuda_plan(&f.problem, NT_BOUND_DIRECT, &plan, &err), NT_OK);
        char *source = nt_layer_reference_source(f.layer);
        program p = compile(source, "", &plan.stage[0]);
        double *ref = nt_alloc((size_t)f.e.out * sizeof *ref), *abs = nt_alloc((size_t)f.e.out * sizeof *abs);
        void *role[NT_ROLE_COUNT] = {[NT_ROLE_IN] = f.in, [NT_ROLE_WEIGHT] = f.weight, [NT_ROLE_REF] = ref};
        launch(&p, &plan.stage[0], role, 1); /* magnitudes need not be wanted */
        role[NT_ROLE_ABS] = abs;
        launch(&p, &plan.stage[0], role, 0);
        for (int64_t j = 0; j < f.e.out; j++)
            if (!(fabs(ref[j] - f.ref[j]) <= 1e-12 * f.abs[j]) || !(fabs(abs[j] - f.abs[j]) <= 1e-12 * f.abs[j]))
                fail_msg("element %lld: %g and %g, the host has %g and %g", (long long)j, ref[j], abs[j], f.ref[j],
                         f.abs[j]);
        free(source);
        free(ref);
        free(abs);
        dlclose(p.handle);
        fixture_done(&f);
    }
}

/* On a large GPU every kernel has configurations for each named shape, and its default is one for the first. */
static void named_shapes_have_configurations(void **state)
{
    (void)state;
    nt_device_info device = large_gpu();
    const nt_layer *layer = nt_layer_find(LAYER);
    for (int i = 0; i < nt_kernel_count; i++)
        for (int s = 0; s < layer->shape_count; s++) {
            const nt_kernel *kernel = nt_kernels[i];
            if (kernel->device != NT_DEVICE_CUDA || strcmp(kernel->layer, LAYER) != 0)
                continue;
            nt_problem p = {.batch = 1, .precision = NT_BF16, .layout = NT_NHWC};
            nt_space *space;
            nt_config config;
            nt_error err;
            uint64_t index;
            nt_copy(p.layer, sizeof p.layer, LAYER);
            p.precision = kernel->precisions & NT_BIT(NT_BF16) ? NT_BF16 : NT_FP32;
            assert_int_equal(layer->parse_shape(layer->shapes[s].name, &p.shape, &err), NT_OK);
            assert_true(kernel->refuses(&p) == NULL);
            if (nt_space_build(kernel, &p, &device, NULL, 0, NULL, &space, &err) != NT_OK)
                fail_msg("%s %s: %s", kernel->name, layer->shapes[s].name, err.what);
            if (nt_space_size(space) < 10)
                fail_msg("%s %s has %.0f", kernel->name, layer->shapes[s].name, (double)nt_space_size(space));
            nt_kernel_default_config(kernel, &config);
            if (s == 0 && !nt_space_index(space, &config, &index))
                fail_msg("the default of %s is not legal for %s", kernel->name, layer->shapes[s].name);
            nt_space_free(space);
        }
}

/* ---- faults put in ------------------------------------------------------------------------------------------------------ */

static const struct {
    example e;
    nt_device_kind kind;
    const char *text, *instead;
} plants[] = {
    {{"fused", "c=5,k1=33,k2=3,k=17,h=3,w=5", "", NT_FP32, NT_NHWC}, NT_DEVICE_CPU, "k < (out)", "k + BLOCK < (out)"},
    {{"simt", "c=5,k1=33,k2=3,k=17,h=3,w=5", "", NT_FP32, NT_NHWC}, NT_DEVICE_CUDA, "a[p][i] * b", "a[p][3 - i] * b"},
    {{"mma", "c=40,k1=24,k2=72,k=36,h=5,w=9", "tiles=1", NT_BF16, NT_NHWC}, NT_DEVICE_CUDA, "nt_copy_wait(0);", ""},
    {{"mma", "c=40,k1=24,k2=72,k=36,h=5,w=9", "tiles=1", NT_BF16, NT_NHWC}, NT_DEVICE_CUDA, "4 + 2 * j", "4 + j"},
    {{"mma_cluster", "c=72,k1=40,k2=136,k=70,h=3,w=3", "tiles=1 warps_n=2 cluster=4", NT_FP16, NT_NHWC},
     NT_DEVICE_CUDA,
     "rank < CLUSTER",
     "rank < 3"}, /* one block is left out */
    {{"mma", "c=40,k1=24,k2=72,k=36,h=5,w=9", "prefetch=2 warps_n=2", NT_BF16, NT_NHWC},
     NT_DEVICE_CUDA,
     "step + d + PREFETCH < UP(in)",
     "step + d + PREFETCH + 1 < UP(in)"},
};

static void planted_faults_are_found(void **state)
{
    (void)state;
    for (int i = 0; i < COUNT(plants); i++) {
        const char *wrong;
        char *source = nt_kernel_source(nt_kernel_find(LAYER, plants[i].kind, plants[i].e.kernel));
        char *at = strstr(source, plants[i].text);
        if (at == NULL)
            fail_msg("nowhere in %s: %s", plants[i].e.kernel, plants[i].text);
        nt_str changed = {0};
        nt_str_add_n(&changed, source, (size_t)(at - source));
        nt_str_add(&changed, plants[i].instead);
        nt_str_add(&changed, at + strlen(plants[i].text));
        if (faults(&plants[i].e, plants[i].kind, nt_str_text(&changed), &wrong) == 0)
            fail_msg("not found in %s: %s", plants[i].e.kernel, plants[i].instead);
        nt_str_done(&changed);
        free(source);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sizes_and_reference),
        cmocka_unit_test(weights_keep_values_in_range),
        cmocka_unit_test(reference_on_a_device),
        cmocka_unit_test(kernels_of_the_cpu),
        cmocka_unit_test(kernels_on_cuda_cores),
        cmocka_unit_test(kernels_on_tensor_cores),
        cmocka_unit_test(named_shapes_have_configurations),
        cmocka_unit_test(planted_faults_are_found),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
