/* reference.cu: conv3x3 in fp64 on the device with the magnitudes of Winograd's bounds (conv3x3.h). Comes after the
 * convolutions' reference.cu, whose words it uses, and winograd.cuh, whose matrices it reads.
 *
 * Functions take the outputs m along a tile's side as a constant, 2 or 4, and work on arrays of the larger size. */

#define SIDE_4 6 /* places along a side of F(4x4, 3x3) */

/* |B^T|, |G| and |A^T| of F(m x m, 3 x 3); loops over them are unrolled, so that entries are constants. */
NT_INLINE double input_entry(int m, int i, int j)
{
    const double two[4][4] = NT_WINOGRAD_INPUT_2, four[6][6] = NT_WINOGRAD_INPUT_4;
    return magnitude(m == 2 ? two[i][j] : four[i][j]);
}

NT_INLINE double weight_entry(int m, int i, int j)
{
    const double two[4][3] = NT_WINOGRAD_WEIGHT_2, four[6][3] = NT_WINOGRAD_WEIGHT_4;
    return magnitude(m == 2 ? two[i][j] : four[i][j]);
}

NT_INLINE double output_entry(int m, int i, int j)
{
    const double two[2][4] = NT_WINOGRAD_OUTPUT_2, four[4][6] = NT_WINOGRAD_OUTPUT_4;
    return magnitude(m == 2 ? two[i][j] : four[i][j]);
}

/* to = |B^T| from of one column, or |G| from: entry i is the sum over row i. */
NT_INLINE void spread_inputs(int m, const double *from, double *to)
{
#pragma unroll
    for (int i = 0; i < m + 2; i++) {
        to[i] = 0.0;
#pragma unroll
        for (int j = 0; j < m + 2; j++)
            if (input_entry(m, i, j) != 0.0)
                to[i] += input_entry(m, i, j) * from[j];
    }
}

NT_INLINE void spread_weights(int m, const double *from, double *to)
{
#pragma unroll
    for (int i = 0; i < m + 2; i++) {
        to[i] = 0.0;
#pragma unroll
        for (int j = 0; j < 3; j++)
            if (weight_entry(m, i, j) != 0.0)
                to[i] += weight_entry(m, i, j) * from[j];
    }
}

/* sizes += (|G||g||G^T|) . (|B^T||d||B|) of a patch and a filter of magnitudes, a row of places after another; rows of
 * SIDE_4 and of 3. */
NT_INLINE void add_places(int m, const double *patch, const double *filter, double *sizes)
{
#pragma unroll
    for (int i = 0; i < m + 2; i++) {
        double input_row[SIDE_4], weight_row[3], inputs[SIDE_4], weights[SIDE_4];
#pragma unroll
        for (int x = 0; x < m + 2; x++) {
            input_row[x] = 0.0;
#pragma unroll
            for (int y = 0; y < m + 2; y++)
                if (input_entry(m, i, y) != 0.0)
                    input_row[x] += input_entry(m, i, y) * patch[SIDE_4 * y + x];
        }
#pragma unroll
        for (int x = 0; x < 3; x++) {
            weight_row[x] = 0.0;
#pragma unroll
            for (int y = 0; y < 3; y++)
                if (weight_entry(m, i, y) != 0.0)
                    weight_row[x] += weight_entry(m, i, y) * filter[3 * y + x];
        }
        spread_inputs(m, input_row, inputs);
        spread_weights(m, weight_row, weights);
#pragma unroll
        for (int x = 0; x < m + 2; x++)
            sizes[SIDE_4 * i + x] += inputs[x] * weights[x];
    }
}

/* Adds the products of one channel to the outputs of a tile; rows of 4 and of SIDE_4. */
NT_INLINE void add_outputs(int m, const double *patch, const double *filter, double *sums)
{
#pragma unroll
    for (int y = 0; y < m; y++)
#pragma unroll
        for (int x = 0; x < m; x++)
#pragma unroll
            for (int t = 0; t < 9; t++)
                sums[4 * y + x] += patch[SIDE_4 * (y + t / 3) + x + t % 3] * filter[t];
}

/* |A^T| sizes |A| at one output. */
NT_INLINE double gathered(int m, const double *sizes, int y, int x)
{
    double size = 0.0;
#pragma unroll
    for (int i = 0; i < m + 2; i++)
#pragma unroll
        for (int j = 0; j < m + 2; j++)
            size += output_entry(m, y, i) * output_entry(m, x, j) * sizes[SIDE_4 * i + j];
    return size;
}

/* The tile of outputs and the channel of a thread. */
typedef struct tile_of_thread {
    strides d;
    long long image; /* first element of the image */
    int n, y, x, channel;
} tile_of_thread;

NT_INLINE void load_channel(const tile_of_thread *o, int m, const sizes *q, const float *in, const float *weight, int j,
                            double *patch, double *filter)
{
#pragma unroll
    for (int i = 0; i < (m + 2) * (m + 2); i++) {
        int row = o->y + i / (m + 2) - 1, column = o->x + i % (m + 2) - 1;
        bool inside = row >= 0 && row < q->h && column >= 0 && column < q->w;
        long long at = o->image + ((long long)row * q->w + column) * o->d.in_pixel + j * o->d.in_channel;
        patch[SIDE_4 * (i / (m + 2)) + i % (m + 2)] = inside ? (double)in[at] : 0.0;
    }
#pragma unroll
    for (int t = 0; t < 9; t++)
        filter[t] = (double)weight[(long long)o->channel * q->c * 9 + t * o->d.weight_tap + j * o->d.weight_channel];
}

/* A thread does one tile of m x m outputs of one channel. */
NT_INLINE void reference(int m, const float *in, const float *weight, double *ref, double *abs, const sizes *q, int tiles)
{
    tile_of_thread o;
    int tile = (int)blockIdx.x * THREADS_Y + (int)(q->nchw ? threadIdx.x : threadIdx.y);
    int across = (q->w + m - 1) / m, down = (q->h + m - 1) / m;
    double sums[16], magnitudes[SIDE_4 * SIDE_4];
    o.d = strides_of(q->c, q->k, q->c, q->h * q->w, q->h * q->w, 3, q->nchw);
    o.channel = (int)blockIdx.y * THREADS_X + (int)(q->nchw ? threadIdx.y : threadIdx.x);
    o.n = tile / (across * down);
    o.y = tile / across % down * m;
    o.x = tile % across * m;
    o.image = (long long)o.n * q->c * q->h * q->w;
    if (tile >= tiles || o.channel >= q->k)
        return;
#pragma unroll
    for (int i = 0; i < 16; i++)
        sums[i] = 0.0;
#pragma unroll
    for (int i = 0; i < SIDE_4 * SIDE_4; i++)
        magnitudes[i] = 0.0;
    for (int j = 0; j < q->c; j++) {
        double patch[SIDE_4 * SIDE_4], filter[9];
        load_channel(&o, m, q, in, weight, j, patch, filter);
        add_outputs(m, patch, filter, sums);
#pragma unroll
        for (int i = 0; i < (m + 2) * (m + 2); i++)
            patch[SIDE_4 * (i / (m + 2)) + i % (m + 2)] = magnitude(patch[SIDE_4 * (i / (m + 2)) + i % (m + 2)]);
#pragma unroll
        for (int t = 0; t < 9; t++)
            filter[t] = magnitude(filter[t]);
        add_places(m, patch, filter, magnitudes);
    }
#pragma unroll
    for (int i = 0; i < m * m; i++) {
        int y = o.y + i / m, x = o.x + i % m;
        long long to = o.n * o.d.out_image + ((long long)y * q->w + x) * o.d.out_pixel + o.channel * o.d.out_channel;
        if (y < q->h && x < q->w) {
            ref[to] = sums[4 * (i / m) + i % m];
            if (abs)
                abs[to] = gathered(m, magnitudes, i / m, i % m);
        }
    }
}

#define REFERENCE(name, m)                                                                                             \
    NT_ENTRY void name(const float *__restrict__ in, const float *__restrict__ weight, double *__restrict__ ref,       \
                       double *__restrict__ abs, int tiles, int c, int k, int h, int w, int nchw)                      \
    {                                                                                                                  \
        sizes q = {0, c, k, h, w, h, w, 3, 1, 1, 1, nchw, -1};                                                         \
        reference(m, in, weight, ref, abs, &q, tiles);                                                                 \
    }

REFERENCE(conv3x3_reference_f2, 2)
REFERENCE(conv3x3_reference_f4, 4)
