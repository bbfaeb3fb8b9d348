/* device.h: what a device is. One struct of functions per kind: cuda, cpu, fake (tests only).
 *
 * Only a device worker (a child process) opens a device; the coordinator never does. Addresses are 64-bit numbers:
 * device pointers on cuda, host pointers on cpu and fake. Every function that can fail returns nt_status and fills
 * nt_error; NT_DEVICE_LOST means that the context is unusable and the worker must end. */
#ifndef NT_DEVICE_H
#define NT_DEVICE_H

#include "core/plan.h"
#include "core/record.h"

typedef struct nt_device nt_device;
typedef struct nt_module nt_module;
typedef uint64_t nt_mem;

/* What the compiled code needs, and what the device makes of it. */
typedef struct nt_function_info {
    int64_t registers, smem_static_bytes, local_bytes, max_threads_per_block;
    int64_t
        blocks_per_sm; /* by the driver, for the block size and dynamic shared memory asked about; NT_UNKNOWN on cpu */
} nt_function_info;

/* One request for samples. Launch i of the whole call uses ring[(*position + i) % ring_count], and *position runs on
 * across calls. Each sample is `launches` executions of all stages back to back in one bracket. */
typedef struct nt_sample_request {
    const nt_plan *plan;
    nt_module *module;
    const nt_binding *ring;
    size_t ring_count;
    size_t *position;
    int64_t launches;      /* per sample, >= 1 */
    size_t count;          /* samples wanted */
    double *out_ns;        /* [count] period of one execution: bracket / launches */
    double *out_clock_mhz; /* [count] or NULL; NAN where unknown */
} nt_sample_request;

/* Elementwise check of an output against its fp64 reference, done on the device.
 * bound_i = gamma * abs_i + unit_out * |ref_i| + tiny. Integer outputs (I32) are exact: gamma = unit_out = tiny = 0.
 * Outputs of I64 and U64 have a reference and an original of that type itself, since f64 would round them; their
 * difference is taken exactly, abs is not looked at and gamma is 0. */
typedef struct nt_compare_request {
    nt_mem out;
    nt_dtype out_type;
    size_t count;
    nt_mem ref, abs;                 /* f64[count]: reference on the inputs as rounded in memory, and its magnitude */
    nt_mem original;                 /* f64[count]: reference on the original fp32 inputs; 0 to skip error_prec */
    nt_mem channel_scale;            /* f64[channels]: out is multiplied by it before error_prec (int8); 0 for 1.0 */
    size_t channels, channel_stride; /* channel of element i = (i / channel_stride) % channels */
    double gamma, unit_out, tiny;
} nt_compare_request;

typedef struct nt_compare_result {
    double max_ratio;  /* max |out - ref| / bound; INFINITY for a NaN or Inf in out */
    size_t violations; /* elements with ratio > 1, NaN and Inf included */
    size_t first_bad;  /* lowest index of a violation; count when none */
    double first_out, first_ref;
    double sum_sq_diff, sum_sq_ref; /* against `original`; NAN when skipped */
} nt_compare_result;

/* What `nntune devices` shows for a kind that cannot be used. */
typedef struct nt_device_listing {
    int count; /* devices of this kind */
    nt_device_info info[16];
    char missing[512]; /* why there is none, or what is missing; empty when all is well */
    char hint[512];
} nt_device_listing;

typedef struct nt_device_ops {
    const char *name; /* "cuda", "cpu", "fake" */
    nt_device_kind kind;

    /* Lists devices without making a context where the kind allows it. Never fails: what is wrong is in `missing`. */
    void (*list)(nt_device_listing *out);

    nt_status (*open)(int ordinal, nt_device **out, nt_error *err);
    void (*close)(nt_device *device); /* NULL allowed */
    const nt_device_info *(*info)(const nt_device *device);

    /* Looks for the vendors' libraries that stages of plans may call (NT_STAGE_VENDOR) and notes in info->library their
     * versions, or why they cannot be used. Loads them, so only a worker does it, when asked. May be NULL: none. */
    void (*libraries)(nt_device_info *info);

    nt_status (*alloc)(nt_device *device, size_t bytes, nt_mem *out, nt_error *err); /* 256-byte aligned */
    void (*free)(nt_device *device, nt_mem memory);                                  /* 0 allowed */
    nt_status (*memory_free)(nt_device *device, size_t *free_bytes, nt_error *err);
    nt_status (*upload)(nt_device *device, nt_mem to, const void *from, size_t bytes, nt_error *err);
    nt_status (*download)(nt_device *device, void *to, nt_mem from, size_t bytes, nt_error *err);
    nt_status (*copy)(nt_device *device, nt_mem to, nt_mem from, size_t bytes, nt_error *err);
    nt_status (*fill)(nt_device *device, nt_mem to, unsigned char byte, size_t bytes, nt_error *err);

    /* Bytes that differ from `byte` in [at, at + bytes): the guard zone check. */
    nt_status (*count_changed)(nt_device *device, nt_mem at, unsigned char byte, size_t bytes, size_t *changed,
                               nt_error *err);

    nt_status (*module_load)(nt_device *device, const char *path, nt_module **out, nt_error *err);
    void (*module_unload)(nt_device *device, nt_module *module); /* NULL allowed */
    /* `entry` of a loaded module; sets the dynamic shared memory limit too. */
    nt_status (*function_info)(nt_device *device, nt_module *module, const char *entry, uint32_t block_threads,
                               uint32_t smem_dynamic_bytes, nt_function_info *out, nt_error *err);

    /* Runs prepare stages (prepare = true) or timed stages once and waits. *elapsed_ns may be NULL. */
    nt_status (*run)(nt_device *device, nt_module *module, const nt_plan *plan, bool prepare, const nt_binding *binding,
                     double *elapsed_ns, nt_error *err);
    nt_status (*sample)(nt_device *device, const nt_sample_request *request, nt_error *err);
    /* Period of back-to-back empty kernels: floor_ns of every trial. */
    nt_status (*floor)(nt_device *device, double *period_ns, nt_error *err);

    nt_status (*compare)(nt_device *device, const nt_compare_request *request, nt_compare_result *out, nt_error *err);

    /* Clocks, temperature, power now (NVML on cuda); NULL where the kind has nothing to say. */
    void (*conditions_begin)(nt_device *device);
    void (*conditions_end)(nt_device *device, nt_conditions *out);

    /* The timed stages once, without waiting: what goes wrong on the device shows in the next call that waits. NULL
     * where the kind has only run(). */
    nt_status (*launch)(nt_device *device, nt_module *module, const nt_plan *plan, const nt_binding *binding,
                        nt_error *err);

    /* Winograd's algorithm in a plan's vendor stage, as the library tells: outputs along the side of a tile, 0 where it
     * uses no such transforms. NULL where no library tells. */
    nt_status (*vendor_tile)(nt_device *device, const nt_plan *plan, int *out_tile, nt_error *err);
} nt_device_ops;

extern const nt_device_ops nt_device_cpu_ops, nt_device_cuda_ops, nt_device_fake_ops;

/* NULL when the kind is unknown. cuda is always there; built without CUDA headers its list says so. */
const nt_device_ops *nt_device_ops_of(nt_device_kind kind);

/* Parses "cpu", "cuda", "cuda:1", "fake". NT_USAGE names the right forms; `all` is the caller's business. */
nt_status nt_device_parse(const char *text, nt_device_kind *kind, int *ordinal, nt_error *err);

#endif
