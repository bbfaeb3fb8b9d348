/* nvrtc.h: NVIDIA's run-time compiler: where it is, what it knows, and the compile backend of the cuda device
 * (nt_compile_nvrtc of compile_backend.h).
 *
 * Searched in this order: NNTUNE_NVRTC (a file), the loader's path, CUDA_HOME, /usr/local/cuda*, Python wheels. The
 * prototypes are our own, so compiling for a GPU needs no toolkit at build time and no GPU at run time.
 *
 * Among a request's options --name-expression=EXPR is our own: a kernel as the source would name it, scale<16,float>. It
 * is compiled for these arguments, and its symbol stands in the name table behind the cubin (name_table.h). */
#ifndef NT_NVRTC_H
#define NT_NVRTC_H

#include "device/compile_backend.h"

enum { NT_NVRTC_MAX_ARCHS = 64 };

typedef struct nt_nvrtc_about {
    int major, minor;
    int arch_count;               /* 0 where this NVRTC does not tell */
    int arch[NT_NVRTC_MAX_ARCHS]; /* 75, 80, ..., ascending */
    char path[NT_PATH_BYTES];     /* the file that was opened */
} nt_nvrtc_about;

/* NT_NO_DEVICE with a hint when no NVRTC can be opened. */
nt_status nt_nvrtc_describe(nt_nvrtc_about *out, nt_error *err);

/* Whether the architecture (90 for sm_90) is among those described; true where NVRTC does not tell. */
bool nt_nvrtc_knows(const nt_nvrtc_about *about, int64_t compute_capability);

/* Compiles to PTX instead of a cubin (for sm_90a: compute_90a). Caller frees *out. Errors as the backend's compile. */
nt_status nt_nvrtc_ptx(const nt_compile_request *request, char **out, nt_error *err);

/* PTX, then the machine code where nvdisasm or cuobjdump is on PATH: the backend's `assembly`. Caller frees *out. */
nt_status nt_nvrtc_assembly(const nt_compile_request *request, char **out, nt_error *err);

#endif
