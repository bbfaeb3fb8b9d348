/* winograd.cuh: Winograd's F(2x2, 3x3) and F(4x4, 3x3): the matrices, in this one place, and their transforms.
 *
 * A tile of m x m outputs is Y = A^T ((G g G^T) . (B^T d B)) A of a filter g and a patch d of (m + 2) x (m + 2) inputs, so
 * (m + 2)^2 multiplications, one a *place*, instead of 9 m^2. The matrices are those of Cook and Toom's interpolation at
 * 0, 1, -1 and infinity, for m = 4 also at 2 and -2, scaled as by A. Lavin and S. Gray (Fast Algorithms for Convolutional
 * Neural Networks, 2015).
 *
 * Points in pairs p, -p make rows 1 and 2, and 3 and 4, of B^T and G equal but for the sign of odd columns, and so the
 * columns of A^T and the sign of odd rows: a pair costs one sum of even and one of odd terms, added and subtracted.
 *
 * Kernels define OUT_TILE (m) before this text; hosts include it for the matrices alone. */

#define NT_WINOGRAD_INPUT_2  {{1, 0, -1, 0}, {0, 1, 1, 0}, {0, -1, 1, 0}, {0, 1, 0, -1}}
#define NT_WINOGRAD_WEIGHT_2 {{1, 0, 0}, {1. / 2, 1. / 2, 1. / 2}, {1. / 2, -1. / 2, 1. / 2}, {0, 0, 1}}
#define NT_WINOGRAD_OUTPUT_2 {{1, 1, 1, 0}, {0, 1, -1, -1}}

/* clang-format off */
#define NT_WINOGRAD_INPUT_4  {{4, 0, -5, 0, 1, 0}, {0, -4, -4, 1, 1, 0}, {0, 4, -4, -1, 1, 0}, \
                              {0, -2, -1, 2, 1, 0}, {0, 2, -1, -2, 1, 0}, {0, 4, 0, -5, 0, 1}}
#define NT_WINOGRAD_WEIGHT_4 {{1. / 4, 0, 0}, {-1. / 6, -1. / 6, -1. / 6}, {-1. / 6, 1. / 6, -1. / 6}, \
                              {1. / 24, 1. / 12, 1. / 6}, {1. / 24, -1. / 12, 1. / 6}, {0, 0, 1}}
#define NT_WINOGRAD_OUTPUT_4 {{1, 1, 1, 1, 1, 0}, {0, 1, -1, 2, -2, 0}, {0, 1, 1, 4, 4, 0}, {0, 1, -1, 8, -8, 1}}
/* clang-format on */

#ifdef OUT_TILE
#define PATCH  (OUT_TILE + 2) /* inputs and places along a side */
#define PLACES (PATCH * PATCH)

#if OUT_TILE == 2
#define WINOGRAD_INPUT  NT_WINOGRAD_INPUT_2
#define WINOGRAD_WEIGHT NT_WINOGRAD_WEIGHT_2
#define WINOGRAD_OUTPUT NT_WINOGRAD_OUTPUT_2
#else
#define WINOGRAD_INPUT  NT_WINOGRAD_INPUT_4
#define WINOGRAD_WEIGHT NT_WINOGRAD_WEIGHT_4
#define WINOGRAD_OUTPUT NT_WINOGRAD_OUTPUT_4
#endif

/* sum + factor x, where loops are unrolled and factors are constants: nothing for 0, no multiplication for 1 and -1. */
NT_INLINE float add_scaled(float sum, float factor, float x)
{
    return factor == 0.0f ? sum : factor == 1.0f ? sum + x : factor == -1.0f ? sum - x : sum + factor * x;
}

/* The terms of a row whose column is even, or odd. */
NT_INLINE float half_row(const float row[PATCH], const float d[PATCH], int odd)
{
    float sum = 0.0f;
    bool begun = false;
#pragma unroll
    for (int j = 0; j < PATCH; j++)
        if (j % 2 == odd && row[j] != 0.0f) {
            sum = begun ? add_scaled(sum, row[j], d[j]) : row[j] * d[j];
            begun = true;
        }
    return sum;
}

/* d = B^T d of one column or row. */
NT_INLINE void transform_input_pass(float d[PATCH])
{
    const float m[PATCH][PATCH] = WINOGRAD_INPUT;
    float v[PATCH];
    v[0] = half_row(m[0], d, 0);
    v[PATCH - 1] = half_row(m[PATCH - 1], d, 1);
#pragma unroll
    for (int i = 1; i < PATCH - 1; i += 2) {
        float even = half_row(m[i], d, 0), odd = half_row(m[i], d, 1);
        v[i] = even + odd;
        v[i + 1] = even - odd;
    }
#pragma unroll
    for (int i = 0; i < PATCH; i++)
        d[i] = v[i];
}

/* B^T d B in place; d[PATCH y + x]. */
NT_INLINE void transform_input(float d[PLACES])
{
#pragma unroll
    for (int x = 0; x < PATCH; x++) {
        float column[PATCH];
#pragma unroll
        for (int y = 0; y < PATCH; y++)
            column[y] = d[PATCH * y + x];
        transform_input_pass(column);
#pragma unroll
        for (int y = 0; y < PATCH; y++)
            d[PATCH * y + x] = column[y];
    }
#pragma unroll
    for (int y = 0; y < PATCH; y++)
        transform_input_pass(d + PATCH * y);
}

/* y = A^T v of one column or row. */
NT_INLINE void transform_output_pass(const float v[PATCH], float y[OUT_TILE])
{
    const float m[OUT_TILE][PATCH] = WINOGRAD_OUTPUT;
#pragma unroll
    for (int i = 0; i < OUT_TILE; i++) {
        float sum = i == 0 ? v[0] : 0.0f;
#pragma unroll
        for (int j = 1; j < PATCH - 1; j += 2) {
            float pair = i % 2 ? v[j] - v[j + 1] : v[j] + v[j + 1];
            sum = i > 0 && j == 1 ? pair : add_scaled(sum, m[i][j], pair);
        }
        y[i] = i == OUT_TILE - 1 ? add_scaled(sum, m[i][PATCH - 1], v[PATCH - 1]) : sum;
    }
}

/* y = A^T m A; y[OUT_TILE row + column]. */
NT_INLINE void transform_output(const float m[PLACES], float y[OUT_TILE * OUT_TILE])
{
    float rows[OUT_TILE][PATCH];
#pragma unroll
    for (int x = 0; x < PATCH; x++) {
        float column[PATCH], sums[OUT_TILE];
#pragma unroll
        for (int i = 0; i < PATCH; i++)
            column[i] = m[PATCH * i + x];
        transform_output_pass(column, sums);
#pragma unroll
        for (int i = 0; i < OUT_TILE; i++)
            rows[i][x] = sums[i];
    }
#pragma unroll
    for (int i = 0; i < OUT_TILE; i++)
        transform_output_pass(rows[i], y + OUT_TILE * i);
}

/* Place `place` of G g G^T; taps lie `step` apart. In double, so that a weight is rounded once. */
NT_INLINE double transformed_weight(const nt_elem *g, long long step, int place)
{
    const double m[PATCH][3] = WINOGRAD_WEIGHT;
    double sum = 0.0;
#pragma unroll
    for (int t = 0; t < 9; t++)
        sum += m[place / PATCH][t / 3] * m[place % PATCH][t % 3] * (double)nt_to_f32(g[t * step]);
    return sum;
}
#endif
