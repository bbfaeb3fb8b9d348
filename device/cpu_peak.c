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

extern const char nt_embed_device_cpu_peak_cpu_c[];

enum { SAMPLES = 9, BLOCK_BYTES = 4096 * 4, FORMAT = 1 };
static const double sample_ns = 4e6;

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
    json_t *file = json_pack("{s:i, s:s, s:I}", "format", FORMAT, "name", info->name, "cores",
                             (json_int_t)info->sm_count);
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

/* Shortest time of one execution of the stage, long enough to be told from the floor. NAN when it cannot run. */
static double best_ns(nt_cpu_pool *pool, void *library, const nt_stage *stage, const nt_binding *binding,
                      int64_t launches)
{
    nt_cpu_script script;
    double ns[SAMPLES], best = INFINITY;
    size_t position = 0;
    if (nt_cpu_script_make(stage, 1, find_symbol, library, &script, NULL) != NT_OK)
        return NAN;
    nt_cpu_series series = {&script, binding, 1, &position, launches, SAMPLES, ns};
    nt_cpu_series_run(pool, &series);
    for (int i = 0; i < SAMPLES; i++)
        best = ns[i] < best ? ns[i] : best;
    return best;
}

/* Operations a second of all threads together, with as many rounds as fill a sample. */
static double measure_operations(nt_cpu_pool *pool, void *library, const char *entry)
{
    int threads = nt_cpu_pool_threads(pool);
    size_t bytes = (size_t)threads * (64 + sizeof(double)); /* a multiple of 8; the sink comes first */
    char *memory = NULL;
    if (posix_memalign((void **)&memory, 64, bytes) != 0)
        return NAN;
    memset(memory, 0, bytes);
    nt_binding binding = {{[NT_ROLE_OUT] = (uint64_t)(uintptr_t)memory}};
    const double *work = (const double *)(memory + (size_t)threads * 64);
    double ns = 0, sum = 0;
    for (int64_t rounds = 1000; ns < sample_ns && rounds < ((int64_t)1 << 40); rounds *= 4) {
        nt_stage stage;
        nt_stage_kernel(&stage, entry, (uint32_t)threads, 1, 1, 1, 1, 1);
        nt_stage_arg_buffer(&stage, NT_ROLE_OUT, 0);
        nt_stage_arg_buffer(&stage, NT_ROLE_OUT, (size_t)threads * 64);
        nt_stage_arg_i64(&stage, rounds);
        ns = best_ns(pool, library, &stage, &binding, 1);
        sum = 0;
        for (int t = 0; t < threads; t++)
            sum += work[t];
        if (!(sum > 0))
            break;
    }
    free(memory);
    return sum > 0 && ns > 0 ? sum / ns * 1e9 : NAN;
}

/* Three arrays, together more than four times the last-level cache, at most 1 GiB and a quarter of what is free. */
static size_t stream_bytes(const nt_device_info *info)
{
    int64_t bytes = info->l2_bytes == NT_UNKNOWN ? (int64_t)256 << 20 : 5 * info->l2_bytes;
    int64_t free_bytes = nt_cpu_memory_available();
    bytes = bytes > ((int64_t)1 << 30) ? (int64_t)1 << 30 : bytes;
    bytes = bytes < ((int64_t)48 << 20) ? (int64_t)48 << 20 : bytes;
    if (free_bytes != NT_UNKNOWN && bytes > free_bytes / 4)
        return 0;
    return (size_t)bytes / 3 / BLOCK_BYTES * BLOCK_BYTES;
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

/* The better of reading three arrays and of the triad, which reads two and writes one. */
static double measure_stream(nt_cpu_pool *pool, void *library, const nt_device_info *info)
{
    size_t each = stream_bytes(info), threads = (size_t)nt_cpu_pool_threads(pool);
    char *memory = NULL;
    if (each == 0 || posix_memalign((void **)&memory, 4096, 3 * each + threads * 64) != 0)
        return NAN;
    for (size_t array = 0; array < 3; array++) {
        touch_job job = {(float *)(memory + array * each), each / sizeof(float)};
        nt_cpu_pool_run(pool, touch, &job);
    }
    nt_binding binding = {{[NT_ROLE_IN] = (uint64_t)(uintptr_t)memory}};
    nt_stage triad, read;
    uint32_t blocks = (uint32_t)(each / BLOCK_BYTES);
    nt_stage_kernel(&triad, "stream_triad", blocks, 1, 1, 1, 1, 1);
    for (size_t array = 0; array < 3; array++)
        nt_stage_arg_buffer(&triad, NT_ROLE_IN, array * each);
    nt_stage_kernel(&read, "stream_read", 3 * blocks, 1, 1, 1, 1, 1);
    nt_stage_arg_buffer(&read, NT_ROLE_IN, 3 * each);
    nt_stage_arg_buffer(&read, NT_ROLE_IN, 0);
    double triad_ns = best_ns(pool, library, &triad, &binding, 1);
    double read_ns = best_ns(pool, library, &read, &binding, 1);
    free(memory);
    return 3.0 * (double)each / fmin(triad_ns, read_ns) * 1e9;
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
