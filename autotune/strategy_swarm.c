/* strategy_swarm.c: particle swarm. Each particle flies over the places in the lists of values, drawn to the best it
 * has seen and to the best around; what it tries is the legal configuration near its place. Every other move tries a
 * neighbour of the best around. */
#include <math.h>
#include <stdlib.h>

#include "autotune/moves.h"
#include "core/mem.h"

enum { PARTICLES = 16, AROUND = 2, CALM = 110 };
static const double inertia = 0.5, own_pull = 1.2, common_pull = 1.6, turbulence = 1;
static const double probing = 0.5; /* share of the moves that try a neighbour of the best around instead of flying */

typedef struct particle {
    nt_spot best; /* value INFINITY: still to be placed */
    double place[NT_MAX_PARAMS], speed[NT_MAX_PARAMS];
} particle;

typedef struct swarm {
    nt_moves moves;
    particle particle[PARTICLES];
    int turn;
    int calm; /* answers since the best was found */
} swarm;

static void *create(const nt_strategy_setup *setup)
{
    swarm *s = nt_alloc_zero(1, sizeof *s);
    nt_moves_init(&s->moves, setup, 7);
    for (int i = 0; i < PARTICLES; i++)
        s->particle[i].best.value = INFINITY;
    return s;
}

/* Puts a particle where it was just tried. */
static void settle(swarm *s, particle *p, uint64_t position)
{
    int kernel;
    nt_config config;
    nt_moves_config(&s->moves, position, &kernel, &config);
    for (int i = 0; i < config.count; i++)
        p->place[i] = config.index[i];
}

static double accelerated(swarm *s, double speed, double to_own, double to_common, double most)
{
    speed = inertia * speed + own_pull * nt_random_unit(&s->moves.random) * to_own +
            common_pull * nt_random_unit(&s->moves.random) * to_common;
    return fmax(-most, fmin(most, speed));
}

/* The best that a particle or its neighbours on the ring have seen: news travels slowly, so that the swarm stays wide.
 */
static const nt_spot *best_around(const swarm *s, int at)
{
    const nt_spot *best = &s->particle[at].best;
    for (int step = -AROUND; step <= AROUND; step++) {
        const nt_spot *other = &s->particle[(at + step + PARTICLES) % PARTICLES].best;
        if (other->value < best->value)
            best = other;
    }
    return best;
}

static bool probe(swarm *s, const particle *p, uint64_t *position)
{
    return nt_random_unit(&s->moves.random) < probing &&
           nt_moves_neighbour(&s->moves, best_around(s, (int)(p - s->particle))->position, NT_NEIGHBOUR_HAMMING,
                              position);
}

static bool fly(swarm *s, particle *p, uint64_t *position)
{
    int kernel, common_kernel;
    nt_config own, common;
    nt_moves_config(&s->moves, p->best.position, &kernel, &own);
    nt_moves_config(&s->moves, best_around(s, (int)(p - s->particle))->position, &common_kernel, &common);
    if (common_kernel != kernel)
        common = own;
    const nt_kernel *row = nt_space_kernel(s->moves.asked.candidates.space[kernel]);
    nt_config target = own;
    for (int i = 0; i < own.count; i++) {
        double last = row->params[i].count - 1;
        p->speed[i] =
            accelerated(s, p->speed[i], own.index[i] - p->place[i], common.index[i] - p->place[i], fmax(1, last / 2));
        p->place[i] = fmax(0, fmin(last, p->place[i] + p->speed[i]));
        target.index[i] = (uint16_t)nearbyint(p->place[i]);
    }
    if (own.count > 0 && nt_random_unit(&s->moves.random) < turbulence) {
        int gust = (int)nt_random_below(&s->moves.random, (uint64_t)own.count);
        target.index[gust] = (uint16_t)nt_random_below(&s->moves.random, (uint64_t)row->params[gust].count);
    }
    return nt_moves_towards(&s->moves, kernel, &target, position);
}

static size_t ask(void *state, nt_candidate *out, size_t n)
{
    swarm *s = state;
    size_t count = 0;
    for (; count < n; count++) {
        uint64_t position;
        int turn = s->turn++ % PARTICLES;
        particle *p = &s->particle[turn];
        bool placed = isfinite(p->best.value);
        if (!(placed ? probe(s, p, &position) || fly(s, p, &position) : nt_moves_random(&s->moves, &position)))
            break;
        settle(s, p, position);
        out[count] = nt_moves_launch(&s->moves, position, turn);
    }
    return count;
}

/* Where nothing new is found the swarm begins again elsewhere, but for the particle that has seen the best. */
static void scatter(swarm *s)
{
    s->calm = 0;
    for (int i = 0; i < PARTICLES; i++)
        if (s->particle[i].best.position != s->moves.best.position)
            s->particle[i] = (particle){.best = {0, INFINITY}};
}

static void tell(void *state, const nt_answer *answer)
{
    swarm *s = state;
    nt_spot spot;
    int turn = nt_moves_land(&s->moves, answer, &spot);
    for (int i = 0; i < PARTICLES && turn < 0; i++)
        if (!isfinite(s->particle[i].best.value))
            turn = i;
    if (turn >= 0 && spot.value < s->particle[turn].best.value)
        s->particle[turn].best = spot;
    s->calm = spot.value <= s->moves.best.value ? 0 : s->calm + 1;
    if (s->calm >= CALM)
        scatter(s);
}

static void destroy(void *state)
{
    swarm *s = state;
    if (s == NULL)
        return;
    nt_moves_done(&s->moves);
    free(s);
}

const nt_strategy nt_strategy_swarm = {
    .name = "swarm",
    .summary = "particles drawn to the best of their own and of all",
    .create = create,
    .ask = ask,
    .tell = tell,
    .destroy = destroy,
};
