/* reference.cu: layernorm in fp64 on the device, one thread a row. `abs` is what the error bound multiplies:
 * layernorm.h. */

#ifndef NT_HOST_EMULATION
#define NT_ENTRY extern "C" __global__
#define NT_INLINE __device__ __forceinline__
#endif

NT_INLINE double magnitude(double x)
{
    return x < 0.0 ? -x : x;
}

NT_ENTRY void nt_layernorm_reference(const float *in, const float *weight, double *ref, double *abs, long long rows,
                                     int c, float epsilon)
{
    long long row = (long long)blockIdx.x * 256 + threadIdx.x;
    if (row >= rows)
        return;
    const float *x = in + row * c;
    double mean = 0.0, size = 0.0, variance = 0.0;
    for (int i = 0; i < c; i++) {
        mean += x[i];
        size += magnitude(x[i]);
    }
    mean /= c;
    size /= c;
    for (int i = 0; i < c; i++)
        variance += (x[i] - mean) * (x[i] - mean);
    double r = 1.0 / sqrt(variance / c + epsilon);
    for (int i = 0; i < c; i++) {
        double z = x[i] - mean;
        ref[row * c + i] = z * r * weight[i] + weight[c + i];
        if (abs)
            abs[row * c + i] = magnitude(weight[i]) * r * (magnitude(z) + size) + magnitude(weight[c + i]);
    }
}
