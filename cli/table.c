#include "cli/table.h"

#include <stdarg.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "core/mem.h"
#include "core/str.h"

enum { MOST_COLUMNS = 24 };

/* A cell, or a line over the full width (column -1). */
typedef struct cell {
    int column;
    char *text;
} cell;

struct nt_table {
    int columns, next;
    bool right[MOST_COLUMNS];
    char *heading[MOST_COLUMNS];
    cell *cells;
    size_t count, capacity;
};

static int width_of(const char *text)
{
    int width = 0;
    for (const char *c = text; *c != '\0'; c++)
        width += ((unsigned char)*c & 0xC0) != 0x80; /* continuation bytes take no column */
    return width;
}

nt_table *nt_table_new(const char *columns)
{
    nt_table *table = nt_alloc_zero(1, sizeof *table);
    while (table->columns < MOST_COLUMNS) {
        size_t length = strcspn(columns, "|");
        bool right = columns[0] == '>';
        table->right[table->columns] = right;
        table->heading[table->columns++] = nt_strndup(columns + right, length - right);
        if (columns[length] == '\0')
            break;
        columns += length + 1;
    }
    return table;
}

static void add(nt_table *table, int column, const char *format, va_list list)
{
    nt_str text = {0};
    nt_str_addv(&text, format, list);
    void *cells = table->cells;
    nt_grow(&cells, &table->capacity, table->count + 1, sizeof *table->cells);
    table->cells = cells;
    table->cells[table->count++] = (cell){column, nt_strdup(nt_str_text(&text))};
    nt_str_done(&text);
}

void nt_table_cell(nt_table *table, const char *format, ...)
{
    va_list list;
    va_start(list, format);
    add(table, table->next, format, list);
    va_end(list);
    table->next = (table->next + 1) % table->columns;
}

void nt_table_line(nt_table *table, const char *format, ...)
{
    va_list list;
    va_start(list, format);
    add(table, -1, format, list);
    va_end(list);
    table->next = 0;
}

static void print_cell(const nt_table *table, FILE *out, int column, const char *text, const int *width)
{
    bool last = column == table->columns - 1;
    int pad = width[column] - width_of(text);
    fprintf(out, "%s%*s%s", column > 0 ? "  " : "", table->right[column] ? pad : 0, "", text);
    if (last)
        fputc('\n', out);
    else if (!table->right[column])
        fprintf(out, "%*s", pad, "");
}

void nt_table_print(const nt_table *table, FILE *out)
{
    int width[MOST_COLUMNS];
    for (int i = 0; i < table->columns; i++)
        width[i] = width_of(table->heading[i]);
    for (size_t i = 0; i < table->count; i++) {
        int column = table->cells[i].column;
        if (column >= 0 && width_of(table->cells[i].text) > width[column])
            width[column] = width_of(table->cells[i].text);
    }
    for (int i = 0; i < table->columns; i++)
        print_cell(table, out, i, table->heading[i], width);
    for (size_t i = 0; i < table->count; i++) {
        if (table->cells[i].column < 0)
            fprintf(out, "%s\n", table->cells[i].text);
        else
            print_cell(table, out, table->cells[i].column, table->cells[i].text, width);
    }
}

void nt_table_free(nt_table *table)
{
    if (table == NULL)
        return;
    for (int i = 0; i < table->columns; i++)
        free(table->heading[i]);
    for (size_t i = 0; i < table->count; i++)
        free(table->cells[i].text);
    free(table->cells);
    free(table);
}
