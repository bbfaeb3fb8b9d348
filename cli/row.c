#include "cli/row.h"

#include <jansson.h>
#include <math.h>
#include <string.h>

#include "core/json.h"

static const nt_cell *cell_of(const nt_row *row, const char *name)
{
    for (int i = 0; i < row->count; i++)
        if (strcmp(row->name[i], name) == 0)
            return &row->cell[i];
    return NULL;
}

const char *nt_row_text(const nt_row *row, const char *name)
{
    const nt_cell *cell = cell_of(row, name);
    return cell != NULL && cell->kind == NT_CELL_TEXT ? cell->text : "";
}

int64_t nt_row_int(const nt_row *row, const char *name)
{
    const nt_cell *cell = cell_of(row, name);
    return cell != NULL && cell->kind == NT_CELL_INT ? cell->i : NT_UNKNOWN;
}

double nt_row_real(const nt_row *row, const char *name)
{
    const nt_cell *cell = cell_of(row, name);
    if (cell != NULL && cell->kind == NT_CELL_INT)
        return (double)cell->i;
    return cell != NULL && cell->kind == NT_CELL_REAL ? cell->r : NAN;
}

nt_status nt_row_problem(const nt_row *row, nt_problem *out, nt_error *err)
{
    json_t *object = nt_json_row(row);
    nt_status status = nt_json_to_problem(object, out, err);
    json_decref(object);
    return status;
}
