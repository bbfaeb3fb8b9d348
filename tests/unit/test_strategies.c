/* test_strategies.c: ask and tell: completeness, exclusion, determinism and fairness of the strategies. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "autotune/candidates.h"
#include "core/mem.h"

enum { KERNELS = 3 };

static const nt_param params[KERNELS][2] = {
    {{.name = "a", .NT_INTS(1, 2, 3, 4, 5, 6, 7, 8, 9, 10)}, {.name = "b", .NT_INTS(1, 2, 3, 4, 5, 6, 7)}},
    {{.name = "a", .NT_INTS(1, 2, 3)}},
    {{.name = "a", .NT_INTS(1, 2, 3, 4, 5, 6)}, {.name = "b", .NT_INTS(1, 2, 3, 4, 5)}},
};
static const nt_constraint constraints[] = {{"a + b > 4", ""}};
static const nt_kernel kernels[KERNELS] = {
    {.name = "first", .params = params[0], .param_count = 2},
    {.name = "second", .params = params[1], .param_count = 1},
    {.name = "third", .params = params[2], .param_count = 2, .constraints = constraints, .constraint_count = 1},
};
static const uint64_t sizes[KERNELS] = {70, 3, 24};
enum { TOTAL = 97 };

static const nt_space *spaces[KERNELS];

static int build_spaces(void **state)
{
    (void)state;
    nt_problem problem = {.batch = 1};
    nt_device_info device = {.kind = NT_DEVICE_FAKE};
    for (int i = 0; i < KERNELS; i++) {
        nt_space *space = NULL;
        if (nt_space_build(&kernels[i], &problem, &device, NULL, 0, NULL, &space, NULL) != NT_OK ||
            nt_space_size(space) != sizes[i])
            return -1;
        spaces[i] = space;
    }
    return 0;
}

static int free_spaces(void **state)
{
    (void)state;
    for (int i = 0; i < KERNELS; i++)
        nt_space_free((nt_space *)spaces[i]);
    return 0;
}

static nt_strategy_setup setup_of(uint64_t seed, const nt_candidate *exclude, size_t exclude_count)
{
    return (nt_strategy_setup){
        .space = spaces, .kernel_count = KERNELS, .seed = seed, .exclude = exclude, .exclude_count = exclude_count};
}

/* Asks in portions until nothing comes, answering each; returns how many there were. */
static size_t drain(const nt_strategy *strategy, const nt_strategy_setup *setup, size_t portion, nt_candidate *out)
{
    void *state = strategy->create(setup);
    size_t count = 0, got;
    while ((got = strategy->ask(state, out + count, portion)) > 0) {
        for (size_t i = count; i < count + got; i++)
            strategy->tell(
                state, &(nt_answer){.candidate = out[i],
                                    .outcome = out[i].index % 7 == 3 ? NT_OUTCOME_CRASHED : NT_OUTCOME_OK,
                                    .time_ns = out[i].index % 7 == 3 ? (double)NAN : 1000.0 + (double)out[i].index});
        count += got;
        assert_true(count <= TOTAL);
    }
    assert_int_equal(strategy->ask(state, out + count, 1), 0);
    strategy->destroy(state);
    return count;
}

/* How often each candidate occurs, at its position in the union. */
static void tally(const nt_candidate *candidates, size_t count, int *seen)
{
    memset(seen, 0, TOTAL * sizeof *seen);
    for (size_t i = 0; i < count; i++) {
        assert_in_range(candidates[i].kernel, 0, KERNELS - 1);
        assert_true(candidates[i].index < sizes[candidates[i].kernel]);
        uint64_t position = candidates[i].index;
        for (int k = 0; k < candidates[i].kernel; k++)
            position += sizes[k];
        seen[position]++;
    }
}

static void test_every_strategy_asks_each_once(void **state)
{
    (void)state;
    nt_candidate out[TOTAL + 64];
    int seen[TOTAL];
    for (int s = 0; s < nt_strategy_count; s++)
        for (size_t portion = 1; portion <= 32; portion += 31) {
            nt_strategy_setup setup = setup_of(7, NULL, 0);
            assert_int_equal(drain(nt_strategies[s], &setup, portion, out), TOTAL);
            tally(out, TOTAL, seen);
            for (int i = 0; i < TOTAL; i++)
                assert_int_equal(seen[i], 1);
        }
}

static void test_every_strategy_leaves_out_the_excluded(void **state)
{
    (void)state;
    static const nt_candidate exclude[] = {{0, 69}, {1, 0}, {0, 0}, {1, 2}, {2, 23}, {1, 1}, {0, 0}};
    nt_candidate out[TOTAL + 64];
    int seen[TOTAL];
    for (int s = 0; s < nt_strategy_count; s++) {
        nt_strategy_setup setup = setup_of(3, exclude, sizeof exclude / sizeof exclude[0]);
        assert_int_equal(drain(nt_strategies[s], &setup, 5, out), TOTAL - 6);
        tally(out, TOTAL - 6, seen);
        for (int i = 0; i < TOTAL; i++)
            assert_int_equal(seen[i], i == 0 || (i >= 69 && i <= 72) || i == TOTAL - 1 ? 0 : 1);
    }
}

static void test_everything_excluded_ends_at_once(void **state)
{
    (void)state;
    nt_candidate all[TOTAL], out[TOTAL + 64];
    size_t count = 0;
    for (int k = 0; k < KERNELS; k++)
        for (uint64_t i = 0; i < sizes[k]; i++)
            all[count++] = (nt_candidate){k, i};
    for (int s = 0; s < nt_strategy_count; s++) {
        nt_strategy_setup setup = setup_of(3, all, TOTAL);
        assert_int_equal(drain(nt_strategies[s], &setup, 4, out), 0);
    }
}

static bool same_order(const nt_candidate *a, const nt_candidate *b)
{
    for (int i = 0; i < TOTAL; i++)
        if (a[i].kernel != b[i].kernel || a[i].index != b[i].index)
            return false;
    return true;
}

static void test_seed_decides(void **state)
{
    (void)state;
    nt_candidate a[TOTAL + 64], b[TOTAL + 64];
    nt_strategy_setup first = setup_of(11, NULL, 0), second = setup_of(12, NULL, 0);
    for (int s = 0; s < nt_strategy_count; s++) {
        drain(nt_strategies[s], &first, 3, a);
        drain(nt_strategies[s], &first, 3, b);
        assert_true(same_order(a, b));
    }
    drain(&nt_strategy_random, &first, 9, a);
    drain(&nt_strategy_random, &first, 1, b); /* the size of the portions changes nothing where answers do not */
    assert_true(same_order(a, b));
    drain(&nt_strategy_random, &second, 1, b);
    assert_false(same_order(a, b));
}

/* Written out, so that a change of the order does not pass unseen. */
static void test_exhaustive_takes_turns(void **state)
{
    (void)state;
    static const nt_candidate want[] = {{0, 0}, {1, 0}, {2, 0}, {0, 1}, {1, 1}, {2, 1}, {0, 2},
                                        {1, 2}, {2, 2}, {0, 3}, {2, 3}, {0, 4}, {2, 4}};
    nt_candidate out[TOTAL + 64];
    nt_strategy_setup setup = setup_of(0, NULL, 0);
    drain(&nt_strategy_exhaustive, &setup, 7, out);
    for (size_t i = 0; i < sizeof want / sizeof want[0]; i++) {
        assert_int_equal(out[i].kernel, want[i].kernel);
        assert_int_equal(out[i].index, want[i].index);
    }
}

/* All 24 orders of four candidates, over many seeds: chi squared with 23 degrees of freedom is above 49.7 once in a
 * thousand; the seeds are fixed, so this either holds or does not. */
static void test_random_orders_are_equally_likely(void **state)
{
    (void)state;
    enum { ROUNDS = 4800 };
    const nt_param four[] = {{.name = "a", .NT_INTS(1, 2, 3, 4)}};
    nt_kernel kernel = {.name = "four", .params = four, .param_count = 1};
    nt_problem problem = {.batch = 1};
    nt_device_info device = {.kind = NT_DEVICE_FAKE};
    nt_space *space = NULL;
    assert_int_equal(nt_space_build(&kernel, &problem, &device, NULL, 0, NULL, &space, NULL), NT_OK);
    const nt_space *only = space;
    int seen[256] = {0};
    for (uint64_t seed = 0; seed < ROUNDS; seed++) {
        nt_strategy_setup setup = {.space = &only, .kernel_count = 1, .seed = seed};
        void *strategy = nt_strategy_random.create(&setup);
        nt_candidate out[4];
        assert_int_equal(nt_strategy_random.ask(strategy, out, 4), 4);
        seen[out[0].index * 64 + out[1].index * 16 + out[2].index * 4 + out[3].index]++;
        nt_strategy_random.destroy(strategy);
    }
    int orders = 0;
    double chi_squared = 0, expected = ROUNDS / 24.0;
    for (int i = 0; i < 256; i++)
        if (seen[i] > 0) {
            orders++;
            chi_squared += (seen[i] - expected) * (seen[i] - expected) / expected;
        }
    assert_int_equal(orders, 24);
    assert_true(chi_squared < 49.7);
    nt_space_free(space);
}

/* A space of a million, drawn to the end: the table of changed places grows and is cleaned on the way. */
static void test_random_large(void **state)
{
    (void)state;
    enum { SIDE = 100, SIZE = SIDE * SIDE * SIDE };
    int64_t listed[SIDE];
    for (int i = 0; i < SIDE; i++)
        listed[i] = i;
    nt_param cube[] = {{.name = "a", .ints = listed, .count = SIDE},
                       {.name = "b", .ints = listed, .count = SIDE},
                       {.name = "c", .ints = listed, .count = SIDE}};
    nt_kernel kernel = {.name = "cube", .params = cube, .param_count = 3};
    nt_problem problem = {.batch = 1};
    nt_device_info device = {.kind = NT_DEVICE_FAKE};
    nt_space *space = NULL;
    assert_int_equal(nt_space_build(&kernel, &problem, &device, NULL, 0, NULL, &space, NULL), NT_OK);
    const nt_space *only = space;
    nt_strategy_setup setup = {.space = &only, .kernel_count = 1, .seed = 5};
    void *strategy = nt_strategy_random.create(&setup);
    unsigned char *seen = nt_alloc_zero(SIZE, 1);
    nt_candidate out[1000];
    size_t count = 0, got;
    while ((got = nt_strategy_random.ask(strategy, out, 1000)) > 0)
        for (size_t i = 0; i < got; i++, count++)
            assert_int_equal(seen[out[i].index]++, 0);
    assert_int_equal(count, SIZE);
    free(seen);
    nt_strategy_random.destroy(strategy);
    nt_space_free(space);
}

static void test_find(void **state)
{
    (void)state;
    const nt_strategy *strategy = NULL;
    nt_error err = {0};
    assert_int_equal(nt_strategy_find("exhaustive", &strategy, &err), NT_OK);
    assert_ptr_equal(strategy, &nt_strategy_exhaustive);
    assert_int_equal(nt_strategy_find(NULL, &strategy, &err), NT_OK);
    assert_ptr_equal(strategy, nt_strategies[0]);
    assert_ptr_equal(strategy, &nt_strategy_auto);
    assert_int_equal(nt_strategy_find("randon", &strategy, &err), NT_USAGE);
    assert_null(strategy);
    assert_string_equal(err.what, "unknown strategy 'randon'");
    assert_non_null(strstr(err.hint, "did you mean 'random'? strategies: auto, random, exhaustive"));
    assert_int_equal(nt_strategy_find("", &strategy, NULL), NT_USAGE);
    for (int i = 0; i < nt_strategy_count; i++)
        nt_strategies[i]->destroy(NULL);
}

static void test_candidates_round_trip(void **state)
{
    (void)state;
    nt_strategy_setup setup = setup_of(0, NULL, 0);
    nt_candidates candidates;
    nt_candidates_init(&candidates, &setup);
    assert_int_equal(nt_candidates_end(&candidates), TOTAL);
    for (uint64_t i = 0; i < TOTAL; i++)
        assert_int_equal(nt_candidates_position(&candidates, nt_candidates_at(&candidates, i)), i);
    assert_int_equal(nt_candidates_at(&candidates, 70).kernel, 1);
    assert_int_equal(nt_candidates_at(&candidates, 73).kernel, 2);
    nt_candidates_done(&candidates);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_every_strategy_asks_each_once),
        cmocka_unit_test(test_every_strategy_leaves_out_the_excluded),
        cmocka_unit_test(test_everything_excluded_ends_at_once),
        cmocka_unit_test(test_seed_decides),
        cmocka_unit_test(test_exhaustive_takes_turns),
        cmocka_unit_test(test_random_orders_are_equally_likely),
        cmocka_unit_test(test_random_large),
        cmocka_unit_test(test_find),
        cmocka_unit_test(test_candidates_round_trip),
    };
    return cmocka_run_group_tests(tests, build_spaces, free_spaces);
}
