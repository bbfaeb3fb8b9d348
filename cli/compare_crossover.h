/* compare_crossover.h: a cpu against a GPU: from which batch on the GPU is faster, without and with copies of inputs
 * and outputs between host and device. */
#ifndef NT_COMPARE_CROSSOVER_H
#define NT_COMPARE_CROSSOVER_H

#include <jansson.h>

#include "cli/compare_side.h"

/* One problem that both sides solved. */
typedef struct nt_duel_row {
    const nt_side_row *cpu, *gpu;
    double cpu_ns, gpu_ns;
} nt_duel_row;

typedef struct nt_duel {
    const nt_duel_row *row;
    size_t count;
    double to_device, from_device; /* bytes/s; NAN unknown */
} nt_duel;

/* Rates as given (bytes/s, 0: not given), else as a profile in the GPU side's database measured them. */
void nt_duel_rates(nt_duel *duel, double given, nt_reader *reader);

/* A line for each family of problems that differ in the batch alone and have two batches or more. */
void nt_duel_print(const nt_duel *duel);
json_t *nt_duel_json(const nt_duel *duel);

#endif
