/* convert.h: element types on the host: rounding fp32 to fp16, bf16, tf32, fp8 e4m3 and int8 and back. Round to nearest even
 * unless said; overflow gives the type's Inf (e4m3: saturates to +-448), NaN stays NaN. */
#ifndef NT_CONVERT_H
#define NT_CONVERT_H

#include <stdint.h>

#include "core/record.h"

uint16_t nt_f32_to_f16(float x);
float nt_f16_to_f32(uint16_t bits);
uint16_t nt_f32_to_bf16(float x);
float nt_bf16_to_f32(uint16_t bits);
uint8_t nt_f32_to_e4m3(float x);
float nt_e4m3_to_f32(uint8_t bits);

/* Packs n fp32 values into `out` of type `type`. For I8: out = clamp(round(x / scale), -127, 127) with
 * scale[(i / stride) % scales]; other types ignore the scales. */
void nt_pack(nt_dtype type, const float *in, size_t n, const float *scale, size_t scales, size_t stride, void *out);
/* The values as they stand in memory, as fp32 (integers as their value, not dequantised). */
void nt_unpack(nt_dtype type, const void *in, size_t n, float *out);

/* 2:4 sparsity: of each four values that follow each other in a row of `length` the two largest in magnitude stay, of
 * equal ones the earlier; the others become 0. A row's last group may be shorter. */
void nt_prune(float *values, size_t n, size_t length);

#endif
