/* direct.cpu.c: direct convolution. A work item is ROWS rows of X_TILES register tiles, for k_blocks blocks of output
 * channels. It packs the input rows it needs, with their border of zeros, C_BLOCK channels at a time into scratch, and
 * then every tile runs over its taps without a test for the edge.
 *
 * args: in, packed, out, sums, c, k, h, w, out_h, out_w, rows, x_tiles, k_blocks, k_outer, batch */

#ifndef C_BLOCK
#define C_BLOCK 64
#endif
#define PIXEL INPUT_WORDS(C_BLOCK) /* words of a pixel in scratch */

typedef struct shape {
    int64_t c, k, h, w, out_h, out_w, rows, x_tiles, k_blocks;
    int64_t width; /* pixels of a scratch row: what the tiles of a row read */
    int64_t lines; /* rows of scratch */
    int64_t words; /* packed words per output channel */
} shape;

typedef struct item {
    int64_t image, y, x, k; /* first of its image, output row and column, and output channel */
} item;

void convolve(void *const *args, int64_t begin, int64_t end, int32_t thread, int32_t threads);

static void pack_rows(const shape *s, const item *at, const element *image, int64_t first, word *scratch)
{
    int64_t channels = least(C_BLOCK, s->c - first);
    int64_t begin = at->x * STRIDE - PAD, from = begin < 0 ? 0 : begin, to = least(s->w, begin + s->width);
    to = to < from ? from : to;
    for (int64_t row = 0; row < s->lines; row++) {
        int64_t y = at->y * STRIDE + row - PAD;
        word *line = scratch + row * s->width * PIXEL;
        if (y < 0 || y >= s->h) {
            pack_zeros(line, s->width * PIXEL);
            continue;
        }
        int64_t left = from - begin, right = to - begin;
        pack_zeros(line, left * PIXEL);
        pack_zeros(line + right * PIXEL, (s->width - right) * PIXEL);
        const element *pixel =
            NHWC ? image + (y * s->w + from) * s->c + first : image + first * s->h * s->w + y * s->w + from;
        pack_pixels(line + left * PIXEL, PIXEL, pixel, to - from, NHWC ? s->c : 1, channels, NHWC ? 1 : s->h * s->w);
    }
}

/* One register tile over the taps of one block of input channels. */
static __attribute__((noinline)) void tile(const word *input, int64_t line, const vec *weights, int64_t steps,
                                           const word *bias, const place *to, int is_first, int is_last)
{
    vec sum[POSITIONS][VECTORS];
    if (is_first)
        tile_clear(sum, bias);
    else
        tile_load(sum, to);
    for (int r = 0; r < TAPS; r++, input += line)
        for (int q = 0; q < TAPS; q++)
            weights = tile_steps(sum, input + q * PIXEL, STRIDE * PIXEL, weights, steps);
    tile_store(sum, to, is_last);
}

/* All tiles of an item for one block of output channels and one of input channels. */
static void tiles(const shape *s, const item *at, const word *scratch, const word *packed, int64_t k, int64_t first,
                  result *image, word *sums)
{
    int64_t steps = round_up(least(C_BLOCK, s->c - first), STEP) / STEP;
    const vec *weights = (const vec *)(packed + k * s->words + ALL_TAPS * (first / STEP) * BLOCK);
    int64_t padded = round_up(s->k, BLOCK), corner = NHWC ? k : k * s->out_h * s->out_w;
    const word *bias = packed + padded * s->words + k;
    for (int64_t row = 0; row < s->rows && at->y + row < s->out_h; row++) {
        for (int64_t i = 0; i < s->x_tiles; i++) {
            int64_t x = at->x + i * POSITIONS, step = NHWC ? s->k : 1;
            if (x >= s->out_w)
                break;
            int64_t offset[POSITIONS];
            for (int p = 0; p < POSITIONS; p++)
                offset[p] = ((at->y + row) * s->out_w + x + p) * step;
            place to = {image + corner,
                        sums + corner,
                        offset,
                        least(POSITIONS, s->out_w - x),
                        least(BLOCK, s->k - k),
                        NHWC ? 1 : s->out_h * s->out_w,
                        (const float *)bias + padded,
                        padded};
            tile(scratch + (row * s->width + i * POSITIONS) * STRIDE * PIXEL, s->width * PIXEL, weights, steps, bias,
                 &to, first == 0, first + C_BLOCK >= s->c);
        }
    }
}

/* Item number to place. Neighbours share their weights (k_outer) or their input. */
static item locate(const shape *s, int64_t number, int64_t batch, int k_outer)
{
    int64_t columns = (s->out_w + s->x_tiles * POSITIONS - 1) / (s->x_tiles * POSITIONS);
    int64_t bands = (s->out_h + s->rows - 1) / s->rows, group = s->k_blocks * BLOCK,
            groups = (s->k + group - 1) / group;
    int64_t areas = batch * bands * columns;
    int64_t area = k_outer ? number % areas : number / groups, g = k_outer ? number / areas : number % groups;
    return (item){area / (bands * columns), area / columns % bands * s->rows, area % columns * s->x_tiles * POSITIONS,
                  g * group};
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
               .rows = argument_int(args, 10),
               .x_tiles = argument_int(args, 11),
               .k_blocks = argument_int(args, 12)};
    int k_outer = (int)argument_int(args, 13);
    int64_t batch = argument_int(args, 14);
    s.width = (s.x_tiles * POSITIONS - 1) * STRIDE + TAPS;
    s.lines = (s.rows - 1) * STRIDE + TAPS;
    s.words = ALL_TAPS * (round_up(s.c, STEP) / STEP);
    (void)thread, (void)threads;

    SCRATCH(scratch, s.lines * s.width * PIXEL);
    for (int64_t number = begin; number < end; number++) {
        item at = locate(&s, number, batch, k_outer);
        const element *in_image = in + at.image * s.c * s.h * s.w;
        int64_t image = at.image * s.k * s.out_h * s.out_w;
        for (int64_t first = 0; first < s.c; first += C_BLOCK) {
            pack_rows(&s, &at, in_image, first, scratch);
            for (int64_t k = at.k; k < least(s.k, at.k + s.k_blocks * BLOCK); k += BLOCK)
                tiles(&s, &at, scratch, packed, k, first, out + image, sums + image);
        }
    }
}
