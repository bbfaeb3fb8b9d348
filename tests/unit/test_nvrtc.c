/* test_nvrtc.c: compiling CUDA text through NVRTC without a GPU: every supported architecture, registers and spills
 * from the log, the first error with its line, architectures it does not know, PTX; and the device's own kernels.
 * Skipped, saying so, on a machine without NVRTC. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "device/nvrtc.h"
#include "device/nvrtc_log.h"

extern const char nt_embed_device_cuda_support_cu[];

static const char *const archs[] = {"sm_75", "sm_80", "sm_86", "sm_89", "sm_90", "sm_90a", "sm_100", "sm_120"};
enum { ARCHS = sizeof archs / sizeof archs[0] };

static const char reverse[] = "extern \"C\" __global__ void reverse(float *a, int n)\n"
                              "{\n"
                              "    __shared__ float held[LENGTH];\n"
                              "    held[threadIdx.x] = a[threadIdx.x];\n"
                              "    __syncthreads();\n"
                              "    a[threadIdx.x] = held[n - 1 - threadIdx.x];\n"
                              "}\n";

/* Indexed by a run-time value and too many to keep: spills and local memory. */
static const char spilling[] = "extern \"C\" __global__ void __launch_bounds__(1024, 2) spilling(float *a)\n"
                               "{\n"
                               "    float x[100];\n"
                               "    for (int i = 0; i < 100; i++) x[i] = a[i * 7];\n"
                               "    for (int i = 0; i < 100; i++) x[i] *= x[i * 13 % 100] + x[i / 2];\n"
                               "    for (int i = 0; i < 100; i++) a[i] = x[i] * x[99 - i];\n"
                               "}\n"
                               "extern \"C\" __global__ void small(float *a) { *a = 1; }\n";

static nt_compile_request request_of(const char *source, const char *options, const char *arch)
{
    return (nt_compile_request){.kind = NT_DEVICE_CUDA,
                                .name = "reverse",
                                .source = source,
                                .options = options,
                                .arch = arch,
                                .compiler = "",
                                .features = "",
                                .deadline_s = 60};
}

static void need_nvrtc(void)
{
    nt_nvrtc_about about;
    nt_error err;
    if (nt_nvrtc_describe(&about, &err) == NT_OK)
        return;
    print_message("skipped: %s\n", err.what);
    skip();
}

/* Comes first: NVRTC once found is kept. */
static void says_where_it_looked(void **state)
{
    (void)state;
    nt_error err = {0};
    char text[64];
    setenv("NNTUNE_NVRTC", "/nonexistent/libnvrtc.so", 1);
    assert_int_equal(nt_compile_nvrtc.identity(text, sizeof text, &err), NT_NO_DEVICE);
    assert_non_null(strstr(err.what, "/nonexistent/libnvrtc.so"));
    assert_non_null(strstr(err.what, "named by NNTUNE_NVRTC"));
    assert_non_null(strstr(err.hint, "CUDA toolkit"));
    setenv("NNTUNE_NVRTC", "libm.so.6", 1);
    assert_int_equal(nt_compile_nvrtc.identity(text, sizeof text, &err), NT_NO_DEVICE);
    assert_non_null(strstr(err.what, "has no function nvrtcVersion"));
    unsetenv("NNTUNE_NVRTC");
}

static void tells_its_version(void **state)
{
    (void)state;
    need_nvrtc();
    nt_nvrtc_about about;
    nt_error err;
    char text[64], expected[64];
    assert_int_equal(nt_nvrtc_describe(&about, &err), NT_OK);
    assert_int_equal(nt_compile_nvrtc.identity(text, sizeof text, &err), NT_OK);
    snprintf(expected, sizeof expected, "NVRTC %d.%d", about.major, about.minor);
    assert_string_equal(text, expected);
    assert_true(about.major >= 11);
    assert_true(nt_nvrtc_knows(&about, 80));
    assert_false(nt_nvrtc_knows(&about, 81));
    assert_non_null(strstr(about.path, "libnvrtc"));
}

static bool known(const char *arch)
{
    nt_nvrtc_about about;
    return nt_nvrtc_describe(&about, NULL) == NT_OK && nt_nvrtc_knows(&about, atoi(arch + 3));
}

static void compiles_for_every_architecture(void **state)
{
    (void)state;
    need_nvrtc();
    int compiled_for = 0;
    for (int i = 0; i < ARCHS; i++) {
        nt_compile_request request = request_of(reverse, "-DLENGTH=128  -DUNUSED=1", archs[i]);
        nt_compiled compiled;
        nt_error err;
        if (!known(archs[i]))
            continue;
        assert_int_equal(nt_compile_nvrtc.compile(&request, &compiled, &err), NT_OK);
        assert_true(compiled.registers > 0 && compiled.registers < 64);
        assert_int_equal(compiled.spill_bytes, 0);
        assert_true(compiled.smem_static_bytes >= 512 && compiled.smem_static_bytes <= 512 + 1024);
        assert_memory_equal(compiled.code, "\177ELF", 4);
        free(compiled.code);
        compiled_for++;
    }
    assert_true(compiled_for >= 4);
}

static void counts_spills_of_the_worst_entry(void **state)
{
    (void)state;
    need_nvrtc();
    nt_compile_request request = request_of(spilling, NULL, "sm_80");
    nt_compiled compiled;
    nt_error err;
    assert_int_equal(nt_compile_nvrtc.compile(&request, &compiled, &err), NT_OK);
    assert_true(compiled.spill_bytes > 0);
    assert_int_equal(compiled.registers, 32); /* what 2 x 1,024 threads leave of 65,536 */
    assert_int_equal(compiled.smem_static_bytes, 0);
    free(compiled.code);
}

static void reports_the_first_error_with_its_line(void **state)
{
    (void)state;
    need_nvrtc();
    nt_compile_request request = request_of(reverse, "", "sm_80"); /* LENGTH is missing */
    nt_compiled compiled;
    nt_error err;
    assert_int_equal(nt_compile_nvrtc.compile(&request, &compiled, &err), NT_COMPILE_FAILED);
    assert_string_equal(err.what, "reverse.cu(3): error: identifier \"LENGTH\" is undefined");
    assert_null(compiled.code);
    request.options = "--no-such-option";
    assert_int_equal(nt_compile_nvrtc.compile(&request, &compiled, &err), NT_COMPILE_FAILED);
    assert_non_null(strstr(err.what, "--no-such-option"));
}

static void an_architecture_it_does_not_know_is_no_failure_of_the_source(void **state)
{
    (void)state;
    need_nvrtc();
    nt_compile_request request = request_of(reverse, "-DLENGTH=128", "sm_81");
    nt_compiled compiled;
    nt_error err;
    assert_int_equal(nt_compile_nvrtc.compile(&request, &compiled, &err), NT_NO_DEVICE);
    assert_non_null(strstr(err.what, "cannot compile for sm_81; it knows sm_"));
    assert_non_null(strstr(err.what, "sm_80"));
    request.arch = "hopper";
    assert_int_equal(nt_compile_nvrtc.compile(&request, &compiled, &err), NT_USAGE);
}

/* Of that NVRTC's log has the use and no error. */
static void says_when_static_shared_memory_is_too_much(void **state)
{
    (void)state;
    need_nvrtc();
    nt_compile_request request = request_of(reverse, "-DLENGTH=100000", "sm_80"); /* 400 KB */
    nt_compiled compiled;
    nt_error err;
    assert_int_equal(nt_compile_nvrtc.compile(&request, &compiled, &err), NT_COMPILE_FAILED);
    assert_non_null(strstr(err.what, "400000 bytes of static shared memory"));
}

static void shows_ptx(void **state)
{
    (void)state;
    need_nvrtc();
    nt_compile_request request = request_of(reverse, "-DLENGTH=128", "sm_80");
    char *text = NULL;
    nt_error err;
    assert_int_equal(nt_compile_nvrtc.assembly(&request, &text, &err), NT_OK);
    assert_non_null(strstr(text, ".target sm_80"));
    assert_non_null(strstr(text, ".visible .entry reverse("));
    assert_non_null(strstr(text, "achine code")); /* it, or what to install */
    free(text);
    request.options = "";
    assert_int_equal(nt_compile_nvrtc.assembly(&request, &text, &err), NT_COMPILE_FAILED);
    assert_null(text);
}

static void compiles_the_devices_own_kernels(void **state)
{
    (void)state;
    need_nvrtc();
    for (int i = 0; i < ARCHS; i++) {
        nt_compile_request request = request_of(nt_embed_device_cuda_support_cu, "", archs[i]);
        nt_compiled compiled;
        nt_error err = {0};
        if (!known(archs[i]))
            continue;
        nt_status status = nt_compile_nvrtc.compile(&request, &compiled, &err);
        if (status != NT_OK)
            print_message("%s\n", err.what);
        assert_int_equal(status, NT_OK);
        assert_int_equal(compiled.spill_bytes, 0);
        free(compiled.code);
    }
}

/* ---- the log ---- */

static void reads_the_worst_of_all_entries(void **state)
{
    (void)state;
    nt_nvrtc_usage usage =
        nt_nvrtc_log_usage("ptxas info    : Compiling entry function 'a' for 'sm_90'\n"
                           "ptxas         .     288 bytes stack frame, 308 bytes spill stores, 376 bytes spill loads\n"
                           "ptxas info    : Used 32 registers, used 0 barriers, 288 bytes cumulative stack size\n"
                           "ptxas         .     0 bytes stack frame, 0 bytes spill stores, 0 bytes spill loads\n"
                           "ptxas info    : Used 140 registers, used 1 barriers, 256 bytes smem, 380 bytes cmem[0]\n");
    assert_int_equal(usage.registers, 140);
    assert_int_equal(usage.smem_static_bytes, 256);
    assert_int_equal(usage.spill_bytes, 684);
}

static void an_empty_log_tells_nothing(void **state)
{
    (void)state;
    char line[64] = "before";
    nt_nvrtc_usage usage = nt_nvrtc_log_usage("");
    assert_true(usage.registers == NT_UNKNOWN && usage.smem_static_bytes == NT_UNKNOWN);
    assert_true(usage.spill_bytes == NT_UNKNOWN);
    nt_nvrtc_log_error("", line, sizeof line);
    assert_string_equal(line, "");
}

static void finds_the_error_among_warnings(void **state)
{
    (void)state;
    char line[64], cut[8];
    const char *log = "\nk.cu(1): warning #177-D: declared but never referenced\nk.cu(9): error: expected a \";\"  \n"
                      "k.cu(10): error: another\n";
    nt_nvrtc_log_error(log, line, sizeof line);
    assert_string_equal(line, "k.cu(9): error: expected a \";\"");
    nt_nvrtc_log_error("\nptxas fatal   : Unresolved extern function 'f'\n", line, sizeof line);
    assert_string_equal(line, "ptxas fatal   : Unresolved extern function 'f'");
    nt_nvrtc_log_error("something else went wrong", cut, sizeof cut);
    assert_string_equal(cut, "somethi");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(says_where_it_looked),
        cmocka_unit_test(tells_its_version),
        cmocka_unit_test(compiles_for_every_architecture),
        cmocka_unit_test(counts_spills_of_the_worst_entry),
        cmocka_unit_test(reports_the_first_error_with_its_line),
        cmocka_unit_test(an_architecture_it_does_not_know_is_no_failure_of_the_source),
        cmocka_unit_test(says_when_static_shared_memory_is_too_much),
        cmocka_unit_test(shows_ptx),
        cmocka_unit_test(compiles_the_devices_own_kernels),
        cmocka_unit_test(reads_the_worst_of_all_entries),
        cmocka_unit_test(an_empty_log_tells_nothing),
        cmocka_unit_test(finds_the_error_among_warnings),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
