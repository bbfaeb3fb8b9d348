/* strip.cu: 7x7 convolutions of up to four channels on tensor cores (mma.sync), behind strip.cuh. A block brings the
 * input of ROWS output rows to shared memory once, a strip of whole image lines with the border's zeros, and gathers
 * operands from there: filter rows come out of it as runs of words, because neighbouring columns are neighbours. While
 * a strip is used, the STAGES - 1 that follow are under way.
 *
 * What lies in the column whose weights are zero (strip.cuh) is set to zero as well, so that an Inf there stays where
 * it is. fp32 is three products of parts that are tf32: high x high, high x low, low x high. */

/* ---- to shared memory ---------------------------------------------------------------------------------------------------- */

/* Image lines of strip `strip`, an image's being `bands`, without waiting for them. */
NT_INLINE void copy_strip(const nt_elem *in, int strip, int bands, int height, unsigned char *to)
{
    int image = strip / bands, top = strip % bands * (ROWS * STRIDE) - BORDER;
#if COPY_16
    const int units = PITCH / 16, each = 16 / BYTES;
#else
    const int units = PITCH / BYTES, each = 1;
#endif
    for (int i = threadIdx.x; i < LINES * units; i += THREADS) {
        int line = i / units, at = i % units * each - LEFT, y = top + line / LINES_A_ROW;
        bool exists = y >= 0 && y < height && at >= 0 && at < LINE;
#ifdef NT_LAYOUT_NCHW
        long long row = ((long long)image * C + line % C) * height + y;
#else
        long long row = (long long)image * height + y;
#endif
        const nt_elem *from = exists ? in + row * LINE + at : in;
#if COPY_16
        nt_copy_16(nt_shared_address(to) + i * 16, from, exists);
#else
        ((nt_elem *)to)[i] = exists ? *from : (nt_elem)0;
#endif
    }
}

NT_INLINE void copy_weights(const uint4 *packed, unsigned to)
{
    for (int i = threadIdx.x; i < WEIGHT_BYTES / 16; i += THREADS)
        nt_copy_16(to + i * 16, packed + i, true);
}

/* ---- products ------------------------------------------------------------------------------------------------------------ */

/* The words of two groups, of both halves of a unit: [group][half]. */
NT_INLINE void load_outputs(unsigned word[4], const unsigned char *unit, int group, unsigned first_column)
{
#pragma unroll
    for (int i = 0; i < 4; i++) {
        int g = group + i / 2, line = g / GROUPS_A_LINE, at = g % GROUPS_A_LINE;
        word[i] = 0;
        if (g < GROUPS / TURNS)
            word[i] = nt_word_at(unit + line * PITCH + at * 16 + i % 2 * HALF_STEP * OUT_BYTES);
        if (at == 0)
            word[i] &= first_column;
    }
}

/* 16 outputs x 16 filters; sum[x] has eight filters of all outputs, or (channels first) eight outputs of all filters.
 */
NT_INLINE void multiply(float sum[2][4], const unsigned output[4], const uint4 *filter)
{
#pragma unroll
    for (int x = 0; x < 2; x++) {
#ifdef NT_LAYOUT_NCHW
        const unsigned a[4] = {filter->x, filter->y, filter->z, filter->w}, b[2] = {output[x], output[2 + x]};
        nt_mma(sum[x], a, b);
#else
        const unsigned b[2] = {x ? filter->z : filter->x, x ? filter->w : filter->y};
        nt_mma(sum[x], output, b);
#endif
    }
}

/* One step of TILES units; `weights` are this lane's. */
NT_INLINE void multiply_step(float sum[TILES][WARP_PAIRS][2][4], const unsigned char *const unit[TILES], int group,
                             const unsigned char *weights, unsigned first_column)
{
    unsigned word[TILES][4];
#pragma unroll
    for (int t = 0; t < TILES; t++)
        load_outputs(word[t], unit[t], group, first_column);
#if PARTS == 2
    unsigned low[TILES][4];
#pragma unroll
    for (int i = 0; i < TILES * 4; i++)
        split_f32(word[i / 4][i % 4], &word[i / 4][i % 4], &low[i / 4][i % 4]);
#endif
#pragma unroll
    for (int j = 0; j < WARP_PAIRS; j++) {
        const uint4 filter = *(const uint4 *)(weights + j * PAIR_BYTES);
#if PARTS == 2
        const uint4 filter_low = *(const uint4 *)(weights + PART_BYTES + j * PAIR_BYTES);
#pragma unroll
        for (int t = 0; t < TILES; t++)
            multiply(sum[t][j], low[t], &filter);
#pragma unroll
        for (int t = 0; t < TILES; t++)
            multiply(sum[t][j], word[t], &filter_low);
#endif
#pragma unroll
        for (int t = 0; t < TILES; t++)
            multiply(sum[t][j], word[t], &filter);
    }
}

NT_INLINE void convolve(float sum[TILES][WARP_PAIRS][2][4], const unsigned char *unit[TILES],
                        const unsigned char *weights, unsigned first_column)
{
#pragma unroll
    for (int i = 0; i < TILES * WARP_PAIRS * 8; i++)
        sum[i / 8 / WARP_PAIRS][i / 8 % WARP_PAIRS][i / 4 % 2][i % 4] = 0.0f;
#pragma unroll 1
    for (int turn = 0; turn < TURNS; turn++) {
#pragma unroll
        for (int step = 0; step < TURN_STEPS; step++)
            multiply_step(sum, unit, 2 * step, weights + step * (PAIRS * PAIR_BYTES), first_column);
#pragma unroll
        for (int t = 0; t < TILES; t++)
            unit[t] += LINES_A_ROW * PITCH;
        weights += TURN_STEPS * (PAIRS * PAIR_BYTES);
    }
}

/* ---- results ------------------------------------------------------------------------------------------------------------- */

/* NEIGHBOURS results, of which `count` exist; all or none where OUT_VECTOR. */
NT_INLINE void store(nt_elem *to, const float value[NEIGHBOURS], int count)
{
#if OUT_VECTOR
    unsigned word[NEIGHBOURS / PER_WORD];
#pragma unroll
    for (int i = 0; i < NEIGHBOURS / PER_WORD; i++)
#if BYTES == 4
        word[i] = nt_f32_to_bits(value[i]);
#else
        word[i] = nt_pack_2(value[2 * i], value[2 * i + 1]);
#endif
    if (count <= 0)
        return;
#if NEIGHBOURS * BYTES == 16
#define WIDE uint4
    uint4 all;
    all.z = word[2];
    all.w = word[3];
#else
#define WIDE uint2
    uint2 all;
#endif
    all.x = word[0];
    all.y = word[1];
    *(WIDE *)to = all;
#else
#pragma unroll
    for (int i = 0; i < NEIGHBOURS; i++)
        if (i < count)
            to[i] = nt_from_f32(value[i]);
#endif
}

/* A unit's results, from output `x` of row `y` of all images and filter `filter` on. */
NT_INLINE void store_unit(float sum[WARP_PAIRS][2][4], nt_elem *out, int image, int y, int x, int filter,
                          int out_height, int filters)
{
    int lane = threadIdx.x % 32, p = lane / 4, q = lane % 4;
    float value[NEIGHBOURS];
#ifdef NT_LAYOUT_NCHW
    x += q * 4;
    filter += p;
    nt_elem *at = out + (((long long)image * filters + filter) * out_height + y) * OUT_W + x;
#pragma unroll
    for (int i = 0; i < WARP_PAIRS * 2; i++) { /* eight filters: a half of a tile's rows */
#pragma unroll
        for (int e = 0; e < 4; e++)
            value[e] = sum[i / 2][e / 2][i % 2 * 2 + e % 2];
        store(at, value, filter < filters ? OUT_W - x : 0);
        filter += 8;
        at += 8ll * out_height * OUT_W;
    }
#else
    x += OUTPUT_OF(p);
    filter += q * NEIGHBOURS;
    nt_elem *at = out + (((long long)image * out_height + y) * OUT_W + x) * filters + filter;
#pragma unroll
    for (int half = 0; half < 2; half++) {
#pragma unroll
        for (int i = 0; i < WARP_PAIRS * 4 / NEIGHBOURS; i++) {
#pragma unroll
            for (int e = 0; e < NEIGHBOURS; e++) {
                int octet = i * (NEIGHBOURS / 2) + e / 2;
                value[e] = sum[octet / 2][octet % 2][half * 2 + e % 2];
            }
            store(at + i * 4 * NEIGHBOURS, value, x < OUT_W ? filters - filter - i * 4 * NEIGHBOURS : 0);
        }
        x += HALF_STEP;
        at += HALF_STEP * (long long)filters;
    }
#endif
}

/* ---- a block ------------------------------------------------------------------------------------------------------------- */

/* This lane's words of the dummy column are cut off in the first group of a line. */
NT_INLINE unsigned first_column_mask(int q)
{
    unsigned mask = 0;
#if BYTES == 2
    mask = (2 * q < STEP ? 0u : 0xffffu) | (2 * q + 1 < STEP ? 0u : 0xffff0000u);
#else
    mask = q < STEP ? 0u : 0xffffffffu;
#endif
    return mask;
}

/* All units of a strip that are this warp's. */
NT_INLINE void do_strip(const unsigned char *strip, const unsigned char *weights, nt_elem *out, int index, int bands,
                        int out_height, int filters)
{
    int warp = threadIdx.x / 32, lane = threadIdx.x % 32, image = index / bands, y0 = index % bands * ROWS;
    int filter = (int)blockIdx.y * TILE_N + warp / WARPS_M * (WARP_PAIRS * 16);
    unsigned mask = first_column_mask(lane % 4);
    strip += (LEFT - 4 * STEP) * BYTES + OUTPUT_OF(lane / 4) * OUT_BYTES + lane % 4 * 4;
    weights += warp / WARPS_M * (WARP_PAIRS * PAIR_BYTES) + lane * 16;
    for (int first = warp % WARPS_M * TILES; first < UNITS; first += WARPS_M * TILES) {
        float sum[TILES][WARP_PAIRS][2][4];
        const unsigned char *unit[TILES];
#pragma unroll
        for (int t = 0; t < TILES; t++) {
            int u = first + t < UNITS ? first + t : 0;
            unit[t] = strip + u / UNITS_A_ROW * (STRIDE * LINES_A_ROW * PITCH) + u % UNITS_A_ROW * (16 * OUT_BYTES);
        }
        convolve(sum, unit, weights, mask);
#pragma unroll
        for (int t = 0; t < TILES; t++) {
            int u = first + t, y = y0 + u / UNITS_A_ROW;
            if (u < UNITS && y < out_height)
                store_unit(sum[t], out, image, y, u % UNITS_A_ROW * 16, filter, out_height, filters);
        }
    }
}

/* Strips blockIdx.x, blockIdx.x + gridDim.x, ..; blockIdx.y is a block of filters. */
NT_ENTRY void __launch_bounds__(THREADS, MIN_BLOCKS)
    nt_strip(const nt_elem *__restrict__ in, const uint4 *__restrict__ packed, nt_elem *__restrict__ out, int strips,
             int bands, int height, int out_height, int filters)
{
    extern __shared__ __align__(1024) unsigned char tiles[];
    unsigned char *space = tiles + WEIGHT_BYTES;
    int step = (int)gridDim.x, stage = 0;
    copy_weights(packed + (long long)blockIdx.y * (WEIGHT_BYTES / 16), nt_shared_address(tiles));
#pragma unroll
    for (int s = 0; s < STAGES - 1; s++) {
        if ((int)blockIdx.x + s * step < strips)
            copy_strip(in, (int)blockIdx.x + s * step, bands, height, space + s * STRIP);
        nt_copy_commit();
    }
    for (int index = (int)blockIdx.x; index < strips; index += step) {
#if STAGES == 1
        __syncthreads(); /* all have read the strip before */
        copy_strip(in, index, bands, height, space);
        nt_copy_commit();
        nt_copy_wait(0);
        __syncthreads();
#else
        int behind = stage == 0 ? STAGES - 1 : stage - 1;
        nt_copy_wait(STAGES - 2);
        __syncthreads(); /* this strip is here, and all have read the one before */
        if (index + (STAGES - 1) * step < strips)
            copy_strip(in, index + (STAGES - 1) * step, bands, height, space + behind * STRIP);
        nt_copy_commit();
#endif
        do_strip(space + stage * STRIP, tiles, out, index, bands, out_height, filters);
        stage = stage == STAGES - 1 ? 0 : stage + 1;
    }
    nt_copy_wait(0);
}
