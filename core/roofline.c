/* roofline.c: see roofline.h. */
#include "core/roofline.h"

#include <math.h>

const double nt_roof_near_pct = 60;
const double nt_roof_at_pct = 80;

const char *nt_roof_bound_name(nt_roof_bound bound)
{
    static const char *const names[] = {"unknown", "memory", "compute", "neither"};
    return (unsigned)bound < sizeof names / sizeof names[0] ? names[bound] : names[0];
}

static nt_roof roof_of(double flop_per_s, double bytes_per_s)
{
    return (nt_roof){flop_per_s, bytes_per_s, flop_per_s / bytes_per_s};
}

/* fmin and fmax prefer the number to the NAN; a roof with an unknown half is unknown. */
static double least(double a, double b)
{
    return isnan(a) || isnan(b) ? (double)NAN : fmin(a, b);
}

static double under(const nt_roof *roof, double intensity, double flop_per_s)
{
    return 100 * flop_per_s / least(roof->flop_per_s, intensity * roof->bytes_per_s);
}

static nt_roof_bound bound_of(const nt_roof_point *point)
{
    if (isnan(point->compute_pct) || isnan(point->memory_pct))
        return NT_ROOF_UNKNOWN;
    if (fmax(point->compute_pct, point->memory_pct) < nt_roof_near_pct)
        return NT_ROOF_NEITHER;
    return point->compute_pct > point->memory_pct ? NT_ROOF_COMPUTE : NT_ROOF_MEMORY;
}

static nt_roof_point point_of(const nt_roofline *line, double time_ns, double flop, double bytes)
{
    double seconds = time_ns * 1e-9;
    const nt_roof *now = isnan(line->seen.flop_per_s) ? &line->peak : &line->seen;
    nt_roof_point point = {.intensity = bytes > 0 ? flop / bytes : (double)NAN,
                           .flop_per_s = flop / seconds,
                           .bytes_per_s = bytes / seconds};
    point.compute_pct = 100 * point.flop_per_s / now->flop_per_s;
    point.memory_pct = 100 * point.bytes_per_s / now->bytes_per_s;
    point.roof_pct = under(&line->peak, point.intensity, point.flop_per_s);
    point.roof_seen_pct = under(&line->seen, point.intensity, point.flop_per_s);
    point.bound = bound_of(&point);
    return point;
}

nt_roofline nt_roofline_of(const nt_device_info *device, nt_precision precision, double sm_clock_mhz, double time_ns,
                           const nt_roof_work *work)
{
    double peak = device->peak_flops[precision];
    double scale = sm_clock_mhz / device->sm_clock_max_mhz;
    double taken_ns = time_ns > 0 ? time_ns : (double)NAN;
    double flop_measured = isnan(work->flop_measured) ? work->flop : work->flop_measured;
    nt_roofline line = {.peak = roof_of(peak, device->dram_peak_bytes_per_s),
                        .seen = roof_of(peak * scale, isnan(scale) ? (double)NAN : device->dram_peak_bytes_per_s)};
    line.counted = point_of(&line, taken_ns, work->flop, work->bytes);
    line.measured = point_of(&line, taken_ns, flop_measured, work->bytes_measured);
    return line;
}
