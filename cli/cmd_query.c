/* cmd_query.c: `nntune query SQL`: rows of any SELECT, as a table, JSON or CSV. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/cmd.h"
#include "cli/color.h"
#include "cli/database.h"
#include "cli/output.h"
#include "cli/table.h"
#include "core/json.h"

static const nt_option rows[] = {
    {.name = "csv", .kind = NT_OPTION_FLAG, .help = "print CSV with a header line (RFC 4180); NULL is an empty field"},
    {.name = NULL},
};

/* Widths of a table are those of its first rows, so that a query of millions needs no memory for them. */
enum { ROWS_AT_ONCE = 1000 };

typedef struct output {
    nt_table *table; /* of people's form; NULL before the first row */
    bool bold;
    int64_t count;
    nt_status status; /* of the first row: whether its columns can be shown */
    nt_error *err;
} output;

/* ---- a table ---------------------------------------------------------------------------------------------------------- */

static void add_heading(output *o, const nt_row *row)
{
    o->table = nt_table_new_empty();
    for (int i = 0; i < row->count; i++)
        nt_table_column(o->table, row->name[i], row->cell[i].kind == NT_CELL_INT || row->cell[i].kind == NT_CELL_REAL);
}

static bool take_table(void *context, const nt_row *row)
{
    output *o = context;
    if (o->count++ == 0)
        add_heading(o, row);
    for (int i = 0; i < row->count; i++) {
        const nt_cell *cell = &row->cell[i];
        if (cell->kind == NT_CELL_INT)
            nt_table_cell(o->table, "%lld", (long long)cell->i);
        else if (cell->kind == NT_CELL_REAL)
            nt_table_cell(o->table, "%.10g", cell->r);
        else
            nt_table_cell(o->table, "%s", cell->kind == NT_CELL_TEXT ? cell->text : "-");
    }
    if (o->count % ROWS_AT_ONCE == 0)
        nt_table_print(o->table, stdout, o->bold);
    return nt_output_wanted();
}

static void end_table(output *o)
{
    if (o->table != NULL)
        nt_table_print(o->table, stdout, o->bold);
    else
        puts("no rows");
    nt_table_free(o->table);
}

/* ---- CSV ------------------------------------------------------------------------------------------------------------------ */

static void print_field(const char *text)
{
    if (text[strcspn(text, ",\"\r\n")] == '\0') {
        fputs(text, stdout);
        return;
    }
    putchar('"');
    for (; *text != '\0'; text++) {
        if (*text == '"')
            putchar('"');
        putchar(*text);
    }
    putchar('"');
}

static bool take_csv(void *context, const nt_row *row)
{
    output *o = context;
    for (int i = 0; o->count == 0 && i < row->count; i++) {
        fputs(i > 0 ? "," : "", stdout);
        print_field(row->name[i]);
    }
    fputs(o->count++ == 0 ? "\r\n" : "", stdout);
    for (int i = 0; i < row->count; i++) {
        const nt_cell *cell = &row->cell[i];
        fputs(i > 0 ? "," : "", stdout);
        if (cell->kind == NT_CELL_INT)
            printf("%lld", (long long)cell->i);
        else if (cell->kind == NT_CELL_REAL)
            printf("%.17g", cell->r);
        else if (cell->kind == NT_CELL_TEXT)
            print_field(cell->text);
    }
    fputs("\r\n", stdout);
    return nt_output_wanted();
}

static void end_csv(output *o)
{
    (void)o;
}

/* ---- JSON: one document, written row by row --------------------------------------------------------------------------- */

/* An object cannot hold two values under one name. */
static nt_status check_names(const nt_row *row, nt_error *err)
{
    for (int i = 0; i < row->count; i++)
        for (int j = 0; j < i; j++)
            if (strcmp(row->name[i], row->name[j]) == 0) {
                nt_fail(err, NT_USAGE, "two columns of the query are called '%s'", row->name[i]);
                return nt_hint(err, "name them apart: SELECT a AS first, b AS second");
            }
    return NT_OK;
}

static void begin_json(void)
{
    printf("{\"type\":\"query\",\"schema_version\":%d,\"rows\":[", NT_JSON_SCHEMA_VERSION);
}

static bool take_json(void *context, const nt_row *row)
{
    output *o = context;
    if (o->count == 0) {
        o->status = check_names(row, o->err);
        if (o->status != NT_OK)
            return false;
        begin_json();
    }
    char *text = nt_json_dump_done(nt_json_row(row));
    printf("%s\n%s", o->count++ > 0 ? "," : "", text);
    free(text);
    return nt_output_wanted();
}

static void end_json(output *o)
{
    if (o->count == 0)
        begin_json();
    puts("\n]}");
}

/* ---- the command ----------------------------------------------------------------------------------------------------------- */

typedef struct form {
    nt_row_fn take;
    void (*end)(output *o);
} form;

static const form as_table = {take_table, end_table}, as_csv = {take_csv, end_csv}, as_json = {take_json, end_json};

static nt_status run(const nt_args *args, int *exit_code, nt_error *err)
{
    char path[NT_PATH_BYTES];
    nt_reader *reader;
    bool json = nt_args_flag(args, "json"), csv = nt_args_flag(args, "csv");
    (void)exit_code;
    if (json && csv)
        return nt_fail(err, NT_USAGE, "--json and --csv exclude each other");
    nt_status status = nt_database_read(args, path, &reader, err);
    if (status != NT_OK)
        return status;
    const form *f = json ? &as_json : csv ? &as_csv : &as_table;
    output o = {.bold = nt_color_wanted(args, stdout), .err = err};
    status = reader->query(reader, nt_args_positional(args, 0), f->take, &o, err);
    reader->close(reader);
    if (status == NT_OK)
        status = o.status;
    if (status == NT_OK)
        f->end(&o);
    else
        nt_table_free(o.table);
    return status;
}

const nt_command nt_command_query = {
    .name = "query",
    .group = "Look",
    .summary = "print the rows of a SELECT over the results database",
    .usage = "SQL",
    .example = "nntune query 'select shape, batch, kernel, time_ns from best'\n"
               "nntune query --csv 'select params, time_ns from trials where run = 1' > run1.csv",
    .description =
        "The views trials, best, counts and runs are a contract: names and meaning of their columns stay. A query "
        "only reads.",
    .options = rows,
    .uses = NT_USES_JSON | NT_USES_DB | NT_USES_COLOR,
    .least_positional = 1,
    .most_positional = 1,
    .run = run,
};
