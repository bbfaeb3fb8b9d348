#include "cli/help.h"

#include <stdlib.h>
#include <string.h>

#include "cli/about.h"
#include "cli/wrap.h"
#include "core/mem.h"
#include "core/str.h"

void nt_help_version(FILE *out)
{
    fprintf(out, "nntune %s\n", NT_VERSION);
}

/* "  NAME   MEANING", the meaning wrapped in its own column. */
static void print_pair(FILE *out, const char *name, const char *meaning, int column)
{
    int used = fprintf(out, "  %s", name);
    if (used + 2 > column)
        used = fprintf(out, "\n") - 1;
    fprintf(out, "%*s", column - used, "");
    nt_wrap(out, meaning, column, column, NT_HELP_WIDTH);
}

/* Each line of `text` with an indent. */
static void print_lines(FILE *out, const char *text)
{
    for (; *text != '\0'; text += *text != '\0') {
        size_t length = strcspn(text, "\n");
        fprintf(out, "  %.*s\n", (int)length, text);
        text += length;
    }
}

/* ---- one command ----------------------------------------------------------------------------------------------------- */

static void spell(nt_str *out, const nt_option *option)
{
    if (option->letter != 0)
        nt_str_addf(out, "-%c, --%s", option->letter, option->name);
    else
        nt_str_addf(out, "    --%s", option->name);
    if (option->argument != NULL)
        nt_str_addf(out, " %s", option->argument);
}

static void print_option(FILE *out, const nt_option *option)
{
    enum { COLUMN = 28 };
    if (option->hidden)
        return;
    nt_str spelling = {0};
    spell(&spelling, option);
    print_pair(out, nt_str_text(&spelling), option->help, COLUMN);
    nt_str_done(&spelling);
}

void nt_help_command(FILE *out, const nt_command *command)
{
    const nt_option *tables[NT_COMMAND_TABLES];
    fputs("Example:\n", out);
    print_lines(out, command->example);
    fputc('\n', out);
    nt_str usage = {0};
    nt_str_addf(&usage, "nntune %s%s%s [OPTION]...", command->name, command->usage[0] != '\0' ? " " : "",
                command->usage);
    fprintf(out, "Usage: %s\n  ", nt_str_text(&usage));
    nt_str_done(&usage);
    nt_wrap(out, command->summary, 2, 2, NT_HELP_WIDTH);
    if (command->description != NULL) {
        fputs("\n", out);
        nt_wrap(out, command->description, 0, 0, NT_HELP_WIDTH);
    }
    fputs("\nOptions:\n", out);
    nt_command_tables(command, tables);
    for (int t = 0; tables[t] != NULL; t++)
        for (const nt_option *o = tables[t]; o->name != NULL; o++)
            print_option(out, o);
}

/* ---- all of it --------------------------------------------------------------------------------------------------------- */

static void print_group(FILE *out, const char *group)
{
    enum { COLUMN = 12 };
    fprintf(out, "\n%s:\n", group);
    for (int i = 0; nt_commands[i] != NULL; i++)
        if (!nt_commands[i]->hidden && strcmp(nt_commands[i]->group, group) == 0)
            print_pair(out, nt_commands[i]->name, nt_commands[i]->summary, COLUMN);
}

void nt_help_overview(FILE *out)
{
    enum { COLUMN = 10 };
    fputs("nntune ", out);
    nt_wrap(out, NT_TAGLINE, 7, 0, NT_HELP_WIDTH);
    fputs("\nExample:\n"
          "  nntune sweep conv3x3        tune a layer on the best device here\n"
          "  nntune best                 what won\n"
          "\nUsage: nntune COMMAND [ARGUMENT]... [OPTION]...\n",
          out);
    for (int i = 0; nt_commands[i] != NULL; i++) {
        const nt_command *command = nt_commands[i];
        bool opens_group = i == 0 || strcmp(nt_commands[i - 1]->group, command->group) != 0;
        if (!command->hidden && opens_group)
            print_group(out, command->group);
    }
    fputs("\nExit codes:\n", out);
    for (const nt_exit_code *e = nt_exit_codes; e->code != NULL; e++)
        print_pair(out, e->code, e->meaning, COLUMN);
    fputs("\n'nntune COMMAND --help' shows a command's options; 'man nntune' has it all, with\n"
          "the environment. Results go to stdout, progress and warnings to stderr.\n",
          out);
}
