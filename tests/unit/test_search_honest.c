/* test_search_honest.c: strategies win by searching: nothing is gained where there is nothing to learn, nothing depends
 * on what parameters are called, and nothing they include could tell them a time. */
#include <dirent.h>
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
#include "core/random.h"

/* ---- a made-up space, as a recording of it would be ----------------------------------------------------------- */

enum { BLOCKS = 12, TILES = 8, UNROLLS = 6, MODES = 4, ROWS = BLOCKS * TILES * UNROLLS * MODES };
static const char *const plain_modes[MODES] = {"a", "b", "c", "d"}, *const shuffled_modes[MODES] = {"c", "a", "d", "b"};
static const double mode_loss[MODES] = {0.3, 0, 0.5, 0.1};

static double time_ms(int block, int tile, int unroll, int mode)
{
    double x = block / 11.0 - 0.7, y = tile / 7.0 - 0.4 + 0.3 * x, z = unroll / 5.0 - 0.6;
    return exp(3 * x * x + 2 * y * y + z * z + mode_loss[mode] + 0.2 * (unroll == 3 && mode == 0));
}

/* Rows with the parameters called as `names` say, the modes listed in another order, the times as they are or permuted.
 */
static nt_recorded *record(const char *const names[4], const char *const modes[MODES], uint64_t permutation)
{
    char path[] = "/tmp/nntune_honest_XXXXXX";
    double *times = nt_alloc(ROWS * sizeof *times);
    size_t count = 0;
    for (int row = 0; row < ROWS; row++) {
        int mode_listed = row % MODES, mode = modes[mode_listed][0] - 'a';
        times[row] = time_ms(row / MODES / UNROLLS / TILES, row / MODES / UNROLLS % TILES, row / MODES % UNROLLS, mode);
    }
    nt_random random = nt_random_seed(permutation, 0);
    for (size_t i = ROWS - 1; permutation != 0 && i > 0; i--) {
        size_t j = (size_t)nt_random_below(&random, i + 1);
        double t = times[i];
        times[i] = times[j];
        times[j] = t;
    }
    FILE *file = fdopen(mkstemp(path), "w");
    fprintf(file, "# space=made_up\n# param %s=1,2,3,4,5,6,7,8,9,10,11,12\n# param %s=1,2,3,4,5,6,7,8\n", names[0],
            names[1]);
    fprintf(file, "# param %s=0,1,2,3,4,5\n# param %s=%s,%s,%s,%s\n", names[2], names[3], modes[0], modes[1], modes[2],
            modes[3]);
    fprintf(file, "%s,%s,%s,%s,status,time_ms,compile_ms,bench_ms,samples_ms\n", names[0], names[1], names[2],
            names[3]);
    for (int row = 0; row < ROWS; row++)
        fprintf(file, "%d,%d,%d,%s,ok,%.17g,,,\n", row / MODES / UNROLLS / TILES + 1, row / MODES / UNROLLS % TILES + 1,
                row / MODES % UNROLLS, modes[row % MODES], times[count++]);
    fclose(file);
    free(times);
    nt_recorded *recorded = NULL;
    nt_error err = {0};
    if (nt_recorded_open(path, &recorded, &err) != NT_OK)
        fail_msg("%s", err.what);
    unlink(path);
    return recorded;
}

static nt_score_pair score(const nt_strategy *strategy, const nt_recorded *recorded, size_t repeats, size_t trials)
{
    nt_replay_options options = {.strategy = strategy, .seed = 7, .trials = trials, .in_flight = 1};
    nt_replay_run *runs = nt_alloc_zero(repeats, sizeof *runs);
    nt_score_pair pair;
    for (size_t r = 0; r < repeats; r++)
        nt_replay(recorded, &options, r, &runs[r]);
    nt_score_runs(recorded, runs, repeats, false, &pair);
    for (size_t r = 0; r < repeats; r++)
        nt_replay_run_done(&runs[r]);
    free(runs);
    return pair;
}

static const char *const plain_names[] = {"block", "tile", "unroll", "mode"};

/* Each permutation is a space of its own, so that one lucky place does not count for all; the seeds are fixed. One
 * search of one permutation scores with a standard deviation near 0.4, so 60 of them are needed for 0.15 to mean
 * something. */
static void test_nothing_to_learn(void **state)
{
    (void)state;
    enum { PERMUTATIONS = 60 };
    nt_recorded *recorded[PERMUTATIONS];
    for (uint64_t p = 0; p < PERMUTATIONS; p++)
        recorded[p] = record(plain_names, plain_modes, p + 1);
    for (int s = 0; s < nt_strategy_count; s++) {
        bool thinks = nt_strategies[s]->ask == nt_strategy_auto.ask;
        double sum = 0;
        if (nt_strategies[s] == &nt_strategy_exhaustive)
            continue;
        for (int p = 0; p < PERMUTATIONS; p++)
            sum += score(nt_strategies[s], recorded[p], thinks ? 1 : 6, 400).value.p_exact;
        if (fabs(sum / PERMUTATIONS) > 0.15)
            fail_msg("%s: P exact %.3f on permuted times", nt_strategies[s]->name, sum / PERMUTATIONS);
    }
    for (int p = 0; p < PERMUTATIONS; p++)
        nt_recorded_free(recorded[p]);
}

/* On the same space with the times in place every strategy that learns does far better than chance. */
static void test_something_to_learn(void **state)
{
    (void)state;
    nt_recorded *recorded = record(plain_names, plain_modes, 0);
    for (int s = 0; s < nt_strategy_count; s++) {
        if (nt_strategies[s] == &nt_strategy_exhaustive || nt_strategies[s] == &nt_strategy_random)
            continue;
        double p = score(nt_strategies[s], recorded, 5, 200).value.p_exact;
        if (p < 0.3)
            fail_msg("%s: P exact %.3f", nt_strategies[s]->name, p);
    }
    nt_recorded_free(recorded);
}

static void test_names_and_order_of_words_play_no_part(void **state)
{
    (void)state;
    static const char *const other_names[] = {"q", "block", "mode", "x9"};
    enum { REPEATS = 200, TRIALS = 60 };
    nt_recorded *plain = record(plain_names, plain_modes, 0), *renamed = record(other_names, shuffled_modes, 0);
    nt_score_pair a = score(&nt_strategy_auto, plain, REPEATS, TRIALS),
                  b = score(&nt_strategy_auto, renamed, REPEATS, TRIALS);
    for (int budget = 0; budget < 2; budget++) {
        double error = hypot(a.error.mean[budget], b.error.mean[budget]);
        assert_true(fabs(a.value.mean[budget] - b.value.mean[budget]) <= 2 * error + 1e-9);
    }
    nt_recorded_free(plain);
    nt_recorded_free(renamed);
}

/* ---- what a strategy can reach ---------------------------------------------------------------------------------- */

static void read_text(const char *path, nt_str *out)
{
    char block[4096];
    size_t got;
    FILE *file = fopen(path, "r");
    if (file == NULL)
        return;
    while ((got = fread(block, 1, sizeof block, file)) > 0)
        nt_str_add_n(out, block, got);
    fclose(file);
}

static bool is_of_the_search(const char *name)
{
    static const char *const begins[] = {"strateg", "gp_", "moves.", "asked.", "candidates.", "features."};
    for (size_t i = 0; i < sizeof begins / sizeof begins[0]; i++)
        if (strncmp(name, begins[i], strlen(begins[i])) == 0)
            return true;
    return false;
}

/* Of every file that a strategy is made of: includes only its like, the space and plain helpers; and names nothing that
 * reads a file, a clock or the environment. */
static void test_times_are_out_of_reach(void **state)
{
    (void)state;
    static const char *const may_include[] = {"strategy.h", "space.h",      "expr.h",     "moves.h",
                                              "asked.h",    "candidates.h", "features.h", "gp_"};
    static const char *const never[] = {"fopen",  "open(",    "getenv", "clock_gettime", "core/clock.h", "gettimeofday",
                                        "gzopen", "recorded", "replay", "popen",         "mmap",         "time(NULL"};
    DIR *folder = opendir("autotune");
    if (folder == NULL) {
        print_message("skipped: run from the root of the sources\n");
        skip();
    }
    int files = 0;
    for (struct dirent *entry; (entry = readdir(folder)) != NULL;) {
        char path[300];
        nt_str text = {0};
        if (!is_of_the_search(entry->d_name))
            continue;
        files++;
        snprintf(path, sizeof path, "autotune/%s", entry->d_name);
        read_text(path, &text);
        for (size_t i = 0; i < sizeof never / sizeof never[0]; i++)
            if (strstr(nt_str_text(&text), never[i]) != NULL)
                fail_msg("%s mentions %s", path, never[i]);
        for (const char *at = nt_str_text(&text); (at = strstr(at, "#include \"autotune/")) != NULL;) {
            bool allowed = false;
            at += strlen("#include \"autotune/");
            for (size_t i = 0; i < sizeof may_include / sizeof may_include[0]; i++)
                allowed = allowed || strncmp(at, may_include[i], strlen(may_include[i])) == 0;
            if (!allowed)
                fail_msg("%s includes %.30s", path, at);
        }
        nt_str_done(&text);
    }
    closedir(folder);
    assert_true(files > 20);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_nothing_to_learn),
        cmocka_unit_test(test_something_to_learn),
        cmocka_unit_test(test_names_and_order_of_words_play_no_part),
        cmocka_unit_test(test_times_are_out_of_reach),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
