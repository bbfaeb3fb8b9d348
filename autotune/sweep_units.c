/* sweep_units.c: options become units: every shape x batch x precision x layout x cache mode, each with the kernels
 * that serve it and their legal configurations. Also what --dry-run shows. */
#include <stdlib.h>
#include <string.h>

#include "autotune/sweep_state.h"
#include "autotune/workload.h"
#include "core/mem.h"

/* What a sweep without options tries: batch 1 and one that fills the device more, precisions the kernels of the kind
 * have. */
static const struct {
    int64_t batch[2];
    nt_precision precision[NT_PRECISION_COUNT];
    int precision_count;
} defaults[NT_DEVICE_KIND_COUNT] = {
    [NT_DEVICE_CPU] = {{1, 4}, {NT_FP32, NT_INT8}, 2},
    [NT_DEVICE_CUDA] = {{1, 32}, {NT_FP32, NT_TF32, NT_FP16, NT_BF16}, 4},
    [NT_DEVICE_FAKE] = {{1, 4}, {NT_FP32, NT_INT8}, 2},
};

static const char *kernel_names(const nt_sweep_options *o, nt_str *out)
{
    for (int i = 0; i < nt_kernel_count; i++)
        if (strcmp(nt_kernels[i]->layer, o->layer) == 0 && nt_kernels[i]->device == o->device && !nt_kernels[i]->hidden)
            nt_str_addf(out, "%s%s", out->length ? ", " : "", nt_kernels[i]->name);
    return nt_str_text(out);
}

static bool has_param(const nt_kernel *kernel, const char *name)
{
    return nt_param_find(kernel->params, kernel->param_count, name) >= 0;
}

bool nt__wants_vendors(const nt_sweep_options *o)
{
    const nt_kernel *named =
        o->layer != NULL && o->kernel != NULL ? nt_kernel_find(o->layer, o->device, o->kernel) : NULL;
    return o->vendor != NT_VENDOR_NEVER || (named != NULL && named->vendor != NT_VENDOR_NONE);
}

/* A kernel without a parameter that --param names is not meant. */
static bool meant(const nt_sweep_options *o, const nt_kernel *kernel)
{
    if (o->kernel == NULL && o->vendor == (kernel->vendor != NT_VENDOR_NONE ? NT_VENDOR_NEVER : NT_VENDOR_ONLY))
        return false;
    if (o->kernel != NULL ? strcmp(o->kernel, kernel->name) != 0 : kernel->hidden && o->device != NT_DEVICE_FAKE)
        return false;
    for (int i = 0; i < o->narrowing_count; i++)
        if (!has_param(kernel, o->narrowing[i].param))
            return false;
    return true;
}

static bool of_layer(const nt_sweep_options *o, const nt_kernel *kernel)
{
    return kernel->device == o->device && strcmp(kernel->layer, o->layer) == 0;
}

static bool device_is_too_old(const nt_kernel *kernel, const nt_device_info *device)
{
    return device->kind == NT_DEVICE_CUDA && device->compute_capability < kernel->min_compute_capability;
}

/* Why a kernel cannot serve a problem, or NULL. */
static const char *why_not(const nt_kernel *kernel, const nt_problem *problem, const nt_device_info *device)
{
    if (!(kernel->precisions & NT_BIT(problem->precision)))
        return "precision";
    if (!(kernel->layouts & NT_BIT(problem->layout)))
        return "layout";
    if (device_is_too_old(kernel, device))
        return "compute capability";
    if (kernel->vendor != NT_VENDOR_NONE && device->library[kernel->vendor].version[0] == '\0')
        return device->library[kernel->vendor].missing[0] != '\0' ? device->library[kernel->vendor].missing
                                                                  : "its library is not used on this device";
    return kernel->refuses != NULL ? kernel->refuses(problem) : NULL;
}

/* "no kernel serves ...": with each kernel's reason, and what would be served. */
static nt_status nobody(const nt_sweep_options *o, const nt_problem *problem, const nt_device_info *device,
                        nt_error *err)
{
    nt_str what = {0}, reasons = {0};
    unsigned precisions = 0;
    nt_problem_print(&what, problem);
    for (int i = 0; i < nt_kernel_count; i++) {
        if (!of_layer(o, nt_kernels[i]) || !meant(o, nt_kernels[i]))
            continue;
        if (!device_is_too_old(nt_kernels[i], device))
            precisions |= nt_kernels[i]->precisions;
        nt_str_addf(&reasons, "%s%s: %s", reasons.length ? "; " : "", nt_kernels[i]->name,
                    why_not(nt_kernels[i], problem, device));
    }
    nt_fail(err, NT_USAGE, "no %s kernel serves %s (%s)", nt_device_kind_name(o->device), nt_str_text(&what),
            reasons.length                ? nt_str_text(&reasons)
            : o->vendor == NT_VENDOR_ONLY ? "no vendor's library has one"
                                          : "no kernel is chosen");
    nt_str_clear(&what);
    for (int i = 0; i < NT_PRECISION_COUNT; i++)
        if (precisions & NT_BIT(i))
            nt_str_addf(&what, "%s%s", what.length ? ", " : "precisions served: ", nt_precisions[i].name);
    nt_hint(err, "%s%s'nntune layers %s' shows each kernel", nt_str_text(&what), what.length ? "; " : "", o->layer);
    nt_str_done(&what);
    nt_str_done(&reasons);
    return NT_USAGE;
}

/* Each --param is some kernel's: is one kernel left that has them all? */
static nt_status check_params_meet(const nt_sweep_options *o, nt_error *err)
{
    nt_str owners = {0};
    bool met = o->narrowing_count == 0;
    for (int i = 0; i < nt_kernel_count && !met; i++)
        met = of_layer(o, nt_kernels[i]) && meant(o, nt_kernels[i]);
    for (int n = 0; n < o->narrowing_count && !met; n++) {
        nt_str_addf(&owners, "%s%s is of", n > 0 ? "; " : "", o->narrowing[n].param);
        for (int i = 0; i < nt_kernel_count; i++)
            if (of_layer(o, nt_kernels[i]) && has_param(nt_kernels[i], o->narrowing[n].param))
                nt_str_addf(&owners, " %s", nt_kernels[i]->name);
    }
    if (!met) {
        nt_fail(err, NT_USAGE, "no %s kernel of %s has all parameters of --param%s%s", nt_device_kind_name(o->device),
                o->layer, o->kernel != NULL ? " and is " : "", o->kernel != NULL ? o->kernel : "");
        nt_hint(err, "%s; give those of one kernel", nt_str_text(&owners));
    }
    nt_str_done(&owners);
    return met ? NT_OK : NT_USAGE;
}

/* A --param that no kernel of the layer has. */
static nt_status check_params(const nt_sweep_options *o, nt_error *err)
{
    for (int n = 0; n < o->narrowing_count; n++) {
        bool found = false;
        nt_str all = {0};
        const char *every[NT_MAX_PARAMS * NT__KERNELS];
        int count = 0;
        for (int i = 0; i < nt_kernel_count; i++) {
            const nt_kernel *kernel = nt_kernels[i];
            if (!of_layer(o, kernel) || (kernel->hidden && o->device != NT_DEVICE_FAKE))
                continue;
            found = found || has_param(kernel, o->narrowing[n].param);
            nt_str_addf(&all, "%s%s:", all.length ? "; " : "", kernel->name);
            for (int p = 0; p < kernel->param_count && count < NT_MAX_PARAMS * NT__KERNELS; p++) {
                every[count++] = kernel->params[p].name;
                nt_str_addf(&all, " %s", kernel->params[p].name);
            }
        }
        if (!found) {
            int nearest = nt_nearest(o->narrowing[n].param, every, count);
            nt_fail(err, NT_USAGE, "no %s kernel of %s has a parameter '%s'%s%s%s", nt_device_kind_name(o->device),
                    o->layer, o->narrowing[n].param, nearest >= 0 ? "; did you mean '" : "",
                    nearest >= 0 ? every[nearest] : "", nearest >= 0 ? "'?" : "");
            nt_hint(err, "parameters are: %s", nt_str_text(&all));
        }
        nt_str_done(&all);
        if (!found)
            return NT_USAGE;
    }
    return check_params_meet(o, err);
}

static nt_status serve(const nt_sweep_options *o, const nt_device_info *device, nt__unit *unit, nt_error *err)
{
    nt_status last = NT_OK;
    for (int i = 0; i < nt_kernel_count && unit->served_count < NT__KERNELS; i++) {
        const nt_kernel *kernel = nt_kernels[i];
        if (!of_layer(o, kernel) || !meant(o, kernel) || why_not(kernel, &unit->problem, device) != NULL)
            continue;
        nt__served *served = &unit->served[unit->served_count];
        *served = (nt__served){.kernel = kernel};
        nt_status status = nt_space_build(kernel, &unit->problem, device, o->narrowing, o->narrowing_count, o->where,
                                          &served->space, err);
        if (status != NT_OK) {
            last = status; /* another kernel may still have something for this --param or --where */
            continue;
        }
        served->source = nt_kernel_source(kernel);
        nt_kernel_hash(kernel, device, served->hash);
        unit->served_count++;
    }
    if (unit->served_count > 0)
        return NT_OK;
    return last != NT_OK ? last : nobody(o, &unit->problem, device, err);
}

static nt_status shapes_of(const nt_sweep_options *o, const nt_layer *layer, nt_shape *out, int *count, nt_error *err)
{
    *count = 0;
    if (o->shape_count == 0) {
        *count = 1;
        return layer->parse_shape(layer->shapes[0].name, &out[0], err);
    }
    for (int i = 0; i < o->shape_count; i++) {
        bool all = strcmp(o->shape[i], "all") == 0;
        for (int s = 0; s < (all ? layer->shape_count : 1); s++) {
            if (*count == NT_SWEEP_SHAPES)
                return nt_fail(err, NT_USAGE, "at most %d shapes in one sweep", NT_SWEEP_SHAPES);
            nt_status status = layer->parse_shape(all ? layer->shapes[s].name : o->shape[i], &out[(*count)++], err);
            if (status != NT_OK)
                return status;
        }
    }
    return NT_OK;
}

/* Those of the device's usual precisions that a chosen kernel of the layer has; all of them where none is. */
static void default_precisions(nt_sweep_options *o)
{
    unsigned served = 0;
    for (int i = 0; i < nt_kernel_count; i++)
        if (of_layer(o, nt_kernels[i]) && meant(o, nt_kernels[i]))
            served |= nt_kernels[i]->precisions;
    for (int i = 0; i < defaults[o->device].precision_count; i++)
        if (served & NT_BIT(defaults[o->device].precision[i]))
            o->precision[o->precision_count++] = defaults[o->device].precision[i];
    if (o->precision_count > 0)
        return;
    o->precision_count = defaults[o->device].precision_count;
    memcpy(o->precision, defaults[o->device].precision, sizeof o->precision);
}

static nt_sweep_options with_defaults(const nt_sweep_options *options)
{
    nt_sweep_options o = *options;
    if (o.batch_count == 0) {
        o.batch_count = 2;
        memcpy(o.batch, defaults[o.device].batch, sizeof defaults[0].batch);
    }
    if (o.precision_count == 0)
        default_precisions(&o);
    if (o.layout_count == 0) {
        o.layout_count = 1;
        o.layout[0] = NT_NHWC;
    }
    if (o.cache_count == 0) {
        o.cache_count = 1;
        o.cache[0] = NT_COLD;
    }
    return o;
}

static nt_status add_unit(const nt_sweep_options *o, const nt_device_info *device, const nt_layer *layer,
                          const nt_problem *problem, nt_cache_mode cache, nt__unit *unit, nt_error *err)
{
    *unit = (nt__unit){.problem = *problem, .cache = cache, .layer = layer};
    nt_status status = layer->extents(problem, &unit->extents, err);
    if (status == NT_OK)
        status = nt_workload_check_fits(device, problem, &unit->extents, cache, (double)device->memory_bytes, err);
    return status == NT_OK ? serve(o, device, unit, err) : status;
}

nt_status nt__units_build(const nt_sweep_options *options, const nt_device_info *device, nt__unit **out, int *count,
                          nt_error *err)
{
    nt_sweep_options o = with_defaults(options);
    const nt_layer *layer = nt_layer_find(o.layer);
    nt_shape shape[NT_SWEEP_SHAPES];
    int shape_count = 0;
    *out = NULL;
    *count = 0;
    if (layer == NULL)
        return nt_fail(err, NT_USAGE, "unknown layer '%s'", o.layer);
    nt_status status = shapes_of(&o, layer, shape, &shape_count, err);
    if (status == NT_OK && o.kernel != NULL && nt_kernel_find(o.layer, o.device, o.kernel) == NULL) {
        nt_str names = {0};
        status =
            nt_fail(err, NT_USAGE, "layer %s has no %s kernel '%s'", o.layer, nt_device_kind_name(o.device), o.kernel);
        nt_hint(err, "kernels: %s", kernel_names(&o, &names));
        nt_str_done(&names);
    }
    if (status == NT_OK)
        status = check_params(&o, err);
    int most = shape_count * o.batch_count * o.precision_count * o.layout_count * o.cache_count;
    nt__unit *units = nt_alloc_zero((size_t)most, sizeof *units);
    for (int i = 0; status == NT_OK && i < most; i++) {
        int at = i, cache = at % o.cache_count, layout = (at /= o.cache_count) % o.layout_count;
        int precision = (at /= o.layout_count) % o.precision_count, batch = (at /= o.precision_count) % o.batch_count;
        nt_problem problem = {.shape = shape[at / o.batch_count],
                              .batch = o.batch[batch],
                              .precision = o.precision[precision],
                              .layout = o.layout[layout],
                              .fill = o.fill};
        nt_copy(problem.layer, sizeof problem.layer, o.layer);
        status = add_unit(&o, device, layer, &problem, o.cache[cache], &units[(*count)++], err);
    }
    if (status != NT_OK) {
        nt__units_free(units, *count);
        units = NULL;
        *count = 0;
    }
    *out = units;
    return status;
}

void nt__units_free(nt__unit *units, int count)
{
    for (int i = 0; i < count; i++)
        for (int s = 0; s < units[i].served_count; s++) {
            nt_space_free(units[i].served[s].space);
            free(units[i].served[s].source);
        }
    free(units);
}

nt_status nt_sweep_dry_run(const nt_sweep_options *options, const nt_device_info *device, nt_dry_unit **out, int *count,
                           nt_error *err)
{
    nt__unit *units;
    int unit_count;
    *out = NULL;
    *count = 0;
    nt_status status = nt__units_build(options, device, &units, &unit_count, err);
    if (status != NT_OK)
        return status;
    nt_dry_unit *dry = nt_alloc_zero((size_t)unit_count * NT__KERNELS, sizeof *dry);
    for (int u = 0; u < unit_count; u++)
        for (int s = 0; s < units[u].served_count; s++) {
            nt_space *space = units[u].served[s].space;
            dry[(*count)++] = (nt_dry_unit){units[u].problem,
                                            units[u].cache,
                                            units[u].served[s].kernel->name,
                                            (double)nt_space_total(space),
                                            (double)nt_space_size(space),
                                            space};
            units[u].served[s].space = NULL; /* moves to the caller */
        }
    nt__units_free(units, unit_count);
    *out = dry;
    return NT_OK;
}

void nt_sweep_dry_free(nt_dry_unit *units, int count)
{
    for (int i = 0; i < count; i++)
        nt_space_free(units[i].space);
    free(units);
}
