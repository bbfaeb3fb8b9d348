/* asked.h: the positions a strategy has asked or must not ask, and uniform draws among the others. */
#ifndef NT_ASKED_H
#define NT_ASKED_H

#include "autotune/candidates.h"
#include "core/random.h"

typedef struct nt_asked {
    nt_candidates candidates;
    uint64_t *table; /* open addressing, a power of two long, at most half full; position + 1, 0 where free */
    size_t length, count;
} nt_asked;

void nt_asked_init(nt_asked *asked, const nt_strategy_setup *setup); /* the excluded are asked already */
void nt_asked_done(nt_asked *asked);

bool nt_asked_has(const nt_asked *asked, uint64_t position);
bool nt_asked_add(nt_asked *asked, uint64_t position); /* false: it was there */
uint64_t nt_asked_left(const nt_asked *asked);         /* positions not asked */

/* One of those not asked, all equally likely; false when none is left. It is not added. */
bool nt_asked_draw(const nt_asked *asked, nt_random *random, uint64_t *position);

#endif
