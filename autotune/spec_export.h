/* spec_export.h: a user's kernel as a T1 file, for other tuners. */
#ifndef NT_SPEC_EXPORT_H
#define NT_SPEC_EXPORT_H

#include "autotune/spec.h"

/* The text of a T1 file. A spec that is T1 comes back equal as JSON, unknown keys kept; of our own format goes over
 * what T1 can say, and *dropped gets the rest as a list of words. File names stay as the spec has them: relative to it.
 */
nt_status nt_spec_export_t1(const char *path, nt_str *out, nt_str *dropped, nt_error *err);

#endif
