/* strategy_genetic.c: a genetic algorithm without generations. A child of two parents, each the best of a few drawn,
 * takes every parameter from either, changes one at random now and then, and pushes out the worst of the population. */
#include <math.h>
#include <stdlib.h>

#include "autotune/moves.h"
#include "core/mem.h"

enum { POPULATION = 20, TOURNAMENT = 3 };

typedef struct genetic {
    nt_moves moves;
    nt_spot member[POPULATION];
    int members;
    int born; /* asked so far, up to the first population */
} genetic;

static void *create(const nt_strategy_setup *setup)
{
    genetic *s = nt_alloc_zero(1, sizeof *s);
    nt_moves_init(&s->moves, setup, 5);
    return s;
}

static const nt_spot *parent(genetic *s)
{
    const nt_spot *best = NULL;
    for (int i = 0; i < TOURNAMENT; i++) {
        const nt_spot *drawn = &s->member[nt_random_below(&s->moves.random, (uint64_t)s->members)];
        if (best == NULL || drawn->value < best->value)
            best = drawn;
    }
    return best;
}

static void cross(genetic *s, nt_config *child, const nt_config *other)
{
    for (int i = 0; i < child->count; i++)
        if (nt_random_u64(&s->moves.random) >> 63)
            child->index[i] = other->index[i];
}

/* One parameter on average gets another value: one beside its own, or any. */
static void mutate(genetic *s, const nt_kernel *kernel, nt_config *child)
{
    nt_random *random = &s->moves.random;
    for (int i = 0; i < child->count; i++) {
        int count = kernel->params[i].count, to;
        if (nt_random_unit(random) * child->count >= 1)
            continue;
        if (nt_random_u64(random) >> 63)
            to = (int)nt_random_below(random, (uint64_t)count);
        else
            to = (int)child->index[i] + (nt_random_u64(random) >> 63 ? 1 : -1);
        if (to >= 0 && to < count)
            child->index[i] = (uint16_t)to;
    }
}

static bool next(genetic *s, uint64_t *position)
{
    if (s->born < POPULATION || s->members < 2) {
        s->born++;
        return nt_moves_random(&s->moves, position);
    }
    int kernel, other_kernel;
    nt_config child, other;
    nt_moves_config(&s->moves, parent(s)->position, &kernel, &child);
    nt_moves_config(&s->moves, parent(s)->position, &other_kernel, &other);
    if (kernel == other_kernel)
        cross(s, &child, &other);
    mutate(s, nt_space_kernel(s->moves.asked.candidates.space[kernel]), &child);
    return nt_moves_towards(&s->moves, kernel, &child, position);
}

static size_t ask(void *state, nt_candidate *out, size_t n)
{
    genetic *s = state;
    size_t count = 0;
    uint64_t position;
    while (count < n && next(s, &position))
        out[count++] = nt_moves_launch(&s->moves, position, 0);
    return count;
}

static void tell(void *state, const nt_answer *answer)
{
    genetic *s = state;
    nt_spot spot;
    nt_moves_land(&s->moves, answer, &spot);
    if (!isfinite(spot.value))
        return;
    if (s->members < POPULATION) {
        s->member[s->members++] = spot;
        return;
    }
    int worst = 0;
    for (int i = 1; i < POPULATION; i++)
        if (s->member[i].value > s->member[worst].value)
            worst = i;
    if (spot.value < s->member[worst].value)
        s->member[worst] = spot;
}

static void destroy(void *state)
{
    genetic *s = state;
    if (s == NULL)
        return;
    nt_moves_done(&s->moves);
    free(s);
}

const nt_strategy nt_strategy_genetic = {
    .name = "genetic",
    .summary = "children of the faster ones, with mutations",
    .create = create,
    .ask = ask,
    .tell = tell,
    .destroy = destroy,
};
