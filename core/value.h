/* value.h: the value of a tuning parameter, and parameters themselves.
 *
 * A configuration holds, for each parameter of its kernel, the index of one of the parameter's listed values. Spaces
 * and strategies work on indices alone; values matter to constraints, macros, launches and people. */
#ifndef NT_VALUE_H
#define NT_VALUE_H

#include <stdbool.h>
#include <stdint.h>

#include "core/str.h"

enum { NT_MAX_PARAMS = 24 };

typedef enum nt_value_kind { NT_VALUE_INT, NT_VALUE_REAL, NT_VALUE_BOOL, NT_VALUE_STRING } nt_value_kind;

typedef struct nt_value {
    nt_value_kind kind;
    union {
        int64_t i; /* INT, BOOL (0 or 1) */
        double r;
        const char *s; /* not owned */
    };
} nt_value;

/* How a parameter reaches the kernel. What can be a launch argument is not a macro, so it is not in the cache key and
 * its values share one compiled artefact. */
typedef enum nt_param_use {
    NT_PARAM_MACRO, /* -DNAME=value, NAME being the parameter's name in capitals */
    NT_PARAM_LAUNCH /* read by the kernel's plan function only (grid shape, dynamic shared memory, arguments) */
} nt_param_use;

/* A table row. Exactly one of ints, reals, strings is set; booleans are ints 0/1 with is_bool. */
typedef struct nt_param {
    const char *name;
    const char *help; /* one line */
    const int64_t *ints;
    const double *reals;
    const char *const *strings;
    int count;     /* number of listed values */
    int dflt;      /* index of the default value */
    bool is_bool;
    nt_param_use use;
} nt_param;

/* `.NT_INTS(1, 2, 4)` fills ints and count of a row. */
#define NT_INTS(...)                               \
    ints = (const int64_t[]){__VA_ARGS__},         \
    .count = (int)(sizeof((const int64_t[]){__VA_ARGS__}) / sizeof(int64_t))
#define NT_STRINGS(...)                            \
    strings = (const char *const[]){__VA_ARGS__},  \
    .count = (int)(sizeof((const char *const[]){__VA_ARGS__}) / sizeof(char *))

typedef struct nt_config {
    int count;
    uint16_t index[NT_MAX_PARAMS]; /* index into the listed values of each parameter, in table order */
} nt_config;

nt_value nt_param_value(const nt_param *param, int index);
bool nt_value_equal(nt_value a, nt_value b);
void nt_value_print(nt_str *out, nt_value value); /* 16, 0.5, true, name: as in --param and tables */

/* Finds a parameter by name; -1 when there is none. */
int nt_param_find(const nt_param *params, int count, const char *name);

/* Index of the listed value whose printed form is `text`; -1 when it is not listed. */
int nt_param_value_find(const nt_param *param, const char *text);

/* The value of a named integer or boolean parameter in a configuration. The name must exist (asserted). */
int64_t nt_config_int(const nt_param *params, const nt_config *config, const char *name);

/* "tile_m=64 stages=2", every parameter, in table order. */
void nt_config_print(nt_str *out, const nt_param *params, const nt_config *config);

bool nt_config_equal(const nt_config *a, const nt_config *b);

#endif
