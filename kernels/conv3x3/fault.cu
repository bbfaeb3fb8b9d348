/* fault.cu: a plain conv3x3 that misbehaves on request. Tests of the process model sweep it among good kernels.
 *
 * One thread an output, no tiling. `fault` is an argument, so that one compile serves every value; its numbers are the
 * indices of the parameter's list in cuda_fault.c. The narrow entry is for a launch that the driver refuses: it allows
 * fewer threads than it is launched with, which no limit of the device forbids. */

enum { NONE, ILLEGAL_ADDRESS, ENDLESS_LOOP, TRAP, WRONG_RESULT, LAUNCH_FAILURE };

NT_INLINE float convolve(const nt_elem *in, const nt_elem *weight, long long at, int c, int k, int h, int w)
{
#ifdef NT_LAYOUT_NCHW
    int column = (int)(at % w), row = (int)(at / w % h), channel = (int)(at / w / h % k);
    long long n = at / w / h / k, in_pixel = 1, in_channel = (long long)h * w, tap = 1, weight_channel = 9;
#else
    int channel = (int)(at % k), column = (int)(at / k % w), row = (int)(at / k / w % h);
    long long n = at / k / w / h, in_pixel = c, in_channel = 1, tap = c, weight_channel = 1;
#endif
    float sum = 0.0f;
    for (int t = 0; t < 9; t++) {
        int y = row + t / 3 - 1, x = column + t % 3 - 1;
        if (y < 0 || y >= h || x < 0 || x >= w)
            continue;
        const nt_elem *from = in + n * c * h * w + ((long long)y * w + x) * in_pixel;
        for (int j = 0; j < c; j++)
            sum += nt_to_f32(from[j * in_channel]) *
                   nt_to_f32(weight[(long long)channel * c * 9 + t * tap + j * weight_channel]);
    }
    return sum;
}

NT_INLINE void misbehave(int fault, nt_elem *out)
{
#ifndef NT_HOST_EMULATION
    if (fault == ILLEGAL_ADDRESS)
        *(volatile nt_elem *)16 = out[0];
    if (fault == ENDLESS_LOOP)
        for (;;)
            asm volatile("nanosleep.u32 1000;"); /* a statement with an effect: the loop may not be removed */
    if (fault == TRAP)
        asm volatile("trap;");
#endif
}

NT_ENTRY void nt_conv3x3_fault(const nt_elem *__restrict__ in, const nt_elem *__restrict__ weight,
                               nt_elem *__restrict__ out, long long count, int c, int k, int h, int w, int fault)
{
    long long at = (long long)blockIdx.x * blockDim.x + threadIdx.x;
    if (at >= count)
        return;
    if (at == count - 1)
        misbehave(fault, out);
    float x = convolve(in, weight, at, c, k, h, w);
    out[at] = nt_from_f32(fault == WRONG_RESULT && at == count - 1 ? 2.0f * x + 1.0f : x);
}

NT_ENTRY void __launch_bounds__(32) nt_conv3x3_fault_narrow(nt_elem *out)
{
    out[threadIdx.x] = nt_from_f32(0.0f);
}
