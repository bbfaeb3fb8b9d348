#include "reports/cells.h"

#include <assert.h>
#include <math.h>
#include <string.h>

void nt_cells_find(nt_cells *cells, const nt_row *row)
{
    if (cells->known)
        return;
    for (int n = 0; cells->names[n] != NULL; n++) {
        assert(n < NT_CELLS_MOST);
        cells->place[n] = -1;
        for (int i = 0; i < row->count; i++)
            if (strcmp(row->name[i], cells->names[n]) == 0)
                cells->place[n] = i;
    }
    cells->known = true;
}

static const nt_cell *cell_of(const nt_cells *cells, const nt_row *row, int name)
{
    static const nt_cell nothing = {.kind = NT_CELL_NULL};
    return cells->place[name] < 0 ? &nothing : &row->cell[cells->place[name]];
}

double nt_cells_real(const nt_cells *cells, const nt_row *row, int name)
{
    const nt_cell *cell = cell_of(cells, row, name);
    if (cell->kind == NT_CELL_INT)
        return (double)cell->i;
    return cell->kind == NT_CELL_REAL && isfinite(cell->r) ? cell->r : (double)NAN;
}

int64_t nt_cells_int(const nt_cells *cells, const nt_row *row, int name)
{
    const nt_cell *cell = cell_of(cells, row, name);
    return cell->kind == NT_CELL_INT ? cell->i : NT_UNKNOWN;
}

const char *nt_cells_text(const nt_cells *cells, const nt_row *row, int name)
{
    const nt_cell *cell = cell_of(cells, row, name);
    return cell->kind == NT_CELL_TEXT ? cell->text : "";
}
