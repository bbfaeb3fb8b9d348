/* fuzz_formats.c: any bytes as a file of results. Whatever is read is written in every format, and in its own it must
 * be equal, as JSON, to what was read. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "core/json.h"
#include "db/formats/format.h"

enum { FUZZ_FORMATS = 8 };

typedef struct fuzz_writers {
    nt_format_writer writer[FUZZ_FORMATS];
    int count;
} fuzz_writers;

static nt_status fuzz_begin(void *context, nt_foreign_run *run, nt_error *err)
{
    fuzz_writers *all = context;
    (void)err;
    if (all->count > 0)
        abort(); /* a file is one run */
    for (int i = 0; nt_formats[i] != NULL && i < FUZZ_FORMATS; i++) {
        nt_format_begin(&all->writer[i], nt_formats[i], run);
        all->count++;
    }
    return NT_OK;
}

static nt_status fuzz_put(void *context, nt_foreign *result, nt_error *err)
{
    fuzz_writers *all = context;
    const nt_trial *trial = &result->trial;
    (void)err;
    if (all->count == 0 || trial->params_json == NULL || !json_is_object(result->params))
        abort();
    if ((trial->outcome == NT_OUTCOME_OK) != (trial->time_ns >= 0)) /* what the database demands; NAN is not >= 0 */
        abort();
    for (int i = 0; i < all->count; i++)
        nt_format_put(&all->writer[i], result);
    return NT_OK;
}

static void fuzz_compare(const nt_format_writer *writer, const char *text, size_t length)
{
    json_t *before = json_loadb(text, length, JSON_REJECT_DUPLICATES, NULL);
    json_t *after = json_loadb(nt_str_text(&writer->out), writer->out.length, JSON_REJECT_DUPLICATES, NULL);
    if (before != NULL && !json_equal(before, after))
        abort();
    json_decref(before);
    json_decref(after);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    fuzz_writers all = {.count = 0};
    const nt_import_target target = {&all, fuzz_begin, fuzz_put};
    nt_import_report report;
    nt_error err = {0};
    char *text = malloc(size + 1); /* its end is watched by the sanitizer */
    if (text == NULL)
        return 0;
    memcpy(text, data, size);
    text[size] = '\0';
    nt_status status = nt_format_read("fuzz.json", text, size, NULL, &target, &report, &err);
    if (status != NT_OK && err.what[0] == '\0')
        abort(); /* every failure is explained */
    for (int i = 0; i < all.count; i++) {
        nt_format_end(&all.writer[i]);
        if (status == NT_OK && all.writer[i].format == report.format && report.format->container != NULL &&
            !report.cut && report.not_numbers == 0)
            fuzz_compare(&all.writer[i], text, size);
        nt_format_writer_done(&all.writer[i]);
    }
    free(text);
    return 0;
}
