#include "reports/compare_portability.h"

#include <math.h>

size_t nt_portability_best(const nt_portability *p, int device)
{
    size_t best = p->configs;
    for (size_t c = 0; c < p->configs; c++)
        if (p->time[device][c] > 0 && (best == p->configs || p->time[device][c] < p->time[device][best]))
            best = c;
    return best;
}

static double speed(const nt_portability *p, int device, size_t best, size_t config)
{
    if (best == p->configs || config == p->configs || !(p->time[device][config] > 0))
        return 0;
    return p->time[device][best] / p->time[device][config];
}

double nt_portability_speed(const nt_portability *p, int of, int on)
{
    return speed(p, on, nt_portability_best(p, on), nt_portability_best(p, of));
}

size_t nt_portability_single(const nt_portability *p, double *mean)
{
    size_t single = p->configs;
    size_t best[64];
    *mean = 0;
    if (p->devices < 1 || p->devices > 64)
        return single;
    for (int d = 0; d < p->devices; d++)
        best[d] = nt_portability_best(p, d);
    for (size_t c = 0; c < p->configs; c++) {
        double sum = 0;
        for (int d = 0; d < p->devices; d++)
            sum += 1 / speed(p, d, best[d], c); /* a failure is an infinity, and the mean 0 */
        if (p->devices / sum > *mean) {
            *mean = p->devices / sum;
            single = c;
        }
    }
    return single;
}

double nt_portability_sensitivity(const nt_portability *p, int device, const int *value, int values)
{
    size_t best = nt_portability_best(p, device);
    double most = 0;
    if (best == p->configs)
        return NAN;
    for (int v = 0; v < values; v++) {
        double least = INFINITY;
        for (size_t c = 0; c < p->configs; c++)
            if (value[c] == v && p->time[device][c] < least)
                least = p->time[device][c];
        if (least < INFINITY && least / p->time[device][best] - 1 > most)
            most = least / p->time[device][best] - 1;
    }
    return most;
}
