/* Runs the texts that fuzzing starts from, and every prefix of them, through the same checks, without a fuzzer. */
#include <dirent.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#define LLVMFuzzerTestOneInput fuzz_formats
#include "../fuzz/fuzz_formats.c"
#undef LLVMFuzzerTestOneInput
#define LLVMFuzzerTestOneInput fuzz_t1
#include "../fuzz/fuzz_t1.c"

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

static void run_folder(const char *name, target_fn *target)
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
    assert_true(files >= 3);
}

static void formats(void **state)
{
    (void)state;
    run_folder("formats", fuzz_formats);
}

static void t1_files(void **state)
{
    (void)state;
    run_folder("t1", fuzz_t1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(formats), cmocka_unit_test(t1_files)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
