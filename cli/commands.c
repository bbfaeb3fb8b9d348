/* commands.c: every command, and the options that several of them share. */
#include "cli/cmd.h"

#include <assert.h>
#include <string.h>

#include "cli/warn.h"
#include "core/str.h"

extern const nt_command nt_command_sweep, nt_command_rerun, nt_command_replay, nt_command_best, nt_command_show,
    nt_command_runs, nt_command_query, nt_command_plot, nt_command_report, nt_command_compare, nt_command_profile,
    nt_command_top, nt_command_table, nt_command_import, nt_command_export, nt_command_merge, nt_command_devices,
    nt_command_layers, nt_command_doctor, nt_command_help, nt_command_completion, nt_command_manpage;

const nt_command *const nt_commands[] = {
    &nt_command_sweep,
    &nt_command_rerun,
    &nt_command_replay,
    &nt_command_best,
    &nt_command_show,
    &nt_command_runs,
    &nt_command_query,
    &nt_command_plot,
    &nt_command_report,
    &nt_command_compare,
    &nt_command_profile,
    &nt_command_top,
    &nt_command_table,
    &nt_command_import,
    &nt_command_export,
    &nt_command_merge,
    &nt_command_devices,
    &nt_command_layers,
    &nt_command_doctor,
    &nt_command_help,
    &nt_command_completion,
    &nt_command_manpage,
    NULL,
};

static const char *const when[] = {"auto", "always", "never", NULL};

static const nt_option help_rows[] = {
    {.name = "help", .letter = 'h', .kind = NT_OPTION_FLAG, .help = "show this help"},
    {.name = NULL},
};

static const nt_option json_rows[] = {
    {.name = "json", .kind = NT_OPTION_FLAG, .help = "print JSON on stdout, with schema_version and type"},
    {.name = NULL},
};

static const nt_option db_rows[] = {
    {.name = "db",
     .kind = NT_OPTION_TEXT,
     .argument = "FILE",
     .help = "results database (default $XDG_DATA_HOME/nntune/nntune.db)"},
    {.name = NULL},
};

static const nt_option quiet_rows[] = {
    {.name = "quiet", .letter = 'q', .kind = NT_OPTION_FLAG, .help = "no progress and no notes on stderr"},
    {.name = NULL},
};

static const nt_option progress_rows[] = {
    {.name = "progress",
     .kind = NT_OPTION_CHOICE,
     .argument = "WHEN",
     .choices = when,
     .help = "progress on stderr: auto, always, never (default auto: one redrawn line on a terminal, otherwise a line "
             "every few seconds)"},
    {.name = NULL},
};

static const nt_option warning_rows[] = {
    {.name = "no-warn",
     .kind = NT_OPTION_CHOICE_LIST,
     .argument = "ID,..",
     .choices = nt_warning_ids,
     .help = "silence the warnings of these ids"},
    {.name = NULL},
};

static const nt_option color_rows[] = {
    {.name = "color",
     .kind = NT_OPTION_CHOICE,
     .argument = "WHEN",
     .choices = when,
     .help = "bold headings: auto, always, never (default auto: on a terminal, unless NO_COLOR is set)"},
    {.name = NULL},
};

static const struct {
    nt_uses use;
    const nt_option *rows;
} shared[] = {
    {NT_USES_JSON, json_rows},        {NT_USES_DB, db_rows},
    {NT_USES_QUIET, quiet_rows},      {NT_USES_PROGRESS, progress_rows},
    {NT_USES_WARNINGS, warning_rows}, {NT_USES_COLOR, color_rows},
};

void nt_command_tables(const nt_command *command, const nt_option *tables[NT_COMMAND_TABLES])
{
    int count = 0;
    if (command->options != NULL)
        tables[count++] = command->options;
    for (size_t i = 0; i < sizeof shared / sizeof shared[0]; i++)
        if (command->uses & shared[i].use)
            tables[count++] = shared[i].rows;
    tables[count++] = help_rows;
    assert(count < NT_COMMAND_TABLES);
    tables[count] = NULL;
}

const nt_command *nt_command_find(const char *name)
{
    for (int i = 0; nt_commands[i] != NULL; i++)
        if (strcmp(nt_commands[i]->name, name) == 0)
            return nt_commands[i];
    return NULL;
}

nt_status nt_command_unknown(const char *name, nt_error *err)
{
    const char *names[sizeof nt_commands / sizeof nt_commands[0]];
    nt_str all = {0};
    int count = 0;
    for (int i = 0; nt_commands[i] != NULL; i++)
        if (!nt_commands[i]->hidden) {
            nt_str_addf(&all, "%s%s", count > 0 ? ", " : "", nt_commands[i]->name);
            names[count++] = nt_commands[i]->name;
        }
    int nearest = nt_nearest(name, names, count);
    nt_fail(err, NT_USAGE, "unknown command '%s'", name);
    if (nearest >= 0)
        nt_hint(err, "did you mean 'nntune %s'? Commands: %s", names[nearest], nt_str_text(&all));
    else
        nt_hint(err, "commands: %s", nt_str_text(&all));
    nt_str_done(&all);
    return NT_USAGE;
}
