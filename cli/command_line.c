#include "cli/command_line.h"

#include <string.h>

#include "core/paths.h"
#include "core/str.h"

static nt_str line, program, other;
static char *const *words_given;
static int word_count;

static void add_quoted(nt_str *to, const char *word)
{
    static const char plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_=,./:+%@";
    if (word[0] != '\0' && word[strspn(word, plain)] == '\0') {
        nt_str_add(to, word);
        return;
    }
    nt_str_add(to, "'");
    for (; *word != '\0'; word++) {
        if (*word == '\'')
            nt_str_add(to, "'\\''");
        else
            nt_str_add_n(to, word, 1);
    }
    nt_str_add(to, "'");
}

void nt_command_line_set(int argc, char **argv)
{
    words_given = argv;
    word_count = argc;
    nt_str_clear(&line);
    for (int i = 0; i < argc; i++) {
        if (i > 0)
            nt_str_add(&line, " ");
        add_quoted(&line, argv[i]);
    }
    nt_str_clear(&program);
    if (argc > 0)
        add_quoted(&program, argv[0]);
}

const char *nt_command_line_with(const char *words, const char *database)
{
    char usual[4096];
    nt_str_clear(&other);
    nt_str_addf(&other, "%s %s", program.length > 0 ? nt_str_text(&program) : "nntune", words);
    if (nt_path_database_name(usual, sizeof usual, NULL) != NT_OK || strcmp(usual, database) != 0) {
        nt_str_add(&other, " --db ");
        add_quoted(&other, database);
    }
    return nt_str_text(&other);
}

const char *nt_command_line(void)
{
    return nt_str_text(&line);
}

char *const *nt_command_line_words(int *count)
{
    *count = word_count;
    return words_given;
}
