/* chain.cpu.c: three 1x1 convolutions with relu, behind tile.cpu.c and pack.cpu.c. A work item is pixel_tiles register
 * tiles of pixels, counted through rows and images; it lays out its pixels as words, and takes them through all three
 * convolutions: what lies between stays in scratch, in its core's cache. Channels are macros.
 *
 * args: in, packed, second, third (packed weights), out, pixels, area, pixel_tiles */

#ifndef C
#define C  256
#define K1 64
#define K2 64
#define K  256
#endif

/* Words from one pixel to the next in scratch: 16 more than whole blocks keep pixels out of each other's cache sets. */
#define WHOLE(x) (((x) + BLOCK - 1) / BLOCK * BLOCK)
#define PITCH(x) (WHOLE(x) + 16)
#define WORDS(x) (((x) + STEP - 1) / STEP) /* of packed weights an output channel */

void chain3(void *const *args, int64_t begin, int64_t end, int32_t thread, int32_t threads);

/* POSITIONS pixels of BLOCK output channels. */
INLINE void tile_sums(vec sum[POSITIONS][VECTORS], const word *input, int64_t pitch, const word *packed, int64_t words,
                      int64_t k)
{
    tile_clear(sum, NULL);
    tile_steps(sum, input, pitch, (const vec *)(packed + k * words), words);
}

/* Results that the next convolution reads: as words of packed input. */
INLINE void store_between(vec sum[POSITIONS][VECTORS], word *to, int64_t pitch, int64_t k)
{
    EACH_SUM(p, v)
    {
        vec x = activate(sum[p][v]);
#if BF16_PAIRS
        half_vec narrow = rounded(x);
        memcpy((packed_input_alias *)(to + p * pitch) + k + v * LANES, &narrow, sizeof narrow);
#else
        *(vec_unaligned *)(to + p * pitch + k + v * LANES) = x;
#endif
    }
}

#define BETWEEN(name, in, out)                                                                 \
    static __attribute__((noinline)) void name(const word *from, const word *packed, word *to) \
    {                                                                                          \
        for (int64_t k = 0; k < (out); k += BLOCK) {                                           \
            vec sum[POSITIONS][VECTORS];                                                       \
            tile_sums(sum, from, PITCH(in), packed, WORDS(in), k);                             \
            store_between(sum, to, PITCH(out), k);                                             \
        }                                                                                      \
    }
BETWEEN(first, C, K1)
BETWEEN(second, K1, K2)

/* `to` is the place of channel 0. */
static __attribute__((noinline)) void third(const word *from, const word *packed, const place *to)
{
    for (int64_t k = 0; k < K; k += BLOCK) {
        vec sum[POSITIONS][VECTORS];
        place at = *to;
        at.out += k * to->channel_step;
        at.sums = (word *)at.out;
        at.channels = least(BLOCK, K - k);
        tile_sums(sum, from, PITCH(K2), packed, WORDS(K2), k);
        tile_store(sum, &at, 1);
    }
}

typedef struct tensors {
    const element *in;
    const word *packed[3];
    result *out;
    int64_t pixels, area;
} tensors;

/* Pixel `pixel` of a tensor of `channels`. */
INLINE int64_t offset_of(const tensors *t, int64_t channels, int64_t pixel)
{
    return NHWC ? pixel * channels : pixel / t->area * channels * t->area + pixel % t->area;
}

/* POSITIONS pixels at most, from `pixel` on. */
INLINE void chain(const tensors *t, int64_t pixel, word *x, word *t1, word *t2)
{
    int64_t at[POSITIONS], positions = least(POSITIONS, t->pixels - pixel);
    for (int64_t p = 0; p < positions; p++) {
        pack_pixels(x + p * PITCH(C), PITCH(C), t->in + offset_of(t, C, pixel + p), 1, 0, C, NHWC ? 1 : t->area);
        at[p] = offset_of(t, K, pixel + p);
    }
    place to = {t->out, NULL, at, positions, 0, NHWC ? 1 : t->area, NULL, 0};
    first(x, t->packed[0], t1);
    second(t1, t->packed[1], t2);
    third(t2, t->packed[2], &to);
}

void chain3(void *const *args, int64_t begin, int64_t end, int32_t thread, int32_t threads)
{
    tensors t = {argument_pointer(args, 0),
                 {argument_pointer(args, 1), argument_pointer(args, 2), argument_pointer(args, 3)},
                 argument_pointer(args, 4),
                 argument_int(args, 5),
                 argument_int(args, 6)};
    int64_t most = argument_int(args, 7) * POSITIONS;
    SCRATCH(x, POSITIONS * PITCH(C));
    SCRATCH(t1, POSITIONS * PITCH(K1));
    SCRATCH(t2, POSITIONS * PITCH(K2));
    (void)thread, (void)threads;
    /* Positions past the last pixel are computed and dropped: they need numbers, not meaning. */
    memset(x, 0, POSITIONS * PITCH(C) * sizeof *x);
    for (int64_t pixel = begin * most; pixel < least(t.pixels, end * most); pixel += POSITIONS)
        chain(&t, pixel, x, t1, t2);
}
