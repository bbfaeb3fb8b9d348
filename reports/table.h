/* table.h: a deployment table as records: which configuration serves which problem on which device, with what a program
 * needs to launch it and what the cost model needs to answer for problems that were not measured.
 *
 * Made by cli/ from a database, kept as JSON or as a bundle (both read back to the same records), or written as a C
 * header. docs/TABLES.md describes the rules. */
#ifndef NT_REPORTS_TABLE_H
#define NT_REPORTS_TABLE_H

#include "core/plan.h"
#include "core/record.h"

typedef struct nt_deploy_device {
    char name[128], arch[32], uuid[64];
    nt_device_kind kind;
    int64_t sm_count;
    double bytes_per_s; /* memory roof; NAN when unknown */
    bool is_default;    /* serves devices of other architectures as well */
} nt_deploy_device;

enum { NT_DEPLOY_BYTES = 1 << 30 }; /* most of a bundle */

/* A number of a launch at batch n: base + scale x ceil(step x n / divisor), but not above `most`; step 0: base alone.
 */
typedef struct nt_deploy_number {
    int64_t base, scale, step, divisor, most; /* most: INT64_MAX where there is no such limit */
} nt_deploy_number;

/* What of a tensor map may follow the batch. */
typedef struct nt_deploy_map {
    nt_deploy_number offset_bytes, size[NT_MAP_RANK], stride_bytes[NT_MAP_RANK];
} nt_deploy_map;

typedef struct nt_deploy_stage {
    nt_stage stage; /* as planned for the entry's own batch */
    nt_deploy_number grid[3], zero_bytes, arg[NT_MAX_ARGS];
    nt_deploy_map map[NT_MAX_MAPS];
} nt_deploy_stage;

nt_deploy_number nt_deploy_constant(int64_t value);

typedef struct nt_deploy_launch {
    int prepare_count, stage_count;
    nt_deploy_stage *stage; /* preparation first; owned */
    int64_t batch_lo, batch_hi;
    nt_deploy_number packed_bytes, workspace_bytes;
} nt_deploy_launch;

/* See runtime/format.h: nntune_file_cost. Extents in the shape's order, the batch behind them. */
typedef struct nt_deploy_cost {
    double block_scale, slots, wave_ns, flop_per_block; /* NAN when unknown: then the model leaves the entry out */
    double tile[NT_MAX_DIMS + 1];
    int64_t multiple[NT_MAX_DIMS + 1];
} nt_deploy_cost;

typedef struct nt_deploy_entry {
    int device; /* index */
    nt_problem problem;
    char kernel[NT_NAME_BYTES], source_hash[NT_KEY_BYTES], driver[64], compiler[96];
    char *params_json; /* owned */
    nt_cache_mode cache;
    double time_ns, time_lo_ns, time_hi_ns, floor_ns, error_impl, error_prec;
    int64_t from_batch; /* first batch it serves; set by nt_deploy_arrange */
    nt_deploy_cost cost;
    nt_deploy_launch *launch; /* owned; NULL when it cannot be launched from a table */
    char no_launch[160];      /* why there is none; empty when that is not known */
    int code;                 /* index, or -1 */
} nt_deploy_entry;

/* scale x product of extents to their exponents, the batch last. */
typedef struct nt_deploy_product {
    double scale, exponent[NT_MAX_DIMS + 1];
} nt_deploy_product;

/* Work of any problem of a layer. */
typedef struct nt_deploy_work {
    char layer[NT_NAME_BYTES];
    nt_precision precision;
    nt_layout layout;
    nt_deploy_product flop, bytes[3]; /* bytes of in, weight and out */
} nt_deploy_work;

typedef struct nt_deploy_code {
    char key[NT_KEY_BYTES];
    void *data; /* owned */
    size_t bytes;
} nt_deploy_code;

/* The times of a table's configurations at other problems than their own, where they were measured: for crossovers and
 * regret. */
typedef struct nt_deploy_time {
    char key[NT_KEY_BYTES]; /* nt_deploy_time_key */
    double time_ns;
} nt_deploy_time;

typedef struct nt_deploy {
    nt_deploy_device *device;
    size_t device_count, device_capacity;
    nt_deploy_entry *entry;
    size_t entry_count, entry_capacity;
    nt_deploy_work *work;
    size_t work_count, work_capacity;
    nt_deploy_code *code;
    size_t code_count, code_capacity;
    nt_deploy_time *time; /* not part of what is written */
    size_t time_count, time_capacity;
    bool times_sorted;
    bool lean; /* a bundle for one lookup: without the JSON that reads it back */
} nt_deploy;

void nt_deploy_done(nt_deploy *table); /* a table begins as {0}; this leaves it so */
void nt_deploy_entry_done(nt_deploy_entry *entry);
void nt_deploy_entry_init(nt_deploy_entry *entry); /* numbers unknown */

/* Index of an equal device, added when new. Equal: name, architecture and SM count; one table serves all of a kind. */
int nt_deploy_add_device(nt_deploy *table, const nt_deploy_device *device);
/* Takes over what the entry owns. Of two entries for one problem and device the later stays (true: it replaced one). */
bool nt_deploy_add_entry(nt_deploy *table, nt_deploy_entry *entry);
/* Index of the code of this key, copied in when new. */
int nt_deploy_add_code(nt_deploy *table, const char *key, const void *data, size_t bytes);
const nt_deploy_work *nt_deploy_find_work(const nt_deploy *table, const nt_problem *problem);
void nt_deploy_add_work(nt_deploy *table, const nt_deploy_work *work);

/* Adds everything of `from`; its entries replace those of equal device and problem. Returns how many did. */
size_t nt_deploy_merge(nt_deploy *into, const nt_deploy *from);

void nt_deploy_add_time(nt_deploy *table, int device, const nt_problem *problem, const char *kernel,
                        const char *params_json, double time_ns);
/* Least time of this configuration at this problem; NAN when it was not measured there. */
double nt_deploy_time_at(nt_deploy *table, int device, const nt_problem *problem, const char *kernel,
                         const char *params_json);

/* Same device and problem, batch aside. */
bool nt_deploy_same_family(const nt_deploy_entry *a, const nt_deploy_entry *b);
bool nt_deploy_same_config(const nt_deploy_entry *a, const nt_deploy_entry *b);
/* Sorts entries by device, layer, precision, layout, shape, batch and sets from_batch of each: where its configuration
 * overtakes that of the batch below. */
void nt_deploy_arrange(nt_deploy *table);
/* Batches [lo, hi] that one configuration serves, beginning at entry `first`; returns the entry after its last. hi is
 * INT64_MAX for the last range of a ladder. Arranged tables only. */
size_t nt_deploy_range(const nt_deploy *table, size_t first, int64_t *lo, int64_t *hi);

/* ---- table_json.c, table_bundle.c, table_header.c, table_read.c ---------------------------------------------------------------- */

char *nt_deploy_json(const nt_deploy *table); /* one line; free it */
nt_status nt_deploy_from_json(const char *text, nt_deploy *out, nt_error *err);

/* The bytes of a bundle; arranged tables only. Free *out. */
nt_status nt_deploy_bundle(const nt_deploy *table, void **out, size_t *bytes, nt_error *err);

/* `name` is put before every identifier of the header. */
nt_status nt_deploy_header(const nt_deploy *table, const char *name, nt_str *out, nt_error *err);

/* A JSON table or a bundle. */
nt_status nt_deploy_read(const char *path, nt_deploy *out, nt_error *err);

#endif
