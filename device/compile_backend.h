/* compile_backend.h: what one compiler does for compiler.c: NVRTC (cuda), the system's C compiler (cpu), none (fake).
 */
#ifndef NT_COMPILE_BACKEND_H
#define NT_COMPILE_BACKEND_H

#include "device/compiler.h"

/* Code and what the compiler said about it. Free with nt_compiled_done. */
typedef struct nt_compiled {
    unsigned char *code;
    size_t bytes;
    int64_t registers, smem_static_bytes, spill_bytes; /* NT_UNKNOWN where the compiler does not say */
    bool forget; /* of an NT_COMPILE_FAILED that may not be the source's fault: a header missing, a disk full */
} nt_compiled;

void nt_compiled_done(nt_compiled *compiled);

typedef struct nt_compile_backend {
    nt_device_kind kind;
    const char *suffix; /* .cubin, .so */
    const char *flags;  /* what every compile of this backend adds to the request's options: part of the key */
    nt_status (*identity)(char *out, size_t capacity, nt_error *err);
    /* NT_COMPILE_FAILED: err->what is the compiler's first error with its line. Remembered unless out->forget. Other
     * failures are of the machine
     * (no compiler, no disk) and are not remembered. */
    nt_status (*compile)(const nt_compile_request *request, nt_compiled *out, nt_error *err);
    /* Human-readable forms for `nntune show`: PTX or assembly. Caller frees *out. May be NULL. */
    nt_status (*assembly)(const nt_compile_request *request, char **out, nt_error *err);
} nt_compile_backend;

extern const nt_compile_backend nt_compile_nvrtc, nt_compile_cc, nt_compile_fake;

#endif
