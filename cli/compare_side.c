#include "cli/compare_side.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "cli/database.h"
#include "cli/present.h"
#include "cli/row.h"
#include "core/json.h"
#include "core/mem.h"
#include "db/db.h"

typedef enum source { RUNS, VENDOR, RULE } source;

/* What a word asks for. */
typedef struct wanted {
    int64_t run;        /* 0: any */
    const char *device; /* part of a name; NULL: any */
    source from;
} wanted;

void nt_side_done(nt_side *side)
{
    for (size_t i = 0; i < side->count; i++)
        free(side->row[i].params_json);
    free(side->row);
    if (side->reader != NULL)
        side->reader->close(side->reader);
    *side = (nt_side){0};
}

/* ---- SQL ------------------------------------------------------------------------------------------------------------- */

static void add_quoted(nt_str *out, const char *text)
{
    nt_str_add(out, "'");
    for (const char *c = text; *c != '\0'; c++)
        nt_str_addf(out, *c == '\'' ? "''" : "%c", *c);
    nt_str_add(out, "'");
}

static bool take_nothing(void *context, const nt_row *row)
{
    (void)context;
    (void)row;
    return false;
}

/* Databases of earlier versions do not tell vendors' kernels apart, and have none. */
static const char *vendor_column(const nt_side *side)
{
    return side->reader->query(side->reader, "select vendor from trials limit 0", take_nothing, NULL, NULL) == NT_OK
               ? "vendor"
               : "0";
}

/* The winners come first: cold before hot, our kernels before a vendor's, final rounds before the rest, the newest run
 * before older ones. Failed problems follow, so that a problem that has a winner is never taken for failed. */
static void write_query(const nt_side *side, const wanted *w, nt_str *out)
{
    const char *vendor = vendor_column(side);
    nt_str_add(out, "select * from trials where true");
    if (w->run > 0)
        nt_str_addf(out, " and run = %lld", (long long)w->run);
    if (w->device != NULL) {
        nt_str_add(out, " and device = ");
        add_quoted(out, w->device);
    }
    if (w->from == VENDOR)
        nt_str_addf(out, " and %s = 1", vendor);
    if (w->from == RULE)
        nt_str_add(out, " and rule is not null and rule <> ''");
    nt_str_addf(out, " order by outcome <> 'ok', cache, %s = 1, rank is null, rank, run desc, time_ns", vendor);
}

/* ---- rows ------------------------------------------------------------------------------------------------------------ */

static nt_side_row *find_row(nt_side *side, const nt_problem *problem, nt_cache_mode cache)
{
    for (size_t i = 0; i < side->count; i++)
        if (side->row[i].cache == cache && nt_problem_equal(&side->row[i].problem, problem))
            return &side->row[i];
    return NULL;
}

static void read_times(nt_side *side, const nt_row *row, nt_side_row *out)
{
    nt_samples samples = {0};
    int64_t trial = nt_row_int(row, "trial");
    snprintf(out->measurement, sizeof out->measurement, "%s#%lld", side->path, (long long)trial);
    out->side.first_ns = NAN;
    out->side.present = true;
    if (side->reader->samples(side->reader, trial, &samples, NULL) == NT_OK && samples.count > 0)
        nt_compare_samples(&out->side, samples.sample_ns, samples.count, (size_t)samples.per_block);
    else
        nt_compare_time(&out->side, nt_row_real(row, "time_ns"));
    if (nt_row_int(row, "rank") != NT_UNKNOWN)
        out->side.first_ns = nt_row_real(row, "first_time_ns");
    nt_samples_done(&samples);
}

static bool take_row(void *context, const nt_row *row)
{
    nt_side *side = context;
    nt_problem problem;
    int mode = nt_cache_mode_find(nt_row_text(row, "cache"));
    bool ok = strcmp(nt_row_text(row, "outcome"), "ok") == 0;
    if (nt_row_problem(row, &problem, NULL) != NT_OK || mode < 0 ||
        find_row(side, &problem, (nt_cache_mode)mode) != NULL)
        return true;
    nt_grow((void **)&side->row, &side->capacity, side->count + 1, sizeof *side->row);
    nt_side_row *out = &side->row[side->count++];
    *out =
        (nt_side_row){.problem = problem, .cache = (nt_cache_mode)mode, .roof_pct = NAN, .run = nt_row_int(row, "run")};
    out->power_mw = nt_row_real(row, "power_mw");
    out->on_gpu = strcmp(nt_row_text(row, "device_kind"), "cuda") == 0;
    nt_copy(out->device_uuid, sizeof out->device_uuid, nt_row_text(row, "device_uuid"));
    nt_copy(out->kernel, sizeof out->kernel, nt_row_text(row, "kernel"));
    if (side->name[0] == '\0')
        nt_copy(side->name, sizeof side->name, nt_row_text(row, "device"));
    if (!ok) {
        out->side.failed = true;
        return true;
    }
    out->params_json = nt_strdup(nt_row_text(row, "params"));
    read_times(side, row, out);
    return true;
}

static bool take_device(void *context, const nt_row *row)
{
    json_t *object = nt_row_run_json(row), *known = json_object(), *value; /* peak_flops as an object */
    const char *key;
    json_object_foreach (object, key, value)
        if (!json_is_null(value))
            json_object_set(known, key, value);
    nt_json_to_device(known, context, NULL);
    json_decref(object);
    json_decref(known);
    return false;
}

/* Share of the roofs of its own device, as its run saw them. */
static void fill_roofs(nt_side *side)
{
    nt_device_info device;
    int64_t run = 0;
    nt_device_info_init(&device, NT_DEVICE_CPU);
    for (size_t i = 0; i < side->count; i++) {
        nt_side_row *row = &side->row[i];
        nt_extents extents;
        const nt_layer *layer = nt_layer_find(row->problem.layer);
        if (!row->side.present || layer == NULL || layer->extents(&row->problem, &extents, NULL) != NT_OK)
            continue;
        if (row->run != run)
            side->reader->device(side->reader, row->run, take_device, &device, NULL);
        run = row->run;
        row->roof_pct = nt_speed_of(&device, &row->problem, &extents, row->side.time_ns).roof_pct;
    }
}

/* ---- words ----------------------------------------------------------------------------------------------------------- */

typedef struct names {
    const char *part;
    nt_str all;
    char match[128];
    int matches;
} names;

static bool take_name(void *context, const nt_row *row)
{
    names *n = context;
    const char *name = nt_row_text(row, "device");
    nt_str_addf(&n->all, "%s'%s'", n->all.length > 0 ? ", " : "", name);
    bool exact = strcasecmp(name, n->part) == 0;
    if (exact || strcasestr(name, n->part) != NULL) {
        n->matches = exact ? 1 : n->matches + 1;
        nt_copy(n->match, sizeof n->match, name);
    }
    return !exact;
}

static nt_status find_device(nt_side *side, const char *part, char out[128], nt_error *err)
{
    names n = {.part = part};
    if (part[0] == '\0') {
        nt_fail(err, NT_USAGE, "'%s' names no device", side->word);
        return nt_hint(err, "a side is run:ID, device:NAME, FILE.db[#run], vendor or rule");
    }
    nt_status status = side->reader->query(
        side->reader, "select distinct device from runs where device is not null order by 1", take_name, &n, err);
    if (status == NT_OK && n.matches != 1) {
        nt_fail(err, NT_USAGE, "'%s' names %s in %s", part, n.matches == 0 ? "no device" : "several devices",
                side->path);
        status = n.all.length > 0
                     ? nt_hint(err, "its devices are %s; a side is run:ID, device:NAME, FILE.db[#run], vendor or rule",
                               nt_str_text(&n.all))
                     : nt_hint(err, "a side is run:ID, device:NAME, FILE.db[#run], vendor or rule");
    }
    nt_copy(out, 128, n.match);
    nt_str_done(&n.all);
    return status;
}

static nt_status parse_run(const char *text, const char *word, int64_t *out, nt_error *err)
{
    long long id;
    if (!nt_parse_i64(text, &id) || id < 1)
        return nt_fail(err, NT_USAGE, "'%s': '%s' is not the number of a run, a whole number from 1", word, text);
    *out = id;
    return NT_OK;
}

static nt_status read_rows(nt_side *side, const wanted *w, nt_error *err)
{
    nt_str sql = {0};
    write_query(side, w, &sql);
    nt_status status = side->reader->query(side->reader, nt_str_text(&sql), take_row, side, err);
    nt_str_done(&sql);
    if (status == NT_OK && side->count == 0) {
        nt_fail(err, NT_NOT_FOUND, "%s: there is nothing measured for '%s'", side->path, side->word);
        return nt_hint(err, "'nntune runs' lists what there is");
    }
    if (status == NT_OK)
        fill_roofs(side);
    for (size_t i = 0; i < side->count; i++)
        side->row[i].side.measurement = side->row[i].side.present ? side->row[i].measurement : NULL;
    return status;
}

/* FILE.db#7: the file's name ends before the last '#', when digits follow it. */
static bool split_file(const char *word, char path[NT_PATH_BYTES], const char **run)
{
    const char *mark = strrchr(word, '#');
    bool numbered = mark != NULL && mark[1] != '\0' && strspn(mark + 1, "0123456789") == strlen(mark + 1);
    size_t length = numbered ? (size_t)(mark - word) : strlen(word);
    *run = numbered ? mark + 1 : NULL;
    if (length >= NT_PATH_BYTES || (length < 3 || strncmp(word + length - 3, ".db", 3) != 0))
        return false;
    memcpy(path, word, length);
    path[length] = '\0';
    return true;
}

static nt_status open_side(const nt_args *args, nt_side *side, wanted *w, char device[128], nt_error *err)
{
    const char *run = NULL, *word = side->word;
    bool file = split_file(word, side->path, &run);
    nt_status status = file ? nt_db_reader_open(side->path, &side->reader, err)
                            : nt_database_read(args, side->path, &side->reader, err);
    if (status != NT_OK || (file && run == NULL))
        return status;
    if (strncmp(word, "run:", 4) == 0)
        run = word + 4;
    if (run != NULL) {
        snprintf(side->name, sizeof side->name, "run %.20s", run);
        return parse_run(run, word, &w->run, err);
    }
    status = find_device(side, strncmp(word, "device:", 7) == 0 ? word + 7 : word, device, err);
    w->device = device;
    return status;
}

static source source_of(const char *word)
{
    return strcmp(word, "vendor") == 0 ? VENDOR : strcmp(word, "rule") == 0 ? RULE : RUNS;
}

nt_status nt_sides_read(const nt_args *args, const char *a, const char *b, nt_side sides[2], nt_error *err)
{
    char device[2][128];
    wanted w[2] = {{0}, {0}};
    sides[0] = (nt_side){.word = a};
    sides[1] = (nt_side){.word = b};
    if (source_of(a) != RUNS && source_of(b) != RUNS) {
        nt_fail(err, NT_USAGE, "'%s' and '%s' both need a run or a device on the other side", a, b);
        return nt_hint(err, "nntune compare run:3 vendor");
    }
    nt_status status = NT_OK;
    for (int i = 0; status == NT_OK && i < 2; i++)
        if (source_of(sides[i].word) == RUNS)
            status = open_side(args, &sides[i], &w[i], device[i], err);
    for (int i = 0; status == NT_OK && i < 2; i++) {
        if (source_of(sides[i].word) == RUNS)
            continue;
        w[i] = w[1 - i];
        w[i].from = source_of(sides[i].word);
        nt_copy(sides[i].name, sizeof sides[i].name, sides[i].word);
        nt_copy(sides[i].path, sizeof sides[i].path, sides[1 - i].path);
        status = nt_db_reader_open(sides[i].path, &sides[i].reader, err);
    }
    for (int i = 0; status == NT_OK && i < 2; i++)
        status = read_rows(&sides[i], &w[i], err);
    return status;
}

/* ---- other configurations -------------------------------------------------------------------------------------------- */

static bool take_time(void *context, const nt_row *row)
{
    *(double *)context = nt_row_real(row, "time_ns");
    return false;
}

double nt_side_time_of(nt_side *side, const nt_side_row *row, const char *kernel, const char *params_json)
{
    double time_ns = NAN;
    nt_str sql = {0}, shape = {0};
    nt_shape_print(&shape, &row->problem.shape);
    nt_str_add(&sql, "select min(time_ns) as time_ns from trials where outcome = 'ok' and device_uuid = ");
    add_quoted(&sql, row->device_uuid);
    nt_str_add(&sql, " and layer = ");
    add_quoted(&sql, row->problem.layer);
    nt_str_add(&sql, " and shape = ");
    add_quoted(&sql, nt_str_text(&shape));
    nt_str_addf(&sql, " and batch = %lld and precision = '%s' and layout = '%s' and cache = '%s' and kernel = ",
                (long long)row->problem.batch, nt_precisions[row->problem.precision].name,
                nt_layout_name(row->problem.layout), nt_cache_mode_name(row->cache));
    add_quoted(&sql, kernel);
    nt_str_add(&sql, " and params = ");
    add_quoted(&sql, params_json);
    side->reader->query(side->reader, nt_str_text(&sql), take_time, &time_ns, NULL);
    nt_str_done(&sql);
    nt_str_done(&shape);
    return time_ns;
}
