/* strategy_local.c: local search with restarts. From the best of a few random candidates to the first neighbour that is
 * faster, and from there again; when a number of neighbours in a row is no faster, somewhere else, and in between back
 * to the best of all, whose neighbourhood may have more to give. */
#include <math.h>
#include <stdlib.h>

#include "autotune/moves.h"
#include "core/mem.h"

enum { STARTS = 12, PATIENCE = 16 };

typedef struct local {
    nt_moves moves;
    nt_spot here; /* value INFINITY: still looking for a start */
    int starts;   /* random candidates asked for this start */
    int failures; /* neighbours in a row that were no faster */
    bool is_return;
} local;

static void *create(const nt_strategy_setup *setup)
{
    local *s = nt_alloc_zero(1, sizeof *s);
    nt_moves_init(&s->moves, setup, 3);
    s->here.value = INFINITY;
    return s;
}

static void restart(local *s)
{
    s->is_return = !s->is_return && s->moves.best.value < INFINITY;
    s->here = s->is_return ? s->moves.best : (nt_spot){0, INFINITY};
    s->starts = s->is_return ? STARTS : 0;
    s->failures = 0;
}

static bool next(local *s, uint64_t *position)
{
    if (s->failures >= PATIENCE)
        restart(s);
    if (s->starts < STARTS || !isfinite(s->here.value)) {
        s->starts++;
        return nt_moves_random(&s->moves, position);
    }
    if (nt_moves_neighbour(&s->moves, s->here.position, NT_NEIGHBOUR_HAMMING, position))
        return true;
    restart(s);
    return nt_moves_random(&s->moves, position);
}

static size_t ask(void *state, nt_candidate *out, size_t n)
{
    local *s = state;
    size_t count = 0;
    uint64_t position;
    while (count < n && next(s, &position))
        out[count++] = nt_moves_launch(&s->moves, position, 0);
    return count;
}

static void tell(void *state, const nt_answer *answer)
{
    local *s = state;
    nt_spot spot;
    nt_moves_land(&s->moves, answer, &spot);
    s->failures++;
    if (!(spot.value < s->here.value))
        return;
    s->here = spot;
    s->failures = 0;
}

static void destroy(void *state)
{
    local *s = state;
    if (s == NULL)
        return;
    nt_moves_done(&s->moves);
    free(s);
}

const nt_strategy nt_strategy_local = {
    .name = "local",
    .summary = "to faster neighbours, with restarts",
    .create = create,
    .ask = ask,
    .tell = tell,
    .destroy = destroy,
};
