/* direct.cpu.c: direct convolution. A work item is ROWS rows of X_TILES register tiles, for k_blocks blocks of output
 * channels. It packs the input rows it needs, with their border of zeros, C_BLOCK channels at a time into scratch, and
 * then every tile runs over its nine taps without a test for the edge.
 *
 * args: in, packed, out, c, k, h, w, rows, x_tiles, k_blocks, k_outer, batch */

#ifndef C_BLOCK
#define C_BLOCK 64
#endif
#define STRIDE INPUT_WORDS(C_BLOCK) /* words of a pixel in scratch */

typedef struct shape {
    int64_t c, k, h, w, rows, x_tiles, k_blocks;
    int64_t width; /* pixels of a scratch row: tiles and a border of one on both sides */
    int64_t words; /* packed words per output channel */
} shape;

typedef struct item {
    int64_t image, y, x, k; /* first of its image, row, column and output channel */
} item;

void convolve(void *const *args, int64_t begin, int64_t end, int32_t thread, int32_t threads);

static void pack_rows(const shape *s, const item *at, const element *image, int64_t first, word *scratch)
{
    int64_t channels = least(C_BLOCK, s->c - first);
    int64_t from = at->x == 0 ? 0 : at->x - 1, to = least(s->w, at->x + s->width - 1);
    for (int64_t row = 0; row < s->rows + 2; row++) {
        int64_t y = at->y + row - 1;
        word *line = scratch + row * s->width * STRIDE;
        if (y < 0 || y >= s->h) {
            pack_zeros(line, s->width * STRIDE);
            continue;
        }
        int64_t left = from - (at->x - 1), right = to - (at->x - 1);
        pack_zeros(line, left * STRIDE);
        pack_zeros(line + right * STRIDE, (s->width - right) * STRIDE);
        const element *pixel =
            NHWC ? image + (y * s->w + from) * s->c + first : image + first * s->h * s->w + y * s->w + from;
        pack_pixels(line + left * STRIDE, STRIDE, pixel, to - from, NHWC ? s->c : 1, channels, NHWC ? 1 : s->h * s->w);
    }
}

/* One register tile over the nine taps of one block of input channels. */
static __attribute__((noinline)) void tile(const word *input, int64_t line, const vec *weights, int64_t steps,
                                           const word *bias, const place *to, int is_first)
{
    vec sum[POSITIONS][VECTORS];
    if (is_first)
        tile_clear(sum, bias);
    else
        tile_load(sum, to);
    for (int r = 0; r < 3; r++, input += line)
        for (int q = 0; q < 3; q++)
            weights = tile_steps(sum, input + q * STRIDE, STRIDE, weights, steps);
    tile_store(sum, to);
}

/* All tiles of an item for one block of output channels and one of input channels. */
static void tiles(const shape *s, const item *at, const word *scratch, const word *packed, int64_t k, int64_t first,
                  word *image)
{
    int64_t steps = round_up(least(C_BLOCK, s->c - first), STEP) / STEP;
    const vec *weights = (const vec *)(packed + k * s->words + 9 * (first / STEP) * BLOCK);
    const word *bias = packed + round_up(s->k, BLOCK) * s->words + k;
    for (int64_t row = 0; row < s->rows && at->y + row < s->h; row++) {
        for (int64_t i = 0; i < s->x_tiles; i++) {
            int64_t x = at->x + i * POSITIONS, step = NHWC ? s->k : 1;
            if (x >= s->w)
                break;
            int64_t offset[POSITIONS];
            for (int p = 0; p < POSITIONS; p++)
                offset[p] = ((at->y + row) * s->w + x + p) * step;
            place to = {NHWC ? image + k : image + k * s->h * s->w, offset, least(POSITIONS, s->w - x),
                        least(BLOCK, s->k - k), NHWC ? 1 : s->h * s->w};
            tile(scratch + (row * s->width + i * POSITIONS) * STRIDE, s->width * STRIDE, weights, steps, bias, &to,
                 first == 0);
        }
    }
}

/* Item number to place. Neighbours share their weights (k_outer) or their input. */
static item locate(const shape *s, int64_t number, int64_t batch, int k_outer)
{
    int64_t columns = (s->w + s->x_tiles * POSITIONS - 1) / (s->x_tiles * POSITIONS);
    int64_t bands = (s->h + s->rows - 1) / s->rows, group = s->k_blocks * BLOCK, groups = (s->k + group - 1) / group;
    int64_t areas = batch * bands * columns;
    int64_t area = k_outer ? number % areas : number / groups, g = k_outer ? number / areas : number % groups;
    return (item){area / (bands * columns), area / columns % bands * s->rows, area % columns * s->x_tiles * POSITIONS,
                  g * group};
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
               .rows = argument_int(args, 7),
               .x_tiles = argument_int(args, 8),
               .k_blocks = argument_int(args, 9)};
    int k_outer = (int)argument_int(args, 10);
    int64_t batch = argument_int(args, 11);
    s.width = s.x_tiles * POSITIONS + 2;
    s.words = 9 * (round_up(s.c, STEP) / STEP);
    (void)thread, (void)threads;

    SCRATCH(scratch, (s.rows + 2) * s.width * STRIDE);
    for (int64_t number = begin; number < end; number++) {
        item at = locate(&s, number, batch, k_outer);
        const element *in_image = in + at.image * s.c * s.h * s.w;
        word *out_image = out + at.image * s.k * s.h * s.w;
        for (int64_t first = 0; first < s.c; first += C_BLOCK) {
            pack_rows(&s, &at, in_image, first, scratch);
            for (int64_t k = at.k; k < least(s.k, at.k + s.k_blocks * BLOCK); k += BLOCK)
                tiles(&s, &at, scratch, packed, k, first, out_image);
        }
    }
}
