/* cupti_error.h: what a code of CUPTI means for nntune: status, name and next step. Pure, and known without NVIDIA's
 * header, so that every build can explain a code.
 *
 * Statuses: NT_NO_PERMISSION a setting of the system forbids it, NT_BUSY another tool holds what is needed,
 * NT_NO_DEVICE this device never gives it, NT_NOT_FOUND a name the chip does not know, NT_FAILED anything else. */
#ifndef NT_CUPTI_ERROR_H
#define NT_CUPTI_ERROR_H

#include "core/status.h"

enum {
    NT_CUPTI_INVALID_OPERATION = 7,
    NT_CUPTI_UNKNOWN_NAME = 17,
    NT_CUPTI_BUSY = 26,
    NT_CUPTI_NOT_SUPPORTED = 27,
    NT_CUPTI_NO_PRIVILEGES = 35,
    NT_CUPTI_SECOND_SUBSCRIBER = 39
};

/* NT_OK for 0; NT_FAILED for a code that is not in the table. */
nt_status nt_cupti_status(int result);

/* "CUPTI_ERROR_HARDWARE_BUSY"; "CUPTI error" for a code that is not in the table. */
const char *nt_cupti_error_name(int result);

/* What to do next; empty when there is nothing to add. */
const char *nt_cupti_error_hint(int result);

/* Fills err: "<what was being done>: CUPTI_ERROR_... (26)" and the hint. Returns the status. result must not be 0. */
nt_status nt_cupti_fail(nt_error *err, int result, const char *format, ...) __attribute__((format(printf, 3, 4)));

/* Fills err for a library too old to have a function: says which, and what has it. */
nt_status nt_cupti_lacks(nt_error *err, const char *function);

#endif
