void reference(float *x, float *sum, int columns, int64_t count)
{
    for (int64_t row = 0; row < count / columns; row++) {
        double total = 0;
        for (int c = 0; c < columns; c++)
            total += x[row * columns + c];
        sum[row] = (float)total;
        for (int c = 0; c < columns; c++)
            x[row * columns + c] = (float)(x[row * columns + c] / total);
    }
}
