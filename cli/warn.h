/* warn.h: warnings on stderr, each with an id that --no-warn ID silences. A new warning is a row in warn.c: the option
 * takes its ids from there, the man page its meanings. */
#ifndef NT_WARN_H
#define NT_WARN_H

#include "cli/options.h"

typedef struct nt_warning {
    const char *id;
    const char *meaning;
} nt_warning;

extern const nt_warning nt_warnings[];     /* ends with a row without id */
extern const char *const nt_warning_ids[]; /* the same ids, NULL-terminated */

/* "nntune: warning: TEXT [ID]" */
void nt_warn(const nt_args *args, const char *id, const char *format, ...) __attribute__((format(printf, 3, 4)));

#endif
