/* guard.h: lets a connection read and nothing else, and ends what runs too long. */
#ifndef NT_DB_GUARD_H
#define NT_DB_GUARD_H

#include "db/open.h"

typedef struct nt_guard {
    double deadline_s; /* monotonic; 0 for none */
    char refused[128]; /* what the last statement was refused for; empty when it was not */
} nt_guard;

/* From now on only SELECT, EXPLAIN and pragmas that read are accepted. The guard must outlive the connection. */
void nt_guard_install(nt_guard *guard, const nt_db *db);
void nt_guard_start(nt_guard *guard, int limit_ms); /* the clock of the next statement */
void nt_guard_stop(nt_guard *guard);

#endif
