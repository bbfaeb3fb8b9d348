/* sweep_rounds.h: the finalists of a unit and their rounds, measured in blocks, each in a device worker of its own
 * where time allows: what processes differ by is then in the samples. Private to the sweep. */
#ifndef NT_SWEEP_ROUNDS_H
#define NT_SWEEP_ROUNDS_H

#include <jansson.h>

#include "autotune/sweep_state.h"

typedef struct nt__field {
    int count;
    int top[NT_FINALISTS]; /* index into sweep->top */
    json_t *items;         /* what the worker is asked for, in the order of top; owned */
    /* filled by nt__field_measure */
    bool measured; /* false: the finals could not be held (warned of), and nothing below is filled */
    nt_finalist finalist[NT_FINALISTS];
    double *round_ns[NT_FINALISTS];
    int64_t launches[NT_FINALISTS];
    size_t rounds, per_block; /* per_block: 0 when all were measured by the worker that tried them */
} nt__field;

/* Verifies on fresh inputs and times in interleaved rounds; those who fail are taken out of the field. */
nt_status nt__field_measure(nt__sweep *sweep, nt__field *field, nt_error *err);
void nt__field_done(nt__field *field);

#endif
