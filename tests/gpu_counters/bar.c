/* bar.c: figures of the counters' judge, in the form of the other judges (tests/gpu/figures.c). */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/json.h"
#include "tests/gpu_counters/judge.h"

static void keep(const char *bar, const char *name, const char *unit, double value, const char *must,
                 const char *verdict)
{
    const char *path = getenv("JUDGE_FIGURES");
    FILE *file = path != NULL ? fopen(path, "a") : NULL;
    printf("  %-64s %10.5g %-8s  %s  %s\n", name, value, unit, must, verdict);
    fflush(stdout);
    if (file == NULL)
        return;
    char *line = nt_json_dump_done(json_pack("{s:s, s:s, s:s, s:o, s:s, s:s}", "bar", bar, "figure", name, "unit", unit,
                                             "value", nt_json_real(value), "must", must, "verdict", verdict));
    fprintf(file, "%s\n", line);
    fclose(file);
    free(line);
}

bool judge_bar(const char *bar, const char *name, const char *unit, double value, const char *sign, double limit)
{
    char must[48];
    bool holds = sign[0] == '<' ? value <= limit : sign[0] == '>' ? value >= limit : value == limit;
    snprintf(must, sizeof must, "%s %g", sign, limit);
    keep(bar, name, unit, value, must, holds ? "holds" : "short");
    return holds;
}

void judge_tell_of(const char *bar, const char *name, const char *unit, double value)
{
    keep(bar, name, unit, value, "", "");
}

/* What one launch more costs, free of what happens once. */
int judge_slope(int argc, char **argv)
{
    double ms[2][2] = {{NAN, NAN}, {NAN, NAN}}, took;
    char line[256], who[16];
    int launches;
    FILE *file = argc > 0 ? fopen(argv[0], "r") : NULL;
    while (file != NULL && fgets(line, sizeof line, file) != NULL)
        if (sscanf(line, "%15s %d launches %lf ms", who, &launches, &took) == 3 && (launches == 64 || launches == 256))
            ms[strcmp(who, "ncu") == 0][launches == 256] = took;
    if (file != NULL)
        fclose(file);
    double ours = (ms[0][1] - ms[0][0]) / 192, ncu = (ms[1][1] - ms[1][0]) / 192;
    judge_tell_of("slope", "twelve metrics, ours", "ms each", ours);
    judge_tell_of("slope", "twelve metrics, ncu", "ms each", ncu);
    judge_tell_of("slope", "256 launches in all, ours", "ms", ms[0][1]);
    judge_tell_of("slope", "256 launches in all, ncu", "ms", ms[1][1]);
    return judge_bar("slope", "twelve metrics: ours cheaper than ncu by the slope", "times",
                     ours > 0 ? ncu / ours : NAN, ">=", 15)
               ? 0
               : 1;
}
