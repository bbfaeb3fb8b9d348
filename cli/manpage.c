/* manpage.c: `nntune manpage`: the man page in roff, from the tables of commands and options. Hidden: `make install`
 * calls it. */
#include <ctype.h>
#include <stdio.h>

#include "cli/about.h"
#include "cli/cmd.h"
#include "cli/warn.h"
#include "tui/keys.h"

/* Text for roff: dashes that can be copied into a shell, backslashes, and no request at the start of a line. */
static void text(const char *words)
{
    if (*words == '.' || *words == '\'')
        fputs("\\&", stdout);
    for (; *words != '\0'; words++) {
        if (*words == '\\')
            fputs("\\e", stdout);
        else if (*words == '-')
            fputs("\\-", stdout);
        else
            putchar(*words);
    }
}

static void line(const char *words)
{
    text(words);
    putchar('\n');
}

static void pair(const char *name, const char *meaning)
{
    fputs(".TP\n.B ", stdout);
    line(name);
    line(meaning);
}

static void option(const nt_option *o)
{
    fputs(".TP\n\\fB", stdout);
    if (o->letter != 0)
        printf("\\-%c\\fR, \\fB", o->letter);
    fputs("\\-\\-", stdout);
    text(o->name);
    fputs("\\fR", stdout);
    if (o->argument != NULL) {
        fputs(" \\fI", stdout);
        text(o->argument);
        fputs("\\fR", stdout);
    }
    putchar('\n');
    line(o->help);
}

static void example(const char *lines)
{
    fputs(".PP\n.nf\n.RS\n", stdout);
    for (; *lines != '\0'; lines++) {
        if (*lines == '-')
            putchar('\\');
        putchar(*lines);
    }
    fputs("\n.RE\n.fi\n", stdout);
}

static void command(const nt_command *c)
{
    const nt_option *tables[NT_COMMAND_TABLES];
    printf(".SS nntune %s %s\n", c->name, c->usage);
    putchar(toupper((unsigned char)c->summary[0]));
    text(c->summary + 1);
    puts(".");
    example(c->example);
    if (c->description != NULL) {
        puts(".PP");
        line(c->description);
    }
    nt_command_tables(c, tables);
    for (int t = 0; tables[t] != NULL; t++)
        for (const nt_option *o = tables[t]; o->name != NULL; o++)
            if (!o->hidden)
                option(o);
}

/* From the table that binds them. */
static void keys(void)
{
    puts(".SH KEYS\nOf the screen of \\fBnntune top\\fR and \\fBnntune sweep \\-\\-tui\\fR; 1 to 9 are the views.");
    for (int i = 0; i < nt_key_row_count; i++)
        pair(nt_key_rows[i].names, nt_key_rows[i].meaning);
}

static void pairs(const char *heading, const nt_variable *rows)
{
    printf(".SH %s\n", heading);
    for (; rows->name != NULL; rows++)
        pair(rows->name, rows->meaning);
}

static nt_status run(const nt_args *args, int *exit_code, nt_error *err)
{
    (void)args;
    (void)exit_code;
    (void)err;
    printf(".TH NNTUNE 1 \"\" \"nntune %s\" \"User Commands\"\n.SH NAME\nnntune \\- ", NT_VERSION);
    line(NT_TAGLINE);
    puts(".SH SYNOPSIS\n.B nntune\n.I COMMAND\n[\\fIARGUMENT\\fR]... [\\fIOPTION\\fR]...");
    puts(".SH DESCRIPTION\nA sweep tries the kernels of a layer with their parameters on one device. Each "
         "configuration is "
         "verified against an fp64 reference, then timed; all of it is stored in a database that the other commands "
         "read. "
         "Results go to standard output, progress and warnings to standard error.");
    puts(".SH COMMANDS");
    for (int i = 0; nt_commands[i] != NULL; i++)
        if (!nt_commands[i]->hidden)
            command(nt_commands[i]);
    keys();
    puts(".SH WARNINGS\nEach warning ends with its id in brackets; \\-\\-no\\-warn takes ids.");
    for (const nt_warning *w = nt_warnings; w->id != NULL; w++)
        pair(w->id, w->meaning);
    puts(".SH EXIT STATUS");
    for (const nt_exit_code *e = nt_exit_codes; e->code != NULL; e++)
        pair(e->code, e->meaning);
    pairs("ENVIRONMENT", nt_variables);
    pairs("FILES", nt_files);
    return NT_OK;
}

const nt_command nt_command_manpage = {
    .name = "manpage",
    .group = "System",
    .summary = "print the man page in roff",
    .usage = "",
    .example = "nntune manpage | man -l -",
    .hidden = true,
    .run = run,
};
