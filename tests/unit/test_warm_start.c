/* test_warm_start.c: which earlier results a unit is told of, and by which numbers. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "autotune/warm_start.h"

enum { VALUES = 10 };
static const nt_param params[] = {{.name = "a", .NT_INTS(1, 2, 3, 4, 5, 6, 7, 8, 9, 10)}};
static const nt_kernel kernels[] = {{.name = "first", .params = params, .param_count = 1},
                                    {.name = "second", .params = params, .param_count = 1}};
static const nt_space *spaces[2];

static int build_spaces(void **state)
{
    (void)state;
    nt_problem problem = {.batch = 1};
    nt_device_info device = {.kind = NT_DEVICE_FAKE};
    for (int i = 0; i < 2; i++) {
        nt_space *space = NULL;
        if (nt_space_build(&kernels[i], &problem, &device, NULL, 0, NULL, &space, NULL) != NT_OK)
            return -1;
        spaces[i] = space;
    }
    return 0;
}

static int free_spaces(void **state)
{
    (void)state;
    for (int i = 0; i < 2; i++)
        nt_space_free((nt_space *)spaces[i]);
    return 0;
}

static nt_warm_group group_of(int64_t run, int64_t h, int64_t batch, const char *uuid)
{
    nt_warm_group group = {.run = run, .problem = {.layer = "conv3x3", .batch = batch}};
    group.problem.shape = (nt_shape){.count = 1, .dim = {{"h", h}}};
    snprintf(group.device_uuid, sizeof group.device_uuid, "%s", uuid);
    return group;
}

/* `count` results of kernel `first`, value a = 1.. */
static void add(nt_warm_start *warm, nt_warm_group group, int count)
{
    for (int a = 1; a <= count; a++) {
        char text[32];
        snprintf(text, sizeof text, "{\"a\": %d}", a);
        nt_warm_start_add(warm, &group, "first", text, 100.0 * a + (double)group.run);
    }
}

static void numbers_are_those_of_the_spaces(void **state)
{
    (void)state;
    nt_warm_start warm = {0};
    nt_warm_group like = group_of(0, 7, 1, "here");
    nt_earlier *earlier;
    add(&warm, group_of(1, 7, 1, "there"), VALUES);
    nt_warm_start_add(&warm, &warm.group[0], "second", "{\"a\": 3}", 5);
    nt_warm_start_add(&warm, &warm.group[0], "first", "{\"a\": 77}", 6); /* a value that is not listed any more */
    nt_warm_start_add(&warm, &warm.group[0], "first", "{\"b\": 1}", 7);  /* another parameter */
    nt_warm_start_add(&warm, &warm.group[0], "third", "{\"a\": 1}", 8);  /* a kernel that is gone */
    nt_warm_start_add(&warm, &warm.group[0], "first", "{\"a\": 1", 9);   /* damaged */
    assert_int_equal(nt_warm_start_for(&warm, &like, spaces, 2, &earlier), VALUES + 1);
    for (size_t i = 0; i < VALUES; i++) {
        assert_int_equal(earlier[i].candidate.kernel, 0);
        assert_int_equal(earlier[i].candidate.index, i);
        assert_true(earlier[i].time_ns == 100.0 * (double)(i + 1) + 1);
        assert_int_equal(earlier[i].run, earlier[0].run);
    }
    assert_int_equal(earlier[VALUES].candidate.kernel, 1);
    assert_int_equal(earlier[VALUES].candidate.index, 2);
    free(earlier);
    nt_warm_start_done(&warm);
}

/* The runs that were chosen, by the times they gave. */
static void the_nearest_groups_are_told(void **state)
{
    (void)state;
    nt_warm_start warm = {0};
    nt_warm_group like = group_of(0, 7, 1, "here");
    add(&warm, group_of(1, 9, 4, "there"), VALUES); /* all is other */
    add(&warm, group_of(2, 9, 1, "there"), VALUES); /* the same batch */
    add(&warm, group_of(3, 7, 1, "here"), 5);       /* all the same, and too few */
    add(&warm, group_of(4, 7, 4, "there"), VALUES); /* the same shape */
    add(&warm, group_of(5, 9, 4, "here"), VALUES);  /* the same device */
    add(&warm, group_of(6, 9, 1, "there"), VALUES); /* as 2, and newer */
    nt_warm_group other_layer = group_of(7, 7, 1, "here");
    snprintf(other_layer.problem.layer, sizeof other_layer.problem.layer, "relu");
    add(&warm, other_layer, VALUES);
    nt_earlier *earlier;
    bool told[8] = {0};
    size_t count = nt_warm_start_for(&warm, &like, spaces, 2, &earlier);
    assert_int_equal(count, NT_WARM_GROUPS * VALUES);
    for (size_t i = 0; i < count; i++)
        told[(int)earlier[i].time_ns % 100] = true;
    static const bool want[8] = {false, false, true, false, true, true, true, false};
    assert_memory_equal(told, want, sizeof want);
    free(earlier);
    nt_warm_start_done(&warm);
}

static void nothing_is_known_of_nothing(void **state)
{
    (void)state;
    nt_warm_start warm = {0};
    nt_warm_group like = group_of(0, 7, 1, "here");
    nt_earlier *earlier;
    assert_int_equal(nt_warm_start_for(&warm, &like, spaces, 2, &earlier), 0);
    free(earlier);
    nt_warm_start_done(&warm);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(numbers_are_those_of_the_spaces),
        cmocka_unit_test(the_nearest_groups_are_told),
        cmocka_unit_test(nothing_is_known_of_nothing),
    };
    return cmocka_run_group_tests(tests, build_spaces, free_spaces);
}
