/* cuda_peaks.h: what a GPU can do at most, by formula from its compute capability, SMs and clocks. Pure.
 *
 * FLOP/s = FLOP per cycle and SM (a table from NVIDIA's whitepapers, dense) x SMs x maximum SM clock; bytes/s = bus
 * width x memory clock x 2 (two transfers a clock). NAN where a chip lacks a precision or is not in the table. */
#ifndef NT_CUDA_PEAKS_H
#define NT_CUDA_PEAKS_H

#include "core/record.h"

/* FLOP (multiply and add count 2) per cycle and SM with the accumulator of the precision row; NAN when unknown.
 * GeForce boards run tensor cores at half rate when they accumulate in fp32, so the name matters. */
double nt_cuda_flop_per_cycle(int64_t compute_capability, nt_precision precision, const char *device_name);

/* NAN when either is unknown (NAN or <= 0). */
double nt_cuda_dram_peak(double mem_clock_mhz, double bus_bits);

/* Fills peak_flops, dram_peak_bytes_per_s and peak_source from the other fields of `info`. */
void nt_cuda_fill_peaks(nt_device_info *info, double bus_bits);

#endif
