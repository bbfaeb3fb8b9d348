#include <math.h>

/* Rows are shared by threads: a call does the work items [begin, end), each of `rows` rows. */
void softmax(const float *x, float *y, int count, int columns, int64_t begin, int64_t end)
{
    for (int64_t row = begin * rows; row < end * rows && row < count; row++) {
        const float *in = x + row * columns;
        float *out = y + row * columns, most[lanes], sum[lanes];
        for (int l = 0; l < lanes; l++) {
            most[l] = -INFINITY;
            sum[l] = 0;
        }
        for (int c = 0; c < columns; c++)
            most[c % lanes] = in[c] > most[c % lanes] ? in[c] : most[c % lanes];
        for (int l = 1; l < lanes; l++)
            most[0] = most[l] > most[0] ? most[l] : most[0];
        for (int c = 0; c < columns; c++)
            sum[c % lanes] += out[c] = expf(in[c] - most[0]);
        for (int l = 1; l < lanes; l++)
            sum[0] += sum[l];
        for (int c = 0; c < columns; c++)
            out[c] /= sum[0];
    }
}
