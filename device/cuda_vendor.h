/* cuda_vendor.h: stages of plans that NVIDIA's libraries compute (cuBLASLt, cuDNN), opened at run time.
 *
 * What a stage asks for stands in core/vendor_call.h; its algorithm is an index into what the library offers for that
 * problem. A library chooses kernels and sets them up once, when the call is made ready; running it puts work on the
 * device's stream and waits for nothing. A device keeps its calls until it is closed.
 *
 * Environment: NNTUNE_CUBLASLT, NNTUNE_CUDNN: the library's file, instead of the one that is found. */
#ifndef NT_CUDA_VENDOR_H
#define NT_CUDA_VENDOR_H

#ifdef NT_HAVE_CUDA_H

#include "core/record.h"
#include "core/vendor_call.h"
#include "device/cuda_driver.h"

/* Kernels that a call may put on the stream, as far as queues are sized: most are one or two, layout changes come on
 * top. */
enum { NT_CUDA_VENDOR_OPERATIONS = 4 };

typedef struct nt_cuda_call nt_cuda_call;
struct nt_cuda_call {
    /* 0, or the library's own code. */
    int (*run)(nt_cuda_call *call, const nt_binding *binding, CUstream stream);
    void (*free)(nt_cuda_call *call);
    int out_tile; /* outputs along the side of a tile of Winograd's algorithm; 0: the library uses no such transforms */
};

/* What a library is to the device. */
typedef struct nt_cuda_vendor_ops {
    nt_vendor vendor;
    /* Opens the library; notes its version, or what is missing and what would help. */
    void (*find)(nt_vendor_library *out);
    /* NT_LAUNCH_FAILED: the library does not do this, has fewer algorithms, or wants more workspace. */
    nt_status (*make)(const nt_vendor_conv *conv, int64_t algorithm, nt_cuda_call **out, nt_error *err);
    const char *(*explain)(int code); /* of a call's run */
} nt_cuda_vendor_ops;

extern const nt_cuda_vendor_ops nt_vendor_cublaslt, nt_vendor_cudnn;

/* nt_device_ops.libraries of the cuda device. */
void nt_cuda_vendor_libraries(nt_device_info *info);
nt_status nt_cuda_vendor_make(const nt_stage *stage, nt_cuda_call **out, nt_error *err);
/* NT_LAUNCH_FAILED with what the code of the stage's call means. */
nt_status nt_cuda_vendor_error(int code, const nt_stage *stage, nt_error *err);

/* ---- calls that a device keeps ---- */
typedef struct nt_cuda_calls {
    struct {
        nt_stage stage;
        nt_cuda_call *call;
    } * kept;
    size_t count, capacity;
} nt_cuda_calls;

/* The call of a stage, made when it is asked for first (*fresh). Owned by `calls`. */
nt_status nt_cuda_call_get(nt_cuda_calls *calls, const nt_stage *stage, nt_cuda_call **out, bool *fresh, nt_error *err);
void nt_cuda_calls_free(nt_cuda_calls *calls);
/* nt_device_ops.vendor_tile of the calls that a plan makes: the largest. */
nt_status nt_cuda_calls_tile(nt_cuda_calls *calls, const nt_plan *plan, int *out_tile, nt_error *err);

#endif
#endif
