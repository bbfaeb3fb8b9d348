/* main.c: the judge of hardware counters, for a machine with an NVIDIA GPU. check.sh runs its parts and ncu around
 * them. judge worker NNTUNE N      N different configurations through `nntune --counter-worker`: set t1, cost of each
 *   judge count N.. | launch N twelve metrics of N launches of a small kernel, by us | launched only, for ncu
 *   judge counted | plain      values of known kernels as lines on stdout | launched only, in the same order, for ncu
 *   judge compare OURS NCU.csv the two against each other, with the bars; exit 1 when one is missed
 *   judge zeroing              what CUPTI makes of a plan whose first stage zeroes memory
 *   judge slope FILE           the cost of a launch, ours and ncu's
 *   judge advice               each rule of advice on a kernel with the fault and on its repaired twin */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/clock.h"
#include "device/cuda_device.h"
#include "profiler/cupti_api.h"
#include "profiler/cupti_range.h"
#include "tests/gpu_counters/judge.h"

static const char *const twelve[] = {
    "sm__throughput.avg.pct_of_peak_sustained_elapsed",
    "gpu__compute_memory_throughput.avg.pct_of_peak_sustained_elapsed",
    "l1tex__throughput.avg.pct_of_peak_sustained_active",
    "lts__throughput.avg.pct_of_peak_sustained_elapsed",
    "gpu__dram_throughput.avg.pct_of_peak_sustained_elapsed",
    "gpu__time_duration.sum",
    "sm__cycles_elapsed.max",
    "sm__warps_active.avg.pct_of_peak_sustained_active",
    "dram__bytes_read.sum",
    "dram__bytes_write.sum",
    "l1tex__t_sector_hit_rate.pct",
    "smsp__issue_active.avg.pct_of_peak_sustained_active",
};
enum { TWELVE = sizeof twelve / sizeof twelve[0], SMALL = 3, MOST = 1024 };

int judge_fail(const char *doing, const nt_error *err)
{
    fprintf(stderr, "%s: %s\n  %s\n", doing, err->what, err->hint);
    return 1;
}

static nt_counters *open_counters(bench *b, const char *const *names, size_t count)
{
    nt_error err = {0};
    nt_counters *counters = NULL;
    double begin = nt_now_ms();
    if (nt_counters_open(b->ops, b->device, names, count, 0, &counters, &err) != NT_OK)
        judge_fail("opening the counters", &err);
    else
        fprintf(stderr, "chip %s: %zu metrics, %d passes, opened in %.1f ms\n", nt_counters_plan(counters)->chip,
                nt_counters_count(counters), nt_counters_passes(counters), nt_now_ms() - begin);
    return counters;
}

static int count(int argc, char **argv)
{
    static nt_target targets[MOST];
    nt_error err = {0};
    bench b;
    if (!bench_open(&b))
        return 1;
    nt_counters *counters = open_counters(&b, twelve, TWELVE);
    double *values = calloc(MOST * TWELVE, sizeof *values);
    for (int i = 0; counters != NULL && values != NULL && i < argc; i++) {
        size_t n = (size_t)atoi(argv[i]) < MOST ? (size_t)atoi(argv[i]) : MOST;
        for (size_t k = 0; k < n; k++)
            targets[k] = bench_target(&b, &b.subject[SMALL]);
        double begin = nt_now_ms();
        if (nt_counters_collect(counters, targets, n, NT_COLD, values, NULL, &err) != NT_OK)
            return judge_fail("counting", &err);
        printf("ours %zu launches %.1f ms; first: %.4g ns, occupancy %.4g %%\n", n, nt_now_ms() - begin, values[5],
               values[7]);
    }
    if (counters != NULL) {
        nt_counters_cost cost = nt_counters_spent(counters);
        printf("of it: launches %.0f ms, start and stop %.0f, reading %.0f\n", cost.launch_ms, cost.start_stop_ms, cost.read_ms);
    }
    free(values);
    nt_counters_close(counters);
    bench_close(&b);
    return counters != NULL ? 0 : 1;
}

static int launch(int argc, char **argv)
{
    bench b;
    nt_error err = {0};
    if (argc < 1 || !bench_open(&b))
        return 1;
    nt_target t = bench_target(&b, &b.subject[SMALL]);
    for (int i = atoi(argv[0]); i > 0; i--)
        if (t.ops->run(t.device, t.module, t.plan, false, &t.ring[(*t.position)++ % t.ring_count], NULL, &err) != NT_OK)
            return judge_fail("launching", &err);
    bench_close(&b);
    return 0;
}

static int plain(int argc, char **argv)
{
    nt_target targets[SUBJECTS_PER_GROUP * SUBJECT_LAUNCHES];
    bench b;
    (void)argc, (void)argv;
    if (!bench_open(&b))
        return 1;
    for (int g = 0; g < GROUPS; g++)
        if (!bench_launch_plain(&b, targets, bench_group(&b, g, targets)))
            return 1;
    bench_close(&b);
    return 0;
}

static int counted(int argc, char **argv)
{
    static const char *const names[] = {"t1", "flop"};
    nt_target targets[SUBJECTS_PER_GROUP * SUBJECT_LAUNCHES];
    nt_error err = {0};
    bench b;
    (void)argc, (void)argv;
    nt_counters *counters = bench_open(&b) ? open_counters(&b, names, 2) : NULL;
    if (counters == NULL)
        return 1;
    const nt_metric_plan *plan = nt_counters_plan(counters);
    double *values = calloc(SUBJECTS_PER_GROUP * SUBJECT_LAUNCHES * plan->count, sizeof *values);
    for (int g = 0; values != NULL && g < GROUPS; g++) {
        size_t n = bench_group(&b, g, targets);
        if (nt_counters_collect(counters, targets, n, NT_COLD, values, NULL, &err) != NT_OK)
            return judge_fail("counting", &err);
        for (size_t i = 0; i < n; i++)
            for (size_t k = 0; k < plan->count; k++)
                printf("%d %s %.17g\n", g * SUBJECTS_PER_GROUP + (int)i / SUBJECT_LAUNCHES, plan->metric[k].counter,
                       values[i * plan->count + k]);
    }
    free(values);
    nt_counters_close(counters);
    bench_close(&b);
    return 0;
}

static int zeroing(int argc, char **argv)
{
    static const char *const names[] = {"t1"};
    nt_error err = {0};
    bench b;
    (void)argc, (void)argv;
    nt_counters *counters = bench_open(&b) ? open_counters(&b, names, 1) : NULL;
    if (counters == NULL)
        return 1;
    subject *s = &b.subject[SMALL];
    s->plan.stage[1] = s->plan.stage[2] = s->plan.stage[0];
    nt_stage_zero(&s->plan.stage[0], NT_ROLE_OUT, s->out_bytes);
    s->plan.stage_count = 3;
    nt_target targets[2] = {bench_target(&b, s), bench_target(&b, s)};
    double values[2 * 13];
    for (int hot = 0; hot < 2; hot++) {
        if (nt_counters_collect(counters, targets, 2, hot ? NT_HOT : NT_COLD, values, NULL, &err) != NT_OK)
            return judge_fail("counting a plan that zeroes and copies twice", &err);
        for (int k = 0; k < 13; k++)
            printf("%s zero+copy+copy %s %.6g %.6g\n", hot ? "hot" : "cold", nt_counters_plan(counters)->metric[k].name,
                   values[k], values[13 + k]);
    }
    nt_counters_close(counters);
    bench_close(&b);
    return 0;
}

/* What each step of taking the counters costs. */
static int steps(int argc, char **argv)
{
    static const char *const names[] = {"t1"};
    bench b;
    CUdevice handle;
    CUcontext context;
    nt_error err = {0};
    char chip[NT_CHIP_BYTES] = "";
    nt_cupti_image available = {0};
    nt_metric_plan *plan = NULL;
    nt_cupti_range *session = NULL;
    const nt_cupti_api *api;
    bool more = false;
    (void)argc, (void)argv;
    if (!bench_open(&b))
        return 1;
    nt_cuda_native(b.device, &handle, &context);
    nt_cupti_target target = {0, handle, context};
    double at[10] = {nt_now_ms()};
    nt_status status = nt_cupti_api_get(&api, NULL, &err);
    at[1] = nt_now_ms();
    status = status == NT_OK ? nt_cupti_range_probe(&target, chip, &err) : status;
    at[2] = nt_now_ms();
    at[3] = nt_now_ms();
    status = status == NT_OK ? nt_metric_plan_open(NT_CUPTI_RANGES, chip, NULL, names, 1, 0, &plan, &err) : status;
    at[4] = nt_now_ms();
    status = status == NT_OK ? nt_cupti_range_open(&target, plan, 128, &session, &err) : status;
    at[5] = nt_now_ms();
    status = status == NT_OK ? nt_cupti_range_start(session, &err) : status;
    at[6] = nt_now_ms();
    status = status == NT_OK ? nt_cupti_range_stop(session, &more, &err) : status;
    at[7] = nt_now_ms();
    nt_cupti_range_close(session);
    at[8] = nt_now_ms();
    status = status == NT_OK ? nt_cupti_range_available(&target, &available, &err) : status;
    at[9] = nt_now_ms();
    printf("steps (ms): library %.1f, probe %.1f, availability %.1f (%zu bytes), plan %.1f, session %.1f, first start "
           "%.1f, "
           "stop %.1f\n",
           at[1] - at[0], at[2] - at[1], at[9] - at[8], available.count, at[4] - at[3], at[5] - at[4], at[6] - at[5],
           at[7] - at[6]);
    nt_metric_plan_close(plan);
    nt_cupti_image_done(&available);
    bench_close(&b);
    return status == NT_OK ? 0 : judge_fail("taking the counters step by step", &err);
}

/* What the first pass of a session costs, by its room for ranges and by what the context holds: starts RANGES LAUNCHES. */
static int starts(int argc, char **argv)
{
    static const char *const names[] = {"t1"};
    bench b;
    CUdevice handle;
    CUcontext context;
    nt_error err = {0};
    char chip[NT_CHIP_BYTES] = "";
    nt_metric_plan *plan = NULL;
    nt_cupti_range *session = NULL;
    bool more = false;
    if (argc < 2 || !bench_open(&b))
        return 1;
    nt_cuda_native(b.device, &handle, &context);
    nt_cupti_target target = {0, handle, context};
    nt_target one = bench_target(&b, &b.subject[SMALL]);
    for (int i = 0; i < atoi(argv[1]); i++)
        bench_launch_plain(&b, &one, 1);
    nt_status status = nt_cupti_range_probe(&target, chip, &err);
    status = status == NT_OK ? nt_metric_plan_open(NT_CUPTI_RANGES, chip, NULL, names, 1, 0, &plan, &err) : status;
    double at[4] = {nt_now_ms()};
    status =
        status == NT_OK ? nt_cupti_range_open(&target, plan, (size_t)atoi(argv[0]), &session, &err) : status;
    for (int i = 1; i < 4 && status == NT_OK; i++) {
        at[i] = nt_now_ms();
        status = i < 3 ? nt_cupti_range_start(session, &err) : NT_OK;
        status = status == NT_OK && i < 3 ? nt_cupti_range_stop(session, &more, &err) : status;
        status = status == NT_OK && i < 3 ? nt_cupti_range_reset(session, &err) : status;
    }
    printf("room for %s ranges, %s launches before: session %.1f ms, first pass %.1f, second %.1f\n", argv[0], argv[1],
           at[1] - at[0], at[2] - at[1], at[3] - at[2]);
    nt_cupti_range_close(session);
    nt_metric_plan_close(plan);
    bench_close(&b);
    return status == NT_OK ? 0 : judge_fail("starting to count", &err);
}

int main(int argc, char **argv)
{
    static const struct {
        const char *name;
        int (*run)(int argc, char **argv);
    } parts[] = {
        {"worker", judge_worker}, {"count", count},         {"launch", launch},         {"plain", plain},
        {"counted", counted},     {"zeroing", zeroing},     {"compare", judge_compare}, {"steps", steps},
        {"slope", judge_slope},   {"advice", judge_advice}, {"starts", starts},
    };
    for (size_t i = 0; argc >= 2 && i < sizeof parts / sizeof parts[0]; i++)
        if (strcmp(parts[i].name, argv[1]) == 0)
            return parts[i].run(argc - 2, argv + 2);
    fprintf(stderr,
            "usage: %s worker NNTUNE N | count N.. | launch N | counted | plain | compare OURS NCU.csv | zeroing | "
            "slope FILE | advice | starts RANGES LAUNCHES\n",
            argv[0]);
    return 2;
}
