/* spec_t1.c: a T1 file as a spec of our own, as JSON, which is then read like any other: one reader checks both.
 *
 * What T1 leaves to its tools is decided here: ProblemSize gives the sizes x, y, z; GridDiv and ProblemSize give the
 * grid where a file has both, else GlobalSize as its type says; without ReferenceArguments the kernel's own default
 * configuration is the reference. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "autotune/spec_read.h"
#include "core/mem.h"
#include "core/t1.h"

static const char *const axis_name[] = {"x", "y", "z"};

/* "ProblemSize[1]" becomes "y". */
static char *rename_sizes(const char *text)
{
    static const char word[] = "ProblemSize[";
    nt_str out = {0};
    for (const char *at; (at = strstr(text, word)) != NULL;) {
        int index = at[sizeof word - 1] - '0';
        nt_str_add_n(&out, text, (size_t)(at - text));
        bool known = index >= 0 && index < 3 && at[sizeof word] == ']';
        nt_str_add(&out, known ? axis_name[index] : word);
        text = at + sizeof word - 1 + (known ? 2 : 0);
    }
    nt_str_add(&out, text);
    return out.data != NULL ? out.data : nt_strdup("");
}

static json_t *expression(const char *text)
{
    char *renamed = rename_sizes(text);
    json_t *json = json_string(renamed);
    free(renamed);
    return json;
}

/* ---- space ----------------------------------------------------------------------------------------------------------------- */

static json_t *params_of(const nt_t1 *t1)
{
    json_t *list = json_array();
    for (size_t i = 0; i < t1->space.param_count; i++) {
        const nt_t1_param *p = &t1->space.param[i];
        json_t *param = json_pack("{s:s, s:s}", "name", p->name, "values", p->values.text);
        if (p->dflt != NULL)
            json_object_set(param, "default", (json_t *)(uintptr_t)p->dflt);
        json_array_append_new(list, param);
    }
    return list;
}

static json_t *constraints_of(const nt_t1 *t1)
{
    json_t *list = json_array();
    for (size_t i = 0; i < t1->space.condition_count; i++)
        json_array_append_new(list, expression(t1->space.condition[i].expression));
    return list;
}

static nt_status sizes_of(const nt__reader *r, const nt_t1 *t1, json_t **out)
{
    const nt_t1_exprs *given = &t1->kernel.problem_size;
    long long size;
    *out = json_object();
    if (given->count > 3)
        return nt__spec_fail(r, "KernelSpecification.ProblemSize", "has more than three entries");
    for (size_t i = 0; i < given->count; i++) {
        if (!nt_parse_i64(given->item[i].text, &size))
            return nt__spec_fail(r, "KernelSpecification.ProblemSize", "'%s' is no whole number", given->item[i].text);
        json_object_set_new(*out, axis_name[i], json_integer(size));
    }
    for (size_t i = 0; given->count == 0 && i < t1->kernel.argument_count; i++)
        if (t1->kernel.argument[i].size.text != NULL && nt_parse_i64(t1->kernel.argument[i].size.text, &size)) {
            json_object_set_new(*out, "size", json_integer(size));
            return NT_OK;
        }
    if (given->count == 0)
        return nt__spec_fail(r, "KernelSpecification.ProblemSize", "is missing, and no argument has a plain size");
    return NT_OK;
}

/* ---- arguments --------------------------------------------------------------------------------------------------------------- */

static const struct {
    const char *t1, *own;
    int width; /* elements of a vector type */
} types[] = {
    {"bool", "u8", 1},     {"int8", "i8", 1},     {"uint8", "u8", 1},    {"int16", "i16", 1},     {"uint16", "u16", 1},
    {"int32", "i32", 1},   {"uint32", "u32", 1},  {"int64", "i64", 1},   {"uint64", "u64", 1},    {"half", "f16", 1},
    {"half2", "f16", 2},   {"half4", "f16", 4},   {"half8", "f16", 8},   {"half16", "f16", 16},   {"float", "f32", 1},
    {"float2", "f32", 2},  {"float4", "f32", 4},  {"float8", "f32", 8},  {"float16", "f32", 16},  {"double", "f64", 1},
    {"double2", "f64", 2}, {"double4", "f64", 4}, {"double8", "f64", 8}, {"double16", "f64", 16},
};

static bool is(const char *text, const char *word)
{
    return text != NULL && strcmp(text, word) == 0;
}

static double number_of(const nt_t1_expr *value, double absent)
{
    double number;
    return value->text != NULL && nt_parse_double(value->text, &number) ? number : absent;
}

static nt_status fill_of(const nt__reader *r, const nt_t1_argument *a, const char *where, json_t *out)
{
    bool integer = strstr(a->type, "int") != NULL || is(a->type, "bool");
    if (is(a->fill_type, "BinaryRaw")) {
        if (a->data_source == NULL)
            return nt__spec_fail(r, where, "FillType BinaryRaw needs a DataSource");
        json_object_set_new(out, "file", json_string(a->data_source));
    } else if (is(a->fill_type, "Random")) {
        double high = number_of(&a->fill_value, 1);
        json_object_update_new(out,
                               json_pack("{s:s, s:f, s:f}", "fill", "uniform", "low", high < 0 ? high : 0.0, "high",
                                         high < 0              ? 0.0
                                         : integer && high < 1 ? 1.0
                                                               : high));
    } else if (a->fill_type == NULL || is(a->fill_type, "Constant")) {
        json_object_update_new(out,
                               json_pack("{s:s, s:f}", "fill", "constant", "constant", number_of(&a->fill_value, 0)));
    } else {
        return nt__spec_fail(r, where, "FillType %s cannot be filled here; Constant, Random and BinaryRaw can",
                             a->fill_type);
    }
    return NT_OK;
}

static nt_status buffer_of(const nt__reader *r, const nt_t1_argument *a, const char *where, int width, json_t *out)
{
    bool written = is(a->access_type, "WriteOnly") || is(a->access_type, "ReadWrite") || a->output == 1;
    bool read = !is(a->access_type, "WriteOnly");
    if (a->size.text == NULL)
        return nt__spec_fail(r, where, "a vector needs a Size");
    char *size = rename_sizes(a->size.text);
    nt_str count = {0};
    nt_str_addf(&count, width > 1 ? "(%s) * %d" : "%s", size, width);
    json_object_set_new(out, "count", json_string(nt_str_text(&count)));
    nt_str_done(&count);
    free(size);
    json_object_set_new(out, "access", json_string(written ? read ? "readwrite" : "write" : "read"));
    if (is(a->mem_type, "Constant") || is(a->memory_type, "Symbol"))
        json_object_set_new(out, "symbol", json_string(a->name));
    return read ? fill_of(r, a, where, out) : NT_OK;
}

static nt_status argument_of(const nt__reader *r, const nt_t1_argument *a, size_t index, json_t **out)
{
    char where[NT__WHERE], name[32];
    size_t type = 0, count = sizeof types / sizeof types[0];
    snprintf(where, sizeof where, "KernelSpecification.Arguments[%zu]", index);
    snprintf(name, sizeof name, "argument%zu", index);
    while (type < count && !is(a->type, types[type].t1))
        type++;
    *out = NULL;
    if (type == count)
        return nt__spec_fail(r, where, "Type %s has no size here", a->type);
    *out = json_pack("{s:s, s:s}", "name", a->name != NULL ? a->name : name, "type", types[type].own);
    if (is(a->memory_type, "Vector") || is(a->memory_type, "Symbol"))
        return buffer_of(r, a, where, types[type].width, *out);
    if (!is(a->memory_type, "Scalar") || types[type].width > 1)
        return nt__spec_fail(r, where, "MemoryType %s of type %s is not possible here; Scalar, Vector and Symbol are",
                             a->memory_type, a->type);
    json_object_set_new(*out, "value", expression(a->fill_value.text != NULL ? a->fill_value.text : "0"));
    return NT_OK;
}

static nt_status arguments_of(const nt__reader *r, const nt_t1 *t1, json_t *list)
{
    nt_status status = NT_OK;
    if (t1->kernel.argument_count == 0)
        return nt__spec_fail(r, "KernelSpecification.Arguments", "are missing, so the kernel cannot be launched");
    for (size_t i = 0; status == NT_OK && i < t1->kernel.argument_count; i++) {
        json_t *argument;
        status = argument_of(r, &t1->kernel.argument[i], i, &argument);
        if (argument != NULL)
            json_array_append_new(list, argument);
    }
    return status;
}

/* ---- launch ------------------------------------------------------------------------------------------------------------------- */

static void add_extent(json_t *list, const char *format, const char *a, const char *b)
{
    nt_str text = {0};
    for (; *format != '\0'; format++)
        if (*format == 'A' || *format == 'B')
            nt_str_add(&text, *format == 'A' ? a : b);
        else
            nt_str_add_n(&text, format, 1);
    json_array_append_new(list, json_string(nt_str_text(&text)));
    nt_str_done(&text);
}

/* The product of the divisors, "1" without any. */
static char *product_of(const nt_t1_exprs *divisors)
{
    nt_str text = {0};
    for (size_t i = 0; i < divisors->count; i++)
        nt_str_addf(&text, "%s(%s)", i > 0 ? " * " : "", divisors->item[i].text);
    return text.data != NULL ? text.data : nt_strdup("1");
}

static json_t *grid_of(const nt_t1 *t1)
{
    const nt_t1_kernel *k = &t1->kernel;
    const nt_t1_exprs *divisors[] = {&k->grid_div_x, &k->grid_div_y, &k->grid_div_z};
    const nt_t1_expr *global[] = {&k->global_size.x, &k->global_size.y, &k->global_size.z};
    const nt_t1_expr *local[] = {&k->local_size.x, &k->local_size.y, &k->local_size.z};
    bool divided = k->problem_size.count > 0 && (k->grid_div_x.count + k->grid_div_y.count + k->grid_div_z.count) > 0;
    json_t *list = json_array();
    for (size_t i = 0; i < 3; i++) {
        if (divided && i >= k->problem_size.count)
            break;
        char *by = product_of(divisors[i]), *all = global[i]->text != NULL ? rename_sizes(global[i]->text) : NULL;
        char *block = rename_sizes(local[i]->text != NULL ? local[i]->text : "1");
        if (divided)
            add_extent(list, "(A + (B) - 1) // (B)", axis_name[i], by);
        else if (is(k->global_size_type, "CUDA") || is(k->global_size_type, "Vulkan"))
            add_extent(list, "A", all != NULL ? all : "1", "");
        else
            add_extent(list, "((A) + (B) - 1) // (B)", all != NULL ? all : "1", block);
        free(by);
        free(all);
        free(block);
    }
    return list;
}

/* Constant memory of MemType Constant is an argument of the kernel as well; a Symbol is not. */
static json_t *names_of(const nt_t1 *t1, const json_t *arguments)
{
    json_t *names = json_array();
    for (size_t i = 0; i < t1->kernel.argument_count; i++)
        if (!is(t1->kernel.argument[i].memory_type, "Symbol"))
            json_array_append(names, json_object_get(json_array_get(arguments, i), "name"));
    return names;
}

static json_t *kernels_of(const nt_t1 *t1, const json_t *arguments)
{
    const nt_t1_kernel *k = &t1->kernel;
    const nt_t1_expr *local[] = {&k->local_size.x, &k->local_size.y, &k->local_size.z};
    json_t *kernel = json_pack("{s:s, s:o}", "entry", k->kernel_name, "grid", grid_of(t1)), *block = json_array();
    for (size_t i = 0; i < 3; i++)
        json_array_append_new(block, expression(local[i]->text != NULL ? local[i]->text : "1"));
    if (is(k->language, "CUDA"))
        json_object_set(kernel, "block", block);
    json_decref(block);
    if (k->shared_memory.text != NULL && !is(k->shared_memory.text, "0"))
        json_object_set_new(kernel, "shared_bytes", expression(k->shared_memory.text));
    json_object_set_new(kernel, "arguments", names_of(t1, arguments));
    json_t *list = json_array();
    json_array_append_new(list, kernel);
    return list;
}

/* ---- reference ---------------------------------------------------------------------------------------------------------------- */

static void set_tolerance(json_t *arguments, const nt_t1_reference *ref)
{
    size_t i;
    json_t *argument;
    double threshold = number_of(&ref->validation_threshold, -1);
    bool relative = is(ref->validation_method, "SideBySideRelativeComparison");
    json_array_foreach (arguments, i, argument)
        if (threshold >= 0 && is(json_string_value(json_object_get(argument, "name")), ref->target_name))
            json_object_set_new(argument, "tolerance",
                                json_pack("{s:f, s:f}", "absolute", relative ? 0.0 : threshold, "relative",
                                          relative ? threshold : 0.0));
}

static nt_status reference_of(const nt__reader *r, const nt_t1 *t1, json_t *arguments, json_t **out)
{
    if (t1->kernel.reference_count == 0) {
        *out = json_pack("{s:{}}", "configuration");
        return NT_OK;
    }
    json_t *files = json_object();
    *out = json_pack("{s:o}", "files", files);
    for (size_t i = 0; i < t1->kernel.reference_count; i++) {
        const nt_t1_reference *ref = &t1->kernel.reference[i];
        if (!is(ref->fill_type, "BinaryRaw") || ref->data_source == NULL)
            return nt__spec_fail(r, "KernelSpecification.ReferenceArguments",
                                 "entry %zu: only FillType BinaryRaw with a DataSource is possible", i + 1);
        json_object_set_new(files, ref->target_name, json_string(ref->data_source));
        set_tolerance(arguments, ref);
    }
    return NT_OK;
}

/* ---- all ------------------------------------------------------------------------------------------------------------------------ */

static json_t *name_of(const nt_t1 *t1)
{
    const char *name = t1->general.benchmark_name != NULL  ? t1->general.benchmark_name
                       : t1->kernel.benchmark_name != NULL ? t1->kernel.benchmark_name
                                                           : t1->kernel.kernel_name;
    char copy[NT_NAME_BYTES - sizeof NT_SPEC_PREFIX + 1];
    nt_copy(copy, sizeof copy, name);
    for (char *at = copy; *at != '\0'; at++)
        if (strchr("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-.", *at) == NULL)
            *at = '_';
    return json_string(copy);
}

static const char *language_of(const nt__reader *r, const nt_t1 *t1)
{
    if (is(t1->kernel.language, "CUDA"))
        return "cuda";
    if (is(t1->kernel.language, "C"))
        return "c";
    nt__spec_fail(r, "KernelSpecification.Language", "%s kernels cannot be tuned: nntune tunes CUDA and C",
                  t1->kernel.language);
    nt_hint(r->err, "its recorded results can still be searched with 'nntune replay'");
    return NULL;
}

static json_t *convert(nt__reader *r, const nt_t1 *t1)
{
    const char *language = language_of(r, t1);
    json_t *sizes = NULL, *reference = NULL, *arguments = json_array(), *options = json_array();
    nt_status status = language != NULL ? sizes_of(r, t1, &sizes) : NT_USAGE;
    if (status == NT_OK)
        status = arguments_of(r, t1, arguments);
    if (status == NT_OK)
        status = reference_of(r, t1, arguments, &reference);
    for (size_t i = 0; i < t1->kernel.compiler_options.count; i++)
        json_array_append_new(options, json_string(t1->kernel.compiler_options.item[i].text));
    if (status == NT_OK)
        return json_pack("{s:i, s:o, s:s, s:[s], s:o, s:o, s:o, s:o, s:o, s:o, s:o}", "nntune_spec", 1, "name",
                         name_of(t1), "language", language, "sources", t1->kernel.kernel_file, "compiler_options",
                         options, "sizes", sizes, "parameters", params_of(t1), "constraints", constraints_of(t1),
                         "arguments", arguments, "kernels", kernels_of(t1, arguments), "reference", reference);
    json_decref(sizes);
    json_decref(reference);
    json_decref(arguments);
    json_decref(options);
    return NULL;
}

json_t *nt__spec_of_t1(nt__reader *r, const char *text)
{
    nt_t1 t1;
    if (nt_t1_parse(r->file, text, strlen(text), &t1, r->err) != NT_OK)
        return NULL;
    json_t *own = convert(r, &t1);
    nt_t1_done(&t1);
    return own;
}
