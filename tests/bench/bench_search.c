/* bench_search.c: the judge of the search strategies: replays them on the recorded spaces and prints each figure with
 * its standard error, its bar and the verdict; ends with 1 when one is short.
 *
 * bench_search [SECTION].. [--repeats N] [--only STRATEGY]: sections auto classic cost wide flight seconds noise warm
 * renamed honest; none means all. The spaces are in $NNTUNE_SPACES or ../shared/spaces, with Kernel Tuner's figures in
 * baseline.csv. One long file: each section is short, and all share the spaces, the runs and the verdicts. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>

#include "autotune/replay_earlier.h"
#include "autotune/replay_score.h"
#include "core/mem.h"
#include "core/random.h"
#include "core/stats.h"
#include "core/str.h"

enum { SPACES = 11, TRIALS = 400 };
static const char *const space_names[SPACES] = {
    "convolution_milo-A100",  "convolution_milo-A6000",   "convolution_milo-W6600",  "convolution_milo_small-MI50",
    "dedispersion_milo-A100", "dedispersion_milo-MI250X", "dedispersion_milo-W6600", "gemm-RTX_2080_Ti",
    "gemm-RTX_3090",          "pnpoly-RTX_2080_Ti",       "pnpoly-RTX_3090",
};

static const char *folder;
static size_t repeats = 50;
static nt_recorded *space[SPACES];
static int shorts; /* bars missed */

/* ---- verdicts --------------------------------------------------------------------------------------------------- */

static void judge(const char *what, double value, double error, double bar, bool at_most)
{
    bool good = at_most ? value <= bar : value >= bar;
    shorts += !good;
    printf("  %-46s %9.4f", what, value);
    if (isnan(error))
        printf("         ");
    else
        printf(" ±%.4f ", error);
    printf("  bar %s %8.4f  %s\n", at_most ? "<=" : ">=", bar, good ? "ok" : "SHORT");
    fflush(stdout);
}

/* ---- runs ------------------------------------------------------------------------------------------------------- */

static nt_score_pair run_one(const nt_strategy *strategy, const nt_recorded *recorded, const nt_replay_options *like)
{
    nt_replay_options options = *like;
    nt_replay_run *runs = nt_alloc_zero(repeats, sizeof *runs);
    nt_score_pair pair;
    options.strategy = strategy;
    for (size_t r = 0; r < repeats; r++)
        nt_replay(recorded, &options, r, &runs[r]);
    nt_score_runs(recorded, runs, repeats, options.noise, &pair);
    for (size_t r = 0; r < repeats; r++)
        nt_replay_run_done(&runs[r]);
    free(runs);
    return pair;
}

static void run_all(const nt_strategy *strategy, const nt_replay_options *like, nt_score_pair out[SPACES])
{
    for (int i = 0; i < SPACES; i++)
        out[i] = run_one(strategy, space[i], like);
}

static const nt_replay_options plain = {.seed = 1, .trials = TRIALS, .in_flight = 1};

static const nt_strategy *strategy_named(const char *name)
{
    const nt_strategy *strategy = NULL;
    nt_error err = {0};
    if (nt_strategy_find(name, &strategy, &err) == NT_OK)
        return strategy;
    fprintf(stderr, "%s\n", err.what);
    exit(2);
}

/* Over the spaces: the geometric mean of best/optimum at a budget, and its standard error. */
static double at_budget(const nt_score_pair *pair, int budget, double *error)
{
    double sum = 0, squares = 0;
    for (int i = 0; i < SPACES; i++) {
        double relative = pair[i].error.mean[budget] / pair[i].value.mean[budget];
        sum += log(pair[i].value.mean[budget]);
        squares += relative * relative;
    }
    *error = exp(sum / SPACES) * sqrt(squares) / SPACES;
    return exp(sum / SPACES);
}

/* The mean over the spaces of the double at `offset` of a score. */
static double mean_of(const nt_score_pair *pair, size_t offset, double *error)
{
    double sum = 0, squares = 0;
    for (int i = 0; i < SPACES; i++) {
        double e = *(const double *)(const void *)((const char *)&pair[i].error + offset);
        sum += *(const double *)(const void *)((const char *)&pair[i].value + offset);
        squares += e * e;
    }
    *error = sqrt(squares) / SPACES;
    return sum / SPACES;
}

/* ---- auto ------------------------------------------------------------------------------------------------------- */

static void section_auto(const nt_strategy *strategy)
{
    static const double bars[NT_SCORE_BUDGETS] = {1.15, 1.075, 1.04, 1.018, 1.004};
    nt_score_pair pair[SPACES];
    double error, least = INFINITY, to_five[SPACES];
    run_all(strategy, &plain, pair);
    for (int i = 0; i < SPACES; i++) {
        printf("  %-28s P exact %.3f ±%.3f, best/optimum", space_names[i], pair[i].value.p_exact,
               pair[i].error.p_exact);
        for (int b = 0; b < NT_SCORE_BUDGETS; b++)
            printf(" %.4f", pair[i].value.mean[b]);
        printf(", %.2f ms\n", pair[i].value.think_ms);
        least = fmin(least, pair[i].value.p_exact);
        to_five[i] = pair[i].value.within_5_evaluations;
    }
    for (int b = 0; b < NT_SCORE_BUDGETS; b++) {
        char what[64];
        double value = at_budget(pair, b, &error);
        snprintf(what, sizeof what, "best/optimum after %d", nt_score_budgets[b]);
        judge(what, value, error, bars[b], true);
    }
    judge("evaluations to 5 %, median", nt_median(to_five, SPACES), (double)NAN, 40, true);
    double value = mean_of(pair, offsetof(nt_score, within_5_share), &error);
    judge("repeats within 5 %", value, error, 0.97, false);
    value = mean_of(pair, offsetof(nt_score, within_1_share), &error);
    judge("repeats within 1 %", value, error, 0.93, false);
    value = mean_of(pair, offsetof(nt_score, p_exact), &error);
    judge("P exact", value, error, 0.76, false);
    judge("P exact on the worst space", least, (double)NAN, 0.35, false);
}

/* ---- classic strategies and their twins ------------------------------------------------------------------------- */

typedef struct twin {
    const char *strategy;
    const char *of[5]; /* the best of these; NULL ends */
} twin;

static const twin twins[] = {
    {"genetic", {"genetic_algorithm"}},
    {"annealing", {"simulated_annealing"}},
    {"swarm", {"pso"}},
    {"evolution", {"diff_evo"}},
    {"local", {"mls", "greedy_mls", "ordered_greedy_mls", "greedy_ils"}},
};

/* A column of the row of one space and strategy in baseline.csv; NAN where there is none. */
static double baseline(const char *space_name, const char *strategy, const char *column)
{
    char path[1024], line[2048], head[2048] = "";
    double found = (double)NAN;
    snprintf(path, sizeof path, "%s/baseline.csv", folder);
    FILE *file = fopen(path, "r");
    while (file != NULL && fgets(line, sizeof line, file) != NULL) {
        if (head[0] == '\0')
            nt_copy(head, sizeof head, line);
        char *save_head = NULL, *save_line = NULL, names[2048];
        nt_copy(names, sizeof names, head);
        char *name = strtok_r(names, ",\n", &save_head), *cell = strtok_r(line, ",\n", &save_line);
        if (cell == NULL || strcmp(cell, space_name) != 0)
            continue;
        for (int at = 0; name != NULL && cell != NULL; at++) {
            if (at == 1 && strcmp(cell, strategy) != 0)
                break;
            if (strcmp(name, column) == 0)
                found = strtod(cell, NULL);
            name = strtok_r(NULL, ",\n", &save_head);
            cell = strtok_r(NULL, ",\n", &save_line);
        }
    }
    if (file != NULL)
        fclose(file);
    return found;
}

/* Ours over theirs, geometric mean over the spaces that theirs was recorded on. */
static void against(const nt_score_pair *pair, const char *strategy, const char *other, int budget)
{
    char column[16], what[96];
    double ours = 0, theirs = 0;
    int count = 0;
    snprintf(column, sizeof column, "mean@%d", nt_score_budgets[budget]);
    for (int i = 0; i < SPACES; i++) {
        double recorded = baseline(space_names[i], other, column);
        if (isnan(recorded))
            continue;
        ours += log(pair[i].value.mean[budget]);
        theirs += log(recorded);
        count++;
    }
    snprintf(what, sizeof what, "%s after %d, %s on %d spaces", strategy, nt_score_budgets[budget], other, count);
    judge(what, exp(ours / count), (double)NAN, exp(theirs / count), true);
}

static void section_classic(const char *only)
{
    for (size_t t = 0; t < sizeof twins / sizeof twins[0]; t++) {
        nt_score_pair pair[SPACES];
        const nt_strategy *strategy = strategy_named(twins[t].strategy);
        double worst = INFINITY, most_ms = 0, used = INFINITY;
        if (only != NULL && strcmp(only, strategy->name) != 0)
            continue;
        run_all(strategy, &plain, pair);
        for (int i = 0; twins[t].of[i] != NULL; i++) {
            against(pair, strategy->name, twins[t].of[i], 2);
            against(pair, strategy->name, twins[t].of[i], 4);
        }
        for (int i = 0; i < SPACES; i++) {
            worst = fmin(worst, pair[i].value.p_exact + 2 * pair[i].error.p_exact);
            most_ms = fmax(most_ms, pair[i].value.think_ms);
            used = fmin(used, pair[i].value.evaluations);
        }
        judge("  worst space, P exact + 2 errors", worst, (double)NAN, 0, false);
        judge("  evaluations used of 400", used, (double)NAN, TRIALS, false);
        judge("  us a proposal", most_ms * 1e3, (double)NAN, 20, true);
    }
}

/* ---- in flight, seconds, noise ---------------------------------------------------------------------------------- */

static void section_flight(const nt_strategy *strategy)
{
    nt_score_pair one[SPACES], many[SPACES];
    nt_replay_options single = plain, sixteen;
    double error, other_error;
    single.trials = 100;
    sixteen = single;
    sixteen.in_flight = 16;
    run_all(strategy, &single, one);
    run_all(strategy, &sixteen, many);
    double ratio = at_budget(many, 2, &error) / at_budget(one, 2, &other_error);
    judge("16 in flight over one, after 100", ratio, hypot(error, other_error), 1.03, true);
}

/* What a strategy has found when a minute of recorded time is over: mean of best/optimum. */
static double after_a_minute(const nt_strategy *strategy, const nt_replay_options *options, const nt_recorded *recorded)
{
    double sum = 0;
    for (size_t r = 0; r < repeats; r++) {
        nt_replay_run run;
        nt_replay_options o = *options;
        o.strategy = strategy;
        nt_replay(recorded, &o, r, &run);
        size_t within = 0;
        while (within < run.count && run.evaluation[within].clock_s <= 60)
            within++;
        double curve[1] = {recorded->worst_ms / recorded->best_ms};
        for (size_t i = 0; i < within; i++)
            if (!isnan(run.evaluation[i].answered_ms))
                curve[0] = fmin(curve[0], run.evaluation[i].answered_ms / recorded->best_ms);
        sum += curve[0] / (double)repeats;
        nt_replay_run_done(&run);
    }
    return sum;
}

static void section_seconds(const nt_strategy *strategy)
{
    nt_replay_options timed = plain, counting = plain;
    double mine = 0, blind = 0, random = 0;
    timed.trials = counting.trials = 4000;
    timed.seconds = 60;
    for (int i = 0; i < SPACES; i++) {
        mine += log(after_a_minute(strategy, &timed, space[i])) / SPACES;
        random += log(after_a_minute(strategy_named("random"), &timed, space[i])) / SPACES;
        timed.hide_cost = true;
        blind += log(after_a_minute(strategy, &timed, space[i])) / SPACES;
        timed.hide_cost = false;
    }
    judge("best/optimum in 60 s, against counting", exp(mine), (double)NAN, exp(blind), true);
    judge("best/optimum in 60 s, against random", exp(mine), (double)NAN, exp(random), true);
}

static void section_noise(const nt_strategy *strategy)
{
    nt_score_pair quiet[SPACES], noisy[SPACES];
    nt_replay_options noise = plain;
    double error, other_error;
    noise.noise = true;
    run_all(strategy, &plain, quiet);
    run_all(strategy, &noise, noisy);
    double ratio = at_budget(noisy, 4, &error) / at_budget(quiet, 4, &other_error);
    judge("noise over none, finalists measured again, 400", ratio, hypot(error, other_error), 1.01, true);
}

/* ---- what earlier runs on other devices are worth -------------------------------------------------------------- */

enum { FAMILY = 3 };

/* One kernel on several devices: rows of space_names from `first` on. The settings were chosen on the first family,
 * which alone has a bar after 25 evaluations; none may lose by earlier runs after 400. */
typedef struct family {
    const char *name;
    int first, count;
} family;

static const family families[] = {
    {"convolution", 0, FAMILY}, {"dedispersion", 4, FAMILY}, {"gemm", 7, 2}, {"pnpoly", 9, 2}};

/* Every repeat of each device, cold, then again with what that repeat found on the other devices. */
static void replay_family(const nt_strategy *strategy, const family *of, nt_replay_run *cold[], nt_replay_run *warm[])
{
    nt_replay_options options = plain;
    options.strategy = strategy;
    for (size_t r = 0; r < repeats; r++) {
        for (int i = 0; i < of->count; i++)
            nt_replay(space[of->first + i], &options, r, &cold[i][r]);
        for (int i = 0; i < of->count; i++) {
            nt_earlier_list list = {0};
            nt_replay_options knowing = options;
            for (int other = 0; other < of->count; other++)
                if (other != i)
                    nt_earlier_list_add(&list, space[of->first + other], space[of->first + i], &cold[other][r]);
            knowing.earlier = list.item;
            knowing.earlier_count = list.count;
            nt_replay(space[of->first + i], &knowing, r, &warm[i][r]);
            nt_earlier_list_done(&list);
        }
    }
}

/* Warm over cold after a budget, and its standard error. */
static double warm_over_cold(const nt_score_pair *cold, const nt_score_pair *warm, int budget, double *error)
{
    double ratio = warm->value.mean[budget] / cold->value.mean[budget];
    *error = ratio * hypot(warm->error.mean[budget] / warm->value.mean[budget],
                           cold->error.mean[budget] / cold->value.mean[budget]);
    return ratio;
}

static void judge_family(const family *of, const nt_score_pair *cold, const nt_score_pair *warm)
{
    double log_ratio = 0, squares = 0, error;
    char what[80];
    for (int i = 0; i < of->count; i++) {
        printf("  %-28s best/optimum cold", space_names[of->first + i]);
        for (int b = 0; b < NT_SCORE_BUDGETS; b++)
            printf(" %.4f", cold[i].value.mean[b]);
        printf(", warm");
        for (int b = 0; b < NT_SCORE_BUDGETS; b++)
            printf(" %.4f", warm[i].value.mean[b]);
        printf("\n");
        double ratio = warm_over_cold(&cold[i], &warm[i], 0, &error);
        log_ratio += log(ratio) / of->count;
        squares += pow(error / ratio / of->count, 2);
    }
    snprintf(what, sizeof what, "%s: warm over cold after 25", of->name);
    if (of == families)
        judge(what, exp(log_ratio), exp(log_ratio) * sqrt(squares), 1, true);
    else
        printf("  %-46s %9.4f ±%.4f  (no part in the settings)\n", what, exp(log_ratio),
               exp(log_ratio) * sqrt(squares));
    for (int i = 0; i < of->count; i++) {
        double ratio = warm_over_cold(&cold[i], &warm[i], 4, &error);
        snprintf(what, sizeof what, "  after 400 less 2 errors, %s", strchr(space_names[of->first + i], '-') + 1);
        judge(what, ratio - 2 * error, error, 1, true);
    }
}

static void judge_warm(const nt_strategy *strategy, const family *of)
{
    nt_replay_run *cold[FAMILY], *warm[FAMILY];
    nt_score_pair cold_score[FAMILY], warm_score[FAMILY];
    for (int i = 0; i < of->count; i++) {
        cold[i] = nt_alloc_zero(repeats, sizeof *cold[i]);
        warm[i] = nt_alloc_zero(repeats, sizeof *warm[i]);
    }
    replay_family(strategy, of, cold, warm);
    for (int i = 0; i < of->count; i++) {
        nt_score_runs(space[of->first + i], cold[i], repeats, false, &cold_score[i]);
        nt_score_runs(space[of->first + i], warm[i], repeats, false, &warm_score[i]);
        for (size_t r = 0; r < repeats; r++) {
            nt_replay_run_done(&cold[i][r]);
            nt_replay_run_done(&warm[i][r]);
        }
        free(cold[i]);
        free(warm[i]);
    }
    judge_family(of, cold_score, warm_score);
}

static void section_warm(const nt_strategy *strategy)
{
    for (size_t f = 0; f < sizeof families / sizeof families[0]; f++)
        judge_warm(strategy, &families[f]);
}

/* ---- honest search ---------------------------------------------------------------------------------------------- */

/* Other names, in the opposite order of the alphabet. The given spaces have numbers alone; values without an order are
 * shuffled in tests/unit/test_search_honest.c. */
static void rename_params(nt_recorded *recorded)
{
    static char names[NT_MAX_PARAMS][8];
    nt_param *params = (nt_param *)recorded->kernel.params;
    for (int p = 0; p < recorded->kernel.param_count; p++) {
        snprintf(names[p], sizeof names[p], "%c", 'z' - p);
        params[p].name = names[p];
    }
}

static void section_renamed(const nt_strategy *strategy)
{
    nt_score_pair before[SPACES], after[SPACES];
    double error, other_error;
    run_all(strategy, &plain, before);
    for (int i = 0; i < SPACES; i++)
        rename_params(space[i]);
    run_all(strategy, &plain, after);
    double p = mean_of(before, offsetof(nt_score, p_exact), &error),
           renamed = mean_of(after, offsetof(nt_score, p_exact), &other_error);
    judge("parameters renamed: P exact, change in errors", fabs(renamed - p) / hypot(error, other_error), (double)NAN,
          2, true);
}

/* Times permuted among the rows: nothing is to be learnt, so nothing but luck may be gained. */
static void permute(nt_recorded *recorded, uint64_t seed)
{
    nt_random random = nt_random_seed(seed, 9);
    for (size_t i = recorded->row_count - 1; i > 0; i--) {
        size_t j = (size_t)nt_random_below(&random, i + 1);
        nt_recorded_row row = recorded->row[i];
        recorded->row[i] = recorded->row[j];
        recorded->row[j] = row;
    }
}

static void section_honest(const char *only)
{
    for (int i = 0; i < SPACES; i++)
        permute(space[i], (uint64_t)i);
    for (int s = 0; s < nt_strategy_count; s++) {
        nt_score_pair pair[SPACES];
        double error;
        char what[64];
        if ((only != NULL && strcmp(only, nt_strategies[s]->name) != 0) || nt_strategies[s] == &nt_strategy_exhaustive)
            continue;
        run_all(nt_strategies[s], &plain, pair);
        double p = mean_of(pair, offsetof(nt_score, p_exact), &error);
        snprintf(what, sizeof what, "%s on permuted times, |P exact|", nt_strategies[s]->name);
        judge(what, fabs(p), error, 0.15, true);
    }
}

/* ---- cost ------------------------------------------------------------------------------------------------------- */

static void section_cost(const nt_strategy *strategy)
{
    for (int i = 0; i < SPACES; i++) {
        nt_replay_run run;
        nt_replay_options options = plain;
        char what[80];
        if (strncmp(space_names[i], "gemm", 4) != 0)
            continue;
        options.strategy = strategy;
        nt_replay(space[i], &options, 0, &run);
        snprintf(what, sizeof what, "ms a proposal, %s", space_names[i]);
        judge(what, run.think_s * 1e3 / (double)run.count, (double)NAN, 3, true);
        judge("  the most for one", run.think_most_s * 1e3, (double)NAN, 60, true);
        nt_replay_run_done(&run);
    }
}

/* 10^8 legal configurations of eight parameters, and a time with a valley that all of them shape. */
enum { WIDE_AXES = 8, WIDE_VALUES = 10 };

static double wide_ns(const nt_config *config)
{
    double log_time = 0, last = 0.3;
    for (int i = 0; i < WIDE_AXES; i++) {
        double x = config->index[i] / 9.0 - 0.15 * (i % 5) - 0.2;
        log_time += (x - 0.3 * last) * (x - 0.3 * last);
        last = x;
    }
    return 1e6 * exp(log_time);
}

typedef struct wide_result {
    double best, spent_s, most_s;
} wide_result;

enum { WIDE_RUNS = 4, WIDE_RESULTS = 400 };

/* Four earlier runs of 400 random configurations, each with a slope of its own. */
static nt_earlier *wide_earlier(const nt_space *wide)
{
    nt_earlier *out = nt_alloc_zero((size_t)WIDE_RUNS * WIDE_RESULTS, sizeof *out);
    nt_random random = nt_random_seed(3, 3);
    for (int i = 0; i < WIDE_RUNS * WIDE_RESULTS; i++) {
        nt_config config;
        out[i] = (nt_earlier){.candidate = {0, nt_random_below(&random, nt_space_size(wide))}, .run = i % WIDE_RUNS};
        nt_space_config(wide, out[i].candidate.index, &config);
        out[i].time_ns = wide_ns(&config) * exp(0.05 * config.index[i % WIDE_RUNS]);
    }
    return out;
}

static double cpu_s(void)
{
    return (double)clock() / CLOCKS_PER_SEC;
}

static wide_result search_wide(const nt_strategy *strategy, const nt_space *wide, uint64_t seed,
                               const nt_earlier *earlier)
{
    nt_strategy_setup setup = {.space = &wide,
                               .kernel_count = 1,
                               .seed = seed,
                               .earlier = earlier,
                               .earlier_count = earlier != NULL ? (size_t)WIDE_RUNS * WIDE_RESULTS : 0};
    wide_result out = {.best = INFINITY};
    double begin = cpu_s();
    void *state = strategy->create(&setup);
    for (int i = 0; i < TRIALS; i++) {
        double asked = cpu_s();
        nt_answer answer = {.outcome = NT_OUTCOME_OK};
        nt_config config;
        if (strategy->ask(state, &answer.candidate, 1) == 0)
            break;
        nt_space_config(wide, answer.candidate.index, &config);
        answer.time_ns = wide_ns(&config);
        out.best = fmin(out.best, answer.time_ns);
        strategy->tell(state, &answer);
        out.most_s = fmax(out.most_s, cpu_s() - asked);
    }
    strategy->destroy(state);
    out.spent_s = cpu_s() - begin;
    return out;
}

static void section_wide(const nt_strategy *strategy)
{
    static const char *const names[WIDE_AXES] = {"a", "b", "c", "d", "e", "f", "g", "h"};
    static const int64_t listed[WIDE_VALUES] = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9};
    nt_param params[WIDE_AXES];
    for (int i = 0; i < WIDE_AXES; i++)
        params[i] = (nt_param){.name = names[i], .ints = listed, .count = WIDE_VALUES};
    nt_kernel kernel = {.name = "wide", .params = params, .param_count = WIDE_AXES};
    nt_space *wide = NULL;
    nt_error err = {0};
    if (nt_space_build(&kernel, NULL, NULL, NULL, 0, NULL, &wide, &err) != NT_OK) {
        judge(err.what, (double)NAN, (double)NAN, 0, true);
        return;
    }
    double ours = 0, random = 0, spent = 0;
    for (uint64_t seed = 0; seed < 5; seed++) {
        wide_result found = search_wide(strategy, wide, seed, NULL);
        ours += found.best / 5;
        spent += found.spent_s / 5;
        random += search_wide(&nt_strategy_random, wide, seed, NULL).best / 5;
    }
    struct rusage usage;
    getrusage(RUSAGE_SELF, &usage);
    judge("10^8 configurations: ms a proposal", spent * 1e3 / TRIALS, (double)NAN, 5, true);
    judge("  MB of the whole program", (double)usage.ru_maxrss / 1e3, (double)NAN, 300, true);
    judge("  best found, ms, against random", ours / 1e6, (double)NAN, random / 1e6, true);
    nt_earlier *earlier = wide_earlier(wide);
    wide_result warm = search_wide(strategy, wide, 0, earlier);
    judge("  with four earlier runs: ms a proposal", warm.spent_s * 1e3 / TRIALS, (double)NAN, 5, true);
    judge("  the most for one", warm.most_s * 1e3, (double)NAN, 60, true);
    judge("  best found, ms, against random", warm.best / 1e6, (double)NAN, random / 1e6, true);
    free(earlier);
    nt_space_free(wide);
}

/* ---- the program ------------------------------------------------------------------------------------------------ */

static bool open_spaces(void)
{
    folder = getenv("NNTUNE_SPACES");
    if (folder == NULL)
        folder = "../shared/spaces";
    for (int i = 0; i < SPACES; i++) {
        char path[1024];
        nt_error err = {0};
        snprintf(path, sizeof path, "%s/%s.csv.gz", folder, space_names[i]);
        if (nt_recorded_open(path, &space[i], &err) != NT_OK) {
            printf("bench_search: skipped: %s (set NNTUNE_SPACES to the folder of recorded spaces)\n", err.what);
            return false;
        }
    }
    return true;
}

static bool wanted(int argc, char **argv, const char *section)
{
    bool any = false;
    for (int i = 1; i < argc; i++) {
        if (argv[i][0] == '-') {
            i++;
            continue;
        }
        any = true;
        if (strcmp(argv[i], section) == 0)
            return true;
    }
    return !any;
}

static void with_auto(int argc, char **argv, const char *name, void (*section)(const nt_strategy *strategy),
                      const char *only)
{
    if (!wanted(argc, argv, name))
        return;
    printf("%s\n", name);
    section(strategy_named(only == NULL ? "auto" : only));
}

int main(int argc, char **argv)
{
    const char *only = NULL;
    for (int i = 1; i + 1 < argc; i++) {
        if (strcmp(argv[i], "--repeats") == 0)
            repeats = (size_t)strtoul(argv[i + 1], NULL, 10);
        if (strcmp(argv[i], "--only") == 0)
            only = argv[i + 1];
    }
    if (!open_spaces())
        return 0;
    printf("%zu repeats, %d evaluations, %d spaces\n", repeats, TRIALS, SPACES);
    with_auto(argc, argv, "auto", section_auto, only);
    if (wanted(argc, argv, "classic")) {
        printf("classic\n");
        section_classic(only);
    }
    with_auto(argc, argv, "cost", section_cost, only);
    with_auto(argc, argv, "wide", section_wide, only);
    with_auto(argc, argv, "flight", section_flight, only);
    with_auto(argc, argv, "seconds", section_seconds, only);
    with_auto(argc, argv, "noise", section_noise, only);
    with_auto(argc, argv, "warm", section_warm, only);
    with_auto(argc, argv, "renamed", section_renamed, only);
    if (wanted(argc, argv, "honest")) { /* the last: it spoils the spaces */
        printf("honest\n");
        section_honest(only);
    }
    for (int i = 0; i < SPACES; i++)
        nt_recorded_free(space[i]);
    printf("%d short\n", shorts);
    return shorts == 0 ? 0 : 1;
}
