#include "cli/table.h"

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "cli/color.h"
#include "core/mem.h"
#include "core/str.h"

typedef struct column {
    char *heading;
    bool right;
    int width;
} column;

/* A cell, or a line over the full width (column -1). */
typedef struct cell {
    int column;
    char *text;
} cell;

struct nt_table {
    column *columns;
    size_t column_count, column_capacity;
    cell *cells;
    size_t count, capacity;
    int next;
    bool headed;
};

static int width_of(const char *text)
{
    int width = 0;
    for (const char *c = text; *c != '\0'; c++)
        width += ((unsigned char)*c & 0xC0) != 0x80; /* continuation bytes take no column */
    return width;
}

/* What would move the cursor or speak to the terminal does not come from a table. */
static char *printable(char *text)
{
    for (char *c = text; *c != '\0'; c++)
        if ((unsigned char)*c < ' ' || *c == 127)
            *c = '?';
    return text;
}

nt_table *nt_table_new_empty(void)
{
    return nt_alloc_zero(1, sizeof(nt_table));
}

static void add_column(nt_table *table, const char *heading, size_t length, bool right)
{
    void *columns = table->columns;
    nt_grow(&columns, &table->column_capacity, table->column_count + 1, sizeof *table->columns);
    table->columns = columns;
    char *text = printable(nt_strndup(heading, length));
    table->columns[table->column_count++] = (column){text, right, width_of(text)};
}

void nt_table_column(nt_table *table, const char *heading, bool right)
{
    add_column(table, heading, strlen(heading), right);
}

nt_table *nt_table_new(const char *columns)
{
    nt_table *table = nt_table_new_empty();
    for (;; columns++) {
        size_t length = strcspn(columns, "|");
        bool right = columns[0] == '>';
        add_column(table, columns + right, length - right, right);
        columns += length;
        if (*columns == '\0')
            return table;
    }
}

static void add(nt_table *table, int at, const char *format, va_list list)
{
    nt_str text = {0};
    nt_str_addv(&text, format, list);
    void *cells = table->cells;
    nt_grow(&cells, &table->capacity, table->count + 1, sizeof *table->cells);
    table->cells = cells;
    table->cells[table->count++] = (cell){at, printable(nt_strdup(nt_str_text(&text)))};
    nt_str_done(&text);
}

void nt_table_cell(nt_table *table, const char *format, ...)
{
    va_list list;
    va_start(list, format);
    add(table, table->next, format, list);
    va_end(list);
    table->next = (table->next + 1) % (int)table->column_count;
}

void nt_table_line(nt_table *table, const char *format, ...)
{
    va_list list;
    va_start(list, format);
    add(table, -1, format, list);
    va_end(list);
    table->next = 0;
}

/* The last column is not padded, so lines have no blanks at their end. */
static void print_cell(const nt_table *table, FILE *out, int at, const char *text)
{
    const column *c = &table->columns[at];
    bool last = at == (int)table->column_count - 1;
    int pad = c->width - width_of(text);
    fprintf(out, "%s%*s%s", at > 0 ? "  " : "", c->right ? pad : 0, "", text);
    if (last)
        fputc('\n', out);
    else if (!c->right)
        fprintf(out, "%*s", pad, "");
}

static void print_headings(const nt_table *table, FILE *out, bool bold)
{
    fputs(bold ? NT_BOLD : "", out);
    for (int i = 0; i < (int)table->column_count; i++)
        print_cell(table, out, i, table->columns[i].heading);
    fputs(bold ? NT_PLAIN : "", out);
}

void nt_table_print(nt_table *table, FILE *out, bool bold_headings)
{
    for (size_t i = 0; i < table->count; i++) {
        const cell *at = &table->cells[i];
        if (at->column >= 0 && width_of(at->text) > table->columns[at->column].width)
            table->columns[at->column].width = width_of(at->text);
    }
    if (!table->headed)
        print_headings(table, out, bold_headings);
    table->headed = true;
    for (size_t i = 0; i < table->count; i++) {
        if (table->cells[i].column < 0)
            fprintf(out, "%s\n", table->cells[i].text);
        else
            print_cell(table, out, table->cells[i].column, table->cells[i].text);
        free(table->cells[i].text);
    }
    table->count = 0;
}

void nt_table_free(nt_table *table)
{
    if (table == NULL)
        return;
    for (size_t i = 0; i < table->column_count; i++)
        free(table->columns[i].heading);
    for (size_t i = 0; i < table->count; i++)
        free(table->cells[i].text);
    free(table->columns);
    free(table->cells);
    free(table);
}
