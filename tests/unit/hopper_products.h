/* hopper_products.h: part of hopper_emulation.h: wgmma, dense and sparse, and mma.sync. */
#ifndef NT_TEST_HOPPER_PRODUCTS_H
#define NT_TEST_HOPPER_PRODUCTS_H

/* ---- products ---- */

#if defined(NT_PRECISION_INT8) || defined(NT_PRECISION_FP8)
enum { HOST_ELEM = 1 };
#elif defined(NT_PRECISION_FP16) || defined(NT_PRECISION_BF16)
enum { HOST_ELEM = 2 };
#else
enum { HOST_ELEM = 4 };
#endif

static host_sum host_value(unsigned bits)
{
#if defined(NT_PRECISION_INT8)
    return (signed char)bits;
#elif defined(NT_PRECISION_FP8)
    int exponent = (int)(bits >> 3 & 15u), fraction = (int)(bits & 7u);
    float x = exponent ? (float)(8 + fraction) * host_bits((unsigned)(exponent - 10 + 127) << 23)
                       : (float)fraction * host_bits((unsigned)(-9 + 127) << 23);
    return bits & 0x80u ? -x : x;
#elif defined(NT_PRECISION_BF16)
    return host_bits(bits << 16);
#elif defined(NT_PRECISION_FP16)
    return nt_f16_to_f32((uint16_t)bits);
#else
    return host_bits(bits & ~0x1fffu);
#endif
}

/* Element k of a row of a tile: units are permuted by address bits 7 to 9. */
static host_sum host_tile_element(unsigned base, int row, int k)
{
    unsigned at = base + (unsigned)(row * 128 + k * HOST_ELEM), bits = 0;
    at ^= (at >> 7 & 7u) << 4;
    memcpy(&bits, host_at(at, HOST_ELEM), HOST_ELEM);
    return host_value(bits);
}

static host_sum host_a_element(const host_lane *lane, int row, int k)
{
    const host_product *p = &lane->product[0];
    if (!p->registers)
        return host_tile_element(p->a, row, k);
    const host_lane *holder = &lane[row / 16 * 32 + row % 8 * 4 + k % 4]; /* as in mma.sync, 32-bit elements */
    return host_value(holder->product[0].word[row / 8 % 2 + k / 4 * 2]);
}

/* A row of sparse a: stored elements 2 i and 2 i + 1 go where chunk i of the row's metadata says. */
static void host_sparse_row(const host_lane *lane, int row, host_sum *a)
{
    const host_product *p = &lane->product[0];
    memset(a, 0, 64 / HOST_ELEM * sizeof *a);
    for (int chunk = 0; chunk < 16 / HOST_ELEM; chunk++) {
        sparse_place place = sparse_place_of(HOST_ELEM, p->selector, row % 16, chunk * 4);
        unsigned bits = lane[row / 16 * 32 + place.lane].product[0].metadata >> place.bit & 15u;
        host_sum first = host_tile_element(p->a, row, 2 * chunk), second = host_tile_element(p->a, row, 2 * chunk + 1);
        host_check((bits & 3u) < bits >> 2 || (first == 0 && second == 0), "indices of a chunk do not ascend");
        a[chunk * 4 + (int)(bits & 3u)] = first;
        a[chunk * 4 + (int)(bits >> 2)] = second;
    }
}

/* The oldest product of 128 lanes. */
static void host_do_product(host_lane *lane)
{
    enum { MOST = 64 / HOST_ELEM };
    static host_sum b[WGMMA_N][MOST];
    int depth = lane->product[0].sparse ? MOST : MOST / 2;
    for (int column = 0; column < WGMMA_N; column++)
        for (int k = 0; k < depth; k++)
            b[column][k] = host_tile_element(lane->product[0].b, column, k);
    for (int row = 0; row < 64; row++) {
        host_sum a[MOST];
        if (lane->product[0].sparse)
            host_sparse_row(lane, row, a);
        else
            for (int k = 0; k < depth; k++)
                a[k] = host_a_element(lane, row, k);
        for (int column = 0; column < WGMMA_N; column++) {
            host_lane *holder = &lane[row / 16 * 32 + row % 8 * 4 + column % 8 / 2];
            host_sum *sum = &holder->product[0].sum[column / 8][row % 16 / 8 * 2 + column % 2];
            host_sum all = lane->product[0].adds ? *sum : 0;
            for (int k = 0; k < depth; k++)
                all += a[k] * b[column][k];
            *sum = all;
        }
    }
}

static void host_meet_products(int pending)
{
    host_lane *first = host_now - host_now->index.x % 128;
    host_meeting *meeting = &host_groups[host_now->group];
    host_meet(meeting, 128, NULL, NULL);
    while (host_now->products > 0 && host_now->product[0].group < host_now->committed - pending) {
        host_meet(meeting, 128, host_do_product, first);
        host_now->products--;
        memmove(host_now->product, host_now->product + 1, sizeof host_now->product - sizeof host_now->product[0]);
        host_meet(meeting, 128, NULL, NULL);
    }
}

static void host_multiply(host_product product)
{
    host_check(host_now->products < HOST_PRODUCTS, "too many wgmma under way");
    /* The permutation goes by the address, so a tile may begin at any row of one that is aligned; see shift.cu. */
    host_check(product.b % 1024 < 128 && (SHIFTED || product.a % 1024 < 128),
               "tiles of wgmma are aligned to 1024 bytes");
    if (host_error[0])
        return;
    product.group = host_now->committed;
    host_now->product[host_now->products++] = product;
    if (!host_eager)
        host_meet_products(-1);
}

NT_INLINE void nt_wgmma_into(host_sum sum[WGMMA_N / 8][4], unsigned a, unsigned b, unsigned adds)
{
    host_multiply((host_product){.sum = sum, .a = a, .b = b, .adds = adds});
}

NT_INLINE void nt_wgmma_registers(host_sum sum[WGMMA_N / 8][4], const unsigned a[4], unsigned b, unsigned adds)
{
    host_product product = {.sum = sum, .b = b, .adds = adds, .registers = true};
    memcpy(product.word, a, 16);
    host_multiply(product);
}

NT_INLINE void nt_wgmma_sparse(host_sum sum[WGMMA_N / 8][4], unsigned a, unsigned b, unsigned metadata, int selector,
                               unsigned adds)
{
    host_check(selector == 0 || HOST_ELEM == 2, "8-bit elements have selector 0");
    host_check(b % 128 <= 64, "64 bytes of b cross a row");
    host_multiply((host_product){
        .sum = sum, .a = a, .b = b, .adds = adds, .metadata = metadata, .sparse = true, .selector = selector});
}

NT_INLINE void nt_wgmma_begin(void)
{
}

NT_INLINE void nt_wgmma_commit(void)
{
    host_now->committed++;
}

NT_INLINE void nt_wgmma_wait(int pending)
{
    host_meet_products(pending);
}

NT_INLINE void nt_publish_shared(void)
{
}

NT_INLINE void nt_wgmma_sum_ready(host_sum *sum)
{
    (void)sum;
}

NT_INLINE unsigned short nt_f32_to_bf16(float x); /* prelude.cuh */

NT_INLINE unsigned nt_pack_2(float low, float high)
{
#if defined(NT_PRECISION_BF16)
    return nt_f32_to_bf16(low) | (unsigned)nt_f32_to_bf16(high) << 16;
#else
    return nt_f32_to_f16(low) | (unsigned)nt_f32_to_f16(high) << 16;
#endif
}

/* ---- mma.sync ---- */

#if defined(NT_PRECISION_FP16) || defined(NT_PRECISION_BF16)
/* PTX ISA, fragments of m16n8k16: a[0], a[2] are row l / 4, a[1], a[3] row l / 4 + 8; b is column l / 4; word l % 4 of
 * a row holds two elements, the second half of the row in the registers behind. */
static float host_fragment(const host_lane *quad, int first, int next, int k)
{
    unsigned bits = quad[k / 2 % 4].fragment[first + k / 8 * next];
    return host_value(k % 2 ? bits >> 16 : bits & 0xffffu);
}

static void host_mma(host_lane *lane)
{
    for (int row = 0; row < 16; row++)
        for (int column = 0; column < 8; column++) {
            float *sum = &lane[row % 8 * 4 + column / 2].fragment_sum[row / 8 * 2 + column % 2];
            for (int k = 0; k < 16; k++)
                *sum += host_fragment(lane + row % 8 * 4, row / 8, 2, k) * host_fragment(lane + column * 4, 4, 1, k);
        }
}

NT_INLINE void nt_mma(float sum[4], const unsigned a[4], const unsigned b[2])
{
    memcpy(host_now->fragment, a, 16);
    memcpy(host_now->fragment + 4, b, 8);
    memcpy(host_now->fragment_sum, sum, 16);
    host_meet_warp(host_mma);
    memcpy(sum, host_now->fragment_sum, 16);
}
#endif

static void host_do_unit(unsigned to, const void *from)
{
    if (from)
        memcpy(host_at(to, 16), from, 16);
    else
        memset(host_at(to, 16), 0, 16);
}

NT_INLINE void nt_copy_16(unsigned to, const void *from, bool valid)
{
    host_at(to, 16);
    host_check(!valid || (uintptr_t)from % 16 == 0, "copy from %p, misaligned", from);
    host_check(host_now->units < HOST_UNITS, "too many copies under way");
    if (host_error[0])
        return;
    if (host_eager) {
        host_do_unit(to, valid ? from : NULL);
        return;
    }
    int i = host_now->units++;
    host_now->unit[i].to = to;
    host_now->unit[i].from = valid ? from : NULL;
    host_now->unit[i].group = host_now->unit_group;
}

NT_INLINE void nt_copy_commit(void)
{
    host_now->unit_group++;
}

NT_INLINE void nt_copy_wait(int pending)
{
    int kept = 0;
    for (int i = 0; i < host_now->units; i++)
        if (host_now->unit[i].group < host_now->unit_group - pending)
            host_do_unit(host_now->unit[i].to, host_now->unit[i].from);
        else
            host_now->unit[kept++] = host_now->unit[i];
    host_now->units = kept;
}

NT_INLINE void nt_store_shared_8(unsigned address, unsigned x, unsigned y)
{
    const unsigned both[2] = {x, y};
    memcpy(host_at(address, 8), both, 8);
}

/* In block `rank` of the cluster. */
NT_INLINE void nt_store_shared_8_at(unsigned address, unsigned rank, unsigned x, unsigned y)
{
    nt_store_shared_8(host_address_at(address, rank), x, y);
}

#endif
