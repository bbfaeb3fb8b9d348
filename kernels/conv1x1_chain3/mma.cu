/* mma.cu: three 1x1 convolutions with relu on tensor cores (mma.sync), behind tensor_core.cuh and hopper.cuh. A block
 * takes ROWS pixels through all three; t1 and t2 stay in shared memory. Entries nt_chain3_1 to _3 are one convolution
 * each: the same as three launches.
 *
 * Warps share ROWS (WARPS_M) and output channels (WARPS_N). A weight is read once by a block, by one warp, straight
 * from memory into the registers that mma wants it in: packed [block of 16 channels][step of 16 inputs][lane][8
 * elements], the next PREFETCH steps under way, those of a convolution's beginning while the one before still ends.
 * Blocks of a cluster (CLUSTER > 1) have the same pixels and share output channels; each writes what it computed to all
 * of them.
 *
 * Columns of a block of 16 are dealt to the two mma of 8 columns so that a lane's four are neighbours: mma j's columns
 * 2 q and 2 q + 1 are channels 4 q + 2 j and the next. Channels are padded to 16 with zeros, rows to 16 bytes more, an
 * odd number of 16-byte units, so that ldmatrix meets no bank twice. */

#ifndef C
#define C  256
#define K1 64
#define K2 64
#define K  256
#endif
#ifndef TILES
#define TILES    2 /* of 16 pixels a warp */
#define WARPS_M  1
#define WARPS_N  4
#define BLOCKS   1 /* of 16 channels a warp at a time */
#define PREFETCH 2
#endif
#ifndef CLUSTER
#define CLUSTER 1
#endif
#ifndef MIN_BLOCKS
#define MIN_BLOCKS 1
#endif

#define THREADS      (32 * WARPS_M * WARPS_N)
#define ROWS         (16 * TILES * WARPS_M)
#define UP(x)        (((x) + 15) / 16)
#define PITCH(x)     (UP(x) * 32 + 16)
#define LARGER(a, b) ((a) > (b) ? (a) : (b))

#ifndef NT_HOST_EMULATION
/* Two words at an address aligned to 8 bytes, here and in block `rank` of this cluster. */
NT_INLINE void nt_store_shared_8(unsigned address, unsigned x, unsigned y)
{
    asm volatile("st.shared.v2.b32 [%0], {%1, %2};" ::"r"(address), "r"(x), "r"(y) : "memory");
}

NT_INLINE void nt_store_shared_8_at(unsigned address, unsigned rank, unsigned x, unsigned y)
{
    asm volatile("{\n.reg .b32 there;\nmapa.shared::cluster.u32 there, %0, %1;\n"
                 "st.shared::cluster.v2.b32 [there], {%2, %3};\n}" ::"r"(address),
                 "r"(rank), "r"(x), "r"(y)
                 : "memory");
}
#endif

/* ---- packing, untimed ------------------------------------------------------------------------------------------------ */

/* A thread an element of packed; in and out are channels. */
NT_ENTRY void nt_chain3_pack(const nt_elem *__restrict__ weight, nt_elem *__restrict__ packed, int in, int out)
{
    long long i = (long long)blockIdx.x * 256 + threadIdx.x, rest = i / 8;
    int element = (int)(i % 8), lane = (int)(rest % 32), step = (int)(rest / 32 % UP(in)),
        block = (int)(rest / 32 / UP(in));
    /* mma j, its register h of 2, its half e */
    int j = element / 4, h = element / 2 % 2, e = element % 2, column = lane / 4;
    int channel = block * 16 + column / 2 * 4 + 2 * j + column % 2, from = step * 16 + lane % 4 * 2 + h * 8 + e;
    if (block < UP(out))
        packed[i] = channel < out && from < in ? weight[(long long)channel * in + from] : (nt_elem)0;
}

/* ---- pixels ------------------------------------------------------------------------------------------------------------ */

/* Two channels of a pixel as a word; what does not exist is zero. */
NT_INLINE unsigned pixel_word(const nt_elem *in, int channels, int pixel, int pixels, int area, int c)
{
    unsigned word = 0;
#pragma unroll
    for (int e = 0; e < 2; e++)
        if (pixel < pixels && c + e < channels) {
#ifdef NT_LAYOUT_NCHW
            long long at = ((long long)(pixel / area) * channels + c + e) * area + pixel % area;
#else
            long long at = (long long)pixel * channels + c + e;
#endif
            word |= (unsigned)in[at] << 16 * e;
        }
    return word;
}

/* ROWS pixels from `first`, without waiting for them. */
NT_INLINE void load_pixels(const nt_elem *in, int channels, int first, int pixels, int area, unsigned to)
{
#ifndef NT_LAYOUT_NCHW
    if (channels % 8 == 0) {
        const int units = UP(channels) * 2;
        for (int i = threadIdx.x; i < ROWS * units; i += THREADS) {
            int row = i / units, unit = i % units, exists = first + row < pixels && unit * 8 < channels;
            nt_copy_16(to + row * PITCH(channels) + unit * 16,
                       exists ? in + (long long)(first + row) * channels + unit * 8 : in, exists);
        }
        nt_copy_commit();
        return;
    }
#endif
    const int words = UP(channels) * 8;
    for (int i = threadIdx.x; i < ROWS * words; i += THREADS) {
#ifdef NT_LAYOUT_NCHW
        int row = i % ROWS, word = i / ROWS;
#else
        int row = i / words, word = i % words;
#endif
        nt_store_shared(to + row * PITCH(channels) + word * 4,
                        pixel_word(in, channels, first + row, pixels, area, word * 2));
    }
    nt_copy_commit();
}

/* ---- one convolution ------------------------------------------------------------------------------------------------- */

/* A warp's share of a convolution: which blocks of channels, `BLOCKS` together. */
typedef struct share {
    int first, step, lane, row; /* row: first of the warp's in the tile */
} share;

/* Where results go: to shared memory, `pitch` bytes a row, or to the output. */
typedef struct target {
    unsigned shared;
    nt_elem *out;
    int first, pixels, area; /* pixels */
} target;

NT_INLINE void fetch(uint4 b[BLOCKS], const uint4 *weights, int in, int out, int group, int step, int lane)
{
#pragma unroll
    for (int j = 0; j < BLOCKS; j++) {
        int block = group * BLOCKS + j < UP(out) ? group * BLOCKS + j : UP(out) - 1;
        b[j] = weights[((long long)block * UP(in) + step) * 32 + lane];
    }
}

/* The first steps of the warp's first blocks. */
NT_INLINE void fetch_first(uint4 b[PREFETCH][BLOCKS], const uint4 *weights, int in, int out, int group, int lane)
{
    if (group * BLOCKS >= UP(out))
        return;
#pragma unroll
    for (int d = 0; d < PREFETCH; d++)
        if (d < UP(in))
            fetch(b[d], weights, in, out, group, d, lane);
}

NT_INLINE void multiply(unsigned from, int in, int step, const share *s, const uint4 b[BLOCKS],
                        float sum[TILES][2 * BLOCKS][4])
{
    unsigned a[TILES][4];
#pragma unroll
    for (int m = 0; m < TILES; m++)
        nt_load_matrices(a[m], from + (s->row + m * 16 + s->lane % 16) * PITCH(in) + step * 32 + s->lane / 16 * 16);
#pragma unroll
    for (int j = 0; j < BLOCKS; j++) {
        const unsigned left[2] = {b[j].x, b[j].y}, right[2] = {b[j].z, b[j].w};
#pragma unroll
        for (int m = 0; m < TILES; m++) {
            nt_mma(sum[m][2 * j], a[m], left);
            nt_mma(sum[m][2 * j + 1], a[m], right);
        }
    }
}

NT_INLINE float relu(float x)
{
    return x > 0.0f ? x : 0.0f;
}

/* Four neighbouring channels of one pixel. */
NT_INLINE void put(const target *to, int out, int row, int channel, const unsigned word[2])
{
    if (!to->out) {
        unsigned address = to->shared + row * PITCH(out) + channel * 2;
#if CLUSTER > 1
        for (unsigned rank = 0; rank < CLUSTER; rank++)
            nt_store_shared_8_at(address, rank, word[0], word[1]);
#else
        nt_store_shared_8(address, word[0], word[1]);
#endif
        return;
    }
    int pixel = to->first + row;
    if (pixel >= to->pixels)
        return;
#ifdef NT_LAYOUT_NCHW
    nt_elem *at = to->out + ((long long)(pixel / to->area) * out + channel) * to->area + pixel % to->area;
    int step = to->area;
#else
    nt_elem *at = to->out + (long long)pixel * out + channel;
    int step = 1;
    if (out % 4 == 0) {
        if (channel < out) {
            uint2 both;
            both.x = word[0];
            both.y = word[1];
            *(uint2 *)at = both;
        }
        return;
    }
#endif
#pragma unroll
    for (int e = 0; e < 4; e++)
        if (channel + e < out)
            at[(long long)e * step] = (nt_elem)(word[e / 2] >> 16 * (e % 2));
}

NT_INLINE void store(float sum[TILES][2 * BLOCKS][4], int out, int group, const share *s, const target *to)
{
#pragma unroll
    for (int j = 0; j < BLOCKS; j++) {
        int block = group * BLOCKS + j;
        if (block >= UP(out))
            break;
#pragma unroll
        for (int m = 0; m < TILES; m++)
#pragma unroll
            for (int half = 0; half < 2; half++) {
                unsigned word[2];
#pragma unroll
                for (int i = 0; i < 2; i++)
                    word[i] = nt_pack_2(relu(sum[m][2 * j + i][2 * half]), relu(sum[m][2 * j + i][2 * half + 1]));
                put(to, out, s->row + m * 16 + half * 8 + s->lane / 4, block * 16 + s->lane % 4 * 4, word);
            }
    }
}

/* relu(weights x pixels). `b` holds the first steps of the warp's first blocks. */
NT_INLINE void convolve(unsigned from, const uint4 *weights, int in, int out, const share *s, const target *to,
                        uint4 b[PREFETCH][BLOCKS])
{
    for (int group = s->first; group * BLOCKS < UP(out); group += s->step) {
        float sum[TILES][2 * BLOCKS][4];
#pragma unroll
        for (int m = 0; m < TILES; m++)
#pragma unroll
            for (int j = 0; j < 2 * BLOCKS; j++)
#pragma unroll
                for (int i = 0; i < 4; i++)
                    sum[m][j][i] = 0.0f;
        for (int step = 0; step < UP(in); step += PREFETCH)
#pragma unroll
            for (int d = 0; d < PREFETCH; d++)
                if (step + d < UP(in)) {
                    multiply(from, in, step + d, s, b[d], sum);
                    if (step + d + PREFETCH < UP(in))
                        fetch(b[d], weights, in, out, group, step + d + PREFETCH, s->lane);
                }
        fetch_first(b, weights, in, out, group + s->step, s->lane);
        store(sum, out, group, s, to);
    }
}

/* `part` of `parts` that share the channels of the same pixels. */
NT_INLINE share share_of(int part, int parts)
{
    int warp = threadIdx.x / 32;
    share s;
    s.lane = threadIdx.x % 32;
    s.row = warp / WARPS_N * 16 * TILES;
    s.first = warp % WARPS_N + part * WARPS_N;
    s.step = WARPS_N * parts;
    return s;
}

/* ---- entries ------------------------------------------------------------------------------------------------------------- */

#if CLUSTER > 1
#define MEET() nt_cluster_wait()
#else
#define MEET() __syncthreads()
#endif

/* `area` pixels are an image. packed: the three convolutions' weights one after another. */
NT_ENTRY void __launch_bounds__(THREADS, MIN_BLOCKS)
    nt_chain3(const nt_elem *__restrict__ in, const uint4 *__restrict__ packed, nt_elem *__restrict__ out, int pixels,
              int area)
{
    NT_SHARED_TILES(tiles);
    const uint4 *second = packed + UP(C) * UP(K1) * 32, *third = second + UP(K1) * UP(K2) * 32;
    unsigned a = nt_shared_address(tiles), b = a + ROWS * LARGER(PITCH(C), PITCH(K2));
    int first = (int)blockIdx.x / CLUSTER * ROWS;
    uint4 ready[PREFETCH][BLOCKS];
    share s = share_of(CLUSTER > 1 ? (int)nt_cluster_rank() : 0, CLUSTER);
    target to1 = {b, 0, 0, 0, 0}, to2 = {a, 0, 0, 0, 0}, to3 = {0, out, first, pixels, area};
    load_pixels(in, C, first, pixels, area, a);
    fetch_first(ready, packed, C, K1, s.first, s.lane);
    nt_copy_wait(0);
    MEET();
    convolve(a, packed, C, K1, &s, &to1, ready);
    fetch_first(ready, second, K1, K2, s.first, s.lane);
    MEET();
    convolve(b, second, K1, K2, &s, &to2, ready);
    fetch_first(ready, third, K2, K, s.first, s.lane);
    MEET();
    convolve(a, third, K2, K, &s, &to3, ready);
}

#if CLUSTER == 1
/* One convolution of a chain of launches; the blocks along y share its channels. */
#define ONE(name, channels_in, channels_out)                                                                          \
    NT_ENTRY void __launch_bounds__(THREADS, MIN_BLOCKS)                                                              \
        name(const nt_elem *__restrict__ in, const uint4 *__restrict__ packed, nt_elem *__restrict__ out, int pixels, \
             int area, int parts)                                                                                     \
    {                                                                                                                 \
        NT_SHARED_TILES(tiles);                                                                                       \
        unsigned a = nt_shared_address(tiles);                                                                        \
        int first = (int)blockIdx.x * ROWS;                                                                           \
        uint4 ready[PREFETCH][BLOCKS];                                                                                \
        share s = share_of((int)blockIdx.y, parts);                                                                   \
        target to = {0, out, first, pixels, area};                                                                    \
        load_pixels(in, channels_in, first, pixels, area, a);                                                         \
        fetch_first(ready, packed, channels_in, channels_out, s.first, s.lane);                                       \
        nt_copy_wait(0);                                                                                              \
        __syncthreads();                                                                                              \
        convolve(a, packed, channels_in, channels_out, &s, &to, ready);                                               \
    }

ONE(nt_chain3_1, C, K1)
ONE(nt_chain3_2, K1, K2)
ONE(nt_chain3_3, K2, K)
#endif
