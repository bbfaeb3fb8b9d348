// Sums of rows, then each row divided by its own: two launches that one run is made of.
extern "C" __global__ void row_sums(const float *x, float *sum, int columns)
{
    __shared__ float part[block];
    float mine = 0;
    for (int c = threadIdx.x; c < columns; c += block)
        mine += x[(size_t)blockIdx.x * columns + c];
    part[threadIdx.x] = mine;
    __syncthreads();
    for (int half = block / 2; half > 0; half /= 2) {
        if (threadIdx.x < half)
            part[threadIdx.x] += part[threadIdx.x + half];
        __syncthreads();
    }
    if (threadIdx.x == 0)
        sum[blockIdx.x] = part[0];
}

template <int WIDE>
__global__ void divide(float *x, const float *sum, int columns, long long count)
{
    long long first = ((long long)blockIdx.x * block + threadIdx.x) * WIDE;
    for (int i = 0; i < WIDE; i++)
        if (first + i < count)
            x[first + i] /= sum[(first + i) / columns];
}
