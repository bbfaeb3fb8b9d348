/* winograd_tiles.cuh: what the Winograd kernels share: where tiles of outputs lie, patches of inputs on their way to
 * registers, outputs on theirs to memory, and the preparation of weights. Comes after winograd.cuh.
 *
 * Macros of the kernel: BLOCK_TILES tiles and BLOCK_K channels of a block, THREADS, C_STEP channels of a step, EACH of them
 * (1 or 2) in a patch. SPLIT: blocks of one z do a share of the channels, and the output is a workspace of partial outputs
 * in f32, to be added after. WHOLE_ROWS: rows of tiles are whole, and stored as vectors of f32. WHOLE_PAIRS: two channels
 * can be read at once. packed_elem, to_packed and PACKED_AT say what prepared weights are and where they lie. */

#define C_UNITS (C_STEP / EACH)                                       /* patches of a tile in a step */
#define PATCHES ((BLOCK_TILES * C_UNITS + THREADS - 1) / THREADS)     /* of a thread */

#if SPLIT
typedef float result;
#define to_result(x) (x)
#else
typedef nt_elem result;
#define to_result nt_from_f32
#endif

typedef struct problem {
    const nt_elem *in;
    int all_tiles, tiles_y, tiles_x, c, k, h, w;
} problem;

/* Where a tile of outputs begins. */
typedef struct tile_place {
    int image, y, x;
} tile_place;

NT_INLINE tile_place place_of_tile(const problem *q, int tile)
{
    tile_place t;
    int row = tile / q->tiles_x;
    t.x = (tile - row * q->tiles_x) * OUT_TILE;
    t.image = row / q->tiles_y;
    t.y = (row - t.image * q->tiles_y) * OUT_TILE;
    return t;
}

/* ---- patches ----------------------------------------------------------------------------------------------------- */

/* Patch i of this thread: EACH channels of a step and one tile. Neighbouring threads take neighbours in memory. */
typedef struct patch {
    long long at;           /* of its first pixel, which may lie outside, in channel 0 of a step */
    unsigned rows, columns; /* bit i: row or column i lies inside the image */
    int channel, tile;      /* of the step, of the block */
} patch;

#ifdef NT_LAYOUT_NCHW
#define PATCH_CHANNEL(item)  ((item) / BLOCK_TILES * EACH)
#define PATCH_TILE(item)     ((item) % BLOCK_TILES)
#define PIXEL_STEP(q)        1
#define CHANNEL_STEP(q)      ((q)->h * (q)->w)
#define PATCH_IS_THERE(item) ((item) / BLOCK_TILES < C_UNITS)
#else
#define PATCH_CHANNEL(item)  ((item) % C_UNITS * EACH)
#define PATCH_TILE(item)     ((item) / C_UNITS)
#define PIXEL_STEP(q)        ((q)->c)
#define CHANNEL_STEP(q)      1
#define PATCH_IS_THERE(item) ((item) / C_UNITS < BLOCK_TILES)
#endif

/* Bits of the PATCH rows or columns from `first` on that lie in [0, size). */
NT_INLINE unsigned inside_bits(int first, int size)
{
    unsigned bits = 0;
#pragma unroll
    for (int i = 0; i < PATCH; i++)
        bits |= first + i >= 0 && first + i < size ? 1u << i : 0u;
    return bits;
}

NT_INLINE patch find_patch(const problem *q, int first_tile, int item)
{
    patch p;
    p.channel = PATCH_CHANNEL(item);
    p.tile = PATCH_TILE(item);
    tile_place t = place_of_tile(q, first_tile + p.tile);
    bool exists = PATCH_IS_THERE(item) && first_tile + p.tile < q->all_tiles;
    p.rows = exists ? inside_bits(t.y - 1, q->h) : 0;
    p.columns = inside_bits(t.x - 1, q->w);
    p.at = (long long)t.image * q->c * q->h * q->w + ((long long)(t.y - 1) * q->w + t.x - 1) * PIXEL_STEP(q) +
           (long long)p.channel * CHANNEL_STEP(q);
    return p;
}

/* Zeros outside the image and past the last channel. */
NT_INLINE void load_patch(const problem *q, const patch *p, int first_channel, float (*d)[PLACES])
{
    int channels = q->c - first_channel - p->channel; /* that are left */
    unsigned rows = channels > 0 ? p->rows : 0;
    const nt_elem *row = q->in + (p->at + (long long)first_channel * CHANNEL_STEP(q));
#pragma unroll
    for (int y = 0; y < PATCH; y++) {
#pragma unroll
        for (int x = 0; x < PATCH; x++) {
            bool inside = (rows >> y & p->columns >> x & 1u) != 0;
            const nt_elem *from = row + x * PIXEL_STEP(q);
#if WHOLE_PAIRS
            float pair[2] = {0.0f, 0.0f};
            if (inside)
                nt_load2(from, pair);
            d[0][PATCH * y + x] = pair[0];
            d[1][PATCH * y + x] = pair[1];
#else
#pragma unroll
            for (int e = 0; e < EACH; e++)
                d[e][PATCH * y + x] = inside && (e == 0 || e < channels) ? nt_to_f32(from[e * CHANNEL_STEP(q)]) : 0.0f;
#endif
        }
        row += (long long)q->w * PIXEL_STEP(q);
    }
}

NT_INLINE void find_patches(const problem *q, int first_tile, int thread, patch *p)
{
#pragma unroll
    for (int i = 0; i < PATCHES; i++)
        p[i] = find_patch(q, first_tile, thread + i * THREADS);
}

NT_INLINE void load_patches(const problem *q, const patch *p, int first_channel, float (*d)[EACH][PLACES])
{
#pragma unroll
    for (int i = 0; i < PATCHES; i++)
        load_patch(q, &p[i], first_channel, d[i]);
}

/* ---- outputs ----------------------------------------------------------------------------------------------------- */

/* The outputs of one tile in one channel that exist. */
NT_INLINE void store_tile(result *out, const problem *q, int tile, int k, const float y[OUT_TILE * OUT_TILE])
{
    tile_place t = place_of_tile(q, tile);
#ifdef NT_LAYOUT_NCHW
    result *to = out + (((long long)t.image * q->k + k) * q->h + t.y) * q->w + t.x;
    int step = 1;
#else
    result *to = out + (((long long)t.image * q->h + t.y) * q->w + t.x) * q->k + k;
    int step = q->k;
#endif
#pragma unroll
    for (int i = 0; i < OUT_TILE; i++) {
        if (t.y + i >= q->h)
            return;
#if WHOLE_ROWS
        NT_CAT(nt_put, OUT_TILE)(to, y + OUT_TILE * i);
#else
#pragma unroll
        for (int j = 0; j < OUT_TILE; j++)
            if (t.x + j < q->w)
                to[j * step] = to_result(y[OUT_TILE * i + j]);
#endif
        to += (long long)q->w * step;
    }
}

/* ---- weights and shares ------------------------------------------------------------------------------------------ */

/* Transforms filters, once: a thread does all places of one channel pair. Zeros fill blocks and steps. A row is an input
 * channel of a block of output channels, a lane one of those. */
NT_ENTRY void nt_winograd_weights(const nt_elem *weight, packed_elem *packed, int c, int k, int steps, long long pairs)
{
    long long pair = (long long)blockIdx.x * 256 + threadIdx.x, row = pair / BLOCK_K;
    int lane = (int)(pair % BLOCK_K), channel = (int)(row % (steps * C_STEP));
    long long filter = row / (steps * C_STEP) * BLOCK_K + lane;
    if (pair >= pairs)
        return;
#ifdef NT_LAYOUT_NCHW
    const nt_elem *from = weight + (filter * c + channel) * 9;
    int step = 1;
#else
    const nt_elem *from = weight + filter * 9 * c + channel;
    int step = c;
#endif
    bool exists = filter < k && channel < c;
    for (int place = 0; place < PLACES; place++)
        packed[PACKED_AT(row, place, lane)] = to_packed(exists ? (float)transformed_weight(from, step, place) : 0.0f);
}

#if SPLIT
/* Adds the partial outputs of all shares. */
NT_ENTRY void nt_winograd_add(const float *partial, nt_elem *out, long long count, int shares)
{
    long long i = (long long)blockIdx.x * 256 + threadIdx.x;
    if (i >= count)
        return;
    float sum = 0.0f;
    for (int s = 0; s < shares; s++)
        sum += partial[s * count + i];
    out[i] = nt_from_f32(sum);
}
#endif
