/* metrics.c: see metrics.h. Names were looked up in CUPTI's lists for TU102, GA100, GA102, AD102, GH100, GB100 and
 * GB202; the unit test does it again with the library that is there. */
#include "profiler/metrics.h"

#include <string.h>
#include <strings.h>

#define ACTIVE  ".avg.pct_of_peak_sustained_active"
#define ELAPSED ".avg.pct_of_peak_sustained_elapsed"

#define COLUMN(name, unit, counter, what) \
    {                                     \
        name, unit, {counter, NULL}, what \
    }
#define STALL(reason, what) \
    COLUMN("stall_" #reason, "warps", "smsp__average_warps_issue_stalled_" #reason "_per_issue_active.ratio", what)
#define FLOP(op, what) \
    COLUMN(#op "_count", "instructions", "smsp__sass_thread_inst_executed_op_" #op "_pred_on.sum", what)

const char nt_metric_duration[] = "gpu__time_duration.sum";

const nt_metric_column nt_metric_columns[] = {
    /* one pass of a tuner's needs */
    COLUMN("counter_time_ns", "ns", "gpu__time_duration.sum", "duration under the counters, kernels one by one"),
    COLUMN("sm_cycles", "cycles", "sm__cycles_elapsed.max", "SM cycles from first to last"),
    COLUMN("counter_sm_clock_hz", "Hz", "sm__cycles_elapsed.avg.per_second", "SM clock under the counters"),
    COLUMN("sm_active_cycles", "cycles", "sm__cycles_active.avg",
           "SM cycles with at least one warp, mean over the SMs"),
    COLUMN("occupancy_pct", "%", "sm__warps_active" ACTIVE,
           "achieved occupancy: resident warps over the most possible"),
    {"dram_read_bytes", "bytes", {"dram__bytes_read.sum", "dram__bytes_op_read.sum"}, "read from device memory"},
    {"dram_write_bytes", "bytes", {"dram__bytes_write.sum", "dram__bytes_op_write.sum"}, "written to device memory"},
    COLUMN("dram_pct", "%", "dram__throughput" ELAPSED, "device memory's interface busy"),
    COLUMN("issue_pct", "%", "smsp__issue_active" ACTIVE, "cycles in which a scheduler issued an instruction"),
    COLUMN("instructions", "instructions", "smsp__inst_executed.sum", "instructions executed, per warp"),
    COLUMN("tensor_pct", "%", "sm__pipe_tensor_cycles_active" ACTIVE, "tensor pipe busy"),
    COLUMN("l1_hit_pct", "%", "l1tex__t_sector_hit_rate.pct", "sectors found in L1"),
    COLUMN("l2_sectors_pct", "%", "lts__t_sectors" ELAPSED, "L2 sectors over the most possible"),

    /* one pass more */
    COLUMN("tensor_instructions", "instructions", "sm__inst_executed_pipe_tensor.sum",
           "instructions of the tensor pipe"),
    COLUMN("fma_pct", "%", "sm__pipe_fma_cycles_active" ACTIVE, "FMA pipe busy"),
    COLUMN("l2_hit_pct", "%", "lts__t_sector_hit_rate.pct", "sectors found in L2"),
    COLUMN("eligible_warps", "warps", "smsp__warps_eligible.avg.per_cycle_active",
           "warps ready to issue, per scheduler"),

    /* shared memory */
    COLUMN("bank_conflicts", "conflicts", "l1tex__data_bank_conflicts_pipe_lsu_mem_shared.sum", "of shared memory"),
    COLUMN("bank_conflicts_load", "conflicts", "l1tex__data_bank_conflicts_pipe_lsu_mem_shared_op_ld.sum",
           "of loads from shared memory"),
    COLUMN("bank_conflicts_store", "conflicts", "l1tex__data_bank_conflicts_pipe_lsu_mem_shared_op_st.sum",
           "of stores to shared memory"),
    COLUMN("shared_wavefronts", "wavefronts", "l1tex__data_pipe_lsu_wavefronts_mem_shared.sum",
           "trips through shared memory; without conflicts one a request"),

    /* global and local memory */
    COLUMN("load_sectors_per_request", "sectors",
           "l1tex__average_t_sectors_per_request_pipe_lsu_mem_global_op_ld.ratio",
           "32-byte sectors a global load of a warp touches: 4 for 4-byte words side by side"),
    COLUMN("store_sectors_per_request", "sectors",
           "l1tex__average_t_sectors_per_request_pipe_lsu_mem_global_op_st.ratio",
           "32-byte sectors a global store of a warp touches"),
    COLUMN("load_sectors", "sectors", "l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum", "sectors of global loads"),
    COLUMN("store_sectors", "sectors", "l1tex__t_sectors_pipe_lsu_mem_global_op_st.sum", "sectors of global stores"),
    COLUMN("local_load_sectors", "sectors", "l1tex__t_sectors_pipe_lsu_mem_local_op_ld.sum",
           "sectors loaded from local memory: spills and arrays"),
    COLUMN("local_store_sectors", "sectors", "l1tex__t_sectors_pipe_lsu_mem_local_op_st.sum",
           "sectors stored to local memory: spills and arrays"),
    COLUMN("load_bytes_per_sector", "bytes", "smsp__sass_average_data_bytes_per_sector_mem_global_op_ld.ratio",
           "bytes used of each 32-byte sector that global loads fetch"),
    COLUMN("store_bytes_per_sector", "bytes", "smsp__sass_average_data_bytes_per_sector_mem_global_op_st.ratio",
           "bytes used of each 32-byte sector that global stores write"),

    /* speed of light */
    COLUMN("sol_sm_pct", "%", "sm__throughput" ELAPSED, "the busiest part of the SMs"),
    COLUMN("sol_memory_pct", "%", "gpu__compute_memory_throughput" ELAPSED, "the busiest part of the memory system"),
    COLUMN("sol_l1_pct", "%", "l1tex__throughput" ACTIVE, "L1 and shared memory"),
    COLUMN("sol_l2_pct", "%", "lts__throughput" ELAPSED, "L2"),
    COLUMN("sol_dram_pct", "%", "gpu__dram_throughput" ELAPSED, "device memory"),

    /* what warps wait for, in warps per issued instruction */
    STALL(barrier, "waiting at a barrier of the block"),
    STALL(branch_resolving, "waiting for a branch"),
    STALL(dispatch_stall, "held back by the dispatcher"),
    STALL(drain, "waiting for stores at the end"),
    STALL(gmma, "waiting for a tensor instruction of a warp group"),
    STALL(imc_miss, "waiting for the constant cache"),
    STALL(lg_throttle, "too many local or global accesses queued"),
    STALL(long_scoreboard, "waiting for global, local or texture memory"),
    STALL(math_pipe_throttle, "waiting for an arithmetic pipe"),
    STALL(membar, "waiting at a memory fence"),
    STALL(mio_throttle, "too many shared memory or special instructions queued"),
    STALL(misc, "anything else"),
    STALL(no_instruction, "waiting for instructions"),
    STALL(not_selected, "ready, but another warp was taken"),
    STALL(selected, "issuing"),
    STALL(short_scoreboard, "waiting for shared memory or special functions"),
    STALL(sleeping, "asleep"),
    STALL(tex_throttle, "too many texture accesses queued"),
    STALL(wait, "a fixed wait between dependent instructions"),

    /* arithmetic outside the tensor cores, counted per thread */
    FLOP(fadd, "fp32 additions"),
    FLOP(fmul, "fp32 multiplications"),
    FLOP(ffma, "fp32 fused multiply-adds: 2 operations each"),
    FLOP(dadd, "fp64 additions"),
    FLOP(dmul, "fp64 multiplications"),
    FLOP(dfma, "fp64 fused multiply-adds: 2 operations each"),
    FLOP(hadd, "fp16 additions"),
    FLOP(hmul, "fp16 multiplications"),
    FLOP(hfma, "fp16 fused multiply-adds"),
};
const size_t nt_metric_column_count = sizeof nt_metric_columns / sizeof nt_metric_columns[0];

static const char *const t1[] = {
    "counter_time_ns",  "sm_cycles", "counter_sm_clock_hz", "sm_active_cycles", "occupancy_pct", "dram_read_bytes",
    "dram_write_bytes", "dram_pct",  "issue_pct",           "instructions",     "tensor_pct",    "l1_hit_pct",
    "l2_sectors_pct",   NULL,
};
static const char *const t2[] = {
    "tensor_instructions", "l2_hit_pct", "bank_conflicts", "shared_wavefronts", "eligible_warps", NULL,
};
static const char *const sol[] = {
    "sol_sm_pct", "sol_memory_pct", "sol_l1_pct", "sol_l2_pct", "sol_dram_pct", "counter_time_ns", "sm_cycles", NULL,
};
static const char *const stall[] = {
    "stall_barrier",
    "stall_branch_resolving",
    "stall_dispatch_stall",
    "stall_drain",
    "stall_gmma",
    "stall_imc_miss",
    "stall_lg_throttle",
    "stall_long_scoreboard",
    "stall_math_pipe_throttle",
    "stall_membar",
    "stall_mio_throttle",
    "stall_misc",
    "stall_no_instruction",
    "stall_not_selected",
    "stall_selected",
    "stall_short_scoreboard",
    "stall_sleeping",
    "stall_tex_throttle",
    "stall_wait",
    NULL,
};
static const char *const banks[] = {
    "bank_conflicts", "bank_conflicts_load", "bank_conflicts_store", "shared_wavefronts", NULL,
};
static const char *const accesses[] = {
    "load_sectors_per_request", "store_sectors_per_request", "load_sectors", "store_sectors",
    "local_load_sectors",       "local_store_sectors",       "l2_hit_pct",   NULL,
};
static const char *const coalescing[] = {"load_bytes_per_sector", "store_bytes_per_sector", NULL};
static const char *const flop[] = {
    "fadd_count", "fmul_count", "ffma_count", "dadd_count", "dmul_count",
    "dfma_count", "hadd_count", "hmul_count", "hfma_count", NULL,
};

const nt_metric_set nt_metric_sets[] = {
    {"t1", "occupancy, bandwidth, issue, tensor use: one pass on every chip since GA100", t1, NULL, NULL},
    {"t2", "hit rate of L2, bank conflicts, tensor instructions, eligible warps", t2, NULL, NULL},
    {"sol", "speed of light: how near each part is to its peak", sol, NULL, NULL},
    {"stall", "what warps wait for", stall, NULL, NULL},
    {"banks", "bank conflicts of shared memory", banks, NULL, NULL},
    {"access", "how global memory is accessed, and local memory", accesses, NULL, NULL},
    {"coalescing", "bytes used of each sector moved", coalescing, NULL, NULL},
    {"flop", "arithmetic instructions outside the tensor cores", flop, NULL, NULL},
    {"tensor", "operations of the tensor cores by type", NULL, "sm__ops_path_tensor_src_", "_sparsity_"},
};
const size_t nt_metric_set_count = sizeof nt_metric_sets / sizeof nt_metric_sets[0];

const nt_metric_column *nt_metric_column_find(const char *name)
{
    for (size_t i = 0; i < nt_metric_column_count; i++)
        if (strcmp(nt_metric_columns[i].name, name) == 0)
            return &nt_metric_columns[i];
    return NULL;
}

const nt_metric_set *nt_metric_set_find(const char *name)
{
    for (size_t i = 0; i < nt_metric_set_count; i++)
        if (strcasecmp(nt_metric_sets[i].name, name) == 0)
            return &nt_metric_sets[i];
    return NULL;
}

bool nt_metric_adds_up(const char *counter)
{
    static const char *const shares[] = {".pct", ".ratio", ".per_", ".max_rate", ".peak_"};
    for (size_t i = 0; i < sizeof shares / sizeof shares[0]; i++)
        if (strstr(counter, shares[i]) != NULL)
            return false;
    return true;
}
