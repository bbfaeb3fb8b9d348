/* cmd_help.c: `nntune help [COMMAND]`: the same as --help. */
#include "cli/help.h"

static nt_status run(const nt_args *args, int *exit_code, nt_error *err)
{
    const char *name = nt_args_positional(args, 0);
    (void)exit_code;
    if (name == NULL) {
        nt_help_overview(stdout);
        return NT_OK;
    }
    const nt_command *command = nt_command_find(name);
    if (command == NULL)
        return nt_command_unknown(name, err);
    nt_help_command(stdout, command);
    return NT_OK;
}

const nt_command nt_command_help = {
    .name = "help",
    .group = "System",
    .summary = "show help of a command, or of all",
    .usage = "[COMMAND]",
    .example = "nntune help sweep",
    .most_positional = 1,
    .run = run,
};
