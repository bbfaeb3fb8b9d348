#include "cli/sweep_table.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/command_line.h"
#include "cli/output.h"
#include "cli/present.h"
#include "cli/table.h"
#include "cli/vs_vendor.h"
#include "core/json.h"
#include "core/units.h"
#include "kernels/kernel.h"

void nt_sweep_failures(nt_str *out, const int64_t outcome[NT_OUTCOME_COUNT])
{
    static const nt_outcome failures[] = {NT_OUTCOME_COMPILE_FAILED, NT_OUTCOME_LAUNCH_FAILED, NT_OUTCOME_WRONG_RESULT,
                                          NT_OUTCOME_TIMED_OUT, NT_OUTCOME_CRASHED};
    bool any = false;
    for (size_t i = 0; i < sizeof failures / sizeof failures[0]; i++) {
        if (outcome[failures[i]] == 0)
            continue;
        nt_str_addf(out, "%s%lld %s", any ? ", " : " (", (long long)outcome[failures[i]], nt_outcome_name(failures[i]));
        any = true;
    }
    if (any)
        nt_str_add(out, ")");
}

/* ---- vendors beside ours --------------------------------------------------------------------------------------------- */

/* The time of the vendor's fastest over that of ours; NAN where one of them was not measured. */
static double vendor_ratio(const nt_unit_result *unit)
{
    if (!unit->has_best || !unit->has_vendor)
        return NAN;
    return nt_vendor_ratio(unit->best.time_ns, unit->vendor.time_ns, unit->best.floor_ns);
}

/* Geometric mean of the ratios of a cache mode; NAN where there is none. */
static double vendor_mean(const nt_sweep_result *result, nt_cache_mode cache, int *count)
{
    double sum = 0;
    *count = 0;
    for (int u = 0; u < result->unit_count; u++) {
        double ratio = vendor_ratio(&result->unit[u]);
        if (result->unit[u].cache != cache || isnan(ratio))
            continue;
        sum += log(ratio);
        ++*count;
    }
    return *count > 0 ? exp(sum / *count) : (double)NAN;
}

/* One line for each cache mode that has more than the ratio beside its problem. */
static void print_vendor_means(const nt_sweep_result *result)
{
    for (nt_cache_mode cache = NT_COLD; cache <= NT_HOT; cache++) {
        int count;
        double mean = vendor_mean(result, cache, &count);
        if (count > 1)
            printf("%s: the vendor takes %.3f times our time in the geometric mean of %d\n", nt_cache_mode_name(cache),
                   mean, count);
    }
}

static void print_vendor(nt_table *table, const nt_unit_result *unit)
{
    if (!unit->has_vendor)
        return;
    nt_text time = nt_text_time_ns(unit->vendor.time_ns);
    const char *cache = nt_cache_mode_name(unit->cache);
    if (unit->has_best)
        nt_table_line(table, "    vendor: %s takes %s, %.3f times our time (%s)", unit->vendor.kernel, time.s,
                      vendor_ratio(unit), cache);
    else
        nt_table_line(table, "    vendor: %s takes %s (%s)", unit->vendor.kernel, time.s, cache);
}

/* ---- the table ------------------------------------------------------------------------------------------------------ */

static void print_rules(nt_table *table, const nt_unit_result *unit)
{
    for (int i = 0; i < unit->rule_count; i++) {
        const char *kernel = unit->rule[i].kernel, *rule = unit->rule[i].rule;
        if (isnan(unit->rule[i].time_ns))
            nt_table_line(table, "    rule of thumb '%s' (%s): %s", rule, kernel,
                          nt_outcome_name(unit->rule[i].outcome));
        else
            nt_table_line(table, "    rule of thumb '%s' (%s): %s, %.2f times the best", rule, kernel,
                          nt_text_time_ns(unit->rule[i].time_ns).s, unit->rule[i].time_ns / unit->best.time_ns);
    }
}

/* Rates and the roof count the operations of the direct algorithm; one that multiplies less can pass that roof. */
static bool multiplies_less(const nt_sweep_result *result, const nt_unit_result *unit)
{
    const nt_kernel *kernel = nt_kernel_find(unit->problem.layer, result->run.device.kind, unit->best.kernel);
    return kernel != NULL && kernel->bound != NT_BOUND_DIRECT;
}

static bool is_above_roof(const nt_sweep_result *result, const nt_unit_result *unit)
{
    return unit->has_best &&
           nt_speed_of(&result->run.device, &unit->problem, &unit->extents, unit->best.time_ns).roof_pct > 100;
}

static void print_roof_note(const nt_sweep_result *result)
{
    bool fewer = false, other = false;
    for (int u = 0; u < result->unit_count; u++)
        if (is_above_roof(result, &result->unit[u])) {
            fewer |= multiplies_less(result, &result->unit[u]);
            other |= !multiplies_less(result, &result->unit[u]);
        }
    if (fewer)
        puts("* rate and roof count the multiplications of the direct algorithm; Winograd's F(2x2,3x3) needs 2.25 "
             "times fewer, F(4x4,3x3) 4 times, so they can pass 100 %");
    if (other)
        puts("* above the roof: the peaks were measured at another moment (nntune devices shows them)");
}

/* Achieved against theoretical occupancy, traffic of device memory, tensor cores: where counters were had. */
static void print_counters(nt_table *table, const nt_unit_result *unit)
{
    if (isnan(unit->occupancy_pct) && isnan(unit->dram_read_bytes))
        return;
    nt_str text = {0};
    nt_str_addf(&text, "    counters: occupancy %s", nt_text_pct(unit->occupancy_pct).s);
    if (isfinite(unit->best.occupancy_limit_pct))
        nt_str_addf(&text, " of %s possible (limited by %s)", nt_text_pct(unit->best.occupancy_limit_pct).s,
                    unit->best.occupancy_limiter);
    nt_str_addf(&text, ", device memory read %s, written %s (%s of its peak), tensor pipe %s busy",
                nt_text_bytes(unit->dram_read_bytes).s, nt_text_bytes(unit->dram_write_bytes).s,
                nt_text_pct(unit->dram_pct).s, nt_text_pct(unit->tensor_pct).s);
    nt_table_line(table, "%s", nt_str_text(&text));
    nt_str_done(&text);
}

/* A sweep is of layers or of one kernel of the user's, never of both. */
static bool of_user(const nt_unit_result *unit)
{
    return nt_layer_is_users(unit->problem.layer);
}

static void print_unit(nt_table *table, const nt_sweep_result *result, const nt_unit_result *unit)
{
    nt_str problem = {0}, params = {0};
    nt_present_problem(&problem, &unit->problem, unit->cache);
    if (!unit->has_best) {
        nt_table_line(table, "%s: no configuration %swas measured", nt_str_text(&problem),
                      unit->has_vendor ? "of ours " : "");
        print_vendor(table, unit);
        nt_str_done(&problem);
        return;
    }
    const nt_trial *best = &unit->best;
    nt_speed speed = nt_speed_of(&result->run.device, &unit->problem, &unit->extents, best->time_ns);
    nt_present_params(&params, best->params_json);
    nt_table_cell(table, "%s", nt_str_text(&problem));
    nt_table_cell(table, "%s", best->kernel);
    nt_table_cell(table, "%s", nt_text_time_ns(best->time_ns).s);
    nt_table_cell(table, "%s..%s", nt_text_time_ns(best->time_lo_ns).s, nt_text_time_ns(best->time_hi_ns).s);
    nt_table_cell(table, "%s", nt_present_rate(unit->problem.precision, speed.flop_per_s).s);
    nt_table_cell(table, "%s", nt_text_rate(speed.bytes_per_s).s);
    nt_table_cell(table, "%s%s", nt_text_pct(speed.roof_pct).s, is_above_roof(result, unit) ? " *" : "");
    nt_table_cell(table, "%s", nt_text_count(of_user(unit) ? speed.launches_per_s : speed.images_per_s).s);
    nt_table_cell(table, "%.2g", best->error_impl);
    nt_table_cell(table, "%.2g%s", best->error_prec, unit->over_error ? " !" : "");
    nt_table_line(table, "    trial %lld: %s", (long long)best->id, nt_str_text(&params));
    if (!isnan(unit->objective))
        nt_table_line(table, "    objective %s: %.6g", result->objective, unit->objective);
    print_counters(table, unit);
    if (unit->tied > 0)
        nt_table_line(table, "    %d more %s not distinguishable from it", unit->tied, unit->tied > 1 ? "are" : "is");
    if (unit->over_error)
        nt_table_line(table, "    ! beyond --max-error: this precision does not meet it on these inputs");
    print_rules(table, unit);
    print_vendor(table, unit);
    nt_str_done(&problem);
    nt_str_done(&params);
}

static void print_show(const nt_sweep_result *result, const char *database)
{
    char words[32];
    for (int u = 0; u < result->unit_count; u++) {
        if (!result->unit[u].has_best)
            continue;
        snprintf(words, sizeof words, "show %lld", (long long)result->unit[u].best.id);
        printf("  %s\n", nt_command_line_with(words, database));
        return;
    }
}

static void print_totals(const nt_sweep_result *result, const char *database)
{
    const nt_run *run = &result->run;
    int64_t outcome[NT_OUTCOME_COUNT] = {0}, all = 0;
    nt_str text = {0};
    for (int u = 0; u < result->unit_count; u++)
        for (int i = 0; i < NT_OUTCOME_COUNT; i++) {
            outcome[i] += result->unit[u].outcome[i];
            all += result->unit[u].outcome[i];
        }
    nt_sweep_failures(&text, outcome);
    printf("\n%lld %s: %lld ok, %lld abandoned, %lld pruned, %lld failed%s", (long long)all,
           all == 1 ? "trial" : "trials", (long long)outcome[NT_OUTCOME_OK], (long long)outcome[NT_OUTCOME_ABANDONED],
           (long long)outcome[NT_OUTCOME_PRUNED],
           (long long)(all - outcome[NT_OUTCOME_OK] - outcome[NT_OUTCOME_ABANDONED] - outcome[NT_OUTCOME_PRUNED]),
           nt_str_text(&text));
    if (result->reused > 0)
        printf(", %lld reused from earlier runs", (long long)result->reused);
    printf("\ntime: %s in all: %s waiting for compilers, %s verifying, %s timing, %s idle and setting up\n",
           nt_text_duration_s(run->total_s).s, nt_text_duration_s(run->compile_s).s,
           nt_text_duration_s(run->verify_s).s, nt_text_duration_s(run->measure_s).s,
           nt_text_duration_s(run->idle_s).s);
    printf("run %lld on %s is in %s; next:\n  %s\n", (long long)run->id, run->device.name, database,
           nt_command_line_with("best", database));
    print_show(result, database);
    nt_str_done(&text);
}

void nt_sweep_print(const nt_sweep_result *result, const char *database, bool bold)
{
    nt_table *table = nt_table_new(
        result->unit_count > 0 && of_user(&result->unit[0])
            ? "problem|kernel|>time|>95 % interval|>rate|>traffic|>of roof|>launches/s|>err/bound|>precision err"
            : "problem|kernel|>time|>95 % interval|>rate|>traffic|>of roof|>images/s|>err/bound|>precision err");
    for (int u = 0; u < result->unit_count; u++)
        if (result->unit[u].problem.layer[0] != '\0')
            print_unit(table, result, &result->unit[u]);
    nt_table_print(table, stdout, bold);
    nt_table_free(table);
    print_roof_note(result);
    print_vendor_means(result);
    print_totals(result, database);
}

/* ---- the summary ------------------------------------------------------------------------------------------------------ */

static json_t *outcomes_json(const int64_t outcome[NT_OUTCOME_COUNT])
{
    json_t *object = json_object();
    for (int i = 0; i < NT_OUTCOME_COUNT; i++)
        json_object_set_new(object, nt_outcome_name((nt_outcome)i), nt_json_int(outcome[i]));
    return object;
}

/* null where no vendor's kernel was measured; ratio is null where ours was not. */
static json_t *vendor_json(const nt_unit_result *unit)
{
    if (!unit->has_vendor)
        return json_null();
    const nt_trial *v = &unit->vendor;
    return json_pack("{s:o, s:s, s:o, s:o, s:o, s:o}", "trial", nt_json_int(v->id), "kernel", v->kernel, "time_ns",
                     nt_json_real(v->time_ns), "time_lo_ns", nt_json_real(v->time_lo_ns), "time_hi_ns",
                     nt_json_real(v->time_hi_ns), "ratio", nt_json_real(vendor_ratio(unit)));
}

static json_t *unit_json(const nt_sweep_result *result, const nt_unit_result *unit)
{
    json_t *object = nt_json_problem(&unit->problem), *rules = json_array();
    json_object_set_new(object, "cache", json_string(nt_cache_mode_name(unit->cache)));
    json_object_set_new(object, "outcomes", outcomes_json(unit->outcome));
    json_object_set_new(object, "space_legal", nt_json_real(unit->space_legal));
    json_t *best = json_null();
    if (unit->has_best) {
        nt_speed speed = nt_speed_of(&result->run.device, &unit->problem, &unit->extents, unit->best.time_ns);
        best = nt_json_trial(&unit->best);
        json_object_del(best, "sample_ns");
        json_object_set_new(best, "first_time_ns", nt_json_real(unit->first_ns));
        json_object_set_new(best, "flop_per_s", nt_json_real(speed.flop_per_s));
        json_object_set_new(best, "bytes_per_s", nt_json_real(speed.bytes_per_s));
        json_object_set_new(best, "roof_pct", nt_json_real(speed.roof_pct));
        json_object_set_new(best, "images_per_s", nt_json_real(speed.images_per_s));
        json_object_set_new(best, "launches_per_s", nt_json_real(speed.launches_per_s));
        if (!isnan(unit->objective))
            json_object_set_new(best, "objective", nt_json_real(unit->objective));
        json_object_set_new(best, "tied", json_integer(unit->tied));
        json_object_set_new(best, "occupancy_pct", nt_json_real(unit->occupancy_pct));
        json_object_set_new(best, "dram_read_bytes", nt_json_real(unit->dram_read_bytes));
        json_object_set_new(best, "dram_write_bytes", nt_json_real(unit->dram_write_bytes));
        json_object_set_new(best, "over_max_error", json_boolean(unit->over_error));
    }
    json_object_set_new(object, "best", best);
    for (int i = 0; i < unit->rule_count; i++)
        json_array_append_new(rules, json_pack("{s:s, s:s, s:s, s:o, s:o}", "kernel", unit->rule[i].kernel, "rule",
                                               unit->rule[i].rule, "outcome", nt_outcome_name(unit->rule[i].outcome),
                                               "time_ns", nt_json_real(unit->rule[i].time_ns), "slowdown",
                                               nt_json_real(unit->rule[i].time_ns / unit->best.time_ns)));
    json_object_set_new(object, "rules", rules);
    json_object_set_new(object, "vendor_best", vendor_json(unit));
    return object;
}

json_t *nt_sweep_summary_json(const nt_sweep_result *result, const char *database, nt_status status,
                              const nt_error *err)
{
    int64_t outcome[NT_OUTCOME_COUNT] = {0};
    json_t *problems = json_array();
    for (int u = 0; u < result->unit_count; u++) {
        for (int i = 0; i < NT_OUTCOME_COUNT; i++)
            outcome[i] += result->unit[u].outcome[i];
        if (result->unit[u].problem.layer[0] != '\0')
            json_array_append_new(problems, unit_json(result, &result->unit[u]));
    }
    const nt_run *run = &result->run;
    json_t *summary = nt_output_document("summary");
    json_object_set_new(summary, "database", json_string(database));
    json_object_set_new(summary, "run", run->id != 0 ? nt_json_run(run) : json_null()); /* 0: it never began */
    json_object_set_new(summary, "resumed", json_boolean(result->resumed));
    json_object_set_new(summary, "outcomes", outcomes_json(outcome));
    json_object_set_new(summary, "reused", json_integer((json_int_t)result->reused));
    json_object_set_new(summary, "compiles", json_integer((json_int_t)result->compiles));
    json_object_set_new(summary, "cache_hits", json_integer((json_int_t)result->cache_hits));
    json_object_set_new(summary, "compile_child_s", nt_json_real(result->compile_child_s));
    json_object_set_new(
        summary, "device_busy_pct",
        nt_json_real(result->device_span_s > 0 ? 100 * result->device_busy_s / result->device_span_s : NAN));
    json_object_set_new(summary, "counted", json_integer((json_int_t)result->counted));
    json_object_set_new(summary, "counters_s", nt_json_real(result->counters_s));
    json_object_set_new(summary, "interrupted_by",
                        result->interrupted_by != 0 ? json_integer(result->interrupted_by) : json_null());
    json_object_set_new(summary, "error", status != NT_OK ? nt_json_error(err) : json_null());
    int pairs;
    json_object_set_new(summary, "vendor_ratio_cold", nt_json_real(vendor_mean(result, NT_COLD, &pairs)));
    json_object_set_new(summary, "vendor_ratio_hot", nt_json_real(vendor_mean(result, NT_HOT, &pairs)));
    json_object_set_new(summary, "problems", problems);
    return summary;
}
