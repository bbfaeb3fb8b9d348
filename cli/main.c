/* main.c: nntune. Finds the command, parses its options, runs it, prints its error, exits with its code. */
#include <signal.h>
#include <stdio.h>
#include <string.h>

#include "autotune/counter_worker.h"
#include "autotune/pool.h"
#include "autotune/worker.h"
#include "cli/cmd.h"
#include "cli/command_line.h"
#include "cli/help.h"
#include "cli/output.h"
#include "core/str.h"

static int report(const nt_error *err)
{
    fprintf(stderr, "nntune: %s\n", err->what);
    if (err->hint[0] != '\0')
        fprintf(stderr, "  %s\n", err->hint);
    return nt_status_exit_code(err->status);
}

/* Asked for help, a line is not judged any further: `nntune sweep --help` needs no LAYER. */
static bool asks_for_help(int argc, char **argv)
{
    for (int i = 0; i < argc && strcmp(argv[i], "--") != 0; i++)
        if (strcmp(argv[i], "--help") == 0 || strcmp(argv[i], "-h") == 0)
            return true;
    return false;
}

static nt_status missing_argument(const nt_command *command, nt_error *err)
{
    nt_fail(err, NT_USAGE, "%s needs an argument: nntune %s %s", command->name, command->name, command->usage);
    return nt_hint(err, "for example: %.*s", (int)strcspn(command->example, "\n"), command->example);
}

static int run_command(const nt_command *command, int argc, char **argv)
{
    const nt_option *tables[NT_COMMAND_TABLES];
    nt_args *args = NULL;
    nt_error err = {0};
    int exit_code = -1;
    if (asks_for_help(argc, argv)) {
        nt_help_command(stdout, command);
        return 0;
    }
    nt_command_tables(command, tables);
    nt_status status = nt_args_parse(tables, argc, argv, command->most_positional, &args, &err);
    if (status == NT_OK && nt_args_positional_count(args) < command->least_positional)
        status = missing_argument(command, &err);
    if (status == NT_OK)
        status = command->run(args, &exit_code, &err);
    nt_args_free(args);
    err.status = status;
    int code = status != NT_OK ? report(&err) : 0;
    return exit_code >= 0 ? exit_code : code;
}

/* Options that stand before or instead of a command. */
static const struct {
    const char *name, *letter;
    void (*print)(FILE *out);
} leading[] = {
    {"--help", "-h", nt_help_overview},
    {"--version", "-V", nt_help_version},
};

static int unknown_leading(const char *word)
{
    static const char *const names[] = {"--help", "--version"};
    nt_error err;
    int nearest = nt_nearest(word, names, 2);
    nt_fail(&err, NT_USAGE, "unknown option '%s'", word);
    if (nearest >= 0)
        nt_hint(&err, "did you mean '%s'?", names[nearest]);
    else
        nt_hint(&err, "options come after the command; 'nntune --help' lists the commands");
    return report(&err);
}

static int run_line(int argc, char **argv)
{
    nt_error err;
    if (argc < 2) {
        nt_help_overview(stdout);
        return 0;
    }
    for (size_t i = 0; i < sizeof leading / sizeof leading[0]; i++)
        if (strcmp(argv[1], leading[i].name) == 0 || strcmp(argv[1], leading[i].letter) == 0) {
            leading[i].print(stdout);
            return 0;
        }
    if (argv[1][0] == '-')
        return unknown_leading(argv[1]);
    const nt_command *command = nt_command_find(argv[1]);
    if (command != NULL)
        return run_command(command, argc - 2, argv + 2);
    nt_command_unknown(argv[1], &err);
    return report(&err);
}

int main(int argc, char **argv)
{
    if (argc >= 3 && strcmp(argv[1], "--compile-child") == 0)
        return nt_compile_child_main(argv[2]);
    if (argc >= 4 && strcmp(argv[1], "--device-worker") == 0)
        return nt_worker_main(argv[2], argv[3]);
    if (argc >= 4 && strcmp(argv[1], "--counter-worker") == 0)
        return nt_counter_worker_main(argv[2], argv[3]);
    nt_error err;
    signal(SIGPIPE, SIG_IGN); /* a reader that leaves must not end a sweep; writes say so by their error */
    signal(SIGXFSZ, SIG_IGN); /* nor must a limit on file sizes */
    nt_command_line_set(argc, argv);
    int code = run_line(argc, argv);
    return nt_output_finish(&err) == NT_OK || code != 0 ? code : report(&err);
}
