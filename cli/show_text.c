/* show_text.c: a trial as a sheet of lines: a name, then what is known; what is unknown is left out or "-". */
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "autotune/objective.h"
#include "cli/color.h"
#include "cli/present.h"
#include "cli/show.h"
#include "core/json.h"
#include "core/stats.h"
#include "device/nvml.h"

enum { NAME_WIDTH = 12, BINS = 12, BAR = 40 };

static void line(const char *name, const char *format, ...) __attribute__((format(printf, 2, 3)));

static void line(const char *name, const char *format, ...)
{
    va_list list;
    va_start(list, format);
    printf("%-*s ", NAME_WIDTH, name);
    vprintf(format, list);
    putchar('\n');
    va_end(list);
}

/* A line of parts; nothing when it has none. */
static void parts(const char *name, nt_str *text)
{
    if (text->length > 0)
        line(name, "%s", nt_str_text(text));
    nt_str_done(text);
}

static void part(nt_str *out, const char *format, ...) __attribute__((format(printf, 2, 3)));

static void part(nt_str *out, const char *format, ...)
{
    va_list list;
    va_start(list, format);
    nt_str_add(out, out->length > 0 ? ", " : "");
    nt_str_addv(out, format, list);
    va_end(list);
}

static double real(const nt_shown *shown, const char *key)
{
    return nt_json_get_real(shown->row, key);
}

static const char *text(const nt_shown *shown, const char *key)
{
    const char *found = nt_json_get_text(shown->row, key);
    return found != NULL ? found : "-";
}

static bool is_true(const nt_shown *shown, const char *key)
{
    const json_t *value = json_object_get(shown->row, key);
    return json_is_true(value) || json_integer_value(value) == 1;
}

/* ---- what it is ---------------------------------------------------------------------------------------------------------- */

static void show_subject(const nt_shown *shown)
{
    const nt_trial *trial = &shown->trial;
    nt_str problem = {0}, params = {0}, device = {0};
    nt_problem_print(&problem, &trial->problem);
    line("problem", "%s, inputs %s, cache %s", nt_str_text(&problem), nt_fill_name(trial->problem.fill),
         nt_cache_mode_name(trial->cache));
    line("kernel", "%s%s%s", trial->kernel, trial->rule[0] != '\0' ? ", rule of thumb " : "", trial->rule);
    nt_present_params(&params, trial->params_json);
    line("parameters", "%s", nt_str_text(&params));
    part(&device, "%s (%s)", text(shown, "device"), text(shown, "device_uuid"));
    part(&device, "%s", text(shown, "arch"));
    part(&device, "%s%s", strcmp(text(shown, "device_kind"), "cuda") == 0 ? "driver " : "", text(shown, "driver"));
    part(&device, "%s", text(shown, "compiler"));
    parts("device", &device);
    nt_str_done(&problem);
    nt_str_done(&params);
}

static void show_run(const nt_shown *shown)
{
    const char *command = shown->run != NULL ? nt_json_get_text(shown->run, "command") : NULL;
    const char *source = nt_json_get_text(shown->row, "source");
    line("run", "%lld, %s%s%s", (long long)nt_json_get_int(shown->row, "run"), source != NULL ? source : "-",
         command != NULL ? ": " : "", command != NULL ? command : "");
    if (is_true(shown, "reused"))
        line("", "taken over from an earlier run by --reuse");
}

/* ---- times ----------------------------------------------------------------------------------------------------------------- */

/* What the run made small or large, where that was not time. */
static void show_objective(const nt_shown *shown)
{
    const char *text = nt_json_get_text(json_object_get(shown->run, "options"), "objective");
    nt_objective *objective = NULL;
    if (text == NULL || nt_objective_parse(text, &objective, NULL) != NT_OK)
        return;
    double value = nt_objective_of_trial(objective, &shown->trial);
    if (!isnan(value))
        line("objective", "%s: %.6g", text, value);
    nt_objective_free(objective);
}

static void show_time(const nt_shown *shown)
{
    double floor_ns = real(shown, "floor_ns"), probe_ns = real(shown, "probe_ns");
    const nt_trial *trial = &shown->trial;
    if (!isnan(trial->time_ns))
        line("time", "%s, 95 %% interval %s..%s of the median of %zu samples of %lld launches%s",
             nt_text_time_ns(trial->time_ns).s, nt_text_time_ns(trial->time_lo_ns).s,
             nt_text_time_ns(trial->time_hi_ns).s, shown->samples.count, (long long)shown->samples.launches_per_sample,
             is_true(shown, "converged") ? "" : "; the time cap came before --ci");
    else if (!isnan(probe_ns))
        line("time", "not measured; the probe took %s", nt_text_time_ns(probe_ns).s);
    int64_t rank = nt_json_get_int(shown->row, "rank");
    if (rank != NT_UNKNOWN)
        line("", "final rounds: place %lld, %.3f times the winner%s; first measured %s", (long long)rank,
             real(shown, "ratio"), rank > 1 && is_true(shown, "tied") ? ", not distinguishable from it" : "",
             nt_text_time_ns(real(shown, "first_time_ns")).s);
    if (!isnan(floor_ns))
        line("", "an empty kernel takes %s here%s", nt_text_time_ns(floor_ns).s,
             trial->time_ns < 3 * floor_ns ? ": ratios of times this near to it say little" : "");
    show_objective(shown);
}

/* The peaks as the run saw them. */
static void run_peaks(const nt_shown *shown, nt_device_info *out)
{
    nt_device_info_init(out, NT_DEVICE_CPU);
    const json_t *flops = json_object_get(shown->run, "peak_flops");
    for (int i = 0; i < NT_PRECISION_COUNT; i++)
        out->peak_flops[i] = nt_json_get_real(flops, nt_precisions[i].name);
    out->dram_peak_bytes_per_s = nt_json_get_real(shown->run, "dram_peak_bytes_per_s");
}

static void show_speed(const nt_shown *shown)
{
    const nt_problem *problem = &shown->trial.problem;
    const nt_layer *layer = nt_layer_find(problem->layer);
    nt_extents extents;
    nt_device_info peaks;
    if (isnan(shown->trial.time_ns) || layer == NULL || layer->extents(problem, &extents, NULL) != NT_OK)
        return;
    run_peaks(shown, &peaks);
    nt_speed speed = nt_speed_of(&peaks, problem, &extents, shown->trial.time_ns);
    bool users = nt_layer_is_users(problem->layer);
    line("speed", "%s, %s, %s of the roof, %s %s/s", nt_present_rate(problem->precision, speed.flop_per_s).s,
         nt_text_rate(speed.bytes_per_s).s, nt_text_pct(speed.roof_pct).s,
         nt_text_count(users ? speed.launches_per_s : speed.images_per_s).s, users ? "launches" : "images");
}

/* ---- figures --------------------------------------------------------------------------------------------------------------- */

static void show_errors(const nt_shown *shown)
{
    double impl = real(shown, "error_impl"), prec = real(shown, "error_prec");
    nt_str out = {0};
    if (!isnan(impl))
        part(&out, "%.2g of the bound against fp64 on rounded inputs", impl);
    if (!isnan(prec))
        part(&out, "%.2g relative to fp64 on the original inputs", prec);
    parts("errors", &out);
}

static void part_count(const nt_shown *shown, nt_str *out, const char *key, const char *what)
{
    int64_t count = nt_json_get_int(shown->row, key);
    if (count != NT_UNKNOWN)
        part(out, "%lld %s", (long long)count, what);
}

static void part_bytes(const nt_shown *shown, nt_str *out, const char *key, const char *what)
{
    double bytes = real(shown, key);
    if (!isnan(bytes))
        part(out, "%s %s", nt_text_bytes(bytes).s, what);
}

static void show_resources(const nt_shown *shown)
{
    nt_str out = {0};
    double limit = real(shown, "occupancy_limit_pct"), achieved = real(shown, "occupancy_pct");
    part_count(shown, &out, "grid_blocks", "blocks");
    part_count(shown, &out, "threads_per_block", "threads each");
    part_count(shown, &out, "registers", "registers a thread");
    part_bytes(shown, &out, "smem_bytes", "shared memory a block");
    part_bytes(shown, &out, "spill_bytes", "spilled a thread");
    parts("resources", &out);
    if (!isnan(limit))
        part(&out, "%s possible, limited by %s", nt_text_pct(limit).s, text(shown, "occupancy_limiter"));
    if (!isnan(achieved))
        part(&out, "%s achieved", nt_text_pct(achieved).s);
    parts("occupancy", &out);
    part_bytes(shown, &out, "dram_read_bytes", "read");
    part_bytes(shown, &out, "dram_write_bytes", "written");
    parts("memory", &out);
}

static void show_conditions(const nt_shown *shown)
{
    nt_str out = {0}, reasons = {0};
    double mhz = real(shown, "sm_clock_mhz"), celsius = real(shown, "temperature_c"), mw = real(shown, "power_mw");
    int64_t throttle = nt_json_get_int(shown->row, "throttle_mask");
    if (!isnan(mhz))
        part(&out, "%.0f MHz", mhz);
    if (!isnan(celsius))
        part(&out, "%.0f C", celsius);
    if (!isnan(mw))
        part(&out, "%.1f W", mw / 1e3);
    if (throttle != NT_UNKNOWN) {
        nt_nvml_throttle_names(throttle, &reasons);
        part(&out, throttle != 0 ? "throttled by %s" : "not throttled", nt_str_text(&reasons));
    }
    parts("conditions", &out);
    nt_str_done(&reasons);
}

static void show_cost(const nt_shown *shown)
{
    static const struct {
        const char *key, *format;
        double ns;
    } rows[] = {
        {"compile_ms", "compiling %s", 1e6},
        {"prepare_ns", "preparing %s", 1},
        {"verify_ms", "verifying %s", 1e6},
        {"measure_ms", "timing %s", 1e6},
    };
    nt_str out = {0};
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        double value = real(shown, rows[i].key);
        nt_str_add(&out, value > 0 && out.length > 0 ? ", " : "");
        if (value > 0)
            nt_str_addf(&out, rows[i].format, nt_text_time_ns(value * rows[i].ns).s);
    }
    if (is_true(shown, "artefact_cached"))
        part(&out, "code from the cache");
    parts("cost", &out);
}

/* ---- samples ---------------------------------------------------------------------------------------------------------------- */

/* Bins from the least to four quartile ranges above the median; what lies beyond would flatten all the rest, so the
 * last bin takes it too. */
static void show_histogram(const nt_samples *samples)
{
    const double *ns = samples->sample_ns;
    size_t n = samples->count, count[BINS] = {0}, most = 1;
    double lo = nt_quantile(ns, n, 0), hi = nt_quantile(ns, n, 1);
    double spread = nt_quantile(ns, n, 0.75) - nt_quantile(ns, n, 0.25), end = nt_median(ns, n) + 4 * spread;
    int bins = n < (size_t)BINS * BINS ? (int)ceil(sqrt((double)n)) : BINS;
    double width = (spread > 0 && end < hi ? end - lo : hi - lo) / bins;
    for (size_t i = 0; i < n; i++) {
        double at = width > 0 ? (ns[i] - lo) / width : 0;
        int bin = at < bins ? (int)at : bins - 1;
        count[bin]++;
        most = count[bin] > most ? count[bin] : most;
    }
    for (int i = 0; i < (width > 0 ? bins : 1); i++) {
        int bar = (int)((count[i] * BAR + most - 1) / most);
        double from = lo + i * width;
        printf("%*s from %8s (%+5.1f %%) %5zu%s%.*s\n", NAME_WIDTH, "", nt_text_time_ns(from).s,
               100 * (from / nt_median(ns, n) - 1), count[i], bar > 0 ? " " : "", bar,
               "########################################");
    }
}

static void show_samples(const nt_shown *shown)
{
    const nt_samples *s = &shown->samples;
    if (s->count == 0)
        return;
    line("samples", "%zu: least %s, quartiles %s and %s, most %s", s->count,
         nt_text_time_ns(nt_quantile(s->sample_ns, s->count, 0)).s,
         nt_text_time_ns(nt_quantile(s->sample_ns, s->count, 0.25)).s,
         nt_text_time_ns(nt_quantile(s->sample_ns, s->count, 0.75)).s,
         nt_text_time_ns(nt_quantile(s->sample_ns, s->count, 1)).s);
    show_histogram(s);
}

void nt_show_text(const nt_shown *shown, bool bold)
{
    const nt_trial *trial = &shown->trial;
    printf("%strial %lld: %s%s\n", bold ? NT_BOLD : "", (long long)trial->id, nt_outcome_name(trial->outcome),
           bold ? NT_PLAIN : "");
    if (trial->reason[0] != '\0')
        line("reason", "%s", trial->reason);
    show_subject(shown);
    show_time(shown);
    show_speed(shown);
    show_errors(shown);
    show_resources(shown);
    show_conditions(shown);
    nt_show_counters_text(shown);
    show_cost(shown);
    show_run(shown);
    show_samples(shown);
}
