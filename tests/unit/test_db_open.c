/* test_db_open.c: paths that cannot be a database, files of others, locks, full disks, read-only places. Each message
 * names the thing, and nothing stored is lost. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include <sqlite3.h>

#include "db/writer.h"
#include "db_fixture.h"

typedef struct place {
    char path[256];
    nt_error err;
} place;

static int setup(void **state)
{
    place *p = nt_alloc_zero(1, sizeof *p);
    fixture_path(p->path);
    *state = p;
    return 0;
}

static int teardown(void **state)
{
    place *p = *state;
    fixture_remove(p->path);
    free(p);
    return 0;
}

#define assert_ok(call, p)                            \
    do {                                              \
        if ((call) != NT_OK)                          \
            fail_msg("%s: %s", #call, (p)->err.what); \
    } while (0)

static void assert_says(const nt_error *err, const char *words)
{
    if (strstr(err->what, words) == NULL)
        fail_msg("'%s' does not say '%s'", err->what, words);
    if (err->hint[0] == '\0')
        fail_msg("'%s' has no hint", err->what);
}

static void write_text(const char *path, const char *text)
{
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    fputs(text, file);
    fclose(file);
}

static void raw_sql(const char *path, const char *sql)
{
    sqlite3 *db;
    assert_int_equal(sqlite3_open(path, &db), SQLITE_OK);
    if (sqlite3_exec(db, sql, NULL, NULL, NULL) != SQLITE_OK)
        fail_msg("%s", sqlite3_errmsg(db));
    sqlite3_close(db);
}

/* A finished database of `trials` trials. */
static void make_database(place *p, int trials)
{
    nt_sink *sink;
    nt_run run;
    fixture_run(&run, 1, "{}");
    assert_ok(nt_db_sink_open(p->path, &sink, &p->err), p);
    assert_ok(sink->begin_run(sink, &run, &p->err), p);
    for (int i = 0; i < trials; i++)
        assert_ok(fixture_put(sink, 1, i, 100 + i, NULL, &p->err), p);
    nt_sink_close(sink);
    nt_run_done(&run);
}

static nt_status open_sink(place *p, const char *path)
{
    nt_sink *sink;
    nt_status status = nt_db_sink_open(path, &sink, &p->err);
    nt_sink_close(sink);
    return status;
}

static nt_status open_reader(place *p, const char *path)
{
    nt_reader *reader;
    nt_status status = nt_db_reader_open(path, &reader, &p->err);
    if (status == NT_OK)
        reader->close(reader);
    return status;
}

static void bad_paths(void **state)
{
    place *p = *state;
    char folder[256], other[400];
    nt_copy(folder, sizeof folder, p->path);
    *strrchr(folder, '/') = '\0';
    assert_int_equal(open_sink(p, folder), NT_IO);
    assert_says(&p->err, "is a folder");
    assert_int_equal(open_reader(p, folder), NT_IO);
    assert_says(&p->err, "is a folder");
    snprintf(other, sizeof other, "%s/no/t.db", folder);
    assert_int_equal(open_sink(p, other), NT_IO);
    assert_says(&p->err, "/no: No such file or directory");
    assert_int_equal(open_sink(p, "/dev/null"), NT_IO);
    assert_says(&p->err, "a special file");
    assert_int_equal(open_sink(p, ""), NT_USAGE);
    assert_says(&p->err, "empty");
    assert_int_equal(open_reader(p, p->path), NT_NOT_FOUND);
    assert_says(&p->err, "there is no database");
    write_text(p->path, "");
    assert_int_equal(open_reader(p, p->path), NT_NOT_FOUND);
    assert_says(&p->err, "is empty");
    assert_ok(open_sink(p, p->path), p);
    assert_ok(open_reader(p, p->path), p);
}

static void files_of_others(void **state)
{
    place *p = *state;
    write_text(p->path,
               "these are no bytes of a database, but there are enough of them to look at, more than a header has\n");
    assert_int_equal(open_sink(p, p->path), NT_CORRUPT);
    assert_says(&p->err, "is not an nntune database");
    assert_int_equal(open_reader(p, p->path), NT_CORRUPT);
    unlink(p->path);
    raw_sql(p->path, "create table cookies (host text)");
    assert_int_equal(open_sink(p, p->path), NT_CORRUPT);
    assert_says(&p->err, "of another program");
    assert_int_equal(open_reader(p, p->path), NT_CORRUPT);
}

static off_t size_of(const char *path, struct timespec *changed)
{
    struct stat st;
    assert_int_equal(stat(path, &st), 0);
    *changed = st.st_mtim;
    return st.st_size;
}

static void a_newer_schema_is_not_touched(void **state)
{
    place *p = *state;
    struct timespec before, after;
    make_database(p, 1);
    raw_sql(p->path, "pragma user_version = 99");
    off_t size = size_of(p->path, &before);
    assert_int_equal(open_sink(p, p->path), NT_NEWER_SCHEMA);
    assert_says(&p->err, "schema version 99");
    assert_int_equal(open_reader(p, p->path), NT_NEWER_SCHEMA);
    assert_int_equal(size_of(p->path, &after), size);
    assert_memory_equal(&before, &after, sizeof before);
}

/* A newer program died and left its log: closing our connection must not copy it into the file. */
static void a_newer_log_is_not_touched(void **state)
{
    place *p = *state;
    struct timespec before, after;
    make_database(p, 1);
    if (fork() == 0) {
        sqlite3 *db;
        sqlite3_open(p->path, &db);
        sqlite3_exec(db, "pragma user_version = 99; create table later (x)", NULL, NULL, NULL);
        _exit(0);
    }
    wait(NULL);
    off_t size = size_of(p->path, &before);
    assert_int_equal(open_sink(p, p->path), NT_NEWER_SCHEMA);
    assert_int_equal(size_of(p->path, &after), size);
    assert_memory_equal(&before, &after, sizeof before);
}

/* Starts a child that holds the database in a write transaction until it is killed. */
static pid_t hold_lock(const char *path)
{
    int ready[2];
    char byte;
    assert_int_equal(pipe(ready), 0);
    pid_t child = fork();
    if (child == 0) {
        sqlite3 *db;
        bool held =
            sqlite3_open(path, &db) == SQLITE_OK && sqlite3_exec(db, "begin immediate", NULL, NULL, NULL) == SQLITE_OK;
        if (!held || write(ready[1], "x", 1) != 1)
            _exit(1);
        for (;;)
            pause();
    }
    close(ready[1]);
    assert_int_equal(read(ready[0], &byte, 1), 1);
    close(ready[0]);
    return child;
}

static void end_child(pid_t child)
{
    kill(child, SIGKILL);
    waitpid(child, NULL, 0);
}

static void a_lock_names_its_holder(void **state)
{
    place *p = *state;
    make_database(p, 1);
    nt_db_options quick = {.busy_ms = 150};
    nt_sink *sink;
    nt_run run;
    char words[64];
    fixture_run(&run, 1, "{}");
    assert_ok(nt_db_sink_open_with(p->path, &quick, &sink, &p->err), p);
    pid_t child = hold_lock(p->path);
    assert_int_equal(sink->begin_run(sink, &run, &p->err), NT_BUSY);
    snprintf(words, sizeof words, "locked by process %d (", (int)child);
    assert_says(&p->err, words);
    assert_says(&p->err, "after 0.15 s");
    assert_ok(open_reader(p, p->path), p); /* readers need not wait */
    end_child(child);
    assert_ok(sink->begin_run(sink, &run, &p->err), p);
    assert_ok(fixture_put(sink, 1, 0, 10, NULL, &p->err), p);
    nt_sink_close(sink);
    nt_run_done(&run);
}

static void a_writer_waits_for_another(void **state)
{
    place *p = *state;
    make_database(p, 1);
    pid_t holder = hold_lock(p->path);
    if (fork() == 0) {
        usleep(200000);
        kill(holder, SIGKILL);
        _exit(0);
    }
    make_database(p, 1); /* a second run, begun while the lock is held */
    while (wait(NULL) > 0)
        ;
    assert_true(fixture_number(p->path, "select count(*) from runs") == 2);
}

/* Creates the same file from four processes at once. */
static void creation_may_race(void **state)
{
    place *p = *state;
    int failed = 0, status;
    for (int i = 0; i < 4; i++)
        if (fork() == 0) {
            nt_error err = {0};
            nt_sink *sink;
            nt_run run;
            fixture_run(&run, i, "{}");
            bool good = nt_db_sink_open(p->path, &sink, &err) == NT_OK && sink->begin_run(sink, &run, &err) == NT_OK;
            for (int j = 0; good && j < 20; j++)
                good = fixture_put(sink, 1, j, 100, NULL, &err) == NT_OK;
            if (!good)
                fprintf(stderr, "%s\n", err.what);
            _exit(!good);
        }
    while (wait(&status) > 0)
        failed += status != 0;
    assert_int_equal(failed, 0);
    assert_true(fixture_number(p->path, "select count(*) from trials") == 80);
    assert_true(fixture_number(p->path, "select count(*) from best") == 4);
}

static void a_full_disk_loses_nothing(void **state)
{
    place *p = *state;
    nt_sink *sink;
    nt_run run;
    fixture_run(&run, 1, "{}");
    assert_ok(nt_db_sink_open(p->path, &sink, &p->err), p);
    assert_ok(sink->begin_run(sink, &run, &p->err), p);
    nt_writer *writer = sink->state;
    sqlite3_exec(writer->db.handle, "pragma max_page_count = 80", NULL, NULL, NULL);
    int stored = 0;
    while (stored < 100000 && fixture_put(sink, 1, stored, 100, NULL, &p->err) == NT_OK)
        stored++;
    assert_int_equal(p->err.status, NT_IO);
    assert_says(&p->err, "no space left");
    assert_true(stored > 10);
    assert_true(fixture_number(p->path, "select count(*) from trials") == stored);
    assert_true(fixture_number(p->path, "select sum(trials) from counts") == stored);
    /* Space again: the same put succeeds. */
    sqlite3_exec(writer->db.handle, "pragma max_page_count = 100000", NULL, NULL, NULL);
    assert_ok(fixture_put(sink, 1, stored, 100, NULL, &p->err), p);
    nt_sink_close(sink);
    nt_run_done(&run);
}

/* The kernel refuses to let files grow, in the middle of a write. */
static int fill_to_limit(const char *path)
{
    nt_error err = {0};
    nt_sink *sink;
    nt_run run;
    struct rlimit limit = {800000, 800000};
    fixture_run(&run, 1, "{}");
    signal(SIGXFSZ, SIG_IGN);
    if (nt_db_sink_open(path, &sink, &err) != NT_OK || sink->begin_run(sink, &run, &err) != NT_OK ||
        setrlimit(RLIMIT_FSIZE, &limit) != 0)
        return 1;
    int stored = 0;
    while (stored < 100000 && fixture_put(sink, 1, stored, 100, NULL, &err) == NT_OK)
        stored++;
    bool said = err.status == NT_IO && strstr(err.what, "File too large") != NULL && err.hint[0] != '\0';
    nt_sink_close(sink);
    nt_run_done(&run);
    bool kept = fixture_number(path, "select count(*) from trials") == stored;
    if (!said || !kept)
        fprintf(stderr, "%d stored, then: %s\n", stored, err.what);
    return said && kept && stored > 10 ? 0 : 2;
}

static void run_in_child(int (*body)(const char *path), const char *path)
{
    int status = -1;
    pid_t child = fork();
    if (child == 0)
        _exit(body(path));
    waitpid(child, &status, 0);
    assert_int_equal(status, 0);
}

static void a_write_cut_short_loses_nothing(void **state)
{
    place *p = *state;
    run_in_child(fill_to_limit, p->path);
    assert_true(fixture_number(p->path, "select count(*) from pragma_integrity_check where integrity_check <> 'ok'") ==
                0);
}

static void allow_all(const char *path, int folder_mode, int file_mode)
{
    char folder[256];
    nt_copy(folder, sizeof folder, path);
    *strrchr(folder, '/') = '\0';
    assert_int_equal(chmod(folder, folder_mode), 0);
    assert_int_equal(chmod(path, file_mode), 0);
}

/* Root may write anywhere, so permissions are tried as somebody else. */
static bool become_nobody(void)
{
    return geteuid() != 0 || (setgid(65534) == 0 && setuid(65534) == 0);
}

static int read_only_place(const char *path)
{
    nt_error err = {0};
    nt_sink *sink;
    if (!become_nobody())
        return 1;
    if (fixture_number(path, "select count(*) from trials") != 3)
        return 2;
    if (nt_db_sink_open(path, &sink, &err) != NT_IO || strstr(err.what, "cannot be written") == NULL)
        return 3;
    return 0;
}

static void read_only_file_and_folder(void **state)
{
    place *p = *state;
    strcpy(strrchr(p->path, '/'), "/t 1%41?#.db"); /* a name is a name, also where it goes through a URI */
    make_database(p, 3);
    allow_all(p->path, 0555, 0444);
    run_in_child(read_only_place, p->path);
    allow_all(p->path, 0755, 0444);
    run_in_child(read_only_place, p->path);
    allow_all(p->path, 0777, 0444);
    run_in_child(read_only_place, p->path);
    allow_all(p->path, 0755, 0644);
}

static int unreadable_log(const char *path)
{
    nt_error err = {0};
    nt_reader *reader;
    if (!become_nobody())
        return 1;
    if (nt_db_reader_open(path, &reader, &err) == NT_OK)
        return 2;
    return strstr(err.what, "t.db-wal") != NULL && err.hint[0] != '\0' ? 0 : 3;
}

/* A killed sweep's log in a folder we may not write to: said, not silently left out. */
static void a_log_that_cannot_be_read_is_said(void **state)
{
    place *p = *state;
    char shm[300];
    if (fork() == 0) {
        make_database(p, 1);
        nt_sink *sink;
        nt_run run;
        fixture_run(&run, 1, "{}");
        if (nt_db_sink_open(p->path, &sink, &p->err) == NT_OK && sink->begin_run(sink, &run, &p->err) == NT_OK)
            fixture_put(sink, 2, 1, 5, NULL, &p->err);
        _exit(0);
    }
    wait(NULL);
    snprintf(shm, sizeof shm, "%s-shm", p->path);
    assert_int_equal(unlink(shm), 0);
    allow_all(p->path, 0555, 0444);
    run_in_child(unreadable_log, p->path);
    allow_all(p->path, 0755, 0644);
    assert_true(fixture_number(p->path, "select count(*) from trials") == 2);
}

static void a_copy_without_its_log_is_read(void **state)
{
    place *p = *state;
    char command[900], copy[300];
    make_database(p, 3);
    nt_sink *sink;
    assert_ok(nt_db_sink_open(p->path, &sink, &p->err), p);
    snprintf(copy, sizeof copy, "%s.copy?%%20#.db", p->path); /* an awkward name is a name */
    snprintf(command, sizeof command, "cp '%s' '%s'", p->path, copy);
    assert_int_equal(system(command), 0);
    assert_true(fixture_number(copy, "select count(*) from trials") == 3);
    nt_sink_close(sink);
}

static void without_write_ahead_log(void **state)
{
    place *p = *state;
    nt_db_options options = {.journal_mode = "truncate"};
    nt_sink *sink;
    nt_run run;
    char wal[300];
    fixture_run(&run, 1, "{}");
    assert_ok(nt_db_sink_open_with(p->path, &options, &sink, &p->err), p);
    assert_ok(sink->begin_run(sink, &run, &p->err), p);
    assert_ok(fixture_put(sink, 1, 1, 100, NULL, &p->err), p);
    assert_true(fixture_number(p->path, "select count(*) from trials") == 1);
    snprintf(wal, sizeof wal, "%s-wal", p->path);
    assert_int_equal(access(wal, F_OK), -1);
    nt_sink_close(sink);
    nt_run_done(&run);
}

static void a_relative_path_is_a_path(void **state)
{
    place *p = *state;
    char folder[256], before[1024];
    nt_copy(folder, sizeof folder, p->path);
    *strrchr(folder, '/') = '\0';
    assert_non_null(getcwd(before, sizeof before));
    assert_int_equal(chdir(folder), 0);
    assert_ok(open_sink(p, ":memory:"), p);
    assert_int_equal(access(":memory:", F_OK), 0);
    assert_int_equal(chdir(before), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
#define T(f) cmocka_unit_test_setup_teardown(f, setup, teardown)
        T(bad_paths),
        T(files_of_others),
        T(a_newer_schema_is_not_touched),
        T(a_newer_log_is_not_touched),
        T(a_lock_names_its_holder),
        T(a_writer_waits_for_another),
        T(creation_may_race),
        T(a_full_disk_loses_nothing),
        T(a_write_cut_short_loses_nothing),
        T(read_only_file_and_folder),
        T(a_log_that_cannot_be_read_is_said),
        T(a_copy_without_its_log_is_read),
        T(without_write_ahead_log),
        T(a_relative_path_is_a_path),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
