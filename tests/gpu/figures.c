/* figures.c: figures, their bars and verdicts. */
#include "tests/gpu/judge.h"

#include <stdarg.h>
#include <stdlib.h>

#include "core/json.h"
#include "core/str.h"

figure judge_number(const char *name, const char *unit, double value)
{
    return (figure){name, unit, value, NAN, NAN};
}

figure judge_between(const char *name, const char *unit, nt_interval interval)
{
    return (figure){name, unit, interval.median, interval.lo, interval.hi};
}

figure judge_rate(const char *name, const double *at_s, size_t count)
{
    enum { WINDOWS = 12 };
    double window[WINDOWS];
    figure f = {name, "1/s", NAN, NAN, NAN};
    if (count < 2)
        return f;
    f.value = (double)(count - 1) / (at_s[count - 1] - at_s[0]);
    if (count < 4 * WINDOWS)
        return f;
    for (size_t i = 0; i < WINDOWS; i++) {
        size_t first = i * (count - 1) / WINDOWS, last = (i + 1) * (count - 1) / WINDOWS;
        window[i] = (double)(last - first) / (at_s[last] - at_s[first]);
    }
    nt_interval interval = nt_median_interval(window, WINDOWS, 0.95);
    f.lo = fmin(interval.lo, f.value);
    f.hi = fmax(interval.hi, f.value);
    return f;
}

static void print(const figure *f, const char *bar, const char *verdict)
{
    printf("  %-64s %10.5g %-8s", f->name, f->value, f->unit);
    if (isfinite(f->lo))
        printf(" [%.5g, %.5g]", f->lo, f->hi);
    printf("  %s  %s\n", bar, verdict);
    fflush(stdout);
}

static void keep(judge *j, const figure *f, const char *bar, const char *verdict)
{
    print(f, bar, verdict);
    j->count++;
    json_t *line = json_pack("{s:s, s:s, s:s, s:o, s:o, s:o, s:s, s:s}", "bar", j->bar, "figure", f->name, "unit",
                             f->unit, "value", nt_json_real(f->value), "lo", nt_json_real(f->lo), "hi",
                             nt_json_real(f->hi), "must", bar, "verdict", verdict);
    char *text = nt_json_dump_done(line);
    fprintf(j->figures, "%s\n", text);
    fflush(j->figures);
    free(text);
}

static void decide(judge *j, const figure *f, const char *sign, double limit, bool holds)
{
    char bar[64];
    snprintf(bar, sizeof bar, "%s %g", sign, limit);
    holds = holds && isfinite(f->value); /* what could not be had is short */
    j->short_count += !holds;
    keep(j, f, bar, holds ? "holds" : "short");
}

void judge_tell(judge *j, figure f)
{
    keep(j, &f, "", "");
}

void judge_least(judge *j, figure f, double least)
{
    decide(j, &f, ">=", least, f.value >= least);
}

void judge_most(judge *j, figure f, double most)
{
    decide(j, &f, "<=", most, f.value <= most);
}

void judge_broken(judge *j, const char *what, const char *why)
{
    fprintf(stderr, "%s: %s: %s\n", j->bar, what, why);
    figure f = {what, "", NAN, NAN, NAN};
    j->short_count++;
    keep(j, &f, "must work", "short");
}

void judge_detail(judge *j, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    vfprintf(j->detail, format, args);
    va_end(args);
    fputc('\n', j->detail);
    fflush(j->detail);
}
