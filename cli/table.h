/* table.h: aligned columns on stdout for people. Cells are text already; widths are counted in characters of UTF-8. */
#ifndef NT_TABLE_H
#define NT_TABLE_H

#include <stdio.h>

typedef struct nt_table nt_table;

/* `columns`: headings separated by '|', those of right-aligned columns begin with '>': "problem|>time|>of roof". */
nt_table *nt_table_new(const char *columns);
void nt_table_cell(nt_table *table, const char *format, ...) __attribute__((format(printf, 2, 3))); /* row by row */
/* Text between rows, over the full width. */
void nt_table_line(nt_table *table, const char *format, ...) __attribute__((format(printf, 2, 3)));
void nt_table_print(const nt_table *table, FILE *out);
void nt_table_free(nt_table *table);

#endif
