/* The roofline on numbers that can be checked by hand: a device of 1000 TFLOP/s at 2000 MHz and 4 TB/s, ridge 250. */
#include "core/roofline.h"

#include "core_check.h"

static nt_device_info device_of(void)
{
    nt_device_info device;
    nt_device_info_init(&device, NT_DEVICE_CUDA);
    device.peak_flops[NT_BF16] = 1000e12;
    device.dram_peak_bytes_per_s = 4e12;
    device.sm_clock_max_mhz = 2000;
    return device;
}

static void places_a_compute_bound_kernel_under_both_roofs(void **state)
{
    (void)state;
    nt_device_info device = device_of();
    nt_roof_work work = {600e9, 1e9, NAN, NAN}; /* 600 FLOP per byte, 1 ms: 600 TFLOP/s */
    nt_roofline line = nt_roofline_of(&device, NT_BF16, 1500, 1e6, &work);
    assert_close(line.peak.ridge, 250, 1e-9);
    assert_close(line.seen.flop_per_s, 750e12, 1);
    assert_close(line.seen.ridge, 187.5, 1e-9);
    assert_close(line.counted.intensity, 600, 1e-9);
    assert_close(line.counted.roof_pct, 60, 1e-9);
    assert_close(line.counted.roof_seen_pct, 80, 1e-9);
    assert_close(line.counted.compute_pct, 80, 1e-9);
    assert_close(line.counted.memory_pct, 25, 1e-9);
    assert_int_equal(line.counted.bound, NT_ROOF_COMPUTE);
    assert_true(isnan(line.measured.intensity) && line.measured.bound == NT_ROOF_UNKNOWN);
}

static void places_a_memory_bound_kernel_by_what_was_measured(void **state)
{
    (void)state;
    nt_device_info device = device_of();
    nt_roof_work work = {10e9, 1e9, NAN, 3.2e9}; /* three times the least traffic, 1 ms */
    nt_roofline line = nt_roofline_of(&device, NT_BF16, NAN, 1e6, &work);
    assert_close(line.counted.roof_pct, 25, 1e-9);
    assert_int_equal(line.counted.bound, NT_ROOF_NEITHER);
    assert_close(line.measured.memory_pct, 80, 1e-9);
    assert_close(line.measured.roof_pct, 80, 1e-9);
    assert_int_equal(line.measured.bound, NT_ROOF_MEMORY);
    assert_true(isnan(line.seen.flop_per_s) && isnan(line.seen.bytes_per_s) && isnan(line.counted.roof_seen_pct));
}

static void measured_flop_counts_for_the_measured_point_alone(void **state)
{
    (void)state;
    nt_device_info device = device_of();
    nt_roof_work work = {600e9, 1e9, 300e9, 1e9};
    nt_roofline line = nt_roofline_of(&device, NT_BF16, 2000, 1e6, &work);
    assert_close(line.counted.flop_per_s, 600e12, 1);
    assert_close(line.measured.flop_per_s, 300e12, 1);
}

static void unknown_stays_unknown(void **state)
{
    (void)state;
    nt_device_info device = device_of();
    nt_roof_work work = {600e9, 1e9, NAN, 1e9};
    assert_true(isnan(nt_roofline_of(&device, NT_FP8, 1500, 1e6, &work).counted.roof_pct)); /* a peak it lacks */
    assert_int_equal(nt_roofline_of(&device, NT_FP8, 1500, 1e6, &work).measured.bound, NT_ROOF_UNKNOWN);
    assert_true(isnan(nt_roofline_of(&device, NT_BF16, 1500, NAN, &work).counted.flop_per_s));
    assert_true(isnan(nt_roofline_of(&device, NT_BF16, 1500, 0, &work).counted.flop_per_s));
    work.bytes = 0;
    assert_true(isnan(nt_roofline_of(&device, NT_BF16, 1500, 1e6, &work).counted.intensity));
    assert_string_equal(nt_roof_bound_name(NT_ROOF_NEITHER), "neither");
    assert_string_equal(nt_roof_bound_name((nt_roof_bound)99), "unknown");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(places_a_compute_bound_kernel_under_both_roofs),
        cmocka_unit_test(places_a_memory_bound_kernel_by_what_was_measured),
        cmocka_unit_test(measured_flop_counts_for_the_measured_point_alone),
        cmocka_unit_test(unknown_stays_unknown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
