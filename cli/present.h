/* present.h: how trials look to people in every command: shapes in their short form, parameters as words, speed against
 * the roofs of a device. */
#ifndef NT_PRESENT_H
#define NT_PRESENT_H

#include "core/units.h"
#include "kernels/layer.h"

/* "64x56x56" where the layer reads that as this very shape, else "c=64,k=128,h=56,w=56". */
void nt_present_shape(nt_str *out, const char *layer, const nt_shape *shape);

/* "conv3x3 64x56x56 batch 8 fp32", then what is not the default: " nchw", " uniform", " hot". */
void nt_present_problem(nt_str *out, const nt_problem *problem, nt_cache_mode cache);

/* {"tile_m":64,...} as "tile_m=64 ...". */
void nt_present_params(nt_str *out, const char *params_json);

/* "12.3 TFLOP/s"; integers do operations that are no floating-point ones: "12.3 TOP/s". */
nt_text nt_present_rate(nt_precision precision, double per_s);

/* Speed of one configuration against its device's roofs. NAN where a peak, or the layer, is unknown. */
typedef struct nt_speed {
    double flop_per_s, bytes_per_s;
    double images_per_s;   /* NAN for a user's kernel: a run of it is no image */
    double launches_per_s; /* runs of all stages */
    double roof_pct;       /* least time that either roof allows over the time taken */
} nt_speed;

nt_speed nt_speed_of(const nt_device_info *device, const nt_problem *problem, const nt_extents *extents,
                     double time_ns);

#endif
