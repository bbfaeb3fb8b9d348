/* test_db_kill.c: writers killed at random moments. Whatever the moment: the file is whole, every acknowledged trial is
 * there, counts agree with rows, at most one trial is in flight, and the run goes on. Seed in NT_TEST_SEED. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <signal.h>
#include <sys/wait.h>
#include <time.h>

#include "core/random.h"
#include "db_fixture.h"

enum { KILLS = 20, TRIALS = 100000 };

typedef struct progress {
    bool done[TRIALS];
    int count;
} progress;

static bool note_done(void *context, const nt_trial *trial)
{
    progress *p = context;
    int m, n, s;
    if (sscanf(trial->params_json, "{\"tile_m\":%d,\"tile_n\":%d,\"stages\":%d}", &m, &n, &s) == 3)
        p->done[m + 64 * n + 4096 * s] = true;
    p->count++;
    return true;
}

/* Resumes the run of this device or begins one, then stores trials until killed; writes a byte for each. */
static void sweep(const char *path, int device, int ack)
{
    nt_error err = {0};
    nt_sink *sink;
    nt_run like, run;
    nt_trial flying;
    int attempts;
    progress *p = nt_alloc_zero(1, sizeof *p);
    fixture_run(&like, device, "{\"a\":1}");
    if (nt_db_sink_open(path, &sink, &err) != NT_OK)
        goto failed;
    if (sink->find_resumable(sink, &like, &run, &err) == NT_NOT_FOUND)
        fixture_run(&run, device, "{\"a\":1}");
    if (sink->begin_run(sink, &run, &err) != NT_OK || sink->each_trial(sink, run.id, note_done, p, &err) != NT_OK)
        goto failed;
    if (sink->in_flight(sink, run.id, &flying, &attempts, &err) == NT_OK && attempts < 1)
        goto failed;
    nt_problem problem = fixture_problem(1);
    for (int i = 0; i < TRIALS - 1; i++) {
        if (p->done[i])
            continue;
        nt_trial trial;
        char *next_params = fixture_params(i + 1);
        nt_journal next = {.kernel = "direct", .params_json = next_params, .problem = &problem};
        fixture_trial(&trial, 1, i, 100 + i);
        if (sink->put(sink, &trial, &next, &err) != NT_OK || write(ack, "x", 1) != 1)
            goto failed;
        nt_trial_done(&trial);
        free(next_params);
    }
failed:
    fprintf(stderr, "writer: %s\n", err.what);
    _exit(1);
}

static pid_t start_sweep(const char *path, int device, int *acks)
{
    int ends[2];
    assert_int_equal(pipe(ends), 0);
    pid_t child = fork();
    if (child == 0) {
        close(ends[0]);
        sweep(path, device, ends[1]);
    }
    close(ends[1]);
    *acks = ends[0];
    return child;
}

static void kill_sweep(pid_t child)
{
    int status;
    kill(child, SIGKILL);
    assert_int_equal(waitpid(child, &status, 0), child);
    if (!WIFSIGNALED(status) || WTERMSIG(status) != SIGKILL)
        fail_msg("a writer ended by itself with status %d", status);
}

static int count_acks(int acks)
{
    char bytes[4096];
    ssize_t got;
    int total = 0;
    while ((got = read(acks, bytes, sizeof bytes)) > 0)
        total += (int)got;
    close(acks);
    return total;
}

/* Each of these counts what must not be. */
static const char *const invariants[] = {
    "select count(*) from pragma_integrity_check where integrity_check <> 'ok'",
    "select count(*) from pragma_foreign_key_check",
    "select count(*) from (select 1 from trial group by run_id, problem_id, kernel_id, configuration_id, cache having "
    "count(*) > 1)",
    "select count(*) from trial t where not exists (select 1 from sample s where s.trial_id = t.id and length(s.ns) = "
    "8 * "
    "t.samples)",
    "select count(*) from (select run_id, problem_id, cache, outcome, count(*) n, min(time_ns) least from trial group "
    "by "
    "1, 2, 3, 4) a full join rollup b using (run_id, problem_id, cache, outcome) where n is not trials or least is not "
    "least_time_ns",
    "select count(*) from rollup r join trial t on t.id = r.least_trial_id where t.time_ns <> r.least_time_ns",
    "select count(*) from (select 1 from journal group by run_id having count(*) > 1)",
    /* What is in flight was not stored before. */
    "select count(*) from journal j join trial t using (run_id, problem_id, configuration_id)",
};

static void assert_whole(const char *path)
{
    for (size_t i = 0; i < sizeof invariants / sizeof invariants[0]; i++)
        if (fixture_number(path, invariants[i]) != 0)
            fail_msg("broken: %s", invariants[i]);
}

static uint64_t seed_of_test(void)
{
    const char *given = getenv("NT_TEST_SEED");
    uint64_t seed = given != NULL ? strtoull(given, NULL, 10) : (uint64_t)time(NULL) * 1000003u + (uint64_t)getpid();
    print_message("NT_TEST_SEED=%llu\n", (unsigned long long)seed);
    return seed;
}

static void sleep_up_to_ms(nt_random *random, uint64_t ms)
{
    usleep((useconds_t)nt_random_below(random, ms * 1000));
}

static void a_killed_writer_loses_nothing_it_acknowledged(void **state)
{
    (void)state;
    char path[256];
    int acknowledged = 0;
    nt_random random = nt_random_seed(seed_of_test(), 1);
    fixture_path(path);
    for (int i = 0; i < KILLS; i++) {
        int acks;
        pid_t child = start_sweep(path, 1, &acks);
        sleep_up_to_ms(&random, 60);
        kill_sweep(child);
        acknowledged += count_acks(acks);
        if (access(path, F_OK) != 0)
            continue;
        nt_error err = {0};
        nt_reader *reader;
        nt_status status = nt_db_reader_open(path, &reader, &err);
        if (status == NT_NOT_FOUND && acknowledged == 0)
            continue; /* killed before its tables were made */
        assert_int_equal(status, NT_OK);
        reader->close(reader);
        assert_whole(path);
        double stored = fixture_number(path, "select count(*) from trials");
        assert_true(stored >= acknowledged && stored <= acknowledged + i + 1);
    }
    assert_true(acknowledged > 0);
    assert_true(fixture_number(path, "select count(*) from runs") == 1);
    fixture_remove(path);
}

static void one_of_two_writers_is_killed(void **state)
{
    (void)state;
    char path[256];
    nt_random random = nt_random_seed(seed_of_test(), 2);
    int acks[2], total;
    fixture_path(path);
    pid_t steady = start_sweep(path, 1, &acks[0]);
    for (int i = 0; i < KILLS / 4; i++) {
        pid_t victim = start_sweep(path, 2, &acks[1]);
        sleep_up_to_ms(&random, 80);
        kill_sweep(victim);
        count_acks(acks[1]);
    }
    kill_sweep(steady);
    total = count_acks(acks[0]);
    assert_whole(path);
    assert_true(total > 10);
    double stored = fixture_number(path, "select trials from runs where device = 'Fake 1'");
    assert_true(stored >= total && stored <= total + 1);
    fixture_remove(path);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_killed_writer_loses_nothing_it_acknowledged),
        cmocka_unit_test(one_of_two_writers_is_killed),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
