/* spec_launches.c: the kernels of a spec in the order in which they are launched, and the reference they must agree
 * with. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "autotune/spec_read.h"
#include "core/json.h"
#include "core/mem.h"

/* ---- launches ------------------------------------------------------------------------------------------------------ */

static nt_status get_extent(const nt__reader *r, const json_t *json, const char *where, const char *key,
                            nt_expr *out[3])
{
    char path[NT__WHERE];
    const json_t *value = json_object_get(json, key);
    size_t count = json_is_array(value) ? json_array_size(value) : value != NULL;
    nt__spec_path(path, sizeof path, where, key);
    if (count > 3)
        return nt__spec_fail(r, path, "has %zu extents; at most x, y and z are possible", count);
    nt_status status = NT_OK;
    for (size_t i = 0; status == NT_OK && i < count; i++)
        status = nt__spec_get_expr(r, json_is_array(value) ? json_array_get(value, i) : value, path,
                                   r->spec->symbol_count, &out[i]);
    return status;
}

static int find_argument(const nt_spec *spec, const char *name)
{
    for (int i = 0; i < spec->argument_count; i++)
        if (strcmp(spec->argument[i].name, name) == 0)
            return i;
    return -1;
}

static nt_status unknown_argument(const nt__reader *r, const char *where, const char *name)
{
    nt_str names = {0};
    for (int i = 0; i < r->spec->argument_count; i++)
        nt_str_addf(&names, "%s%s", i > 0 ? ", " : "", r->spec->argument[i].name);
    nt__spec_fail(r, where, "there is no argument '%s'; there are %s", name, nt_str_text(&names));
    nt_str_done(&names);
    return NT_USAGE;
}

/* Names of arguments; without a list all in their order. A kernel has its symbols without being passed them, unless it
 * lists them; a reference in C is passed them too. */
static nt_status get_arguments(const nt__reader *r, const json_t *json, const char *where, bool symbols,
                               nt_spec_launch *out)
{
    const nt_spec *spec = r->spec;
    const char *names[NT_MAX_ARGS];
    char path[NT__WHERE];
    int count;
    nt__spec_path(path, sizeof path, where, "arguments");
    if (json_object_get(json, "arguments") == NULL) {
        for (int i = 0; i < spec->argument_count; i++)
            if (spec->argument[i].symbol != NULL && !symbols)
                continue;
            else if (out->argument_count < NT_MAX_ARGS)
                out->argument[out->argument_count++] = i;
            else
                return nt__spec_fail(r, path, "a kernel can have %d arguments; list those it takes", NT_MAX_ARGS);
        return NT_OK;
    }
    nt_status status = nt__spec_get_texts(r, json, where, "arguments", names, NT_MAX_ARGS, &count);
    for (int i = 0; status == NT_OK && i < count; i++) {
        int at = find_argument(spec, names[i]);
        if (at < 0)
            return unknown_argument(r, path, names[i]);
        out->argument[out->argument_count++] = at;
    }
    return status;
}

static nt_status read_launch(const nt__reader *r, const json_t *json, const char *where, bool cuda, bool reference,
                             nt_spec_launch *out)
{
    char path[NT__WHERE];
    const char *entry;
    nt_status status = nt__spec_get_text(r, json, where, "entry", true, &entry);
    if (status != NT_OK)
        return status;
    out->entry = nt__spec_text(r->spec, entry);
    nt__spec_path(path, sizeof path, where, "entry");
    if (!cuda && entry[strspn(entry, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_0123456789")] != '\0')
        return nt__spec_fail(r, path, "'%s' is no name of a C function", entry);
    if (!cuda && strlen(entry) > NT_ENTRY_BYTES - 16)
        return nt__spec_fail(r, path, "has more than %d characters", NT_ENTRY_BYTES - 16);
    status = get_extent(r, json, where, "grid", out->grid);
    if (status == NT_OK)
        status = get_extent(r, json, where, "block", out->block);
    if (status == NT_OK)
        status = nt__spec_get_expr(r, json_object_get(json, "shared_bytes"),
                                   nt__spec_path(path, sizeof path, where, "shared_bytes"), r->spec->symbol_count,
                                   &out->shared_bytes);
    if (status == NT_OK && !cuda && (out->block[0] != NULL || out->shared_bytes != NULL))
        status = nt__spec_fail(r, where, "block and shared_bytes have no meaning for C: the grid is shared by threads");
    return status == NT_OK ? get_arguments(r, json, where, reference && !cuda, out) : status;
}

/* The kernel's name in the database: its entry without template arguments; of a chain the entries with + between. */
static void name_kernel(nt_spec *spec)
{
    nt_str name = {0};
    for (int i = 0; i < spec->launch_count; i++) {
        const char *entry = spec->launch[i].entry;
        nt_str_add(&name, i > 0 ? "+" : "");
        nt_str_add_n(&name, entry, strcspn(entry, "<"));
    }
    nt_copy(spec->kernel_name, sizeof spec->kernel_name, nt_str_text(&name));
    nt_str_done(&name);
}

static nt_status read_kernels(nt__reader *r, const json_t *root)
{
    nt_spec *spec = r->spec;
    const json_t *list = json_object_get(root, "kernels");
    bool cuda = spec->device == NT_DEVICE_CUDA;
    size_t count = json_array_size(list);
    int symbols = 0;
    for (int i = 0; i < spec->argument_count; i++)
        symbols += spec->argument[i].symbol != NULL;
    if (count == 0 || count > NT_SPEC_KERNELS)
        return nt__spec_fail(r, "kernels", "must be a list of 1 to %d kernels", NT_SPEC_KERNELS);
    if (symbols > NT_MAX_PREPARES)
        return nt__spec_fail(r, "arguments", "%d have a symbol; at most %d are possible", symbols, NT_MAX_PREPARES);
    nt_status status = NT_OK;
    for (size_t i = 0; status == NT_OK && i < count; i++) {
        char where[NT__WHERE];
        snprintf(where, sizeof where, "kernels[%zu]", i);
        spec->launch_count = (int)i + 1;
        status = nt__spec_keys(r, json_array_get(list, i), where,
                               cuda ? "entry,grid,block,shared_bytes,arguments" : "entry,grid,arguments");
        if (status == NT_OK)
            status = read_launch(r, json_array_get(list, i), where, cuda, false, &spec->launch[i]);
    }
    if (status == NT_OK)
        name_kernel(spec);
    return status;
}

/* ---- reference ------------------------------------------------------------------------------------------------------ */

/* Files hold one result, so inputs must not change with the seed. */
static nt_status check_inputs_fixed(const nt__reader *r)
{
    for (int i = 0; i < r->spec->argument_count; i++) {
        const nt_spec_argument *a = &r->spec->argument[i];
        if (a->buffer >= 0 && a->read && (a->fill == NT_SPEC_NORMAL || a->fill == NT_SPEC_UNIFORM))
            return nt__spec_fail(r, "reference.files",
                                 "argument '%s' is filled at random; a reference in files needs inputs from files, "
                                 "constants or an index",
                                 a->name);
    }
    return NT_OK;
}

static nt_status read_files(nt__reader *r, const json_t *files)
{
    nt_spec *spec = r->spec;
    nt_problem problem = {.shape = spec->sizes};
    int64_t counts[NT_SPEC_ARGUMENTS];
    const char *key;
    json_t *value;
    nt_status status = nt_spec_counts(spec, &problem, counts, r->err);
    if (status == NT_OK && !json_is_object(files))
        status = nt__spec_fail(r, "reference.files", "must be an object of output and file");
    if (status != NT_OK)
        return status;
    spec->reference = NT_SPEC_OF_FILES;
    json_object_foreach ((json_t *)files, key, value) {
        int at = find_argument(spec, key);
        if (at < 0 || !spec->argument[at].written)
            return nt__spec_fail(r, "reference.files", "'%s' is no output", key);
        if (!json_is_string(value))
            return nt__spec_fail(r, "reference.files", "the file of '%s' must be a text", key);
        spec->argument[at].reference = nt__spec_file(r, json_string_value(value));
        status = nt__spec_check_data(r, spec->argument[at].reference, "reference.files", spec->argument[at].type,
                                     counts[at]);
        if (status != NT_OK)
            return status;
    }
    for (int i = 0; i < spec->argument_count; i++)
        if (spec->argument[i].written && spec->argument[i].reference == NULL)
            return nt__spec_fail(r, "reference.files", "there is no file for the output '%s'", spec->argument[i].name);
    return check_inputs_fixed(r);
}

/* Values of some parameters; the others have their defaults. */
static nt_status read_config(nt__reader *r, const json_t *values)
{
    nt_spec *spec = r->spec;
    json_t *all = nt_json_config(spec->param, &spec->reference_config);
    nt_error why = {0};
    nt_status status = json_is_object(values)
                           ? NT_OK
                           : nt__spec_fail(r, "reference.configuration", "must be an object of parameter and value");
    if (status == NT_OK)
        json_object_update(all, (json_t *)values);
    if (status == NT_OK &&
        nt_json_to_config(all, spec->param, spec->param_count, &spec->reference_config, &why) != NT_OK)
        status = nt__spec_fail(r, "reference.configuration", "%s", why.what);
    json_decref(all);
    return status;
}

static nt_status read_reference_kernel(nt__reader *r, const json_t *json)
{
    static const char *const languages[] = {"c", "cuda", NULL};
    nt_spec *spec = r->spec;
    int language;
    nt_status status = nt__spec_get_choice(r, json, "reference", "language", languages, 0, &language);
    if (status == NT_OK && language == 1 && spec->device != NT_DEVICE_CUDA)
        status = nt__spec_fail(r, "reference.language", "a kernel in C has a reference in C");
    if (status != NT_OK)
        return status;
    spec->reference = language == 1 ? NT_SPEC_OF_CUDA : NT_SPEC_OF_C;
    if (language == 0 && json_object_get(json, "grid") != NULL)
        return nt__spec_fail(r, "reference.grid", "has no meaning for C: the function is called once");
    return read_launch(r, json, "reference", language == 1, true, &spec->reference_launch);
}

static nt_status read_reference(nt__reader *r, const json_t *root)
{
    nt_spec *spec = r->spec;
    const json_t *json = json_object_get(root, "reference");
    spec->reference = NT_SPEC_OF_CONFIG;
    spec->reference_config.count = spec->param_count;
    for (int i = 0; i < spec->param_count; i++)
        spec->reference_config.index[i] = (uint16_t)spec->param[i].dflt;
    if (json == NULL)
        return nt__spec_fail(r, "reference",
                             "is missing: a C function, a CUDA kernel, files, or a configuration of the kernel itself "
                             "such as {\"configuration\": {}}");
    nt_status status = nt__spec_keys(r, json, "reference",
                                     "language,sources,entry,grid,block,shared_bytes,arguments,files,configuration");
    const json_t *files = json_object_get(json, "files"), *config = json_object_get(json, "configuration");
    if (status != NT_OK)
        return status;
    if ((files != NULL) + (config != NULL) + (json_object_get(json, "entry") != NULL) != 1)
        return nt__spec_fail(r, "reference", "needs one of entry, files and configuration");
    return files != NULL    ? read_files(r, files)
           : config != NULL ? read_config(r, config)
                            : read_reference_kernel(r, json);
}

nt_status nt__spec_read_launches(nt__reader *r, const json_t *root)
{
    nt_spec *spec = r->spec;
    nt_status status = read_kernels(r, root);
    if (status == NT_OK)
        status = read_reference(r, root);
    int symbols = nt__spec_size_symbols(spec);
    if (status == NT_OK)
        status = nt__spec_get_expr(r, json_object_get(root, "flop"), "flop", symbols, &spec->flop);
    return status == NT_OK ? nt__spec_get_expr(r, json_object_get(root, "bytes"), "bytes", symbols, &spec->bytes)
                           : status;
}
