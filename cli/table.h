/* table.h: aligned columns on stdout for people. Cells are text already; widths are counted in characters of UTF-8, and
 * control characters show as '?'. */
#ifndef NT_TABLE_H
#define NT_TABLE_H

#include <stdbool.h>
#include <stdio.h>

typedef struct nt_table nt_table;

/* `columns`: headings separated by '|', those of right-aligned columns begin with '>': "problem|>time|>of roof". */
nt_table *nt_table_new(const char *columns);
/* A table without columns, and columns one by one, before any cell: for headings that may hold anything. */
nt_table *nt_table_new_empty(void);
void nt_table_column(nt_table *table, const char *heading, bool right);

void nt_table_cell(nt_table *table, const char *format, ...) __attribute__((format(printf, 2, 3))); /* row by row */
/* Text between rows, over the full width. */
void nt_table_line(nt_table *table, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* Prints what was added since the last call, the headings first of all. Widths stay, or grow with wider cells. */
void nt_table_print(nt_table *table, FILE *out, bool bold_headings);
void nt_table_free(nt_table *table); /* NULL allowed */

#endif
