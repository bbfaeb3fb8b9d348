/* test_db_writer.c: what the sink stores, journals, refuses, finds again. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "db_fixture.h"

typedef struct fixture {
    char path[256];
    nt_sink *sink;
    nt_run run;
    nt_error err;
} fixture;

static int setup(void **state)
{
    fixture *f = nt_alloc_zero(1, sizeof *f);
    fixture_path(f->path);
    fixture_run(&f->run, 1, "{\"a\":1}");
    if (nt_db_sink_open(f->path, &f->sink, &f->err) != NT_OK ||
        f->sink->begin_run(f->sink, &f->run, &f->err) != NT_OK) {
        fprintf(stderr, "%s\n", f->err.what);
        return -1;
    }
    *state = f;
    return 0;
}

static int teardown(void **state)
{
    fixture *f = *state;
    nt_sink_close(f->sink);
    nt_run_done(&f->run);
    fixture_remove(f->path);
    free(f);
    return 0;
}

#define assert_ok(call, f)                            \
    do {                                              \
        if ((call) != NT_OK)                          \
            fail_msg("%s: %s", #call, (f)->err.what); \
    } while (0)

static void reopen(fixture *f)
{
    nt_sink_close(f->sink);
    assert_ok(nt_db_sink_open(f->path, &f->sink, &f->err), f);
}

static void counts_are_kept(void **state)
{
    fixture *f = *state;
    int64_t first, second;
    assert_ok(fixture_put(f->sink, 1, 0, 200, &first, &f->err), f);
    assert_ok(fixture_put(f->sink, 1, 1, 100, &second, &f->err), f);
    assert_ok(fixture_put(f->sink, 1, 2, 300, NULL, &f->err), f);
    nt_trial pruned;
    nt_trial_init(&pruned);
    pruned.problem = fixture_problem(1);
    nt_copy(pruned.kernel, sizeof pruned.kernel, "direct");
    pruned.params_json = fixture_params(3);
    pruned.outcome = NT_OUTCOME_PRUNED;
    nt_copy(pruned.reason, sizeof pruned.reason, "smem: 240 KiB asked, 227 KiB there");
    assert_ok(f->sink->put(f->sink, &pruned, NULL, &f->err), f);
    nt_trial_done(&pruned);
    assert_true(fixture_number(f->path, "select trials from counts where outcome = 'ok'") == 3);
    assert_true(fixture_number(f->path, "select trials from counts where outcome = 'pruned'") == 1);
    assert_true(fixture_number(f->path, "select least_time_ns from counts where outcome = 'ok'") == 100);
    assert_true(fixture_number(f->path, "select trial from best") == (double)second);
    assert_true(fixture_number(f->path, "select count(*) from trials where outcome = 'pruned' and time_ns is null and "
                                        "converged is null and reason like 'smem%'") == 1);
}

static void a_trial_stands_once(void **state)
{
    fixture *f = *state;
    int64_t id = 0;
    assert_ok(fixture_put(f->sink, 1, 5, 200, NULL, &f->err), f);
    assert_int_equal(fixture_put(f->sink, 1, 5, 210, &id, &f->err), NT_FAILED);
    assert_int_equal(id, 0);
    assert_non_null(strstr(f->err.what, "already holds a cold trial of direct with {\"tile_m\":5"));
    assert_true(fixture_number(f->path, "select trials from counts") == 1);
    nt_trial hot;
    fixture_trial(&hot, 1, 5, 50);
    hot.cache = NT_HOT;
    assert_ok(f->sink->put(f->sink, &hot, NULL, &f->err), f);
    nt_trial_done(&hot);
    /* A hot time is always less; best stays with the cold one. */
    assert_true(fixture_number(f->path, "select time_ns from best") == 200);
}

static void ok_without_a_time_is_refused(void **state)
{
    fixture *f = *state;
    nt_trial trial;
    fixture_trial(&trial, 1, 1, NAN);
    assert_int_equal(f->sink->put(f->sink, &trial, NULL, &f->err), NT_FAILED);
    nt_trial_done(&trial);
    assert_true(fixture_number(f->path, "select count(*) from trials") == 0);
    assert_true(fixture_number(f->path, "select count(*) from configuration") == 0);
}

static void a_failed_put_holds_no_lock(void **state)
{
    fixture *f = *state;
    nt_db_options quick = {.busy_ms = 100};
    nt_sink *other;
    nt_run run;
    assert_ok(fixture_put(f->sink, 1, 5, 200, NULL, &f->err), f);
    assert_int_equal(fixture_put(f->sink, 1, 5, 210, NULL, &f->err), NT_FAILED);
    fixture_run(&run, 2, "{}");
    assert_ok(nt_db_sink_open_with(f->path, &quick, &other, &f->err), f);
    assert_ok(other->begin_run(other, &run, &f->err), f);
    nt_sink_close(other);
    nt_run_done(&run);
}

static bool copy_first(void *context, const nt_trial *trial)
{
    nt_trial *out = context;
    char *params = nt_strdup(trial->params_json);
    *out = *trial;
    out->params_json = params;
    return false;
}

static void a_trial_comes_back_whole(void **state)
{
    fixture *f = *state;
    nt_trial in, out;
    fixture_trial(&in, 8, 7, 1234.5);
    in.conditions.sm_clock_mhz = 1980;
    in.artefact.registers = 64;
    in.occupancy_limit_pct = 37.5;
    nt_copy(in.occupancy_limiter, sizeof in.occupancy_limiter, "registers");
    nt_copy(in.rule, sizeof in.rule, "16x16 threads");
    assert_ok(f->sink->put(f->sink, &in, NULL, &f->err), f);
    assert_int_equal(in.run_id, f->run.id);
    nt_trial_init(&out);
    assert_ok(f->sink->each_trial(f->sink, f->run.id, copy_first, &out, &f->err), f);
    assert_true(out.id == in.id && out.time_ns == 1234.5 && out.conditions.sm_clock_mhz == 1980);
    assert_true(nt_problem_equal(&out.problem, &in.problem));
    assert_string_equal(out.params_json, in.params_json);
    assert_string_equal(out.rule, "16x16 threads");
    assert_int_equal(out.artefact.registers, 64);
    assert_int_equal(out.smem_bytes, NT_UNKNOWN);
    assert_true(isnan(out.conditions.power_mw));
    assert_null(out.samples.sample_ns);
    nt_trial_done(&out);
    nt_trial_done(&in);
}

static void reuse_needs_an_equal_key(void **state)
{
    fixture *f = *state;
    nt_trial like, out;
    assert_ok(fixture_put(f->sink, 1, 9, 321, NULL, &f->err), f);
    nt_run later;
    fixture_run(&later, 1, "{}");
    assert_ok(f->sink->begin_run(f->sink, &later, &f->err), f);
    fixture_trial(&like, 1, 9, 1);
    assert_ok(f->sink->find_equal(f->sink, &like, &out, &f->err), f);
    assert_true(out.time_ns == 321 && out.samples.count == FIXTURE_SAMPLES && out.run_id == f->run.id);
    assert_true(out.samples.sample_ns[0] == 321 * (1 - 0.0025) && out.samples.launches_per_sample == 10);
    nt_trial_done(&out);
    like.source_hash[0] = 'f';
    assert_int_equal(f->sink->find_equal(f->sink, &like, &out, &f->err), NT_NOT_FOUND);
    like.source_hash[0] = '0';
    like.cache = NT_HOT;
    assert_int_equal(f->sink->find_equal(f->sink, &like, &out, &f->err), NT_NOT_FOUND);
    like.cache = NT_COLD;
    nt_copy(later.device.driver, sizeof later.device.driver, "2.0");
    later.id = 0;
    assert_ok(f->sink->begin_run(f->sink, &later, &f->err), f);
    assert_int_equal(f->sink->find_equal(f->sink, &like, &out, &f->err), NT_NOT_FOUND);
    nt_trial_done(&like);
    nt_run_done(&later);
}

static nt_journal entry(const nt_problem *problem, const char *params)
{
    nt_journal journal = {.params_json = params, .problem = problem};
    nt_copy(journal.kernel, sizeof journal.kernel, "direct");
    return journal;
}

static void the_journal_counts_deaths(void **state)
{
    fixture *f = *state;
    nt_problem problem = fixture_problem(4);
    char *params = fixture_params(11);
    nt_journal next = entry(&problem, params);
    nt_trial trial;
    int attempts = 0;
    assert_int_equal(f->sink->in_flight(f->sink, f->run.id, &trial, &attempts, &f->err), NT_NOT_FOUND);
    assert_ok(f->sink->put(f->sink, NULL, &next, &f->err), f);
    reopen(f); /* as after a kill */
    assert_ok(f->sink->begin_run(f->sink, &f->run, &f->err), f);
    assert_ok(f->sink->in_flight(f->sink, f->run.id, &trial, &attempts, &f->err), f);
    assert_int_equal(attempts, 1);
    assert_string_equal(trial.params_json, params);
    assert_string_equal(trial.kernel, "direct");
    assert_true(nt_problem_equal(&trial.problem, &problem));
    nt_trial_done(&trial);
    next.attempts = attempts;
    assert_ok(f->sink->put(f->sink, NULL, &next, &f->err), f);
    assert_ok(f->sink->in_flight(f->sink, f->run.id, &trial, &attempts, &f->err), f);
    assert_int_equal(attempts, 2);
    nt_trial_done(&trial);
    next.attempts = 0; /* who forgets to hand the number on loses no count */
    assert_ok(f->sink->put(f->sink, NULL, &next, &f->err), f);
    assert_ok(f->sink->in_flight(f->sink, f->run.id, &trial, &attempts, &f->err), f);
    assert_int_equal(attempts, 3);
    nt_trial_done(&trial);
    /* A trial that was not in flight leaves the entry; the one that was removes it. */
    assert_ok(fixture_put(f->sink, 4, 12, 100, NULL, &f->err), f);
    assert_ok(f->sink->in_flight(f->sink, f->run.id, &trial, &attempts, &f->err), f);
    nt_trial_done(&trial);
    assert_ok(fixture_put(f->sink, 4, 11, 100, NULL, &f->err), f);
    assert_int_equal(f->sink->in_flight(f->sink, f->run.id, &trial, &attempts, &f->err), NT_NOT_FOUND);
    free(params);
}

static void another_entry_starts_at_one(void **state)
{
    fixture *f = *state;
    nt_problem problem = fixture_problem(4);
    char *a = fixture_params(1), *b = fixture_params(2);
    nt_journal first = entry(&problem, a), second = entry(&problem, b);
    nt_trial trial;
    int attempts = 0;
    assert_ok(f->sink->put(f->sink, NULL, &first, &f->err), f);
    assert_ok(f->sink->put(f->sink, NULL, &first, &f->err), f);
    assert_ok(f->sink->put(f->sink, NULL, &second, &f->err), f);
    assert_ok(f->sink->in_flight(f->sink, f->run.id, &trial, &attempts, &f->err), f);
    assert_int_equal(attempts, 1);
    assert_string_equal(trial.params_json, b);
    nt_trial_done(&trial);
    free(a);
    free(b);
}

static void end(fixture *f, nt_run *run, const char *how)
{
    nt_copy(run->state, sizeof run->state, how);
    run->total_s = 12.5;
    assert_ok(f->sink->end_run(f->sink, run, &f->err), f);
}

static void only_an_unfinished_run_of_equal_options_resumes(void **state)
{
    fixture *f = *state;
    nt_run like, found;
    fixture_run(&like, 1, "{\"a\":1}");
    assert_ok(f->sink->find_resumable(f->sink, &like, &found, &f->err), f);
    assert_int_equal(found.id, f->run.id);
    assert_string_equal(found.options_json, "{\"a\":1}");
    assert_true(found.seed == UINT64_MAX);
    nt_run_done(&found);
    end(f, &f->run, "interrupted");
    assert_ok(f->sink->find_resumable(f->sink, &like, &found, &f->err), f);
    assert_true(found.total_s == 12.5 && !isnan(found.ended_unix_s));
    nt_run_done(&found);
    nt_copy(like.device.uuid, sizeof like.device.uuid, "FAKE-9");
    assert_int_equal(f->sink->find_resumable(f->sink, &like, &found, &f->err), NT_NOT_FOUND);
    nt_copy(like.device.uuid, sizeof like.device.uuid, "FAKE-1");
    like.options_json[5] = '2';
    assert_int_equal(f->sink->find_resumable(f->sink, &like, &found, &f->err), NT_NOT_FOUND);
    like.options_json[5] = '1';
    end(f, &f->run, "done");
    assert_int_equal(f->sink->find_resumable(f->sink, &like, &found, &f->err), NT_NOT_FOUND);
    nt_run_done(&like);
}

static void an_unknown_run_cannot_be_reopened(void **state)
{
    fixture *f = *state;
    nt_run run;
    fixture_run(&run, 1, "{}");
    run.id = 77;
    assert_int_equal(f->sink->begin_run(f->sink, &run, &f->err), NT_NOT_FOUND);
    assert_non_null(strstr(f->err.what, "no run 77"));
    /* The run begun before goes on. */
    assert_ok(fixture_put(f->sink, 1, 1, 10, NULL, &f->err), f);
    nt_run_done(&run);
}

static nt_final finalist(int64_t id, int rank, double time_ns)
{
    nt_final final = {.trial_id = id,
                      .rank = rank,
                      .ratio = 1,
                      .time_ns = time_ns,
                      .time_lo_ns = time_ns - 1,
                      .time_hi_ns = time_ns + 1};
    final.samples.count = 8;
    final.samples.launches_per_sample = 3;
    final.samples.sample_ns = nt_alloc_zero(8, sizeof(double));
    for (int i = 0; i < 8; i++)
        final.samples.sample_ns[i] = time_ns;
    return final;
}

static void put_two_finals(fixture *f, int64_t winner, double winner_ns, int64_t loser, double loser_ns)
{
    nt_problem problem = fixture_problem(1);
    nt_final finals[] = {finalist(winner, 1, winner_ns), finalist(loser, 2, loser_ns)};
    assert_ok(f->sink->put_finals(f->sink, &problem, finals, 2, &f->err), f);
    nt_samples_done(&finals[0].samples);
    nt_samples_done(&finals[1].samples);
}

static void finals_decide_and_are_shown(void **state)
{
    fixture *f = *state;
    int64_t a, b;
    assert_ok(fixture_put(f->sink, 1, 0, 100, &a, &f->err), f);
    assert_ok(fixture_put(f->sink, 1, 1, 101, &b, &f->err), f);
    assert_true(fixture_number(f->path, "select trial from best") == (double)a);
    put_two_finals(f, b, 99, a, 103);
    assert_true(fixture_number(f->path, "select trial from best") == (double)b);
    assert_true(fixture_number(f->path, "select time_ns from best") == 99);
    assert_true(fixture_number(f->path, "select first_time_ns from best") == 101);
    assert_true(fixture_number(f->path, "select time_hi_ns from best") == 100);
    assert_true(fixture_number(f->path, "select samples from best") == 8);
    /* Measured again, as after a resume: the new rounds replace the old. */
    put_two_finals(f, a, 97, b, 98);
    assert_true(fixture_number(f->path, "select trial from best") == (double)a);
    assert_true(fixture_number(f->path, "select count(*) from sample where phase = 'final'") == 2);
    nt_problem other = fixture_problem(2);
    nt_final stranger = finalist(a, 1, 5);
    assert_int_equal(f->sink->put_finals(f->sink, &other, &stranger, 1, &f->err), NT_FAILED);
    nt_samples_done(&stranger.samples);
}

static void the_newest_done_run_wins(void **state)
{
    fixture *f = *state;
    int64_t old_a, old_b, new_a, new_b;
    assert_ok(fixture_put(f->sink, 1, 0, 50, &old_a, &f->err), f);
    assert_ok(fixture_put(f->sink, 1, 1, 60, &old_b, &f->err), f);
    put_two_finals(f, old_a, 50, old_b, 60);
    end(f, &f->run, "done");
    nt_run later;
    fixture_run(&later, 1, "{}");
    assert_ok(f->sink->begin_run(f->sink, &later, &f->err), f);
    assert_ok(fixture_put(f->sink, 1, 0, 70, &new_a, &f->err), f);
    assert_ok(fixture_put(f->sink, 1, 1, 65, &new_b, &f->err), f);
    put_two_finals(f, new_b, 66, new_a, 71);
    assert_true(fixture_number(f->path, "select trial from best") == (double)old_a);
    end(f, &later, "done");
    assert_true(fixture_number(f->path, "select trial from best") == (double)new_b);
    assert_true(fixture_number(f->path, "select count(*) from best") == 1);
    nt_run_done(&later);
}

static void a_batch_keeps_what_did_not_fail(void **state)
{
    fixture *f = *state;
    assert_ok(nt_db_sink_batch(f->sink, 100, &f->err), f);
    for (int i = 0; i < 150; i++)
        assert_ok(fixture_put(f->sink, 1, i, 100 + i, NULL, &f->err), f);
    assert_true(fixture_number(f->path, "select count(*) from trials") == 100);
    assert_int_equal(fixture_put(f->sink, 1, 120, 1, NULL, &f->err), NT_FAILED);
    assert_ok(nt_db_sink_batch(f->sink, 0, &f->err), f);
    assert_true(fixture_number(f->path, "select count(*) from trials") == 150);
    assert_true(fixture_number(f->path, "select time_ns from best") == 100);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
#define T(f) cmocka_unit_test_setup_teardown(f, setup, teardown)
        T(counts_are_kept),
        T(a_trial_stands_once),
        T(ok_without_a_time_is_refused),
        T(a_failed_put_holds_no_lock),
        T(a_trial_comes_back_whole),
        T(reuse_needs_an_equal_key),
        T(the_journal_counts_deaths),
        T(another_entry_starts_at_one),
        T(only_an_unfinished_run_of_equal_options_resumes),
        T(an_unknown_run_cannot_be_reopened),
        T(finals_decide_and_are_shown),
        T(the_newest_done_run_wins),
        T(a_batch_keeps_what_did_not_fail),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
