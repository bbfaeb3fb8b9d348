/* count_session.h: CUPTI's Range Profiler on one context of the program: made once, then one launch at a time.
 *
 * Automatic ranges with kernel replay: CUPTI runs the launch once for each pass and puts back what the kernel wrote in
 * between, so the program sees one run of it. With one pass nothing is run again. Not for two threads. */
#ifndef NT_COUNT_SESSION_H
#define NT_COUNT_SESSION_H

#include <stdint.h>

#include "profiler/inject/count_calls.h"

enum { NT_COUNT_MOST_METRICS = 256, NT_COUNT_SPELLINGS = 2 };

/* One that was asked for, by the name that the summary shows. */
typedef struct nt_count_wanted {
    const char *name, *unit;
    const char *spelling[NT_COUNT_SPELLINGS]; /* CUPTI's names for it; the first that the chip knows is taken */
} nt_count_wanted;

/* What went wrong: CUPTI's code, and what was being done. */
typedef struct nt_count_failure {
    int code;
    const char *doing;
} nt_count_failure;

typedef struct nt_count_session nt_count_session;

/* Takes the counters of the context. NULL with the failure. What `wanted` points to must outlive it. */
nt_count_session *nt_count_session_open(const nt_count_calls *calls, void *context, const nt_count_wanted *wanted,
                                        int wanted_count, nt_count_failure *failure);
void nt_count_session_close(nt_count_session *session); /* NULL allowed; before its context goes */

int nt_count_session_passes(const nt_count_session *session);
unsigned nt_count_session_device(const nt_count_session *session);
/* CUPTI's name for metric `number` on this chip; NULL where it has none, and its value is then NAN. */
const char *nt_count_session_counter(const nt_count_session *session, int number);

bool nt_count_session_start(nt_count_session *session, nt_count_failure *failure);
/* Ends what start began. *launches is how many ran since; values holds one number for each metric wanted, good when
 * that is one. */
bool nt_count_session_stop(nt_count_session *session, size_t *launches, double *values, nt_count_failure *failure);

#endif
