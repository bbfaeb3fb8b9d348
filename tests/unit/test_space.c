/* test_space.c: search spaces against brute force, against published counts, and with bad input. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "autotune/space_model.h"
#include "autotune/space_tree.h"
#include "core/mem.h"
#include "core/random.h"

#define COUNT(a) ((int)(sizeof(a) / sizeof(a)[0]))

static nt_problem problem_of(int64_t c, nt_precision precision)
{
    nt_problem problem = {.layer = "conv3x3", .batch = 8, .precision = precision};
    problem.shape.count = 2;
    strcpy(problem.shape.dim[0].key, "c");
    problem.shape.dim[0].size = c;
    strcpy(problem.shape.dim[1].key, "h");
    problem.shape.dim[1].size = 56;
    return problem;
}

static nt_device_info gpu(void)
{
    return (nt_device_info){.kind = NT_DEVICE_CUDA,
                            .compute_capability = 90,
                            .sm_count = 132,
                            .smem_per_block_bytes = 232448,
                            .max_threads_per_block = 1024,
                            .regs_per_block = 65536,
                            .regs_per_sm = 65536,
                            .warp_size = 32};
}

static nt_device_info cpu(void)
{
    nt_device_info info = {.kind = NT_DEVICE_CPU,
                           .arch = "x86-64-avx2",
                           .compute_capability = NT_UNKNOWN,
                           .sm_count = 16,
                           .smem_per_block_bytes = NT_UNKNOWN,
                           .max_threads_per_block = NT_UNKNOWN,
                           .regs_per_block = NT_UNKNOWN,
                           .regs_per_sm = NT_UNKNOWN,
                           .warp_size = 1};
    return info;
}

static nt_kernel kernel_of(const nt_param *params, int param_count, const nt_constraint *constraints,
                           int constraint_count)
{
    return (nt_kernel){.name = "direct",
                       .params = params,
                       .param_count = param_count,
                       .constraints = constraints,
                       .constraint_count = constraint_count};
}

static nt_space *built(const nt_kernel *kernel, const nt_device_info *device, const nt_narrowing *narrowing,
                       int narrowing_count, const char *where)
{
    nt_problem problem = problem_of(64, NT_FP32);
    nt_space *space = NULL;
    nt_error err = {0};
    if (nt_space_build(kernel, &problem, device, narrowing, narrowing_count, where, &space, &err) != NT_OK)
        fail_msg("%s", err.what);
    return space;
}

/* ---- a tile kernel, with its constraints written a second time in C --------------------------------------------- */

static const nt_param tile_params[] = {
    {.name = "tile_m", .NT_INTS(16, 32, 64, 128)},
    {.name = "warps", .NT_INTS(1, 2, 4, 8)},
    {.name = "tile_k", .NT_INTS(8, 16, 32)},
    {.name = "path", .NT_STRINGS("plain", "async", "tma")},
    {.name = "stages", .NT_INTS(1, 2, 3, 4)},
    {.name = "swizzle", .NT_INTS(0, 1), .is_bool = true, .use = NT_PARAM_LAUNCH},
};
static const nt_constraint tile_constraints[] = {
    {"tile_m * tile_k * elem_bytes * stages <= smem_per_block // 8", "the stages fit"},
    {"warps * warp_size <= max_threads and tile_m % (warps * 16) == 0", "a warp has whole rows"},
    {"path == 'tma' or stages < 4", "only tma has four stages"},
    {"not swizzle or tile_k >= 16", "a swizzled row has 16 elements"},
    {"cc >= 90 or path != 'tma'", "tma came with 9.0"},
    {"c % tile_k == 0", "whole steps"},
};

static bool tile_legal(const nt_config *config)
{
    int64_t m = nt_config_int(tile_params, config, "tile_m"), k = nt_config_int(tile_params, config, "tile_k");
    int64_t warps = nt_config_int(tile_params, config, "warps"), stages = nt_config_int(tile_params, config, "stages");
    bool is_tma = config->index[3] == 2, swizzle = config->index[5] == 1;
    return m * k * 4 * stages <= 232448 / 8 && m % (warps * 16) == 0 && (is_tma || stages < 4) &&
           (!swizzle || k >= 16) && 64 % k == 0;
}

/* Steps a configuration through nested loops, the last parameter innermost; false at the end. */
static bool next_config(const nt_param *params, nt_config *config)
{
    for (int i = config->count - 1; i >= 0; i--) {
        if (++config->index[i] < params[i].count)
            return true;
        config->index[i] = 0;
    }
    return false;
}

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

/* ---- narrowing, unknown limits ----------------------------------------------------------------------------------- */

static void test_narrowing(void **state)
{
    (void)state;
    nt_kernel kernel = kernel_of(tile_params, COUNT(tile_params), NULL, 0);
    nt_device_info device = gpu();
    const char *const m[] = {"128", "32", "128"}, *const path[] = {"tma"}, *const swizzle[] = {"true"};
    nt_narrowing narrowing[] = {{"tile_m", m, 3}, {"path", path, 1}, {"swizzle", swizzle, 1}};
    nt_space *space = built(&kernel, &device, narrowing, 3, "swizzle == True and path == 'tma'");
    assert_int_equal(nt_space_total(space), 2 * 4 * 3 * 1 * 4 * 1);
    assert_int_equal(nt_space_size(space), 96);
    nt_config config;
    nt_space_config(space, 0, &config);
    assert_int_equal(config.index[0], 1); /* as listed: 32 before 128 */
    assert_int_equal(config.index[3], 2);
    uint64_t index;
    config.index[0] = 0;
    assert_false(nt_space_index(space, &config, &index));
    nt_space_free(space);
}

static void test_unknown_limits_hold(void **state)
{
    (void)state;
    static const nt_constraint constraints[] = {
        {"tile_m <= smem_per_block and tile_m * warps > 16", ""},
        {"cc >= 900", ""},
        {"regs_per_sm < 1 or regs_per_block < 1 or max_threads < 1", ""},
        {"simd_bytes == 32 and warp_size == 1 and sm_count == 16 and n == 8 and c == 64 and h == 56", ""},
    };
    nt_kernel kernel = kernel_of(tile_params, COUNT(tile_params), constraints, COUNT(constraints));
    nt_device_info device = cpu();
    nt_space *space = built(&kernel, &device, NULL, 0, NULL);
    assert_int_equal(nt_space_size(space), 1152 / 16 * 15); /* the known half of the first one still counts */
    nt_space_free(space);
}

static void test_elem_bytes_follow_the_precision(void **state)
{
    (void)state;
    nt_kernel kernel = kernel_of(tile_params, COUNT(tile_params), NULL, 0);
    nt_device_info device = gpu();
    static const int64_t bytes[NT_PRECISION_COUNT] = {4, 4, 2, 2, 1, 1};
    for (int p = 0; p < NT_PRECISION_COUNT; p++) {
        nt_problem problem = problem_of(64, (nt_precision)p);
        char where[32];
        snprintf(where, sizeof where, "elem_bytes == %d", (int)bytes[p]);
        nt_space *space = NULL;
        assert_int_equal(nt_space_build(&kernel, &problem, &device, NULL, 0, where, &space, NULL), NT_OK);
        nt_space_free(space);
    }
}

/* ---- bad input, empty spaces ------------------------------------------------------------------------------------- */

static void expect_error(const nt_kernel *kernel, const nt_narrowing *narrowing, int count, const char *where,
                         nt_status status, const char *what, const char *hint)
{
    nt_problem problem = problem_of(3, NT_FP32);
    nt_device_info device = gpu();
    nt_space *space = (nt_space *)&problem;
    nt_error err = {0};
    assert_int_equal(nt_space_build(kernel, &problem, &device, narrowing, count, where, &space, &err), status);
    assert_null(space);
    assert_int_equal(err.status, status);
    if (strstr(err.what, what) == NULL || strstr(err.hint, hint) == NULL)
        fail_msg("%s\n%s", err.what, err.hint);
    assert_int_equal(nt_space_build(kernel, &problem, &device, narrowing, count, where, &space, NULL), status);
}

static void test_bad_narrowing_and_where(void **state)
{
    (void)state;
    nt_kernel kernel = kernel_of(tile_params, COUNT(tile_params), NULL, 0);
    const char *const values[] = {"64", "48"};
    nt_narrowing name = {"tile_n", values, 1}, value = {"tile_m", values, 2}, none = {"tile_m", values, 0};
    nt_narrowing twice[] = {{"tile_m", values, 1}, {"tile_m", values, 1}};
    expect_error(&kernel, &name, 1, NULL, NT_USAGE, "kernel 'direct' has no parameter 'tile_n'",
                 "did you mean 'tile_m'? its parameters are tile_m, warps, tile_k, path, stages, swizzle");
    expect_error(&kernel, &value, 1, NULL, NT_USAGE, "'48' is no value of 'tile_m'",
                 "values of tile_m: 16, 32, 64, 128");
    expect_error(&kernel, &none, 1, NULL, NT_USAGE, "'' is no value", "16, 32");
    expect_error(&kernel, twice, 2, NULL, NT_USAGE, "'tile_m' is given twice", "");
    expect_error(&kernel, NULL, 0, "tile_m < tile_q", NT_USAGE,
                 "--where for kernel 'direct': column 10 of 'tile_m < tile_q': unknown name 'tile_q'",
                 "did you mean 'tile_");
    static const nt_constraint bad[] = {{"tile_m <", "never"}};
    nt_kernel broken = kernel_of(tile_params, COUNT(tile_params), bad, 1);
    expect_error(&broken, NULL, 0, NULL, NT_FAILED, "a constraint of kernel 'direct': column 9", "");
}

static void test_empty_says_why(void **state)
{
    (void)state;
    static const nt_constraint channels[] = {{"stages > 1", "x"}, {"c % 4 == 0", "channels come in fours"}};
    nt_kernel kernel = kernel_of(tile_params, COUNT(tile_params), channels, 2);
    expect_error(&kernel, NULL, 0, NULL, NT_NO_SPACE,
                 "kernel 'direct' has no legal configuration: 'c % 4 == 0' (channels come in fours; c=3) leaves none",
                 "does not suit this problem");

    static const nt_constraint big[] = {{"tile_m * 65536 < smem_per_block or tile_m > 500", "tiles fit"}};
    kernel = kernel_of(tile_params, COUNT(tile_params), big, 1);
    expect_error(&kernel, NULL, 0, NULL, NT_NO_SPACE, "(tiles fit; smem_per_block=232448) leaves none", "");

    static const nt_constraint clash[] = {{"tile_m >= 16", "harmless"},
                                          {"stages + tile_k > 33", "p"},
                                          {"warps < 4", "harmless"},
                                          {"stages < tile_k // 16", "q"}};
    kernel = kernel_of(tile_params, COUNT(tile_params), clash, 4);
    expect_error(&kernel, NULL, 0, NULL, NT_NO_SPACE,
                 "together 'stages + tile_k > 33' (p) and 'stages < tile_k // 16' (q) leave none", "");

    kernel = kernel_of(tile_params, COUNT(tile_params), clash, 2);
    const char *const small[] = {"8", "16"};
    nt_narrowing narrowing = {"tile_k", small, 2};
    expect_error(&kernel, &narrowing, 1, NULL, NT_NO_SPACE, "'stages + tile_k > 33' (p) leaves none",
                 "--param leaves no value that fits");
    expect_error(&kernel, NULL, 0, "stages == 1", NT_NO_SPACE,
                 "together 'stages + tile_k > 33' (p) and --where 'stages == 1' leave none", "relax --where");
    expect_error(&kernel, NULL, 0, "stages // 0", NT_NO_SPACE,
                 "--where 'stages // 0' gives division by zero at column 8", "relax --where");
}

/* ---- size -------------------------------------------------------------------------------------------------------- */

/* Thirteen parameters of `values` values each. */
static void wide_params(nt_param *params, int values)
{
    static const char *const names[13] = {"a", "b", "d", "e", "f", "g", "i", "j", "l", "m", "o", "p", "q"};
    static const int64_t listed[40] = {1,  2,  3,  4,  5,  6,  7,  8,  9,  10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20,
                                       21, 22, 23, 24, 25, 26, 27, 28, 29, 30, 31, 32, 33, 34, 35, 36, 37, 38, 39, 40};
    for (int i = 0; i < 13; i++)
        params[i] = (nt_param){.name = names[i], .ints = listed, .count = values};
}

static void test_wide_numbers(void **state)
{
    (void)state;
    nt_param params[13];
    wide_params(params, 8);
    static const nt_constraint constraints[] = {{"a == b", ""},
                                                {"b == d", ""},
                                                {"d == e", ""},
                                                {"e == f", ""},
                                                {"f == g", ""},
                                                {"g == i", ""},
                                                {"i == j", ""},
                                                {"l == m", ""},
                                                {"m == o", ""},
                                                {"o == p", ""},
                                                {"p == q", ""},
                                                {"q + a < 10", ""},
                                                {"a + b + d + e + f + g + i < 99", ""}};
    nt_kernel kernel = kernel_of(params, 13, constraints, COUNT(constraints));
    nt_device_info device = gpu();
    nt_space *space = built(&kernel, &device, NULL, 0, NULL);
    assert_true(nt_space_total(space) == UINT64_C(1) << 39);
    assert_int_equal(nt_space_size(space), 8 * 9 / 2);
    nt_config before = {0}, config;
    for (uint64_t i = 0; i < nt_space_size(space); i++) {
        uint64_t back;
        nt_space_config(space, i, &config);
        assert_true(nt_space_index(space, &config, &back) && back == i);
        assert_true(i == 0 || memcmp(before.index, config.index, sizeof before.index) != 0);
        before = config;
    }
    assert_int_equal(nt_space_rejection_of(space, 11).alone, (INT64_C(1) << 39) / 64 * 28);
    assert_int_equal(nt_space_rejection_of(space, 12).alone, NT_UNKNOWN); /* 8^7 is more than it tries */
    nt_space_free(space);
}

static void test_too_large(void **state)
{
    (void)state;
    nt_param params[13];
    wide_params(params, 40);
    nt_kernel kernel = kernel_of(params, 13, NULL, 0);
    expect_error(&kernel, NULL, 0, NULL, NT_USAGE, "more than 9e18 combinations", "narrow it with --param");
    wide_params(params, 4);
    static const nt_constraint impossible[] = {{"a + b + d + e + f + g + i + j + l + m + o + p + q > 51", ""}};
    kernel = kernel_of(params, 13, impossible, 1);
    nt_problem problem = problem_of(64, NT_FP32);
    nt_device_info device = gpu();
    nt_space_model model;
    nt_space_codes codes;
    bool sorted;
    assert_int_equal(nt_space_model_init(&model, &kernel, &problem, &device, NULL, 0, NULL, NULL), NT_OK);
    assert_int_equal(nt_space_search(&model, (nt_space_limits){100, 1000}, &codes, &sorted), NT_SPACE_TOO_LONG);
    free(codes.narrow);
    nt_space_model_done(&model);
    kernel.constraint_count = 0;
    assert_int_equal(nt_space_model_init(&model, &kernel, &problem, &device, NULL, 0, NULL, NULL), NT_OK);
    assert_int_equal(nt_space_search(&model, (nt_space_limits){100, 1000}, &codes, &sorted), NT_SPACE_TOO_MANY);
    assert_int_equal(codes.count, 100);
    free(codes.narrow);
    nt_space_model_done(&model);
}

/* ---- neighbours -------------------------------------------------------------------------------------------------- */

/* Listed values between two of one parameter; 0 when they are the same. */
static int distance(const nt_config *a, const nt_config *b, int *differing)
{
    int steps = 0;
    *differing = 0;
    for (int i = 0; i < a->count; i++)
        if (a->index[i] != b->index[i]) {
            ++*differing;
            steps = abs(a->index[i] - b->index[i]);
        }
    return steps;
}

static void test_neighbours(void **state)
{
    (void)state;
    nt_kernel kernel = kernel_of(tile_params, COUNT(tile_params), tile_constraints, COUNT(tile_constraints));
    nt_device_info device = gpu();
    nt_space *space = built(&kernel, &device, NULL, 0, NULL);
    uint64_t got[64];
    for (uint64_t i = 0; i < nt_space_size(space); i++) {
        for (int kind = NT_NEIGHBOUR_HAMMING; kind <= NT_NEIGHBOUR_ADJACENT; kind++) {
            nt_config own, other;
            nt_space_config(space, i, &own);
            size_t want = 0, count = nt_space_neighbours(space, i, (nt_neighbourhood)kind, got, 64);
            for (uint64_t j = 0; j < nt_space_size(space); j++) {
                int differing;
                nt_space_config(space, j, &other);
                int steps = distance(&own, &other, &differing);
                if (differing != 1 || (kind == NT_NEIGHBOUR_ADJACENT && steps != 1))
                    continue;
                bool listed = false;
                for (size_t k = 0; k < count; k++)
                    listed = listed || got[k] == j;
                assert_true(listed);
                want++;
            }
            assert_int_equal(count, want);
            uint64_t first[2] = {UINT64_MAX, UINT64_MAX};
            assert_int_equal(nt_space_neighbours(space, i, (nt_neighbourhood)kind, first, 1), count);
            assert_true(first[1] == UINT64_MAX && (count == 0 || first[0] == got[0]));
        }
    }
    nt_space_free(space);
}

static void test_kernel_without_parameters(void **state)
{
    (void)state;
    nt_kernel kernel = kernel_of(NULL, 0, NULL, 0);
    nt_device_info device = gpu();
    nt_space *space = built(&kernel, &device, NULL, 0, NULL);
    nt_config config;
    uint64_t index = 9;
    assert_int_equal(nt_space_size(space), 1);
    nt_space_config(space, 0, &config);
    assert_int_equal(config.count, 0);
    assert_true(nt_space_index(space, &config, &index) && index == 0);
    nt_space_free(space);
    expect_error(&kernel, NULL, 0, "c > 3", NT_NO_SPACE, "--where 'c > 3' (c=3) leaves none", "");
}

/* A tree and the list of the same space agree on what is legal and how much of it there is, whatever the constraints.
 */
static void test_tree_agrees_with_list(void **state)
{
    (void)state;
    static const nt_constraint pool[] = {
        {"a + b > 4", ""}, {"b * c % 3 != 0", ""},    {"d <= a", ""},
        {"c != d", ""},    {"a + b + c + d > 9", ""}, {"e != b", ""},
    };
    nt_param five[5];
    static const char *const names[] = {"a", "b", "c", "d", "e"};
    static const int64_t listed[] = {1, 2, 3, 4, 5, 6};
    for (int p = 0; p < 5; p++)
        five[p] = (nt_param){.name = names[p], .ints = listed, .count = 6 - p % 3};
    for (int mask = 0; mask < 64; mask++) {
        nt_constraint chosen[6];
        nt_kernel kernel = {.name = "five", .params = five, .param_count = 5, .constraints = chosen};
        for (int i = 0; i < 6; i++)
            if (mask >> i & 1)
                chosen[kernel.constraint_count++] = pool[i];
        nt_space *space = NULL;
        nt_space_model model;
        assert_int_equal(nt_space_build(&kernel, NULL, NULL, NULL, 0, NULL, &space, NULL), NT_OK);
        assert_int_equal(nt_space_model_init(&model, &kernel, NULL, NULL, NULL, 0, NULL, NULL), NT_OK);
        nt_space_tree *tree = nt_space_tree_build(&model);
        assert_int_equal(nt_space_tree_size(tree), nt_space_size(space));
        for (uint64_t i = 0; i < nt_space_tree_size(tree); i++) {
            nt_config config = {.count = 5};
            int digit[NT_MAX_PARAMS];
            uint64_t index, back;
            nt_space_tree_digits(tree, i, digit);
            for (int p = 0; p < 5; p++)
                config.index[p] = (uint16_t)digit[p];
            assert_true(
                nt_space_index(space, &config, &index)); /* legal; and since each index comes back, all differ */
            assert_true(nt_space_tree_index(tree, digit, &back));
            assert_int_equal(back, i);
        }
        nt_space_tree_free(tree);
        nt_space_model_done(&model);
        nt_space_free(space);
    }
}

/* 10^10 combinations: counted, numbered, neighbours found, nothing listed. */
static void test_space_too_large_to_list(void **state)
{
    (void)state;
    static const char *const names[] = {"a", "b", "c", "d", "e", "f", "g", "h", "i", "j"};
    static const int64_t listed[] = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9};
    static const nt_constraint constraints[] = {{"a + b < 10", ""}, {"c == d", ""}, {"i != j", ""}};
    nt_param ten[10];
    for (int p = 0; p < 10; p++)
        ten[p] = (nt_param){.name = names[p], .ints = listed, .count = 10};
    nt_kernel kernel = {
        .name = "ten", .params = ten, .param_count = 10, .constraints = constraints, .constraint_count = 3};
    nt_space *space = NULL;
    assert_int_equal(nt_space_build(&kernel, NULL, NULL, NULL, 0, NULL, &space, NULL), NT_OK);
    assert_int_equal(nt_space_size(space), UINT64_C(55) * 10 * 90 * 10000);
    assert_int_equal(nt_space_rejection_of(space, 0).pruned, NT_UNKNOWN);
    for (uint64_t i = 7; i < nt_space_size(space); i += nt_space_size(space) / 97) {
        nt_config config;
        uint64_t back, near[128];
        nt_space_config(space, i, &config);
        assert_true(nt_space_index(space, &config, &back));
        assert_int_equal(back, i);
        size_t count = nt_space_neighbours(space, i, NT_NEIGHBOUR_HAMMING, near, 128);
        size_t want = 4 * 9 + 2 * 8; /* e to h freely, i and j but for each other's value, c and d not at all */
        want += (size_t)(9 - config.index[1]) + (size_t)(9 - config.index[0]);
        assert_int_equal(count, want);
        config.index[2] = (uint16_t)(config.index[3] == 0 ? 1 : 0);
        assert_false(nt_space_index(space, &config, &back));
    }
    nt_space_free(space);
}

static void test_listed_configurations(void **state)
{
    (void)state;
    const nt_param two[] = {{.name = "a", .NT_INTS(1, 2, 4)}, {.name = "b", .NT_INTS(0, 1)}};
    static const nt_constraint never[] = {{"a < 0", ""}};
    nt_kernel kernel = {.name = "two", .params = two, .param_count = 2, .constraints = never, .constraint_count = 1};
    static const nt_config rows[] = {{2, {2, 1}}, {2, {0, 0}}, {2, {2, 0}}, {2, {2, 1}}};
    nt_space *space = NULL;
    nt_error err = {0};
    size_t twice = 99;
    assert_int_equal(nt_space_build_listed(&kernel, rows, 3, NULL, &space, &err), NT_OK);
    assert_int_equal(nt_space_size(space), 3);
    uint64_t index;
    assert_true(nt_space_index(space, &rows[0], &index));
    assert_int_equal(index, 2);
    assert_false(nt_space_index(space, &(nt_config){2, {1, 1}}, &index));
    nt_space_free(space);
    assert_int_equal(nt_space_build_listed(&kernel, rows, 4, &twice, &space, &err), NT_USAGE);
    assert_int_equal(twice, 3);
    assert_int_equal(nt_space_build_listed(&kernel, rows, 0, &twice, &space, &err), NT_USAGE);
    assert_null(space);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_tree_agrees_with_list),
        cmocka_unit_test(test_space_too_large_to_list),
        cmocka_unit_test(test_listed_configurations),
        cmocka_unit_test(test_agrees_with_brute_force),
        cmocka_unit_test(test_rejections_add_up),
        cmocka_unit_test(test_why_not_names_the_constraint),
        cmocka_unit_test(test_published_counts),
        cmocka_unit_test(test_random_spaces),
        cmocka_unit_test(test_narrowing),
        cmocka_unit_test(test_unknown_limits_hold),
        cmocka_unit_test(test_elem_bytes_follow_the_precision),
        cmocka_unit_test(test_bad_narrowing_and_where),
        cmocka_unit_test(test_empty_says_why),
        cmocka_unit_test(test_wide_numbers),
        cmocka_unit_test(test_too_large),
        cmocka_unit_test(test_neighbours),
        cmocka_unit_test(test_kernel_without_parameters),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
