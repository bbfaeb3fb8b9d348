/* test_verify.c: verification finds what a wrong kernel does: one element off, not written, NaN, writes outside, the
 * second input set ignored, packed weights that were never packed. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "checked_device.h"
#include "profiler/verify.h"

enum { COUNT = 37, SETS = 2 };

/* The layer of this test: out[i] = in[i] x weight[0]. */
static struct {
    nt_guarded in[SETS], weight[SETS], out, packed, workspace;
    nt_mem ref[SETS], abs[SETS];
    nt_check_set set[SETS];
    nt_plan plan;
    nt_dtype type;
} world;

static nt_mem doubles(const double *values)
{
    nt_mem memory;
    assert_int_equal(checked.ops.alloc(checked.device, COUNT * sizeof(double), &memory, NULL), NT_OK);
    memcpy(checked_at(memory), values, COUNT * sizeof(double));
    return memory;
}

static int build(void **state)
{
    if (checked_open(state) != 0)
        return -1;
    memset(&world, 0, sizeof world);
    world.type = NT_F32;
    world.plan.stage_count = 1;
    for (int s = 0; s < SETS; s++) {
        double ref[COUNT], abs[COUNT];
        nt_guarded_resize(&checked.ops, checked.device, &world.in[s], COUNT * sizeof(float), NULL);
        nt_guarded_resize(&checked.ops, checked.device, &world.weight[s], sizeof(float), NULL);
        float *in = checked_at(world.in[s].data), *weight = checked_at(world.weight[s].data);
        *weight = s == 0 ? 3 : 5;
        for (int i = 0; i < COUNT; i++) {
            in[i] = (float)(i - 10);
            ref[i] = (double)in[i] * (double)*weight;
            abs[i] = fabs(ref[i]) + 1;
        }
        world.ref[s] = doubles(ref);
        world.abs[s] = doubles(abs);
        world.set[s] = (nt_check_set){&world.in[s], &world.weight[s], world.ref[s], world.abs[s], world.ref[s], 0};
    }
    return 0;
}

static int destroy(void **state)
{
    nt_guarded *all[] = {&world.in[0], &world.in[1],  &world.weight[0], &world.weight[1],
                         &world.out,   &world.packed, &world.workspace};
    for (size_t i = 0; i < sizeof all / sizeof all[0]; i++)
        nt_guarded_free(&checked.ops, checked.device, all[i]);
    for (int s = 0; s < SETS; s++) {
        checked.ops.free(checked.device, world.ref[s]);
        checked.ops.free(checked.device, world.abs[s]);
    }
    return checked_close(state);
}

static nt_verify_request request(void)
{
    bool exact = world.type == NT_I32;
    return (nt_verify_request){.ops = &checked.ops,
                               .device = checked.device,
                               .plan = &world.plan,
                               .set = world.set,
                               .set_count = SETS,
                               .out = &world.out,
                               .packed = &world.packed,
                               .workspace = &world.workspace,
                               .out_count = COUNT,
                               .channels = 1,
                               .channel_stride = 1,
                               .out_type = world.type,
                               .gamma = exact ? 0 : 1e-5};
}

static nt_verdict verify_with(checked_kernel kernel)
{
    nt_verdict verdict;
    nt_verify_request r = request();
    checked.kernel = kernel;
    checked.runs = checked.prepares = 0;
    assert_int_equal(nt_verify(&r, &verdict, NULL), NT_OK);
    return verdict;
}

static void expect_wrong(checked_kernel kernel, const char *part_of_reason)
{
    nt_verdict verdict = verify_with(kernel);
    assert_false(verdict.right);
    if (strstr(verdict.reason, part_of_reason) == NULL)
        fail_msg("'%s' does not say '%s'", verdict.reason, part_of_reason);
}

/* ---- kernels ---------------------------------------------------------------------------------------------------------------- */

static void compute(const nt_binding *b, float weight)
{
    const float *in = checked_at(b->address[NT_ROLE_IN]);
    for (int i = 0; i < COUNT; i++)
        if (world.type == NT_I32)
            ((int32_t *)checked_at(b->address[NT_ROLE_OUT]))[i] = (int32_t)(in[i] * weight);
        else
            ((float *)checked_at(b->address[NT_ROLE_OUT]))[i] = in[i] * weight;
}

static void right(const nt_plan *plan, bool prepare, const nt_binding *b)
{
    (void)plan;
    (void)prepare;
    compute(b, *(const float *)checked_at(b->address[NT_ROLE_WEIGHT]));
}

static float *out_of(const nt_binding *b)
{
    return checked_at(b->address[NT_ROLE_OUT]);
}

static void one_off(const nt_plan *plan, bool prepare, const nt_binding *b)
{
    right(plan, prepare, b);
    out_of(b)[20] *= 1.0001f;
}

static void nan_in_one(const nt_plan *plan, bool prepare, const nt_binding *b)
{
    right(plan, prepare, b);
    out_of(b)[36] = (float)NAN;
}

static void infinity_in_one(const nt_plan *plan, bool prepare, const nt_binding *b)
{
    right(plan, prepare, b);
    out_of(b)[0] = -(float)INFINITY;
}

/* Leaves what stands there: of the first run on the second set that would be the first set's result, if nothing
 * poisoned it. */
static void one_unwritten(const nt_plan *plan, bool prepare, const nt_binding *b)
{
    float before = out_of(b)[10];
    right(plan, prepare, b);
    out_of(b)[10] = before; /* in[10] is 0: the right value is 0 in every set */
}

static void for_the_first_set(const nt_plan *plan, bool prepare, const nt_binding *b)
{
    (void)plan;
    (void)prepare;
    compute(b, 3);
}

static void before_the_output(const nt_plan *plan, bool prepare, const nt_binding *b)
{
    right(plan, prepare, b);
    out_of(b)[-1] = 0;
}

static void behind_the_output(const nt_plan *plan, bool prepare, const nt_binding *b)
{
    right(plan, prepare, b);
    out_of(b)[COUNT] = 0;
}

static void behind_the_workspace(const nt_plan *plan, bool prepare, const nt_binding *b)
{
    right(plan, prepare, b);
    ((char *)checked_at(b->address[NT_ROLE_WORKSPACE]))[plan->workspace_bytes] = 0;
}

static void before_the_input(const nt_plan *plan, bool prepare, const nt_binding *b)
{
    right(plan, prepare, b);
    ((char *)checked_at(b->address[NT_ROLE_IN]))[-1] = 0;
}

static void packing(const nt_plan *plan, bool prepare, const nt_binding *b)
{
    (void)plan;
    float *packed = checked_at(b->address[NT_ROLE_PACKED]);
    if (prepare)
        *packed = *(const float *)checked_at(b->address[NT_ROLE_WEIGHT]);
    else
        compute(b, *packed);
}

/* Reads packed weights and a workspace that nobody wrote. */
static void never_packed(const nt_plan *plan, bool prepare, const nt_binding *b)
{
    (void)plan;
    if (!prepare)
        compute(b, *(const float *)checked_at(b->address[NT_ROLE_PACKED]));
}

static void packed_once(const nt_plan *plan, bool prepare, const nt_binding *b)
{
    if (!prepare || checked.prepares == 0)
        packing(plan, prepare, b);
}

static void reads_the_workspace(const nt_plan *plan, bool prepare, const nt_binding *b)
{
    (void)plan;
    (void)prepare;
    compute(b, *(const float *)checked_at(b->address[NT_ROLE_WORKSPACE]));
}

/* ---- tests ------------------------------------------------------------------------------------------------------------------ */

static void test_right(void **state)
{
    (void)state;
    nt_verdict v = verify_with(right);
    assert_true(v.right);
    assert_int_equal(checked.runs, SETS);
    assert_int_equal(checked.prepares, 0);
    assert_true(v.error_impl >= 0 && v.error_impl < 1);
    assert_true(v.error_prec < 1e-6);
    assert_true(v.first_run_ns == 500); /* the least of 1000 and 500 */
    assert_true(isnan(v.prepare_ns));
    assert_string_equal(v.reason, "");
}

static void test_wrong_elements(void **state)
{
    (void)state;
    expect_wrong(one_off, "1 of 37 elements are off");
    expect_wrong(one_off, "the first is element 20");
    expect_wrong(nan_in_one, "element 36");
    expect_wrong(infinity_in_one, "element 0");
    expect_wrong(one_unwritten, "element 10");
}

static void test_error_of_a_wrong_one(void **state)
{
    (void)state;
    nt_verdict v = verify_with(one_off);
    assert_true(v.error_impl > 1 && isfinite(v.error_impl));
    v = verify_with(nan_in_one);
    assert_true(isinf(v.error_impl));
}

static void test_both_sets_are_used(void **state)
{
    (void)state;
    expect_wrong(for_the_first_set, "input set 2");
}

static void test_writes_outside(void **state)
{
    (void)state;
    world.plan.workspace_bytes = 64;
    expect_wrong(before_the_output, "outside the output buffer: 4 bytes before it, 0 behind it");
    expect_wrong(behind_the_output, "outside the output buffer: 0 bytes before it, 4 behind it");
    expect_wrong(behind_the_workspace, "outside the workspace buffer");
    expect_wrong(before_the_input, "outside the input buffer");
    assert_true(verify_with(right).right); /* the next one is not blamed for it */
}

static void test_preparation(void **state)
{
    (void)state;
    world.plan.prepare_count = 1;
    world.plan.packed_bytes = sizeof(float);
    world.plan.workspace_bytes = sizeof(float);
    nt_verdict v = verify_with(packing);
    assert_true(v.right);
    assert_int_equal(checked.prepares, SETS);
    assert_true(v.prepare_ns == 500);
    expect_wrong(never_packed, "37 of 37");
    expect_wrong(packed_once, "input set 2"); /* the first set's weights are gone */
    expect_wrong(reads_the_workspace, "37 of 37");
}

static void one_more(const nt_plan *plan, bool prepare, const nt_binding *b)
{
    right(plan, prepare, b);
    ((int32_t *)checked_at(b->address[NT_ROLE_OUT]))[36]++;
}

static void test_integers_are_exact(void **state)
{
    (void)state;
    world.type = NT_I32;
    nt_verdict v = verify_with(right);
    assert_true(v.right);
    assert_true(v.error_impl == 0);
    expect_wrong(one_more, "element 36");
}

static void test_errors_come_through(void **state)
{
    (void)state;
    static const nt_status statuses[] = {NT_LAUNCH_FAILED, NT_DEVICE_LOST};
    for (size_t i = 0; i < sizeof statuses / sizeof statuses[0]; i++) {
        nt_verdict verdict;
        nt_verify_request r = request();
        nt_error err;
        checked.kernel = right;
        checked.run_status = statuses[i];
        assert_int_equal(nt_verify(&r, &verdict, &err), statuses[i]);
        assert_string_equal(err.what, "scripted");
    }
}

#define CASE(name) cmocka_unit_test_setup_teardown(name, build, destroy)

int main(void)
{
    const struct CMUnitTest tests[] = {
        CASE(test_right),
        CASE(test_wrong_elements),
        CASE(test_error_of_a_wrong_one),
        CASE(test_both_sets_are_used),
        CASE(test_writes_outside),
        CASE(test_preparation),
        CASE(test_integers_are_exact),
        CASE(test_errors_come_through),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
