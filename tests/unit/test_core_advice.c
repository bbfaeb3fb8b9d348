/* Advice: for each rule a made-up trial that has the fault, and its repaired twin on which the rule is silent. The
 * device is like an H200; the trial that all start from has no fault at all. */
#include "core/advice.h"

#include <string.h>

#include "core_check.h"

enum { MOST_COUNTERS = 16 };

typedef struct subject {
    nt_device_info device;
    nt_trial trial;
    nt_counter counter[MOST_COUNTERS];
    size_t counters;
    double flop, bytes;
} subject;

static void set(subject *s, const char *name, double value)
{
    for (size_t i = 0; i < s->counters; i++)
        if (strcmp(s->counter[i].name, name) == 0) {
            s->counter[i].value = value;
            return;
        }
    s->counter[s->counters++] = (nt_counter){.name = name, .value = value};
}

static void set_device(nt_device_info *device)
{
    nt_device_info_init(device, NT_DEVICE_CUDA);
    device->compute_capability = 90;
    device->sm_count = 132;
    device->max_threads_per_block = 1024;
    device->max_threads_per_sm = 2048;
    device->max_blocks_per_sm = 32;
    device->regs_per_block = device->regs_per_sm = 65536;
    device->smem_per_sm_bytes = 233472;
    device->smem_per_block_bytes = 232448;
    device->smem_reserved_bytes = 1024;
    device->warp_size = 32;
    device->sm_clock_max_mhz = 2000;
    device->dram_peak_bytes_per_s = 4e12;
    device->peak_flops[NT_BF16] = 1000e12;
}

/* 1 ms, 650 TFLOP/s, 1 TB/s, occupancy 50 %, ten full waves. */
static subject sound(void)
{
    subject s;
    memset(&s, 0, sizeof s);
    set_device(&s.device);
    nt_trial_init(&s.trial);
    s.trial.outcome = NT_OUTCOME_OK;
    s.trial.problem.precision = NT_BF16;
    s.trial.cache = NT_COLD;
    s.trial.time_ns = 1e6;
    s.trial.floor_ns = 2000;
    s.trial.conditions.sm_clock_mhz = 1800;
    s.trial.artefact.registers = 64;
    s.trial.artefact.spill_bytes = 0;
    s.trial.threads_per_block = 256;
    s.trial.smem_bytes = 32768;
    s.trial.grid_blocks = 4 * 132 * 10;
    s.flop = 650e9;
    s.bytes = 0.8e9;
    set(&s, "occupancy_pct", 48);
    set(&s, "dram_read_bytes", 0.6e9);
    set(&s, "dram_write_bytes", 0.4e9);
    set(&s, "smsp__issue_active.avg.pct_of_peak_sustained_active", 45);
    set(&s, "sm__pipe_tensor_cycles_active.avg.pct_of_peak_sustained_active", 70);
    set(&s, "smsp__sass_average_data_bytes_per_sector_mem_global_op_ld.ratio", 32);
    set(&s, "l1tex__data_bank_conflicts_pipe_lsu_mem_shared.sum", 1000);
    set(&s, "l1tex__data_pipe_lsu_wavefronts_mem_shared.sum", 1e6);
    return s;
}

/* Nothing near a roof, tensor cores idle: the kernel waits. */
static subject waiting(void)
{
    subject s = sound();
    s.flop = 100e9;
    set(&s, "sm__pipe_tensor_cycles_active.avg.pct_of_peak_sustained_active", 12);
    return s;
}

static nt_advice_input input_of(const subject *s)
{
    return (nt_advice_input){&s->device, &s->trial, s->counter, s->counters, s->flop, s->bytes};
}

static int rule_of(const char *name)
{
    for (int i = 0; i < nt_advice_rule_count(); i++)
        if (strcmp(nt_advice_rule_name(i), name) == 0)
            return i;
    fail_msg("no rule %s", name);
    return -1;
}

/* The rule speaks of the faulty trial with these words, and is silent on its twin. */
static void judge(const char *rule, const subject *faulty, const subject *repaired, const char *const *words)
{
    char sentence[320];
    nt_advice_input in = input_of(faulty);
    assert_true(nt_advice_rule_speaks(rule_of(rule), &in, sentence, sizeof sentence));
    for (; *words != NULL; words++)
        if (strstr(sentence, *words) == NULL)
            fail_msg("'%s' is not in: %s", *words, sentence);
    assert_int_equal(sentence[strlen(sentence) - 1], '.');
    in = input_of(repaired);
    if (nt_advice_rule_speaks(rule_of(rule), &in, sentence, sizeof sentence))
        fail_msg("%s speaks of the repaired twin: %s", rule, sentence);
}

#define WORDS(...) ((const char *const[]){__VA_ARGS__, NULL})

static void nothing_to_say_about_a_sound_trial(void **state)
{
    (void)state;
    subject s = sound(), w = waiting();
    nt_advice_input in = input_of(&s);
    nt_advice advice;
    nt_advice_of(&in, &advice);
    if (advice.count > 0)
        fail_msg("%s", advice.line[0].sentence);
    in = input_of(&w);
    nt_advice_of(&in, &advice);
    if (advice.count > 0)
        fail_msg("%s", advice.line[0].sentence);
}

static void launch(void **state)
{
    (void)state;
    subject bad = sound(), good = sound();
    bad.trial.time_ns = 5000;
    judge("launch", &bad, &good, WORDS("5 us", "2 us"));
}

static void spills(void **state)
{
    (void)state;
    subject bad = sound(), good = sound();
    bad.trial.artefact.spill_bytes = 136;
    judge("spills", &bad, &good, WORDS("136 bytes", "64 registers"));
    good.trial.artefact.spill_bytes = NT_UNKNOWN;
    judge("spills", &bad, &good, WORDS("136 bytes"));
}

static void at_roof(void **state)
{
    (void)state;
    subject bad = sound(), good = sound();
    bad.flop = 760e9; /* 84 % of what 1800 MHz allow */
    judge("at_roof", &bad, &good, WORDS("760 TFLOP/s", "84.4 %", "1800 MHz"));
    bad.trial.conditions.sm_clock_mhz = NAN; /* then the highest clock is the measure: 76 % */
    nt_advice_input in = input_of(&bad);
    char sentence[320];
    assert_false(nt_advice_rule_speaks(rule_of("at_roof"), &in, sentence, sizeof sentence));
    bad.flop = 10e9;
    bad.bytes = 3.6e9;
    judge("at_roof", &bad, &good, WORDS("3.6 TB/s", "90.0 %", "memory roof"));
}

static void uncoalesced(void **state)
{
    (void)state;
    subject bad = sound(), good = sound();
    set(&bad, "smsp__sass_average_data_bytes_per_sector_mem_global_op_ld.ratio", 4);
    judge("uncoalesced", &bad, &good, WORDS("4.0 of each 32", "12.5 %"));
    set(&bad, "smsp__sass_average_data_bytes_per_sector_mem_global_op_ld.ratio", 32);
    set(&bad, "smsp__sass_average_data_bytes_per_sector_mem_global_op_st.ratio", 8);
    judge("uncoalesced", &bad, &good, WORDS("8.0 of each 32"));
}

static void bank_conflicts(void **state)
{
    (void)state;
    subject bad = sound(), good = sound();
    set(&bad, "l1tex__data_bank_conflicts_pipe_lsu_mem_shared.sum", 875000);
    judge("bank_conflicts", &bad, &good, WORDS("87.5 %"));
    set(&good, "l1tex__data_pipe_lsu_wavefronts_mem_shared.sum", 0); /* no shared memory used at all */
    set(&good, "l1tex__data_bank_conflicts_pipe_lsu_mem_shared.sum", 0);
    judge("bank_conflicts", &bad, &good, WORDS("87.5 %"));
}

static void extra_traffic(void **state)
{
    (void)state;
    subject bad = sound(), good = sound(), slow;
    set(&bad, "dram_read_bytes", 2.0e9);
    judge("extra_traffic", &bad, &good, WORDS("3.0 times"));
    slow = bad; /* as many bytes, but in ten times the time: they are not what it waits for */
    slow.trial.time_ns = 1e7;
    judge("extra_traffic", &bad, &slow, WORDS("3.0 times"));
}

static void few_blocks(void **state)
{
    (void)state;
    subject bad = waiting(), good = waiting();
    bad.trial.grid_blocks = 49;
    judge("few_blocks", &bad, &good, WORDS("49 blocks for 132 SMs", "83 SMs"));
    good.trial.grid_blocks = 132;
    judge("few_blocks", &bad, &good, WORDS("49 blocks"));
}

static void tail(void **state)
{
    (void)state;
    subject bad = sound(), good = sound();
    bad.trial.grid_blocks = 4 * 132 + 53; /* 1.1 waves take the time of two */
    judge("tail", &bad, &good, WORDS("1.10 waves", "528", "10.0 % full", "45.0 %"));
    good.trial.grid_blocks = 4 * 132 * 20 + 53; /* the same rest behind twenty waves */
    judge("tail", &bad, &good, WORDS("1.10 waves"));
}

static void dram_bound(void **state)
{
    (void)state;
    subject bad = sound(), good = sound();
    bad.flop = 10e9;
    set(&bad, "dram_read_bytes", 2.4e9);
    judge("dram_bound", &bad, &good, WORDS("2.8 TB/s", "70.0 %"));
    good = bad; /* when the least traffic itself is at the roof, that is what is said */
    good.bytes = 3.3e9;
    judge("dram_bound", &bad, &good, WORDS("70.0 %"));
}

static void occupancy(void **state)
{
    (void)state;
    subject bad = waiting(), good = waiting(), busy;
    bad.trial.artefact.registers = 168;
    judge("occupancy", &bad, &good, WORDS("12.5 %", "registers (168 per thread, 1 block per SM)", "128 would let 2"));
    bad.trial.artefact.registers = 64;
    bad.trial.smem_bytes = 100 * 1024;
    judge("occupancy", &bad, &good, WORDS("25.0 %", "shared memory (100 KiB per block, 2 blocks per SM)", "let 3 in"));
    busy = bad; /* the same occupancy is right where the tensor cores are busy with it */
    set(&busy, "sm__pipe_tensor_cycles_active.avg.pct_of_peak_sustained_active", 90);
    judge("occupancy", &bad, &busy, WORDS("25.0 %"));
}

static void in_flight(void **state)
{
    (void)state;
    subject bad = waiting(), good = waiting();
    set(&bad, "occupancy_pct", 11);
    set(&bad, "smsp__issue_active.avg.pct_of_peak_sustained_active", 9);
    judge("in_flight", &bad, &good, WORDS("11.0 %", "9.0 %"));
    good = bad;
    set(&good, "smsp__issue_active.avg.pct_of_peak_sustained_active", 60);
    judge("in_flight", &bad, &good, WORDS("11.0 %"));
}

/* Without counters, without resources, on a trial that failed: nobody is accused. */
static void silent_about_the_unknown(void **state)
{
    (void)state;
    subject s = waiting();
    nt_device_info device;
    nt_trial trial;
    nt_advice advice;
    nt_device_info_init(&device, NT_DEVICE_CPU);
    nt_trial_init(&trial);
    trial.outcome = NT_OUTCOME_OK;
    nt_advice_input in = {&device, &trial, NULL, 0, NAN, NAN};
    nt_advice_of(&in, &advice);
    assert_int_equal(advice.count, 0);
    s.trial.artefact.spill_bytes = 100;
    s.trial.outcome = NT_OUTCOME_WRONG_RESULT;
    in = input_of(&s);
    nt_advice_of(&in, &advice);
    assert_int_equal(advice.count, 0);
}

static void the_first_two_in_order(void **state)
{
    (void)state;
    subject s = waiting();
    nt_advice advice;
    s.trial.grid_blocks = 49;
    s.trial.artefact.spill_bytes = 8;
    s.trial.artefact.registers = 168;
    nt_advice_input in = input_of(&s);
    nt_advice_of(&in, &advice);
    assert_int_equal(advice.count, 2);
    assert_string_equal(advice.line[0].rule, "spills");
    assert_string_equal(advice.line[1].rule, "few_blocks");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(nothing_to_say_about_a_sound_trial),
        cmocka_unit_test(launch),
        cmocka_unit_test(spills),
        cmocka_unit_test(at_roof),
        cmocka_unit_test(uncoalesced),
        cmocka_unit_test(bank_conflicts),
        cmocka_unit_test(extra_traffic),
        cmocka_unit_test(few_blocks),
        cmocka_unit_test(tail),
        cmocka_unit_test(dram_bound),
        cmocka_unit_test(occupancy),
        cmocka_unit_test(in_flight),
        cmocka_unit_test(silent_about_the_unknown),
        cmocka_unit_test(the_first_two_in_order),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
