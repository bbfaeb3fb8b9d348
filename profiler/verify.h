/* verify.h: is the output right? Before any time is taken, and once more for finalists on a fresh seed.
 *
 * The output is poisoned (every byte 0xFF: NaN in every floating type), the plan runs once on each of the input sets,
 * each element is compared with the fp64 reference under the stated bound, and the guard zones around inputs, output,
 * packed weights and workspace must be untouched. NaN and Inf never pass. */
#ifndef NT_VERIFY_H
#define NT_VERIFY_H

#include "device/device.h"
#include "profiler/guard.h"

/* One input set on the device with its references (f64). */
typedef struct nt_check_set {
    const nt_guarded *in, *weight;
    nt_mem ref, abs; /* on the inputs as rounded in memory; abs for the kernel's bound */
    nt_mem original; /* on the original fp32 inputs; may equal ref */
    nt_mem scale;    /* f64 per output channel, or 0 */
} nt_check_set;

typedef struct nt_verify_request {
    const nt_device_ops *ops;
    nt_device *device;
    nt_module *module;
    const nt_plan *plan;
    const nt_check_set *set;
    int set_count;
    nt_guarded *out, *packed, *workspace; /* resized to the plan's needs */
    size_t out_count;
    size_t channels, channel_stride;
    nt_dtype out_type;
    double gamma, unit_out, tiny;
} nt_verify_request;

typedef struct nt_verdict {
    bool right;
    double error_impl;   /* max |out - ref| / bound over both sets */
    double error_prec;   /* of the worse set */
    double prepare_ns;   /* NAN where there is nothing to prepare */
    double first_run_ns; /* least of the single executions: a first idea of its speed */
    char reason[512];    /* first wrong element with its values, or the guard zone written to */
} nt_verdict;

/* NT_OK when the check itself ran; `out->right` says how it ended. */
nt_status nt_verify(const nt_verify_request *request, nt_verdict *out, nt_error *err);

#endif
