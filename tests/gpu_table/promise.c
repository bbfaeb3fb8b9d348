/* promise.c: does a table keep its promise? Runs a 3x3 convolution out of a table as an inference program would,
 * through libnntune alone, in this new process, with inputs of a seed of its own, cold: input, weights and outputs
 * rotate through a ring larger than the cache. Outputs are verified against sums in double on the host at places drawn
 * at random; the time of a launch is compared with the one that the table promises.
 *
 *     promise TABLE C K H W BATCH [--precision fp32|tf32|fp16|bf16] [--seed N] [--ring MB] [--bar PCT]
 *
 * Prints figure, bar, interval and verdict; exit 1 when short or wrong, 2 for usage. Layout nhwc. */
#include <dlfcn.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "core/convert.h"
#include "core/stats.h"
#include "runtime/nntune.h"

enum { SAMPLES = 41, PLACES = 500, MOST_SLOTS = 512, AHEAD = 4 };
static const double sample_ns = 200e3, warm_s = 0.3;

typedef struct slot {
    nntune_buffers buffers;
} slot;

typedef struct run {
    const char *table_path;
    int64_t size[4], batch; /* c k h w */
    nntune_precision precision;
    unsigned seed;
    double ring_bytes, bar_pct;
    size_t in_count, weight_count, out_count, element_bytes;
    float *in, *weight, *out;                  /* the values as they stand in memory */
    void *in_bytes, *weight_bytes, *out_bytes; /* as they stand there */
    slot ring[MOST_SLOTS];
    int slots;
} run;

/* ---- memory and time of the device ------------------------------------------------------------------------------------ */

/* What of the driver is used. Names end in the versions that cuda.h gives them. */
static struct {
    bool used;
    int (*init)(unsigned);
    int (*device)(int *, int);
    int (*retain)(void **, int);
    int (*current)(void *);
    int (*alloc)(uint64_t *, size_t);
    int (*to_device)(uint64_t, const void *, size_t);
    int (*from_device)(void *, uint64_t, size_t);
    int (*wait)(void);
    int (*event)(void **, unsigned);
    int (*record)(void *, void *);
    int (*wait_event)(void *);
    int (*elapsed)(float *, void *, void *);
} gpu;

static void must(bool ok, const char *what)
{
    if (ok)
        return;
    fprintf(stderr, "promise: %s\n", what);
    exit(1);
}

static void find(void *library, const char *name, void *function)
{
    void *found = dlsym(library, name);
    must(found != NULL, name);
    memcpy(function, &found, sizeof found);
}

/* A context on the first GPU, where there is one; else the cpu runs. */
static void open_gpu(void)
{
    void *library = dlopen("libcuda.so.1", RTLD_NOW), *context;
    int device;
    if (library == NULL)
        return;
    find(library, "cuInit", &gpu.init);
    find(library, "cuDeviceGet", &gpu.device);
    find(library, "cuDevicePrimaryCtxRetain", &gpu.retain);
    find(library, "cuCtxSetCurrent", &gpu.current);
    find(library, "cuMemAlloc_v2", &gpu.alloc);
    find(library, "cuMemcpyHtoD_v2", &gpu.to_device);
    find(library, "cuMemcpyDtoH_v2", &gpu.from_device);
    find(library, "cuCtxSynchronize", &gpu.wait);
    find(library, "cuEventCreate", &gpu.event);
    find(library, "cuEventRecord", &gpu.record);
    find(library, "cuEventSynchronize", &gpu.wait_event);
    find(library, "cuEventElapsedTime", &gpu.elapsed);
    if (gpu.init(0) != 0 || gpu.device(&device, 0) != 0)
        return;
    must(gpu.retain(&context, device) == 0 && gpu.current(context) == 0, "no context on the GPU");
    gpu.used = true;
}

static uint64_t memory(size_t bytes, const void *from)
{
    uint64_t at = 0;
    void *host = NULL;
    if (bytes == 0)
        return 0;
    if (gpu.used) {
        must(gpu.alloc(&at, bytes) == 0, "no memory on the GPU: a smaller --ring");
        must(from == NULL || gpu.to_device(at, from, bytes) == 0, "a copy to the GPU failed");
        return at;
    }
    must(posix_memalign(&host, 256, bytes) == 0, "no memory: a smaller --ring");
    if (from != NULL)
        memcpy(host, from, bytes);
    else
        memset(host, 0xff, bytes);
    return (uint64_t)(uintptr_t)host;
}

static double now_s(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static void launch(nntune_kernel *kernel, run *r, int *position)
{
    char why[NNTUNE_WHY_BYTES];
    must(nntune_launch(kernel, &r->ring[*position].buffers, NULL, why) == NNTUNE_OK, why);
    *position = (*position + 1) % r->slots;
}

/* Nanoseconds of one of `count` launches in a row. On a GPU the bracket begins behind launches that keep it busy, so
 * that the way of the first one from the host is not in it, as it is not when a sweep measures. */
static double time_launches(nntune_kernel *kernel, run *r, int *position, int count)
{
    static void *event[2];
    float ms = 0;
    if (gpu.used && event[0] == NULL)
        must(gpu.event(&event[0], 0) == 0 && gpu.event(&event[1], 0) == 0, "no events");
    for (int i = 0; gpu.used && i < AHEAD; i++)
        launch(kernel, r, position);
    double begin = now_s();
    if (gpu.used)
        gpu.record(event[0], NULL);
    for (int i = 0; i < count; i++)
        launch(kernel, r, position);
    if (!gpu.used)
        return (now_s() - begin) * 1e9 / count;
    gpu.record(event[1], NULL);
    must(gpu.wait_event(event[1]) == 0 && gpu.elapsed(&ms, event[0], event[1]) == 0, "the launches failed");
    return (double)ms * 1e6 / count;
}

/* ---- data ------------------------------------------------------------------------------------------------------------- */

static float next_value(unsigned *state)
{
    *state = *state * 1664525u + 1013904223u;
    return (float)(*state >> 8) / 8388608.0f - 1.0f;
}

/* Values, rounded to the type. */
static float *draw(nt_dtype type, size_t count, unsigned *state, void **packed)
{
    float *values = malloc(count * sizeof *values);
    *packed = malloc(count * nt_dtype_bytes(type));
    must(values != NULL && *packed != NULL, "no memory");
    for (size_t i = 0; i < count; i++)
        values[i] = next_value(state);
    nt_pack(type, values, count, NULL, 1, 1, *packed);
    nt_unpack(type, *packed, count, values);
    return values;
}

static void make_ring(run *r, const nntune_kernel *kernel)
{
    size_t element = r->element_bytes;
    size_t bytes = (r->in_count + r->weight_count + r->out_count) * element + nntune_kernel_packed_bytes(kernel);
    double slots = ceil(r->ring_bytes / (double)bytes);
    r->slots = slots < 2 ? 2 : slots > MOST_SLOTS ? MOST_SLOTS : (int)slots;
    uint64_t workspace = memory(nntune_kernel_workspace_bytes(kernel), NULL);
    for (int i = 0; i < r->slots; i++)
        r->ring[i].buffers = (nntune_buffers){.in = memory(r->in_count * element, r->in_bytes),
                                              .weight = memory(r->weight_count * element, r->weight_bytes),
                                              .out = memory(r->out_count * element, NULL),
                                              .packed = memory(nntune_kernel_packed_bytes(kernel), NULL),
                                              .workspace = workspace};
}

/* Output element of the input and weights, in double, and the same sum over magnitudes. Weights stand as k, y, x, c. */
static double sum_at(const run *r, size_t at, double *magnitude)
{
    int64_t c = r->size[0], k = r->size[1], h = r->size[2], w = r->size[3];
    int64_t of = (int64_t)at % k, x = (int64_t)at / k % w, y = (int64_t)at / (k * w) % h, n = (int64_t)at / (k * w * h);
    double sum = 0;
    *magnitude = 0;
    for (int64_t dy = 0; dy < 3; dy++)
        for (int64_t dx = 0; dx < 3; dx++) {
            int64_t iy = y + dy - 1, ix = x + dx - 1;
            if (iy < 0 || iy >= h || ix < 0 || ix >= w)
                continue;
            const float *in = &r->in[((n * h + iy) * w + ix) * c], *weight = &r->weight[((of * 3 + dy) * 3 + dx) * c];
            for (int64_t i = 0; i < c; i++) {
                sum += (double)in[i] * (double)weight[i];
                *magnitude += fabs((double)in[i] * (double)weight[i]);
            }
        }
    return sum;
}

/* What an error is held against, as a share of the sum over magnitudes: fp32 sums, Winograd's included, stay within
 * 1e-5; a tf32 product within two roundings of 2^-10; of 16-bit products nothing is lost, and each addition in a tensor
 * core rounds once. */
static double share_of_magnitude(const run *r)
{
    if (r->precision == NNTUNE_FP32)
        return 1e-5;
    if (r->precision == NNTUNE_TF32)
        return 3e-3;
    return 9 * (double)r->size[0] * nt_precisions[r->precision].unit_accumulate;
}

/* The largest error over its bound; a 16-bit output is rounded once more. */
static double worst(run *r, int slot_index)
{
    double share = share_of_magnitude(r), rounding = nt_precisions[r->precision].unit_out, most = 0;
    unsigned state = r->seed + 7;
    uint64_t at = r->ring[slot_index].buffers.out;
    size_t bytes = r->out_count * r->element_bytes;
    if (gpu.used)
        must(gpu.wait() == 0 && gpu.from_device(r->out_bytes, at, bytes) == 0, "a copy from the GPU failed");
    else
        memcpy(r->out_bytes, (const void *)(uintptr_t)at, bytes);
    nt_unpack(nt_precisions[r->precision].out, r->out_bytes, r->out_count, r->out);
    for (int i = 0; i < PLACES; i++) {
        size_t element = (size_t)((double)(next_value(&state) + 1.0f) / 2 * (double)(r->out_count - 1));
        double magnitude, sum = sum_at(r, element, &magnitude), error = fabs((double)r->out[element] - sum);
        double bound = share * magnitude + rounding * fabs(sum) + 1e-30;
        most = fmax(most, isnan(error) ? HUGE_VAL : error / bound);
    }
    return most;
}

/* ---- the figure ------------------------------------------------------------------------------------------------------- */

/* A figure as the judges of tests/gpu keep theirs. */
static void store(const run *r, const char *figure, const char *unit, double value, const nt_interval *interval,
                  double most, bool holds)
{
    const char *path = getenv("JUDGE_FIGURES");
    FILE *file = path != NULL ? fopen(path, "a") : NULL;
    char range[96] = "";
    if (file == NULL)
        return;
    if (interval != NULL)
        snprintf(range, sizeof range, ",\"lo\":%.9g,\"hi\":%.9g", interval->lo, interval->hi);
    fprintf(file,
            "{\"bar\":\"promise\",\"figure\":\"%s of c=%lld,k=%lld,h=%lld,w=%lld batch %lld %s\",\"unit\":\"%s\","
            "\"value\":%.9g%s,\"must\":\"within %g\",\"verdict\":\"%s\"}\n",
            figure, (long long)r->size[0], (long long)r->size[1], (long long)r->size[2], (long long)r->size[3],
            (long long)r->batch, nt_precisions[r->precision].name, unit, value, range, most,
            holds ? "holds" : "short");
    fclose(file);
}

static bool judge(run *r, nntune_kernel *kernel, const nntune_result *promised)
{
    double sample[SAMPLES], until = now_s() + warm_s;
    int position = 0;
    double one = time_launches(kernel, r, &position, 3);
    while (now_s() < until)
        one = time_launches(kernel, r, &position, 3);
    int count = (int)fmin(20000, fmax(1, ceil(sample_ns / one)));
    for (int i = 0; i < SAMPLES; i++)
        sample[i] = time_launches(kernel, r, &position, count);
    nt_interval t = nt_median_interval(sample, SAMPLES, 0.95);
    double off = 100 * (t.median / promised->time_ns - 1), error = worst(r, 0);
    bool near = fabs(off) <= r->bar_pct, right = error <= 1;
    printf("%s on %s: %.2f us (%.2f..%.2f), promised %.2f us: %+.2f %%, bar %.3g %%: %s\n", promised->kernel,
           promised->device, t.median / 1e3, t.lo / 1e3, t.hi / 1e3, promised->time_ns / 1e3, off, r->bar_pct,
           near ? "holds" : "short");
    printf("outputs at %d places: largest error %.3g of its bound: %s; ring of %d, %d launches a sample\n", PLACES,
           error, right ? "right" : "wrong", r->slots, count);
    nt_interval around = {.median = off,
                          .lo = 100 * (t.lo / promised->time_ns - 1),
                          .hi = 100 * (t.hi / promised->time_ns - 1)};
    store(r, "time off the promised", "%", off, &around, r->bar_pct, near);
    store(r, "largest error over its bound", "", error, NULL, 1, right);
    return near && right;
}

static bool keep(run *r)
{
    char why[NNTUNE_WHY_BYTES];
    nntune_table *table;
    nntune_kernel *kernel;
    nntune_result result;
    unsigned state = r->seed;
    nntune_query query = {
        .layer = "conv3x3", .size = r->size, .size_count = 4, .batch = r->batch, .precision = r->precision};
    must(nntune_table_open(r->table_path, NULL, 0, &table, why) == NNTUNE_OK, why);
    nntune_status status = nntune_lookup(table, &query, &result);
    nntune_explain(table, &query, status, &result, why, sizeof why);
    must(status == NNTUNE_OK, why);
    must(result.match == NNTUNE_MATCH_EXACT, "the table has no entry of exactly this problem, so it promises nothing");
    must(nntune_kernel_load(table, &query, &result, &kernel, why) == NNTUNE_OK, why);
    size_t pixels = (size_t)(r->batch * r->size[2] * r->size[3]);
    r->in_count = pixels * (size_t)r->size[0];
    r->weight_count = (size_t)(9 * r->size[0] * r->size[1]);
    r->out_count = pixels * (size_t)r->size[1];
    const nt_precision_row *row = &nt_precisions[r->precision];
    r->element_bytes = nt_dtype_bytes(row->in);
    r->in = draw(row->in, r->in_count, &state, &r->in_bytes);
    r->weight = draw(row->weight, r->weight_count, &state, &r->weight_bytes);
    r->out = malloc(r->out_count * sizeof *r->out);
    r->out_bytes = malloc(r->out_count * r->element_bytes);
    must(r->out != NULL && r->out_bytes != NULL, "no memory");
    make_ring(r, kernel);
    for (int i = 0; i < r->slots; i++)
        must(nntune_prepare(kernel, &r->ring[i].buffers, NULL, why) == NNTUNE_OK, why);
    bool kept = judge(r, kernel, &result);
    nntune_kernel_free(kernel);
    nntune_table_close(table);
    return kept;
}

static void usage(void)
{
    fprintf(
        stderr,
        "usage: promise TABLE C K H W BATCH [--precision fp32|tf32|fp16|bf16] [--seed N] [--ring MB] [--bar PCT]\n");
    exit(2);
}

/* Those whose elements are floating-point numbers of at least 16 bits: their rows have the library's numbers. */
static nntune_precision precision_of(const char *name)
{
    int found = nt_precision_find(name);
    if (found < NT_FP32 || found > NT_BF16)
        usage();
    return (nntune_precision)found;
}

int main(int argc, char **argv)
{
    run *r = calloc(1, sizeof *r);
    must(r != NULL, "no memory");
    *r = (run){.seed = 12345, .ring_bytes = 192e6, .bar_pct = 2, .precision = NNTUNE_FP32};
    if (argc < 7 || argc % 2 == 0)
        usage();
    r->table_path = argv[1];
    for (int i = 0; i < 4; i++)
        r->size[i] = atoll(argv[2 + i]);
    r->batch = atoll(argv[6]);
    for (int i = 7; i + 1 < argc; i += 2) {
        if (strcmp(argv[i], "--precision") == 0)
            r->precision = precision_of(argv[i + 1]);
        else if (strcmp(argv[i], "--seed") == 0)
            r->seed = (unsigned)atoi(argv[i + 1]);
        else if (strcmp(argv[i], "--ring") == 0)
            r->ring_bytes = atof(argv[i + 1]) * 1e6;
        else if (strcmp(argv[i], "--bar") == 0)
            r->bar_pct = atof(argv[i + 1]);
        else
            usage();
    }
    open_gpu();
    return keep(r) ? 0 : 1;
}
