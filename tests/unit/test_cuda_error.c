/* test_cuda_error.c: what codes of the CUDA driver mean, and that the table's names are the driver's own. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <string.h>

#include "device/cuda_error.h"

#ifdef NT_HAVE_CUDA_H
#include <cuda.h>
#endif

/* After these the context is gone, so a worker that went on would report nonsense for every later trial. */
static void faults_lose_the_device(void **state)
{
    (void)state;
    static const int codes[] = {214, 700, 702, 710, 714, 715, 716, 717, 718, 719, 999};
    for (size_t i = 0; i < sizeof codes / sizeof codes[0]; i++)
        assert_int_equal(nt_cuda_status(codes[i]), NT_DEVICE_LOST);
}

static void refusals_do_not(void **state)
{
    (void)state;
    static const struct {
        int code;
        nt_status status;
    } cases[] = {
        {0, NT_OK},
        {1, NT_LAUNCH_FAILED},
        {2, NT_NO_MEMORY},
        {46, NT_BUSY},
        {100, NT_NO_DEVICE},
        {200, NT_CORRUPT},
        {209, NT_LAUNCH_FAILED},
        {500, NT_NOT_FOUND},
        {701, NT_LAUNCH_FAILED},
        {800, NT_NO_PERMISSION},
        {912, NT_LAUNCH_FAILED},
        {123456, NT_FAILED},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++)
        assert_int_equal(nt_cuda_status(cases[i].code), cases[i].status);
}

static void messages_name_the_doing_the_code_and_the_next_step(void **state)
{
    (void)state;
    nt_error err;
    assert_int_equal(nt_cuda_fail(&err, 700, "running '%s'", "direct"), NT_DEVICE_LOST);
    assert_int_equal(err.status, NT_DEVICE_LOST);
    assert_string_equal(err.what, "running 'direct': CUDA_ERROR_ILLEGAL_ADDRESS (700)");
    assert_non_null(strstr(err.hint, "compute-sanitizer"));
    assert_int_equal(nt_cuda_fail(&err, 4711, "asking"), NT_FAILED);
    assert_string_equal(err.what, "asking: CUDA error (4711)");
    assert_string_equal(err.hint, "");
    assert_int_equal(nt_cuda_fail(NULL, 2, "asking"), NT_NO_MEMORY);
}

/* The numbers are typed by hand; the header knows better. */
static void numbers_are_the_headers(void **state)
{
    (void)state;
#ifdef NT_HAVE_CUDA_H
#define SAME(name) assert_string_equal(nt_cuda_error_name((int)name), #name)
    SAME(CUDA_SUCCESS);
    SAME(CUDA_ERROR_INVALID_VALUE);
    SAME(CUDA_ERROR_OUT_OF_MEMORY);
    SAME(CUDA_ERROR_STUB_LIBRARY);
    SAME(CUDA_ERROR_DEVICE_UNAVAILABLE);
    SAME(CUDA_ERROR_NO_DEVICE);
    SAME(CUDA_ERROR_INVALID_IMAGE);
    SAME(CUDA_ERROR_INVALID_CONTEXT);
    SAME(CUDA_ERROR_NO_BINARY_FOR_GPU);
    SAME(CUDA_ERROR_ECC_UNCORRECTABLE);
    SAME(CUDA_ERROR_INVALID_PTX);
    SAME(CUDA_ERROR_NVLINK_UNCORRECTABLE);
    SAME(CUDA_ERROR_UNSUPPORTED_PTX_VERSION);
    SAME(CUDA_ERROR_OPERATING_SYSTEM);
    SAME(CUDA_ERROR_NOT_FOUND);
    SAME(CUDA_ERROR_ILLEGAL_ADDRESS);
    SAME(CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES);
    SAME(CUDA_ERROR_LAUNCH_TIMEOUT);
    SAME(CUDA_ERROR_CONTEXT_IS_DESTROYED);
    SAME(CUDA_ERROR_ASSERT);
    SAME(CUDA_ERROR_HARDWARE_STACK_ERROR);
    SAME(CUDA_ERROR_ILLEGAL_INSTRUCTION);
    SAME(CUDA_ERROR_MISALIGNED_ADDRESS);
    SAME(CUDA_ERROR_INVALID_ADDRESS_SPACE);
    SAME(CUDA_ERROR_INVALID_PC);
    SAME(CUDA_ERROR_LAUNCH_FAILED);
    SAME(CUDA_ERROR_NOT_PERMITTED);
    SAME(CUDA_ERROR_NOT_SUPPORTED);
    SAME(CUDA_ERROR_SYSTEM_NOT_READY);
    SAME(CUDA_ERROR_SYSTEM_DRIVER_MISMATCH);
    SAME(CUDA_ERROR_MPS_SERVER_NOT_READY);
    SAME(CUDA_ERROR_INVALID_CLUSTER_SIZE);
    SAME(CUDA_ERROR_UNKNOWN);
#undef SAME
#else
    print_message("skipped: built without cuda.h\n");
    skip();
#endif
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(faults_lose_the_device),
        cmocka_unit_test(refusals_do_not),
        cmocka_unit_test(messages_name_the_doing_the_code_and_the_next_step),
        cmocka_unit_test(numbers_are_the_headers),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
