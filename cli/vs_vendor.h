/* vs_vendor.h: our fastest against the vendors' libraries, problem by problem: `nntune best --vs-vendor`, and the ratio
 * that the end of a sweep tells as well. */
#ifndef NT_VS_VENDOR_H
#define NT_VS_VENDOR_H

#include "core/store.h"

/* The vendor's time over ours. Where one is below three times that of an empty kernel, that is taken off both.
 * `floor_ns` may be NAN. */
double nt_vendor_ratio(double ours_ns, double vendor_ns, double floor_ns);

/* Of each device, problem and cache mode the newest run that measured both: its winner and its fastest kernel of a
 * vendor, the vendor's time over ours, and the geometric means of the ratios, cold and hot apart. Prints a table, or
 * JSON. `layer` and `device` (a name, a UUID or a kind) may be NULL. NT_NOT_FOUND when no run has both. */
nt_status nt_vs_vendor_print(nt_reader *reader, const char *path, const char *layer, const char *device, bool json,
                             bool bold, nt_error *err);

#endif
