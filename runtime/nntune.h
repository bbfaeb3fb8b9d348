/* nntune.h: deployment tables at run time: which kernel configuration serves a problem on this device, and running it.
 *
 * libnntune needs libc alone; the CUDA driver is opened when a device of that kind is asked about or a kernel is
 * loaded. A table is read-only once it is open: any number of threads may look up in it at once, without a lock. Lookup
 * allocates nothing, and everything that it returns lives as long as the table.
 *
 *     nntune_table *table;
 *     char why[NNTUNE_WHY_BYTES];
 *     if (nntune_table_open("conv.ntb", NULL, 0, &table, why) != NNTUNE_OK) ...
 *     int64_t size[] = {64, 64, 56, 56};
 *     nntune_query query = {.layer = "conv3x3", .size = size, .size_count = 4, .batch = 8, .precision = NNTUNE_FP16};
 *     nntune_result result;
 *     if (nntune_lookup(table, &query, &result) == NNTUNE_OK) ...
 */
#ifndef NNTUNE_H
#define NNTUNE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define NNTUNE_API __attribute__((visibility("default")))

enum { NNTUNE_WHY_BYTES = 512, NNTUNE_MAX_SIZES = 10 };

typedef enum nntune_status {
    NNTUNE_OK,
    NNTUNE_NOT_FOUND, /* no such file; no entry that could serve the problem */
    NNTUNE_CORRUPT,   /* not a table, truncated, or its checksum does not hold */
    NNTUNE_FOREIGN,   /* made for another device, and nothing in it may serve this one */
    NNTUNE_STALE,     /* measured with another driver; see NNTUNE_ACCEPT_STALE */
    NNTUNE_INVALID,   /* a query that makes no sense: sizes below 1, or too large for 64 bits when multiplied */
    NNTUNE_NO_DEVICE, /* no driver, or no such device */
    NNTUNE_REFUSED,   /* the entry cannot be launched for this problem */
    NNTUNE_FAILED     /* of the system or the driver; the text says what */
} nntune_status;

NNTUNE_API const char *nntune_status_text(nntune_status status);

/* ---- devices ---- */

typedef enum nntune_kind { NNTUNE_CPU, NNTUNE_CUDA } nntune_kind;

/* Unknown texts are empty; an empty driver is not compared. */
typedef struct nntune_device {
    nntune_kind kind;
    char name[128];
    char arch[32]; /* sm_90, x86-64-avx2 */
    char driver[64];
    int64_t sm_count; /* cores on a cpu */
} nntune_device;

/* The device of this computer: ordinal of a GPU, 0 for the cpu. `why` (of NNTUNE_WHY_BYTES, may be NULL) says why not.
 */
NNTUNE_API nntune_status nntune_device_here(nntune_kind kind, int ordinal, nntune_device *out, char *why);

/* ---- tables ---- */

typedef struct nntune_table nntune_table;

enum {
    NNTUNE_ACCEPT_STALE = 1, /* serve what was measured with another driver */
    NNTUNE_ALONE = 2         /* this file alone: leave NNTUNE_TABLE_PATH and NNTUNE_MISS_LOG out */
};

/* Opens a table, with those of NNTUNE_TABLE_PATH (files, separated by colons) over it: the first that has an entry of a
 * kind serves. `path` may be NULL when that variable is set. `device` is the one to serve; NULL: the first GPU if the
 * table has entries for one and there is one, else the cpu. */
NNTUNE_API nntune_status nntune_table_open(const char *path, const nntune_device *device, unsigned flags,
                                           nntune_table **out, char *why);
NNTUNE_API void nntune_table_close(nntune_table *table); /* NULL allowed */
NNTUNE_API const nntune_device *nntune_table_device(const nntune_table *table);
NNTUNE_API size_t nntune_table_entries(const nntune_table *table); /* of all its files */

/* Appends a line of JSON to `path` for each problem that had no entry of its own, once a problem and process, for
 * `nntune sweep --from-misses`. Call it before threads look up. NNTUNE_MISS_LOG does the same from outside. */
NNTUNE_API nntune_status nntune_table_log_misses(nntune_table *table, const char *path, char *why);

/* ---- lookup ---- */

typedef enum nntune_precision {
    NNTUNE_FP32,
    NNTUNE_TF32,
    NNTUNE_FP16,
    NNTUNE_BF16,
    NNTUNE_INT8,
    NNTUNE_FP8,
    NNTUNE_FP16_SPARSE, /* 2:4 sparse weights */
    NNTUNE_BF16_SPARSE,
    NNTUNE_INT8_SPARSE
} nntune_precision;
typedef enum nntune_layout { NNTUNE_NHWC, NNTUNE_NCHW } nntune_layout;

typedef struct nntune_query {
    const char *layer;
    /* The layer's extents in its own order; batch is not among them. A word is its number: 1 relu, 2 relu6, 3 silu,
     * 4 gelu, 5 none. */
    const int64_t *size;
    int size_count;
    int64_t batch;
    nntune_precision precision;
    nntune_layout layout;
} nntune_query;

/* How near the entry is to what was asked. */
typedef enum nntune_match {
    NNTUNE_MATCH_EXACT, /* measured at this shape and batch */
    NNTUNE_MATCH_BATCH, /* this shape, the batch range that holds this batch */
    NNTUNE_MATCH_SHAPE  /* another shape: least time by the cost model among measured neighbours */
} nntune_match;

typedef enum nntune_tier {
    NNTUNE_TIER_DEVICE,       /* same name, architecture and SM count */
    NNTUNE_TIER_ARCHITECTURE, /* same architecture */
    NNTUNE_TIER_DEFAULT       /* the table's default device; its code does not run here */
} nntune_tier;

typedef struct nntune_result {
    nntune_match match;
    nntune_tier tier;
    bool stale;
    const char *kernel, *params; /* params: JSON */
    const char *device, *driver, *compiler, *source_hash;
    const int64_t *size; /* of the entry */
    int size_count;
    int64_t batch;      /* of the entry */
    double time_ns;     /* measured, at the entry's own problem */
    double expected_ns; /* for the problem asked about: measured, interpolated over batches, or by the cost model */
    double error_prec;  /* relative error against fp64; NAN when unknown */
    uint32_t file, entry;
} nntune_result;

NNTUNE_API nntune_status nntune_lookup(const nntune_table *table, const nntune_query *query, nntune_result *out);

/* One sentence on how the answer came about, or why there is none. */
NNTUNE_API void nntune_explain(const nntune_table *table, const nntune_query *query, nntune_status status,
                               const nntune_result *result, char *out, size_t capacity);

/* ---- running ---- */

typedef struct nntune_kernel nntune_kernel;

/* Addresses: device pointers on CUDA, host pointers on the cpu. `packed` and `workspace` may be 0 when the kernel needs
 * none. Multiples of 256 do always; a buffer that a kernel reads by a tensor map must lie at a multiple of 16. Of
 * `workspace` nothing is kept between launches: launches one behind the other may share it. */
typedef struct nntune_buffers {
    uint64_t in, weight, out, packed, workspace;
} nntune_buffers;

/* Loads the entry's code for exactly the problem asked about. On CUDA the caller's current context is used. Any number
 * of kernels may be loaded, from any thread. NNTUNE_REFUSED: the table holds no launch for this problem; the text says
 * why, for example that the entry calls a vendor's library. */
NNTUNE_API nntune_status nntune_kernel_load(const nntune_table *table, const nntune_query *query,
                                            const nntune_result *result, nntune_kernel **out, char *why);
NNTUNE_API void nntune_kernel_free(nntune_kernel *kernel); /* NULL allowed */
/* What `packed` and `workspace` must hold; 0: not needed. `packed` belongs to one set of weights. */
NNTUNE_API size_t nntune_kernel_packed_bytes(const nntune_kernel *kernel);
NNTUNE_API size_t nntune_kernel_workspace_bytes(const nntune_kernel *kernel);

/* Packs the weights, once for all launches with them. `stream` is a CUstream, NULL on the cpu. */
NNTUNE_API nntune_status nntune_prepare(nntune_kernel *kernel, const nntune_buffers *buffers, void *stream, char *why);
/* One execution: queued on the stream, or done on the cpu when it returns. One thread at a time for a kernel; threads
 * that launch at once load one each, and need no lock.
 *
 * Kernels that read by tensor maps have each of them encoded by the driver, which takes well under a microsecond. The
 * kernel keeps the last one of each buffer, so a launch over the same addresses as the one before encodes nothing. Kept
 * maps need no care: they hold an address, sizes and strides, and stay right when the memory is freed and allocated
 * anew. Nothing else is kept between launches; a launch allocates nothing. */
NNTUNE_API nntune_status nntune_launch(nntune_kernel *kernel, const nntune_buffers *buffers, void *stream, char *why);

#ifdef __cplusplus
}
#endif
#endif
