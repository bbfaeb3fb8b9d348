/* tensor_core.cuh: the few instructions that tensor-core kernels are made of, as inline PTX: asynchronous copies to
 * shared memory, ldmatrix, mma.sync and packing of results. Comes after prelude.cuh; needs compute capability 8.0.
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

#ifdef NT_PRECISION_TF32
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

NT_INLINE unsigned nt_exchange(unsigned value, int lane_mask)
{
    return __shfl_xor_sync(0xffffffffu, value, lane_mask);
}
#endif
