/* test_layers_cuda.c: the CUDA kernels of the memory-bound layers and attention, and their fp64 references, compiled as
 * C and run on the host: the kernel's own text, options and plan, at odd shapes and with legal configurations at
 * random. Buffers end at an unmapped page and the compiled code traps on misaligned accesses, so that a read past the
 * end or a wrong vector fails as well as a wrong number does. Kernels on tensor cores have a test of their own. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "cuda_emulated.h"
#include "layers_fixture.h"

/* Limits of a large GPU; constraints and plans read them. */
static nt_device_info large_gpu(void)
{
    nt_device_info info;
    nt_device_info_init(&info, NT_DEVICE_CUDA);
    info.compute_capability = 90;
    info.smem_per_block_bytes = 232448;
    info.max_threads_per_block = 1024;
    info.regs_per_block = info.regs_per_sm = 65536;
    info.sm_count = 132;
    info.warp_size = 32;
    return info;
}

/* Buffers begin at an address aligned to 16 bytes, so up to 15 bytes lie between their end and the unmapped page. */
static guarded aligned_new(size_t bytes)
{
    return guarded_new((bytes + 15) / 16 * 16);
}

/* Buffers of a fixture in guarded memory; out as poison. */
typedef struct buffers {
    guarded in, weight, out;
    void *role[NT_ROLE_COUNT];
} buffers;

static buffers buffers_new(const fixture *f)
{
    buffers b = {.in = aligned_new(fixture_in_bytes(f)),
                 .weight = aligned_new(fixture_weight_bytes(f)),
                 .out = aligned_new(fixture_out_bytes(f))};
    memcpy(b.in.data, f->in_memory, fixture_in_bytes(f));
    memcpy(b.weight.data, f->weight_memory, fixture_weight_bytes(f));
    b.role[NT_ROLE_IN] = b.in.data;
    b.role[NT_ROLE_WEIGHT] = b.weight.data;
    b.role[NT_ROLE_OUT] = b.out.data;
    return b;
}

static void buffers_done(buffers *b)
{
    guarded_done(&b->in);
    guarded_done(&b->weight);
    guarded_done(&b->out);
}

/* Outputs beyond the bound, both ways through the threads. */
static size_t faults(const nt_kernel *kernel, const nt_config *config, const fixture *f, const char *source)
{
    nt_plan plan;
    nt_error err;
    nt_str options = {0};
    nt_device_info device = large_gpu();
    if (kernel->plan(&f->problem, config, &device, &plan, &err) != NT_OK)
        fail_msg("%s", err.what);
    assert_int_equal(plan.stage_count, 1);
    nt_kernel_options(kernel, &f->problem, config, &options);
    program p = compile(source, options.data, &plan.stage[0]);
    size_t bad = 0;
    for (int descending = 0; descending < 2; descending++) {
        buffers b = buffers_new(f);
        launch(&p, &plan.stage[0], b.role, descending);
        bad += fixture_violations(f, kernel, b.out.data);
        for (size_t i = fixture_out_bytes(f); i % 16 != 0; i++)
            bad += ((unsigned char *)b.out.data)[i] != 0xff;
        buffers_done(&b);
    }
    dlclose(p.handle);
    nt_str_done(&options);
    return bad;
}

static void check_kernel(const nt_kernel *kernel, const char *shape, int precision, int layout, int draw)
{
    fixture f = fixture_new(kernel->layer, shape, FIXTURE_BATCH, (nt_precision)precision, (nt_layout)layout);
    nt_device_info device = large_gpu();
    nt_config config;
    bool served = kernel->refuses == NULL || kernel->refuses(&f.problem) == NULL;
    char *source = nt_kernel_source(kernel);
    if (served && fixture_config(kernel, &f, &device, (uint64_t)draw, &config)) {
        size_t found = faults(kernel, &config, &f, source);
        if (found > 0) {
            nt_str text = {0};
            nt_problem_print(&text, &f.problem);
            nt_str_add(&text, ", ");
            nt_config_print(&text, kernel->params, &config);
            fail_msg("%s, %s: %zu outputs beyond the bound", kernel->name, nt_str_text(&text), found);
        }
    }
    free(source);
    fixture_done(&f);
}

static bool is_emulated(const nt_kernel *kernel, const char *layer)
{
    return kernel->device == NT_DEVICE_CUDA && strcmp(kernel->layer, layer) == 0 && kernel->source[0] != NULL &&
           strcmp(kernel->name, "flash") != 0;
}

/* ---- references -------------------------------------------------------------------------------------------------- */

static void check_reference(const char *layer, const char *shape, nt_layout layout)
{
    fixture f = fixture_new(layer, shape, FIXTURE_BATCH, NT_FP32, layout);
    nt_plan plan;
    nt_error err;
    if (f.layer->reference_cuda_plan(&f.problem, NT_BOUND_DIRECT, &plan, &err) != NT_OK)
        fail_msg("%s", err.what);
    char *source = nt_layer_reference_source(f.layer);
    program p = compile(source, "", &plan.stage[0]);
    free(source);
    buffers b = buffers_new(&f);
    guarded ref = guarded_new((size_t)f.e.out * sizeof(double)), abs = guarded_new((size_t)f.e.out * sizeof(double));
    b.role[NT_ROLE_REF] = ref.data;
    b.role[NT_ROLE_ABS] = abs.data;
    launch(&p, &plan.stage[0], b.role, 0);
    for (int64_t i = 0; i < f.e.out; i++) {
        double got = ((double *)ref.data)[i], magnitude = ((double *)abs.data)[i];
        if (!(fabs(got - f.ref[i]) <= 1e-12 * (f.abs[i] + 1e-300)) || !(fabs(magnitude - f.abs[i]) <= 1e-12 * f.abs[i]))
            fail_msg("%s %s, element %lld: %g and %g, the host has %g and %g", layer, shape, (long long)i, got,
                     magnitude, f.ref[i], f.abs[i]);
    }
    b.role[NT_ROLE_ABS] = NULL; /* magnitudes need not be wanted */
    launch(&p, &plan.stage[0], b.role, 1);
    buffers_done(&b);
    guarded_done(&ref);
    guarded_done(&abs);
    dlclose(p.handle);
    fixture_done(&f);
}

/* ---- layers ------------------------------------------------------------------------------------------------------ */

static void check_layer(const char *const *shapes, const char *layer)
{
    int checked = 0;
    for (int k = 0; k < nt_kernel_count; k++)
        for (int p = 0; p < NT_PRECISION_COUNT && is_emulated(nt_kernels[k], layer); p++)
            for (int s = 0; s < FIXTURE_SHAPES && nt_kernels[k]->precisions & NT_BIT(p); s++, checked++)
                check_kernel(nt_kernels[k], shapes[s], p, layout_of(nt_kernels[k], s), s == 0 ? 0 : 10 * p + s);
    assert_true(checked > 0);
    for (int s = 0; s < FIXTURE_SHAPES; s++)
        check_reference(layer, shapes[s], (nt_layout)(s % NT_LAYOUT_COUNT));
}

static void test_layer(void **state)
{
    const char *layer = *state;
    for (int i = 0; i < FIXTURE_LAYERS; i++)
        if (strcmp(fixture_layers[i].layer, layer) == 0)
            check_layer(fixture_layers[i].shapes, layer);
}

/* Rows through shared memory, in whole and in part of a block, met by one warp and by several. */
static void staged_rows(void **state)
{
    (void)state;
    static const struct {
        const char *shape, *params;
        nt_precision precision;
    } cases[] = {
        {"rows=7,c=36", "threads=8 rows_per_block=4 vec=4 staged=true", NT_FP32},
        {"rows=3,c=197", "threads=32 rows_per_block=8 vec=1 staged=true", NT_FP16},
        {"rows=9,c=197", "threads=64 rows_per_block=16 vec=1 staged=true", NT_BF16},
        {"rows=2,c=1000", "threads=128 rows_per_block=1 vec=8 staged=true", NT_FP16},
    };
    for (size_t i = 0; i < 2 * (sizeof cases / sizeof cases[0]); i++) {
        const char *layer = i % 2 ? "layernorm" : "softmax";
        const nt_kernel *kernel = nt_kernel_find(layer, NT_DEVICE_CUDA, "rows");
        nt_rule rule = {"test", cases[i / 2].params};
        nt_config config;
        nt_error err;
        fixture f = fixture_new(layer, cases[i / 2].shape, FIXTURE_BATCH, cases[i / 2].precision, NT_NHWC);
        char *source = nt_kernel_source(kernel);
        if (nt_kernel_rule_config(kernel, &rule, &config, &err) != NT_OK)
            fail_msg("%s", err.what);
        assert_int_equal(faults(kernel, &config, &f, source), 0);
        free(source);
        fixture_done(&f);
    }
}

/* An argument is the name of the one test to run. */
int main(int argc, char **argv)
{
    if (argc == 2)
        cmocka_set_test_filter(argv[1]);
    struct CMUnitTest tests[FIXTURE_LAYERS + 1] = {cmocka_unit_test(staged_rows)};
    for (int i = 0; i < FIXTURE_LAYERS; i++)
        tests[i + 1] = (struct CMUnitTest){fixture_layers[i].layer, test_layer, NULL, NULL,
                                           (void *)(uintptr_t)fixture_layers[i].layer};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
