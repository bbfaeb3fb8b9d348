/* cmd.h: a command as a table row. Adding one is a file with its row and a line in commands.c. */
#ifndef NT_CMD_H
#define NT_CMD_H

#include "cli/options.h"

typedef struct nt_command {
    const char *name;
    const char *group;      /* heading in `nntune --help`: Tune, Look, System */
    const char *summary;    /* one line */
    const char *usage;      /* positional arguments: "LAYER" */
    const char *example;    /* shown first by --help; may hold several lines */
    const char *description; /* a paragraph for --help and the man page; may be NULL */
    const nt_option *options; /* own rows; the common ones are added */
    int least_positional, most_positional;
    bool hidden;
    /* Returns NT_OK or fills err, which main prints. An exit code other than the status' own goes to *exit_code. */
    nt_status (*run)(const nt_args *args, int *exit_code, nt_error *err);
} nt_command;

extern const nt_command *const nt_commands[]; /* NULL-terminated, in the order of help */
extern const nt_option nt_common_options[];   /* --help, --json, --db, -q, ... */

const nt_command *nt_command_find(const char *name); /* NULL when unknown */

#endif
