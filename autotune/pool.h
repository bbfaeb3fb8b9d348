/* pool.h: compile children. Each turns one source at a time into an artefact in the cache; the pool hands out work,
 * notices children that die or run out of time, replaces them, and hands back results. The coordinator polls the
 * descriptors. */
#ifndef NT_POOL_H
#define NT_POOL_H

#include <poll.h>

#include "autotune/child.h"
#include "device/compiler.h"

enum { NT_POOL_MOST = 64 };

typedef struct nt_pool nt_pool;

/* How one compile ended. */
typedef struct nt_pool_result {
    uint64_t job;     /* number given to nt_pool_submit */
    nt_status status; /* OK, COMPILE_FAILED, TIMED_OUT, or of the machine (IO, NO_DEVICE, ...) */
    nt_artefact artefact;
    nt_error error;
    double wall_s; /* child's time for it */
} nt_pool_result;

/* Children are started when first needed. */
nt_pool *nt_pool_open(int children);
void nt_pool_close(nt_pool *pool); /* kills what runs; NULL allowed */

/* Gives up the compiles that have run for more than `older_s` seconds: killed, no result. */
void nt_pool_drop(nt_pool *pool, double older_s);

int nt_pool_idle(const nt_pool *pool); /* children that could take a job now */
int nt_pool_busy(const nt_pool *pool);
double nt_pool_work_s(const nt_pool *pool); /* child-seconds spent so far */

/* Gives a job to an idle child (there must be one). Texts of the request need not live on. */
nt_status nt_pool_submit(nt_pool *pool, uint64_t job, const nt_compile_request *request, nt_error *err);

/* Fills pollfd entries of busy children; returns how many (at most NT_POOL_MOST). */
int nt_pool_poll_fds(const nt_pool *pool, struct pollfd *out);

/* Milliseconds until the next deadline of a busy child; -1 when none is busy. */
int nt_pool_timeout_ms(const nt_pool *pool);

/* Takes one finished job if there is one (reads without blocking, checks deadlines). */
bool nt_pool_take(nt_pool *pool, nt_pool_result *out);

/* Main of a compile child: `nntune --compile-child PARENT`. Returns the exit code. */
int nt_compile_child_main(const char *parent_pid);

#endif
