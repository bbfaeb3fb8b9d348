template <int PER_THREAD, typename T>
__global__ void __launch_bounds__(block, min_blocks) stencil(const T *x, T *y, int n)
{
    extern __shared__ float tile[];
    const int span = block * PER_THREAD;
    int first = blockIdx.x * span;
    load_tile(x, tile, first, span + 2 * RADIUS, n);
#pragma unroll
    for (int p = 0; p < PER_THREAD; p++) {
        int at = p * block + threadIdx.x;
        float sum = 0;
        for (int k = 0; k <= 2 * RADIUS; k++)
            sum += weight[k] * tile[at + k];
        if (first + at < n)
            y[first + at] = (T)sum;
    }
}
