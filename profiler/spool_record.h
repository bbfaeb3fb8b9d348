/* spool_record.h: one record of a spool into a trace. For spool*.c alone. */
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

/* A launch that is counted, by one of its numbers. CUPTI may run and record it once for each pass. */
typedef struct nt_spool_replayed {
    uint32_t correlation;
    bool recorded;
} nt_spool_replayed;

/* One spool being read. */
typedef struct nt_spool_state {
    nt_trace *trace;
    int process;
    nt_spool_ids names, ranges;
    nt_spool_close_early *early; /* ends that came before their beginnings, from other threads */
    size_t early_count, early_capacity;
    nt_spool_replayed *replayed; /* ascending */
    size_t replayed_count, replayed_capacity;
    nt_spool_ids metrics;
    nt_spool_allocation *live; /* allocations, unordered */
    size_t live_count, live_capacity;
} nt_spool_state;

/* False when the record cannot be one: its type or size is impossible. `body` holds `bytes` bytes. */
bool nt_spool_take(nt_spool_state *state, uint32_t type, const void *body, uint32_t bytes);
void nt_spool_state_done(nt_spool_state *state);

/* ---- between spool_record.c and spool_count.c -------------------------------------------------------------------------- */

/* A copy, since bodies lie at multiples of 8 but are only bytes. */
#define READ(name, type) \
    type name;           \
    memcpy(&name, body, sizeof name)

bool nt_spool_set_index(nt_spool_ids *ids, uint32_t id, int index); /* false for an id far beyond those told */
int nt_spool_index(const nt_spool_ids *ids, uint32_t id);
int nt_spool_name_of(nt_spool_state *state, uint32_t id);
char *nt_spool_text(const void *body, uint32_t bytes, uint32_t from); /* a copy with an end; free it */
int64_t nt_spool_time(uint64_t ns);

/* The counted launch of this correlation, NULL for others. */
nt_spool_replayed *nt_spool_find_replayed(nt_spool_state *state, uint32_t correlation);

bool nt_spool_take_metric(nt_spool_state *state, const void *body, uint32_t bytes);
bool nt_spool_take_counting(nt_spool_state *state, const void *body, uint32_t bytes);
bool nt_spool_take_counted(nt_spool_state *state, const void *body, uint32_t bytes);
bool nt_spool_take_uncounted(nt_spool_state *state, const void *body, uint32_t bytes);
bool nt_spool_take_count_problem(nt_spool_state *state, const void *body, uint32_t bytes);

#endif
