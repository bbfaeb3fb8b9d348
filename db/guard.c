/* guard.c: SQLite asks an authorizer about every table, function and pragma while it compiles a statement; what is not
 * on the list of reading actions is refused there, before anything runs. ATTACH is refused as well: it could make
 * files. */
#include "db/guard.h"

#include <stdio.h>

#include "core/clock.h"

/* Pragmas that only read when they have no argument, and those whose argument names a table. */
static const char *const plain_pragmas[] = {
    "application_id",  "user_version",  "journal_mode", "page_count",     "page_size",   "freelist_count", "encoding",
    "compile_options", "function_list", "table_list",   "collation_list", "pragma_list", "data_version"};
static const char *const table_pragmas[] = {"table_info",       "table_xinfo",      "index_list",  "index_info",
                                            "table_list",       "index_xinfo",      "quick_check", "integrity_check",
                                            "foreign_key_list", "foreign_key_check"};
#define LENGTH(array) (int)(sizeof(array) / sizeof((array)[0]))

typedef struct action_name {
    int action;
    const char *name;
} action_name;

static const action_name refusals[] = {
    {SQLITE_INSERT, "INSERT"},
    {SQLITE_UPDATE, "UPDATE"},
    {SQLITE_DELETE, "DELETE"},
    {SQLITE_ATTACH, "ATTACH"},
    {SQLITE_DETACH, "DETACH"},
    {SQLITE_PRAGMA, "PRAGMA"},
    {SQLITE_TRANSACTION, "BEGIN or COMMIT"},
    {SQLITE_SAVEPOINT, "SAVEPOINT"},
    {SQLITE_ALTER_TABLE, "ALTER TABLE"},
    {SQLITE_REINDEX, "REINDEX"},
    {SQLITE_ANALYZE, "ANALYZE"},
    {SQLITE_FUNCTION, "the function"},
};

static bool listed(const char *name, const char *const *names, int count)
{
    for (int i = 0; i < count; i++)
        if (name != NULL && sqlite3_stricmp(name, names[i]) == 0)
            return true;
    return false;
}

static bool reads(int action, const char *first, const char *second)
{
    if (action == SQLITE_SELECT || action == SQLITE_READ || action == SQLITE_RECURSIVE)
        return true;
    /* SQLite asks this when a table-valued function such as json_each is first used. A statement that says so fails
     * anyway: the schema table may not be modified. */
    if (action == SQLITE_UPDATE && sqlite3_stricmp(first, "sqlite_master") == 0)
        return true;
    if (action == SQLITE_FUNCTION)
        return sqlite3_stricmp(second, "load_extension") != 0;
    if (action == SQLITE_PRAGMA)
        return listed(first, table_pragmas, LENGTH(table_pragmas)) ||
               (second == NULL && listed(first, plain_pragmas, LENGTH(plain_pragmas)));
    return false;
}

static int authorize(void *context, int action, const char *first, const char *second, const char *database,
                     const char *trigger)
{
    nt_guard *guard = context;
    (void)database;
    (void)trigger;
    if (reads(action, first, second))
        return SQLITE_OK;
    const char *name = "CREATE or DROP";
    for (int i = 0; i < LENGTH(refusals); i++)
        if (refusals[i].action == action)
            name = refusals[i].name;
    bool detail = action == SQLITE_PRAGMA || action == SQLITE_FUNCTION;
    const char *which = action == SQLITE_FUNCTION ? second : first;
    snprintf(guard->refused, sizeof guard->refused, "%s%s%s", name, detail ? " " : "", detail && which ? which : "");
    return SQLITE_DENY;
}

static int over_time(void *context)
{
    const nt_guard *guard = context;
    return guard->deadline_s > 0 && nt_now_s() > guard->deadline_s;
}

void nt_guard_install(nt_guard *guard, const nt_db *db)
{
    *guard = (nt_guard){0};
    sqlite3_set_authorizer(db->handle, authorize, guard);
    sqlite3_progress_handler(db->handle, 20000, over_time, guard);
    sqlite3_db_config(db->handle, SQLITE_DBCONFIG_DEFENSIVE, 1, NULL);
}

void nt_guard_start(nt_guard *guard, int limit_ms)
{
    guard->refused[0] = '\0';
    guard->deadline_s = limit_ms > 0 ? nt_now_s() + limit_ms / 1e3 : 0;
}

void nt_guard_stop(nt_guard *guard)
{
    guard->deadline_s = 0;
}
