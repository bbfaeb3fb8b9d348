/* count_request.h: which metrics the library inside a program is to count, in the form that it reads (spool_format.h).
 */
#ifndef NT_COUNT_REQUEST_H
#define NT_COUNT_REQUEST_H

#include "core/status.h"
#include "core/str.h"

/* `asked` holds sets, columns and metrics of CUPTI. With the name of a chip, names are checked against its catalogue
 * and *passes is how many times a launch will run; without ("") names of CUPTI pass unchecked and *passes is 0.
 * NT_USAGE for a name that is wrong, with those nearest to it. */
nt_status nt_count_request(const char *const *asked, size_t count, const char *chip, nt_str *out, int *passes,
                           nt_error *err);

#endif
