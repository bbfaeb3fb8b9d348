/* Content hashes: the published XXH3-128 of the empty input, and that every border between texts counts. */
#include "core/hash.h"

#include "core_check.h"

static void bytes_hash_to_the_published_value(void **state)
{
    (void)state;
    char key[NT_KEY_BYTES];
    nt_hash_bytes("", 0, key);
    assert_string_equal(key, "99aa06d3014798d86001c324468d497f"); /* xxHash's own: XXH3_128bits of nothing, seed 0 */
    nt_hash_bytes("a", 1, key);
    assert_string_equal(key, "a96faf705af16834e6c632b61e964e1f"); /* Python's xxhash 3 */
    assert_int_equal(strlen(key), NT_KEY_BYTES - 1);
}

static void borders_between_texts_count(void **state)
{
    (void)state;
    static const char *const texts[][3] = {
        {"ab", "c", ""}, {"a", "bc", ""}, {"abc", "", ""}, {"", "abc", ""}, {"", "", "abc"}};
    char keys[6][NT_KEY_BYTES];
    for (int i = 0; i < 5; i++)
        nt_hash_texts(texts[i], 3, keys[i]);
    nt_hash_texts(texts[2], 1, keys[5]);
    for (int i = 0; i < 6; i++)
        for (int j = 0; j < i; j++)
            assert_string_not_equal(keys[i], keys[j]);
    char again[NT_KEY_BYTES], other[NT_KEY_BYTES];
    nt_hash_texts((const char *[]){"a", "b"}, 2, again);
    nt_hash_texts((const char *[]){"a", "c"}, 2, other);
    assert_string_not_equal(again, other);
    nt_hash_texts(texts[1], 3, again);
    assert_string_equal(again, keys[1]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(bytes_hash_to_the_published_value),
        cmocka_unit_test(borders_between_texts_count),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
