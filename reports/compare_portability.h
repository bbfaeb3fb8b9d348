/* compare_portability.h: what a device loses with another's best configuration. Pure.
 *
 * Speed of configuration c on device d is best time of d over time of c on d: 1 for d's own best, 0 where c fails. */
#ifndef NT_REPORTS_COMPARE_PORTABILITY_H
#define NT_REPORTS_COMPARE_PORTABILITY_H

#include <stddef.h>

typedef struct nt_portability {
    int devices;
    size_t configs;
    const double *const *time; /* time[device][config]; NAN where it fails or was not measured */
} nt_portability;

/* Index of the fastest configuration of a device; `configs` when none works. */
size_t nt_portability_best(const nt_portability *p, int device);

/* Speed that `on` reaches with the best configuration of `of`. */
double nt_portability_speed(const nt_portability *p, int of, int on);

/* The configuration with the largest harmonic mean of speeds over all devices, and that mean; 0 when none works on all.
 */
size_t nt_portability_single(const nt_portability *p, double *mean);

/* How much one parameter matters on a device: the largest loss of the best configuration whose parameter is held at one
 * of its values, over all values at which something works. `value[config]`: index of the value, below `values`. 0: it
 * does not matter; NAN when nothing works. */
double nt_portability_sensitivity(const nt_portability *p, int device, const int *value, int values);

#endif
