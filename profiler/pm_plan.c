/* pm_plan.c: see pm_plan.h. Sets are rows, the richest first; a chip takes the first whose names it all knows and that
 * is one pass. A refused name spoils a host object, so each attempt has its own. */
#include "profiler/pm_plan.h"

#include <string.h>

#define E(name) name ".avg.pct_of_peak_sustained_elapsed"

/* clang-format off */
static const nt_pm_metric
    active     = {NT_LIVE_SM_ACTIVE,       1,    E("sm__cycles_active")},
    warps      = {NT_LIVE_OCCUPANCY,       1,    E("sm__warps_active")},
    issue      = {NT_LIVE_ISSUE,           1,    E("sm__inst_executed")},
    /* Not its _realtime form, which fits beside more and was seen to read fourteen times too much on Hopper. */
    tensor     = {NT_LIVE_TENSOR,          1,    E("sm__pipe_tensor_cycles_active")},
    dram       = {NT_LIVE_DRAM,            1,    E("dram__throughput")},
    dram_read  = {NT_LIVE_DRAM_READ,       1,    E("dram__read_throughput")},
    dram_write = {NT_LIVE_DRAM_WRITE,      1,    E("dram__write_throughput")},
    read_rate  = {NT_LIVE_DRAM_READ_RATE,  1,    "dram__bytes_read.sum.per_second"},
    write_rate = {NT_LIVE_DRAM_WRITE_RATE, 1,    "dram__bytes_write.sum.per_second"},
    read_op    = {NT_LIVE_DRAM_READ_RATE,  1,    "dram__bytes_op_read.sum.per_second"}, /* GB20x */
    write_op   = {NT_LIVE_DRAM_WRITE_RATE, 1,    "dram__bytes_op_write.sum.per_second"},
    clock      = {NT_LIVE_SM_CLOCK,        1e-6, "gpc__cycles_elapsed.avg.per_second"};
/* clang-format on */

/* What a set leaves out can be told from the rest (shares of reads and writes) or costs another pass. Few metrics:
 * turning samples into numbers costs by the metric. */
static const struct {
    const char *name;
    const nt_pm_metric *metric[NT_PM_MOST]; /* NULL ends */
} sets[] = {
    {"tensor_issue", {&active, &warps, &issue, &tensor, &dram, &read_rate, &write_rate, &clock}},
    {"tensor_issue_op", {&active, &warps, &issue, &tensor, &dram, &read_op, &write_op, &clock}},
    {"tensor", {&active, &warps, &tensor, &dram, &read_rate, &write_rate, &clock}},
    {"tensor_op", {&active, &warps, &tensor, &dram, &read_op, &write_op, &clock}},
    {"issue", {&active, &warps, &issue, &dram, &read_rate, &write_rate, &clock}},
    {"issue_op", {&active, &warps, &issue, &dram, &read_op, &write_op, &clock}},
    {"bytes", {&active, &warps, &issue, &read_rate, &write_rate, &clock}},
    {"four", {&active, &warps, &dram_read, &dram_write}},
    {"two", {&active, &warps}},
};
enum { SETS = sizeof sets / sizeof sets[0] };

static void fill(nt_pm_plan *plan, int set)
{
    plan->set = sets[set].name;
    plan->count = 0;
    for (int i = 0; i < NT_PM_MOST && sets[set].metric[i] != NULL; i++) {
        plan->metric[i] = *sets[set].metric[i];
        plan->name[i] = plan->metric[i].name;
        plan->count++;
    }
}

static bool knows_all(nt_cupti_host *look, const nt_pm_plan *plan)
{
    nt_cupti_metric about;
    for (int i = 0; i < plan->count; i++)
        if (nt_cupti_host_describe(look, plan->name[i], &about, NULL) != NT_OK)
            return false;
    return true;
}

static bool fits(const char *chip, const nt_cupti_image *available, nt_pm_plan *plan)
{
    int passes = 0;
    nt_status status = nt_cupti_host_open(NT_CUPTI_SAMPLES, chip, available, &plan->host, NULL);
    if (status == NT_OK)
        status = nt_cupti_host_add(plan->host, plan->name, (size_t)plan->count, NULL);
    if (status == NT_OK)
        status = nt_cupti_host_image(plan->host, &plan->config, &passes, NULL);
    if (status == NT_OK && passes == 1)
        return true;
    nt_pm_plan_close(plan);
    return false;
}

nt_status nt_pm_plan_open(const char *chip, const nt_cupti_image *available, nt_pm_plan *out, nt_error *err)
{
    nt_cupti_host *look = NULL;
    memset(out, 0, sizeof *out);
    nt_status status = nt_cupti_host_open(NT_CUPTI_SAMPLES, chip, available, &look, err);
    bool found = false;
    for (int i = 0; status == NT_OK && i < SETS && !found; i++) {
        fill(out, i);
        found = knows_all(look, out) && fits(chip, available, out);
    }
    nt_cupti_host_close(look);
    if (status != NT_OK || found)
        return status;
    nt_fail(err, NT_NO_DEVICE, "chip %s samples none of the sets of counters in one pass", chip);
    nt_hint(err, "use --source gpm or nvml");
    return NT_NO_DEVICE;
}

void nt_pm_plan_close(nt_pm_plan *plan)
{
    nt_cupti_image_done(&plan->config);
    nt_cupti_host_close(plan->host);
    plan->host = NULL;
}
