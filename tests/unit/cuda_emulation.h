/* cuda_emulation.h: runs a CUDA kernel's text on the host, compiled as C behind this file. No GPU, no toolkit.
 *
 * Each thread of a block is a coroutine that runs until the next barrier. Threads go in ascending or descending order,
 * so that a missing barrier gives a wrong result in one of the two, and a barrier that only some threads reach is
 * reported. Shared memory is exactly as long as launched, poisoned for each block, and followed by an unmapped page.
 * The test appends `emu_call`, which calls the entry numbered `emu_entry` with the launch's arguments. */
#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>
#include <ucontext.h>
#include <unistd.h>

#define NT_HOST_EMULATION 1
#define NT_ENTRY
#define NT_INLINE             static inline
#define NT_SHARED(type, name) type *name = (type *)emu_shared
#define __launch_bounds__(...)

typedef struct float2 {
    float x, y;
} __attribute__((aligned(8))) float2;

typedef struct float4 {
    float x, y, z, w;
} __attribute__((aligned(16))) float4;

typedef struct uint2 {
    unsigned x, y;
} __attribute__((aligned(8))) uint2;

typedef struct uint4 {
    unsigned x, y, z, w;
} __attribute__((aligned(16))) uint4;

typedef struct uint3 {
    unsigned x, y, z;
} uint3;

/* Stacks lie far apart: memory checkers take a small step of the stack pointer for a call, a large one for a switch. */
enum { EMU_MAX_THREADS = 1024, EMU_STACK_BYTES = 64 * 1024, EMU_STACK_APART = 4 * 1024 * 1024 };

static uint3 threadIdx, blockIdx, blockDim, gridDim;
static unsigned char *emu_shared;
static ucontext_t emu_scheduler, emu_thread[EMU_MAX_THREADS];
static int emu_done[EMU_MAX_THREADS], emu_current;
static void *const *emu_arguments;

int emu_entry;
static void emu_call(void *const *arguments);

/* From the program that loads this: the conversions that the device has instructions for. */
unsigned short nt_f32_to_f16(float x);
float nt_f16_to_f32(unsigned short bits);

static inline float nt_bits_to_f32(unsigned bits)
{
    float x;
    memcpy(&x, &bits, sizeof x);
    return x;
}

static inline unsigned nt_f32_to_bits(float x)
{
    unsigned bits;
    memcpy(&bits, &x, sizeof bits);
    return bits;
}

static void __syncthreads(void)
{
    swapcontext(&emu_thread[emu_current], &emu_scheduler);
}

/* Lanes that exchange values put them down, meet, and read: two places in turn, so that nobody overwrites what is still
 * read. All threads of a block exchange the same number of times. */
static float emu_put[2][EMU_MAX_THREADS];
static int emu_turn[EMU_MAX_THREADS];

static inline float nt_shuffle_xor(float value, int mask)
{
    int me = emu_current, turn = emu_turn[me] ^= 1;
    emu_put[turn][me] = value;
    __syncthreads();
    return emu_put[turn][(me & ~31) | ((me ^ mask) & 31)];
}

static inline void nt_warp_barrier(void)
{
    __syncthreads();
}

/* Copies that go on behind a thread happen when it waits for them, so that what reads too early finds poison. */
enum { EMU_MAX_FETCHES = 256 };
static struct {
    int count;
    struct {
        float *to;
        const float *from;
    } copy[EMU_MAX_FETCHES];
} emu_fetch[EMU_MAX_THREADS];

static inline void nt_fetch_16(float *to, const float *from)
{
    int i = emu_fetch[emu_current].count++;
    if (i >= EMU_MAX_FETCHES || ((uintptr_t)to | (uintptr_t)from) % 16 != 0)
        __builtin_trap();
    emu_fetch[emu_current].copy[i].to = to;
    emu_fetch[emu_current].copy[i].from = from;
}

static inline void nt_fetch_wait(void)
{
    for (int i = 0; i < emu_fetch[emu_current].count; i++)
        memcpy(emu_fetch[emu_current].copy[i].to, emu_fetch[emu_current].copy[i].from, 16);
    emu_fetch[emu_current].count = 0;
}

static inline float nt_exp2(float x)
{
    return exp2f(x);
}

static inline float nt_sqrt(float x)
{
    return sqrtf(x);
}

static void emu_body(void)
{
    emu_call(emu_arguments);
    emu_done[emu_current] = 1;
}

/* One pass: every live thread to its next barrier or its end. Returns how many ended. */
static int emu_pass(int threads, int descending)
{
    int ended = 0;
    for (int i = 0; i < threads; i++) {
        emu_current = descending ? threads - 1 - i : i;
        if (emu_done[emu_current])
            continue;
        unsigned t = (unsigned)emu_current;
        threadIdx.x = t % blockDim.x;
        threadIdx.y = t / blockDim.x % blockDim.y;
        threadIdx.z = t / blockDim.x / blockDim.y;
        swapcontext(&emu_scheduler, &emu_thread[emu_current]);
        ended += emu_done[emu_current];
    }
    return ended;
}

static int emu_block(int threads, char *stacks, int descending)
{
    for (int i = 0; i < threads; i++) {
        emu_done[i] = 0;
        getcontext(&emu_thread[i]);
        emu_thread[i].uc_stack.ss_sp = stacks + (size_t)i * EMU_STACK_APART;
        emu_thread[i].uc_stack.ss_size = EMU_STACK_BYTES;
        emu_thread[i].uc_link = &emu_scheduler;
        makecontext(&emu_thread[i], emu_body, 0);
    }
    int ended;
    do
        ended = emu_pass(threads, descending);
    while (ended == 0);
    return ended == threads;
}

/* 0: done; 1: a barrier was not reached by all threads of a block; 2: no memory, or too many threads. */
int emu_launch(void *const *arguments, const unsigned grid[3], const unsigned block[3], unsigned shared_bytes,
               int descending)
{
    int threads = (int)(block[0] * block[1] * block[2]), whole = 1;
    size_t page = (size_t)sysconf(_SC_PAGESIZE), shared_pages = (shared_bytes + page - 1) / page * page;
    size_t bytes = (size_t)threads * EMU_STACK_APART;
    char *stacks = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    char *shared = mmap(NULL, shared_pages + page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (stacks == MAP_FAILED || shared == MAP_FAILED || threads > EMU_MAX_THREADS)
        return 2;
    mprotect(shared + shared_pages, page, PROT_NONE);
    emu_shared = (unsigned char *)shared + (shared_pages - shared_bytes);
    emu_arguments = arguments;
    blockDim = (uint3){block[0], block[1], block[2]};
    gridDim = (uint3){grid[0], grid[1], grid[2]};
    for (unsigned i = 0; i < grid[0] * grid[1] * grid[2] && whole; i++) {
        blockIdx = (uint3){i % grid[0], i / grid[0] % grid[1], i / grid[0] / grid[1]};
        memset(emu_shared, 0xff, shared_bytes);
        whole = emu_block(threads, stacks, descending);
    }
    munmap(stacks, bytes);
    munmap(shared, shared_pages + page);
    return whole ? 0 : 1;
}
