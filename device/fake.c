/* fake.c: nt_device_fake_ops. Memory is real host memory, so uploads, fills and guard zones behave; kernels are not
 * run, so comparisons find no fault except one that was planted (fake.h). */
#include "device/fake.h"

#include "core/mem.h"
#include "core/paths.h"

#include <fcntl.h>
#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/resource.h>
#include <unistd.h>

static const double floor_ns = 1000;
static const size_t memory_bytes = (size_t)1 << 30;
enum { FAKE_DEVICES = 4 }; /* all alike */

struct nt_device {
    nt_device_info info;
    nt_fake_fault last; /* what the last run planted for comparisons and samples */
    size_t used_bytes;
    double sampled_ns; /* period of what was sampled last */
    int alone_fd; /* NNTUNE_FAKE_EXCLUSIVE */
};

struct nt_module {
    char *artefact;
};

/* In front of each allocation, so that free knows its size. */
typedef struct block {
    size_t bytes;
    char pad[256 - sizeof(size_t)];
} block;

static void list(nt_device_listing *out)
{
    memset(out, 0, sizeof *out);
}

/* -1 where many may open it; released with the process, or by close. */
static nt_status take_alone(int *fd, nt_error *err)
{
    const char *path = getenv("NNTUNE_FAKE_EXCLUSIVE");
    *fd = path != NULL ? open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600) : -1;
    if (*fd < 0 || flock(*fd, LOCK_EX | LOCK_NB) == 0)
        return NT_OK;
    close(*fd);
    return nt_fail(err, NT_BUSY, "another process has the fake device open, and it is exclusive");
}

static nt_status open_device(int ordinal, nt_device **out, nt_error *err)
{
    if (ordinal >= FAKE_DEVICES)
        return nt_fail(err, NT_NO_DEVICE, "there are %d fake devices; number %d was asked for", FAKE_DEVICES, ordinal);
    int alone_fd;
    nt_status status = take_alone(&alone_fd, err);
    if (status != NT_OK)
        return status;
    nt_device *device = nt_alloc_zero(1, sizeof *device);
    device->alone_fd = alone_fd;
    device->info = (nt_device_info){
        .kind = NT_DEVICE_FAKE,
        .name = "fake device",
        .arch = "fake",
        .driver = "fake 1",
        .compiler = "fake compiler 1",
        .compute_capability = 90,
        .sm_count = 16,
        .memory_bytes = (int64_t)memory_bytes,
        .l2_bytes = 1 << 20,
        .smem_per_block_bytes = 232448,
        .smem_per_sm_bytes = 233472,
        .smem_reserved_bytes = 1024,
        .regs_per_block = 65536,
        .regs_per_sm = 65536,
        .max_threads_per_block = 1024,
        .max_threads_per_sm = 2048,
        .max_blocks_per_sm = 32,
        .warp_size = 32,
        .sm_clock_max_mhz = 1000,
        .mem_clock_max_mhz = 1000,
        .dram_peak_bytes_per_s = 1e12,
        .peak_source = "fake",
    };
    for (int p = 0; p < NT_PRECISION_COUNT; p++)
        device->info.peak_flops[p] = 1e14;
    snprintf(device->info.uuid, sizeof device->info.uuid, "FAKE-%d", ordinal);
    *out = device;
    return NT_OK;
}

static void close_device(nt_device *device)
{
    if (device->alone_fd >= 0)
        close(device->alone_fd);
    free(device);
}

static const nt_device_info *info(const nt_device *device)
{
    return &device->info;
}

/* ---- memory -------------------------------------------------------------------------------------------------------------- */

static void *pointer(nt_mem memory)
{
    return (void *)(uintptr_t)memory;
}

static nt_status memory_free(nt_device *device, size_t *free_bytes, nt_error *err)
{
    (void)err;
    *free_bytes = memory_bytes - device->used_bytes;
    return NT_OK;
}

static nt_status alloc(nt_device *device, size_t bytes, nt_mem *out, nt_error *err)
{
    void *memory;
    if (bytes > memory_bytes - device->used_bytes || posix_memalign(&memory, sizeof(block), sizeof(block) + bytes) != 0)
        return nt_fail(err, NT_NO_MEMORY, "%zu bytes are needed and %zu are available", bytes,
                       memory_bytes - device->used_bytes);
    ((block *)memory)->bytes = bytes;
    device->used_bytes += bytes;
    *out = (nt_mem)(uintptr_t)memory + sizeof(block);
    return NT_OK;
}

static void free_memory(nt_device *device, nt_mem memory)
{
    if (memory == 0)
        return;
    block *before = pointer(memory - sizeof(block));
    device->used_bytes -= before->bytes;
    free(before);
}

static nt_status upload(nt_device *device, nt_mem to, const void *from, size_t bytes, nt_error *err)
{
    (void)device;
    (void)err;
    memcpy(pointer(to), from, bytes);
    return NT_OK;
}

static nt_status download(nt_device *device, void *to, nt_mem from, size_t bytes, nt_error *err)
{
    (void)device;
    (void)err;
    memcpy(to, pointer(from), bytes);
    return NT_OK;
}

static nt_status copy(nt_device *device, nt_mem to, nt_mem from, size_t bytes, nt_error *err)
{
    return upload(device, to, pointer(from), bytes, err);
}

static nt_status fill(nt_device *device, nt_mem to, unsigned char byte, size_t bytes, nt_error *err)
{
    (void)device;
    (void)err;
    memset(pointer(to), byte, bytes);
    return NT_OK;
}

static nt_status count_changed(nt_device *device, nt_mem at, unsigned char byte, size_t bytes, size_t *changed,
                               nt_error *err)
{
    const unsigned char *from = pointer(at);
    (void)device;
    (void)err;
    *changed = 0;
    for (size_t i = 0; i < bytes; i++)
        *changed += from[i] != byte;
    return NT_OK;
}

/* ---- modules ------------------------------------------------------------------------------------------------------------- */

/* One write, appended: lines of several processes do not mix. */
static void log_load(const char *artefact)
{
    const char *path = getenv("NNTUNE_FAKE_LOG");
    int fd = path != NULL && path[0] != '\0' ? open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600) : -1;
    if (fd >= 0) {
        dprintf(fd, "load %s pid=%ld\n", artefact, (long)getpid());
        close(fd);
    }
}

static nt_status module_load(nt_device *device, const char *path, nt_module **out, nt_error *err)
{
    char *artefact;
    (void)device;
    nt_status status = nt_read_file(path, 65536, &artefact, NULL, err);
    if (status != NT_OK)
        return nt_fail(err, NT_LAUNCH_FAILED, "cannot load the compiled kernel %s", path);
    log_load(artefact);
    *out = nt_alloc(sizeof **out);
    (*out)->artefact = artefact;
    return NT_OK;
}

static void module_unload(nt_device *device, nt_module *module)
{
    (void)device;
    if (module == NULL)
        return;
    free(module->artefact);
    free(module);
}

static nt_status function_info(nt_device *device, nt_module *module, const char *entry, uint32_t block_threads,
                               uint32_t smem_dynamic_bytes, nt_function_info *out, nt_error *err)
{
    (void)device;
    (void)module;
    (void)entry;
    (void)smem_dynamic_bytes;
    (void)err;
    *out = (nt_function_info){32, 0, 0, 1024, block_threads > 0 ? 2048 / block_threads : NT_UNKNOWN};
    return NT_OK;
}

/* ---- execution ------------------------------------------------------------------------------------------------------------ */

static nt_status suffer(nt_fake_fault fault, nt_error *err)
{
    if (fault == NT_FAKE_CRASH) {
        struct rlimit none = {0, 0};
        setrlimit(RLIMIT_CORE, &none);
        signal(SIGSEGV, SIG_DFL); /* also where a sanitizer has put its own handler */
        raise(SIGSEGV);
    }
    if (fault == NT_FAKE_HANG)
        for (;;)
            pause();
    if (fault == NT_FAKE_LOST)
        return nt_fail(err, NT_DEVICE_LOST, "the fake device is lost, as NNTUNE_FAKE_FAULT asks");
    if (fault == NT_FAKE_LAUNCH)
        return nt_fail(err, NT_LAUNCH_FAILED, "the fake launch fails, as NNTUNE_FAKE_FAULT asks");
    return NT_OK;
}

static const char *artefact_of(const nt_module *module)
{
    return module != NULL ? module->artefact : "";
}

static nt_status run(nt_device *device, nt_module *module, const nt_plan *plan, bool prepare, const nt_binding *binding,
                     double *elapsed_ns, nt_error *err)
{
    (void)binding;
    if (elapsed_ns != NULL)
        *elapsed_ns = prepare ? floor_ns : nt_fake_time_ns(artefact_of(module), plan);
    if (prepare)
        return NT_OK;
    nt_status status = nt_fake_count_run(&device->last, err);
    return status == NT_OK ? suffer(device->last, err) : status;
}

/* The period, give or take 0.1 % in a pattern that depends on the position alone. */
static nt_status sample(nt_device *device, const nt_sample_request *request, nt_error *err)
{
    static const double wobble[] = {0, 0.4, -0.6, 0.2, -0.2, 0.8, -0.4, 0.6, -1, 1, -0.8};
    double period = nt_fake_time_ns(artefact_of(request->module), request->plan);
    (void)err;
    device->sampled_ns = period;
    for (size_t i = 0; i < request->count; i++) {
        size_t at = *request->position % (sizeof wobble / sizeof wobble[0]);
        request->out_ns[i] = device->last == NT_FAKE_LIE ? -period : period * (1 + 0.001 * wobble[at]);
        if (request->out_clock_mhz != NULL)
            request->out_clock_mhz[i] = 1000;
        *request->position += (size_t)request->launches;
    }
    return NT_OK;
}

static nt_status floor_period(nt_device *device, double *period_ns, nt_error *err)
{
    (void)device;
    (void)err;
    *period_ns = floor_ns;
    return NT_OK;
}

static nt_status compare(nt_device *device, const nt_compare_request *request, nt_compare_result *out, nt_error *err)
{
    (void)err;
    *out = (nt_compare_result){.max_ratio = 0.25, .first_bad = request->count};
    out->sum_sq_diff = request->original != 0 ? 1e-12 : NAN;
    out->sum_sq_ref = request->original != 0 ? 1 : NAN;
    if (device->last == NT_FAKE_WRONG) {
        out->max_ratio = 1000;
        out->violations = 1;
        out->first_bad = 0;
        out->first_out = 1;
    }
    return NT_OK;
}

static void conditions_begin(nt_device *device)
{
    (void)device;
}

static void conditions_end(nt_device *device, nt_conditions *out)
{
    const char *most_mw = getenv("NNTUNE_FAKE_POWER_MW");
    double speed = NT_FAKE_BEST_NS / device->sampled_ns;
    *out = (nt_conditions){1000, 40, NAN, NAN, NT_UNKNOWN};
    if (most_mw != NULL && device->sampled_ns > 0)
        out->power_mw = strtod(most_mw, NULL) * (0.01 + speed * speed * speed);
}

const nt_device_ops nt_device_fake_ops = {
    .name = "fake",
    .kind = NT_DEVICE_FAKE,
    .list = list,
    .open = open_device,
    .close = close_device,
    .info = info,
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
