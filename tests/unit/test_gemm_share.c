/* Stream-K's shares (kernels/gemm/place.cuh): every step of every tile is computed once, shares are equal up to a step,
 * and who waits for whom can end and is what was put down. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <string.h>

#define NT_INLINE static inline __attribute__((unused))
#include "kernels/gemm/place.cuh"

enum { SHARERS = 12, TILES = 40, STEPS = 11 };

typedef struct found {
    int sharer[TILES][STEPS]; /* who computes it; -1: nobody yet */
    bool put[SHARERS];        /* one with sums that another stores */
    int put_tile[SHARERS];
} found;

static void take(found *f, const nt_piece *p, int sharer)
{
    for (int i = p->first; i < p->first + p->count; i++) {
        assert_int_equal(f->sharer[p->tile][i], -1);
        f->sharer[p->tile][i] = sharer;
    }
}

/* Walks one share; whoever puts something down does so before it waits, and once. */
static void walk(found *f, int sharer, int sharers, int tiles, int steps)
{
    nt_share share = nt_share_of(sharer, sharers, tiles, steps);
    bool waits = false;
    int shared = share.end - share.begin, least = (tiles - share.whole) * steps / sharers;
    assert_true(shared == least || shared == least + 1);
    for (nt_piece p; nt_share_next(&share, &p);) {
        assert_true(p.count > 0 && p.tile < tiles && !waits);
        take(f, &p, sharer);
        if (!nt_piece_ends(&p, steps)) {
            assert_false(f->put[sharer]);
            f->put[sharer] = true;
            f->put_tile[sharer] = p.tile;
        } else
            waits = p.first > 0;
    }
}

/* Those whose sums the last sharer of a tile adds are all others that have steps of it; none is left over. */
static void check_tile(found *f, const nt_share *share, int tile, int steps, int shared_steps)
{
    int last = f->sharer[tile][steps - 1], from = (tile - share->whole) * steps;
    int first = nt_share_first(last, share->sharers, shared_steps, from);
    assert_int_equal(first, f->sharer[tile][0]);
    for (int i = first; i < last; i++) {
        assert_true(f->put[i] && f->put_tile[i] == tile);
        f->put[i] = false;
    }
}

static void check(int sharers, int tiles, int steps)
{
    found f;
    memset(&f, 0, sizeof f);
    memset(f.sharer, 0xff, sizeof f.sharer);
    for (int i = 0; i < sharers; i++)
        walk(&f, i, sharers, tiles, steps);
    nt_share share = nt_share_of(0, sharers, tiles, steps);
    assert_true(share.whole % sharers == 0 && (tiles - share.whole < 2 * sharers || tiles < sharers));
    for (int tile = 0; tile < tiles; tile++) {
        for (int i = 0; i < steps; i++)
            assert_true(f.sharer[tile][i] >= 0);
        if (tile >= share.whole)
            check_tile(&f, &share, tile, steps, (tiles - share.whole) * steps);
    }
    for (int i = 0; i < sharers; i++)
        assert_false(f.put[i]);
}

static void every_step_is_computed_once_and_every_sum_added(void **state)
{
    (void)state;
    for (int sharers = 1; sharers <= SHARERS; sharers++)
        for (int tiles = 1; tiles <= TILES; tiles++)
            for (int steps = 1; steps <= STEPS; steps++)
                check(sharers, tiles, steps);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_step_is_computed_once_and_every_sum_added),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
