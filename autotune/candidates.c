/* candidates.c: positions of candidates, and which of them are excluded. */
#include "autotune/candidates.h"

#include <assert.h>
#include <stdlib.h>

#include "core/mem.h"

static int by_position(const void *a, const void *b)
{
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return (x > y) - (x < y);
}

static void set_excluded(nt_candidates *candidates, const nt_strategy_setup *setup)
{
    uint64_t *position = nt_alloc_zero(setup->exclude_count, sizeof *position);
    for (size_t i = 0; i < setup->exclude_count; i++)
        position[i] = nt_candidates_position(candidates, setup->exclude[i]);
    if (setup->exclude_count > 0)
        qsort(position, setup->exclude_count, sizeof *position, by_position);
    size_t count = 0;
    for (size_t i = 0; i < setup->exclude_count; i++)
        if (i == 0 || position[i] != position[i - 1])
            position[count++] = position[i];
    candidates->excluded = position;
    candidates->excluded_count = count;
}

void nt_candidates_init(nt_candidates *candidates, const nt_strategy_setup *setup)
{
    size_t count = (size_t)setup->kernel_count;
    *candidates = (nt_candidates){.kernel_count = setup->kernel_count};
    candidates->space = nt_alloc_zero(count, sizeof *candidates->space);
    candidates->first = nt_alloc_zero(count + 1, sizeof *candidates->first);
    for (int i = 0; i < setup->kernel_count; i++) {
        candidates->space[i] = setup->space[i];
        candidates->first[i + 1] = candidates->first[i] + nt_space_size(setup->space[i]);
    }
    set_excluded(candidates, setup);
}

void nt_candidates_done(nt_candidates *candidates)
{
    free(candidates->space);
    free(candidates->first);
    free(candidates->excluded);
    *candidates = (nt_candidates){0};
}

uint64_t nt_candidates_end(const nt_candidates *candidates)
{
    return candidates->first[candidates->kernel_count];
}

/* There are few kernels, so a walk finds the space as fast as anything. */
nt_candidate nt_candidates_at(const nt_candidates *candidates, uint64_t position)
{
    assert(position < nt_candidates_end(candidates));
    int kernel = 0;
    while (position >= candidates->first[kernel + 1])
        kernel++;
    return (nt_candidate){kernel, position - candidates->first[kernel]};
}

uint64_t nt_candidates_position(const nt_candidates *candidates, nt_candidate candidate)
{
    assert(candidate.kernel >= 0 && candidate.kernel < candidates->kernel_count);
    assert(candidate.index < nt_space_size(candidates->space[candidate.kernel]));
    return candidates->first[candidate.kernel] + candidate.index;
}

bool nt_candidates_excluded(const nt_candidates *candidates, uint64_t position)
{
    return candidates->excluded_count > 0 &&
           bsearch(&position, candidates->excluded, candidates->excluded_count, sizeof position, by_position) != NULL;
}
