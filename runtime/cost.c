/* cost.c: the cost model: what a measured configuration would take on another problem of its layer.
 *
 *     blocks = scale x product of ceil(extent / tile)         how the configuration cuts the problem up
 *     waves  = ceil(blocks / slots)                           slots: blocks that run at once
 *     time   = max(waves x wave time x work of a block / its measured work, bytes / memory roof)
 *
 * Wave time and work of a block come from the entry's own measurement, so that its efficiency is carried over. */
#include <math.h>

#include "runtime/table.h"

/* Exponents are 0 or 1 for nearly every layer. */
static double power(double base, float exponent)
{
    if (exponent == 0.0f)
        return 1;
    if (exponent == 1.0f)
        return base;
    return pow(base, (double)exponent);
}

static double product(const nntune_file_product *p, uint32_t dims, const int64_t *size, int64_t batch)
{
    double value = p->scale;
    for (uint32_t d = 0; d < dims; d++)
        value *= power((double)size[d], p->exponent[d]);
    return value * power((double)batch, p->exponent[dims]);
}

nntune_work nntune_work_of(const nntune_file_group *group, const int64_t *size, int64_t batch)
{
    nntune_work work = {.flop = product(&group->flop, group->dims, size, batch)};
    for (int t = 0; t < 3; t++)
        work.bytes += product(&group->bytes[t], group->dims, size, batch);
    return work;
}

/* ceil for positive numbers, without a call into the library. Those from 2^52 are whole; others come of no table that
 * was built, and nothing is chosen by them. */
static double ceiling(double x)
{
    if (!(x > 0 && x < 4e15))
        return x;
    double whole = (double)(int64_t)x;
    return whole < x ? whole + 1 : whole;
}

static double tiles(int64_t size, float tile)
{
    return tile > 0 ? ceiling((double)size / (double)tile) : 1;
}

double nntune_cost_ns(const nntune_file_cost *cost, int dims, const int64_t *size, int64_t batch, nntune_work work,
                      double bytes_per_s)
{
    double blocks = cost->block_scale;
    for (int d = 0; d <= dims; d++) {
        int64_t extent = d < dims ? size[d] : batch;
        uint32_t multiple = cost->multiple[d];
        if (multiple > 1 && extent % (int64_t)multiple != 0)
            return INFINITY;
        blocks *= tiles(extent, cost->tile[d]);
    }
    if (!(blocks >= 1))
        blocks = 1;
    if (!(blocks < 9e18))
        return INFINITY;
    double waves = ceiling(blocks / cost->slots);
    double time_ns = waves * cost->wave_ns * (work.flop / blocks) / cost->flop_per_block;
    double memory_ns = work.bytes / bytes_per_s * 1e9;
    return memory_ns > time_ns ? memory_ns : time_ns; /* an unknown roof is NAN and never larger */
}
