/* test_cuda_vendor.c: calls of cuBLASLt and cuDNN against libraries that compute nothing (fake_vendors.c, built here):
 * what a problem becomes, which algorithm is taken, and what is said when a library is missing, too old, or refuses. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "core/str.h"
#include "device/cuda_vendor.h"
#include "kernels/kernel.h"

#if defined(NT_HAVE_CUDA_H) && NT_HAVE_CUBLASLT_H && NT_HAVE_CUDNN_H

static char library_path[128];
static void *library;

static int number(const char *name)
{
    return *(int *)dlsym(library, name);
}

static const char *text(const char *name)
{
    return dlsym(library, name);
}

static const void *pointer(int i)
{
    return ((const void **)dlsym(library, "fake_pointer"))[i];
}

static nt_vendor_conv fc(nt_precision precision)
{
    return (nt_vendor_conv){.n = 8,
                            .c = 64,
                            .k = 32,
                            .h = 1,
                            .w = 1,
                            .r = 1,
                            .s = 1,
                            .stride = 1,
                            .groups = 1,
                            .precision = precision,
                            .layout = NT_NHWC,
                            .workspace_bytes = 1 << 20};
}

static nt_vendor_conv conv3x3(nt_precision precision, nt_layout layout)
{
    nt_vendor_conv c = fc(precision);
    c.h = 14;
    c.w = 10;
    c.r = c.s = 3;
    c.pad = 1;
    c.stride = 2;
    c.layout = layout;
    return c;
}

static nt_stage stage_of(nt_vendor vendor, int64_t algorithm, nt_vendor_conv conv)
{
    nt_stage stage;
    nt_stage_vendor_conv(&stage, vendor, "convolve", algorithm, &conv);
    return stage;
}

static nt_binding binding_of(void)
{
    nt_binding b = {{0}};
    b.address[NT_ROLE_IN] = 0x1000;
    b.address[NT_ROLE_WEIGHT] = 0x2000;
    b.address[NT_ROLE_OUT] = 0x3000;
    b.address[NT_ROLE_WORKSPACE] = 0x4000;
    return b;
}

/* Makes the call, runs it once and frees it. */
static void run_once(nt_stage stage)
{
    nt_cuda_call *call = NULL;
    nt_error err = {0};
    nt_binding binding = binding_of();
    if (nt_cuda_vendor_make(&stage, &call, &err) != NT_OK)
        fail_msg("%s", err.what);
    assert_int_equal(call->run(call, &binding, (CUstream)0x77), 0);
    call->free(call);
}

static void refused(nt_stage stage, const char *why)
{
    nt_cuda_call *call = NULL;
    nt_error err = {0};
    assert_int_equal(nt_cuda_vendor_make(&stage, &call, &err), NT_LAUNCH_FAILED);
    assert_null(call);
    if (strstr(err.what, why) == NULL)
        fail_msg("'%s' does not say '%s'", err.what, why);
    assert_int_equal(number("fake_made"), number("fake_freed")); /* nothing is left over */
}

/* ---- libraries ---- */

static void missing_and_old_libraries_are_explained(void **state)
{
    (void)state;
    static nt_device_info info;
    setenv("NNTUNE_CUBLASLT", "/nonexistent/libcublasLt.so", 1);
    setenv("NNTUNE_CUDNN", "libm.so.6", 1);
    nt_cuda_vendor_libraries(&info);
    assert_string_equal(info.library[NT_VENDOR_CUBLASLT].version, "");
    assert_non_null(strstr(info.library[NT_VENDOR_CUBLASLT].missing, "/nonexistent/libcublasLt.so"));
    assert_non_null(strstr(info.library[NT_VENDOR_CUDNN].missing, "has no cudnn"));
    nt_stage stage = stage_of(NT_VENDOR_CUBLASLT, 0, fc(NT_BF16));
    nt_cuda_call *call = NULL;
    nt_error err = {0};
    assert_int_equal(nt_cuda_vendor_make(&stage, &call, &err), NT_LAUNCH_FAILED);
    assert_non_null(strstr(err.what, "cuBLASLt cannot be called"));
    setenv("NNTUNE_CUDNN", library_path, 1);
    setenv("FAKE_CUDNN", "80900", 1);
    nt_cuda_vendor_libraries(&info);
    assert_string_equal(info.library[NT_VENDOR_CUDNN].version, "");
    assert_non_null(strstr(info.library[NT_VENDOR_CUDNN].missing, "is needed"));
    unsetenv("FAKE_CUDNN");
}

static void found_libraries_tell_their_versions(void **state)
{
    (void)state;
    static nt_device_info info;
    setenv("NNTUNE_CUBLASLT", library_path, 1);
    nt_cuda_vendor_libraries(&info);
    assert_string_equal(info.library[NT_VENDOR_CUBLASLT].version, "13.1.2");
    assert_string_equal(info.library[NT_VENDOR_CUDNN].version, "9.19.0");
    assert_string_equal(info.library[NT_VENDOR_CUDNN].missing, "");
}

static void a_stage_of_another_kind_is_refused(void **state)
{
    (void)state;
    nt_stage stage = stage_of(NT_VENDOR_ONEDNN, 0, fc(NT_FP32));
    refused(stage, "no library oneDNN");
    stage = stage_of(NT_VENDOR_CUDNN, 0, conv3x3(NT_FP32, NT_NHWC));
    nt_copy(stage.entry, sizeof stage.entry, "prepare_weights");
    refused(stage, "no call 'prepare_weights'");
}

/* ---- cuBLASLt ---- */

static void channels_last_is_one_product(void **state)
{
    (void)state;
    run_once(stage_of(NT_VENDOR_CUBLASLT, 2, fc(NT_BF16)));
    assert_string_equal(text("fake_layouts"), "64x32/64*1+0 64x8/64*1+0 32x8/32*1+0 ");
    assert_int_equal(number("fake_transposed"), 1);
    assert_int_equal(number("fake_algorithm"), 2);
    assert_ptr_equal(pointer(0), 0x2000);
    assert_ptr_equal(pointer(1), 0x1000);
    assert_ptr_equal(pointer(2), 0x3000);
    assert_ptr_equal(pointer(3), 0x4000);
    assert_ptr_equal(*(void **)dlsym(library, "fake_stream"), 0x77);
    assert_int_equal(*(size_t *)dlsym(library, "fake_workspace"), 2000);
}

static void channels_first_is_a_product_an_image(void **state)
{
    (void)state;
    nt_vendor_conv c = fc(NT_TF32);
    c.layout = NT_NCHW;
    c.h = 7;
    c.w = 5;
    run_once(stage_of(NT_VENDOR_CUBLASLT, 0, c));
    assert_string_equal(text("fake_layouts"), "35x64/35*8+2240 64x32/64*8+0 35x32/35*8+1120 ");
    assert_int_equal(number("fake_transposed"), 0);
    assert_ptr_equal(pointer(0), 0x1000);
    assert_ptr_equal(pointer(1), 0x2000);
}

static void fp8_has_two_ways_of_summing(void **state)
{
    (void)state;
    run_once(stage_of(NT_VENDOR_CUBLASLT, 2, fc(NT_FP8)));
    assert_int_equal(number("fake_algorithm"), 1);
    assert_int_equal(number("fake_fast"), 0);
    run_once(stage_of(NT_VENDOR_CUBLASLT, 5, fc(NT_FP8)));
    assert_int_equal(number("fake_algorithm"), 2);
    assert_int_equal(number("fake_fast"), 1);
}

static void what_cublaslt_refuses(void **state)
{
    (void)state;
    refused(stage_of(NT_VENDOR_CUBLASLT, 3, fc(NT_BF16)), "heuristics give 3");
    refused(stage_of(NT_VENDOR_CUBLASLT, 6, fc(NT_FP8)), "heuristics give 6");
    refused(stage_of(NT_VENDOR_CUBLASLT, 0, conv3x3(NT_BF16, NT_NHWC)), "multiplies matrices");
    setenv("FAKE_ALGORITHMS", "0", 1);
    refused(stage_of(NT_VENDOR_CUBLASLT, 0, fc(NT_INT8)), "not supported");
    unsetenv("FAKE_ALGORITHMS");
}

/* ---- cuDNN ---- */

static bool asked(const char *attribute)
{
    return strstr(text("fake_attributes"), attribute) != NULL;
}

static void forget_attributes(void)
{
    *(char *)dlsym(library, "fake_attributes") = '\0';
}

static void a_convolution_is_described_in_both_layouts(void **state)
{
    (void)state;
    forget_attributes();
    run_once(stage_of(NT_VENDOR_CUDNN, 1, conv3x3(NT_BF16, NT_NHWC)));
    assert_true(asked("17.902=8,64,14,10 17.903=8960,1,640,64 ")); /* in: sizes and strides */
    assert_true(asked("17.902=32,64,3,3 17.903=576,1,192,64 "));   /* weight */
    assert_true(asked("17.902=8,32,7,5 17.903=1120,1,160,32 "));   /* out */
    assert_true(asked("17.901=9 "));
    assert_true(asked("1.105=1,1 ") && asked("1.104=1,1 ") && asked("1.103=2,2 ")); /* borders, strides */
    assert_true(asked("4.200=3 "));                                                 /* heuristic A */
    assert_int_equal(number("fake_algorithm"), 11);
    assert_ptr_equal(pointer(0), 0x1000);
    assert_ptr_equal(pointer(1), 0x2000);
    assert_ptr_equal(pointer(2), 0x3000);
    assert_ptr_equal(pointer(3), 0x4000);
    forget_attributes();
    run_once(stage_of(NT_VENDOR_CUDNN, 64, conv3x3(NT_INT8, NT_NCHW)));
    assert_true(asked("17.902=8,64,14,10 17.903=8960,140,10,1 "));
    assert_true(asked("17.901=3 ") && asked("17.901=4 ")); /* int8 in, int32 out */
    assert_true(asked("4.200=2 "));                        /* fallback */
}

static void engines_can_be_named(void **state)
{
    (void)state;
    run_once(stage_of(NT_VENDOR_CUDNN, 96 + 37, conv3x3(NT_FP16, NT_NHWC)));
    assert_int_equal(number("fake_algorithm"), 37);
    refused(stage_of(NT_VENDOR_CUDNN, 96 + 40, conv3x3(NT_FP16, NT_NHWC)), "has 40 from 96 on");
}

static void what_cudnn_refuses(void **state)
{
    (void)state;
    refused(stage_of(NT_VENDOR_CUDNN, 2, conv3x3(NT_FP16, NT_NHWC)), "has 2 from 0 on");
    setenv("FAKE_WORKSPACE", "2000000", 1);
    refused(stage_of(NT_VENDOR_CUDNN, 0, conv3x3(NT_FP16, NT_NHWC)),
            "wants 2000000 bytes of workspace, the plan has 1048576");
    unsetenv("FAKE_WORKSPACE");
    setenv("FAKE_REFUSES", "5", 1); /* execution plans */
    refused(stage_of(NT_VENDOR_CUDNN, 0, conv3x3(NT_FP16, NT_NHWC)), "not supported");
    unsetenv("FAKE_REFUSES");
    setenv("FAKE_TENSOR_ENGINE", "11", 1);
    refused(stage_of(NT_VENDOR_CUDNN, 1, conv3x3(NT_FP32, NT_NHWC)), "no fp32");
    run_once(stage_of(NT_VENDOR_CUDNN, 0, conv3x3(NT_FP32, NT_NHWC)));
    run_once(stage_of(NT_VENDOR_CUDNN, 1, conv3x3(NT_TF32, NT_NHWC)));
    unsetenv("FAKE_TENSOR_ENGINE");
}

/* Which of Winograd's algorithms it is, where the notes say so: bits of cudnnBackendNumericalNote_t. */
static void winograd_is_known_by_its_tile(void **state)
{
    (void)state;
    static const struct {
        const char *notes;
        int out_tile;
    } cases[] = {{"0", 0}, {"96", 2}, {"160", 4}, {"32", 4}, {"16", 0}};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        nt_cuda_calls calls = {NULL, 0, 0};
        nt_plan plan = {.stage_count = 2};
        int out_tile = -1;
        plan.stage[1] = stage_of(NT_VENDOR_CUDNN, 0, conv3x3(NT_FP32, NT_NHWC));
        setenv("FAKE_NOTES", cases[i].notes, 1);
        assert_int_equal(nt_cuda_calls_tile(&calls, &plan, &out_tile, NULL), NT_OK);
        assert_int_equal(out_tile, cases[i].out_tile);
        assert_int_equal(calls.count, 1); /* the call that will be run */
        nt_cuda_calls_free(&calls);
    }
    setenv("FAKE_NOTES", "288", 1);
    refused(stage_of(NT_VENDOR_CUDNN, 0, conv3x3(NT_FP32, NT_NHWC)), "no error bound");
    unsetenv("FAKE_NOTES");
}

/* ---- calls that a device keeps ---- */

static void a_call_is_made_once_a_stage(void **state)
{
    (void)state;
    nt_cuda_calls calls = {NULL, 0, 0};
    nt_cuda_call *first = NULL, *again = NULL, *other = NULL;
    nt_error err = {0};
    bool fresh = false;
    nt_stage stage = stage_of(NT_VENDOR_CUBLASLT, 0, fc(NT_BF16)), next = stage_of(NT_VENDOR_CUBLASLT, 1, fc(NT_BF16));
    assert_int_equal(nt_cuda_call_get(&calls, &stage, &first, &fresh, &err), NT_OK);
    assert_true(fresh);
    assert_int_equal(nt_cuda_call_get(&calls, &stage, &again, &fresh, &err), NT_OK);
    assert_false(fresh);
    assert_ptr_equal(first, again);
    assert_int_equal(nt_cuda_call_get(&calls, &next, &other, &fresh, &err), NT_OK);
    assert_true(fresh && other != first);
    nt_cuda_calls_free(&calls);
    assert_int_equal(number("fake_made"), number("fake_freed"));
}

static void a_failed_run_is_explained(void **state)
{
    (void)state;
    nt_stage stage = stage_of(NT_VENDOR_CUDNN, 4, conv3x3(NT_FP16, NT_NHWC));
    nt_error err = {0};
    assert_int_equal(nt_cuda_vendor_error(3000, &stage, &err), NT_LAUNCH_FAILED);
    assert_string_equal(err.what, "cuDNN, algorithm 4: not supported");
}

static int build_libraries(void **state)
{
    (void)state;
    char command[1024];
    const char *slash = strrchr(__FILE__, '/');
    snprintf(library_path, sizeof library_path, "/tmp/nt-vendors-%d.so", (int)getpid());
    snprintf(command, sizeof command, "cc -std=c11 -w -shared -fPIC %s -o %s %.*sfake_vendors.c", NT_VENDOR_INCLUDES,
             library_path, slash ? (int)(slash - __FILE__ + 1) : 0, __FILE__);
    if (system(command) != 0)
        fail_msg("%s", command);
    library = dlopen(library_path, RTLD_NOW | RTLD_LOCAL);
    return library == NULL;
}

static int remove_libraries(void **state)
{
    (void)state;
    return unlink(library_path);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(missing_and_old_libraries_are_explained),
        cmocka_unit_test(found_libraries_tell_their_versions),
        cmocka_unit_test(a_stage_of_another_kind_is_refused),
        cmocka_unit_test(channels_last_is_one_product),
        cmocka_unit_test(channels_first_is_a_product_an_image),
        cmocka_unit_test(fp8_has_two_ways_of_summing),
        cmocka_unit_test(what_cublaslt_refuses),
        cmocka_unit_test(a_convolution_is_described_in_both_layouts),
        cmocka_unit_test(engines_can_be_named),
        cmocka_unit_test(what_cudnn_refuses),
        cmocka_unit_test(winograd_is_known_by_its_tile),
        cmocka_unit_test(a_call_is_made_once_a_stage),
        cmocka_unit_test(a_failed_run_is_explained),
    };
    return cmocka_run_group_tests(tests, build_libraries, remove_libraries);
}

#else

int main(void)
{
    return 0; /* without NVIDIA's headers there are no calls to test */
}

#endif
