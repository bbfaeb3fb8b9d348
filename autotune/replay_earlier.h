/* replay_earlier.h: recordings of the same kernel on other devices as what a strategy knows beforehand. */
#ifndef NT_REPLAY_EARLIER_H
#define NT_REPLAY_EARLIER_H

#include "autotune/replay.h"

/* Results gathered from recordings; all zero is empty. */
typedef struct nt_earlier_list {
    nt_earlier *item;
    size_t count, capacity;
    int runs;
} nt_earlier_list;

void nt_earlier_list_done(nt_earlier_list *list);

/* Adds, as one run more, what was recorded of `from` for configurations that `to` has as well, by names and values of
 * the parameters: all of it, or with `replayed` only what that replay of `from` evaluated. Returns how many. */
size_t nt_earlier_list_add(nt_earlier_list *list, const nt_recorded *from, const nt_recorded *to,
                           const nt_replay_run *replayed);

#endif
