/* report.c: OUT/RESULTS.md from the figures of the bars: what ran where, each figure with its verdict, and the winners.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "core/json.h"
#include "core/str.h"
#include "core/units.h"
#include "tests/gpu/judge.h"

typedef void line_fn(void *context, char *line);

static bool each_line(const char *path, line_fn *each, void *context)
{
    FILE *file = fopen(path, "re");
    char *line = NULL;
    size_t capacity = 0;
    while (file != NULL && getline(&line, &capacity, file) > 0) {
        line[strcspn(line, "\n")] = '\0';
        each(context, line);
    }
    free(line);
    if (file == NULL)
        return false;
    fclose(file);
    return true;
}

/* Whose winners are shown. */
static const char *const databases[] = {"speed.db", "rate.db", "time.db"};
enum { DATABASES = sizeof databases / sizeof databases[0] };

static bool is_there(const judge *j, const char *name)
{
    char *path = judge_path(j, name);
    bool there = access(path, R_OK) == 0;
    free(path);
    return there;
}

/* ---- where and when ------------------------------------------------------------------------------------------------------ */

static bool print_device(void *context, int columns, const char *const *cell)
{
    FILE *to = context;
    static const char *const name[] = {"device", "architecture", "driver", "compiler"};
    for (int i = 0; i < columns && i < 4; i++)
        fprintf(to, "| %s | %s |\n", name[i], cell[i]);
    return false;
}

static void print_digest(void *context, char *line)
{
    FILE *to = context;
    char *file = strrchr(line, ' ');
    if (file == NULL)
        return;
    *file++ = '\0';
    line[strcspn(line, " ")] = '\0';
    fprintf(to, "| database %s, sha256 | %s |\n", file, line);
}

static void keep_line(void *context, char *line)
{
    nt_copy(context, 128, line);
}

/* "<commit> <date> <time>", as check.sh left it. */
static void print_judged(const judge *j, FILE *to, const judge_bar *bar)
{
    char name[64], text[128] = "";
    snprintf(name, sizeof name, "%s.done", bar->name);
    char *path = judge_path(j, name);
    each_line(path, keep_line, text);
    free(path);
    if (text[0] != '\0' || !bar->apart)
        fprintf(to, "| bar %s judged at | %s |\n", bar->name, text[0] != '\0' ? text : "never");
}

static void print_place(judge *j, FILE *to, const char *commit)
{
    char date[64];
    time_t now = time(NULL);
    struct tm parts;
    strftime(date, sizeof date, "%Y-%m-%d %H:%M UTC", gmtime_r(&now, &parts));
    fprintf(to,
            "# Results of the GPU check\n\nWritten by make check-gpu and make gpu-merge; not edited by hand.%s\n\n| | "
            "|\n|---|---|\n",
            j->quick ? " A shortened run: its verdicts mean nothing." : "");
    fprintf(to, "| commit | %s |\n| written | %s |\n", commit, date);
    static const char *const tell[] = {"speed.db", "rate.db", "time.db", "halves0.db"};
    for (size_t i = 0; i < sizeof tell / sizeof tell[0]; i++) {
        if (!is_there(j, tell[i]))
            continue;
        judge_rows(j, tell[i], "select device, arch, driver, compiler from trials limit 1", print_device, to);
        break;
    }
    for (int i = 0; i < judge_bar_count; i++)
        print_judged(j, to, &judge_bars[i]);
    char *digests = judge_path(j, "digests");
    each_line(digests, print_digest, to);
    free(digests);
}

/* ---- figures --------------------------------------------------------------------------------------------------------------- */

typedef struct figures {
    FILE *to;
    nt_str wanted; /* figures that are short, as explanations name them: "\n<bar>, <figure>: " */
    int held, short_count;
} figures;

static void print_figure(void *context, char *line)
{
    figures *f = context;
    json_t *object = json_loads(line, 0, NULL);
    const char *bar = nt_json_get_text(object, "bar"), *name = nt_json_get_text(object, "figure");
    const char *verdict = nt_json_get_text(object, "verdict"), *must = nt_json_get_text(object, "must");
    const char *unit = nt_json_get_text(object, "unit");
    double value = nt_json_get_real(object, "value"), lo = nt_json_get_real(object, "lo"),
           hi = nt_json_get_real(object, "hi");
    if (bar == NULL || name == NULL) {
        json_decref(object);
        return;
    }
    fprintf(f->to, "| %s | %s | ", bar, name);
    fprintf(f->to, isnan(value) ? "unknown" : "%.5g", value);
    fprintf(f->to, "%s%s |", unit != NULL ? " " : "", unit != NULL ? unit : "");
    if (isfinite(lo) && isfinite(hi))
        fprintf(f->to, " %.5g to %.5g", lo, hi);
    fprintf(f->to, " | %s | %s |\n", must != NULL ? must : "", verdict != NULL ? verdict : "");
    f->held += verdict != NULL && strcmp(verdict, "holds") == 0;
    if (verdict != NULL && strcmp(verdict, "short") == 0) {
        f->short_count++;
        nt_str_addf(&f->wanted, "\n%s, %s: ", bar, name);
    }
    json_decref(object);
}

/* A line of the explanations' file: "<bar>, <figure>: why". */
static void print_explanation(void *context, char *line)
{
    figures *f = context;
    char *colon = strstr(line, ": ");
    if (line[0] == '#' || colon == NULL)
        return;
    nt_str key = {0};
    nt_str_add(&key, "\n");
    nt_str_add_n(&key, line, (size_t)(colon - line) + 2);
    if (strstr(nt_str_text(&f->wanted), nt_str_text(&key)) != NULL)
        fprintf(f->to, "- %s\n", line);
    nt_str_done(&key);
}

static void print_line(void *context, char *line)
{
    fprintf(context, "%s\n", line);
}

static void each_bar(judge *j, const char *suffix, line_fn *each, void *context)
{
    for (int i = 0; i < judge_bar_count; i++) {
        char name[64];
        snprintf(name, sizeof name, "%s.%s", judge_bars[i].name, suffix);
        char *path = judge_path(j, name);
        each_line(path, each, context);
        free(path);
    }
}

/* ---- winners --------------------------------------------------------------------------------------------------------------- */

static bool print_winner(void *context, int columns, const char *const *cell)
{
    FILE *to = context;
    nt_shape shape;
    if (columns < 12 || nt_shape_parse(cell[0], &shape, NULL) != NT_OK)
        return true;
    double ns = strtod(cell[5], NULL);
    double operations = 18 * strtod(cell[1], NULL) * (double)nt_shape_get(&shape, "c") *
                        (double)nt_shape_get(&shape, "k") * (double)nt_shape_get(&shape, "h") *
                        (double)nt_shape_get(&shape, "w");
    fprintf(to, "| %s batch %s %s %s | %s | %.3f (%.3f to %.3f) | %.1f | %s | %s | %s | `%s` |\n", cell[0], cell[1],
            cell[2], cell[3], cell[4], ns * 1e-3, strtod(cell[6], NULL) * 1e-3, strtod(cell[7], NULL) * 1e-3,
            operations / ns * 1e-3, cell[8], cell[9], cell[10], cell[11]);
    return true;
}

static void print_winners(judge *j, FILE *to)
{
    static const char sql[] =
        "select shape, batch, precision, layout, kernel, time_ns, time_lo_ns, time_hi_ns, "
        "printf('%.3g', error_prec), registers, printf('%.0f', occupancy_limit_pct), params from best "
        "order by precision, shape, batch";
    fputs("\n## Winners\n\n| problem | kernel | time us | TFLOP/s | error | registers | occupancy limit % | parameters "
          "|\n"
          "|---|---|---|---|---|---|---|---|\n",
          to);
    for (size_t i = 0; i < DATABASES; i++)
        if (is_there(j, databases[i]))
            judge_rows(j, databases[i], sql, print_winner, to);
}

bool judge_report(judge *j, const char *commit, const char *explanations)
{
    char *path = judge_path(j, "RESULTS.md");
    figures f = {.to = fopen(path, "we")};
    j->bar = "report";
    j->figures = j->detail = stderr;
    if (f.to == NULL) {
        fprintf(stderr, "judge: %s: %s\n", path, strerror(errno));
        free(path);
        return false;
    }
    print_place(j, f.to, commit);
    fputs("\n## Figures\n\n| bar | figure | value | interval | must be | verdict |\n|---|---|---|---|---|---|\n", f.to);
    each_bar(j, "jsonl", print_figure, &f);
    if (f.short_count > 0) {
        fputs("\n## Why some are short\n\n", f.to);
        each_line(explanations, print_explanation, &f);
    }
    print_winners(j, f.to);
    fputs("\n## Details\n\n", f.to);
    each_bar(j, "md", print_line, f.to);
    printf("%d figures hold their bar, %d are short: %s\n", f.held, f.short_count, path);
    nt_str_done(&f.wanted);
    fclose(f.to);
    free(path);
    return f.held > 0;
}
