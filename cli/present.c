#include "cli/present.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/json.h"

/* All sizes but that of `left_out`, joined by x. */
static void join_sizes(nt_str *out, const nt_shape *shape, const char *left_out)
{
    for (int i = 0; i < shape->count; i++)
        if (strcmp(shape->dim[i].key, left_out) != 0)
            nt_str_addf(out, "%s%lld", out->length > 0 ? "x" : "", (long long)shape->dim[i].size);
}

void nt_present_shape(nt_str *out, const char *layer_name, const nt_shape *shape)
{
    const nt_layer *layer = nt_layer_find(layer_name);
    nt_shape read;
    nt_str brief = {0};
    join_sizes(&brief, shape, "k");
    if (layer != NULL && layer->parse_shape(nt_str_text(&brief), &read, NULL) == NT_OK && nt_shape_equal(&read, shape))
        nt_str_add(out, nt_str_text(&brief));
    else
        nt_shape_print(out, shape);
    nt_str_done(&brief);
}

void nt_present_problem(nt_str *out, const nt_problem *problem, nt_cache_mode cache)
{
    nt_str_addf(out, "%s ", problem->layer);
    nt_present_shape(out, problem->layer, &problem->shape);
    nt_str_addf(out, " batch %lld %s", (long long)problem->batch, nt_precisions[problem->precision].name);
    if (problem->layout != NT_NHWC)
        nt_str_addf(out, " %s", nt_layout_name(problem->layout));
    if (problem->fill != NT_FILL_NORMAL)
        nt_str_addf(out, " %s", nt_fill_name(problem->fill));
    if (cache != NT_COLD)
        nt_str_addf(out, " %s", nt_cache_mode_name(cache));
}

void nt_present_params(nt_str *out, const char *params_json)
{
    json_t *params;
    if (params_json == NULL || nt_json_parse(params_json, &params, NULL) != NT_OK)
        return;
    const char *key;
    json_t *value;
    bool first = true;
    json_object_foreach (params, key, value) {
        char *text = json_dumps(value, JSON_ENCODE_ANY);
        nt_str_addf(out, "%s%s=%s", first ? "" : " ", key, json_is_string(value) ? json_string_value(value) : text);
        free(text);
        first = false;
    }
    json_decref(params);
}

nt_text nt_present_rate(nt_precision precision, double per_s)
{
    nt_text text = nt_text_flops(per_s);
    char *flop = nt_precisions[precision].dense == NT_INT8 ? strstr(text.s, "FLOP/s") : NULL;
    if (flop != NULL)
        snprintf(flop, sizeof text.s - (size_t)(flop - text.s), "OP/s");
    return text;
}

nt_speed nt_speed_of(const nt_device_info *device, const nt_problem *problem, const nt_extents *extents, double time_ns)
{
    double s = time_ns * 1e-9;
    double by_flop = extents->flop / device->peak_flops[problem->precision];
    double by_bytes = extents->bytes / device->dram_peak_bytes_per_s;
    double roof_s = isnan(by_flop) || isnan(by_bytes) ? NAN : fmax(by_flop, by_bytes);
    return (nt_speed){.flop_per_s = extents->flop / s,
                      .bytes_per_s = extents->bytes / s,
                      .images_per_s = nt_layer_is_users(problem->layer) ? NAN : (double)problem->batch / s,
                      .launches_per_s = 1 / s,
                      .roof_pct = 100 * roof_s / s};
}
