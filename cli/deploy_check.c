#include "cli/deploy_check.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "autotune/sweep.h"
#include "cli/color.h"
#include "cli/command_line.h"
#include "cli/deploy.h"
#include "cli/output.h"
#include "cli/present.h"
#include "cli/progress.h"
#include "cli/table.h"
#include "core/json.h"
#include "core/mem.h"
#include "core/paths.h"
#include "db/db.h"
#include "device/device.h"

/* X(name, text): what became of an entry */
#define VERDICT_MAP(X)                \
    X(HOLDS, "holds")                 \
    X(FASTER, "faster than promised") \
    X(SLOWER, "slower than promised") \
    X(UNCLEAR, "unclear")             \
    X(FAILED, "fails")                \
    X(STALE, "kernel changed")        \
    X(FOREIGN, "another device")

typedef enum verdict {
#define X(name, text) VERDICT_##name,
    VERDICT_MAP(X)
#undef X
        VERDICT_COUNT
} verdict;

static const char *const verdict_texts[] = {
#define X(name, text) text,
    VERDICT_MAP(X)
#undef X
};

typedef struct checked {
    verdict verdict;
    double time_ns, lo_ns, hi_ns;
    char reason[512];
} checked;

typedef struct checker {
    const nt_args *args;
    nt_deploy table;
    nt_device_info device;
    nt_device_kind kind;
    int ordinal;
    nt_sink *sink;
    double threshold; /* 0.05 */
    int interrupted_by;
} checker;

/* ---- one entry ------------------------------------------------------------------------------------------------------- */

/* Without a measurement: false when there is nothing to measure. */
static bool can_be_measured(const checker *c, const nt_deploy_entry *e, checked *out)
{
    char hash[NT_KEY_BYTES];
    const nt_deploy_device *d = &c->table.device[e->device];
    const nt_kernel *kernel = nt_kernel_find(e->problem.layer, c->kind, e->kernel);
    if (d->kind != c->kind || strcmp(d->arch, c->device.arch) != 0 || strcmp(d->name, c->device.name) != 0) {
        out->verdict = VERDICT_FOREIGN;
        snprintf(out->reason, sizeof out->reason, "measured on %s (%s)", d->name, d->arch);
        return false;
    }
    if (kernel == NULL) {
        out->verdict = VERDICT_STALE;
        snprintf(out->reason, sizeof out->reason, "this program has no kernel '%s' for it", e->kernel);
        return false;
    }
    nt_kernel_hash(kernel, NULL, hash);
    if (e->source_hash[0] != '\0' && strcmp(hash, e->source_hash) != 0) {
        out->verdict = VERDICT_STALE;
        snprintf(out->reason, sizeof out->reason, "the source of '%s' is not the one that was measured", e->kernel);
        return false;
    }
    return true;
}

static void compare(const checker *c, const nt_deploy_entry *e, checked *out)
{
    double promised_lo = isnan(e->time_lo_ns) ? e->time_ns : e->time_lo_ns;
    double promised_hi = isnan(e->time_hi_ns) ? e->time_ns : e->time_hi_ns;
    double lo = (isnan(out->lo_ns) ? out->time_ns : out->lo_ns) / promised_hi;
    double hi = (isnan(out->hi_ns) ? out->time_ns : out->hi_ns) / promised_lo;
    if (lo > 1 + c->threshold)
        out->verdict = VERDICT_SLOWER;
    else if (hi < 1 / (1 + c->threshold))
        out->verdict = VERDICT_FASTER;
    else if (hi > 1 + c->threshold)
        out->verdict = VERDICT_UNCLEAR;
    else
        out->verdict = VERDICT_HOLDS;
    snprintf(out->reason, sizeof out->reason, "%.3f times the promised time, %.3f to %.3f", out->time_ns / e->time_ns,
             lo, hi);
    if (strcmp(e->driver, c->device.driver) != 0)
        snprintf(out->reason + strlen(out->reason), sizeof out->reason - strlen(out->reason), "; driver was %s",
                 e->driver);
    if (strcmp(e->compiler, c->device.compiler) != 0)
        snprintf(out->reason + strlen(out->reason), sizeof out->reason - strlen(out->reason), "; compiler was %s",
                 e->compiler);
}

static nt_status measure(checker *c, const nt_deploy_entry *e, checked *out, nt_error *err)
{
    nt_str shape = {0};
    nt_trial like;
    nt_sweep_result result = {0};
    nt_sweep_events events = {0};
    nt_shape_print(&shape, &e->problem.shape);
    nt_sweep_options options = {.layer = e->problem.layer,
                                .device = c->kind,
                                .ordinal = c->ordinal,
                                .shape = {nt_str_text(&shape)},
                                .shape_count = 1,
                                .batch = {e->problem.batch},
                                .batch_count = 1,
                                .precision = {e->problem.precision},
                                .precision_count = 1,
                                .layout = {e->problem.layout},
                                .layout_count = 1,
                                .cache = {e->cache},
                                .cache_count = 1,
                                .fill = e->problem.fill,
                                .kernel = e->kernel,
                                .seed = 1,
                                .ci_rel = 0.005,
                                .max_error = INFINITY,
                                .wait = nt_args_flag(c->args, "wait"),
                                .command = nt_command_line()};
    nt_trial_init(&like);
    like.problem = e->problem;
    like.cache = e->cache;
    like.params_json = nt_strdup(e->params_json);
    nt_copy(like.kernel, sizeof like.kernel, e->kernel);
    nt_status status = nt_sweep_rerun(&options, &like, c->sink, &events, &result, err);
    c->interrupted_by = result.interrupted_by;
    if (status == NT_OK && result.unit_count > 0 && result.unit[0].has_best) {
        out->time_ns = result.unit[0].best.time_ns;
        out->lo_ns = result.unit[0].best.time_lo_ns;
        out->hi_ns = result.unit[0].best.time_hi_ns;
        compare(c, e, out);
    } else {
        out->verdict = VERDICT_FAILED;
        snprintf(out->reason, sizeof out->reason, "its configuration gives no result here any more");
    }
    nt_sweep_result_done(&result);
    nt_trial_done(&like);
    nt_str_done(&shape);
    return status;
}

/* ---- all ------------------------------------------------------------------------------------------------------------- */

static bool is_bad(verdict v)
{
    return v == VERDICT_SLOWER || v == VERDICT_FAILED || v == VERDICT_STALE;
}

static nt_status check_all(checker *c, checked *out, nt_progress_line *line, nt_error *err)
{
    char text[160];
    nt_status status = NT_OK;
    for (size_t i = 0; status == NT_OK && i < c->table.entry_count && c->interrupted_by == 0; i++) {
        snprintf(text, sizeof text, "entry %zu of %zu", i + 1, c->table.entry_count);
        nt_progress_show(line, text, false);
        if (can_be_measured(c, &c->table.entry[i], &out[i]))
            status = measure(c, &c->table.entry[i], &out[i], err);
    }
    nt_progress_clear(line);
    return status;
}

static json_t *entry_json(const nt_deploy_entry *e, const checked *is)
{
    json_t *json = nt_json_problem(&e->problem);
    json_object_set_new(json, "kernel", json_string(e->kernel));
    json_object_set_new(json, "verdict", json_string(verdict_texts[is->verdict]));
    json_object_set_new(json, "reason", json_string(is->reason));
    json_object_set_new(json, "promised_ns", nt_json_real(e->time_ns));
    json_object_set_new(json, "time_ns", nt_json_real(is->time_ns));
    json_object_set_new(json, "time_lo_ns", nt_json_real(is->lo_ns));
    json_object_set_new(json, "time_hi_ns", nt_json_real(is->hi_ns));
    return json;
}

static void show(const checker *c, const checked *is, const char *path)
{
    int64_t count[VERDICT_COUNT] = {0};
    nt_table *table = nt_table_new("problem|kernel|>promised|>now|verdict|reason");
    json_t *list = json_array();
    for (size_t i = 0; i < c->table.entry_count; i++) {
        nt_str text = {0};
        count[is[i].verdict]++;
        nt_present_problem(&text, &c->table.entry[i].problem, c->table.entry[i].cache);
        nt_table_cell(table, "%s", nt_str_text(&text));
        nt_table_cell(table, "%s", c->table.entry[i].kernel);
        nt_table_cell(table, "%s", nt_text_time_ns(c->table.entry[i].time_ns).s);
        nt_table_cell(table, "%s", nt_text_time_ns(is[i].time_ns).s);
        nt_table_cell(table, "%s", verdict_texts[is[i].verdict]);
        nt_table_cell(table, "%s", is[i].reason);
        json_array_append_new(list, entry_json(&c->table.entry[i], &is[i]));
        nt_str_done(&text);
    }
    if (nt_args_flag(c->args, "json")) {
        json_t *document = nt_output_document("table_check");
        json_object_set_new(document, "file", json_string(path));
        json_object_set_new(document, "threshold_pct", json_real(c->threshold * 100));
        json_object_set(document, "entries", list);
        nt_output_json(document);
    } else {
        nt_table_print(table, stdout, nt_color_wanted(c->args, stdout));
        for (int v = 0; v < VERDICT_COUNT; v++)
            if (count[v] > 0)
                printf("%lld %s\n", (long long)count[v], verdict_texts[v]);
    }
    json_decref(list);
    nt_table_free(table);
}

static nt_status judge(const checker *c, const checked *is, const char *path, nt_error *err)
{
    size_t bad = 0, foreign = 0;
    for (size_t i = 0; i < c->table.entry_count; i++) {
        bad += is_bad(is[i].verdict);
        foreign += is[i].verdict == VERDICT_FOREIGN;
    }
    if (bad > 0) {
        nt_fail(err, NT_REGRESSION, "%zu of %zu entries of %s no longer hold", bad, c->table.entry_count, path);
        return nt_hint(err, "sweep these problems again and build the table anew");
    }
    if (foreign == c->table.entry_count)
        return nt_fail(err, NT_NO_DEVICE, "%s has no entry for this device, %s (%s)", path, c->device.name,
                       c->device.arch);
    return NT_OK;
}

/* Measurements go to a database of their own, which is thrown away: a table's check is no result of a sweep. */
static nt_status open_scratch(char folder[64], char path[80], nt_sink **out, nt_error *err)
{
    snprintf(folder, 64, "/tmp/nntune-check-XXXXXX");
    if (mkdtemp(folder) == NULL)
        return nt_fail(err, NT_IO, "no folder for measurements can be made below /tmp");
    snprintf(path, 80, "%s/check.db", folder);
    return nt_db_sink_open(path, out, err);
}

static void remove_scratch(const char *folder, const char *path)
{
    static const char *const endings[] = {"", "-wal", "-shm", "-journal"};
    char name[96];
    for (size_t i = 0; i < sizeof endings / sizeof endings[0]; i++) {
        snprintf(name, sizeof name, "%s%s", path, endings[i]);
        unlink(name);
    }
    rmdir(folder);
}

static nt_status check_here(checker *c, const char *path, int *exit_code, nt_error *err)
{
    char folder[64] = "", database[80] = "";
    checked *is = nt_alloc_zero(c->table.entry_count, sizeof *is);
    for (size_t i = 0; i < c->table.entry_count; i++)
        is[i] =
            (checked){.verdict = VERDICT_UNCLEAR, .time_ns = NAN, .lo_ns = NAN, .hi_ns = NAN, .reason = "not reached"};
    nt_status status = open_scratch(folder, database, &c->sink, err);
    if (status == NT_OK) {
        nt_progress_line *line = nt_progress_open(c->args);
        status = check_all(c, is, line, err);
        nt_progress_close(line);
    }
    nt_sink_close(c->sink);
    if (folder[0] != '\0')
        remove_scratch(folder, database);
    if (status == NT_OK) {
        show(c, is, path);
        status = judge(c, is, path, err);
    }
    if (c->interrupted_by != 0)
        *exit_code = 128 + c->interrupted_by;
    free(is);
    return status;
}

nt_status nt_deploy_check(const nt_args *args, int *exit_code, nt_error *err)
{
    const char *path = nt_args_positional(args, 1);
    checker c = {.args = args, .threshold = nt_args_real(args, "threshold", 5) / 100};
    if (path == NULL)
        return nt_fail(err, NT_USAGE, "no table is named: nntune table check FILE");
    nt_status status = nt_deploy_read(path, &c.table, err);
    if (status == NT_OK && c.table.entry_count == 0)
        status = nt_fail(err, NT_NOT_FOUND, "%s has no entries", path);
    if (status == NT_OK) {
        const char *kind = nt_device_kind_name(c.table.device[c.table.entry[0].device].kind);
        status = nt_device_parse(nt_args_text(args, "device", kind), &c.kind, &c.ordinal, err);
    }
    if (status == NT_OK)
        status = nt_sweep_identify(c.kind, c.ordinal, &c.device, err);
    if (status == NT_OK)
        status = check_here(&c, path, exit_code, err);
    nt_deploy_done(&c.table);
    return status;
}
