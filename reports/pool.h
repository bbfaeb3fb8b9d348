/* pool.h: each text once, kept until the end: a database of a million trials repeats few of them. */
#ifndef NT_POOL_H
#define NT_POOL_H

#include <stddef.h>

typedef struct nt_pool {
    char **text;
    size_t count, capacity;
    size_t *slot; /* index + 1 of a text, 0 for a free one */
    size_t slots;
} nt_pool; /* begins as {0} */

/* An equal text, copied at its first appearance; NULL stays "". Equal texts are equal pointers. */
const char *nt_pool_text(nt_pool *pool, const char *text);
void nt_pool_done(nt_pool *pool);

#endif
