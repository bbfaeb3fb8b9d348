/* warn.h: warnings on stderr, each with an id that --no-warn ID silences. */
#ifndef NT_WARN_H
#define NT_WARN_H

#include "cli/options.h"

/* "nntune: warning: TEXT [ID]" */
void nt_warn(const nt_args *args, const char *id, const char *format, ...) __attribute__((format(printf, 3, 4)));

#endif
