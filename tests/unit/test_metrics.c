/* test_metrics.c: what real chips have of our metrics, and in how many passes, with the CUPTI library that is here (no
 * GPU is needed). Skipped where there is none; test_counters.c tests the same code with a library of its own. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <string.h>

#include "profiler/cupti_api.h"
#include "profiler/metric_plan.h"

enum { CHIPS = 7, SETS = 9 };

/* Passes of each set; 0: more than we promise anything about. */
static const struct {
    const char *chip;
    int passes[SETS]; /* in the order of nt_metric_sets */
    int missing_stalls;
} promised[CHIPS] = {
    /*         t1 t2 sol stall banks access coalescing flop tensor */
    {"TU102", {2, 2, 7, 6, 1, 4, 2, 1, 2}, 1},  {"GA100", {1, 2, 9, 5, 1, 4, 2, 1, 8}, 1},
    {"GA102", {1, 2, 7, 6, 1, 4, 2, 1, 8}, 1},  {"AD102", {1, 2, 7, 6, 2, 4, 2, 1, 9}, 1},
    {"GH100", {1, 2, 9, 6, 2, 4, 2, 1, 7}, 0},  {"GB100", {1, 2, 8, 5, 2, 4, 2, 1, 8}, 2},
    {"GB202", {1, 2, 8, 6, 2, 4, 2, 1, 13}, 2},
};

static nt_metric_plan *plan_of(const char *chip, const char *const *names, size_t count)
{
    nt_metric_plan *plan = NULL;
    nt_error err = {0};
    if (nt_metric_plan_open(NT_CUPTI_RANGES, chip, NULL, names, count, 0, &plan, &err) != NT_OK)
        fail_msg("%s: %s (%s)", chip, err.what, err.hint);
    return plan;
}

/* CUPTI opens its helper in a way that the sanitizers' run time refuses by ending the program. */
#if defined(__SANITIZE_ADDRESS__)
#define SANITIZED true
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define SANITIZED true
#endif
#endif
#ifndef SANITIZED
#define SANITIZED false
#endif

static int skip_without_cupti(void **state)
{
    const char *const *chips;
    size_t count;
    nt_error err;
    *state = !SANITIZED && nt_cupti_chips(&chips, &count, &err) == NT_OK ? (void *)&promised : NULL;
    return 0;
}

#define NEEDS_CUPTI(state)    \
    do {                      \
        if (*(state) == NULL) \
            skip();           \
    } while (0)

static void knows_the_chips(void **state)
{
    NEEDS_CUPTI(state);
    const char *const *chips;
    size_t count;
    nt_error err;
    assert_int_equal(nt_cupti_chips(&chips, &count, &err), NT_OK);
    for (int c = 0; c < CHIPS; c++) {
        bool found = false;
        for (size_t i = 0; i < count; i++)
            found = found || strcmp(chips[i], promised[c].chip) == 0;
        assert_true(found);
    }
}

/* Another library may schedule better, never worse: the promise is an upper bound. */
static void each_set_takes_the_promised_passes(void **state)
{
    NEEDS_CUPTI(state);
    assert_int_equal(nt_metric_set_count, SETS);
    for (int c = 0; c < CHIPS; c++)
        for (size_t s = 0; s < SETS; s++) {
            nt_metric_plan *plan = plan_of(promised[c].chip, &nt_metric_sets[s].name, 1);
            if (plan->passes < 1 || plan->passes > promised[c].passes[s])
                fail_msg("%s %s: %d passes", promised[c].chip, nt_metric_sets[s].name, plan->passes);
            nt_metric_plan_close(plan);
        }
}

static void each_column_has_a_counter_on_each_chip(void **state)
{
    NEEDS_CUPTI(state);
    for (int c = 0; c < CHIPS; c++) {
        int missing = 0;
        for (size_t i = 0; i < nt_metric_column_count; i++) {
            const char *names[] = {nt_metric_columns[i].name, "counter_time_ns"};
            nt_metric_plan *plan = plan_of(promised[c].chip, names, 2);
            bool stall = strncmp(names[0], "stall_", 6) == 0;
            missing += plan->metric[0].index < 0;
            if (plan->metric[0].index < 0 && !stall)
                fail_msg("%s has no %s", promised[c].chip, names[0]);
            nt_metric_plan_close(plan);
        }
        assert_int_equal(missing, promised[c].missing_stalls);
    }
}

static void a_chip_with_other_names_is_known(void **state)
{
    NEEDS_CUPTI(state);
    static const char *const names[] = {"dram_read_bytes", "dram_write_bytes"};
    nt_metric_plan *hopper = plan_of("GH100", names, 2), *blackwell = plan_of("GB202", names, 2);
    assert_string_equal(hopper->metric[0].counter, "dram__bytes_read.sum");
    assert_string_equal(blackwell->metric[0].counter, "dram__bytes_op_read.sum");
    assert_string_equal(blackwell->metric[1].counter, "dram__bytes_op_write.sum");
    nt_metric_plan_close(hopper);
    nt_metric_plan_close(blackwell);
}

/* A set on a chip that lacks a member still gives the others their own places. */
static void what_is_missing_leaves_its_place_empty(void **state)
{
    NEEDS_CUPTI(state);
    static const char *const names[] = {"stall_barrier", "stall_gmma", "stall_wait"};
    nt_metric_plan *plan = plan_of("GA102", names, 3);
    assert_int_equal(plan->count, 3);
    assert_int_equal(plan->metric[0].index, 0);
    assert_int_equal(plan->metric[1].index, -1);
    assert_null(plan->metric[1].counter);
    assert_int_equal(plan->metric[2].index, 1);
    assert_string_equal(plan->counter[1], plan->metric[2].counter);
    assert_string_equal(plan->counter[plan->duration], nt_metric_duration);
    nt_metric_plan_close(plan);
}

static void refuses_wrong_names_and_says_which_are_near(void **state)
{
    static const struct {
        const char *chip, *name, *what, *hint;
        nt_status status;
    } cases[] = {
        {"GH100", "sm__warps_activ.avg", "no metric", "'sm__warps_active'", NT_USAGE},
        {"GH100", "sm__warps_active", "cannot be collected", "'sm__warps_active.avg'", NT_USAGE},
        {"GH100", "l1tex__t_sector_hit_rate", "cannot be collected", "'l1tex__t_sector_hit_rate.pct'", NT_USAGE},
        {"GH100", "sm__warps_active.avg.pct_of_peak_sustained_activ", "no metric", "pct_of_peak_sustained_active'",
         NT_USAGE},
        {"GH100", "launch__registers_per_thread", "no metric", "sets: t1", NT_USAGE},
        {"GH100", "t11", "no metric", "'t1'", NT_USAGE},
        {"GB202", "dram__bytes_read.sum", "no metric", "'dram__bytes_op_read'", NT_USAGE},
        {"XX999", "t1", "'XX999'", "newer CUDA toolkit", NT_NOT_FOUND},
    };
    NEEDS_CUPTI(state);
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        nt_metric_plan *plan;
        nt_error err;
        const char *names[] = {"occupancy_pct", cases[i].name};
        assert_int_equal(nt_metric_plan_open(NT_CUPTI_RANGES, cases[i].chip, NULL, names, 2, 0, &plan, &err),
                         cases[i].status);
        assert_null(plan);
        if (strstr(err.what, cases[i].what) == NULL || strstr(err.hint, cases[i].hint) == NULL)
            fail_msg("%s: %s (%s)", cases[i].name, err.what, err.hint);
    }
}

static void names_the_dearest_of_too_many(void **state)
{
    static const char *const names[] = {"sol"};
    nt_metric_plan *plan;
    nt_error err;
    NEEDS_CUPTI(state);
    assert_int_equal(nt_metric_plan_open(NT_CUPTI_RANGES, "GH100", NULL, names, 1, 1, &plan, &err), NT_USAGE);
    assert_non_null(strstr(err.what, "passes on GH100, 1 allowed"));
    assert_non_null(strstr(err.hint, "'sol_sm_pct' alone takes"));
}

/* CUPTI's own trap, which the planner is built around: should it ever go away, this test says so. */
static void a_failed_add_spoils_the_object(void **state)
{
    static const char *const bad = "sm__warps_active", *const good = "sm__warps_active.sum";
    nt_cupti_host *host;
    nt_error err;
    NEEDS_CUPTI(state);
    assert_int_equal(nt_cupti_host_open(NT_CUPTI_RANGES, "GH100", NULL, &host, &err), NT_OK);
    assert_int_not_equal(nt_cupti_host_add(host, &bad, 1, &err), NT_OK);
    assert_int_not_equal(nt_cupti_host_add(host, &good, 1, &err), NT_OK);
    nt_cupti_host_close(host);
}

static void tables_agree_with_themselves(void **state)
{
    (void)state;
    for (size_t i = 0; i < nt_metric_column_count; i++) {
        assert_ptr_equal(nt_metric_column_find(nt_metric_columns[i].name), &nt_metric_columns[i]); /* no name twice */
        assert_null(nt_metric_set_find(nt_metric_columns[i].name));
        assert_string_not_equal(nt_metric_columns[i].unit, "");
    }
    for (size_t s = 0; s < nt_metric_set_count; s++)
        for (size_t i = 0; nt_metric_sets[s].columns != NULL && nt_metric_sets[s].columns[i] != NULL; i++)
            assert_non_null(nt_metric_column_find(nt_metric_sets[s].columns[i]));
    assert_true(nt_metric_adds_up("dram__bytes_read.sum"));
    assert_true(nt_metric_adds_up("sm__cycles_elapsed.max"));
    assert_false(nt_metric_adds_up("sm__cycles_elapsed.avg.per_second"));
    assert_false(nt_metric_adds_up("l1tex__t_sector_hit_rate.pct"));
    assert_false(nt_metric_adds_up("smsp__average_warps_issue_stalled_wait_per_issue_active.ratio"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(tables_agree_with_themselves),
        cmocka_unit_test_setup(knows_the_chips, skip_without_cupti),
        cmocka_unit_test_setup(each_set_takes_the_promised_passes, skip_without_cupti),
        cmocka_unit_test_setup(each_column_has_a_counter_on_each_chip, skip_without_cupti),
        cmocka_unit_test_setup(a_chip_with_other_names_is_known, skip_without_cupti),
        cmocka_unit_test_setup(what_is_missing_leaves_its_place_empty, skip_without_cupti),
        cmocka_unit_test_setup(refuses_wrong_names_and_says_which_are_near, skip_without_cupti),
        cmocka_unit_test_setup(names_the_dearest_of_too_many, skip_without_cupti),
        cmocka_unit_test_setup(a_failed_add_spoils_the_object, skip_without_cupti),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
