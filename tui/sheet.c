/* sheet.c: see sheet.h. */
#include "tui/sheet.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/json.h"
#include "core/mem.h"

void nt_sheet_clear(nt_sheet *sheet)
{
    for (size_t i = 0; i < sheet->cells; i++)
        free(sheet->cell[i].text);
    sheet->cells = 0;
    sheet->columns = sheet->rows = 0;
}

void nt_sheet_done(nt_sheet *sheet)
{
    nt_sheet_clear(sheet);
    free(sheet->cell);
    *sheet = (nt_sheet){0};
}

void nt_sheet_add_column(nt_sheet *sheet, const char *name, const char *heading, nt_sheet_kind kind, bool wanted)
{
    if (sheet->columns >= NT_SHEET_COLUMNS)
        return;
    nt_sheet_column *column = &sheet->column[sheet->columns++];
    *column = (nt_sheet_column){.kind = kind, .wanted = wanted};
    nt_copy(column->name, sizeof column->name, name);
    nt_copy(column->heading, sizeof column->heading, heading);
}

int nt_sheet_find(const nt_sheet *sheet, const char *name)
{
    for (int i = 0; i < sheet->columns; i++)
        if (strcmp(sheet->column[i].name, name) == 0)
            return i;
    return -1;
}

void nt_sheet_add_row(nt_sheet *sheet)
{
    size_t need = sheet->cells + (size_t)sheet->columns;
    if (need > sheet->capacity)
        nt_grow((void **)&sheet->cell, &sheet->capacity, need, sizeof *sheet->cell);
    for (; sheet->cells < need; sheet->cells++)
        sheet->cell[sheet->cells] = (nt_sheet_cell){.number = NAN};
    sheet->rows++;
}

static nt_sheet_cell *last_row(nt_sheet *sheet, int column)
{
    if (column < 0 || column >= sheet->columns || sheet->rows == 0)
        return NULL;
    return &sheet->cell[sheet->cells - (size_t)sheet->columns + (size_t)column];
}

void nt_sheet_set_number(nt_sheet *sheet, int column, double number)
{
    nt_sheet_cell *cell = last_row(sheet, column);
    if (cell != NULL)
        cell->number = number;
}

void nt_sheet_set_text(nt_sheet *sheet, int column, const char *text)
{
    nt_sheet_cell *cell = last_row(sheet, column);
    if (cell == NULL)
        return;
    free(cell->text);
    cell->text = text != NULL && *text != '\0' ? nt_strdup(text) : NULL;
}

const nt_sheet_cell *nt_sheet_at(const nt_sheet *sheet, int row, int column)
{
    return &sheet->cell[(size_t)row * (size_t)sheet->columns + (size_t)column];
}

void nt_sheet_copy(const nt_sheet *from, nt_sheet *to)
{
    nt_sheet_copy_rows(from, 0, to);
}

void nt_sheet_copy_rows(const nt_sheet *from, int first, nt_sheet *to)
{
    nt_sheet_clear(to);
    for (int i = 0; i < from->columns; i++)
        nt_sheet_add_column(to, from->column[i].name, from->column[i].heading, from->column[i].kind,
                            from->column[i].wanted);
    for (int i = 0; i < from->columns; i++)
        to->column[i].hidden = from->column[i].hidden;
    for (int r = first; r < from->rows; r++) {
        nt_sheet_add_row(to);
        for (int i = 0; i < from->columns; i++) {
            const nt_sheet_cell *cell = nt_sheet_at(from, r, i);
            nt_sheet_set_number(to, i, cell->number);
            nt_sheet_set_text(to, i, cell->text);
        }
    }
}

/* ---- one cell for people --------------------------------------------------------------------------------------------- */

static void add_whole(nt_str *out, double number)
{
    nt_str_addf(out, "%.0f", number);
}

static void add_real(nt_str *out, double number)
{
    nt_str_addf(out, "%.4g", number);
}

static void add_time(nt_str *out, double number)
{
    nt_str_add(out, nt_text_time_ns(number).s);
}

static void add_pct(nt_str *out, double number)
{
    nt_str_addf(out, "%.1f", number);
}

static void add_bytes(nt_str *out, double number)
{
    nt_str_add(out, nt_text_bytes(number).s);
}

static void (*const writers[NT_SHEET_KIND_COUNT])(nt_str *out, double number) = {
    add_real, add_whole, add_real, add_time, add_pct, add_bytes,
};

void nt_sheet_cell_text(const nt_sheet *sheet, int row, int column, nt_str *out)
{
    const nt_sheet_cell *cell = nt_sheet_at(sheet, row, column);
    if (cell->text != NULL)
        nt_str_add(out, cell->text);
    else if (isnan(cell->number))
        nt_str_add(out, "-");
    else
        writers[sheet->column[column].kind](out, cell->number);
}

/* ---- for programs ---------------------------------------------------------------------------------------------------- */

static void add_csv_text(nt_str *out, const char *text)
{
    if (strpbrk(text, ",\"\n\r") == NULL) {
        nt_str_add(out, text);
        return;
    }
    nt_str_add(out, "\"");
    for (; *text != '\0'; text++)
        nt_str_add_n(out, *text == '"' ? "\"\"" : text, *text == '"' ? 2 : 1);
    nt_str_add(out, "\"");
}

void nt_sheet_csv(const nt_sheet *sheet, nt_str *out)
{
    for (int i = 0; i < sheet->columns; i++) {
        nt_str_add(out, i > 0 ? "," : "");
        add_csv_text(out, sheet->column[i].name);
    }
    nt_str_add(out, "\n");
    for (int r = 0; r < sheet->rows; r++) {
        for (int i = 0; i < sheet->columns; i++) {
            const nt_sheet_cell *cell = nt_sheet_at(sheet, r, i);
            nt_str_add(out, i > 0 ? "," : "");
            if (cell->text != NULL)
                add_csv_text(out, cell->text);
            else if (!isnan(cell->number))
                nt_str_addf(out, "%.17g", cell->number);
        }
        nt_str_add(out, "\n");
    }
}

static json_t *json_of(const nt_sheet *sheet, int row, int column)
{
    const nt_sheet_cell *cell = nt_sheet_at(sheet, row, column);
    if (cell->text != NULL)
        return nt_json_text(cell->text);
    if (sheet->column[column].kind == NT_SHEET_WHOLE && !isnan(cell->number))
        return nt_json_int((int64_t)cell->number);
    return nt_json_real(cell->number);
}

json_t *nt_sheet_json(const nt_sheet *sheet)
{
    json_t *list = json_array();
    for (int r = 0; r < sheet->rows; r++) {
        json_t *object = json_object();
        for (int i = 0; i < sheet->columns; i++)
            json_object_set_new(object, sheet->column[i].name, json_of(sheet, r, i));
        json_array_append_new(list, object);
    }
    return list;
}

/* ---- drawing --------------------------------------------------------------------------------------------------------- */

static int columns_of_text(const char *text)
{
    int width = 0;
    while (nt_next_character(&text) != 0)
        width++;
    return width;
}

/* Long texts give way before columns do: the widest shrinks, though not below what tells it apart. */
static int shrink(const nt_sheet *sheet, int over, int width[NT_SHEET_COLUMNS])
{
    enum { LEAST = 14 };
    int widest = 0;
    for (int i = 0; i < sheet->columns; i++)
        if (sheet->column[i].kind == NT_SHEET_TEXT && width[i] > width[widest])
            widest = i;
    int give = width[widest] - LEAST < over ? width[widest] - LEAST : over;
    if (sheet->columns == 0 || sheet->column[widest].kind != NT_SHEET_TEXT || give <= 0)
        return 0;
    width[widest] -= give;
    return give;
}

/* Widths of all columns over the rows in view; 0 for those that do not fit. */
static void fit(const nt_sheet *sheet, const nt_pane *pane, const nt_sheet_drawing *how, int width[NT_SHEET_COLUMNS])
{
    int total = 2, last_row = how->first + pane->at.height - 1;
    for (int i = 0; i < sheet->columns; i++) {
        width[i] = 0;
        if (sheet->column[i].hidden)
            continue;
        width[i] = columns_of_text(sheet->column[i].heading) + (i == how->sorted);
        for (int r = how->first; r < sheet->rows && r < last_row; r++) {
            nt_str text = {0};
            nt_sheet_cell_text(sheet, r, i, &text);
            int wide = columns_of_text(nt_str_text(&text));
            width[i] = wide > width[i] ? wide : width[i];
            nt_str_done(&text);
        }
        total += width[i] + 2;
    }
    for (int wanted = 0; wanted < 2; wanted++)
        for (int i = sheet->columns - 1; i > 0 && total - 2 > pane->at.width; i--) {
            total -= shrink(sheet, total - 2 - pane->at.width, width);
            if (total - 2 <= pane->at.width)
                break;
            if (width[i] == 0 || sheet->column[i].wanted != (wanted == 1))
                continue;
            total -= width[i] + 2;
            width[i] = 0;
        }
}

static void draw_cell(const nt_pane *pane, int x, int y, int width, bool right, nt_style style, const char *text)
{
    nt_pane cell = nt_pane_part(pane, x, y, width, 1);
    if (right)
        nt_pane_right(&cell, 0, style, text);
    else
        nt_pane_put(&cell, 0, 0, style, text);
}

static void draw_row(const nt_sheet *sheet, const nt_pane *pane, int y, int row, const int width[NT_SHEET_COLUMNS],
                     const nt_sheet_drawing *how)
{
    int x = 2;
    for (int i = 0; i < sheet->columns; i++) {
        if (width[i] == 0)
            continue;
        nt_str text = {0};
        bool right = sheet->column[i].kind != NT_SHEET_TEXT;
        if (row < 0)
            nt_str_addf(&text, "%s%s", sheet->column[i].heading, i != how->sorted ? "" : how->descending ? "-" : "+");
        else
            nt_sheet_cell_text(sheet, row, i, &text);
        draw_cell(pane, x, y, width[i], right, row < 0 ? NT_STYLE_TITLE : NT_STYLE_PLAIN, nt_str_text(&text));
        nt_str_done(&text);
        x += width[i] + 2;
    }
}

void nt_sheet_draw(const nt_sheet *sheet, const nt_pane *pane, const nt_sheet_drawing *how)
{
    int width[NT_SHEET_COLUMNS];
    fit(sheet, pane, how, width);
    bool headed = pane->at.height > 1;
    if (headed)
        draw_row(sheet, pane, 0, -1, width, how);
    for (int y = headed; y < pane->at.height; y++) {
        int row = how->first + y - headed;
        if (row >= sheet->rows)
            break;
        draw_row(sheet, pane, y, row, width, how);
        if (how->tagged != NULL && how->tagged[row])
            nt_pane_put(pane, 1, y, NT_STYLE_TITLE, "*");
        if (row == how->selected) {
            nt_pane_put(pane, 0, y, NT_STYLE_SELECTED, ">");
            nt_pane_mark(pane, y, NT_STYLE_SELECTED);
        }
    }
}
