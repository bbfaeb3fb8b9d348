/* spec.c: reading a spec as a whole: the file, its own format or T1, its parts in order, its hashes, its rows. */
#include "autotune/spec.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "autotune/spec_read.h"
#include "core/hash.h"
#include "core/json.h"
#include "core/mem.h"
#include "core/text_file.h"

enum { SPEC_BYTES = 4 << 20 };

static const char top_keys[] =
    "nntune_spec,name,language,sources,include_paths,defines,compiler_options,sizes,precision,parameters,constraints,"
    "arguments,tolerance,kernels,reference,flop,bytes";

/* Letters that need no quoting in a shell, a file name or SQL. */
static nt_status get_name(nt__reader *r, const json_t *root)
{
    const char *name;
    nt_status status = nt__spec_get_text(r, root, "", "name", true, &name);
    if (status != NT_OK)
        return status;
    static const char letters[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-.";
    size_t most = NT_NAME_BYTES - sizeof NT_SPEC_PREFIX;
    if (name[strspn(name, letters)] != '\0' || strlen(name) > most)
        return nt__spec_fail(r, "name", "'%s' must have letters, digits, '_', '-' and '.' alone, at most %zu of them",
                             name, most);
    nt_copy(r->spec->name, sizeof r->spec->name, name);
    return NT_OK;
}

static nt_status read_head(nt__reader *r, const json_t *root)
{
    static const char *const languages[] = {"c", "cuda", NULL};
    static const char *const precisions[] = {"fp32", "tf32",        "fp16",        "bf16",        "int8",
                                             "fp8",  "fp16_sparse", "bf16_sparse", "int8_sparse", NULL};
    const json_t *version = json_object_get(root, "nntune_spec");
    int language, precision;
    nt_status status = nt__spec_keys(r, root, "", top_keys);
    if (status == NT_OK && (!json_is_integer(version) || json_integer_value(version) != 1))
        status = nt__spec_fail(r, "nntune_spec", "must be 1, the version of the format that this nntune reads");
    if (status == NT_OK)
        status = get_name(r, root);
    if (status == NT_OK)
        status = nt__spec_get_choice(r, root, "", "language", languages, -1, &language);
    if (status == NT_OK && language < 0)
        status = nt__spec_fail(r, "language", "is missing: c or cuda");
    if (status == NT_OK)
        status = nt__spec_get_choice(r, root, "", "precision", precisions, NT_FP32, &precision);
    if (status != NT_OK)
        return status;
    r->spec->device = language == 1 ? NT_DEVICE_CUDA : NT_DEVICE_CPU;
    r->spec->precision = (nt_precision)precision;
    return NT_OK;
}

/* Two hashes: of all that shapes what a trial gives, which stands in the source and so in every key; and of the whole
 * file, by which children know that they read the same. Another value of a parameter changes the second alone. */
static void make_hashes(nt__reader *r, const json_t *root, const char *text)
{
    static const char *const shaping[] = {"arguments", "tolerance", "kernels",         "reference",
                                          "precision", "defines",   "compiler_options"};
    nt_spec *spec = r->spec;
    json_t *part = json_object();
    for (size_t i = 0; i < sizeof shaping / sizeof shaping[0]; i++)
        if (json_object_get(root, shaping[i]) != NULL)
            json_object_set(part, shaping[i], json_object_get(root, shaping[i]));
    char *dumped = json_dumps(part, JSON_SORT_KEYS | JSON_COMPACT), key[NT_KEY_BYTES];
    json_decref(part);
    const char *const own[] = {dumped, nt_str_text(&r->seen), spec->reference_source};
    nt_hash_texts(own, sizeof own / sizeof own[0], key);
    free(dumped);
    nt_str identity = {0};
    nt_str_addf(&identity, "\n/* spec %s */\n", key);
    spec->identity = nt__spec_keep(spec, identity.data);
    const char *const all[] = {text, spec->source, spec->identity};
    nt_hash_texts(all, sizeof all / sizeof all[0], spec->hash);
}

static nt_status read_own(nt__reader *r, const json_t *root, const char *text)
{
    static nt_status (*const parts[])(nt__reader *, const json_t *) = {
        read_head, nt__spec_read_params, nt__spec_read_arguments, nt__spec_read_launches, nt__spec_read_source};
    nt_status status = NT_OK;
    for (size_t i = 0; status == NT_OK && i < sizeof parts / sizeof parts[0]; i++)
        status = parts[i](r, root);
    if (status == NT_OK)
        make_hashes(r, root, text);
    return status;
}

static nt_status parse(const char *file, const char *text, size_t bytes, json_t **out, nt_error *err)
{
    json_error_t where;
    *out = json_loadb(text, bytes, JSON_REJECT_DUPLICATES, &where);
    if (*out == NULL)
        return nt_fail(err, NT_USAGE, "%s: line %d, column %d: %s", file, where.line, where.column, where.text);
    if (json_is_object(*out))
        return NT_OK;
    json_decref(*out);
    *out = NULL;
    return nt_fail(err, NT_USAGE, "%s: a spec is a JSON object", file);
}

static nt_status read_root(nt__reader *r, json_t *root, const char *text)
{
    bool t1 = json_object_get(root, "KernelSpecification") != NULL;
    if (!t1 && json_object_get(root, "nntune_spec") == NULL) {
        nt_fail(r->err, NT_USAGE,
                "%s is neither a spec of nntune (no key 'nntune_spec') nor T1 (no key "
                "'KernelSpecification')",
                r->file);
        return nt_hint(r->err, "docs/SPEC.md shows how a spec is written");
    }
    r->spec->is_t1 = t1;
    if (!t1)
        return read_own(r, root, text);
    json_t *own = nt__spec_of_t1(r, text);
    nt_status status = own != NULL ? read_own(r, own, text) : NT_USAGE;
    json_decref(own);
    return status;
}

static nt_status open_file(const char *path, char **absolute, char **text, size_t *bytes, nt_error *err)
{
    *absolute = realpath(path, NULL);
    if (*absolute == NULL)
        return nt_fail(err, NT_USAGE, "cannot read the spec %s: %s", path, strerror(errno));
    nt_status status = nt_text_file_read(*absolute, SPEC_BYTES, text, bytes, err); /* plain or gzip */
    if (status != NT_OK)
        free(*absolute);
    return status;
}

static nt_status load(const char *path, const char *hash, const nt_spec **out, nt_error *err)
{
    char *absolute = NULL, *text = NULL;
    size_t bytes = 0;
    json_t *root = NULL;
    nt_error local = {0};
    *out = NULL;
    nt__reader r = {.file = path, .err = err != NULL ? err : &local};
    nt_status status = open_file(path, &absolute, &text, &bytes, r.err);
    if (status != NT_OK)
        return status;
    r.spec = nt_alloc_zero(1, sizeof *r.spec);
    r.spec->path = nt__spec_keep(r.spec, nt_strdup(absolute));
    nt_copy(r.folder, sizeof r.folder, absolute);
    strrchr(r.folder, '/')[1] = '\0'; /* an absolute path has one */
    free(absolute);
    status = parse(path, text, bytes, &root, r.err);
    if (status == NT_OK)
        status = read_root(&r, root, text);
    nt_str_done(&r.seen);
    json_decref(root);
    free(text);
    char layer[NT_NAME_BYTES + sizeof NT_SPEC_PREFIX];
    nt_copy(layer, sizeof layer, NT_SPEC_PREFIX);
    nt_copy(layer + strlen(layer), sizeof layer - strlen(layer), r.spec->name);
    const nt_spec *there = status == NT_OK ? nt_spec_of(layer) : NULL;
    if (status == NT_OK && hash != NULL && strcmp(r.spec->hash, hash) != 0) {
        status = nt_fail(r.err, NT_FAILED, "%s or a file that it names was changed while it was in use", path);
        nt_hint(r.err, "start the sweep again");
    } else if (there != NULL && strcmp(there->hash, r.spec->hash) != 0)
        status = nt_fail(r.err, NT_FAILED, "%s is another spec than the '%s' in use", path, r.spec->name);
    if (status == NT_OK && there == NULL) {
        status = nt__spec_register(r.spec, r.err);
        *out = r.spec;
        return status;
    }
    nt__spec_free(r.spec);
    *out = there;
    return status;
}

nt_status nt_spec_load(const char *path, const nt_spec **out, nt_error *err)
{
    return load(path, NULL, out, err);
}

nt_status nt_spec_load_same(const char *path, const char *hash, nt_error *err)
{
    const nt_spec *spec;
    return load(path, hash, &spec, err);
}

void nt_spec_tell(json_t *message, const char *layer)
{
    const nt_spec *spec = nt_spec_of(layer);
    if (spec == NULL)
        return;
    json_object_set_new(message, "spec", nt_json_text(spec->path));
    json_object_set_new(message, "spec_hash", json_string(spec->hash));
}

nt_status nt_spec_told(const json_t *message, nt_error *err)
{
    const char *path = nt_json_get_text(message, "spec"), *hash = nt_json_get_text(message, "spec_hash");
    return path != NULL && hash != NULL ? nt_spec_load_same(path, hash, err) : NT_OK;
}
