#include "cli/row.h"

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

json_t *nt_row_run_json(const nt_row *row)
{
    static const char *const columns[] = {"options", "peak_flops"};
    json_t *object = nt_json_row(row), *value;
    for (size_t i = 0; i < sizeof columns / sizeof columns[0]; i++) {
        const char *text = nt_json_get_text(object, columns[i]);
        if (text != NULL && nt_json_parse(text, &value, NULL) == NT_OK)
            json_object_set_new(object, columns[i], value);
    }
    return object;
}

nt_status nt_row_trial(json_t *row, nt_trial *out, nt_error *err)
{
    json_t *known = json_object(), *value;
    const char *key;
    /* A key that is absent is unknown to the reader of a record, whatever its kind; NULL is so for numbers and texts
     * alone. */
    json_object_foreach (row, key, value)
        if (!json_is_null(value))
            json_object_set(known, key, value);
    nt_status status = nt_json_to_trial(known, out, err);
    json_decref(known);
    return status;
}
