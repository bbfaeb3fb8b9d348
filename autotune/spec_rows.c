/* spec_rows.c: the layer and the kernel that a spec is to everybody else. Rows know their problem and not their spec,
 * so a spec is found by the problem's layer, and where there is no problem yet, by its slot. */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "autotune/spec_read.h"
#include "core/mem.h"

static const int64_t most_elements = (int64_t)1 << 40;

/* ---- sizes ---------------------------------------------------------------------------------------------------------------- */

static nt_status unknown_size(const nt_spec *spec, const char *key, nt_error *err)
{
    nt_fail(err, NT_USAGE, "%s has no size '%s'", spec->layer.name, key);
    return nt_hint(err, "sizes and their values in the spec: %s", spec->sizes_text);
}

/* The sizes of the spec, with those that `text` names ("n=1000") put in their place. */
static nt_status parse_sizes(const nt_spec *spec, const char *text, nt_shape *out, nt_error *err)
{
    nt_shape given;
    *out = spec->sizes;
    if (strcmp(text, spec->shape.name) == 0)
        return NT_OK;
    nt_status status = nt_shape_parse(text, &given, err);
    if (status != NT_OK)
        return nt_hint(err, "sizes and their values in the spec: %s", spec->sizes_text);
    for (int i = 0; i < given.count; i++) {
        int at = 0;
        while (at < out->count && strcmp(out->dim[at].key, given.dim[i].key) != 0)
            at++;
        if (at == out->count)
            return unknown_size(spec, given.dim[i].key, err);
        if (given.dim[i].is_word)
            return nt_fail(err, NT_USAGE, "'%s' is not a size for %s (a whole number from 1)",
                           nt_shape_word(given.dim[i].size), given.dim[i].key);
        out->dim[at].size = given.dim[i].size;
    }
    return NT_OK;
}

/* A row's parser is given no row: one function a slot. */
enum { SLOTS = 8 };
static const nt_spec *slot[SLOTS];
static int slot_count;

#define SLOT_MAP(X) X(0) X(1) X(2) X(3) X(4) X(5) X(6) X(7)
#define X(i)                                                                   \
    static nt_status parse_##i(const char *text, nt_shape *out, nt_error *err) \
    {                                                                          \
        return parse_sizes(slot[i], text, out, err);                           \
    }
SLOT_MAP(X)
#undef X
#define X(i) parse_##i,
static nt_status (*const parsers[SLOTS])(const char *, nt_shape *, nt_error *) = {SLOT_MAP(X)};
#undef X

const nt_spec *nt_spec_of(const char *layer)
{
    for (int i = 0; i < slot_count; i++)
        if (strcmp(slot[i]->layer.name, layer) == 0)
            return slot[i];
    return NULL;
}

/* Also of a problem that was stored with other sizes, before the spec was changed. */
static nt_status check_sizes(const nt_spec *spec, const nt_problem *problem, nt_error *err)
{
    for (int i = 0; i < problem->shape.count; i++) {
        int at = 0;
        while (at < spec->sizes.count && strcmp(spec->sizes.dim[at].key, problem->shape.dim[i].key) != 0)
            at++;
        if (at == spec->sizes.count)
            return unknown_size(spec, problem->shape.dim[i].key, err);
    }
    if (problem->shape.count != spec->sizes.count)
        return nt_fail(err, NT_USAGE, "%s has the sizes %s, and not all of them are given", spec->layer.name,
                       spec->sizes_text);
    return NT_OK;
}

nt_status nt_spec_counts(const nt_spec *spec, const nt_problem *problem, int64_t *counts, nt_error *err)
{
    nt_expr_value values[NT__VALUES];
    nt_status status = check_sizes(spec, problem, err);
    if (status != NT_OK)
        return status;
    nt__spec_scope(spec, &problem->shape, NULL, NULL, values);
    for (int i = 0; status == NT_OK && i < spec->argument_count; i++) {
        char what[NT__WHERE];
        snprintf(what, sizeof what, "count of %s", spec->argument[i].name);
        counts[i] = 0;
        if (spec->argument[i].buffer >= 0)
            status = nt__spec_eval_int(spec->argument[i].count, values, what, 1, most_elements, &counts[i], err);
    }
    return status;
}

static nt_status optional_real(const nt_expr *expr, const nt_expr_value *values, const char *what, double absent,
                               double *out, nt_error *err)
{
    *out = absent;
    return expr != NULL ? nt__spec_eval_real(expr, values, what, out, err) : NT_OK;
}

static nt_status extents(const nt_problem *problem, nt_extents *out, nt_error *err)
{
    const nt_spec *spec = nt_spec_of(problem->layer);
    int64_t counts[NT_SPEC_ARGUMENTS];
    nt_expr_value values[NT__VALUES];
    double moved = 0;
    *out = (nt_extents){.out_channels = 1, .out_channel_stride = 1, .reduction = 1};
    nt_status status = nt_spec_counts(spec, problem, counts, err);
    for (int i = 0; status == NT_OK && i < spec->argument_count; i++) {
        const nt_spec_argument *a = &spec->argument[i];
        if (a->buffer < 0)
            continue;
        int64_t bytes = counts[i] * (int64_t)a->type->bytes;
        out->in += a->read ? counts[i] : 0;
        out->out += a->written ? counts[i] : 0;
        out->buffer_bytes += (bytes + 255) / 256 * 256;
        moved += (double)bytes * (a->read + a->written);
    }
    if (status != NT_OK)
        return status;
    nt__spec_scope(spec, &problem->shape, NULL, NULL, values);
    status = optional_real(spec->flop, values, "flop", NAN, &out->flop, err);
    return status == NT_OK ? optional_real(spec->bytes, values, "bytes", moved, &out->bytes, err) : status;
}

/* ---- the kernel ----------------------------------------------------------------------------------------------------------- */

static void options(const nt_problem *problem, const nt_config *config, nt_str *out)
{
    const nt_spec *spec = nt_spec_of(problem->layer);
    nt_expr_value values[NT__VALUES];
    nt__spec_scope(spec, &problem->shape, config, NULL, values);
    nt_str_add(out, " ");
    /* tried when the spec was read; what fails for this configuration alone fails in plan(), which tells why */
    nt__spec_expand(spec, spec->options, values, out, NULL);
}

/* Numbers as the kernel receives them: whole ones as their lower bytes, f64 as its bits, both in a 64-bit value. */
static nt_status add_scalar(const nt_spec_argument *a, const nt_expr_value *values, nt_stage *stage, nt_error *err)
{
    int64_t whole;
    double real;
    char what[NT__WHERE];
    snprintf(what, sizeof what, "argument %s", a->name);
    if (a->type->is_integer) {
        int64_t low = a->type->low < -0x1p62 ? INT64_MIN : (int64_t)a->type->low;
        int64_t high = a->type->high > 0x1p62 ? INT64_MAX : (int64_t)a->type->high;
        nt_status status = nt__spec_eval_int(a->value, values, what, low, high, &whole, err);
        if (status == NT_OK)
            nt_stage_arg_i64(stage, whole);
        return status;
    }
    nt_status status = nt__spec_eval_real(a->value, values, what, &real, err);
    memcpy(&whole, &real, sizeof whole);
    if (status == NT_OK && a->type->dtype == NT_F32)
        nt_stage_arg_f32(stage, (float)real);
    else if (status == NT_OK)
        nt_stage_arg_i64(stage, whole);
    return status;
}

static nt_status extent_of(const nt_expr *const *expr, const char *what, const nt_expr_value *values,
                           const int64_t most[3], uint32_t out[3], nt_error *err)
{
    for (int i = 0; i < 3; i++) {
        int64_t size = 1;
        nt_status status = expr[i] != NULL ? nt__spec_eval_int(expr[i], values, what, 1, most[i], &size, err) : NT_OK;
        if (status != NT_OK)
            return status;
        out[i] = (uint32_t)size;
    }
    return NT_OK;
}

nt_status nt__spec_stage(const nt_spec *spec, const nt_spec_launch *launch, const nt_expr_value *values, nt_stage *out,
                         nt_error *err)
{
    static const int64_t grid_most[] = {INT32_MAX, 65535, 65535}, block_most[] = {1024, 1024, 64};
    static const int64_t items_most[] = {UINT32_MAX, UINT32_MAX, UINT32_MAX};
    bool cuda = spec->device == NT_DEVICE_CUDA;
    uint32_t grid[3], block[3];
    int64_t shared = 0;
    nt_str entry = {0};
    nt_status status =
        extent_of((const nt_expr *const *)launch->grid, "grid", values, cuda ? grid_most : items_most, grid, err);
    if (status == NT_OK)
        status = extent_of((const nt_expr *const *)launch->block, "block", values, block_most, block, err);
    if (status == NT_OK && launch->shared_bytes != NULL)
        status = nt__spec_eval_int(launch->shared_bytes, values, "shared_bytes", 0, INT32_MAX, &shared, err);
    if (status == NT_OK)
        status = nt__spec_expand(spec, launch->entry, values, &entry, err);
    if (status == NT_OK && entry.length >= NT_ENTRY_BYTES)
        status =
            nt_fail(err, NT_USAGE, "entry '%s' has more than %d characters", nt_str_text(&entry), NT_ENTRY_BYTES - 1);
    if (status == NT_OK) {
        nt_stage_kernel(out, nt_str_text(&entry), grid[0], grid[1], grid[2], block[0], block[1], block[2]);
        out->smem_dynamic_bytes = (uint32_t)shared;
    }
    nt_str_done(&entry);
    for (int i = 0; status == NT_OK && i < launch->argument_count; i++) {
        const nt_spec_argument *a = &spec->argument[launch->argument[i]];
        if (a->buffer >= 0)
            nt_stage_arg_buffer(out, (nt_role)(NT_ROLE_USER + a->buffer), 0);
        else
            status = add_scalar(a, values, out, err);
    }
    return status;
}

static nt_status add_symbols(const nt_spec *spec, const nt_problem *problem, nt_plan *out, nt_error *err)
{
    int64_t counts[NT_SPEC_ARGUMENTS];
    nt_status status = nt_spec_counts(spec, problem, counts, err);
    for (int i = 0; status == NT_OK && i < spec->argument_count; i++) {
        const nt_spec_argument *a = &spec->argument[i];
        if (a->symbol != NULL)
            nt_stage_symbol(&out->prepare[out->prepare_count++], a->symbol, (nt_role)(NT_ROLE_USER + a->buffer),
                            (size_t)counts[i] * a->type->bytes);
    }
    return status;
}

static nt_status plan(const nt_problem *problem, const nt_config *config, const nt_device_info *device, nt_plan *out,
                      nt_error *err)
{
    const nt_spec *spec = nt_spec_of(problem->layer);
    nt_expr_value values[NT__VALUES];
    nt_str expanded = {0};
    *out = (nt_plan){0};
    nt_status status = check_sizes(spec, problem, err);
    if (status != NT_OK)
        return status;
    nt__spec_scope(spec, &problem->shape, config, device, values);
    status = nt__spec_expand(spec, spec->options, values, &expanded, err);
    nt_str_done(&expanded);
    if (status == NT_OK)
        status = add_symbols(spec, problem, out, err);
    for (int i = 0; status == NT_OK && i < spec->launch_count; i++) {
        nt_stage *stage = &out->stage[out->stage_count++];
        status = nt__spec_stage(spec, &spec->launch[i], values, stage, err);
        if (status == NT_OK && spec->device == NT_DEVICE_CPU)
            nt__spec_call_name(&spec->launch[i], i, stage->entry, sizeof stage->entry);
    }
    if (status == NT_USAGE && err != NULL)
        err->status = NT_LAUNCH_FAILED;
    return status == NT_USAGE ? NT_LAUNCH_FAILED : status;
}

static double one_addition(const nt_problem *problem)
{
    (void)problem;
    return 1;
}

nt_status nt_spec_reference_plan(const nt_spec *spec, const nt_problem *problem, const nt_device_info *device,
                                 nt_compile_request *request, nt_str *text, char **source, nt_plan *out, nt_error *err)
{
    nt_expr_value values[NT__VALUES];
    nt_status status;
    if (spec->reference == NT_SPEC_OF_CONFIG) {
        status = plan(problem, &spec->reference_config, device, out, err);
        nt_kernel_options(&spec->kernel, problem, &spec->reference_config, text);
        *source = nt_kernel_source(&spec->kernel);
    } else {
        *out = (nt_plan){.stage_count = 1};
        nt__spec_scope(spec, &problem->shape, &spec->reference_config, device, values);
        status = nt__spec_expand(spec, spec->plain_options, values, text, err);
        if (status == NT_OK)
            status = nt__spec_stage(spec, &spec->reference_launch, values, &out->stage[0], err);
        if (status == NT_OK && spec->reference == NT_SPEC_OF_CUDA)
            status = add_symbols(spec, problem, out, err);
        if (status == NT_OK && spec->reference == NT_SPEC_OF_C)
            nt__spec_call_name(&spec->reference_launch, -1, out->stage[0].entry, sizeof out->stage[0].entry);
        *source = nt_strdup(spec->reference_source);
    }
    *request = (nt_compile_request){.kind = device->kind,
                                    .name = "reference",
                                    .source = *source,
                                    .options = nt_str_text(text),
                                    .arch = device->arch,
                                    .compiler = device->compiler,
                                    .features = device->features,
                                    .deadline_s = 60};
    return status;
}

/* ---- registering -------------------------------------------------------------------------------------------------------- */

nt_status nt__spec_register(nt_spec *spec, nt_error *err)
{
    if (slot_count == SLOTS)
        return nt_fail(err, NT_FAILED, "at most %d specs can be in use at once", SLOTS);
    nt_str name = {0}, keys = {0};
    nt_str_addf(&name, "%s%s", NT_SPEC_PREFIX, spec->name);
    for (int i = 0; i < spec->sizes.count; i++)
        nt_str_addf(&keys, "%s%s", i > 0 ? "," : "", spec->sizes.dim[i].key);
    spec->shape = (nt_named_shape){"spec", spec->sizes_text};
    spec->layer = (nt_layer){.name = nt__spec_keep(spec, name.data),
                             .summary = "a kernel of the user's own",
                             .shape_keys = nt__spec_keep(spec, keys.data),
                             .shapes = &spec->shape,
                             .shape_count = 1,
                             .form = "size=value,..",
                             .parse_shape = parsers[slot_count],
                             .extents = extents};
    spec->kernel = (nt_kernel){.name = spec->kernel_name,
                               .summary = spec->path,
                               .layer = spec->layer.name,
                               .device = spec->device,
                               .source = {spec->source, spec->identity},
                               .precisions = NT_BIT(spec->precision),
                               .layouts = NT_BIT(NT_NHWC),
                               .params = spec->param,
                               .param_count = spec->param_count,
                               .constraints = spec->constraint,
                               .constraint_count = spec->constraint_count,
                               .additions = one_addition,
                               .options = options,
                               .plan = plan};
    /* every parameter reaches the compiler by the spec's own options, under its own name */
    for (int i = 0; i < spec->param_count; i++)
        spec->param[i].use = NT_PARAM_LAUNCH;
    slot[slot_count++] = spec;
    return nt_layer_add(&spec->layer) && nt_kernel_add(&spec->kernel)
               ? NT_OK
               : nt_fail(err, NT_FAILED, "no more layers can be added");
}

static void free_launch(nt_spec_launch *launch)
{
    for (int i = 0; i < 3; i++) {
        nt_expr_free(launch->grid[i]);
        nt_expr_free(launch->block[i]);
    }
    nt_expr_free(launch->shared_bytes);
}

void nt__spec_free(nt_spec *spec)
{
    for (int i = 0; i < NT_SPEC_ARGUMENTS; i++) {
        nt_expr_free(spec->argument[i].value);
        nt_expr_free(spec->argument[i].count);
    }
    for (int i = 0; i < NT_SPEC_KERNELS; i++)
        free_launch(&spec->launch[i]);
    free_launch(&spec->reference_launch);
    nt_expr_free(spec->flop);
    nt_expr_free(spec->bytes);
    for (size_t i = 0; i < spec->owned_count; i++)
        free(spec->owned[i]);
    free(spec->owned);
    free(spec);
}

void nt_spec_forget_all(void)
{
    nt_registry_reset();
    for (int i = 0; i < slot_count; i++)
        nt__spec_free((nt_spec *)(uintptr_t)slot[i]);
    slot_count = 0;
}
