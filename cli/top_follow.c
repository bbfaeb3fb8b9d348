/* top_follow.c: what is new in a run, trial by trial: points of the time line, parameters, failures, limiters. Of a
 * long run the first look takes the latest trials alone, and limiters are counted in slices, so no look is long. */
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "cli/present.h"
#include "cli/row.h"
#include "cli/top_run.h"
#include "core/json.h"
#include "core/units.h"

enum { LOG_LINES = 200, LIMITER_SLICE = 50000 };

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
    json_object_foreach (params, key, value) {
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
    facts->point[facts->points++] = (nt_point){nt_row_int(row, "trial"),
                                               outcome,
                                               problem_of(row),
                                               nt_row_real(row, "first_time_ns"),
                                               nt_row_real(row, "occupancy_limit_pct"),
                                               nt_row_real(row, "occupancy_pct")};
}

static void keep_latest(nt_top_run *r, const nt_row *row, nt_outcome outcome)
{
    r->latest_outcome = outcome;
    r->latest_ns = nt_row_real(row, "first_time_ns");
    nt_str_clear(&r->latest_params);
    nt_str_add(&r->latest_params, nt_row_text(row, "params"));
}

static void tell_latest(nt_top_run *r)
{
    nt_str text = {0};
    nt_str_addf(&text, "%s ", nt_outcome_name(r->latest_outcome));
    if (!isnan(r->latest_ns))
        nt_str_addf(&text, "%s ", nt_text_time_ns(r->latest_ns).s);
    nt_present_params(&text, nt_str_text(&r->latest_params));
    nt_copy(r->facts.latest, sizeof r->facts.latest, nt_str_text(&text));
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
    keep_latest(r, row, (nt_outcome)outcome);
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

nt_status nt_top_count_limiters(nt_top_run *r, nt_error *err)
{
    int64_t upto = r->limited + LIMITER_SLICE < r->last ? r->limited + LIMITER_SLICE : r->last;
    nt_status status = NT_OK;
    if (r->begin >= 0 && upto > r->limited) {
        status = r->reader->limiters(r->reader, r->facts.run, r->limited, upto, keep_limiter, &r->facts, err);
        if (status == NT_OK)
            r->limited = upto;
    }
    r->facts.limiter_share = r->last > r->begin ? (double)(r->limited - r->begin) / (double)(r->last - r->begin) : 1;
    return status;
}

static bool keep_new(void *context, const nt_row *row)
{
    nt_top_run *r = context;
    r->followed++;
    return keep_followed(r, row);
}

nt_status nt_top_follow(nt_top_run *r, nt_error *err)
{
    enum { ROWS = 4 * NT_POINTS };
    nt_status status = NT_OK;
    r->followed = 0;
    if (r->begin < 0)
        status = find_begin(r, err);
    if (status == NT_OK && r->begin >= 0)
        status = r->reader->follow(r->reader, r->facts.run, r->last, ROWS, keep_new, r, err);
    r->behind = r->followed == ROWS;
    if (r->latest_params.length > 0 && r->followed > 0)
        tell_latest(r);
    return status;
}
