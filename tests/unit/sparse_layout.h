/* sparse_layout.h: where metadata of 2:4 sparse operands lies, from the PTX ISA (matrix fragments for sparse
 * mma.m16n8k32 with 16-bit and m16n8k64 with 8-bit elements; the same for the 16 rows of each warp of wgmma), not from
 * a kernel.
 *
 * 16-bit elements, k = 32: threads 0 and 1 of each group of four contribute with selector 0, threads 2 and 3 with 1.
 * The low half of a word is row groupID, the high half row groupID + 8; the first thread has columns 0 to 15, the
 * second 16 to 31. 8-bit elements, k = 64: all threads contribute, selector 0. Threads 0 and 2 have row groupID, 1 and
 * 3 row groupID + 8; threads 0 and 1 columns 0 to 31, 2 and 3 columns 32 to 63. Four bits are one chunk of four
 * columns: two indices, the lower first. */
#ifndef NT_TEST_SPARSE_LAYOUT_H
#define NT_TEST_SPARSE_LAYOUT_H

typedef struct sparse_place {
    int lane, bit; /* of the warp; of its word */
} sparse_place;

/* The four bits of row 0 to 15 and the chunk that holds column k. */
static inline sparse_place sparse_place_of(int elem_bytes, int selector, int row, int k)
{
    if (elem_bytes == 2)
        return (sparse_place){row % 8 * 4 + 2 * selector + k / 16, row / 8 * 16 + k % 16 / 4 * 4};
    return (sparse_place){row % 8 * 4 + k / 32 * 2 + row / 8, k % 32 / 4 * 4};
}

#endif
