/* oracle.h: a convolution formed again by the judge, in double precision on the host, from the very bits the kernel
 * saw.
 *
 * Shares no code with the tool: its own reading of fp16 and bf16, its own sums, its own bound. It looks at some outputs
 * of each kernel (corners, edges, and others drawn at random), the tool's own verification at all of them. */
#ifndef ORACLE_H
#define ORACLE_H

#include "tests/gpu/subject.h"

typedef struct oracle {
    unsigned char *in, *weight; /* as in device memory */
    size_t in_bytes, weight_bytes;
    uint64_t state; /* of the random picks */
    size_t checked, wrong;
    double worst; /* largest error over its bound */
    char first[256];
} oracle;

/* Fetches the inputs of the bench's problem. */
nt_status oracle_problem(oracle *o, bench *b, nt_error *err);
/* Runs the kernel once on them, over a poisoned output, and checks `picks` outputs. */
nt_status oracle_check(oracle *o, bench *b, const nt_loaded *loaded, int picks, nt_error *err);
void oracle_done(oracle *o);

#endif
