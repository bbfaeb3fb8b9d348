/* cmd_runs.c: `nntune runs`: the runs that a database holds. */
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "cli/cmd.h"
#include "cli/color.h"
#include "cli/database.h"
#include "cli/output.h"
#include "cli/row.h"
#include "cli/table.h"
#include "core/units.h"

typedef struct listing {
    nt_table *table;
    json_t *rows; /* NULL for people */
} listing;

static void local_time(double unix_s, char *out, size_t capacity)
{
    time_t seconds = isnan(unix_s) ? 0 : (time_t)unix_s;
    struct tm parts;
    if (isnan(unix_s) || localtime_r(&seconds, &parts) == NULL ||
        strftime(out, capacity, "%Y-%m-%d %H:%M", &parts) == 0)
        nt_copy(out, capacity, "-");
}

static void add_row(nt_table *table, const nt_row *row)
{
    static const char *const failures[] = {"compile_failed", "launch_failed", "wrong_result", "timed_out", "crashed"};
    char started[32];
    int64_t failed = 0;
    for (size_t i = 0; i < sizeof failures / sizeof failures[0]; i++)
        failed += nt_row_int(row, failures[i]);
    local_time(nt_row_real(row, "started_unix_s"), started, sizeof started);
    nt_table_cell(table, "%lld", (long long)nt_row_int(row, "run"));
    /* What was read from a file must not look as if it had been measured here. */
    nt_table_cell(table, "%s",
                  nt_row_text(row, strcmp(nt_row_text(row, "source"), "recorded") == 0 ? "source" : "state"));
    nt_table_cell(table, "%s", started);
    nt_table_cell(table, "%s", nt_row_text(row, "device"));
    nt_table_cell(table, "%lld", (long long)nt_row_int(row, "problems"));
    nt_table_cell(table, "%lld", (long long)nt_row_int(row, "trials"));
    nt_table_cell(table, "%lld", (long long)nt_row_int(row, "ok"));
    nt_table_cell(table, "%lld", (long long)failed);
    nt_table_cell(table, "%s", nt_text_duration_s(nt_row_real(row, "total_s")).s);
    nt_table_cell(table, "%s", nt_row_text(row, "command"));
}

static bool take(void *context, const nt_row *row)
{
    listing *l = context;
    if (l->rows != NULL)
        json_array_append_new(l->rows, nt_row_run_json(row));
    else
        add_row(l->table, row);
    return true;
}

static nt_status run(const nt_args *args, int *exit_code, nt_error *err)
{
    char path[NT_PATH_BYTES];
    nt_reader *reader;
    (void)exit_code;
    nt_status status = nt_database_read(args, path, &reader, err);
    if (status != NT_OK)
        return status;
    listing l = {nt_table_new(">run|state|started|device|>problems|>trials|>ok|>failed|>time|command"),
                 nt_args_flag(args, "json") ? json_array() : NULL};
    status = reader->runs(reader, take, &l, err);
    reader->close(reader);
    if (status != NT_OK) {
        json_decref(l.rows);
    } else if (l.rows != NULL) {
        json_t *document = nt_output_document("runs");
        json_object_set_new(document, "database", json_string(path));
        json_object_set_new(document, "runs", l.rows);
        nt_output_json(document);
    } else {
        nt_table_print(l.table, stdout, nt_color_wanted(args, stdout));
    }
    nt_table_free(l.table);
    return status;
}

const nt_command nt_command_runs = {
    .name = "runs",
    .group = "Look",
    .summary = "list the runs of a database with their counts",
    .usage = "",
    .example = "nntune runs",
    .uses = NT_USES_JSON | NT_USES_DB | NT_USES_COLOR,
    .run = run,
};
