/* spec_read.h: what the readers of a spec share: where in the file they are, memory that the spec owns, and fields with
 * errors that name file and key. Between the spec*.c files and nobody else. */
#ifndef NT_SPEC_READ_H
#define NT_SPEC_READ_H

#include <jansson.h>

#include "autotune/spec.h"

typedef struct nt__reader {
    nt_spec *spec;
    const char *file;           /* as the user named it */
    char folder[NT_PATH_BYTES]; /* relative paths of the spec begin here; ends with '/' */
    const char *include[NT_SPEC_FILES];
    int include_count;
    nt_str seen; /* hashes of the headers and data files that were read */
    nt_error *err;
} nt__reader;

/* NT_USAGE: "FILE: arguments[2].count: ..." */
nt_status nt__spec_fail(const nt__reader *r, const char *where, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
/* Memory that lives as long as the spec. */
void *nt__spec_keep(nt_spec *spec, void *memory);
char *nt__spec_text(nt_spec *spec, const char *text); /* a copy */

/* A key within a key: where.key, or key alone at the top. */
const char *nt__spec_path(char *buffer, size_t capacity, const char *where, const char *key);
enum { NT__WHERE = 160 };

/* Refuses keys that are not in `known` ("name,type,count"). */
nt_status nt__spec_keys(const nt__reader *r, const json_t *object, const char *where, const char *known);
/* A text; NULL when absent and not needed. */
nt_status nt__spec_get_text(const nt__reader *r, const json_t *object, const char *where, const char *key, bool needed,
                            const char **out);
nt_status nt__spec_get_number(const nt__reader *r, const json_t *object, const char *where, const char *key,
                              double absent, double *out);
/* One of `choices` (NULL-terminated); `absent` where the key is not there. */
nt_status nt__spec_get_choice(const nt__reader *r, const json_t *object, const char *where, const char *key,
                              const char *const *choices, int absent, int *out);
/* A list of texts; a single text is a list of one. At most `most`. */
nt_status nt__spec_get_texts(const nt__reader *r, const json_t *object, const char *where, const char *key,
                             const char **out, int most, int *count);

/* An expression: text, or a whole number. Over the first `symbols` names of the spec. *out NULL when absent. */
nt_status nt__spec_get_expr(const nt__reader *r, const json_t *value, const char *where, int symbols, nt_expr **out);
int nt__spec_size_symbols(const nt_spec *spec); /* parameters and sizes, without the device's limits */

/* The path of a file that the spec names, made absolute. */
char *nt__spec_file(const nt__reader *r, const char *name);

/* Parts of the file, in this order. */
nt_status nt__spec_read_params(nt__reader *r, const json_t *root);    /* sizes, parameters, constraints */
nt_status nt__spec_read_arguments(nt__reader *r, const json_t *root); /* arguments, tolerance */
nt_status nt__spec_read_launches(nt__reader *r, const json_t *root);  /* kernels, reference */
nt_status nt__spec_read_source(nt__reader *r, const json_t *root);    /* sources, defines, options, include paths */
/* One file's data, noted in `seen`: exactly count elements where count >= 0. */
nt_status nt__spec_check_data(nt__reader *r, const char *path, const char *where, const nt_spec_type *type,
                              int64_t count);

/* T1 as our own format; NULL with err filled. */
json_t *nt__spec_of_t1(nt__reader *r, const char *text);

/* ---- evaluation ---- */
enum { NT__VALUES = NT_SPEC_SYMBOLS };
/* Values of all symbols; `device` may be NULL (limits unknown), `config` too (each parameter is the list of its
 * values). */
void nt__spec_scope(const nt_spec *spec, const nt_shape *sizes, const nt_config *config, const nt_device_info *device,
                    nt_expr_value values[NT__VALUES]);
/* A whole number in [least, most]. */
nt_status nt__spec_eval_int(const nt_expr *expr, const nt_expr_value *values, const char *what, int64_t least,
                            int64_t most, int64_t *out, nt_error *err);
nt_status nt__spec_eval_real(const nt_expr *expr, const nt_expr_value *values, const char *what, double *out,
                             nt_error *err);
/* Text with each {expression} replaced by its value; {{ is a brace. */
nt_status nt__spec_expand(const nt_spec *spec, const char *text, const nt_expr_value *values, nt_str *out,
                          nt_error *err);

/* ---- rows ---- */
nt_status nt__spec_register(nt_spec *spec, nt_error *err); /* fills layer and kernel and adds them */
void nt__spec_free(nt_spec *spec);
nt_status nt__spec_stage(const nt_spec *spec, const nt_spec_launch *launch, const nt_expr_value *values, nt_stage *out,
                         nt_error *err);
/* Name of the generated C function that calls launch i, or the reference (-1). */
void nt__spec_call_name(const nt_spec_launch *launch, int index, char *out, size_t capacity);

/* Assertions that a CUDA entry takes the arguments of its launch; index -1: the reference. The entry stands in a macro.
 */
void nt__spec_add_signature(const nt_spec *spec, const nt_spec_launch *launch, int index, nt_str *out);
void nt__spec_entry_macro(int index, char *out, size_t capacity);

extern const nt_spec_type nt_spec_types[];
extern const int nt_spec_type_count;

#endif
