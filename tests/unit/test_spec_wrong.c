/* test_spec_wrong.c: specs that are wrong anywhere: every value of good ones replaced by each of many others, every key
 * misspelt or missing, cut at any byte. Each is read or refused with its file and a reason; none does anything else. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "core/text_file.h"
#include "spec_files.h"

static const char *const values[] = {"null",
                                     "true",
                                     "-1",
                                     "0",
                                     "1e300",
                                     "9223372036854775807",
                                     "\"\"",
                                     "\"x\"",
                                     "\"1 // 0\"",
                                     "\"[1] * 10 ** 9\"",
                                     "\"{\"",
                                     "\"../../../../etc/passwd\"",
                                     "[]",
                                     "{}",
                                     "[[1, 2], {\"a\": []}]",
                                     "[1, 1, \"1\", 1.5, true, null]"};
enum { VALUES = sizeof values / sizeof values[0] };

static int refused, taken;

static void try_spec(const char *text, size_t length)
{
    const nt_spec *spec = NULL;
    nt_error err = {0};
    remove(spec_file("spec.json")); /* writing over it would wait for the disk each time */
    FILE *file = fopen(spec_file("spec.json"), "wb");
    assert_non_null(file);
    assert_int_equal(fwrite(text, 1, length, file), length);
    assert_int_equal(fclose(file), 0);
    nt_status status = nt_spec_load(spec_file("spec.json"), &spec, &err);
    if (status == NT_OK) {
        nt_problem problem = {.batch = 1, .precision = spec->precision, .shape = spec->sizes};
        nt_copy(problem.layer, sizeof problem.layer, spec->layer.name);
        nt_config config;
        nt_plan plan;
        nt_extents extents;
        nt_device_info device;
        nt_device_info_init(&device, spec->device);
        nt_kernel_default_config(&spec->kernel, &config);
        (void)spec->layer.extents(&problem, &extents, &err);
        (void)spec->kernel.plan(&problem, &config, &device, &plan, &err);
        taken++;
    } else {
        if (status != NT_USAGE || strstr(err.what, "spec.json") == NULL)
            fail_msg("status %d, '%s' of %.*s", status, err.what, (int)length, text);
        refused++;
    }
    nt_spec_forget_all();
}

static void try_json(const json_t *root)
{
    char *text = json_dumps(root, 0);
    try_spec(text, strlen(text));
    free(text);
}

/* Puts each value in the place of each node of `at`, a part of `root`; and each key away or misspelt. */
static void vary(json_t *root, json_t *at)
{
    const char *key;
    json_t *child;
    void *next;
    for (size_t i = 0; i < json_array_size(at); i++) {
        json_t *kept = json_incref(json_array_get(at, i));
        for (int v = 0; v < VALUES; v++) {
            json_array_set_new(at, i, json_loads(values[v], JSON_DECODE_ANY, NULL));
            try_json(root);
        }
        json_array_set(at, i, kept);
        json_decref(kept);
        vary(root, json_array_get(at, i));
    }
    json_object_foreach_safe(at, next, key, child)
    {
        char misspelt[64];
        json_t *kept = json_incref(child);
        for (int v = 0; v < VALUES; v++) {
            json_object_set_new(at, key, json_loads(values[v], JSON_DECODE_ANY, NULL));
            try_json(root);
        }
        snprintf(misspelt, sizeof misspelt, "%.40s_", key);
        json_object_set(at, key, kept);
        json_object_set(at, misspelt, kept);
        try_json(root);
        json_object_del(at, misspelt);
        vary(root, kept);
        json_decref(kept);
    }
}

static json_t *read_spec(const char *folder, const char *name)
{
    static const char *const sources[] = {"softmax.c", "reference.c", "scale_bias.cu"};
    char path[128], *text;
    size_t length;
    for (size_t i = 0; i < sizeof sources / sizeof sources[0]; i++) {
        snprintf(path, sizeof path, "docs/examples/%s/%s", folder, sources[i]);
        if (nt_text_file_read(path, 1 << 20, &text, &length, NULL) != NT_OK)
            continue;
        spec_write(sources[i], text);
        free(text);
    }
    snprintf(path, sizeof path, "docs/examples/%s/%s", folder, name);
    json_t *root = json_load_file(path, 0, NULL);
    assert_non_null(root);
    return root;
}

static void any_value_may_be_wrong(void **state)
{
    (void)state;
    static const char *const examples[][2] = {{"softmax", "softmax.json"}, {"scale_bias", "scale_bias.json"}};
    for (size_t i = 0; i < 2; i++) {
        json_t *root = read_spec(examples[i][0], examples[i][1]);
        refused = taken = 0;
        try_json(root);
        assert_int_equal(taken, 1);
        vary(root, root);
        assert_true(refused > 800);
        try_json(root); /* as it was */
        assert_true(taken > 1);
        json_decref(root);
    }
}

static void a_file_may_end_anywhere(void **state)
{
    (void)state;
    json_t *root = read_spec("softmax", "softmax.json");
    char *text = json_dumps(root, JSON_INDENT(1));
    refused = 0;
    for (size_t cut = 0; cut < strlen(text); cut++)
        try_spec(text, cut);
    assert_int_equal(refused, strlen(text));
    free(text);
    json_decref(root);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(any_value_may_be_wrong, spec_files_open, spec_files_close),
        cmocka_unit_test_setup_teardown(a_file_may_end_anywhere, spec_files_open, spec_files_close),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
