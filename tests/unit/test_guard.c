/* test_guard.c: guard zones: each byte before and behind a buffer counts, whatever its size was before. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "checked_device.h"
#include "profiler/guard.h"

static void expect(const nt_guarded *buffer, size_t front, size_t rear)
{
    size_t front_found, rear_found;
    assert_int_equal(nt_guarded_check(&checked.ops, checked.device, buffer, &front_found, &rear_found, NULL), NT_OK);
    assert_int_equal(front_found, front);
    assert_int_equal(rear_found, rear);
}

static void resize(nt_guarded *buffer, size_t bytes)
{
    assert_int_equal(nt_guarded_resize(&checked.ops, checked.device, buffer, bytes, NULL), NT_OK);
    assert_int_equal(buffer->bytes, bytes);
    assert_int_equal(buffer->data, buffer->base + NT_GUARD_BYTES);
    assert_int_equal(buffer->data % 256, 0);
    expect(buffer, 0, 0);
}

static void test_each_edge(void **state)
{
    (void)state;
    nt_guarded buffer = {0};
    resize(&buffer, 100);
    char *data = checked_at(buffer.data);
    memset(data, 0, 100); /* all of the buffer may be written */
    expect(&buffer, 0, 0);
    data[-1] = 0;
    expect(&buffer, 1, 0);
    data[100] = 1;
    expect(&buffer, 1, 1);
    data[-NT_GUARD_BYTES] = 2;
    data[100 + NT_GUARD_BYTES - 1] = 3;
    expect(&buffer, 2, 2);
    assert_int_equal(nt_guarded_mend(&checked.ops, checked.device, &buffer, NULL), NT_OK);
    expect(&buffer, 0, 0);
    nt_guarded_free(&checked.ops, checked.device, &buffer);
    assert_int_equal(buffer.base, 0);
}

/* Smaller: the same memory, with the rear zone close behind the new end. Larger than ever: new memory. */
static void test_resize(void **state)
{
    (void)state;
    nt_guarded buffer = {0};
    resize(&buffer, 1000);
    nt_mem base = buffer.base;
    resize(&buffer, 10);
    assert_int_equal(buffer.base, base);
    ((char *)checked_at(buffer.data))[10] = 0;
    expect(&buffer, 0, 1);
    resize(&buffer, 1000);
    assert_int_equal(buffer.base, base);
    resize(&buffer, 100000);
    assert_int_equal(buffer.capacity, 100000);
    ((char *)checked_at(buffer.data))[99999] = 0;
    expect(&buffer, 0, 0);
    nt_guarded_free(&checked.ops, checked.device, &buffer);
}

static void test_empty(void **state)
{
    (void)state;
    nt_guarded none = {0}, empty = {0};
    expect(&none, 0, 0); /* not there, so not written to */
    resize(&empty, 0);
    ((char *)checked_at(empty.data))[0] = 0;
    expect(&empty, 0, 1);
    nt_guarded_free(&checked.ops, checked.device, &empty);
    nt_guarded_free(&checked.ops, checked.device, &none);
}

static void test_no_memory(void **state)
{
    (void)state;
    nt_guarded buffer = {0};
    nt_error err;
    resize(&buffer, 10);
    assert_int_equal(nt_guarded_resize(&checked.ops, checked.device, &buffer, (size_t)1 << 40, &err), NT_NO_MEMORY);
    assert_int_equal(buffer.base, 0); /* what it had is free, nothing dangles */
    resize(&buffer, 10);
    nt_guarded_free(&checked.ops, checked.device, &buffer);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_each_edge),
        cmocka_unit_test(test_resize),
        cmocka_unit_test(test_empty),
        cmocka_unit_test(test_no_memory),
    };
    return cmocka_run_group_tests(tests, checked_open, checked_close);
}
