/* depthwise.cpu.c: depthwise convolution; behind tile.cpu.c for its types. A work item is `rows` output rows of one
 * image for one block of channels. NHWC: a tile of POSITIONS pixels times VECTORS vectors of channels; a tap's weights
 * are read once a tile. NCHW: a row of sums along the image, one tap after another.
 *
 * args: in, packed, out, c, h, w, out_h, out_w, rows, batch. Packed weights: a word each, [tap][channel]. */

typedef struct shape {
    int64_t c, h, w, out_h, out_w, rows;
    int64_t padded; /* channels of a tap's packed weights */
} shape;

void pack_weights(void *const *args, int64_t begin, int64_t end, int32_t thread, int32_t threads);
void convolve(void *const *args, int64_t begin, int64_t end, int32_t thread, int32_t threads);

/* args: weight, packed, c. One work item packs one channel of the padded ones. */
__attribute__((cold)) void pack_weights(void *const *args, int64_t begin, int64_t end, int32_t thread, int32_t threads)
{
    const element *weight = argument_pointer(args, 0);
    word *packed = argument_pointer(args, 1);
    int64_t c = argument_int(args, 2), padded = round_up(c, BLOCK);
    (void)thread, (void)threads;
    for (int64_t k = begin; k < end; k++)
        for (int64_t tap = 0; tap < ALL_TAPS; tap++) /* one channel a filter: both layouts are the same */
            packed[tap * padded + k] = k < c ? (word)number_of(weight[k * ALL_TAPS + tap]) : 0;
}

typedef element narrow_vec __attribute__((vector_size(LANES * sizeof(element)), may_alias));

/* LANES elements as words; `channels` of them exist. */
INLINE vec load_wide(const element *from, int64_t channels)
{
    narrow_vec x = {0};
    if (channels >= LANES)
        memcpy(&x, from, sizeof x);
    else if (channels > 0)
        memcpy(&x, from, (size_t)channels * sizeof *from);
#if NT_PRECISION_BF16
    typedef uint32_t bits __attribute__((vector_size(VECTOR_BYTES)));
    return (vec)(__builtin_convertvector(x, bits) << 16);
#else
    return __builtin_convertvector(x, vec);
#endif
}

INLINE void store_result(result *to, vec sum, int64_t channels)
{
#if NT_PRECISION_BF16
    half_vec x = rounded(sum);
#else
    vec x = sum;
#endif
    if (channels >= LANES)
        memcpy(to, &x, sizeof x);
    else if (channels > 0)
        memcpy(to, &x, (size_t)channels * sizeof *to);
}

#define COLUMNS ((POSITIONS - 1) * STRIDE + TAPS) /* of input that a tile reads in a row */

/* One row of taps. `inside`: no tap of the tile leaves the row, and all channels exist; columns that neighbouring pixels
 * share are then read once. */
INLINE void add_row(vec sum[POSITIONS][VECTORS], const shape *s, const element *row, const word *weights, int64_t x,
                    int64_t channels, const int inside)
{
    EACH_VECTOR(v)
    {
        vec in[COLUMNS];
        REPEAT(64)
        for (int j = 0; j < COLUMNS; j++) {
            int64_t column = x * STRIDE + j - PAD;
            in[j] = (vec){0};
            if (inside || (column >= 0 && column < s->w))
                in[j] = load_wide(row + column * s->c + v * LANES, inside ? LANES : channels - v * LANES);
        }
        REPEAT(8)
        for (int q = 0; q < TAPS; q++) {
            vec w = *(const vec_unaligned *)(weights + q * s->padded + v * LANES);
            REPEAT(32) for (int p = 0; p < POSITIONS; p++) sum[p][v] += in[p * STRIDE + q] * w;
        }
    }
}

/* POSITIONS pixels of row y from x on. */
INLINE void tile(const shape *s, const element *image, const word *weights, int64_t y, int64_t x, int64_t channels,
                 result *out, const int inside)
{
    vec sum[POSITIONS][VECTORS];
    EACH_SUM(p, v) sum[p][v] = (vec){0};
    for (int64_t r = 0; r < TAPS; r++) {
        int64_t row = y * STRIDE + r - PAD;
        if (row >= 0 && row < s->h)
            add_row(sum, s, image + row * s->w * s->c, weights + r * TAPS * s->padded, x, channels, inside);
    }
    for (int64_t p = 0; p < POSITIONS && x + p < s->out_w; p++)
        EACH_VECTOR(v) store_result(out + (y * s->out_w + x + p) * s->c + v * LANES, sum[p][v], channels - v * LANES);
}

static __attribute__((noinline)) void tile_inside(const shape *s, const element *image, const word *weights, int64_t y,
                                                  int64_t x, result *out)
{
    tile(s, image, weights, y, x, BLOCK, out, 1);
}

COLD void tile_at_edge(const shape *s, const element *image, const word *weights, int64_t y, int64_t x,
                       int64_t channels, result *out)
{
    tile(s, image, weights, y, x, channels, out, 0);
}

static void rows_nhwc(const shape *s, const element *image, const word *packed, int64_t first, int64_t k, result *out)
{
    int64_t channels = least(BLOCK, s->c - k);
    for (int64_t y = first; y < least(s->out_h, first + s->rows); y++)
        for (int64_t x = 0; x < s->out_w; x += POSITIONS) {
            int64_t left = x * STRIDE - PAD, right = (x + POSITIONS - 1) * STRIDE + TAPS - PAD;
            if (left >= 0 && right <= s->w && channels == BLOCK)
                tile_inside(s, image + k, packed + k, y, x, out + k);
            else
                tile_at_edge(s, image + k, packed + k, y, x, channels, out + k);
        }
}

/* One row of one channel. */
static __attribute__((noinline)) void row_nchw(const shape *s, const element *plane, const word *packed, int64_t y,
                                               word *sum, result *out)
{
    memset(sum, 0, (size_t)s->out_w * sizeof *sum);
    for (int64_t tap = 0; tap < ALL_TAPS; tap++) {
        int64_t row = y * STRIDE + tap / TAPS - PAD, shift = tap % TAPS - PAD;
        if (row < 0 || row >= s->h)
            continue;
        int64_t begin = shift < 0 ? (-shift + STRIDE - 1) / STRIDE : 0;
        int64_t end = s->w - shift <= 0 ? 0 : least(s->out_w, (s->w - shift + STRIDE - 1) / STRIDE);
        const element *in = plane + row * s->w + shift;
        word w = packed[tap * s->padded];
        for (int64_t x = begin; x < end; x++)
            sum[x] += w * (word)number_of(in[x * STRIDE]);
    }
    for (int64_t x = 0; x < s->out_w; x += LANES) {
        vec part = {0};
        int64_t count = least(LANES, s->out_w - x);
        memcpy(&part, sum + x, (size_t)count * sizeof *sum);
        store_result(out + y * s->out_w + x, part, count);
    }
}

void convolve(void *const *args, int64_t begin, int64_t end, int32_t thread, int32_t threads)
{
    const element *in = argument_pointer(args, 0);
    const word *packed = argument_pointer(args, 1);
    result *out = argument_pointer(args, 2);
    shape s = {.c = argument_int(args, 3),
               .h = argument_int(args, 4),
               .w = argument_int(args, 5),
               .out_h = argument_int(args, 6),
               .out_w = argument_int(args, 7),
               .rows = argument_int(args, 8)};
    int64_t bands = (s.out_h + s.rows - 1) / s.rows, groups = NHWC ? (s.c + BLOCK - 1) / BLOCK : s.c;
    s.padded = round_up(s.c, BLOCK);
    (void)thread, (void)threads;

    SCRATCH(sum, NHWC ? 1 : s.out_w);
    for (int64_t number = begin; number < end; number++) {
        int64_t group = number % groups, band = number / groups % bands, image = number / groups / bands;
        const element *from = in + image * s.c * s.h * s.w;
        result *to = out + image * s.c * s.out_h * s.out_w;
        if (NHWC) {
            rows_nhwc(&s, from, packed, band * s.rows, group * BLOCK, to);
            continue;
        }
        for (int64_t y = band * s.rows; y < least(s.out_h, (band + 1) * s.rows); y++)
            row_nchw(&s, from + group * s.h * s.w, packed + group, y, sum, to + group * s.out_h * s.out_w);
    }
}
