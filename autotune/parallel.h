/* parallel.h: splitting host work (fp64 references) over the cores this process may use. */
#ifndef NT_PARALLEL_H
#define NT_PARALLEL_H

#include <stdint.h>

/* Remembers the allowed cores. Call before a device pins threads; otherwise the present mask is taken at first use. */
void nt_parallel_init(void);
int nt_parallel_threads(void);

/* Calls work(context, begin, end) on disjoint ranges that cover [0, count), on as many threads as there are cores. */
void nt_parallel_for(int64_t count, void (*work)(void *context, int64_t begin, int64_t end), void *context);

#endif
