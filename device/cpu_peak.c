/* cpu_peak.c: compiles cpu_peak.cpu.c as any kernel is compiled and times it on the pool. The best of several samples
 * counts, because a roof is what the hardware can do, and disturbance only ever takes away from it. */
#include "device/cpu_peak.h"

#include "core/mem.h"
#include "core/paths.h"
#include "device/compiler.h"
#include "device/cpu_exec.h"
#include "device/cpu_host.h"

#include <dlfcn.h>
#include <jansson.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

extern const char nt_embed_device_cpu_peak_cpu_c[];

/* Many short samples rather than few long ones: on a shared machine only a short one has a chance to be left alone. */
enum { SAMPLES = 128, SLICES = 16, STREAM_SAMPLES = 4 * SLICES, BLOCK_BYTES = 4096 * 4, FORMAT = 1 };
static const size_t step_bytes = (size_t)SLICES * 3 * BLOCK_BYTES;
static const double sample_ns = 2e5;

/* ---- the file ---------------------------------------------------------------------------------------------------------- */

static nt_status peaks_path(const nt_device_info *info, char *out, size_t capacity, nt_error *err)
{
    char folder[NT_PATH_BYTES - 96];
    nt_status status = nt_path_cache(folder, sizeof folder, err);
    if (status == NT_OK)
        snprintf(out, capacity, "%s/peaks-%s.json", folder, info->uuid);
    return status;
}

static double number_or_nan(const json_t *object, const char *name)
{
    double value = json_number_value(json_object_get(object, name));
    return value > 0 && isfinite(value) ? value : NAN;
}

static void set_number(json_t *object, const char *name, double value)
{
    json_object_set_new(object, name, isfinite(value) ? json_real(value) : json_null());
}

void nt_cpu_peaks_load(nt_device_info *info)
{
    char path[NT_PATH_BYTES];
    json_t *file = peaks_path(info, path, sizeof path, NULL) == NT_OK ? json_load_file(path, 0, NULL) : NULL;
    nt_copy(info->peak_source, sizeof info->peak_source, "not measured yet");
    if (json_integer_value(json_object_get(file, "format")) == FORMAT) {
        info->peak_flops[NT_FP32] = number_or_nan(file, "fp32_flops");
        info->peak_flops[NT_INT8] = number_or_nan(file, "int8_ops");
        info->dram_peak_bytes_per_s = number_or_nan(file, "dram_bytes_per_s");
        nt_copy(info->peak_source, sizeof info->peak_source, "measured");
    }
    json_decref(file);
}

/* A folder that cannot be written costs a second at the next start and nothing else. */
static void peaks_store(const nt_device_info *info)
{
    char path[NT_PATH_BYTES];
    if (peaks_path(info, path, sizeof path, NULL) != NT_OK)
        return;
    json_t *file =
        json_pack("{s:i, s:s, s:I}", "format", FORMAT, "name", info->name, "cores", (json_int_t)info->sm_count);
    set_number(file, "fp32_flops", info->peak_flops[NT_FP32]);
    set_number(file, "int8_ops", info->peak_flops[NT_INT8]);
    set_number(file, "dram_bytes_per_s", info->dram_peak_bytes_per_s);
    char *text = json_dumps(file, JSON_INDENT(2));
    if (text != NULL)
        nt_write_file(path, text, strlen(text), NULL);
    free(text);
    json_decref(file);
}

/* ---- timing ------------------------------------------------------------------------------------------------------------- */

static nt_cpu_entry find_symbol(void *library, const char *name)
{
    nt_cpu_entry entry;
    void *symbol = dlsym(library, name);
    memcpy(&entry, &symbol, sizeof entry);
    return entry;
}

/* Shortest time of one execution of the stage. NAN when it cannot run. */
static double best_ns(nt_cpu_pool *pool, void *library, const nt_stage *stage, const nt_binding *ring,
                      size_t ring_count, size_t samples)
{
    nt_cpu_script script;
    double ns[SAMPLES], best = INFINITY;
    size_t position = 0;
    if (nt_cpu_script_make(stage, 1, find_symbol, library, &script, NULL) != NT_OK)
        return NAN;
    nt_cpu_series series = {&script, ring, ring_count, &position, 1, samples, ns};
    nt_cpu_series_run(pool, &series);
    for (size_t i = 0; i < samples; i++)
        best = ns[i] < best ? ns[i] : best;
    return best;
}

/* Grows the rounds until one execution fills a sample; then the best of many counts. Each thread leaves its operations
 * in work. */
static double operations_per_s(nt_cpu_pool *pool, void *library, const char *entry, const nt_binding *binding,
                               const double *work)
{
    int threads = nt_cpu_pool_threads(pool);
    size_t sink_bytes = (size_t)threads * 64;
    for (int64_t rounds = 1000; rounds < ((int64_t)1 << 40); rounds *= 2) {
        nt_stage stage;
        nt_stage_kernel(&stage, entry, (uint32_t)threads, 1, 1, 1, 1, 1);
        nt_stage_arg_buffer(&stage, NT_ROLE_OUT, 0);
        nt_stage_arg_buffer(&stage, NT_ROLE_OUT, sink_bytes);
        nt_stage_arg_i64(&stage, rounds);
        if (best_ns(pool, library, &stage, binding, 1, 5) < sample_ns)
            continue;
        double ns = best_ns(pool, library, &stage, binding, 1, SAMPLES), sum = 0;
        for (int t = 0; t < threads; t++)
            sum += work[t];
        return sum > 0 ? sum / ns * 1e9 : NAN;
    }
    return NAN;
}

static double measure_operations(nt_cpu_pool *pool, void *library, const char *entry)
{
    int threads = nt_cpu_pool_threads(pool);
    size_t bytes = (size_t)threads * (64 + sizeof(double)); /* a multiple of 8; the sink comes first */
    char *memory = NULL;
    if (posix_memalign((void **)&memory, 64, bytes) != 0)
        return NAN;
    memset(memory, 0, bytes);
    nt_binding binding = {{[NT_ROLE_OUT] = (uint64_t)(uintptr_t)memory}};
    const double *work = (const void *)(memory + (size_t)threads * 64);
    double per_s = operations_per_s(pool, library, entry, &binding, work);
    free(memory);
    return per_s;
}

/* Together more than four times the last-level cache, at most 1 GiB; 0 when that is more than a quarter of what is
 * free. A whole number of slices, each of three arrays of whole blocks. */
static size_t stream_bytes(const nt_device_info *info)
{
    int64_t bytes = info->l2_bytes == NT_UNKNOWN ? (int64_t)256 << 20 : 5 * info->l2_bytes;
    int64_t free_bytes = nt_cpu_memory_available();
    bytes = bytes > ((int64_t)1 << 30) ? (int64_t)1 << 30 : bytes;
    bytes = bytes < ((int64_t)48 << 20) ? (int64_t)48 << 20 : bytes;
    if (free_bytes != NT_UNKNOWN && bytes > free_bytes / 4)
        return 0;
    return (size_t)bytes / step_bytes * step_bytes;
}

typedef struct touch_job {
    float *memory;
    size_t count;
} touch_job;

/* Touched by the threads that will use it, so that it lies in their part of the memory. */
static void touch(void *context, int thread, int threads)
{
    const touch_job *job = context;
    size_t begin = job->count / (size_t)threads * (size_t)thread;
    size_t end = thread + 1 == threads ? job->count : begin + job->count / (size_t)threads;
    for (size_t i = begin; i < end; i++)
        job->memory[i] = 1.0f;
}

/* The better of reading and of the triad, which reads two arrays and writes a third. Slice follows slice around all of
 * the memory, so each has left the caches when it comes again. */
static double measure_stream(nt_cpu_pool *pool, void *library, const nt_device_info *info)
{
    size_t bytes = stream_bytes(info), slice = bytes / SLICES, array = slice / 3;
    char *memory = NULL;
    if (bytes == 0 ||
        posix_memalign((void **)&memory, (size_t)2 << 20, bytes + (size_t)nt_cpu_pool_threads(pool) * 64) != 0)
        return NAN;
    madvise(memory, bytes, MADV_HUGEPAGE); /* as the buffers of a sweep */
    nt_cpu_pool_run(pool, touch, &(touch_job){(void *)memory, bytes / sizeof(float)});
    nt_binding ring[SLICES] = {{{0}}};
    for (size_t i = 0; i < SLICES; i++) {
        ring[i].address[NT_ROLE_IN] = (uint64_t)(uintptr_t)(memory + i * slice);
        ring[i].address[NT_ROLE_OUT] = (uint64_t)(uintptr_t)(memory + bytes); /* a cache line for each thread */
    }
    nt_stage triad, read;
    uint32_t blocks = (uint32_t)(array / BLOCK_BYTES);
    nt_stage_kernel(&triad, "stream_triad", blocks, 1, 1, 1, 1, 1);
    for (size_t i = 0; i < 3; i++)
        nt_stage_arg_buffer(&triad, NT_ROLE_IN, i * array);
    nt_stage_kernel(&read, "stream_read", 3 * blocks, 1, 1, 1, 1, 1);
    nt_stage_arg_buffer(&read, NT_ROLE_OUT, 0);
    nt_stage_arg_buffer(&read, NT_ROLE_IN, 0);
    double triad_ns = best_ns(pool, library, &triad, ring, SLICES, STREAM_SAMPLES);
    double read_ns = best_ns(pool, library, &read, ring, SLICES, STREAM_SAMPLES);
    free(memory);
    return (double)slice / fmin(triad_ns, read_ns) * 1e9;
}

/* ---- all of it ---------------------------------------------------------------------------------------------------------- */

static nt_status load_loops(const nt_device_info *info, void **library, nt_error *err)
{
    nt_artefact artefact;
    const nt_compile_request request = {
        .kind = NT_DEVICE_CPU,
        .name = "cpu_peak",
        .source = nt_embed_device_cpu_peak_cpu_c,
        .options = "",
        .arch = info->arch,
        .compiler = info->compiler,
        .features = info->features,
        .deadline_s = 120,
    };
    nt_status status = nt_compile_lookup(&request, &artefact, err);
    if (status == NT_NOT_FOUND)
        status = nt_compile(&request, &artefact, err);
    if (status != NT_OK)
        return status;
    *library = dlopen(artefact.path, RTLD_NOW | RTLD_LOCAL);
    return *library != NULL ? NT_OK : nt_fail(err, NT_FAILED, "cannot load %s: %s", artefact.path, dlerror());
}

nt_status nt_cpu_peaks_measure(nt_device_info *info, nt_cpu_pool *pool, nt_error *err)
{
    void *library;
    nt_cpu_peaks_load(info);
    if (strcmp(info->peak_source, "measured") == 0)
        return NT_OK;
    nt_status status = load_loops(info, &library, err);
    if (status != NT_OK)
        return status;
    info->peak_flops[NT_FP32] = measure_operations(pool, library, "peak_fp32");
    info->peak_flops[NT_INT8] = measure_operations(pool, library, "peak_int8");
    info->dram_peak_bytes_per_s = measure_stream(pool, library, info);
    nt_copy(info->peak_source, sizeof info->peak_source, "measured");
    dlclose(library);
    peaks_store(info);
    return NT_OK;
}
