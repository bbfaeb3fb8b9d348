/* spool_record.h: one record of a spool into a trace. Between spool.c and spool_record.c alone. */
#ifndef NT_SPOOL_RECORD_H
#define NT_SPOOL_RECORD_H

#include "core/trace.h"
#include "profiler/spool_format.h"

/* Ids of the file to indices of the trace. */
typedef struct nt_spool_ids {
    int *index; /* -1 for an id that was not told */
    size_t count, told;
} nt_spool_ids;

typedef struct nt_spool_close_early {
    uint32_t range;
    int64_t time_ns;
} nt_spool_close_early;

typedef struct nt_spool_allocation {
    uint64_t address;
    int64_t bytes;
} nt_spool_allocation;

/* One spool being read. */
typedef struct nt_spool_state {
    nt_trace *trace;
    int process;
    nt_spool_ids names, ranges;
    nt_spool_close_early *early; /* ends that came before their beginnings, from other threads */
    size_t early_count, early_capacity;
    nt_spool_allocation *live; /* allocations, unordered */
    size_t live_count, live_capacity;
} nt_spool_state;

/* False when the record cannot be one: its type or size is impossible. `body` holds `bytes` bytes. */
bool nt_spool_take(nt_spool_state *state, uint32_t type, const void *body, uint32_t bytes);
void nt_spool_state_done(nt_spool_state *state);

#endif
