/* cuda_device.h: what the files of the cuda device share: the device, its modules, and the parts that each file does.
 * For cuda_*.c and for profilers that need nt_cuda_native; others see device.h.
 *
 * A device belongs to the thread that opened it. All work goes to one stream, so every operation sees those before it.
 *   cuda_device.c   open, close, the struct of functions      cuda_identity.c  limits, peaks, listing
 *   cuda_memory.c   buffers                                   cuda_module.c    compiled code and its functions
 *   cuda_launch.c   a plan's stages on the stream             cuda_sample.c    timing
 *   cuda_gate.c     holding the GPU back                      cuda_clock.c     SM clocks beside the timing
 *   cuda_compare.c  outputs against references                cuda_support.c   the device's own kernels
 *   cuda_watch.c    temperature, power, throttling beside the timing
 *   cuda_tensor_map.c  tensors as the copy engine sees them   cuda_vendor.c    calls of NVIDIA's libraries */
#ifndef NT_CUDA_DEVICE_H
#define NT_CUDA_DEVICE_H

#ifdef NT_HAVE_CUDA_H

#include "device/cuda_driver.h"
#include "device/cuda_vendor.h"
#include "device/device.h"

typedef struct nt_cuda_function {
    char entry[NT_ENTRY_BYTES];
    CUfunction handle;
    uint32_t smem_dynamic_bytes; /* the limit set so far */
    bool wide_cluster;           /* clusters of more than 8 blocks were allowed */
    bool looked_up_to_run;       /* so whatever the driver puts off until a first run is done by now */
} nt_cuda_function;

struct nt_module {
    CUmodule handle;
    nt_cuda_function *function; /* those asked for so far */
    size_t count, capacity;
    nt_str path;
    char *names; /* of kernels named by expressions; NULL where there are none */
};

/* Memory that both sides see: the host opens the gate, the device says that it did not wait any longer. */
typedef struct nt_cuda_gate {
    volatile uint32_t open;
    volatile uint32_t expired;
} nt_cuda_gate;

typedef struct nt_cuda_watch nt_cuda_watch;

struct nt_device {
    nt_device_info info;
    const nt_cuda_api *cu;
    CUdevice handle;
    CUcontext context;
    CUstream stream;
    CUevent begin, end; /* of run() */

    nt_module *support; /* NULL until first needed */
    nt_mem scratch;     /* grows */
    size_t scratch_bytes;

    nt_cuda_gate *gate; /* host address; NULL until first needed */
    CUdeviceptr gate_address;
    CUfunction hold;
    uint32_t ticket;   /* of the last hold queued */
    bool gate_useless; /* a launch waits for its kernel here (a profiler, CUDA_LAUNCH_BLOCKING): no holding back */
    CUevent *event;    /* two a sample */
    size_t event_count, event_capacity;
    double bracket_ns; /* length of an empty bracket, once calibrated */
    bool calibrated;

    nt_cuda_calls calls; /* of vendors' libraries */

    nt_cuda_watch *watch; /* NULL without NVML and until first needed */
    bool watch_tried;
    double *clock; /* SM clocks of the samples since conditions_begin */
    size_t clock_count, clock_capacity;
};

/* ---- cuda_device.c ---- */
/* The driver's own names for an open device: for profilers, which attach to its context. */
void nt_cuda_native(const nt_device *device, CUdevice *handle, CUcontext *context);

/* ---- cuda_identity.c ---- */
void nt_cuda_list(nt_device_listing *out);
nt_status nt_cuda_identify(const nt_cuda_api *cu, int ordinal, CUdevice *handle, nt_device_info *out, nt_error *err);

/* ---- cuda_memory.c ---- */
nt_status nt_cuda_alloc(nt_device *device, size_t bytes, nt_mem *out, nt_error *err);
void nt_cuda_free(nt_device *device, nt_mem memory);
nt_status nt_cuda_memory_free(nt_device *device, size_t *free_bytes, nt_error *err);
nt_status nt_cuda_upload(nt_device *device, nt_mem to, const void *from, size_t bytes, nt_error *err);
nt_status nt_cuda_download(nt_device *device, void *to, nt_mem from, size_t bytes, nt_error *err);
nt_status nt_cuda_copy(nt_device *device, nt_mem to, nt_mem from, size_t bytes, nt_error *err);
nt_status nt_cuda_fill(nt_device *device, nt_mem to, unsigned char byte, size_t bytes, nt_error *err);
/* At least `bytes` of device memory that the next call may take over. */
nt_status nt_cuda_scratch(nt_device *device, size_t bytes, nt_mem *out, nt_error *err);
/* Waits for the stream; what went wrong on it since the last wait comes out here, said to have happened in `doing`. */
nt_status nt_cuda_wait(nt_device *device, const char *doing, nt_error *err);

/* ---- cuda_module.c ---- */
nt_status nt_cuda_module_load(nt_device *device, const char *path, nt_module **out, nt_error *err);
void nt_cuda_module_unload(nt_device *device, nt_module *module);
nt_status nt_cuda_function_info(nt_device *device, nt_module *module, const char *entry, uint32_t block_threads,
                                uint32_t smem_dynamic_bytes, nt_function_info *out, nt_error *err);
/* Address of a variable that holds at least `bytes`. */
nt_status nt_cuda_variable_get(nt_device *device, nt_module *module, const char *name, size_t bytes, CUdeviceptr *out,
                               nt_error *err);
/* Looks up an entry and raises its dynamic shared memory limit. *out is valid until the next call for this module. */
nt_status nt_cuda_function_get(nt_device *device, nt_module *module, const char *entry, uint32_t smem_dynamic_bytes,
                               nt_cuda_function **out, nt_error *err);

/* ---- cuda_launch.c ---- */
/* Stages with their functions looked up: what is left to do for a launch is one call. */
typedef struct nt_cuda_stages {
    int count;
    const nt_stage *stage;
    CUfunction function[NT_MAX_STAGES];
    CUdeviceptr variable[NT_MAX_STAGES]; /* of SYMBOL */
    nt_cuda_call *call[NT_MAX_STAGES];   /* of VENDOR */
    int operations;                      /* what one execution puts on the stream, about */
    bool first_time;                     /* one of them has never run on this device */
} nt_cuda_stages;

nt_status nt_cuda_stages_get(nt_device *device, nt_module *module, const nt_stage *stage, int count,
                             nt_cuda_stages *out, nt_error *err);
/* Puts stage `index` on the stream. Returns the driver's code, or a library's for a VENDOR stage, so that the caller
 * can tidy up before it reports. */
CUresult nt_cuda_enqueue(nt_device *device, const nt_cuda_stages *stages, int index, const nt_binding *binding);
nt_status nt_cuda_launch_error(CUresult result, const nt_stage *stage, nt_error *err);
nt_status nt_cuda_launch(nt_device *device, nt_module *module, const nt_plan *plan, const nt_binding *binding,
                         nt_error *err);
nt_status nt_cuda_run(nt_device *device, nt_module *module, const nt_plan *plan, bool prepare,
                      const nt_binding *binding, double *elapsed_ns, nt_error *err);

/* ---- cuda_tensor_map.c ---- */
/* The map as a kernel takes it, over the buffer that the binding gives. */
CUresult nt_cuda_tensor_map(nt_device *device, const nt_tensor_map *map, const nt_binding *binding, CUtensorMap *out);

/* ---- cuda_gate.c ---- */
/* Holds the GPU back while launches are queued, so that the host's speed is outside the brackets. */
nt_status nt_cuda_gate_prepare(nt_device *device, nt_error *err); /* before the first of a request */
CUresult nt_cuda_gate_hold(nt_device *device);                    /* queues the kernel that waits */
void nt_cuda_gate_open(nt_device *device);                        /* lets go of all that was held */
/* Whether the GPU gave up waiting since the last prepare, because the host took too long. */
bool nt_cuda_gate_expired(const nt_device *device);

/* ---- cuda_clock.c ---- */
/* Readings of every SM's clock, put between samples: reading i is taken before sample i, reading i + 1 after it. */
typedef struct nt_cuda_clocks {
    CUfunction function;
    nt_mem readings;
    uint32_t slots; /* SMs */
    size_t count;   /* readings */
} nt_cuda_clocks;

nt_status nt_cuda_clocks_prepare(nt_device *device, size_t samples, nt_cuda_clocks *out, nt_error *err);
CUresult nt_cuda_clocks_read(nt_device *device, const nt_cuda_clocks *clocks, size_t index);
/* MHz of each sample; NAN where the readings tell nothing. The stream must be idle. Also adds them to device->clock. */
nt_status nt_cuda_clocks_fetch(nt_device *device, const nt_cuda_clocks *clocks, double *out_mhz, nt_error *err);

/* ---- cuda_sample.c ---- */
nt_status nt_cuda_sample(nt_device *device, const nt_sample_request *request, nt_error *err);
nt_status nt_cuda_floor(nt_device *device, double *period_ns, nt_error *err);

/* ---- cuda_support.c ---- */
/* The module of cuda_support.cu, compiled and loaded on the first call. */
nt_status nt_cuda_support(nt_device *device, nt_module **out, nt_error *err);
/* One of its kernels, with arguments as cuLaunchKernel takes them. */
CUresult nt_cuda_support_launch(nt_device *device, CUfunction function, uint32_t blocks, uint32_t threads, void **args);

/* ---- cuda_compare.c ---- */
nt_status nt_cuda_count_changed(nt_device *device, nt_mem at, unsigned char byte, size_t bytes, size_t *changed,
                                nt_error *err);
nt_status nt_cuda_compare(nt_device *device, const nt_compare_request *request, nt_compare_result *out, nt_error *err);

/* ---- cuda_watch.c ---- */
nt_cuda_watch *nt_cuda_watch_start(const char *uuid); /* NULL without NVML */
void nt_cuda_watch_stop(nt_cuda_watch *watch);        /* NULL allowed */
void nt_cuda_conditions_begin(nt_device *device);
void nt_cuda_conditions_end(nt_device *device, nt_conditions *out);

#endif
#endif
