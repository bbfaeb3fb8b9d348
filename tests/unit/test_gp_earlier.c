/* test_gp_earlier.c: what earlier runs say of candidates, and what a search makes of it. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "autotune/gp_earlier.h"
#include "core/mem.h"

enum { SIDE = 24, TOTAL = SIDE * SIDE, BEST_A = 17, BEST_B = 5 };
static const nt_gp_prior prior = {.length = -0.5, .length_spread = 0.6, .noise = -9, .noise_spread = 0.5};

static int64_t listed[SIDE];
static nt_param params[2];
static nt_kernel kernel = {.name = "made_up", .params = params, .param_count = 2};
static const nt_space *space;

static int build_space(void **state)
{
    (void)state;
    nt_problem problem = {.batch = 1};
    nt_device_info device = {.kind = NT_DEVICE_FAKE};
    nt_space *built = NULL;
    for (int i = 0; i < SIDE; i++)
        listed[i] = i;
    params[0] = (nt_param){.name = "a", .ints = listed, .count = SIDE};
    params[1] = (nt_param){.name = "b", .ints = listed, .count = SIDE};
    if (nt_space_build(&kernel, &problem, &device, NULL, 0, NULL, &built, NULL) != NT_OK)
        return -1;
    space = built;
    return 0;
}

static int free_space(void **state)
{
    (void)state;
    nt_space_free((nt_space *)space);
    return 0;
}

static double time_ns(uint64_t index)
{
    nt_config config;
    nt_space_config(space, index, &config);
    double a = config.index[0] - (double)BEST_A, b = config.index[1] - (double)BEST_B;
    return 1000 * exp(0.02 * a * a + 0.03 * b * b);
}

static uint64_t index_of(int a, int b)
{
    nt_config config = {.count = 2, .index = {(uint16_t)a, (uint16_t)b}};
    uint64_t index = 0;
    assert_true(nt_space_index(space, &config, &index));
    return index;
}

static nt_strategy_setup setup_of(const nt_earlier *earlier, size_t count)
{
    return (nt_strategy_setup){
        .space = &space, .kernel_count = 1, .seed = 4, .earlier = earlier, .earlier_count = count};
}

/* Every `step`-th configuration, as if its times were `scale` as long. */
static size_t history(nt_earlier *out, int run, size_t first, size_t step, double scale)
{
    size_t count = 0;
    for (size_t i = first; i < TOTAL; i += step)
        out[count++] = (nt_earlier){.candidate = {0, i}, .time_ns = scale * time_ns(i), .run = run};
    return count;
}

static void runs_that_know_most_come_first(void **state)
{
    (void)state;
    nt_earlier earlier[TOTAL];
    size_t count = history(earlier, 7, 0, 40, 1);
    count += history(earlier + count, 3, 0, 30, 1);
    earlier[count++] = (nt_earlier){.candidate = {0, 1}, .time_ns = 5, .run = 9}; /* one alone says nothing */
    for (size_t i = 0; i < 20; i++)                                               /* nor do failures */
        earlier[count++] = (nt_earlier){.candidate = {0, i}, .time_ns = (double)NAN, .run = 5};
    nt_strategy_setup setup = setup_of(earlier, count);
    int run[4];
    assert_int_equal(nt_gp_earlier_runs(&setup, 4, run), 2);
    assert_int_equal(run[0], 3);
    assert_int_equal(run[1], 7);
    assert_int_equal(nt_gp_earlier_runs(&setup, 1, run), 1);
    nt_strategy_setup none = setup_of(NULL, 0);
    assert_int_equal(nt_gp_earlier_runs(&none, 4, run), 0);
}

static void levels_follow_the_times(void **state)
{
    (void)state;
    nt_earlier earlier[TOTAL];
    /* A quarter of the configurations, 3 times as slow: a device of another speed. */
    nt_strategy_setup setup = setup_of(earlier, history(earlier, 0, 1, 4, 3));
    nt_gp_earlier *known = nt_gp_earlier_create(&setup, 0, &prior, 4);
    int best = nt_gp_earlier_level(known, (nt_candidate){0, index_of(BEST_A, BEST_B)});
    int near_best = nt_gp_earlier_level(known, (nt_candidate){0, index_of(BEST_A + 1, BEST_B)});
    int far = nt_gp_earlier_level(known, (nt_candidate){0, index_of(0, SIDE - 1)});
    assert_in_range(best, 0, 3);
    assert_in_range(near_best, 0, 4);
    assert_in_range(far, NT_GP_EARLIER_LEVELS - 3, NT_GP_EARLIER_LEVELS - 1);
    assert_int_equal(nt_gp_earlier_level(known, (nt_candidate){0, index_of(0, SIDE - 1)}), far); /* remembered */
    /* The mean over all rows of how far levels are from the truth, known and unknown rows alike. */
    double off = 0, slowest = known->slowest;
    for (uint64_t i = 0; i < TOTAL; i++) {
        double truth = fmin(log(time_ns(i) / time_ns(index_of(BEST_A, BEST_B))) / slowest, 1);
        off += fabs(nt_gp_earlier_level(known, (nt_candidate){0, i}) / (NT_GP_EARLIER_LEVELS - 1.0) - truth) / TOTAL;
    }
    assert_true(off < 0.05);
    nt_gp_earlier_destroy(known);
}

static void the_best_come_in_order(void **state)
{
    (void)state;
    nt_earlier earlier[TOTAL];
    size_t count = history(earlier, 0, 0, 3, 1), given = 0;
    nt_strategy_setup setup = setup_of(earlier, count);
    nt_gp_earlier *known = nt_gp_earlier_create(&setup, 0, &prior, 0);
    uint64_t position;
    double last = 0;
    for (; nt_gp_earlier_next(known, &position); given++) {
        assert_true(time_ns(position) >= last);
        last = time_ns(position);
    }
    assert_int_equal(given, count);
    nt_gp_earlier_destroy(known);
}

/* Evaluations until a configuration within 2 % of the best is asked. */
static int evaluations_to_best(const nt_strategy_setup *setup)
{
    void *strategy = nt_strategy_auto.create(setup);
    int count = 0;
    nt_candidate asked;
    for (; count < TOTAL && nt_strategy_auto.ask(strategy, &asked, 1) == 1; count++) {
        if (time_ns(asked.index) < 1.02 * 1000)
            break;
        nt_strategy_auto.tell(
            strategy, &(nt_answer){.candidate = asked, .outcome = NT_OUTCOME_OK, .time_ns = time_ns(asked.index)});
    }
    nt_strategy_auto.destroy(strategy);
    return count + 1;
}

static void a_run_elsewhere_is_a_start(void **state)
{
    (void)state;
    nt_earlier earlier[TOTAL];
    size_t count = history(earlier, 0, 0, 1, 5);
    nt_strategy_setup warm = setup_of(earlier, count), cold = setup_of(NULL, 0);
    assert_int_equal(evaluations_to_best(&warm), 1);
    assert_true(evaluations_to_best(&cold) > 1);
    /* What was fast elsewhere is slow here: it costs some evaluations, and no more. */
    for (size_t i = 0; i < count; i++)
        earlier[i].time_ns = 1e9 / earlier[i].time_ns;
    assert_in_range(evaluations_to_best(&warm), 2, 60);
}

static void excluded_ones_are_not_asked(void **state)
{
    (void)state;
    nt_earlier earlier[TOTAL];
    nt_strategy_setup setup = setup_of(earlier, history(earlier, 0, 0, 1, 1));
    nt_candidate best = {0, index_of(BEST_A, BEST_B)}, out[TOTAL + 8];
    setup.exclude = &best;
    setup.exclude_count = 1;
    void *strategy = nt_strategy_auto.create(&setup);
    size_t count = nt_strategy_auto.ask(strategy, out, 10);
    assert_int_equal(count, 10);
    for (size_t i = 0; i < count; i++)
        for (size_t j = 0; j <= i; j++)
            assert_true(out[i].index != (j == i ? best.index : out[j].index));
    nt_strategy_auto.destroy(strategy);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(runs_that_know_most_come_first), cmocka_unit_test(levels_follow_the_times),
        cmocka_unit_test(the_best_come_in_order),         cmocka_unit_test(a_run_elsewhere_is_a_start),
        cmocka_unit_test(excluded_ones_are_not_asked),
    };
    return cmocka_run_group_tests(tests, build_space, free_space);
}
