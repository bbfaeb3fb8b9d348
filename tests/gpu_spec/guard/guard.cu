// where: 0 right, 1 writes one element behind y, 2 one before it, 3 into the zone behind the input, 4 leaves one unwritten.
extern "C" __global__ void guard(float *x, float *y, int n)
{
    int i = blockIdx.x * block + threadIdx.x;
    if (i >= n || (where == 4 && i == n - 1))
        return;
    y[i] = 2 * x[i];
    if (i == 0 && where == 1)
        y[n] = 1;
    if (i == 0 && where == 2)
        y[-1] = 1;
    if (i == 0 && where == 3)
        x[n] = 1;
}
