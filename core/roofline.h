/* roofline.h: where a kernel lies under its device's roofs, from FLOP, bytes and a measured time. Pure.
 *
 * Two compute roofs: at the highest clock (what a data sheet promises) and at the clock seen during the timing (what
 * was possible then). The memory roof does not move with the SM clock. Two points: by the counted work of the problem
 * (each tensor moved once) and by what counters measured; time is always the timing's own, never that of a counter
 * pass. */
#ifndef NT_ROOFLINE_H
#define NT_ROOFLINE_H

#include "core/record.h"

typedef struct nt_roof {
    double flop_per_s, bytes_per_s;
    double ridge; /* FLOP per byte where both meet */
} nt_roof;

typedef enum nt_roof_bound { NT_ROOF_UNKNOWN, NT_ROOF_MEMORY, NT_ROOF_COMPUTE, NT_ROOF_NEITHER } nt_roof_bound;

typedef struct nt_roof_point {
    double intensity; /* FLOP per byte */
    double flop_per_s, bytes_per_s;
    double compute_pct;   /* of the compute roof at the clock seen, or at the highest where none was seen */
    double memory_pct;    /* of the memory roof */
    double roof_pct;      /* of the roof over this intensity at the highest clock: least time over time taken */
    double roof_seen_pct; /* the same at the clock seen */
    nt_roof_bound bound;  /* the nearer roof when at 60 % of it or more, else neither: latency */
} nt_roof_point;

typedef struct nt_roofline {
    nt_roof peak, seen; /* `seen` is NAN where no clock was seen */
    nt_roof_point counted, measured;
} nt_roofline;

/* NAN where unknown. */
typedef struct nt_roof_work {
    double flop, bytes;                   /* counted: one execution of the problem */
    double flop_measured, bytes_measured; /* by counters; unknown measured FLOP stands as the counted */
} nt_roof_work;

extern const double nt_roof_near_pct; /* at least this much of a roof is bound by it: 60 */
extern const double nt_roof_at_pct;   /* and this much is at it: 80 */

const char *nt_roof_bound_name(nt_roof_bound bound); /* unknown, memory, compute, neither */

nt_roofline nt_roofline_of(const nt_device_info *device, nt_precision precision, double sm_clock_mhz, double time_ns,
                           const nt_roof_work *work);

#endif
