/* name_table.h: what a C++ compiler calls the functions that a plan names as it would in the source: scale<16, float>.
 *
 * Pairs of expression and symbol stand behind the code in its file, so that they go wherever it goes: an ELF file knows
 * its own length, and loaders read no further. */
#ifndef NT_NAME_TABLE_H
#define NT_NAME_TABLE_H

#include <stddef.h>

/* Appends pairs to code of *bytes bytes (allocated; moves). */
void nt_name_table_append(unsigned char **code, size_t *bytes, const char *const *expression, const char *const *symbol,
                          int count);
/* The pairs behind code as text, or NULL when there are none. Caller frees. */
char *nt_name_table_read(const void *code, size_t bytes);
/* The symbol of an expression; the expression itself where the table (may be NULL) does not have it. Caller frees. */
char *nt_name_table_find(const char *table, const char *expression);

#endif
