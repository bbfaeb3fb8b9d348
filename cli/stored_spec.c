#include "cli/stored_spec.h"

#include <string.h>

#include "autotune/spec.h"
#include "cli/row.h"
#include "core/json.h"

typedef struct search {
    int64_t run;
    char path[NT_PATH_BYTES], hash[NT_KEY_BYTES];
} search;

static bool take_run(void *context, const nt_row *row)
{
    search *s = context;
    if (s->run != 0 && nt_row_int(row, "run") != s->run)
        return true;
    s->run = nt_row_int(row, "run");
    json_t *run = nt_row_run_json(row);
    const json_t *options = json_object_get(run, "options");
    const char *path = nt_json_get_text(options, "spec"), *hash = nt_json_get_text(options, "spec_hash");
    nt_copy(s->path, sizeof s->path, path != NULL ? path : "");
    nt_copy(s->hash, sizeof s->hash, hash != NULL ? hash : "");
    json_decref(run);
    return false;
}

nt_status nt_stored_spec_load(nt_reader *reader, const char *layer, int64_t run, bool *changed, nt_error *err)
{
    search s = {.run = run};
    const nt_spec *spec;
    nt_error why = {0};
    if (!nt_layer_is_users(layer) || nt_spec_of(layer) != NULL)
        return NT_OK;
    nt_status status = reader->runs(reader, take_run, &s, err);
    if (status != NT_OK)
        return status;
    if (s.path[0] == '\0')
        return nt_fail(err, NT_NOT_FOUND, "the database does not say where the spec of %s was", layer);
    if (nt_spec_load(s.path, &spec, &why) != NT_OK) {
        nt_fail(err, NT_NOT_FOUND, "the kernel of %s is no part of nntune, and its spec is gone or broken: %s", layer,
                why.what);
        return nt_hint(err, "put the spec back at %s", s.path);
    }
    if (strcmp(spec->layer.name, layer) != 0)
        return nt_fail(err, NT_NOT_FOUND, "%s is the spec of %s now, and not of %s", s.path, spec->layer.name, layer);
    if (changed != NULL)
        *changed = strcmp(spec->hash, s.hash) != 0;
    return NT_OK;
}

static bool load_run(void *context, const nt_row *row)
{
    (void)context;
    json_t *run = nt_row_run_json(row);
    const json_t *options = json_object_get(run, "options");
    const char *path = nt_json_get_text(options, "spec"), *hash = nt_json_get_text(options, "spec_hash");
    nt_error unknown = {0};
    if (path != NULL && hash != NULL)
        (void)nt_spec_load_same(path, hash, &unknown);
    json_decref(run);
    return true;
}

void nt_stored_specs_load(nt_reader *reader)
{
    nt_error unknown = {0};
    (void)reader->runs(reader, load_run, NULL, &unknown);
}

nt_status nt_stored_spec_path(nt_reader *reader, int64_t run, char path[NT_PATH_BYTES], nt_error *err)
{
    search s = {.run = run};
    nt_status status = reader->runs(reader, take_run, &s, err);
    if (status == NT_OK && s.path[0] == '\0') {
        nt_fail(err, NT_NOT_FOUND,
                run == 0 ? "the newest run is of no spec" : "run %lld is of no spec, or is not there", (long long)run);
        return nt_hint(err, "name the file: --spec FILE.json");
    }
    nt_copy(path, NT_PATH_BYTES, s.path);
    return status;
}
