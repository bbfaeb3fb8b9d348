/* cmd_layers.c: `nntune layers [LAYER]`: what can be swept, from the registry: layers, shapes, kernels, parameters. */
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/cmd.h"
#include "cli/color.h"
#include "cli/layer_argument.h"
#include "cli/output.h"
#include "cli/table.h"
#include "core/json.h"
#include "kernels/kernel.h"

/* ---- lists as text --------------------------------------------------------------------------------------------------- */

static void add_comma(nt_str *out, const char *word)
{
    nt_str_addf(out, "%s%s", out->length > 0 ? ", " : "", word);
}

static void add_precisions(nt_str *out, unsigned bits)
{
    for (int i = 0; i < NT_PRECISION_COUNT; i++)
        if (bits & NT_BIT(i))
            add_comma(out, nt_precisions[i].name);
}

static void add_layouts(nt_str *out, unsigned bits)
{
    for (int i = 0; i < NT_LAYOUT_COUNT; i++)
        if (bits & NT_BIT(i))
            add_comma(out, nt_layout_name((nt_layout)i));
}

static void add_values(nt_str *out, const nt_param *param)
{
    for (int i = 0; i < param->count; i++) {
        nt_str_add(out, i > 0 ? ", " : "");
        nt_value_print(out, nt_param_value(param, i));
    }
}

/* The fake device is for tests; so are hidden kernels. */
static bool is_listed(const nt_kernel *kernel, const nt_layer *layer)
{
    return !kernel->hidden && kernel->device != NT_DEVICE_FAKE && strcmp(kernel->layer, layer->name) == 0;
}

static const nt_kernel *next_kernel(const nt_layer *layer, int *at)
{
    while (*at < nt_kernel_count) {
        const nt_kernel *kernel = nt_kernels[(*at)++];
        if (is_listed(kernel, layer))
            return kernel;
    }
    return NULL;
}

/* ---- for people ------------------------------------------------------------------------------------------------------ */

enum { SHAPES_OF_A_LIST = 6 };

/* All names, or the first few of many. */
static void print_shapes(const nt_layer *layer, int most)
{
    int shown = layer->shape_count <= most + 1 ? layer->shape_count : most;
    printf("  shapes: ");
    for (int i = 0; i < shown; i++)
        printf("%s%s%s", i > 0 ? ", " : "", layer->shapes[i].name, i == 0 ? " (default)" : "");
    if (shown < layer->shape_count)
        printf(" and %d more", layer->shape_count - shown);
}

static void print_layer(const nt_layer *layer, int most_shapes, bool bold)
{
    printf("%s: %s\n", layer->name, layer->summary);
    print_shapes(layer, most_shapes);
    printf("; any other as %s or by keys %s\n\n", layer->form, layer->shape_keys);
    nt_table *table = nt_table_new("  kernel|device|precisions|layouts|>parameters|what it is");
    const nt_kernel *kernel;
    for (int at = 0; (kernel = next_kernel(layer, &at)) != NULL;) {
        nt_str precisions = {0}, layouts = {0};
        add_precisions(&precisions, kernel->precisions);
        add_layouts(&layouts, kernel->layouts);
        nt_table_cell(table, "  %s", kernel->name);
        nt_table_cell(table, "%s", nt_device_kind_name(kernel->device));
        nt_table_cell(table, "%s", nt_str_text(&precisions));
        nt_table_cell(table, "%s", nt_str_text(&layouts));
        nt_table_cell(table, "%d", kernel->param_count);
        nt_table_cell(table, "%s", kernel->summary);
        nt_str_done(&precisions);
        nt_str_done(&layouts);
    }
    nt_table_print(table, stdout, bold);
    nt_table_free(table);
}

static void print_params(const nt_kernel *kernel, bool bold)
{
    nt_table *table = nt_table_new("  parameter|default|values|meaning");
    for (int i = 0; i < kernel->param_count; i++) {
        const nt_param *param = &kernel->params[i];
        nt_str values = {0}, dflt = {0};
        add_values(&values, param);
        nt_value_print(&dflt, nt_param_value(param, param->dflt));
        nt_table_cell(table, "  %s", param->name);
        nt_table_cell(table, "%s", nt_str_text(&dflt));
        nt_table_cell(table, "%s", nt_str_text(&values));
        nt_table_cell(table, "%s", param->help);
        nt_str_done(&values);
        nt_str_done(&dflt);
    }
    nt_table_print(table, stdout, bold);
    nt_table_free(table);
}

static void print_kernel(const nt_kernel *kernel, bool bold)
{
    printf("\n%s on %s: %s", kernel->name, nt_device_kind_name(kernel->device), kernel->summary);
    if (kernel->min_compute_capability > 0)
        printf(" (compute capability %lld.%lld%s)", (long long)kernel->min_compute_capability / 10,
               (long long)kernel->min_compute_capability % 10, kernel->arch_specific ? " only" : " or newer");
    puts("");
    print_params(kernel, bold);
    if (kernel->constraint_count > 0)
        puts("  A configuration is legal when:");
    for (int i = 0; i < kernel->constraint_count; i++)
        printf("    %s\n      %s\n", kernel->constraints[i].expression, kernel->constraints[i].why);
    for (int i = 0; i < kernel->rule_count; i++)
        printf("  rule of thumb '%s': %s\n", kernel->rules[i].name, kernel->rules[i].params);
}

/* ---- JSON -------------------------------------------------------------------------------------------------------------- */

/* As it stands in a trial's params. */
static json_t *value_json(const nt_param *param, int index)
{
    const nt_config one = {.count = 1, .index = {(uint16_t)index}};
    json_t *object = nt_json_config(param, &one), *value = json_incref(json_object_get(object, param->name));
    json_decref(object);
    return value;
}

static json_t *param_json(const nt_param *param)
{
    json_t *values = json_array();
    for (int i = 0; i < param->count; i++)
        json_array_append_new(values, value_json(param, i));
    return json_pack("{s:s, s:o, s:o, s:s, s:b}", "name", param->name, "default", value_json(param, param->dflt),
                     "values", values, "meaning", param->help, "compiled_in", param->use == NT_PARAM_MACRO);
}

static json_t *names_json(unsigned bits, int count, const char *(*name)(int index))
{
    json_t *list = json_array();
    for (int i = 0; i < count; i++)
        if (bits & NT_BIT(i))
            json_array_append_new(list, json_string(name(i)));
    return list;
}

static const char *precision_name(int index)
{
    return nt_precisions[index].name;
}

static const char *layout_name(int index)
{
    return nt_layout_name((nt_layout)index);
}

static json_t *kernel_json(const nt_kernel *kernel)
{
    json_t *params = json_array(), *constraints = json_array(), *rules = json_array();
    for (int i = 0; i < kernel->param_count; i++)
        json_array_append_new(params, param_json(&kernel->params[i]));
    for (int i = 0; i < kernel->constraint_count; i++)
        json_array_append_new(constraints, json_pack("{s:s, s:s}", "expression", kernel->constraints[i].expression,
                                                     "why", kernel->constraints[i].why));
    for (int i = 0; i < kernel->rule_count; i++)
        json_array_append_new(
            rules, json_pack("{s:s, s:s}", "name", kernel->rules[i].name, "params", kernel->rules[i].params));
    json_t *json = json_pack("{s:s, s:s, s:s}", "kernel", kernel->name, "device_kind",
                             nt_device_kind_name(kernel->device), "summary", kernel->summary);
    json_object_set_new(json, "precisions", names_json(kernel->precisions, NT_PRECISION_COUNT, precision_name));
    json_object_set_new(json, "layouts", names_json(kernel->layouts, NT_LAYOUT_COUNT, layout_name));
    json_object_set_new(json, "min_compute_capability",
                        kernel->min_compute_capability > 0 ? json_integer(kernel->min_compute_capability)
                                                           : json_null());
    json_object_set_new(json, "params", params);
    json_object_set_new(json, "constraints", constraints);
    json_object_set_new(json, "rules", rules);
    return json;
}

static json_t *layer_json(const nt_layer *layer)
{
    json_t *shapes = json_array(), *kernels = json_array();
    for (int i = 0; i < layer->shape_count; i++)
        json_array_append_new(shapes,
                              json_pack("{s:s, s:s}", "name", layer->shapes[i].name, "shape", layer->shapes[i].dims));
    const nt_kernel *kernel;
    for (int at = 0; (kernel = next_kernel(layer, &at)) != NULL;)
        json_array_append_new(kernels, kernel_json(kernel));
    return json_pack("{s:s, s:s, s:s, s:s, s:o, s:o}", "layer", layer->name, "summary", layer->summary, "form",
                     layer->form, "shape_keys", layer->shape_keys, "shapes", shapes, "kernels", kernels);
}

static void print_json(const nt_layer *only)
{
    json_t *document = nt_output_document("layers"), *layers = json_array();
    for (int i = 0; i < nt_layer_count; i++)
        if (only == NULL || only == nt_layers[i])
            json_array_append_new(layers, layer_json(nt_layers[i]));
    json_object_set_new(document, "layers", layers);
    nt_output_json(document);
}

/* ---- the command --------------------------------------------------------------------------------------------------------- */

static void print_text(const nt_layer *only, bool bold)
{
    for (int i = 0; i < nt_layer_count; i++)
        if (only == NULL || only == nt_layers[i]) {
            fputs(only == NULL && i > 0 ? "\n" : "", stdout);
            print_layer(nt_layers[i], only == NULL ? SHAPES_OF_A_LIST : INT_MAX - 1, bold);
        }
    const nt_kernel *kernel;
    for (int at = 0; only != NULL && (kernel = next_kernel(only, &at)) != NULL;)
        print_kernel(kernel, bold);
    if (only == NULL)
        printf("\n'nntune layers %s' shows parameters, constraints and rules of thumb\n", nt_layers[0]->name);
}

static nt_status run(const nt_args *args, int *exit_code, nt_error *err)
{
    const char *name = nt_args_positional(args, 0);
    const nt_layer *only = NULL;
    (void)exit_code;
    nt_status status = name != NULL ? nt_layer_argument(name, &only, err) : NT_OK;
    if (status != NT_OK)
        return status;
    if (nt_args_flag(args, "json"))
        print_json(only);
    else
        print_text(only, nt_color_wanted(args, stdout));
    return NT_OK;
}

const nt_command nt_command_layers = {
    .name = "layers",
    .group = "System",
    .summary = "list layers with their shapes and kernels; with LAYER also parameters and constraints",
    .usage = "[LAYER]",
    .example = "nntune layers conv3x3",
    .uses = NT_USES_JSON | NT_USES_COLOR,
    .most_positional = 1,
    .run = run,
};
