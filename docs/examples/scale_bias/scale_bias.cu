__constant__ float bias[64];

template <int TILE, typename T>
__global__ void __launch_bounds__(block, min_blocks) scale_bias(const T *x, T *y, float alpha, int n)
{
    int first = blockIdx.x * block * TILE + threadIdx.x;
#pragma unroll
    for (int t = 0; t < TILE; t++) {
        int i = first + t * block;
        if (i < n)
            y[i] = alpha * x[i] + bias[i % 64];
    }
}
