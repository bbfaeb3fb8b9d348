/* sheet.h: rows and columns as the views show and dump them: cells are typed, so that one sheet is drawn for people and
 * written as CSV and JSON for programs. Unknown is "-", empty and null. */
#ifndef NT_SHEET_H
#define NT_SHEET_H

#include <jansson.h>

#include "core/units.h"
#include "tui/grid.h"

typedef enum nt_sheet_kind {
    NT_SHEET_TEXT,
    NT_SHEET_WHOLE,
    NT_SHEET_REAL,
    NT_SHEET_TIME_NS,
    NT_SHEET_PCT,
    NT_SHEET_BYTES,
    NT_SHEET_KIND_COUNT
} nt_sheet_kind;

typedef struct nt_sheet_column {
    char name[56];    /* in CSV and JSON, with its unit: time_ns */
    char heading[56]; /* on the screen: time */
    nt_sheet_kind kind;
    bool hidden; /* for programs alone */
    bool wanted; /* stays longest when there is not room for all; the others go from the right */
} nt_sheet_column;

typedef struct nt_sheet_cell {
    double number; /* NAN unknown */
    char *text;    /* NT_SHEET_TEXT, or in place of a number; NULL unknown; owned */
} nt_sheet_cell;

enum { NT_SHEET_COLUMNS = 64 };

typedef struct nt_sheet {
    int columns, rows;
    nt_sheet_column column[NT_SHEET_COLUMNS];
    nt_sheet_cell *cell; /* by rows */
    size_t cells, capacity;
} nt_sheet;

void nt_sheet_clear(nt_sheet *sheet); /* no columns, no rows */
void nt_sheet_done(nt_sheet *sheet);
/* Columns before rows. Beyond NT_SHEET_COLUMNS they are left out, and so are their cells. */
void nt_sheet_add_column(nt_sheet *sheet, const char *name, const char *heading, nt_sheet_kind kind, bool wanted);
int nt_sheet_find(const nt_sheet *sheet, const char *name); /* -1 when it is not there */
void nt_sheet_add_row(nt_sheet *sheet);                     /* all cells unknown */
/* Into the last row; an index outside does nothing. */
void nt_sheet_set_number(nt_sheet *sheet, int column, double number);
void nt_sheet_set_text(nt_sheet *sheet, int column, const char *text); /* NULL or "" is unknown */
const nt_sheet_cell *nt_sheet_at(const nt_sheet *sheet, int row, int column);
void nt_sheet_cell_text(const nt_sheet *sheet, int row, int column, nt_str *out);

void nt_sheet_copy(const nt_sheet *from, nt_sheet *to); /* `to` is cleared before */
/* The rows from `first` on. */
void nt_sheet_copy_rows(const nt_sheet *from, int first, nt_sheet *to);
void nt_sheet_csv(const nt_sheet *sheet, nt_str *out);
json_t *nt_sheet_json(const nt_sheet *sheet); /* array of objects */

typedef struct nt_sheet_drawing {
    int first;    /* row at the pane's top */
    int selected; /* -1 for none */
    int sorted;   /* column marked as the sort key; -1 */
    bool descending;
    const bool *tagged; /* by row, may be NULL */
} nt_sheet_drawing;

/* Headings, then rows. Columns that do not fit go, the rightmost unwanted first. */
void nt_sheet_draw(const nt_sheet *sheet, const nt_pane *pane, const nt_sheet_drawing *how);

#endif
