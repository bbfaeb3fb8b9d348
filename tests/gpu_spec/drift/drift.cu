// In place: traps where it finds what 25,000 launches left. A sample has 20,000 at most.
extern "C" __global__ void drift(float *y, int n)
{
    int i = blockIdx.x * block + threadIdx.x;
    if (i < n && (y[i] += 1) > 25000)
        __trap();
}
