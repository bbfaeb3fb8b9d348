/* nvrtc_api.h: the table of NVRTC's functions, for nvrtc*.c alone. Prototypes as NVRTC documents them, with its enums
 * as int and its program as an opaque pointer. */
#ifndef NT_NVRTC_API_H
#define NT_NVRTC_API_H

#include <stddef.h>

#include "core/status.h"

typedef struct nt_nvrtc_program_s *nt_nvrtc_program;

typedef struct nt_nvrtc_api {
    int (*version)(int *major, int *minor);
    int (*arch_count)(int *count); /* optional, as archs: from CUDA 11.2 */
    int (*archs)(int *archs);
    const char *(*error_string)(int result);
    int (*create)(nt_nvrtc_program *program, const char *source, const char *name, int headers,
                  const char *const *header_text, const char *const *header_name);
    int (*destroy)(nt_nvrtc_program *program);
    int (*compile)(nt_nvrtc_program program, int count, const char *const *options);
    int (*cubin_size)(nt_nvrtc_program program, size_t *bytes);
    int (*cubin)(nt_nvrtc_program program, char *out);
    int (*ptx_size)(nt_nvrtc_program program, size_t *bytes);
    int (*ptx)(nt_nvrtc_program program, char *out);
    int (*log_size)(nt_nvrtc_program program, size_t *bytes);
    int (*log)(nt_nvrtc_program program, char *out);
    int (*add_name)(nt_nvrtc_program program, const char *expression); /* optional, as lowered_name: for templates */
    int (*lowered_name)(nt_nvrtc_program program, const char *expression, const char **name);
} nt_nvrtc_api;

/* Opens NVRTC on the first call. A failure is tried again by the next call; success is kept for the process.
 * *path (may be NULL) is the file that was opened. */
nt_status nt_nvrtc_api_get(const nt_nvrtc_api **api, const char **path, nt_error *err);

#endif
