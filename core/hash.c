/* hash.c: content hashes over the xxhash library's XXH3-128, written as hex of its canonical (big endian) form, so that
 * a key is the same on every machine. */
#include "core/hash.h"

#define XXH_INLINE_ALL
#include <xxhash.h>

#include <string.h>

static void write_hex(XXH128_hash_t hash, char out[NT_KEY_BYTES])
{
    static const char digits[] = "0123456789abcdef";
    XXH128_canonical_t canonical;
    XXH128_canonicalFromHash(&canonical, hash);
    for (size_t i = 0; i < sizeof canonical.digest; i++) {
        out[2 * i] = digits[canonical.digest[i] >> 4];
        out[2 * i + 1] = digits[canonical.digest[i] & 15];
    }
    out[NT_KEY_BYTES - 1] = '\0';
}

void nt_hash_bytes(const void *data, size_t bytes, char out[NT_KEY_BYTES])
{
    write_hex(XXH3_128bits(data, bytes), out);
}

void nt_hash_texts(const char *const *texts, int count, char out[NT_KEY_BYTES])
{
    XXH3_state_t state;
    memset(&state, 0, sizeof state);
    XXH3_128bits_reset(&state);
    for (int i = 0; i < count; i++) {
        uint64_t length = strlen(texts[i]);
        unsigned char prefix[8];
        for (int b = 0; b < 8; b++)
            prefix[b] = (unsigned char)(length >> (8 * b));
        XXH3_128bits_update(&state, prefix, sizeof prefix);
        XXH3_128bits_update(&state, texts[i], length);
    }
    write_hex(XXH3_128bits_digest(&state), out);
}
