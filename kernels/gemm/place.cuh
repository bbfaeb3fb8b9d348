/* place.cuh: which tile of the result a block computes, where its pixels are, and where the walk along the reduction
 * stands: whole-number arithmetic alone, which tests include on the host. Comes after prelude.cuh. */

/* Tile (m, n) of number `index` among m_tiles x n_tiles. Within a band of `band` rows m runs fastest, so that blocks
 * that run at the same time share operands in L2; band 1 goes row by row. */
NT_INLINE void nt_tile_at(int index, int m_tiles, int n_tiles, int band, int *m, int *n)
{
    int whole = band * n_tiles, first = index / whole * band, within = index % whole;
    int rows = m_tiles - first < band ? m_tiles - first : band;
    *m = first + within % rows;
    *n = within / rows;
}

/* The first input position that output pixel `index` reads; it may lie outside the image. */
typedef struct nt_pixel {
    int image, y, x;
} nt_pixel;

NT_INLINE nt_pixel nt_pixel_at(int index, int out_height, int out_width, int stride, int border)
{
    nt_pixel p;
    int rest = index % (out_height * out_width);
    p.image = index / (out_height * out_width);
    p.y = rest / out_width * stride - border;
    p.x = rest % out_width * stride - border;
    return p;
}

/* A step of the reduction is a filter tap and a block of channels; channels run fastest. */
typedef struct nt_walk {
    int channel, tap, r, s;
} nt_walk;

NT_INLINE nt_walk nt_walk_from(int step, int channel_blocks, int tile_k, int filter_width)
{
    nt_walk w;
    w.tap = step / channel_blocks;
    w.channel = (step - w.tap * channel_blocks) * tile_k;
    w.r = w.tap / filter_width;
    w.s = w.tap - w.r * filter_width;
    return w;
}

NT_INLINE void nt_walk_on(nt_walk *w, int channels, int tile_k, int filter_width)
{
    w->channel += tile_k;
    if (w->channel < channels)
        return;
    w->channel = 0;
    w->tap++;
    if (++w->s == filter_width) {
        w->s = 0;
        w->r++;
    }
}
