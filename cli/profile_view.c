/* profile_view.c: the tables that `nntune profile` prints. */
#include "cli/profile_view.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/color.h"
#include "cli/table.h"
#include "core/str.h"
#include "core/units.h"

enum { NAME_WIDTH = 56 };

/* The middle of a long name gives way: templates differ at both ends. */
static void shorten(nt_str *out, const char *name)
{
    size_t length = strlen(name);
    if (length <= NAME_WIDTH) {
        nt_str_add(out, name);
        return;
    }
    size_t head = NAME_WIDTH * 2 / 3, tail = NAME_WIDTH - head - 2;
    const char *end = name + length - tail;
    while (head > 0 && ((unsigned char)name[head] & 0xC0) == 0x80)
        head--;
    while (((unsigned char)*end & 0xC0) == 0x80)
        end++;
    nt_str_add_n(out, name, head);
    nt_str_add(out, "..");
    nt_str_add(out, end);
}

void nt_profile_name_cell(nt_table *table, const char *name)
{
    nt_str brief = {0};
    shorten(&brief, name);
    nt_table_cell(table, "%s", nt_str_text(&brief));
    nt_str_done(&brief);
}

static void time_cell(nt_table *table, double ns)
{
    nt_table_cell(table, "%s", nt_text_time_ns(ns).s);
}

static void finish(const nt_args *args, nt_table *table, size_t left_out)
{
    if (left_out > 0)
        nt_table_line(table, "  and %zu more: --top N shows N rows", left_out);
    nt_table_print(table, stdout, nt_color_wanted(args, stdout));
    nt_table_free(table);
    putchar('\n');
}

static size_t at_most(size_t count, int most)
{
    return count < (size_t)most ? count : (size_t)most;
}

/* ---- tables ---------------------------------------------------------------------------------------------------------- */

static void kernels(const nt_args *args, const nt_trace *trace, const nt_trace_summary *s, int most)
{
    if (s->kernel_count == 0)
        return;
    nt_table *table = nt_table_new("kernel|>calls|>total|>share|>median|>p99|>first|>occupancy at most|limited by");
    size_t shown = at_most(s->kernel_count, most);
    for (size_t i = 0; i < shown; i++) {
        const nt_kernel_row *row = &s->kernel[i];
        nt_profile_name_cell(table, trace->name[row->name]);
        nt_table_cell(table, "%lld", (long long)row->calls);
        time_cell(table, row->total_ns);
        nt_table_cell(table, "%s", nt_text_pct(row->share_pct).s);
        time_cell(table, row->median_ns);
        time_cell(table, row->p99_ns);
        time_cell(table, row->first_ns);
        nt_table_cell(table, "%s", nt_text_pct(row->occupancy_limit_pct).s);
        nt_table_cell(table, "%s", row->occupancy_limiter[0] != '\0' ? row->occupancy_limiter : "-");
    }
    finish(args, table, s->kernel_count - shown);
}

static void ranges(const nt_args *args, const nt_trace *trace, const nt_trace_summary *s, int most)
{
    if (s->range_count == 0)
        return;
    nt_table *table =
        nt_table_new("range|>calls|>kernels|>GPU time|>share|>a call|>p99|>first|>later|>copies|>GPU idle");
    size_t shown = at_most(s->range_count, most);
    for (size_t i = 0; i < shown; i++) {
        const nt_range_row *row = &s->range[i];
        nt_profile_name_cell(table, row->name >= 0 ? trace->name[row->name] : "(outside of ranges)");
        if (row->calls == NT_UNKNOWN)
            nt_table_cell(table, "-");
        else
            nt_table_cell(table, "%lld%s", (long long)row->calls, row->open > 0 ? " (open)" : "");
        nt_table_cell(table, "%lld", (long long)row->kernels);
        time_cell(table, row->total_ns);
        nt_table_cell(table, "%s", nt_text_pct(row->share_pct).s);
        time_cell(table, row->median_ns);
        time_cell(table, row->p99_ns);
        time_cell(table, row->first_ns);
        time_cell(table, row->steady_ns);
        nt_table_cell(table, "%s", nt_text_pct(row->copy_pct).s);
        nt_table_cell(table, "%s", nt_text_pct(row->idle_pct).s);
    }
    finish(args, table, s->range_count - shown);
}

static void copies(const nt_args *args, const nt_trace_summary *s, int most)
{
    if (s->copy_count == 0)
        return;
    nt_table *table = nt_table_new("copies|from|to|>calls|>bytes|>total|>share|>speed");
    size_t shown = at_most(s->copy_count, most);
    for (size_t i = 0; i < shown; i++) {
        const nt_copy_row *row = &s->copy[i];
        nt_table_cell(table, "%s", nt_copy_direction_name(row->direction));
        nt_table_cell(table, "%s", nt_memory_kind_name(row->from));
        nt_table_cell(table, "%s", nt_memory_kind_name(row->to));
        nt_table_cell(table, "%lld", (long long)row->calls);
        nt_table_cell(table, "%s", nt_text_bytes((double)row->bytes).s);
        time_cell(table, row->total_ns);
        nt_table_cell(table, "%s", nt_text_pct(row->share_pct).s);
        nt_table_cell(table, "%s", nt_text_rate(row->bytes_per_s).s);
    }
    finish(args, table, s->copy_count - shown);
}

static void whole(const nt_trace_summary *s)
{
    printf("%lld kernels of %zu names took %s of GPU time; %lld copies %s, %lld fills %s.\n", (long long)s->kernels,
           s->kernel_count, nt_text_time_ns(s->kernel_ns).s, (long long)s->copies, nt_text_time_ns(s->copy_ns).s,
           (long long)s->fills, nt_text_time_ns(s->fill_ns).s);
    printf("The GPU was idle %s of the %s from first to last work; copies are %s of all work.\n",
           nt_text_pct(s->idle_pct).s, nt_text_time_ns(s->span_ns).s, nt_text_pct(s->copy_pct).s);
    if (s->memory_peak_bytes != NT_UNKNOWN)
        printf("Device memory allocated at once: at most %s.\n", nt_text_bytes((double)s->memory_peak_bytes).s);
    if (s->graph_launches > 0)
        printf("Launches of CUDA graphs: %lld.\n", (long long)s->graph_launches);
    putchar('\n');
}

void nt_profile_print(const nt_args *args, const nt_profile_run *run, const nt_trace *trace,
                      const nt_trace_summary *summary, int most)
{
    printf("profile %lld: %s\n", (long long)run->id, run->command);
    whole(summary);
    kernels(args, trace, summary, most);
    ranges(args, trace, summary, most);
    copies(args, summary, most);
}
