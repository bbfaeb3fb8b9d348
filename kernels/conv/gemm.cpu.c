/* gemm.cpu.c: convolution as a matrix product, and fc, which is one. A work item is pixel_tiles register tiles of
 * output pixels, counted through rows and images alike, for k_blocks blocks of output channels. It lays out the patches
 * of its pixels, DEPTH words of the reduction (tap, channel) at a time, and multiplies them with the packed weights. No
 * tile is wasted at the end of a row, which pays where rows are short.
 *
 * args: in, packed, out, sums, c, k, h, w, out_h, out_w, pixel_tiles, k_blocks, k_outer, batch */

#ifndef DEPTH
#define DEPTH 144
#endif
/* Words from one pixel's patch to the next: 16 more than its length keeps patches out of each other's cache sets. */
#define PATCH (DEPTH * PARTS + 16)

typedef struct shape {
    int64_t c, k, h, w, out_h, out_w, pixel_tiles, k_blocks;
    int64_t pixels;    /* batch * out_h * out_w */
    int64_t tap_words; /* words of one tap: ceil(c / STEP) */
    int64_t words;     /* of the whole reduction */
} shape;

typedef struct pixel {
    const element *image; /* of its input */
    int64_t y, x;         /* of tap (0, 0) in the input; may be negative */
    int64_t at;           /* offset in out of its channel 0 */
} pixel;

void convolve(void *const *args, int64_t begin, int64_t end, int32_t thread, int32_t threads);

static void locate(const shape *s, const element *in, int64_t first, int64_t count, pixel *to)
{
    int64_t area = s->out_h * s->out_w;
    for (int64_t i = 0; i < count; i++) {
        int64_t image = (first + i) / area, place = (first + i) % area;
        to[i] = (pixel){in + image * s->c * s->h * s->w, place / s->out_w * STRIDE - PAD,
                        place % s->out_w * STRIDE - PAD, NHWC ? (first + i) * s->k : image * s->k * area + place};
    }
}

/* Words [begin, end) of one pixel's patch. */
static void pack_patch(const shape *s, const pixel *at, int64_t begin, int64_t end, word *to)
{
    while (begin < end) {
        int64_t tap = begin / s->tap_words, from = begin - tap * s->tap_words;
        int64_t words = least(s->tap_words - from, end - begin);
        int64_t y = at->y + tap / TAPS, column = tap % TAPS, x = at->x + column, c = from * STEP;
        /* Taps of a row that lie inside are neighbours in memory as well as in the patch. */
        if (NHWC && STEP == 1 && TAPS > 1 && x >= 0 && at->x + TAPS <= s->w)
            words = least((TAPS - column) * s->c - from, end - begin);
        if (y < 0 || y >= s->h || x < 0 || x >= s->w) {
            pack_zeros(to, words * PARTS);
        } else {
            const element *source =
                NHWC ? at->image + (y * s->w + x) * s->c + c : at->image + (c * s->h + y) * s->w + x;
            int64_t channels = STEP == 1 ? words : least(s->c - c, words * STEP);
            pack_pixels(to, PATCH, source, 1, 0, channels, NHWC ? 1 : s->h * s->w);
        }
        to += words * PARTS;
        begin += words;
    }
}

static __attribute__((noinline)) void tile(const word *input, const vec *weights, int64_t steps, const word *bias,
                                           const place *to, int is_first, int is_last)
{
    vec sum[POSITIONS][VECTORS];
    if (is_first)
        tile_clear(sum, bias);
    else
        tile_load(sum, to);
    tile_steps(sum, input, PATCH, weights, steps);
    tile_store(sum, to, is_last);
}

/* Words [begin, end) of the reduction for all tiles of an item and one block of output channels. */
static void tiles(const shape *s, const pixel *at, int64_t count, const word *scratch, const word *packed, int64_t k,
                  int64_t begin, int64_t end, result *out, word *sums)
{
    const vec *weights = (const vec *)(packed + k * s->words + begin * BLOCK);
    int64_t padded = round_up(s->k, BLOCK), channel_step = NHWC ? 1 : s->out_h * s->out_w, corner = k * channel_step;
    const word *bias = packed + padded * s->words + k;
    for (int64_t i = 0; i < count; i += POSITIONS) {
        int64_t offset[POSITIONS], positions = least(POSITIONS, count - i);
        for (int64_t p = 0; p < positions; p++)
            offset[p] = at[i + p].at;
        place to = {out + corner,
                    sums + corner,
                    offset,
                    positions,
                    least(BLOCK, s->k - k),
                    channel_step,
                    (const float *)bias + padded,
                    padded};
        tile(scratch + i * PATCH, weights, end - begin, bias, &to, begin == 0, end == s->words);
    }
}

void convolve(void *const *args, int64_t begin, int64_t end, int32_t thread, int32_t threads)
{
    const element *in = argument_pointer(args, 0);
    const word *packed = argument_pointer(args, 1);
    result *out = argument_pointer(args, 2);
    word *sums = argument_pointer(args, 3);
    shape s = {.c = argument_int(args, 4),
               .k = argument_int(args, 5),
               .h = argument_int(args, 6),
               .w = argument_int(args, 7),
               .out_h = argument_int(args, 8),
               .out_w = argument_int(args, 9),
               .pixel_tiles = argument_int(args, 10),
               .k_blocks = argument_int(args, 11)};
    int k_outer = (int)argument_int(args, 12);
    s.pixels = argument_int(args, 13) * s.out_h * s.out_w;
    s.tap_words = round_up(s.c, STEP) / STEP;
    s.words = ALL_TAPS * s.tap_words;
    (void)thread, (void)threads;

    int64_t most = s.pixel_tiles * POSITIONS, group = s.k_blocks * BLOCK;
    int64_t areas = (s.pixels + most - 1) / most, groups = (s.k + group - 1) / group;
    pixel at[most];
    SCRATCH(scratch, most * PATCH);
    /* Positions past the last pixel are computed and dropped: they need numbers, not meaning. */
    memset(scratch, 0, (size_t)(most * PATCH) * sizeof *scratch);
    for (int64_t number = begin; number < end; number++) {
        int64_t first = (k_outer ? number % areas : number / groups) * most;
        int64_t first_k = (k_outer ? number / areas : number % groups) * group, count = least(most, s.pixels - first);
        locate(&s, in, first, count, at);
        for (int64_t from = 0; from < s.words; from += DEPTH) {
            int64_t to = least(s.words, from + DEPTH);
            for (int64_t i = 0; i < count; i++)
                pack_patch(&s, &at[i], from, to, scratch + i * PATCH);
            for (int64_t k = first_k; k < least(s.k, first_k + group); k += BLOCK)
                tiles(&s, at, count, scratch, packed, k, from, to, out, sums);
        }
    }
}
