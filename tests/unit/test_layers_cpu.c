/* test_layers_cpu.c: every CPU kernel of the memory-bound layers and attention against the fp64 reference under its own
 * bound: all precisions and layouts it has, odd shapes, legal configurations at random, the work in one and in three
 * parts, with nothing written outside the output; and faults put into the sources, which these checks must find. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "cpu_run.h"
#include "layers_fixture.h"

enum { GUARD = 4096, POISON = 0xff };

#define FLAGS "-O1 -march=native"

static nt_device_info this_cpu(void)
{
    nt_device_info info;
    nt_device_info_init(&info, NT_DEVICE_CPU);
    info.sm_count = 2;
#if defined(__x86_64__)
    __builtin_cpu_init();
    nt_copy(info.arch, sizeof info.arch,
            __builtin_cpu_supports("avx512f") ? "x86-64-avx512"
            : __builtin_cpu_supports("avx2")  ? "x86-64-avx2"
                                              : "x86-64");
#endif
    return info;
}

/* Wrong outputs and damaged guard bytes of one run in `parts` parts. */
static size_t faults(void *library, const nt_kernel *kernel, const nt_config *config, const fixture *f, int parts)
{
    nt_plan plan;
    nt_error err;
    nt_device_info device = this_cpu();
    if (kernel->plan(&f->problem, config, &device, &plan, &err) != NT_OK)
        fail_msg("%s", err.what);
    size_t bytes = fixture_out_bytes(f), found = 0;
    unsigned char *out = NULL;
    assert_int_equal(posix_memalign((void **)&out, 256, (bytes + 255) / 256 * 256 + 2 * GUARD), 0);
    memset(out, POISON, bytes + 2 * GUARD);
    nt_binding binding = {.address = {[NT_ROLE_IN] = (uintptr_t)f->in_memory,
                                      [NT_ROLE_WEIGHT] = (uintptr_t)f->weight_memory,
                                      [NT_ROLE_OUT] = (uintptr_t)(out + GUARD)}};
    assert_true(cpu_run_plan(library, &plan, &binding, parts));
    for (size_t i = 0; i < GUARD; i++)
        found += (out[i] != POISON) + (out[GUARD + bytes + i] != POISON);
    found += fixture_violations(f, kernel, out + GUARD);
    free(out);
    return found;
}

static void *build(const nt_kernel *kernel, const fixture *f, const nt_config *config, const char *source,
                   const char *flags)
{
    nt_str options = {0};
    nt_kernel_options(kernel, &f->problem, config, &options);
    void *library = cpu_compile(source, nt_str_text(&options), flags);
    if (library == NULL)
        fail_msg("%s %s does not compile with %s", kernel->layer, kernel->name, nt_str_text(&options));
    nt_str_done(&options);
    return library;
}

static void check_config(const nt_kernel *kernel, const fixture *f, const nt_config *config, const char *flags)
{
    char *source = nt_kernel_source(kernel);
    void *library = build(kernel, f, config, source, flags);
    for (int parts = 1; parts <= 3; parts += 2) {
        size_t found = faults(library, kernel, config, f, parts);
        if (found > 0) {
            nt_str text = {0};
            nt_problem_print(&text, &f->problem);
            nt_str_add(&text, ", ");
            nt_config_print(&text, kernel->params, config);
            fail_msg("%s, %d parts, %s: %zu faults", kernel->name, parts, nt_str_text(&text), found);
        }
    }
    dlclose(library);
    free(source);
}

static void check_kernel(const nt_kernel *kernel, const char *shape, int precision, int layout, int draw,
                         const char *flags)
{
    fixture f = fixture_new(kernel->layer, shape, FIXTURE_BATCH, (nt_precision)precision, (nt_layout)layout);
    nt_device_info device = this_cpu();
    nt_config config;
    bool served = kernel->refuses == NULL || kernel->refuses(&f.problem) == NULL;
    if (served && fixture_config(kernel, &f, &device, (uint64_t)draw, &config))
        check_config(kernel, &f, &config, flags);
    fixture_done(&f);
}

/* All of a layer: each shape with another configuration at random, the first with the default. */
static void check_layer(const char *const *shapes, const char *layer)
{
    int checked = 0;
    for (int k = 0; k < nt_kernel_count; k++) {
        const nt_kernel *kernel = nt_kernels[k];
        if (kernel->device != NT_DEVICE_CPU || strcmp(kernel->layer, layer) != 0 || kernel->source[0] == NULL)
            continue;
        for (int p = 0; p < NT_PRECISION_COUNT; p++)
            for (int s = 0; s < FIXTURE_SHAPES && kernel->precisions & NT_BIT(p); s++, checked++)
                check_kernel(kernel, shapes[s], p, layout_of(kernel, s), s == 0 ? 0 : 10 * p + s, FLAGS);
        check_kernel(kernel, shapes[1], NT_FP32, NT_NHWC, 0, "-O3 -march=native");
        /* Without this processor's vectors, and so without its conversions. */
        for (int p = 0; p < NT_PRECISION_COUNT; p++)
            if (kernel->precisions & NT_BIT(p))
                check_kernel(kernel, shapes[1], p, NT_NHWC, 0, "-O1");
    }
    assert_true(checked > 0);
}

static void test_layer(void **state)
{
    const char *layer = *state;
    for (int i = 0; i < FIXTURE_LAYERS; i++)
        if (strcmp(fixture_layers[i].layer, layer) == 0)
            check_layer(fixture_layers[i].shapes, layer);
}

/* ---- faults put in ---------------------------------------------------------------------------------------------- */

static const struct {
    const char *layer, *kernel, *shape, *text, *instead;
    nt_precision precision;
} plants[] = {
    {"relu", "map", "c=31,h=33,w=3", "(x > 0)", "(x > 1)", NT_FP32},
    {"relu", "map", "c=31,h=33,w=3", "i < stop; i++", "i < stop - 1; i++", NT_FP32},    /* the last is left out */
    {"add", "map", "c=31,h=33,w=3", "least(end * chunk, count)", "count + 1", NT_FP32}, /* one too many */
    {"add", "map", "c=31,h=33,w=3", "rounded = (bits + 0x7fffu +", "rounded = (bits +", NT_BF16}, /* truncates */
    {"maxpool", "rows", "c=24,h=9,w=12", "end > size ? size : end", "end > size ? size - 1 : end", NT_INT8},
    {"maxpool", "rows", "c=24,h=9,w=12", "(-__builtin_inff())", "0.0f", NT_FP16}, /* the border counts as zeros */
    {"avgpool", "rows", "c=24,h=7,w=7", "p.scale = 1.0f /", "p.scale = 1.00002f /", NT_FP32},
    {"avgpool", "rows", "c=24,h=7,w=7", "k < last; k++", "k <= last; k++", NT_FP32}, /* one too many */
    {"softmax", "rows", "rows=3,c=197", "1.0f / 24", "1.0f / 20", NT_FP32},
    {"softmax", "rows", "rows=3,c=197", "total += line[i] =", "line[i] =", NT_FP32},
    {"layernorm", "rows", "rows=3,c=197", "variance + 1e-5f", "variance + 2e-4f", NT_FP32},
    {"layernorm", "rows", "rows=3,c=197", "c, mean, 1) * scale", "c, mean, 1) * 1.001f * scale", NT_FP32},
    {"attention", "blocks", "heads=2,tokens=70,d=64", "j = valid; j < KEYS", "j = KEYS; j < KEYS", NT_FP32},
    {"attention", "blocks", "heads=2,tokens=70,d=64", "* shrink + vec_sum", "+ vec_sum", NT_FP32}, /* an old maximum */
    {"attention", "blocks", "heads=2,tokens=70,d=64", "least(KEYS, o->tokens - first)", "KEYS", NT_FP16},
};

static char *replaced(const char *text, const char *from, const char *to)
{
    const char *at = strstr(text, from);
    if (at == NULL)
        fail_msg("the source has no '%s'", from);
    nt_str out = {0};
    nt_str_add_n(&out, text, (size_t)(at - text));
    nt_str_add(&out, to);
    nt_str_add(&out, at + strlen(from));
    return out.data;
}

static void test_planted_faults_are_found(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof plants / sizeof plants[0]; i++) {
        const nt_kernel *kernel = nt_kernel_find(plants[i].layer, NT_DEVICE_CPU, plants[i].kernel);
        fixture f = fixture_new(plants[i].layer, plants[i].shape, FIXTURE_BATCH, plants[i].precision, NT_NHWC);
        nt_device_info device = this_cpu();
        nt_config config;
        assert_non_null(kernel);
        assert_true(fixture_config(kernel, &f, &device, 0, &config));
        char *source = nt_kernel_source(kernel), *bad = replaced(source, plants[i].text, plants[i].instead);
        void *library = build(kernel, &f, &config, bad, FLAGS);
        if (faults(library, kernel, &config, &f, 1) == 0)
            fail_msg("not found in %s %s: %s instead of %s", plants[i].layer, plants[i].kernel, plants[i].instead,
                     plants[i].text);
        dlclose(library);
        free(source);
        free(bad);
        fixture_done(&f);
    }
}

/* An argument is the name of the one test to run. */
int main(int argc, char **argv)
{
    if (argc == 2)
        cmocka_set_test_filter(argv[1]);
    struct CMUnitTest tests[FIXTURE_LAYERS + 1] = {cmocka_unit_test(test_planted_faults_are_found)};
    for (int i = 0; i < FIXTURE_LAYERS; i++)
        tests[i + 1] = (struct CMUnitTest){fixture_layers[i].layer, test_layer, NULL, NULL,
                                           (void *)(uintptr_t)fixture_layers[i].layer};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
