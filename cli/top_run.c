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
#include "cli/top_feed.h"
#include "core/json.h"
#include "core/mem.h"
#include "core/roofline.h"
#include "core/units.h"
#include "db/db.h"
#include "kernels/layer.h"

enum { LOG_LINES = 200, LIMITER_SLICE = 50000 };

struct nt_top_run {
    nt_reader *reader;
    nt_facts facts;
    int64_t asked;      /* run; 0: the newest */
    bool ended;         /* its record says so */
    char host[128];
    double started_unix_s, ended_unix_s, total_s;
    int64_t version;
    bool seen;          /* version is one */
    int64_t last;       /* trial read last */
    int64_t limited;    /* limiters are counted up to this trial */
    int64_t begin;      /* limiters are counted from it on */
    char first_value[NT_PARAMS][48];
    ino_t inode;        /* of the file that was opened */
    char trouble[256];  /* what is wrong with the database; "" when nothing */
    /* playing */
    double speed, play_from_s, until_unix_s;
};

static double clock_s(clockid_t clock)
{
    struct timespec now;
    clock_gettime(clock, &now);
    return (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
}

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
    if (r->asked > 0 && id != r->asked)
        return true;
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
    if (strcmp(r->facts.state, "running") != 0 || gethostname(host, sizeof host - 1) != 0 ||
        strcmp(host, r->host) != 0)
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
        facts->elapsed_s = clock_s(CLOCK_REALTIME) - r->started_unix_s;
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

/* ---- the latest trials --------------------------------------------------------------------------------------------------- */

static int param_index(nt_facts *facts, const char *name)
{
    for (int i = 0; i < facts->params; i++)
        if (strcmp(facts->param[i], name) == 0)
            return i;
    if (facts->params == NT_PARAMS || strlen(name) >= sizeof facts->param[0])
        return -1;
    facts->varies[facts->params] = false;
    nt_copy(facts->param[facts->params], sizeof facts->param[0], name);
    return facts->params++;
}

/* Which parameters there are, and which take more than one value. */
static void learn_params(nt_top_run *r, const char *text)
{
    json_t *params = NULL, *value;
    const char *key;
    if (nt_json_parse(text, &params, NULL) != NT_OK)
        return;
    json_object_foreach(params, key, value)
    {
        int known = r->facts.params, index = param_index(&r->facts, key);
        char *dumped = json_dumps(value, JSON_ENCODE_ANY);
        if (index >= 0 && dumped != NULL) {
            if (index == known)
                nt_copy(r->first_value[index], sizeof r->first_value[index], dumped);
            else if (strncmp(r->first_value[index], dumped, sizeof r->first_value[index] - 1) != 0)
                r->facts.varies[index] = true;
        }
        free(dumped);
    }
    json_decref(params);
}

static void log_failure(nt_facts *facts, const nt_row *row)
{
    char clock[16];
    struct tm local;
    time_t when = (time_t)nt_row_real(row, "stored_unix_s");
    if (facts->log.rows >= 2 * LOG_LINES) { /* drops the older half */
        nt_sheet whole = facts->log;
        facts->log = (nt_sheet){0};
        nt_sheet_copy_rows(&whole, LOG_LINES, &facts->log);
        nt_sheet_done(&whole);
    }
    localtime_r(&when, &local);
    strftime(clock, sizeof clock, "%H:%M:%S", &local);
    nt_sheet_add_row(&facts->log);
    nt_sheet_set_text(&facts->log, 0, clock);
    nt_sheet_set_number(&facts->log, 1, nt_row_real(row, "trial"));
    nt_sheet_set_text(&facts->log, 2, nt_row_text(row, "outcome"));
    nt_sheet_set_text(&facts->log, 3, nt_row_text(row, "reason"));
}

/* A number for the problem of a row; only equality matters. */
static uint64_t problem_of(const nt_row *row)
{
    static const char *const texts[] = {"shape", "precision", "layout", "cache", "layer"};
    uint64_t number = (uint64_t)nt_row_int(row, "batch");
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++)
        for (const char *c = nt_row_text(row, texts[i]); *c != '\0'; c++)
            number = (number ^ (unsigned char)*c) * 0x100000001b3u;
    return number;
}

static void add_point(nt_facts *facts, const nt_row *row, nt_outcome outcome)
{
    if (facts->points == NT_POINTS) {
        enum { KEPT = NT_POINTS / 2 };
        memmove(facts->point, facts->point + (NT_POINTS - KEPT), sizeof facts->point[0] * KEPT);
        facts->points = KEPT;
    }
    facts->point[facts->points++] = (nt_point){nt_row_int(row, "trial"), outcome, problem_of(row),
                                               nt_row_real(row, "first_time_ns"),
                                               nt_row_real(row, "occupancy_limit_pct"),
                                               nt_row_real(row, "occupancy_pct")};
}

static void tell_latest(nt_facts *facts, const nt_row *row)
{
    nt_str text = {0};
    nt_str_addf(&text, "%s ", nt_row_text(row, "outcome"));
    double time_ns = nt_row_real(row, "first_time_ns");
    if (!isnan(time_ns))
        nt_str_addf(&text, "%s ", nt_text_time_ns(time_ns).s);
    nt_present_params(&text, nt_row_text(row, "params"));
    nt_copy(facts->latest, sizeof facts->latest, nt_str_text(&text));
    nt_str_done(&text);
}

static bool keep_followed(void *context, const nt_row *row)
{
    nt_top_run *r = context;
    int outcome = nt_outcome_find(nt_row_text(row, "outcome"));
    if (!isnan(r->until_unix_s) && nt_row_real(row, "stored_unix_s") > r->until_unix_s)
        return false;
    r->last = nt_row_int(row, "trial");
    if (outcome < 0)
        return true;
    if (outcome != NT_OUTCOME_PRUNED)
        add_point(&r->facts, row, (nt_outcome)outcome);
    if (outcome != NT_OUTCOME_PRUNED && outcome != NT_OUTCOME_OK && outcome != NT_OUTCOME_ABANDONED)
        log_failure(&r->facts, row);
    learn_params(r, nt_row_text(row, "params"));
    tell_latest(&r->facts, row);
    return true;
}

static bool keep_number(void *context, const nt_row *row)
{
    *(int64_t *)context = nt_row_int(row, "trial");
    return false;
}

/* Of a long run, the first look reads the latest trials alone. */
static nt_status find_begin(nt_top_run *r, nt_error *err)
{
    nt_window window = {.run = r->facts.run, .until_unix_s = NAN, .keys = 1, .count = 1};
    int64_t newest = 0, oldest = 0;
    nt_copy(window.key[0].name, sizeof window.key[0].name, "trial");
    nt_status status = r->reader->window(r->reader, &window, keep_number, &oldest, err);
    window.key[0].descending = true;
    if (status == NT_OK)
        status = r->reader->window(r->reader, &window, keep_number, &newest, err);
    if (status != NT_OK || oldest == 0)
        return status;
    r->begin = r->limited = oldest - 1;
    r->last = isnan(r->until_unix_s) && newest - NT_POINTS > oldest - 1 ? newest - NT_POINTS : oldest - 1;
    return NT_OK;
}

static bool keep_limiter(void *context, const nt_row *row)
{
    nt_facts *facts = context;
    for (int i = 0; i < NT_LIMIT_COUNT; i++)
        if (strcmp(nt_row_text(row, "limiter"), nt_limiter_name((nt_limiter)i)) == 0)
            facts->limiter[i] += nt_row_int(row, "trials");
    return true;
}

static nt_status count_limiters(nt_top_run *r, nt_error *err)
{
    int64_t upto = r->limited + LIMITER_SLICE < r->last ? r->limited + LIMITER_SLICE : r->last;
    nt_status status = NT_OK;
    if (r->begin >= 0 && upto > r->limited) {
        status = r->reader->limiters(r->reader, r->facts.run, r->limited, upto, keep_limiter, &r->facts, err);
        if (status == NT_OK)
            r->limited = upto;
    }
    r->facts.limiter_share =
        r->last > r->begin ? (double)(r->limited - r->begin) / (double)(r->last - r->begin) : 1;
    return status;
}

static nt_status follow(nt_top_run *r, nt_error *err)
{
    enum { ROWS = 4 * NT_POINTS };
    nt_status status = NT_OK;
    if (r->begin < 0)
        status = find_begin(r, err);
    if (status == NT_OK && r->begin >= 0)
        status = r->reader->follow(r->reader, r->facts.run, r->last, ROWS, keep_followed, r, err);
    return status;
}

/* ---- together ------------------------------------------------------------------------------------------------------------ */

static nt_status refresh(nt_top_run *r, nt_error *err)
{
    int64_t run_before = r->facts.has_run ? r->facts.run : 0;
    nt_status status = r->reader->runs(r->reader, keep_run, r, err);
    if (status != NT_OK || !r->facts.has_run)
        return status;
    /* The peaks of a cpu are measured after the run began. */
    if (r->facts.run != run_before || isnan(r->facts.device.dram_peak_bytes_per_s))
        status = r->reader->device(r->reader, r->facts.run, keep_device, r, err);
    if (r->speed > 0 && !isnan(r->started_unix_s)) {
        double end = isnan(r->ended_unix_s) ? clock_s(CLOCK_REALTIME) : r->ended_unix_s;
        r->until_unix_s = fmin(r->started_unix_s + (clock_s(CLOCK_MONOTONIC) - r->play_from_s) * r->speed, end + 1);
        nt_copy(r->facts.state, sizeof r->facts.state, r->until_unix_s > end ? "played to its end" : "playing");
    }
    if (status == NT_OK)
        status = count_units(r, err);
    if (status == NT_OK)
        status = follow(r, err);
    check_alive(r);
    return status;
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
    bool running = r->facts.has_run && strcmp(r->facts.state, "running") == 0;
    bool playing = r->speed > 0 && strcmp(r->facts.state, "played to its end") != 0;
    *changed = !r->seen || version != r->version || playing || r->limited < r->last;
    if (!r->seen || version != r->version || playing)
        status = refresh(r, err);
    else if (running)
        check_alive(r);
    if (status == NT_OK && r->facts.has_run)
        status = count_limiters(r, err);
    if (r->facts.has_run)
        tell_time(r);
    *changed = *changed || running;
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
    r->play_from_s = clock_s(CLOCK_MONOTONIC);
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
