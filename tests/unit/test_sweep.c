/* test_sweep.c: the coordinator on the fake device with real children and a sink of the test's own: what is stored, in
 * what order, when it ends, and what becomes of it when something fails. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "autotune/strategy.h"
#include "autotune/sweep.h"
#include "core/clock.h"
#include "core/json.h"
#include "scratch.h"

#include "array_sink.h"

static array_sink *sink;
static nt_sweep_result result;
static nt_error err;

static int open_all(void **state)
{
    sink = array_sink_new();
    memset(&err, 0, sizeof err);
    return scratch_open(state);
}

static int close_all(void **state)
{
    array_sink_free(sink);
    nt_sweep_result_done(&result);
    return scratch_close(state);
}

static nt_sweep_options options_of(int64_t trials)
{
    return (nt_sweep_options){.layer = "conv3x3",
                              .device = NT_DEVICE_FAKE,
                              .shape = {"4x7x7"},
                              .shape_count = 1,
                              .batch = {1},
                              .batch_count = 1,
                              .precision = {NT_FP32},
                              .precision_count = 1,
                              .budget = {.trials = trials},
                              .seed = 3,
                              .ci_rel = 0.005,
                              .max_error = 0.01,
                              .compile_children = 2,
                              .command = "test"};
}

static nt_status sweep(const nt_sweep_options *options)
{
    static const nt_sweep_events nothing;
    nt_sweep_result_done(&result);
    return nt_sweep_run(options, &sink->sink, &nothing, &result, &err);
}

static bool no_children(void)
{
    char path[64], *text = NULL;
    snprintf(path, sizeof path, "/proc/self/task/%ld/children", (long)getpid());
    bool none = nt_read_file(path, 4096, &text, NULL, NULL) != NT_OK || text[0] == '\0';
    free(text);
    return none;
}

static int stored(nt_outcome outcome)
{
    int count = 0;
    for (int i = 0; i < sink->trial_count; i++)
        count += sink->trials[i].outcome == outcome;
    return count;
}

static int twice_stored(void)
{
    int twice = 0;
    for (int i = 0; i < sink->trial_count; i++)
        for (int j = 0; j < i; j++)
            twice += nt_problem_equal(&sink->trials[i].problem, &sink->trials[j].problem) &&
                     sink->trials[i].cache == sink->trials[j].cache &&
                     strcmp(sink->trials[i].params_json, sink->trials[j].params_json) == 0;
    return twice;
}

#define NEEDS_PROGRAM()       \
    if (scratch_no_program()) \
    skip()

/* ---- what is stored ---------------------------------------------------------------------------------------------------------- */

static void test_budget_of_trials(void **state)
{
    (void)state;
    NEEDS_PROGRAM();
    nt_sweep_options options = options_of(30);
    assert_int_equal(sweep(&options), NT_OK);
    assert_int_equal(sink->trial_count, 30);
    assert_int_equal(twice_stored(), 0);
    assert_int_equal(sink->begins, 1);
    assert_int_equal(sink->ends, 1);
    assert_string_equal(sink->end_state, "done");
    assert_int_equal(sink->finals_calls, 1);
    assert_int_equal(sink->finals_winners, 1);
    assert_int_equal(result.unit_count, 1);
    assert_true(result.unit[0].has_best);
    assert_int_equal(result.interrupted_by, 0);
    assert_int_equal(result.unit[0].outcome[NT_OUTCOME_OK], stored(NT_OUTCOME_OK));
    for (int i = 0; i < sink->trial_count; i++) {
        bool ok = sink->trials[i].outcome == NT_OUTCOME_OK;
        assert_true(!ok || sink->samples[i] >= 6);
        assert_true(ok || sink->trials[i].reason[0] != '\0');
        assert_true(!ok || result.unit[0].best.time_ns <= sink->trials[i].time_ns * 1.05);
    }
    assert_true(no_children());
}

/* Stored before the next is sent: each trial is journalled once, alone in flight, and stored from there. */
static void test_journal_before_launch_and_store_before_next(void **state)
{
    (void)state;
    NEEDS_PROGRAM();
    nt_sweep_options options = options_of(25);
    assert_int_equal(sweep(&options), NT_OK);
    const char *in_flight = NULL;
    double total_s = 0;
    for (int i = 0; i < sink->put_count; i++) {
        const array_put *put = &sink->puts[i];
        if (put->finished >= 0) {
            const nt_trial *trial = &sink->trials[put->finished];
            char *key = array_key(trial->kernel, trial->params_json);
            assert_non_null(in_flight);
            assert_string_equal(in_flight, key);
            in_flight = NULL;
            free(key);
        }
        if (put->next != NULL) {
            assert_null(in_flight);
            in_flight = put->next;
            assert_true(put->total_s > total_s); /* a killed run knows what it had spent */
            total_s = put->total_s;
        }
    }
    assert_null(in_flight);
}

static void test_seeds_come_first(void **state)
{
    (void)state;
    NEEDS_PROGRAM();
    nt_sweep_options options = options_of(10);
    options.compile_children = 1; /* of two at once either may be first */
    const nt_kernel *kernel = nt_kernel_find("conv3x3", NT_DEVICE_FAKE, "fake");
    nt_config config[2];
    assert_int_equal(sweep(&options), NT_OK);
    assert_int_equal(nt_kernel_rule_config(kernel, &kernel->rules[0], &config[0], NULL), NT_OK);
    nt_kernel_default_config(kernel, &config[1]);
    int seeds = nt_config_equal(&config[0], &config[1]) ? 1 : 2;
    for (int i = 0; i < seeds; i++) {
        char *params = nt_json_dump_done(nt_json_config(kernel->params, &config[i]));
        assert_string_equal(sink->trials[i].params_json, params);
        free(params);
    }
    assert_int_equal(result.unit[0].rule_count, 1);
    assert_string_equal(result.unit[0].rule[0].rule, "16x16 threads");
    assert_int_equal(result.unit[0].rule[0].outcome, NT_OUTCOME_OK);
}

/* A rule of thumb is measured however slow it is: its slow-down is what people ask for. */
static void test_rules_are_never_abandoned(void **state)
{
    (void)state;
    NEEDS_PROGRAM();
    nt_sweep_options options = options_of(60);
    sink->has_earlier = options.resume = true;
    nt_trial *fast = &sink->trials[sink->trial_count++]; /* 100 times faster than anything here */
    nt_trial_init(fast);
    nt_copy(fast->kernel, sizeof fast->kernel, "fake");
    assert_int_equal(nt_layer_find("conv3x3")->parse_shape("4x7x7", &fast->problem.shape, NULL), NT_OK);
    nt_copy(fast->problem.layer, sizeof fast->problem.layer, "conv3x3");
    fast->problem.batch = 1;
    fast->params_json = nt_strdup("{\"block_x\":4,\"block_y\":4,\"tile\":1,\"unroll\":1,\"order\":true,\"waves\":1}");
    fast->outcome = NT_OUTCOME_OK;
    fast->time_ns = 200;
    assert_int_equal(sweep(&options), NT_OK);
    assert_int_equal(result.unit[0].rule[0].outcome, NT_OUTCOME_OK);
    assert_true(stored(NT_OUTCOME_ABANDONED) > 0); /* as others are */
}

static void test_exhaustion_ends_it(void **state)
{
    (void)state;
    NEEDS_PROGRAM();
    const char *values[] = {"8"};
    nt_narrowing narrow[] = {{"block_x", values, 1}, {"block_y", values, 1}};
    nt_sweep_options options = options_of(0);
    options.budget.seconds = 60;
    options.narrowing = narrow;
    options.narrowing_count = 2;
    for (int s = 0; s < nt_strategy_count; s++) {
        int before = sink->trial_count;
        options.strategy = nt_strategies[s]->name;
        assert_int_equal(sweep(&options), NT_OK);
        assert_true(result.unit[0].space_legal > 20);
        assert_int_equal(sink->trial_count - before, (int)result.unit[0].space_legal); /* each was asked, and told */
        assert_true(result.run.total_s < 50);
    }
}

static void test_units_share_the_budget(void **state)
{
    (void)state;
    NEEDS_PROGRAM();
    nt_sweep_options options = options_of(31);
    int count[2][2] = {{0}};
    options.batch[1] = 2;
    options.batch_count = 2;
    options.cache[0] = NT_COLD;
    options.cache[1] = NT_HOT;
    options.cache_count = 2;
    assert_int_equal(sweep(&options), NT_OK);
    assert_int_equal(result.unit_count, 4);
    for (int i = 0; i < sink->trial_count; i++)
        count[sink->trials[i].problem.batch - 1][sink->trials[i].cache]++;
    assert_int_equal(sink->trial_count, 31);
    for (int i = 0; i < 4; i++)
        assert_in_range(count[i / 2][i % 2], 7, 8);
    assert_int_equal(twice_stored(), 0);
}

/* ---- budgets of time ------------------------------------------------------------------------------------------------------------ */

static void test_a_short_time_gives_a_trial(void **state)
{
    (void)state;
    NEEDS_PROGRAM();
    nt_sweep_options options = options_of(0);
    options.budget.seconds = 0.001;
    options.batch[1] = 2;
    options.batch_count = 2;
    assert_int_equal(sweep(&options), NT_OK);
    assert_in_range(sink->trial_count, 1, 4);
    assert_true(result.unit[0].has_best);
    assert_false(result.unit[1].has_best);
}

/* Four problems in a time that is enough for two: those get a trial each, and not the first alone. Some of it is for a
 * slow start. */
static void test_shares_too_short_for_a_trial(void **state)
{
    (void)state;
    NEEDS_PROGRAM();
    static const nt_precision precisions[] = {NT_FP32, NT_FP16, NT_BF16, NT_TF32};
    nt_sweep_options options = options_of(0);
    options.budget.seconds = 4.2; /* of which a fourth is shorter than a compile */
    options.precision_count = 4;
    memcpy(options.precision, precisions, sizeof precisions);
    setenv("NNTUNE_FAKE_COMPILE_MS", "1000", 1);
    assert_int_equal(sweep(&options), NT_OK);
    assert_int_equal(result.unit_count, 4);
    assert_true(result.unit[0].has_best && result.unit[1].has_best);
}

static void test_hundreds_of_problems(void **state)
{
    (void)state;
    NEEDS_PROGRAM();
    nt_sweep_options options = options_of(0);
    options.budget.seconds = 1;
    options.batch_count = 16;
    options.shape_count = 8;
    static const char *const shapes[] = {"1x3x3", "2x3x3", "3x3x3", "4x3x3", "5x3x3", "6x3x3", "7x3x3", "8x3x3"};
    for (int i = 0; i < options.batch_count; i++)
        options.batch[i] = i + 1;
    memcpy(options.shape, shapes, sizeof shapes);
    double begin = nt_now_s();
    assert_int_equal(sweep(&options), NT_OK);
    assert_true(nt_now_s() - begin < 20);
    assert_int_equal(result.unit_count, 128);
    assert_true(sink->trial_count > 0);
    assert_int_equal(stored(NT_OUTCOME_CRASHED), 0); /* nobody answered about another problem */
}

/* ---- going on ----------------------------------------------------------------------------------------------------------------- */

static void test_resume(void **state)
{
    (void)state;
    NEEDS_PROGRAM();
    nt_sweep_options options = options_of(12);
    assert_int_equal(sweep(&options), NT_OK);
    sink->has_earlier = options.resume = true;
    options.budget.trials = 30;
    assert_int_equal(sweep(&options), NT_OK);
    assert_true(result.resumed);
    assert_int_equal(sink->trial_count, 30); /* 12 and 18 more */
    assert_int_equal(twice_stored(), 0);
    assert_int_equal(result.unit[0].rule_count, 1); /* the seeds were measured: counted, not tried again */
    assert_true(result.run.total_s > 5);            /* with the earlier process's time */
    assert_int_equal(result.unit[0].outcome[NT_OUTCOME_OK] + result.unit[0].outcome[NT_OUTCOME_ABANDONED], 30);
    options.budget.trials = 20; /* spent already */
    assert_int_equal(sweep(&options), NT_OK);
    assert_int_equal(sink->trial_count, 30);
    assert_true(result.unit[0].has_best);
}

static void test_nothing_to_resume(void **state)
{
    (void)state;
    NEEDS_PROGRAM();
    nt_sweep_options options = options_of(3);
    options.resume = true;
    assert_int_equal(sweep(&options), NT_OK);
    assert_false(result.resumed);
    assert_int_equal(sink->trial_count, 3);
}

/* Far more at once than the loop takes before it looks after its children. */
static void test_reuse(void **state)
{
    (void)state;
    NEEDS_PROGRAM();
    nt_sweep_options options = options_of(600);
    nt_trial earlier;
    nt_trial_init(&earlier);
    nt_copy(earlier.kernel, sizeof earlier.kernel, "fake");
    earlier.outcome = NT_OUTCOME_OK;
    earlier.time_ns = earlier.time_lo_ns = earlier.time_hi_ns = 30000;
    sink->equal = &earlier;
    options.reuse = true;
    assert_int_equal(sweep(&options), NT_OK);
    assert_int_equal(sink->trial_count, 600);
    assert_int_equal(result.reused, 600);
    for (int i = 0; i < 600; i++)
        assert_true(sink->trials[i].reused);
    for (int i = 0; i < sink->put_count; i++)
        assert_null(sink->puts[i].next); /* nothing was in flight */
}

/* ---- failures -------------------------------------------------------------------------------------------------------------------- */

static void test_sink_fails_in_the_middle(void **state)
{
    (void)state;
    NEEDS_PROGRAM();
    nt_sweep_options options = options_of(50);
    for (int call = 1; call <= 20; call += 19) {
        sink->fail_put = sink->put_count + call;
        int before = sink->trial_count;
        assert_int_equal(sweep(&options), NT_IO);
        assert_string_equal(err.what, "the array is full"); /* its words, not those of what failed after it */
        assert_string_equal(sink->end_state, "failed");
        assert_true(no_children());
        int64_t counted = 0;
        for (int i = 0; i < NT_OUTCOME_COUNT; i++)
            counted += result.unit[0].outcome[i];
        assert_int_equal(counted, sink->trial_count - before); /* what is shown is what was stored */
    }
}

static void test_end_that_cannot_be_stored(void **state)
{
    (void)state;
    NEEDS_PROGRAM();
    nt_sweep_options options = options_of(5);
    sink->fail_end = true;
    assert_int_equal(sweep(&options), NT_IO);
    assert_string_equal(err.what, "the run cannot be ended");
    assert_int_equal(sink->trial_count, 5);
}

static void test_no_legal_configuration(void **state)
{
    (void)state;
    NEEDS_PROGRAM();
    nt_sweep_options options = options_of(5);
    options.where = "block_x * block_y > 100000";
    assert_int_equal(sweep(&options), NT_NO_SPACE);
    assert_non_null(strstr(err.what, "block_x * block_y > 100000"));
    assert_int_equal(sink->begins, 0); /* no run is left behind */
    assert_true(no_children());
}

static void test_shape_beyond_memory(void **state)
{
    (void)state;
    NEEDS_PROGRAM();
    nt_sweep_options options = options_of(5);
    options.shape[1] = "512x512x512"; /* the second: found out before the first is measured */
    options.shape_count = 2;
    assert_int_equal(sweep(&options), NT_USAGE);
    assert_non_null(strstr(err.what, "1 GiB is available"));
    assert_int_equal(sink->begins, 0);
    assert_int_equal(sink->trial_count, 0);
}

static void plant(const char *fault, int count)
{
    char path[100], list[1024] = "";
    snprintf(path, sizeof path, "%s/runs", scratch_folder);
    for (int i = 1; i <= count; i++)
        snprintf(list + strlen(list), sizeof list - strlen(list), "%s%s@%d", i > 1 ? "," : "", fault, i);
    setenv("NNTUNE_FAKE_STATE", path, 1);
    setenv("NNTUNE_FAKE_FAULT", list, 1);
}

static void test_every_trial_fails(void **state)
{
    (void)state;
    NEEDS_PROGRAM();
    nt_sweep_options options = options_of(6);
    plant("launch", 20);
    assert_int_equal(sweep(&options), NT_FAILED);
    assert_non_null(strstr(err.what, "6 launch_failed"));
    assert_int_equal(stored(NT_OUTCOME_LAUNCH_FAILED), 6);
    assert_string_equal(sink->end_state, "done"); /* it ran to its end */
    assert_false(result.unit[0].has_best);
}

static void test_every_result_is_wrong(void **state)
{
    (void)state;
    NEEDS_PROGRAM();
    nt_sweep_options options = options_of(6);
    plant("wrong", 20);
    assert_int_equal(sweep(&options), NT_WRONG_RESULT);
    assert_int_equal(stored(NT_OUTCOME_WRONG_RESULT), 6);
    assert_true(sink->trials[0].reason[0] != '\0');
}

/* Each costs its trial; five in a row mean that the device is of no use. */
static void test_worker_lost_again_and_again(void **state)
{
    (void)state;
    NEEDS_PROGRAM();
    nt_sweep_options options = options_of(20);
    plant("crash", 50);
    assert_int_equal(sweep(&options), NT_DEVICE_LOST);
    assert_non_null(strstr(err.what, "5 times in a row"));
    assert_int_equal(stored(NT_OUTCOME_CRASHED), 5);
    assert_true(no_children());
}

/* Distinct process ids among the module loads. */
static int workers_in(const char *log)
{
    char line[4096];
    long seen[16];
    int count = 0;
    FILE *file = fopen(log, "r");
    assert_non_null(file);
    while (fgets(line, sizeof line, file) != NULL) {
        const char *mark = strstr(line, " pid=");
        long pid = mark != NULL ? strtol(mark + 5, NULL, 10) : 0;
        int at = 0;
        while (at < count && seen[at] != pid)
            at++;
        if (at == count && count < 16)
            seen[count++] = pid;
    }
    fclose(file);
    return count;
}

static void test_final_rounds_in_several_processes(void **state)
{
    (void)state;
    NEEDS_PROGRAM();
    nt_sweep_options options = options_of(4);
    char path[100];
    snprintf(path, sizeof path, "%s/loads", scratch_folder);
    setenv("NNTUNE_FAKE_LOG", path, 1);
    assert_int_equal(sweep(&options), NT_OK);
    unsetenv("NNTUNE_FAKE_LOG");
    assert_int_equal(sink->finals_rounds, 15);
    assert_int_equal(sink->finals_per_block, 5);
    assert_int_equal(workers_in(path), 3);
}

/* Starting two more workers would take a short budget's time. */
static void test_final_rounds_of_a_short_budget(void **state)
{
    (void)state;
    NEEDS_PROGRAM();
    nt_sweep_options options = options_of(0);
    options.budget.seconds = 0.02;
    assert_int_equal(sweep(&options), NT_OK);
    assert_int_equal(sink->finals_rounds, 15);
    assert_int_equal(sink->finals_per_block, 0);
}

static void test_finalist_that_is_wrong_on_fresh_inputs(void **state)
{
    (void)state;
    NEEDS_PROGRAM();
    nt_sweep_options options = options_of(2);
    char path[100];
    /* 2 trials of 2 runs each, then the finals: the fifth run is the first finalist's on fresh inputs */
    snprintf(path, sizeof path, "%s/runs", scratch_folder);
    setenv("NNTUNE_FAKE_STATE", path, 1);
    setenv("NNTUNE_FAKE_FAULT", "wrong@5,wrong@6", 1);
    assert_int_equal(sweep(&options), NT_FAILED); /* none is left: a result that is wrong is none */
    assert_false(result.unit[0].has_best);
    assert_int_equal(stored(NT_OUTCOME_OK), 2);
}

/* The first field holds the faster of two alone; where it is wrong, the other one wins. */
static void test_next_fastest_where_all_finalists_are_wrong(void **state)
{
    (void)state;
    NEEDS_PROGRAM();
    nt_sweep_options options = options_of(2);
    char path[100];
    snprintf(path, sizeof path, "%s/runs", scratch_folder);
    setenv("NNTUNE_FAKE_STATE", path, 1);
    setenv("NNTUNE_FAKE_FAULT", "wrong@5", 1);
    assert_int_equal(sweep(&options), NT_OK);
    double first_ns = sink->trials[0].time_ns, second_ns = sink->trials[1].time_ns;
    assert_true(fmax(first_ns, second_ns) > 1.05 * fmin(first_ns, second_ns));
    assert_true(result.unit[0].first_ns == fmax(first_ns, second_ns));
    assert_int_equal(sink->finals_rounds, 15);
}

static void test_rule_of_thumb_that_wins_is_as_fast_as_the_best(void **state)
{
    (void)state;
    NEEDS_PROGRAM();
    nt_sweep_options options = options_of(1); /* rules come first */
    assert_int_equal(sweep(&options), NT_OK);
    assert_int_equal(result.unit[0].rule_count, 1);
    assert_true(result.unit[0].first_ns != result.unit[0].best.time_ns);
    assert_true(result.unit[0].rule[0].time_ns == result.unit[0].best.time_ns);
}

#define CASE(name) cmocka_unit_test_setup_teardown(name, open_all, close_all)

int main(void)
{
    const struct CMUnitTest tests[] = {
        CASE(test_budget_of_trials),
        CASE(test_journal_before_launch_and_store_before_next),
        CASE(test_seeds_come_first),
        CASE(test_rules_are_never_abandoned),
        CASE(test_exhaustion_ends_it),
        CASE(test_units_share_the_budget),
        CASE(test_a_short_time_gives_a_trial),
        CASE(test_shares_too_short_for_a_trial),
        CASE(test_hundreds_of_problems),
        CASE(test_resume),
        CASE(test_nothing_to_resume),
        CASE(test_reuse),
        CASE(test_sink_fails_in_the_middle),
        CASE(test_end_that_cannot_be_stored),
        CASE(test_no_legal_configuration),
        CASE(test_shape_beyond_memory),
        CASE(test_every_trial_fails),
        CASE(test_every_result_is_wrong),
        CASE(test_worker_lost_again_and_again),
        CASE(test_final_rounds_in_several_processes),
        CASE(test_final_rounds_of_a_short_budget),
        CASE(test_finalist_that_is_wrong_on_fresh_inputs),
        CASE(test_rule_of_thumb_that_wins_is_as_fast_as_the_best),
        CASE(test_next_fastest_where_all_finalists_are_wrong),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
