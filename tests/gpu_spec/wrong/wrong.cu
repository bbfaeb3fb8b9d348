// how: 0 right, 1 a grid of 0, 2 more dynamic shared memory than there is, 3 a block beyond its launch bounds, 4 an address
// that is none, 5 a trap, 6 does not compile, 7 twice the right values, 8 no such entry, 9 other parameters.
#if how == 6
#error "this configuration does not compile"
#endif
#if how == 9
extern "C" __global__ void kernel_9(const float *x, double *y, int n)
#else
extern "C" __global__ void __launch_bounds__(how == 3 ? 128 : 256) kernel_x(const float *x, float *y, int n)
#endif
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (how == 4)
        *(volatile float *)16 = 1;
    if (how == 5)
        __trap();
    if (i < n)
        y[i] = (how == 7 ? 4 : 2) * x[i];
}
