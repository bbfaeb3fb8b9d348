/* pool_reference.cu: maxpool and avgpool in fp64 on the device: one thread an output. `abs` is what the error bound
 * multiplies: pool.h says what and why. */

#ifndef NT_HOST_EMULATION
#define NT_ENTRY extern "C" __global__
#endif

NT_ENTRY void nt_pool_reference(const float *in, double *ref, double *abs, int n, int c, int h, int w, int out_h,
                                int out_w, int window_h, int window_w, int stride, int pad, int is_max, int nchw)
{
    long long i = (long long)blockIdx.x * 256 + threadIdx.x, image = (long long)out_h * out_w;
    if (i >= (long long)n * c * image)
        return;
    long long batch = i / (c * image), rest = i % (c * image);
    long long channel = nchw ? rest / image : rest % c, pixel = nchw ? rest % image : rest / c;
    long long y0 = pixel / out_w * stride - pad, x0 = pixel % out_w * stride - pad;
    const float *from = in + batch * c * h * w + channel * (nchw ? (long long)h * w : 1);
    double largest = -1e300, sum = 0.0, size = 0.0;
    for (long long y = y0 < 0 ? 0 : y0; y < y0 + window_h && y < h; y++)
        for (long long x = x0 < 0 ? 0 : x0; x < x0 + window_w && x < w; x++) {
            double v = from[(y * w + x) * (nchw ? 1 : c)];
            largest = v > largest ? v : largest;
            sum += v;
            size += v < 0.0 ? -v : v;
        }
    double k = (double)window_h * window_w;
    ref[i] = is_max ? largest : sum / k;
    if (abs)
        abs[i] = is_max ? (largest < 0.0 ? -largest : largest) : size / k;
}
