/* open.c: opens a database file: identity and schema version first, then journal mode, then creation or migration.
 *
 * Write-ahead logging needs memory shared between all users of the file, which network file systems do not give; there
 * a rollback journal is used. Readers never write: they refuse all but SELECT, and need no writable folder. */
#include "db/open.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "core/mem.h"
#include "db/failure.h"

extern const char nt_embed_db_schema_sql[], nt_embed_db_schema_2_sql[], nt_embed_db_schema_3_sql[],
    nt_embed_db_schema_4_sql[], nt_embed_db_schema_5_sql[], nt_embed_db_schema_6_sql[], nt_embed_db_schema_7_sql[],
    nt_embed_db_schema_8_sql[], nt_embed_db_schema_9_sql[], nt_embed_db_views_sql[];

/* steps[i] leads from version i to i + 1; the views come after the last. */
static const char *const steps[NT_DB_SCHEMA_VERSION] = {
    nt_embed_db_schema_sql,   nt_embed_db_schema_2_sql, nt_embed_db_schema_3_sql,
    nt_embed_db_schema_4_sql, nt_embed_db_schema_5_sql, nt_embed_db_schema_6_sql,
    nt_embed_db_schema_7_sql, nt_embed_db_schema_8_sql, nt_embed_db_schema_9_sql};

/* File systems whose files may be open on several machines (statfs f_type). */
static const long network_file_systems[] = {
    0x6969,     /* NFS */
    0x517B,     /* SMB */
    0xFF534D42, /* CIFS */
    0xFE534D42, /* SMB2 */
    0x01021997, /* 9P */
    0x0BD00BD0, /* Lustre */
    0x47504653, /* GPFS */
    0x19830326, /* BeeGFS */
    0x00C36400, /* Ceph */
    0x5346414F, /* AFS */
};

nt_status nt_db_prepare(const nt_db *db, const char *sql, sqlite3_stmt **out, const char *doing, nt_error *err)
{
    if (sqlite3_prepare_v3(db->handle, sql, -1, SQLITE_PREPARE_PERSISTENT, out, NULL) != SQLITE_OK)
        return nt_db_error(db, doing, err);
    return NT_OK;
}

nt_status nt_db_exec(const nt_db *db, const char *sql, const char *doing, nt_error *err)
{
    if (sqlite3_exec(db->handle, sql, NULL, NULL, NULL) != SQLITE_OK)
        return nt_db_error(db, doing, err);
    return NT_OK;
}

nt_status nt_db_step(const nt_db *db, sqlite3_stmt *stmt, const char *doing, nt_error *err)
{
    nt_status status = sqlite3_step(stmt) == SQLITE_DONE ? NT_OK : nt_db_error(db, doing, err);
    sqlite3_reset(stmt);
    return status;
}

nt_status nt_db_step_id(const nt_db *db, sqlite3_stmt *stmt, int64_t *id, const char *doing, nt_error *err)
{
    int rc = sqlite3_step(stmt);
    nt_status status = rc == SQLITE_ROW || rc == SQLITE_DONE ? NT_OK : nt_db_error(db, doing, err);
    *id = rc == SQLITE_ROW ? sqlite3_column_int64(stmt, 0) : 0;
    sqlite3_reset(stmt);
    return status;
}

/* Without this, a file that was removed or moved away would go on being written to, for nobody. */
static nt_status check_in_place(const nt_db *db, const char *doing, nt_error *err)
{
    int moved = 0;
    if (sqlite3_file_control(db->handle, "main", SQLITE_FCNTL_HAS_MOVED, &moved) != SQLITE_OK || !moved)
        return NT_OK;
    nt_fail(err, NT_IO, "%s was removed or moved away while it was in use, %s", db->path, doing);
    nt_hint(err, "what was stored is in that file; put it back and go on with --resume, or begin anew");
    return NT_IO;
}

nt_status nt_db_begin(const nt_db *db, const char *doing, nt_error *err)
{
    nt_status status = check_in_place(db, doing, err);
    return status == NT_OK ? nt_db_exec(db, "BEGIN IMMEDIATE", doing, err) : status;
}

nt_status nt_db_finish(const nt_db *db, nt_status so_far, const char *doing, nt_error *err)
{
    nt_status status = so_far == NT_OK ? nt_db_exec(db, "COMMIT", doing, err) : so_far;
    /* SQLite has rolled back by itself after some errors. */
    if (status != NT_OK && !sqlite3_get_autocommit(db->handle))
        sqlite3_exec(db->handle, "ROLLBACK", NULL, NULL, NULL);
    return status;
}

static nt_status read_number(const nt_db *db, const char *sql, int64_t *out, nt_error *err)
{
    sqlite3_stmt *stmt;
    nt_status status = nt_db_prepare(db, sql, &stmt, "reading its header", err);
    if (status != NT_OK)
        return status;
    status = nt_db_step_id(db, stmt, out, "reading its header", err);
    sqlite3_finalize(stmt);
    return status;
}

/* Leaves the file as it is: closing would otherwise copy the write-ahead log of another version into it. */
static nt_status newer(const nt_db *db, int64_t version, nt_error *err)
{
    nt_str wal = {0};
    struct stat st;
    nt_str_addf(&wal, "%s-wal", db->path);
    if (stat(nt_str_text(&wal), &st) == 0 && st.st_size > 0)
        sqlite3_db_config(db->handle, SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1, NULL);
    nt_str_done(&wal);
    nt_fail(err, NT_NEWER_SCHEMA, "%s has schema version %lld; this nntune %s knows versions up to %d", db->path,
            (long long)version, NT_VERSION, NT_DB_SCHEMA_VERSION);
    nt_hint(err, "use the newer nntune that wrote it, or name another file with --db; the file was not changed");
    return NT_NEWER_SCHEMA;
}

/* The schema version of an nntune database, 0 of an empty file; anything else fails. */
static nt_status identify(const nt_db *db, int64_t *version, nt_error *err)
{
    int64_t application = 0, tables = 0;
    nt_status status = read_number(db, "PRAGMA application_id", &application, err);
    if (status == NT_OK)
        status = read_number(db, "PRAGMA user_version", version, err);
    if (status == NT_OK)
        status = read_number(db, "SELECT count(*) FROM sqlite_schema", &tables, err);
    if (status != NT_OK)
        return status;
    if (application == NT_DB_APPLICATION_ID)
        return *version > NT_DB_SCHEMA_VERSION ? newer(db, *version, err) : NT_OK;
    if (application == 0 && *version == 0 && tables == 0)
        return NT_OK;
    nt_fail(err, NT_CORRUPT, "%s is the SQLite database of another program, not an nntune database", db->path);
    nt_hint(err, "name another file with --db; the file was not changed");
    return NT_CORRUPT;
}

/* Its header and tables as they stood at one moment: another process may be making them. */
static nt_status identify_whole(const nt_db *db, int64_t *version, nt_error *err)
{
    static const char doing[] = "reading its header";
    nt_error ignored;
    nt_status status = nt_db_exec(db, "BEGIN", doing, err);
    if (status != NT_OK)
        return status;
    status = identify(db, version, err);
    nt_status ended = nt_db_exec(db, "ROLLBACK", doing, status == NT_OK ? err : &ignored);
    return status == NT_OK ? ended : status;
}

static bool on_network(const char *path)
{
    struct statfs fs;
    if (statfs(path, &fs) != 0)
        return false;
    for (size_t i = 0; i < sizeof network_file_systems / sizeof network_file_systems[0]; i++)
        if (((unsigned long)fs.f_type & 0xffffffffUL) == (unsigned long)network_file_systems[i])
            return true;
    return false;
}

/* Asks for a journal mode; *got tells whether it is on now. Another process that opens the same new file at this
 * moment answers "locked" without SQLite waiting, so we wait. */
static int ask_journal_mode(const nt_db *db, const char *mode, bool *got)
{
    char sql[64];
    snprintf(sql, sizeof sql, "PRAGMA journal_mode = %s", mode);
    int rc = SQLITE_BUSY;
    for (int waited_ms = 0; rc == SQLITE_BUSY; waited_ms += 5) {
        sqlite3_stmt *stmt = NULL;
        rc = sqlite3_prepare_v2(db->handle, sql, -1, &stmt, NULL);
        if (rc == SQLITE_OK)
            rc = sqlite3_step(stmt);
        *got = rc == SQLITE_ROW && strcmp((const char *)sqlite3_column_text(stmt, 0), mode) == 0;
        sqlite3_finalize(stmt);
        if (rc == SQLITE_BUSY && waited_ms >= db->busy_ms)
            break;
        if (rc == SQLITE_BUSY)
            usleep(5000);
    }
    return rc;
}

static nt_status set_journal(const nt_db *db, const char *wanted, nt_error *err)
{
    static const char doing[] = "choosing its journal mode";
    if (wanted == NULL)
        wanted = on_network(db->path) ? "truncate" : "wal";
    bool wal = false, other = false;
    if (strcmp(wanted, "wal") == 0 && ask_journal_mode(db, "wal", &wal) == SQLITE_BUSY)
        return nt_db_error(db, doing, err);
    if (wal) /* The log is synced when it is copied into the file: a power cut may cost the last results, never the
                file. */
        return nt_db_exec(db, "PRAGMA synchronous = NORMAL", doing, err);
    /* A database others use in WAL mode at this moment stays in it. */
    if (ask_journal_mode(db, "truncate", &other) != SQLITE_ROW)
        return nt_db_error(db, doing, err);
    return nt_db_exec(db, "PRAGMA synchronous = FULL", doing, err);
}

static nt_status take_step(const nt_db *db, int64_t from, nt_error *err)
{
    char sql[96];
    snprintf(sql, sizeof sql, "PRAGMA application_id = %d; PRAGMA user_version = %d", (int)NT_DB_APPLICATION_ID,
             (int)from + 1);
    nt_status status = nt_db_exec(db, steps[from], "making its tables", err);
    return status == NT_OK ? nt_db_exec(db, sql, "making its tables", err) : status;
}

static nt_status migrate(const nt_db *db, nt_error *err)
{
    int64_t version;
    nt_status status = nt_db_begin(db, "making its tables", err);
    if (status != NT_OK)
        return status;
    /* Asked again under the lock: another process may have been faster. */
    status = identify(db, &version, err);
    bool older = version < NT_DB_SCHEMA_VERSION;
    for (; status == NT_OK && version < NT_DB_SCHEMA_VERSION; version++)
        status = take_step(db, version, err);
    if (status == NT_OK && older)
        status = nt_db_exec(db, nt_embed_db_views_sql, "making its views", err);
    return nt_db_finish(db, status, "making its tables", err);
}

static nt_status old_library(nt_error *err)
{
    nt_fail(err, NT_FAILED, "SQLite %s is too old; 3.37 or newer is needed", sqlite3_libversion());
    nt_hint(err, "install libsqlite3-0 of Debian 12 or newer");
    return NT_FAILED;
}

/* SQLite reads ":memory:" and "file:..." as more than names; a path of ours is a path. */
static char *plain_path(const char *path)
{
    nt_str full = {0};
    nt_str_addf(&full, "%s%s", path[0] == '/' ? "" : "./", path);
    return full.data;
}

static nt_status connect_to(nt_db *db, const char *name, int flags, nt_error *err)
{
    int rc = sqlite3_open_v2(name, &db->handle, flags | SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_EXRESCODE, NULL);
    if (rc != SQLITE_OK)
        return nt_db_error(db, "opening it", err);
    sqlite3_busy_timeout(db->handle, db->busy_ms);
    return NT_OK;
}

static void start(nt_db *db, const char *path, const nt_db_options *options)
{
    static const nt_db_options none;
    const nt_db_options *given = options != NULL ? options : &none;
    *db = (nt_db){.path = nt_strdup(path)};
    db->busy_ms = given->busy_ms > 0 ? given->busy_ms : 60000;
    db->query_ms = given->query_ms > 0 ? given->query_ms : 60000;
}

nt_status nt_db_open_write(nt_db *db, const char *path, const nt_db_options *options, nt_error *err)
{
    start(db, path, options);
    char *name = plain_path(path);
    int64_t version = 0;
    nt_status status = sqlite3_libversion_number() >= 3037000 ? NT_OK : old_library(err);
    if (status == NT_OK)
        status = nt_db_check_path_write(path, err);
    if (status == NT_OK)
        status = connect_to(db, name, SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE, err);
    free(name);
    if (status == NT_OK)
        status = identify_whole(db, &version, err);
    if (status == NT_OK)
        status = set_journal(db, options != NULL ? options->journal_mode : NULL, err);
    if (status == NT_OK && version < NT_DB_SCHEMA_VERSION)
        status = migrate(db, err);
    /* The log is copied into the file, and the disk waited for, every 16 MB instead of every 4. */
    if (status == NT_OK)
        status =
            nt_db_exec(db, "PRAGMA foreign_keys = ON; PRAGMA cache_size = -16000; PRAGMA wal_autocheckpoint = 4000",
                       "opening it", err);
    if (status != NT_OK)
        nt_db_close(db);
    return status;
}

/* A folder where no file can be made has no room for the shared memory of a write-ahead log. Without a log beside it
 * the file is complete and cannot change under us through SQLite, so it may be read as it stands. */
static nt_status connect_unchanging(nt_db *db, const char *name, nt_error *err)
{
    nt_str uri = {0};
    struct stat st;
    nt_str_addf(&uri, "%s-wal", name);
    if (stat(nt_str_text(&uri), &st) == 0 && st.st_size > 0) {
        nt_str_done(&uri);
        nt_fail(err, NT_IO, "%s has results in %s-wal that cannot be read from this folder: it is not writable",
                db->path, db->path);
        nt_hint(err, "copy both files to a folder you can write to and read the copy");
        return NT_IO;
    }
    nt_str_clear(&uri);
    nt_str_add(&uri, "file:");
    for (const char *c = name; *c != '\0'; c++)
        nt_str_addf(&uri, strchr("?#%", *c) != NULL ? "%%%02x" : "%c", (unsigned char)*c);
    nt_str_add(&uri, "?immutable=1");
    sqlite3_close(db->handle);
    db->handle = NULL;
    nt_status status = connect_to(db, nt_str_text(&uri), SQLITE_OPEN_READONLY | SQLITE_OPEN_URI, err);
    nt_str_done(&uri);
    return status;
}

static nt_status identify_to_read(const nt_db *db, nt_error *err)
{
    int64_t version = 0;
    nt_status status = identify_whole(db, &version, err);
    if (status != NT_OK || version >= NT_DB_OLDEST_READABLE)
        return status;
    if (version == 0) {
        nt_fail(err, NT_NOT_FOUND, "%s is empty: no result was stored in it yet", db->path);
        nt_hint(err, "`nntune sweep conv3x3 --db %s` fills it", db->path);
        return NT_NOT_FOUND;
    }
    nt_fail(err, NT_FAILED, "%s has the older schema version %lld", db->path, (long long)version);
    nt_hint(err, "a sweep into it brings it to version %d: nntune sweep conv3x3 --db %s", NT_DB_SCHEMA_VERSION,
            db->path);
    return NT_FAILED;
}

nt_status nt_db_open_read(nt_db *db, const char *path, const nt_db_options *options, nt_error *err)
{
    start(db, path, options);
    char *name = plain_path(path);
    nt_status status = sqlite3_libversion_number() >= 3037000 ? NT_OK : old_library(err);
    if (status == NT_OK)
        status = nt_db_check_path_read(path, err);
    if (status == NT_OK)
        status = connect_to(db, name, SQLITE_OPEN_READONLY, err);
    if (status == NT_OK) {
        /* A first read shows whether the write-ahead log can be used here. */
        int rc =
            sqlite3_exec(db->handle, "PRAGMA query_only = ON; SELECT count(*) FROM sqlite_schema", NULL, NULL, NULL);
        if ((rc & 0xff) == SQLITE_CANTOPEN || (rc & 0xff) == SQLITE_READONLY)
            status = connect_unchanging(db, name, err);
    }
    free(name);
    if (status == NT_OK)
        status = identify_to_read(db, err);
    if (status != NT_OK)
        nt_db_close(db);
    return status;
}

void nt_db_close(nt_db *db)
{
    sqlite3_close_v2(db->handle);
    free(db->path);
    *db = (nt_db){0};
}
