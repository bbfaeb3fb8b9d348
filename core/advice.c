/* advice.c: the rules. Each looks at the facts of one trial and writes its sentence when it applies; the table at the
 * end gives their order, most important first. Thresholds stand beside the rule that uses them, so that a rule can be
 * read by itself. */
#include "core/advice.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "core/units.h"

/* What the rules look at, computed once. NAN and NT_UNKNOWN where unknown: comparisons with NAN are false, so a rule is
 * written such that false means silence. */
typedef struct facts {
    const nt_device_info *device;
    const nt_trial *trial;
    nt_block_use use;
    nt_occupancy occupancy;
    double waves; /* grid over the blocks that the device holds at once */
    double dram_bytes;
    double achieved_pct, issue_pct, tensor_pct;
    double bytes_per_sector;      /* of 32 fetched by a global load or store, the worse of both */
    double conflicts, wavefronts; /* shared memory */
    double counted_bytes;
    nt_roofline roofline;
    nt_roof_point point; /* measured where bytes were measured, else counted */
} facts;

typedef bool rule_fn(const facts *f, nt_str *out);

double nt_counter_value(const nt_counter *counters, size_t count, const char *name)
{
    for (size_t i = 0; i < count; i++)
        if (counters[i].name != NULL && strcmp(counters[i].name, name) == 0)
            return counters[i].value;
    return NAN;
}

/* ---- facts ------------------------------------------------------------------------------------------------------- */

static double either(const nt_advice_input *in, const char *name, const char *metric)
{
    double value = nt_counter_value(in->counters, in->counter_count, name);
    return isnan(value) ? nt_counter_value(in->counters, in->counter_count, metric) : value;
}

static double dram_bytes_of(const nt_advice_input *in)
{
    return either(in, "dram_read_bytes", "dram__bytes_read.sum") +
           either(in, "dram_write_bytes", "dram__bytes_write.sum");
}

static double waves_of(const facts *f)
{
    int64_t blocks = f->occupancy.blocks_per_sm, grid = f->trial->grid_blocks;
    if (blocks == NT_UNKNOWN || blocks <= 0 || grid == NT_UNKNOWN || grid <= 0 || f->device->sm_count <= 0)
        return NAN;
    return (double)grid / (double)(blocks * f->device->sm_count);
}

static facts facts_of(const nt_advice_input *in)
{
    const nt_trial *trial = in->trial;
    facts f = {.device = in->device, .trial = trial, .counted_bytes = in->bytes};
    f.use = (nt_block_use){trial->threads_per_block, trial->artefact.registers, trial->smem_bytes, 1};
    f.occupancy = nt_occupancy_of_use(in->device, &f.use);
    f.waves = waves_of(&f);
    f.dram_bytes = dram_bytes_of(in);
    f.achieved_pct = either(in, "occupancy_pct", "sm__warps_active.avg.pct_of_peak_sustained_active");
    f.issue_pct = either(in, "issue_pct", "smsp__issue_active.avg.pct_of_peak_sustained_active");
    f.tensor_pct = either(in, "tensor_pct", "sm__pipe_tensor_cycles_active.avg.pct_of_peak_sustained_active");
    f.bytes_per_sector =
        fmin(either(in, "load_bytes_per_sector", "smsp__sass_average_data_bytes_per_sector_mem_global_op_ld.ratio"),
             either(in, "store_bytes_per_sector", "smsp__sass_average_data_bytes_per_sector_mem_global_op_st.ratio"));
    f.conflicts = either(in, "bank_conflicts", "l1tex__data_bank_conflicts_pipe_lsu_mem_shared.sum");
    f.wavefronts = either(in, "shared_wavefronts", "l1tex__data_pipe_lsu_wavefronts_mem_shared.sum");
    nt_roof_work work = {in->flop, in->bytes, NAN, f.dram_bytes};
    f.roofline =
        nt_roofline_of(in->device, trial->problem.precision, trial->conditions.sm_clock_mhz, trial->time_ns, &work);
    f.point = isnan(f.dram_bytes) ? f.roofline.counted : f.roofline.measured;
    return f;
}

/* Both halves known and both far: then it is waiting that costs the time, and occupancy and its like matter. */
static bool waits(const facts *f)
{
    return f->point.bound == NT_ROOF_NEITHER && !(f->tensor_pct >= nt_roof_near_pct);
}

/* ---- rules ------------------------------------------------------------------------------------------------------- */

static bool launch_bound(const facts *f, nt_str *out)
{
    if (!(f->trial->time_ns < 3 * f->trial->floor_ns))
        return false;
    nt_str_addf(out,
                "Takes %s where an empty kernel takes %s: launching is a large part of it, so fusing it with a "
                "neighbour or a larger batch helps more than another configuration.",
                nt_text_time_ns(f->trial->time_ns).s, nt_text_time_ns(f->trial->floor_ns).s);
    return true;
}

static bool spills(const facts *f, nt_str *out)
{
    if (f->trial->artefact.spill_bytes == NT_UNKNOWN || f->trial->artefact.spill_bytes <= 0)
        return false;
    nt_str_addf(out, "Spills %lld bytes per thread to local memory", (long long)f->trial->artefact.spill_bytes);
    if (f->use.registers != NT_UNKNOWN)
        nt_str_addf(out, " at %lld registers per thread", (long long)f->use.registers);
    nt_str_add(out, ": smaller tiles per thread or looser launch bounds keep values in registers.");
    return true;
}

static double roof_pct_of(const nt_roof_point *p)
{
    return isnan(p->roof_seen_pct) ? p->roof_pct : p->roof_seen_pct;
}

static bool at_roof(const facts *f, nt_str *out)
{
    const nt_roof_point *p = &f->roofline.counted;
    double seen = roof_pct_of(p);
    bool compute = p->bound == NT_ROOF_COMPUTE;
    if (!(seen >= nt_roof_at_pct))
        return false;
    if (compute)
        nt_str_addf(out, "At the roof already: %s is %s of the compute roof", nt_text_flops(p->flop_per_s).s,
                    nt_text_pct(seen).s);
    else
        nt_str_addf(out, "At the roof already: the least traffic alone, %s, is %s of the memory roof",
                    nt_text_rate(p->bytes_per_s).s, nt_text_pct(seen).s);
    if (compute && !isnan(p->roof_seen_pct))
        nt_str_addf(out, " at the %.0f MHz seen", f->trial->conditions.sm_clock_mhz);
    nt_str_add(out, "; only less work makes it faster.");
    return true;
}

/* Rotating inputs make every byte come from memory; from a warm cache less than the least traffic is normal. */
static bool extra_traffic(const facts *f, nt_str *out)
{
    const double worth_a_word = 1.5, matters_pct = 30;
    double ratio = f->dram_bytes / f->counted_bytes;
    if (!(ratio >= worth_a_word) || !(f->roofline.measured.memory_pct >= matters_pct))
        return false;
    nt_str_addf(out,
                "Moves %s through device memory where %s would do (%.1f times): larger tiles or another order of "
                "blocks would reuse more.",
                nt_text_bytes(f->dram_bytes).s, nt_text_bytes(f->counted_bytes).s, ratio);
    return true;
}

static bool uncoalesced(const facts *f, nt_str *out)
{
    const double sector = 32, half = 16;
    if (!(f->bytes_per_sector < half))
        return false;
    nt_str_addf(out,
                "Global accesses use %.1f of each 32 bytes fetched (%s): neighbouring threads should touch "
                "neighbouring addresses, or wider vectors.",
                f->bytes_per_sector, nt_text_pct(100 * f->bytes_per_sector / sector).s);
    return true;
}

static bool bank_conflicts(const facts *f, nt_str *out)
{
    const double worth_a_word = 0.2;
    double share = f->conflicts / f->wavefronts;
    if (!(f->wavefronts > 0) || !(share >= worth_a_word))
        return false;
    nt_str_addf(out, "%s of the shared-memory wavefronts (%s of %s) are bank conflicts: pad or swizzle the tile.",
                nt_text_pct(100 * share).s, nt_text_count(f->conflicts).s, nt_text_count(f->wavefronts).s);
    return true;
}

static bool few_blocks(const facts *f, nt_str *out)
{
    int64_t grid = f->trial->grid_blocks;
    if (grid == NT_UNKNOWN || f->device->sm_count == NT_UNKNOWN || !(f->waves < 1) || grid >= f->device->sm_count)
        return false;
    nt_str_addf(out,
                "Only %lld blocks for %lld SMs, so %lld SMs do nothing: smaller tiles or splitting the reduction "
                "would fill them.",
                (long long)grid, (long long)f->device->sm_count, (long long)(f->device->sm_count - grid));
    return true;
}

/* Waves of equal blocks: what the last, partly filled one wastes of the whole. */
static bool tail(const facts *f, nt_str *out)
{
    const double worth_a_word_pct = 15;
    double lost_pct = 100 * (1 - f->waves / ceil(f->waves));
    if (!(f->waves > 1) || !(lost_pct >= worth_a_word_pct))
        return false;
    double last_pct = 100 * (f->waves - floor(f->waves));
    int64_t wave = f->occupancy.blocks_per_sm * f->device->sm_count;
    nt_str_addf(out,
                "%lld blocks make %.2f waves of %lld: the last wave is %s full, and about %s of the time is lost "
                "to it.",
                (long long)f->trial->grid_blocks, f->waves, (long long)wave, nt_text_pct(last_pct).s,
                nt_text_pct(lost_pct).s);
    return true;
}

static bool dram_bound(const facts *f, nt_str *out)
{
    const nt_roof_point *p = &f->roofline.measured;
    bool at_it_already = roof_pct_of(&f->roofline.counted) >= nt_roof_at_pct;
    if (p->bound != NT_ROOF_MEMORY || at_it_already)
        return false;
    nt_str_addf(out,
                "Bound by device memory: %s at %s is %s of its peak; fewer bytes (narrower types, more reuse) are "
                "what helps.",
                nt_text_bytes(f->dram_bytes).s, nt_text_rate(p->bytes_per_s).s, nt_text_pct(p->memory_pct).s);
    return true;
}

static void say_room(const facts *f, nt_str *out)
{
    bool registers = f->occupancy.limiter == NT_LIMIT_REGISTERS;
    nt_block_use less = f->use;
    int64_t room = nt_occupancy_room(f->device, &f->use);
    if (room == NT_UNKNOWN) {
        nt_str_add(out, ".");
        return;
    }
    *(registers ? &less.registers : &less.smem_bytes) = room;
    nt_occupancy then = nt_occupancy_of_use(f->device, &less);
    nt_str_addf(out, "; %s would let %lld in (%s).",
                registers ? nt_text_count((double)room).s : nt_text_bytes((double)room).s,
                (long long)then.blocks_per_sm, nt_text_pct(then.pct).s);
}

static bool occupancy_limited(const facts *f, nt_str *out)
{
    const double low_pct = 50;
    const nt_occupancy *o = &f->occupancy;
    bool registers = o->limiter == NT_LIMIT_REGISTERS;
    if (!(o->pct < low_pct) || !waits(f) || (!registers && o->limiter != NT_LIMIT_SMEM))
        return false;
    nt_str_addf(out, "Occupancy is limited to %s by ", nt_text_pct(o->pct).s);
    if (registers)
        nt_str_addf(out, "registers (%lld per thread", (long long)f->use.registers);
    else
        nt_str_addf(out, "shared memory (%s per block", nt_text_bytes((double)f->use.smem_bytes).s);
    nt_str_addf(out, ", %lld block%s per SM)", (long long)o->blocks_per_sm, o->blocks_per_sm == 1 ? "" : "s");
    say_room(f, out);
    return true;
}

static bool little_in_flight(const facts *f, nt_str *out)
{
    const double low_occupancy_pct = 40, low_issue_pct = 30;
    if (!(f->achieved_pct < low_occupancy_pct) || !(f->issue_pct < low_issue_pct) || !waits(f))
        return false;
    nt_str_addf(out,
                "Too little in flight: %s of the warps are resident and an instruction issues in %s of the "
                "cycles; more blocks per SM, more work per thread or deeper pipelining hides the waiting.",
                nt_text_pct(f->achieved_pct).s, nt_text_pct(f->issue_pct).s);
    return true;
}

static const struct {
    const char *name, *meaning;
    rule_fn *speaks;
} rules[] = {
    {"launch", "the time is less than three times that of an empty kernel", launch_bound},
    {"spills", "registers are spilled to local memory", spills},
    {"at_roof", "80 % or more of what the counted work allows at the clock seen", at_roof},
    {"uncoalesced", "less than half of each sector fetched from global memory is used", uncoalesced},
    {"bank_conflicts", "a fifth or more of the shared-memory wavefronts are conflicts", bank_conflicts},
    {"extra_traffic", "device memory moves 1.5 times the least traffic or more", extra_traffic},
    {"few_blocks", "fewer blocks than SMs", few_blocks},
    {"tail", "a partly filled last wave loses 15 % or more", tail},
    {"dram_bound", "device memory is at 60 % of its peak or more, and the nearer roof", dram_bound},
    {"occupancy", "registers or shared memory hold occupancy under 50 % while no roof is near", occupancy_limited},
    {"in_flight", "few warps, few issues and no roof near", little_in_flight},
};
enum { RULES = sizeof rules / sizeof rules[0] };

int nt_advice_rule_count(void)
{
    return RULES;
}

const char *nt_advice_rule_name(int rule)
{
    return rule >= 0 && rule < RULES ? rules[rule].name : "";
}

const char *nt_advice_rule_meaning(int rule)
{
    return rule >= 0 && rule < RULES ? rules[rule].meaning : "";
}

static bool speak(int rule, const facts *f, char *sentence, size_t capacity)
{
    nt_str text = {0};
    bool spoke = rules[rule].speaks(f, &text);
    nt_copy(sentence, capacity, nt_str_text(&text));
    nt_str_done(&text);
    return spoke;
}

bool nt_advice_rule_speaks(int rule, const nt_advice_input *input, char *sentence, size_t capacity)
{
    nt_copy(sentence, capacity, "");
    if (rule < 0 || rule >= RULES || input->trial->outcome != NT_OUTCOME_OK)
        return false;
    facts f = facts_of(input);
    return speak(rule, &f, sentence, capacity);
}

void nt_advice_of(const nt_advice_input *input, nt_advice *out)
{
    memset(out, 0, sizeof *out);
    if (input->trial->outcome != NT_OUTCOME_OK)
        return;
    facts f = facts_of(input);
    for (int i = 0; i < RULES && out->count < NT_ADVICE_MOST; i++)
        if (speak(i, &f, out->line[out->count].sentence, sizeof out->line[0].sentence))
            out->line[out->count++].rule = rules[i].name;
}
