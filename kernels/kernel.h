/* kernel.h: one implementation of a layer for a device kind, as a table row.
 *
 * Entry points of compiled sources:
 *   cuda  extern "C" __global__ void entry(args in plan order): pointers for buffers, int for I32, long long for I64.
 *   cpu   void entry(void *const *args, int64_t begin, int64_t end, int32_t thread, int32_t threads)
 *         args[i] points at the value of argument i (a pointer for buffers). The device splits the stage's
 *         grid x * y * z work items evenly among its pinned threads; a call does items [begin, end).
 * Macros: each MACRO parameter in capitals (-DBLOCK_X=16) and NT_PRECISION_FP32=1 and its like, NT_LAYOUT_NHWC=1.
 *         A precision with sparse weights has the macro of its dense row.
 * Tensors: NHWC in [n][h][w][c], weight [k][r][s][c]; NCHW in [n][c][h][w], weight [k][c][r][s]; dense.
 *
 * To add a kernel: one directory (or file) with the source, the parameter table and this row, and the row's name in
 * kernels/registry.c. Everything else (space, pruning, compile, verify, time, store, show) follows from the row. */
#ifndef NT_KERNEL_H
#define NT_KERNEL_H

#include "kernels/layer.h"

/* An expression in the Python subset of autotune/expr.h over parameter names, shape keys (c, k, h, w, n = batch),
 * elem_bytes (of the input type), nchw (1 for that layout, else 0), and device limits (smem_per_block, max_threads,
 * regs_per_block, regs_per_sm, warp_size, sm_count, cc = compute capability such as 90, simd_bytes = widest vector of a
 * cpu).
 * A configuration is legal when every expression is true; `why` is shown when one leaves nothing. */
typedef struct nt_constraint {
    const char *expression;
    const char *why;
} nt_constraint;

/* A named configuration that people compare with: "16x16 threads" for convolution. */
typedef struct nt_rule {
    const char *name;
    const char *params; /* "block_x=16 block_y=16 ..."; parameters left out take their default */
} nt_rule;

enum { NT_MAX_SOURCES = 10 };

typedef struct nt_kernel {
    const char *name; /* unique within layer and device kind: direct, igemm, winograd */
    const char *summary;
    const char *layer;
    nt_device_kind device;
    nt_vendor vendor; /* whose library it calls; NT_VENDOR_NONE (0): a kernel of our own. Swept only with --vendor */
    bool hidden;      /* tests only: never listed, never swept unless asked for by name */

    /* Embedded texts, concatenated; NULL-terminated when fewer. None (a vendor's call): nothing is compiled. */
    const char *source[NT_MAX_SOURCES];

    unsigned precisions;            /* bit per nt_precision */
    unsigned layouts;               /* bit per nt_layout */
    int64_t min_compute_capability; /* cuda: 75, 80, 90 */
    bool arch_specific;             /* cuda: compile for sm_90a instead of sm_90 */

    const nt_param *params;
    int param_count;
    const nt_constraint *constraints;
    int constraint_count;
    const nt_rule *rules;
    int rule_count;

    nt_bound bound;
    /* Additions charged to one output element by this algorithm (reduction length, transforms); the bound's gamma is
     * n u / (1 - n u) with u of the precision row. */
    double (*additions)(const nt_problem *problem);

    /* NULL when the problem can be served, else why not ("channels must be a multiple of 4"). */
    const char *(*refuses)(const nt_problem *problem);

    /* Options beyond the parameters' macros (element types, fixed shape macros), appended to `options`. May be NULL.
     * The shape stays a launch argument unless the kernel gains from it as a macro. */
    void (*options)(const nt_problem *problem, const nt_config *config, nt_str *options);

    /* The concrete launches. NT_LAUNCH_FAILED with a reason when the configuration cannot be launched. */
    nt_status (*plan)(const nt_problem *problem, const nt_config *config, const nt_device_info *device, nt_plan *out,
                      nt_error *err);
} nt_kernel;

#define NT_BIT(x) (1u << (x))

extern const nt_kernel *nt_kernels[];
extern int nt_kernel_count;

/* A kernel of an added layer; see nt_layer_add. */
bool nt_kernel_add(const nt_kernel *kernel);
/* Forgets what was added. */
void nt_registry_reset(void);

/* Kernel of this layer, device kind and name; NULL when there is none. */
const nt_kernel *nt_kernel_find(const char *layer, nt_device_kind device, const char *name);

/* Whole source: the texts one after another. Caller frees. */
char *nt_kernel_source(const nt_kernel *kernel);

/* -DNAME=value for each macro parameter, NT_PRECISION_<NAME>=1, then the kernel's own options. */
void nt_kernel_options(const nt_kernel *kernel, const nt_problem *problem, const nt_config *config, nt_str *out);

/* Content hash (XXH3-128 hex) of the source, and for a vendor's kernel of the library's version on `device` as well:
 * part of a trial's key. `device` may be NULL: a vendor's kernel has no hash then, the empty text. */
void nt_kernel_hash(const nt_kernel *kernel, const nt_device_info *device, char key[NT_KEY_BYTES]);

/* The configuration of a rule: defaults overlaid with its params. NT_USAGE names an unknown one. */
nt_status nt_kernel_rule_config(const nt_kernel *kernel, const nt_rule *rule, nt_config *out, nt_error *err);

void nt_kernel_default_config(const nt_kernel *kernel, nt_config *out);

/* gamma of the elementwise bound: accumulation over `additions`, plus the operand rounding of the multiply (tf32). */
double nt_kernel_gamma(const nt_kernel *kernel, const nt_problem *problem);

/* The same for an algorithm of another bound than the row's, which a vendor's library may choose. Transformed operands
 * are rounded to the type that is multiplied: with Winograd's bounds 16-bit and 8-bit inputs charge that as well. */
double nt_kernel_gamma_of(const nt_kernel *kernel, const nt_problem *problem, nt_bound bound);

#endif
