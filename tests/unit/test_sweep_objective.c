/* test_sweep_objective.c: a sweep on the fake device that makes energy small, warm starts, and what the device does not
 * tell. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "autotune/sweep.h"
#include "autotune/warm_start.h"
#include "scratch.h"

#include "array_sink.h"

static array_sink *sink;
static nt_sweep_result result;
static nt_error err;

static int open_all(void **state)
{
    sink = array_sink_new();
    memset(&err, 0, sizeof err);
    unsetenv("NNTUNE_FAKE_POWER_MW");
    return scratch_open(state);
}

static int close_all(void **state)
{
    array_sink_free(sink);
    nt_sweep_result_done(&result);
    return scratch_close(state);
}

static int batches = 1;
static bool cold;

static nt_status sweep(const char *objective, const nt_warm_start *warm, int64_t trials)
{
    static const nt_sweep_events nothing;
    nt_sweep_options options = {.layer = "conv3x3",
                                .device = NT_DEVICE_FAKE,
                                .shape = {"4x7x7"},
                                .shape_count = 1,
                                .batch = {1, 2},
                                .batch_count = batches,
                                .precision = {NT_FP32},
                                .precision_count = 1,
                                .budget = {.trials = trials},
                                .seed = 3,
                                .ci_rel = 0.005,
                                .max_error = 0.01,
                                .compile_children = 2,
                                .objective = objective,
                                .warm = warm,
                                .cold_units = cold,
                                .command = "test"};
    nt_sweep_result_done(&result);
    return nt_sweep_run(&options, &sink->sink, &nothing, &result, &err);
}

#define NEEDS_PROGRAM()       \
    if (scratch_no_program()) \
    skip()

/* The fake draws least not where it is fastest. */
static void the_winner_has_the_least_energy(void **state)
{
    (void)state;
    NEEDS_PROGRAM();
    setenv("NNTUNE_FAKE_POWER_MW", "400000", 1);
    assert_int_equal(sweep(NULL, NULL, 40), NT_OK);
    double fastest_ns = result.unit[0].best.time_ns, fastest_mj = result.unit[0].best.conditions.energy_mj;
    array_sink_free(sink);
    sink = array_sink_new();
    assert_int_equal(sweep("energy", NULL, 40), NT_OK);
    const nt_trial *frugal = &sink->trials[0];
    for (int i = 0; i < sink->trial_count; i++) {
        const nt_trial *t = &sink->trials[i];
        assert_int_equal(t->outcome, NT_OUTCOME_OK); /* none is abandoned for being slow */
        assert_true(fabs(t->conditions.energy_mj / (t->conditions.power_mw * t->time_ns * 1e-9) - 1) < 1e-9);
        frugal = t->conditions.energy_mj < frugal->conditions.energy_mj ? t : frugal;
    }
    assert_true(result.unit[0].best.time_ns > fastest_ns && frugal->conditions.energy_mj < fastest_mj);
    assert_true(fabs(result.unit[0].objective / frugal->conditions.energy_mj - 1) < 0.01);
    assert_string_equal(result.objective, "energy");
    assert_non_null(strstr(result.run.options_json, "\"objective\":\"energy\""));
}

static void what_the_device_does_not_tell_is_refused(void **state)
{
    (void)state;
    NEEDS_PROGRAM();
    assert_int_equal(sweep("edp", NULL, 5), NT_USAGE);
    assert_non_null(strstr(err.what, "objective 'edp' needs energy_mj"));
    assert_non_null(strstr(err.hint, "--objective time"));
    assert_int_equal(sink->trial_count, 1); /* and it took one trial to see it */
    assert_int_equal(result.unit[0].outcome[NT_OUTCOME_OK], 1);
    assert_string_equal(sink->end_state, "failed");
}

static void time_alone_is_no_objective_of_a_run(void **state)
{
    (void)state;
    NEEDS_PROGRAM();
    assert_int_equal(sweep("time", NULL, 5), NT_OK);
    assert_null(strstr(result.run.options_json, "objective")); /* goes on with runs from before there was a choice */
    assert_true(isnan(result.unit[0].objective));
}

/* What was the best elsewhere is tried before anything else but the rule of thumb. */
static void an_earlier_winner_comes_first(void **state)
{
    (void)state;
    NEEDS_PROGRAM();
    nt_warm_start warm = {0};
    nt_warm_group group = {.run = 9};
    assert_int_equal(sweep(NULL, NULL, 30), NT_OK);
    int best = 0;
    for (int i = 0; i < sink->trial_count; i++) {
        const nt_trial *t = &sink->trials[i];
        group.problem = t->problem;
        group.problem.batch = 64;
        if (t->outcome == NT_OUTCOME_OK && t->rule[0] == '\0')
            nt_warm_start_add(&warm, &group, t->kernel, t->params_json, 2 * t->time_ns);
        if (t->outcome == NT_OUTCOME_OK && t->time_ns < sink->trials[best].time_ns)
            best = i;
    }
    char *winner = strdup(sink->trials[best].params_json);
    array_sink_free(sink);
    sink = array_sink_new();
    assert_int_equal(sweep(NULL, &warm, 6), NT_OK);
    int at = 0;
    while (at < sink->trial_count && strcmp(sink->trials[at].params_json, winner) != 0)
        at++;
    assert_in_range(at, 0, 2);
    free(winner);
    nt_warm_start_done(&warm);
}

/* Rank of the best so far of batch 1 among the trials of batch 2, by the order in which they were tried; -1: not tried. */
static int place_of_the_first_winner(void)
{
    const nt_trial *winner = NULL;
    int at = 0;
    for (int i = 0; i < sink->trial_count; i++) {
        const nt_trial *t = &sink->trials[i];
        if (t->problem.batch == 1 && t->outcome == NT_OUTCOME_OK && (winner == NULL || t->time_ns < winner->time_ns))
            winner = t;
    }
    for (int i = 0; i < sink->trial_count; i++) {
        const nt_trial *t = &sink->trials[i];
        if (t->problem.batch == 2 && strcmp(t->params_json, winner->params_json) == 0)
            return at;
        at += t->problem.batch == 2;
    }
    return -1;
}

/* What was best for the problem before is tried before anything but the rule of thumb and the default. */
static void a_problem_begins_with_what_the_one_before_found(void **state)
{
    (void)state;
    NEEDS_PROGRAM();
    batches = 2;
    assert_int_equal(sweep(NULL, NULL, 60), NT_OK);
    assert_in_range(place_of_the_first_winner(), 0, 3);
    array_sink_free(sink);
    sink = array_sink_new();
    cold = true;
    assert_int_equal(sweep(NULL, NULL, 60), NT_OK);
    int place = place_of_the_first_winner();
    assert_true(place < 0 || place > 3);
    batches = 1;
    cold = false;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(the_winner_has_the_least_energy, open_all, close_all),
        cmocka_unit_test_setup_teardown(what_the_device_does_not_tell_is_refused, open_all, close_all),
        cmocka_unit_test_setup_teardown(time_alone_is_no_objective_of_a_run, open_all, close_all),
        cmocka_unit_test_setup_teardown(an_earlier_winner_comes_first, open_all, close_all),
        cmocka_unit_test_setup_teardown(a_problem_begins_with_what_the_one_before_found, open_all, close_all),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
