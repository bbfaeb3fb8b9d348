/* spool.h: reads the spools that injected programs write (spool_format.h) into a trace, while they are written or
 * after.
 *
 * Nothing in a spool is trusted: it may be cut at any byte, damaged, or made by somebody else. What is whole is taken,
 * what is behind it is counted in the process' lost_bytes. */
#ifndef NT_SPOOL_H
#define NT_SPOOL_H

#include "core/trace.h"

typedef struct nt_spools nt_spools;

/* The spools in this folder, those that appear later included. `trace` must outlive it. */
nt_spools *nt_spools_open(const char *folder, nt_trace *trace);

/* Takes every frame that is whole by now. */
nt_status nt_spools_read(nt_spools *spools, nt_error *err);

/* Counts what is left behind the last whole frame of each as lost, and frees. NULL allowed. */
void nt_spools_close(nt_spools *spools);

/* Removes the spools of a folder, and the folder when nothing else is in it. */
void nt_spools_remove(const char *folder);

#endif
