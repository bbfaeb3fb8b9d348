/* bench_space.c: how long spaces take to build, and the bars that hold for it. The spaces of the recordings are built
 * from their constraints, as their projects state them; the made-up ones are too large to list or nearly so.
 *
 * bench_space: prints each figure with its bar and ends with 1 when one is missed. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

#include "autotune/space.h"
#include "core/clock.h"
#include "core/mem.h"
#include "core/random.h"

typedef struct subject {
    nt_kernel kernel;
    uint64_t legal;
    double bar_ms;
} subject;

#define TABLE(p, c)                                                             \
    .params = (p), .param_count = sizeof(p) / sizeof(p)[0], .constraints = (c), \
    .constraint_count = sizeof(c) / sizeof(c)[0]

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
    {"use_padding == 0 or block_size_x % 32 != 0", ""},
    {"block_size_x * block_size_y <= 1024", ""},
    {"use_padding == 0 or use_shmem != 0", ""},
    {"use_shmem == 0 or (block_size_x * tile_size_x + 14) * (block_size_y * tile_size_y + 14) < 12 * 1024", ""},
};

/* The same with shared memory always in use. */
static const nt_constraint small_constraints[] = {
    {"use_padding == 0 or block_size_x % 32 != 0", ""},
    {"block_size_x * block_size_y <= 1024", ""},
    {"(block_size_x * tile_size_x + 14) * (block_size_y * tile_size_y + 14) < 12 * 1024", ""},
};

static const nt_param dedispersion_params[] = {
    {.name = "block_size_x", .NT_INTS(1, 2, 4, 8, 16, 32)},
    {.name = "block_size_y",
     .NT_INTS(32, 40, 48, 56, 64, 72, 80, 88, 96, 104, 112, 120, 128, 136, 144, 152, 160, 168, 176, 184, 192, 200, 208,
              216, 224, 232, 240, 248, 256)},
    {.name = "tile_size_x", .NT_INTS(1, 2, 3, 4)},
    {.name = "tile_size_y", .NT_INTS(1, 2, 3, 4, 5, 6, 7, 8)},
    {.name = "tile_stride_x", .NT_INTS(0, 1)},
    {.name = "tile_stride_y", .NT_INTS(0, 1)},
};
static const nt_constraint dedispersion_constraints[] = {
    {"32 <= block_size_x * block_size_y <= 1024", ""},
    {"tile_size_x > 1 or tile_stride_x == 0", ""},
    {"tile_size_y > 1 or tile_stride_y == 0", ""},
};

static const nt_param pnpoly_params[] = {
    {.name = "between_method", .NT_INTS(0, 1, 2, 3)},
    {.name = "block_size_x",
     .NT_INTS(32, 64, 96, 128, 160, 192, 224, 256, 288, 320, 352, 384, 416, 448, 480, 512, 544, 576, 608, 640, 672, 704,
              736, 768, 800, 832, 864, 896, 928, 960, 992)},
    {.name = "tile_size", .NT_INTS(1, 2, 4, 6, 8, 10, 12, 14, 16, 18, 20)},
    {.name = "use_method", .NT_INTS(0, 1, 2)},
};
static const nt_constraint no_constraints[] = {{"True", ""}};

/* The bars are a twentieth of what Kernel Tuner 1.4.0's Searchspace takes with its compiled solver, no file read (64.8,
 * 15.9, 2.6, 25.1 and 1.6 ms beside these on one machine), or 0.2 ms; and 4 ms for gemm. */
static const subject subjects[] = {
    {{.name = "gemm", TABLE(gemm_params, gemm_constraints)}, 17956, 3.2},
    {{.name = "convolution", TABLE(convolution_params, convolution_constraints)}, 4362, 0.79},
    {{.name = "convolution, small",
      .params = convolution_params,
      .param_count = 6,
      .constraints = small_constraints,
      .constraint_count = 3},
     2442,
     0.2},
    {{.name = "dedispersion", TABLE(dedispersion_params, dedispersion_constraints)}, 11130, 1.25},
    {{.name = "pnpoly", TABLE(pnpoly_params, no_constraints)}, 4092, 0.2},
};

static double peak_mb(void)
{
    struct rusage usage;
    getrusage(RUSAGE_SELF, &usage);
    return (double)usage.ru_maxrss * 1024 / 1e6;
}

static nt_space *build(const nt_kernel *kernel)
{
    nt_space *space = NULL;
    nt_error err = {0};
    if (nt_space_build(kernel, NULL, NULL, NULL, 0, NULL, &space, &err) == NT_OK)
        return space;
    fprintf(stderr, "%s: %s\n", kernel->name, err.what);
    exit(1);
}

static bool judge(const char *what, double value, double bar, const char *unit)
{
    bool good = value <= bar;
    printf("%-44s %10.3f %-3s bar %8.3f  %s\n", what, value, unit, bar, good ? "ok" : "SHORT");
    return good;
}

static bool recorded_spaces(void)
{
    bool good = true;
    for (size_t i = 0; i < sizeof subjects / sizeof subjects[0]; i++) {
        double best = 1e9;
        for (int repeat = 0; repeat < 21; repeat++) {
            double begin = nt_now_ms();
            nt_space *space = build(&subjects[i].kernel);
            double took = nt_now_ms() - begin;
            best = took < best ? took : best;
            if (nt_space_size(space) != subjects[i].legal) {
                printf("%s: %llu legal, %llu expected\n", subjects[i].kernel.name,
                       (unsigned long long)nt_space_size(space), (unsigned long long)subjects[i].legal);
                good = false;
            }
            nt_space_free(space);
        }
        good = judge(subjects[i].kernel.name, best, subjects[i].bar_ms, "ms") && good;
    }
    return good;
}

/* ---- made up ----------------------------------------------------------------------------------------------------- */

enum { LONG_AXES = 12, LONG_VALUES = 10, CUBE_AXES = 7 };

/* 10^12 combinations, five constraints of two parameters each in a chain and a star. */
static bool chain(void)
{
    static int64_t listed[LONG_VALUES];
    static char names[LONG_AXES][8];
    static nt_param params[LONG_AXES];
    static const nt_constraint constraints[] = {
        {"p0 + p1 < 12", ""}, {"p1 * p2 % 3 != 0", ""}, {"p2 != p3", ""}, {"p5 <= p6", ""}, {"p6 % 4 == p7 % 4", ""},
    };
    for (int v = 0; v < LONG_VALUES; v++)
        listed[v] = v + 1;
    for (int p = 0; p < LONG_AXES; p++) {
        snprintf(names[p], sizeof names[p], "p%d", p);
        params[p] = (nt_param){.name = names[p], .ints = listed, .count = LONG_VALUES};
    }
    nt_kernel kernel = {.name = "chain", TABLE(params, constraints)};
    double begin = nt_now_ms();
    nt_space *space = build(&kernel);
    nt_random random = nt_random_seed(1, 1);
    bool round = true;
    for (int i = 0; i < 10000; i++) {
        uint64_t index = nt_random_below(&random, nt_space_size(space)), back;
        nt_config config;
        nt_space_config(space, index, &config);
        round = round && nt_space_index(space, &config, &back) && back == index;
    }
    double took = nt_now_ms() - begin;
    printf("chain: %.0f combinations, %llu legal, 10,000 drawn and found again: %s\n", (double)nt_space_total(space),
           (unsigned long long)nt_space_size(space), round ? "yes" : "NO");
    nt_space_free(space);
    bool good = judge("10^12 combinations counted and sampled", took, 1000, "ms");
    return judge("  memory of the program so far", peak_mb(), 100, "MB") && good && round;
}

/* All 10,000,000 combinations legal, and listed. */
static bool cube(void)
{
    static int64_t listed[LONG_VALUES];
    static nt_param params[CUBE_AXES];
    static const char *const names[] = {"a", "b", "c", "d", "e", "f", "g"};
    static const nt_constraint constraints[] = {{"a + b + c + d + e + f + g >= 0", ""}};
    for (int v = 0; v < LONG_VALUES; v++)
        listed[v] = v;
    for (int p = 0; p < CUBE_AXES; p++)
        params[p] = (nt_param){.name = names[p], .ints = listed, .count = LONG_VALUES};
    nt_kernel kernel = {.name = "cube", TABLE(params, constraints)};
    double begin = nt_now_ms();
    nt_space *space = build(&kernel);
    printf("cube: %llu legal in %.0f ms\n", (unsigned long long)nt_space_size(space), nt_now_ms() - begin);
    nt_space_free(space);
    return judge("10,000,000 legal configurations, whole program", peak_mb(), 300, "MB");
}

int main(void)
{
    bool good = recorded_spaces();
    good = chain() && good;
    good = cube() && good;
    return good ? 0 : 1;
}
