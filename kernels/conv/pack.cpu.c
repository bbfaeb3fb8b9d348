/* pack.cpu.c: the untimed preparation of the convolutions.
 *
 * Weights become [block of BLOCK output channels][block of c_block input channels][tap][word][lane], so that a tile
 * reads them in one forward stream. Missing channels are zeros. Behind them lies a word an output channel: with the
 * VNNI offset a bias, -128 times the sum of the channel's weights, which takes out what the offset inputs add, padding
 * included. Behind these, for an epilogue, the scales and the shifts of batch norm. */

#define EPSILON 1e-5f

/* args: weight, packed, c, k, c_block. One work item packs the weights of one block of output channels. */
void pack_weights(void *const *args, int64_t begin, int64_t end, int32_t thread, int32_t threads);

COLD void pack_channel(const element *weight, int64_t c, int64_t c_block, packed_weight_alias *to, int32_t *sum)
{
    for (int64_t first = 0; first < c; first += c_block) {
        int64_t channels = least(c_block, c - first);
        for (int64_t tap = 0; tap < ALL_TAPS; tap++) {
            for (int64_t i = 0; i < channels; i++) {
                element w = NHWC ? weight[tap * c + first + i] : weight[(first + i) * ALL_TAPS + tap];
                to[i / STEP * BLOCK * STEP + i % STEP] = weight_of(w);
                *sum += OFFSET ? (int32_t)w : 0;
            }
            to += round_up(channels, STEP) * BLOCK;
        }
    }
}

/* gamma, beta, mean and variance follow the filters. */
COLD void pack_norm(const element *norm, int64_t k, int64_t channel, int64_t padded, float *to)
{
    float scale = 0, shift = 0;
    if (channel < k) {
        scale = number_of(norm[channel]) / __builtin_sqrtf(number_of(norm[3 * k + channel]) + EPSILON);
        shift = number_of(norm[k + channel]) - number_of(norm[2 * k + channel]) * scale;
    }
    to[channel] = scale;
    to[padded + channel] = shift;
}

__attribute__((cold)) void pack_weights(void *const *args, int64_t begin, int64_t end, int32_t thread, int32_t threads)
{
    const element *weight = argument_pointer(args, 0);
    word *packed = argument_pointer(args, 1);
    int64_t c = argument_int(args, 2), k = argument_int(args, 3), c_block = argument_int(args, 4);
    int64_t words = ALL_TAPS * (round_up(c, STEP) / STEP), padded = round_up(k, BLOCK);
    int32_alias *bias = (int32_alias *)(packed + padded * words);
    (void)thread, (void)threads;

    for (int64_t item = begin; item < end; item++) {
        word *block = packed + item * words * BLOCK;
        memset(block, 0, (size_t)(words * BLOCK) * sizeof *block);
        for (int64_t lane = 0; lane < BLOCK; lane++) {
            int64_t channel = item * BLOCK + lane;
            int32_t sum = 0;
            if (channel < k)
                pack_channel(weight + channel * ALL_TAPS * c, c, c_block, (packed_weight_alias *)(block + lane), &sum);
            if (OFFSET)
                bias[channel] = -OFFSET * sum;
            if (EPILOGUE == 1 || CHAIN)
                pack_norm(weight + k * ALL_TAPS * c, k, channel, padded, (float *)(bias + padded));
        }
    }
}
