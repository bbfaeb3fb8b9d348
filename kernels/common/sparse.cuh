/* sparse.cuh: products whose first operand is 2:4 sparse (weights): of each four elements that follow each other in a row
 * two are stored, and 2 bits for each say where they were. Comes after tensor_core.cuh; mma.sp needs compute capability
 * 8.0, wgmma.sp 9.0a. On the host a test's emulation stands in.
 *
 * One step is 32 bytes of stored elements, 64 of what they stand for and of the other operand, whatever the type: 32
 * halves or 64 bytes. Where metadata lies (PTX ISA, fragments for sparse mma and wgmma): a warp has 16 rows; lane l, with
 * g = l / 4, holds a 32-bit word of 4 bits a group of four, the lower index in the lower two, groups from the lowest bits up.
 *   16-bit elements: rows g (low half) and g + 8 (high half), 16 elements each, from 16 (l % 2) on. A row of a step needs
 *                    two lanes; the selector says which pair of each quad of lanes, so one word serves two steps.
 *   8-bit elements:  row g + 8 (l % 2), 32 elements from 32 (l / 2 % 2) on. The selector is 0.
 *
 * Packed weights are cut into blocks of 64 filters x 128 stored bytes, four steps. First come all stored elements,
 * [filters][blocks of channels x 128 bytes], then metadata, [blocks of channels][blocks of filters][words][128 lanes]. */

#ifdef NT_PRECISION_INT8
#define SPARSE_WORDS 4 /* words of metadata of a lane and block */
#else
#define SPARSE_WORDS 2
#endif
#define SPARSE_BYTES   (SPARSE_WORDS * 512)           /* metadata of a block */
#define SPARSE_DENSE_K (256 / (int)sizeof(nt_elem))   /* elements that a row of a block stands for */
#define SPARSE_STEPS   (4 / SPARSE_WORDS)             /* steps that share a word */

#ifndef NT_HOST_EMULATION
NT_INLINE unsigned nt_load_word(unsigned address)
{
    unsigned word;
    asm volatile("ld.shared.b32 %0, [%1];" : "=r"(word) : "r"(address) : "memory");
    return word;
}

#ifdef NT_PRECISION_INT8
#define NT_SPARSE_SUM "+r"
#else
#define NT_SPARSE_SUM "+f"
#endif

#if __CUDACC_VER_MAJOR__ * 100 + __CUDACC_VER_MINOR__ >= 1205
#define NT_MMA_SPARSE "mma.sp::ordered_metadata.sync.aligned." /* indices ascend */
#else
#define NT_MMA_SPARSE "mma.sp.sync.aligned."
#endif
#if defined(NT_PRECISION_INT8)
#define NT_MMA_SPARSE_TYPE "m16n8k64.row.col.s32.s8.s8.s32 "
#elif defined(NT_PRECISION_BF16)
#define NT_MMA_SPARSE_TYPE "m16n8k32.row.col.f32.bf16.bf16.f32 "
#else
#define NT_MMA_SPARSE_TYPE "m16n8k32.row.col.f32.f16.f16.f32 "
#endif

#define NT_MMA_SPARSE_WITH(selector)                                                                                     \
    asm volatile(NT_MMA_SPARSE NT_MMA_SPARSE_TYPE                                                                        \
                 "{%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9, %10, %11}, {%0, %1, %2, %3}, %12, " selector ";"          \
                 : NT_SPARSE_SUM(sum[0]), NT_SPARSE_SUM(sum[1]), NT_SPARSE_SUM(sum[2]), NT_SPARSE_SUM(sum[3])            \
                 : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]), "r"(b[2]), "r"(b[3]), "r"(metadata))

/* sum += a (16 rows x 32 stored bytes, as in nt_mma) times b (8 columns x 64 bytes: word i is 16 bytes further on).
 * `selector` is a constant. */
NT_INLINE void nt_mma_sparse(nt_sum sum[4], const unsigned a[4], const unsigned b[4], unsigned metadata, int selector)
{
    if (selector)
        NT_MMA_SPARSE_WITH("1");
    else
        NT_MMA_SPARSE_WITH("0");
}

#if WGMMA_N
#if defined(NT_PRECISION_INT8)
#define NT_WGMMA_SPARSE_TYPE "k64.s32.s8.s8 "
#elif defined(NT_PRECISION_BF16)
#define NT_WGMMA_SPARSE_TYPE "k32.f32.bf16.bf16 "
#else
#define NT_WGMMA_SPARSE_TYPE "k32.f32.f16.f16 "
#endif
#define NT_SPARSE_TEXT(a, b, metadata, selector, adds)                                                                \
    "{\n.reg .pred p;\nsetp.ne.u32 p, " adds ", 0;\nwgmma.mma_async.sp.sync.aligned." NT_WGMMA_SHAPE                  \
        NT_WGMMA_SPARSE_TYPE "{" NT_WGMMA_NAMES "}, " a ", " b ", " metadata ", " selector NT_WGMMA_TAIL
#define NT_SPARSE_FIRST(a, b, metadata, adds, x, y)  NT_SPARSE_TEXT(a, b, metadata, "0", adds)
#define NT_SPARSE_SECOND(a, b, metadata, adds, x, y) NT_SPARSE_TEXT(a, b, metadata, "1", adds)
#define NT_WGMMA_SPARSE_WITH(form)                                                                 \
    asm volatile(NT_WITH(form, NT_WGMMA_OPERANDS)                                                  \
                 : NT_WGMMA_SUMS                                                                   \
                 : "l"(nt_tile_descriptor(a)), "l"(nt_tile_descriptor(b)), "r"(metadata), "r"(adds) \
                 : "memory")

/* sum = (adds ? sum : 0) + a (64 rows x 32 stored bytes) times b (WGMMA_N rows x 64 bytes), as nt_wgmma_into. Each warp's
 * metadata is of its own 16 rows. `selector` is a constant. */
NT_INLINE void nt_wgmma_sparse(nt_sum sum[WGMMA_N / 8][4], unsigned a, unsigned b, unsigned metadata, int selector,
                               unsigned adds)
{
    if (selector)
        NT_WGMMA_SPARSE_WITH(NT_SPARSE_SECOND);
    else
        NT_WGMMA_SPARSE_WITH(NT_SPARSE_FIRST);
}
#endif
#endif

/* ---- packing ---- */

NT_INLINE int nt_magnitude(nt_elem x)
{
#ifdef NT_PRECISION_INT8
    return x < 0 ? -x : x;
#else
    return x & 0x7fff; /* bits of floats without a sign ascend like the floats */
#endif
}

/* Indices of the two of four elements that stay, the lower one first: the largest, of equal ones the earlier. */
NT_INLINE void nt_choose_two(const nt_elem x[4], int *first, int *second)
{
    int kept = 0;
    for (int i = 0; i < 4; i++) {
        int before = 0;
        for (int j = 0; j < 4; j++)
            before += nt_magnitude(x[j]) > nt_magnitude(x[i]) || (j < i && nt_magnitude(x[j]) == nt_magnitude(x[i]));
        if (before < 2)
            *(kept++ == 0 ? first : second) = i;
    }
}

/* The groups of four of a row from element k on that make 16 stored bytes: stores two of each, returns metadata. What lies
 * outside the weights counts as 0. */
NT_INLINE unsigned nt_pack_groups(const nt_elem *weight, nt_elem *stored, int row, int k, int filters, int channels,
                                  int stored_pitch)
{
    unsigned bits = 0;
    for (int group = 0; group < 8 / (int)sizeof(nt_elem); group++) {
        nt_elem x[4] = {0, 0, 0, 0};
        int first = 0, second = 1, at = k + 4 * group;
        for (int e = 0; e < 4 && row < filters; e++)
            if (at + e < channels)
                x[e] = weight[(long long)row * channels + at + e];
        nt_choose_two(x, &first, &second);
        bits |= (unsigned)(first | second << 2) << (4 * group);
        if (row < filters) {
            stored[(long long)row * stored_pitch + at / 2] = x[first];
            stored[(long long)row * stored_pitch + at / 2 + 1] = x[second];
        }
    }
    return bits;
}

/* Once for each set of weights: a thread a word of metadata, and the elements that it speaks of. */
NT_ENTRY void __launch_bounds__(256) nt_pack_sparse(const nt_elem *weight, nt_elem *stored, unsigned *metadata,
                                                    int filters, int channels, int filter_blocks, int channel_blocks)
{
    int i = blockIdx.x * 256 + threadIdx.x, lane = i % 32, warp = i / 32 % 4, word = i / 128 % SPARSE_WORDS;
    int block = i / (128 * SPARSE_WORDS), pitch = channel_blocks * (SPARSE_DENSE_K / 2);
    if (block >= filter_blocks * channel_blocks)
        return;
    int row = block % filter_blocks * 64 + warp * 16 + lane / 4, k = block / filter_blocks * SPARSE_DENSE_K;
#ifdef NT_PRECISION_INT8
    metadata[i] = nt_pack_groups(weight, stored, row + lane % 2 * 8, k + word * 64 + lane % 4 / 2 * 32, filters, channels,
                                 pitch);
#else
    k += (word * 2 + lane % 4 / 2) * 32 + lane % 2 * 16;
    metadata[i] = nt_pack_groups(weight, stored, row, k, filters, channels, pitch) |
                  nt_pack_groups(weight, stored, row + 8, k, filters, channels, pitch) << 16;
#endif
}
