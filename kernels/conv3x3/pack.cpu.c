/* pack.cpu.c: the untimed preparation of the direct and im2col convolutions.
 *
 * Weights become [block of BLOCK output channels][block of c_block input channels][tap][word][lane], so that a tile
 * reads them in one forward stream. Missing channels are zeros. With the VNNI offset a bias per output channel follows,
 * -128 times the sum of its weights: what the offset inputs add, padding included, is taken out at the start. */

/* args: weight, packed, c, k, c_block. One work item packs the weights of one block of output channels. */
void pack_weights(void *const *args, int64_t begin, int64_t end, int32_t thread, int32_t threads);

COLD void pack_channel(const element *weight, int64_t c, int64_t c_block, packed_weight_alias *to, int32_t *sum)
{
    for (int64_t first = 0; first < c; first += c_block) {
        int64_t channels = least(c_block, c - first);
        for (int64_t tap = 0; tap < 9; tap++) {
            for (int64_t i = 0; i < channels; i++) {
                element w = NHWC ? weight[tap * c + first + i] : weight[(first + i) * 9 + tap];
                to[i / STEP * BLOCK * STEP + i % STEP] = (packed_weight)w;
                *sum += (int32_t)w;
            }
            to += round_up(channels, STEP) * BLOCK;
        }
    }
}

__attribute__((cold)) void pack_weights(void *const *args, int64_t begin, int64_t end, int32_t thread, int32_t threads)
{
    const element *weight = argument_pointer(args, 0);
    word *packed = argument_pointer(args, 1);
    int64_t c = argument_int(args, 2), k = argument_int(args, 3), c_block = argument_int(args, 4);
    int64_t words = 9 * (round_up(c, STEP) / STEP);
    int32_alias *bias = (int32_alias *)(packed + round_up(k, BLOCK) * words);
    (void)thread, (void)threads;

    for (int64_t item = begin; item < end; item++) {
        word *block = packed + item * words * BLOCK;
        memset(block, 0, (size_t)(words * BLOCK) * sizeof *block);
        for (int64_t lane = 0; lane < BLOCK; lane++) {
            int64_t channel = item * BLOCK + lane;
            int32_t sum = 0;
            if (channel < k)
                pack_channel(weight + channel * 9 * c, c, c_block, (packed_weight_alias *)(block + lane), &sum);
            if (OFFSET)
                bias[channel] = -OFFSET * sum;
        }
    }
}
