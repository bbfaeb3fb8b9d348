/* spec_source.c: the text that a compiler gets for a spec: its sources one after another, each under its own name for
 * messages, and for C a generated function a kernel that unpacks arguments and calls it, so that the compiler checks
 * their number and types. Headers that the sources include are hashed along: a changed header is a changed kernel. */
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "autotune/spec_read.h"
#include "core/hash.h"
#include "core/mem.h"
#include "core/paths.h"

enum { MOST_HEADERS = 256, MOST_DEPTH = 32, SOURCE_BYTES = 16 << 20 };

/* ---- headers ----------------------------------------------------------------------------------------------------------- */

typedef struct headers {
    nt__reader *r;
    char *path[MOST_HEADERS];
    int count;
} headers;

static bool seen(headers *h, const char *path)
{
    for (int i = 0; i < h->count; i++)
        if (strcmp(h->path[i], path) == 0)
            return true;
    if (h->count == MOST_HEADERS)
        return true;
    h->path[h->count++] = nt_strdup(path);
    return false;
}

static void scan(headers *h, const char *folder, const char *text, int depth);

static bool take_header(headers *h, const char *folder, const char *name, size_t length, int depth)
{
    char path[2 * NT_PATH_BYTES], key[NT_KEY_BYTES], *text;
    size_t bytes;
    snprintf(path, sizeof path, "%s%.*s", folder, (int)length, name);
    if (nt_read_file(path, SOURCE_BYTES, &text, &bytes, NULL) != NT_OK)
        return false;
    if (!seen(h, path)) {
        nt_hash_bytes(text, bytes, key);
        nt_str_addf(&h->r->seen, "%.*s %s\n", (int)length, name, key);
        char *slash = strrchr(path, '/');
        if (slash != NULL)
            slash[1] = '\0';
        scan(h, path, text, depth + 1);
    }
    free(text);
    return true;
}

/* Looks at every #include, also one that the preprocessor would skip: a hash too many does no harm. */
static void scan(headers *h, const char *folder, const char *text, int depth)
{
    for (const char *line = text; depth < MOST_DEPTH && line != NULL && *line != '\0';) {
        const char *at = line + strspn(line, " \t");
        line = strchr(line, '\n');
        line = line != NULL ? line + 1 : NULL;
        if (*at != '#')
            continue;
        at += 1 + strspn(at + 1, " \t");
        if (strncmp(at, "include", 7) != 0)
            continue;
        at += 7 + strspn(at + 7, " \t");
        if (*at != '"' && *at != '<')
            continue;
        size_t length = strcspn(at + 1, "\">\n");
        bool found = *at == '"' && take_header(h, folder, at + 1, length, depth);
        for (int i = 0; !found && i < h->r->include_count; i++)
            found = take_header(h, h->r->include[i], at + 1, length, depth);
    }
}

/* ---- sources ----------------------------------------------------------------------------------------------------------- */

static void add_line_mark(nt_str *out, const char *name)
{
    nt_str_add(out, "\n#line 1 \"");
    for (; *name != '\0'; name++)
        nt_str_addf(out, *name == '"' || *name == '\\' ? "\\%c" : "%c", *name);
    nt_str_add(out, "\"\n");
}

static nt_status add_source(nt__reader *r, const char *where, const char *name, headers *h, nt_str *out)
{
    const char *path = nt__spec_file(r, name);
    char *text, folder[NT_PATH_BYTES];
    size_t bytes;
    nt_error why = {0};
    if (nt_read_file(path, SOURCE_BYTES, &text, &bytes, &why) != NT_OK)
        return nt__spec_fail(r, where, "%s", why.what);
    if (strlen(text) != bytes) {
        free(text);
        return nt__spec_fail(r, where, "%s holds a NUL byte, so it is no source", path);
    }
    nt_copy(folder, sizeof folder, path);
    char *slash = strrchr(folder, '/');
    if (slash != NULL)
        slash[1] = '\0';
    add_line_mark(out, name);
    nt_str_add(out, text);
    scan(h, folder, text, 0);
    free(text);
    return NT_OK;
}

static nt_status add_sources(nt__reader *r, const json_t *object, const char *where, headers *h, nt_str *out)
{
    const char *names[NT_SPEC_FILES];
    char path[NT__WHERE];
    int count;
    nt__spec_path(path, sizeof path, where, "sources");
    nt_status status = nt__spec_get_texts(r, object, where, "sources", names, NT_SPEC_FILES, &count);
    if (status == NT_OK && count == 0)
        return nt__spec_fail(r, path, "must name at least one file");
    for (int i = 0; status == NT_OK && i < count; i++)
        status = add_source(r, path, names[i], h, out);
    return status;
}

/* ---- calls of C functions ------------------------------------------------------------------------------------------------ */

void nt__spec_call_name(const nt_spec_launch *launch, int index, char *out, size_t capacity)
{
    if (index < 0)
        snprintf(out, capacity, "nntune_ref_%s", launch->entry);
    else
        snprintf(out, capacity, "nntune_%d_%s", index, launch->entry);
}

static void add_call(const nt_spec *spec, const nt_spec_launch *launch, int index, nt_str *out)
{
    char name[NT_ENTRY_BYTES];
    nt__spec_call_name(launch, index, name, sizeof name);
    nt_str_addf(out, "\n#line 1 \"arguments of %s as the spec has them\"\n", launch->entry);
    nt_str_addf(out,
                "void %s(void *const *args, int64_t begin, int64_t end, int32_t thread, int32_t threads)\n"
                "{ (void)args; (void)begin; (void)end; (void)thread; (void)threads; %s(",
                name, launch->entry);
    for (int i = 0; i < launch->argument_count; i++) {
        const nt_spec_argument *a = &spec->argument[launch->argument[i]];
        nt_str_addf(out, "%s*(%s%s *)args[%d]", i > 0 ? ", " : "", a->type->c_name, a->buffer >= 0 ? " *" : "", i);
    }
    if (index >= 0)
        nt_str_addf(out, "%sbegin, end", launch->argument_count > 0 ? ", " : "");
    nt_str_add(out, "); }\n");
}

/* ---- options ----------------------------------------------------------------------------------------------------------- */

static nt_status check_blanks(const nt__reader *r, const char *where, const char *text)
{
    bool inside = false;
    for (const char *at = text; *at != '\0'; at++) {
        inside = *at == '{' ? true : *at == '}' ? false : inside;
        if (!inside && isspace((unsigned char)*at))
            return nt__spec_fail(r, where, "'%s' has blanks, which options cannot hold here", text);
    }
    return NT_OK;
}

static nt_status add_defines(nt__reader *r, const json_t *root, nt_str *out)
{
    const json_t *defines = json_object_get(root, "defines");
    const nt_spec *spec = r->spec;
    const char *key;
    json_t *value;
    for (int i = 0; i < spec->param_count; i++)
        if (spec->param[i].use == NT_PARAM_MACRO)
            nt_str_addf(out, "%s-D%s={%s}", out->length > 0 ? " " : "", spec->param[i].name, spec->param[i].name);
    if (defines != NULL && !json_is_object(defines))
        return nt__spec_fail(r, "defines", "must be an object of macro and value");
    json_object_foreach ((json_t *)defines, key, value) {
        char where[NT__WHERE];
        nt__spec_path(where, sizeof where, "defines", key);
        nt_status status = check_blanks(r, where, key);
        if (status == NT_OK && json_is_string(value))
            status = check_blanks(r, where, json_string_value(value));
        if (status != NT_OK)
            return status;
        if (json_is_string(value))
            nt_str_addf(out, " -D%s=%s", key, json_string_value(value));
        else if (json_is_integer(value))
            nt_str_addf(out, " -D%s=%lld", key, (long long)json_integer_value(value));
        else
            return nt__spec_fail(r, where, "must be a text or a whole number; {expressions} in a text are replaced");
    }
    return NT_OK;
}

static nt_status add_include_paths(nt__reader *r, const json_t *root, nt_str *out)
{
    const char *names[NT_SPEC_FILES];
    int count;
    nt_status status = nt__spec_get_texts(r, root, "", "include_paths", names, NT_SPEC_FILES - 1, &count);
    for (int i = 0; status == NT_OK && i < count; i++) {
        char *path = nt__spec_file(r, names[i]);
        nt_str folder = {0};
        status = check_blanks(r, "include_paths", path);
        nt_str_addf(&folder, "%s/", path);
        r->include[r->include_count++] = nt__spec_keep(r->spec, folder.data);
        nt_str_addf(out, " -I%s", path);
    }
    /* "x.h" beside the spec: what is compiled lies elsewhere */
    r->include[r->include_count++] = r->folder;
    if (status == NT_OK)
        status = check_blanks(r, "the folder of the spec", r->folder);
    nt_str_addf(out, " -I%s", r->folder);
    return status;
}

static nt_status add_options(nt__reader *r, const json_t *root, nt_str *out)
{
    const char *names[64];
    int count;
    nt_status status = nt__spec_get_texts(r, root, "", "compiler_options", names, 64, &count);
    for (int i = 0; status == NT_OK && i < count; i++) {
        status = check_blanks(r, "compiler_options", names[i]);
        nt_str_addf(out, " %s", names[i]);
    }
    return status;
}

/* Templates are named to NVRTC as they are written, with their parameters put in; and to the assertions about them. */
static nt_status add_entry(nt__reader *r, const nt_spec_launch *launch, int index, nt_str *out)
{
    char macro[NT_NAME_BYTES];
    nt_status status = check_blanks(r, index < 0 ? "reference" : "kernels", launch->entry);
    nt__spec_entry_macro(index, macro, sizeof macro);
    nt_str_addf(out, " --name-expression=%s -D%s=%s", launch->entry, macro, launch->entry);
    return status;
}

static nt_status add_entries(nt__reader *r, nt_str *out)
{
    nt_status status = NT_OK;
    for (int i = 0; status == NT_OK && i < r->spec->launch_count; i++)
        status = add_entry(r, &r->spec->launch[i], i, out);
    return status;
}

/* ---- all ---------------------------------------------------------------------------------------------------------------- */

static const char strict_c[] =
    " -Werror=incompatible-pointer-types -Werror=int-conversion -Werror=implicit-function-declaration";

static nt_status read_options(nt__reader *r, const json_t *root)
{
    nt_spec *spec = r->spec;
    nt_str options = {0}, plain = {0};
    nt_status status = add_defines(r, root, &options);
    if (status == NT_OK)
        status = add_include_paths(r, root, &options);
    nt_str_add(&plain, nt_str_text(&options));
    if (status == NT_OK)
        status = add_options(r, root, &options);
    if (status == NT_OK && spec->device == NT_DEVICE_CUDA)
        status = add_entries(r, &options);
    if (status == NT_OK && spec->reference == NT_SPEC_OF_CUDA)
        status = add_entry(r, &spec->reference_launch, -1, &plain);
    else
        nt_str_add(&plain, strict_c);
    if (spec->device == NT_DEVICE_CPU)
        nt_str_add(&options, strict_c);
    spec->options = nt__spec_keep(spec, options.data);
    spec->plain_options = nt__spec_keep(spec, plain.data);
    return status;
}

/* A template of options or an entry that has no value shows now and not at the thousandth trial. */
static nt_status try_options(nt__reader *r)
{
    nt_spec *spec = r->spec;
    nt_expr_value values[NT__VALUES];
    nt_config config = {.count = spec->param_count};
    nt_str out = {0};
    nt_error why = {0};
    for (int i = 0; i < spec->param_count; i++)
        config.index[i] = (uint16_t)spec->param[i].dflt;
    nt__spec_scope(spec, &spec->sizes, &config, NULL, values);
    nt_status status = nt__spec_expand(spec, spec->options, values, &out, &why);
    nt_str_done(&out);
    return status == NT_OK ? NT_OK : nt__spec_fail(r, "compiler_options, defines or entry", "%s", why.what);
}

nt_status nt__spec_read_source(nt__reader *r, const json_t *root)
{
    nt_spec *spec = r->spec;
    headers *h = nt_alloc_zero(1, sizeof *h);
    nt_str text = {0}, reference = {0};
    bool own = spec->reference == NT_SPEC_OF_C || spec->reference == NT_SPEC_OF_CUDA;
    h->r = r;
    nt_status status = read_options(r, root);
    if (status == NT_OK)
        status = try_options(r);
    nt_str_add(&text, spec->device == NT_DEVICE_CPU ? "#include <stdint.h>" : "");
    nt_str_add(&reference, spec->reference == NT_SPEC_OF_C ? "#include <stdint.h>" : "");
    if (status == NT_OK)
        status = add_sources(r, root, "", h, &text);
    if (status == NT_OK && own)
        status = add_sources(r, json_object_get(root, "reference"), "reference", h, &reference);
    void (*add)(const nt_spec *, const nt_spec_launch *, int, nt_str *) =
        spec->device == NT_DEVICE_CPU ? add_call : nt__spec_add_signature;
    for (int i = 0; i < spec->launch_count; i++)
        add(spec, &spec->launch[i], i, &text);
    if (own)
        (spec->reference == NT_SPEC_OF_C ? add_call : nt__spec_add_signature)(spec, &spec->reference_launch, -1,
                                                                              &reference);
    spec->source = nt__spec_keep(spec, text.data != NULL ? text.data : nt_strdup(""));
    spec->reference_source = nt__spec_keep(spec, reference.data != NULL ? reference.data : nt_strdup(""));
    for (int i = 0; i < h->count; i++)
        free(h->path[i]);
    free(h);
    return status;
}
