/* Summaries of made-up traces: what a kernel, a range, a copy and the whole come to, and what is refused. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "profiler/trace_busy.h"
#include "profiler/trace_summary.h"

enum { T0 = 1000000 }; /* no time is 0 */

typedef struct made {
    nt_trace trace;
    int process, device;
    uint32_t correlation;
} made;

static void make(made *m)
{
    nt_device_info info;
    *m = (made){0};
    nt_device_info_init(&info, NT_DEVICE_CUDA);
    info.ordinal = 0;
    info.compute_capability = 90;
    info.warp_size = 32;
    info.max_threads_per_sm = 2048;
    info.max_blocks_per_sm = 32;
    info.regs_per_sm = info.regs_per_block = 65536;
    info.smem_per_sm_bytes = 233472;
    m->process = nt_trace_add_process(&m->trace, 42, "program");
    m->device = nt_trace_add_device(&m->trace, m->process, &info);
}

static int open_at(made *m, const char *name, int parent, int64_t at, bool free_standing)
{
    return nt_trace_open_range(&m->trace, &(nt_trace_range){.name = nt_trace_name(&m->trace, name),
                                                            .process = m->process,
                                                            .parent = parent,
                                                            .thread = 1,
                                                            .open_ns = T0 + at,
                                                            .close_ns = NT_UNKNOWN,
                                                            .free_standing = free_standing});
}

static void launch_at(made *m, int range, int64_t at)
{
    nt_trace_add_launch(
        &m->trace,
        &(nt_trace_launch){
            .process = m->process, .range = range, .correlation = ++m->correlation, .time_ns = T0 + at, .thread = 1});
}

static void kernel(made *m, const char *name, int64_t registers, int64_t start, int64_t end)
{
    nt_trace_shape shape = {.name = nt_trace_name(&m->trace, name),
                            .device = m->device,
                            .grid = {8, 1, 1},
                            .block = {256, 1, 1},
                            .registers = registers};
    nt_trace_add_work(&m->trace, &(nt_trace_work){.kind = NT_WORK_KERNEL,
                                                  .process = m->process,
                                                  .device = m->device,
                                                  .shape = nt_trace_find_shape(&m->trace, &shape),
                                                  .start_ns = T0 + start,
                                                  .end_ns = T0 + end,
                                                  .correlation = m->correlation});
}

static void copy(made *m, int64_t bytes, int64_t start, int64_t end)
{
    nt_trace_add_work(&m->trace, &(nt_trace_work){.kind = NT_WORK_COPY,
                                                  .process = m->process,
                                                  .device = m->device,
                                                  .shape = -1,
                                                  .start_ns = T0 + start,
                                                  .end_ns = T0 + end,
                                                  .bytes = bytes,
                                                  .direction = NT_COPY_HOST_TO_DEVICE,
                                                  .from = NT_MEMORY_PAGEABLE,
                                                  .to = NT_MEMORY_DEVICE,
                                                  .correlation = m->correlation});
}

static void near(double found, double wanted)
{
    if (!(fabs(found - wanted) <= 1e-9 * fabs(wanted)))
        fail_msg("%.17g instead of %.17g", found, wanted);
}

static const nt_range_row *range_row(const made *m, const nt_trace_summary *s, const char *name)
{
    for (size_t i = 0; i < s->range_count; i++)
        if (s->range[i].name == -1 ? name == NULL : name != NULL && strcmp(m->trace.name[s->range[i].name], name) == 0)
            return &s->range[i];
    fail_msg("no row of range %s", name != NULL ? name : "(outside)");
    return NULL;
}

static void finish(made *m, nt_trace_summary *s)
{
    nt_trace_summary_done(s);
    nt_trace_done(&m->trace);
}

static void test_kernels(void **state)
{
    (void)state;
    made m;
    nt_trace_summary s;
    make(&m);
    static const int64_t ns[] = {900, 100, 300, 200};
    for (int i = 0; i < 4; i++) {
        launch_at(&m, -1, i * 1000);
        kernel(&m, "a", i == 0 ? 128 : 32, i * 1000, i * 1000 + ns[i]);
    }
    launch_at(&m, -1, 5000);
    kernel(&m, "b", 32, 5000, 5500);
    nt_trace_summarise(&m.trace, &s);
    assert_int_equal(s.kernel_count, 2);
    const nt_kernel_row *a = &s.kernel[0];
    assert_string_equal(m.trace.name[a->name], "a");
    assert_int_equal(a->calls, 4);
    near(a->total_ns, 1500);
    near(a->median_ns, 250);
    near(a->share_pct, 75);
    near(a->first_ns, 900);
    near(a->steady_ns, 200);
    assert_true(isnan(a->p99_ns)); /* four calls have no 99th percentile */
    assert_int_equal(a->shapes, 2);
    assert_int_equal(m.trace.shape[a->most_shape].registers, 128);
    /* 25 % for 900 ns at 128 registers, 100 % for 600 ns at 32 */
    near(a->occupancy_limit_pct, (25.0 * 900 + 100.0 * 600) / 1500);
    assert_string_equal(a->occupancy_limiter, "registers");
    assert_true(isnan(s.kernel[1].steady_ns)); /* there is only a first call */
    near(s.kernel_ns, 2000);
    finish(&m, &s);
}

static void test_p99_from_its_floor(void **state)
{
    (void)state;
    for (int count = NT_P99_LEAST - 1; count <= NT_P99_LEAST; count++) {
        made m;
        nt_trace_summary s;
        make(&m);
        for (int i = 0; i < count; i++) {
            launch_at(&m, -1, i * 10000);
            kernel(&m, "k", 32, i * 10000, i * 10000 + i + 1);
        }
        nt_trace_summarise(&m.trace, &s);
        if (count < NT_P99_LEAST)
            assert_true(isnan(s.kernel[0].p99_ns));
        else
            near(s.kernel[0].p99_ns, 1 + 0.99 * (count - 1));
        finish(&m, &s);
    }
}

/* The kernel runs long after its range was closed: the launch decides, not the overlap. */
static void test_range_by_launch(void **state)
{
    (void)state;
    made m;
    nt_trace_summary s;
    make(&m);
    int outer = open_at(&m, "outer", -1, 0, false), inner = open_at(&m, "inner", outer, 10, false);
    launch_at(&m, inner, 20);
    nt_trace_close_range(&m.trace, inner, T0 + 30);
    int later = open_at(&m, "later", outer, 40, false);
    kernel(&m, "k", 32, 50, 150);
    nt_trace_close_range(&m.trace, later, T0 + 200);
    nt_trace_close_range(&m.trace, outer, T0 + 300);
    nt_trace_summarise(&m.trace, &s);
    assert_int_equal(range_row(&m, &s, "inner")->kernels, 1);
    near(range_row(&m, &s, "inner")->total_ns, 100);
    near(range_row(&m, &s, "inner")->wall_ns, 20);
    near(range_row(&m, &s, "outer")->total_ns, 100);
    assert_int_equal(range_row(&m, &s, "later")->kernels, 0);
    finish(&m, &s);
}

/* A range begun and ended by id can end inside one that was pushed in it: what is launched after belongs to the inner
 * alone. */
static void test_range_that_does_not_nest(void **state)
{
    (void)state;
    made m;
    nt_trace_summary s;
    make(&m);
    int free_standing = open_at(&m, "job", -1, 0, true), pushed = open_at(&m, "step", free_standing, 10, false);
    nt_trace_close_range(&m.trace, free_standing, T0 + 20);
    launch_at(&m, pushed, 30);
    kernel(&m, "k", 32, 40, 50);
    launch_at(&m, free_standing, 35); /* a list that still held the ended range */
    kernel(&m, "k", 32, 60, 70);
    nt_trace_summarise(&m.trace, &s);
    assert_int_equal(range_row(&m, &s, "step")->kernels, 1);
    assert_int_equal(range_row(&m, &s, "step")->open, 1);
    assert_int_equal(range_row(&m, &s, "job")->kernels, 0);
    assert_int_equal(range_row(&m, &s, NULL)->kernels, 1);
    assert_int_equal(s.open_ranges, 1);
    finish(&m, &s);
}

static void test_iterations(void **state)
{
    (void)state;
    made m;
    nt_trace_summary s;
    make(&m);
    static const int64_t ns[] = {5000, 1000, 3000, 2000};
    for (int i = 0; i < 4; i++) {
        int range = open_at(&m, "iteration", -1, i * 10000, false);
        launch_at(&m, range, i * 10000 + 1);
        kernel(&m, "k", 32, i * 10000 + 100, i * 10000 + 100 + ns[i]);
        launch_at(&m, range, i * 10000 + 2);
        copy(&m, 1000, i * 10000 + 7100, i * 10000 + 8100);
        nt_trace_close_range(&m.trace, range, T0 + i * 10000 + 9000);
    }
    nt_trace_summarise(&m.trace, &s);
    const nt_range_row *row = range_row(&m, &s, "iteration");
    assert_int_equal(row->calls, 4);
    near(row->first_ns, 5000);
    near(row->steady_ns, 2000);
    near(row->median_ns, 2500);
    near(row->copy_pct, 100.0 * 4000 / 15000);
    near(row->idle_pct, 100.0 * (32000 - 15000) / 32000); /* 8000 from first to last in each, 15000 busy in all */
    near(s.copy_pct, 100.0 * 4000 / 15000);
    assert_int_equal(s.copy[0].calls, 4);
    near(s.copy[0].bytes_per_s, 1e9);
    finish(&m, &s);
}

static void test_idle_with_overlap(void **state)
{
    (void)state;
    made m;
    nt_trace_summary s;
    make(&m);
    launch_at(&m, -1, 0);
    kernel(&m, "a", 32, 500, 600); /* told before what began earlier */
    kernel(&m, "b", 32, 0, 300);
    kernel(&m, "c", 32, 100, 200);
    kernel(&m, "d", 32, 250, 400);
    nt_trace_summarise(&m.trace, &s);
    near(s.busy_ns, 500);
    near(s.span_ns, 600);
    near(s.idle_pct, 100.0 / 6);
    finish(&m, &s);
}

static void test_times_that_cannot_be(void **state)
{
    (void)state;
    made m;
    nt_trace_summary s;
    make(&m);
    int range = open_at(&m, "r", -1, 100, false);
    nt_trace_close_range(&m.trace, range, T0 + 50);
    kernel(&m, "k", 32, 100, 50);
    kernel(&m, "k", 32, -T0, -T0); /* recorded without times */
    nt_trace_summarise(&m.trace, &s);
    assert_int_equal(s.backwards, 2);
    assert_int_equal(s.unplaced, 2);
    assert_int_equal(s.kernel[0].calls, 2);
    assert_int_equal(s.kernel[0].timed, 0);
    assert_true(isnan(s.kernel[0].median_ns));
    assert_true(isnan(s.kernel[0].share_pct));
    assert_true(isnan(s.idle_pct));
    assert_true(isnan(s.kernel[0].occupancy_limit_pct));
    finish(&m, &s);
}

static void test_nothing(void **state)
{
    (void)state;
    nt_trace trace = {0};
    nt_trace_summary s;
    nt_trace_summarise(&trace, &s);
    assert_int_equal(s.kernel_count + s.range_count + s.copy_count, 0);
    assert_true(isnan(s.idle_pct));
    assert_int_equal(s.memory_peak_bytes, NT_UNKNOWN);
    nt_trace_summary_done(&s);
}

static void test_lookups(void **state)
{
    (void)state;
    nt_trace trace = {0};
    char text[32];
    for (int i = 0; i < 5000; i++) {
        snprintf(text, sizeof text, "name %d", i);
        assert_int_equal(nt_trace_name(&trace, text), i);
        nt_trace_add_launch(
            &trace, &(nt_trace_launch){.process = i % 3, .correlation = (uint32_t)i, .range = -1, .time_ns = i});
    }
    assert_int_equal(nt_trace_name(&trace, "name 4321"), 4321);
    nt_trace_add_launch(&trace, &(nt_trace_launch){.process = 1, .correlation = 4, .range = -1, .time_ns = 99});
    nt_trace_add_work(&trace, &(nt_trace_work){.kind = NT_WORK_COPY, .process = 1, .correlation = 4});
    assert_int_equal(trace.work[0].launch_ns, 4); /* the outermost call, told first, stands */
    nt_trace_add_work(&trace, &(nt_trace_work){.kind = NT_WORK_COPY, .process = 2, .correlation = 4});
    assert_int_equal(trace.work[1].launch_ns, NT_UNKNOWN);
    nt_trace_shape shape = {.block = {1 << 20, 1, 1}};
    assert_int_equal(nt_trace_threads(&shape), NT_UNKNOWN);
    nt_trace_done(&trace);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_kernels),
        cmocka_unit_test(test_p99_from_its_floor),
        cmocka_unit_test(test_range_by_launch),
        cmocka_unit_test(test_range_that_does_not_nest),
        cmocka_unit_test(test_iterations),
        cmocka_unit_test(test_idle_with_overlap),
        cmocka_unit_test(test_times_that_cannot_be),
        cmocka_unit_test(test_nothing),
        cmocka_unit_test(test_lookups),
    };
    return cmocka_run_group_tests_name("trace_summary", tests, NULL, NULL);
}
