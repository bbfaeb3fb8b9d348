/* cpu_device.c: the cpu as a device: nt_device_cpu_ops over the pool (cpu_pool), execution (cpu_exec), checks
 * (cpu_check), identity (cpu_host), roof (cpu_peak) and sensors (cpu_sensors). Addresses are host pointers. A kernel
 * that crashes takes the process along, as everywhere: workers are processes for that reason. */
#include "device/device.h"

#include "core/mem.h"
#include "core/stats.h"
#include "core/units.h"
#include "device/compiler.h"
#include "device/cpu_check.h"
#include "device/cpu_exec.h"
#include "device/cpu_host.h"
#include "device/cpu_peak.h"
#include "device/cpu_sensors.h"

#include <dlfcn.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

enum { ALIGN_BYTES = 256, FLOOR_SAMPLES = 31, FLOOR_LAUNCHES = 400 };
static const size_t huge_page_bytes = (size_t)2 << 20, parallel_bytes = (size_t)1 << 20;

struct nt_device {
    nt_device_info info;
    nt_cpu_pool *pool;
    nt_cpu_sensors sensors;
    int cpus[NT_MAX_CORES];
};

struct nt_module {
    void *library;
};

/* ---- identity ---------------------------------------------------------------------------------------------------------- */

static nt_status identify(int cpus[NT_MAX_CORES], nt_device_info *out, nt_error *err)
{
    nt_cpu_identify(cpus, nt_cpu_cores(cpus), out);
    nt_cpu_peaks_load(out);
    return nt_compiler_identity(NT_DEVICE_CPU, out->compiler, sizeof out->compiler, err);
}

static void list(nt_device_listing *out)
{
    int cpus[NT_MAX_CORES];
    nt_error err = {0};
    memset(out, 0, sizeof *out);
    out->count = 1;
    if (identify(cpus, &out->info[0], &err) == NT_OK)
        return;
    nt_copy(out->missing, sizeof out->missing, err.what);
    nt_copy(out->hint, sizeof out->hint, err.hint);
}

static void close_device(nt_device *device)
{
    if (device == NULL)
        return;
    nt_cpu_pool_close(device->pool);
    free(device);
}

static nt_status open_device(int ordinal, nt_device **out, nt_error *err)
{
    if (ordinal != 0)
        return nt_fail(err, NT_NO_DEVICE, "there is one cpu device, number 0; %d was asked for", ordinal);
    nt_device *device = nt_alloc_zero(1, sizeof *device);
    nt_status status = identify(device->cpus, &device->info, err);
    if (status == NT_OK)
        status = nt_cpu_pool_open(device->cpus, (int)device->info.sm_count, &device->pool, err);
    nt_cpu_vendor_cores(device->cpus, status == NT_OK ? (int)device->info.sm_count : 0);
    if (status == NT_OK)
        status = nt_cpu_peaks_measure(&device->info, device->pool, err);
    if (status != NT_OK) {
        close_device(device);
        return status;
    }
    nt_cpu_sensors_find(&device->sensors);
    *out = device;
    return NT_OK;
}

/* The libraries that it loads count on the cores of the device, whether or not it is open. */
static void libraries(nt_device_info *out)
{
    int cpus[NT_MAX_CORES];
    nt_cpu_vendor_cores(cpus, nt_cpu_cores(cpus));
    nt_cpu_vendor_libraries(out);
}

static const nt_device_info *info(const nt_device *device)
{
    return &device->info;
}

/* ---- memory ------------------------------------------------------------------------------------------------------------ */

static void *pointer(nt_mem memory)
{
    return (void *)(uintptr_t)memory;
}

static nt_status memory_free(nt_device *device, size_t *free_bytes, nt_error *err)
{
    int64_t bytes = nt_cpu_memory_available();
    (void)device;
    if (bytes == NT_UNKNOWN)
        return nt_fail(err, NT_FAILED, "cannot read how much memory is free from /proc/meminfo");
    *free_bytes = (size_t)bytes;
    return NT_OK;
}

/* Memory that does not exist is granted and fails when it is touched, by killing some process; so large requests are
 * compared with what is free first. */
static nt_status alloc(nt_device *device, size_t bytes, nt_mem *out, nt_error *err)
{
    size_t left = 0;
    void *memory = NULL;
    bool large = bytes >= 2 * huge_page_bytes;
    if (large && memory_free(device, &left, NULL) == NT_OK && bytes > left)
        return nt_fail(err, NT_NO_MEMORY, "%s are needed and %s are available", nt_text_bytes((double)bytes).s,
                       nt_text_bytes((double)left).s);
    if (posix_memalign(&memory, large ? huge_page_bytes : ALIGN_BYTES, bytes > 0 ? bytes : 1) != 0) {
        nt_fail(err, NT_NO_MEMORY, "no memory for %s", nt_text_bytes((double)bytes).s);
        nt_hint(err, "take a smaller --batch or --shape, or allow more memory: `ulimit -v` shows the limit");
        return NT_NO_MEMORY;
    }
    if (large)
        madvise(memory, bytes, MADV_HUGEPAGE); /* advice: without it the times hold more TLB misses, no error */
    *out = (nt_mem)(uintptr_t)memory;
    return NT_OK;
}

static void free_memory(nt_device *device, nt_mem memory)
{
    (void)device;
    free(pointer(memory));
}

/* One large write or copy, shared by the threads, which also spreads first touches over their parts of the memory. */
typedef struct move_job {
    char *to;
    const char *from; /* NULL: fill */
    unsigned char byte;
    size_t bytes;
} move_job;

static void move_part(void *context, int thread, int threads)
{
    const move_job *job = context;
    size_t each = (job->bytes / (size_t)threads + 4095) & ~(size_t)4095, begin = each * (size_t)thread;
    if (begin >= job->bytes)
        return;
    size_t bytes = job->bytes - begin < each || thread + 1 == threads ? job->bytes - begin : each;
    if (job->from != NULL)
        memcpy(job->to + begin, job->from + begin, bytes);
    else
        memset(job->to + begin, job->byte, bytes);
}

static nt_status move(nt_device *device, move_job job)
{
    if (job.bytes >= parallel_bytes)
        nt_cpu_pool_run(device->pool, move_part, &job);
    else
        move_part(&job, 0, 1);
    return NT_OK;
}

static nt_status upload(nt_device *device, nt_mem to, const void *from, size_t bytes, nt_error *err)
{
    (void)err;
    return move(device, (move_job){pointer(to), from, 0, bytes});
}

static nt_status download(nt_device *device, void *to, nt_mem from, size_t bytes, nt_error *err)
{
    (void)err;
    return move(device, (move_job){to, pointer(from), 0, bytes});
}

static nt_status copy(nt_device *device, nt_mem to, nt_mem from, size_t bytes, nt_error *err)
{
    (void)err;
    return move(device, (move_job){pointer(to), pointer(from), 0, bytes});
}

static nt_status fill(nt_device *device, nt_mem to, unsigned char byte, size_t bytes, nt_error *err)
{
    (void)err;
    return move(device, (move_job){pointer(to), NULL, byte, bytes});
}

static nt_status count_changed(nt_device *device, nt_mem at, unsigned char byte, size_t bytes, size_t *changed,
                               nt_error *err)
{
    (void)device;
    (void)err;
    *changed = nt_cpu_count_changed(pointer(at), byte, bytes);
    return NT_OK;
}

/* ---- modules ----------------------------------------------------------------------------------------------------------- */

static nt_status module_load(nt_device *device, const char *path, nt_module **out, nt_error *err)
{
    (void)device;
    void *library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    if (library == NULL)
        return nt_fail(err, NT_LAUNCH_FAILED, "cannot load the compiled kernel: %.900s", dlerror());
    *out = nt_alloc(sizeof **out);
    (*out)->library = library;
    return NT_OK;
}

static void module_unload(nt_device *device, nt_module *module)
{
    (void)device;
    if (module == NULL)
        return;
    dlclose(module->library);
    free(module);
}

static nt_cpu_entry find_entry(void *context, const char *name)
{
    nt_module *module = context;
    nt_cpu_entry entry;
    void *symbol = module != NULL ? dlsym(module->library, name) : NULL;
    memcpy(&entry, &symbol, sizeof entry); /* ISO C has no cast between the two kinds of pointer */
    return entry;
}

static nt_status function_info(nt_device *device, nt_module *module, const char *entry, uint32_t block_threads,
                               uint32_t smem_dynamic_bytes, nt_function_info *out, nt_error *err)
{
    (void)device;
    (void)block_threads;
    (void)smem_dynamic_bytes;
    out->registers = out->smem_static_bytes = out->local_bytes = NT_UNKNOWN;
    out->max_threads_per_block = out->blocks_per_sm = NT_UNKNOWN;
    if (find_entry(module, entry) == NULL)
        return nt_fail(err, NT_LAUNCH_FAILED, "the compiled code has no entry '%s'", entry);
    return NT_OK;
}

/* ---- execution --------------------------------------------------------------------------------------------------------- */

static nt_status run(nt_device *device, nt_module *module, const nt_plan *plan, bool prepare, const nt_binding *binding,
                     double *elapsed_ns, nt_error *err)
{
    nt_cpu_script script;
    size_t position = 0;
    nt_status status =
        nt_cpu_script_make(prepare ? plan->prepare : plan->stage, prepare ? plan->prepare_count : plan->stage_count,
                           find_entry, module, &script, err);
    if (status == NT_OK)
        nt_cpu_series_run(device->pool, &(nt_cpu_series){&script, binding, 1, &position, 1, 1, elapsed_ns});
    nt_cpu_script_done(&script);
    return status;
}

static nt_status sample(nt_device *device, const nt_sample_request *request, nt_error *err)
{
    nt_cpu_script script;
    if (request->ring_count == 0 || request->launches < 1)
        return nt_fail(err, NT_FAILED, "a sample needs a ring of at least one binding and at least one launch");
    nt_status status =
        nt_cpu_script_make(request->plan->stage, request->plan->stage_count, find_entry, request->module, &script, err);
    if (status == NT_OK)
        nt_cpu_series_run(device->pool, &(nt_cpu_series){&script, request->ring, request->ring_count, request->position,
                                                         request->launches, request->count, request->out_ns});
    nt_cpu_script_done(&script);
    if (status != NT_OK)
        return status;
    for (size_t i = 0; request->out_clock_mhz != NULL && i < request->count; i++)
        request->out_clock_mhz[i] = NAN; /* no counter that a user may read; conditions have the clock at the end */
    return NT_OK;
}

static void empty_entry(void *const *args, int64_t begin, int64_t end, int32_t thread, int32_t threads)
{
    (void)args;
    (void)begin;
    (void)end;
    (void)thread;
    (void)threads;
}

static nt_cpu_entry find_empty(void *context, const char *name)
{
    (void)context;
    (void)name;
    return empty_entry;
}

static nt_status floor_period(nt_device *device, double *period_ns, nt_error *err)
{
    nt_stage stage;
    nt_cpu_script script;
    nt_binding none = {{0}};
    double ns[FLOOR_SAMPLES];
    size_t position = 0;
    nt_stage_kernel(&stage, "empty", (uint32_t)nt_cpu_pool_threads(device->pool), 1, 1, 1, 1, 1);
    nt_status status = nt_cpu_script_make(&stage, 1, find_empty, NULL, &script, err);
    if (status != NT_OK)
        return status;
    nt_cpu_series_run(device->pool, &(nt_cpu_series){&script, &none, 1, &position, FLOOR_LAUNCHES, FLOOR_SAMPLES, ns});
    *period_ns = nt_median(ns, FLOOR_SAMPLES);
    return NT_OK;
}

static nt_status compare(nt_device *device, const nt_compare_request *request, nt_compare_result *out, nt_error *err)
{
    return nt_cpu_compare(device->pool, request, out, err);
}

static void conditions_begin(nt_device *device)
{
    nt_cpu_sensors_begin(&device->sensors);
}

static void conditions_end(nt_device *device, nt_conditions *out)
{
    nt_cpu_sensors_end(&device->sensors, device->cpus, (int)device->info.sm_count, out);
}

const nt_device_ops nt_device_cpu_ops = {
    .name = "cpu",
    .kind = NT_DEVICE_CPU,
    .list = list,
    .open = open_device,
    .close = close_device,
    .info = info,
    .libraries = libraries,
    .alloc = alloc,
    .free = free_memory,
    .memory_free = memory_free,
    .upload = upload,
    .download = download,
    .copy = copy,
    .fill = fill,
    .count_changed = count_changed,
    .module_load = module_load,
    .module_unload = module_unload,
    .function_info = function_info,
    .run = run,
    .sample = sample,
    .floor = floor_period,
    .compare = compare,
    .conditions_begin = conditions_begin,
    .conditions_end = conditions_end,
};
