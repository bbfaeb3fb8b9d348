/* mem.h: allocation that stops the tool when memory is gone (one message, exit code 1), and growth without overflow.
 *
 * Running out of host memory cannot be handled usefully in a tuner, so these never return NULL for a non-zero size.
 * The deployment runtime does not use them. */
#ifndef NT_MEM_H
#define NT_MEM_H

#include <stddef.h>

void *nt_alloc(size_t bytes);                           /* uninitialised */
void *nt_alloc_zero(size_t count, size_t size);         /* zeroed; count * size is checked for overflow */
void *nt_realloc_array(void *old, size_t count, size_t size);
char *nt_strdup(const char *text);
char *nt_strndup(const char *text, size_t length);

/* Grows *array (capacity *capacity elements of `size` bytes) so that it holds at least `need`; doubles. */
void nt_grow(void **array, size_t *capacity, size_t need, size_t size);

#endif
