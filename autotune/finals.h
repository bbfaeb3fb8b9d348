/* finals.h: who wins among the finalists. Pure.
 *
 * Every finalist was timed once a round, in interleaved order on the same inputs, so round i of one pairs with round i
 * of another. Two differ when the paired log ratios have a Wilcoxon p under 0.01 (Holm over the finalists) and the
 * Hodges-Lehmann ratio is more than `threshold` off 1. What does not differ from the leader is tied with it; a tie is
 * broken by fewer registers, then less shared memory, then the parameters' text, so that tables do not change from run
 * to run. */
#ifndef NT_FINALS_H
#define NT_FINALS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { NT_FINALISTS = 8 };

typedef struct nt_finalist {
    const double *round_ns; /* [rounds] */
    int64_t registers;      /* NT_UNKNOWN counts as equal */
    int64_t smem_bytes;
    const char *params; /* canonical text: the last tie-breaker */
    /* results */
    int rank;     /* 1 is the winner */
    bool tied;    /* with the winner (the winner itself is not `tied`) */
    double ratio; /* Hodges-Lehmann ratio to the winner; 1 for the winner */
    double median_ns;
} nt_finalist;

/* count <= NT_FINALISTS. */
void nt_finals_rank(nt_finalist *finalists, int count, size_t rounds, double threshold);

#endif
