/* query.c: counts straight from the database file, by SQLite alone. */
#include <sqlite3.h>
#include <stdlib.h>

#include "tests/gpu/judge.h"

enum { MOST_COLUMNS = 24 };

bool judge_rows(judge *j, const char *db, const char *sql, judge_row_fn *each, void *context)
{
    sqlite3 *connection = NULL;
    sqlite3_stmt *statement = NULL;
    char *path = judge_path(j, db);
    bool sound = sqlite3_open_v2(path, &connection, SQLITE_OPEN_READONLY, NULL) == SQLITE_OK &&
                 sqlite3_prepare_v2(connection, sql, -1, &statement, NULL) == SQLITE_OK;
    int step = SQLITE_DONE, columns = sound ? sqlite3_column_count(statement) : 0;
    bool go_on = sound && columns <= MOST_COLUMNS;
    while (go_on && (step = sqlite3_step(statement)) == SQLITE_ROW) {
        const char *cell[MOST_COLUMNS];
        for (int i = 0; i < columns; i++) {
            cell[i] = (const char *)sqlite3_column_text(statement, i);
            cell[i] = cell[i] != NULL ? cell[i] : "";
        }
        go_on = each(context, columns, cell);
    }
    sound = sound && (step == SQLITE_DONE || step == SQLITE_ROW);
    if (!sound)
        judge_broken(j, "the database can be read", sqlite3_errmsg(connection));
    sqlite3_finalize(statement);
    sqlite3_close(connection);
    free(path);
    return sound;
}

static bool first_number(void *context, int columns, const char *const *cell)
{
    double *out = context;
    char *end;
    double value = columns > 0 ? strtod(cell[0], &end) : NAN;
    if (columns > 0 && end != cell[0])
        *out = value;
    return false;
}

double judge_sql(judge *j, const char *db, const char *sql)
{
    double value = NAN;
    judge_rows(j, db, sql, first_number, &value);
    return value;
}
