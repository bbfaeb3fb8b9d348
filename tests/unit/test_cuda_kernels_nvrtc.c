/* test_cuda_kernels_nvrtc.c: every CUDA kernel compiles for every architecture it claims, and what it then needs.
 *
 * Each registered kernel's default configuration, and each layer's fp64 reference, goes through NVRTC; no GPU is
 * needed. Registers, spills and static shared memory are compared with tests/golden/cuda_resources.txt, so that a
 * change of them is seen when it is made. After a wanted change run this program with --refresh.
 * Without NVRTC there is nothing to test, and the program says so. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "device/nvrtc.h"
#include "kernels/kernel.h"

#define GOLDEN "tests/golden/cuda_resources.txt"
#define HEAD "# kernel precision layout architecture registers spill_bytes smem_static_bytes, compiled by "

static bool refresh;

static const int capabilities[] = {75, 80, 86, 89, 90, 100, 120};
enum { CAPABILITIES = sizeof capabilities / sizeof capabilities[0] };

/* What was found, one line a compile, in the golden file's form; and what went wrong. */
typedef struct report {
    nt_nvrtc_about about;
    char compiler[96];
    nt_str found, failures;
    int compiled;
} report;

static void compile_one(report *r, const char *what, const char *source, const char *options, const char *arch)
{
    nt_compile_request request = {.kind = NT_DEVICE_CUDA, .name = "kernel", .source = source, .options = options,
                                  .arch = arch, .compiler = r->compiler, .features = "", .deadline_s = 60.0};
    nt_compiled compiled;
    nt_error err;
    if (nt_compile_nvrtc.compile(&request, &compiled, &err) != NT_OK) {
        nt_str_addf(&r->failures, "%s %s: %s\n", what, arch, err.what);
        return;
    }
    r->compiled++;
    nt_str_addf(&r->found, "%s %s %lld %lld %lld\n", what, arch, (long long)compiled.registers,
                (long long)compiled.spill_bytes, (long long)compiled.smem_static_bytes);
    nt_compiled_done(&compiled);
}

/* Architectures of a row: those from its minimum on that this NVRTC knows. Instructions of one architecture alone
 * (sm_90a) exist on no other. */
static bool serves(const report *r, int64_t minimum, bool arch_specific, int capability)
{
    if (!nt_nvrtc_knows(&r->about, capability))
        return false;
    return arch_specific ? capability == minimum : capability >= minimum;
}

static nt_problem problem_of(const nt_layer *layer, int precision, int layout)
{
    nt_problem problem = {.batch = 8, .precision = (nt_precision)precision, .layout = (nt_layout)layout};
    nt_copy(problem.layer, sizeof problem.layer, layer->name);
    assert_int_equal(nt_shape_parse(layer->shapes[0].dims, &problem.shape, NULL), NT_OK);
    return problem;
}

static void compile_kernel(report *r, const nt_kernel *kernel, int precision, int layout)
{
    nt_problem problem = problem_of(nt_layer_find(kernel->layer), precision, layout);
    if (kernel->refuses != NULL && kernel->refuses(&problem) != NULL)
        return;
    nt_config config;
    nt_str options = {0}, what = {0};
    nt_kernel_default_config(kernel, &config);
    nt_kernel_options(kernel, &problem, &config, &options);
    nt_str_addf(&what, "%s.%s %s %s", kernel->layer, kernel->name, nt_precisions[precision].name,
                nt_layout_name(problem.layout));
    char *source = nt_kernel_source(kernel);
    for (int i = 0; i < CAPABILITIES; i++) {
        char arch[16];
        snprintf(arch, sizeof arch, "sm_%d%s", capabilities[i], kernel->arch_specific ? "a" : "");
        if (serves(r, kernel->min_compute_capability, kernel->arch_specific, capabilities[i]))
            compile_one(r, nt_str_text(&what), source, nt_str_text(&options), arch);
    }
    free(source);
    nt_str_done(&options);
    nt_str_done(&what);
}

static void compile_kernels(report *r)
{
    for (int i = 0; i < nt_kernel_count; i++)
        for (int precision = 0; precision < NT_PRECISION_COUNT; precision++)
            for (int layout = 0; layout < NT_LAYOUT_COUNT; layout++) {
                const nt_kernel *kernel = nt_kernels[i];
                bool served = kernel->device == NT_DEVICE_CUDA && (kernel->precisions & NT_BIT(precision)) != 0 &&
                              (kernel->layouts & NT_BIT(layout)) != 0;
                if (served && kernel->source[0] != NULL) /* a vendor row has none */
                    compile_kernel(r, kernel, precision, layout);
            }
}

static void compile_references(report *r)
{
    for (int i = 0; i < nt_layer_count; i++)
        for (int j = 0; j < CAPABILITIES; j++) {
            char what[96], arch[16];
            snprintf(what, sizeof what, "%s.reference fp64 any", nt_layers[i]->name);
            snprintf(arch, sizeof arch, "sm_%d", capabilities[j]);
            if (nt_layers[i]->reference_cuda_source != NULL && nt_nvrtc_knows(&r->about, capabilities[j]))
                compile_one(r, what, nt_layers[i]->reference_cuda_source, "", arch);
        }
}

/* ---- the golden file --------------------------------------------------------------------------------------------- */

static char *read_golden(void)
{
    FILE *file = fopen(GOLDEN, "r");
    nt_str text = {0};
    char line[256];
    while (file != NULL && fgets(line, sizeof line, file) != NULL)
        nt_str_add(&text, line);
    if (file != NULL)
        fclose(file);
    return text.data;
}

static void write_golden(const report *r)
{
    FILE *file = fopen(GOLDEN, "w");
    if (file == NULL)
        fail_msg("%s cannot be written; run this from the top of the source tree", GOLDEN);
    fprintf(file, HEAD "%s\n%s", r->compiler, nt_str_text(&r->found));
    fclose(file);
}

/* The line of `text` that begins with the first `length` characters of `key`; NULL when there is none. */
static const char *line_of(const char *text, const char *key, size_t length)
{
    for (const char *line = text; line != NULL && *line != '\0';) {
        if (strncmp(line, key, length) == 0)
            return line;
        line = strchr(line, '\n');
        line = line != NULL ? line + 1 : NULL;
    }
    return NULL;
}

/* The part of a line that names the compile: its first four words and the blanks after them. */
static size_t key_length(const char *line)
{
    size_t length = 0;
    for (int words = 0; words < 4; words++) {
        length += strcspn(line + length, " \n");
        length += strspn(line + length, " ");
    }
    return length;
}

/* Adds the lines of `a` that `b` has otherwise or not at all. */
static void add_differences(nt_str *out, const char *a, const char *b, bool report_changed)
{
    for (const char *line = a; *line != '\0'; line += strcspn(line, "\n"), line += *line == '\n') {
        size_t key = key_length(line), length = strcspn(line, "\n");
        const char *other = line_of(b, line, key);
        if (other == NULL)
            nt_str_addf(out, "%.*s: only %s\n", (int)length, line, report_changed ? "recorded" : "found now");
        else if (report_changed && strncmp(line, other, length + 1) != 0)
            nt_str_addf(out, "%.*s: was %.*s, is %.*s\n", (int)key - 1, line, (int)(length - key), line + key,
                        (int)(strcspn(other, "\n") - key), other + key);
    }
}

static void compare_golden(const report *r)
{
    char *golden = read_golden();
    size_t head = strlen(HEAD);
    if (golden == NULL || strncmp(golden, HEAD, head) != 0)
        fail_msg("%s is missing or damaged; run this program with --refresh from the top of the source tree", GOLDEN);
    char *body = strchr(golden, '\n');
    *body++ = '\0';
    if (strcmp(golden + head, r->compiler) != 0) {
        print_message("resources not compared: recorded by %s, this is %s\n", golden + head, r->compiler);
    } else {
        nt_str changes = {0};
        add_differences(&changes, body, nt_str_text(&r->found), true);
        add_differences(&changes, nt_str_text(&r->found), body, false);
        if (changes.length > 0)
            fail_msg("registers, spill bytes or static shared bytes changed; --refresh records them:\n%s",
                     changes.data);
        nt_str_done(&changes);
    }
    free(golden);
}

static void kernels_compile_for_every_architecture(void **state)
{
    (void)state;
    report r = {.compiled = 0};
    nt_error err;
    if (nt_nvrtc_describe(&r.about, &err) != NT_OK) {
        print_message("skipped: %s\n", err.what);
        skip();
    }
    assert_int_equal(nt_compile_nvrtc.identity(r.compiler, sizeof r.compiler, &err), NT_OK);
    compile_kernels(&r);
    compile_references(&r);
    if (r.failures.length > 0)
        fail_msg("does not compile:\n%s", r.failures.data);
    assert_true(r.compiled > 0);
    if (refresh)
        write_golden(&r);
    else
        compare_golden(&r);
    nt_str_done(&r.found);
    nt_str_done(&r.failures);
}

static void differences_are_told_with_old_and_new_values(void **state)
{
    (void)state;
    static const char recorded[] = "a.b fp32 nhwc sm_75 10 0 0\n"
                                   "a.b fp32 nhwc sm_80 10 0 0\n"
                                   "a.c fp32 nhwc sm_80 9 0 0\n";
    static const char found[] = "a.b fp32 nhwc sm_75 10 0 0\n"
                                "a.b fp32 nhwc sm_80 12 8 0\n"
                                "a.d fp32 nhwc sm_80 9 0 0\n";
    nt_str changes = {0};
    add_differences(&changes, recorded, found, true);
    add_differences(&changes, found, recorded, false);
    assert_string_equal(nt_str_text(&changes), "a.b fp32 nhwc sm_80: was 10 0 0, is 12 8 0\n"
                                               "a.c fp32 nhwc sm_80 9 0 0: only recorded\n"
                                               "a.d fp32 nhwc sm_80 9 0 0: only found now\n");
    nt_str_done(&changes);
}

int main(int argc, char **argv)
{
    refresh = argc == 2 && strcmp(argv[1], "--refresh") == 0;
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(differences_are_told_with_old_and_new_values),
        cmocka_unit_test(kernels_compile_for_every_architecture),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
