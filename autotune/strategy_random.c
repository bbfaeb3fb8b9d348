/* strategy_random.c: uniform without replacement over all configurations of all kernels.
 *
 * A Fisher-Yates shuffle that remembers only the places it has changed: draw i swaps places i and j, j uniform in
 * [i, end), and gives what then stands at i. So every order is equally likely, and memory grows with the draws, not
 * with the space. */
#include <stdlib.h>

#include "autotune/candidates.h"
#include "core/mem.h"
#include "core/random.h"

/* One changed place. Keys are place + 1, so that 0 marks a free entry. */
typedef struct place {
    uint64_t key, value;
} place;

typedef struct shuffle {
    nt_candidates candidates;
    nt_random random;
    uint64_t drawn;
    place *table; /* open addressing, a power of two long, at most half full */
    size_t used, length;
} shuffle;

/* ---- changed places --------------------------------------------------------------------------------------------- */

static place *find(const shuffle *s, uint64_t at)
{
    uint64_t hash = (at + 1) * UINT64_C(0x9e3779b97f4a7c15);
    size_t i = (size_t)(hash >> 32) & (s->length - 1);
    while (s->table[i].key != 0 && s->table[i].key != at + 1)
        i = (i + 1) & (s->length - 1);
    return &s->table[i];
}

static uint64_t value_at(const shuffle *s, uint64_t at)
{
    const place *p = find(s, at);
    return p->key == 0 ? at : p->value;
}

/* Places before the draw are never looked at again and are left behind. */
static void grow(shuffle *s)
{
    place *old = s->table;
    size_t old_length = s->length;
    s->length = old_length * 2;
    s->table = nt_alloc_zero(s->length, sizeof *s->table);
    s->used = 0;
    for (size_t i = 0; i < old_length; i++)
        if (old[i].key > s->drawn) {
            *find(s, old[i].key - 1) = old[i];
            s->used++;
        }
    free(old);
}

static void set_value(shuffle *s, uint64_t at, uint64_t value)
{
    if (s->used * 2 >= s->length)
        grow(s);
    place *p = find(s, at);
    s->used += p->key == 0;
    *p = (place){at + 1, value};
}

static uint64_t draw(shuffle *s)
{
    uint64_t i = s->drawn, end = nt_candidates_end(&s->candidates);
    uint64_t j = i + nt_random_below(&s->random, end - i);
    uint64_t out = value_at(s, j);
    if (j != i)
        set_value(s, j, value_at(s, i));
    s->drawn++;
    return out;
}

/* ---- the strategy ----------------------------------------------------------------------------------------------- */

static void *create(const nt_strategy_setup *setup)
{
    shuffle *s = nt_alloc_zero(1, sizeof *s);
    nt_candidates_init(&s->candidates, setup);
    s->random = nt_random_seed(setup->seed, 0);
    s->length = 64;
    s->table = nt_alloc_zero(s->length, sizeof *s->table);
    return s;
}

static size_t ask(void *state, nt_candidate *out, size_t n)
{
    shuffle *s = state;
    size_t count = 0;
    while (count < n && s->drawn < nt_candidates_end(&s->candidates)) {
        uint64_t position = draw(s);
        if (!nt_candidates_excluded(&s->candidates, position))
            out[count++] = nt_candidates_at(&s->candidates, position);
    }
    return count;
}

static void tell(void *state, const nt_answer *answer)
{
    (void)state, (void)answer; /* chance does not learn */
}

static void destroy(void *state)
{
    shuffle *s = state;
    if (s == NULL)
        return;
    nt_candidates_done(&s->candidates);
    free(s->table);
    free(s);
}

const nt_strategy nt_strategy_random = {
    .name = "random",
    .summary = "uniform without replacement over all kernels' configurations",
    .create = create,
    .ask = ask,
    .tell = tell,
    .destroy = destroy,
};
