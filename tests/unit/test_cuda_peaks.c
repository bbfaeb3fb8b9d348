/* test_cuda_peaks.c: peaks by formula against published figures of real boards, and the names of throttle reasons. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <math.h>
#include <string.h>

#include "device/cuda_peaks.h"
#include "device/nvml.h"

/* A published figure and the boost clock it is stated at. */
static const struct {
    const char *board;
    int64_t compute_capability, sms;
    double boost_mhz;
    nt_precision precision;
    double published_tflops;
} published[] = {
    {"Tesla T4", 75, 40, 1590, NT_FP16, 65},
    {"Tesla T4", 75, 40, 1590, NT_FP32, 8.1},
    {"Tesla T4", 75, 40, 1590, NT_INT8, 130},
    {"NVIDIA A100-SXM4-80GB", 80, 108, 1410, NT_FP32, 19.5},
    {"NVIDIA A100-SXM4-80GB", 80, 108, 1410, NT_TF32, 156},
    {"NVIDIA A100-SXM4-80GB", 80, 108, 1410, NT_BF16, 312},
    {"NVIDIA A100-SXM4-80GB", 80, 108, 1410, NT_INT8, 624},
    {"NVIDIA A100-SXM4-80GB", 80, 108, 1410, NT_FP16_SPARSE, 624},
    {"NVIDIA A100-SXM4-80GB", 80, 108, 1410, NT_INT8_SPARSE, 1248},
    {"NVIDIA A40", 86, 84, 1740, NT_FP16, 149.7},
    {"NVIDIA GeForce RTX 3090", 86, 82, 1695, NT_FP16, 71},
    {"NVIDIA GeForce RTX 3090", 86, 82, 1695, NT_FP32, 35.6},
    {"NVIDIA L40S", 89, 142, 2520, NT_FP8, 733},
    {"NVIDIA GeForce RTX 4090", 89, 128, 2520, NT_BF16, 165.2},
    {"NVIDIA H100 80GB HBM3", 90, 132, 1830, NT_BF16, 989.4},
    {"NVIDIA H100 80GB HBM3", 90, 132, 1830, NT_FP8, 1978.9},
    {"NVIDIA H100 80GB HBM3", 90, 132, 1830, NT_TF32, 494.7},
    {"NVIDIA H100 80GB HBM3", 90, 132, 1830, NT_BF16_SPARSE, 1978.9},
    {"NVIDIA GeForce RTX 5090", 120, 170, 2407, NT_FP16, 209.5},
    {"NVIDIA GeForce RTX 5090", 120, 170, 2407, NT_INT8, 838},
};

static void agrees_with_what_was_published(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof published / sizeof published[0]; i++) {
        nt_device_info info = {.compute_capability = published[i].compute_capability,
                               .sm_count = published[i].sms,
                               .sm_clock_max_mhz = published[i].boost_mhz,
                               .mem_clock_max_mhz = NAN};
        nt_copy(info.name, sizeof info.name, published[i].board);
        nt_cuda_fill_peaks(&info, NAN);
        double tflops = info.peak_flops[published[i].precision] / 1e12;
        if (fabs(tflops / published[i].published_tflops - 1) > 0.02)
            fail_msg("%s %s: %.1f instead of %.1f TFLOP/s", published[i].board,
                     nt_precisions[published[i].precision].name, tflops, published[i].published_tflops);
    }
}

static void what_a_chip_lacks_is_unknown(void **state)
{
    (void)state;
    assert_true(isnan(nt_cuda_flop_per_cycle(75, NT_BF16, "Tesla T4")));
    assert_true(isnan(nt_cuda_flop_per_cycle(80, NT_FP8, "NVIDIA A100")));
    assert_true(isnan(nt_cuda_flop_per_cycle(75, NT_FP16_SPARSE, "Tesla T4"))); /* its tensor cores skip nothing */
    assert_true(isnan(nt_cuda_flop_per_cycle(61, NT_FP32, "an older one")));
    nt_device_info info = {
        .compute_capability = 61, .sm_count = 20, .sm_clock_max_mhz = 1700, .mem_clock_max_mhz = 5005};
    nt_cuda_fill_peaks(&info, 256);
    assert_true(isnan(info.peak_flops[NT_FP32]));
    assert_non_null(strstr(info.peak_source, "unknown"));
    assert_true(fabs(info.dram_peak_bytes_per_s / 1e9 - 320.3) < 0.1);
}

static void bandwidth_is_width_times_twice_the_clock(void **state)
{
    (void)state;
    assert_true(fabs(nt_cuda_dram_peak(1215, 5120) / 1e9 - 1555) < 1); /* A100 40 GB */
    assert_true(fabs(nt_cuda_dram_peak(9751, 384) / 1e9 - 936) < 1);   /* RTX 3090 */
    assert_true(isnan(nt_cuda_dram_peak(NAN, 384)));
    assert_true(isnan(nt_cuda_dram_peak(1000, 0)));
}

static void unknown_clocks_give_unknown_peaks(void **state)
{
    (void)state;
    nt_device_info info = {
        .compute_capability = 90, .sm_count = 132, .sm_clock_max_mhz = NAN, .mem_clock_max_mhz = NAN};
    nt_cuda_fill_peaks(&info, 6144);
    assert_true(isnan(info.peak_flops[NT_FP32]) && isnan(info.dram_peak_bytes_per_s));
    assert_string_equal(info.peak_source, "datasheet formula");
}

static void throttle_reasons_have_names(void **state)
{
    (void)state;
    static const struct {
        int64_t mask;
        const char *names;
    } cases[] = {
        {0, "none"},
        {NT_UNKNOWN, "unknown"},
        {4, "power cap"},
        {0x44, "power cap, hardware thermal"},
        {1 << 12, "reason 12"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        nt_str text = {0};
        nt_nvml_throttle_names(cases[i].mask, &text);
        assert_string_equal(nt_str_text(&text), cases[i].names);
        nt_str_done(&text);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(agrees_with_what_was_published),
        cmocka_unit_test(what_a_chip_lacks_is_unknown),
        cmocka_unit_test(bandwidth_is_width_times_twice_the_clock),
        cmocka_unit_test(unknown_clocks_give_unknown_peaks),
        cmocka_unit_test(throttle_reasons_have_names),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
