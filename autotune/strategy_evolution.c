/* strategy_evolution.c: differential evolution. A member of the population is challenged by one that takes some of its
 * parameters from another's place moved by the difference of two more, places being those in the lists of values; the
 * faster of the two stays. */
#include <math.h>
#include <stdlib.h>

#include "autotune/moves.h"
#include "core/mem.h"

enum { POPULATION = 16 };
static const double crossing = 0.6, pull = 0.5;

typedef struct evolution {
    nt_moves moves;
    nt_spot member[POPULATION]; /* value INFINITY: not filled */
    int turn;
} evolution;

static void *create(const nt_strategy_setup *setup)
{
    evolution *s = nt_alloc_zero(1, sizeof *s);
    nt_moves_init(&s->moves, setup, 6);
    for (int i = 0; i < POPULATION; i++)
        s->member[i].value = INFINITY;
    return s;
}

/* A filled member of that kernel other than the target; -1 when luck finds none. */
static int companion(evolution *s, int kernel, int target, nt_config *config)
{
    for (int attempt = 0; attempt < 2 * POPULATION; attempt++) {
        int at = (int)nt_random_below(&s->moves.random, POPULATION), of;
        if (at == target || !isfinite(s->member[at].value))
            continue;
        nt_moves_config(&s->moves, s->member[at].position, &of, config);
        if (of == kernel)
            return at;
    }
    return -1;
}

static uint16_t placed(double place, int count)
{
    double whole = nearbyint(place);
    return (uint16_t)(whole < 0 ? 0 : whole > count - 1 ? count - 1 : whole);
}

/* The target's parameters, those that cross moved towards the best and along a difference. */
static bool challenge(evolution *s, int target, uint64_t *position)
{
    nt_config own, base, a, b;
    nt_random *random = &s->moves.random;
    int kernel, best_kernel;
    nt_moves_config(&s->moves, s->member[target].position, &kernel, &own);
    nt_moves_config(&s->moves, s->moves.best.position, &best_kernel, &base);
    if (best_kernel != kernel)
        base = own;
    if (companion(s, kernel, target, &a) < 0 || companion(s, kernel, target, &b) < 0)
        return nt_moves_random(&s->moves, position);
    const nt_kernel *row = nt_space_kernel(s->moves.asked.candidates.space[kernel]);
    int forced = own.count > 0 ? (int)nt_random_below(random, (uint64_t)own.count) : 0;
    double weight = 0.4 + 0.6 * nt_random_unit(random);
    for (int i = 0; i < own.count; i++) {
        if (i != forced && nt_random_unit(random) >= crossing)
            continue;
        double towards = pull + (1 - pull) * nt_random_unit(random);
        double place = own.index[i] + towards * ((double)base.index[i] - own.index[i]) +
                       weight * ((double)a.index[i] - b.index[i]);
        own.index[i] = placed(place, row->params[i].count);
    }
    return nt_moves_towards(&s->moves, kernel, &own, position);
}

static size_t ask(void *state, nt_candidate *out, size_t n)
{
    evolution *s = state;
    size_t count = 0;
    for (; count < n; count++) {
        uint64_t position;
        int target = s->turn++ % POPULATION;
        bool filled = isfinite(s->member[target].value);
        if (!(filled ? challenge(s, target, &position) : nt_moves_random(&s->moves, &position)))
            break;
        out[count] = nt_moves_launch(&s->moves, position, target);
    }
    return count;
}

static void tell(void *state, const nt_answer *answer)
{
    evolution *s = state;
    nt_spot spot;
    int target = nt_moves_land(&s->moves, answer, &spot);
    for (int i = 0; i < POPULATION && target < 0; i++)
        if (!isfinite(s->member[i].value))
            target = i;
    if (target >= 0 && spot.value < s->member[target].value)
        s->member[target] = spot;
}

static void destroy(void *state)
{
    evolution *s = state;
    if (s == NULL)
        return;
    nt_moves_done(&s->moves);
    free(s);
}

const nt_strategy nt_strategy_evolution = {
    .name = "evolution",
    .summary = "differential evolution over the places in the lists of values",
    .create = create,
    .ask = ask,
    .tell = tell,
    .destroy = destroy,
};
