/* moves.c: steps over legal configurations, none of them asked twice. */
#include "autotune/moves.h"

#include <math.h>
#include <stdlib.h>

#include "core/mem.h"

enum { MOST_NEIGHBOURS = 512, REPAIRS = 24 };

void nt_moves_init(nt_moves *moves, const nt_strategy_setup *setup, uint64_t stream)
{
    *moves = (nt_moves){.best = {0, INFINITY}};
    nt_asked_init(&moves->asked, setup);
    moves->random = nt_random_seed(setup->seed, stream);
}

void nt_moves_done(nt_moves *moves)
{
    nt_asked_done(&moves->asked);
    free(moves->flight);
    *moves = (nt_moves){0};
}

nt_candidate nt_moves_candidate(const nt_moves *moves, uint64_t position)
{
    return nt_candidates_at(&moves->asked.candidates, position);
}

void nt_moves_config(const nt_moves *moves, uint64_t position, int *kernel, nt_config *config)
{
    nt_candidate candidate = nt_moves_candidate(moves, position);
    *kernel = candidate.kernel;
    nt_space_config(moves->asked.candidates.space[candidate.kernel], candidate.index, config);
}

bool nt_moves_random(nt_moves *moves, uint64_t *position)
{
    return nt_asked_draw(&moves->asked, &moves->random, position);
}

bool nt_moves_neighbour(nt_moves *moves, uint64_t from, nt_neighbourhood kind, uint64_t *position)
{
    uint64_t near[MOST_NEIGHBOURS], fresh[MOST_NEIGHBOURS];
    nt_candidate at = nt_moves_candidate(moves, from);
    size_t count = nt_space_neighbours(moves->asked.candidates.space[at.kernel], at.index, kind, near, MOST_NEIGHBOURS);
    size_t left = 0;
    for (size_t i = 0; i < count && i < MOST_NEIGHBOURS; i++) {
        uint64_t there = nt_candidates_position(&moves->asked.candidates, (nt_candidate){at.kernel, near[i]});
        if (!nt_asked_has(&moves->asked, there))
            fresh[left++] = there;
    }
    if (left == 0)
        return false;
    *position = fresh[nt_random_below(&moves->random, left)];
    return true;
}

static int below(nt_moves *moves, int bound)
{
    return (int)nt_random_below(&moves->random, (uint64_t)bound);
}

/* Gives random parameters random values, one more with each attempt that stays illegal for long. */
static bool repair(nt_moves *moves, const nt_space *space, const nt_config *config, uint64_t *index)
{
    const nt_kernel *kernel = nt_space_kernel(space);
    for (int attempt = 0; attempt < REPAIRS; attempt++) {
        nt_config changed = *config;
        for (int i = 0; i <= attempt / (REPAIRS / 3) && changed.count > 0; i++) {
            int param = below(moves, changed.count);
            changed.index[param] = (uint16_t)below(moves, kernel->params[param].count);
        }
        if (nt_space_index(space, &changed, index))
            return true;
    }
    return false;
}

bool nt_moves_towards(nt_moves *moves, int kernel, const nt_config *config, uint64_t *position)
{
    const nt_space *space = moves->asked.candidates.space[kernel];
    uint64_t index;
    if (!nt_space_index(space, config, &index) && !repair(moves, space, config, &index))
        return nt_moves_random(moves, position);
    *position = nt_candidates_position(&moves->asked.candidates, (nt_candidate){kernel, index});
    if (!nt_asked_has(&moves->asked, *position))
        return true;
    bool stay = nt_random_u64(&moves->random) >> 63;
    return (stay && nt_moves_neighbour(moves, *position, NT_NEIGHBOUR_HAMMING, position)) ||
           nt_moves_random(moves, position);
}

nt_candidate nt_moves_launch(nt_moves *moves, uint64_t position, int tag)
{
    void *memory = moves->flight;
    nt_grow(&memory, &moves->flight_capacity, moves->flying + 1, sizeof *moves->flight);
    moves->flight = memory;
    moves->flight[moves->flying++] = (nt_flight){position, tag};
    nt_asked_add(&moves->asked, position);
    return nt_moves_candidate(moves, position);
}

int nt_moves_land(nt_moves *moves, const nt_answer *answer, nt_spot *spot)
{
    bool good = answer->outcome == NT_OUTCOME_OK && answer->time_ns > 0;
    *spot = (nt_spot){nt_candidates_position(&moves->asked.candidates, answer->candidate),
                      good ? log(answer->time_ns) : INFINITY};
    int tag = -1;
    moves->answers++;
    nt_asked_add(&moves->asked, spot->position);
    for (size_t i = 0; i < moves->flying; i++)
        if (moves->flight[i].position == spot->position) {
            tag = moves->flight[i].tag;
            moves->flight[i] = moves->flight[--moves->flying];
            break;
        }
    if (spot->value < moves->best.value)
        moves->best = *spot;
    return tag;
}
