/* Tests of core/t1.h: files as they are found, every member, what is kept, errors with their place, hostile text. */
#include "core/t1.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <unistd.h>

#include "core/record.h"
#include "core/text_file.h"
#include "core_check.h"
#include "field_samples.h"

#define CHECK_OK(call, err)                               \
    do {                                                  \
        if ((call) != NT_OK)                              \
            fail_msg("%s; %s", (err)->what, (err)->hint); \
    } while (0)

static const char small[] =
    "{\"ConfigurationSpace\":{\"TuningParameters\":["
    "{\"Name\":\"bx\",\"Type\":\"int\",\"Values\":\"[32*i for i in range(1,5)]\",\"Default\":64,\"Note\":\"kept\"},"
    "{\"Name\":\"fast\",\"Type\":\"bool\",\"Values\":[true,false]}],"
    "\"Conditions\":[{\"Parameters\":[\"bx\"],\"Expression\":\"bx <= 256\"}],\"Hint\":null},"
    "\"Budget\":[{\"Type\":\"ConfigurationCount\",\"BudgetValue\":10}],"
    "\"Search\":{\"Name\":\"random\",\"Attributes\":[{\"Name\":\"seed\",\"Value\":7}]},"
    "\"General\":{\"FormatVersion\":1,\"TimeUnit\":\"Microseconds\",\"Minimize\":1,\"Objective\":\"time\"},"
    "\"KernelSpecification\":{\"Language\":\"CUDA\",\"KernelName\":\"relu\",\"KernelFile\":\"relu.cu\","
    "\"GlobalSizeType\":\"CUDA\",\"GlobalSize\":{\"X\":\"(4096+bx-1)//bx\",\"Y\":1},\"LocalSize\":{\"X\":\"bx\"},"
    "\"ProblemSize\":4096,\"GridDivX\":[\"bx\"],\"GridDivY\":null,\"SharedMemory\":\"4*bx\",\"Stream\":null,"
    "\"CompilerOptions\":[\"-std=c++11\"],\"Profiling\":false,\"Device\":{\"DeviceId\":0},\"Arguments\":["
    "{\"Name\":\"y\",\"Type\":\"float\",\"MemoryType\":\"Vector\",\"Size\":\"ProblemSize\",\"FillType\":\"Constant\","
    "\"FillValue\":0.0,\"AccessType\":\"WriteOnly\",\"Output\":1},"
    "{\"Name\":\"n\",\"Type\":\"int32\",\"MemoryType\":\"Scalar\",\"FillValue\":4096,\"Output\":false,"
    "\"RandomSeed\":3,\"TypeSize\":4}],"
    "\"ReferenceArguments\":[{\"Name\":\"r\",\"TargetName\":\"y\",\"FillType\":\"BinaryRaw\",\"DataSource\":\"y.raw\","
    "\"ValidationMethod\":\"AbsoluteDifference\",\"ValidationThreshold\":1e-3}]},\"Own\":{\"a\":[1,2]}}";

static void every_member_is_read(void **state)
{
    nt_error err = {0};
    nt_t1 t1;
    (void)state;
    CHECK_OK(nt_t1_parse("small", small, strlen(small), &t1, &err), &err);
    assert_int_equal(t1.space.param_count, 2);
    assert_string_equal(t1.space.param[0].name, "bx");
    assert_string_equal(t1.space.param[0].values.text, "[32*i for i in range(1,5)]");
    assert_int_equal(json_integer_value(t1.space.param[0].dflt), 64);
    assert_string_equal(json_string_value(json_object_get(t1.space.param[0].extra, "Note")), "kept");
    assert_string_equal(t1.space.param[1].values.text, "[True, False]");
    assert_null(t1.space.param[1].dflt);
    assert_string_equal(t1.space.condition[0].expression, "bx <= 256");
    assert_string_equal(t1.space.condition[0].params.item[0].text, "bx");
    assert_true(t1.has_search && t1.has_general);
    assert_int_equal(json_integer_value(t1.search.attribute[0].value), 7);
    assert_string_equal(t1.budget[0].value.text, "10");
    assert_int_equal(t1.general.format_version, 1);
    assert_int_equal(t1.general.minimize, 1);
    assert_null(t1.general.output_file);
    const nt_t1_kernel *kernel = &t1.kernel;
    assert_string_equal(kernel->global_size.x.text, "(4096+bx-1)//bx");
    assert_string_equal(kernel->global_size.y.text, "1");
    assert_null(kernel->global_size.z.text);
    assert_true(kernel->problem_size.alone && kernel->problem_size.count == 1);
    assert_string_equal(kernel->problem_size.item[0].text, "4096");
    assert_string_equal(kernel->grid_div_x.item[0].text, "bx");
    assert_null(kernel->grid_div_y.item);
    assert_string_equal(kernel->shared_memory.text, "4*bx");
    assert_int_equal(kernel->profiling, 0);
    assert_int_equal(kernel->argument_count, 2);
    assert_string_equal(kernel->argument[0].size.text, "ProblemSize");
    assert_int_equal(kernel->argument[0].output, 1);
    assert_int_equal(kernel->argument[0].random_seed, NT_UNKNOWN);
    assert_int_equal(kernel->argument[1].output, 0);
    assert_int_equal(kernel->argument[1].random_seed, 3);
    assert_string_equal(kernel->reference[0].validation_threshold.text, "0.001");
    nt_t1_done(&t1);
}

static void the_file_comes_back(void **state)
{
    nt_error err = {0};
    nt_t1 t1;
    (void)state;
    CHECK_OK(nt_t1_parse("small", small, strlen(small), &t1, &err), &err);
    json_t *original = json_loads(small, 0, NULL), *again = nt_t1_json(&t1);
    assert_true(json_equal(original, again));
    json_decref(original);
    json_decref(again);
    nt_t1_done(&t1);
}

static void samples_come_back(void **state)
{
    static const char *const names[] = {"pnpoly.T1.json", "convolution_milo.T1.json", "dedispersion_milo.T1.json"};
    static const size_t params[] = {4, 10, 8}, conditions[] = {0, 4, 3}, arguments[] = {0, 3, 3};
    (void)state;
    for (size_t i = 0; i < 3; i++) {
        nt_error err = {0};
        nt_t1 t1;
        char *path = field_sample(names[i]);
        if (path == NULL)
            skip();
        CHECK_OK(nt_t1_read(path, &t1, &err), &err);
        assert_int_equal(t1.space.param_count, params[i]);
        assert_int_equal(t1.space.condition_count, conditions[i]);
        assert_int_equal(t1.kernel.argument_count, arguments[i]);
        json_t *original = json_load_file(path, 0, NULL), *again = nt_t1_json(&t1);
        assert_true(json_equal(original, again));
        json_decref(original);
        json_decref(again);
        nt_t1_done(&t1);
        free(path);
    }
}

/* One word of the text is replaced by another; the error names the place and what is right there. */
static void errors_name_the_place(void **state)
{
    static const struct {
        const char *from, *to, *place, *right;
    } rows[] = {
        {"\"Name\":\"bx\",", "", "ConfigurationSpace.TuningParameters[0].Name is missing", ""},
        {"\"Type\":\"bool\"", "\"Type\":\"boolean\"", "TuningParameters[1].Type is \"boolean\"", "uint"},
        {"\"MemoryType\":\"Vector\"", "\"MemoryType\":7", "Arguments[0].MemoryType is 7", "Scalar, Vector"},
        {"\"LocalSize\":{\"X\":\"bx\"}", "\"LocalSize\":[]", "KernelSpecification.LocalSize is []", "an object"},
        {"\"LocalSize\":{\"X\":\"bx\"},", "", "KernelSpecification.LocalSize is missing", "an object"},
        {"\"RandomSeed\":3", "\"RandomSeed\":3.5", "Arguments[1].RandomSeed is 3.5", "a whole number"},
        {"\"Profiling\":false", "\"Profiling\":\"no\"", "Profiling is \"no\"", "true, false"},
        {"[\"bx\"],\"Expression\"", "[{}],\"Expression\"", "Conditions[0].Parameters", "a text"},
        {"\"Own\":", "\"Own\"", "small, line 1, column", ""},
        {"\"Own\":", "\"Budget\":", "duplicate object key", ""},
    };
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        nt_error err = {0};
        nt_t1 t1;
        char text[4096];
        const char *at = strstr(small, rows[i].from);
        assert_non_null(at);
        snprintf(text, sizeof text, "%.*s%s%s", (int)(at - small), small, rows[i].to, at + strlen(rows[i].from));
        assert_int_equal(nt_t1_parse("small", text, strlen(text), &t1, &err), NT_USAGE);
        if (strstr(err.what, rows[i].place) == NULL || strstr(err.hint, rows[i].right) == NULL)
            fail_msg("row %zu: %s; %s", i, err.what, err.hint);
    }
}

static void other_files_are_no_t1(void **state)
{
    static const char *const texts[] = {
        "", "[]", "{}", "null", "{\"results\":[]}", "\x1f\x8b", "\"ConfigurationSpace\""};
    (void)state;
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
        nt_error err = {0};
        nt_t1 t1;
        assert_int_equal(nt_t1_parse("other", texts[i], strlen(texts[i]), &t1, &err), NT_USAGE);
        assert_non_null(strstr(err.what, "other"));
    }
}

static void any_cut_is_an_error(void **state)
{
    (void)state;
    for (size_t length = 0; length < strlen(small); length++) {
        nt_error err = {0};
        nt_t1 t1;
        assert_int_equal(nt_t1_parse("cut", small, length, &t1, &err), NT_USAGE);
    }
}

static void deep_and_long_end_in_an_error(void **state)
{
    size_t length = NT_T1_MAX_BYTES + 1;
    char *text = malloc(length + 1);
    nt_error err = {0};
    nt_t1 t1;
    (void)state;
    memset(text, '[', length);
    text[length] = '\0';
    assert_int_equal(nt_t1_parse("long", text, length, &t1, &err), NT_USAGE);
    assert_non_null(strstr(err.what, "MiB"));
    assert_int_equal(nt_t1_parse("deep", text, length - 1, &t1, &err), NT_USAGE);
    assert_non_null(strstr(err.what, "depth"));
    free(text);
}

static void a_bomb_ends_at_the_limit(void **state)
{
    char path[] = "/tmp/nntune-bomb-XXXXXX.gz";
    size_t length = 64 << 20;
    char *text = malloc(length), *back;
    nt_error err = {0};
    (void)state;
    memset(text, ' ', length);
    int fd = mkstemps(path, 3);
    assert_true(fd >= 0);
    close(fd);
    CHECK_OK(nt_text_file_write(path, text, length, &err), &err);
    free(text);
    assert_int_equal(nt_text_file_read(path, 1 << 20, &back, &length, &err), NT_USAGE);
    assert_non_null(strstr(err.what, "more than 1 MiB"));
    assert_null(back);
    CHECK_OK(nt_text_file_read(path, 64 << 20, &back, &length, &err), &err);
    assert_int_equal(length, 64 << 20);
    free(back);
    assert_int_equal(truncate(path, 1000), 0);
    assert_int_equal(nt_text_file_read(path, 64 << 20, &back, &length, &err), NT_CORRUPT);
    unlink(path);
    assert_int_equal(nt_text_file_read(path, 64 << 20, &back, &length, &err), NT_NOT_FOUND);
    assert_int_equal(nt_text_file_read("/dev/zero", 64 << 20, &back, &length, &err), NT_USAGE);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_member_is_read),
        cmocka_unit_test(the_file_comes_back),
        cmocka_unit_test(samples_come_back),
        cmocka_unit_test(errors_name_the_place),
        cmocka_unit_test(other_files_are_no_t1),
        cmocka_unit_test(any_cut_is_an_error),
        cmocka_unit_test(deep_and_long_end_in_an_error),
        cmocka_unit_test(a_bomb_ends_at_the_limit),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
