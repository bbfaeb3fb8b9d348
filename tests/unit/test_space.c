/* test_space.c: search spaces against brute force and against published counts. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "core/random.h"
#include "space_kernels.h"

static void test_agrees_with_brute_force(void **state)
{
    (void)state;
    nt_kernel kernel = kernel_of(tile_params, COUNT(tile_params), tile_constraints, COUNT(tile_constraints));
    nt_device_info device = gpu();
    nt_space *space = built(&kernel, &device, NULL, 0, NULL);
    nt_config config = {.count = COUNT(tile_params)};
    uint64_t index = 0, total = 0, found;
    char why[512];
    do {
        total++;
        bool legal = tile_legal(&config);
        assert_int_equal(nt_space_index(space, &config, &found), legal);
        nt_space_why_not(space, &config, why, sizeof why);
        assert_int_equal(why[0] == '\0', legal);
        if (!legal)
            continue;
        nt_config back;
        assert_int_equal(found, index);
        nt_space_config(space, index++, &back);
        assert_true(nt_config_equal(&back, &config));
    } while (next_config(tile_params, &config));
    assert_true(index > 100);
    assert_int_equal(index, nt_space_size(space));
    assert_int_equal(total, nt_space_total(space));
    assert_ptr_equal(nt_space_kernel(space), &kernel);
    nt_space_free(space);
}

static void test_rejections_add_up(void **state)
{
    (void)state;
    nt_kernel kernel = kernel_of(tile_params, COUNT(tile_params), tile_constraints, COUNT(tile_constraints));
    nt_device_info device = gpu();
    nt_space *space = built(&kernel, &device, NULL, 0, "8 // (stages - 1) > 3");
    int64_t pruned = 0;
    assert_int_equal(nt_space_rejection_count(space), COUNT(tile_constraints) + 1);
    for (int i = 0; i < nt_space_rejection_count(space); i++)
        pruned += nt_space_rejection_of(space, i).pruned;
    assert_int_equal(pruned + (int64_t)nt_space_size(space), nt_space_total(space));

    nt_space_rejection path = nt_space_rejection_of(space, 2);
    assert_string_equal(path.expression, "path == 'tma' or stages < 4");
    assert_string_equal(path.why, "only tma has four stages");
    assert_int_equal(path.alone, 1152 / 12 * 2);
    assert_int_equal(path.faults, 0);
    assert_int_equal(nt_space_rejection_of(space, 4).alone, 0);

    nt_space_rejection where = nt_space_rejection_of(space, 6);
    assert_null(where.why);
    assert_int_equal(where.alone, 1152 / 4 * 2); /* stages 1 divides by zero, stages 4 gives 2 */
    assert_int_equal(where.faults, 1152 / 4);
    assert_int_equal(where.fault.code, NT_EXPR_FAULT_DIVISION);
    assert_int_equal(where.fault.column, 3);
    nt_space_free(space);
}

static void test_why_not_names_the_constraint(void **state)
{
    (void)state;
    nt_kernel kernel = kernel_of(tile_params, COUNT(tile_params), tile_constraints, COUNT(tile_constraints));
    nt_device_info device = gpu();
    const char *const kept[] = {"plain", "tma"};
    nt_narrowing narrowing = {"path", kept, 2};
    nt_space *space = built(&kernel, &device, &narrowing, 1, "tile_m < 64");
    char why[512];
    nt_config config = {.count = 6, .index = {0, 3, 0, 0, 0, 0}};
    nt_space_why_not(space, &config, why, sizeof why);
    assert_string_equal(why,
                        "'warps * warp_size <= max_threads and tile_m % (warps * 16) == 0' (a warp has whole rows; "
                        "max_threads=1024, warp_size=32) does not hold");
    config = (nt_config){.count = 6, .index = {2, 0, 0, 0, 0, 0}};
    nt_space_why_not(space, &config, why, sizeof why);
    assert_string_equal(why, "--where 'tile_m < 64' does not hold");
    config = (nt_config){.count = 6, .index = {0, 0, 0, 1, 0, 0}};
    nt_space_why_not(space, &config, why, sizeof why);
    assert_string_equal(why, "--param leaves out path=async");
    nt_space_free(space);
}

/* ---- published spaces -------------------------------------------------------------------------------------------- */

static const nt_param gemm_params[] = {
    {.name = "MWG", .NT_INTS(16, 32, 64, 128)},
    {.name = "NWG", .NT_INTS(16, 32, 64, 128)},
    {.name = "MDIMC", .NT_INTS(8, 16, 32)},
    {.name = "NDIMC", .NT_INTS(8, 16, 32)},
    {.name = "MDIMA", .NT_INTS(8, 16, 32)},
    {.name = "NDIMB", .NT_INTS(8, 16, 32)},
    {.name = "VWM", .NT_INTS(1, 2, 4, 8)},
    {.name = "VWN", .NT_INTS(1, 2, 4, 8)},
    {.name = "SA", .NT_INTS(0, 1)},
    {.name = "SB", .NT_INTS(0, 1)},
};
static const nt_constraint gemm_constraints[] = {
    {"32 % 2 == 0", ""},
    {"MWG % (MDIMC * VWM) == 0", ""},
    {"NWG % (NDIMC * VWN) == 0", ""},
    {"MWG % (MDIMA * VWM) == 0", ""},
    {"NWG % (NDIMB * VWN) == 0", ""},
    {"32 % ((MDIMC * NDIMC) / MDIMA) == 0", ""},
    {"32 % ((MDIMC * NDIMC) / NDIMB) == 0", ""},
};
static const nt_param convolution_params[] = {
    {.name = "block_size_x", .NT_INTS(16, 32, 48, 64, 80, 96, 112, 128, 144, 160, 176, 192, 208, 224, 240, 256)},
    {.name = "block_size_y", .NT_INTS(1, 2, 4, 8, 16)},
    {.name = "tile_size_x", .NT_INTS(1, 2, 3, 4)},
    {.name = "tile_size_y", .NT_INTS(1, 2, 3, 4)},
    {.name = "read_only", .NT_INTS(0, 1)},
    {.name = "use_padding", .NT_INTS(0, 1)},
    {.name = "use_shmem", .NT_INTS(0, 1)},
};
static const nt_constraint convolution_constraints[] = {
    {"use_padding==0 or block_size_x%32!=0", ""},
    {"block_size_x*block_size_y<=1024", ""},
    {"use_padding==0 or use_shmem!=0", ""},
    {"use_shmem==0 or (block_size_x*tile_size_x+14)*(block_size_y*tile_size_y+14)<12*1024", ""},
};

static void test_published_counts(void **state)
{
    (void)state;
    nt_device_info device = gpu();
    nt_kernel gemm = kernel_of(gemm_params, COUNT(gemm_params), gemm_constraints, COUNT(gemm_constraints));
    nt_space *space = built(&gemm, &device, NULL, 0, NULL);
    assert_int_equal(nt_space_size(space), 17956);
    nt_space_free(space);
    nt_kernel convolution = kernel_of(convolution_params, COUNT(convolution_params), convolution_constraints,
                                      COUNT(convolution_constraints));
    space = built(&convolution, &device, NULL, 0, NULL);
    assert_int_equal(nt_space_size(space), 4362);
    nt_space_free(space);
}

/* ---- random spaces ----------------------------------------------------------------------------------------------- */

/* Constraints drawn from these tie together one to four parameters in every way of completing early and late. */
static const char *const drawn[] = {
    "p0 + p1 < 9",
    "p3 * p2 % 3 != 1",
    "p4 > p0",
    "p1 in [1, 3, 4] or p2 == p4",
    "p0 * p1 * p2 * p3 > 20",
    "p2 // (p3 - 2) >= 0",
    "p4 % 2 == 0",
    "p3 <= p1 <= p4",
    "p0 != p3",
    "max(p0, p4) - min(p1, p2) < 4",
};
static const nt_param drawn_params[] = {
    {.name = "p0", .NT_INTS(1, 2, 3, 4, 5)},    {.name = "p1", .NT_INTS(1, 2, 3, 4)}, {.name = "p2", .NT_INTS(1, 2, 3)},
    {.name = "p3", .NT_INTS(1, 2, 3, 4, 5, 6)}, {.name = "p4", .NT_INTS(2, 3, 4, 5)},
};

static uint64_t count_by_force(const nt_constraint *constraints, int count)
{
    const char *const names[] = {"p0", "p1", "p2", "p3", "p4"};
    nt_expr *expr[COUNT(drawn)];
    nt_error err;
    for (int i = 0; i < count; i++)
        assert_int_equal(nt_expr_compile(constraints[i].expression, names, 5, &expr[i], &err), NT_OK);
    nt_config config = {.count = 5};
    uint64_t legal = 0;
    do {
        nt_expr_value value[5];
        for (int i = 0; i < 5; i++)
            value[i] = nt_expr_of_value(nt_param_value(&drawn_params[i], config.index[i]));
        bool holds = true;
        for (int i = 0; i < count && holds; i++)
            holds = nt_expr_test(expr[i], value, NULL) == NT_EXPR_IS_TRUE;
        legal += holds;
    } while (next_config(drawn_params, &config));
    for (int i = 0; i < count; i++)
        nt_expr_free(expr[i]);
    return legal;
}

static void test_random_spaces(void **state)
{
    (void)state;
    nt_random random = nt_random_seed(3, 4);
    nt_device_info device = gpu();
    nt_problem problem = problem_of(64, NT_FP32);
    int empty = 0;
    for (int round = 0; round < 200; round++) {
        nt_constraint constraints[5];
        int count = (int)nt_random_below(&random, 5) + 1;
        for (int i = 0; i < count; i++)
            constraints[i] = (nt_constraint){drawn[nt_random_below(&random, COUNT(drawn))], "drawn"};
        nt_kernel kernel = kernel_of(drawn_params, COUNT(drawn_params), constraints, count);
        uint64_t want = count_by_force(constraints, count);
        nt_space *space = NULL;
        nt_error err = {0};
        nt_status status = nt_space_build(&kernel, &problem, &device, NULL, 0, NULL, &space, &err);
        assert_int_equal(status, want == 0 ? NT_NO_SPACE : NT_OK);
        empty += want == 0;
        for (uint64_t i = 0; status == NT_OK && i < want; i++) {
            nt_config config;
            uint64_t back = UINT64_MAX;
            nt_space_config(space, i, &config);
            assert_true(nt_space_index(space, &config, &back));
            assert_int_equal(back, i);
        }
        if (status == NT_OK)
            assert_int_equal(nt_space_size(space), want);
        nt_space_free(space);
    }
    assert_true(empty < 100);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_agrees_with_brute_force),
        cmocka_unit_test(test_rejections_add_up),
        cmocka_unit_test(test_why_not_names_the_constraint),
        cmocka_unit_test(test_published_counts),
        cmocka_unit_test(test_random_spaces),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
