/* test_finals.c: the ranking of finalists, on synthetic times whose truth is known. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "autotune/finals.h"
#include "core/random.h"
#include "core/record.h"

enum { ROUNDS = 15 };
static const double threshold = 0.005;

/* Noise that all finalists of a round share (clock, neighbours), their own noise, and outliers one time in `odds`. */
static void draw(nt_random *random, double *const *round_ns, const double *period_ns, int count, double own,
                 uint64_t odds)
{
    for (int r = 0; r < ROUNDS; r++) {
        double shared = 1 + 0.03 * nt_random_unit(random);
        for (int i = 0; i < count; i++) {
            double noise = 1 + own * (nt_random_unit(random) - 0.5);
            double outlier = nt_random_below(random, odds) == 0 ? 1.5 : 1;
            round_ns[i][r] = period_ns[i] * shared * noise * outlier;
        }
    }
}

typedef struct field {
    double ns[NT_FINALISTS][ROUNDS];
    nt_finalist finalist[NT_FINALISTS];
} field;

static void make_field(field *f, nt_random *random, const double *period_ns, int count, double own, uint64_t odds)
{
    static const char *const params[NT_FINALISTS] = {"a", "b", "c", "d", "e", "f", "g", "h"};
    double *rows[NT_FINALISTS];
    for (int i = 0; i < count; i++) {
        rows[i] = f->ns[i];
        f->finalist[i] =
            (nt_finalist){.round_ns = f->ns[i], .registers = NT_UNKNOWN, .smem_bytes = NT_UNKNOWN, .params = params[i]};
    }
    draw(random, rows, period_ns, count, own, odds);
}

static void test_equal_ones_tie(void **state)
{
    (void)state;
    nt_random random = nt_random_seed(11, 0);
    int ties = 0;
    for (int pair = 0; pair < 200; pair++) {
        field f;
        make_field(&f, &random, (double[]){1e5, 1e5}, 2, 0.02, 20);
        nt_finals_rank(f.finalist, 2, ROUNDS, threshold);
        ties += f.finalist[0].tied + f.finalist[1].tied;
    }
    assert_in_range(ties, 198, 200);
}

static void test_eight_equal_ones_tie(void **state)
{
    (void)state;
    static const double equal[NT_FINALISTS] = {1e5, 1e5, 1e5, 1e5, 1e5, 1e5, 1e5, 1e5};
    nt_random random = nt_random_seed(12, 0);
    int apart = 0;
    for (int trial = 0; trial < 100; trial++) {
        field f;
        make_field(&f, &random, equal, NT_FINALISTS, 0.01, 20);
        nt_finals_rank(f.finalist, NT_FINALISTS, ROUNDS, threshold);
        for (int i = 0; i < NT_FINALISTS; i++)
            apart += f.finalist[i].rank != 1 && !f.finalist[i].tied;
    }
    assert_in_range(apart, 0, 4); /* the leader is the luckiest of eight, so a few are expected */
}

static void test_one_percent_is_found(void **state)
{
    (void)state;
    nt_random random = nt_random_seed(13, 0);
    int found = 0;
    for (int pair = 0; pair < 100; pair++) {
        field f;
        make_field(&f, &random, (double[]){1.01e5, 1e5}, 2, 0.004, 100);
        nt_finals_rank(f.finalist, 2, ROUNDS, threshold);
        assert_int_equal(f.finalist[0].rank + f.finalist[1].rank, 3);
        if (f.finalist[1].rank != 1 || f.finalist[0].tied)
            continue;
        found++;
        assert_true(fabs(f.finalist[0].ratio - 1.01) < 0.004);
        assert_true(f.finalist[1].ratio == 1);
    }
    assert_in_range(found, 97, 100);
}

/* Surely different, and still no difference that counts. */
static void test_below_the_threshold_is_a_tie(void **state)
{
    (void)state;
    nt_random random = nt_random_seed(14, 0);
    field f;
    make_field(&f, &random, (double[]){1.003e5, 1e5}, 2, 0, 20);
    for (int r = 0; r < ROUNDS; r++) {
        f.ns[1][r] = 1e5;
        f.ns[0][r] = 1.003e5;
    }
    nt_finals_rank(f.finalist, 2, ROUNDS, threshold);
    assert_true(f.finalist[0].tied || f.finalist[1].tied);
}

static void fill(field *f, int count, const double *period_ns)
{
    for (int i = 0; i < count; i++)
        for (int r = 0; r < ROUNDS; r++)
            f->ns[i][r] = period_ns[i] * (1 + 1e-6 * ((r * 7 + i * 3) % 5));
}

static field three_equal(void)
{
    field f;
    nt_random random = nt_random_seed(1, 0);
    make_field(&f, &random, (double[]){1, 1, 1}, 3, 0, 20);
    fill(&f, 3, (double[]){1e5, 1.001e5, 1.002e5});
    return f;
}

static void test_tie_break(void **state)
{
    (void)state;
    static const struct {
        int64_t registers[3], smem[3];
        const char *params[3];
        int winner;
    } rows[] = {
        {{40, 32, 48}, {0, 9000, 0}, {"a", "b", "c"}, 1},    /* fewer registers, whatever else */
        {{32, 32, 32}, {512, 512, 256}, {"a", "b", "c"}, 2}, /* then less shared memory */
        {{32, 32, 32}, {256, 256, 256}, {"c", "b", "a"}, 2}, /* then the text */
        {{NT_UNKNOWN, NT_UNKNOWN, NT_UNKNOWN}, {NT_UNKNOWN, NT_UNKNOWN, NT_UNKNOWN}, {"b", "a", "c"}, 1},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        field f = three_equal();
        for (int j = 0; j < 3; j++) {
            f.finalist[j].round_ns = f.ns[j];
            f.finalist[j].registers = rows[i].registers[j];
            f.finalist[j].smem_bytes = rows[i].smem[j];
            f.finalist[j].params = rows[i].params[j];
        }
        nt_finals_rank(f.finalist, 3, ROUNDS, threshold);
        for (int j = 0; j < 3; j++) {
            assert_int_equal(f.finalist[j].rank == 1, j == rows[i].winner);
            assert_int_equal(f.finalist[j].tied, j != rows[i].winner);
        }
        assert_true(f.finalist[rows[i].winner].ratio == 1);
    }
}

/* The preferred one is not in the tie, so it cannot win by its registers. */
static void test_slower_never_wins_a_tie_break(void **state)
{
    (void)state;
    field f = three_equal();
    for (int j = 0; j < 3; j++)
        f.finalist[j].round_ns = f.ns[j];
    fill(&f, 3, (double[]){1.05e5, 1e5, 1.001e5});
    f.finalist[0].registers = 16;
    f.finalist[1].registers = f.finalist[2].registers = 64;
    nt_finals_rank(f.finalist, 3, ROUNDS, threshold);
    assert_int_equal(f.finalist[1].rank, 1);
    assert_int_equal(f.finalist[2].rank, 2);
    assert_true(f.finalist[2].tied);
    assert_int_equal(f.finalist[0].rank, 3);
    assert_false(f.finalist[0].tied);
}

/* Holm: winning the 4 least of 15 differences gives p = 0.003, which is enough alone and not as one of seven. */
static void test_holm_is_stricter_with_more_rivals(void **state)
{
    (void)state;
    int apart[2];
    for (int many = 0; many < 2; many++) {
        field f;
        nt_random random = nt_random_seed(5, 0);
        static const double equal[NT_FINALISTS] = {1, 1, 1, 1, 1, 1, 1, 1};
        int count = many ? NT_FINALISTS : 2;
        make_field(&f, &random, equal, count, 0, 20);
        for (int i = 0; i < count; i++)
            for (int r = 0; r < ROUNDS; r++) /* rivals lose 11 rounds by 2 %, win 4 by 1.5 % */
                f.ns[i][r] = i == 0 ? 1e5 : 1e5 * (r >= 11 ? 0.985 - 1e-5 * r : 1.02 + 1e-4 * r + 1e-6 * i);
        nt_finals_rank(f.finalist, count, ROUNDS, threshold);
        apart[many] = f.finalist[1].rank != 1 && !f.finalist[1].tied;
    }
    assert_int_equal(apart[0], 1);
    assert_int_equal(apart[1], 0);
}

static void test_one_and_none(void **state)
{
    (void)state;
    field f = three_equal();
    f.finalist[0].round_ns = f.ns[0];
    nt_finals_rank(f.finalist, 1, ROUNDS, threshold);
    assert_int_equal(f.finalist[0].rank, 1);
    assert_false(f.finalist[0].tied);
    assert_true(f.finalist[0].ratio == 1);
    assert_true(fabs(f.finalist[0].median_ns - 1e5) < 1);
    nt_finals_rank(NULL, 0, ROUNDS, threshold);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_equal_ones_tie),
        cmocka_unit_test(test_eight_equal_ones_tie),
        cmocka_unit_test(test_one_percent_is_found),
        cmocka_unit_test(test_below_the_threshold_is_a_tie),
        cmocka_unit_test(test_tie_break),
        cmocka_unit_test(test_slower_never_wins_a_tie_break),
        cmocka_unit_test(test_holm_is_stricter_with_more_rivals),
        cmocka_unit_test(test_one_and_none),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
