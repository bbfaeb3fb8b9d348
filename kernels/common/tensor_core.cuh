/* tensor_core.cuh: the few instructions that tensor-core kernels are made of, as inline PTX: asynchronous copies to
 * shared memory, ldmatrix, mma.sync, wgmma and packing of results. Comes after prelude.cuh; needs compute
 * capability 8.0.
 *
 * One K step of an mma is 32 bytes of each operand row whatever the element type (16 halves or 8 words), so the
 * addresses that a kernel computes do not depend on the type. On the host a test's emulation stands in. */

#ifndef NT_HOST_EMULATION
NT_INLINE unsigned nt_shared_address(const void *shared)
{
    return (unsigned)__cvta_generic_to_shared(shared);
}

/* Copies 16 bytes, or writes 16 zero bytes without reading when `valid` is false. Through L2 only. */
NT_INLINE void nt_copy_16(unsigned to, const void *from, bool valid)
{
    asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;" ::"r"(to), "l"(from), "r"(valid ? 16 : 0) : "memory");
}

/* The same through L1, for data that this block soon reads again. */
NT_INLINE void nt_copy_16_l1(unsigned to, const void *from, bool valid)
{
    asm volatile("cp.async.ca.shared.global [%0], [%1], 16, %2;" ::"r"(to), "l"(from), "r"(valid ? 16 : 0) : "memory");
}

NT_INLINE void nt_copy_commit(void)
{
    asm volatile("cp.async.commit_group;" ::: "memory");
}

/* Waits until at most `pending` (a constant) of this thread's newest groups are under way. */
#define nt_copy_wait(pending) asm volatile("cp.async.wait_group %0;" ::"n"(pending) : "memory")

NT_INLINE void nt_store_shared_16(unsigned to, const unsigned word[4])
{
    asm volatile("st.shared.v4.b32 [%0], {%1, %2, %3, %4};" ::"r"(to), "r"(word[0]), "r"(word[1]), "r"(word[2]),
                 "r"(word[3])
                 : "memory");
}

/* Four 8x8 matrices of halves (8 rows of 16 bytes); lane l gives the address of row l % 8 of matrix l / 8 and
 * receives word l % 4 of row l / 4 of each. */
NT_INLINE void nt_load_matrices(unsigned word[4], unsigned address)
{
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
                 : "=r"(word[0]), "=r"(word[1]), "=r"(word[2]), "=r"(word[3])
                 : "r"(address)
                 : "memory");
}

/* The word at an address in shared memory that is aligned to 4 bytes. */
NT_INLINE unsigned nt_word_at(const unsigned char *shared)
{
    return *(const unsigned *)shared;
}

#if defined(NT_PRECISION_TF32) || defined(NT_PRECISION_FP32) /* fp32: in parts that are tf32 */
#define NT_MMA "mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32 "
#elif defined(NT_PRECISION_BF16)
#define NT_MMA "mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 "
#else
#define NT_MMA "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 "
#endif

/* sum += a (16 rows x 32 bytes) times b (8 columns x 32 bytes). Lane l holds columns 2 (l % 4) and the next one of
 * rows l / 4 (sum[0], sum[1]) and l / 4 + 8 (sum[2], sum[3]). */
NT_INLINE void nt_mma(float sum[4], const unsigned a[4], const unsigned b[2])
{
    asm volatile(NT_MMA "{%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"
                 : "+f"(sum[0]), "+f"(sum[1]), "+f"(sum[2]), "+f"(sum[3])
                 : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));
}

/* An 8x8 matrix of 16-bit elements, two a lane as nt_load_matrices leaves them, with rows and columns exchanged. */
NT_INLINE unsigned nt_transpose_matrix(unsigned word)
{
    unsigned moved;
    asm volatile("movmatrix.sync.aligned.m8n8.trans.b16 %0, %1;" : "=r"(moved) : "r"(word));
    return moved;
}

/* f32 bits rounded to the nearest tf32; without it the hardware drops the low 13 bits. */
NT_INLINE unsigned nt_round_tf32(unsigned bits)
{
    unsigned rounded;
    asm("cvt.rna.tf32.f32 %0, %1;" : "=r"(rounded) : "f"(nt_bits_to_f32(bits)));
    return rounded;
}

#ifndef NT_PRECISION_TF32
/* Two results rounded to the element type, `low` in the low half. */
NT_INLINE unsigned nt_pack_2(float low, float high)
{
    unsigned packed;
#ifdef NT_PRECISION_BF16
    asm("cvt.rn.bf16x2.f32 %0, %1, %2;" : "=r"(packed) : "f"(high), "f"(low));
#else
    asm("cvt.rn.f16x2.f32 %0, %1, %2;" : "=r"(packed) : "f"(high), "f"(low));
#endif
    return packed;
}
#endif

/* sum plus the products of four pairs of signed bytes. */
NT_INLINE int nt_dot4(int sum, unsigned a, unsigned b)
{
    asm("dp4a.s32.s32 %0, %1, %2, %0;" : "+r"(sum) : "r"(a), "r"(b));
    return sum;
}

NT_INLINE unsigned nt_exchange(unsigned value, int lane_mask)
{
    return __shfl_xor_sync(0xffffffffu, value, lane_mask);
}

/* ---- compute capability 9.0a: four warps multiply tiles where they lie in shared memory ------------------------ */

#if WGMMA_N
#if defined(NT_PRECISION_TF32) || defined(NT_PRECISION_FP32) /* fp32: in parts that are tf32 */
#define NT_WGMMA_TYPE "k8.f32.tf32.tf32 "
#define NT_WGMMA_TAIL ", p, 1, 1;\n}"
#elif defined(NT_PRECISION_INT8)
#define NT_WGMMA_TYPE "k32.s32.s8.s8 "
#define NT_WGMMA_TAIL ", p;\n}"
#elif defined(NT_PRECISION_FP8)
#define NT_WGMMA_TYPE "k32.f32.e4m3.e4m3 "
#define NT_WGMMA_TAIL ", p, 1, 1;\n}"
#elif defined(NT_PRECISION_BF16)
#define NT_WGMMA_TYPE "k16.f32.bf16.bf16 "
#define NT_WGMMA_TAIL ", p, 1, 1, 0, 0;\n}"
#else
#define NT_WGMMA_TYPE "k16.f32.f16.f16 "
#define NT_WGMMA_TAIL ", p, 1, 1, 0, 0;\n}"
#endif

/* Operand text of the accumulators, 16 names a line. */
#define NT_NAMES_4  "%0, %1, %2, %3"
#define NT_NAMES_8  NT_NAMES_4 ", %4, %5, %6, %7"
#define NT_NAMES_16 NT_NAMES_8 ", %8, %9, %10, %11, %12, %13, %14, %15"
#define NT_NAMES_32 NT_NAMES_16 ", %16, %17, %18, %19, %20, %21, %22, %23, %24, %25, %26, %27, %28, %29, %30, %31"
#define NT_NAMES_48 NT_NAMES_32 ", %32, %33, %34, %35, %36, %37, %38, %39, %40, %41, %42, %43, %44, %45, %46, %47"
#define NT_NAMES_64 NT_NAMES_48 ", %48, %49, %50, %51, %52, %53, %54, %55, %56, %57, %58, %59, %60, %61, %62, %63"
#define NT_NAMES_96                                                                                            \
    NT_NAMES_64 ", "                                                                                           \
                "%64, %65, %66, %67, %68, %69, %70, %71, %72, %73, %74, %75, %76, %77, %78, %79, "             \
                "%80, %81, %82, %83, %84, %85, %86, %87, %88, %89, %90, %91, %92, %93, %94, %95"
#define NT_NAMES_128                                                                                           \
    NT_NAMES_96 ", "                                                                                           \
                "%96, %97, %98, %99, %100, %101, %102, %103, %104, %105, %106, %107, %108, %109, %110, %111, " \
                "%112, %113, %114, %115, %116, %117, %118, %119, %120, %121, %122, %123, %124, %125, %126, %127"
#ifdef NT_PRECISION_INT8
#define NT_SUM "+r"
#else
#define NT_SUM "+f"
#endif
#define NT_SUM_4(i)  NT_SUM(sum[i][0]), NT_SUM(sum[i][1]), NT_SUM(sum[i][2]), NT_SUM(sum[i][3])
#define NT_SUM_8(i)  NT_SUM_4(i), NT_SUM_4(i + 1)
#define NT_SUM_16(i) NT_SUM_8(i), NT_SUM_8(i + 2)
#define NT_SUM_32(i) NT_SUM_16(i), NT_SUM_16(i + 4)
#define NT_SUM_64(i) NT_SUM_32(i), NT_SUM_32(i + 8)

/* NT_WGMMA_OPERANDS: the operands that come after the accumulators. */
#if WGMMA_N == 8
#define NT_WGMMA_SHAPE "m64n8"
#define NT_WGMMA_NAMES NT_NAMES_4
#define NT_WGMMA_OPERANDS ("%4", "%5", "%6", "%7", "%8", "%9")
#define NT_WGMMA_SUMS NT_SUM_4(0)
#elif WGMMA_N == 16
#define NT_WGMMA_SHAPE "m64n16"
#define NT_WGMMA_NAMES NT_NAMES_8
#define NT_WGMMA_OPERANDS ("%8", "%9", "%10", "%11", "%12", "%13")
#define NT_WGMMA_SUMS NT_SUM_8(0)
#elif WGMMA_N == 32
#define NT_WGMMA_SHAPE "m64n32"
#define NT_WGMMA_NAMES NT_NAMES_16
#define NT_WGMMA_OPERANDS ("%16", "%17", "%18", "%19", "%20", "%21")
#define NT_WGMMA_SUMS NT_SUM_16(0)
#elif WGMMA_N == 64
#define NT_WGMMA_SHAPE "m64n64"
#define NT_WGMMA_NAMES NT_NAMES_32
#define NT_WGMMA_OPERANDS ("%32", "%33", "%34", "%35", "%36", "%37")
#define NT_WGMMA_SUMS NT_SUM_32(0)
#elif WGMMA_N == 96
#define NT_WGMMA_SHAPE "m64n96"
#define NT_WGMMA_NAMES NT_NAMES_48
#define NT_WGMMA_OPERANDS ("%48", "%49", "%50", "%51", "%52", "%53")
#define NT_WGMMA_SUMS NT_SUM_32(0), NT_SUM_16(8)
#elif WGMMA_N == 128
#define NT_WGMMA_SHAPE "m64n128"
#define NT_WGMMA_NAMES NT_NAMES_64
#define NT_WGMMA_OPERANDS ("%64", "%65", "%66", "%67", "%68", "%69")
#define NT_WGMMA_SUMS NT_SUM_64(0)
#elif WGMMA_N == 192
#define NT_WGMMA_SHAPE "m64n192"
#define NT_WGMMA_NAMES NT_NAMES_96
#define NT_WGMMA_OPERANDS ("%96", "%97", "%98", "%99", "%100", "%101")
#define NT_WGMMA_SUMS NT_SUM_64(0), NT_SUM_32(16)
#else
#define NT_WGMMA_SHAPE "m64n256"
#define NT_WGMMA_NAMES NT_NAMES_128
#define NT_WGMMA_OPERANDS ("%128", "%129", "%130", "%131", "%132", "%133")
#define NT_WGMMA_SUMS NT_SUM_64(0), NT_SUM_64(16)
#endif

/* The whole text, with both operands in shared memory, or the first in registers (tf32). */
#define NT_WGMMA_HEAD(adds)                                                                             \
    "{\n.reg .pred p;\nsetp.ne.u32 p, " adds ", 0;\nwgmma.mma_async.sync.aligned." NT_WGMMA_SHAPE       \
        NT_WGMMA_TYPE "{" NT_WGMMA_NAMES "}, "
#define NT_FROM_SHARED(a, b, adds, x, y, z)        NT_WGMMA_HEAD(adds) a ", " b NT_WGMMA_TAIL
#define NT_FROM_REGISTERS(a, b, c, d, tile, adds) \
    NT_WGMMA_HEAD(adds) "{" a ", " b ", " c ", " d "}, " tile NT_WGMMA_TAIL
#define NT_WITH(form, operands)                    form operands

/* Rows of 128 bytes whose 16-byte units are permuted by the row's low three bits: 8 rows make 1024 bytes, which are
 * aligned to as much. */
NT_INLINE unsigned long long nt_tile_descriptor(unsigned address)
{
    return (unsigned long long)(address >> 4 & 0x3fffu) | 1ull << 16 | 64ull << 32 | 1ull << 62;
}

/* sum = (adds ? sum : 0) + a (64 rows x 32 bytes) times b (WGMMA_N rows x 32 bytes), both in shared memory, without
 * waiting. Warp w holds rows 16 w to 16 w + 15, laid out as in nt_mma. */
NT_INLINE void nt_wgmma_into(nt_sum sum[WGMMA_N / 8][4], unsigned a, unsigned b, unsigned adds)
{
    asm volatile(NT_WITH(NT_FROM_SHARED, NT_WGMMA_OPERANDS)
                 : NT_WGMMA_SUMS
                 : "l"(nt_tile_descriptor(a)), "l"(nt_tile_descriptor(b)), "r"(adds)
                 : "memory");
}

NT_INLINE void nt_wgmma(nt_sum sum[WGMMA_N / 8][4], unsigned a, unsigned b)
{
    nt_wgmma_into(sum, a, b, 1u);
}

#ifdef NT_PRECISION_FP32
/* The same with this lane's words of a as in nt_mma; they may change only after a wait. */
NT_INLINE void nt_wgmma_registers(nt_sum sum[WGMMA_N / 8][4], const unsigned a[4], unsigned b, unsigned adds)
{
    asm volatile(NT_WITH(NT_FROM_REGISTERS, NT_WGMMA_OPERANDS)
                 : NT_WGMMA_SUMS
                 : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "l"(nt_tile_descriptor(b)), "r"(adds)
                 : "memory");
}
#endif

/* Before the first nt_wgmma after other code has touched its sums. */
NT_INLINE void nt_wgmma_begin(void)
{
    asm volatile("wgmma.fence.sync.aligned;" ::: "memory");
}

NT_INLINE void nt_wgmma_commit(void)
{
    asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory");
}

/* Waits until at most `pending` (a constant) of the newest groups are under way. */
#define nt_wgmma_wait(pending) asm volatile("wgmma.wait_group.sync.aligned %0;" ::"n"(pending) : "memory")

/* Keeps the compiler from moving a sum across a wait. */
NT_INLINE void nt_wgmma_sum_ready(nt_sum *sum)
{
    asm volatile("" : NT_SUM(*sum)::"memory");
}

/* Makes what this thread has written to shared memory visible to nt_wgmma; a barrier comes after. */
NT_INLINE void nt_publish_shared(void)
{
    asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
}
#endif
#endif

/* ---- what follows is made of the above alone, so that the host runs it too -------------------------------------- */

/* Each lane of a quad holds a word of 4 tiles of one row; afterwards lane t of it holds the four words of tile t. */
NT_INLINE void nt_transpose_quad(unsigned word[4], int t)
{
    unsigned x = nt_exchange(t & 1 ? word[0] : word[1], 1), y = nt_exchange(t & 1 ? word[2] : word[3], 1);
    word[0] = t & 1 ? x : word[0];
    word[1] = t & 1 ? word[1] : x;
    word[2] = t & 1 ? y : word[2];
    word[3] = t & 1 ? word[3] : y;
    x = nt_exchange(t & 2 ? word[0] : word[2], 2);
    y = nt_exchange(t & 2 ? word[1] : word[3], 2);
    word[0] = t & 2 ? x : word[0];
    word[1] = t & 2 ? y : word[1];
    word[2] = t & 2 ? word[2] : x;
    word[3] = t & 2 ? word[3] : y;
}
