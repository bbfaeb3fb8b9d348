/* test_cuda_kernels_nvrtc.c: every CUDA kernel compiles for every architecture it claims, and what it then needs.
 *
 * Each registered kernel's default configuration (and `others`), and each layer's fp64 reference, goes through NVRTC;
 * no GPU is needed. Registers, spills and static shared memory are compared with tests/golden/cuda_resources.txt, so
 * that a change of them is seen when it is made. After a wanted change run this program with --refresh.
 * Without NVRTC there is nothing to test, and the program says so. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "core/mem.h"
#include "device/nvrtc.h"
#include "kernels/kernel.h"

#define GOLDEN "tests/golden/cuda_resources.txt"
#define HEAD   "# kernel precision layout architecture registers spill_bytes smem_static_bytes, compiled by "

static bool refresh;

static const int capabilities[] = {75, 80, 86, 89, 90, 100, 120};
enum { CAPABILITIES = sizeof capabilities / sizeof capabilities[0] };

/* One compile, and what came of it. */
typedef struct job {
    char what[96], arch[16];
    char *source, *options;
    int same; /* an earlier job that compiles the same text, or -1 */
    bool ok;
    char result[700]; /* registers, spills, static shared memory; or the compiler's complaint */
} job;

/* What was found, one line a compile, in the golden file's form; and what went wrong. */
typedef struct report {
    nt_nvrtc_about about;
    char compiler[96];
    nt_str found, failures;
    int compiled;
    job *jobs;
    int job_count;
} report;

static int same_as(const report *r, const job *j)
{
    for (int i = 0; i < r->job_count; i++)
        if (r->jobs[i].same < 0 && strcmp(r->jobs[i].arch, j->arch) == 0 &&
            strcmp(r->jobs[i].options, j->options) == 0 && strcmp(r->jobs[i].source, j->source) == 0)
            return i;
    return -1;
}

static void add_job(report *r, const char *what, const char *source, const char *options, const char *arch)
{
    job j = {.source = nt_strdup(source), .options = nt_strdup(options)};
    nt_copy(j.what, sizeof j.what, what);
    nt_copy(j.arch, sizeof j.arch, arch);
    j.same = same_as(r, &j);
    r->jobs = nt_realloc_array(r->jobs, (size_t)r->job_count + 1, sizeof *r->jobs);
    r->jobs[r->job_count++] = j;
}

static void compile_job(const report *r, const job *j, FILE *out, int index)
{
    nt_compile_request request = {.kind = NT_DEVICE_CUDA,
                                  .name = "kernel",
                                  .source = j->source,
                                  .options = j->options,
                                  .arch = j->arch,
                                  .compiler = r->compiler,
                                  .features = "",
                                  .deadline_s = 60.0};
    nt_compiled compiled;
    nt_error err;
    if (nt_compile_nvrtc.compile(&request, &compiled, &err) != NT_OK) {
        fprintf(out, "%d 0 %.600s\n", index, err.what);
        return;
    }
    fprintf(out, "%d 1 %lld %lld %lld\n", index, (long long)compiled.registers, (long long)compiled.spill_bytes,
            (long long)compiled.smem_static_bytes);
    nt_compiled_done(&compiled);
}

static void read_results(report *r, FILE *results)
{
    char line[800];
    rewind(results);
    while (fgets(line, sizeof line, results) != NULL) {
        int index, ok, at = 0;
        line[strcspn(line, "\n")] = '\0';
        if (sscanf(line, "%d %d %n", &index, &ok, &at) == 2 && index >= 0 && index < r->job_count && at > 0) {
            r->jobs[index].ok = ok == 1;
            nt_copy(r->jobs[index].result, sizeof r->jobs[index].result, line + at);
        }
    }
    fclose(results);
}

/* A process a core, each with every so-manieth job. */
static void compile_jobs(report *r)
{
    enum { MOST = 16 };
    long cores = sysconf(_SC_NPROCESSORS_ONLN);
    int children = cores < 1 ? 1 : cores > MOST ? MOST : (int)cores;
    FILE *results[MOST];
    pid_t pid[MOST];
    fflush(NULL);
    for (int p = 0; p < children; p++) {
        results[p] = tmpfile();
        assert_non_null(results[p]);
        pid[p] = fork();
        assert_true(pid[p] >= 0);
        if (pid[p] != 0)
            continue;
        for (int i = p; i < r->job_count; i += children)
            if (r->jobs[i].same < 0)
                compile_job(r, &r->jobs[i], results[p], i);
        fflush(results[p]);
        _exit(0);
    }
    for (int p = 0; p < children; p++) {
        int ended;
        assert_int_equal(waitpid(pid[p], &ended, 0), pid[p]);
        assert_true(WIFEXITED(ended) && WEXITSTATUS(ended) == 0);
        read_results(r, results[p]);
    }
}

static void tell(report *r)
{
    for (int i = 0; i < r->job_count; i++) {
        const job *j = &r->jobs[i], *done = j->same < 0 ? j : &r->jobs[j->same];
        const char *said = done->result[0] != '\0' ? done->result : "no answer of the compiler";
        nt_str_addf(done->ok ? &r->found : &r->failures, "%s %s%s %s\n", j->what, j->arch, done->ok ? "" : ":", said);
        r->compiled += done->ok;
    }
    for (int i = 0; i < r->job_count; i++) {
        free(r->jobs[i].source);
        free(r->jobs[i].options);
    }
    free(r->jobs);
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

/* Parameters whose kernel is another one than the default: `mark` stands behind its name. */
static const struct {
    const char *kernel, *mark, *params;
} others[] = {
    {"gemm", "+stream_k", "tile_m=128 tile_n=128 groups=2 persistent=true stream_k=true"},
};

/* `params` are those that differ from the default. */
static void add_kernel(report *r, const nt_kernel *kernel, int precision, int layout, const char *mark,
                       const char *params)
{
    nt_problem problem = problem_of(nt_layer_find(kernel->layer), precision, layout);
    if (kernel->refuses != NULL && kernel->refuses(&problem) != NULL)
        return;
    nt_config config;
    nt_str options = {0}, what = {0};
    nt_rule rule = {"compiled", params};
    assert_int_equal(nt_kernel_rule_config(kernel, &rule, &config, NULL), NT_OK);
    nt_kernel_options(kernel, &problem, &config, &options);
    nt_str_addf(&what, "%s.%s%s %s %s", kernel->layer, kernel->name, mark, nt_precisions[precision].name,
                nt_layout_name(problem.layout));
    char *source = nt_kernel_source(kernel);
    for (int i = 0; i < CAPABILITIES; i++) {
        char arch[16];
        snprintf(arch, sizeof arch, "sm_%d%s", capabilities[i], kernel->arch_specific ? "a" : "");
        if (serves(r, kernel->min_compute_capability, kernel->arch_specific, capabilities[i]))
            add_job(r, nt_str_text(&what), source, nt_str_text(&options), arch);
    }
    free(source);
    nt_str_done(&options);
    nt_str_done(&what);
}

static void add_kernels(report *r)
{
    for (int i = 0; i < nt_kernel_count; i++)
        for (int precision = 0; precision < NT_PRECISION_COUNT; precision++)
            for (int layout = 0; layout < NT_LAYOUT_COUNT; layout++) {
                const nt_kernel *kernel = nt_kernels[i];
                bool served = kernel->device == NT_DEVICE_CUDA && (kernel->precisions & NT_BIT(precision)) != 0 &&
                              (kernel->layouts & NT_BIT(layout)) != 0;
                if (!served || kernel->source[0] == NULL) /* a vendor row has none */
                    continue;
                add_kernel(r, kernel, precision, layout, "", "");
                for (size_t o = 0; o < sizeof others / sizeof others[0]; o++)
                    if (strcmp(kernel->name, others[o].kernel) == 0 && precision == NT_BF16)
                        add_kernel(r, kernel, precision, layout, others[o].mark, others[o].params);
            }
}

static void add_references(report *r)
{
    for (int i = 0; i < nt_layer_count; i++) {
        char *source = nt_layer_reference_source(nt_layers[i]);
        for (int j = 0; source != NULL && j < CAPABILITIES; j++) {
            char what[96], arch[16];
            snprintf(what, sizeof what, "%s.reference fp64 any", nt_layers[i]->name);
            snprintf(arch, sizeof arch, "sm_%d", capabilities[j]);
            if (nt_nvrtc_knows(&r->about, capabilities[j]))
                add_job(r, what, source, "", arch);
        }
        free(source);
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

/* Is what came of a job what was recorded of it? A job that was not recorded is a difference of its own. */
static bool as_recorded(const job *j, const char *golden)
{
    char key[128];
    snprintf(key, sizeof key, "%s %s ", j->what, j->arch);
    const char *line = line_of(golden, key, strlen(key));
    if (line == NULL)
        return true;
    size_t length = strlen(j->result);
    return strncmp(line + strlen(key), j->result, length) == 0 && line[strlen(key) + length] == '\n';
}

/* NVRTC is not the same every time: of one text it gave 64 registers in most compiles and 60 in some (13.0, fp16 for
 * sm_86). What differs is compiled again, and is a change when what was recorded does not come up. */
static void compile_again(report *r)
{
    enum { AGAIN = 6 };
    char *golden = refresh ? NULL : read_golden();
    nt_str head = {0};
    nt_str_addf(&head, HEAD "%s\n", r->compiler);
    if (golden != NULL && strncmp(golden, nt_str_text(&head), head.length) != 0) /* recorded by another compiler */
        golden[0] = '\0';
    nt_str_done(&head);
    for (int i = 0; golden != NULL && i < r->job_count; i++)
        for (int n = 0; n < AGAIN && r->jobs[i].same < 0 && r->jobs[i].ok && !as_recorded(&r->jobs[i], golden); n++) {
            FILE *results = tmpfile();
            assert_non_null(results);
            compile_job(r, &r->jobs[i], results, i);
            read_results(r, results);
        }
    free(golden);
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
    add_kernels(&r);
    add_references(&r);
    compile_jobs(&r);
    compile_again(&r);
    tell(&r);
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
