/* spool_record.c: what each type of record means for a trace, by a table of types with the least size of each. */
#include "profiler/spool_record.h"

#include <stdio.h>
#include <stdlib.h>

#include "core/mem.h"
#include "profiler/demangle.h"

/* Ids are given in order and told nearly so: one far beyond those told is damage. */
enum { IDS_AHEAD = 1 << 20, MOST_EARLY = 1 << 16 };

bool nt_spool_set_index(nt_spool_ids *ids, uint32_t id, int index)
{
    if (id >= ids->told + IDS_AHEAD)
        return false;
    ids->told++;
    if (id >= ids->count) {
        size_t count = ids->count > 0 ? ids->count : 256;
        while (count <= id)
            count *= 2;
        ids->index = nt_realloc_array(ids->index, count, sizeof *ids->index);
        for (size_t i = ids->count; i < count; i++)
            ids->index[i] = -1;
        ids->count = count;
    }
    ids->index[id] = index;
    return true;
}

int nt_spool_index(const nt_spool_ids *ids, uint32_t id)
{
    return id < ids->count ? ids->index[id] : -1;
}

int nt_spool_name_of(nt_spool_state *state, uint32_t id)
{
    int index = nt_spool_index(&state->names, id);
    return index >= 0 ? index : nt_trace_name(state->trace, "(unnamed)");
}

static int64_t not_negative(int32_t value)
{
    return value >= 0 ? (int64_t)value : NT_UNKNOWN;
}

/* Texts are not terminated in the file. */
char *nt_spool_text(const void *body, uint32_t bytes, uint32_t from)
{
    return nt_strndup((const char *)body + from, bytes - from);
}

static nt_trace_process *process_of(nt_spool_state *state)
{
    return &state->trace->process[state->process];
}

/* ---- the program ------------------------------------------------------------------------------------------------------- */

static bool take_command(nt_spool_state *state, const void *body, uint32_t bytes)
{
    char *text = nt_spool_text(body, bytes, 0);
    int name = nt_trace_name(state->trace, text);
    process_of(state)->name = name;
    free(text);
    return true;
}

static bool take_cuda(nt_spool_state *state, const void *body, uint32_t bytes)
{
    (void)body;
    (void)bytes;
    process_of(state)->used_cuda = true;
    return true;
}

static bool take_name(nt_spool_state *state, const void *body, uint32_t bytes)
{
    READ(name, nt_spool_name);
    char *text = nt_spool_text(body, bytes, sizeof name);
    char *readable = nt_demangle(text);
    bool good = nt_spool_set_index(&state->names, name.id, nt_trace_name(state->trace, readable));
    free(readable);
    free(text);
    return good;
}

static int64_t known(uint32_t value)
{
    return value != 0 ? (int64_t)value : NT_UNKNOWN;
}

static bool take_device(nt_spool_state *state, const void *body, uint32_t bytes)
{
    READ(d, nt_spool_device);
    nt_device_info info;
    (void)bytes;
    nt_device_info_init(&info, NT_DEVICE_CUDA);
    info.ordinal = (int)(d.ordinal & 0xFFFF);
    int name = nt_spool_name_of(state, d.name);
    nt_copy(info.name, sizeof info.name, state->trace->name[name]);
    nt_str uuid = {0};
    nt_str_add(&uuid, "GPU-");
    for (int i = 0; i < 16; i++)
        nt_str_addf(&uuid, "%s%02x", i == 4 || i == 6 || i == 8 || i == 10 ? "-" : "", d.uuid[i]);
    nt_copy(info.uuid, sizeof info.uuid, nt_str_text(&uuid));
    nt_str_done(&uuid);
    info.compute_capability = known(d.compute_capability % 10000);
    if (info.compute_capability != NT_UNKNOWN)
        snprintf(info.arch, sizeof info.arch, "sm_%d", (int)info.compute_capability);
    info.sm_count = known(d.sm_count);
    info.memory_bytes = d.memory_bytes <= INT64_MAX ? (int64_t)d.memory_bytes : NT_UNKNOWN;
    info.l2_bytes = known(d.l2_bytes);
    info.smem_per_sm_bytes = known(d.smem_per_sm_bytes);
    /* What CUPTI gives is the limit without asking for more; a kernel that ran is within the one it asked for. */
    info.smem_per_block_bytes = NT_UNKNOWN;
    info.regs_per_sm = known(d.regs_per_sm);
    info.regs_per_block = known(d.regs_per_block);
    info.max_threads_per_block = known(d.max_threads_per_block);
    info.warp_size = d.warp_size == 32 ? 32 : NT_UNKNOWN;
    info.max_threads_per_sm = d.warp_size == 32 ? (int64_t)(d.max_warps_per_sm % 65536) * 32 : NT_UNKNOWN;
    info.max_blocks_per_sm = known(d.max_blocks_per_sm);
    nt_trace_add_device(state->trace, state->process, &info);
    return true;
}

static bool take_dropped(nt_spool_state *state, const void *body, uint32_t bytes)
{
    READ(number, nt_spool_number);
    (void)bytes;
    if (number.value > 0 && number.value < INT64_MAX / 2 - process_of(state)->dropped)
        process_of(state)->dropped += number.value;
    return true;
}

static bool take_problem(nt_spool_state *state, const void *body, uint32_t bytes)
{
    READ(number, nt_spool_number);
    char *text = nt_spool_text(body, bytes, sizeof number);
    process_of(state)->problem = number.value >= INT32_MIN && number.value <= INT32_MAX ? (int)number.value : -1;
    nt_copy(process_of(state)->problem_text, sizeof process_of(state)->problem_text, text);
    free(text);
    return true;
}

static bool take_end(nt_spool_state *state, const void *body, uint32_t bytes)
{
    (void)body;
    (void)bytes;
    process_of(state)->ended = true;
    return true;
}

/* ---- launches and ranges ------------------------------------------------------------------------------------------------ */

int64_t nt_spool_time(uint64_t ns)
{
    return ns <= INT64_MAX ? (int64_t)ns : 0;
}

static bool take_launch(nt_spool_state *state, const void *body, uint32_t bytes)
{
    READ(launch, nt_spool_launch);
    (void)bytes;
    nt_trace_add_launch(state->trace, &(nt_trace_launch){.process = state->process,
                                                         .range = nt_spool_index(&state->ranges, launch.range),
                                                         .correlation = launch.correlation,
                                                         .time_ns = nt_spool_time(launch.time_ns),
                                                         .thread = launch.thread});
    if (launch.kind == NT_SPOOL_LAUNCH_GRAPH && !launch.nested)
        process_of(state)->graph_launches++;
    return true;
}

static bool take_open(nt_spool_state *state, const void *body, uint32_t bytes)
{
    READ(open, nt_spool_open);
    (void)bytes;
    nt_trace_range range = {.name = nt_spool_name_of(state, open.name),
                            .process = state->process,
                            .parent = nt_spool_index(&state->ranges, open.parent),
                            .free_standing = open.free_standing != 0,
                            .thread = open.thread,
                            .open_ns = nt_spool_time(open.time_ns),
                            .close_ns = NT_UNKNOWN};
    if (nt_spool_index(&state->ranges, open.range) >= 0)
        return false; /* ids are given once */
    int index = nt_trace_open_range(state->trace, &range);
    for (size_t i = 0; i < state->early_count; i++)
        if (state->early[i].range == open.range) {
            nt_trace_close_range(state->trace, index, state->early[i].time_ns);
            state->early[i] = state->early[--state->early_count];
            break;
        }
    return nt_spool_set_index(&state->ranges, open.range, index);
}

static bool take_close(nt_spool_state *state, const void *body, uint32_t bytes)
{
    READ(close, nt_spool_close);
    (void)bytes;
    int index = nt_spool_index(&state->ranges, close.range);
    if (index >= 0) {
        nt_trace_close_range(state->trace, index, nt_spool_time(close.time_ns));
    } else if (state->early_count < MOST_EARLY) {
        void *early = state->early;
        nt_grow(&early, &state->early_capacity, state->early_count + 1, sizeof *state->early);
        state->early = early;
        state->early[state->early_count++] =
            (nt_spool_close_early){.range = close.range, .time_ns = nt_spool_time(close.time_ns)};
    }
    return true;
}

/* ---- work ------------------------------------------------------------------------------------------------------------------ */

static bool take_kernel(nt_spool_state *state, const void *body, uint32_t bytes)
{
    READ(k, nt_spool_kernel);
    (void)bytes;
    nt_spool_replayed *replayed = nt_spool_find_replayed(state, k.correlation);
    if (replayed != NULL && replayed->recorded)
        return true; /* the same launch in a further pass */
    if (replayed != NULL)
        replayed->recorded = true;
    nt_trace_shape shape = {.name = nt_spool_name_of(state, k.name),
                            .device = nt_trace_find_device(state->trace, state->process, (int)(k.device & 0xFFFF)),
                            .registers = k.registers,
                            .smem_static_bytes = not_negative(k.smem_static_bytes),
                            .smem_dynamic_bytes = not_negative(k.smem_dynamic_bytes)};
    for (int i = 0; i < 3; i++) {
        shape.grid[i] = k.grid[i];
        shape.block[i] = k.block[i];
        shape.cluster[i] = k.cluster[i];
    }
    nt_trace_add_work(state->trace, &(nt_trace_work){.kind = NT_WORK_KERNEL,
                                                     .process = state->process,
                                                     .device = shape.device,
                                                     .shape = nt_trace_find_shape(state->trace, &shape),
                                                     .start_ns = nt_spool_time(k.start_ns),
                                                     .end_ns = nt_spool_time(k.end_ns),
                                                     .stream = k.stream,
                                                     .graph = known(k.graph),
                                                     .correlation = k.correlation,
                                                     .bytes = NT_UNKNOWN});
    return true;
}

static void take_transfer(nt_spool_state *state, const void *body, nt_work_kind kind)
{
    READ(t, nt_spool_transfer);
    nt_trace_add_work(
        state->trace,
        &(nt_trace_work){.kind = kind,
                         .process = state->process,
                         .device = nt_trace_find_device(state->trace, state->process, (int)(t.device & 0xFFFF)),
                         .shape = -1,
                         .start_ns = nt_spool_time(t.start_ns),
                         .end_ns = nt_spool_time(t.end_ns),
                         .stream = t.stream,
                         .graph = known(t.graph),
                         .correlation = t.correlation,
                         .bytes = t.bytes <= INT64_MAX / 4 ? (int64_t)t.bytes : NT_UNKNOWN,
                         .direction = t.direction < NT_COPY_DIRECTION_COUNT ? t.direction : 0,
                         .from = t.from < NT_MEMORY_KIND_COUNT ? t.from : 0,
                         .to = t.to < NT_MEMORY_KIND_COUNT ? t.to : 0});
}

static bool take_copy(nt_spool_state *state, const void *body, uint32_t bytes)
{
    (void)bytes;
    take_transfer(state, body, NT_WORK_COPY);
    return true;
}

static bool take_fill(nt_spool_state *state, const void *body, uint32_t bytes)
{
    (void)bytes;
    take_transfer(state, body, NT_WORK_FILL);
    return true;
}

/* The record of a release need not tell the size: the address does. */
static void release(nt_spool_state *state, uint64_t address)
{
    for (size_t i = state->live_count; i-- > 0;)
        if (state->live[i].address == address) {
            process_of(state)->memory_now_bytes -= state->live[i].bytes;
            state->live[i] = state->live[--state->live_count];
            return;
        }
}

static bool take_memory(nt_spool_state *state, const void *body, uint32_t bytes)
{
    READ(m, nt_spool_memory);
    (void)bytes;
    if (m.kind != NT_MEMORY_DEVICE && m.kind != NT_MEMORY_MANAGED)
        return true;
    if (m.released) {
        release(state, m.address);
        return true;
    }
    nt_trace_process *process = process_of(state);
    if (m.bytes > (uint64_t)(INT64_MAX / 4) || process->memory_now_bytes > INT64_MAX / 4)
        return true;
    void *live = state->live;
    nt_grow(&live, &state->live_capacity, state->live_count + 1, sizeof *state->live);
    state->live = live;
    state->live[state->live_count++] = (nt_spool_allocation){.address = m.address, .bytes = (int64_t)m.bytes};
    process->memory_now_bytes += (int64_t)m.bytes;
    if (process->memory_now_bytes > process->memory_peak_bytes)
        process->memory_peak_bytes = process->memory_now_bytes;
    return true;
}

/* ---- the table ----------------------------------------------------------------------------------------------------------- */

static const struct {
    uint32_t least_bytes;
    bool (*take)(nt_spool_state *state, const void *body, uint32_t bytes);
} types[NT_SPOOL_TYPE_COUNT] = {
    [NT_SPOOL_COMMAND] = {0, take_command},
    [NT_SPOOL_CUDA] = {sizeof(nt_spool_cuda), take_cuda},
    [NT_SPOOL_NAME] = {sizeof(nt_spool_name), take_name},
    [NT_SPOOL_DEVICE] = {sizeof(nt_spool_device), take_device},
    [NT_SPOOL_LAUNCH] = {sizeof(nt_spool_launch), take_launch},
    [NT_SPOOL_OPEN] = {sizeof(nt_spool_open), take_open},
    [NT_SPOOL_CLOSE] = {sizeof(nt_spool_close), take_close},
    [NT_SPOOL_KERNEL] = {sizeof(nt_spool_kernel), take_kernel},
    [NT_SPOOL_COPY] = {sizeof(nt_spool_transfer), take_copy},
    [NT_SPOOL_FILL] = {sizeof(nt_spool_transfer), take_fill},
    [NT_SPOOL_MEMORY] = {sizeof(nt_spool_memory), take_memory},
    [NT_SPOOL_DROPPED] = {sizeof(nt_spool_number), take_dropped},
    [NT_SPOOL_PROBLEM] = {sizeof(nt_spool_number), take_problem},
    [NT_SPOOL_END] = {sizeof(nt_spool_number), take_end},
    [NT_SPOOL_METRIC] = {sizeof(nt_spool_metric), nt_spool_take_metric},
    [NT_SPOOL_COUNTING] = {sizeof(nt_spool_counting), nt_spool_take_counting},
    [NT_SPOOL_COUNTED] = {sizeof(nt_spool_counted), nt_spool_take_counted},
    [NT_SPOOL_UNCOUNTED] = {sizeof(nt_spool_uncounted), nt_spool_take_uncounted},
    [NT_SPOOL_COUNT_PROBLEM] = {sizeof(nt_spool_number), nt_spool_take_count_problem},
};

bool nt_spool_take(nt_spool_state *state, uint32_t type, const void *body, uint32_t bytes)
{
    if (type >= NT_SPOOL_TYPE_COUNT || types[type].take == NULL || bytes < types[type].least_bytes)
        return false;
    return types[type].take(state, body, bytes);
}

void nt_spool_state_done(nt_spool_state *state)
{
    free(state->names.index);
    free(state->ranges.index);
    free(state->metrics.index);
    free(state->replayed);
    free(state->early);
    free(state->live);
}
