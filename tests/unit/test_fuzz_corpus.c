/* Runs the texts that fuzzing starts from, every prefix of them, and what fuzzing found (reduced to the least that
 * reaches as many edges, packed by tests/fuzz/pack.py) through the same checks, without a fuzzer. */
#include <dirent.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#define LLVMFuzzerTestOneInput fuzz_formats
#include "../fuzz/fuzz_formats.c"
#undef LLVMFuzzerTestOneInput
#define LLVMFuzzerTestOneInput fuzz_t1
#include "../fuzz/fuzz_t1.c"
#undef LLVMFuzzerTestOneInput
#define LLVMFuzzerTestOneInput fuzz_expr
#include "../fuzz/fuzz_expr.c"
#undef LLVMFuzzerTestOneInput
#define LLVMFuzzerTestOneInput fuzz_recorded_space
#include "../fuzz/fuzz_recorded_space.c"
#undef LLVMFuzzerTestOneInput
#define LLVMFuzzerTestOneInput fuzz_bundle
#include "../fuzz/fuzz_bundle.c"

#include "core/text_file.h"
#include "core_check.h"

typedef int target_fn(const uint8_t *data, size_t size);

enum { PREFIX_STEPS = 400, CORPUS_BYTES = 1 << 20 };

/* The target aborts when something is wrong. */
static int run_file(const char *path, target_fn *target)
{
    char *text;
    size_t length;
    nt_error err = {0};
    if (nt_text_file_read(path, CORPUS_BYTES, &text, &length, &err) != NT_OK)
        fail_msg("%s", err.what);
    size_t step = length / PREFIX_STEPS + 1;
    for (size_t cut = 0; cut < length; cut += step)
        target((const uint8_t *)text, cut);
    target((const uint8_t *)text, length);
    free(text);
    return 1;
}

static int run_folder(const char *name, target_fn *target)
{
    char folder[64], path[400];
    int files = 0;
    snprintf(folder, sizeof folder, "tests/fuzz/corpus/%s", name);
    DIR *dir = opendir(folder);
    if (dir == NULL)
        fail_msg("no %s; the test runs in the root of the sources", folder);
    for (struct dirent *entry = readdir(dir); entry != NULL; entry = readdir(dir)) {
        snprintf(path, sizeof path, "%s/%s", folder, entry->d_name);
        if (entry->d_name[0] != '.')
            files += run_file(path, target);
    }
    closedir(dir);
    return files;
}

/* Texts one behind the other, each after its length in four bytes. */
static int run_packed(const char *name, target_fn *target)
{
    char path[64], *packed;
    size_t bytes;
    int texts = 0;
    nt_error err = {0};
    snprintf(path, sizeof path, "tests/fuzz/corpus/%s.gz", name);
    if (nt_text_file_read(path, CORPUS_BYTES, &packed, &bytes, &err) != NT_OK)
        fail_msg("%s", err.what);
    for (size_t at = 0; at < bytes; texts++) {
        const uint8_t *text = (const uint8_t *)packed + at;
        assert_true(bytes - at >= 4);
        size_t length = text[0] | (size_t)text[1] << 8 | (size_t)text[2] << 16 | (size_t)text[3] << 24;
        assert_true(length <= bytes - at - 4);
        target(text + 4, length);
        at += 4 + length;
    }
    free(packed);
    return texts;
}

static const struct {
    const char *name;
    target_fn *target;
} readers[] = {{"t4", fuzz_formats},   {"kernel_tuner", fuzz_formats},
               {"ktt", fuzz_formats},  {"csv", fuzz_formats},
               {"json", fuzz_formats}, {"t1", fuzz_t1},
               {"expr", fuzz_expr},    {"recorded_space", fuzz_recorded_space},
               {"bundle", fuzz_bundle}};

static void what_fuzzing_starts_from(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof readers / sizeof readers[0]; i++)
        assert_true(run_folder(readers[i].name, readers[i].target) >= 1);
    assert_true(fuzz_bundle_launched > 0); /* else the bundles are of an older version */
}

static void what_fuzzing_found(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof readers / sizeof readers[0]; i++)
        assert_true(run_packed(readers[i].name, readers[i].target) >= 20);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(what_fuzzing_starts_from),
                                       cmocka_unit_test(what_fuzzing_found)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
