/* main.c: the judges as one program: `judge rate --nntune FILE --out FOLDER [--quick]`, `judge report ...`.
 *
 * Exit codes: 0 every bar holds, 1 one is short, 2 wrong usage. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "core/clock.h"
#include "tests/gpu/bars.h"

const judge_bar judge_bars[] = {
    {"rate", "compile pool, cold and warm sweeps", judge_bar_rate, false},
    {"speed", "the kernels' speed, and every ok trial on fresh inputs", judge_bar_speed, false},
    {"time", "repeatability and CUPTI's records", judge_bar_time, false},
    {"ties", "one kernel entered twice", judge_bar_ties, false},
    {"faults", "faults planted in a sweep", judge_bar_faults, false},
    {"odd", "odd shapes in every precision", judge_bar_odd, false},
    {"occupancy", "the occupancy model against the driver", judge_bar_occupancy, false},
    {"halves", "times with counters taken in between, and without", judge_bar_halves, true},
    {"t1", "what the one-pass set costs for 500 configurations", NULL, true},
    {"ncu", "values of counters beside ncu's", NULL, true},
    {"slope", "what twelve metrics cost, beside ncu", NULL, true},
    {"advice", "each rule of advice on a kernel with the fault and one without", NULL, true},
    {"profile", "nntune profile on a PyTorch program", NULL, true},
    {"chosen", "nntune profile --counters on a PyTorch program", NULL, true},
    {"live", "what nntune top costs a load and itself", NULL, true},
    {"spec", "specs of users' own kernels, each outcome as it must be", NULL, true},
    {"kt", "Kernel Tuner's own example, tuned by it and by us", NULL, true},
    {"accuracy", "nntune top against nvidia-smi", NULL, true},
    {"captures", "what the screen of nntune top shows, its log holds", NULL, true},
    {"promise", "a kernel out of a table takes what the table promises", NULL, true},
    {"planted", "slow-downs planted in a run are found by nntune compare", NULL, true},
    {"heldout", "what a table loses on batches that it has not measured", NULL, true},
    {"verify", "every kernel, precision and layout on odd shapes", NULL, true},
    {"memory", "memory-bound kernels against this GPU's own roof", NULL, true},
    {"attention", "attention beside PyTorch's", NULL, true},
    {"fused", "layers in one kernel against the same in several", NULL, true},
    {"sparse", "sparse weights against dense ones", NULL, true},
    {"vendor", "ours beside the vendors' libraries", NULL, true},
    {"sanitize", "compute-sanitizer on one configuration of each kernel", NULL, true},
    {"attached", "what a screen costs that shows a sweep", NULL, true},
};
const int judge_bar_count = sizeof judge_bars / sizeof judge_bars[0];

static int usage(void)
{
    fputs("usage: judge BAR|report --nntune FILE --out FOLDER [--quick] [--commit HASH] [--explanations FILE]\nbars:",
          stderr);
    for (int i = 0; i < judge_bar_count; i++)
        if (judge_bars[i].run != NULL)
            fprintf(stderr, " %s", judge_bars[i].name);
    fputc('\n', stderr);
    return 2;
}

static const char *option(int argc, char **argv, const char *name, const char *missing)
{
    for (int i = 2; i + 1 < argc; i++)
        if (strcmp(argv[i], name) == 0)
            return argv[i + 1];
    return missing;
}

static bool flag(int argc, char **argv, const char *name)
{
    for (int i = 2; i < argc; i++)
        if (strcmp(argv[i], name) == 0)
            return true;
    return false;
}

static FILE *fresh_file(const judge *j, const char *suffix)
{
    char name[64];
    snprintf(name, sizeof name, "%s.%s", j->bar, suffix);
    char *path = judge_path(j, name);
    FILE *file = fopen(path, "we");
    if (file == NULL)
        fprintf(stderr, "judge: %s: %s\n", path, strerror(errno));
    free(path);
    return file;
}

static int run_bar(judge *j, const judge_bar *bar)
{
    j->bar = bar->name;
    j->figures = fresh_file(j, "jsonl");
    j->detail = fresh_file(j, "md");
    if (j->figures == NULL || j->detail == NULL)
        return 2;
    printf("%s: %s\n", bar->name, bar->summary);
    double begin = nt_now_s();
    judge_cache(j, "cache");
    bar->run(j);
    printf("%s: %d figures, %d short, %.1f s\n", bar->name, j->count, j->short_count, nt_now_s() - begin);
    fclose(j->figures);
    fclose(j->detail);
    return j->short_count > 0;
}

int main(int argc, char **argv)
{
    if (argc < 2)
        return usage();
    judge j = {.self = argv[0],
               .nntune = option(argc, argv, "--nntune", NULL),
               .out = option(argc, argv, "--out", NULL),
               .quick = flag(argc, argv, "--quick")};
    if (j.out == NULL || j.nntune == NULL)
        return usage();
    mkdir(j.out, 0755);
    setenv("NNTUNE_EXE", j.nntune, 1);
    setenv("CUDA_CACHE_DISABLE", "1", 1); /* the driver keeps nothing either */
    if (strcmp(argv[1], "report") == 0)
        return judge_report(&j, option(argc, argv, "--commit", "unknown"),
                            option(argc, argv, "--explanations", "/dev/null"))
                   ? 0
                   : 1;
    if (strcmp(argv[1], "time-child") == 0)
        return judge_time_child(&j, option(argc, argv, "--trials", ""), flag(argc, argv, "--records"));
    for (int i = 0; i < judge_bar_count; i++)
        if (strcmp(judge_bars[i].name, argv[1]) == 0 && judge_bars[i].run != NULL)
            return run_bar(&j, &judge_bars[i]);
    return usage();
}
