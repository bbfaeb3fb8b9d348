/* format.h: a table as bytes: one file, mapped and used as it lies. Written by reports/table_bundle.c, read by this
 * folder.
 *
 * A header, then parts, each an array at an offset that is a multiple of 8. Texts are offsets into the part TEXT;
 * numbers are the machine's own (little endian, told by `order`). A table of another version is refused. The whole file
 * is under one checksum, each artefact under one of its own. */
#ifndef NNTUNE_FORMAT_H
#define NNTUNE_FORMAT_H

#include <stdint.h>
#include <string.h>

#define NNTUNE_FILE_MAGIC "NNTUNE\r\n"

enum {
    NNTUNE_FILE_VERSION = 2,
    NNTUNE_FILE_ORDER = 0x01020304,
    NNTUNE_FILE_PREPARES = 4, /* stages of a preparation, and of a launch, at most */
    NNTUNE_FILE_STAGES = 6,
    NNTUNE_FILE_ARGS = 20, /* arguments of a stage, and tensor maps, at most */
    NNTUNE_FILE_MAPS = 3,
    NNTUNE_FILE_MAP_RANK = 4,
    NNTUNE_FILE_DIMS = 10, /* extents of a shape; the batch comes behind them where 11 are kept */
    NNTUNE_NOTHING = 0xffffffff
};

typedef enum nntune_part {
    NNTUNE_PART_TEXT,
    NNTUNE_PART_DEVICE,
    NNTUNE_PART_ENVIRONMENT,
    NNTUNE_PART_GROUP,
    NNTUNE_PART_FAMILY,
    NNTUNE_PART_INDEX, /* nntune_file_index, a power of two of them, at most half in use */
    NNTUNE_PART_STEP,
    NNTUNE_PART_ENTRY,
    NNTUNE_PART_COST, /* one an entry */
    NNTUNE_PART_PLAN,
    NNTUNE_PART_STAGE,
    NNTUNE_PART_ARG,
    NNTUNE_PART_MAP,
    NNTUNE_PART_ARTEFACT,
    NNTUNE_PART_CODE,
    NNTUNE_PART_MANIFEST, /* the same table as JSON; for tools, not read at run time */
    NNTUNE_PART_COUNT
} nntune_part;

typedef struct nntune_file_header {
    char magic[8];
    uint32_t version, order;
    uint64_t bytes;    /* of the whole file */
    uint64_t checksum; /* nntune_file_sum */
    struct {
        uint64_t offset, count; /* count of elements; of bytes for TEXT, CODE, MANIFEST */
    } part[NNTUNE_PART_COUNT];
} nntune_file_header;

typedef struct nntune_file_device {
    uint32_t name, arch, uuid; /* texts */
    uint32_t kind;             /* nntune_kind */
    int64_t sm_count;
    double bytes_per_s; /* memory roof; NAN when unknown */
    uint32_t is_default, pad;
} nntune_file_device;

typedef struct nntune_file_environment {
    uint32_t driver, compiler;
} nntune_file_environment;

/* A product: scale x (first extent)^exponent[0] x ... x batch^exponent[dims]. */
typedef struct nntune_file_product {
    double scale;
    float exponent[NNTUNE_FILE_DIMS + 1];
    uint32_t pad;
} nntune_file_product;

/* All shapes of one device, layer, precision and layout, and what the work of any shape of that layer is. */
typedef struct nntune_file_group {
    uint32_t device, layer; /* layer: text */
    uint32_t precision, layout, dims;
    uint32_t first_family, family_count, pad;
    nntune_file_product flop, bytes[3]; /* bytes of in, weight and out */
} nntune_file_group;

typedef struct nntune_file_family {
    uint64_t hash;
    uint32_t group, first_step, step_count, pad;
    int64_t size[NNTUNE_FILE_DIMS];
    float log2_size[NNTUNE_FILE_DIMS];
} nntune_file_family;

typedef struct nntune_file_index {
    uint32_t hash_high, family_plus_1; /* 0: free */
} nntune_file_index;

/* A step of a batch ladder: the entry for batches from `from` to the next step's. Ascending. */
typedef struct nntune_file_step {
    int64_t from, batch;
    double time_ns;
    uint32_t entry, environment;
    uint32_t kernel, params, source_hash; /* texts of the entry, here so that a lookup reads one place */
    float error_prec;
} nntune_file_step;

typedef struct nntune_file_entry {
    uint32_t family;
    uint32_t no_launch;      /* text: why there is no plan, where there is none */
    uint32_t plan, artefact; /* NNTUNE_NOTHING: configuration alone */
    int64_t batch;
    double time_ns, time_lo_ns, time_hi_ns, floor_ns, error_impl, error_prec;
} nntune_file_entry;

/* The model of one entry. Blocks of a problem: scale x product over its extents of ceil(size / tile), where tile is not
 * 0. One wave is `slots` blocks at once and takes wave_ns when a block has flop_per_block to do. */
typedef struct nntune_file_cost {
    double block_scale, slots, wave_ns, flop_per_block;
    float tile[NNTUNE_FILE_DIMS + 1];
    uint32_t multiple[NNTUNE_FILE_DIMS + 1]; /* an extent must be a multiple of it */
} nntune_file_cost;

/* A number of a launch at batch n: base + scale x ceil(step x n / divisor), but not above `most`. */
typedef struct nntune_file_number {
    int64_t base, scale, step, divisor; /* step 0: base alone */
    int64_t most;                       /* INT64_MAX: any */
} nntune_file_number;

typedef struct nntune_file_plan {
    uint32_t prepare_first, prepare_count, stage_first, stage_count;
    int64_t batch_lo, batch_hi; /* numbers hold for these batches */
    nntune_file_number packed_bytes, workspace_bytes;
} nntune_file_plan;

typedef struct nntune_file_stage {
    uint32_t kind; /* 0 kernel, 1 zeroing */
    uint32_t entry;
    uint32_t block[3], cluster[3], smem_dynamic_bytes;
    uint32_t first_arg, arg_count, first_map, map_count, zero_role;
    nntune_file_number grid[3], zero_bytes;
} nntune_file_stage;

typedef struct nntune_file_arg {
    uint32_t kind; /* 0 buffer, 1 int32, 2 int64, 3 float, 4 tensor map */
    uint32_t role; /* 0 in, 1 weight, 2 out, 3 packed, 4 workspace */
    float real;
    uint32_t pad;
    nntune_file_number number; /* of a buffer its offset in bytes, of a tensor map its index among the stage's */
} nntune_file_arg;

/* A tensor map: what cuTensorMapEncodeTiled (form 0) or cuTensorMapEncodeIm2col (form 1) is to be told, in its own
 * words and numbers. The kernel takes the 128 bytes that it makes by value. Dimension 0 is contiguous. */
typedef struct nntune_file_map {
    uint32_t form, role;                                      /* the address: that of the role, plus offset_bytes */
    uint32_t type, interleave, swizzle, promotion, fill, pad; /* CUtensorMapDataType and so on */
    uint32_t box[NNTUNE_FILE_MAP_RANK];                       /* form 1: channels, pixels */
    uint32_t step[NNTUNE_FILE_MAP_RANK];                      /* of elements, in each dimension */
    int32_t lower[2], upper[2];                               /* form 1: corners of the pixels' box, width and height */
    nntune_file_number offset_bytes, size[NNTUNE_FILE_MAP_RANK];
    nntune_file_number stride_bytes[NNTUNE_FILE_MAP_RANK - 1]; /* of dimensions 1, 2, .. */
} nntune_file_map;

/* The driver's numbers for what all maps have in common. */
enum {
    NNTUNE_MAP_UINT8 = 0,
    NNTUNE_MAP_UINT16 = 1,
    NNTUNE_MAP_UINT32 = 2,
    NNTUNE_MAP_NO_INTERLEAVE = 0,
    NNTUNE_MAP_SWIZZLE_128B = 3,
    NNTUNE_MAP_PROMOTE_256B = 3,
    NNTUNE_MAP_FILL_ZEROS = 0
};

typedef struct nntune_file_artefact {
    uint32_t key, pad;
    uint64_t offset, bytes; /* in CODE */
    uint64_t checksum;
} nntune_file_artefact;

/* Bytes of one element of a part. */
static inline uint64_t nntune_file_part_bytes(nntune_part part)
{
    static const uint64_t bytes[NNTUNE_PART_COUNT] = {
        [NNTUNE_PART_TEXT] = 1,
        [NNTUNE_PART_DEVICE] = sizeof(nntune_file_device),
        [NNTUNE_PART_ENVIRONMENT] = sizeof(nntune_file_environment),
        [NNTUNE_PART_GROUP] = sizeof(nntune_file_group),
        [NNTUNE_PART_FAMILY] = sizeof(nntune_file_family),
        [NNTUNE_PART_INDEX] = sizeof(nntune_file_index),
        [NNTUNE_PART_STEP] = sizeof(nntune_file_step),
        [NNTUNE_PART_ENTRY] = sizeof(nntune_file_entry),
        [NNTUNE_PART_COST] = sizeof(nntune_file_cost),
        [NNTUNE_PART_PLAN] = sizeof(nntune_file_plan),
        [NNTUNE_PART_STAGE] = sizeof(nntune_file_stage),
        [NNTUNE_PART_ARG] = sizeof(nntune_file_arg),
        [NNTUNE_PART_MAP] = sizeof(nntune_file_map),
        [NNTUNE_PART_ARTEFACT] = sizeof(nntune_file_artefact),
        [NNTUNE_PART_CODE] = 1,
        [NNTUNE_PART_MANIFEST] = 1,
    };
    return bytes[part];
}

/* ---- hashes ---- */

static inline uint64_t nntune_file_mix(uint64_t h, uint64_t word)
{
    h = (h ^ word) * 0x9e3779b97f4a7c15u;
    return h ^ (h >> 32);
}

/* Checksum of bytes, eight at a time in four lanes, so that a table of many megabytes opens at the speed of memory. */
static inline uint64_t nntune_file_checksum(const void *data, uint64_t bytes)
{
    const unsigned char *at = (const unsigned char *)data;
    uint64_t lane[4] = {bytes, 1, 2, 3}, word;
    for (; bytes >= 32; bytes -= 32, at += 32)
        for (int i = 0; i < 4; i++) {
            memcpy(&word, at + 8 * i, sizeof word);
            lane[i] = nntune_file_mix(lane[i], word);
        }
    uint64_t h = lane[0];
    for (int i = 1; i < 4; i++)
        h = nntune_file_mix(h, lane[i]);
    for (; bytes > 0; bytes--, at++)
        h = nntune_file_mix(h, *at);
    return h;
}

/* What a file's header must state: of all of it, with the checksum itself taken as 0. `bytes` is at least the header's.
 */
static inline uint64_t nntune_file_sum(const void *file, uint64_t bytes)
{
    nntune_file_header header;
    memcpy(&header, file, sizeof header);
    header.checksum = 0;
    return nntune_file_mix(nntune_file_checksum(&header, sizeof header),
                           nntune_file_checksum((const char *)file + sizeof header, bytes - sizeof header));
}

/* Key of a family: all of a problem but its batch, with the device as its index in the table. */
static inline uint64_t nntune_file_key(uint32_t device, const char *layer, uint32_t precision, uint32_t layout,
                                       const int64_t *size, int size_count)
{
    uint64_t h = nntune_file_mix(device, ((uint64_t)precision << 32) | (layout << 8) | (uint64_t)size_count);
    uint64_t word = 0;
    int held = 0;
    for (const char *c = layer; *c != '\0'; c++) {
        word = (word << 8) | (unsigned char)*c;
        if (++held == 8) {
            h = nntune_file_mix(h, word);
            word = 0;
            held = 0;
        }
    }
    h = nntune_file_mix(h, word);
    for (int i = 0; i < size_count; i++)
        h = nntune_file_mix(h, (uint64_t)size[i]);
    return h;
}

#endif
