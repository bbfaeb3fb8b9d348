/* compare.c: our values of the subjects against ncu's of the same launches, by the mean of 20 launches of each. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/gpu_counters/judge.h"

enum { KERNELS = GROUPS * SUBJECTS_PER_GROUP, LINE_BYTES = 8192, FIELDS = 32, METRICS = 13 };

/* How near is near enough, for big kernels and for others; a negative bar is only printed. */
static const struct bar {
    const char *metric, *name;
    double big_rel, small_rel, small_points; /* relative, or percentage points */
    bool exact;
} bars[METRICS] = {
    {"sm__warps_active.avg.pct_of_peak_sustained_active", "occupancy", 0.02, -1, 5, false},
    {"dram__bytes_read.sum", "DRAM reads", 0.02, -1, -1, false},
    {"dram__bytes_write.sum", "DRAM writes", 0.05, -1, -1, false},
    {"gpu__time_duration.sum", "duration", 0.02, 0.05, -1, false},
    {"smsp__sass_thread_inst_executed_op_fadd_pred_on.sum", "fadd", 0, 0, -1, true},
    {"smsp__sass_thread_inst_executed_op_fmul_pred_on.sum", "fmul", 0, 0, -1, true},
    {"smsp__sass_thread_inst_executed_op_ffma_pred_on.sum", "ffma", 0, 0, -1, true},
    {"smsp__sass_thread_inst_executed_op_dadd_pred_on.sum", "dadd", 0, 0, -1, true},
    {"smsp__sass_thread_inst_executed_op_dmul_pred_on.sum", "dmul", 0, 0, -1, true},
    {"smsp__sass_thread_inst_executed_op_dfma_pred_on.sum", "dfma", 0, 0, -1, true},
    {"smsp__sass_thread_inst_executed_op_hadd_pred_on.sum", "hadd", 0, 0, -1, true},
    {"smsp__sass_thread_inst_executed_op_hmul_pred_on.sum", "hmul", 0, 0, -1, true},
    {"smsp__sass_thread_inst_executed_op_hfma_pred_on.sum", "hfma", 0, 0, -1, true},
};

typedef struct mean {
    double sum;
    int count;
} mean;

static int metric_index(const char *name)
{
    for (int i = 0; i < METRICS; i++)
        if (strcmp(bars[i].metric, name) == 0)
            return i;
    return -1;
}

static bool read_ours(const char *path, mean out[KERNELS][METRICS])
{
    char line[LINE_BYTES], name[256];
    FILE *file = fopen(path, "r");
    int kernel;
    double value;
    while (file != NULL && fgets(line, sizeof line, file) != NULL) {
        if (sscanf(line, "%d %255s %lf", &kernel, name, &value) != 3 || kernel < 0 || kernel >= KERNELS)
            continue;
        int m = metric_index(name);
        if (m >= 0) {
            out[kernel][m].sum += value;
            out[kernel][m].count++;
        }
    }
    if (file != NULL)
        fclose(file);
    return file != NULL;
}

/* Splits a line of quoted, comma-separated fields in place. */
static int split(char *line, char *field[FIELDS])
{
    int count = 0;
    for (char *at = line; *at != '\0' && *at != '\n' && count < FIELDS;) {
        bool quoted = *at == '"';
        field[count++] = at += quoted;
        at += strcspn(at, quoted ? "\"" : ",\n");
        if (quoted && *at == '"')
            *at++ = '\0';
        if (*at == ',' || *at == '\n')
            *at++ = '\0';
    }
    return count;
}

static double number(const char *text)
{
    char digits[64];
    size_t length = 0;
    for (; *text != '\0' && length + 1 < sizeof digits; text++)
        if (*text != ',')
            digits[length++] = *text;
    digits[length] = '\0';
    return length > 0 ? atof(digits) : NAN;
}

/* Of each group ncu saw twice as many launches as we counted: the first round is ours uncounted as well. */
static int kernel_of(long launch)
{
    long in_group = SUBJECTS_PER_GROUP * SUBJECT_LAUNCHES, group = launch / (2 * in_group),
         at = launch % (2 * in_group);
    if (group >= GROUPS || at < in_group)
        return -1;
    return (int)(group * SUBJECTS_PER_GROUP + (at - in_group) / SUBJECT_LAUNCHES);
}

static bool read_ncu(const char *path, mean out[KERNELS][METRICS])
{
    char line[LINE_BYTES], *field[FIELDS];
    int id = -1, name = -1, value = -1;
    FILE *file = fopen(path, "r");
    while (file != NULL && fgets(line, sizeof line, file) != NULL) {
        int count = split(line, field);
        for (int i = 0; i < count && value < 0; i++) {
            id = strcmp(field[i], "ID") == 0 ? i : id;
            name = strcmp(field[i], "Metric Name") == 0 ? i : name;
            value = strcmp(field[i], "Metric Value") == 0 ? i : value;
        }
        if (value < 0 || count <= value || strcmp(field[id], "ID") == 0)
            continue;
        int kernel = kernel_of(atol(field[id])), m = metric_index(field[name]);
        if (kernel >= 0 && m >= 0) {
            out[kernel][m].sum += number(field[value]);
            out[kernel][m].count++;
        }
    }
    if (file != NULL)
        fclose(file);
    return file != NULL && value >= 0;
}

static bool judge_one(int kernel, bool big, int m, mean ours, mean ncu)
{
    const struct bar *bar = &bars[m];
    char name[96];
    double a = ours.sum / ours.count, b = ncu.sum / ncu.count, most = big ? bar->big_rel : bar->small_rel;
    bool points = !big && bar->small_points >= 0;
    if (bar->exact && ours.count > 0 && ncu.count > 0 && a == 0 && b == 0)
        return true; /* nothing of this kind: no line */
    printf("kernel %d %-5s %-10s ours %-14.8g ncu %-14.8g (%d and %d launches)\n", kernel, big ? "big" : "small",
           bar->name, a, b, ours.count, ncu.count);
    snprintf(name, sizeof name, "%s kernel %d: %s off ncu's, either way", big ? "big" : "small", kernel, bar->name);
    if (bar->exact)
        return judge_bar("ncu", name, "", fabs(a - b), "<=", 0);
    if (points)
        return judge_bar("ncu", name, "points", fabs(a - b), "<=", bar->small_points);
    double off_pct = 100 * fabs(a - b) / fabs(b);
    if (most >= 0)
        return judge_bar("ncu", name, "%", off_pct, "<=", 100 * most);
    judge_tell_of("ncu", name, "%", off_pct);
    return isfinite(off_pct);
}

int judge_compare(int argc, char **argv)
{
    static mean ours[KERNELS][METRICS], ncu[KERNELS][METRICS];
    if (argc < 2 || !read_ours(argv[0], ours) || !read_ncu(argv[1], ncu)) {
        fprintf(stderr, "compare needs the file of our values and ncu's CSV file\n");
        return 2;
    }
    int missed = 0;
    for (int k = 0; k < KERNELS; k++)
        for (int m = 0; m < METRICS; m++)
            missed += !judge_one(k, k < SUBJECTS_PER_GROUP, m, ours[k][m], ncu[k][m]);
    return missed > 0;
}
