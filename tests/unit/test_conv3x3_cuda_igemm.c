/* The implicit-GEMM kernels without a GPU: their source runs lane by lane on the host (tensor_core_emulation.h) with
 * the options and launches that their rows give, over shapes that end in every part of a tile. Small whole numbers make
 * every precision exact, so results must be equal, not near. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "core/convert.h"
#include "core/random.h"
#include "kernels/kernel.h"

extern const nt_kernel nt_kernel_conv3x3_cuda_igemm, nt_kernel_conv3x3_cuda_wgmma;

enum { GUARD = 1024 };

typedef struct example {
    const nt_kernel *kernel;
    const char *params;
    nt_precision precision;
    int batch, c, k, h, w;
    const char *more; /* further compiler options */
} example;

/* Each row ends somewhere else: tiles of pixels, of output channels, of taps, of 16-byte units; images of one pixel. */
#define IGEMM &nt_kernel_conv3x3_cuda_igemm
#define WGMMA &nt_kernel_conv3x3_cuda_wgmma
static const example examples[] = {
    {IGEMM, "tile_m=64 tile_n=64 tile_k=64", NT_BF16, 2, 64, 72, 5, 7, ""},
    {IGEMM, "tile_m=64 tile_n=64 tile_k=32 swizzle=false", NT_FP16, 2, 64, 64, 5, 7, ""},
    {IGEMM, "tile_m=64 tile_n=32 tile_k=32 warps_n=1 swizzle=false", NT_TF32, 1, 32, 34, 9, 8, ""},
    {IGEMM, "tile_m=32 tile_n=64 tile_k=16 warps_m=1 round_inputs=true", NT_TF32, 1, 16, 33, 6, 6, ""},
    {IGEMM, "tile_m=64 tile_n=64 tile_k=32 taps_inner=true stages=4", NT_BF16, 1, 64, 64, 8, 9, ""},
    {IGEMM, "tile_m=64 tile_n=64 tile_k=64 stages=2", NT_FP16, 1, 24, 40, 8, 9, ""},
    {IGEMM, "tile_m=32 tile_n=32 tile_k=64 warps_n=1 stages=4", NT_BF16, 3, 8, 12, 3, 4, ""},
    {IGEMM, "tile_m=32 tile_n=32 tile_k=32 warps_n=1", NT_TF32, 3, 4, 6, 3, 4, ""},
    {IGEMM, "tile_m=32 tile_n=32 tile_k=32 warps_n=1", NT_BF16, 2, 3, 5, 9, 11, ""},
    {IGEMM, "tile_m=32 tile_n=32 tile_k=16 warps_n=1", NT_TF32, 2, 5, 7, 4, 5, ""},
    {IGEMM, "tile_m=32 tile_n=64 tile_k=32 split_k=4 warps_m=1", NT_BF16, 1, 64, 64, 7, 7, ""},
    {IGEMM, "tile_m=32 tile_n=32 tile_k=16 split_k=2 warps_n=1", NT_TF32, 1, 16, 9, 7, 7, ""},
    {IGEMM, "tile_m=192 tile_n=128 tile_k=32 warps_m=4", NT_BF16, 1, 32, 136, 14, 14, ""},
    {IGEMM, "tile_m=96 tile_n=64 tile_k=32 warps_n=1", NT_FP16, 40, 32, 48, 1, 1, ""},
    {IGEMM, "tile_m=64 tile_n=64 tile_k=32", NT_BF16, 7, 32, 32, 1, 13, "-UWIDE_OFFSETS -DWIDE_OFFSETS=1"},
    {WGMMA, "tile_m=64 tile_n=64 groups_m=1 stages=3", NT_BF16, 2, 64, 72, 5, 7, ""},
    {WGMMA, "tile_m=128 tile_n=64 groups_m=2 stages=4", NT_FP16, 2, 24, 60, 8, 9, ""},
    {WGMMA, "tile_m=64 tile_n=128 groups_m=1 groups_n=2 stages=5 taps_inner=true", NT_BF16, 1, 64, 130, 7, 7, ""},
    {WGMMA, "tile_m=192 tile_n=128 groups_m=3 stages=3", NT_TF32, 1, 32, 128, 14, 14, ""},
    {WGMMA, "tile_m=128 tile_n=64 groups_m=1 split_k=2", NT_TF32, 1, 32, 9, 11, 9, ""},
    {WGMMA, "tile_m=64 tile_n=64 groups_m=1", NT_BF16, 2, 3, 5, 9, 11, ""},
    {WGMMA, "tile_m=64 tile_n=256 groups_m=1", NT_BF16, 1, 64, 200, 5, 5, ""},
    {WGMMA, "tile_m=64 tile_n=192 groups_m=1", NT_FP16, 1, 8, 192, 5, 5, ""},
};

static nt_problem problem_of(const example *e)
{
    nt_problem problem = {.layer = "conv3x3", .batch = e->batch, .precision = e->precision, .layout = NT_NHWC};
    problem.shape.count = 4;
    const char *const keys[] = {"c", "k", "h", "w"};
    const int sizes[] = {e->c, e->k, e->h, e->w};
    for (int i = 0; i < 4; i++) {
        nt_copy(problem.shape.dim[i].key, sizeof problem.shape.dim[i].key, keys[i]);
        problem.shape.dim[i].size = sizes[i];
    }
    return problem;
}

static nt_config config_of(const nt_kernel *kernel, const char *text)
{
    nt_config config;
    nt_error err = {0};
    nt_rule rule = {.name = "example", .params = text};
    if (nt_kernel_rule_config(kernel, &rule, &config, &err) != NT_OK)
        fail_msg("%s", err.what);
    return config;
}

static nt_device_info device_of(void)
{
    nt_device_info device;
    memset(&device, 0, sizeof device);
    device.kind = NT_DEVICE_CUDA;
    device.smem_per_block_bytes = 232448;
    return device;
}

/* ---- compiling for the host ------------------------------------------------------------------------------------ */

typedef const char *(*run_function)(void *entry, const uint64_t args[12], const uint32_t grid[3], uint32_t threads,
                                    uint32_t shared_bytes, bool eager);
typedef void (*allow_function)(const void *begin, size_t bytes);

static void header_path(char *path, size_t capacity)
{
    const char *slash = strrchr(__FILE__, '/');
    snprintf(path, capacity, "%.*stensor_core_emulation.h", slash ? (int)(slash - __FILE__ + 1) : 0, __FILE__);
}

static void *compile(const nt_kernel *kernel, const nt_problem *problem, const nt_config *config, const char *more)
{
    char folder[] = "/tmp/nt-igemm-XXXXXX", header[512], file[64];
    assert_non_null(mkdtemp(folder));
    header_path(header, sizeof header);
    char *source = nt_kernel_source(kernel);
    snprintf(file, sizeof file, "%s/kernel.c", folder);
    FILE *f = fopen(file, "w");
    assert_non_null(f);
    fputs(source, f);
    fclose(f);
    free(source);
    nt_str options = {0}, command = {0};
    nt_kernel_options(kernel, problem, config, &options);
    nt_str_addf(&command, "cc -std=gnu11 -O1 -w -shared -fPIC -include %s %s %s -o %s/kernel.so %s", header,
                nt_str_text(&options), more, folder, file);
    if (system(nt_str_text(&command)) != 0)
        fail_msg("%s", nt_str_text(&command));
    snprintf(file, sizeof file, "%s/kernel.so", folder);
    void *object = dlopen(file, RTLD_NOW | RTLD_LOCAL);
    if (object == NULL)
        fail_msg("%s", dlerror());
    unlink(file);
    snprintf(file, sizeof file, "%s/kernel.c", folder);
    unlink(file);
    rmdir(folder);
    nt_str_done(&options);
    nt_str_done(&command);
    return object;
}

/* ---- tensors --------------------------------------------------------------------------------------------------- */

typedef struct tensors {
    size_t in_count, weight_count, out_count;
    float *in, *weight, *want;
    void *in_bits, *weight_bits;
    unsigned char *out; /* guard, output, guard */
    unsigned char *workspace;
    nt_dtype type;
} tensors;

static float *small_numbers(nt_random *random, size_t count)
{
    float *x = test_malloc(count * sizeof *x);
    for (size_t i = 0; i < count; i++)
        x[i] = (float)(int)(nt_random_below(random, 3)) - 1.0f;
    return x;
}

static void reference(const example *e, tensors *t)
{
    for (int p = 0; p < e->batch * e->h * e->w; p++)
        for (int k = 0; k < e->k; k++) {
            int y = p / e->w % e->h, x = p % e->w;
            float sum = 0;
            for (int tap = 0; tap < 9; tap++) {
                int dy = tap / 3 - 1, dx = tap % 3 - 1;
                if (y + dy < 0 || y + dy >= e->h || x + dx < 0 || x + dx >= e->w)
                    continue;
                for (int c = 0; c < e->c; c++)
                    sum += t->in[(p + dy * e->w + dx) * e->c + c] * t->weight[(k * 9 + tap) * e->c + c];
            }
            t->want[p * e->k + k] = sum;
        }
}

static void make_tensors(const example *e, size_t workspace_bytes, tensors *t)
{
    nt_random random = nt_random_seed(7, 0);
    size_t pixels = (size_t)(e->batch * e->h * e->w);
    t->type = nt_precisions[e->precision].in;
    t->in_count = pixels * (size_t)e->c;
    t->weight_count = (size_t)(9 * e->c * e->k);
    t->out_count = pixels * (size_t)e->k;
    t->in = small_numbers(&random, t->in_count);
    t->weight = small_numbers(&random, t->weight_count);
    t->want = test_malloc(t->out_count * sizeof *t->want);
    reference(e, t);
    t->in_bits = aligned_alloc(256, (t->in_count * 4 / 256 + 1) * 256);
    t->weight_bits = aligned_alloc(256, (t->weight_count * 4 / 256 + 1) * 256);
    t->out = aligned_alloc(256, (t->out_count * 4 / 256 + 1) * 256 + 2 * GUARD);
    t->workspace = aligned_alloc(256, (workspace_bytes / 256 + 1) * 256 + 2 * GUARD);
    nt_pack(t->type, t->in, t->in_count, NULL, 1, 1, t->in_bits);
    nt_pack(t->type, t->weight, t->weight_count, NULL, 1, 1, t->weight_bits);
}

static void free_tensors(tensors *t)
{
    test_free(t->in);
    test_free(t->weight);
    test_free(t->want);
    free(t->in_bits);
    free(t->weight_bits);
    free(t->out);
    free(t->workspace);
}

static bool untouched(const unsigned char *guard)
{
    for (int i = 0; i < GUARD; i++)
        if (guard[i] != 0xff)
            return false;
    return true;
}

static void check_output(const char *name, const tensors *t)
{
    size_t bytes = t->out_count * nt_dtype_bytes(t->type), wrong = 0, first = 0;
    float *got = test_malloc(t->out_count * sizeof *got);
    nt_unpack(t->type, t->out + GUARD, t->out_count, got);
    for (size_t i = t->out_count; i-- > 0;)
        if (!(got[i] == t->want[i])) {
            wrong++;
            first = i;
        }
    if (wrong)
        fail_msg("%s: %zu of %zu wrong, first at %zu: %g, not %g", name, wrong, t->out_count, first, got[first],
                 t->want[first]);
    test_free(got);
    assert_true(untouched(t->out));
    assert_true(untouched(t->out + GUARD + bytes));
}

/* ---- running ---------------------------------------------------------------------------------------------------- */

static uint64_t argument(const nt_arg *arg, const tensors *t)
{
    const void *const address[] = {[NT_ROLE_IN] = t->in_bits,
                                   [NT_ROLE_WEIGHT] = t->weight_bits,
                                   [NT_ROLE_OUT] = t->out + GUARD,
                                   [NT_ROLE_PACKED] = NULL,
                                   [NT_ROLE_WORKSPACE] = t->workspace + GUARD};
    return arg->kind == NT_ARG_BUFFER ? (uint64_t)(uintptr_t)address[arg->role] : (uint64_t)arg->value;
}

static void run_stage(void *object, const example *e, const nt_stage *stage, const tensors *t, bool eager)
{
    run_function run;
    uint64_t args[12] = {0};
    *(void **)&run = dlsym(object, "nt_host_run");
    void *entry = dlsym(object, stage->entry);
    assert_non_null(run);
    assert_non_null(entry);
    assert_true(stage->arg_count <= 12);
    for (int i = 0; i < stage->arg_count; i++)
        args[i] = argument(&stage->arg[i], t);
    const char *wrong = run(entry, args, stage->grid, stage->block[0], stage->smem_dynamic_bytes, eager);
    if (wrong)
        fail_msg("%s: %s", e->params, wrong);
}

static void check_example(const example *e)
{
    nt_problem problem = problem_of(e);
    const nt_kernel *kernel = e->kernel;
    nt_config config = config_of(kernel, e->params);
    nt_device_info device = device_of();
    nt_plan plan;
    nt_error err = {0};
    tensors t;
    allow_function allow;
    if (kernel->plan(&problem, &config, &device, &plan, &err) != NT_OK)
        fail_msg("%s: %s", e->params, err.what);
    make_tensors(e, plan.workspace_bytes, &t);
    void *object = compile(kernel, &problem, &config, e->more);
    *(void **)&allow = dlsym(object, "nt_host_allow");
    allow(t.in_bits, t.in_count * nt_dtype_bytes(t.type));
    allow(t.weight_bits, t.weight_count * nt_dtype_bytes(t.type));
    for (int eager = 0; eager < 2; eager++) {
        memset(t.out, 0xff, t.out_count * nt_dtype_bytes(t.type) + 2 * GUARD);
        memset(t.workspace, 0xff, plan.workspace_bytes + 2 * GUARD);
        for (int i = 0; i < plan.stage_count; i++)
            run_stage(object, e, &plan.stage[i], &t, eager);
        check_output(e->params, &t);
        assert_true(untouched(t.workspace));
        assert_true(untouched(t.workspace + GUARD + plan.workspace_bytes));
    }
    dlclose(object);
    free_tensors(&t);
}

static void every_example_is_exact(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof examples / sizeof examples[0]; i++)
        check_example(&examples[i]);
}

/* ---- the row ---------------------------------------------------------------------------------------------------- */

static void the_launch_covers_the_output(void **state)
{
    (void)state;
    example e = {IGEMM, "tile_m=192 tile_n=128 tile_k=64 warps_m=4 split_k=1", NT_BF16, 128, 256, 256, 14, 14, ""};
    nt_problem problem = problem_of(&e);
    nt_config config = config_of(e.kernel, e.params);
    nt_device_info device = device_of();
    nt_plan plan;
    nt_error err = {0};
    assert_int_equal(e.kernel->plan(&problem, &config, &device, &plan, &err), NT_OK);
    assert_int_equal(plan.stage_count, 1);
    assert_int_equal(plan.stage[0].grid[0], 131 * 2);
    assert_int_equal(plan.stage[0].block[0], 256);
    assert_int_equal(plan.stage[0].smem_dynamic_bytes, 3 * (192 + 128) * 128);
    assert_int_equal(plan.workspace_bytes, 0);
}

static void too_much_shared_memory_names_both_sizes(void **state)
{
    (void)state;
    example e = {IGEMM, "tile_m=256 tile_n=256 tile_k=64 stages=4", NT_BF16, 8, 256, 256, 14, 14, ""};
    nt_problem problem = problem_of(&e);
    nt_config config = config_of(e.kernel, e.params);
    nt_device_info device = device_of();
    nt_plan plan;
    nt_error err = {0};
    assert_int_equal(e.kernel->plan(&problem, &config, &device, &plan, &err), NT_LAUNCH_FAILED);
    assert_non_null(strstr(err.what, "262144"));
    assert_non_null(strstr(err.what, "232448"));
}

static void large_tensors_get_wide_offsets(void **state)
{
    (void)state;
    const struct {
        int batch;
        const char *want;
    } rows[] = {{128, "-DWIDE_OFFSETS=0"}, {1 << 17, "-DWIDE_OFFSETS=1"}};
    for (int i = 0; i < 2; i++) {
        example e = {IGEMM, "tile_k=64", NT_BF16, rows[i].batch, 256, 256, 14, 14, ""};
        nt_problem problem = problem_of(&e);
        nt_config config = config_of(e.kernel, e.params);
        nt_str options = {0};
        e.kernel->options(&problem, &config, &options);
        assert_non_null(strstr(nt_str_text(&options), rows[i].want));
        nt_str_done(&options);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_example_is_exact),
        cmocka_unit_test(the_launch_covers_the_output),
        cmocka_unit_test(too_much_shared_memory_names_both_sizes),
        cmocka_unit_test(large_tensors_get_wide_offsets),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
