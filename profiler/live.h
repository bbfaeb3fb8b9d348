/* live.h: what a device does right now, whoever works on it. Sources are structs of functions; each value carries the
 * source that it came from, and is NAN where none knows it.
 *
 *   gpm    NVML's performance monitoring (Hopper and newer): holds nothing, ten values a second at most
 *   pm     CUPTI's PM sampling: finer, tells reads from writes, but holds the counters, so never beside a sweep
 *   nvml   plain NVML: utilisation, clocks, power, memory; its values fill what the others do not tell
 *   cpu    this computer's cores, from /proc and /sys
 */
#ifndef NT_LIVE_H
#define NT_LIVE_H

#include <jansson.h>
#include <stdatomic.h>

#include "core/record.h"

typedef enum nt_live_kind { NT_LIVE_GPM, NT_LIVE_PM, NT_LIVE_NVML, NT_LIVE_CPU, NT_LIVE_KINDS } nt_live_kind;

const char *nt_live_kind_name(nt_live_kind kind);
int nt_live_kind_find(const char *name); /* -1 when unknown */

/* X(id, name in JSON, meaning). Percentages are averages over the frame. */
#define NT_LIVE_FIELDS(X)                                                                              \
    X(BUSY, busy_pct, "time in which anything ran: a kernel on a GPU, a core's share on a cpu")        \
    X(SM_ACTIVE, sm_active_pct, "time in which an SM had a warp, averaged over the SMs")               \
    X(OCCUPANCY, occupancy_pct, "warps resident over the most possible; idle SMs and idle time count") \
    X(OCCUPANCY_ACTIVE, occupancy_active_pct, "the same over active SMs alone; unknown when idle")     \
    X(ISSUE, issue_pct, "instructions issued over the most possible")                                  \
    X(TENSOR, tensor_pct, "time in which a tensor pipe worked")                                        \
    X(DRAM, dram_pct, "device memory's bandwidth used, reads and writes")                              \
    X(DRAM_READ, dram_read_pct, "the same for reads")                                                  \
    X(DRAM_WRITE, dram_write_pct, "the same for writes")                                               \
    X(DRAM_READ_RATE, dram_read_bytes_per_s, "bytes read from device memory a second")                 \
    X(DRAM_WRITE_RATE, dram_write_bytes_per_s, "bytes written a second")                               \
    X(PCIE_READ_RATE, pcie_read_bytes_per_s, "bytes to the GPU a second")                              \
    X(PCIE_WRITE_RATE, pcie_write_bytes_per_s, "bytes from the GPU a second")                          \
    X(NVLINK_READ_RATE, nvlink_read_bytes_per_s, "bytes to the GPU over NVLink a second")              \
    X(NVLINK_WRITE_RATE, nvlink_write_bytes_per_s, "bytes from the GPU over NVLink a second")          \
    X(SM_CLOCK, sm_clock_mhz, "clock of the SMs, or of the cores")                                     \
    X(MEM_CLOCK, mem_clock_mhz, "clock of the memory")                                                 \
    X(TEMPERATURE, temperature_c, "temperature")                                                       \
    X(POWER, power_mw, "power of the card, averaged by NVML")                                          \
    X(POWER_LIMIT, power_limit_mw, "power at which clocks are lowered")                                \
    X(MEMORY_USED, memory_used_bytes, "memory in use")                                                 \
    X(MEMORY_TOTAL, memory_total_bytes, "memory there is")

typedef enum nt_live_field {
#define X(id, name, meaning) NT_LIVE_##id,
    NT_LIVE_FIELDS(X)
#undef X
        NT_LIVE_FIELD_COUNT
} nt_live_field;

const char *nt_live_field_name(nt_live_field field);
const char *nt_live_field_meaning(nt_live_field field);

typedef struct nt_live_process {
    int64_t pid;
    int64_t memory_bytes;
    char name[32], user[32]; /* empty when this process may not see them */
} nt_live_process;

enum { NT_LIVE_PROCESSES = 32, NT_LIVE_CORES = 256 };

/* One frame. */
typedef struct nt_live_frame {
    double unix_s, span_s; /* end of the frame's time, and its length */
    double lag_s;          /* how much later it was read: a source may hold samples back; NAN until it gives any */
    double value[NT_LIVE_FIELD_COUNT];
    nt_live_kind source[NT_LIVE_FIELD_COUNT];
    int64_t throttle_mask; /* NVML's clock event reasons; NT_UNKNOWN */
    int process_count;     /* -1 unknown */
    nt_live_process process[NT_LIVE_PROCESSES];
    int core_count; /* cpu alone */
    double core_busy_pct[NT_LIVE_CORES];
    int64_t samples; /* that the source averaged; NT_UNKNOWN where it does not count */
    int64_t lost;    /* times that its buffer overflowed since the start */
} nt_live_frame;

void nt_live_frame_init(nt_live_frame *frame); /* everything unknown */
void nt_live_set(nt_live_frame *frame, nt_live_kind source, nt_live_field field,
                 double value); /* NAN changes nothing */

/* Adds the frame's members to an object: every field by its name (null when unknown), "sources", processes. */
void nt_live_frame_json(const nt_live_frame *frame, json_t *out);

/* ---- sources ------------------------------------------------------------------------------------------------------- */

typedef struct nt_live_source nt_live_source; /* each source's own */

typedef struct nt_live_ops {
    nt_live_kind kind;
    double shortest_s; /* frames closer together give nothing */
    nt_status (*open)(const nt_device_info *device, nt_live_source **out, nt_error *err);
    /* Called at least ten times a second between frames; NULL where nothing has to be fetched. NT_BUSY: the device is
     * wanted by a sweep, and what was held has been given back. */
    nt_status (*poll)(nt_live_source *source, nt_error *err);
    /* Fills what it knows since the last frame. NT_TIMED_OUT: nothing yet. */
    nt_status (*read)(nt_live_source *source, nt_live_frame *frame, nt_error *err);
    void (*close)(nt_live_source *source);
} nt_live_ops;

extern const nt_live_ops nt_live_gpm_ops, nt_live_pm_ops, nt_live_nvml_ops, nt_live_cpu_ops;

/* ---- a device watched ------------------------------------------------------------------------------------------------ */

typedef struct nt_live nt_live;

/* `wanted`: a kind, or -1 for the best that holds nothing (gpm, else nvml; cpu for a cpu). Asked for by name, a source
 * that does not work is an error, save that pm waits out a sweep behind gpm or nvml. */
nt_status nt_live_open(const nt_device_info *device, int wanted, nt_live **out, nt_error *err);

/* Waits until `seconds` (or the slowest source's shortest time) after the last frame of the first of them, serving all.
 * NT_TIMED_OUT: *stop became true before. Anything else but NT_OK: *failed (may be NULL) is the device it is about. */
nt_status nt_live_wait(nt_live *const *lives, int count, double seconds, const atomic_bool *stop, int *failed,
                       nt_error *err);

/* The frame since the last one. */
nt_status nt_live_read(nt_live *live, nt_live_frame *out, nt_error *err);

nt_live_kind nt_live_source_now(const nt_live *live);
/* What changed since the last call: why gpm is not used, that pm gave way to a sweep. Empty when nothing. */
void nt_live_note(nt_live *live, nt_str *out);
void nt_live_close(nt_live *live); /* NULL allowed */

#endif
