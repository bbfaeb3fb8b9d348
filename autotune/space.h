/* space.h: the legal configurations of one kernel for one problem and device.
 *
 * Built from the kernel's row: its parameters, its constraints, the user's --param (values kept) and --where (one more
 * constraint). A limit that the device does not state is unknown, and a constraint it leaves open holds; a constraint
 * that cannot be evaluated (division by zero) does not hold. Configurations are numbered 0 to size - 1 in the order of
 * nested loops over the parameters as listed, the first outermost; only a number of 4 or 8 bytes is kept for each. More
 * than NT_SPACE_MOST of them are counted and numbered without being listed, in nested loops of another order. */
#ifndef NT_SPACE_H
#define NT_SPACE_H

#include "autotune/expr.h"
#include "kernels/kernel.h"

enum { NT_SPACE_MOST = 20000000 }; /* legal configurations that are listed */

typedef struct nt_space nt_space;

/* --param tile_m=64,128: the values to keep, in their printed form. */
typedef struct nt_narrowing {
    const char *param;
    const char *const *values;
    int count;
} nt_narrowing;

/* NT_USAGE: unknown parameter, value or name in `where`, or a space too large to hold; NT_NO_SPACE: no configuration is
 * legal, and the error says which constraint, or the fewest together, leave none. `where` may be NULL. The kernel must
 * outlive the space; nothing else need. */
nt_status nt_space_build(const nt_kernel *kernel, const nt_problem *problem, const nt_device_info *device,
                         const nt_narrowing *narrowing, int narrowing_count, const char *where, nt_space **out,
                         nt_error *err);
/* From a plain table: a kernel row of which only name, parameters and constraints are filled in, with `problem` and
 * `device` NULL: then constraints know the parameters alone. */

/* The space of these configurations and no others, in any order, as a recording lists them; the kernel's constraints
 * play no part. NT_USAGE: a configuration twice (*twice, which may be NULL, its position), or none at all. */
nt_status nt_space_build_listed(const nt_kernel *kernel, const nt_config *configs, size_t count, size_t *twice,
                                nt_space **out, nt_error *err);
void nt_space_free(nt_space *space); /* NULL allowed */

const nt_kernel *nt_space_kernel(const nt_space *space);
uint64_t nt_space_size(const nt_space *space);  /* legal configurations, at least 1 */
uint64_t nt_space_total(const nt_space *space); /* all combinations of the values kept */

void nt_space_config(const nt_space *space, uint64_t index, nt_config *out); /* index < size, asserted */
/* False when the configuration is not legal or has a value that was not kept. */
bool nt_space_index(const nt_space *space, const nt_config *config, uint64_t *index);
/* Why nt_space_index said false: the first constraint that does not hold, with its reason, or the value not kept.
 * Empty for a legal configuration. */
void nt_space_why_not(const nt_space *space, const nt_config *config, char *out, size_t capacity);

/* Legal configurations that differ in one parameter: HAMMING by any of its values, ADJACENT by the one kept before or
 * after its own. Ascending in the parameter, then in the value. Writes at most `capacity`; returns how many there are.
 */
typedef enum nt_neighbourhood { NT_NEIGHBOUR_HAMMING, NT_NEIGHBOUR_ADJACENT } nt_neighbourhood;
size_t nt_space_neighbours(const nt_space *space, uint64_t index, nt_neighbourhood kind, uint64_t *out,
                           size_t capacity);

/* What one constraint rejects. `pruned` counts each illegal combination once, at the constraint that cut it off first
 * in the search, so all `pruned` and the size make up the total; NT_UNKNOWN where they were not listed. `alone` counts
 * what it would reject by itself; NT_UNKNOWN where it ties together too many values to try them all. */
typedef struct nt_space_rejection {
    const char *expression;
    const char *why; /* NULL for --where */
    int64_t pruned, alone;
    int64_t faults;      /* of `alone`: combinations for which it cannot be evaluated */
    nt_expr_fault fault; /* an example */
} nt_space_rejection;

int nt_space_rejection_count(const nt_space *space);
nt_space_rejection nt_space_rejection_of(const nt_space *space, int constraint); /* evaluates: not for inner loops */

#endif
