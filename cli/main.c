/* main.c: nntune. Finds the command, parses its options, runs it, prints its error, exits with its code. The only exit(). */
#include <stdio.h>
#include <string.h>

#include "autotune/pool.h"
#include "autotune/worker.h"
#include "cli/cmd.h"
#include "cli/command_line.h"
#include "core/str.h"

static int report(const nt_error *err)
{
    fprintf(stderr, "nntune: %s\n", err->what);
    if (err->hint[0] != '\0')
        fprintf(stderr, "  %s\n", err->hint);
    return nt_status_exit_code(err->status);
}

static int unknown_command(const char *name)
{
    const char *names[64];
    int count = 0;
    nt_error err;
    for (int i = 0; nt_commands[i] != NULL && count < 64; i++)
        if (!nt_commands[i]->hidden)
            names[count++] = nt_commands[i]->name;
    int nearest = nt_nearest(name, names, count);
    nt_fail(&err, NT_USAGE, "unknown command '%s'", name);
    if (nearest >= 0)
        nt_hint(&err, "did you mean 'nntune %s'?", names[nearest]);
    else
        nt_hint(&err, "'nntune --help' lists the commands");
    return report(&err);
}

static int run_command(const nt_command *command, int argc, char **argv)
{
    const nt_option *tables[] = {command->options, nt_common_options, NULL};
    nt_args *args = NULL;
    nt_error err = {0};
    int exit_code = -1;
    nt_status status = nt_args_parse(tables, argc, argv, command->most_positional, &args, &err);
    if (status == NT_OK && nt_args_positional_count(args) < command->least_positional)
        status = nt_fail(&err, NT_USAGE, "%s needs an argument: nntune %s %s", command->name, command->name, command->usage);
    if (status == NT_OK)
        status = command->run(args, &exit_code, &err);
    nt_args_free(args);
    if (status != NT_OK) {
        err.status = status;
        int code = report(&err);
        return exit_code >= 0 ? exit_code : code;
    }
    return exit_code >= 0 ? exit_code : 0;
}

int main(int argc, char **argv)
{
    if (argc >= 3 && strcmp(argv[1], "--compile-child") == 0)
        return nt_compile_child_main(argv[2]);
    if (argc >= 4 && strcmp(argv[1], "--device-worker") == 0)
        return nt_worker_main(argv[2], argv[3]);
    nt_command_line_set(argc, argv);
    if (argc < 2)
        return unknown_command("");
    const nt_command *command = nt_command_find(argv[1]);
    return command != NULL ? run_command(command, argc - 2, argv + 2) : unknown_command(argv[1]);
}
