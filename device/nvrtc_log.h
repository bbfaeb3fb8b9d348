/* nvrtc_log.h: reading NVRTC's program log: what ptxas says about registers, spills and shared memory, and the first
 * error. Pure. */
#ifndef NT_NVRTC_LOG_H
#define NT_NVRTC_LOG_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The maximum of each over all entry functions; NT_UNKNOWN where the log does not say. */
typedef struct nt_nvrtc_usage {
    int64_t registers;
    int64_t smem_static_bytes;
    int64_t spill_bytes; /* stores + loads of one entry */
} nt_nvrtc_usage;

nt_nvrtc_usage nt_nvrtc_log_usage(const char *log);

/* Copies the first line that reports an error, else the first line with text, without trailing blanks.
 * An empty log gives an empty string. False: no line reports one. */
bool nt_nvrtc_log_error(const char *log, char *out, size_t capacity);

#endif
