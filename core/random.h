/* random.h: deterministic random numbers. SplitMix64 streams: the same seed gives the same values on every machine. */
#ifndef NT_RANDOM_H
#define NT_RANDOM_H

#include <stddef.h>
#include <stdint.h>

#include "core/record.h"

typedef struct nt_random {
    uint64_t state;
} nt_random;

nt_random nt_random_seed(uint64_t seed, uint64_t stream);
uint64_t nt_random_u64(nt_random *random);
uint64_t nt_random_below(nt_random *random, uint64_t bound); /* unbiased; bound > 0 */
double nt_random_unit(nt_random *random);                    /* [0, 1) */

/* Fills n floats: NORMAL mean 0, standard deviation 1 (inverse of the normal distribution, Acklam's rational
 * approximation); UNIFORM in [-1, 1). Element i depends on (seed, stream, i) alone, so parts can be filled apart. */
void nt_random_fill(nt_fill fill, uint64_t seed, uint64_t stream, size_t first, float *out, size_t n);

#endif
