#include "weights.h"
__constant__ float weight[2 * RADIUS + 1];

// A tile of the row with RADIUS neighbours on both sides, zeros beyond the ends.
template <typename T>
__device__ void load_tile(const T *x, float *tile, int first, int length, int n)
{
    for (int i = threadIdx.x; i < length; i += block) {
        int at = first + i - RADIUS;
        tile[i] = at >= 0 && at < n ? (float)x[at] : 0.0f;
    }
    __syncthreads();
}
