/* im2col.cpu.c: convolution as a matrix product. A work item is pixel_tiles register tiles of output pixels, counted
 * through rows and images alike, for k_blocks blocks of output channels. It lays out the patches of its pixels, DEPTH
 * words of the reduction (tap, channel) at a time, and multiplies them with the packed weights. No tile is wasted at
 * the end of a row, which pays where rows are short.
 *
 * args: in, packed, out, c, k, h, w, pixel_tiles, k_blocks, k_outer, batch */

#ifndef DEPTH
#define DEPTH 144
#endif
/* Words from one pixel's patch to the next: 16 more than its length keeps patches out of each other's cache sets. */
#define STRIDE (DEPTH * PARTS + 16)

typedef struct shape {
    int64_t c, k, h, w, pixel_tiles, k_blocks;
    int64_t pixels;    /* batch * h * w */
    int64_t tap_words; /* words of one tap: ceil(c / STEP) */
    int64_t words;     /* of the whole reduction */
} shape;

typedef struct pixel {
    const element *image; /* of its input */
    int64_t y, x;
    int64_t at; /* offset in out of its channel 0 */
} pixel;

void convolve(void *const *args, int64_t begin, int64_t end, int32_t thread, int32_t threads);

static void locate(const shape *s, const element *in, int64_t first, int64_t count, pixel *to)
{
    int64_t area = s->h * s->w;
    for (int64_t i = 0; i < count; i++) {
        int64_t image = (first + i) / area, place = (first + i) % area;
        to[i] = (pixel){in + image * s->c * area, place / s->w, place % s->w,
                        NHWC ? (first + i) * s->k : image * s->k * area + place};
    }
}

/* Words [begin, end) of one pixel's patch. */
static void pack_patch(const shape *s, const pixel *at, int64_t begin, int64_t end, word *to)
{
    while (begin < end) {
        int64_t tap = begin / s->tap_words, from = begin - tap * s->tap_words;
        int64_t words = least(s->tap_words - from, end - begin);
        int64_t y = at->y + tap / 3 - 1, x = at->x + tap % 3 - 1, c = from * STEP;
        if (y < 0 || y >= s->h || x < 0 || x >= s->w) {
            pack_zeros(to, words * PARTS);
        } else {
            const element *source =
                NHWC ? at->image + (y * s->w + x) * s->c + c : at->image + (c * s->h + y) * s->w + x;
            pack_pixels(to, STRIDE, source, 1, 0, least(s->c - c, words * STEP), NHWC ? 1 : s->h * s->w);
        }
        to += words * PARTS;
        begin += words;
    }
}

static __attribute__((noinline)) void tile(const word *input, const vec *weights, int64_t steps, const word *bias,
                                           const place *to, int is_first)
{
    vec sum[POSITIONS][VECTORS];
    if (is_first)
        tile_clear(sum, bias);
    else
        tile_load(sum, to);
    tile_steps(sum, input, STRIDE, weights, steps);
    tile_store(sum, to);
}

/* Words [begin, end) of the reduction for all tiles of an item and one block of output channels. */
static void tiles(const shape *s, const pixel *at, int64_t count, const word *scratch, const word *packed, int64_t k,
                  int64_t begin, int64_t end, word *out)
{
    const vec *weights = (const vec *)(packed + k * s->words + begin * BLOCK);
    const word *bias = packed + round_up(s->k, BLOCK) * s->words + k;
    int64_t channel_step = NHWC ? 1 : s->h * s->w;
    for (int64_t i = 0; i < count; i += POSITIONS) {
        int64_t offset[POSITIONS], positions = least(POSITIONS, count - i);
        for (int64_t p = 0; p < positions; p++)
            offset[p] = at[i + p].at;
        place to = {out + k * channel_step, offset, positions, least(BLOCK, s->k - k), channel_step};
        tile(scratch + i * STRIDE, weights, end - begin, bias, &to, begin == 0);
    }
}

void convolve(void *const *args, int64_t begin, int64_t end, int32_t thread, int32_t threads)
{
    const element *in = argument_pointer(args, 0);
    const word *packed = argument_pointer(args, 1);
    word *out = argument_pointer(args, 2);
    shape s = {.c = argument_int(args, 3),
               .k = argument_int(args, 4),
               .h = argument_int(args, 5),
               .w = argument_int(args, 6),
               .pixel_tiles = argument_int(args, 7),
               .k_blocks = argument_int(args, 8)};
    int k_outer = (int)argument_int(args, 9);
    s.pixels = argument_int(args, 10) * s.h * s.w;
    s.tap_words = round_up(s.c, STEP) / STEP;
    s.words = 9 * s.tap_words;
    (void)thread, (void)threads;

    int64_t most = s.pixel_tiles * POSITIONS, group = s.k_blocks * BLOCK;
    int64_t areas = (s.pixels + most - 1) / most, groups = (s.k + group - 1) / group;
    pixel at[most];
    SCRATCH(scratch, most * STRIDE);
    /* Positions past the last pixel are computed and dropped: they need numbers, not meaning. */
    memset(scratch, 0, (size_t)(most * STRIDE) * sizeof *scratch);
    for (int64_t number = begin; number < end; number++) {
        int64_t first = (k_outer ? number % areas : number / groups) * most;
        int64_t first_k = (k_outer ? number / areas : number % groups) * group, count = least(most, s.pixels - first);
        locate(&s, in, first, count, at);
        for (int64_t from = 0; from < s.words; from += DEPTH) {
            int64_t to = least(s.words, from + DEPTH);
            for (int64_t i = 0; i < count; i++)
                pack_patch(&s, &at[i], from, to, scratch + i * STRIDE);
            for (int64_t k = first_k; k < least(s.k, first_k + group); k += BLOCK)
                tiles(&s, at, count, scratch, packed, k, from, to, out);
        }
    }
}
