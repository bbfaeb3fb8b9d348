/* Text and errors: the growing string, copies that cut, slips of the pen, strict numbers, status and exit codes. */
#include "core/mem.h"
#include "core/status.h"
#include "core/str.h"

#include "core_check.h"

static void strings_grow(void **state)
{
    (void)state;
    nt_str s = {0};
    assert_string_equal(nt_str_text(&s), "");
    for (int i = 0; i < 1000; i++)
        nt_str_addf(&s, "%d,", i);
    assert_int_equal(s.length, 10 * 2 + 90 * 3 + 900 * 4);
    assert_int_equal(strncmp(s.data, "0,1,2,", 6), 0);
    nt_str_clear(&s);
    nt_str_add_n(&s, "abcdef", 3);
    nt_str_add(&s, "");
    assert_string_equal(nt_str_text(&s), "abc");
    nt_str_done(&s);
    assert_null(s.data);
}

static void copies_cut_and_say_so(void **state)
{
    (void)state;
    char to[4];
    assert_true(nt_copy(to, sizeof to, "abc"));
    assert_string_equal(to, "abc");
    assert_false(nt_copy(to, sizeof to, "abcd"));
    assert_string_equal(to, "abc");
}

static void slips_are_recognised(void **state)
{
    (void)state;
    static const char *const names[] = {"exhaustive", "random", "annealing"};
    assert_int_equal(nt_nearest("randon", names, 3), 1);
    assert_int_equal(nt_nearest("exaustive", names, 3), 0);
    assert_int_equal(nt_nearest("genetic", names, 3), -1);
    assert_int_equal(nt_edit_distance("kitten", "sitting"), 3);
    assert_int_equal(nt_edit_distance("", "abc"), 3);
    assert_int_equal(nt_edit_distance("same", "same"), 0);
}

static void numbers_are_parsed_strictly(void **state)
{
    (void)state;
    long long whole = 0;
    double real = 0;
    assert_true(nt_parse_i64("-42", &whole) && whole == -42);
    assert_true(nt_parse_double("1e-3", &real));
    assert_close(real, 0.001, 0);
    static const char *const bad[] = {"", " 1", "1 ", "1x", "x", "99999999999999999999", "--1"};
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++)
        assert_false(nt_parse_i64(bad[i], &whole));
    assert_false(nt_parse_double("nan", &real));
    assert_false(nt_parse_double("inf", &real));
    assert_false(nt_parse_double("1e999", &real));
}

static void errors_carry_their_status(void **state)
{
    (void)state;
    nt_error err = {0};
    assert_int_equal(nt_fail(&err, NT_USAGE, "no layer %s", "conv5x5"), NT_USAGE);
    assert_int_equal(nt_hint(&err, "try %d", 3), NT_USAGE);
    assert_string_equal(err.what, "no layer conv5x5");
    assert_string_equal(err.hint, "try 3");
    nt_fail(&err, NT_IO, "again");
    assert_string_equal(err.hint, ""); /* a new failure drops the old advice */
    assert_int_equal(nt_fail(NULL, NT_IO, "nobody listens"), NT_IO);
    assert_int_equal(nt_status_exit_code(NT_OK), 0);
    assert_int_equal(nt_status_exit_code(NT_NO_DEVICE), 3);
    assert_int_equal(nt_status_exit_code(NT_WRONG_RESULT), 4);
    assert_int_equal(nt_status_exit_code((nt_status)999), 1);
    for (int i = 0; i < NT_STATUS_COUNT; i++)
        assert_true(nt_status_text((nt_status)i)[0] != '\0');
}

static void arrays_grow_by_doubling(void **state)
{
    (void)state;
    void *array = NULL;
    size_t capacity = 0, moves = 0;
    for (size_t need = 1; need <= 100000; need++) {
        size_t before = capacity;
        nt_grow(&array, &capacity, need, sizeof(int));
        assert_true(capacity >= need);
        moves += capacity != before;
    }
    assert_true(moves < 20);
    free(array);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(strings_grow),
        cmocka_unit_test(copies_cut_and_say_so),
        cmocka_unit_test(slips_are_recognised),
        cmocka_unit_test(numbers_are_parsed_strictly),
        cmocka_unit_test(errors_carry_their_status),
        cmocka_unit_test(arrays_grow_by_doubling),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
