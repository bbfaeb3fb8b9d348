/* chrome_trace.h: a trace as the JSON that Perfetto and chrome://tracing open. */
#ifndef NT_CHROME_TRACE_H
#define NT_CHROME_TRACE_H

#include "core/trace.h"

/* Writes to a file beside `path` and renames it, so that a full disk leaves nothing half-written under the name. */
nt_status nt_chrome_trace_write(const nt_trace *trace, const char *path, nt_error *err);

#endif
