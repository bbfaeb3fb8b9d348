/* spool_format.h: what a spool file holds, for the library that writes it inside a foreign program and the reader that
 * trusts none of it. Needs libc alone.
 *
 * A file is a head and then frames. A frame is written by one call and holds whole records behind a length and a
 * checksum, so a file that ends anywhere, because its writer was killed, is good up to its last whole frame. Records
 * begin at multiples of 8 bytes. Integers are little-endian, as every machine with these GPUs has them. Times are
 * nanoseconds since 1970. */
#ifndef NT_SPOOL_FORMAT_H
#define NT_SPOOL_FORMAT_H

#include <stdint.h>
#include <string.h>

#define NT_SPOOL_MAGIC "NTSPOOL1"
/* The folder that the spools go to; set by `nntune profile` for the programs it runs. */
#define NT_SPOOL_FOLDER_VARIABLE "NNTUNE_SPOOL_FOLDER"
#define NT_SPOOL_SUFFIX          ".spool"
/* What is to be counted: an extended regular expression over names of kernels, launches of each, and the metrics, a
 * line each: name TAB unit TAB CUPTI's name, and after a blank a second to try. */
#define NT_COUNT_REGEX_VARIABLE    "NNTUNE_COUNT_KERNELS"
#define NT_COUNT_LAUNCHES_VARIABLE "NNTUNE_COUNT_LAUNCHES"
#define NT_COUNT_METRICS_VARIABLE  "NNTUNE_COUNT_METRICS"

enum {
    NT_SPOOL_FRAME_MAGIC = 0x31465453, /* "STF1" */
    NT_SPOOL_FRAME_BYTES = 256 * 1024, /* the most that a frame's records take */
    NT_SPOOL_TEXT_BYTES = 16 * 1024    /* longer names are cut */
};

typedef struct nt_spool_head {
    char magic[8];
    uint32_t pid, reserved;
    uint64_t started_ns;
} nt_spool_head;

typedef struct nt_spool_frame {
    uint32_t magic;
    uint32_t bytes; /* of the records behind it */
    uint64_t checksum;
} nt_spool_frame;

typedef enum nt_spool_type {
    NT_SPOOL_NONE,
    NT_SPOOL_COMMAND, /* text: the command line, arguments separated by blanks */
    NT_SPOOL_CUDA,    /* nt_spool_cuda: recording began */
    NT_SPOOL_NAME,    /* nt_spool_name and text */
    NT_SPOOL_DEVICE,
    NT_SPOOL_LAUNCH,
    NT_SPOOL_OPEN,
    NT_SPOOL_CLOSE,
    NT_SPOOL_KERNEL,
    NT_SPOOL_COPY,
    NT_SPOOL_FILL,
    NT_SPOOL_MEMORY,
    NT_SPOOL_DROPPED,   /* nt_spool_number: so many records were lost */
    NT_SPOOL_PROBLEM,   /* nt_spool_number and text: recording failed with this result code */
    NT_SPOOL_END,       /* nt_spool_number: the program ended by itself */
    NT_SPOOL_METRIC,    /* nt_spool_metric and text: name TAB unit TAB CUPTI's name, empty where the chip has none */
    NT_SPOOL_COUNTING,  /* a launch is about to be counted: it may run several times */
    NT_SPOOL_COUNTED,   /* nt_spool_counted and, as text, a double for each metric */
    NT_SPOOL_UNCOUNTED, /* a chosen launch that was not counted */
    NT_SPOOL_COUNT_PROBLEM, /* nt_spool_number and text: counting ended with this result code, doing that */
    NT_SPOOL_TYPE_COUNT
} nt_spool_type;

/* Before every record. `bytes` counts this head, the body and its text, without the padding to 8. */
typedef struct nt_spool_record {
    uint32_t type;
    uint32_t bytes;
} nt_spool_record;

typedef struct nt_spool_cuda {
    uint64_t time_ns;
    uint32_t cupti_version, reserved;
} nt_spool_cuda;

typedef struct nt_spool_name {
    uint32_t id, reserved;
} nt_spool_name;

typedef struct nt_spool_number {
    uint64_t time_ns;
    int64_t value;
} nt_spool_number;

typedef struct nt_spool_device {
    uint32_t ordinal, name; /* name: id of a NAME record */
    uint8_t uuid[16];
    uint64_t memory_bytes, dram_kb_per_s;
    uint32_t sm_count, warp_size, max_warps_per_sm, max_blocks_per_sm, smem_per_sm_bytes, smem_per_block_bytes;
    uint32_t regs_per_sm, regs_per_block, max_threads_per_block, l2_bytes, clock_khz, compute_capability;
} nt_spool_device;

typedef enum nt_spool_launch_kind {
    NT_SPOOL_LAUNCH_NONE,
    NT_SPOOL_LAUNCH_KERNEL,
    NT_SPOOL_LAUNCH_COPY,
    NT_SPOOL_LAUNCH_FILL,
    NT_SPOOL_LAUNCH_GRAPH
} nt_spool_launch_kind;

typedef struct nt_spool_launch {
    uint64_t time_ns;
    uint32_t thread, correlation;
    uint32_t range; /* innermost open one of this thread, 0 for none */
    uint16_t kind;
    uint16_t nested; /* inside a call of the runtime that is recorded as well */
} nt_spool_launch;

typedef struct nt_spool_open {
    uint64_t time_ns;
    uint32_t thread, range, parent, name;
    uint32_t free_standing, reserved;
} nt_spool_open;

typedef struct nt_spool_close {
    uint64_t time_ns;
    uint32_t thread, range;
} nt_spool_close;

typedef struct nt_spool_kernel {
    uint64_t start_ns, end_ns;
    uint32_t correlation, device, stream, graph;
    int32_t grid[3], block[3];
    uint32_t cluster[3];
    uint32_t registers;
    int32_t smem_static_bytes, smem_dynamic_bytes;
    uint32_t name, reserved;
} nt_spool_kernel;

/* Of a copy or a fill. */
typedef struct nt_spool_transfer {
    uint64_t start_ns, end_ns, bytes;
    uint32_t correlation, device, stream, graph;
    uint16_t direction, from, to, reserved;
} nt_spool_transfer;

typedef struct nt_spool_memory {
    uint64_t time_ns, address, bytes;
    uint32_t device;
    uint16_t kind;     /* nt_memory_kind */
    uint16_t released; /* 0: allocated */
} nt_spool_memory;

typedef struct nt_spool_metric {
    uint32_t number, reserved; /* numbers go up by one within a file */
} nt_spool_metric;

typedef struct nt_spool_counting {
    uint64_t time_ns;
    uint32_t correlation, outer; /* of the driver's call, and of the runtime's around it or the same */
} nt_spool_counting;

typedef struct nt_spool_counted {
    uint64_t time_ns;
    uint32_t correlation, device, name, passes;
    uint32_t first_metric, count;
} nt_spool_counted;

typedef enum nt_spool_uncounted_reason {
    NT_SPOOL_UNCOUNTED_CAPTURED,  /* launched into a graph: told once for each kernel */
    NT_SPOOL_UNCOUNTED_DISTURBED, /* another launch came in between */
    NT_SPOOL_UNCOUNTED_FAILED,    /* nothing ran */
    NT_SPOOL_UNCOUNTED_REASONS
} nt_spool_uncounted_reason;

typedef struct nt_spool_uncounted {
    uint64_t time_ns;
    uint32_t reason, name;
} nt_spool_uncounted;

static inline uint32_t nt_spool_padded(uint32_t bytes)
{
    return (bytes + 7u) & ~7u;
}

/* Over whole 8-byte words. */
static inline uint64_t nt_spool_checksum(const void *data, uint32_t bytes)
{
    uint64_t sum = 0x6E6E74756E65u + bytes;
    for (uint32_t at = 0; at + 8 <= bytes; at += 8) {
        uint64_t word;
        memcpy(&word, (const char *)data + at, 8);
        sum = (sum ^ word) * 0x9E3779B97F4A7C15u;
        sum ^= sum >> 32;
    }
    return sum;
}

#endif
