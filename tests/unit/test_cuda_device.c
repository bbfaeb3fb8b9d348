/* test_cuda_device.c: the cuda device against a driver, compiler and management library that are not there
 * (fake_nvidia.c, built here as one shared object): listing and its reasons, opening, memory, modules, launches, the
 * order of samples over the ring, what happens when the host is slow, and faults. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <dlfcn.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "device/device.h"

#ifdef NT_HAVE_CUDA_H

static char folder[64], library_path[128];
static void *library;
static nt_device *device;
static const nt_device_ops *const ops = &nt_device_cuda_ops;

static int number(const char *name)
{
    return *(int *)dlsym(library, name);
}

/* ---- before the driver has started: a start that succeeds is kept, so these come first, in this order ---- */

static void says_that_there_is_no_driver(void **state)
{
    (void)state;
    nt_device_listing listing;
    setenv("NNTUNE_LIBCUDA", "/nonexistent/libcuda.so.1", 1);
    ops->list(&listing);
    assert_int_equal(listing.count, 0);
    assert_non_null(strstr(listing.missing, "driver library was not found"));
    assert_non_null(strstr(listing.missing, "named by NNTUNE_LIBCUDA"));
    assert_string_not_equal(listing.hint, "");
    nt_error err;
    assert_int_equal(ops->open(0, &device, &err), NT_NO_DEVICE);
    assert_null(device);
}

static void says_that_a_library_is_no_driver(void **state)
{
    (void)state;
    nt_device_listing listing;
    setenv("NNTUNE_LIBCUDA", "libm.so.6", 1);
    ops->list(&listing);
    assert_int_equal(listing.count, 0);
    assert_non_null(strstr(listing.missing, "has no function cuInit"));
    setenv("NNTUNE_LIBCUDA", library_path, 1);
}

static void says_why_the_driver_shows_no_gpu(void **state)
{
    (void)state;
    static const struct {
        const char *init, *visible, *missing;
    } cases[] = {
        {"100", NULL, "finds no GPU"},
        {"100", "", "CUDA_VISIBLE_DEVICES is empty"},
        {"100", "7", "CUDA_VISIBLE_DEVICES=7 leaves no GPU"},
        {"803", NULL, "CUDA_ERROR_SYSTEM_DRIVER_MISMATCH (803)"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        nt_device_listing listing;
        setenv("FAKE_INIT", cases[i].init, 1);
        if (cases[i].visible != NULL)
            setenv("CUDA_VISIBLE_DEVICES", cases[i].visible, 1);
        else
            unsetenv("CUDA_VISIBLE_DEVICES");
        ops->list(&listing);
        assert_int_equal(listing.count, 0);
        assert_non_null(strstr(listing.missing, cases[i].missing));
        assert_string_not_equal(listing.hint, "");
    }
    unsetenv("CUDA_VISIBLE_DEVICES");
    unsetenv("FAKE_INIT");
}

/* ---- with a driver ---- */

static void lists_identity_limits_and_peaks(void **state)
{
    (void)state;
    nt_device_listing listing;
    setenv("FAKE_DEVICES", "2", 1);
    ops->list(&listing);
    unsetenv("FAKE_DEVICES");
    assert_int_equal(listing.count, 2);
    assert_string_equal(listing.missing, "");
    const nt_device_info *info = &listing.info[0];
    assert_string_equal(info->name, "Fake 0");
    assert_string_equal(info->uuid, "GPU-a0a1a2a3-a4a5-a6a7-a8a9-aaabacadaeaf");
    assert_string_equal(info->arch, "sm_90");
    assert_string_equal(info->driver, "999.1 (CUDA 13.0)");
    assert_string_equal(info->compiler, "NVRTC 13.0");
    assert_int_equal(info->sm_count, 4);
    assert_int_equal(info->smem_per_block_bytes, 232448);
    assert_int_equal(info->max_blocks_per_sm, 32);
    assert_true(info->sm_clock_max_mhz == 1600); /* NVML's word */
    assert_true(info->mem_clock_max_mhz == 2000);
    assert_true(info->dram_peak_bytes_per_s == 2000e6 * 2 * 256 / 8);
    assert_true(info->peak_flops[NT_FP16] == 4096.0 * 4 * 1600e6);
    /* NVML does not know the second one, so the driver's clock is taken. */
    assert_true(listing.info[1].sm_clock_max_mhz == 1500);
    assert_int_equal(number("fake_live"), 0);
}

static void says_that_the_driver_is_too_old_for_the_compiler(void **state)
{
    (void)state;
    nt_device_listing listing;
    setenv("FAKE_CUDA", "12040", 1);
    ops->list(&listing);
    unsetenv("FAKE_CUDA");
    assert_int_equal(listing.count, 1);
    assert_non_null(strstr(listing.missing, "driver (CUDA 12.4) is too old for what NVRTC 13.0 compiles"));
}

static void refuses_a_gpu_that_is_not_there(void **state)
{
    (void)state;
    nt_error err;
    nt_device *none = NULL;
    assert_int_equal(ops->open(3, &none, &err), NT_NO_DEVICE);
    assert_non_null(strstr(err.what, "no cuda:3; this machine shows 1 GPU"));
    assert_null(none);
}

static int open_device(void **state)
{
    (void)state;
    nt_error err = {0};
    return ops->open(0, &device, &err) == NT_OK ? 0 : -1;
}

/* Whatever a test did, everything made is freed when the device closes. */
static int close_device(void **state)
{
    (void)state;
    ops->close(device);
    device = NULL;
    return number("fake_live") == 0 ? 0 : -1;
}

static void moves_bytes(void **state)
{
    (void)state;
    nt_error err;
    nt_mem a = 0, b = 0;
    unsigned char bytes[1000], back[1000];
    size_t changed = 99;
    for (size_t i = 0; i < sizeof bytes; i++)
        bytes[i] = (unsigned char)(i * 7);
    assert_int_equal(ops->alloc(device, sizeof bytes, &a, &err), NT_OK);
    assert_int_equal(ops->alloc(device, sizeof bytes, &b, &err), NT_OK);
    assert_int_equal(ops->upload(device, a, bytes, sizeof bytes, &err), NT_OK);
    assert_int_equal(ops->copy(device, b, a, sizeof bytes, &err), NT_OK);
    assert_int_equal(ops->download(device, back, b, sizeof back, &err), NT_OK);
    assert_memory_equal(bytes, back, sizeof bytes);
    assert_int_equal(ops->fill(device, b, 0xA7, sizeof bytes, &err), NT_OK);
    assert_int_equal(ops->count_changed(device, b, 0xA7, sizeof bytes, &changed, &err), NT_OK);
    assert_int_equal(changed, 0);
    assert_int_equal(ops->fill(device, b + 500, 0, 3, &err), NT_OK);
    assert_int_equal(ops->count_changed(device, b, 0xA7, sizeof bytes, &changed, &err), NT_OK);
    assert_int_equal(changed, 3);
    ops->free(device, a);
    ops->free(device, b);
    ops->free(device, 0);
}

static void names_needed_and_free_memory(void **state)
{
    (void)state;
    nt_error err;
    nt_mem memory = 1;
    assert_int_equal(ops->alloc(device, (size_t)3 << 30, &memory, &err), NT_NO_MEMORY);
    assert_int_equal(memory, 0);
    assert_non_null(strstr(err.what, "allocating 3"));
    assert_non_null(strstr(err.what, "512 MiB is free"));
}

/* ---- modules and launches ---- */

static nt_module *load(const char *text)
{
    char path[128];
    nt_error err = {0};
    nt_module *module = NULL;
    snprintf(path, sizeof path, "%s/code.cubin", folder);
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    fputs(text, file);
    fclose(file);
    nt_status status = ops->module_load(device, path, &module, &err);
    assert_int_equal(status, strncmp(text, "cubin", 5) == 0 ? NT_OK : NT_CORRUPT);
    return module;
}

static nt_plan plan_of(const char *entry)
{
    nt_plan plan = {.stage_count = 1};
    nt_stage_kernel(&plan.stage[0], entry, 1, 1, 1, 128, 1, 1);
    nt_stage_arg_buffer(&plan.stage[0], NT_ROLE_OUT, 16);
    return plan;
}

static void tells_about_functions(void **state)
{
    (void)state;
    nt_error err;
    nt_function_info info;
    assert_null(load("garbage"));
    nt_module *module = load("cubin");
    assert_int_equal(ops->function_info(device, module, "work", 256, 100000, &info, &err), NT_OK);
    assert_int_equal(number("fake_last_smem"), 100000);
    assert_int_equal(info.registers, 40);
    assert_int_equal(info.smem_static_bytes, 64);
    assert_int_equal(info.blocks_per_sm, 7);
    assert_int_equal(ops->function_info(device, module, "work", 1024, 0, &info, &err), NT_LAUNCH_FAILED);
    assert_non_null(strstr(err.what, "at most 512 threads per block, not 1024"));
    assert_int_equal(ops->function_info(device, module, "work", 32, 300000, &info, &err), NT_LAUNCH_FAILED);
    assert_non_null(strstr(err.what, "300000 bytes of dynamic shared memory"));
    assert_int_equal(ops->function_info(device, module, "absent", 32, 0, &info, &err), NT_NOT_FOUND);
    ops->module_unload(device, module);
    ops->module_unload(device, NULL);
}

static void runs_stages_in_order(void **state)
{
    (void)state;
    nt_error err;
    nt_mem out = 0;
    unsigned char bytes[64];
    double elapsed = 0;
    nt_module *module = load("cubin");
    assert_int_equal(ops->alloc(device, sizeof bytes, &out, &err), NT_OK);
    ops->fill(device, out, 0xFF, sizeof bytes, &err);
    nt_plan plan = plan_of("work");
    nt_stage_zero(&plan.stage[1], NT_ROLE_OUT, 30);
    plan.stage[2] = plan.stage[0];
    plan.stage[2].cluster[0] = 4;
    plan.stage[2].cluster[1] = 4;
    plan.stage_count = 3;
    nt_binding binding = {.address[NT_ROLE_OUT] = out};
    int before = number("fake_launches");
    assert_int_equal(ops->run(device, module, &plan, false, &binding, &elapsed, &err), NT_OK);
    assert_true(fabs(elapsed - 20700) < 1);
    assert_int_equal(number("fake_launches"), before + 2);
    assert_int_equal(number("fake_last_cluster"), 16);
    assert_int_equal(((uint64_t *)dlsym(library, "fake_first_arg"))[before], out + 16);
    ops->download(device, bytes, out, sizeof bytes, &err);
    assert_int_equal(bytes[29], 0);
    assert_int_equal(bytes[30], 0xFF);
    plan.stage[1].kind = NT_STAGE_VENDOR;
    assert_int_equal(ops->run(device, module, &plan, false, &binding, NULL, &err), NT_LAUNCH_FAILED);
    ops->free(device, out);
    ops->module_unload(device, module);
}

/* Constant memory is filled by a stage before the launch; a template is launched by the symbol behind its name. */
static void fills_variables_and_launches_templates(void **state)
{
    (void)state;
    nt_error err;
    nt_mem table = 0;
    unsigned char bytes[64];
    nt_module *module = load("cubin scale<4>\twork\n000000000000000eNNTUNE-NAMES");
    assert_int_equal(ops->alloc(device, sizeof bytes, &table, &err), NT_OK);
    ops->fill(device, table, 0x5A, sizeof bytes, &err);
    nt_plan plan = plan_of("scale<4>");
    plan.prepare_count = 1;
    nt_stage_symbol(&plan.prepare[0], "variable", NT_ROLE_USER + 3, sizeof bytes);
    nt_binding binding = {.address[NT_ROLE_USER + 3] = table, .address[NT_ROLE_OUT] = table};
    int before = number("fake_launches");
    assert_int_equal(ops->run(device, module, &plan, true, &binding, NULL, &err), NT_OK);
    assert_int_equal(ops->run(device, module, &plan, false, &binding, NULL, &err), NT_OK);
    assert_int_equal(number("fake_launches"), before + 1);
    memset(bytes, 0x5A, sizeof bytes);
    assert_memory_equal(dlsym(library, "fake_variable"), bytes, sizeof bytes);
    plan.prepare[0].zero_bytes = 65;
    assert_int_equal(ops->run(device, module, &plan, true, &binding, NULL, &err), NT_LAUNCH_FAILED);
    assert_string_equal(err.what, "the variable 'variable' has 64 bytes, 65 are to be put there");
    nt_stage_symbol(&plan.prepare[0], "none", NT_ROLE_USER + 3, 4);
    assert_int_equal(ops->run(device, module, &plan, true, &binding, NULL, &err), NT_LAUNCH_FAILED);
    assert_string_equal(err.what, "the compiled code has no variable 'none'");
    ops->free(device, table);
    ops->module_unload(device, module);
}

/* ---- timing ---- */

enum { RING = 7, LAUNCHES = 20, SAMPLES = 50 };

static nt_sample_request request_of(const nt_plan *plan, nt_module *module, nt_binding ring[RING], size_t *position,
                                    double *ns, double *mhz)
{
    for (size_t i = 0; i < RING; i++)
        ring[i].address[NT_ROLE_OUT] = 1000 * i;
    return (nt_sample_request){.plan = plan,
                               .module = module,
                               .ring = ring,
                               .ring_count = RING,
                               .position = position,
                               .launches = LAUNCHES,
                               .count = SAMPLES,
                               .out_ns = ns,
                               .out_clock_mhz = mhz};
}

static void samples_walk_the_ring_without_waiting(void **state)
{
    (void)state;
    nt_error err;
    nt_binding ring[RING] = {{{0}}};
    double ns[SAMPLES], mhz[SAMPLES];
    size_t position = 3;
    nt_module *module = load("cubin");
    nt_plan plan = plan_of("work");
    nt_sample_request request = request_of(&plan, module, ring, &position, ns, mhz);
    assert_int_equal(ops->sample(device, &request, &err), NT_OK); /* the first pays for what is put off */
    int launched = number("fake_launches"), waits = number("fake_waits"), held = number("fake_held");
    size_t start = position;
    assert_int_equal(ops->sample(device, &request, &err), NT_OK);
    assert_int_equal(number("fake_launches") - launched, LAUNCHES * SAMPLES);
    assert_int_equal(position, start + LAUNCHES * SAMPLES); /* it counts on */
    const uint64_t *arg = dlsym(library, "fake_first_arg");
    for (size_t i = 0; i < LAUNCHES * SAMPLES; i++)
        assert_int_equal(arg[(size_t)launched + i], 1000 * ((start + i) % RING) + 16);
    /* 16 samples of 20 launches, two events and a reading fit a group; one wait for the samples and one for the
     * download of the readings. */
    assert_int_equal(number("fake_held") - held, 4);
    assert_int_equal(number("fake_waits") - waits, 2);
    for (int i = 0; i < SAMPLES; i++) {
        assert_true(fabs(ns[i] - 10000) < 1); /* the bracket's own 700 ns are gone */
        assert_true(fabs(mhz[i] - 1500) < 0.1);
    }
    ops->module_unload(device, module);
}

static void samples_again_when_the_host_was_slow(void **state)
{
    (void)state;
    nt_error err;
    nt_binding ring[RING] = {{{0}}};
    double ns[SAMPLES];
    size_t position = 0;
    nt_module *module = load("cubin");
    nt_plan plan = plan_of("work");
    nt_sample_request request = request_of(&plan, module, ring, &position, ns, NULL);
    request.count = 2;
    assert_int_equal(ops->sample(device, &request, &err), NT_OK);
    int launched = number("fake_launches"), held = number("fake_held");
    setenv("FAKE_EXPIRE", "1", 1); /* one hold gives up: taken again behind the gate */
    assert_int_equal(ops->sample(device, &request, &err), NT_OK);
    assert_int_equal(number("fake_launches") - launched, 2 * 2 * LAUNCHES);
    assert_int_equal(number("fake_held") - held, 2);
    setenv("FAKE_EXPIRE", "2", 1); /* twice: this host cannot queue ahead, the third time is without a gate */
    held = number("fake_held");
    assert_int_equal(ops->sample(device, &request, &err), NT_OK);
    assert_int_equal(number("fake_held") - held, 2);
    assert_int_equal(ops->sample(device, &request, &err), NT_OK);
    assert_int_equal(number("fake_held") - held, 2);
    unsetenv("FAKE_EXPIRE");
    ops->module_unload(device, module);
}

static void refuses_an_interval_that_is_not_positive(void **state)
{
    (void)state;
    nt_error err;
    nt_binding ring[RING] = {{{0}}};
    double ns[SAMPLES];
    size_t position = 0;
    nt_module *module = load("cubin");
    nt_plan plan = plan_of("work");
    nt_sample_request request = request_of(&plan, module, ring, &position, ns, NULL);
    assert_int_equal(ops->sample(device, &request, &err), NT_OK);
    setenv("FAKE_TIMER_STUCK", "1", 1);
    assert_int_equal(ops->sample(device, &request, &err), NT_FAILED);
    unsetenv("FAKE_TIMER_STUCK");
    request.launches = 0;
    assert_int_equal(ops->sample(device, &request, &err), NT_USAGE);
    ops->module_unload(device, module);
}

static void measures_the_floor(void **state)
{
    (void)state;
    nt_error err;
    double period = 0;
    assert_int_equal(ops->floor(device, &period, &err), NT_OK);
    assert_true(fabs(period - 1000) < 0.1);
}

static void joins_conditions(void **state)
{
    (void)state;
    nt_error err;
    double period = 0;
    nt_conditions conditions;
    ops->conditions_begin(device);
    assert_int_equal(ops->floor(device, &period, &err), NT_OK);
    ops->conditions_end(device, &conditions);
    assert_true(fabs(conditions.sm_clock_mhz - 1500) < 0.1);
    assert_true(conditions.temperature_c == 41);
    assert_int_equal(conditions.throttle_mask, 4); /* 5 with 'idle' taken away */
    assert_true(isnan(conditions.power_mw));       /* shorter than a second */
    assert_true(isnan(conditions.energy_mj));
    ops->conditions_begin(device);
    usleep(1050000);
    ops->conditions_end(device, &conditions);
    assert_true(conditions.power_mw == 120000);
    assert_true(conditions.energy_mj > 120000 && conditions.energy_mj < 400000);
    assert_true(isnan(conditions.sm_clock_mhz)); /* nothing was timed */
}

static void a_launch_that_cannot_be_is_no_lost_device(void **state)
{
    (void)state;
    nt_error err;
    nt_binding ring[RING] = {{{0}}};
    double ns[SAMPLES];
    size_t position = 0;
    nt_module *module = load("cubin");
    nt_plan plan = plan_of("greedy");
    nt_sample_request request = request_of(&plan, module, ring, &position, ns, NULL);
    assert_int_equal(ops->run(device, module, &plan, false, ring, NULL, &err), NT_LAUNCH_FAILED);
    assert_non_null(strstr(err.what, "'greedy' with grid 1x1x1, block 128x1x1"));
    assert_non_null(strstr(err.what, "CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES (701)"));
    assert_int_equal(ops->sample(device, &request, &err), NT_LAUNCH_FAILED);
    ops->module_unload(device, module);
}

static void a_fault_loses_the_device(void **state)
{
    (void)state;
    nt_error err;
    nt_binding ring[RING] = {{{0}}};
    double ns[SAMPLES];
    size_t position = 0;
    nt_module *module = load("cubin");
    nt_plan plan = plan_of("fault");
    nt_sample_request request = request_of(&plan, module, ring, &position, ns, NULL);
    assert_int_equal(ops->run(device, module, &plan, false, ring, NULL, &err), NT_DEVICE_LOST);
    assert_non_null(strstr(err.what, "running 'fault': CUDA_ERROR_ILLEGAL_ADDRESS (700)"));
    assert_int_equal(ops->sample(device, &request, &err), NT_DEVICE_LOST);
    unsigned char byte;
    assert_int_equal(ops->download(device, &byte, (nt_mem)(uintptr_t)&byte, 1, &err), NT_DEVICE_LOST);
    ops->module_unload(device, module);
}

/* ---- the library that is not there ---- */

static int build_library(void **state)
{
    (void)state;
    char command[1024], here[256];
    snprintf(here, sizeof here, "%s", __FILE__);
    *strrchr(here, '/') = '\0';
    snprintf(folder, sizeof folder, "/tmp/nntune-test-XXXXXX");
    if (mkdtemp(folder) == NULL)
        return -1;
    snprintf(library_path, sizeof library_path, "%s/libfake.so", folder);
    snprintf(command, sizeof command, "cc -shared -fPIC -o %s %s/fake_nvidia.c %s/fake_nvidia_tools.c", library_path,
             here, here);
    setenv("NNTUNE_NVRTC", library_path, 1);
    setenv("NNTUNE_NVML", library_path, 1);
    setenv("NNTUNE_CACHE_DIR", folder, 1);
    if (system(command) != 0)
        return -1;
    library = dlopen(library_path, RTLD_NOW);
    return library != NULL ? 0 : -1;
}

static int remove_library(void **state)
{
    (void)state;
    char command[128];
    snprintf(command, sizeof command, "rm -rf %s", folder);
    return system(command);
}

#define OPENED(test) cmocka_unit_test_setup_teardown(test, open_device, close_device)

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(says_that_there_is_no_driver),
        cmocka_unit_test(says_that_a_library_is_no_driver),
        cmocka_unit_test(says_why_the_driver_shows_no_gpu),
        cmocka_unit_test(lists_identity_limits_and_peaks),
        cmocka_unit_test(says_that_the_driver_is_too_old_for_the_compiler),
        cmocka_unit_test(refuses_a_gpu_that_is_not_there),
        OPENED(moves_bytes),
        OPENED(names_needed_and_free_memory),
        OPENED(tells_about_functions),
        OPENED(runs_stages_in_order),
        OPENED(fills_variables_and_launches_templates),
        OPENED(samples_walk_the_ring_without_waiting),
        OPENED(samples_again_when_the_host_was_slow),
        OPENED(refuses_an_interval_that_is_not_positive),
        OPENED(measures_the_floor),
        OPENED(joins_conditions),
        OPENED(a_launch_that_cannot_be_is_no_lost_device),
        OPENED(a_fault_loses_the_device),
    };
    return cmocka_run_group_tests(tests, build_library, remove_library);
}

#else

static void says_that_it_was_built_without_headers(void **state)
{
    (void)state;
    nt_device_listing listing;
    nt_device *device = NULL;
    nt_error err;
    nt_device_cuda_ops.list(&listing);
    assert_int_equal(listing.count, 0);
    assert_non_null(strstr(listing.missing, "built without NVIDIA's CUDA headers"));
    assert_int_equal(nt_device_cuda_ops.open(0, &device, &err), NT_NO_DEVICE);
    nt_device_cuda_ops.close(device);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(says_that_it_was_built_without_headers)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}

#endif
