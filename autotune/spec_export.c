#include "autotune/spec_export.h"

#include <stdlib.h>
#include <string.h>

#include "autotune/spec_rewrite.h"
#include "core/mem.h"
#include "core/t1.h"
#include "core/text_file.h"

typedef struct writer {
    const nt_spec *spec;
    const json_t *root; /* the spec as it stands in its file */
    nt_str *dropped;
} writer;

static void drop(writer *w, bool is_there, const char *what)
{
    if (is_there && strstr(nt_str_text(w->dropped), what) == NULL)
        nt_str_addf(w->dropped, "%s%s", w->dropped->length > 0 ? ", " : "", what);
}

/* ---- expressions ------------------------------------------------------------------------------------------------- */

static json_t *expression(writer *w, const nt_expr *expr, const char *where)
{
    if (expr == NULL)
        return json_string("1");
    nt__spec_rewrite r = nt__spec_with_sizes(w->spec, nt_expr_text(expr));
    drop(w, r.limits, where);
    json_t *json = json_string(nt_str_text(&r.text));
    nt__spec_rewrite_done(&r);
    return json;
}

/* A number where it is only one, as most files have sizes and values. */
static json_t *number_or_expression(writer *w, const nt_expr *expr, const char *where)
{
    json_t *text = expression(w, expr, where);
    long long whole;
    double real;
    json_t *number = nt_parse_i64(json_string_value(text), &whole)     ? json_integer(whole)
                     : nt_parse_double(json_string_value(text), &real) ? json_real(real)
                                                                       : NULL;
    if (number == NULL)
        return text;
    json_decref(text);
    return number;
}

/* ---- space --------------------------------------------------------------------------------------------------------- */

static json_t *value_of(const nt_param *p, int index)
{
    if (p->strings != NULL)
        return json_string(p->strings[index]);
    if (p->is_bool)
        return json_boolean(p->ints[index] != 0);
    return p->ints != NULL ? json_integer(p->ints[index]) : json_real(p->reals[index]);
}

/* A list as Python writes it. */
static json_t *values_of(const nt_param *p)
{
    nt_str text = {0};
    for (int i = 0; i < p->count; i++) {
        nt_str_add(&text, i > 0 ? ", " : "[");
        if (p->is_bool) {
            nt_str_add(&text, p->ints[i] != 0 ? "True" : "False");
            continue;
        }
        if (p->strings != NULL)
            nt_str_add(&text, "'");
        nt_value_print(&text, nt_param_value(p, i));
        if (p->strings != NULL)
            nt_str_add(&text, "'");
    }
    nt_str_add(&text, "]");
    json_t *json = json_string(nt_str_text(&text));
    nt_str_done(&text);
    return json;
}

static json_t *params_of(writer *w)
{
    json_t *list = json_array();
    bool help = false, launch = false;
    for (int i = 0; i < w->spec->param_count; i++) {
        const nt_param *p = &w->spec->param[i];
        const char *type = p->strings != NULL ? "string" : p->is_bool ? "bool" : p->ints != NULL ? "int" : "float";
        json_array_append_new(list, json_pack("{s:s, s:s, s:o, s:o}", "Name", p->name, "Type", type, "Values",
                                              values_of(p), "Default", value_of(p, p->dflt)));
        const json_t *own = json_array_get(json_object_get(w->root, "parameters"), (size_t)i);
        help = help || json_object_get(own, "help") != NULL;
        launch = launch || json_object_get(own, "use") != NULL;
    }
    drop(w, help, "help of parameters");
    drop(w, launch, "use of parameters");
    return list;
}

static json_t *conditions_of(writer *w)
{
    json_t *list = json_array();
    bool limits = false, why = false;
    for (int i = 0; i < w->spec->constraint_count; i++) {
        nt__spec_rewrite r = nt__spec_with_sizes(w->spec, w->spec->constraint[i].expression);
        if (!r.limits)
            json_array_append_new(list,
                                  json_pack("{s:s, s:O}", "Expression", nt_str_text(&r.text), "Parameters", r.params));
        limits = limits || r.limits;
        why = why || json_is_object(json_array_get(json_object_get(w->root, "constraints"), (size_t)i));
        nt__spec_rewrite_done(&r);
    }
    drop(w, limits, "constraints on limits of the device");
    drop(w, why, "why of constraints");
    return list;
}

/* ---- arguments ----------------------------------------------------------------------------------------------------- */

static const struct {
    const char *own, *t1;
} types[] = {{"f64", "double"}, {"f32", "float"}, {"f16", "half"},   {"i8", "int8"},
             {"u8", "uint8"},   {"i16", "int16"}, {"u16", "uint16"}, {"i32", "int32"},
             {"u32", "uint32"}, {"i64", "int64"}, {"u64", "uint64"}};

static const char *type_of(const nt_spec_type *type)
{
    for (size_t i = 0; i < sizeof types / sizeof types[0]; i++)
        if (strcmp(types[i].own, type->name) == 0)
            return types[i].t1;
    return "custom";
}

static void add_fill(writer *w, const nt_spec_argument *a, const json_t *own, json_t *out)
{
    if (!a->read || a->fill == NT_SPEC_CONSTANT) {
        json_object_update_new(out,
                               json_pack("{s:s, s:f}", "FillType", "Constant", "FillValue", a->read ? a->constant : 0));
    } else if (a->fill == NT_SPEC_FILE) {
        json_object_set_new(out, "FillType", json_string("BinaryRaw"));
        json_object_set(out, "DataSource", json_object_get(own, "file"));
    } else if (a->fill == NT_SPEC_INDEX) {
        json_object_update_new(out, json_pack("{s:s, s:f}", "FillType", "Constant", "FillValue", 0.0));
        drop(w, true, "fill index");
    } else {
        bool uniform = a->fill == NT_SPEC_UNIFORM;
        json_object_update_new(out, json_pack("{s:s, s:f}", "FillType", "Random", "FillValue", uniform ? a->high : 1));
        drop(w, !uniform, "fill normal");
        drop(w, uniform && a->low != 0, "low of a fill");
    }
}

static json_t *buffer_of(writer *w, const nt_spec_argument *a, const json_t *own)
{
    const char *access = !a->written ? "ReadOnly" : a->read ? "ReadWrite" : "WriteOnly";
    json_t *out =
        json_pack("{s:s, s:s, s:s, s:o, s:s}", "Name", a->symbol != NULL ? a->symbol : a->name, "Type",
                  type_of(a->type), "MemoryType", a->symbol != NULL ? "Symbol" : "Vector", "Size",
                  number_or_expression(w, a->count, "a count over limits of the device"), "AccessType", access);
    if (a->written)
        json_object_set_new(out, "Output", json_integer(1));
    add_fill(w, a, own, out);
    return out;
}

static json_t *arguments_of(writer *w)
{
    const nt_spec *spec = w->spec;
    json_t *list = json_array();
    bool custom = false;
    for (int i = 0; i < spec->argument_count; i++) {
        const nt_spec_argument *a = &spec->argument[i];
        const json_t *own = json_array_get(json_object_get(w->root, "arguments"), (size_t)i);
        json_t *out;
        if (a->buffer >= 0)
            out = buffer_of(w, a, own);
        else
            out = json_pack("{s:s, s:s, s:s, s:s, s:o}", "Name", a->name, "Type", type_of(a->type), "MemoryType",
                            "Scalar", "FillType", "Constant", "FillValue",
                            number_or_expression(w, a->value, "a value over limits of the device"));
        if (strcmp(type_of(a->type), "custom") == 0) {
            json_object_set_new(out, "TypeSize", json_integer((json_int_t)a->type->bytes));
            custom = true;
        }
        json_array_append_new(list, out);
    }
    drop(w, custom, "types bf16 and f8e4m3");
    return list;
}

static void add_reference(writer *w, json_t *kernel)
{
    const nt_spec *spec = w->spec;
    const json_t *files = json_object_get(json_object_get(w->root, "reference"), "files");
    json_t *list = json_array();
    bool absolute = false;
    for (int i = 0; i < spec->argument_count; i++) {
        const nt_spec_argument *a = &spec->argument[i];
        if (a->reference == NULL)
            continue;
        absolute = absolute || (a->absolute > 0 && a->relative > 0);
        json_array_append_new(list, json_pack("{s:s, s:s, s:s, s:O, s:s, s:f}", "Name", a->name, "TargetName", a->name,
                                              "FillType", "BinaryRaw", "DataSource", json_object_get(files, a->name),
                                              "ValidationMethod",
                                              a->relative > 0 ? "SideBySideRelativeComparison" : "SideBySideComparison",
                                              "ValidationThreshold", a->relative > 0 ? a->relative : a->absolute));
    }
    drop(w, absolute, "absolute tolerance beside a relative one");
    drop(w, files == NULL, "reference");
    if (json_array_size(list) > 0)
        json_object_set(kernel, "ReferenceArguments", list);
    json_decref(list);
}

/* ---- launch --------------------------------------------------------------------------------------------------------- */

static json_t *extent_of(writer *w, nt_expr *const expr[3], const char *where)
{
    return json_pack("{s:o, s:o, s:o}", "X", expression(w, expr[0], where), "Y", expression(w, expr[1], where), "Z",
                     expression(w, expr[2], where));
}

/* "name<{tile},float>" as others write it: a parameter's name in its place. */
static json_t *entry_of(const char *entry)
{
    nt_str text = {0};
    for (; *entry != '\0'; entry++)
        if (*entry != '{' && *entry != '}')
            nt_str_add_n(&text, entry, 1);
    json_t *json = json_string(nt_str_text(&text));
    nt_str_done(&text);
    return json;
}

static void add_options(writer *w, json_t *kernel)
{
    const json_t *options = json_object_get(w->root, "compiler_options"),
                 *defines = json_object_get(w->root, "defines");
    json_t *list = json_array(), *value;
    const char *key;
    size_t i;
    bool braces = false;
    if (json_is_string(options))
        json_array_append(list, (json_t *)(uintptr_t)options);
    for (i = 0; i < json_array_size(options); i++)
        json_array_append(list, json_array_get(options, i));
    json_object_foreach ((json_t *)(uintptr_t)defines, key, value) {
        nt_str text = {0};
        nt_str_addf(&text, "-D%s=", key);
        if (json_is_string(value))
            nt_str_add(&text, json_string_value(value));
        else
            nt_str_addf(&text, "%lld", (long long)json_integer_value(value));
        json_array_append_new(list, json_string(nt_str_text(&text)));
        nt_str_done(&text);
    }
    for (i = json_array_size(list); i > 0; i--)
        if (strchr(json_string_value(json_array_get(list, i - 1)), '{') != NULL) {
            json_array_remove(list, i - 1);
            braces = true;
        }
    drop(w, braces, "expressions in options and macros");
    json_object_set_new(kernel, "CompilerOptions", list);
}

static json_t *kernel_of(writer *w)
{
    const nt_spec *spec = w->spec;
    const nt_spec_launch *launch = &spec->launch[0];
    const json_t *sources = json_object_get(w->root, "sources");
    bool cuda = spec->device == NT_DEVICE_CUDA;
    json_t *sizes = json_array();
    for (int i = 0; i < spec->sizes.count && i < 3; i++)
        json_array_append_new(sizes, json_integer(spec->sizes.dim[i].size));
    json_t *grid = extent_of(w, launch->grid, "a grid over limits of the device");
    json_t *block = extent_of(w, launch->block, "a block over limits of the device"), *arguments = arguments_of(w);
    json_t *kernel = json_pack("{s:s, s:o, s:O, s:s, s:o, s:o, s:o, s:o}", "Language", cuda ? "CUDA" : "C",
                               "KernelName", entry_of(launch->entry), "KernelFile",
                               json_is_string(sources) ? sources : json_array_get(sources, 0), "GlobalSizeType", "CUDA",
                               "GlobalSize", grid, "LocalSize", block, "ProblemSize", sizes, "Arguments", arguments);
    if (launch->shared_bytes != NULL)
        json_object_set_new(kernel, "SharedMemory",
                            expression(w, launch->shared_bytes, "shared memory over limits of the device"));
    add_options(w, kernel);
    add_reference(w, kernel);
    drop(w, spec->sizes.count > 0, "names of sizes");
    drop(w, spec->sizes.count > 3, "sizes after the third");
    drop(w, json_array_size(sources) > 1, "sources after the first");
    drop(w, spec->launch_count > 1, "kernels after the first");
    return kernel;
}

static json_t *t1_of(writer *w)
{
    static const char *const keys[] = {"include_paths", "precision", "flop", "bytes"};
    json_t *kernel = kernel_of(w), *conditions = conditions_of(w),
           *params = params_of(w); /* in the order of what is told */
    json_t *t1 = json_pack("{s:{s:s, s:s}, s:{s:o, s:o}, s:o}", "General", "BenchmarkName", w->spec->name,
                           "OutputFormat", "JSON", "ConfigurationSpace", "TuningParameters", params, "Conditions",
                           conditions, "KernelSpecification", kernel);
    for (size_t i = 0; i < sizeof keys / sizeof keys[0]; i++)
        drop(w, json_object_get(w->root, keys[i]) != NULL, keys[i]);
    drop(w, w->spec->reference != NT_SPEC_OF_FILES && json_object_get(w->root, "tolerance") != NULL, "tolerance");
    return t1;
}

static nt_status own_as_t1(const char *path, const json_t *root, json_t **out, nt_str *dropped, nt_error *err)
{
    const nt_spec *spec;
    nt_status status = nt_spec_load(path, &spec, err);
    if (status != NT_OK)
        return status;
    writer w = {.spec = spec, .root = root, .dropped = dropped};
    *out = t1_of(&w);
    return NT_OK;
}

static nt_status same_t1(const char *path, const char *text, size_t bytes, json_t **out, nt_error *err)
{
    nt_t1 t1;
    nt_status status = nt_t1_parse(path, text, bytes, &t1, err);
    if (status != NT_OK)
        return status;
    *out = nt_t1_json(&t1);
    nt_t1_done(&t1);
    return NT_OK;
}

nt_status nt_spec_export_t1(const char *path, nt_str *out, nt_str *dropped, nt_error *err)
{
    char *text;
    size_t bytes;
    json_t *json = NULL;
    nt_status status = nt_text_file_read(path, NT_T1_MAX_BYTES, &text, &bytes, err);
    if (status != NT_OK)
        return status;
    json_t *root = json_loadb(text, bytes, JSON_REJECT_DUPLICATES, NULL);
    if (json_object_get(root, "nntune_spec") != NULL)
        status = own_as_t1(path, root, &json, dropped, err);
    else
        status = same_t1(path, text, bytes, &json, err); /* also says what is wrong with any other file */
    if (status == NT_OK) {
        char *dumped = json_dumps(json, JSON_INDENT(4));
        nt_str_addf(out, "%s\n", dumped);
        free(dumped);
    }
    json_decref(json);
    json_decref(root);
    free(text);
    return status;
}
