/* count_wanted.h: what `nntune profile --counters` asks of this process, and which kernels it has met. */
#ifndef NT_INJECT_COUNT_WANTED_H
#define NT_INJECT_COUNT_WANTED_H

#include <stdatomic.h>
#include <stdbool.h>

#include "profiler/inject/count_session.h"

typedef struct nt_counted_kernel {
    char *name; /* as the driver knows it */
    bool chosen;
    unsigned left;       /* launches still to be counted */
    unsigned given_back; /* counted in vain */
    atomic_bool told;    /* that it is launched where it cannot be counted */
} nt_counted_kernel;

typedef struct nt_count_wishes {
    nt_count_wanted metric[NT_COUNT_MOST_METRICS];
    int metric_count;
    unsigned launches; /* of each kernel */
} nt_count_wishes;

extern nt_count_wishes nt_count_wish;

/* From the variables of spool_format.h. False where nothing is asked for, or what is asked makes no sense. */
bool nt_count_wish_read(void);

/* The kernel, when a launch of it is to be counted; that launch is then taken off its limit. Any thread. */
nt_counted_kernel *nt_count_kernel(const char *name);
/* The launch was not counted after all. In vain: a few times only, lest a kernel that is never alone is tried for ever.
 */
void nt_count_give_back(nt_counted_kernel *kernel, bool in_vain);

/* After fork, in the child. */
void nt_count_wish_forget(void);

#endif
