/* space_model.c: from a kernel's row, a problem, a device and the user's wishes to values, names and constraints. */
#include "autotune/space_model.h"

#include <stdlib.h>
#include <string.h>

#include "core/mem.h"

/* ---- values kept ----------------------------------------------------------------------------------------------- */

static void list_values(const nt_param *param, nt_str *out)
{
    for (int i = 0; i < param->count; i++) {
        nt_str_add(out, i == 0 ? "" : ", ");
        nt_value_print(out, nt_param_value(param, i));
    }
}

static nt_status fail_param(const nt_kernel *kernel, const char *name, nt_error *err)
{
    const char *names[NT_MAX_PARAMS];
    for (int i = 0; i < kernel->param_count; i++)
        names[i] = kernel->params[i].name;
    int nearest = nt_nearest(name, names, kernel->param_count);
    nt_str hint = {0};
    if (nearest >= 0)
        nt_str_addf(&hint, "did you mean '%s'? ", names[nearest]);
    nt_str_add(&hint, "its parameters are");
    for (int i = 0; i < kernel->param_count; i++)
        nt_str_addf(&hint, "%s %s", i == 0 ? "" : ",", names[i]);
    nt_fail(err, NT_USAGE, "--param: kernel '%s' has no parameter '%s'", kernel->name, name);
    nt_hint(err, "%s", nt_str_text(&hint));
    nt_str_done(&hint);
    return NT_USAGE;
}

static nt_status fail_value(const nt_kernel *kernel, const nt_param *param, const char *value, nt_error *err)
{
    nt_str hint = {0};
    nt_str_addf(&hint, "values of %s: ", param->name);
    list_values(param, &hint);
    nt_fail(err, NT_USAGE, "--param: '%s' is no value of '%s' of kernel '%s'", value, param->name, kernel->name);
    nt_hint(err, "%s", nt_str_text(&hint));
    nt_str_done(&hint);
    return NT_USAGE;
}

/* Marks the values a narrowing keeps. */
static nt_status mark_kept(const nt_kernel *kernel, const nt_narrowing *narrowing, bool *narrowed, bool **keep,
                           nt_error *err)
{
    int at = nt_param_find(kernel->params, kernel->param_count, narrowing->param);
    if (at < 0)
        return fail_param(kernel, narrowing->param, err);
    if (narrowed[at])
        return nt_fail(err, NT_USAGE, "--param: '%s' is given twice; list its values with commas", narrowing->param);
    if (narrowing->count == 0)
        return fail_value(kernel, &kernel->params[at], "", err);
    narrowed[at] = true;
    memset(keep[at], 0, (size_t)kernel->params[at].count * sizeof **keep);
    for (int i = 0; i < narrowing->count; i++) {
        int listed = nt_param_value_find(&kernel->params[at], narrowing->values[i]);
        if (listed < 0)
            return fail_value(kernel, &kernel->params[at], narrowing->values[i], err);
        keep[at][listed] = true;
    }
    return NT_OK;
}

static void init_axis(nt_space_axis *axis, const nt_param *param, const bool *keep)
{
    size_t listed = (size_t)param->count;
    axis->listed = nt_alloc_zero(listed, sizeof *axis->listed);
    axis->digit = nt_alloc_zero(listed, sizeof *axis->digit);
    axis->value = nt_alloc_zero(listed, sizeof *axis->value);
    for (int i = 0; i < param->count; i++) {
        axis->digit[i] = keep[i] ? axis->count : -1;
        if (!keep[i])
            continue;
        axis->listed[axis->count] = (uint16_t)i;
        axis->value[axis->count++] = nt_expr_of_value(nt_param_value(param, i));
    }
}

/* Weights so that the last parameter counts fastest. The total must leave room for signed counts. */
static nt_status set_weights(nt_space_model *model, nt_error *err)
{
    uint64_t weight = 1;
    for (int i = model->axis_count - 1; i >= 0; i--) {
        model->axis[i].weight = weight;
        if (__builtin_mul_overflow(weight, (uint64_t)model->axis[i].count, &weight) || weight > INT64_MAX) {
            nt_fail(err, NT_USAGE, "kernel '%s' has more than 9e18 combinations of parameter values",
                    model->kernel->name);
            nt_hint(err, "narrow it with --param NAME=VALUE,..");
            return NT_USAGE;
        }
    }
    model->total = weight;
    return NT_OK;
}

static nt_status init_axes(nt_space_model *model, const nt_narrowing *narrowing, int narrowing_count, nt_error *err)
{
    const nt_kernel *kernel = model->kernel;
    bool narrowed[NT_MAX_PARAMS] = {false}, *keep[NT_MAX_PARAMS];
    for (int i = 0; i < kernel->param_count; i++) {
        keep[i] = nt_alloc((size_t)kernel->params[i].count);
        memset(keep[i], 1, (size_t)kernel->params[i].count);
    }
    nt_status status = NT_OK;
    for (int i = 0; i < narrowing_count && status == NT_OK; i++)
        status = mark_kept(kernel, &narrowing[i], narrowed, keep, err);
    for (int i = 0; i < kernel->param_count; i++) {
        if (status == NT_OK)
            init_axis(&model->axis[model->axis_count++], &kernel->params[i], keep[i]);
        free(keep[i]);
    }
    return status == NT_OK ? set_weights(model, err) : status;
}

/* ---- names ------------------------------------------------------------------------------------------------------ */

static void add_symbol(nt_space_model *model, const char *name, int64_t value)
{
    model->name[model->symbol_count] = name;
    model->value[model->symbol_count++] = nt_expr_of_int(value);
}

/* The widest vector of a cpu, by the architecture its device states. */
static int64_t simd_bytes(const nt_device_info *device)
{
    static const struct {
        const char *arch;
        int64_t bytes;
    } rows[] = {{"x86-64-avx512", 64}, {"x86-64-avx2", 32}, {"x86-64-avx", 32}, {"x86-64", 16}, {"aarch64", 16}};
    if (device->kind == NT_DEVICE_CUDA)
        return NT_UNKNOWN;
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
        if (strcmp(device->arch, rows[i].arch) == 0)
            return rows[i].bytes;
    return NT_UNKNOWN;
}

static void add_symbols(nt_space_model *model, const nt_problem *problem, const nt_device_info *device)
{
    for (int i = 0; i < model->axis_count; i++)
        add_symbol(model, model->kernel->params[i].name, NT_UNKNOWN);
    for (int i = 0; i < model->shape.count; i++)
        add_symbol(model, model->shape.dim[i].key, model->shape.dim[i].size);
    if (problem != NULL) {
        add_symbol(model, "n", problem->batch);
        add_symbol(model, "elem_bytes", (int64_t)nt_dtype_bytes(nt_precisions[problem->precision].in));
        add_symbol(model, "nchw", problem->layout == NT_NCHW);
    }
    if (device == NULL)
        return;
    add_symbol(model, "smem_per_block", device->smem_per_block_bytes);
    add_symbol(model, "max_threads", device->max_threads_per_block);
    add_symbol(model, "regs_per_block", device->regs_per_block);
    add_symbol(model, "regs_per_sm", device->regs_per_sm);
    add_symbol(model, "warp_size", device->warp_size);
    add_symbol(model, "sm_count", device->sm_count);
    add_symbol(model, "cc", device->compute_capability);
    add_symbol(model, "simd_bytes", simd_bytes(device));
}

/* ---- constraints ------------------------------------------------------------------------------------------------ */

static nt_status add_constraint(nt_space_model *model, const char *text, const char *why, nt_error *err)
{
    nt_expr *expr = NULL;
    nt_status status = nt_expr_compile(text, model->name, model->symbol_count, &expr, err);
    if (status != NT_OK)
        return status;
    model->constraint[model->constraint_count++] = (nt_space_constraint){
        .expr = expr,
        .why = why,
        .params = nt_expr_uses(expr) & ((UINT64_C(1) << model->axis_count) - 1),
    };
    return NT_OK;
}

/* Puts what the error is about before it. A bad constraint in a row is a fault of the row, not of the user. */
static nt_status blame(nt_error *err, nt_status status, const char *format, const char *name)
{
    if (err == NULL)
        return status;
    char what[sizeof err->what];
    nt_copy(what, sizeof what, err->what);
    nt_str text = {0};
    nt_str_addf(&text, "%s'%s': %s", format, name, what);
    nt_copy(err->what, sizeof err->what, nt_str_text(&text));
    err->status = status;
    nt_str_done(&text);
    return status;
}

static nt_status add_constraints(nt_space_model *model, const char *where, nt_error *err)
{
    const nt_kernel *kernel = model->kernel;
    model->constraint = nt_alloc_zero((size_t)kernel->constraint_count + 1, sizeof *model->constraint);
    for (int i = 0; i < kernel->constraint_count; i++) {
        const nt_constraint *row = &kernel->constraints[i];
        if (add_constraint(model, row->expression, row->why, err) != NT_OK)
            return blame(err, NT_FAILED, "a constraint of kernel ", kernel->name);
    }
    if (where != NULL && add_constraint(model, where, NULL, err) != NT_OK)
        return blame(err, NT_USAGE, "--where for kernel ", kernel->name);
    return NT_OK;
}

nt_status nt_space_model_init(nt_space_model *model, const nt_kernel *kernel, const nt_problem *problem,
                              const nt_device_info *device, const nt_narrowing *narrowing, int narrowing_count,
                              const char *where, nt_error *err)
{
    *model = (nt_space_model){.kernel = kernel};
    if (problem != NULL)
        model->shape = problem->shape;
    nt_status status = NT_OK;
    if (kernel->param_count > NT_MAX_PARAMS)
        status = nt_fail(err, NT_FAILED, "kernel '%s' has %d parameters, at most %d are possible", kernel->name,
                         kernel->param_count, NT_MAX_PARAMS);
    if (status == NT_OK)
        status = init_axes(model, narrowing, narrowing_count, err);
    if (status == NT_OK) {
        add_symbols(model, problem, device);
        status = add_constraints(model, where, err);
    }
    if (status != NT_OK)
        nt_space_model_done(model);
    return status;
}

void nt_space_model_done(nt_space_model *model)
{
    for (int i = 0; i < model->axis_count; i++) {
        free(model->axis[i].listed);
        free(model->axis[i].digit);
        free(model->axis[i].value);
    }
    for (int i = 0; i < model->constraint_count; i++)
        nt_expr_free(model->constraint[i].expr);
    free(model->constraint);
    *model = (nt_space_model){0};
}
