/* announce.h: a running sweep says where it stores and on what it runs, so that `nntune top` finds it: a file in the
 * runtime folder, locked while the sweep lives, so that what a killed one leaves is told from a living one's. */
#ifndef NT_ANNOUNCE_H
#define NT_ANNOUNCE_H

#include "core/record.h"

typedef struct nt_announced {
    int64_t pid;
    char database[NT_PATH_BYTES]; /* absolute */
    char device[128];
} nt_announced;

typedef struct nt_announcement nt_announcement;

/* NULL when it cannot be written: a sweep does not fail for it. */
nt_announcement *nt_announce(const char *database, const char *device);
void nt_announce_end(nt_announcement *announcement); /* NULL allowed */

/* The living sweeps, the latest first; removes what dead ones left. Returns their number, at most `capacity`. */
int nt_announced_sweeps(nt_announced *out, int capacity);

#endif
