/* test_device_fake.c: the fake device does what the tests built on it rely on: equal times in every process, a space
 * with one best place, and faults exactly when they are due. */
#include "device/fake.h"

#include "core/mem.h"
#include "core/paths.h"
#include "device/cache.h"
#include "device/compiler.h"
#include "kernels/kernel.h"

#include <math.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

static char base[] = "/tmp/nntune-test-XXXXXX";
static char state_path[64], log_path[64];
static const nt_device_ops *ops;
static nt_device *device;
static nt_plan plan;

static int set_up(void **state)
{
    (void)state;
    strcpy(base + strlen(base) - 6, "XXXXXX");
    if (mkdtemp(base) == NULL)
        return -1;
    snprintf(state_path, sizeof state_path, "%s/state", base);
    snprintf(log_path, sizeof log_path, "%s/log", base);
    setenv("NNTUNE_CACHE_DIR", base, 1);
    setenv("NNTUNE_FAKE_STATE", state_path, 1);
    setenv("NNTUNE_FAKE_LOG", log_path, 1);
    unsetenv("NNTUNE_FAKE_FAULT");
    unsetenv("NNTUNE_FAKE_COMPILE_MS");
    memset(&plan, 0, sizeof plan);
    plan.stage_count = 1;
    nt_stage_kernel(&plan.stage[0], "entry", 16, 1, 1, 16, 16, 1);
    ops = nt_device_ops_of(NT_DEVICE_FAKE);
    return ops->open(0, &device, NULL);
}

static int tear_down(void **state)
{
    (void)state;
    ops->close(device);
    nt_cache_scratch_done(base);
    return 0;
}

static nt_status run_once(nt_error *err)
{
    nt_binding binding = {{0}};
    return ops->run(device, NULL, &plan, false, &binding, NULL, err);
}

static nt_module *load(const char *options, double *compile_ms)
{
    nt_artefact artefact;
    nt_module *module;
    nt_error err = {0};
    nt_compile_request request = {NT_DEVICE_FAKE, "direct", "source", options, "fake", "fake compiler 1", "", 10};
    assert_int_equal(nt_compile(&request, &artefact, &err), NT_OK);
    assert_int_equal(ops->module_load(device, artefact.path, &module, &err), NT_OK);
    if (compile_ms != NULL)
        *compile_ms = artefact.compile_ms;
    return module;
}

static void test_never_listed(void **state)
{
    (void)state;
    nt_device_listing *listing = nt_alloc_zero(1, sizeof *listing);
    ops->list(listing);
    assert_int_equal(listing->count, 0);
    assert_string_equal(listing->missing, "");
    free(listing);
    assert_string_equal(ops->info(device)->uuid, "FAKE-0");
}

static void test_times_are_smooth_and_deterministic(void **state)
{
    (void)state;
    char options[64];
    double time[8], best = INFINITY;
    int lowest = 0;
    for (int i = 0; i < 8; i++) {
        snprintf(options, sizeof options, "direct -DUNROLL=%d", 1 << i);
        time[i] = nt_fake_time_ns(options, &plan);
        assert_float_equal(time[i], nt_fake_time_ns(options, &plan), 0);
        assert_true(time[i] >= NT_FAKE_BEST_NS);
        lowest = time[i] < best ? i : lowest;
        best = time[i] < best ? time[i] : best;
    }
    for (int i = 1; i < 8; i++) /* down to the best, then up */
        assert_true(i <= lowest ? time[i] < time[i - 1] : time[i] > time[i - 1]);
    double square = nt_fake_time_ns("direct", &plan);
    plan.stage[0].block[0] = 1024;
    assert_true(nt_fake_time_ns("direct", &plan) != square);
}

static void test_samples(void **state)
{
    (void)state;
    double first[20], second[20], mhz[20];
    size_t position = 0;
    nt_binding ring = {{0}};
    nt_module *module = load("-DTILE=4", NULL);
    nt_sample_request request = {&plan, module, &ring, 1, &position, 3, 20, first, mhz};
    assert_int_equal(ops->sample(device, &request, NULL), NT_OK);
    assert_int_equal(position, 60);
    position = 0;
    request.out_ns = second;
    assert_int_equal(ops->sample(device, &request, NULL), NT_OK);
    assert_memory_equal(first, second, sizeof first);
    double period = nt_fake_time_ns("direct -DTILE=4", &plan);
    bool varied = false;
    for (int i = 0; i < 20; i++) {
        assert_true(fabs(first[i] / period - 1) <= 0.00101);
        varied = varied || first[i] != first[0];
    }
    assert_true(varied);
    ops->module_unload(device, module);
}

static void test_faults_in_process(void **state)
{
    (void)state;
    nt_error err = {0};
    nt_compare_request request = {.count = 10, .original = 1};
    nt_compare_result result;
    nt_binding ring = {{0}};
    double ns = 0;
    size_t position = 0;
    nt_sample_request sampling = {&plan, NULL, &ring, 1, &position, 1, 1, &ns, NULL};
    setenv("NNTUNE_FAKE_FAULT", "lost@3,launch@4,wrong@2,lie@5", 1);
    assert_int_equal(run_once(&err), NT_OK); /* 1 */
    ops->compare(device, &request, &result, NULL);
    assert_int_equal(result.violations, 0);
    assert_int_equal(result.first_bad, 10);
    assert_int_equal(run_once(&err), NT_OK); /* 2 */
    ops->compare(device, &request, &result, NULL);
    assert_int_equal(result.violations, 1);
    assert_int_equal(run_once(&err), NT_DEVICE_LOST);   /* 3 */
    assert_int_equal(run_once(&err), NT_LAUNCH_FAILED); /* 4 */
    assert_int_equal(run_once(&err), NT_OK);            /* 5 */
    ops->compare(device, &request, &result, NULL);
    assert_int_equal(result.violations, 0);
    ops->sample(device, &sampling, NULL);
    assert_true(ns < 0);
    assert_int_equal(run_once(&err), NT_OK); /* 6 */
    ops->sample(device, &sampling, NULL);
    assert_true(ns > 0);
}

static void test_crash_and_count_survive_the_process(void **state)
{
    (void)state;
    setenv("NNTUNE_FAKE_FAULT", "crash@3,hang@5", 1);
    for (int round = 0; round < 2; round++) { /* dies in run 3, then goes on with run 4 and hangs in run 5 */
        int status;
        pid_t child = fork();
        if (child == 0) {
            alarm(round == 1 ? 1 : 20); /* ends the hang */
            for (int i = 0; i < 4; i++)
                run_once(NULL);
            _exit(0);
        }
        assert_int_equal(waitpid(child, &status, 0), child);
        assert_true(WIFSIGNALED(status));
        assert_int_equal(WTERMSIG(status), round == 0 ? SIGSEGV : SIGALRM);
    }
    assert_int_equal(run_once(NULL), NT_OK); /* 6 */
    char *text;
    assert_int_equal(nt_read_file(state_path, 100, &text, NULL, NULL), NT_OK);
    assert_string_equal(text, "6\n");
    free(text);
}

static void test_wrong_fault_lists(void **state)
{
    (void)state;
    static const char *const wrong[] = {"crash", "crash@", "crash@x", "crash@0", "explode@3", "@3", "crash@3;hang@4"};
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
        nt_error err = {0};
        setenv("NNTUNE_FAKE_FAULT", wrong[i], 1);
        assert_int_equal(run_once(&err), NT_USAGE);
        assert_non_null(strstr(err.what, wrong[i]));
    }
}

static void test_log_has_a_line_for_each_load(void **state)
{
    (void)state;
    char *text, line[96];
    ops->module_unload(device, load("-DTILE=4", NULL));
    ops->module_unload(device, load("-DTILE=8", NULL));
    ops->module_unload(device, load("-DTILE=4", NULL));
    snprintf(line, sizeof line, "load direct -DTILE=4 pid=%ld\n", (long)getpid());
    assert_int_equal(nt_read_file(log_path, 1000, &text, NULL, NULL), NT_OK);
    assert_int_equal(strncmp(text, line, strlen(line)), 0);
    int lines = 0;
    for (const char *at = text; (at = strchr(at, '\n')) != NULL; at++)
        lines++;
    assert_int_equal(lines, 3);
    free(text);
}

static void test_compile_takes_its_time(void **state)
{
    (void)state;
    double ms;
    setenv("NNTUNE_FAKE_COMPILE_MS", "30", 1);
    ops->module_unload(device, load("-DTILE=2", &ms));
    assert_true(ms >= 30);
}

static void test_memory(void **state)
{
    (void)state;
    nt_mem memory;
    size_t before, after, changed;
    nt_error err = {0};
    ops->memory_free(device, &before, NULL);
    assert_int_equal(ops->alloc(device, 1000, &memory, &err), NT_OK);
    assert_int_equal(memory % 256, 0);
    ops->memory_free(device, &after, NULL);
    assert_int_equal(before - after, 1000);
    ops->fill(device, memory, 7, 1000, NULL);
    ops->upload(device, memory + 10, "abc", 3, NULL);
    ops->count_changed(device, memory, 7, 1000, &changed, NULL);
    assert_int_equal(changed, 3);
    ops->free(device, memory);
    ops->memory_free(device, &after, NULL);
    assert_int_equal(before, after);
    assert_int_equal(ops->alloc(device, before + 1, &memory, &err), NT_NO_MEMORY);
}

static void test_kernel_row(void **state)
{
    (void)state;
    const nt_kernel *kernel = nt_kernel_find("conv3x3", NT_DEVICE_FAKE, "fake");
    nt_problem problem = {.layer = "conv3x3", .batch = 1};
    nt_config config;
    nt_plan out;
    long configurations = 1;
    assert_non_null(kernel);
    assert_true(kernel->hidden);
    for (int p = 0; p < kernel->param_count; p++)
        configurations *= kernel->params[p].count;
    assert_in_range(configurations, 2000, 20000);
    for (int p = 0; p < NT_PRECISION_COUNT; p++)
        assert_true(kernel->precisions & NT_BIT(p));
    nt_kernel_default_config(kernel, &config);
    assert_int_equal(kernel->plan(&problem, &config, ops->info(device), &out, NULL), NT_OK);
    assert_int_equal(out.stage_count, 1);
    assert_int_equal(out.stage[0].block[0] * out.stage[0].block[1], 256);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(test_never_listed),
        TEST(test_times_are_smooth_and_deterministic),
        TEST(test_samples),
        TEST(test_faults_in_process),
        TEST(test_crash_and_count_survive_the_process),
        TEST(test_wrong_fault_lists),
        TEST(test_log_has_a_line_for_each_load),
        TEST(test_compile_takes_its_time),
        TEST(test_memory),
        TEST(test_kernel_row),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
