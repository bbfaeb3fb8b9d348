/* candidates.h: the candidates of a strategy as one line of numbers, without those that are excluded. The spaces lie
 * one after another: position = sizes of the spaces before + index. */
#ifndef NT_CANDIDATES_H
#define NT_CANDIDATES_H

#include "autotune/strategy.h"

typedef struct nt_candidates {
    int kernel_count;
    const nt_space **space;
    uint64_t *first;    /* [kernel_count + 1] position of each space's first candidate; the last is the end */
    uint64_t *excluded; /* positions, ascending, each once */
    size_t excluded_count;
} nt_candidates;

void nt_candidates_init(nt_candidates *candidates, const nt_strategy_setup *setup);
void nt_candidates_done(nt_candidates *candidates);

uint64_t nt_candidates_end(const nt_candidates *candidates); /* positions, excluded ones included */
nt_candidate nt_candidates_at(const nt_candidates *candidates, uint64_t position);
uint64_t nt_candidates_position(const nt_candidates *candidates, nt_candidate candidate);
bool nt_candidates_excluded(const nt_candidates *candidates, uint64_t position);

#endif
