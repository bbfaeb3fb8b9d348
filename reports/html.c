/* html.c: the report as one HTML file that needs nothing else: tables of the answers, then each problem by itself. */
#include <inttypes.h>
#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "core/mem.h"
#include "core/units.h"
#include "reports/html_page.h"
#include "reports/html_plots.h"
#include "reports/report.h"

static void text(FILE *out, const char *words)
{
    nt_str escaped = {0};
    nt_html_text(&escaped, words);
    fputs(nt_str_text(&escaped), out);
    nt_str_done(&escaped);
}

/* Columns by name; one that begins with < is of words. */
static void table_open(FILE *out, const char *caption, const char *columns)
{
    fputs("<div class=w tabindex=0 role=region aria-label=\"", out);
    text(out, caption);
    fputs("\"><table><caption>", out);
    text(out, caption);
    fputs("</caption><thead><tr>", out);
    for (const char *c = columns; *c != '\0';) {
        size_t length = strcspn(c, "|");
        bool words = *c == '<';
        fprintf(out, "<th scope=col%s>%.*s", words ? " class=x" : "", (int)length - words, c + words);
        c += length + (c[length] == '|');
    }
    fputs("<tbody>\n", out);
}

static void table_close(FILE *out)
{
    fputs("</table></div>\n", out);
}

/* A cell of words. */
static void words(FILE *out, const char *value)
{
    fputs("<td class=x>", out);
    text(out, value);
}

/* What is shown, and the number it sorts by. */
static void value(FILE *out, const char *shown, double sorts_as)
{
    if (isfinite(sorts_as))
        fprintf(out, "<td data-v=%.6g>", sorts_as);
    else
        fputs("<td>", out);
    text(out, shown);
}

static void plain(FILE *out, const char *format, ...) __attribute__((format(printf, 2, 3)));
static void plain(FILE *out, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    fputs("<td>", out);
    vfprintf(out, format, args);
    va_end(args);
}

static void number(FILE *out, int digits, double x)
{
    if (isfinite(x))
        plain(out, "%.*g", digits, x);
    else
        plain(out, "-");
}

static void params(FILE *out, const char *json)
{
    nt_str list = {0};
    nt_result_params(&list, json);
    fputs("<td class=p>", out);
    text(out, nt_str_text(&list));
    nt_str_done(&list);
}

static void time_of(FILE *out, double ns)
{
    value(out, nt_text_time_ns(ns).s, ns);
}

static void interval(FILE *out, const nt_result_trial *t)
{
    plain(out, "%s..%s", nt_text_time_ns(t->lo_ns).s, nt_text_time_ns(t->hi_ns).s);
}

/* ---- all problems ------------------------------------------------------------------------------------------------ */

static void problem_link(FILE *out, size_t number_of, const nt_answer *a)
{
    fprintf(out, "<tr><td class=x><a href=#p%zu>", number_of);
    text(out, a->group->label);
    fputs("</a>", out);
}

static void winners(nt_report *report, FILE *out)
{
    const nt_result *r = report->result;
    table_open(out, "The fastest configuration of each problem. Rule of thumb and vendor: their time over the best.",
               "<problem|<device|time|95 % interval|rate|of roof|rule of thumb|vendor|error|<kernel|<parameters|trial");
    for (size_t i = 0; i < r->groups; i++) {
        const nt_answer *a = &report->answers[i];
        if (a->best == NULL)
            continue;
        problem_link(out, i, a);
        words(out, r->device[a->group->device].label);
        time_of(out, a->best->time_ns);
        interval(out, a->best);
        value(out, nt_text_flops(a->flop_per_s).s, a->flop_per_s);
        value(out, nt_text_pct(a->roof_pct).s, a->roof_pct);
        number(out, 3, a->rule_ratio);
        number(out, 3, a->vendor_ratio);
        number(out, 2, a->best->error_prec);
        words(out, a->best->kernel);
        params(out, a->best->params);
        plain(out, "%" PRId64 "\n", a->best->id);
    }
    table_close(out);
}

static void precisions(nt_report *report, FILE *out)
{
    const nt_result *r = report->result;
    bool opened = false;
    for (size_t i = 0; i < r->groups; i++) {
        const nt_answer *a = &report->answers[i], *fp32 = nt_answer_fp32(report->answers, r->groups, a);
        if (a->best == NULL || fp32 == NULL || a->group->problem.precision == NT_FP32)
            continue;
        if (!opened)
            table_open(out, "Each precision against fp32 of the same problem: the time it saves, the error it costs.",
                       "<problem|<device|time|fp32|faster by|error|error of fp32");
        opened = true;
        problem_link(out, i, a);
        words(out, r->device[a->group->device].label);
        time_of(out, a->best->time_ns);
        time_of(out, fp32->best->time_ns);
        number(out, 3, fp32->best->time_ns / a->best->time_ns);
        number(out, 2, a->best->error_prec);
        number(out, 2, fp32->best->error_prec);
        fputs("\n", out);
    }
    if (opened)
        table_close(out);
    else
        fputs("<p>No problem was solved both in fp32 and in another precision.</p>\n", out);
}

static void latencies(nt_report *report, FILE *out)
{
    const nt_result *r = report->result;
    table_open(out, "Latency of a batch, from the samples of the best; p90 is told from 10 samples on, p99 from 100.",
               "<problem|<device|first|p50|p90|p99|empty kernel|samples|images/s|energy an inference");
    for (size_t i = 0; i < r->groups; i++) {
        const nt_answer *a = &report->answers[i];
        if (a->best == NULL)
            continue;
        problem_link(out, i, a);
        words(out, r->device[a->group->device].label);
        time_of(out, a->first_ns);
        time_of(out, a->p50_ns);
        time_of(out, a->p90_ns);
        time_of(out, a->p99_ns);
        time_of(out, a->best->floor_ns);
        plain(out, "%" PRId64, a->best->samples);
        value(out, nt_text_count(a->images_per_s).s, a->images_per_s);
        if (isfinite(a->inference_mj))
            plain(out, "%.3g mJ\n", a->inference_mj);
        else
            plain(out, "-\n");
    }
    table_close(out);
}

static void failures(nt_report *report, FILE *out)
{
    const nt_result *r = report->result;
    size_t left = 0, shown = 0;
    enum { MOST = 200 };
    for (size_t i = 0; i < r->groups; i++)
        for (size_t j = 0; j < report->answers[i].failures; j++) {
            const nt_failure_count *f = &report->answers[i].failure[j];
            if (shown == 0)
                table_open(out, "Trials that gave no time, counted by reason; figures in reasons are shown as #.",
                           "<problem|<outcome|trials|<reason|example");
            if (shown++ >= MOST) {
                left++;
                continue;
            }
            problem_link(out, i, &report->answers[i]);
            words(out, nt_outcome_name(f->outcome));
            plain(out, "%" PRId64, f->count);
            fputs("<td class=p>", out);
            text(out, f->reason[0] != '\0' ? f->reason : "-");
            plain(out, "%" PRId64 "\n", f->example);
        }
    if (shown > 0)
        table_close(out);
    else
        fputs("<p>Every trial gave a time.</p>\n", out);
    if (left > 0)
        fprintf(out, "<p class=n>%zu more reasons are left out here; the CSV and JSON forms hold them.</p>\n", left);
}

static void runs(nt_report *report, FILE *out)
{
    const nt_result *r = report->result;
    table_open(out, "Runs",
               "run|<device|<state|<source|<strategy|trials|ok|time|compiling|verifying|measuring|<driver|<command");
    for (size_t i = 0; i < r->runs; i++) {
        const nt_result_run *run = &r->run[i];
        fputs("<tr>", out);
        plain(out, "%" PRId64, run->id);
        words(out, r->device[run->device].label);
        words(out, run->state);
        words(out, run->source);
        char how[2 * NT_NAME_BYTES + 8];
        snprintf(how, sizeof how, "%s%s%s", run->strategy, run->objective[0] != '\0' ? ", by " : "", run->objective);
        words(out, how);
        plain(out, "%" PRId64, run->trials);
        plain(out, "%" PRId64, run->ok);
        value(out, nt_text_duration_s(run->total_s).s, run->total_s);
        value(out, nt_text_duration_s(run->compile_s).s, run->compile_s);
        value(out, nt_text_duration_s(run->verify_s).s, run->verify_s);
        value(out, nt_text_duration_s(run->measure_s).s, run->measure_s);
        words(out, r->device[run->device].info.driver);
        fputs("<td class=p>", out);
        text(out, run->command);
        fputs("\n", out);
    }
    table_close(out);
}

/* ---- one problem ------------------------------------------------------------------------------------------------- */

static void top(nt_report *report, FILE *out, const nt_answer *a)
{
    const nt_result *r = report->result;
    char caption[160];
    snprintf(caption, sizeof caption, "The %zu fastest of %" PRId64 " ok trials", a->top_count, a->ok);
    table_open(out, caption, "trial|time|95 % interval|place|error|occupancy|registers|<kernel|<parameters");
    for (size_t i = 0; i < a->top_count; i++) {
        const nt_result_trial *t = &r->trial[a->top[i]];
        fputs(a->top[i] == a->group->best ? "<tr class=b>" : "<tr>", out);
        plain(out, "%" PRId64, t->id);
        time_of(out, t->time_ns);
        interval(out, t);
        if (t->rank > 0)
            plain(out, "%d%s", t->rank, t->tied && t->rank > 1 ? " tied" : "");
        else
            plain(out, "-");
        number(out, 2, t->error_prec);
        plain(out, "%s", nt_text_pct(isnan(t->occupancy_pct) ? t->occupancy_limit_pct : t->occupancy_pct).s);
        if (t->registers != NT_UNKNOWN)
            plain(out, "%" PRId64, t->registers);
        else
            plain(out, "-");
        words(out, t->kernel);
        params(out, t->params);
        fputs("\n", out);
    }
    table_close(out);
    if (a->ok > (int64_t)a->top_count)
        fprintf(out, "<p class=n>%" PRId64 " slower ones are left out here; the CSV and JSON forms hold all.</p>\n",
                a->ok - (int64_t)a->top_count);
}

static void summary(nt_report *report, FILE *out, const nt_answer *a)
{
    const nt_result *r = report->result;
    if (a->best == NULL) {
        fputs("<p>No trial gave a time.</p>\n", out);
        return;
    }
    fprintf(out, "<p>Best: %s, %s", nt_text_time_ns(a->best->time_ns).s, nt_text_flops(a->flop_per_s).s);
    if (isfinite(a->roof_pct))
        fprintf(out, ", %s of the roof", nt_text_pct(a->roof_pct).s);
    fputs(", by kernel ", out);
    text(out, a->best->kernel);
    fputs(".", out);
    if (isfinite(a->rule_ratio)) {
        fputs(" The rule of thumb (", out);
        text(out, a->rule->rule);
        fprintf(out, ") takes %.3g times as long.", a->rule_ratio);
    }
    if (isfinite(a->vendor_ratio)) {
        fputs(" The vendor's ", out);
        text(out, a->vendor->kernel);
        fprintf(out, " takes %.3g times as long.", a->vendor_ratio);
    }
    for (int i = 0; i < a->advice.count; i++) {
        fputs(" ", out);
        text(out, a->advice.line[i].sentence);
    }
    fprintf(out, "</p>\n<p class=n>");
    text(out, r->device[a->group->device].label);
    for (int i = 0; i < NT_OUTCOME_COUNT; i++)
        if (a->group->outcome[i] > 0)
            fprintf(out, ", %" PRId64 " %s", a->group->outcome[i], nt_outcome_name((nt_outcome)i));
    fputs("</p>\n", out);
}

static void problems(nt_report *report, FILE *out, nt_html_plots *plots)
{
    for (size_t i = 0; i < report->result->groups; i++) {
        const nt_answer *a = &report->answers[i];
        fprintf(out, "<h3 id=p%zu>", i);
        text(out, a->group->label);
        fputs("</h3>\n", out);
        summary(report, out, a);
        nt_html_plots_put(plots, out, NT_PLOT_OF_PROBLEM, (int)(a->group - report->result->group));
        if (a->top_count > 0)
            top(report, out, a);
    }
}

static void head(nt_report *report, FILE *out)
{
    const nt_result *r = report->result;
    fputs("<!DOCTYPE html>\n<html lang=en><head><meta charset=utf-8>"
          "<meta name=viewport content=\"width=device-width,initial-scale=1\"><link rel=icon href=data:,><title>",
          out);
    text(out, r->source.database);
    fprintf(out,
            ": tuning results</title><style>%s%s</style></head><body>\n<h1>Tuning results</h1>\n<p>%zu trials of "
            "%zu problems in %zu runs on %zu devices, from ",
            nt_html_style, nt_inline_svg_style, r->trials, r->groups, r->runs, r->devices);
    text(out, r->source.database);
    fputs(".</p>\n", out);
}

nt_status nt_report_html(nt_report *report, FILE *out, nt_error *err)
{
    nt_html_plots plots;
    nt_status status = nt_html_plots_draw(&plots, report, err);
    if (status != NT_OK)
        return status;
    head(report, out);
    if (report->no_gnuplot)
        fputs("<p>gnuplot is not installed here, so that pictures are described in words.</p>\n", out);
    fputs("<h2>Best of each problem</h2>\n", out);
    winners(report, out);
    nt_html_plots_put(&plots, out, NT_PLOT_OF_DEVICE, -1);
    nt_html_plots_put(&plots, out, NT_PLOT_OF_ALL, -1);
    fputs("<h2>What each precision costs</h2>\n", out);
    precisions(report, out);
    fputs("<h2>Latency and energy</h2>\n", out);
    latencies(report, out);
    fputs("<h2>What failed, and why</h2>\n", out);
    failures(report, out);
    fputs("<h2>Each problem</h2>\n", out);
    if (plots.left_out > 0)
        fprintf(out,
                "<p class=n>Pictures are drawn for the %d problems with the most results; %zu others have tables "
                "alone. \"nntune plot\" draws any.</p>\n",
                NT_HTML_PLOTTED, plots.left_out);
    problems(report, out, &plots);
    fputs("<h2>Runs</h2>\n", out);
    runs(report, out);
    fprintf(out, "<script>%s</script></body></html>\n", nt_html_script);
    nt_html_plots_done(&plots);
    return NT_OK;
}
