__constant__ float weight[7];

extern "C" __global__ void stencil_reference(const float *x, float *y, int n)
{
    int i = blockIdx.x * 256 + threadIdx.x;
    if (i >= n)
        return;
    double sum = 0;
    for (int k = -3; k <= 3; k++)
        if (i + k >= 0 && i + k < n)
            sum += (double)weight[k + 3] * x[i + k];
    y[i] = (float)sum;
}
