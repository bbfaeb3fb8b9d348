/* moves.h: what strategies that walk from candidate to candidate share: where they have been, steps to neighbours, the
 * way from an illegal configuration to a legal one, and what is in flight. */
#ifndef NT_MOVES_H
#define NT_MOVES_H

#include "autotune/asked.h"

/* A candidate with its answer. */
typedef struct nt_spot {
    uint64_t position;
    double value; /* logarithm of the time; INFINITY when it failed; NAN while unknown */
} nt_spot;

typedef struct nt_flight {
    uint64_t position;
    int tag; /* whatever the strategy wants to remember of it */
} nt_flight;

typedef struct nt_moves {
    nt_asked asked;
    nt_random random;
    nt_flight *flight;
    size_t flying, flight_capacity;
    size_t answers;
    nt_spot best; /* value INFINITY before the first good one */
} nt_moves;

void nt_moves_init(nt_moves *moves, const nt_strategy_setup *setup, uint64_t stream);
void nt_moves_done(nt_moves *moves);

/* Each of these finds a candidate not asked yet and does not mark it. False: there is none. */
bool nt_moves_random(nt_moves *moves, uint64_t *position);
bool nt_moves_neighbour(nt_moves *moves, uint64_t from, nt_neighbourhood kind, uint64_t *position);
/* The configuration itself; when it is illegal, one that differs from it in a parameter more, as long as luck lasts;
 * when that was asked before, a neighbour of it or, as often, a random one: walks that meet themselves spread out. */
bool nt_moves_towards(nt_moves *moves, int kernel, const nt_config *config, uint64_t *position);

nt_candidate nt_moves_candidate(const nt_moves *moves, uint64_t position);
void nt_moves_config(const nt_moves *moves, uint64_t position, int *kernel, nt_config *config);

/* Marks a candidate as asked and in flight; the candidate. */
nt_candidate nt_moves_launch(nt_moves *moves, uint64_t position, int tag);
/* Takes an answer in. The tag it was launched with, or -1 when it never was; *spot gets its value. */
int nt_moves_land(nt_moves *moves, const nt_answer *answer, nt_spot *spot);

#endif
