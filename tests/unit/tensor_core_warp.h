/* tensor_core_warp.h: part of tensor_core_emulation.h: what the lanes of a warp do together: loads of matrices, shuffles,
 * mma.sync, dense and sparse. */
#ifndef NT_TEST_TENSOR_CORE_WARP_H
#define NT_TEST_TENSOR_CORE_WARP_H

/* ---- warp-wide instructions --------------------------------------------------------------------------------- */

static void host_load_matrices(host_lane *lane)
{
    for (int m = 0; m < 4; m++) {
        unsigned banks = 0;
        for (int row = 0; row < 8; row++) {
            unsigned at = lane[m * 8 + row].in[0];
            if (!host_shared_valid(at))
                return;
            banks |= 1u << at / 16 % 8;
            for (int word = 0; word < 4; word++)
                memcpy(&lane[row * 4 + word].out[m], nt_host_shared + at + word * 4, 4);
        }
        host_check(banks == 0xff, "bank conflict in ldmatrix");
    }
}

NT_INLINE void nt_load_matrices(unsigned word[4], unsigned address)
{
    host_now->in[0] = address;
    host_meet_warp(host_load_matrices);
    memcpy(word, host_now->out, 16);
}

static void host_load_transposed(host_lane *lane)
{
    for (int m = 0; m < 4; m++) {
        unsigned banks = 0;
        for (int row = 0; row < 8; row++) {
            unsigned at = lane[m * 8 + row].in[0];
            if (!host_shared_valid(at))
                return;
            banks |= 1u << at / 16 % 8;
            for (int column = 0; column < 8; column++)
                memcpy((char *)&lane[column * 4 + row / 2].out[m] + row % 2 * 2,
                       nt_host_shared + at + (unsigned)column * 2, 2);
        }
        host_check(banks == 0xff, "bank conflict in ldmatrix");
    }
}

NT_INLINE void nt_load_transposed(unsigned word[4], unsigned address)
{
    host_now->in[0] = address;
    host_meet_warp(host_load_transposed);
    memcpy(word, host_now->out, 16);
}

NT_INLINE float nt_exp2(float x)
{
    return exp2f(x);
}

#include "host_bits.h"

#if defined(NT_PRECISION_TF32) || defined(NT_PRECISION_FP32)
#define HOST_PER_WORD 1
#else
#define HOST_PER_WORD 2
#endif

/* Element k of a fragment row that lies in lanes q, q + 1, ... of a quad: words 0 and `next` hold its two halves. */
static float host_operand(const host_lane *quad, int first, int next, int k)
{
    int word = k / HOST_PER_WORD;
    unsigned bits = quad[word % 4].in[first + word / 4 * next];
#if HOST_PER_WORD == 1
    return host_bits(bits & ~0x1fffu);
#else
    unsigned short half = (unsigned short)(k % 2 ? bits >> 16 : bits & 0xffffu);
#if defined(NT_PRECISION_BF16)
    return host_bits((unsigned)half << 16);
#else
    return nt_f16_to_f32(half);
#endif
#endif
}

/* PTX ISA, fragments of m16n8: a[0], a[2] are row l / 4, a[1], a[3] row l / 4 + 8; b is column l / 4. */
static void host_mma(host_lane *lane)
{
    for (int row = 0; row < 16; row++)
        for (int column = 0; column < 8; column++) {
            float *sum = &lane[row % 8 * 4 + column / 2].sum[row / 8 * 2 + column % 2];
            for (int k = 0; k < 8 * HOST_PER_WORD; k++)
                *sum += host_operand(lane + row % 8 * 4, row / 8, 2, k) * host_operand(lane + column * 4, 4, 1, k);
        }
}

NT_INLINE void nt_mma(float sum[4], const unsigned a[4], const unsigned b[2])
{
    memcpy(host_now->in, a, 16);
    memcpy(host_now->in + 4, b, 8);
    memcpy(host_now->sum, sum, 16);
    host_meet_warp(host_mma);
    memcpy(sum, host_now->sum, 16);
}

static void host_transpose_matrix(host_lane *lane)
{
    for (int row = 0; row < 8; row++)
        for (int column = 0; column < 8; column++)
            memcpy((char *)&lane[row * 4 + column / 2].out[0] + column % 2 * 2,
                   (const char *)&lane[column * 4 + row / 2].in[0] + row % 2 * 2, 2);
}

NT_INLINE unsigned nt_transpose_matrix(unsigned word)
{
    host_now->in[0] = word;
    host_meet_warp(host_transpose_matrix);
    return host_now->out[0];
}

/* How often a bank had to be read for one instruction of a warp, at most. */
int nt_host_bank_reads;

static void host_count_banks(host_lane *lane)
{
    for (int bank = 0; bank < 32; bank++) {
        unsigned word[32];
        int words = 0;
        for (int i = 0; i < 32; i++) {
            unsigned at = lane[i].in[0];
            int known = at / 4 % 32 != (unsigned)bank;
            for (int j = 0; j < words && !known; j++)
                known = word[j] == at;
            if (!known)
                word[words++] = at;
        }
        nt_host_bank_reads = words > nt_host_bank_reads ? words : nt_host_bank_reads;
    }
}

NT_INLINE unsigned nt_word_at(const unsigned char *shared)
{
    unsigned word = 0, at = nt_shared_address(shared);
    host_check(at % 4 == 0 && (int)at + 4 <= host_shared_used, "shared address %u of %d", at, host_shared_used);
    host_now->in[0] = at;
    host_meet_warp(host_count_banks);
    if (!host_error[0])
        memcpy(&word, shared, 4);
    return word;
}

NT_INLINE unsigned nt_load_word(unsigned address)
{
    unsigned word = 0;
    host_check(address % 4 == 0 && (int)address + 4 <= host_shared_used, "shared address %u of %d", address,
               host_shared_used);
    if (!host_error[0])
        memcpy(&word, nt_host_shared + address, 4);
    return word;
}

#ifdef NT_PRECISION_INT8
enum { HOST_SPARSE_ELEM = 1 };
#else
enum { HOST_SPARSE_ELEM = 2 };
#endif

/* Element e of a fragment row as in host_operand, of 8 or 16 bits. */
static host_sum host_sparse_operand(const host_lane *quad, int first, int next, int e)
{
#ifdef NT_PRECISION_INT8
    unsigned bits = quad[e / 4 % 4].in[first + e / 16 * next];
    return (signed char)(bits >> (e % 4 * 8));
#else
    return host_operand(quad, first, next, e);
#endif
}

/* PTX ISA, sparse m16n8k32 (16 bits) and m16n8k64 (8 bits): fragments of a are those of its stored elements, b is as in
 * two steps of the dense product. in: a 0 to 3, b 4 to 7, metadata 8, selector 9. */
static void host_mma_sparse(host_lane *lane)
{
    enum { DEPTH = 64 / HOST_SPARSE_ELEM };
    int selector = (int)lane->in[9];
    for (int row = 0; row < 16; row++)
        for (int stored = 0; stored < DEPTH / 2; stored++) {
            sparse_place place = sparse_place_of(HOST_SPARSE_ELEM, selector, row, stored / 2 * 4);
            unsigned chunk = lane[place.lane].in[8] >> place.bit & 15u;
            host_sum a = host_sparse_operand(lane + row % 8 * 4, row / 8, 2, stored);
            host_check((chunk & 3u) < chunk >> 2 || a == 0, "indices of a chunk do not ascend");
            int k = stored / 2 * 4 + (int)(stored % 2 ? chunk >> 2 : chunk & 3u);
            for (int column = 0; column < 8; column++)
                lane[row % 8 * 4 + column / 2].sparse_sum[row / 8 * 2 + column % 2] +=
                    a * host_sparse_operand(lane + column * 4, 4, 1, k);
        }
}

NT_INLINE void nt_mma_sparse(host_sum sum[4], const unsigned a[4], const unsigned b[4], unsigned metadata, int selector)
{
    host_check(selector == 0 || HOST_SPARSE_ELEM == 2, "8-bit elements have selector 0");
    memcpy(host_now->in, a, 16);
    memcpy(host_now->in + 4, b, 16);
    host_now->in[8] = metadata;
    host_now->in[9] = (unsigned)selector;
    memcpy(host_now->sparse_sum, sum, 16);
    host_meet_warp(host_mma_sparse);
    memcpy(sum, host_now->sparse_sum, 16);
}

NT_INLINE unsigned nt_exchange(unsigned value, int lane_mask)
{
    host_now->in[0] = value;
    host_meet_warp(NULL);
    unsigned got = host_lanes[host_now->index.x ^ (unsigned)lane_mask].in[0];
    host_meet_warp(NULL); /* nobody may bring a new value before all have taken this one */
    return got;
}

#ifndef NT_PRECISION_TF32
NT_INLINE unsigned short nt_f32_to_bf16(float x); /* prelude.cuh */

NT_INLINE unsigned nt_pack_2(float low, float high)
{
#if defined(NT_PRECISION_BF16)
    return nt_f32_to_bf16(low) | (unsigned)nt_f32_to_bf16(high) << 16;
#else
    return nt_f32_to_f16(low) | (unsigned)nt_f32_to_f16(high) << 16;
#endif
}
#endif

#endif
