/* reference.cu: three 1x1 convolutions with relu in fp64 on the device. A block has one pixel; what lies between the
 * convolutions, values and the bound's q (chain3.h), is in shared memory. */

#ifndef NT_HOST_EMULATION
#define NT_ENTRY              extern "C" __global__
#define NT_INLINE             __device__ __forceinline__
#define NT_SHARED(type, name) extern __shared__ __align__(16) type name[]
#endif

#define THREADS 256

NT_INLINE double magnitude(double x)
{
    return x < 0.0 ? -x : x;
}

NT_INLINE double relu(double x)
{
    return x > 0.0 ? x : 0.0;
}

/* One output of a later convolution from values t and their q. */
NT_INLINE double product(const double *t, const double *q, const float *weight, int count, double *bound)
{
    double sum = 0.0, sizes = 0.0;
    for (int j = 0; j < count; j++) {
        double w = weight[j];
        sum += w * t[j];
        sizes += magnitude(w) * q[j];
    }
    *bound = sizes;
    return relu(sum);
}

/* `area` pixels are an image; rounding is u_out / u. */
NT_ENTRY void nt_chain3_reference(const float *in, const float *weight, double *ref, double *abs, int c, int k1, int k2,
                                  int k, int area, int nchw, float rounding)
{
    NT_SHARED(double, t1);
    double *q1 = t1 + k1, *t2 = q1 + k1, *q2 = t2 + k2;
    long long pixel = blockIdx.x, image = pixel / area, place = pixel % area;
    const float *from = in + (nchw ? image * c * area + place : pixel * c);
    int step = nchw ? area : 1;
    for (int i = threadIdx.x; i < k1; i += THREADS) {
        double sum = 0.0, sizes = 0.0;
        for (int j = 0; j < c; j++) {
            double x = (double)from[(long long)j * step] * weight[(long long)i * c + j];
            sum += x;
            sizes += magnitude(x);
        }
        t1[i] = relu(sum);
        q1[i] = c * sizes + (k1 + (double)rounding) * t1[i];
    }
    weight += (long long)k1 * c;
    __syncthreads();
    for (int i = threadIdx.x; i < k2; i += THREADS) {
        double bound;
        t2[i] = product(t1, q1, weight + (long long)i * k1, k1, &bound);
        q2[i] = bound + (k2 + (double)rounding) * t2[i];
    }
    weight += (long long)k2 * k1;
    __syncthreads();
    for (int i = threadIdx.x; i < k; i += THREADS) {
        double bound, value = product(t2, q2, weight + (long long)i * k2, k2, &bound);
        long long at = nchw ? (image * k + i) * area + place : pixel * k + i;
        ref[at] = value;
        if (abs)
            abs[at] = bound / (c + k1 + k2 + 2.0 * rounding);
    }
}
