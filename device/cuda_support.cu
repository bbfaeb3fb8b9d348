// cuda_support.cu: kernels that the cuda device needs for itself: holding the GPU back while launches are queued,
// reading the SMs' clocks, an empty kernel, counting changed bytes, and comparing an output with its reference.
// Compiled by NVRTC like any kernel, so it includes nothing. The host side is cuda_support.c, cuda_sample.c and
// cuda_compare.c.

typedef unsigned char u8;
typedef unsigned short u16;
typedef unsigned int u32;
typedef unsigned long long u64;

__device__ __forceinline__ u64 global_timer()
{
    u64 ns;
    asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(ns));
    return ns;
}

extern "C" __global__ void nt_empty()
{
}

// Spins until the host has raised *gate to `ticket`, so that what is queued behind it starts only when all of it is
// queued. Gives up after timeout_ns and says so in *expired: whatever the host does, the GPU goes on.
extern "C" __global__ void nt_hold(volatile u32 *gate, u32 ticket, volatile u32 *expired, u64 timeout_ns)
{
    u64 start = global_timer();
    while ((int)(*gate - ticket) < 0) {
        if (global_timer() - start > timeout_ns) {
            *expired = ticket;
            return;
        }
    }
}

struct __align__(16) reading {
    u64 ns, cycles;
};

// One thread a block, one block an SM. %globaltimer moves in steps on some chips, so the cycle counter is read just
// after a step: the error is then that of reading two registers.
extern "C" __global__ void nt_read_clocks(reading *out, u32 slots)
{
    u32 sm;
    asm volatile("mov.u32 %0, %%smid;" : "=r"(sm));
    u64 first = global_timer(), now = first, cycles;
    for (int i = 0; i < 512 && now == first; i++)
        now = global_timer();
    asm volatile("mov.u64 %0, %%clock64;" : "=l"(cycles));
    if (sm < slots)
        *(ulonglong2 *)&out[sm] = make_ulonglong2(now, cycles);
}

extern "C" __global__ void nt_count_changed(const u8 *at, u32 byte, u64 bytes, u64 *changed)
{
    u64 mine = 0;
    u64 step = (u64)gridDim.x * blockDim.x;
    for (u64 i = (u64)blockIdx.x * blockDim.x + threadIdx.x; i < bytes; i += step)
        mine += at[i] != byte;
    if (mine != 0)
        atomicAdd(changed, mine);
}

// Element types, numbered as nt_dtype is.
enum { F64, F32, F16, BF16, F8E4M3, I32, I8, U8, I16, U16, U32, I64, U64 };

__device__ double e4m3_value(u8 bits)
{
    int exponent = bits >> 3 & 15, fraction = bits & 7;
    double magnitude;
    if (exponent == 15 && fraction == 7)
        magnitude = __longlong_as_double(0x7ff8000000000000ll);
    else if (exponent == 0)
        magnitude = fraction * 0.001953125; // 2^-9
    else
        magnitude = (8 + fraction) * __longlong_as_double((long long)(1023 + exponent - 10) << 52);
    return bits & 128 ? -magnitude : magnitude;
}

__device__ double element(const void *data, int type, u64 i)
{
    float half_value;
    switch (type) {
    case F64: return ((const double *)data)[i];
    case F32: return ((const float *)data)[i];
    case F16:
        asm("cvt.f32.f16 %0, %1;" : "=f"(half_value) : "h"(((const u16 *)data)[i]));
        return half_value;
    case BF16: return __uint_as_float((u32)((const u16 *)data)[i] << 16);
    case F8E4M3: return e4m3_value(((const u8 *)data)[i]);
    case I32: return ((const int *)data)[i];
    case U8: return ((const u8 *)data)[i];
    case I16: return ((const short *)data)[i];
    case U16: return ((const u16 *)data)[i];
    case U32: return ((const u32 *)data)[i];
    case I64: return (double)((const long long *)data)[i];
    case U64: return (double)((const u64 *)data)[i];
    default: return ((const signed char *)data)[i];
    }
}

// What one block found; the host adds the blocks up in order, so the sums are the same every time.
struct tally {
    double max_ratio, sum_sq_diff, sum_sq_ref;
    u64 violations, first_bad;
};

struct compare_args {
    const void *out, *ref; // the reference of 64-bit integers has their type, all others f64
    const double *abs;
    const void *original;
    const double *scale;
    u64 count, channels, stride;
    double gamma, unit_out, tiny;
    int type;
};

__device__ void merge(tally *into, const tally *from)
{
    into->max_ratio = fmax(into->max_ratio, from->max_ratio);
    into->sum_sq_diff += from->sum_sq_diff;
    into->sum_sq_ref += from->sum_sq_ref;
    into->violations += from->violations;
    into->first_bad = from->first_bad < into->first_bad ? from->first_bad : into->first_bad;
}

__device__ bool is_wide(int type)
{
    return type == I64 || type == U64;
}

// |a - b| of 64-bit integers, rounded once.
__device__ double wide_distance(int type, u64 a, u64 b)
{
    bool above = type == I64 ? (long long)a > (long long)b : a > b;
    return (double)(above ? a - b : b - a);
}

__device__ void judge(const compare_args *a, u64 i, tally *t)
{
    const double infinity = __longlong_as_double(0x7ff0000000000000ll);
    int ref_type = is_wide(a->type) ? a->type : F64;
    double out = element(a->out, a->type, i), ref = element(a->ref, ref_type, i);
    double diff = fabs(out - ref), bound = a->unit_out * fabs(ref) + a->tiny;
    if (is_wide(a->type))
        diff = wide_distance(a->type, ((const u64 *)a->out)[i], ((const u64 *)a->ref)[i]);
    else
        bound += a->gamma * a->abs[i];
    double ratio = diff == 0 ? 0 : diff / bound;
    if (!(ratio <= 1) || !(fabs(out) < infinity)) {
        t->violations++;
        t->first_bad = i < t->first_bad ? i : t->first_bad;
        if (!(ratio < infinity) || !(fabs(out) < infinity))
            ratio = infinity;
    }
    t->max_ratio = fmax(t->max_ratio, ratio);
    if (a->original) {
        double scale = a->scale ? a->scale[i / a->stride % a->channels] : 1.0;
        double original = element(a->original, ref_type, i), off = out * scale - original;
        t->sum_sq_diff += off * off;
        t->sum_sq_ref += original * original;
    }
}

enum { COMPARE_THREADS = 256 };

extern "C" __global__ void __launch_bounds__(COMPARE_THREADS) nt_compare(compare_args a, tally *out)
{
    __shared__ tally shared[COMPARE_THREADS];
    tally mine = {0, 0, 0, 0, a.count};
    u64 step = (u64)gridDim.x * blockDim.x;
    for (u64 i = (u64)blockIdx.x * blockDim.x + threadIdx.x; i < a.count; i += step)
        judge(&a, i, &mine);
    shared[threadIdx.x] = mine;
    __syncthreads();
    for (u32 half = COMPARE_THREADS / 2; half > 0; half /= 2) {
        if (threadIdx.x < half)
            merge(&shared[threadIdx.x], &shared[threadIdx.x + half]);
        __syncthreads();
    }
    if (threadIdx.x == 0)
        out[blockIdx.x] = shared[0];
}
