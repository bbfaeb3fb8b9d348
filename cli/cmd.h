/* cmd.h: a command as a table row. Adding one is a file with its row and a line in commands.c; help, man page and
 * completion follow from the row. */
#ifndef NT_CMD_H
#define NT_CMD_H

#include "cli/options.h"

/* Options that several commands share. A command has only those that mean something to it: the others are unknown. */
typedef enum nt_uses {
    NT_USES_JSON = 1,
    NT_USES_DB = 2,
    NT_USES_PROGRESS = 4,
    NT_USES_WARNINGS = 8,
    NT_USES_COLOR = 16,
    NT_USES_QUIET = 32
} nt_uses;

typedef struct nt_command {
    const char *name;
    const char *group;        /* heading in `nntune --help`: Tune, Look, System */
    const char *summary;      /* one line */
    const char *usage;        /* positional arguments: "LAYER" */
    const char *example;      /* shown first by --help; may hold several lines */
    const char *description;  /* a paragraph for --help and the man page; may be NULL */
    const nt_option *options; /* own rows; may be NULL */
    unsigned uses;            /* nt_uses of the shared ones */
    int least_positional, most_positional;
    bool hidden;
    /* Returns NT_OK or fills err, which main prints. An exit code other than the status' own goes to *exit_code. */
    nt_status (*run)(const nt_args *args, int *exit_code, nt_error *err);
} nt_command;

extern const nt_command *const nt_commands[]; /* NULL-terminated, in the order of help */

const nt_command *nt_command_find(const char *name); /* NULL when unknown */
/* NT_USAGE for a name that is no command, with the nearest one. */
nt_status nt_command_unknown(const char *name, nt_error *err);

enum { NT_COMMAND_TABLES = 12 };

/* The command's own rows and the shared ones that it uses, as nt_args_parse takes them. */
void nt_command_tables(const nt_command *command, const nt_option *tables[NT_COMMAND_TABLES]);

#endif
