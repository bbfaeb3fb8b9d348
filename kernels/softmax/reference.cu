/* reference.cu: softmax in fp64 on the device, one thread a row. `abs` is what the error bound multiplies: softmax.h. */

#ifndef NT_HOST_EMULATION
#define NT_ENTRY extern "C" __global__
#endif

NT_ENTRY void nt_softmax_reference(const float *in, double *ref, double *abs, long long rows, int c, float charge)
{
    long long row = (long long)blockIdx.x * 256 + threadIdx.x;
    if (row >= rows)
        return;
    const float *x = in + row * c;
    double largest = x[0], sum = 0.0, spread = 0.0;
    for (int i = 1; i < c; i++)
        largest = x[i] > largest ? x[i] : largest;
    for (int i = 0; i < c; i++) {
        double e = exp(x[i] - largest);
        sum += e;
        spread += e * (largest - x[i]);
    }
    for (int i = 0; i < c; i++) {
        double y = exp(x[i] - largest) / sum;
        ref[row * c + i] = y;
        if (abs)
            abs[row * c + i] = y * (1.0 + charge * (largest - x[i] + spread / sum)) + 0x1p-100;
    }
}
