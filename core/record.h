/* record.h: the vocabulary. Plain structs that cross module borders: precision, shape, problem, device identity,
 * compiled artefact, trial. Read this first.
 *
 * Unknown numbers are NAN (double) or NT_UNKNOWN (int64_t), never 0; SQL and JSON show them as NULL/null. */
#ifndef NT_RECORD_H
#define NT_RECORD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/status.h"
#include "core/str.h"
#include "core/value.h"

#define NT_UNKNOWN INT64_MIN

/* ---- element types and precisions ---------------------------------------------------------------------------- */

/* Layers use those up to NT_I8; the others occur in kernels of the user's own. */
typedef enum nt_dtype {
    NT_F64,
    NT_F32,
    NT_F16,
    NT_BFLOAT16,
    NT_F8E4M3,
    NT_I32,
    NT_I8,
    NT_U8,
    NT_I16,
    NT_U16,
    NT_U32,
    NT_I64,
    NT_U64,
    NT_DTYPE_COUNT
} nt_dtype;

size_t nt_dtype_bytes(nt_dtype type);
const char *nt_dtype_name(nt_dtype type); /* "f32", "bf16", ... */

/* The last three have 2:4 sparse weights: of each four weights that follow each other in a filter two are kept, the
 * largest in magnitude (nt_prune). Pruning belongs to the problem: references see the pruned weights, so error_impl
 * judges the rounding of a kernel alone; error_prec, against the original weights, holds pruning and rounding together.
 */
typedef enum nt_precision {
    NT_FP32,
    NT_TF32,
    NT_FP16,
    NT_BF16,
    NT_INT8,
    NT_FP8,
    NT_FP16_SPARSE,
    NT_BF16_SPARSE,
    NT_INT8_SPARSE,
    NT_PRECISION_COUNT
} nt_precision;

enum { NT_STEP_PRODUCTS = 32 };

/* A precision is a row: what inputs, weights and outputs are in memory and what accumulates. Vendor and own kernels
 * of a problem use the same row. */
typedef struct nt_precision_row {
    const char *name;
    nt_dtype in, weight, out, accumulate;
    double
        unit_accumulate; /* rounding unit charged per addition (2^-24 f32 on CUDA cores and CPUs; tensor cores 2^-23) */
    double
        unit_multiply; /* relative error of one operand inside the multiply (tf32: 2^-10, truncation allowed), else 0 */
    double unit_step;  /* relative rounding of the sum that a tensor core keeps after each step of NT_STEP_PRODUCTS: fp8
                          2^-13 (compute capability 8.9 and 9.0 keep e8m13), else 0 */
    double unit_out;   /* relative rounding of the stored output (fp16 2^-11, bf16 2^-8), 0 where out = accumulate */
    nt_precision dense; /* the row of the same types whose weights are not pruned; itself where they are not */
} nt_precision_row;

extern const nt_precision_row nt_precisions[NT_PRECISION_COUNT];
int nt_precision_find(const char *name); /* -1 when unknown */
bool nt_precision_is_pruned(nt_precision precision);

/* ---- problems -------------------------------------------------------------------------------------------------- */

typedef enum nt_layout { NT_NHWC, NT_NCHW, NT_LAYOUT_COUNT } nt_layout;
typedef enum nt_fill { NT_FILL_NORMAL, NT_FILL_UNIFORM, NT_FILL_FILE, NT_FILL_COUNT } nt_fill;
typedef enum nt_cache_mode { NT_COLD, NT_HOT } nt_cache_mode;

const char *nt_layout_name(nt_layout layout);
const char *nt_fill_name(nt_fill fill);
const char *nt_cache_mode_name(nt_cache_mode mode);
int nt_layout_find(const char *name); /* the finds of this header: -1 when unknown */
int nt_fill_find(const char *name);
int nt_cache_mode_find(const char *name);

enum { NT_MAX_DIMS = 10, NT_NAME_BYTES = 48 };

/* Named extents in the layer's order, for example c=64,k=64,h=56,w=56. Batch is not among them. */
typedef struct nt_shape {
    int count;
    struct {
        char key[8];
        int64_t size;
        bool is_word; /* size is the number of a word and is written as that word: act=silu */
    } dim[NT_MAX_DIMS];
} nt_shape;

/* The words that a size may be, numbered from 1. Numbers are part of kernels and of compiled tables: a new word goes to
 * the end. */
#define NT_SHAPE_WORD_MAP(X) X(relu, 1) X(relu6, 2) X(silu, 3) X(gelu, 4) X(none, 5)
const char *nt_shape_word(int64_t number);    /* NULL when no word has this number */
int64_t nt_shape_word_find(const char *word); /* 0 when unknown */

int64_t nt_shape_get(const nt_shape *shape, const char *key); /* the key must exist (asserted) */
void nt_shape_print(nt_str *out, const nt_shape *shape);      /* canonical: c=64,k=64,h=56,w=56 */
/* By key and size; how a size is written does not count. */
bool nt_shape_equal(const nt_shape *a, const nt_shape *b);
/* Reads the canonical form back. NT_USAGE names the part that is wrong; which keys a layer has is the layer's business.
 */
nt_status nt_shape_parse(const char *text, nt_shape *out, nt_error *err);

typedef struct nt_problem {
    char layer[NT_NAME_BYTES];
    nt_shape shape;
    int64_t batch;
    nt_precision precision;
    nt_layout layout;
    nt_fill fill;
} nt_problem;

/* Kernels of the user's own and recorded ones are layers of this prefix: a batch of them is no number of images. */
#define NT_USER_PREFIX "user:"
bool nt_layer_is_users(const char *layer);
void nt_problem_print(nt_str *out, const nt_problem *problem); /* conv3x3 c=64,k=64,h=56,w=56 batch 8 fp32 nhwc */
bool nt_problem_equal(const nt_problem *a, const nt_problem *b);

/* ---- vendors' libraries ------------------------------------------------------------------------------------------- */

/* Libraries that kernels may be calls of, as rivals of our own (--vendor). Our own kernels have NT_VENDOR_NONE, which
 * is 0. */
typedef enum nt_vendor {
    NT_VENDOR_NONE,
    NT_VENDOR_ONEDNN,
    NT_VENDOR_OPENBLAS,
    NT_VENDOR_CUBLASLT,
    NT_VENDOR_CUDNN,
    NT_VENDOR_COUNT
} nt_vendor;

const char *nt_vendor_name(nt_vendor vendor); /* "oneDNN"; "none" for NT_VENDOR_NONE */

enum { NT_VENDOR_VERSION_BYTES = 48 };

/* A library as a device found it. Both texts empty: nobody looked for it. */
typedef struct nt_vendor_library {
    char version[NT_VENDOR_VERSION_BYTES]; /* "2.6.3"; part of the key of what it computed */
    char missing[208];                     /* why it cannot be used, and what would help */
} nt_vendor_library;

/* ---- devices ----------------------------------------------------------------------------------------------------- */

typedef enum nt_device_kind { NT_DEVICE_CPU, NT_DEVICE_CUDA, NT_DEVICE_FAKE, NT_DEVICE_KIND_COUNT } nt_device_kind;
const char *nt_device_kind_name(nt_device_kind kind);
int nt_device_kind_find(const char *name);

/* Identity and limits of a device: never an index. Unknown numbers are NT_UNKNOWN / NAN. */
typedef struct nt_device_info {
    nt_device_kind kind;
    int ordinal;                /* how this process reached it; not part of its identity */
    char name[128];             /* "NVIDIA H200", "AMD EPYC 9654" */
    char uuid[64];              /* "GPU-..." ; for a cpu a stable hash of model, cores and features: "CPU-..." */
    char arch[32];              /* "sm_90", "x86-64-avx512" */
    char driver[64];            /* CUDA driver version; kernel release on cpu */
    char compiler[96];          /* "NVRTC 13.0", "gcc 12.2.0": part of the compile cache key */
    char features[512];         /* cpu: flags that matter; cuda: empty */
    int64_t compute_capability; /* 90 for 9.0 */
    int64_t sm_count;           /* SMs, or usable cores on a cpu */
    int64_t memory_bytes;
    int64_t l2_bytes;             /* L2, or L3 on a cpu: the cache that 'cold' means */
    int64_t smem_per_block_bytes; /* opt-in maximum */
    int64_t smem_per_sm_bytes;
    int64_t smem_reserved_bytes; /* per block, by the driver */
    int64_t regs_per_block;
    int64_t regs_per_sm;
    int64_t max_threads_per_block;
    int64_t max_threads_per_sm;
    int64_t max_blocks_per_sm;
    int64_t warp_size; /* 32; 1 on a cpu */
    double sm_clock_max_mhz;
    double mem_clock_max_mhz;
    double dram_peak_bytes_per_s;               /* by bus width and clock, or measured on a cpu (see peak_source) */
    double peak_flops[NT_PRECISION_COUNT];      /* multiply and add count 2; NAN where the device lacks the precision */
    char peak_source[64];                       /* "datasheet formula" or "measured" */
    nt_vendor_library library[NT_VENDOR_COUNT]; /* looked for on demand: device.h, libraries */
} nt_device_info;

void nt_device_info_init(nt_device_info *info, nt_device_kind kind); /* every number unknown, every text empty */

/* ---- compiled artefacts ------------------------------------------------------------------------------------------ */

enum { NT_KEY_BYTES = 33, NT_PATH_BYTES = 1024 };

typedef struct nt_artefact {
    char key[NT_KEY_BYTES];   /* hex of the content hash of source, options, compiler and architecture */
    char path[NT_PATH_BYTES]; /* cubin or shared object inside the cache */
    int64_t registers;        /* per thread, the maximum over the entries of a plan; NT_UNKNOWN on cpu */
    int64_t smem_static_bytes;
    int64_t spill_bytes; /* stores + loads per thread */
    double compile_ms;   /* wall time of the compile that made it */
    bool cached;         /* it was in the cache already */
} nt_artefact;

/* ---- trials --------------------------------------------------------------------------------------------------------- */

/* X(name, text) */
#define NT_OUTCOME_MAP(X)               \
    X(OK, "ok")                         \
    X(PRUNED, "pruned")                 \
    X(COMPILE_FAILED, "compile_failed") \
    X(LAUNCH_FAILED, "launch_failed")   \
    X(WRONG_RESULT, "wrong_result")     \
    X(ABANDONED, "abandoned")           \
    X(TIMED_OUT, "timed_out")           \
    X(CRASHED, "crashed")

typedef enum nt_outcome {
#define X(name, text) NT_OUTCOME_##name,
    NT_OUTCOME_MAP(X)
#undef X
        NT_OUTCOME_COUNT
} nt_outcome;

const char *nt_outcome_name(nt_outcome outcome);
int nt_outcome_find(const char *name); /* -1 when unknown */

/* Times of one trial. All samples are kept: sample_ns[i] is the steady period of one launch in sample i. */
typedef struct nt_samples {
    double *sample_ns; /* owned by whoever filled the struct; free with nt_samples_done */
    size_t count;
    int64_t launches_per_sample;
    int64_t per_block; /* samples of one block, taken by a process of its own; 0: all were taken in one go */
} nt_samples;

void nt_samples_done(nt_samples *samples);

/* Clocks, temperature and power while a trial was timed. */
typedef struct nt_conditions {
    double sm_clock_mhz; /* median over the samples, from the device's own counters */
    double temperature_c;
    double power_mw;       /* NAN for a trial shorter than 1 s */
    double energy_mj;      /* NAN likewise */
    int64_t throttle_mask; /* NVML clock event reasons seen; NT_UNKNOWN without NVML */
} nt_conditions;

/* One configuration tried on one problem and device. Only `ok` has times. */
typedef struct nt_trial {
    int64_t id; /* assigned by the store; 0 before */
    int64_t run_id;
    nt_problem problem;
    char kernel[NT_NAME_BYTES];
    char source_hash[NT_KEY_BYTES];
    char *params_json;        /* {"tile_m":64,...}; owned */
    bool vendor;              /* the kernel is a call of a vendor's library */
    char rule[NT_NAME_BYTES]; /* name of the rule of thumb this configuration is, else empty */
    nt_outcome outcome;
    char reason[512]; /* why it is not ok: names the limit, the error, the first wrong element */
    nt_cache_mode cache;
    double time_ns, time_lo_ns, time_hi_ns; /* median and its distribution-free interval; NAN unless ok */
    double probe_ns;                        /* time of the probe; known for abandoned trials as well */
    double floor_ns;                        /* period of an empty kernel on this device */
    bool converged;                         /* the interval met --ci before the time cap */
    bool reused;                            /* taken over from an earlier run by --reuse */
    nt_samples samples;
    nt_conditions conditions;
    double error_impl;    /* max over elements of |out - ref| / bound; at most 1 passes */
    double error_prec;    /* ||out - ref|| / ||ref|| against fp64 on the original fp32 inputs */
    nt_artefact artefact; /* key empty when nothing was compiled */
    int64_t smem_bytes;   /* static + dynamic per block */
    int64_t threads_per_block;
    int64_t grid_blocks;
    double occupancy_limit_pct;               /* theoretical */
    char occupancy_limiter[24];               /* threads, registers, smem, blocks, barriers */
    double prepare_ns;                        /* untimed preparation such as weight packing, once */
    double compile_ms, verify_ms, measure_ms; /* what the trial cost */
} nt_trial;

/* Every number unknown, every text empty, outcome `crashed` until somebody knows better: a forgotten trial is never ok.
 */
void nt_trial_init(nt_trial *trial);
void nt_trial_done(nt_trial *trial); /* frees what it owns */

#endif
