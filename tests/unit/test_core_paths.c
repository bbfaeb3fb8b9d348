/* Paths: the XDG rules, folders made with their modes, files that appear whole, and messages that name the path. */
#include "core/paths.h"

#include <ftw.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core_check.h"

static char root[64];

static int remove_entry(const char *path, const struct stat *info, int flag, struct FTW *walk)
{
    (void)info;
    (void)flag;
    (void)walk;
    return remove(path);
}

static int enter(void **state)
{
    (void)state;
    strcpy(root, "/tmp/nntune-paths-XXXXXX");
    return mkdtemp(root) == NULL || chdir(root) != 0 || setenv("HOME", root, 1) != 0;
}

static int leave(void **state)
{
    (void)state;
    if (chdir("/") != 0)
        return 1;
    return nftw(root, remove_entry, 16, FTW_DEPTH | FTW_PHYS);
}

static void expect_path(const char *got, const char *below)
{
    char want[256];
    snprintf(want, sizeof want, "%s%s", root, below);
    assert_string_equal(got, want);
}

static mode_t mode_of(const char *path)
{
    struct stat info;
    assert_int_equal(stat(path, &info), 0);
    return info.st_mode & 07777;
}

static void places_follow_xdg(void **state)
{
    (void)state;
    char path[256];
    nt_error err = {0};
    unsetenv("NNTUNE_CACHE_DIR");
    unsetenv("XDG_CACHE_HOME");
    assert_int_equal(nt_path_cache(path, sizeof path, &err), NT_OK);
    expect_path(path, "/.cache/nntune");
    assert_int_equal(mode_of(path), 0700);
    setenv("XDG_CACHE_HOME", "relative", 1); /* counts as unset */
    assert_int_equal(nt_path_cache(path, sizeof path, &err), NT_OK);
    expect_path(path, "/.cache/nntune");
    char other[128];
    snprintf(other, sizeof other, "%s/deep/er", root);
    setenv("XDG_CACHE_HOME", other, 1);
    assert_int_equal(nt_path_cache(path, sizeof path, &err), NT_OK);
    expect_path(path, "/deep/er/nntune");
    snprintf(other, sizeof other, "%s/own", root);
    setenv("NNTUNE_CACHE_DIR", other, 1);
    assert_int_equal(nt_path_cache(path, sizeof path, &err), NT_OK);
    expect_path(path, "/own");
    unsetenv("XDG_DATA_HOME");
    char *slash;
    assert_int_equal(nt_path_database_name(path, sizeof path, &err), NT_OK);
    expect_path(path, "/.local/share/nntune/nntune.db");
    slash = strrchr(path, '/');
    *slash = '\0';
    assert_int_not_equal(access(path, F_OK), 0); /* who only reads makes nothing */
    assert_int_equal(nt_path_database(path, sizeof path, &err), NT_OK);
    expect_path(path, "/.local/share/nntune/nntune.db");
    assert_int_not_equal(access(path, F_OK), 0); /* its folder is made, not the file */
}

static void locks_are_open_to_all_and_runtime_to_the_user(void **state)
{
    (void)state;
    char path[256], other[128];
    nt_error err = {0};
    snprintf(other, sizeof other, "%s/locks", root);
    setenv("NNTUNE_LOCK_DIR", other, 1);
    mode_t old = umask(077);
    assert_int_equal(nt_path_locks(path, sizeof path, &err), NT_OK);
    umask(old);
    assert_int_equal(mode_of(path), 01777);
    assert_int_equal(nt_path_locks(path, sizeof path, &err), NT_OK);
    setenv("XDG_RUNTIME_DIR", root, 1);
    assert_int_equal(nt_path_runtime(path, sizeof path, &err), NT_OK);
    expect_path(path, "/nntune");
    if (geteuid() == 0) { /* only root can make a folder look like somebody else's */
        assert_int_equal(chown(path, 1, 1), 0);
        assert_int_equal(nt_path_runtime(path, sizeof path, &err), NT_IO);
    }
    assert_int_equal(rmdir(path), 0);
    assert_int_equal(symlink(other, path), 0); /* somebody's link */
    assert_int_equal(nt_path_runtime(path, sizeof path, &err), NT_IO);
    assert_contains(err.what, "not a directory of this user");
    assert_contains(err.hint, "XDG_RUNTIME_DIR");
    assert_int_equal(unlink(path), 0);
}

static void what_is_in_the_way_is_named(void **state)
{
    (void)state;
    char path[256], small[8], file[128];
    nt_error err = {0};
    snprintf(file, sizeof file, "%s/file", root);
    assert_int_equal(nt_write_file(file, "x", 1, &err), NT_OK);
    setenv("NNTUNE_CACHE_DIR", file, 1);
    assert_int_equal(nt_path_cache(path, sizeof path, &err), NT_IO);
    assert_contains(err.what, file);
    assert_contains(err.hint, "NNTUNE_CACHE_DIR");
    char below[160];
    snprintf(below, sizeof below, "%s/below/it", file);
    assert_int_equal(nt_make_directories(below, 0700, &err), NT_IO);
    assert_contains(err.what, file);
    assert_int_equal(nt_make_directories("", 0700, &err), NT_IO);
    snprintf(below, sizeof below, "%s/dangling", root);
    assert_int_equal(symlink("/nowhere/at/all", below), 0);
    assert_int_equal(nt_make_directories(below, 0700, &err), NT_IO);
    assert_contains(err.what, "is not a directory"); /* the reason of mkdir, not that of the look after it */
    assert_int_equal(unlink(below), 0);
    unsetenv("NNTUNE_CACHE_DIR");
    assert_int_equal(nt_path_cache(small, sizeof small, &err), NT_IO);
    char *home = strdup(getenv("HOME"));
    unsetenv("HOME");
    unsetenv("XDG_DATA_HOME");
    assert_int_equal(nt_path_database(path, sizeof path, &err), NT_IO);
    assert_contains(err.what, "HOME");
    assert_contains(err.hint, "--db");
    setenv("HOME", home, 1);
    free(home);
}

static void files_come_back_whole(void **state)
{
    (void)state;
    enum { BYTES = 200000 };
    char *data = malloc(BYTES), *back = NULL;
    for (int i = 0; i < BYTES; i++)
        data[i] = (char)(i * 7);
    size_t bytes = 0;
    nt_error err = {0};
    mode_t old = umask(022);
    assert_int_equal(nt_write_file("data", data, BYTES, &err), NT_OK);
    umask(old);
    assert_int_equal(mode_of("data"), 0644);
    assert_int_equal(nt_read_file("data", BYTES, &back, &bytes, &err), NT_OK);
    assert_int_equal(bytes, BYTES);
    assert_memory_equal(back, data, BYTES);
    assert_int_equal(back[BYTES], 0);
    free(back);
    assert_int_equal(nt_read_file("data", BYTES - 1, &back, &bytes, &err), NT_FAILED);
    assert_contains(err.what, "larger than the 199999 bytes");
    assert_int_equal(nt_write_file("data", "new", 3, &err), NT_OK);
    assert_int_equal(nt_read_file("data", 10, &back, NULL, &err), NT_OK);
    assert_string_equal(back, "new");
    free(back);
    assert_int_equal(nt_write_file("empty", "", 0, &err), NT_OK);
    assert_int_equal(nt_read_file("empty", 0, &back, &bytes, &err), NT_OK);
    assert_string_equal(back, "");
    free(back);
    free(data);
}

static void failures_name_the_file_and_leave_nothing(void **state)
{
    (void)state;
    nt_error err = {0};
    char *back = NULL;
    assert_int_equal(nt_read_file("no-such", 10, &back, NULL, &err), NT_NOT_FOUND);
    assert_contains(err.what, "no-such");
    assert_int_equal(nt_read_file(".", 10, &back, NULL, &err), NT_IO);
    assert_int_equal(nt_write_file("no-folder/file", "x", 1, &err), NT_IO);
    assert_contains(err.what, "no-folder/file");
    assert_int_equal(mkdir("taken", 0700), 0);
    assert_int_equal(nt_write_file("taken/in", "x", 1, &err), NT_OK);
    assert_int_equal(nt_write_file("taken", "x", 1, &err), NT_IO); /* a folder stands there: rename refuses */
    assert_int_equal(system("test -z \"$(ls | grep tmp)\""), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(places_follow_xdg),
        cmocka_unit_test(locks_are_open_to_all_and_runtime_to_the_user),
        cmocka_unit_test(what_is_in_the_way_is_named),
        cmocka_unit_test(files_come_back_whole),
        cmocka_unit_test(failures_name_the_file_and_leave_nothing),
    };
    return cmocka_run_group_tests(tests, enter, leave);
}
