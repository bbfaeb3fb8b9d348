/* commands.c: every command, and the options all of them share. */
#include "cli/cmd.h"

#include <string.h>

extern const nt_command nt_command_sweep, nt_command_rerun;

const nt_command *const nt_commands[] = {
    &nt_command_sweep,
    &nt_command_rerun,
    NULL,
};

static const char *const when[] = {"auto", "always", "never", NULL};

const nt_option nt_common_options[] = {
    {.name = "help", .letter = 'h', .kind = NT_OPTION_FLAG, .help = "show this help"},
    {.name = "json", .kind = NT_OPTION_FLAG, .help = "print JSON on stdout: one object a line for streams"},
    {.name = "db", .kind = NT_OPTION_TEXT, .argument = "FILE",
     .help = "results database (default $XDG_DATA_HOME/nntune/nntune.db)"},
    {.name = "quiet", .letter = 'q', .kind = NT_OPTION_FLAG, .help = "no progress and no notes on stderr"},
    {.name = "progress", .kind = NT_OPTION_CHOICE, .argument = "WHEN", .choices = when,
     .help = "progress on stderr: auto, always, never (default auto: a line that is redrawn on a terminal)"},
    {.name = "color", .kind = NT_OPTION_CHOICE, .argument = "WHEN", .choices = when,
     .help = "colours: auto, always, never (default auto; NO_COLOR is obeyed)"},
    {.name = "no-warn", .kind = NT_OPTION_LIST, .argument = "ID", .help = "silence the warnings of these ids"},
    {.name = NULL},
};

const nt_command *nt_command_find(const char *name)
{
    for (int i = 0; nt_commands[i] != NULL; i++)
        if (strcmp(nt_commands[i]->name, name) == 0)
            return nt_commands[i];
    return NULL;
}
