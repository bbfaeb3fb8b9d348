/* options.h: one table row per option; parsing, checking, help, completion and the man page all read the same rows.
 *
 * GNU form: --name value and --name=value, short letters, options anywhere, `--` ends them. Every value is checked when
 * it is parsed, by its row; what is wrong is named together with the right values and, for slips, 'did you mean'. */
#ifndef NT_OPTIONS_H
#define NT_OPTIONS_H

#include <stdbool.h>
#include <stdint.h>

#include "core/status.h"

typedef enum nt_option_kind {
    NT_OPTION_FLAG,
    NT_OPTION_TEXT,
    NT_OPTION_INTEGER,      /* min..max */
    NT_OPTION_REAL,         /* min_real..max_real */
    NT_OPTION_INTEGER_LIST, /* 1,8,32: each min..max */
    NT_OPTION_CHOICE,
    NT_OPTION_CHOICE_LIST, /* fp32,int8 */
    NT_OPTION_LIST,        /* comma-separated texts; may be repeated */
    NT_OPTION_REPEAT,      /* text, may be repeated */
    NT_OPTION_BUDGET       /* 200 (trials), 60s, 5m, 1h */
} nt_option_kind;

typedef struct nt_option {
    const char *name; /* without the dashes */
    char letter;      /* short form or 0 */
    nt_option_kind kind;
    const char *argument;       /* name of the value in help: N, FILE; NULL for flags */
    const char *help;           /* one or two lines; ends with the default where there is one */
    const char *const *choices; /* NULL-terminated; for CHOICE and CHOICE_LIST */
    int64_t min, max;
    double min_real, max_real;
    bool hidden;
} nt_option;

enum { NT_ARGS_VALUES = 64 };

/* What was given for one option. */
typedef struct nt_given {
    const nt_option *option;
    int count; /* values; for a flag 1 when set */
    const char *text[NT_ARGS_VALUES];
    int64_t integer[NT_ARGS_VALUES]; /* INTEGER*, CHOICE* (index of the choice), BUDGET in trials (0: in seconds) */
    double real[NT_ARGS_VALUES];     /* REAL, BUDGET in seconds */
} nt_given;

typedef struct nt_args nt_args;

/* argv without program and command name. `tables` are NULL-terminated arrays of rows (each ends with a row without a
 * name). At most `most_positional` positional arguments are taken. Free with nt_args_free. */
nt_status nt_args_parse(const nt_option *const *tables, int argc, char **argv, int most_positional, nt_args **out,
                        nt_error *err);
void nt_args_free(nt_args *args);

const nt_given *nt_args_get(const nt_args *args, const char *name); /* NULL when not given; the name must be a row */
bool nt_args_takes(const nt_args *args, const char *name); /* whether the command has this option */
bool nt_args_flag(const nt_args *args, const char *name);
const char *nt_args_text(const nt_args *args, const char *name, const char *otherwise); /* last one given */
int64_t nt_args_integer(const nt_args *args, const char *name, int64_t otherwise);
double nt_args_real(const nt_args *args, const char *name, double otherwise);
int nt_args_positional_count(const nt_args *args);
const char *nt_args_positional(const nt_args *args, int index); /* NULL beyond the last */

#endif
