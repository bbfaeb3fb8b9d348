/* reference.cu: attention in fp64 on the device, one thread an output, the scores computed anew by each. `abs` is what
 * the error bound multiplies: attention.h. */

#ifndef NT_HOST_EMULATION
#define NT_ENTRY extern "C" __global__
#define NT_INLINE __device__ __forceinline__
#endif

NT_INLINE double magnitude(double x)
{
    return x < 0.0 ? -x : x;
}

/* q . k / sqrt(d); `size` is the same of magnitudes. */
NT_INLINE double score_of(const float *q, const float *k, int d, double scale, double *size)
{
    double sum = 0.0, sizes = 0.0;
    for (int t = 0; t < d; t++) {
        double product = (double)q[t] * (double)k[t];
        sum += product;
        sizes += magnitude(product);
    }
    *size = sizes * scale;
    return sum * scale;
}

NT_ENTRY void nt_attention_reference(const float *in, double *ref, double *abs, long long count, int heads, int tokens,
                                     int d, float charge)
{
    long long i = (long long)blockIdx.x * 256 + threadIdx.x, width = (long long)heads * d, stride = 3 * width;
    if (i >= count)
        return;
    long long row = i / d, token = row / heads;
    int head = (int)(row % heads);
    const float *q = in + token * stride + (long long)head * d;
    const float *k = in + token / tokens * tokens * stride + width + (long long)head * d;
    const float *v = k + width + i % d;
    double scale = 1.0 / sqrt((double)d), largest = -1e300, smallest = 1e300, size;
    for (int j = 0; j < tokens; j++) {
        double score = score_of(q, k + j * stride, d, scale, &size);
        largest = score > largest ? score : largest;
        smallest = score < smallest ? score : smallest;
    }
    double sum = 0.0, out = 0.0, mean = 0.0, sizes = 0.0, weighted = 0.0;
    for (int j = 0; j < tokens; j++) {
        double score = score_of(q, k + j * stride, d, scale, &size), y = exp(score - largest);
        double w = (d + 2) * size + 3.0 * (largest - score), value = v[j * stride];
        sum += y;
        mean += y * w;
        out += y * value;
        sizes += y * magnitude(value);
        weighted += y * magnitude(value) * w;
    }
    ref[i] = out / sum;
    if (abs)
        abs[i] = (sizes + charge * (weighted + sizes * (mean / sum + 6.0 * (largest - smallest)))) / sum;
}
