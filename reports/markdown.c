/* markdown.c: the report as GitHub tables: winners, what precisions cost, runs, failures. Time units are chosen once a
 * table. */
#include <math.h>
#include <string.h>

#include "core/units.h"
#include "reports/chart.h"
#include "reports/report.h"

/* A bar or a line break would end the cell, and < would begin HTML. */
static void cell(FILE *out, const char *text)
{
    for (; *text != '\0'; text++) {
        if (*text == '|' || *text == '<' || *text == '*' || *text == '`' || *text == '\\')
            fputc('\\', out);
        fputc((unsigned char)*text < ' ' ? ' ' : *text, out);
    }
}

static void number(FILE *out, const char *before, int digits, double value)
{
    if (isfinite(value))
        fprintf(out, "%s%.*g", before, digits, value);
    else
        fprintf(out, "%s-", before);
}

static nt_time_unit unit_of(const nt_report *report)
{
    double least = HUGE_VAL;
    for (size_t i = 0; i < report->result->groups; i++)
        if (report->answers[i].best != NULL)
            least = fmin(least, report->answers[i].best->time_ns);
    return nt_time_unit_of(isfinite(least) ? least : 1);
}

static void winner(FILE *out, const nt_result *r, const nt_answer *a, nt_time_unit unit)
{
    nt_str params = {0};
    nt_result_params(&params, a->best->params);
    fputs("| ", out);
    cell(out, a->group->label);
    fputs(" | ", out);
    cell(out, r->device[a->group->device].label);
    number(out, " | ", 4, a->best->time_ns / unit.ns);
    number(out, " | ", 4, a->best->lo_ns / unit.ns);
    number(out, "..", 4, a->best->hi_ns / unit.ns);
    fprintf(out, " | %s | %s | ", nt_text_flops(a->flop_per_s).s, nt_text_pct(a->roof_pct).s);
    number(out, "", 3, a->rule_ratio);
    fputs(" | ", out);
    number(out, "", 3, a->vendor_ratio);
    fputs(" | ", out);
    number(out, "", 2, a->best->error_prec);
    fputs(" | ", out);
    cell(out, a->best->kernel);
    fputs(" | ", out);
    cell(out, nt_str_text(&params));
    fprintf(out, " | %lld |\n", (long long)a->best->id);
    nt_str_done(&params);
}

static void winners(nt_report *report, FILE *out)
{
    nt_time_unit unit = unit_of(report);
    fprintf(out, "## Best of each problem\n\nTimes in %s; rule and vendor are their times over the best.\n\n",
            unit.name);
    fputs("| problem | device | time | 95 % interval | rate | of roof | rule | vendor | error | kernel | parameters | "
          "trial |\n"
          "|---|---|--:|--:|--:|--:|--:|--:|--:|---|---|--:|\n",
          out);
    for (size_t i = 0; i < report->result->groups; i++)
        if (report->answers[i].best != NULL)
            winner(out, report->result, &report->answers[i], unit);
    fputs("\n", out);
}

static void reasons(nt_report *report, FILE *out)
{
    fputs("## Why\n\n", out);
    for (size_t i = 0; i < report->result->groups; i++) {
        const nt_answer *a = &report->answers[i];
        for (int j = 0; j < a->advice.count; j++) {
            fputs(j == 0 ? "- **" : "", out);
            if (j == 0)
                cell(out, a->group->label);
            fputs(j == 0 ? "**: " : " ", out);
            cell(out, a->advice.line[j].sentence);
            fputs(j + 1 == a->advice.count ? "\n" : "", out);
        }
    }
    fputs("\n", out);
}

static void latencies(nt_report *report, FILE *out)
{
    nt_time_unit unit = unit_of(report);
    fprintf(out, "## Latency and energy\n\nTimes of a batch in %s. p90 needs %d samples, p99 %d.\n\n", unit.name,
            NT_SAMPLES_FOR_P90, NT_SAMPLES_FOR_P99);
    fputs("| problem | device | first | p50 | p90 | p99 | empty kernel | samples | images/s | mJ an inference |\n"
          "|---|---|--:|--:|--:|--:|--:|--:|--:|--:|\n",
          out);
    for (size_t i = 0; i < report->result->groups; i++) {
        const nt_answer *a = &report->answers[i];
        if (a->best == NULL)
            continue;
        const double times[] = {a->first_ns, a->p50_ns, a->p90_ns, a->p99_ns, a->best->floor_ns};
        fputs("| ", out);
        cell(out, a->group->label);
        fputs(" | ", out);
        cell(out, report->result->device[a->group->device].label);
        for (size_t j = 0; j < sizeof times / sizeof times[0]; j++) {
            fputs(" | ", out);
            number(out, "", 4, times[j] / unit.ns);
        }
        fprintf(out, " | %lld | %s | ", (long long)a->best->samples, nt_text_count(a->images_per_s).s);
        number(out, "", 3, a->inference_mj);
        fputs(" |\n", out);
    }
    fputs("\n", out);
}

static void failures(nt_report *report, FILE *out)
{
    fputs("## Trials without a time\n\nFigures in reasons are shown as #.\n\n"
          "| problem | outcome | trials | reason | example |\n|---|---|--:|---|--:|\n",
          out);
    for (size_t i = 0; i < report->result->groups; i++) {
        const nt_answer *a = &report->answers[i];
        for (size_t j = 0; j < a->failures; j++) {
            fputs("| ", out);
            cell(out, a->group->label);
            fprintf(out, " | %s | %lld | ", nt_outcome_name(a->failure[j].outcome), (long long)a->failure[j].count);
            cell(out, a->failure[j].reason);
            fprintf(out, " | %lld |\n", (long long)a->failure[j].example);
        }
    }
    fputs("\n", out);
}

static void runs(nt_report *report, FILE *out)
{
    const nt_result *r = report->result;
    fputs("## Runs\n\n| run | device | state | trials | ok | time | compiling | verifying | measuring | command |\n"
          "|--:|---|---|--:|--:|--:|--:|--:|--:|---|\n",
          out);
    for (size_t i = 0; i < r->runs; i++) {
        const nt_result_run *run = &r->run[i];
        fprintf(out, "| %lld | ", (long long)run->id);
        cell(out, r->device[run->device].label);
        fprintf(out, " | %s | %lld | %lld | %s | %s | %s | %s | ", run->state, (long long)run->trials,
                (long long)run->ok, nt_text_duration_s(run->total_s).s, nt_text_duration_s(run->compile_s).s,
                nt_text_duration_s(run->verify_s).s, nt_text_duration_s(run->measure_s).s);
        cell(out, run->command);
        fputs(" |\n", out);
    }
}

nt_status nt_report_markdown(nt_report *report, FILE *out, nt_error *err)
{
    (void)err;
    fputs("# Tuning results of ", out);
    cell(out, report->result->source.database);
    fprintf(out, "\n\n%zu trials of %zu problems in %zu runs on %zu devices.\n\n", report->result->trials,
            report->result->groups, report->result->runs, report->result->devices);
    winners(report, out);
    reasons(report, out);
    latencies(report, out);
    failures(report, out);
    runs(report, out);
    return NT_OK;
}
