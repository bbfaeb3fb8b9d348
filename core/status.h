/* status.h: what a function that can fail returns, and the error it fills in.
 *
 * Functions return nt_status and give results through pointers. Details for people go into the caller's
 * nt_error: `what` names the thing that failed and the values that would be right, `hint` is the next step.
 * Only cli/ prints errors; only cli/main.c exits. */
#ifndef NT_STATUS_H
#define NT_STATUS_H

/* X(name, text, exit code of a command that ends with it) */
#define NT_STATUS_MAP(X)                                                   \
    X(OK, "ok", 0)                                                         \
    X(FAILED, "failed", 1)                                                 \
    X(IO, "input/output error", 1)                                         \
    X(NO_MEMORY, "out of memory", 1)                                       \
    X(BUSY, "held by another process", 1)                                  \
    X(CORRUPT, "damaged data", 1)                                          \
    X(NEWER_SCHEMA, "written by a newer version", 1)                       \
    X(NOT_FOUND, "not found", 1)                                           \
    X(TIMED_OUT, "timed out", 1)                                           \
    X(COMPILE_FAILED, "does not compile", 1)                               \
    X(LAUNCH_FAILED, "cannot be launched", 1)                              \
    X(DEVICE_LOST, "the device or its context is lost", 1)                 \
    X(CLOSED, "the other end is gone", 1)                                  \
    X(USAGE, "usage error", 2)                                             \
    X(NO_SPACE, "no legal configuration", 2)                               \
    X(NO_DEVICE, "no usable device", 3)                                    \
    X(NO_PERMISSION, "not permitted", 3)                                   \
    X(WRONG_RESULT, "wrong result", 4)                                     \
    X(REGRESSION, "regression or stale entry", 5)

typedef enum nt_status {
#define X(name, text, code) NT_##name,
    NT_STATUS_MAP(X)
#undef X
        NT_STATUS_COUNT
} nt_status;

typedef struct nt_error {
    nt_status status;
    char what[1024]; /* one sentence without a final full stop */
    char hint[512];  /* what to do next; empty when there is nothing to add */
} nt_error;

/* Text of a status, never NULL. */
const char *nt_status_text(nt_status status);

/* Exit code a command ends with when it fails with this status. */
int nt_status_exit_code(nt_status status);

/* Fills `err` (which may be NULL) with a formatted `what` and an empty hint; returns `status`. */
nt_status nt_fail(nt_error *err, nt_status status, const char *format, ...) __attribute__((format(printf, 3, 4)));

/* Adds a hint to an error already filled; does nothing when err is NULL. Returns err->status (NT_FAILED for NULL). */
nt_status nt_hint(nt_error *err, const char *format, ...) __attribute__((format(printf, 2, 3)));

#endif
