/* test_conv_bn_chain.c: convolution, batch norm and activation as a chain of launches behind the convolutions of tensor
 * cores, without a GPU: the kernels' own text, options and plans lane by lane on the host (hopper_emulation.h), against
 * the fp64 reference of the layer under the chain's own bound; filters and pixels end in the middle of vectors and
 * blocks. Faults put into the passes must be found. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "plans_emulated.h"

typedef struct example {
    const char *kernel, *shape, *params;
    nt_precision precision;
} example;

static const example examples[] = {
    {"gemm_chain", "c=16,k=40,h=6,w=7,act=relu6", "tile_m=64 tile_n=64 groups=1 stages=2", NT_BF16},
    {"gemm_chain", "c=24,k=37,h=9,w=8,stride=2,act=silu", "tile_m=64 tile_n=64 groups=1 stages=2", NT_FP16},
    {"gemm_3xtf32_chain", "c=12,k=36,h=5,w=5", "tile_m=64 tile_n=64 groups=1 stages=2", NT_FP32},
    {"shift_chain", "c=16,k=64,h=5,w=30,act=none", "rows=2 m_tiles=1 resident=true pixel_stages=1", NT_FP16},
};

static size_t faults(const example *e, const char *source, const char **wrong)
{
    const nt_kernel *kernel = nt_kernel_find("conv_bn_relu", NT_DEVICE_CUDA, e->kernel);
    fixture f = fixture_new("conv_bn_relu", e->shape, FIXTURE_BATCH, e->precision, NT_NHWC);
    nt_config config = config_of(kernel, e->params);
    nt_plan plan = plan_of(kernel, &f, &config);
    nt_str options = {0};
    nt_kernel_options(kernel, &f.problem, &config, &options);
    nt_str_addf(&options, " -DSHIFTED=%d", strncmp(e->kernel, "shift", 5) == 0); /* of the emulation */
    assert_int_equal(plan.stage_count, 3);
    size_t found = run_lanes(kernel, &f, &plan, source, nt_str_text(&options), wrong);
    nt_str_done(&options);
    fixture_done(&f);
    return found;
}

static void every_example_is_right(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof examples / sizeof examples[0]; i++) {
        const char *wrong;
        char *source = nt_kernel_source(nt_kernel_find("conv_bn_relu", NT_DEVICE_CUDA, examples[i].kernel));
        size_t found = faults(&examples[i], source, &wrong);
        if (found > 0)
            fail_msg("%s %s: %zu faults; %s", examples[i].kernel, examples[i].shape, found, wrong ? wrong : "");
        free(source);
    }
}

static const struct {
    int example;
    const char *text, *instead;
} plants[] = {
    {0, "folded[filters + filter + v]", "folded[filters + filter]"}, /* one filter's offset for all of a vector */
    {1, "x / (1.0f + expf(-x))", "x"},
    {0, "first + p >= pixels", "first + p + 1 >= pixels"}, /* the last pixel is left out */
};

static void planted_faults_are_found(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof plants / sizeof plants[0]; i++) {
        const example *e = &examples[plants[i].example];
        const char *wrong;
        char *source = nt_kernel_source(nt_kernel_find("conv_bn_relu", NT_DEVICE_CUDA, e->kernel));
        char *at = strstr(source, plants[i].text);
        while (at != NULL && strstr(at + 1, plants[i].text) != NULL) /* the convolution's text may have it as well */
            at = strstr(at + 1, plants[i].text);
        if (at == NULL)
            fail_msg("nowhere: %s", plants[i].text);
        nt_str changed = {0};
        nt_str_add_n(&changed, source, (size_t)(at - source));
        nt_str_add(&changed, plants[i].instead);
        nt_str_add(&changed, at + strlen(plants[i].text));
        if (faults(e, nt_str_text(&changed), &wrong) == 0)
            fail_msg("not found: %s", plants[i].instead);
        nt_str_done(&changed);
        free(source);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_example_is_right),
        cmocka_unit_test(planted_faults_are_found),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
