/* spec.h: a kernel of the user's own, described by a JSON file: what docs/SPEC.md explains.
 *
 * Loading a file makes a layer "user:NAME" and a kernel row for it and adds both to the registry, so that everything
 * else (space, pruning, compiling, storing) works as for our own layers. The coordinator and its children load the same
 * file; `hash` tells them that it is the same. What is particular to such a kernel is its buffers, which are named by
 * the file: buffer i has the role NT_ROLE_USER + i. */
#ifndef NT_SPEC_H
#define NT_SPEC_H

#include <jansson.h>

#include "autotune/expr.h"
#include "device/compiler.h"
#include "kernels/kernel.h"

#define NT_SPEC_PREFIX NT_USER_PREFIX
enum { NT_SPEC_ARGUMENTS = 32, NT_SPEC_KERNELS = NT_MAX_STAGES, NT_SPEC_FILES = 16, NT_SPEC_SYMBOLS = 48 };

/* An element type of an argument. */
typedef struct nt_spec_type {
    const char *name;   /* f32 */
    const char *c_name; /* float */
    size_t bytes;
    nt_dtype dtype;
    bool is_integer;
    double low, high; /* of integers */
} nt_spec_type;

typedef enum nt_spec_fill {
    NT_SPEC_NORMAL,
    NT_SPEC_UNIFORM,
    NT_SPEC_CONSTANT,
    NT_SPEC_INDEX,
    NT_SPEC_FILE
} nt_spec_fill;

typedef struct nt_spec_argument {
    char *name;
    const nt_spec_type *type;
    nt_expr *value; /* scalar: over parameters and sizes */
    nt_expr *count; /* buffer: elements, over sizes */
    int buffer;     /* its number among the buffers; -1 for a scalar */
    bool read, written;
    char *symbol; /* constant memory or global variable that gets the buffer's contents; NULL: an argument */
    nt_spec_fill fill;
    double low, high, constant;
    char *file;      /* absolute path of a FILE fill */
    char *reference; /* absolute path of what it must hold afterwards; NULL */
    double absolute, relative;
} nt_spec_argument;

/* One launch. */
typedef struct nt_spec_launch {
    char *entry;                                /* with {expressions} */
    nt_expr *grid[3], *block[3], *shared_bytes; /* NULL: 1, 1, 0 */
    int argument[NT_MAX_ARGS], argument_count;
} nt_spec_launch;

typedef enum nt_spec_reference {
    NT_SPEC_OF_CONFIG, /* the kernel itself in one configuration */
    NT_SPEC_OF_C,      /* a C function */
    NT_SPEC_OF_CUDA,   /* a CUDA kernel */
    NT_SPEC_OF_FILES
} nt_spec_reference;

typedef struct nt_spec {
    char *path;              /* absolute, of the spec */
    char hash[NT_KEY_BYTES]; /* of the spec, its sources and its data */
    char name[NT_NAME_BYTES], kernel_name[NT_NAME_BYTES];
    nt_device_kind device;
    nt_precision precision; /* for the roof that its speed is compared with */
    bool is_t1;

    nt_param *param;
    int param_count;
    nt_constraint *constraint;
    int constraint_count;
    nt_shape sizes; /* the file's own */
    char *sizes_text;
    const char *symbol[NT_SPEC_SYMBOLS]; /* parameters, sizes, limits of the device */
    int symbol_count;
    nt_expr_value values_of[NT_MAX_PARAMS]; /* each parameter's values as a list */

    char *source, *identity; /* the text to compile; a comment with the hash of all that shapes results */
    char *options;           /* with {expressions} */
    char *plain_options;     /* -D and -I alone: for a reference in another language */
    nt_spec_argument argument[NT_SPEC_ARGUMENTS];
    int argument_count, buffer_count;
    nt_spec_launch launch[NT_SPEC_KERNELS];
    int launch_count;
    nt_expr *flop, *bytes; /* NULL: unknown; each buffer once */

    nt_spec_reference reference;
    nt_config reference_config;
    nt_spec_launch reference_launch;
    char *reference_source;

    nt_layer layer;
    nt_kernel kernel;
    nt_named_shape shape;
    void **owned; /* memory of the values and texts above */
    size_t owned_count, owned_capacity;
} nt_spec;

/* Reads a spec (its own format or T1) and adds its layer and kernel. The same file again, unchanged, gives the one
 * there is. NT_USAGE names the file and the key. *out lives until nt_spec_forget_all. */
nt_status nt_spec_load(const char *path, const nt_spec **out, nt_error *err);
/* The same for a child that must find what its coordinator found: NT_FAILED, and nothing is added, when the contents
 * have another hash. */
nt_status nt_spec_load_same(const char *path, const char *hash, nt_error *err);
/* A message's words of the spec that a layer is from, and what a child does with them. Nothing where it is our own. */
void nt_spec_tell(json_t *message, const char *layer);
nt_status nt_spec_told(const json_t *message, nt_error *err);
const nt_spec *nt_spec_of(const char *layer); /* NULL when the layer is not of a spec that was loaded */
void nt_spec_forget_all(void);

/* ---- what follows from a spec and a problem; for workloads ---- */

/* Element count of each buffer for these sizes; [spec->argument_count], 0 for scalars. */
nt_status nt_spec_counts(const nt_spec *spec, const nt_problem *problem, int64_t *counts, nt_error *err);
/* Contents of a buffer before a launch. `to` has room for count elements. */
nt_status nt_spec_fill_buffer(const nt_spec *spec, int argument, uint64_t seed, int64_t count, void *to, nt_error *err);
/* What a buffer must hold afterwards, from its reference file, and from elements in memory: as a comparison wants its
 * reference, doubles; of 64-bit integers these themselves. `to` has room for count doubles. */
nt_status nt_spec_expected(const nt_spec *spec, int argument, int64_t count, void *to, nt_error *err);
void nt_spec_to_reference(const nt_spec_type *type, const void *from, int64_t count, void *to);

/* The reference as something to compile and launch on a device of kind request->kind: NT_DEVICE_CPU for OF_C, the
 * kernel's own for OF_CONFIG and OF_CUDA. The texts of the request live as long as `text` and `source`. */
nt_status nt_spec_reference_plan(const nt_spec *spec, const nt_problem *problem, const nt_device_info *device,
                                 nt_compile_request *request, nt_str *text, char **source, nt_plan *out, nt_error *err);

#endif
