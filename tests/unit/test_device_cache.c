/* test_device_cache.c: the compile cache under everything that happens to a shared folder. */
#include "device/cache.h"
#include "device/cache_folder.h"

#include "core/mem.h"
#include "core/paths.h"

#include <dirent.h>
#include <fcntl.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

static const char key_a[] = "0123456789abcdef0123456789abcdef";
static char base[] = "/tmp/nntune-test-XXXXXX";
static char folder[64];

static int set_up(void **state)
{
    (void)state;
    strcpy(base + strlen(base) - 6, "XXXXXX");
    if (mkdtemp(base) == NULL)
        return -1;
    snprintf(folder, sizeof folder, "%s/code", base);
    unsetenv("NNTUNE_CACHE_BYTES");
    return setenv("NNTUNE_CACHE_DIR", base, 1);
}

static int tear_down(void **state)
{
    (void)state;
    nt_cache_scratch_done(base);
    return 0;
}

static nt_cache_entry figures(void)
{
    return (nt_cache_entry){.registers = 40, .smem_static_bytes = 0, .spill_bytes = NT_UNKNOWN, .compile_ms = 12.5};
}

static void put_code(const char *key, const char *code, size_t bytes)
{
    nt_cache_entry entry = figures();
    nt_error err = {0};
    assert_int_equal(nt_cache_put(key, &entry, ".so", code, bytes, &err), NT_OK);
}

static int count_files(const char *where)
{
    int count = 0;
    DIR *entries = opendir(where);
    assert_non_null(entries);
    for (struct dirent *at; (at = readdir(entries)) != NULL;)
        count += at->d_name[0] != '.';
    closedir(entries);
    return count;
}

static void test_round_trip(void **state)
{
    (void)state;
    nt_cache_entry out;
    nt_error err = {0};
    char *code;
    size_t bytes;
    assert_int_equal(nt_cache_get(key_a, &out, &err), NT_NOT_FOUND);
    put_code(key_a, "some\0code", 9);
    assert_int_equal(nt_cache_get(key_a, &out, &err), NT_OK);
    assert_int_equal(out.registers, 40);
    assert_int_equal(out.smem_static_bytes, 0);
    assert_true(out.spill_bytes == NT_UNKNOWN);
    assert_float_equal(out.compile_ms, 12.5, 1e-9);
    assert_string_equal(out.error, "");
    assert_non_null(strstr(out.path, ".so"));
    assert_int_equal(nt_read_file(out.path, 1000, &code, &bytes, &err), NT_OK);
    assert_int_equal(bytes, 9);
    assert_memory_equal(code, "some\0code", 9);
    free(code);
    assert_int_equal(count_files(folder), 1); /* nothing temporary is left */
}

static void test_failure_is_remembered(void **state)
{
    (void)state;
    nt_cache_entry entry = figures(), out;
    nt_error err = {0};
    strcpy(entry.error, "direct.c:7: error: 'x' undeclared\nsecond line");
    assert_int_equal(nt_cache_put_failure(key_a, &entry, &err), NT_OK);
    assert_int_equal(nt_cache_get(key_a, &out, &err), NT_COMPILE_FAILED);
    assert_string_equal(err.what, "direct.c:7: error: 'x' undeclared second line");
    assert_string_equal(out.path, "");
    /* Code replaces a failure, a failure does not replace code. */
    put_code(key_a, "code", 4);
    assert_int_equal(nt_cache_get(key_a, &out, &err), NT_OK);
    assert_int_equal(nt_cache_put_failure(key_a, &entry, &err), NT_OK);
    assert_int_equal(nt_cache_get(key_a, &out, &err), NT_OK);
}

static void race_child(int child)
{
    char key[NT_KEY_BYTES], code[20000];
    memset(code, 'a' + child, sizeof code);
    for (int i = 0; i < 60; i++) {
        nt_cache_entry entry = figures(), out;
        snprintf(key, sizeof key, "%032x", 0x7000 + i);
        if (nt_cache_put(key, &entry, ".so", code, sizeof code, NULL) != NT_OK ||
            nt_cache_get(key, &out, NULL) != NT_OK)
            _exit(1);
    }
    _exit(0);
}

static void test_race(void **state)
{
    (void)state;
    pid_t child[3];
    for (int i = 0; i < 3; i++)
        if ((child[i] = fork()) == 0)
            race_child(i);
    for (int i = 0; i < 3; i++) {
        int status;
        assert_int_equal(waitpid(child[i], &status, 0), child[i]);
        assert_int_equal(status, 0);
    }
    assert_int_equal(count_files(folder), 60);
}

static void flip_byte(const char *path, long at)
{
    int fd = open(path, O_RDWR);
    unsigned char byte;
    assert_true(fd >= 0);
    assert_int_equal(pread(fd, &byte, 1, at), 1);
    byte ^= (unsigned char)(1u << (at % 8));
    assert_int_equal(pwrite(fd, &byte, 1, at), 1);
    close(fd);
}

static void test_damage_is_found(void **state)
{
    (void)state;
    static const char *const names[] = {"meta", "code.so"};
    char code[3000], path[128];
    srand(7);
    for (size_t i = 0; i < sizeof code; i++)
        code[i] = (char)rand();
    for (int round = 0; round < 200; round++) {
        nt_cache_entry out;
        struct stat info;
        put_code(key_a, code, sizeof code);
        snprintf(path, sizeof path, "%s/%s/%s", folder, key_a, names[round % 2]);
        assert_int_equal(stat(path, &info), 0);
        if (round < 190)
            flip_byte(path, rand() % info.st_size);
        else if (round < 196)
            assert_int_equal(truncate(path, rand() % info.st_size), 0);
        else
            assert_int_equal(unlink(path), 0);
        assert_int_equal(nt_cache_get(key_a, &out, NULL), NT_NOT_FOUND);
        assert_int_equal(count_files(folder), 0); /* damaged entries are gone */
    }
}

static void age(const char *key, int seconds)
{
    char path[160];
    struct timespec when[2] = {{.tv_sec = time(NULL) - seconds}, {.tv_sec = time(NULL) - seconds}};
    snprintf(path, sizeof path, "%s/%s/meta", folder, key);
    assert_int_equal(utimensat(AT_FDCWD, path, when, 0), 0);
}

static void test_least_recently_used_go(void **state)
{
    (void)state;
    char key[16][NT_KEY_BYTES], *code = nt_alloc_zero(1, 100000);
    nt_cache_entry out;
    int64_t removed;
    for (int i = 0; i < 16; i++) {
        snprintf(key[i], sizeof key[i], "%032x", 0xabc00 + i);
        code[0] = (char)i;
        put_code(key[i], code, 100000);
        age(key[i], 10000 - i);
    }
    free(code);
    assert_int_equal(nt_cache_get(key[0], &out, NULL), NT_OK); /* now the most recently used */
    assert_int_equal(nt_cache_trim(4000000, &removed, NULL), NT_OK);
    assert_int_equal(removed, 0);
    assert_int_equal(nt_cache_trim(1200000, &removed, NULL), NT_OK);
    assert_in_range(removed, 700000, 1000000);
    assert_int_equal(nt_cache_get(key[0], &out, NULL), NT_OK);
    assert_int_equal(nt_cache_get(key[1], &out, NULL), NT_NOT_FOUND);
    assert_int_equal(nt_cache_get(key[15], &out, NULL), NT_OK);
    /* All that is left was used just now or an hour and more ago: only the latter may go. */
    assert_int_equal(nt_cache_trim(1, &removed, NULL), NT_OK);
    assert_int_equal(count_files(folder), 2);
}

static void test_insertions_keep_the_cap(void **state)
{
    (void)state;
    char key[NT_KEY_BYTES], *code = nt_alloc_zero(1, 100000);
    setenv("NNTUNE_CACHE_BYTES", "1M", 1);
    assert_int_equal(nt_cache_cap_bytes(), 1 << 20);
    for (int i = 0; i < 40; i++) {
        snprintf(key, sizeof key, "%032x", 0xdef00 + i);
        put_code(key, code, 100000);
        age(key, 5000 - i);
    }
    free(code);
    assert_in_range(count_files(folder), 5, 11);
}

static void test_leftovers_go(void **state)
{
    (void)state;
    char scratch[128];
    struct timespec old[2] = {{.tv_sec = time(NULL) - 7200}, {.tv_sec = time(NULL) - 7200}};
    assert_int_equal(nt_cache_scratch(scratch, sizeof scratch, NULL), NT_OK);
    assert_int_equal(nt_cache_trim(1, NULL, NULL), NT_OK);
    assert_int_equal(count_files(folder), 1); /* young: somebody may be compiling there */
    assert_int_equal(utimensat(AT_FDCWD, scratch, old, 0), 0);
    assert_int_equal(nt_cache_trim(1, NULL, NULL), NT_OK);
    assert_int_equal(count_files(folder), 0);
}

static void test_cap_text(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        int64_t bytes;
    } rows[] = {{"123456", 123456},
                {"2G", (int64_t)2 << 30},
                {"3K", 3072},
                {"nonsense", (int64_t)4 << 30},
                {"-1", (int64_t)4 << 30},
                {"", (int64_t)4 << 30},
                {"9999999999T", (int64_t)4 << 30}};
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        setenv("NNTUNE_CACHE_BYTES", rows[i].text, 1);
        assert_int_equal(nt_cache_cap_bytes(), rows[i].bytes);
    }
}

static void test_unwritable_folder(void **state)
{
    (void)state;
    nt_cache_entry entry = figures();
    nt_error err = {0};
    char path[128];
    snprintf(path, sizeof path, "%s/file", base);
    assert_int_equal(nt_write_file(path, "x", 1, &err), NT_OK);
    snprintf(path, sizeof path, "%s/file/cache", base);
    setenv("NNTUNE_CACHE_DIR", path, 1);
    assert_int_equal(nt_cache_put(key_a, &entry, ".so", "code", 4, &err), NT_IO);
    assert_non_null(strstr(err.what, "file"));
    assert_non_null(strstr(err.hint, "NNTUNE_CACHE_DIR"));
    /* A folder that is there but does not let anybody create files: the kernel's. */
    setenv("NNTUNE_CACHE_DIR", "/proc/self", 1);
    err = (nt_error){0};
    assert_int_equal(nt_cache_put(key_a, &entry, ".so", "code", 4, &err), NT_IO);
    assert_non_null(strstr(err.hint, "NNTUNE_CACHE_DIR"));
    setenv("NNTUNE_CACHE_DIR", base, 1);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(test_round_trip),
        TEST(test_failure_is_remembered),
        TEST(test_race),
        TEST(test_damage_is_found),
        TEST(test_least_recently_used_go),
        TEST(test_insertions_keep_the_cap),
        TEST(test_leftovers_go),
        TEST(test_cap_text),
        TEST(test_unwritable_folder),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
