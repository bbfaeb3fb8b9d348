/* test_recorded_space.c: recorded spaces: what a good file gives, and a message with the line for every bad one; files
 * cut at any byte and with any byte changed must end in either. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <zlib.h>

#include <cmocka.h>

#include "autotune/recorded_space.h"

static char path[] = "/tmp/nntune_recorded_XXXXXX";

static const char good[] = "# space=two\n"
                           "# note=anything\n"
                           "# param b=1,2,4\n"
                           "# param a=x,y\n"
                           "# const c=7\n"
                           "b,a,status,time_ms,compile_ms,bench_ms,samples_ms\n"
                           "4,y,ok,2.5,10,3,2.4;2.6\n"
                           "1,x,ok,1.5,,,\n"
                           "1,y,run_failed,,20,0,\n"
                           "2,x,compile_failed,,5,,\n";

static int make_path(void **state)
{
    (void)state;
    int fd = mkstemp(path);
    return fd < 0 ? -1 : close(fd);
}

static int remove_path(void **state)
{
    (void)state;
    return unlink(path);
}

static void write_text(const char *text, size_t length)
{
    FILE *file = fopen(path, "wb");
    assert_non_null(file);
    assert_int_equal(fwrite(text, 1, length, file), length);
    assert_int_equal(fclose(file), 0);
}

static size_t write_packed(const char *text, size_t length)
{
    gzFile file = gzopen(path, "wb");
    assert_int_equal(gzwrite(file, text, (unsigned)length), length);
    assert_int_equal(gzclose(file), Z_OK);
    FILE *again = fopen(path, "rb");
    fseek(again, 0, SEEK_END);
    long size = ftell(again);
    fclose(again);
    return (size_t)size;
}

static void check_good(void)
{
    nt_recorded *r = NULL;
    nt_error err = {0};
    if (nt_recorded_open(path, &r, &err) != NT_OK)
        fail_msg("%s", err.what);
    assert_string_equal(r->name, "two");
    assert_int_equal(r->kernel.param_count, 2);
    assert_string_equal(r->kernel.params[0].name, "b");
    assert_int_equal(r->kernel.params[0].ints[2], 4);
    assert_string_equal(r->kernel.params[1].strings[1], "y");
    assert_int_equal(r->row_count, 4);
    assert_int_equal(r->ok_count, 2);
    assert_int_equal(nt_space_size(r->space), 4);
    /* In the order of nested loops: 1x 1y 2x 4y. */
    static const uint32_t file_row[] = {1, 2, 3, 0};
    static const nt_outcome outcome[] = {NT_OUTCOME_OK, NT_OUTCOME_LAUNCH_FAILED, NT_OUTCOME_COMPILE_FAILED,
                                         NT_OUTCOME_OK};
    for (int i = 0; i < 4; i++) {
        assert_int_equal(r->file_row[i], file_row[i]);
        assert_int_equal(r->row[i].outcome, outcome[i]);
    }
    assert_true(r->row[0].time_ms == 1.5 && isnan(r->row[0].compile_ms) && r->row[0].sample_count == 0);
    assert_true(isnan(r->row[1].time_ms) && r->row[1].compile_ms == 20);
    assert_int_equal(r->row[3].sample_count, 2);
    assert_true(fabs((double)r->sample_ms[r->row[3].first_sample + 1] - 2.6) < 1e-6);
    assert_true(r->best_ms == 1.5 && r->worst_ms == 2.5);
    nt_recorded_free(r);
}

static void test_reads(void **state)
{
    (void)state;
    write_text(good, sizeof good - 1);
    check_good();
    write_packed(good, sizeof good - 1);
    check_good();
    nt_recorded_free(NULL);
}

/* The good text with one piece replaced. */
static void write_changed(const char *from, const char *to)
{
    nt_str text = {0};
    const char *at = strstr(good, from);
    assert_non_null(at);
    nt_str_add_n(&text, good, (size_t)(at - good));
    nt_str_add(&text, to);
    nt_str_add(&text, at + strlen(from));
    write_text(nt_str_text(&text), text.length);
    nt_str_done(&text);
}

static void test_says_what_is_wrong(void **state)
{
    (void)state;
    static const struct {
        const char *from, *to, *what;
    } rows[] = {
        {"# param b=1,2,4\n", "# param b=\n", "line 3: an empty value of parameter 'b'"},
        {"# param b=1,2,4\n", "# param b=1,2,2\n", "line 3: a value listed twice: '2'"},
        {"# param b=1,2,4\n", "# param b\n", "line 3: expected '# param NAME=v1,v2,..'"},
        {"# param a=x,y\n", "# param b=x,y\n", "line 4: a parameter given twice: 'b'"},
        {"b,a,status", "a,b,status", "line 6: the header does not list"},
        {",samples_ms", "", "line 6: the header ends early"},
        {"4,y,ok", "3,y,ok", "line 7: a value that the parameter's line does not list: '3'"},
        {"4,y,ok,2.5", "4,y,ok,", "line 7: a row has a time above 0 when its status is ok, and only then"},
        {"4,y,ok,2.5", "4,y,ok,-2.5", "line 7: no time in milliseconds: '-2.5'"},
        {"4,y,ok,2.5", "4,y,ok,nan", "line 7: no time in milliseconds: 'nan'"},
        {"2.4;2.6", "2.4;a", "line 7: no time in milliseconds: 'a'"},
        {"4,y,ok", "4,y,fine", "line 7: the status must be ok"},
        {"run_failed,", "run_failed,3", "line 9: a row has a time"},
        {"1,x,ok,1.5,,,\n", "1,x,ok,1.5,,\n", "line 8: the row ends before 'samples_ms'"},
        {"1,x,ok,1.5,,,\n", "1,x,ok,1.5,,,,\n", "line 8: the row has more fields"},
        {"1,x,ok,1.5,,,\n", "1\n", "line 8: the row ends before parameter 'a'"},
        {"2,x,compile_failed,,5,,\n", "1,x,compile_failed,,5,,\n", "lists a configuration twice (row 4 of the file)"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        nt_recorded *r = (nt_recorded *)path;
        nt_error err = {0};
        write_changed(rows[i].from, rows[i].to);
        assert_int_equal(nt_recorded_open(path, &r, &err), NT_CORRUPT);
        assert_null(r);
        if (strstr(err.what, rows[i].what) == NULL)
            fail_msg("'%s' for '%s'", err.what, rows[i].what);
    }
    static const struct {
        const char *text, *what;
    } short_ones[] = {
        {"", "ends before the header"},
        {"# space=x\n", "ends before the header"},
        {"b,status\n", "no '# param"},
        {"# param b=1\nb,status,time_ms,compile_ms,bench_ms,samples_ms\n", "no row follows"},
        {"# param b=1\nb,status,time_ms,compile_ms,bench_ms,samples_ms\n1,error,,,,\n", "no row is ok"},
    };
    for (size_t i = 0; i < sizeof short_ones / sizeof short_ones[0]; i++) {
        nt_recorded *r;
        nt_error err = {0};
        write_text(short_ones[i].text, strlen(short_ones[i].text));
        assert_int_equal(nt_recorded_open(path, &r, &err), NT_CORRUPT);
        assert_non_null(strstr(err.what, short_ones[i].what));
    }
}

static void test_files_that_are_none(void **state)
{
    (void)state;
    nt_recorded *r;
    nt_error err = {0};
    assert_int_equal(nt_recorded_open("/nowhere/space.csv", &r, &err), NT_NOT_FOUND);
    assert_int_equal(nt_recorded_open("/tmp", &r, &err), NT_IO);
    assert_non_null(strstr(err.what, "is a directory"));
}

/* A bomb: 600 MB of one letter pack into 600 kB. It must stop at the longest line, not unpack it all. */
static void test_packed_bomb(void **state)
{
    (void)state;
    static char block[1 << 20];
    memset(block, 'a', sizeof block);
    gzFile file = gzopen(path, "wb1");
    for (int i = 0; i < 600; i++)
        assert_int_equal(gzwrite(file, block, sizeof block), sizeof block);
    gzclose(file);
    nt_recorded *r;
    nt_error err = {0};
    assert_int_equal(nt_recorded_open(path, &r, &err), NT_CORRUPT);
    assert_non_null(strstr(err.what, "longer than any line"));
}

/* Opens whatever is there: it is either refused or whole. */
static void open_either_way(void)
{
    nt_recorded *r = NULL;
    nt_error err = {0};
    nt_status status = nt_recorded_open(path, &r, &err);
    assert_true(status == NT_OK || status == NT_CORRUPT);
    assert_true((status == NT_OK) == (r != NULL));
    nt_recorded_free(r);
}

static void test_cut_and_changed(void **state)
{
    (void)state;
    char text[4096];
    for (size_t length = 0; length < sizeof good - 1; length++) {
        write_text(good, length);
        open_either_way();
    }
    for (size_t i = 0; i < sizeof good - 1; i++) {
        memcpy(text, good, sizeof good);
        text[i] = (char)(text[i] ^ (1 << i % 7));
        write_text(text, sizeof good - 1);
        open_either_way();
        text[i] = '\0';
        write_text(text, sizeof good - 1);
        open_either_way();
    }
    size_t packed = write_packed(good, sizeof good - 1);
    FILE *file = fopen(path, "rb");
    assert_int_equal(fread(text, 1, packed, file), packed);
    fclose(file);
    for (size_t length = 3; length < packed; length++) {
        write_text(text, length);
        nt_recorded *r = NULL;
        nt_error err = {0};
        assert_int_equal(nt_recorded_open(path, &r, &err), NT_CORRUPT);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_reads),           cmocka_unit_test(test_says_what_is_wrong),
        cmocka_unit_test(test_packed_bomb),     cmocka_unit_test(test_files_that_are_none),
        cmocka_unit_test(test_cut_and_changed),
    };
    return cmocka_run_group_tests(tests, make_path, remove_path);
}
