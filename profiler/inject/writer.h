/* writer.h: the spool file of this process. One lock guards it, the names and everything that writes records. */
#ifndef NT_INJECT_WRITER_H
#define NT_INJECT_WRITER_H

#include <stdbool.h>

#include "profiler/spool_format.h"

void nt_writer_lock(void);
void nt_writer_unlock(void);

/* With the lock held. The file is made when the first frame is written; where there is no folder for it, records go
 * nowhere. */
void nt_writer_put(nt_spool_type type, const void *body, uint32_t body_bytes, const char *text, uint32_t text_bytes);
void nt_writer_flush(void);
/* The id of this name, 1 and up, written when new. */
uint32_t nt_writer_name(const char *text);

/* After fork, in the child: an own file, nothing of the parent's. The lock must be held before. */
void nt_writer_start_over(void);

uint64_t nt_writer_now_ns(void);

#endif
