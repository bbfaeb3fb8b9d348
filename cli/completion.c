/* completion.c: `nntune completion SHELL`: completion scripts for bash, zsh and fish, from the tables of commands and
 * options. Hidden: packaging and `make install` call it. */
#include <stdio.h>
#include <string.h>

#include "cli/cmd.h"
#include "core/str.h"
#include "kernels/layer.h"

typedef void (*shell_fn)(void);

/* ---- what may stand where ------------------------------------------------------------------------------------------ */

static void add_word(nt_str *out, const char *word)
{
    nt_str_addf(out, "%s%s", out->length > 0 ? " " : "", word);
}

/* Words for a value whose name in help is `argument`: LAYER, COMMAND, DEVICE, SHELL. */
static void argument_words(const char *argument, nt_str *out)
{
    if (strstr(argument, "LAYER") != NULL)
        for (int i = 0; i < nt_layer_count; i++)
            add_word(out, nt_layers[i]->name);
    if (strstr(argument, "COMMAND") != NULL)
        for (int i = 0; nt_commands[i] != NULL; i++)
            if (!nt_commands[i]->hidden)
                add_word(out, nt_commands[i]->name);
    if (strcmp(argument, "DEVICE") == 0)
        nt_str_add(out, "cpu cuda");
}

static void value_words(const nt_option *option, nt_str *out)
{
    for (int i = 0; option->choices != NULL && option->choices[i] != NULL; i++)
        add_word(out, option->choices[i]);
    if (option->choices == NULL && option->argument != NULL)
        argument_words(option->argument, out);
}

static bool takes_file(const nt_option *option)
{
    return option->argument != NULL && strcmp(option->argument, "FILE") == 0;
}

static void each_option(const nt_command *command, void (*each)(const nt_command *command, const nt_option *option))
{
    const nt_option *tables[NT_COMMAND_TABLES];
    nt_command_tables(command, tables);
    for (int t = 0; tables[t] != NULL; t++)
        for (const nt_option *o = tables[t]; o->name != NULL; o++)
            if (!o->hidden)
                each(command, o);
}

static void each_command(void (*each)(const nt_command *command))
{
    for (int i = 0; nt_commands[i] != NULL; i++)
        if (!nt_commands[i]->hidden)
            each(nt_commands[i]);
}

/* ---- bash ---------------------------------------------------------------------------------------------------------------- */

static void bash_value(const nt_command *command, const nt_option *option)
{
    nt_str words = {0};
    value_words(option, &words);
    if (takes_file(option))
        printf("    \"%s --%s\") COMPREPLY=($(compgen -f -- \"$word\")); return ;;\n", command->name, option->name);
    else if (option->argument != NULL)
        printf("    \"%s --%s\") words=\"%s\" ;;\n", command->name, option->name, nt_str_text(&words));
    nt_str_done(&words);
}

static void bash_values(const nt_command *command)
{
    each_option(command, bash_value);
}

static void bash_name(const nt_command *command, const nt_option *option)
{
    (void)command;
    printf(" --%s", option->name);
}

static void bash_command(const nt_command *command)
{
    nt_str words = {0};
    argument_words(command->usage, &words);
    printf("    \"%s \"*) words=\"%s", command->name, nt_str_text(&words));
    each_option(command, bash_name);
    puts("\" ;;");
    nt_str_done(&words);
}

static void bash(void)
{
    nt_str commands = {0};
    argument_words("COMMAND", &commands);
    printf("# bash completion of nntune\n"
           "_nntune() {\n"
           "    local word=\"${COMP_WORDS[COMP_CWORD]}\" before=\"${COMP_WORDS[COMP_CWORD-1]}\" words=\n"
           "    if [ \"$COMP_CWORD\" -eq 1 ]; then\n"
           "        COMPREPLY=($(compgen -W \"%s --help --version\" -- \"$word\"))\n"
           "        return\n"
           "    fi\n"
           "    case \"${COMP_WORDS[1]} $before\" in\n",
           nt_str_text(&commands));
    each_command(bash_values);
    each_command(bash_command);
    puts("    esac\n"
         "    COMPREPLY=($(compgen -W \"$words\" -- \"$word\"))\n"
         "}\n"
         "complete -F _nntune nntune");
    nt_str_done(&commands);
}

/* ---- zsh ----------------------------------------------------------------------------------------------------------------- */

/* Inside single quotes; brackets and colons separate the parts of a specification. */
static void zsh_text(const char *text)
{
    for (; *text != '\0'; text++) {
        if (*text == '\'')
            fputs("'\\''", stdout);
        else if (strchr("[]:\\", *text) != NULL)
            printf("\\%c", *text);
        else
            putchar(*text);
    }
}

static void zsh_value(const nt_option *option)
{
    nt_str words = {0};
    value_words(option, &words);
    printf(":%s:", option->argument);
    if (takes_file(option))
        fputs("_files", stdout);
    else if (words.length > 0)
        printf(option->kind == NT_OPTION_CHOICE_LIST ? "_sequence compadd - %s" : "(%s)", nt_str_text(&words));
    else
        putchar(' ');
    nt_str_done(&words);
}

static void zsh_option(const nt_command *command, const nt_option *option)
{
    (void)command;
    const char *many = option->kind == NT_OPTION_REPEAT ? "*" : "";
    printf(" \\\n        '%s--%s%s[", many, option->name, option->argument != NULL ? "=" : "");
    zsh_text(option->help);
    putchar(']');
    if (option->argument != NULL)
        zsh_value(option);
    putchar('\'');
    if (option->letter == 0)
        return;
    printf(" \\\n        '%s-%c%s[", many, option->letter, option->argument != NULL ? "+" : "");
    zsh_text(option->help);
    putchar(']');
    if (option->argument != NULL)
        zsh_value(option);
    putchar('\'');
}

static void zsh_command(const nt_command *command)
{
    nt_str words = {0};
    argument_words(command->usage, &words);
    printf("    %s) _arguments", command->name);
    each_option(command, zsh_option);
    if (words.length > 0)
        printf(" \\\n        '1:%s:(%s)'", command->usage[0] == '[' ? "argument" : command->usage, nt_str_text(&words));
    puts(" ;;");
    nt_str_done(&words);
}

static void zsh_summary(const nt_command *command)
{
    printf("        '%s:", command->name);
    zsh_text(command->summary);
    puts("'");
}

static void zsh(void)
{
    puts("#compdef nntune\n"
         "local -a commands\n"
         "commands=(");
    each_command(zsh_summary);
    puts("    )\n"
         "if (( CURRENT == 2 )); then\n"
         "    _describe command commands\n"
         "    return\n"
         "fi\n"
         "local command=$words[2]\n"
         "shift words\n"
         "(( CURRENT-- ))\n"
         "case $command in");
    each_command(zsh_command);
    puts("esac");
}

/* ---- fish ---------------------------------------------------------------------------------------------------------------- */

static void fish_text(const char *text)
{
    putchar('\'');
    for (; *text != '\0'; text++) {
        if (*text == '\'' || *text == '\\')
            putchar('\\');
        putchar(*text);
    }
    putchar('\'');
}

static void fish_option(const nt_command *command, const nt_option *option)
{
    nt_str words = {0};
    value_words(option, &words);
    printf("complete -c nntune -n '__fish_seen_subcommand_from %s' -l %s", command->name, option->name);
    if (option->letter != 0)
        printf(" -s %c", option->letter);
    if (takes_file(option))
        fputs(" -r -F", stdout);
    else if (option->argument != NULL)
        fputs(" -x", stdout);
    if (words.length > 0)
        printf(" -a '%s'", nt_str_text(&words));
    fputs(" -d ", stdout);
    fish_text(option->help);
    putchar('\n');
    nt_str_done(&words);
}

static void fish_command(const nt_command *command)
{
    nt_str words = {0};
    argument_words(command->usage, &words);
    printf("complete -c nntune -n __fish_use_subcommand -a %s -d ", command->name);
    fish_text(command->summary);
    putchar('\n');
    if (words.length > 0)
        printf("complete -c nntune -n '__fish_seen_subcommand_from %s' -a '%s'\n", command->name, nt_str_text(&words));
    each_option(command, fish_option);
    nt_str_done(&words);
}

static void fish(void)
{
    puts("# fish completion of nntune\n"
         "complete -c nntune -f\n"
         "complete -c nntune -n __fish_use_subcommand -l help -s h -d 'show help'\n"
         "complete -c nntune -n __fish_use_subcommand -l version -s V -d 'show the version'");
    each_command(fish_command);
}

/* ---- the command ----------------------------------------------------------------------------------------------------------- */

static const char *const names[] = {"bash", "zsh", "fish"};
static const shell_fn shells[] = {bash, zsh, fish};

static nt_status run(const nt_args *args, int *exit_code, nt_error *err)
{
    const char *name = nt_args_positional(args, 0);
    (void)exit_code;
    for (size_t i = 0; i < sizeof shells / sizeof shells[0]; i++)
        if (strcmp(names[i], name) == 0) {
            shells[i]();
            return NT_OK;
        }
    nt_fail(err, NT_USAGE, "unknown shell '%s'", name);
    return nt_hint(err, "shells: bash, zsh, fish");
}

const nt_command nt_command_completion = {
    .name = "completion",
    .group = "System",
    .summary = "print a completion script for bash, zsh or fish",
    .usage = "SHELL",
    .example = "nntune completion bash > /etc/bash_completion.d/nntune",
    .least_positional = 1,
    .most_positional = 1,
    .hidden = true,
    .run = run,
};
