/* Numbers for people: what stands in tables and on screens. */
#include "core/units.h"

#include "core_check.h"

typedef struct row {
    nt_text (*print)(double);
    double value;
    const char *expected;
} row;

static const row rows[] = {
    {nt_text_time_ns, 512, "512 ns"},
    {nt_text_time_ns, 12345, "12.3 us"},
    {nt_text_time_ns, 1.05e6, "1.05 ms"},
    {nt_text_time_ns, 2.5e9, "2.5 s"},
    {nt_text_time_ns, 999.4, "999 ns"},
    {nt_text_time_ns, 999.6, "1 us"}, /* never 1000 ns */
    {nt_text_time_ns, 999996, "1 ms"},
    {nt_text_time_ns, 0, "0 ns"},
    {nt_text_time_ns, 0.25, "0.25 ns"},
    {nt_text_time_ns, 5e12, "5000 s"},
    {nt_text_time_ns, -12345, "-12.3 us"},
    {nt_text_time_ns, (double)NAN, "-"},
    {nt_text_time_ns, (double)INFINITY, "-"},
    {nt_text_duration_s, 0.25, "0.25 s"},
    {nt_text_duration_s, 4.24, "4.2 s"},
    {nt_text_duration_s, 9.97, "10 s"},
    {nt_text_duration_s, 45.4, "45 s"},
    {nt_text_duration_s, 59.7, "1 min 0 s"},
    {nt_text_duration_s, 125, "2 min 5 s"},
    {nt_text_duration_s, 3599.8, "1 h 0 min"},
    {nt_text_duration_s, 3790, "1 h 3 min"},
    {nt_text_duration_s, -1, "-"},
    {nt_text_duration_s, (double)NAN, "-"},
    {nt_text_bytes, 48 * 1024, "48 KiB"},
    {nt_text_bytes, 141e9, "131 GiB"},
    {nt_text_bytes, 1000 * 1024, "1000 KiB"},
    {nt_text_bytes, 1023, "1023 B"},
    {nt_text_bytes, 1024, "1 KiB"},
    {nt_text_rate, 4.21e12, "4.21 TB/s"},
    {nt_text_rate, 880e6, "880 MB/s"},
    {nt_text_flops, 989.4e12, "989 TFLOP/s"},
    {nt_text_flops, 1.979e15, "1.98 PFLOP/s"},
    {nt_text_pct, 61.23, "61.2 %"},
    {nt_text_pct, 100, "100.0 %"},
    {nt_text_pct, 0, "0.0 %"},
    {nt_text_pct, 0.01, "<0.1 %"},
    {nt_text_pct, (double)NAN, "-"},
    {nt_text_count, 950, "950"},
    {nt_text_count, 12345, "12.3 k"},
    {nt_text_count, 1.2e6, "1.2 M"},
};

static void numbers_are_short_and_have_units(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
        assert_string_equal(rows[i].print(rows[i].value).s, rows[i].expected);
}

/* No number however odd overflows the buffer or loses its end. */
static void every_size_of_number_fits(void **state)
{
    (void)state;
    for (int e = -320; e <= 308; e++)
        for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
            nt_text text = rows[i].print(9.9999 * pow(10, e));
            assert_true(strlen(text.s) < sizeof text.s - 1);
        }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(numbers_are_short_and_have_units),
        cmocka_unit_test(every_size_of_number_fits),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
