/* inject.h: what the parts of the injected library share. It lives inside a program that knows nothing of it: it prints
 * nothing, ends nothing, and where it cannot record it says why in the spool and stays out of the way. */
#ifndef NT_INJECT_H
#define NT_INJECT_H

#include <stdbool.h>

#define NT_INJECT_EXPORT __attribute__((visibility("default")))

/* Once a process: the thread that empties buffers, handlers for fork and exit. False where no folder for spools is set.
 */
bool nt_inject_start(void);

/* activity.c: begins recording through CUPTI; a reason goes into the spool where that fails. */
void nt_activity_start(void);
/* Brings what the GPU has finished into the spool; `all` takes unfinished records as well, at the end. */
void nt_activity_flush(bool all);
/* After fork: the CUDA state of the parent is not ours. */
void nt_activity_forget(void);
/* ranges.c: likewise, counting from one again. */
void nt_ranges_start_over(void);

#endif
