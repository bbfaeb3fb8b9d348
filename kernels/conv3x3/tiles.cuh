/* tiles.cuh: tiles of the matrices that a 3x3 convolution (stride 1, pad 1, NHWC) is the product of, brought to shared
 * memory without forming the matrices, and tiles of the result, stored.
 *
 * Rows of A are output pixels counted through the batch, rows of B filters, and both run along the reduction: filter
 * taps (r, s) and input channels. A tile has TILE_M + TILE_N rows of TILE_K elements; copies write zeros where a tap
 * lies outside the image. A thread copies the same 16-byte unit of several rows, so what depends on the pixel is
 * computed once, and a step of the reduction costs it one addition and one mask test a row.
 *
 * SIDE is 3, or 1 for 1x1 convolutions and fully connected layers, whose one tap needs no border.
 * Macros: tile sizes, stages and walk from the kernel's row; THREADS of a block; N_TILES, columns of a warp over 8.
 * UNIT_COPIES: 16-byte copies are possible, else elements are gathered one by one. WHOLE_STEPS: TILE_K divides the
 * channels, so that all threads are at the same tap. WIDE_OFFSETS: a tensor has about 2^31 elements or more.
 * OUT_VECTOR: how many output elements may be stored at once. SPLIT: partial sums in f32 go to a workspace, to be added
 * after. */

#define TAPS        (SIDE * SIDE)
#define ELEM_BYTES  ((int)sizeof(nt_elem))
#define UNIT        (16 / ELEM_BYTES) /* elements of a unit */
#define ROW_BYTES   (TILE_K * ELEM_BYTES)
#define ROW_UNITS   (ROW_BYTES / 16)
#define PITCH       (SWIZZLE ? ROW_BYTES : ROW_BYTES + 16)
#define PASS_ROWS   (THREADS / ROW_UNITS) /* rows that all threads together copy at once */
#define A_COPIES    ((TILE_M + PASS_ROWS - 1) / PASS_ROWS)
#define B_COPIES    ((TILE_N + PASS_ROWS - 1) / PASS_ROWS)
#define COPIES      (A_COPIES + B_COPIES)
#define A_BYTES     (TILE_M * PITCH)
#define STAGE_BYTES ((TILE_M + TILE_N) * PITCH)

#if WIDE_OFFSETS
typedef long long offset;
#else
typedef int offset;
#endif

/* Where this thread is in the reduction: the tap, and offsets to add to its rows' own. */
typedef struct position {
    int channel, tap, column;
    offset in, weight;
} position;

typedef struct loader {
    const nt_elem *in, *weight;
    int channels, width, row;
    unsigned to; /* shared address of this thread's unit of row 0, stage 0 */
    /* Offsets of row 0's pixel at tap (0, 0), which may lie outside, and of its filter; and from pass to pass. */
    offset pixel, pixel_pass, filter, filter_pass;
    unsigned taps[A_COPIES]; /* bit 3 r + s: that tap of the pixel is inside the image */
    unsigned filters;        /* bit i: filter i exists */
    position at;
} loader;

/* 16-byte units of eight successive rows fall on different banks. */
NT_INLINE int swizzled(int row, int unit)
{
#if SWIZZLE
    return unit ^ (ROW_UNITS == 8 ? row & 7 : row >> 1 & 3);
#else
    (void)row;
    return unit;
#endif
}

NT_INLINE unsigned inside_bits(int h, int w, int height, int width)
{
#if SIDE == 1
    (void)h, (void)w, (void)height, (void)width;
    return 1u;
#else
    unsigned columns = (w > 0 ? 1u : 0u) | 2u | (w + 1 < width ? 4u : 0u);
    return (h > 0 ? columns : 0u) | columns << 3 | (h + 1 < height ? columns << 6 : 0u);
#endif
}

/* Brings the channel back into its range, moving on over taps. */
NT_INLINE void wrap_taps(loader *q)
{
#if WHOLE_STEPS
    if (q->at.channel >= q->channels)
#else
    while (q->at.channel >= q->channels)
#endif
    {
        q->at.channel -= q->channels;
        q->at.tap++;
        if (++q->at.column == SIDE) {
            q->at.column = 0;
            q->at.in += (offset)(q->width - SIDE) * q->channels;
        }
    }
}

NT_INLINE void next_step(loader *q)
{
#if TAPS_INNER
    q->at.tap++;
    q->at.in += q->channels;
    q->at.weight += q->channels;
    if (++q->at.column == SIDE) {
        q->at.column = 0;
        q->at.in += (offset)(q->width - SIDE) * q->channels;
    }
    if (q->at.tap == TAPS) {
        q->at.tap = 0;
        q->at.in += TILE_K - (offset)SIDE * q->width * q->channels;
        q->at.weight += TILE_K - (offset)TAPS * q->channels;
    }
#else
    q->at.channel += TILE_K;
    q->at.in += TILE_K;
    q->at.weight += TILE_K;
#if UNIT_COPIES
    wrap_taps(q);
#endif
#endif
}

/* The position of tile `step` of the reduction, for the unit this thread copies. */
NT_INLINE void start_at(loader *q, int step, int unit)
{
#if TAPS_INNER
    int tap = step % TAPS, channel = step / TAPS * TILE_K;
#elif WHOLE_STEPS
    int tap = step * TILE_K / q->channels, channel = step * TILE_K - tap * q->channels;
#elif UNIT_COPIES
    int tap = (step * TILE_K + unit * UNIT) / q->channels, channel = step * TILE_K + unit * UNIT - tap * q->channels;
#else
    int tap = 0, channel = step * TILE_K + unit * UNIT; /* counts through all taps */
#endif
    int r = tap / SIDE, s = tap - SIDE * r;
    int within = WHOLE_STEPS ? unit * UNIT : 0;
    q->at.tap = tap;
    q->at.column = s;
    q->at.channel = channel;
    q->at.in = ((offset)r * q->width + s) * q->channels + channel + within;
    q->at.weight = (offset)tap * q->channels + channel + within;
}

NT_INLINE void start_rows(loader *q, int m0, int n0, int row, int pixels, int height, int filters)
{
#pragma unroll
    for (int i = 0; i < A_COPIES; i++) {
        int m = m0 + row + i * PASS_ROWS;
        int image = m / (height * q->width), rest = m - image * height * q->width;
        int h = rest / q->width, w = rest - h * q->width;
        q->taps[i] = m < pixels ? inside_bits(h, w, height, q->width) : 0u;
    }
    q->row = row;
    /* Output and input have the same pixels, so rows follow each other in both. */
    q->pixel = ((offset)m0 + row - SIDE / 2 * (q->width + 1)) * q->channels;
    q->pixel_pass = (offset)PASS_ROWS * q->channels;
    q->filter = (offset)(n0 + row) * TAPS * q->channels;
    q->filter_pass = (offset)PASS_ROWS * TAPS * q->channels;
    q->filters = 0;
#pragma unroll
    for (int i = 0; i < B_COPIES; i++)
        q->filters |= n0 + row + i * PASS_ROWS < filters ? 1u << i : 0u;
}

#if UNIT_COPIES
NT_INLINE void copy_pixel(const loader *q, unsigned stage, int i)
{
    unsigned to = q->to + stage + i * PASS_ROWS * PITCH;
    const nt_elem *from = q->in + (q->pixel + i * q->pixel_pass + q->at.in);
    bool inside = q->taps[i] >> q->at.tap & 1u;
#if TAPS_INNER
    nt_copy_16_l1(to, from, inside);
#else
    nt_copy_16(to, from, inside);
#endif
}

NT_INLINE void copy_filter(const loader *q, unsigned stage, int i)
{
    unsigned to = q->to + stage + A_BYTES + i * PASS_ROWS * PITCH;
    bool exists = (q->filters >> i & 1u) && (WHOLE_STEPS || q->at.tap < TAPS);
    nt_copy_16(to, q->weight + (q->filter + i * q->filter_pass + q->at.weight), exists);
}
#else
NT_INLINE void put_element(unsigned word[4], int e, nt_elem value)
{
#if defined(NT_PRECISION_TF32)
    word[e] = nt_f32_to_bits(value);
#else
    word[e / 2] |= (unsigned)value << (16 * (e & 1));
#endif
}

NT_INLINE void copy_pixel(const loader *q, unsigned stage, int i)
{
    unsigned word[4] = {0, 0, 0, 0};
#pragma unroll
    for (int e = 0; e < UNIT; e++) {
        int at = q->at.channel + e, tap = at / q->channels;
        int r = tap / SIDE, s = tap - SIDE * r;
        offset from =
            q->pixel + i * q->pixel_pass + ((offset)r * q->width + s) * q->channels + (at - tap * q->channels);
        if (tap < TAPS && (q->taps[i] >> tap & 1u))
            put_element(word, e, q->in[from]);
    }
    nt_store_shared_16(q->to + stage + i * PASS_ROWS * PITCH, word);
}

NT_INLINE void copy_filter(const loader *q, unsigned stage, int i)
{
    unsigned word[4] = {0, 0, 0, 0};
    offset from = q->filter + i * q->filter_pass + q->at.channel;
#pragma unroll
    for (int e = 0; e < UNIT; e++)
        if ((q->filters >> i & 1u) && q->at.channel + e < TAPS * q->channels)
            put_element(word, e, q->weight[from + e]);
    nt_store_shared_16(q->to + stage + A_BYTES + i * PASS_ROWS * PITCH, word);
}
#endif

/* The last pass may have fewer rows than threads to copy them. */
NT_INLINE bool in_tile(const loader *q, int pass, int rows)
{
    return (pass + 1) * PASS_ROWS <= rows || q->row < rows - pass * PASS_ROWS;
}

/* Copies [begin, end) of this thread's share of a tile: its pixels' rows first, then its filters'. */
NT_INLINE void copy_rows(const loader *q, unsigned stage, int begin, int end)
{
#pragma unroll
    for (int i = 0; i < COPIES; i++)
        if (i >= begin && i < end) {
            if (i < A_COPIES && in_tile(q, i, TILE_M))
                copy_pixel(q, stage, i);
            else if (i >= A_COPIES && in_tile(q, i - A_COPIES, TILE_N))
                copy_filter(q, stage, i - A_COPIES);
        }
}

/* Two neighbouring results of one pixel. */
NT_INLINE void store_pair(nt_elem *out, int column, int columns, float x, float y)
{
#if OUT_VECTOR >= 2
    if (column < columns) {
#ifdef NT_PRECISION_TF32
        *(float2 *)(out + column) = make_float2(x, y);
#else
        *(unsigned *)(out + column) = nt_pack_2(x, y);
#endif
    }
#else
    if (column < columns)
        out[column] = nt_from_f32(x);
    if (column + 1 < columns)
        out[column + 1] = nt_from_f32(y);
#endif
}

NT_INLINE void store_partial(float *out, int column, int columns, float x, float y)
{
#if OUT_VECTOR >= 2
    if (column < columns)
        *(float2 *)(out + column) = make_float2(x, y);
#else
    if (column < columns)
        out[column] = x;
    if (column + 1 < columns)
        out[column + 1] = y;
#endif
}

#if !defined(NT_PRECISION_TF32) && OUT_VECTOR >= 8
#define QUAD_STORES (N_TILES % 4 == 0 && !SPLIT)
#else
#define QUAD_STORES 0
#endif

/* One pixel's results of this warp; `half` 0 or 1 picks the upper or lower eight pixels of an mma tile. */
NT_INLINE void store_row(void *out, float sum[N_TILES][4], int half, bool exists, long long at, int column, int columns)
{
    int t = threadIdx.x % 4;
#if QUAD_STORES
#pragma unroll
    for (int j = 0; j < N_TILES; j += 4) {
        unsigned word[4];
#pragma unroll
        for (int i = 0; i < 4; i++)
            word[i] = nt_pack_2(sum[j + i][2 * half], sum[j + i][2 * half + 1]);
        nt_transpose_quad(word, t);
        int to = column + 8 * j + 8 * t;
        if (exists && to < columns)
            *(uint4 *)((nt_elem *)out + at + to) = make_uint4(word[0], word[1], word[2], word[3]);
    }
#else
    if (!exists)
        return;
#pragma unroll
    for (int j = 0; j < N_TILES; j++) {
        int to = column + 8 * j + 2 * t;
#if SPLIT
        store_partial((float *)out + at, to, columns, sum[j][2 * half], sum[j][2 * half + 1]);
#else
        store_pair((nt_elem *)out + at, to, columns, sum[j][2 * half], sum[j][2 * half + 1]);
#endif
    }
#endif
}

#if SPLIT
/* Adds the partial sums of all slices. */
NT_ENTRY void __launch_bounds__(256)
    nt_conv3x3_igemm_reduce(const float *partial, nt_elem *out, long long count, int slices)
{
    long long i = (long long)blockIdx.x * 256 + threadIdx.x;
    if (i >= count)
        return;
    float sum = 0.0f;
    for (int s = 0; s < slices; s++)
        sum += partial[s * count + i];
    out[i] = nt_from_f32(sum);
}
#endif
