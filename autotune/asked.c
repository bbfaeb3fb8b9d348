/* asked.c: a set of positions. A draw tries at random while most positions are free, and counts its way to a free one
 * when few are left. */
#include "autotune/asked.h"

#include <stdlib.h>

#include "core/mem.h"

static size_t slot_of(const nt_asked *asked, uint64_t position)
{
    uint64_t hash = (position + 1) * UINT64_C(0x9e3779b97f4a7c15);
    size_t i = (size_t)(hash >> 32) & (asked->length - 1);
    while (asked->table[i] != 0 && asked->table[i] != position + 1)
        i = (i + 1) & (asked->length - 1);
    return i;
}

static void grow(nt_asked *asked)
{
    uint64_t *old = asked->table;
    size_t old_length = asked->length;
    asked->length = old_length == 0 ? 64 : old_length * 2;
    asked->table = nt_alloc_zero(asked->length, sizeof *asked->table);
    for (size_t i = 0; i < old_length; i++)
        if (old[i] != 0)
            asked->table[slot_of(asked, old[i] - 1)] = old[i];
    free(old);
}

void nt_asked_init(nt_asked *asked, const nt_strategy_setup *setup)
{
    *asked = (nt_asked){0};
    nt_candidates_init(&asked->candidates, setup);
    grow(asked);
    for (size_t i = 0; i < asked->candidates.excluded_count; i++)
        nt_asked_add(asked, asked->candidates.excluded[i]);
}

void nt_asked_done(nt_asked *asked)
{
    nt_candidates_done(&asked->candidates);
    free(asked->table);
    *asked = (nt_asked){0};
}

bool nt_asked_has(const nt_asked *asked, uint64_t position)
{
    return asked->table[slot_of(asked, position)] != 0;
}

bool nt_asked_add(nt_asked *asked, uint64_t position)
{
    if (asked->count * 2 >= asked->length)
        grow(asked);
    size_t at = slot_of(asked, position);
    if (asked->table[at] != 0)
        return false;
    asked->table[at] = position + 1;
    asked->count++;
    return true;
}

uint64_t nt_asked_left(const nt_asked *asked)
{
    return nt_candidates_end(&asked->candidates) - asked->count;
}

bool nt_asked_draw(const nt_asked *asked, nt_random *random, uint64_t *position)
{
    uint64_t end = nt_candidates_end(&asked->candidates), left = nt_asked_left(asked);
    if (left == 0)
        return false;
    if (left >= end / 8)
        do
            *position = nt_random_below(random, end);
        while (nt_asked_has(asked, *position));
    else {
        uint64_t skip = nt_random_below(random, left);
        for (*position = 0; nt_asked_has(asked, *position) || skip-- > 0;)
            ++*position;
    }
    return true;
}
