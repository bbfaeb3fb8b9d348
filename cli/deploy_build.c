/* deploy_build.c: from the winners of a database to a table. */
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "cli/deploy.h"
#include "cli/deploy_entry.h"
#include "cli/row.h"
#include "core/json.h"
#include "core/mem.h"
#include "core/paths.h"
#include "device/cache.h"

enum { MOST_CODE_BYTES = 1 << 28 };

/* Where an entry came from, until its launch and code are found. */
typedef struct origin {
    nt_trial trial;
    char uuid[64];
    nt_device_info device;
} origin;

typedef struct builder {
    const nt_deploy_request *request;
    nt_deploy *table;
    nt_deploy_tally *tally;
    origin *origin;
    size_t count, capacity;
    nt_status status;
    nt_error *err;
} builder;

/* ---- winners --------------------------------------------------------------------------------------------------------- */

static bool is_device(const nt_row *row, const char *wanted)
{
    static const char *const names[] = {"device", "device_uuid", "device_kind"};
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
        if (strcasecmp(nt_row_text(row, names[i]), wanted) == 0)
            return true;
    return false;
}

static void note_device(builder *b, const nt_row *row)
{
    const char *name = nt_row_text(row, "device"), *seen = nt_str_text(&b->tally->devices);
    if (strstr(seen, name) == NULL)
        nt_str_addf(&b->tally->devices, "%s'%s'", seen[0] != '\0' ? ", " : "", name);
}

static bool seen_before(const builder *b, const nt_trial *trial, const char *uuid)
{
    for (size_t i = 0; i < b->count; i++)
        if (strcmp(b->origin[i].uuid, uuid) == 0 && nt_problem_equal(&b->origin[i].trial.problem, &trial->problem))
            return true;
    return false;
}

static bool take_winner(void *context, const nt_row *row)
{
    builder *b = context;
    const nt_deploy_request *r = b->request;
    note_device(b, row);
    if ((r->device != NULL && !is_device(row, r->device)) || !(nt_row_real(row, "time_ns") > 0))
        return true;
    nt_grow((void **)&b->origin, &b->capacity, b->count + 1, sizeof *b->origin);
    origin *o = &b->origin[b->count];
    json_t *object = nt_json_row(row);
    nt_trial_init(&o->trial);
    b->status = nt_row_trial(object, &o->trial, b->err);
    json_decref(object);
    o->trial.run_id = nt_row_int(row, "run");
    nt_copy(o->trial.artefact.key, sizeof o->trial.artefact.key, nt_row_text(row, "artefact_key"));
    nt_copy(o->trial.source_hash, sizeof o->trial.source_hash, nt_row_text(row, "source_hash"));
    nt_copy(o->uuid, sizeof o->uuid, nt_row_text(row, "device_uuid"));
    nt_device_info_init(&o->device, NT_DEVICE_CPU);
    nt_copy(o->device.driver, sizeof o->device.driver, nt_row_text(row, "driver"));
    nt_copy(o->device.compiler, sizeof o->device.compiler, nt_row_text(row, "compiler"));
    /* Those of runs come best first. */
    if (b->status == NT_OK && !(r->run_count > 0 && seen_before(b, &o->trial, o->uuid)))
        b->count++;
    else
        nt_trial_done(&o->trial);
    return b->status == NT_OK;
}

static nt_status read_winners(nt_reader *reader, builder *b, nt_error *err)
{
    const nt_deploy_request *r = b->request;
    if (r->run_count == 0)
        return reader->best(reader, r->layer, NULL, take_winner, b, err);
    nt_str sql = {0};
    nt_str_add(&sql, "select * from trials where outcome = 'ok' and run in (");
    for (int i = 0; i < r->run_count; i++)
        nt_str_addf(&sql, "%s%lld", i > 0 ? "," : "", (long long)r->run[i]);
    nt_str_add(&sql, ")");
    if (r->layer != NULL)
        nt_str_addf(&sql, " and layer = '%s'", r->layer); /* the name of a layer was checked */
    nt_str_add(&sql, " order by cache, rank is null, rank, time_ns");
    nt_status status = reader->query(reader, nt_str_text(&sql), take_winner, b, err);
    nt_str_done(&sql);
    return status;
}

/* ---- devices --------------------------------------------------------------------------------------------------------- */

static bool take_device(void *context, const nt_row *row)
{
    origin *o = context;
    char driver[64], compiler[96];
    json_t *object = nt_row_run_json(row), *known = json_object(), *value; /* peak_flops as an object */
    const char *key;
    json_object_foreach (object, key, value)
        if (!json_is_null(value))
            json_object_set(known, key, value);
    nt_copy(driver, sizeof driver, o->device.driver);
    nt_copy(compiler, sizeof compiler, o->device.compiler);
    nt_json_to_device(known, &o->device, NULL);
    nt_copy(o->device.driver, sizeof o->device.driver, driver);
    nt_copy(o->device.compiler, sizeof o->device.compiler, compiler);
    json_decref(object);
    json_decref(known);
    return false;
}

static nt_status read_devices(nt_reader *reader, builder *b, nt_error *err)
{
    nt_status status = NT_OK;
    for (size_t i = 0; status == NT_OK && i < b->count; i++) {
        origin *o = &b->origin[i];
        size_t like = 0;
        while (like < i && b->origin[like].trial.run_id != o->trial.run_id)
            like++;
        if (like < i) {
            char driver[64];
            nt_copy(driver, sizeof driver, o->device.driver);
            o->device = b->origin[like].device;
            nt_copy(o->device.driver, sizeof o->device.driver, driver);
        } else
            status = reader->device(reader, o->trial.run_id, take_device, o, err);
    }
    return status;
}

static bool is_default(const char *wanted, const nt_device_info *device)
{
    return wanted != NULL && (strcasecmp(wanted, device->name) == 0 || strcasecmp(wanted, device->uuid) == 0 ||
                              strcasecmp(wanted, nt_device_kind_name(device->kind)) == 0);
}

static void add_winner(builder *b, size_t index)
{
    const origin *o = &b->origin[index];
    nt_deploy_device device = {.kind = o->device.kind,
                               .sm_count = o->device.sm_count,
                               .bytes_per_s = o->device.dram_peak_bytes_per_s,
                               .is_default = is_default(b->request->dflt, &o->device)};
    nt_deploy_entry entry;
    nt_copy(device.name, sizeof device.name, o->device.name);
    nt_copy(device.arch, sizeof device.arch, o->device.arch);
    nt_copy(device.uuid, sizeof device.uuid, o->device.uuid);
    nt_deploy_entry_init(&entry);
    entry.device = nt_deploy_add_device(b->table, &device);
    entry.problem = o->trial.problem;
    entry.params_json = nt_strdup(o->trial.params_json);
    entry.cache = o->trial.cache;
    entry.time_ns = o->trial.time_ns;
    entry.time_lo_ns = o->trial.time_lo_ns;
    entry.time_hi_ns = o->trial.time_hi_ns;
    entry.floor_ns = o->trial.floor_ns;
    entry.error_impl = o->trial.error_impl;
    entry.error_prec = o->trial.error_prec;
    entry.code = (int)index; /* the origin, until arranged */
    nt_copy(entry.kernel, sizeof entry.kernel, o->trial.kernel);
    nt_copy(entry.source_hash, sizeof entry.source_hash, o->trial.source_hash);
    nt_copy(entry.driver, sizeof entry.driver, o->device.driver);
    nt_copy(entry.compiler, sizeof entry.compiler, o->device.compiler);
    nt_deploy_add_entry(b->table, &entry);
    nt_deploy_entry_done(&entry);
}

/* ---- times of the winners' configurations elsewhere ------------------------------------------------------------------ */

static int device_by_uuid(const builder *b, const char *uuid)
{
    for (size_t i = 0; i < b->count; i++)
        if (strcmp(b->origin[i].uuid, uuid) == 0) {
            nt_deploy_device like = {.kind = b->origin[i].device.kind, .sm_count = b->origin[i].device.sm_count};
            nt_copy(like.name, sizeof like.name, b->origin[i].device.name);
            nt_copy(like.arch, sizeof like.arch, b->origin[i].device.arch);
            return nt_deploy_add_device(b->table, &like);
        }
    return -1;
}

static bool take_time(void *context, const nt_row *row)
{
    builder *b = context;
    nt_problem problem;
    int device = device_by_uuid(b, nt_row_text(row, "device_uuid"));
    if (device >= 0 && nt_row_problem(row, &problem, NULL) == NT_OK)
        nt_deploy_add_time(b->table, device, &problem, nt_row_text(row, "kernel"), nt_row_text(row, "params"),
                           nt_row_real(row, "time_ns"));
    return true;
}

static nt_status read_times(nt_reader *reader, builder *b, nt_error *err)
{
    static const char sql[] =
        "select device_uuid, layer, shape, batch, precision, layout, fill, kernel, params, min(time_ns) as time_ns "
        "from trials where outcome = 'ok' and kernel || params in (select kernel || params from best) "
        "group by 1, 2, 3, 4, 5, 6, 7, 8, 9";
    return reader->query(reader, sql, take_time, b, err);
}

/* ---- launches and code ----------------------------------------------------------------------------------------------- */

static int take_code(builder *b, const origin *o)
{
    nt_cache_entry cached;
    char *data = NULL;
    size_t bytes = 0;
    if (!b->request->with_code || o->trial.artefact.key[0] == '\0' ||
        nt_cache_get(o->trial.artefact.key, &cached, NULL) != NT_OK ||
        nt_read_file(cached.path, MOST_CODE_BYTES, &data, &bytes, NULL) != NT_OK)
        return -1;
    int code = nt_deploy_add_code(b->table, o->trial.artefact.key, data, bytes);
    free(data);
    return code;
}

static void note_gap(nt_deploy_tally *tally, const char *reason)
{
    int i = 0;
    while (i < tally->gaps && strcmp(tally->gap[i].reason, reason) != 0)
        i++;
    if (i == NT_DEPLOY_GAPS)
        return;
    tally->gaps += i == tally->gaps;
    nt_copy(tally->gap[i].reason, sizeof tally->gap[i].reason, reason);
    tally->gap[i].entries++;
}

static void finish_entry(builder *b, size_t index)
{
    nt_deploy_entry *e = &b->table->entry[index];
    const origin *o = &b->origin[e->code];
    bool last = index + 1 == b->table->entry_count || !nt_deploy_same_family(e, e + 1);
    /* Beyond the last measured batch a launch is kept up to four times it. */
    int64_t hi = last ? e->problem.batch * 4 : e[1].from_batch - 1;
    nt_deploy_work work;
    nt_deploy_entry_probe(e, &o->device, &o->trial, hi > e->problem.batch ? hi : e->problem.batch);
    if (nt_deploy_find_work(b->table, &e->problem) == NULL && nt_deploy_work_probe(&e->problem, &work))
        nt_deploy_add_work(b->table, &work);
    e->code = e->launch != NULL ? take_code(b, o) : -1;
    b->tally->without_code += e->code < 0;
    if (e->launch == NULL)
        note_gap(b->tally, e->no_launch);
    else if (e->code < 0 && b->request->with_code)
        note_gap(b->tally, "its compiled code is no longer in the cache: sweep it again");
}

static nt_status nothing(const builder *b, nt_error *err)
{
    const char *seen = nt_str_text(&b->tally->devices);
    nt_fail(err, NT_NOT_FOUND, "there is no winner to make a table of%s%s%s%s",
            b->request->layer != NULL ? " for layer " : "", b->request->layer != NULL ? b->request->layer : "",
            b->request->device != NULL ? " on device " : "", b->request->device != NULL ? b->request->device : "");
    if (seen[0] != '\0')
        return nt_hint(err, "the database has winners on %s", seen);
    return nt_hint(err, "'nntune sweep LAYER' finds some");
}

nt_status nt_deploy_build(nt_reader *reader, const nt_deploy_request *request, nt_deploy *out, nt_deploy_tally *tally,
                          nt_error *err)
{
    builder b = {.request = request, .table = out, .tally = tally, .err = err};
    *out = (nt_deploy){0};
    *tally = (nt_deploy_tally){0};
    nt_status status = read_winners(reader, &b, err);
    if (status == NT_OK)
        status = b.status;
    if (status == NT_OK && b.count == 0)
        status = nothing(&b, err);
    if (status == NT_OK)
        status = read_devices(reader, &b, err);
    if (status == NT_OK) {
        for (size_t i = 0; i < b.count; i++)
            add_winner(&b, i);
        status = read_times(reader, &b, err);
    }
    if (status == NT_OK) {
        tally->rows = (int64_t)b.count;
        nt_deploy_arrange(out);
        for (size_t i = 0; i < out->entry_count; i++)
            finish_entry(&b, i);
    }
    for (size_t i = 0; i < b.count; i++)
        nt_trial_done(&b.origin[i].trial);
    free(b.origin);
    if (status != NT_OK)
        nt_deploy_done(out);
    return status;
}
