/* hopper_emulation.h: runs kernels of compute capability 9.0 on the host, lane by lane, cluster by cluster: copies of
 * boxes of tensors, the barriers they complete, wgmma, mma.sync, and blocks that read and write each other's shared
 * memory.
 *
 * A test compiles kernel text with this file in front into a shared object and calls nt_host_run. Each lane is a
 * coroutine. Copies happen at once (`eager`: a tile overwritten too early shows) or only when somebody waits for them
 * (one read too early shows); products the other way round. Shared memory starts as NaN; addresses, arrivals and bytes
 * of barriers are checked; lanes that wait for ever are found.
 *
 * Clusters run one after another, or with STREAM_K, whose blocks wait for each other, together: a turn each (`eager`),
 * or from the last to the first each until it waits for another, which is the most that blocks can have to wait.
 * Whoever waits for a flag goes on as soon as it is raised. */
#ifndef NT_TEST_HOPPER_EMULATION_H
#define NT_TEST_HOPPER_EMULATION_H

#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <ucontext.h>

#include "host_map.h"
#include "sparse_layout.h"

#define NT_HOST_EMULATION 1
#define NT_ENTRY
#define NT_INLINE static inline __attribute__((unused))
#define __align__(bytes)
#define __launch_bounds__(...)
#define NT_SHARED_TILES(name) unsigned char *name = host_shared[host_now->block]
#define NT_SHARED(type, name) type *name = (type *)host_shared[host_now->block]
#ifndef WGMMA_N
#define WGMMA_N 8
#endif
#define NT_MAP(name)         const nt_host_map *name
#define NT_MAP_ADDRESS(name) (name)
typedef const nt_host_map *nt_map_address;
#ifndef SHIFTED
#define SHIFTED 0
#endif
#ifndef STREAM_K
#define STREAM_K 0
#endif
#define make_uint4(a, b, c, d) ((uint4){a, b, c, d})

enum {
    HOST_THREADS = 512,
    HOST_CLUSTER = 8, /* and blocks that run at once */
    HOST_STACK = 64 * 1024,
    HOST_SHARED = 232448,
    HOST_BARRIERS = 96,
    HOST_PRODUCTS = 64,
    HOST_COPIES = 256,
    HOST_UNITS = 256,
    HOST_BLOCK_SHIFT = 20, /* a shared address is the block's rank above, the offset below */
    HOST_OFFSET = (1 << HOST_BLOCK_SHIFT) - 1
};

#ifdef NT_PRECISION_INT8
typedef int host_sum;
#else
typedef float host_sum;
#endif
typedef struct {
    unsigned x, y, z, w;
} uint4;
typedef struct {
    float x, y, z, w;
} float4;
typedef struct {
    float x, y;
} float2;
typedef struct {
    unsigned x, y;
} uint2;
typedef struct {
    unsigned x, y, z;
} host_dim;

extern float nt_f16_to_f32(uint16_t bits);
extern uint16_t nt_f32_to_f16(float x);

typedef struct host_product {
    host_sum (*sum)[4];
    unsigned a, b, adds, word[4], metadata;
    bool registers, sparse;
    int selector;
    int group;
} host_product;

typedef struct host_lane {
    ucontext_t context;
    host_dim index;
    int block, warp, group; /* count through all that run at once */
    bool done;
    host_product product[HOST_PRODUCTS]; /* oldest first */
    int products, committed;
    unsigned in, out[4];
    unsigned fragment[6]; /* of mma.sync: a, b and sums */
    float fragment_sum[4];
    struct {
        unsigned to;
        const void *from; /* NULL: zeros */
        int group;
    } unit[HOST_UNITS]; /* copies of 16 bytes under way, oldest first */
    int units, unit_group;
    char stack[HOST_STACK];
} host_lane;

typedef struct host_meeting {
    int arrived, round;
} host_meeting;

typedef struct host_barrier {
    unsigned at, expected, missing, phase;
    int bytes; /* announced and not yet there */
} host_barrier;

typedef struct host_copy {
    nt_map_address map;
    unsigned to, barrier;
    int x[4], s, r;
} host_copy;

static unsigned char host_shared[HOST_CLUSTER][HOST_SHARED] __attribute__((aligned(1024)));
static host_lane *host_lanes, *host_now;
static int host_threads, host_cluster, host_together, host_used, host_copies;
static host_meeting host_warps[HOST_CLUSTER * HOST_THREADS / 32], host_groups[HOST_CLUSTER * 4];
static host_meeting host_blocks[HOST_CLUSTER], host_named[HOST_CLUSTER], host_clusters[HOST_CLUSTER];
static host_barrier host_barriers[HOST_CLUSTER][HOST_BARRIERS];
static host_copy host_copy_queue[HOST_COPIES];
static ucontext_t host_main;
static bool host_eager, host_turn_over;
static unsigned long host_progress;
static const uint64_t *host_args;
static void *host_entry;
static char host_error[256];
static host_dim blockIdx_of[HOST_CLUSTER], gridDim;
#define threadIdx (host_now->index)
#define blockIdx  (blockIdx_of[host_now->block])

#define host_check(condition, ...)                                \
    do {                                                          \
        if (!(condition) && !host_error[0])                       \
            snprintf(host_error, sizeof host_error, __VA_ARGS__); \
    } while (0)

static void host_yield(void)
{
    swapcontext(&host_now->context, &host_main);
}

/* Waits for `count` lanes; the last one does `act`. */
static void host_meet(host_meeting *meeting, int count, void (*act)(host_lane *first), host_lane *first)
{
    int round = meeting->round;
    host_progress++;
    if (++meeting->arrived == count) {
        if (act)
            act(first);
        meeting->arrived = 0;
        meeting->round++;
        return;
    }
    while (meeting->round == round)
        host_yield();
}

static void host_meet_warp(void (*act)(host_lane *first))
{
    host_meet(&host_warps[host_now->warp], 32, act, host_now - host_now->index.x % 32);
}

static void __syncthreads(void)
{
    host_meet(&host_blocks[host_now->block], host_threads, NULL, NULL);
}

static void nt_cluster_wait(void)
{
    host_meet(&host_clusters[host_now->block / host_cluster], host_threads * host_cluster, NULL, NULL);
}

static void nt_group_wait(unsigned barrier, unsigned threads)
{
    host_check(barrier > 0, "barrier 0 is __syncthreads");
    host_meet(&host_named[host_now->block], (int)threads, NULL, NULL);
}

NT_INLINE unsigned nt_cluster_rank(void)
{
    return (unsigned)(host_now->block % host_cluster);
}

/* The same place in block `rank` of this lane's cluster. */
static unsigned host_address_at(unsigned address, unsigned rank)
{
    unsigned first = (unsigned)(host_now->block / host_cluster * host_cluster);
    return (address & HOST_OFFSET) | (first + rank) << HOST_BLOCK_SHIFT;
}

static void __syncwarp(void)
{
    host_meet_warp(NULL);
}

/* ---- flags in global memory that blocks wait for ---- */

int nt_host_flag_waits; /* turns that lanes waited */

/* Those who wait go on before this lane and all others of its cluster do. */
NT_INLINE void nt_flag_raise(unsigned *flag)
{
    host_check(*flag == 0, "a flag is raised that was not cleared");
    *flag = 1;
    host_progress++;
    host_turn_over = true;
    host_yield();
}

NT_INLINE bool nt_flag_raised(const unsigned *flag)
{
    host_check(*flag <= 1, "a flag is read that was not cleared");
    if (*flag || host_error[0])
        return true;
    nt_host_flag_waits++;
    host_yield();
    return false;
}

#include "hopper_copies.h"
#include "host_bits.h"
#include "hopper_products.h"

/* ---- running ---- */

typedef void (*host_function)(uint64_t, uint64_t, uint64_t, uint64_t, uint64_t, uint64_t, uint64_t, uint64_t, uint64_t,
                              uint64_t, uint64_t, uint64_t, uint64_t, uint64_t, uint64_t, uint64_t);

/* Integers and pointers travel alike in the calling conventions of the hosts that run this. */
static void host_start(void)
{
    const uint64_t *a = host_args;
    ((host_function)host_entry)(a[0], a[1], a[2], a[3], a[4], a[5], a[6], a[7], a[8], a[9], a[10], a[11], a[12], a[13],
                                a[14], a[15]);
    host_check(host_now->products == 0, "a lane ends with products under way");
    host_now->done = true;
    host_progress++;
    host_yield();
}

static void host_start_lanes(unsigned first_block)
{
    memset(host_shared, 0xff, sizeof host_shared);
    memset(host_barriers, 0, sizeof host_barriers);
    host_copies = 0;
    for (int i = 0; i < host_threads * host_together; i++) {
        host_lane *lane = &host_lanes[i];
        int block = i / host_threads, thread = i % host_threads;
        lane->index = (host_dim){(unsigned)thread, 0, 0};
        lane->block = block;
        lane->warp = block * (HOST_THREADS / 32) + thread / 32;
        lane->group = block * 4 + thread / 128;
        lane->done = false;
        lane->products = lane->committed = lane->units = lane->unit_group = 0;
        unsigned number = first_block + (unsigned)block;
        blockIdx_of[block] =
            (host_dim){number % gridDim.x, number / gridDim.x % gridDim.y, number / gridDim.x / gridDim.y};
        getcontext(&lane->context);
        lane->context.uc_stack.ss_sp = lane->stack;
        lane->context.uc_stack.ss_size = sizeof lane->stack;
        lane->context.uc_link = NULL;
        makecontext(&lane->context, host_start, 0);
    }
}

/* All lanes of a cluster, one after another, each until it waits; returns how many are left. */
static int host_turn(int cluster)
{
    int all = host_threads * host_cluster, left = 0;
    host_turn_over = false;
    for (int i = 0; i < all; i++) {
        host_lane *lane = &host_lanes[cluster * all + i];
        if (!lane->done && !host_turn_over) {
            host_now = lane;
            swapcontext(&host_main, &lane->context);
        }
        left += !lane->done;
    }
    return left;
}

/* Turns of a cluster until all its lanes wait for another, or a flag is raised. */
static int host_turns(int cluster)
{
    unsigned long before;
    int left;
    do {
        before = host_progress;
        left = host_turn(cluster);
    } while (left > 0 && host_progress != before && !host_turn_over && !host_error[0]);
    return left;
}

static bool host_run_together(unsigned first_block)
{
    int left = 1, clusters = host_together / host_cluster;
    host_start_lanes(first_block);
    while (left > 0 && !host_error[0]) {
        unsigned long before = host_progress;
        left = 0;
        for (int i = 0; i < clusters; i++) {
            left += host_eager ? host_turn(i) : host_turns(clusters - 1 - i);
            if (host_turn_over && !host_eager) { /* those who wait for the flag go on first */
                left = 1;
                break;
            }
        }
        host_check(left == 0 || host_progress != before, "lanes wait for each other for ever");
    }
    host_check(host_copies == 0, "a block ends with %d copies under way", host_copies);
    return !host_error[0];
}

/* Runs a grid; returns NULL, or what went wrong. */
const char *nt_host_run(void *entry, const uint64_t args[16], const uint32_t grid[3], uint32_t cluster,
                        uint32_t threads, uint32_t shared_bytes, bool eager)
{
    host_entry = entry;
    host_args = args;
    host_threads = (int)threads;
    host_cluster = (int)cluster;
    host_used = (int)shared_bytes;
    host_eager = eager;
    host_error[0] = '\0';
    uint32_t blocks = grid[0] * grid[1] * grid[2];
    host_together = (int)(STREAM_K && blocks <= HOST_CLUSTER ? blocks : cluster);
    gridDim = (host_dim){grid[0], grid[1], grid[2]};
    host_check(threads <= HOST_THREADS && cluster <= HOST_CLUSTER && shared_bytes <= HOST_SHARED &&
                   blocks % cluster == 0,
               "a launch of %u threads, cluster %u, %u bytes", threads, cluster, shared_bytes);
    host_lanes = calloc((size_t)threads * (size_t)host_together, sizeof *host_lanes);
    bool ok = host_lanes != NULL && !host_error[0];
    for (uint32_t block = 0; ok && block < blocks; block += (uint32_t)host_together)
        ok = host_run_together(block);
    free(host_lanes);
    return ok ? NULL : host_error;
}

#endif
