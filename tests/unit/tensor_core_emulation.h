/* tensor_core_emulation.h: runs a tensor-core kernel's source on the host, lane by lane, so that its indexing is tested
 * without a GPU.
 *
 * A test compiles kernel text with this file in front (-include) into a shared object and calls nt_host_run. Each lane
 * is a coroutine; warp-wide instructions and barriers wait for the others. Warps run one after another as far as they
 * can, and asynchronous copies happen at once (`eager`: a tile overwritten too early shows) or only when they are
 * waited for (a tile read too early shows). Addresses are checked, shared memory starts as NaN, ldmatrix must be free
 * of bank conflicts. The conversions nt_f16_to_f32 and nt_f32_to_f16 come from the program that loads the object. */
#ifndef NT_TEST_TENSOR_CORE_EMULATION_H
#define NT_TEST_TENSOR_CORE_EMULATION_H

#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <ucontext.h>

#include "sparse_layout.h"

#define NT_HOST_EMULATION 1
#define NT_ENTRY
#define NT_INLINE static inline __attribute__((unused))
#define __shared__
#define __align__(bytes)
#define __launch_bounds__(...)
#define tiles nt_host_shared /* the kernel's name for dynamic shared memory */

enum {
    HOST_MAX_THREADS = 512,
    HOST_STACK_BYTES = 64 * 1024,
    HOST_SHARED_BYTES = 228 * 1024,
    HOST_MAX_COPIES = 512,
    HOST_MAX_PRODUCTS = 32
};

typedef struct {
    float x, y;
} float2;
typedef struct {
    float x, y, z, w;
} float4;
typedef struct {
    unsigned x, y;
} uint2;
typedef struct {
    unsigned x, y, z, w;
} uint4;
typedef struct {
    unsigned x, y, z;
} host_dim;

extern float nt_f16_to_f32(uint16_t bits);
extern uint16_t nt_f32_to_f16(float x);

#ifdef NT_PRECISION_INT8
typedef int host_sum;
#else
typedef float host_sum;
#endif

typedef struct host_copy {
    unsigned to;
    const void *from; /* NULL: zeros */
    int group;
} host_copy;

typedef struct host_lane {
    ucontext_t context;
    char stack[HOST_STACK_BYTES];
    host_dim index;
    bool done;
    host_copy copy[HOST_MAX_COPIES]; /* under way, oldest first */
    int copies, group;
    struct {
        float (*sum)[4];
        unsigned a, b;
        int group;
    } product[HOST_MAX_PRODUCTS]; /* wgmma under way, oldest first */
    int products, product_group;
    unsigned in[10]; /* what the lane brings to a warp-wide instruction, and takes away */
    float sum[4];
    host_sum sparse_sum[4];
    unsigned out[4];
} host_lane;

typedef struct host_meeting { /* lanes that wait for each other */
    int arrived, round;
} host_meeting;

unsigned char nt_host_shared[HOST_SHARED_BYTES] __attribute__((aligned(1024)));
static host_lane *host_lanes, *host_now;
static int host_threads, host_shared_used;
static host_meeting host_warp[HOST_MAX_THREADS / 32], host_warps[HOST_MAX_THREADS / 128], host_block;
static ucontext_t host_main;
static bool host_eager;
static const uint64_t *host_args;
static void *host_entry;
static struct {
    const char *begin, *end;
} host_range[4];
static int host_ranges;
static char host_error[256];
static host_dim blockIdx, gridDim, blockDim;
#define threadIdx (host_now->index)

#define host_check(condition, ...)                                \
    do {                                                          \
        if (!(condition) && !host_error[0])                       \
            snprintf(host_error, sizeof host_error, __VA_ARGS__); \
    } while (0)

static void host_yield(void)
{
    swapcontext(&host_now->context, &host_main);
}

/* Waits for `count` lanes, 32 or more; the last one does `act` for all of them. */
static void host_meet(host_meeting *meeting, int count, void (*act)(host_lane *first))
{
    int round = meeting->round;
    if (++meeting->arrived == count) {
        if (act)
            act(&host_lanes[host_now->index.x / (unsigned)count * (unsigned)count]);
        meeting->arrived = 0;
        meeting->round++;
        return;
    }
    while (meeting->round == round)
        host_yield();
}

static void host_meet_warp(void (*act)(host_lane *first))
{
    host_meet(&host_warp[host_now->index.x / 32], 32, act);
}

static void __syncthreads(void)
{
    host_meet(&host_block, host_threads, NULL);
}

/* ---- asynchronous copies ------------------------------------------------------------------------------------ */

static void host_do_copy(const host_copy *copy)
{
    if (copy->from)
        memcpy(nt_host_shared + copy->to, copy->from, 16);
    else
        memset(nt_host_shared + copy->to, 0, 16);
}

static bool host_in_range(const void *from, int bytes)
{
    for (int i = 0; i < host_ranges; i++)
        if ((const char *)from >= host_range[i].begin && (const char *)from + bytes <= host_range[i].end)
            return true;
    return false;
}

static bool host_shared_valid(unsigned at)
{
    host_check(at % 16 == 0 && (int)at + 16 <= host_shared_used, "shared address %u of %d", at, host_shared_used);
    return !host_error[0];
}

NT_INLINE void nt_copy_16(unsigned to, const void *from, bool valid)
{
    if (!host_shared_valid(to))
        return;
    host_check(!valid || (host_in_range(from, 16) && (uintptr_t)from % 16 == 0),
               "copy from %p, outside the tensors or misaligned", from);
    host_check(host_now->copies < HOST_MAX_COPIES, "too many copies under way");
    if (host_error[0])
        return;
    host_copy copy = {to, valid ? from : NULL, host_now->group};
    if (host_eager)
        host_do_copy(&copy);
    else
        host_now->copy[host_now->copies++] = copy;
}

#define nt_copy_16_l1 nt_copy_16

NT_INLINE void nt_copy_commit(void)
{
    host_now->group++;
}

NT_INLINE void nt_copy_wait(int pending)
{
    int kept = 0;
    for (int i = 0; i < host_now->copies; i++)
        if (host_now->copy[i].group < host_now->group - pending)
            host_do_copy(&host_now->copy[i]);
        else
            host_now->copy[kept++] = host_now->copy[i];
    host_now->copies = kept;
}

NT_INLINE void nt_store_shared_16(unsigned to, const unsigned word[4])
{
    if (host_shared_valid(to))
        memcpy(nt_host_shared + to, word, 16);
}

NT_INLINE unsigned nt_shared_address(const void *shared)
{
    return (unsigned)((const unsigned char *)shared - nt_host_shared);
}

#include "tensor_core_warp.h"

/* ---- four warps together ---------------------------------------------------------------------------------------- */

#if WGMMA_N
/* Element k of a row of a tile whose first row and mma step are at `base`: units are permuted by address bits 7 to 9.
 */
static float host_tile_element(unsigned base, int row, int k)
{
    unsigned at = base + (unsigned)(row * 128 + k * 4 / HOST_PER_WORD);
    at ^= (at >> 7 & 7u) << 4;
    unsigned bits = 0;
    if (!host_shared_valid(at & ~15u))
        return 0;
    memcpy(&bits, nt_host_shared + at, 4 / HOST_PER_WORD);
#if defined(NT_PRECISION_TF32)
    return host_bits(bits & ~0x1fffu);
#elif defined(NT_PRECISION_BF16)
    return host_bits(bits << 16);
#else
    return nt_f16_to_f32((uint16_t)bits);
#endif
}

/* The oldest product of 128 lanes. */
static void host_do_product(host_lane *lane)
{
    enum { DEPTH = 8 * HOST_PER_WORD };
    static float b[WGMMA_N][DEPTH];
    for (int column = 0; column < WGMMA_N; column++)
        for (int k = 0; k < DEPTH; k++)
            b[column][k] = host_tile_element(lane->product[0].b, column, k);
    for (int row = 0; row < 64; row++) {
        float a[DEPTH];
        for (int k = 0; k < DEPTH; k++)
            a[k] = host_tile_element(lane->product[0].a, row, k);
        for (int column = 0; column < WGMMA_N; column++) {
            host_lane *holder = &lane[row / 16 * 32 + row % 8 * 4 + column % 8 / 2];
            float *sum = &holder->product[0].sum[column / 8][row % 16 / 8 * 2 + column % 2];
            for (int k = 0; k < DEPTH; k++)
                *sum += a[k] * b[column][k];
        }
    }
}

/* Everybody has the same products, so what the first lane has decides; lanes drop theirs afterwards. */
static void host_meet_products(int pending)
{
    host_lane *first = &host_lanes[host_now->index.x / 128 * 128];
    host_meeting *meeting = &host_warps[host_now->index.x / 128];
    host_meet(meeting, 128, NULL);
    while (first->products > 0 && host_now->products > 0 &&
           host_now->product[0].group < host_now->product_group - pending) {
        host_meet(meeting, 128, host_do_product);
        host_now->products--;
        memmove(host_now->product, host_now->product + 1, sizeof host_now->product - sizeof host_now->product[0]);
        host_meet(meeting, 128, NULL);
    }
}

/* Multiplies as late as allowed where copies are early, and at once where they are late. */
NT_INLINE void nt_wgmma(float sum[WGMMA_N / 8][4], unsigned a, unsigned b)
{
    host_check(host_now->products < HOST_MAX_PRODUCTS, "too many wgmma under way");
    host_check(a % 1024 < 128 && b % 1024 < 128, "tiles of wgmma are aligned to 1024 bytes");
    int i = host_error[0] ? 0 : host_now->products++;
    host_now->product[i].sum = sum;
    host_now->product[i].a = a;
    host_now->product[i].b = b;
    host_now->product[i].group = host_now->product_group;
    if (!host_eager)
        host_meet_products(-1);
}

NT_INLINE void nt_wgmma_begin(void)
{
}

NT_INLINE void nt_wgmma_commit(void)
{
    host_now->product_group++;
}

NT_INLINE void nt_wgmma_wait(int pending)
{
    host_meet_products(pending);
}

NT_INLINE void nt_wgmma_sum_ready(float *sum)
{
    (void)sum;
}

NT_INLINE void nt_publish_shared(void)
{
}
#endif

NT_INLINE float2 make_float2(float x, float y)
{
    return (float2){x, y};
}

NT_INLINE uint4 make_uint4(unsigned x, unsigned y, unsigned z, unsigned w)
{
    return (uint4){x, y, z, w};
}

/* ---- running ------------------------------------------------------------------------------------------------ */

typedef void (*host_function)(uint64_t, uint64_t, uint64_t, uint64_t, uint64_t, uint64_t, uint64_t, uint64_t, uint64_t,
                              uint64_t, uint64_t, uint64_t);

/* Integers and pointers travel alike in the calling conventions of the hosts that run this. */
static void host_start(void)
{
    const uint64_t *a = host_args;
    ((host_function)host_entry)(a[0], a[1], a[2], a[3], a[4], a[5], a[6], a[7], a[8], a[9], a[10], a[11]);
    host_now->done = true;
    host_yield();
}

static void host_start_lanes(void)
{
    memset(nt_host_shared, 0xff, sizeof nt_host_shared);
    for (int i = 0; i < host_threads; i++) {
        host_lane *lane = &host_lanes[i];
        lane->index = (host_dim){(unsigned)i, 0, 0};
        lane->done = false;
        lane->copies = lane->group = lane->products = lane->product_group = 0;
        getcontext(&lane->context);
        lane->context.uc_stack.ss_sp = lane->stack;
        lane->context.uc_stack.ss_size = sizeof lane->stack;
        lane->context.uc_link = NULL;
        makecontext(&lane->context, host_start, 0);
    }
}

/* Changes whenever lanes of a warp have got on. */
static int host_rounds(int warp)
{
    const host_meeting *m[] = {&host_warp[warp], &host_warps[warp / 4], &host_block};
    int sum = 0;
    for (int i = 0; i < 3; i++)
        sum += m[i]->arrived + HOST_MAX_THREADS * m[i]->round;
    return sum;
}

/* Runs a warp until all its lanes have ended or wait for other warps. */
static void host_run_warp(int warp)
{
    for (int idle = 0; idle < 2;) {
        int round = host_rounds(warp);
        for (int i = warp * 32; i < warp * 32 + 32; i++)
            if (!host_lanes[i].done) {
                host_now = &host_lanes[i];
                swapcontext(&host_main, &host_now->context);
            }
        idle = round == host_rounds(warp) ? idle + 1 : 0;
    }
}

static bool host_run_block(void)
{
    host_start_lanes();
    for (int turns = 0; turns < 100000 && !host_error[0]; turns++) {
        bool done = true;
        for (int warp = 0; warp < host_threads / 32; warp++)
            host_run_warp(warp);
        for (int i = 0; i < host_threads; i++)
            done = done && host_lanes[i].done;
        if (done)
            return true;
    }
    host_check(false, "lanes wait for each other for ever");
    return false;
}

/* Memory that asynchronous copies may read. */
void nt_host_allow(const void *begin, size_t bytes)
{
    host_range[host_ranges].begin = begin;
    host_range[host_ranges++].end = (const char *)begin + bytes;
}

/* Runs a grid; returns NULL, or what went wrong. */
const char *nt_host_run(void *entry, const uint64_t args[12], const uint32_t grid[3], uint32_t threads,
                        uint32_t shared_bytes, bool eager)
{
    host_entry = entry;
    host_args = args;
    host_threads = (int)threads;
    host_shared_used = (int)shared_bytes;
    host_eager = eager;
    host_error[0] = '\0';
    gridDim = (host_dim){grid[0], grid[1], grid[2]};
    blockDim = (host_dim){threads, 1, 1};
    host_lanes = calloc(threads, sizeof *host_lanes);
    bool ok = host_lanes != NULL;
    for (uint32_t block = 0; ok && block < grid[0] * grid[1] * grid[2]; block++) {
        blockIdx = (host_dim){block % grid[0], block / grid[0] % grid[1], block / grid[0] / grid[1]};
        ok = host_run_block();
    }
    free(host_lanes);
    return ok ? NULL : host_error;
}

#endif
