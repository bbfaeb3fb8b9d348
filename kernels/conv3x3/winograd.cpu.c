/* winograd.cpu.c: Winograd's F(2x2,3x3), fp32. Four outputs cost 16 multiplications instead of 36.
 *
 * A work item is tile_groups times POSITIONS tiles of 2x2 outputs, counted through rows and images alike, for k_blocks
 * blocks of output channels. Per C_BLOCK input channels it transforms the 4x4 input patches (V = B^T d B), and
 * multiplies each of the 16 places of V with those of the prepared weights (U = G g G^T), adding up products in
 * scratch; at the end it transforms those to outputs (A^T m A).
 *
 * args: in, packed, out, c, k, h, w, tile_groups, k_blocks, k_outer, batch */

#ifndef C_BLOCK
#define C_BLOCK 64
#endif

typedef struct shape {
    int64_t c, k, h, w, tile_groups, k_blocks;
    int64_t tiles_x, tiles_y, tiles; /* 2x2 tiles of a row, a column, and the batch */
    int64_t most;                    /* tiles of an item */
    int64_t channels;                /* output channels of an item, whole blocks */
} shape;

void transform_weights(void *const *args, int64_t begin, int64_t end, int32_t thread, int32_t threads);
void convolve(void *const *args, int64_t begin, int64_t end, int32_t thread, int32_t threads);

/* One row or column of G g: in double, so that a weight is rounded once. */
COLD void weight_pass(const double *g, int64_t step, double *to)
{
    double ends = g[0] + g[2 * step], middle = g[step];
    to[0] = g[0];
    to[1] = (ends + middle) / 2;
    to[2] = (ends - middle) / 2;
    to[3] = g[2 * step];
}

COLD void transform_weight(const float *weight, int64_t step, double to[16])
{
    double g[9], half[3][4];
    for (int i = 0; i < 9; i++)
        g[i] = (double)weight[i * step];
    for (int q = 0; q < 3; q++)
        weight_pass(g + q, 3, half[q]);
    for (int i = 0; i < 4; i++)
        weight_pass(&half[0][i], 4, to + 4 * i);
}

/* args: weight, packed, c, k. One work item is one block of output channels:
 * [block of BLOCK output channels][block of C_BLOCK input channels][place][channel][lane]. */
__attribute__((cold)) void transform_weights(void *const *args, int64_t begin, int64_t end, int32_t thread,
                                             int32_t threads)
{
    const float *weight = argument_pointer(args, 0);
    float *packed = argument_pointer(args, 1);
    int64_t c = argument_int(args, 2), k = argument_int(args, 3);
    (void)thread, (void)threads;

    for (int64_t item = begin; item < end; item++)
        for (int64_t i = 0; i < c; i++) {
            int64_t first = i / C_BLOCK * C_BLOCK, channels = least(C_BLOCK, c - first);
            float *to = packed + (item * c + first) * 16 * BLOCK + (i - first) * BLOCK;
            for (int64_t lane = 0; lane < BLOCK; lane++) {
                int64_t channel = item * BLOCK + lane;
                double u[16] = {0};
                if (channel < k)
                    transform_weight(NHWC ? weight + channel * 9 * c + i : weight + (channel * c + i) * 9, NHWC ? c : 1,
                                     u);
                for (int place = 0; place < 16; place++)
                    to[place * channels * BLOCK + lane] = (float)u[place];
            }
        }
}

/* Pointers to the channels [first, first + channels) of the 16 pixels of a tile's patch: into the tensor where whole
 * vectors can be read there, into `copies` (rows of C_BLOCK floats, padded with zeros) otherwise. */
static void find_patch(const shape *s, const float *in, int64_t tile, int64_t first, int64_t channels, float *copies,
                       const float *zeros, const float *patch[16])
{
    int64_t in_image = s->tiles_x * s->tiles_y, image = tile / in_image, place = tile % in_image;
    int64_t top = place / s->tiles_x * 2 - 1, left = place % s->tiles_x * 2 - 1;
    const float *base = in + image * s->c * s->h * s->w;
    for (int i = 0; i < 16; i++) {
        int64_t y = top + i / 4, x = left + i % 4;
        if (y < 0 || y >= s->h || x < 0 || x >= s->w) {
            patch[i] = zeros;
        } else if (NHWC && channels % LANES == 0) {
            patch[i] = base + (y * s->w + x) * s->c + first;
        } else {
            float *copy = copies + i * C_BLOCK;
            const float *from = NHWC ? base + (y * s->w + x) * s->c + first : base + (first * s->h + y) * s->w + x;
            for (int64_t c = 0; c < channels; c++)
                copy[c] = from[c * (NHWC ? 1 : s->h * s->w)];
            memset(copy + channels, 0, (size_t)(round_up(channels, LANES) - channels) * sizeof *copy);
            patch[i] = copy;
        }
    }
}

/* B^T d B of one tile, a vector of channels at a time. Place p of the result lies at to + p * step. */
static void transform_input(const float *const patch[16], int64_t channels, float *to, int64_t step)
{
    for (int64_t c = 0; c < channels; c += LANES) {
        vec rows[4][4];
        REPEAT(4)
        for (int x = 0; x < 4; x++) {
            vec d[4];
            REPEAT(4) for (int y = 0; y < 4; y++) d[y] = *(const vec_unaligned *)(patch[4 * y + x] + c);
            rows[0][x] = d[0] - d[2];
            rows[1][x] = d[1] + d[2];
            rows[2][x] = d[2] - d[1];
            rows[3][x] = d[1] - d[3];
        }
        REPEAT(4)
        for (int y = 0; y < 4; y++) {
            vec *d = rows[y], *row = (vec *)(to + 4 * y * step + c);
            *row = d[0] - d[2];
            *(vec *)((float *)row + step) = d[1] + d[2];
            *(vec *)((float *)row + 2 * step) = d[2] - d[1];
            *(vec *)((float *)row + 3 * step) = d[1] - d[3];
        }
    }
}

/* Products of POSITIONS tiles with one block of output channels at one place. */
static __attribute__((noinline)) void multiply(const float *input, const vec *weights, int64_t steps, float *products,
                                               int64_t step, int is_first)
{
    vec sum[POSITIONS][VECTORS];
    EACH_SUM(p, v) sum[p][v] = is_first ? (vec){0} : *(const vec *)(products + p * step + v * LANES);
    tile_steps(sum, input, C_BLOCK, weights, steps);
    EACH_SUM(p, v)
    {
        vec *to = (vec *)(products + p * step);
        to[v] = sum[p][v];
    }
}

/* Input channels [first, first + C_BLOCK) of an item: transform, then multiply at all 16 places. */
static void accumulate(const shape *s, const float *in, const float *packed, int64_t first_tile, int64_t tiles,
                       int64_t first_k, int64_t first, float *v, float *products)
{
    int64_t channels = least(C_BLOCK, s->c - first), end_k = least(s->k, first_k + s->channels);
    static const float zeros[C_BLOCK];
    float copies[16 * C_BLOCK];
    const float *patch[16];
    for (int64_t t = 0; t < tiles; t++) {
        find_patch(s, in, first_tile + t, first, channels, copies, zeros, patch);
        transform_input(patch, channels, v + t * C_BLOCK, s->most * C_BLOCK);
    }
    for (int64_t place = 0; place < 16; place++)
        for (int64_t k = first_k; k < end_k; k += BLOCK) {
            const float *weights = packed + (k * s->c + first * BLOCK) * 16 + place * channels * BLOCK;
            for (int64_t t = 0; t < tiles; t += POSITIONS)
                multiply(v + (place * s->most + t) * C_BLOCK, (const vec *)weights, channels,
                         products + (place * s->most + t) * s->channels + k - first_k, s->channels, first == 0);
        }
}

/* A^T m A of one tile and one vector of output channels, without those outputs and channels that do not exist. */
static void write_tile(const shape *s, const float *products, int64_t step, float *image, int64_t y, int64_t x,
                       int64_t k)
{
    vec rows[2][4];
    REPEAT(4)
    for (int i = 0; i < 4; i++) {
        vec m0 = *(const vec *)(products + i * step), m1 = *(const vec *)(products + (4 + i) * step);
        vec m2 = *(const vec *)(products + (8 + i) * step), m3 = *(const vec *)(products + (12 + i) * step);
        rows[0][i] = m0 + m1 + m2;
        rows[1][i] = m1 - m2 - m3;
    }
    int64_t channels = least(LANES, s->k - k);
    for (int i = 0; i < 2 && y + i < s->h; i++) {
        vec *m = rows[i], outputs[2] = {m[0] + m[1] + m[2], m[1] - m[2] - m[3]};
        for (int j = 0; j < 2 && x + j < s->w; j++) {
            int64_t pixel = (y + i) * s->w + x + j;
            if (NHWC && channels == LANES)
                *(vec_unaligned *)(image + pixel * s->k + k) = outputs[j];
            else
                for (int64_t c = 0; c < channels; c++)
                    image[NHWC ? pixel * s->k + k + c : (k + c) * s->h * s->w + pixel] = outputs[j][c];
        }
    }
}

static void write_tiles(const shape *s, const float *products, int64_t first_tile, int64_t tiles, int64_t first_k,
                        float *out)
{
    int64_t in_image = s->tiles_x * s->tiles_y, end_k = least(s->k, first_k + s->channels);
    for (int64_t t = 0; t < tiles; t++) {
        int64_t image = (first_tile + t) / in_image, place = (first_tile + t) % in_image;
        for (int64_t k = first_k; k < end_k; k += LANES)
            write_tile(s, products + t * s->channels + k - first_k, s->most * s->channels,
                       out + image * s->k * s->h * s->w, place / s->tiles_x * 2, place % s->tiles_x * 2, k);
    }
}

void convolve(void *const *args, int64_t begin, int64_t end, int32_t thread, int32_t threads)
{
    const float *in = argument_pointer(args, 0), *packed = argument_pointer(args, 1);
    float *out = argument_pointer(args, 2);
    shape s = {.c = argument_int(args, 3),
               .k = argument_int(args, 4),
               .h = argument_int(args, 5),
               .w = argument_int(args, 6),
               .tile_groups = argument_int(args, 7),
               .k_blocks = argument_int(args, 8)};
    int k_outer = (int)argument_int(args, 9);
    s.tiles_x = (s.w + 1) / 2;
    s.tiles_y = (s.h + 1) / 2;
    s.tiles = argument_int(args, 10) * s.tiles_x * s.tiles_y;
    s.most = s.tile_groups * POSITIONS;
    s.channels = s.k_blocks * BLOCK;
    (void)thread, (void)threads;

    int64_t areas = (s.tiles + s.most - 1) / s.most, groups = (s.k + s.channels - 1) / s.channels;
    SCRATCH(v, 16 * s.most * C_BLOCK);
    SCRATCH(products, 16 * s.most * s.channels);
    /* Positions past the last tile are computed and dropped: they need numbers, not meaning. */
    memset(v, 0, (size_t)(16 * s.most * C_BLOCK) * sizeof *v);
    for (int64_t number = begin; number < end; number++) {
        int64_t first_tile = (k_outer ? number % areas : number / groups) * s.most;
        int64_t first_k = (k_outer ? number / areas : number % groups) * s.channels;
        int64_t tiles = least(s.most, s.tiles - first_tile);
        for (int64_t first = 0; first < s.c; first += C_BLOCK)
            accumulate(&s, in, packed, first_tile, tiles, first_k, first, v, products);
        write_tiles(&s, products, first_tile, tiles, first_k, out);
    }
}
