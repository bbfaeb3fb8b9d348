#include <math.h>

void softmax_reference(const float *x, float *y, int count, int columns)
{
    for (int row = 0; row < count; row++) {
        double most = -INFINITY, sum = 0;
        for (int c = 0; c < columns; c++)
            most = fmax(most, x[row * columns + c]);
        for (int c = 0; c < columns; c++)
            sum += exp(x[row * columns + c] - most);
        for (int c = 0; c < columns; c++)
            y[row * columns + c] = (float)(exp(x[row * columns + c] - most) / sum);
    }
}
