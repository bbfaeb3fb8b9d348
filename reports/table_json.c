/* table_json.c: a table as JSON and back: the form to read, to merge and to keep under version control. Code stays out;
 * it is named by its key. */
#include <jansson.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/json.h"
#include "core/mem.h"
#include "reports/table_launch.h"

enum { TABLE_VERSION = 2, OLDEST_VERSION = 1 }; /* 1 had no tensor maps and no limits */

/* ---- writing --------------------------------------------------------------------------------------------------------- */

static json_t *device_json(const nt_deploy_device *d)
{
    return json_pack("{so so so ss so so sb}", "device", nt_json_text(d->name), "arch", nt_json_text(d->arch),
                     "device_uuid", nt_json_text(d->uuid), "device_kind", nt_device_kind_name(d->kind), "sm_count",
                     nt_json_int(d->sm_count), "dram_peak_bytes_per_s", nt_json_real(d->bytes_per_s), "default",
                     d->is_default);
}

static json_t *product_json(const nt_deploy_product *p)
{
    json_t *exponents = json_array();
    for (int i = 0; i <= NT_MAX_DIMS; i++)
        json_array_append_new(exponents, nt_json_real(p->exponent[i]));
    return json_pack("{so so}", "scale", nt_json_real(p->scale), "exponents", exponents);
}

static json_t *work_json(const nt_deploy_work *w)
{
    return json_pack("{ss ss ss so so so so}", "layer", w->layer, "precision", nt_precisions[w->precision].name,
                     "layout", nt_layout_name(w->layout), "flop", product_json(&w->flop), "in_bytes",
                     product_json(&w->bytes[0]), "weight_bytes", product_json(&w->bytes[1]), "out_bytes",
                     product_json(&w->bytes[2]));
}

static json_t *cost_json(const nt_deploy_cost *c, int dims)
{
    json_t *tiles = json_array(), *multiples = json_array();
    for (int i = 0; i <= dims; i++) {
        json_array_append_new(tiles, nt_json_real(c->tile[i]));
        json_array_append_new(multiples, json_integer(c->multiple[i]));
    }
    return json_pack("{so so so so so so}", "block_scale", nt_json_real(c->block_scale), "slots",
                     nt_json_real(c->slots), "wave_ns", nt_json_real(c->wave_ns), "flop_per_block",
                     nt_json_real(c->flop_per_block), "tiles", tiles, "multiples", multiples);
}

static json_t *entry_json(const nt_deploy *table, const nt_deploy_entry *e)
{
    json_t *json = nt_json_problem(&e->problem), *params = NULL;
    json_object_set_new(json, "device", json_integer(e->device));
    json_object_set_new(json, "from_batch", json_integer(e->from_batch));
    json_object_set_new(json, "kernel", json_string(e->kernel));
    if (nt_json_parse(e->params_json, &params, NULL) != NT_OK)
        params = json_object();
    json_object_set_new(json, "params", params);
    json_object_set_new(json, "cache", json_string(nt_cache_mode_name(e->cache)));
    json_object_set_new(json, "time_ns", nt_json_real(e->time_ns));
    json_object_set_new(json, "time_lo_ns", nt_json_real(e->time_lo_ns));
    json_object_set_new(json, "time_hi_ns", nt_json_real(e->time_hi_ns));
    json_object_set_new(json, "floor_ns", nt_json_real(e->floor_ns));
    json_object_set_new(json, "error_impl", nt_json_real(e->error_impl));
    json_object_set_new(json, "error_prec", nt_json_real(e->error_prec));
    json_object_set_new(json, "source_hash", nt_json_text(e->source_hash));
    json_object_set_new(json, "driver", nt_json_text(e->driver));
    json_object_set_new(json, "compiler", nt_json_text(e->compiler));
    json_object_set_new(json, "artefact_key", nt_json_text(e->code >= 0 ? table->code[e->code].key : ""));
    json_object_set_new(json, "cost", cost_json(&e->cost, e->problem.shape.count));
    json_object_set_new(json, "launch", e->launch != NULL ? nt__deploy_launch_json(e->launch) : json_null());
    if (e->launch == NULL)
        json_object_set_new(json, "no_launch", nt_json_text(e->no_launch));
    return json;
}

char *nt_deploy_json(const nt_deploy *table)
{
    json_t *devices = json_array(), *work = json_array(), *entries = json_array();
    for (size_t i = 0; i < table->device_count; i++)
        json_array_append_new(devices, device_json(&table->device[i]));
    for (size_t i = 0; i < table->work_count; i++)
        json_array_append_new(work, work_json(&table->work[i]));
    for (size_t i = 0; i < table->entry_count; i++)
        json_array_append_new(entries, entry_json(table, &table->entry[i]));
    return nt_json_dump_done(json_pack("{ss si so so so}", "type", "table", "schema_version", TABLE_VERSION, "devices",
                                       devices, "work", work, "entries", entries));
}

/* ---- reading --------------------------------------------------------------------------------------------------------- */

static void read_text(const json_t *json, const char *key, char *out, size_t capacity)
{
    const char *text = nt_json_get_text(json, key);
    nt_copy(out, capacity, text != NULL ? text : "");
}

static nt_status read_device(const json_t *json, nt_deploy *out, nt_error *err)
{
    nt_deploy_device d = {0};
    const char *kind = nt_json_get_text(json, "device_kind");
    int found = kind != NULL ? nt_device_kind_find(kind) : -1;
    if (found < 0)
        return nt_fail(err, NT_CORRUPT, "device_kind of a table's device is '%s'; it is cpu or cuda",
                       kind != NULL ? kind : "");
    d.kind = (nt_device_kind)found;
    read_text(json, "device", d.name, sizeof d.name);
    read_text(json, "arch", d.arch, sizeof d.arch);
    read_text(json, "device_uuid", d.uuid, sizeof d.uuid);
    d.sm_count = nt_json_get_int(json, "sm_count");
    d.bytes_per_s = nt_json_get_real(json, "dram_peak_bytes_per_s");
    d.is_default = json_is_true(json_object_get(json, "default"));
    size_t before = out->device_count;
    nt_deploy_add_device(out, &d);
    if (out->device_count == before)
        return nt_fail(err, NT_CORRUPT, "a table lists the device '%s' twice", d.name);
    return NT_OK;
}

static void read_product(const json_t *json, nt_deploy_product *out)
{
    const json_t *exponents = json_object_get(json, "exponents");
    out->scale = nt_json_get_real(json, "scale");
    for (size_t i = 0; i <= NT_MAX_DIMS; i++)
        out->exponent[i] = json_number_value(json_array_get(exponents, i));
}

static nt_status read_work(const json_t *json, nt_deploy *out, nt_error *err)
{
    nt_deploy_work w = {0};
    const char *precision = nt_json_get_text(json, "precision"), *layout = nt_json_get_text(json, "layout");
    int p = precision != NULL ? nt_precision_find(precision) : -1, l = layout != NULL ? nt_layout_find(layout) : -1;
    if (p < 0 || l < 0)
        return nt_fail(err, NT_CORRUPT, "a row of a table's 'work' has no known precision and layout");
    read_text(json, "layer", w.layer, sizeof w.layer);
    w.precision = (nt_precision)p;
    w.layout = (nt_layout)l;
    read_product(json_object_get(json, "flop"), &w.flop);
    read_product(json_object_get(json, "in_bytes"), &w.bytes[0]);
    read_product(json_object_get(json, "weight_bytes"), &w.bytes[1]);
    read_product(json_object_get(json, "out_bytes"), &w.bytes[2]);
    nt_deploy_add_work(out, &w);
    return NT_OK;
}

static void read_cost(const json_t *json, int dims, nt_deploy_cost *out)
{
    const json_t *tiles = json_object_get(json, "tiles"), *multiples = json_object_get(json, "multiples");
    out->block_scale = nt_json_get_real(json, "block_scale");
    out->slots = nt_json_get_real(json, "slots");
    out->wave_ns = nt_json_get_real(json, "wave_ns");
    out->flop_per_block = nt_json_get_real(json, "flop_per_block");
    for (int i = 0; i <= dims; i++) {
        out->tile[i] = json_number_value(json_array_get(tiles, (size_t)i));
        json_int_t multiple = json_integer_value(json_array_get(multiples, (size_t)i));
        out->multiple[i] = multiple > 1 ? multiple : 1;
    }
}

static void read_entry_figures(const json_t *json, nt_deploy_entry *e)
{
    const char *cache = nt_json_get_text(json, "cache");
    int mode = cache != NULL ? nt_cache_mode_find(cache) : -1;
    e->cache = mode < 0 ? NT_COLD : (nt_cache_mode)mode;
    e->from_batch = nt_json_get_int(json, "from_batch");
    e->time_ns = nt_json_get_real(json, "time_ns");
    e->time_lo_ns = nt_json_get_real(json, "time_lo_ns");
    e->time_hi_ns = nt_json_get_real(json, "time_hi_ns");
    e->floor_ns = nt_json_get_real(json, "floor_ns");
    e->error_impl = nt_json_get_real(json, "error_impl");
    e->error_prec = nt_json_get_real(json, "error_prec");
    read_text(json, "kernel", e->kernel, sizeof e->kernel);
    read_text(json, "source_hash", e->source_hash, sizeof e->source_hash);
    read_text(json, "driver", e->driver, sizeof e->driver);
    read_text(json, "compiler", e->compiler, sizeof e->compiler);
}

static nt_status read_entry(const json_t *json, nt_deploy *out, nt_error *err)
{
    nt_deploy_entry e;
    nt_deploy_entry_init(&e);
    nt_status status = nt_json_to_problem(json, &e.problem, err);
    int64_t device = nt_json_get_int(json, "device");
    if (status == NT_OK && (device < 0 || (size_t)device >= out->device_count))
        status = nt_fail(err, NT_CORRUPT, "an entry of the table names a device that it does not list");
    e.device = (int)device;
    if (status == NT_OK) {
        read_entry_figures(json, &e);
        read_cost(json_object_get(json, "cost"), e.problem.shape.count, &e.cost);
        const json_t *params = json_object_get(json, "params");
        e.params_json = json_is_object(params) ? nt_json_dump(params) : NULL;
        if (e.params_json == NULL || e.kernel[0] == '\0' || !(e.time_ns > 0))
            status = nt_fail(err, NT_CORRUPT, "an entry of the table lacks kernel, params or time_ns");
        else if (!nt__deploy_launch_read(json_object_get(json, "launch"), &e))
            status = nt_fail(err, NT_CORRUPT, "the launch of an entry of the table cannot be read");
    }
    if (status == NT_OK) {
        char key[NT_KEY_BYTES];
        read_text(json, "artefact_key", key, sizeof key);
        read_text(json, "no_launch", e.no_launch, sizeof e.no_launch);
        for (size_t i = 0; i < out->code_count && key[0] != '\0'; i++)
            if (strcmp(out->code[i].key, key) == 0)
                e.code = (int)i;
        nt_deploy_add_entry(out, &e);
    }
    nt_deploy_entry_done(&e);
    return status;
}

static nt_status read_all(const json_t *json, const char *key,
                          nt_status (*read)(const json_t *, nt_deploy *, nt_error *), nt_deploy *out, nt_error *err)
{
    const json_t *list = json_object_get(json, key);
    nt_status status = json_is_array(list) ? NT_OK : nt_fail(err, NT_CORRUPT, "the table has no list '%s'", key);
    for (size_t i = 0; status == NT_OK && i < json_array_size(list); i++)
        status = read(json_array_get(list, i), out, err);
    return status;
}

/* Codes that the bundle holds are in *out already. */
nt_status nt_deploy_from_json(const char *text, nt_deploy *out, nt_error *err)
{
    json_t *json;
    nt_status status = nt_json_parse(text, &json, err);
    if (status != NT_OK)
        return status;
    const char *type = nt_json_get_text(json, "type");
    if (type == NULL || strcmp(type, "table") != 0)
        status = nt_fail(err, NT_CORRUPT, "this JSON is no table: its type is '%s'", type != NULL ? type : "");
    else if (nt_json_get_int(json, "schema_version") < OLDEST_VERSION ||
             nt_json_get_int(json, "schema_version") > TABLE_VERSION)
        status = nt_fail(err, NT_NEWER_SCHEMA, "the table is of version %lld, this program reads %d to %d",
                         (long long)nt_json_get_int(json, "schema_version"), OLDEST_VERSION, TABLE_VERSION);
    if (status == NT_OK)
        status = read_all(json, "devices", read_device, out, err);
    if (status == NT_OK)
        status = read_all(json, "work", read_work, out, err);
    if (status == NT_OK)
        status = read_all(json, "entries", read_entry, out, err);
    json_decref(json);
    if (status == NT_OK)
        nt_deploy_arrange(out);
    return status;
}
