void scale_bias_reference(const float *x, float *y, float alpha, int n, const float *bias)
{
    for (int i = 0; i < n; i++)
        y[i] = alpha * x[i] + bias[i % 64];
}
