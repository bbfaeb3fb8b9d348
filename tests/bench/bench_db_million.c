/* bench_db_million.c: a database of 1,000,000 trials, made by the real writer, and the bars that hold for it: the best
 * of every problem within 0.3 s from opening to closing, a put within 150 us, little memory on either side.
 *
 * bench_db_million [TRIALS [FILE]]: FILE is made when missing, used as it is when there, and kept. */
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include "core/clock.h"
#include "core/random.h"
#include "core/stats.h"
#include "tests/unit/db_fixture.h"

static const double BEST_BAR_S = 0.3, PUT_BAR_US = 150, MEMORY_BAR_MIB = 200;
enum { PROBLEMS = 48, RUNS = 25, SINGLE_PUTS = 20000 };

static double peak_mib(void)
{
    struct rusage usage;
    getrusage(RUSAGE_SELF, &usage);
    return (double)usage.ru_maxrss / 1024;
}

static void must(nt_status status, const nt_error *err)
{
    if (status == NT_OK)
        return;
    fprintf(stderr, "%s\n", err->what);
    exit(1);
}

/* Every eighth trial failed, as in a real sweep. */
static nt_status put_one(nt_sink *sink, nt_random *random, int64_t problem, int params, nt_error *err)
{
    nt_trial trial;
    fixture_trial(&trial, problem + 1, params, 1e4 * (1 + 10 * nt_random_unit(random)));
    trial.artefact.registers = 64;
    trial.smem_bytes = 49152;
    nt_copy(trial.artefact.key, sizeof trial.artefact.key, "0123456789abcdef0123456789abcdef");
    if (params % 8 == 7) {
        trial.outcome = NT_OUTCOME_PRUNED;
        trial.time_ns = trial.time_lo_ns = trial.time_hi_ns = (double)NAN;
        trial.samples.count = 0;
        nt_copy(trial.reason, sizeof trial.reason, "shared memory: 262144 bytes asked, 232448 there");
    }
    nt_status status = sink->put(sink, &trial, NULL, err);
    trial.samples.count = FIXTURE_SAMPLES;
    nt_trial_done(&trial);
    return status;
}

static void fill(const char *path, int trials)
{
    nt_error err = {0};
    nt_sink *sink;
    nt_random random = nt_random_seed(1, 1);
    double start_s = nt_now_s();
    int per_problem = trials / (RUNS * PROBLEMS) + 1, stored = 0;
    must(nt_db_sink_open(path, &sink, &err), &err);
    must(nt_db_sink_batch(sink, 10000, &err), &err);
    for (int r = 0; r < RUNS; r++) {
        nt_run run;
        fixture_run(&run, r % 4, "{}");
        must(sink->begin_run(sink, &run, &err), &err);
        for (int p = 0; p < PROBLEMS; p++)
            for (int i = 0; i < per_problem && stored < trials; i++, stored++)
                must(put_one(sink, &random, p, i, &err), &err);
        nt_copy(run.state, sizeof run.state, "done");
        must(sink->end_run(sink, &run, &err), &err);
        nt_run_done(&run);
    }
    nt_sink_close(sink);
    printf("made %d trials in %.1f s\n", stored, nt_now_s() - start_s);
}

/* One commit a result, on top of what is there. The median is judged: on a busy machine the mean is about the others.
 */
static bool time_puts(const char *path)
{
    nt_error err = {0};
    nt_sink *sink;
    nt_run run;
    nt_random random = nt_random_seed(2, 1);
    double *took_us = nt_alloc_zero(SINGLE_PUTS, sizeof *took_us), sum_us = 0;
    must(nt_db_sink_open(path, &sink, &err), &err);
    fixture_run(&run, 0, "{\"single\":1}");
    must(sink->begin_run(sink, &run, &err), &err);
    for (int i = 0; i < SINGLE_PUTS; i++) {
        double start_s = nt_now_s();
        must(put_one(sink, &random, i % PROBLEMS, i / PROBLEMS, &err), &err);
        took_us[i] = (nt_now_s() - start_s) * 1e6;
        sum_us += took_us[i];
    }
    double median_us = nt_median(took_us, SINGLE_PUTS);
    nt_sink_close(sink);
    nt_run_done(&run);
    bool good = median_us <= PUT_BAR_US;
    printf("put, one commit each      %8.1f us   bar %.0f us   %s   (mean %.1f us, slowest %.1f ms)\n", median_us,
           PUT_BAR_US, good ? "ok" : "SHORT", sum_us / SINGLE_PUTS, nt_quantile(took_us, SINGLE_PUTS, 1) / 1e3);
    free(took_us);
    return good;
}

static bool count_row(void *context, const nt_row *row)
{
    (void)row;
    (*(int *)context)++;
    return true;
}

static bool time_best(const char *path)
{
    nt_error err = {0};
    nt_reader *reader;
    int rows = 0;
    double start_s = nt_now_s();
    must(nt_db_reader_open(path, &reader, &err), &err);
    must(reader->best(reader, NULL, NULL, count_row, &rows, &err), &err);
    reader->close(reader);
    double took_s = nt_now_s() - start_s;
    bool good = took_s < BEST_BAR_S && rows == 4 * PROBLEMS;
    printf("best, %d rows            %8.4f s    bar %.1f s    %s\n", rows, took_s, BEST_BAR_S, good ? "ok" : "SHORT");
    return good;
}

/* The same answer from all rows instead of the kept sums. */
static bool best_is_exact(const char *path)
{
    double wrong =
        fixture_number(path, "select count(*) from best b where first_time_ns > (select min(t.time_ns) from trial t "
                             "join run r on r.id = t.run_id join problem p on p.id = t.problem_id join device d "
                             "on d.id = r.device_id where d.uuid = b.device_uuid and p.batch = b.batch)");
    printf("best against all rows     %8.0f wrong                %s\n", wrong, wrong == 0 ? "ok" : "SHORT");
    return wrong == 0;
}

static bool in_child(bool (*body)(const char *path), const char *path)
{
    int status = 1;
    fflush(stdout);
    pid_t child = fork();
    if (child == 0) {
        bool good = body(path);
        double mib = peak_mib();
        bool small = mib <= MEMORY_BAR_MIB;
        printf("  peak memory of it       %8.1f MiB  bar %.0f MiB  %s\n", mib, MEMORY_BAR_MIB, small ? "ok" : "SHORT");
        fflush(stdout);
        _exit(!(good && small));
    }
    waitpid(child, &status, 0);
    return status == 0;
}

int main(int argc, char **argv)
{
    char path[256] = "";
    struct stat st;
    int trials = argc > 1 ? atoi(argv[1]) : 1000000;
    if (argc > 2)
        nt_copy(path, sizeof path, argv[2]);
    else
        fixture_path(path);
    if (stat(path, &st) != 0)
        fill(path, trials);
    if (stat(path, &st) == 0)
        printf("%.0f MiB on disk\n", (double)st.st_size / 1048576);
    bool good = in_child(time_best, path);
    good &= best_is_exact(path);
    good &= in_child(time_puts, path);
    if (argc <= 2)
        fixture_remove(path);
    return good ? 0 : 1;
}
