/* Spaces of the kernels for Hopper without a GPU: every problem of the grid has configurations, and whatever the
 * constraints let through can be launched: shared memory, registers and boxes of tensor maps stay within their limits.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdlib.h>
#include <string.h>

#include "autotune/space.h"
#include "core/random.h"
#include "kernels/kernel.h"

enum { PICKS = 60 };

static const struct {
    const char *layer, *kernel, *dims;
} rows[] = {
    {"conv3x3", "gemm", "c=64,k=64,h=56,w=56"},
    {"conv3x3", "gemm", "c=512,k=512,h=7,w=7"},
    {"conv3x3", "gemm_3xtf32", "c=128,k=128,h=28,w=28"},
    {"conv3x3", "gemm_nchw", "c=256,k=256,h=14,w=14"},
    {"conv3x3", "shift", "c=64,k=64,h=56,w=56"},
    {"conv3x3", "shift", "c=128,k=128,h=28,w=28"},
    {"conv3x3", "shift", "c=512,k=512,h=7,w=7"},
    {"conv1x1", "gemm", "c=256,k=64,h=56,w=56"},
    {"conv1x1", "gemm_3xtf32_nchw", "c=1024,k=256,h=14,w=14"},
    {"fc", "gemm", "c=2048,k=1000"},
    {"fc", "gemm", "c=4096,k=4096"},
    {"fc", "gemm_3xtf32", "c=1024,k=1024"},
    {"fc", "gemv", "c=4096,k=4096"},
    {"fc", "mma_sparse", "c=4096,k=4096"},
    {"fc", "gemm_sparse", "c=4096,k=4096"},
    {"conv1x1", "gemm_sparse", "c=256,k=64,h=56,w=56"},
    {"conv1x1", "mma_sparse", "c=256,k=64,h=56,w=56"},
    {"conv_bn_relu", "gemm", "c=256,k=256,h=14,w=14"},
    {"conv_bn_relu", "shift", "c=64,k=64,h=56,w=56"},
};

static nt_device_info h200(void)
{
    nt_device_info d;
    nt_device_info_init(&d, NT_DEVICE_CUDA);
    d.compute_capability = 90;
    d.sm_count = 132;
    d.smem_per_block_bytes = 232448;
    d.regs_per_block = d.regs_per_sm = 65536;
    d.max_threads_per_block = 1024;
    d.warp_size = 32;
    return d;
}

static nt_problem problem_of(size_t row, const nt_kernel *kernel, int precision, int64_t batch)
{
    nt_problem problem = {.batch = batch, .precision = (nt_precision)precision};
    problem.layout = kernel->layouts & NT_BIT(NT_NHWC) ? NT_NHWC : NT_NCHW;
    strcpy(problem.layer, rows[row].layer);
    assert_int_equal(nt_shape_parse(rows[row].dims, &problem.shape, NULL), NT_OK);
    return problem;
}

static void check_stage(const nt_stage *stage)
{
    int64_t cluster = stage->cluster[0] > 1 ? stage->cluster[0] : 1;
    if (stage->kind == NT_STAGE_ZERO) {
        assert_true(stage->zero_role == NT_ROLE_WORKSPACE && stage->zero_bytes > 0);
        return;
    }
    assert_true(stage->block[0] <= 1024 && stage->smem_dynamic_bytes <= 232448);
    assert_true(cluster <= 16 && stage->grid[0] % cluster == 0 && stage->grid[0] > 0);
    for (int i = 0; i < stage->map_count; i++) {
        const nt_tensor_map *map = &stage->map[i];
        assert_int_equal((int64_t)map->box[0] * map->elem_bytes, 128);
        for (int j = 1; j < NT_MAP_RANK; j++) {
            assert_true(map->size[j] >= 1 && map->stride_bytes[j] % 16 == 0 && map->stride_bytes[j] > 0);
            assert_true(map->images || (map->box[j] >= 1 && map->box[j] <= 256));
        }
        assert_true(!map->images || map->box[1] % 8 == 0);
    }
}

static int shared; /* picks of stream-K */

static void check_space(size_t row, const nt_kernel *kernel, const nt_problem *problem, nt_random *random)
{
    nt_device_info device = h200();
    nt_space *space = NULL;
    nt_error err = {0};
    if (nt_space_build(kernel, problem, &device, NULL, 0, NULL, &space, &err) != NT_OK)
        fail_msg("%s.%s %s batch %d: %s", rows[row].layer, rows[row].kernel, rows[row].dims, (int)problem->batch,
                 err.what);
    for (int i = 0; i < PICKS; i++) {
        nt_config config;
        nt_plan plan;
        nt_space_config(space, nt_random_below(random, nt_space_size(space)), &config);
        if (kernel->plan(problem, &config, &device, &plan, &err) != NT_OK)
            fail_msg("%s.%s: %s", rows[row].layer, rows[row].kernel, err.what);
        shared += plan.stage[0].kind == NT_STAGE_ZERO;
        for (int s = 0; s < plan.stage_count; s++)
            check_stage(&plan.stage[s]);
    }
    nt_space_free(space);
}

static void whatever_is_legal_can_be_launched(void **state)
{
    (void)state;
    static const int64_t batches[] = {1, 8, 128};
    nt_random random = nt_random_seed(5, 0);
    for (size_t row = 0; row < sizeof rows / sizeof rows[0]; row++) {
        const nt_kernel *kernel = nt_kernel_find(rows[row].layer, NT_DEVICE_CUDA, rows[row].kernel);
        assert_non_null(kernel);
        for (int precision = 0; precision < NT_PRECISION_COUNT; precision++)
            for (int b = 0; b < 3; b++) {
                nt_problem problem = problem_of(row, kernel, precision, batches[b]);
                if ((kernel->precisions & NT_BIT(precision)) != 0 && kernel->refuses(&problem) == NULL)
                    check_space(row, kernel, &problem, &random);
            }
    }
    assert_true(shared > 0);
}

/* A sweep begins with them. */
static void rules_of_sparse_weights_are_legal_for_large_batches(void **state)
{
    (void)state;
    const nt_kernel *kernel = nt_kernel_find("fc", NT_DEVICE_CUDA, "gemm_sparse");
    nt_device_info device = h200();
    nt_problem problem = {.batch = 1024, .precision = NT_FP16_SPARSE, .layer = "fc"};
    nt_space *space = NULL;
    assert_int_equal(nt_shape_parse("c=4096,k=4096", &problem.shape, NULL), NT_OK);
    assert_int_equal(nt_space_build(kernel, &problem, &device, NULL, 0, NULL, &space, NULL), NT_OK);
    assert_true(kernel->rule_count > 0);
    for (int i = 0; i < kernel->rule_count; i++) {
        nt_config config;
        uint64_t index;
        assert_int_equal(nt_kernel_rule_config(kernel, &kernel->rules[i], &config, NULL), NT_OK);
        if (!nt_space_index(space, &config, &index))
            fail_msg("'%s' is not legal", kernel->rules[i].name);
    }
    nt_space_free(space);
}

static void what_no_map_describes_is_refused(void **state)
{
    (void)state;
    const nt_kernel *kernel = nt_kernel_find("conv3x3", NT_DEVICE_CUDA, "gemm");
    nt_problem problem = problem_of(0, kernel, NT_BF16, 1);
    assert_null(kernel->refuses(&problem));
    assert_int_equal(nt_shape_parse("c=3,k=64,h=56,w=56", &problem.shape, NULL), NT_OK);
    assert_non_null(strstr(kernel->refuses(&problem), "multiple of 16"));
    const nt_kernel *shift = nt_kernel_find("conv3x3", NT_DEVICE_CUDA, "shift");
    assert_int_equal(nt_shape_parse("c=64,k=64,h=56,w=56,stride=2", &problem.shape, NULL), NT_OK);
    assert_non_null(strstr(shift->refuses(&problem), "stride is 1"));
    assert_null(kernel->refuses(&problem));
    const nt_kernel *sparse = nt_kernel_find("conv1x1", NT_DEVICE_CUDA, "gemm_sparse");
    problem.precision = NT_INT8_SPARSE;
    strcpy(problem.layer, "conv1x1");
    assert_non_null(strstr(sparse->refuses(&problem), "stride 1"));
    assert_int_equal(nt_shape_parse("c=24,k=64,h=56,w=56", &problem.shape, NULL), NT_OK);
    assert_non_null(strstr(sparse->refuses(&problem), "multiple of 16"));
    problem.precision = NT_FP16_SPARSE;
    assert_null(sparse->refuses(&problem));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(whatever_is_legal_can_be_launched),
        cmocka_unit_test(rules_of_sparse_weights_are_legal_for_large_batches),
        cmocka_unit_test(what_no_map_describes_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
