/* cuda_error.h: what an error code of the CUDA driver means for nntune: status, name and next step. Pure, and known
 * without NVIDIA's header, so that every build can explain a code.
 *
 * Errors after which the context is unusable (illegal address, trap, launch time-out, ECC) are NT_DEVICE_LOST: the
 * worker must end. */
#ifndef NT_CUDA_ERROR_H
#define NT_CUDA_ERROR_H

#include "core/status.h"

/* NT_OK for 0; NT_FAILED for a code that is not in the table. */
nt_status nt_cuda_status(int result);

/* "CUDA_ERROR_ILLEGAL_ADDRESS"; "CUDA error" for a code that is not in the table. */
const char *nt_cuda_error_name(int result);

/* What to do next; empty when there is nothing to add. */
const char *nt_cuda_error_hint(int result);

/* Fills err: "<what was being done>: CUDA_ERROR_... (700)" and the hint. Returns the status. result must not be 0. */
nt_status nt_cuda_fail(nt_error *err, int result, const char *format, ...) __attribute__((format(printf, 3, 4)));

#endif
