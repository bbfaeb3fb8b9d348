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

/* ---- stream-K: equal shares of all steps of the last tiles ---- */

/* What one of `sharers` computes of `tiles` tiles of `steps` steps each: whole tiles in turn, as many for each, and of
 * the tiles from `whole` on, between one and two a sharer (all tiles where there are fewer), the steps [begin, end),
 * counted through those tiles. Where there are fewer steps than sharers, the last ones have nothing. */
typedef struct nt_share {
    int tile, sharers, whole; /* next whole tile */
    int begin, end, steps;
} nt_share;

/* Steps [first, first + count) of a tile. */
typedef struct nt_piece {
    int tile, first, count;
} nt_piece;

NT_INLINE int nt_share_whole(int sharers, int tiles)
{
    int waves = tiles / sharers;
    return waves > 1 ? (waves - 1) * sharers : 0;
}

/* The first step of sharer `index`; that of `sharers` is the end. */
NT_INLINE int nt_share_begin(int index, int sharers, int shared_steps)
{
    return (int)((long long)shared_steps * index / sharers);
}

NT_INLINE nt_share nt_share_of(int index, int sharers, int tiles, int steps)
{
    nt_share s;
    int whole = nt_share_whole(sharers, tiles), shared = (tiles - whole) * steps;
    s.tile = index;
    s.whole = whole;
    s.steps = steps;
    s.sharers = sharers < shared ? sharers : shared;
    s.begin = index < s.sharers ? nt_share_begin(index, s.sharers, shared) : 0;
    s.end = index < s.sharers ? nt_share_begin(index + 1, s.sharers, shared) : 0;
    return s;
}

/* The next piece, if there is one: whole tiles, then those of the share from its end to its beginning. So the one whose
 * tile another sharer finishes (nt_piece_ends) comes first and the one that needs others' sums comes last: no one waits
 * for somebody who waits. */
NT_INLINE bool nt_share_next(nt_share *s, nt_piece *p)
{
    if (s->tile < s->whole) {
        p->tile = s->tile;
        p->first = 0;
        p->count = s->steps;
        s->tile += s->sharers;
        return true;
    }
    if (s->begin >= s->end)
        return false;
    int tile = (s->end - 1) / s->steps, from = tile * s->steps;
    if (from < s->begin)
        from = s->begin;
    p->tile = s->whole + tile;
    p->first = from - tile * s->steps;
    p->count = s->end - from;
    s->end = from;
    return true;
}

/* Whoever has the last step of a tile stores it. */
NT_INLINE bool nt_piece_ends(const nt_piece *p, int steps)
{
    return p->first + p->count == steps;
}

/* The first sharer, at most `index`, that has steps of the shared tile that begins with step `from`. */
NT_INLINE int nt_share_first(int index, int sharers, int shared_steps, int from)
{
    while (nt_share_begin(index, sharers, shared_steps) > from)
        index--;
    return index;
}
