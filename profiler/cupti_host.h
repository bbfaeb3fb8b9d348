/* cupti_host.h: the half of CUPTI that needs no GPU: which chips it knows, their metrics, how many passes a list takes,
 * and turning collected data into numbers. One object knows one chip and one way of collecting.
 *
 * A failed add poisons the object: every later add fails too, good names included. Whoever adds names that may be
 * refused takes a fresh object for each attempt (metric_plan.c does). */
#ifndef NT_CUPTI_HOST_H
#define NT_CUPTI_HOST_H

#include <stddef.h>
#include <stdint.h>

#include "core/status.h"

typedef enum nt_cupti_way { NT_CUPTI_RANGES, NT_CUPTI_SAMPLES, NT_CUPTI_WAY_COUNT } nt_cupti_way;

/* Bytes that CUPTI made: an availability image, a configuration, collected data. */
typedef struct nt_cupti_image {
    uint8_t *bytes; /* owned; free with nt_cupti_image_done */
    size_t count;
} nt_cupti_image;

void nt_cupti_image_done(nt_cupti_image *image);

typedef struct nt_cupti_metric {
    const char *description, *unit, *hardware; /* CUPTI's, valid as long as the host object */
    int type;                                  /* index of the base lists: 0 counter, 1 ratio, 2 throughput */
} nt_cupti_metric;

enum { NT_CUPTI_METRIC_TYPES = 3 };

typedef struct nt_cupti_host nt_cupti_host;

/* Chips known to the library: "GH100", ... The list belongs to it. */
nt_status nt_cupti_chips(const char *const **names, size_t *count, nt_error *err);

/* `available` (NULL or empty: everything the chip has) says what this device and driver give. */
nt_status nt_cupti_host_open(nt_cupti_way way, const char *chip, const nt_cupti_image *available, nt_cupti_host **out,
                             nt_error *err);
void nt_cupti_host_close(nt_cupti_host *host); /* NULL allowed */

/* Names without roll-up, of one type. The list belongs to the library. */
nt_status nt_cupti_host_base(nt_cupti_host *host, int type, const char *const **names, size_t *count, nt_error *err);

/* What may follow a base name: ".sum", ".avg.pct_of_peak_sustained_active", ... */
nt_status nt_cupti_host_sub(nt_cupti_host *host, int type, const char *name, const char *const **names, size_t *count,
                            nt_error *err);

/* NT_NOT_FOUND for a name that the chip does not know. A name that lacks its roll-up passes here and fails to be added.
 */
nt_status nt_cupti_host_describe(nt_cupti_host *host, const char *name, nt_cupti_metric *out, nt_error *err);

/* All or nothing; see above about failure. */
nt_status nt_cupti_host_add(nt_cupti_host *host, const char *const *names, size_t count, nt_error *err);

/* The configuration for what was added, and how many passes it takes. */
nt_status nt_cupti_host_image(nt_cupti_host *host, nt_cupti_image *out, int *passes, nt_error *err);

/* Values of one range or sample of collected data. */
nt_status nt_cupti_host_evaluate(nt_cupti_host *host, const nt_cupti_image *data, size_t index,
                                 const char *const *names, size_t count, double *values, nt_error *err);

#endif
