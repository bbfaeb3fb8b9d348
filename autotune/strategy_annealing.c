/* strategy_annealing.c: simulated annealing. A step to a neighbour is taken when it is faster, and with a probability
 * that falls with the loss and with the temperature when it is not. The temperature, in logarithms of time, falls from
 * a loss of a fifth to one of a hundredth, then the chain begins again at the best. */
#include <math.h>
#include <stdlib.h>

#include "autotune/moves.h"
#include "core/mem.h"

enum { STARTS = 12, STEPS_OF_CHAIN = 120 };
static const double hottest = 0.2, coldest = 0.01;

typedef struct annealing {
    nt_moves moves;
    nt_spot here;
    int starts, step;
} annealing;

static void *create(const nt_strategy_setup *setup)
{
    annealing *s = nt_alloc_zero(1, sizeof *s);
    nt_moves_init(&s->moves, setup, 4);
    s->here.value = INFINITY;
    return s;
}

static bool next(annealing *s, uint64_t *position)
{
    if (s->starts < STARTS || !isfinite(s->here.value)) {
        s->starts++;
        return nt_moves_random(&s->moves, position);
    }
    if (nt_moves_neighbour(&s->moves, s->here.position, NT_NEIGHBOUR_HAMMING, position))
        return true;
    s->here.value = INFINITY; /* all its neighbours are known: away from here */
    return nt_moves_random(&s->moves, position);
}

static size_t ask(void *state, nt_candidate *out, size_t n)
{
    annealing *s = state;
    size_t count = 0;
    uint64_t position;
    while (count < n && next(s, &position))
        out[count++] = nt_moves_launch(&s->moves, position, 0);
    return count;
}

static double temperature(const annealing *s)
{
    return hottest * pow(coldest / hottest, (double)s->step / STEPS_OF_CHAIN);
}

static void tell(void *state, const nt_answer *answer)
{
    annealing *s = state;
    nt_spot spot;
    nt_moves_land(&s->moves, answer, &spot);
    bool begun = s->starts >= STARTS && isfinite(s->here.value);
    double loss = begun ? spot.value - s->here.value : spot.value < s->here.value ? -1 : INFINITY;
    if (loss < 0 || nt_random_unit(&s->moves.random) < exp(-loss / temperature(s)))
        s->here = spot;
    if (begun && ++s->step >= STEPS_OF_CHAIN) {
        s->step = STEPS_OF_CHAIN / 2;
        s->here = s->moves.best;
    }
}

static void destroy(void *state)
{
    annealing *s = state;
    if (s == NULL)
        return;
    nt_moves_done(&s->moves);
    free(s);
}

const nt_strategy nt_strategy_annealing = {
    .name = "annealing",
    .summary = "neighbours, slower ones less and less often",
    .create = create,
    .ask = ask,
    .tell = tell,
    .destroy = destroy,
};
