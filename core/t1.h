/* t1.h: a T1 file: the JSON form in which kernel tuners share a kernel, its parameters, constraints and arguments.
 *
 * Reading checks names, types, the schema's lists of words, counts and size, and errors name the place
 * ("KernelSpecification.Arguments[2].MemoryType"). Keys that the schema lacks but files have (ProblemSize, GridDivX,
 * Default, ...) are members like the others; keys that nobody here knows stay as JSON in `extra` of the object they
 * stood in, and nt_t1_json writes them back. Expressions stay text: autotune/expr.h evaluates them.
 *
 * Absent is NULL for texts, values and lists (a list that is there and empty is not NULL), NT_UNKNOWN for integers, -1
 * for flags. All texts live as long as the nt_t1. */
#ifndef NT_T1_H
#define NT_T1_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/status.h"

enum {
    NT_T1_MAX_BYTES = 4 << 20, /* of the JSON text, unpacked */
    NT_T1_MAX_ITEMS = 4096     /* of any list in it */
};

/* A text or a number in the file: as an expression both are text ("4096", "ProblemSize[0]*2"). */
typedef struct nt_t1_expr {
    const char *text;
    const json_t *json; /* as it stood; NULL: text it was */
} nt_t1_expr;

typedef struct nt_t1_exprs {
    nt_t1_expr *item;
    size_t count;
    bool alone; /* one value, not in a list */
} nt_t1_exprs;

typedef struct nt_t1_param {
    const char *name;
    const char *type;   /* int, uint, float, bool, string */
    nt_t1_expr values;  /* Python: "[32*i for i in range(1, 5)]"; a JSON list reads as one */
    const json_t *dflt; /* Default: any value */
    json_t *extra;
} nt_t1_param;

typedef struct nt_t1_condition {
    nt_t1_exprs params; /* names the condition is about */
    const char *expression;
    json_t *extra;
} nt_t1_condition;

typedef struct nt_t1_space {
    nt_t1_param *param;
    size_t param_count;
    nt_t1_condition *condition;
    size_t condition_count;
    json_t *extra;
} nt_t1_space;

typedef struct nt_t1_attribute {
    const char *name;
    const json_t *value;
    json_t *extra;
} nt_t1_attribute;

typedef struct nt_t1_search {
    const char *name;
    nt_t1_attribute *attribute;
    size_t attribute_count;
    json_t *extra;
} nt_t1_search;

typedef struct nt_t1_budget {
    const char *type; /* TuningDuration (seconds), ConfigurationCount, ConfigurationFraction */
    nt_t1_expr value;
    json_t *extra;
} nt_t1_budget;

typedef struct nt_t1_general {
    const char *benchmark_name;
    int64_t format_version;
    const char *logging_level; /* Off, Error, Warning, Info, Debug */
    const char *time_unit;     /* Nanoseconds, Microseconds, Milliseconds, Seconds */
    const char *output_file;
    const char *output_format; /* JSON, XML */
    const char *objective;
    int minimize; /* flag */
    json_t *extra;
} nt_t1_general;

typedef struct nt_t1_size {
    nt_t1_expr x, y, z;
    json_t *extra;
} nt_t1_size;

typedef struct nt_t1_argument {
    const char *name;
    const char *type;        /* bool, int8 .. uint64, half, float, double and their 2, 4, 8, 16, custom */
    const char *memory_type; /* Scalar, Vector, Local, Symbol */
    const char *mem_type;    /* MemType of files in practice: Constant, Global, ... */
    const char *access_type; /* ReadOnly, WriteOnly, ReadWrite */
    const char *fill_type;   /* Constant, Random, Generator, Script, BinaryRaw, BinaryHDF */
    nt_t1_expr fill_value;
    nt_t1_expr size; /* in elements */
    int64_t type_size;
    const char *data_source;
    int64_t random_seed;
    int output; /* flag */
    json_t *extra;
} nt_t1_argument;

typedef struct nt_t1_reference {
    const char *name;
    const char *target_name;
    const char *fill_type;
    nt_t1_expr fill_value;
    const char *data_source;
    int64_t random_seed;
    const char *validation_method; /* AbsoluteDifference, SideBySideComparison, SideBySideRelativeComparison */
    nt_t1_expr validation_threshold;
    json_t *extra;
} nt_t1_reference;

typedef struct nt_t1_kernel {
    const char *language; /* OpenCL, CUDA, Vulkan, HIP, C, Hypertuner */
    const char *benchmark_name;
    const char *kernel_name;
    const char *kernel_file;
    const char *global_size_type; /* OpenCL: threads; CUDA, Vulkan: blocks */
    nt_t1_size global_size, local_size;
    nt_t1_exprs grid_div_x, grid_div_y, grid_div_z;
    nt_t1_exprs problem_size;
    nt_t1_expr shared_memory;
    nt_t1_exprs compiler_options;
    int profiling; /* flag */
    const char *simulation_input;
    const json_t *device; /* object */
    nt_t1_argument *argument;
    size_t argument_count;
    nt_t1_reference *reference;
    size_t reference_count;
    json_t *extra;
} nt_t1_kernel;

typedef struct nt_t1 {
    nt_t1_space space;
    nt_t1_kernel kernel;
    bool has_search, has_general;
    nt_t1_search search;
    nt_t1_budget *budget;
    size_t budget_count;
    nt_t1_general general;
    json_t *extra;
    json_t *root, *made; /* what the texts live in */
} nt_t1;

/* A file, plain or gzip. NT_USAGE: no T1 file, and why; NT_IO, NT_NOT_FOUND: cannot be read. On failure there is
 * nothing to free; else nt_t1_done. */
nt_status nt_t1_read(const char *path, nt_t1 *out, nt_error *err);
/* The same from text. `name` stands in errors. */
nt_status nt_t1_parse(const char *name, const char *text, size_t length, nt_t1 *out, nt_error *err);
void nt_t1_done(nt_t1 *t1);

/* The file again: equal as JSON to what was read. Drop the reference. */
json_t *nt_t1_json(const nt_t1 *t1);

#endif
