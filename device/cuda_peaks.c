/* cuda_peaks.c: see cuda_peaks.h. */
#include "device/cuda_peaks.h"

#include <math.h>
#include <string.h>

/* Dense FLOP per cycle and SM: fp32 on CUDA cores; tf32, fp16 and bf16 on tensor cores accumulating in fp32; int8 in
 * int32; fp8 in fp32. 0 stands for 'not there' in this table alone. With 2:4 sparse weights, from compute
 * capability 8.0 on, it is twice as much, counted with the products that are left out. */
static const struct chip {
    int64_t compute_capability;
    int fp32, tf32, fp16, bf16, int8, fp8;
} chips[] = {
    {75, 128, 0, 1024, 0, 2048, 0},             /* Turing: T4, RTX 20 */
    {80, 128, 1024, 2048, 2048, 4096, 0},       /* A100, A30 */
    {86, 256, 512, 1024, 1024, 2048, 0},        /* A10, A40, RTX 30 */
    {89, 256, 512, 1024, 1024, 2048, 2048},     /* L4, L40S, RTX 40 */
    {90, 256, 2048, 4096, 4096, 8192, 8192},    /* H100, H200 */
    {100, 256, 4096, 8192, 8192, 16384, 16384}, /* B200 */
    {103, 256, 4096, 8192, 8192, 0, 16384},     /* B300: int8 is not published as a tensor rate */
    {120, 256, 512, 1024, 1024, 2048, 2048},    /* RTX 50, RTX PRO Blackwell */
};

static int table_value(const struct chip *chip, nt_precision precision)
{
    const int by_precision[NT_PRECISION_COUNT] = {
        [NT_FP32] = chip->fp32, [NT_TF32] = chip->tf32, [NT_FP16] = chip->fp16,
        [NT_BF16] = chip->bf16, [NT_INT8] = chip->int8, [NT_FP8] = chip->fp8,
    };
    int dense = by_precision[nt_precisions[precision].dense];
    if (!nt_precision_is_pruned(precision))
        return dense;
    return chip->compute_capability >= 80 ? 2 * dense : 0;
}

/* Precisions that GeForce boards run at half rate because they accumulate in fp32 on tensor cores. */
static bool is_halved(nt_precision precision, const char *device_name)
{
    nt_precision dense = nt_precisions[precision].dense;
    bool tensor_f32 = dense == NT_TF32 || dense == NT_FP16 || dense == NT_BF16 || dense == NT_FP8;
    return tensor_f32 && strstr(device_name, "GeForce") != NULL;
}

double nt_cuda_flop_per_cycle(int64_t compute_capability, nt_precision precision, const char *device_name)
{
    for (size_t i = 0; i < sizeof chips / sizeof chips[0]; i++) {
        if (chips[i].compute_capability != compute_capability)
            continue;
        int flop = table_value(&chips[i], precision);
        if (flop == 0)
            return NAN;
        return is_halved(precision, device_name) ? flop / 2.0 : flop;
    }
    return NAN;
}

double nt_cuda_dram_peak(double mem_clock_mhz, double bus_bits)
{
    if (!(mem_clock_mhz > 0) || !(bus_bits > 0))
        return NAN;
    return mem_clock_mhz * 1e6 * 2 * bus_bits / 8;
}

void nt_cuda_fill_peaks(nt_device_info *info, double bus_bits)
{
    bool clocked = info->sm_clock_max_mhz > 0 && info->sm_count > 0;
    double cycles_per_s = clocked ? info->sm_clock_max_mhz * 1e6 * (double)info->sm_count : NAN;
    for (int p = 0; p < NT_PRECISION_COUNT; p++)
        info->peak_flops[p] =
            cycles_per_s * nt_cuda_flop_per_cycle(info->compute_capability, (nt_precision)p, info->name);
    info->dram_peak_bytes_per_s = nt_cuda_dram_peak(info->mem_clock_max_mhz, bus_bits);
    bool charted = isfinite(nt_cuda_flop_per_cycle(info->compute_capability, NT_FP32, info->name));
    nt_copy(info->peak_source, sizeof info->peak_source,
            charted ? "datasheet formula" : "datasheet formula (FLOP/s of this chip unknown)");
}
