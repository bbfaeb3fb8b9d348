/* profile_count_view.c: the table of counted kernels. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "cli/color.h"
#include "cli/profile_count.h"
#include "cli/profile_view.h"
#include "cli/table.h"
#include "core/units.h"

static void value_cell(nt_table *table, double value, const char *unit)
{
    if (isnan(value))
        nt_table_cell(table, "-");
    else if (strcmp(unit, "%") == 0)
        nt_table_cell(table, "%s", nt_text_pct(value).s);
    else if (strcmp(unit, "bytes") == 0)
        nt_table_cell(table, "%s", nt_text_bytes(value).s);
    else if (strcmp(unit, "ns") == 0)
        nt_table_cell(table, "%s", nt_text_time_ns(value).s);
    else
        nt_table_cell(table, "%.6g", value);
}

static bool has_text_of_its_own(const char *unit)
{
    return strcmp(unit, "%") == 0 || strcmp(unit, "bytes") == 0 || strcmp(unit, "ns") == 0;
}

static void add_row(nt_table *table, const nt_trace *trace, const nt_count_row *row, bool first)
{
    const char *unit = trace->name[row->unit];
    nt_profile_name_cell(table, first ? trace->name[row->kernel] : "");
    nt_table_cell(table, "%s", trace->name[row->metric]);
    nt_table_cell(table, "%lld", (long long)row->launches);
    value_cell(table, row->median, unit);
    value_cell(table, row->least, unit);
    value_cell(table, row->most, unit);
    nt_table_cell(table, "%s", has_text_of_its_own(unit) ? "" : unit);
}

static void say_how(const nt_count_summary *summary)
{
    if (summary->passes <= 1)
        printf("Counted by CUPTI in one pass, hardware counters, caches as the program left them; kernels one by "
               "one.\n\n");
    else
        printf(
            "Counted by CUPTI in %d passes, hardware counters: each launch ran that often with its memory put back in\n"
            "between, so caches were neither as the program left them nor cold; kernels one by one.\n\n",
            summary->passes);
}

void nt_profile_counts_print(const nt_args *args, const nt_trace *trace, const nt_count_summary *summary, int most)
{
    if (summary->count == 0)
        return;
    nt_table *table = nt_table_new("counted kernel|counter|>launches|>median|>least|>most|unit");
    int kernels = 0;
    for (size_t i = 0; i < summary->count; i++) {
        bool first = i == 0 || summary->row[i - 1].kernel != summary->row[i].kernel;
        kernels += first;
        if (kernels > most) {
            nt_table_line(table, "  and more kernels: --top N shows N");
            break;
        }
        add_row(table, trace, &summary->row[i], first);
    }
    nt_table_print(table, stdout, nt_color_wanted(args, stdout));
    nt_table_free(table);
    say_how(summary);
}
