/* strategy_exhaustive.c: every configuration in the order of its space, the kernels taking turns, so that a budget that
 * ends early has seen something of each. */
#include <stdlib.h>

#include "autotune/candidates.h"
#include "core/mem.h"

typedef struct exhaustive {
    nt_candidates candidates;
    uint64_t *next; /* [kernel_count] index in each space */
    int turn;
} exhaustive;

static void *create(const nt_strategy_setup *setup)
{
    exhaustive *e = nt_alloc_zero(1, sizeof *e);
    nt_candidates_init(&e->candidates, setup);
    e->next = nt_alloc_zero((size_t)setup->kernel_count, sizeof *e->next);
    return e;
}

/* The next of one kernel's space; false when it is used up. */
static bool take(exhaustive *e, int kernel, nt_candidate *out)
{
    uint64_t size = nt_space_size(e->candidates.space[kernel]);
    while (e->next[kernel] < size) {
        *out = (nt_candidate){kernel, e->next[kernel]++};
        if (!nt_candidates_excluded(&e->candidates, nt_candidates_position(&e->candidates, *out)))
            return true;
    }
    return false;
}

static size_t ask(void *state, nt_candidate *out, size_t n)
{
    exhaustive *e = state;
    size_t count = 0;
    for (int idle = 0; count < n && idle < e->candidates.kernel_count;) {
        bool taken = take(e, e->turn, &out[count]);
        count += taken;
        idle = taken ? 0 : idle + 1;
        e->turn = (e->turn + 1) % e->candidates.kernel_count;
    }
    return count;
}

static void tell(void *state, const nt_answer *answer)
{
    (void)state, (void)answer; /* nothing changes what comes next */
}

static void destroy(void *state)
{
    exhaustive *e = state;
    if (e == NULL)
        return;
    nt_candidates_done(&e->candidates);
    free(e->next);
    free(e);
}

const nt_strategy nt_strategy_exhaustive = {
    .name = "exhaustive",
    .summary = "every configuration in order, kernels taking turns",
    .create = create,
    .ask = ask,
    .tell = tell,
    .destroy = destroy,
};
