/* pool.cpu.c: maximum (NT_POOL_MAX) or average over windows. A work item is one row of outputs of one block of channels.
 * NHWC runs vectors along the channels; NCHW reduces the window's rows into one line, vectors along the columns, and
 * then the line's columns; a window that is the whole plane is reduced straight through.
 *
 * args: in, out, batch, c, h, w, out_h, out_w, window_h, window_w, stride, pad, c_block */

#ifdef NT_POOL_MAX
#define START (-__builtin_inff())
#define JOIN(a, b) ((a) > (b) ? (a) : (b))
#define JOIN_VEC(a, b) vec_max(a, b)
#else
#define START 0.0f
#define JOIN(a, b) ((a) + (b))
#define JOIN_VEC(a, b) ((a) + (b))
#endif

typedef struct pool {
    int64_t n, c, h, w, out_h, out_w, window_h, window_w, stride, pad, c_block;
    float scale;
} pool;

/* Rows or columns of one window that exist. */
typedef struct range {
    int64_t begin, end;
} range;

void pool_rows(void *const *args, int64_t begin, int64_t end, int32_t thread, int32_t threads);

INLINE range range_of(int64_t o, int64_t window, int64_t size, const pool *p)
{
    int64_t begin = o * p->stride - p->pad, end = begin + window;
    return (range){begin < 0 ? 0 : begin, end > size ? size : end};
}

INLINE float finish(float x, const pool *p)
{
#ifdef NT_POOL_MAX
    (void)p;
    return x;
#else
    return x * p->scale;
#endif
}

INLINE vec finish_vec(vec x, const pool *p)
{
#ifdef NT_POOL_MAX
    (void)p;
    return x;
#else
    return x * vec_of(p->scale);
#endif
}

/* `count` vectors of channels of one output; `at` is the first channel of the image's first pixel. */
INLINE void channels(const pool *p, const element *at, range y, range x, int count, result *to)
{
    vec sum[UNROLL];
    for (int u = 0; u < count; u++)
        sum[u] = vec_of(START);
    for (int64_t row = y.begin; row < y.end; row++)
        for (int64_t column = x.begin; column < x.end; column++) {
            const element *from = at + (row * p->w + column) * p->c;
            REPEAT(4) for (int u = 0; u < count; u++) sum[u] = JOIN_VEC(sum[u], vec_load(from + u * LANES));
        }
    for (int u = 0; u < count; u++)
        vec_store(to + u * LANES, finish_vec(sum[u], p));
}

static void nhwc_row(const pool *p, const element *image, int64_t oy, int64_t first, int64_t last, result *out)
{
    range y = range_of(oy, p->window_h, p->h, p);
    for (int64_t ox = 0; ox < p->out_w; ox++, out += p->c) {
        range x = range_of(ox, p->window_w, p->w, p);
        int64_t k = first;
        for (; k + UNROLL * LANES <= last; k += UNROLL * LANES)
            channels(p, image + k, y, x, UNROLL, out + k);
        for (; k + LANES <= last; k += LANES)
            channels(p, image + k, y, x, 1, out + k);
        for (; k < last; k++) {
            float sum = START;
            for (int64_t row = y.begin; row < y.end; row++)
                for (int64_t column = x.begin; column < x.end; column++) {
                    float value = value_of(image[(row * p->w + column) * p->c + k]);
                    sum = JOIN(sum, value);
                }
            out[k] = result_of(finish(sum, p));
        }
    }
}

static float whole_plane(const element *plane, int64_t count)
{
    vec sum[UNROLL];
    float total = START;
    int64_t i = 0;
    for (int u = 0; u < UNROLL; u++)
        sum[u] = vec_of(START);
    for (; i + UNROLL * LANES <= count; i += UNROLL * LANES)
        REPEAT(4) for (int u = 0; u < UNROLL; u++) sum[u] = JOIN_VEC(sum[u], vec_load(plane + i + u * LANES));
    for (int u = 0; u < UNROLL; u++)
        for (int j = 0; j < LANES; j++)
            total = JOIN(total, sum[u][j]);
    for (; i < count; i++) {
        float value = value_of(plane[i]);
        total = JOIN(total, value);
    }
    return total;
}

/* Rows of the window reduced into one line. */
static void line_of(const pool *p, const element *plane, range y, float *line)
{
    int64_t x = 0;
    for (; x + LANES <= p->w; x += LANES) {
        vec sum = vec_of(START);
        for (int64_t row = y.begin; row < y.end; row++)
            sum = JOIN_VEC(sum, vec_load(plane + row * p->w + x));
        vec_store_f32(line + x, sum);
    }
    for (; x < p->w; x++) {
        float sum = START;
        for (int64_t row = y.begin; row < y.end; row++) {
            float value = value_of(plane[row * p->w + x]);
            sum = JOIN(sum, value);
        }
        line[x] = sum;
    }
}

static void nchw_row(const pool *p, const element *plane, int64_t oy, result *out, float *line)
{
    if (p->window_h == p->h && p->window_w == p->w && p->pad == 0) {
        out[0] = result_of(finish(whole_plane(plane, p->h * p->w), p));
        return;
    }
    line_of(p, plane, range_of(oy, p->window_h, p->h, p), line);
    for (int64_t ox = 0; ox < p->out_w; ox++) {
        range x = range_of(ox, p->window_w, p->w, p);
        float sum = START;
        for (int64_t column = x.begin; column < x.end; column++)
            sum = JOIN(sum, line[column]);
        out[ox] = result_of(finish(sum, p));
    }
}

void pool_rows(void *const *args, int64_t begin, int64_t end, int32_t thread, int32_t threads)
{
    const element *in = argument_pointer(args, 0);
    result *out = argument_pointer(args, 1);
    pool p = {.n = argument_int(args, 2),
              .c = argument_int(args, 3),
              .h = argument_int(args, 4),
              .w = argument_int(args, 5),
              .out_h = argument_int(args, 6),
              .out_w = argument_int(args, 7),
              .window_h = argument_int(args, 8),
              .window_w = argument_int(args, 9),
              .stride = argument_int(args, 10),
              .pad = argument_int(args, 11),
              .c_block = argument_int(args, 12)};
    p.scale = 1.0f / (float)(p.window_h * p.window_w);
    float line[NHWC ? 1 : p.w];
    int64_t blocks = (p.c + p.c_block - 1) / p.c_block, items = p.n * p.out_h * blocks;
    (void)thread, (void)threads;
    for (int64_t item = begin; item < end && item < items; item++) {
        int64_t first = item % blocks * p.c_block, last = least(p.c, first + p.c_block);
        int64_t oy = item / blocks % p.out_h, n = item / blocks / p.out_h;
        const element *image = in + n * p.c * p.h * p.w;
        result *to = out + n * p.c * p.out_h * p.out_w;
        if (NHWC)
            nhwc_row(&p, image, oy, first, last, to + oy * p.out_w * p.c);
        else
            for (int64_t k = first; k < last; k++)
                nchw_row(&p, image + k * p.h * p.w, oy, to + (k * p.out_h + oy) * p.out_w, line);
    }
}
