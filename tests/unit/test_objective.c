/* test_objective.c: what a sweep makes small or large, of trials with known metrics. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "autotune/objective.h"

static nt_trial trial_of(double time_ns, double power_mw)
{
    nt_trial trial;
    nt_trial_init(&trial);
    trial.outcome = NT_OUTCOME_OK;
    trial.time_ns = time_ns;
    trial.conditions.power_mw = power_mw;
    trial.conditions.energy_mj = power_mw * time_ns * 1e-9;
    trial.artefact.registers = 40;
    trial.problem.batch = 8;
    return trial;
}

static nt_objective *parsed(const char *text)
{
    nt_objective *objective = NULL;
    nt_error err = {0};
    assert_int_equal(nt_objective_parse(text, &objective, &err), NT_OK);
    return objective;
}

static double value_of(const char *text, const nt_trial *trial)
{
    nt_objective *objective = parsed(text);
    double value = nt_objective_of_trial(objective, trial);
    nt_objective_free(objective);
    return value;
}

static void words_and_expressions(void **state)
{
    (void)state;
    nt_trial trial = trial_of(2e6, 5e4); /* 2 ms at 50 W: 0.1 J */
    assert_true(fabs(value_of(NULL, &trial) - 2e6) < 1e-6);
    assert_true(fabs(value_of("time", &trial) - 2e6) < 1e-6);
    assert_true(fabs(value_of("energy", &trial) - 100) < 1e-9);
    assert_true(fabs(value_of("edp", &trial) - 2e8) < 1e-3);
    assert_true(fabs(value_of("min: energy_mj / batch", &trial) - 12.5) < 1e-9);
    assert_true(fabs(value_of("registers * 2 + (1 if time_ns > 1e6 else 0)", &trial) - 81) < 1e-9);
    assert_true(isnan(value_of("1 / (batch - 8)", &trial)));
    assert_true(isnan(value_of("time_ns + error_prec", &trial))); /* unknown stays unknown */
}

static void the_smaller_score_is_the_better(void **state)
{
    (void)state;
    nt_objective *least = parsed("time"), *most = parsed("max: batch / time_ns");
    nt_trial fast = trial_of(1000, 1), slow = trial_of(3000, 1);
    assert_true(nt_objective_score(least, 1000) == 1000);
    double ratio = nt_objective_score(most, nt_objective_of_trial(most, &slow)) /
                   nt_objective_score(most, nt_objective_of_trial(most, &fast));
    assert_true(fabs(ratio - 3) < 1e-12);
    assert_true(isnan(nt_objective_score(least, 0)) && isnan(nt_objective_score(least, -1)));
    assert_true(isnan(nt_objective_score(most, 0)) && isnan(nt_objective_score(most, (double)NAN)));
    assert_true(nt_objective_is_time(least) && !nt_objective_is_time(most));
    nt_objective_free(least);
    nt_objective_free(most);
}

static void energy_goes_with_time(void **state)
{
    (void)state;
    nt_objective *energy = parsed("energy"), *delay = parsed("edp"), *time = parsed("time");
    nt_trial trial = trial_of(2e6, 5e4);
    assert_true(fabs(nt_objective_at_time(energy, &trial, 4e6) - 200) < 1e-9);
    assert_true(fabs(nt_objective_at_time(delay, &trial, 4e6) - 8e8) < 1e-3);
    assert_true(nt_objective_needs_energy(energy) && nt_objective_needs_energy(delay));
    assert_false(nt_objective_needs_energy(time));
    trial.conditions = (nt_conditions){NAN, NAN, NAN, NAN, NT_UNKNOWN};
    assert_string_equal(nt_objective_missing(energy, &trial), "energy_mj");
    assert_null(nt_objective_missing(time, &trial));
    nt_objective_free(energy);
    nt_objective_free(delay);
    nt_objective_free(time);
}

static void what_makes_no_sense_is_refused(void **state)
{
    (void)state;
    static const char *const bad[] = {"", "speed", "3", "max:", "time_ns +", "max:max:time_ns", "__import__('os')"};
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        nt_objective *objective = NULL;
        nt_error err = {0};
        assert_int_equal(nt_objective_parse(bad[i], &objective, &err), NT_USAGE);
        assert_null(objective);
        assert_true(err.what[0] != '\0');
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(words_and_expressions),
        cmocka_unit_test(the_smaller_score_is_the_better),
        cmocka_unit_test(energy_goes_with_time),
        cmocka_unit_test(what_makes_no_sense_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
