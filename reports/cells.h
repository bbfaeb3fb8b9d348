/* cells.h: cells of a row by the name of their column, with the places looked up once for many rows. */
#ifndef NT_CELLS_H
#define NT_CELLS_H

#include "core/store.h"

enum { NT_CELLS_MOST = 64 };

/* `names` is a NULL-terminated list; place[i] is where names[i] stands in the rows, -1 where it does not. */
typedef struct nt_cells {
    const char *const *names;
    int place[NT_CELLS_MOST];
    bool known;
} nt_cells;

void nt_cells_find(nt_cells *cells, const nt_row *row);                   /* looks the places up, at the first row */
double nt_cells_real(const nt_cells *cells, const nt_row *row, int name); /* NAN when unknown; integers count */
int64_t nt_cells_int(const nt_cells *cells, const nt_row *row, int name); /* NT_UNKNOWN */
const char *nt_cells_text(const nt_cells *cells, const nt_row *row, int name); /* "" */

#endif
