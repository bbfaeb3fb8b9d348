/* deploy_number.h: the form of a number that follows the batch, from its values at some batches. */
#ifndef NT_DEPLOY_NUMBER_H
#define NT_DEPLOY_NUMBER_H

#include "reports/table.h"

enum { NT_DEPLOY_POINTS = 48, NT_DEPLOY_FACTORS = 400 };

typedef struct nt_deploy_series {
    int count;
    int64_t batch[NT_DEPLOY_POINTS], value[NT_DEPLOY_POINTS];
} nt_deploy_series;

/* What a number may be made of: base + scale x ceil(step x n / divisor). */
typedef struct nt_deploy_factors {
    int step_count, divisor_count;
    int64_t step[NT_DEPLOY_FACTORS], divisor[NT_DEPLOY_FACTORS];
} nt_deploy_factors;

/* Leaves out what is there already, is below 1, above 31 bits or beyond the room. */
void nt_deploy_add_factor(int64_t *list, int *count, int64_t value);

int64_t nt_deploy_number_at(const nt_deploy_number *number, int64_t batch);

/* A form that gives the series at all of its batches: constant, a line, a ceiling of the factors, or one of these up to
 * a limit. False when none does. */
bool nt_deploy_number_fit(const nt_deploy_series *series, const nt_deploy_factors *factors, nt_deploy_number *out);

#endif
