/* test_device_cpu.c: the cpu device with real kernels: splitting, barriers, rings, memory, identity. */
#include "device/compiler.h"
#include "device/cpu_host.h"
#include "device/device.h"

#include "core/mem.h"
#include "device/cache.h"

#include <math.h>
#include <sched.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

static const char source[] =
    "#include <stdint.h>\n"
    "#define ARGS void *const *args, int64_t begin, int64_t end, int32_t thread, int32_t threads\n"
    "#define BUFFER(i) (*(int32_t **)args[i])\n"
    "void mark(ARGS) { int32_t *out = BUFFER(0);\n"
    "  for (int64_t i = begin; i < end; i++) out[i] += 1 + 1000 * thread + 1000000 * threads; }\n"
    "void raise_each(ARGS) { int32_t *a = BUFFER(0);\n"
    "  for (int64_t i = begin; i < end; i++) __atomic_store_n(&a[i], a[i] + 1, __ATOMIC_RELAXED); }\n"
    /* reads what other threads wrote in the stage before; a[n] counts disagreements */
    "void check_others(ARGS) { int32_t *a = BUFFER(0), n = *(int32_t *)args[1];\n"
    "  for (int64_t i = begin; i < end; i++)\n"
    "    if (__atomic_load_n(&a[n - 1 - i], __ATOMIC_RELAXED) != a[i]) __atomic_fetch_add(&a[n], 1, __ATOMIC_RELAXED); "
    "}\n"
    "void arguments(ARGS) { double *out = *(double **)args[0];\n"
    "  out[0] = *(int32_t *)args[1]; out[1] = (double)*(int64_t *)args[2]; out[2] = *(float *)args[3];\n"
    "  out[3] = BUFFER(4)[0]; }\n";

static char base[] = "/tmp/nntune-test-XXXXXX";
static const nt_device_ops *ops;
static nt_device *device;
static nt_module *module;

static nt_module *compile_and_load(const char *text)
{
    const nt_device_info *info = ops->info(device);
    nt_artefact artefact;
    nt_module *out = NULL;
    nt_error err = {0};
    nt_compile_request request = {NT_DEVICE_CPU, "test", text, "", info->arch, info->compiler, info->features, 60};
    if (nt_compile(&request, &artefact, &err) != NT_OK || ops->module_load(device, artefact.path, &out, &err) != NT_OK)
        fprintf(stderr, "%s\n", err.what);
    return out;
}

static int open_all(void **state)
{
    (void)state;
    nt_error err = {0};
    if (mkdtemp(base) == NULL || setenv("NNTUNE_CACHE_DIR", base, 1) != 0)
        return -1;
    ops = nt_device_ops_of(NT_DEVICE_CPU);
    if (ops->open(0, &device, &err) != NT_OK) {
        fprintf(stderr, "%s\n", err.what);
        return -1;
    }
    module = compile_and_load(source);
    return module != NULL ? 0 : -1;
}

static int close_all(void **state)
{
    (void)state;
    ops->module_unload(device, module);
    ops->close(device);
    nt_cache_scratch_done(base);
    strcpy(base + strlen(base) - 6, "XXXXXX");
    return 0;
}

static int32_t *ints(size_t count, nt_binding *binding, nt_role role)
{
    nt_mem memory;
    assert_int_equal(ops->alloc(device, count * sizeof(int32_t), &memory, NULL), NT_OK);
    assert_int_equal(memory % 256, 0);
    assert_int_equal(ops->fill(device, memory, 0, count * sizeof(int32_t), NULL), NT_OK);
    binding->address[role] = memory;
    return (int32_t *)(uintptr_t)memory;
}

/* ---- execution ------------------------------------------------------------------------------------------------------------ */

static void test_every_item_once(void **state)
{
    (void)state;
    static const uint32_t grids[][3] = {{1, 1, 1}, {2, 1, 1}, {7, 1, 1}, {1000, 3, 1}, {13, 11, 7}, {100003, 1, 1}};
    int threads = (int)ops->info(device)->sm_count;
    for (size_t g = 0; g < sizeof grids / sizeof grids[0]; g++) {
        const uint32_t *grid = grids[g];
        size_t count = (size_t)grid[0] * grid[1] * grid[2], share[1024] = {0};
        nt_binding binding = {{0}};
        nt_plan plan = {.stage_count = 1};
        nt_error err = {0};
        double ns = NAN;
        int32_t *out = ints(count, &binding, NT_ROLE_OUT);
        nt_stage_kernel(&plan.stage[0], "mark", grid[0], grid[1], grid[2], 1, 1, 1);
        nt_stage_arg_buffer(&plan.stage[0], NT_ROLE_OUT, 0);
        assert_int_equal(ops->run(device, module, &plan, false, &binding, &ns, &err), NT_OK);
        assert_true(ns > 0);
        for (size_t i = 0; i < count; i++) {
            assert_int_equal(out[i] % 1000, 1);
            assert_int_equal(out[i] / 1000000, threads);
            share[out[i] / 1000 % 1000]++;
        }
        for (int t = 0; t < threads; t++)
            assert_in_range(share[t], count / (size_t)threads, count / (size_t)threads + 1);
        ops->free(device, binding.address[NT_ROLE_OUT]);
    }
}

static void test_barrier_between_stages(void **state)
{
    (void)state;
    enum { N = 257, LAUNCHES = 500, SAMPLES = 6 };
    nt_binding binding = {{0}};
    nt_plan plan = {.stage_count = 2};
    nt_error err = {0};
    double ns[SAMPLES];
    size_t position = 0;
    int32_t *a = ints(N + 1, &binding, NT_ROLE_WORKSPACE);
    nt_stage_kernel(&plan.stage[0], "raise_each", N, 1, 1, 1, 1, 1);
    nt_stage_arg_buffer(&plan.stage[0], NT_ROLE_WORKSPACE, 0);
    nt_stage_kernel(&plan.stage[1], "check_others", N, 1, 1, 1, 1, 1);
    nt_stage_arg_buffer(&plan.stage[1], NT_ROLE_WORKSPACE, 0);
    nt_stage_arg_i32(&plan.stage[1], N);
    nt_sample_request request = {&plan, module, &binding, 1, &position, LAUNCHES, SAMPLES, ns, NULL};
    assert_int_equal(ops->sample(device, &request, &err), NT_OK);
    assert_int_equal(a[N], 0);
    for (int i = 0; i < N; i++)
        assert_int_equal(a[i], LAUNCHES * SAMPLES);
    ops->free(device, binding.address[NT_ROLE_WORKSPACE]);
}

static void test_ring_position_runs_on(void **state)
{
    (void)state;
    enum { RING = 3, LAUNCHES = 4, SAMPLES = 5 };
    nt_binding ring[RING] = {{{0}}};
    nt_plan plan = {.stage_count = 1};
    double ns[SAMPLES], mhz[SAMPLES];
    size_t position = 2;
    int32_t *out[RING];
    for (int r = 0; r < RING; r++)
        out[r] = ints(1, &ring[r], NT_ROLE_OUT);
    nt_stage_kernel(&plan.stage[0], "raise_each", 1, 1, 1, 1, 1, 1);
    nt_stage_arg_buffer(&plan.stage[0], NT_ROLE_OUT, 0);
    nt_sample_request request = {&plan, module, ring, RING, &position, LAUNCHES, SAMPLES, ns, mhz};
    assert_int_equal(ops->sample(device, &request, NULL), NT_OK);
    assert_int_equal(position, 22);
    /* 20 launches from slot 2: slots 2 and 0 get seven, slot 1 six. */
    assert_int_equal(out[0][0], 7);
    assert_int_equal(out[1][0], 6);
    assert_int_equal(out[2][0], 7);
    request.count = 1;
    request.launches = 1;
    assert_int_equal(ops->sample(device, &request, NULL), NT_OK); /* goes on with slot 22 % 3 */
    assert_int_equal(out[1][0], 7);
    for (int i = 0; i < SAMPLES; i++) {
        assert_true(ns[i] > 0 && ns[i] < 1e9);
        assert_true(isnan(mhz[i]));
    }
    for (int r = 0; r < RING; r++)
        ops->free(device, ring[r].address[NT_ROLE_OUT]);
}

static void test_arguments_and_offset(void **state)
{
    (void)state;
    nt_binding binding = {{0}};
    nt_plan plan = {.prepare_count = 1};
    double *out = (double *)ints(8, &binding, NT_ROLE_OUT);
    int32_t *in = ints(4, &binding, NT_ROLE_IN);
    in[3] = 77;
    nt_stage *stage = &plan.prepare[0];
    nt_stage_kernel(stage, "arguments", 1, 1, 1, 1, 1, 1);
    nt_stage_arg_buffer(stage, NT_ROLE_OUT, 0);
    nt_stage_arg_i32(stage, -5);
    nt_stage_arg_i64(stage, (int64_t)1 << 40);
    nt_stage_arg_f32(stage, 0.5f);
    nt_stage_arg_buffer(stage, NT_ROLE_IN, 12);
    assert_int_equal(ops->run(device, module, &plan, true, &binding, NULL, NULL), NT_OK);
    assert_float_equal(out[0], -5, 0);
    assert_float_equal(out[1], 1099511627776.0, 0);
    assert_float_equal(out[2], 0.5, 0);
    assert_float_equal(out[3], 77, 0);
    ops->free(device, binding.address[NT_ROLE_OUT]);
    ops->free(device, binding.address[NT_ROLE_IN]);
}

static void test_zero_stage(void **state)
{
    (void)state;
    nt_binding binding = {{0}};
    nt_plan plan = {.stage_count = 1};
    size_t changed;
    ints(1001, &binding, NT_ROLE_OUT);
    nt_mem out = binding.address[NT_ROLE_OUT];
    ops->fill(device, out, 0xff, 4004, NULL);
    nt_stage_zero(&plan.stage[0], NT_ROLE_OUT, 4001);
    assert_int_equal(ops->run(device, NULL, &plan, false, &binding, NULL, NULL), NT_OK);
    ops->count_changed(device, out, 0, 4001, &changed, NULL);
    assert_int_equal(changed, 0);
    ops->count_changed(device, out + 4001, 0xff, 3, &changed, NULL);
    assert_int_equal(changed, 0);
    ops->free(device, out);
}

static void test_what_cannot_be_launched(void **state)
{
    (void)state;
    nt_binding binding = {{0}};
    nt_plan plan = {.stage_count = 1};
    nt_function_info function;
    nt_module *none;
    nt_error err = {0};
    nt_stage_kernel(&plan.stage[0], "no_such_entry", 1, 1, 1, 1, 1, 1);
    assert_int_equal(ops->run(device, module, &plan, false, &binding, NULL, &err), NT_LAUNCH_FAILED);
    assert_non_null(strstr(err.what, "no_such_entry"));
    assert_int_equal(ops->function_info(device, module, "no_such_entry", 1, 0, &function, &err), NT_LAUNCH_FAILED);
    assert_int_equal(ops->function_info(device, module, "mark", 1, 0, &function, &err), NT_OK);
    assert_true(function.registers == NT_UNKNOWN);
    nt_stage_kernel(&plan.stage[0], "mark", 0, 1, 1, 1, 1, 1);
    assert_int_equal(ops->run(device, module, &plan, false, &binding, NULL, &err), NT_LAUNCH_FAILED);
    nt_stage_kernel(&plan.stage[0], "mark", ~0u, ~0u, ~0u, 1, 1, 1);
    assert_int_equal(ops->run(device, module, &plan, false, &binding, NULL, &err), NT_LAUNCH_FAILED);
    plan.stage[0].kind = NT_STAGE_VENDOR;
    assert_int_equal(ops->run(device, module, &plan, false, &binding, NULL, &err), NT_LAUNCH_FAILED);
    assert_int_equal(ops->module_load(device, "/no/such/file.so", &none, &err), NT_LAUNCH_FAILED);
}

static void test_floor(void **state)
{
    (void)state;
    double ns;
    assert_int_equal(ops->floor(device, &ns, NULL), NT_OK);
    assert_true(ns > 0);
    assert_true(ns < 5e7); /* even on a machine where others have the cores */
}

/* ---- memory and identity ---------------------------------------------------------------------------------------------------- */

static void test_guard_and_copies(void **state)
{
    (void)state;
    enum { BYTES = 5000001 }; /* large enough to be moved by all threads, and odd */
    nt_mem a, b;
    size_t changed, free_bytes;
    nt_error err = {0};
    unsigned char *host = nt_alloc(BYTES);
    assert_int_equal(ops->alloc(device, BYTES, &a, &err), NT_OK);
    assert_int_equal(ops->alloc(device, BYTES, &b, &err), NT_OK);
    assert_int_equal(a % 256, 0);
    ops->fill(device, a, 0xa5, BYTES, &err);
    ops->count_changed(device, a, 0xa5, BYTES, &changed, &err);
    assert_int_equal(changed, 0);
    ((unsigned char *)(uintptr_t)a)[BYTES - 1] = 0;
    ((unsigned char *)(uintptr_t)a)[17] = 0;
    ops->count_changed(device, a, 0xa5, BYTES, &changed, &err);
    assert_int_equal(changed, 2);
    for (int i = 0; i < BYTES; i++)
        host[i] = (unsigned char)(i * 7 + i / 256);
    ops->upload(device, a, host, BYTES, &err);
    ops->copy(device, b, a, BYTES, &err);
    memset(host, 0, BYTES);
    ops->download(device, host, b, BYTES, &err);
    for (int i = 0; i < BYTES; i++)
        if (host[i] != (unsigned char)(i * 7 + i / 256))
            fail_msg("byte %d differs", i);
    ops->free(device, a);
    ops->free(device, b);
    ops->free(device, 0);
    free(host);
    assert_int_equal(ops->memory_free(device, &free_bytes, &err), NT_OK);
    assert_true(free_bytes > BYTES);
    assert_int_equal(ops->alloc(device, (size_t)1 << 50, &a, &err), NT_NO_MEMORY);
    assert_non_null(strstr(err.what, "available"));
}

static void test_identity(void **state)
{
    (void)state;
    const nt_device_info *info = ops->info(device);
    nt_device *second;
    nt_error err = {0};
    assert_int_equal(info->kind, NT_DEVICE_CPU);
    assert_true(info->sm_count >= 1);
    assert_true(strncmp(info->uuid, "CPU-", 4) == 0 && strlen(info->uuid) == 36);
    assert_true(info->name[0] != '\0' && info->arch[0] != '\0' && info->compiler[0] != '\0');
    assert_true(info->memory_bytes > 1 << 20);
    assert_true(info->l2_bytes == NT_UNKNOWN || info->l2_bytes >= 1 << 18);
    assert_true(info->compute_capability == NT_UNKNOWN);
    assert_string_equal(info->peak_source, "measured");
    assert_true(info->peak_flops[NT_FP32] > 1e5 && info->peak_flops[NT_FP32] < 1e16);
    assert_true(isnan(info->peak_flops[NT_FP8]));
    assert_int_equal(ops->open(1, &second, &err), NT_NO_DEVICE);
}

static void test_conditions(void **state)
{
    (void)state;
    nt_conditions conditions = {0};
    ops->conditions_begin(device);
    ops->conditions_end(device, &conditions);
    assert_true(isnan(conditions.power_mw)); /* far shorter than a second */
    assert_true(isnan(conditions.sm_clock_mhz) || conditions.sm_clock_mhz > 50);
    assert_true(isnan(conditions.temperature_c) || conditions.temperature_c > -50);
    assert_true(conditions.throttle_mask == NT_UNKNOWN);
}

/* Runs while no device of ours is open: an open one has pinned this thread to one core. */
static void test_listing_and_pinning(void **state)
{
    (void)state;
    cpu_set_t before, after;
    nt_device_listing *listing = nt_alloc_zero(1, sizeof *listing);
    nt_device *one;
    int cpus[NT_MAX_CORES];
    nt_error err = {0};
    sched_getaffinity(0, sizeof before, &before);
    int count = nt_cpu_cores(cpus);
    assert_in_range(count, 1, CPU_COUNT(&before));
    for (int i = 0; i < count; i++)
        assert_true(CPU_ISSET(cpus[i], &before));
    ops->list(listing);
    assert_int_equal(listing->count, 1);
    assert_string_equal(listing->missing, "");
    assert_int_equal(listing->info[0].sm_count, count);
    setenv("NNTUNE_CPU_THREADS", "1", 1);
    assert_int_equal(ops->open(0, &one, &err), NT_OK);
    assert_int_equal(ops->info(one)->sm_count, 1);
    if (count > 1)
        assert_string_not_equal(ops->info(one)->uuid, listing->info[0].uuid);
    sched_getaffinity(0, sizeof after, &after);
    assert_int_equal(CPU_COUNT(&after), 1);
    ops->close(one);
    unsetenv("NNTUNE_CPU_THREADS");
    sched_getaffinity(0, sizeof after, &after);
    assert_true(CPU_EQUAL(&before, &after));
    ops->close(NULL);
    free(listing);
}

static int make_folder(void **state)
{
    (void)state;
    return mkdtemp(base) == NULL ? -1 : setenv("NNTUNE_CACHE_DIR", base, 1);
}

static int remove_folder(void **state)
{
    (void)state;
    nt_cache_scratch_done(base);
    strcpy(base + strlen(base) - 6, "XXXXXX");
    return 0;
}

int main(void)
{
    const struct CMUnitTest closed[] = {cmocka_unit_test(test_listing_and_pinning)};
    const struct CMUnitTest open[] = {
        cmocka_unit_test(test_every_item_once),
        cmocka_unit_test(test_barrier_between_stages),
        cmocka_unit_test(test_ring_position_runs_on),
        cmocka_unit_test(test_arguments_and_offset),
        cmocka_unit_test(test_zero_stage),
        cmocka_unit_test(test_what_cannot_be_launched),
        cmocka_unit_test(test_floor),
        cmocka_unit_test(test_guard_and_copies),
        cmocka_unit_test(test_identity),
        cmocka_unit_test(test_conditions),
    };
    ops = nt_device_ops_of(NT_DEVICE_CPU);
    return cmocka_run_group_tests(open, open_all, close_all) +
           cmocka_run_group_tests(closed, make_folder, remove_folder);
}
