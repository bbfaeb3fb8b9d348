/* hopper.cuh: compute capability 9.0's copies of whole tiles (TMA), the barriers they complete, and clusters of blocks.
 * Comes after tensor_core.cuh.
 *
 * A tensor map describes a tensor in global memory and the box that one copy takes of it; the device makes it from the
 * plan (core/plan.h) for each set of buffers. Boxes are 128 bytes wide, and their rows land permuted as
 * nt_tile_descriptor expects. What lies outside the tensor arrives as zeros and counts as arrived.
 *
 * Addresses of shared memory are numbers (nt_shared_address). A barrier is 8 bytes; it passes from one phase to the next
 * when all its arrivals are there and all bytes announced have come. On the host a test's emulation stands in. */

#ifndef NT_HOST_EMULATION
typedef struct __align__(64) nt_tensor_map {
    unsigned long long word[16];
} nt_tensor_map;

/* A kernel's parameter that is a tensor map, and its address. */
#define NT_MAP(name)         const __grid_constant__ nt_tensor_map name
#define NT_MAP_ADDRESS(name) (&name)
typedef const nt_tensor_map *nt_map_address;

/* Dynamic shared memory whose rows of 128 bytes may be permuted. */
#define NT_SHARED_TILES(name) extern __shared__ __align__(1024) unsigned char name[]

NT_INLINE void nt_map_prefetch(nt_map_address map)
{
    asm volatile("prefetch.tensormap [%0];" ::"l"(map) : "memory");
}

/* ---- barriers ---- */

NT_INLINE void nt_barrier_init(unsigned barrier, unsigned arrivals)
{
    asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;" ::"r"(barrier), "r"(arrivals) : "memory");
}

/* After the last nt_barrier_init, before a barrier that makes all blocks of the cluster wait. */
NT_INLINE void nt_barrier_publish(void)
{
    asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
}

/* One arrival that also announces `bytes` of copies. */
NT_INLINE void nt_barrier_expect(unsigned barrier, unsigned bytes)
{
    asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(barrier), "r"(bytes) : "memory");
}

NT_INLINE void nt_barrier_arrive(unsigned barrier)
{
    asm volatile("mbarrier.arrive.shared::cta.b64 _, [%0];" ::"r"(barrier) : "memory");
}

/* The same at block `rank` of this cluster. */
NT_INLINE void nt_barrier_arrive_at(unsigned barrier, unsigned rank)
{
    asm volatile("{\n.reg .b32 there;\nmapa.shared::cluster.u32 there, %0, %1;\n"
                 "mbarrier.arrive.release.cluster.shared::cluster.b64 _, [there];\n}" ::"r"(barrier),
                 "r"(rank)
                 : "memory");
}

/* Waits until the phase of that parity is over. A fresh barrier is in phase 0, so waiting for parity 1 returns at once. */
NT_INLINE void nt_barrier_wait(unsigned barrier, unsigned parity)
{
    asm volatile("{\n.reg .pred done;\nagain:\n"
                 "mbarrier.try_wait.parity.shared::cta.b64 done, [%0], %1;\n@!done bra again;\n}" ::"r"(barrier),
                 "r"(parity)
                 : "memory");
}

/* The same after which another block's writes are seen (nt_barrier_arrive_at). */
NT_INLINE void nt_barrier_wait_cluster(unsigned barrier, unsigned parity)
{
    asm volatile("{\n.reg .pred done;\nagain:\n"
                 "mbarrier.try_wait.parity.acquire.cluster.shared::cta.b64 done, [%0], %1;\n@!done bra again;\n}" ::"r"(
                     barrier),
                 "r"(parity)
                 : "memory");
}

/* ---- copies: one thread starts one; `blocks` has a bit for each block of the cluster that receives it ---- */

/* A box of a matrix, at element x, then y, z, v along the outer dimensions. */
NT_INLINE void nt_copy_box(unsigned to, nt_map_address map, int x, int y, int z, int v, unsigned barrier)
{
    asm volatile("cp.async.bulk.tensor.4d.shared::cluster.global.tile.mbarrier::complete_tx::bytes [%0], "
                 "[%1, {%2, %3, %4, %5}], [%6];" ::"r"(to),
                 "l"(map), "r"(x), "r"(y), "r"(z), "r"(v), "r"(barrier)
                 : "memory");
}

NT_INLINE void nt_copy_box_to(unsigned to, nt_map_address map, int x, int y, int z, int v, unsigned barrier,
                              unsigned blocks)
{
    asm volatile("cp.async.bulk.tensor.4d.shared::cluster.global.tile.mbarrier::complete_tx::bytes.multicast::cluster "
                 "[%0], [%1, {%2, %3, %4, %5}], [%6], %7;" ::"r"(to),
                 "l"(map), "r"(x), "r"(y), "r"(z), "r"(v), "r"(barrier), "h"((unsigned short)blocks)
                 : "memory");
}

/* Pixels of images, one after another from (n, h, w) on, each read at (h + r, w + s); channels from c on. */
NT_INLINE void nt_copy_pixels(unsigned to, nt_map_address map, int c, int w, int h, int n, int s, int r,
                              unsigned barrier)
{
    asm volatile("cp.async.bulk.tensor.4d.shared::cluster.global.im2col.mbarrier::complete_tx::bytes [%0], "
                 "[%1, {%2, %3, %4, %5}], [%6], {%7, %8};" ::"r"(to),
                 "l"(map), "r"(c), "r"(w), "r"(h), "r"(n), "r"(barrier), "h"((unsigned short)s), "h"((unsigned short)r)
                 : "memory");
}

NT_INLINE void nt_copy_pixels_to(unsigned to, nt_map_address map, int c, int w, int h, int n, int s, int r,
                                 unsigned barrier, unsigned blocks)
{
    asm volatile("cp.async.bulk.tensor.4d.shared::cluster.global.im2col.mbarrier::complete_tx::bytes.multicast::cluster "
                 "[%0], [%1, {%2, %3, %4, %5}], [%6], {%7, %8}, %9;" ::"r"(to),
                 "l"(map), "r"(c), "r"(w), "r"(h), "r"(n), "r"(barrier), "h"((unsigned short)s), "h"((unsigned short)r),
                 "h"((unsigned short)blocks)
                 : "memory");
}

/* ---- clusters ---- */

NT_INLINE unsigned nt_cluster_rank(void)
{
    unsigned rank;
    asm volatile("mov.u32 %0, %%cluster_ctarank;" : "=r"(rank));
    return rank;
}

/* All threads of all blocks of the cluster; what they wrote to shared memory is seen by the others afterwards. */
NT_INLINE void nt_cluster_wait(void)
{
    asm volatile("barrier.cluster.arrive.release;\nbarrier.cluster.wait.acquire;" ::: "memory");
}

/* A word of shared memory of block `rank`. */
NT_INLINE unsigned nt_load_from(unsigned address, unsigned rank)
{
    unsigned word;
    asm volatile("{\n.reg .b32 there;\nmapa.shared::cluster.u32 there, %1, %2;\nld.shared::cluster.u32 %0, [there];\n}"
                 : "=r"(word)
                 : "r"(address), "r"(rank)
                 : "memory");
    return word;
}

NT_INLINE void nt_store_shared(unsigned address, unsigned word)
{
    asm volatile("st.shared.b32 [%0], %1;" ::"r"(address), "r"(word) : "memory");
}

/* The warps of one group of four alone. */
NT_INLINE void nt_group_wait(unsigned barrier, unsigned threads)
{
    asm volatile("bar.sync %0, %1;" ::"r"(barrier), "r"(threads) : "memory");
}
#endif
