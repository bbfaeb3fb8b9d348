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

/* ---- shared memory ---- */

static unsigned char *host_at(unsigned address, int bytes)
{
    unsigned block = address >> HOST_BLOCK_SHIFT, offset = address & HOST_OFFSET;
    host_check((int)block < host_together && (int)offset + bytes <= host_used && offset % (unsigned)bytes == 0,
               "%d bytes at shared address %u of block %u, which has %d", bytes, offset, block, host_used);
    return &host_shared[host_error[0] ? 0 : block][host_error[0] ? 0 : offset];
}

NT_INLINE unsigned nt_shared_address(const void *shared)
{
    size_t offset = (size_t)((const unsigned char *)shared - host_shared[0]);
    return (unsigned)(offset / HOST_SHARED << HOST_BLOCK_SHIFT | offset % HOST_SHARED);
}

NT_INLINE void nt_store_shared(unsigned address, unsigned word)
{
    memcpy(host_at(address, 4), &word, 4);
}

NT_INLINE unsigned nt_load_from(unsigned address, unsigned rank)
{
    unsigned word;
    memcpy(&word, host_at(host_address_at(address, rank), 4), 4);
    return word;
}

NT_INLINE unsigned nt_load_word(unsigned address)
{
    unsigned word;
    memcpy(&word, host_at(address, 4), 4);
    return word;
}

static void host_load_matrices(host_lane *lane)
{
    for (int m = 0; m < 4; m++) {
        unsigned banks = 0;
        for (int row = 0; row < 8; row++) {
            unsigned at = lane[m * 8 + row].in;
            banks |= 1u << at / 16 % 8;
            for (int word = 0; word < 4; word++)
                memcpy(&lane[row * 4 + word].out[m], host_at(at, 16) + word * 4, 4);
        }
        host_check(banks == 0xff, "bank conflict in ldmatrix");
    }
}

NT_INLINE void nt_load_matrices(unsigned word[4], unsigned address)
{
    host_now->in = address;
    host_meet_warp(host_load_matrices);
    memcpy(word, host_now->out, 16);
}

NT_INLINE unsigned nt_exchange(unsigned value, int lane_mask)
{
    host_now->in = value;
    host_meet_warp(NULL);
    unsigned got = host_lanes[(host_now - host_lanes) ^ lane_mask].in;
    host_meet_warp(NULL); /* nobody may bring a new value before all have taken this one */
    return got;
}

static void host_transpose_matrix(host_lane *lane)
{
    for (int row = 0; row < 8; row++)
        for (int column = 0; column < 8; column++)
            memcpy((char *)&lane[row * 4 + column / 2].out[0] + column % 2 * 2,
                   (const char *)&lane[column * 4 + row / 2].in + row % 2 * 2, 2);
}

NT_INLINE unsigned nt_transpose_matrix(unsigned word)
{
    host_now->in = word;
    host_meet_warp(host_transpose_matrix);
    return host_now->out[0];
}

NT_INLINE int nt_dot4(int sum, unsigned a, unsigned b)
{
    for (int e = 0; e < 4; e++)
        sum += (int)(signed char)(a >> 8 * e & 0xffu) * (int)(signed char)(b >> 8 * e & 0xffu);
    return sum;
}

/* ---- barriers and copies ---- */

static host_barrier *host_barrier_at(unsigned address)
{
    unsigned block = address >> HOST_BLOCK_SHIFT, at = address & HOST_OFFSET;
    host_at(address, 8);
    for (int i = 0; i < HOST_BARRIERS; i++)
        if (host_barriers[block][i].expected && host_barriers[block][i].at == at)
            return &host_barriers[block][i];
    host_check(false, "no barrier at shared address %u", at);
    return &host_barriers[block][0];
}

NT_INLINE void nt_barrier_init(unsigned barrier, unsigned arrivals)
{
    int i = 0;
    while (i < HOST_BARRIERS - 1 && host_barriers[host_now->block][i].expected)
        i++;
    host_at(barrier, 8);
    host_barriers[host_now->block][i] = (host_barrier){barrier & HOST_OFFSET, arrivals, arrivals, 0, 0};
}

NT_INLINE void nt_barrier_publish(void)
{
}

static void host_barrier_check(host_barrier *b)
{
    host_progress++;
    if (b->missing || b->bytes)
        return;
    b->missing = b->expected;
    b->phase++;
}

static void host_arrive(unsigned barrier)
{
    host_barrier *b = host_barrier_at(barrier);
    host_check(b->missing > 0, "more arrivals than a barrier has");
    b->missing--;
    host_barrier_check(b);
}

NT_INLINE void nt_barrier_expect(unsigned barrier, unsigned bytes)
{
    host_barrier_at(barrier)->bytes += (int)bytes;
    host_arrive(barrier);
}

NT_INLINE void nt_barrier_arrive(unsigned barrier)
{
    host_arrive(barrier);
}

NT_INLINE void nt_barrier_arrive_at(unsigned barrier, unsigned rank)
{
    host_arrive(host_address_at(barrier, rank));
}

/* Row `row` of a copied box, permuted as the map says; `from` NULL: zeros. Elements outside are zeros too. */
static void host_put_row(const host_copy *c, int row, const char *from, long long inside)
{
    unsigned at = c->to + (unsigned)row * 128;
    for (int unit = 0; unit < 8; unit++) {
        char bytes[16] = {0};
        for (int b = 0; b < 16 && from; b++)
            if (unit * 16 + b < inside)
                bytes[b] = from[unit * 16 + b];
        memcpy(host_at(at + ((unsigned)(unit ^ (at >> 7 & 7)) * 16), 16), bytes, 16);
    }
}

static const char *host_place(const nt_host_map *m, long long x, long long y, long long z, long long v)
{
    bool inside = y >= 0 && y < m->size[1] && z >= 0 && z < m->size[2] && v >= 0 && v < m->size[3];
    return inside
               ? m->base + x * m->elem_bytes + y * m->stride_bytes[1] + z * m->stride_bytes[2] + v * m->stride_bytes[3]
               : NULL;
}

static int host_box_rows(const nt_host_map *m)
{
    return m->images ? (int)m->box[1] : (int)(m->box[1] * m->box[2] * m->box[3]);
}

static void host_do_pixels(const host_copy *c, long long inside)
{
    const nt_host_map *m = c->map;
    long long w = c->x[1], h = c->x[2], n = c->x[3];
    for (int row = 0; row < (int)m->box[1]; row++) {
        host_put_row(c, row, host_place(m, c->x[0], w + c->s, h + c->r, n), inside);
        w += m->step[0];
        if (w > m->size[1] - 1 + m->upper[0]) {
            w = m->lower[0];
            h += m->step[1];
        }
        if (h > m->size[2] - 1 + m->upper[1]) {
            h = m->lower[1];
            n++;
        }
    }
}

static void host_do_copy(const host_copy *c)
{
    const nt_host_map *m = c->map;
    long long inside = (m->size[0] - c->x[0]) * m->elem_bytes;
    if (m->images)
        host_do_pixels(c, inside);
    else
        for (int row = 0; row < host_box_rows(m); row++)
            host_put_row(c, row,
                         host_place(m, c->x[0], c->x[1] + row % (int)m->box[1],
                                    c->x[2] + row / (int)m->box[1] % (int)m->box[2],
                                    c->x[3] + row / (int)(m->box[1] * m->box[2])),
                         inside);
    host_barrier *b = host_barrier_at(c->barrier);
    b->bytes -= host_box_rows(m) * 128;
    host_barrier_check(b);
}

static void host_copy_start(host_copy copy)
{
    const nt_host_map *m = copy.map;
    host_check((long long)m->box[0] * m->elem_bytes == 128 && copy.to % 1024 == 0, "a box of %u elements to address %u",
               m->box[0], copy.to);
    for (int i = 0; m->images && i < 2; i++) {
        long long from = copy.x[1 + i] - m->lower[i], last = m->size[1 + i] - 1 + m->upper[i];
        host_check(copy.x[3] >= m->size[3] || (from >= 0 && from % m->step[i] == 0 && copy.x[1 + i] <= last),
                   "pixel %d of dimension %d is none that a map steps to", copy.x[1 + i], i);
    }
    host_check(host_copies < HOST_COPIES, "too many copies under way");
    if (host_error[0])
        return;
    if (host_eager)
        host_do_copy(&copy);
    else
        host_copy_queue[host_copies++] = copy;
}

static void host_copy_to(host_copy copy, unsigned blocks)
{
    for (unsigned rank = 0; rank < HOST_CLUSTER; rank++)
        if (blocks >> rank & 1u) {
            host_check((int)rank < host_cluster, "block %u of a cluster of %d", rank, host_cluster);
            copy.to = host_address_at(copy.to, rank);
            copy.barrier = host_address_at(copy.barrier, rank);
            host_copy_start(copy);
        }
}

NT_INLINE void nt_copy_box(unsigned to, nt_map_address map, int x, int y, int z, int v, unsigned barrier)
{
    host_copy_start((host_copy){map, to, barrier, {x, y, z, v}, 0, 0});
}

NT_INLINE void nt_copy_box_to(unsigned to, nt_map_address map, int x, int y, int z, int v, unsigned barrier,
                              unsigned blocks)
{
    host_copy_to((host_copy){map, to, barrier, {x, y, z, v}, 0, 0}, blocks);
}

NT_INLINE void nt_copy_pixels(unsigned to, nt_map_address map, int c, int w, int h, int n, int s, int r,
                              unsigned barrier)
{
    host_copy_start((host_copy){map, to, barrier, {c, w, h, n}, s, r});
}

NT_INLINE void nt_copy_pixels_to(unsigned to, nt_map_address map, int c, int w, int h, int n, int s, int r,
                                 unsigned barrier, unsigned blocks)
{
    host_copy_to((host_copy){map, to, barrier, {c, w, h, n}, s, r}, blocks);
}

/* Copies that somebody waits for. */
static void host_finish_copies(unsigned barrier)
{
    int kept = 0;
    for (int i = 0; i < host_copies; i++) {
        host_copy copy = host_copy_queue[i];
        if (copy.barrier == barrier)
            host_do_copy(&copy);
        else
            host_copy_queue[kept++] = copy;
    }
    host_copies = kept;
}

NT_INLINE void nt_barrier_wait(unsigned barrier, unsigned parity)
{
    host_barrier *b = host_barrier_at(barrier);
    while ((b->phase & 1u) == parity && !host_error[0]) {
        host_finish_copies(barrier);
        if ((b->phase & 1u) == parity)
            host_yield();
    }
}

#define nt_barrier_wait_cluster nt_barrier_wait

/* ---- products ---- */

static float host_bits(unsigned bits)
{
    float x;
    memcpy(&x, &bits, 4);
    return x;
}

NT_INLINE float nt_bits_to_f32(unsigned bits)
{
    return host_bits(bits);
}

NT_INLINE unsigned nt_f32_to_bits(float x)
{
    unsigned bits;
    memcpy(&bits, &x, 4);
    return bits;
}

NT_INLINE unsigned nt_round_tf32(unsigned bits)
{
    return (bits + 0x1000u) & ~0x1fffu;
}

#if defined(NT_PRECISION_INT8) || defined(NT_PRECISION_FP8)
enum { HOST_ELEM = 1 };
#elif defined(NT_PRECISION_FP16) || defined(NT_PRECISION_BF16)
enum { HOST_ELEM = 2 };
#else
enum { HOST_ELEM = 4 };
#endif

static host_sum host_value(unsigned bits)
{
#if defined(NT_PRECISION_INT8)
    return (signed char)bits;
#elif defined(NT_PRECISION_FP8)
    int exponent = (int)(bits >> 3 & 15u), fraction = (int)(bits & 7u);
    float x = exponent ? (float)(8 + fraction) * host_bits((unsigned)(exponent - 10 + 127) << 23)
                       : (float)fraction * host_bits((unsigned)(-9 + 127) << 23);
    return bits & 0x80u ? -x : x;
#elif defined(NT_PRECISION_BF16)
    return host_bits(bits << 16);
#elif defined(NT_PRECISION_FP16)
    return nt_f16_to_f32((uint16_t)bits);
#else
    return host_bits(bits & ~0x1fffu);
#endif
}

/* Element k of a row of a tile: units are permuted by address bits 7 to 9. */
static host_sum host_tile_element(unsigned base, int row, int k)
{
    unsigned at = base + (unsigned)(row * 128 + k * HOST_ELEM), bits = 0;
    at ^= (at >> 7 & 7u) << 4;
    memcpy(&bits, host_at(at, HOST_ELEM), HOST_ELEM);
    return host_value(bits);
}

static host_sum host_a_element(const host_lane *lane, int row, int k)
{
    const host_product *p = &lane->product[0];
    if (!p->registers)
        return host_tile_element(p->a, row, k);
    const host_lane *holder = &lane[row / 16 * 32 + row % 8 * 4 + k % 4]; /* as in mma.sync, 32-bit elements */
    return host_value(holder->product[0].word[row / 8 % 2 + k / 4 * 2]);
}

/* A row of sparse a: stored elements 2 i and 2 i + 1 go where chunk i of the row's metadata says. */
static void host_sparse_row(const host_lane *lane, int row, host_sum *a)
{
    const host_product *p = &lane->product[0];
    memset(a, 0, 64 / HOST_ELEM * sizeof *a);
    for (int chunk = 0; chunk < 16 / HOST_ELEM; chunk++) {
        sparse_place place = sparse_place_of(HOST_ELEM, p->selector, row % 16, chunk * 4);
        unsigned bits = lane[row / 16 * 32 + place.lane].product[0].metadata >> place.bit & 15u;
        host_sum first = host_tile_element(p->a, row, 2 * chunk), second = host_tile_element(p->a, row, 2 * chunk + 1);
        host_check((bits & 3u) < bits >> 2 || (first == 0 && second == 0), "indices of a chunk do not ascend");
        a[chunk * 4 + (int)(bits & 3u)] = first;
        a[chunk * 4 + (int)(bits >> 2)] = second;
    }
}

/* The oldest product of 128 lanes. */
static void host_do_product(host_lane *lane)
{
    enum { MOST = 64 / HOST_ELEM };
    static host_sum b[WGMMA_N][MOST];
    int depth = lane->product[0].sparse ? MOST : MOST / 2;
    for (int column = 0; column < WGMMA_N; column++)
        for (int k = 0; k < depth; k++)
            b[column][k] = host_tile_element(lane->product[0].b, column, k);
    for (int row = 0; row < 64; row++) {
        host_sum a[MOST];
        if (lane->product[0].sparse)
            host_sparse_row(lane, row, a);
        else
            for (int k = 0; k < depth; k++)
                a[k] = host_a_element(lane, row, k);
        for (int column = 0; column < WGMMA_N; column++) {
            host_lane *holder = &lane[row / 16 * 32 + row % 8 * 4 + column % 8 / 2];
            host_sum *sum = &holder->product[0].sum[column / 8][row % 16 / 8 * 2 + column % 2];
            host_sum all = lane->product[0].adds ? *sum : 0;
            for (int k = 0; k < depth; k++)
                all += a[k] * b[column][k];
            *sum = all;
        }
    }
}

static void host_meet_products(int pending)
{
    host_lane *first = host_now - host_now->index.x % 128;
    host_meeting *meeting = &host_groups[host_now->group];
    host_meet(meeting, 128, NULL, NULL);
    while (host_now->products > 0 && host_now->product[0].group < host_now->committed - pending) {
        host_meet(meeting, 128, host_do_product, first);
        host_now->products--;
        memmove(host_now->product, host_now->product + 1, sizeof host_now->product - sizeof host_now->product[0]);
        host_meet(meeting, 128, NULL, NULL);
    }
}

static void host_multiply(host_product product)
{
    host_check(host_now->products < HOST_PRODUCTS, "too many wgmma under way");
    /* The permutation goes by the address, so a tile may begin at any row of one that is aligned; see shift.cu. */
    host_check(product.b % 1024 < 128 && (SHIFTED || product.a % 1024 < 128),
               "tiles of wgmma are aligned to 1024 bytes");
    if (host_error[0])
        return;
    product.group = host_now->committed;
    host_now->product[host_now->products++] = product;
    if (!host_eager)
        host_meet_products(-1);
}

NT_INLINE void nt_wgmma_into(host_sum sum[WGMMA_N / 8][4], unsigned a, unsigned b, unsigned adds)
{
    host_multiply((host_product){.sum = sum, .a = a, .b = b, .adds = adds});
}

NT_INLINE void nt_wgmma_registers(host_sum sum[WGMMA_N / 8][4], const unsigned a[4], unsigned b, unsigned adds)
{
    host_product product = {.sum = sum, .b = b, .adds = adds, .registers = true};
    memcpy(product.word, a, 16);
    host_multiply(product);
}

NT_INLINE void nt_wgmma_sparse(host_sum sum[WGMMA_N / 8][4], unsigned a, unsigned b, unsigned metadata, int selector,
                               unsigned adds)
{
    host_check(selector == 0 || HOST_ELEM == 2, "8-bit elements have selector 0");
    host_check(b % 128 <= 64, "64 bytes of b cross a row");
    host_multiply((host_product){
        .sum = sum, .a = a, .b = b, .adds = adds, .metadata = metadata, .sparse = true, .selector = selector});
}

NT_INLINE void nt_wgmma_begin(void)
{
}

NT_INLINE void nt_wgmma_commit(void)
{
    host_now->committed++;
}

NT_INLINE void nt_wgmma_wait(int pending)
{
    host_meet_products(pending);
}

NT_INLINE void nt_publish_shared(void)
{
}

NT_INLINE void nt_wgmma_sum_ready(host_sum *sum)
{
    (void)sum;
}

NT_INLINE unsigned short nt_f32_to_bf16(float x); /* prelude.cuh */

NT_INLINE unsigned nt_pack_2(float low, float high)
{
#if defined(NT_PRECISION_BF16)
    return nt_f32_to_bf16(low) | (unsigned)nt_f32_to_bf16(high) << 16;
#else
    return nt_f32_to_f16(low) | (unsigned)nt_f32_to_f16(high) << 16;
#endif
}

/* ---- mma.sync ---- */

#if defined(NT_PRECISION_FP16) || defined(NT_PRECISION_BF16)
/* PTX ISA, fragments of m16n8k16: a[0], a[2] are row l / 4, a[1], a[3] row l / 4 + 8; b is column l / 4; word l % 4 of
 * a row holds two elements, the second half of the row in the registers behind. */
static float host_fragment(const host_lane *quad, int first, int next, int k)
{
    unsigned bits = quad[k / 2 % 4].fragment[first + k / 8 * next];
    return host_value(k % 2 ? bits >> 16 : bits & 0xffffu);
}

static void host_mma(host_lane *lane)
{
    for (int row = 0; row < 16; row++)
        for (int column = 0; column < 8; column++) {
            float *sum = &lane[row % 8 * 4 + column / 2].fragment_sum[row / 8 * 2 + column % 2];
            for (int k = 0; k < 16; k++)
                *sum += host_fragment(lane + row % 8 * 4, row / 8, 2, k) * host_fragment(lane + column * 4, 4, 1, k);
        }
}

NT_INLINE void nt_mma(float sum[4], const unsigned a[4], const unsigned b[2])
{
    memcpy(host_now->fragment, a, 16);
    memcpy(host_now->fragment + 4, b, 8);
    memcpy(host_now->fragment_sum, sum, 16);
    host_meet_warp(host_mma);
    memcpy(sum, host_now->fragment_sum, 16);
}
#endif

static void host_do_unit(unsigned to, const void *from)
{
    if (from)
        memcpy(host_at(to, 16), from, 16);
    else
        memset(host_at(to, 16), 0, 16);
}

NT_INLINE void nt_copy_16(unsigned to, const void *from, bool valid)
{
    host_at(to, 16);
    host_check(!valid || (uintptr_t)from % 16 == 0, "copy from %p, misaligned", from);
    host_check(host_now->units < HOST_UNITS, "too many copies under way");
    if (host_error[0])
        return;
    if (host_eager) {
        host_do_unit(to, valid ? from : NULL);
        return;
    }
    int i = host_now->units++;
    host_now->unit[i].to = to;
    host_now->unit[i].from = valid ? from : NULL;
    host_now->unit[i].group = host_now->unit_group;
}

NT_INLINE void nt_copy_commit(void)
{
    host_now->unit_group++;
}

NT_INLINE void nt_copy_wait(int pending)
{
    int kept = 0;
    for (int i = 0; i < host_now->units; i++)
        if (host_now->unit[i].group < host_now->unit_group - pending)
            host_do_unit(host_now->unit[i].to, host_now->unit[i].from);
        else
            host_now->unit[kept++] = host_now->unit[i];
    host_now->units = kept;
}

NT_INLINE void nt_store_shared_8(unsigned address, unsigned x, unsigned y)
{
    const unsigned both[2] = {x, y};
    memcpy(host_at(address, 8), both, 8);
}

/* In block `rank` of the cluster. */
NT_INLINE void nt_store_shared_8_at(unsigned address, unsigned rank, unsigned x, unsigned y)
{
    nt_store_shared_8(host_address_at(address, rank), x, y);
}

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
