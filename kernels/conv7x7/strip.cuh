/* strip.cuh: sizes of strip.cu, the order in which its reduction and its filters come, and the untimed packing of
 * weights in that order. Comes after tensor_core.cuh.
 *
 * The reduction has eight columns a filter row, the first with weights zero, 4 columns left of the output's middle: so
 * every run of words begins at a word and has whole groups of four words, one a lane of a quad, whatever the channels.
 * A step of mma takes two groups. Lines are rows of the image [columns][channels], or of one channel (NT_LAYOUT_NCHW).
 *
 * A unit is 16 outputs of one row. Channels last: a unit is the rows of a tile and filters are its columns, dealt so
 * that a lane's results are neighbouring channels, 16 bytes. Channels first: filters are the rows, and a lane's results
 * are four neighbouring outputs. Which outputs are a tile's rows or columns is chosen so that lanes meet no bank twice.
 */

#ifndef ROWS
#define ROWS       2  /* output rows of a strip */
#define TILES      2  /* units of a warp at a time */
#define WARPS_M    7  /* along outputs */
#define WARPS_N    1  /* along filters */
#define TILE_N     64 /* filters of a block */
#define STAGES     1
#define MIN_BLOCKS 1
#endif
#ifndef C
#define C          3
#define STRIDE     2
#define IMAGE_W    224
#define OUT_W      112
#define COPY_16    1 /* lines are multiples of 16 bytes */
#define OUT_VECTOR 1 /* a lane's neighbouring results may be stored at once */
#endif

#define LARGER(a, b) ((a) > (b) ? (a) : (b))
#define THREADS      (32 * WARPS_M * WARPS_N)
#define BORDER       3
#if defined(NT_PRECISION_FP16) || defined(NT_PRECISION_BF16)
#define BYTES 2
#else
#define BYTES 4
#endif
#define PER_WORD (4 / BYTES)

/* Lines of a strip; STEP elements from one column to the next, LEFT before the first of the image. */
#ifdef NT_LAYOUT_NCHW
#define LINES_A_ROW C
#define STEP        1
#else
#define LINES_A_ROW 1
#define STEP        C
#endif
#define UNITS_A_ROW ((OUT_W + 15) / 16)
#define UNITS       (ROWS * UNITS_A_ROW)
#define LINE        (IMAGE_W * STEP)
#define LEFT        ((4 * STEP * BYTES + 15) / 16 * 16 / BYTES)
#define REACH       (LEFT + (STRIDE * (16 * UNITS_A_ROW - 1) + 4) * STEP)
#define PITCH       ((LARGER(REACH, LEFT + LINE) * BYTES + 15) / 16 * 16)
#define LINES       (((ROWS - 1) * STRIDE + 7) * LINES_A_ROW)
#define STRIP       (LINES * PITCH)

/* Groups of four words; those of a filter row are whole steps, or the groups of all rows are taken together. */
#define GROUPS_A_LINE (8 * STEP / PER_WORD / 4)
#define GROUPS_A_ROW  (GROUPS_A_LINE * LINES_A_ROW)
#define GROUPS        (7 * GROUPS_A_ROW)
#define TURNS         (BYTES == 4 || C % 2 == 0 ? 7 : 1)
#define TURN_STEPS    ((GROUPS / TURNS + 1) / 2)
#define STEPS         (TURNS * TURN_STEPS)

#ifdef NT_PRECISION_FP32
#define PARTS 2
#else
#define PARTS 1
#endif
#define PAIRS        (TILE_N / 16) /* of eight filters */
#define WARP_PAIRS   (PAIRS / WARPS_N)
#define PAIR_BYTES   512
#define PART_BYTES   (STEPS * PAIRS * PAIR_BYTES)
#define WEIGHT_BYTES (PARTS * PART_BYTES)

/* Outputs of a unit: eight a half, the lane's own and HALF_STEP from one half to the other. */
#define OUT_BYTES (STRIDE * STEP * BYTES) /* from one output's window to the next */
#ifdef NT_LAYOUT_NCHW
#define HALF_STEP    2
#define OUTPUT_OF(p) ((p) / 2 * 4 + (p) % 2)
#define NEIGHBOURS   4
#elif OUT_BYTES % 16 == 8 && OUT_BYTES > 8 /* 6 words: every other output, 12 words, takes other banks */
#define HALF_STEP    1
#define OUTPUT_OF(p) ((p)*2)
#define NEIGHBOURS   (16 / BYTES)
#else
#define HALF_STEP    8
#define OUTPUT_OF(p) (p)
#define NEIGHBOURS   (16 / BYTES)
#endif

NT_INLINE void split_f32(unsigned x, unsigned *high, unsigned *low)
{
    *high = nt_round_tf32(x);
    *low = nt_round_tf32(nt_f32_to_bits(nt_bits_to_f32(x) - nt_bits_to_f32(*high)));
}

/* ---- packing, untimed ------------------------------------------------------------------------------------------------ */

/* Filter that is number `column` of octet `octet` of a block. Channels last: columns 2 q and 2 q + 1 of NEIGHBOURS / 2
 * octets are neighbours. */
NT_INLINE int filter_of(int octet, int column)
{
#ifdef NT_LAYOUT_NCHW
    return octet * 8 + column;
#else
    const int octets = NEIGHBOURS / 2;
    return octet / octets * 8 * octets + column / 2 * NEIGHBOURS + octet % octets * 2 + column % 2;
#endif
}

/* The weight of element `element` of group `group`, zero where there is none. */
NT_INLINE nt_elem weight_at(const nt_elem *weight, int filter, int filters, int group, int element)
{
    int line = group / GROUPS_A_LINE, at = group % GROUPS_A_LINE * 4 * PER_WORD + element;
    int row = line / LINES_A_ROW, column = at / STEP - 1;
#ifdef NT_LAYOUT_NCHW
    long long from = (((long long)filter * C + line % C) * 7 + row) * 7 + column;
#else
    long long from = (((long long)filter * 7 + row) * 7 + column) * C + at % STEP;
#endif
    return filter < filters && group < GROUPS && column >= 0 ? weight[from] : (nt_elem)0;
}

/* A thread a word of packed: [block of TILE_N filters][part][step][pair of octets][lane][word of mma]. */
NT_ENTRY void __launch_bounds__(256)
    nt_strip_pack(const nt_elem *__restrict__ weight, unsigned *__restrict__ packed, int filters)
{
    int i = (int)(blockIdx.x * 256 + threadIdx.x), block = (int)blockIdx.y;
    if (i >= WEIGHT_BYTES / 4)
        return;
    int word = i % 4, lane = i / 4 % 32, pair = i / 128 % PAIRS, step = i / 128 / PAIRS % STEPS;
#ifdef NT_LAYOUT_NCHW
    int octet = pair * 2 + word % 2, half = word / 2;
#else
    int octet = pair * 2 + word / 2, half = word % 2;
#endif
    int filter = block * TILE_N + filter_of(octet, lane / 4);
    int turn_groups = GROUPS / TURNS, in_turn = step % TURN_STEPS * 2 + half;
    int group = in_turn < turn_groups ? step / TURN_STEPS * turn_groups + in_turn : GROUPS;
    unsigned bits = 0;
#if PARTS == 2
    unsigned high, low;
    split_f32(nt_f32_to_bits(weight_at(weight, filter, filters, group, lane % 4)), &high, &low);
    bits = i * 4 / PART_BYTES ? low : high;
#elif defined(NT_PRECISION_TF32)
    bits = nt_round_tf32(nt_f32_to_bits(weight_at(weight, filter, filters, group, lane % 4)));
#else
    for (int e = 0; e < 2; e++)
        bits |= (unsigned)weight_at(weight, filter, filters, group, lane % 4 * 2 + e) << 16 * e;
#endif
    packed[(long long)block * (WEIGHT_BYTES / 4) + i] = bits;
}
