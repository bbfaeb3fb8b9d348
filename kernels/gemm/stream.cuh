/* stream.cuh: sums of a tile that several blocks computed (stream-K, place.cuh): each but the last puts its own into
 * the workspace, and the last adds them, always in the same order, and stores the tile. Comes after copy.cuh and
 * store.cuh.
 *
 * The workspace: a flag for each multiplying warp of each block, zero before the kernel starts; then, from a multiple
 * of 256 bytes on, a tile of sums for each block, which has at most one such piece. A thread's sums belong to the same
 * thread of the other block, so warps wait for warps, and for nothing else.
 *
 * A block waits only for blocks with lower numbers, which by then have put down or will put down their sums without
 * waiting for anybody: that ends as long as blocks with lower numbers start no later. */
#ifndef STREAM_K
#define STREAM_K 0
#endif

#if STREAM_K
#if PINGPONG || SPLIT_K > 1
#error "stream-K is for groups that share tiles and blocks that have whole reductions"
#endif
#define STREAM_SPACE unsigned *space,
#define STREAM_WARPS (4 * GROUPS)

#ifndef NT_HOST_EMULATION
/* What this thread, and those it has met, wrote before is seen by those who see the flag. */
NT_INLINE void nt_flag_raise(unsigned *flag)
{
    asm volatile("st.release.gpu.global.u32 [%0], %1;" ::"l"(flag), "r"(1u) : "memory");
}

NT_INLINE bool nt_flag_raised(const unsigned *flag)
{
    unsigned word;
    asm volatile("ld.acquire.gpu.global.u32 %0, [%1];" : "=r"(word) : "l"(flag) : "memory");
    return word != 0;
}
#endif

typedef struct __align__(16) nt_four
{
    nt_sum sum[4];
}
nt_four;

NT_INLINE unsigned *piece_flag(unsigned *space, int block)
{
    return space + block * STREAM_WARPS + threadIdx.x / 32;
}

/* This thread's sums in the tile of `block`, 128 x GROUPS apart. */
NT_INLINE nt_four *sums_of(unsigned *space, int block)
{
    long long flags = ((long long)gridDim.x * STREAM_WARPS + 63) / 64 * 64;
    return (nt_four *)(space + flags) + (long long)block * (TILE_M * TILE_N / 4) + threadIdx.x;
}

NT_INLINE void put_piece(nt_sum sum[M_TILES][N_TILES][4], unsigned *space)
{
    nt_four *to = sums_of(space, (int)blockIdx.x);
#pragma unroll
    for (int i = 0; i < M_TILES * N_TILES; i++) {
        nt_four own;
#pragma unroll
        for (int e = 0; e < 4; e++)
            own.sum[e] = sum[i / N_TILES][i % N_TILES][e];
        to[i * (GROUPS * 128)] = own;
    }
    __syncwarp();
    if (threadIdx.x % 32 == 0)
        nt_flag_raise(piece_flag(space, (int)blockIdx.x));
}

NT_INLINE void add_piece(nt_sum sum[M_TILES][N_TILES][4], unsigned *space, int block)
{
    const nt_four *from = sums_of(space, block);
    if (threadIdx.x % 32 == 0)
        while (!nt_flag_raised(piece_flag(space, block)))
            ;
    __syncwarp();
#pragma unroll
    for (int i = 0; i < M_TILES * N_TILES; i++) {
        nt_four other = from[i * (GROUPS * 128)];
#pragma unroll
        for (int e = 0; e < 4; e++)
            sum[i / N_TILES][i % N_TILES][e] += other.sum[e];
    }
}

/* The sums of those who had the steps of a tile before `piece`, from the first to the last; `share` is the caller's. */
NT_INLINE void add_pieces(nt_sum sum[M_TILES][N_TILES][4], unsigned *space, const nt_share *share,
                          const nt_piece *piece, int tiles)
{
    int own = (int)blockIdx.x / CLUSTER, from = (piece->tile - share->whole) * share->steps;
    int shared = (tiles - share->whole) * share->steps, first = nt_share_first(own, share->sharers, shared, from);
    for (int i = first; i < own; i++)
        add_piece(sum, space, i * CLUSTER + (int)blockIdx.x % CLUSTER);
}
#else
#define STREAM_SPACE
#endif
