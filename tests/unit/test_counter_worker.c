/* test_counter_worker.c: the counter worker's messages, with a CUPTI (cupti_fake.h), a driver and a compiler
 * (fake_nvidia.c) that are not there: opening, problems, counters by name, one configuration that cannot be loaded
 * among others, refused counters, requests out of order or damaged. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <math.h>

#include "autotune/counter_worker.h"

#if defined(NT_HAVE_CUPTI_H) && defined(NT_HAVE_CUDA_H)

#include <dlfcn.h>
#include <unistd.h>

#include "core/json.h"
#include "tests/unit/cupti_fake.h"

static char folder[64], library_path[128], cubin_path[128];
static void *library;
static nt_counter_worker worker;

static size_t launches(void)
{
    return (size_t) * (int *)dlsym(library, "fake_launches");
}

/* ---- asking ---- */

/* Steals the request. */
static json_t *ask(json_t *request, nt_status status)
{
    bool lost = true;
    assert_non_null(request);
    json_t *reply = nt__counter_worker_answer(&worker, request, &lost);
    json_decref(request);
    if (json_integer_value(json_object_get(reply, "status")) != status)
        fail_msg("%s", json_string_value(json_object_get(reply, "what")));
    assert_int_equal(lost, status == NT_DEVICE_LOST);
    return reply;
}

static void ask_only(json_t *request, nt_status status)
{
    json_decref(ask(request, status));
}

static json_t *open_request(const char *a, const char *b)
{
    return json_pack("{s:s, s:[s, s]}", "op", "open", "metrics", a, b);
}

static json_t *problem_request(const char *cache)
{
    nt_problem problem = {.layer = "conv3x3", .batch = 1, .precision = NT_FP32, .layout = NT_NHWC};
    nt_error err;
    assert_int_equal(nt_shape_parse("c=16,k=16,h=8,w=8", &problem.shape, &err), NT_OK);
    return json_pack("{s:s, s:o, s:i, s:s}", "op", "problem", "problem", nt_json_problem(&problem), "seed", 1, "cache",
                     cache);
}

static json_t *item(const char *path, int trial)
{
    const nt_kernel *kernel = nt_kernel_find("conv3x3", NT_DEVICE_CUDA, "direct");
    nt_config config;
    nt_artefact artefact = {.registers = 32, .smem_static_bytes = 0, .spill_bytes = 0, .compile_ms = 1};
    nt_kernel_default_config(kernel, &config);
    nt_copy(artefact.path, sizeof artefact.path, path);
    nt_copy(artefact.key, sizeof artefact.key, "00112233445566778899aabbccddeeff");
    return json_pack("{s:s, s:o, s:o, s:i}", "kernel", "direct", "params", nt_json_config(kernel->params, &config),
                     "artefact", nt_json_artefact(&artefact), "trial", trial);
}

static json_t *counters_request(int count, int broken)
{
    json_t *items = json_array();
    for (int i = 0; i < count; i++)
        json_array_append_new(items, item(i == broken ? "/nonexistent/code.cubin" : cubin_path, 100 + i));
    return json_pack("{s:s, s:o}", "op", "counters", "items", items);
}

/* ---- tests ---- */

static void opening_tells_chip_metrics_and_passes(void **state)
{
    (void)state;
    fake.passes = 2;
    json_t *reply = ask(open_request("occupancy_pct", "tensor_pct"), NT_OK);
    assert_string_equal(nt_json_get_text(reply, "chip"), "FK100");
    assert_int_equal(nt_json_get_int(reply, "passes"), 2);
    assert_string_equal(nt_json_get_text(reply, "source"), "CUPTI range profiler");
    assert_string_equal(nt_json_get_text(json_object_get(reply, "device"), "name"), "Fake 0");
    json_t *metrics = json_object_get(reply, "metrics");
    assert_int_equal(json_array_size(metrics), 2);
    json_t *first = json_array_get(metrics, 0), *second = json_array_get(metrics, 1);
    assert_string_equal(nt_json_get_text(first, "name"), "occupancy_pct");
    assert_string_equal(nt_json_get_text(first, "unit"), "%");
    assert_string_equal(nt_json_get_text(first, "counter"), "sm__warps_active.avg.pct_of_peak_sustained_active");
    assert_string_equal(nt_json_get_text(second, "name"), "tensor_pct");
    assert_null(nt_json_get_text(second, "counter"));
    json_decref(reply);
}

enum { MANY = NT_COUNTERS_BATCH + 6 };

static void counters_come_by_name_and_trial(void **state)
{
    static const char *const caches[] = {"cold", "hot"};
    (void)state;
    ask_only(open_request("occupancy_pct", "tensor_pct"), NT_OK);
    for (int c = 0; c < 2; c++) {
        json_t *problem = ask(problem_request(caches[c]), NT_OK);
        assert_true(nt_json_get_int(problem, "slots") >= 1);
        json_decref(problem);
        json_t *reply = ask(counters_request(MANY, -1), NT_OK); /* more than one group */
        json_t *list = json_object_get(reply, "counters");
        assert_string_equal(nt_json_get_text(reply, "cache"), caches[c]);
        assert_int_equal(nt_json_get_int(reply, "passes"), 1);
        assert_true(nt_json_get_real(reply, "ms") > 0);
        assert_int_equal(json_array_size(list), MANY);
        for (int i = 0; i < MANY; i++) {
            json_t *one = json_array_get(list, (size_t)i), *values = json_object_get(one, "values");
            assert_int_equal(nt_json_get_int(one, "trial"), 100 + i);
            int launch = c == 0 ? i % NT_COUNTERS_BATCH : 2 * (i % NT_COUNTERS_BATCH) + 1; /* hot: the second of two */
            assert_true(nt_json_get_real(values, "occupancy_pct") == 7 + launch);
            assert_true(json_is_null(json_object_get(values, "tensor_pct")));
            assert_null(json_object_get(one, "reason"));
        }
        json_decref(reply);
    }
}

static void one_that_cannot_be_loaded_stands_alone(void **state)
{
    (void)state;
    ask_only(open_request("occupancy_pct", "instructions"), NT_OK);
    ask_only(problem_request("cold"), NT_OK);
    json_t *reply = ask(counters_request(3, 1), NT_OK);
    json_t *list = json_object_get(reply, "counters");
    assert_int_equal(json_array_size(list), 3);
    for (int i = 0; i < 3; i++) {
        json_t *one = json_array_get(list, (size_t)i);
        assert_int_equal(nt_json_get_int(one, "trial"), 100 + i);
        assert_int_equal(nt_json_get_text(one, "reason") != NULL, i == 1);
        assert_int_equal(json_object_get(one, "values") != NULL, i != 1);
    }
    assert_non_null(strstr(nt_json_get_text(json_array_get(list, 1), "reason"), "/nonexistent/code.cubin"));
    json_decref(reply);
}

static void refused_counters_say_why_and_may_be_asked_again(void **state)
{
    (void)state;
    fake.fail = "range_enable";
    fake.code = 35;
    json_t *reply = ask(open_request("occupancy_pct", "instructions"), NT_NO_PERMISSION);
    assert_non_null(strstr(nt_json_get_text(reply, "what"), "CUPTI_ERROR_INSUFFICIENT_PRIVILEGES (35)"));
    assert_non_null(strstr(nt_json_get_text(reply, "hint"), "NVreg_RestrictProfilingToAdminUsers=0"));
    json_decref(reply);
    ask_only(problem_request("cold"), NT_CORRUPT);
    fake.fail = NULL;
    ask_only(open_request("occupancy_pct", "instructions"), NT_OK);
    ask_only(open_request("occupancy_pct", "l1_hit_pct"), NT_OK); /* other metrics, same device */
    ask_only(problem_request("cold"), NT_OK);
    fake.fail = "range_start";
    fake.code = 26;
    reply = ask(counters_request(2, -1), NT_BUSY);
    assert_non_null(strstr(nt_json_get_text(reply, "hint"), "dcgmi profile --pause"));
    json_decref(reply);
    fake.fail = NULL;
    ask_only(counters_request(2, -1), NT_OK);
}

static void a_wrong_metric_is_a_usage_error(void **state)
{
    (void)state;
    json_t *reply = ask(open_request("occupancy_pct", "ocupancy"), NT_USAGE);
    assert_non_null(strstr(nt_json_get_text(reply, "what"), "'ocupancy'"));
    json_decref(reply);
    reply = ask(json_pack("{s:s, s:[s], s:i}", "op", "open", "metrics", "t1", "most_passes", 1), NT_OK);
    json_decref(reply);
    nt_counters_close(worker.counters); /* which knows this list, and would not ask again */
    worker.counters = NULL;
    fake.passes = 2;
    reply = ask(json_pack("{s:s, s:[s], s:i}", "op", "open", "metrics", "t1", "most_passes", 1), NT_USAGE);
    assert_non_null(strstr(nt_json_get_text(reply, "what"), "take 2 passes"));
    json_decref(reply);
}

static void damaged_requests_are_refused(void **state)
{
    (void)state;
    ask_only(json_pack("{s:s}", "op", "counters"), NT_CORRUPT);
    ask_only(json_pack("{s:s}", "op", "other"), NT_CORRUPT);
    ask_only(json_pack("{s:i}", "op", 3), NT_CORRUPT);
    ask_only(json_pack("{s:s}", "op", "open"), NT_CORRUPT);
    ask_only(json_pack("{s:s, s:[i]}", "op", "open", "metrics", 5), NT_CORRUPT);
    ask_only(open_request("occupancy_pct", "t1"), NT_OK);
    ask_only(json_pack("{s:s, s:[]}", "op", "counters", "items"), NT_CORRUPT); /* no problem yet */
    ask_only(json_pack("{s:s, s:{}, s:i, s:s}", "op", "problem", "problem", "seed", 1, "cache", "cold"), NT_CORRUPT);
    ask_only(json_pack("{s:s, s:{}, s:i, s:s}", "op", "problem", "problem", "seed", 1, "cache", "warm"), NT_CORRUPT);
    ask_only(problem_request("cold"), NT_OK);
    ask_only(json_pack("{s:s}", "op", "counters"), NT_CORRUPT);
    ask_only(json_pack("{s:s, s:[{s:s}]}", "op", "counters", "items", "kernel", "direct"), NT_CORRUPT);
    json_t *reply = ask(json_pack("{s:s, s:[]}", "op", "counters", "items"), NT_OK);
    assert_int_equal(json_array_size(json_object_get(reply, "counters")), 0);
    json_decref(reply);
}

/* ---- the driver: that of fake_nvidia.c, which here knows every kernel by its name ---- */

static const char any_function[] = "#include <stdlib.h>\n"
                                   "#include <string.h>\n"
                                   "static char *known[64];\n"
                                   "int cuModuleGetFunction(const char **function, void *module, const char *name)\n"
                                   "{\n"
                                   "    int i = 0;\n"
                                   "    (void)module;\n"
                                   "    while (i < 63 && known[i] != NULL && strcmp(known[i], name) != 0) i++;\n"
                                   "    if (known[i] == NULL) known[i] = strdup(name);\n"
                                   "    *function = known[i];\n"
                                   "    return 0;\n"
                                   "}\n";

static bool write_file(const char *path, const char *text)
{
    FILE *file = fopen(path, "w");
    return file != NULL && fputs(text, file) >= 0 && fclose(file) == 0;
}

static int build_library(void **state)
{
    (void)state;
    char command[1024], here[256], source[128];
    snprintf(here, sizeof here, "%s", __FILE__);
    *strrchr(here, '/') = '\0';
    snprintf(folder, sizeof folder, "/tmp/nntune-test-XXXXXX");
    if (mkdtemp(folder) == NULL)
        return -1;
    snprintf(library_path, sizeof library_path, "%s/libfake.so", folder);
    snprintf(cubin_path, sizeof cubin_path, "%s/code.cubin", folder);
    snprintf(source, sizeof source, "%s/any.c", folder);
    snprintf(command, sizeof command,
             "cc -fPIC -DcuModuleGetFunction=of_those_named -c -o %s/driver.o %s/fake_nvidia.c && "
             "cc -shared -fPIC -o %s %s/driver.o %s %s/fake_nvidia_tools.c",
             folder, here, library_path, folder, source, here);
    setenv("NNTUNE_LIBCUDA", library_path, 1);
    setenv("NNTUNE_NVRTC", library_path, 1);
    setenv("NNTUNE_NVML", library_path, 1);
    setenv("NNTUNE_CACHE_DIR", folder, 1);
    if (!write_file(source, any_function) || !write_file(cubin_path, "cubin") || system(command) != 0)
        return -1;
    library = dlopen(library_path, RTLD_NOW);
    return library != NULL ? 0 : -1;
}

static int remove_library(void **state)
{
    (void)state;
    char command[128];
    snprintf(command, sizeof command, "rm -rf %s", folder);
    return system(command) == 0 ? 0 : -1;
}

static int start_worker(void **state)
{
    (void)state;
    fake_reset();
    fake.driver_launches = launches;
    worker = (nt_counter_worker){.base = {.ops = &nt_device_cuda_ops, .floor_ns = NAN}};
    return 0;
}

static int end_worker(void **state)
{
    (void)state;
    nt__counter_worker_done(&worker);
    nt_cupti_api_use(NULL);
    return fake.live == 0 && *(int *)dlsym(library, "fake_live") == 0 ? 0 : -1;
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, start_worker, end_worker)
    const struct CMUnitTest tests[] = {
        TEST(opening_tells_chip_metrics_and_passes),  TEST(counters_come_by_name_and_trial),
        TEST(one_that_cannot_be_loaded_stands_alone), TEST(refused_counters_say_why_and_may_be_asked_again),
        TEST(a_wrong_metric_is_a_usage_error),        TEST(damaged_requests_are_refused),
    };
    return cmocka_run_group_tests(tests, build_library, remove_library);
}

#else

static void a_cpu_has_no_counters(void **state)
{
    (void)state;
    bool lost;
    nt_counter_worker worker = {.base = {.ops = &nt_device_cpu_ops, .floor_ns = NAN}};
    json_t *request = json_pack("{s:s, s:[s]}", "op", "open", "metrics", "t1");
    json_t *reply = nt__counter_worker_answer(&worker, request, &lost);
    assert_int_equal(json_integer_value(json_object_get(reply, "status")), NT_NO_DEVICE);
    json_decref(request);
    json_decref(reply);
    nt__counter_worker_done(&worker);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(a_cpu_has_no_counters)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}

#endif
