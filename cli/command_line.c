#include "cli/command_line.h"

#include <string.h>

#include "core/str.h"

static nt_str line;

static void add_quoted(const char *word)
{
    static const char plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_=,./:+%@";
    if (word[0] != '\0' && word[strspn(word, plain)] == '\0') {
        nt_str_add(&line, word);
        return;
    }
    nt_str_add(&line, "'");
    for (; *word != '\0'; word++) {
        if (*word == '\'')
            nt_str_add(&line, "'\\''");
        else
            nt_str_add_n(&line, word, 1);
    }
    nt_str_add(&line, "'");
}

void nt_command_line_set(int argc, char **argv)
{
    nt_str_clear(&line);
    for (int i = 0; i < argc; i++) {
        if (i > 0)
            nt_str_add(&line, " ");
        add_quoted(argv[i]);
    }
}

const char *nt_command_line(void)
{
    return nt_str_text(&line);
}
