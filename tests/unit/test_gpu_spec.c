/* test_gpu_spec.c: the specs that a GPU will judge (tests/gpu_spec), as far as they go without one: each loads, every
 * configuration has the plan that is expected of it, and compiles or does not. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "autotune/space.h"
#include "autotune/spec.h"
#include "device/nvrtc.h"
#include "spec_files.h"

static nt_device_info gpu(void)
{
    nt_device_info device;
    nt_device_info_init(&device, NT_DEVICE_CUDA);
    device.smem_per_block_bytes = 232448;
    device.compute_capability = 90;
    snprintf(device.arch, sizeof device.arch, "sm_90");
    return device;
}

static nt_problem problem_of(const nt_spec *spec)
{
    nt_problem problem = {.batch = 1, .precision = spec->precision, .shape = spec->sizes};
    nt_copy(problem.layer, sizeof problem.layer, spec->layer.name);
    return problem;
}

static nt_status compile(const nt_compile_request *request, nt_error *err)
{
    nt_compiled compiled = {0};
    nt_status status = nt_compile_nvrtc.compile(request, &compiled, err);
    nt_compiled_done(&compiled);
    return status;
}

static nt_status compile_config(const nt_spec *spec, const nt_config *config, nt_error *err)
{
    nt_problem problem = problem_of(spec);
    nt_str options = {0};
    char *source = nt_kernel_source(&spec->kernel);
    nt_kernel_options(&spec->kernel, &problem, config, &options);
    nt_compile_request request = {.kind = NT_DEVICE_CUDA,
                                  .name = spec->kernel.name,
                                  .source = source,
                                  .options = nt_str_text(&options),
                                  .arch = "sm_90",
                                  .compiler = "",
                                  .features = "",
                                  .deadline_s = 60};
    nt_status status = compile(&request, err);
    nt_str_done(&options);
    free(source);
    return status;
}

static nt_status compile_reference(const nt_spec *spec, nt_error *err)
{
    nt_problem problem = problem_of(spec);
    nt_device_info device = gpu();
    nt_compile_request request;
    nt_str text = {0};
    char *source = NULL;
    nt_plan plan;
    nt_status status = nt_spec_reference_plan(spec, &problem, &device, &request, &text, &source, &plan, err);
    if (status == NT_OK && spec->reference != NT_SPEC_OF_C) /* that one is for the host */
        status = compile(&request, err);
    nt_str_done(&text);
    free(source);
    return status;
}

static bool have_nvrtc(void)
{
    nt_nvrtc_about about;
    nt_error err;
    if (nt_nvrtc_describe(&about, &err) == NT_OK)
        return true;
    print_message("specs are not compiled: %s\n", err.what);
    return false;
}

/* Configurations whose plan or compile fails, as the words of their parameter values. */
static const struct row {
    const char *name;
    uint64_t legal;
    const char *no_plan, *no_compile;
} rows[] = {
    {"stencil", 48, "", ""}, {"chain", 9, "", ""}, {"types", 14, "", ""},
    {"guard", 5, "", ""},    {"drift", 3, "", ""}, {"wrong", 10, "how=1", "how=6 how=8 how=9"},
};

static void note(nt_str *out, const nt_spec *spec, const nt_config *config)
{
    nt_str_addf(out, "%s%s=", out->length > 0 ? " " : "", spec->param[0].name);
    nt_value_print(out, nt_param_value(&spec->param[0], config->index[0]));
}

static void check_spec(const struct row *row, bool compiles)
{
    char path[96];
    nt_space *space;
    nt_error err = {0};
    nt_str no_plan = {0}, no_compile = {0};
    nt_device_info device = gpu();
    snprintf(path, sizeof path, "tests/gpu_spec/%s/spec.json", row->name);
    const nt_spec *spec = spec_load(path);
    nt_problem problem = problem_of(spec);
    assert_int_equal(nt_space_build(&spec->kernel, &problem, &device, NULL, 0, NULL, &space, &err), NT_OK);
    assert_int_equal(nt_space_size(space), row->legal);
    uint64_t step = row->legal > 16 ? 7 : 1; /* some of a large space */
    for (uint64_t i = 0; i < row->legal; i += step) {
        nt_config config;
        nt_plan plan;
        nt_space_config(space, i, &config);
        if (spec->kernel.plan(&problem, &config, &device, &plan, &err) != NT_OK)
            note(&no_plan, spec, &config);
        if (compiles && compile_config(spec, &config, &err) != NT_OK)
            note(&no_compile, spec, &config);
    }
    assert_string_equal(nt_str_text(&no_plan), row->no_plan);
    if (compiles && strcmp(nt_str_text(&no_compile), row->no_compile) != 0)
        fail_msg("%s: '%s' did not compile, not '%s'; the last: %s", row->name, nt_str_text(&no_compile),
                 row->no_compile, err.what);
    if (compiles && compile_reference(spec, &err) != NT_OK)
        fail_msg("the reference of %s: %s", row->name, err.what);
    nt_str_done(&no_plan);
    nt_str_done(&no_compile);
    nt_space_free(space);
}

static void specs_for_a_gpu(void **state)
{
    (void)state;
    bool compiles = have_nvrtc();
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
        check_spec(&rows[i], compiles);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(specs_for_a_gpu, spec_files_open, spec_files_close),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
