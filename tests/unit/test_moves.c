/* test_moves.c: the set of asked positions and its uniform draws; steps that stay legal and never repeat themselves. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "autotune/moves.h"

static const int64_t seven[] = {1, 2, 3, 4, 5, 6, 7};
static const nt_param params[] = {{.name = "a", .ints = seven, .count = 7},
                                  {.name = "b", .ints = seven, .count = 7},
                                  {.name = "c", .ints = seven, .count = 3}};
static const nt_constraint constraints[] = {{"a + b > 6", ""}, {"a != c", ""}};
static const nt_kernel kernel = {
    .name = "k", .params = params, .param_count = 3, .constraints = constraints, .constraint_count = 2};

static const nt_space *space;
static uint64_t size;

static int build(void **state)
{
    (void)state;
    nt_space *built = NULL;
    nt_status status = nt_space_build(&kernel, NULL, NULL, NULL, 0, NULL, &built, NULL);
    space = built;
    size = nt_space_size(space);
    return status == NT_OK ? 0 : -1;
}

static int done(void **state)
{
    (void)state;
    nt_space_free((nt_space *)space);
    return 0;
}

static nt_strategy_setup setup_of(const nt_candidate *exclude, size_t count)
{
    return (nt_strategy_setup){
        .space = &space, .kernel_count = 1, .seed = 4, .exclude = exclude, .exclude_count = count};
}

static void test_asked(void **state)
{
    (void)state;
    static const nt_candidate exclude[] = {{0, 5}, {0, 9}, {0, 5}};
    nt_strategy_setup setup = setup_of(exclude, 3);
    nt_asked asked;
    nt_random random = nt_random_seed(1, 1);
    uint64_t position;
    nt_asked_init(&asked, &setup);
    assert_int_equal(nt_asked_left(&asked), size - 2);
    assert_true(nt_asked_has(&asked, 9) && !nt_asked_has(&asked, 0));
    assert_false(nt_asked_add(&asked, 5));
    for (uint64_t i = 0; i < size - 2; i++) {
        assert_true(nt_asked_draw(&asked, &random, &position));
        assert_true(nt_asked_add(&asked, position));
    }
    assert_false(nt_asked_draw(&asked, &random, &position));
    nt_asked_done(&asked);
}

/* Where few are left and where many are, each of them comes equally often. */
static void test_draws_are_uniform(void **state)
{
    (void)state;
    for (int round = 0; round < 2; round++) {
        enum { DRAWS = 20000 };
        nt_strategy_setup setup = setup_of(NULL, 0);
        nt_asked asked;
        nt_random random = nt_random_seed(2, 2);
        int seen[256] = {0};
        double chi_squared = 0;
        nt_asked_init(&asked, &setup);
        for (uint64_t i = 0; i < size; i++)
            if (i % 13 != 3 && (round == 0 ? i % 2 == 0 : true))
                nt_asked_add(&asked, i);
        double left = (double)nt_asked_left(&asked);
        for (int i = 0; i < DRAWS; i++) {
            uint64_t position;
            nt_asked_draw(&asked, &random, &position);
            assert_false(nt_asked_has(&asked, position));
            seen[position]++;
        }
        for (uint64_t i = 0; i < size; i++)
            if (!nt_asked_has(&asked, i))
                chi_squared += (seen[i] - DRAWS / left) * (seen[i] - DRAWS / left) / (DRAWS / left);
        assert_true(chi_squared < left - 1 + 4 * sqrt(2 * (left - 1)));
        nt_asked_done(&asked);
    }
}

static int differing(uint64_t a, uint64_t b)
{
    nt_config x, y;
    int count = 0;
    nt_space_config(space, a, &x);
    nt_space_config(space, b, &y);
    for (int i = 0; i < x.count; i++)
        count += x.index[i] != y.index[i];
    return count;
}

static void test_neighbours_run_out(void **state)
{
    (void)state;
    nt_strategy_setup setup = setup_of(NULL, 0);
    nt_moves moves;
    uint64_t near[64], position, found = 0;
    nt_moves_init(&moves, &setup, 1);
    size_t count = nt_space_neighbours(space, 20, NT_NEIGHBOUR_HAMMING, near, 64);
    nt_moves_launch(&moves, 20, 0);
    while (nt_moves_neighbour(&moves, 20, NT_NEIGHBOUR_HAMMING, &position)) {
        assert_int_equal(differing(20, position), 1);
        nt_moves_launch(&moves, position, 0);
        found++;
    }
    assert_int_equal(found, count);
    nt_moves_done(&moves);
}

static void test_towards_is_legal_and_new(void **state)
{
    (void)state;
    nt_strategy_setup setup = setup_of(NULL, 0);
    nt_moves moves;
    nt_config legal, wild = {3, {0, 0, 0}}; /* a = b = c = 1: breaks both constraints */
    uint64_t position, index;
    nt_moves_init(&moves, &setup, 1);
    nt_space_config(space, 17, &legal);
    assert_true(nt_moves_towards(&moves, 0, &legal, &position));
    assert_int_equal(position, 17);
    assert_false(nt_space_index(space, &wild, &index));
    for (uint64_t i = 0; i < size; i++) {
        assert_true(nt_moves_towards(&moves, 0, i % 2 == 0 ? &wild : &legal, &position));
        assert_false(nt_asked_has(&moves.asked, position));
        nt_moves_launch(&moves, position, 0);
    }
    assert_false(nt_moves_towards(&moves, 0, &legal, &position));
    nt_moves_done(&moves);
}

static void test_landing(void **state)
{
    (void)state;
    nt_strategy_setup setup = setup_of(NULL, 0);
    nt_moves moves;
    nt_spot spot;
    nt_moves_init(&moves, &setup, 1);
    nt_moves_launch(&moves, 3, 30);
    nt_moves_launch(&moves, 4, 40);
    nt_moves_launch(&moves, 5, 50);
    nt_answer answer = {.candidate = {0, 4}, .outcome = NT_OUTCOME_OK, .time_ns = 1000};
    assert_int_equal(nt_moves_land(&moves, &answer, &spot), 40);
    assert_true(spot.position == 4 && spot.value == log(1000));
    answer = (nt_answer){.candidate = {0, 5}, .outcome = NT_OUTCOME_CRASHED, .time_ns = (double)NAN};
    assert_int_equal(nt_moves_land(&moves, &answer, &spot), 50);
    assert_true(isinf(spot.value));
    answer = (nt_answer){.candidate = {0, 9}, .outcome = NT_OUTCOME_OK, .time_ns = 500};
    assert_int_equal(nt_moves_land(&moves, &answer, &spot), -1); /* never asked: told from elsewhere */
    assert_int_equal(moves.best.position, 9);
    assert_true(nt_asked_has(&moves.asked, 9));
    assert_int_equal(moves.flying, 1);
    nt_moves_done(&moves);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_asked),
        cmocka_unit_test(test_draws_are_uniform),
        cmocka_unit_test(test_neighbours_run_out),
        cmocka_unit_test(test_towards_is_legal_and_new),
        cmocka_unit_test(test_landing),
    };
    return cmocka_run_group_tests(tests, build, done);
}
