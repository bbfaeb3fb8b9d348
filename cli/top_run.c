/* top_run.c: the facts of a run for the screen, kept up to date from the database: counts from the sums that the writer
 * keeps, the latest trials by their numbers, limiters in slices, so that no look costs more the longer a run is. */
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "cli/announce.h"
#include "cli/options.h"
#include "cli/present.h"
#include "cli/row.h"
#include "cli/top_run.h"
#include "core/clock.h"
#include "core/json.h"
#include "core/mem.h"
#include "core/roofline.h"
#include "core/units.h"
#include "db/db.h"
#include "kernels/layer.h"

/* ---- the run ------------------------------------------------------------------------------------------------------------- */

static void forget_run(nt_top_run *r, int64_t id)
{
    nt_facts *facts = &r->facts;
    nt_sheet_clear(&facts->log);
    nt_sheet_clear(&facts->units);
    facts->points = facts->params = 0;
    memset(facts->limiter, 0, sizeof facts->limiter);
    memset(facts->varies, 0, sizeof facts->varies);
    facts->latest[0] = '\0';
    nt_str_clear(&r->latest_params);
    facts->run = id;
    facts->has_run = true;
    r->last = r->limited = r->begin = -1;
    r->until_unix_s = NAN;
    nt_sheet_add_column(&facts->log, "time", "time", NT_SHEET_TEXT, true);
    nt_sheet_add_column(&facts->log, "trial", "trial", NT_SHEET_WHOLE, true);
    nt_sheet_add_column(&facts->log, "outcome", "outcome", NT_SHEET_TEXT, true);
    nt_sheet_add_column(&facts->log, "reason", "reason", NT_SHEET_TEXT, true);
}

static bool keep_run(void *context, const nt_row *row)
{
    nt_top_run *r = context;
    nt_facts *facts = &r->facts;
    int64_t id = nt_row_int(row, "run");
    if (!facts->has_run || facts->run != id)
        forget_run(r, id);
    nt_copy(facts->state, sizeof facts->state, nt_row_text(row, "state"));
    nt_copy(facts->command, sizeof facts->command, nt_row_text(row, "command"));
    nt_copy(facts->strategy, sizeof facts->strategy, nt_row_text(row, "strategy"));
    nt_copy(facts->driver, sizeof facts->driver, nt_row_text(row, "driver"));
    nt_copy(r->host, sizeof r->host, nt_row_text(row, "host"));
    r->started_unix_s = nt_row_real(row, "started_unix_s");
    r->ended_unix_s = nt_row_real(row, "ended_unix_s");
    r->total_s = nt_row_real(row, "total_s");
    return true;
}

static bool keep_device(void *context, const nt_row *row)
{
    nt_top_run *r = context;
    json_t *object = nt_row_run_json(row);
    if (nt_json_to_device(object, &r->facts.device, NULL) != NT_OK)
        nt_device_info_init(&r->facts.device, NT_DEVICE_CPU);
    json_decref(object);
    return false;
}

/* A run that says it runs here, while nothing does, was killed. */
static void check_alive(nt_top_run *r)
{
    char host[128] = "";
    nt_announced sweep[16];
    if (strcmp(r->facts.state, "running") != 0 || gethostname(host, sizeof host - 1) != 0 || strcmp(host, r->host) != 0)
        return;
    char *absolute = realpath(r->facts.database, NULL);
    int count = nt_announced_sweeps(sweep, 16);
    for (int i = 0; i < count && absolute != NULL; i++)
        if (strcmp(sweep[i].database, absolute) == 0) {
            free(absolute);
            return;
        }
    free(absolute);
    nt_copy(r->facts.state, sizeof r->facts.state, "ended without a word");
}

/* ---- budget: what the command line asked for ------------------------------------------------------------------------------- */

static void read_budget(nt_facts *facts)
{
    static const double default_s = 60;
    const char *at = strstr(facts->command, "--budget");
    char *end;
    facts->planned = NT_UNKNOWN;
    facts->budget_s = default_s;
    if (at == NULL)
        return;
    at += strlen("--budget");
    at += *at == '=' || *at == ' ';
    double value = strtod(at, &end);
    double unit = *end == 's' ? 1 : *end == 'm' ? 60 : *end == 'h' ? 3600 : 0;
    facts->budget_s = unit > 0 ? value * unit : NAN;
    facts->planned = unit > 0 ? NT_UNKNOWN : (int64_t)value;
}

static void tell_time(nt_top_run *r)
{
    nt_facts *facts = &r->facts;
    read_budget(facts);
    if (!isnan(r->until_unix_s))
        facts->elapsed_s = r->until_unix_s - r->started_unix_s;
    else if (strcmp(facts->state, "running") == 0)
        facts->elapsed_s = nt_unix_s() - r->started_unix_s;
    else
        facts->elapsed_s = !isnan(r->total_s) ? r->total_s : r->ended_unix_s - r->started_unix_s;
    facts->eta_s = NAN;
    if (strcmp(facts->state, "running") != 0)
        return;
    if (facts->planned != NT_UNKNOWN && facts->trials > 0)
        facts->eta_s = fmax(facts->elapsed_s / (double)facts->trials * (double)(facts->planned - facts->trials), 0);
    else if (!isnan(facts->budget_s))
        facts->eta_s = fmax(facts->budget_s - facts->elapsed_s, 0);
}

/* ---- counts ---------------------------------------------------------------------------------------------------------------- */

static const struct {
    const char *name, *heading;
    nt_sheet_kind kind;
    bool wanted;
} unit_columns[] = {
    {"shape", "shape", NT_SHEET_TEXT, true},
    {"batch", "batch", NT_SHEET_WHOLE, true},
    {"precision", "precision", NT_SHEET_TEXT, true},
    {"layout", "layout", NT_SHEET_TEXT, false},
    {"cache", "cache", NT_SHEET_TEXT, false},
    {"trials", "tried", NT_SHEET_WHOLE, false},
    {"ok", "ok", NT_SHEET_WHOLE, false},
    {"least_time_ns", "best", NT_SHEET_TIME_NS, true},
    {"trial", "trial", NT_SHEET_WHOLE, false},
    {"occupancy_limit_pct", "occ%", NT_SHEET_PCT, false},
    {"occupancy_pct", "achieved%", NT_SHEET_PCT, false},
    {"occupancy_limiter", "limiter", NT_SHEET_TEXT, false},
    {"kernel", "kernel", NT_SHEET_TEXT, true},
    {"params", "parameters", NT_SHEET_TEXT, false},
};

/* The roofline of the best trial of the last problem that has one. */
static void tell_roof(nt_facts *facts, const nt_row *row)
{
    nt_problem problem;
    nt_extents extents;
    double time_ns = nt_row_real(row, "least_time_ns");
    if (isnan(time_ns) || nt_row_problem(row, &problem, NULL) != NT_OK)
        return;
    const nt_layer *layer = nt_layer_find(problem.layer);
    facts->roof_flop_per_s = facts->device.peak_flops[problem.precision];
    facts->roof_bytes_per_s = facts->device.dram_peak_bytes_per_s;
    facts->dot_intensity = facts->dot_flop_per_s = NAN;
    facts->roof_text[0] = '\0';
    if (layer == NULL || layer->extents(&problem, &extents, NULL) != NT_OK)
        return;
    nt_roof_work work = {extents.flop, extents.bytes, NAN, NAN};
    nt_roofline line =
        nt_roofline_of(&facts->device, problem.precision, nt_row_real(row, "sm_clock_mhz"), time_ns, &work);
    facts->dot_intensity = line.counted.intensity;
    facts->dot_flop_per_s = line.counted.flop_per_s;
    if (!isnan(line.counted.roof_pct))
        snprintf(facts->roof_text, sizeof facts->roof_text, "%.0f %% of the roof, nearest %s, peaks %s",
                 line.counted.roof_pct, nt_roof_bound_name(line.counted.bound), facts->device.peak_source);
}

static bool keep_unit(void *context, const nt_row *row)
{
    nt_facts *facts = context;
    nt_sheet_add_row(&facts->units);
    for (size_t i = 0; i < sizeof unit_columns / sizeof unit_columns[0]; i++) {
        nt_str text = {0};
        if (strcmp(unit_columns[i].name, "params") == 0)
            nt_present_params(&text, nt_row_text(row, "params"));
        else
            nt_str_add(&text, nt_row_text(row, unit_columns[i].name));
        nt_sheet_set_text(&facts->units, (int)i, nt_str_text(&text));
        nt_sheet_set_number(&facts->units, (int)i, nt_row_real(row, unit_columns[i].name));
        nt_str_done(&text);
    }
    for (int i = 0; i < NT_OUTCOME_COUNT; i++) {
        int64_t count = nt_row_int(row, nt_outcome_name((nt_outcome)i));
        facts->outcome[i] += count != NT_UNKNOWN ? count : 0;
        facts->trials += count != NT_UNKNOWN ? count : 0;
    }
    tell_roof(facts, row);
    return true;
}

static nt_status count_units(nt_top_run *r, nt_error *err)
{
    nt_facts *facts = &r->facts;
    nt_sheet_clear(&facts->units);
    for (size_t i = 0; i < sizeof unit_columns / sizeof unit_columns[0]; i++)
        nt_sheet_add_column(&facts->units, unit_columns[i].name, unit_columns[i].heading, unit_columns[i].kind,
                            unit_columns[i].wanted);
    memset(facts->outcome, 0, sizeof facts->outcome);
    facts->trials = 0;
    return r->reader->units(r->reader, facts->run, r->until_unix_s, keep_unit, facts, err);
}

/* ---- together ------------------------------------------------------------------------------------------------------------ */

static nt_status refresh(nt_top_run *r, nt_error *err)
{
    int64_t run_before = r->facts.has_run ? r->facts.run : 0;
    nt_status status = r->reader->run(r->reader, r->asked, keep_run, r, err);
    if (status != NT_OK || !r->facts.has_run)
        return status;
    /* The peaks of a cpu are measured after the run began. */
    if (r->facts.run != run_before || isnan(r->facts.device.dram_peak_bytes_per_s))
        status = r->reader->device(r->reader, r->facts.run, keep_device, r, err);
    if (r->speed > 0 && !isnan(r->started_unix_s)) {
        double end = isnan(r->ended_unix_s) ? nt_unix_s() : r->ended_unix_s;
        r->until_unix_s = fmin(r->started_unix_s + (nt_now_s() - r->play_from_s) * r->speed, end + 1);
        nt_copy(r->facts.state, sizeof r->facts.state, r->until_unix_s > end ? "played to its end" : "playing");
    }
    if (status == NT_OK)
        status = count_units(r, err);
    if (status == NT_OK)
        status = nt_top_follow(r, err);
    return status;
}

/* A sweep that stores is alive; one that is silent is looked for once a second. */
static bool look_for_sweep(nt_top_run *r, bool stored)
{
    char before[sizeof r->facts.state];
    double now_s = nt_now_s();
    if (stored && r->seen)
        r->alive_s = now_s;
    if (now_s - r->alive_s < 1)
        return false;
    r->alive_s = now_s;
    memcpy(before, r->facts.state, sizeof before);
    check_alive(r);
    return strcmp(before, r->facts.state) != 0;
}

/* Whether the whole seconds that a running sweep took are others than those told. */
static bool second_passed(nt_top_run *r)
{
    int64_t whole_s = isnan(r->facts.elapsed_s) ? 0 : (int64_t)r->facts.elapsed_s;
    bool passed = whole_s != r->told_s && strcmp(r->facts.state, "running") == 0;
    r->told_s = whole_s;
    return passed;
}

/* SQLite goes on reading a file that has no name any more. */
static nt_status check_in_place(const nt_top_run *r, nt_error *err)
{
    struct stat st;
    if (stat(r->facts.database, &st) == 0 && (r->inode == 0 || st.st_ino == r->inode))
        return NT_OK;
    return nt_fail(err, NT_IO, "%s was removed or replaced; this is what was last read of it", r->facts.database);
}

static nt_status update(nt_top_run *r, bool *changed, nt_error *err)
{
    int64_t version = 0;
    nt_status status = check_in_place(r, err);
    if (status == NT_OK)
        status = r->reader->version(r->reader, &version, err);
    if (status != NT_OK)
        return status;
    bool playing = r->speed > 0 && strcmp(r->facts.state, "played to its end") != 0;
    bool stored = !r->seen || version != r->version || playing || r->behind;
    *changed = stored || r->limited < r->last;
    if (stored)
        status = refresh(r, err);
    *changed = look_for_sweep(r, stored) || *changed;
    if (status == NT_OK && r->facts.has_run)
        status = nt_top_count_limiters(r, err);
    if (r->facts.has_run)
        tell_time(r);
    *changed = second_passed(r) || *changed;
    r->seen = status == NT_OK;
    r->version = version;
    return status;
}

nt_status nt_top_run_update(nt_top_run *r, bool *changed, nt_error *err)
{
    nt_error why = {0};
    *changed = false;
    nt_status status = update(r, changed, &why);
    bool told = strcmp(r->trouble, why.what) == 0;
    nt_copy(r->trouble, sizeof r->trouble, why.what);
    *changed = *changed || !told;
    if (status != NT_OK && err != NULL)
        *err = why;
    return status;
}

const char *nt_top_run_trouble(const nt_top_run *r)
{
    return r->trouble;
}

nt_status nt_top_run_open(const nt_top_source *source, nt_top_run **out, nt_error *err)
{
    nt_top_run *r = nt_alloc_zero(1, sizeof *r);
    bool changed;
    struct stat st;
    r->asked = source->run;
    r->speed = source->speed;
    r->play_from_s = nt_now_s();
    r->until_unix_s = r->started_unix_s = r->ended_unix_s = r->total_s = NAN;
    r->last = r->limited = r->begin = -1;
    r->facts.planned = NT_UNKNOWN;
    r->facts.roof_flop_per_s = r->facts.roof_bytes_per_s = r->facts.dot_intensity = r->facts.dot_flop_per_s = NAN;
    r->facts.budget_s = r->facts.elapsed_s = r->facts.eta_s = NAN;
    nt_device_info_init(&r->facts.device, NT_DEVICE_CPU);
    nt_copy(r->facts.database, sizeof r->facts.database, source->database);
    nt_status status = nt_db_reader_open(source->database, &r->reader, err);
    if (status == NT_OK && stat(source->database, &st) == 0)
        r->inode = st.st_ino;
    if (status == NT_OK)
        status = nt_top_run_update(r, &changed, err);
    if (status == NT_OK && !r->facts.has_run && source->run > 0) {
        status = nt_fail(err, NT_NOT_FOUND, "%s has no run %lld", source->database, (long long)source->run);
        nt_hint(err, "`nntune runs --db %s` lists them", source->database);
    }
    if (status != NT_OK) {
        nt_top_run_close(r);
        return status;
    }
    *out = r;
    return NT_OK;
}

void nt_top_run_close(nt_top_run *r)
{
    if (r == NULL)
        return;
    if (r->reader != NULL)
        r->reader->close(r->reader);
    nt_str_done(&r->latest_params);
    nt_sheet_done(&r->facts.units);
    nt_sheet_done(&r->facts.log);
    free(r);
}

nt_reader *nt_top_run_reader(nt_top_run *r)
{
    return r->reader;
}

const nt_facts *nt_top_run_facts(const nt_top_run *r)
{
    return &r->facts;
}

double nt_top_run_until(const nt_top_run *r)
{
    return r->until_unix_s;
}
