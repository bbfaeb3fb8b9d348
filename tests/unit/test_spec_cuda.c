/* test_spec_cuda.c: kernels of a user's own for CUDA, compiled by NVRTC without a GPU: the worked example with its
 * template, launch bounds and registers, a T1 file, and sources that do not compile. Skipped, saying so, without NVRTC.
 */
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
#include "device/name_table.h"
#include "device/nvrtc.h"
#include "spec_files.h"

static void need_nvrtc(void)
{
    nt_nvrtc_about about;
    nt_error err;
    if (nt_nvrtc_describe(&about, &err) == NT_OK)
        return;
    print_message("skipped: %s\n", err.what);
    skip();
}

static nt_problem problem_of(const nt_spec *spec)
{
    nt_problem problem = {.batch = 1, .precision = spec->precision, .shape = spec->sizes};
    nt_copy(problem.layer, sizeof problem.layer, spec->layer.name);
    return problem;
}

static nt_status compile(const nt_spec *spec, const nt_config *config, nt_compiled *out, nt_error *err)
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
    nt_status status = nt_compile_nvrtc.compile(&request, out, err);
    nt_str_done(&options);
    free(source);
    return status;
}

static nt_config default_of(const nt_spec *spec)
{
    nt_config config;
    nt_kernel_default_config(&spec->kernel, &config);
    return config;
}

/* The symbol of a configuration's entry is in the code, under the name that its plan uses. */
static void check_compiled(const nt_spec *spec, const nt_config *config, const char *entry, const char *symbol)
{
    nt_problem problem = problem_of(spec);
    nt_plan plan;
    nt_error err = {0};
    nt_compiled compiled;
    nt_device_info device;
    nt_device_info_init(&device, NT_DEVICE_CUDA);
    if (spec->kernel.plan(&problem, config, &device, &plan, &err) != NT_OK ||
        compile(spec, config, &compiled, &err) != NT_OK)
        fail_msg("%s", err.what);
    assert_string_equal(plan.stage[0].entry, entry);
    char *table = nt_name_table_read(compiled.code, compiled.bytes);
    assert_non_null(table);
    char *found = nt_name_table_find(table, plan.stage[0].entry);
    assert_string_equal(found, symbol);
    assert_non_null(memmem(compiled.code, compiled.bytes - strlen(table), found, strlen(found)));
    assert_true(compiled.registers > 0);
    free(found);
    free(table);
    nt_compiled_done(&compiled);
}

static void set(const nt_spec *spec, nt_config *config, const char *param, const char *value)
{
    int at = nt_param_find(spec->param, spec->param_count, param);
    config->index[at] = (uint16_t)nt_param_value_find(&spec->param[at], value);
}

static void the_example_compiles_for_each_template(void **state)
{
    (void)state;
    need_nvrtc();
    const nt_spec *spec = spec_load("docs/examples/scale_bias/scale_bias.json");
    nt_config config = default_of(spec);
    assert_string_equal(spec->kernel.name, "scale_bias");
    check_compiled(spec, &config, "scale_bias<4,float>", "_Z10scale_biasILi4EfEvPKT0_PS0_fi");
    set(spec, &config, "tile", "8");
    set(spec, &config, "block", "512");
    check_compiled(spec, &config, "scale_bias<8,float>", "_Z10scale_biasILi8EfEvPKT0_PS0_fi");
}

static void its_plan_fills_constant_memory_first(void **state)
{
    (void)state;
    const nt_spec *spec = spec_load("docs/examples/scale_bias/scale_bias.json");
    nt_config config = default_of(spec);
    nt_problem problem = problem_of(spec);
    nt_device_info device;
    nt_plan plan;
    nt_device_info_init(&device, NT_DEVICE_CUDA);
    assert_int_equal(spec->kernel.plan(&problem, &config, &device, &plan, NULL), NT_OK);
    assert_int_equal(plan.prepare_count, 1);
    assert_int_equal(plan.prepare[0].kind, NT_STAGE_SYMBOL);
    assert_string_equal(plan.prepare[0].entry, "bias");
    assert_int_equal(plan.prepare[0].zero_bytes, 256);
    assert_int_equal(plan.prepare[0].zero_role, NT_ROLE_USER + 2);
    assert_int_equal(plan.stage_count, 1);
    assert_int_equal(plan.stage[0].grid[0], 16777216 / (256 * 4));
    assert_int_equal(plan.stage[0].block[0], 256);
    assert_int_equal(plan.stage[0].arg_count, 4);
    assert_int_equal(plan.stage[0].arg[1].role, NT_ROLE_USER + 1);
    assert_true(plan.stage[0].arg[2].real == 0.5f);
    assert_int_equal(plan.stage[0].arg[3].value, 16777216);
}

static const char t1[] =
    "{\"ConfigurationSpace\": {\"TuningParameters\": ["
    "  {\"Name\": \"bx\", \"Type\": \"int\", \"Values\": \"[32*i for i in range(1,5)]\", \"Default\": 64},"
    "  {\"Name\": \"tile\", \"Type\": \"int\", \"Values\": \"[1, 2, 4]\"}],"
    " \"Conditions\": [{\"Parameters\": [\"bx\", \"tile\"], \"Expression\": \"bx*tile <= 256\"}]},"
    " \"General\": {\"BenchmarkName\": \"relu me\"},"
    " \"KernelSpecification\": {\"Language\": \"CUDA\", \"KernelName\": \"relu\", \"KernelFile\": \"relu.cu\","
    "  \"CompilerOptions\": [\"-std=c++14\"], \"GlobalSizeType\": \"CUDA\","
    "  \"GlobalSize\": {\"X\": \"(ProblemSize[0]+bx*tile-1)//(bx*tile)\"}, \"LocalSize\": {\"X\": \"bx\"},"
    "  \"ProblemSize\": [4096],"
    "  \"Arguments\": ["
    "   {\"Name\": \"y\", \"Type\": \"float\", \"MemoryType\": \"Vector\", \"Size\": \"ProblemSize[0]\","
    "    \"FillType\": \"Constant\", \"FillValue\": 0.0, \"AccessType\": \"WriteOnly\"},"
    "   {\"Name\": \"x\", \"Type\": \"float4\", \"MemoryType\": \"Vector\", \"Size\": \"max(tile) * 256\","
    "    \"FillType\": \"Random\", \"FillValue\": 2.0, \"AccessType\": \"ReadOnly\"},"
    "   {\"Name\": \"n\", \"Type\": \"int32\", \"MemoryType\": \"Scalar\", \"FillValue\": 4096}]}}";

static const char relu[] = "extern \"C\" __global__ void relu(float *y, const float4 *x, int n)\n"
                           "{\n"
                           "    const float *in = (const float *)x;\n"
                           "    for (int i = (blockIdx.x * bx + threadIdx.x) * tile, k = 0; k < tile; k++)\n"
                           "        if (i + k < n) y[i + k] = in[i + k] > 0 ? in[i + k] : 0;\n"
                           "}\n";

static void a_t1_file_becomes_a_spec(void **state)
{
    (void)state;
    spec_write("relu.cu", relu);
    spec_write("relu.json", t1);
    const nt_spec *spec = spec_load(spec_file("relu.json"));
    nt_problem problem = problem_of(spec);
    nt_device_info device;
    nt_space *space;
    nt_extents extents;
    nt_plan plan;
    nt_config config = default_of(spec);
    nt_device_info_init(&device, NT_DEVICE_CUDA);
    assert_string_equal(spec->layer.name, "user:relu_me");
    assert_string_equal(spec->sizes_text, "x=4096");
    assert_int_equal(nt_space_build(&spec->kernel, &problem, &device, NULL, 0, NULL, &space, NULL), NT_OK);
    assert_int_equal(nt_space_total(space), 12);
    assert_int_equal(nt_space_size(space), 10);
    nt_space_free(space);
    assert_int_equal(spec->layer.extents(&problem, &extents, NULL), NT_OK);
    assert_int_equal(extents.buffer_bytes, 4096 * 4 + 4 * 256 * 16);
    assert_int_equal(config.index[0], 1);
    assert_int_equal(spec->kernel.plan(&problem, &config, &device, &plan, NULL), NT_OK);
    assert_int_equal(plan.stage[0].grid[0], 64);
    assert_int_equal(plan.stage[0].block[0], 64);
    assert_int_equal(spec->reference, NT_SPEC_OF_CONFIG);
    need_nvrtc();
    check_compiled(spec, &config, "relu", "relu");
}

static void what_does_not_compile_says_where(void **state)
{
    static const struct {
        const char *source, *says;
    } rows[] = {
        {"extern \"C\" __global__ void relu(float *y, const float4 *x, int n) { y[0] = zz; }\n", "relu.cu(1): error: "},
        {"extern \"C\" __global__ void relu(float *y, const float4 *x, int n) { y[0] = zz + z2; }\n", " (and 1 more)"},
        {"\n__global__ void rel(float *y) { y[0] = 1; }\n", "relu"}, /* no such kernel */
        {"__global__ void relu(float *y, const float4 *x) {}\n",
         "arguments of relu as the spec has them(1): error: static assertion failed with \"the spec gives relu 3 "
         "arguments"},
        {"__global__ void relu(float *y, const float4 *x, int n, int m) {}\n", "the spec gives relu 3 arguments"},
        {"__global__ void relu(float *y, const float4 *x, double n) {}\n",
         "argument n (i32) does not fit parameter 3 of relu"},
        {"__global__ void relu(float *y, const float4 *x, float n) {}\n", "argument n (i32) does not fit parameter 3"},
        {"__global__ void relu(float *y, const float4 *x, int *n) {}\n", "argument n (i32) does not fit parameter 3"},
        {"__global__ void relu(int *y, const float4 *x, int n) {}\n",
         "argument y (buffer of f32) does not fit parameter 1"},
        {"__global__ void relu(double *y, const float4 *x, int n) {}\n",
         "argument y (buffer of f32) does not fit parameter 1"},
        {"__global__ void relu(float y, const float4 *x, int n) {}\n",
         "argument y (buffer of f32) does not fit parameter 1"},
    };
    (void)state;
    need_nvrtc();
    spec_write("relu.json", t1);
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        nt_error err = {0};
        nt_compiled compiled;
        nt_spec_forget_all();
        spec_write("relu.cu", rows[i].source);
        const nt_spec *spec = spec_load(spec_file("relu.json"));
        nt_config config = default_of(spec);
        assert_int_equal(compile(spec, &config, &compiled, &err), NT_COMPILE_FAILED);
        if (strstr(err.what, rows[i].says) == NULL)
            fail_msg("no '%s' in: %s", rows[i].says, err.what);
    }
}

/* A T1 file's constant memory is passed as well where MemType says Constant, and not where MemoryType says Symbol. */
static void constant_memory_of_a_t1_file(void **state)
{
    static const char with[] =
        ",   {\"Name\": \"table\", \"Type\": \"float\", \"MemoryType\": \"Vector\", \"Size\": 16,"
        "     \"MemType\": \"Constant\", \"FillType\": \"Random\", \"AccessType\": \"ReadOnly\"},"
        "   {\"Name\": \"bias\", \"Type\": \"float\", \"MemoryType\": \"Symbol\", \"Size\": 16,"
        "     \"FillType\": \"Random\", \"AccessType\": \"ReadOnly\"}]}}";
    char text[4096];
    nt_plan plan;
    nt_device_info device;
    (void)state;
    snprintf(text, sizeof text, "%.*s%s", (int)(strlen(t1) - 3), t1, with);
    spec_write("relu.json", text);
    spec_write("relu.cu", "__constant__ float table[16], bias[16];\n"
                          "extern \"C\" __global__ void relu(float *y, const float4 *x, int n, float *same) {}\n");
    const nt_spec *spec = spec_load(spec_file("relu.json"));
    nt_problem problem = problem_of(spec);
    nt_config config = default_of(spec);
    nt_device_info_init(&device, NT_DEVICE_CUDA);
    assert_int_equal(spec->kernel.plan(&problem, &config, &device, &plan, NULL), NT_OK);
    assert_int_equal(plan.prepare_count, 2);
    assert_string_equal(plan.prepare[0].entry, "table");
    assert_string_equal(plan.prepare[1].entry, "bias");
    assert_int_equal(plan.stage[0].arg_count, 4);
    assert_int_equal(plan.stage[0].arg[3].role, plan.prepare[0].zero_role);
    need_nvrtc();
    check_compiled(spec, &config, "relu", "relu");
}

/* Types that a launch cannot tell from what the spec says are taken. */
static void kernels_may_use_types_of_their_own(void **state)
{
    (void)state;
    need_nvrtc();
    spec_write("relu.json", t1);
    spec_write(
        "relu.cu",
        "struct pair { float a, b; };\n"
        "template <class T> __global__ void many(T *y, const volatile pair *x, unsigned n) { y[0] = x[0].a; }\n"
        "namespace inner { __global__ void relu(void *y, const float4 *__restrict__ x, const unsigned n) {} }\n");
    char text[4096], *at;
    snprintf(text, sizeof text, "%s", t1);
    at = strstr(text, "\"relu\", \"KernelFile\"");
    assert_non_null(at);
    memmove(at + 13, at + 6, strlen(at + 6) + 1);
    memcpy(at, "\"inner::relu\"", 13);
    spec_write("relu.json", text);
    const nt_spec *spec = spec_load(spec_file("relu.json"));
    nt_config config = default_of(spec);
    check_compiled(spec, &config, "inner::relu", "_ZN5inner4reluEPvPK6float4j");
}

static void opencl_is_refused(void **state)
{
    (void)state;
    nt_error err = {0};
    const nt_spec *spec;
    char *text = strdup(t1), *at = strstr(text, "\"CUDA\"");
    memcpy(at, "\"HIP\" ", 6);
    spec_write("relu.json", text);
    assert_int_equal(nt_spec_load(spec_file("relu.json"), &spec, &err), NT_USAGE);
    assert_non_null(strstr(err.what, "HIP kernels cannot be tuned: nntune tunes CUDA and C"));
    free(text);
}

static void names_stand_behind_the_code(void **state)
{
    (void)state;
    const char *expressions[] = {"f<1,int>", "g"}, *symbols[] = {"_Z1fILi1EiEvv", "g"};
    size_t bytes = 3;
    unsigned char *code = (unsigned char *)strdup("ELF");
    assert_null(nt_name_table_read(code, bytes));
    nt_name_table_append(&code, &bytes, expressions, symbols, 2);
    assert_memory_equal(code, "ELF", 3);
    char *table = nt_name_table_read(code, bytes), *found = nt_name_table_find(table, "f<1,int>");
    char *other = nt_name_table_find(table, "f"), *none = nt_name_table_find(NULL, "h");
    assert_string_equal(found, "_Z1fILi1EiEvv");
    assert_string_equal(other, "f");
    assert_string_equal(none, "h");
    assert_null(nt_name_table_read(code, bytes - 1));
    free(found);
    free(other);
    free(none);
    free(table);
    free(code);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(names_stand_behind_the_code, spec_files_open, spec_files_close),
        cmocka_unit_test_setup_teardown(the_example_compiles_for_each_template, spec_files_open, spec_files_close),
        cmocka_unit_test_setup_teardown(its_plan_fills_constant_memory_first, spec_files_open, spec_files_close),
        cmocka_unit_test_setup_teardown(a_t1_file_becomes_a_spec, spec_files_open, spec_files_close),
        cmocka_unit_test_setup_teardown(what_does_not_compile_says_where, spec_files_open, spec_files_close),
        cmocka_unit_test_setup_teardown(constant_memory_of_a_t1_file, spec_files_open, spec_files_close),
        cmocka_unit_test_setup_teardown(kernels_may_use_types_of_their_own, spec_files_open, spec_files_close),
        cmocka_unit_test_setup_teardown(opencl_is_refused, spec_files_open, spec_files_close),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
