/* test_replay.c: the replay loop and its scores: what strategies are told and may spend, random search counted by hand,
 * and, where the recorded spaces are at hand, the figures that the field's own scoring program gives for a trace. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "autotune/replay_score.h"
#include "core/mem.h"

/* Six rows a=0..5: times 4, failed, 2, 8, 1, 16 ms; a second to compile and two to time each. */
static const char text[] = "# space=six\n# param a=0,1,2,3,4,5\n"
                           "a,status,time_ms,compile_ms,bench_ms,samples_ms\n"
                           "0,ok,4,1000,2000,3;5\n1,run_failed,,1000,2000,\n2,ok,2,1000,2000,2;2\n"
                           "3,ok,8,1000,2000,\n4,ok,1,1000,2000,3;9\n5,ok,16,1000,2000,\n";
enum { ROWS = 6 };

static nt_recorded *six;

static int open_six(void **state)
{
    (void)state;
    char path[] = "/tmp/nntune_replay_XXXXXX";
    int fd = mkstemp(path);
    bool written = fd >= 0 && write(fd, text, sizeof text - 1) == (ssize_t)sizeof text - 1;
    nt_status status = written ? nt_recorded_open(path, &six, NULL) : NT_IO;
    close(fd);
    unlink(path);
    return status == NT_OK ? 0 : -1;
}

static int close_six(void **state)
{
    (void)state;
    nt_recorded_free(six);
    return 0;
}

/* A strategy of the test: asks in order, and keeps what it is told. */
static struct {
    uint64_t next;
    nt_answer answer[ROWS];
    int answers, in_flight, most_in_flight;
    nt_strategy_setup setup;
} probe;

static void *probe_create(const nt_strategy_setup *setup)
{
    memset(&probe, 0, sizeof probe);
    probe.setup = *setup;
    return &probe;
}

static size_t probe_ask(void *state, nt_candidate *out, size_t n)
{
    (void)state;
    if (n == 0 || probe.next == ROWS)
        return 0;
    *out = (nt_candidate){0, probe.next++};
    probe.most_in_flight = ++probe.in_flight > probe.most_in_flight ? probe.in_flight : probe.most_in_flight;
    return 1;
}

static void probe_tell(void *state, const nt_answer *answer)
{
    (void)state;
    probe.in_flight--;
    probe.answer[probe.answers++] = *answer;
}

static void probe_destroy(void *state)
{
    (void)state;
}

static const nt_strategy probe_strategy = {
    .name = "probe", .create = probe_create, .ask = probe_ask, .tell = probe_tell, .destroy = probe_destroy};

static nt_replay_options options_of(size_t trials)
{
    return (nt_replay_options){.strategy = &probe_strategy, .seed = 3, .trials = trials, .in_flight = 1};
}

static void test_strategy_is_told_its_answers(void **state)
{
    (void)state;
    nt_replay_options options = options_of(100);
    nt_replay_run run;
    nt_replay(six, &options, 0, &run);
    assert_int_equal(run.count, ROWS);
    assert_int_equal(probe.answers, ROWS);
    assert_int_equal(probe.most_in_flight, 1);
    assert_int_equal(probe.setup.budget_trials, 100);
    assert_true(probe.setup.budget_s == 0);
    assert_int_equal(probe.answer[1].outcome, NT_OUTCOME_LAUNCH_FAILED);
    assert_true(isnan(probe.answer[1].time_ns));
    assert_true(probe.answer[4].time_ns == 1e6 && probe.answer[4].cost_s == 3);
    assert_true(run.evaluation[5].clock_s == 18);
    nt_replay_run_done(&run);
}

static void test_trials_end_it(void **state)
{
    (void)state;
    nt_replay_options options = options_of(4);
    nt_replay_run run;
    options.in_flight = 3;
    nt_replay(six, &options, 0, &run);
    assert_int_equal(run.count, 4);
    assert_int_equal(probe.next, 4);
    assert_int_equal(probe.most_in_flight, 3);
    nt_replay_run_done(&run);
}

/* One at a time 3 s each; with compiling beside timing 1 s and then 2 s each. */
static void test_seconds_end_it(void **state)
{
    (void)state;
    nt_replay_options options = options_of(100);
    nt_replay_run run;
    options.seconds = 10;
    nt_replay(six, &options, 0, &run);
    assert_int_equal(run.count, 3);
    assert_true(probe.setup.budget_s == 10 && probe.setup.budget_trials == 0);
    nt_replay_run_done(&run);
    options.in_flight = 2;
    nt_replay(six, &options, 0, &run);
    assert_int_equal(run.count, 4);
    assert_true(run.evaluation[3].clock_s == 9);
    nt_replay_run_done(&run);
    options.hide_cost = true;
    nt_replay(six, &options, 0, &run);
    assert_true(probe.setup.budget_s == 0 && probe.answer[0].cost_s == 0);
    nt_replay_run_done(&run);
}

static void test_noise_draws_samples(void **state)
{
    (void)state;
    nt_replay_options options = options_of(100);
    bool seen[10] = {false};
    options.noise = true;
    for (uint64_t repeat = 0; repeat < 40; repeat++) {
        nt_replay_run run;
        nt_replay(six, &options, repeat, &run);
        double drawn = run.evaluation[0].answered_ms;
        assert_true(drawn == 3 || drawn == 5);
        seen[(int)drawn] = true;
        assert_true(run.evaluation[3].answered_ms == 8); /* no samples: the mean */
        nt_replay_run_done(&run);
    }
    assert_true(seen[3] && seen[5]);
}

static void test_curves(void **state)
{
    (void)state;
    nt_replay_options options = options_of(100);
    nt_replay_run run;
    double curve[8];
    nt_replay(six, &options, 0, &run);
    nt_score_curve(six, &run, false, 8, curve);
    static const double want[] = {4, 4, 2, 2, 1, 1, 1, 1};
    for (int i = 0; i < 8; i++)
        assert_true(curve[i] == want[i]);
    run.evaluation[4].answered_ms = 100; /* the best row looks the worst of five: measured again, it still wins */
    nt_score_curve(six, &run, true, 8, curve);
    assert_true(curve[3] == 2 && curve[4] == 1 && curve[5] == 1);
    nt_replay_run_done(&run);
}

/* All orders of the six rows. */
static void test_random_search_is_exact(void **state)
{
    (void)state;
    double expected[ROWS], sum[ROWS] = {0};
    int order[ROWS] = {0}, orders = 0;
    nt_score_random(six, ROWS, expected);
    for (int code = 0; code < 46656; code++) {
        bool used[ROWS] = {false}, valid = true;
        for (int i = 0, rest = code; i < ROWS; i++, rest /= ROWS) {
            order[i] = rest % ROWS;
            valid = valid && !used[order[i]];
            used[order[i]] = true;
        }
        if (!valid)
            continue;
        double best = 16;
        orders++;
        for (int i = 0; i < ROWS; i++) {
            best = fmin(best, isnan(six->row[order[i]].time_ms) ? 16 : six->row[order[i]].time_ms);
            sum[i] += best;
        }
    }
    for (int i = 0; i < ROWS; i++)
        assert_true(fabs(sum[i] / orders - expected[i]) < 1e-12);
}

static void test_scores_of_a_known_order(void **state)
{
    (void)state;
    nt_replay_options options = options_of(100);
    nt_replay_run runs[2];
    nt_score_pair pair;
    nt_replay(six, &options, 0, &runs[0]);
    nt_replay(six, &options, 1, &runs[1]);
    nt_score_runs(six, runs, 2, false, &pair);
    assert_true(pair.value.mean[0] == 1 && pair.value.evaluations == 6);
    assert_true(pair.value.within_1_evaluations == 5 && pair.value.within_1_share == 1);
    assert_true(pair.error.mean[0] == 0 && pair.error.p_exact < 1e-7);
    double expected[ROWS], p = 0;
    static const double curve[] = {4, 4, 2, 2, 1, 1};
    nt_score_random(six, ROWS, expected);
    for (int i = 0; i < ROWS; i++)
        p += (expected[i] - curve[i]) / fmax(expected[i] - 1, 1e-12) / ROWS;
    assert_true(fabs(p - pair.value.p_exact) < 1e-9);
    nt_replay_run_done(&runs[0]);
    nt_replay_run_done(&runs[1]);
}

/* Figures of the scoring program that comes with the spaces, for the trace of `random`, 20 repeats, seed 1. */
static void test_agrees_with_the_fields_scores(void **state)
{
    (void)state;
    const char *folder = getenv("NNTUNE_SPACES");
    char path[1024];
    nt_recorded *recorded = NULL;
    nt_error err = {0};
    snprintf(path, sizeof path, "%s/convolution_milo-A100.csv.gz", folder == NULL ? "../shared/spaces" : folder);
    if (nt_recorded_open(path, &recorded, &err) != NT_OK) {
        print_message("skipped: %s (set NNTUNE_SPACES to the folder of recorded spaces)\n", err.what);
        skip();
    }
    nt_replay_options options = {.strategy = &nt_strategy_random, .seed = 1, .trials = 400, .in_flight = 1};
    nt_replay_run runs[20];
    nt_score_pair pair;
    for (uint64_t r = 0; r < 20; r++)
        nt_replay(recorded, &options, r, &runs[r]);
    nt_score_runs(recorded, runs, 20, false, &pair);
    static const double mean[] = {1.5787, 1.5129, 1.4136, 1.2935, 1.1853};
    static const double median[] = {1.6317, 1.5116, 1.4401, 1.2473, 1.129};
    for (int b = 0; b < NT_SCORE_BUDGETS; b++) {
        assert_true(fabs(pair.value.mean[b] - mean[b]) < 6e-5);
        assert_true(fabs(pair.value.median[b] - median[b]) < 6e-5);
    }
    assert_true(fabs(pair.value.p - 0.045135) < 6e-7);
    assert_true(isinf(pair.value.within_5_evaluations) && pair.value.within_5_share == 0);
    for (int r = 0; r < 20; r++)
        nt_replay_run_done(&runs[r]);
    nt_recorded_free(recorded);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_strategy_is_told_its_answers),
        cmocka_unit_test(test_trials_end_it),
        cmocka_unit_test(test_seconds_end_it),
        cmocka_unit_test(test_noise_draws_samples),
        cmocka_unit_test(test_curves),
        cmocka_unit_test(test_random_search_is_exact),
        cmocka_unit_test(test_scores_of_a_known_order),
        cmocka_unit_test(test_agrees_with_the_fields_scores),
    };
    return cmocka_run_group_tests(tests, open_six, close_six);
}
