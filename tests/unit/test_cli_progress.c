/* test_cli_progress.c: the progress line and warnings as they leave on stderr: to a file, to a terminal, silenced. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <termios.h>
#include <unistd.h>

#include "cli/cmd.h"
#include "cli/color.h"
#include "cli/progress.h"
#include "cli/warn.h"

/* Arguments of a command that has every shared option; words separated by blanks. */
static nt_args *args_of(const char *line)
{
    static const nt_option *tables[NT_COMMAND_TABLES];
    char *argv[16], *save = NULL;
    static char kept[256]; /* values point into it */
    nt_args *args;
    int argc = 0;
    snprintf(kept, sizeof kept, "%s", line);
    for (char *word = strtok_r(kept, " ", &save); word != NULL; word = strtok_r(NULL, " ", &save))
        argv[argc++] = word;
    nt_command_tables(nt_command_find("sweep"), tables);
    assert_int_equal(nt_args_parse(tables, argc, argv, 1, &args, NULL), NT_OK);
    return args;
}

/* stderr goes to `fd` until stderr_back. */
static int saved = -1;

static void stderr_to(int fd)
{
    fflush(stderr);
    saved = dup(STDERR_FILENO);
    dup2(fd, STDERR_FILENO);
}

static void stderr_back(void)
{
    fflush(stderr);
    dup2(saved, STDERR_FILENO);
    close(saved);
}

typedef void (*act)(const nt_args *args);

/* What `what` writes to stderr when that is a file. */
static void in_file(const char *line, act what, char *out, size_t capacity)
{
    char path[] = "/tmp/nntune-test-XXXXXX";
    int fd = mkstemp(path);
    assert_true(fd >= 0);
    unlink(path);
    nt_args *args = args_of(line);
    stderr_to(fd);
    what(args);
    stderr_back();
    nt_args_free(args);
    ssize_t n = pread(fd, out, capacity - 1, 0);
    assert_true(n >= 0);
    out[n] = '\0';
    close(fd);
}

/* The same on a terminal of `columns` columns. */
static void on_terminal(const char *line, int columns, act what, char *out, size_t capacity)
{
    int master = posix_openpt(O_RDWR | O_NOCTTY);
    assert_true(master >= 0 && grantpt(master) == 0 && unlockpt(master) == 0);
    int slave = open(ptsname(master), O_RDWR | O_NOCTTY);
    assert_true(slave >= 0);
    struct winsize size = {.ws_col = (unsigned short)columns, .ws_row = 24};
    ioctl(slave, TIOCSWINSZ, &size);
    nt_args *args = args_of(line);
    stderr_to(slave);
    what(args);
    stderr_back();
    nt_args_free(args);
    close(slave); /* the last one: reading ends with EIO behind the last byte, however late the kernel passes it on */
    size_t length = 0;
    for (ssize_t n; length + 1 < capacity && (n = read(master, out + length, capacity - 1 - length)) > 0;)
        length += (size_t)n;
    out[length] = '\0';
    close(master);
}

static void show_two_and_clear(const nt_args *args)
{
    nt_progress_line *line = nt_progress_open(args);
    nt_progress_show(line, "first", false);
    nt_progress_show(line, "second and long", true);
    nt_progress_clear(line);
    nt_progress_clear(line);
    nt_progress_close(line);
}

static void a_log_gets_whole_lines_and_few(void **state)
{
    char text[512];
    (void)state;
    in_file("", show_two_and_clear, text, sizeof text);
    assert_string_equal(text, "second and long\n"); /* the first came too soon after the opening */
    in_file("-q", show_two_and_clear, text, sizeof text);
    assert_string_equal(text, "");
    in_file("--progress never", show_two_and_clear, text, sizeof text);
    assert_string_equal(text, "");
    in_file("-q --progress always", show_two_and_clear, text, sizeof text);
    assert_string_equal(text, "second and long\n");
}

static void a_terminal_gets_one_line_redrawn_and_taken_away(void **state)
{
    char text[512];
    (void)state;
    on_terminal("", 80, show_two_and_clear, text, sizeof text);
    assert_string_equal(text, "\rfirst\033[K\rsecond and long\033[K\r\033[K");
    on_terminal("", 10, show_two_and_clear, text, sizeof text);
    assert_string_equal(text,
                        "\rfirst\033[K\rsecond an\033[K\r\033[K"); /* never as wide as the terminal: it would wrap */
    on_terminal("-q", 80, show_two_and_clear, text, sizeof text);
    assert_string_equal(text, "");
}

static void a_file_can_pretend(void **state)
{
    char text[512];
    (void)state;
    setenv("NNTUNE_PRETEND_TTY", "1", 1);
    in_file("", show_two_and_clear, text, sizeof text);
    unsetenv("NNTUNE_PRETEND_TTY");
    assert_string_equal(text, "\rfirst\033[K\rsecond and long\033[K\r\033[K");
}

static void warn_twice(const nt_args *args)
{
    nt_warn(args, "finals-lost", "number %d", 1);
    nt_warn(args, "fresh-wrong", "number %d", 2);
}

static void warnings_carry_their_id_and_can_be_silenced(void **state)
{
    char text[512];
    (void)state;
    in_file("", warn_twice, text, sizeof text);
    assert_string_equal(text, "nntune: warning: number 1 [finals-lost]\nnntune: warning: number 2 [fresh-wrong]\n");
    in_file("--no-warn finals-lost", warn_twice, text, sizeof text);
    assert_string_equal(text, "nntune: warning: number 2 [fresh-wrong]\n");
    in_file("--no-warn fresh-wrong,finals-lost", warn_twice, text, sizeof text);
    assert_string_equal(text, "");
    in_file("-q", warn_twice, text, sizeof text);
    assert_non_null(strstr(text, "number 2")); /* quiet is about progress, not about trouble */
}

static void say_whether_coloured(const nt_args *args)
{
    fprintf(stderr, "%d", nt_color_wanted(args, stderr));
}

static void bold_is_for_terminals_that_want_it(void **state)
{
    char text[64];
    (void)state;
    unsetenv("NO_COLOR");
    setenv("TERM", "xterm", 1);
    in_file("", say_whether_coloured, text, sizeof text);
    assert_string_equal(text, "0");
    on_terminal("", 80, say_whether_coloured, text, sizeof text);
    assert_string_equal(text, "1");
    on_terminal("--color never", 80, say_whether_coloured, text, sizeof text);
    assert_string_equal(text, "0");
    setenv("NO_COLOR", "1", 1);
    on_terminal("", 80, say_whether_coloured, text, sizeof text);
    assert_string_equal(text, "0");
    in_file("--color always", say_whether_coloured, text, sizeof text);
    assert_string_equal(text, "1");
    unsetenv("NO_COLOR");
    setenv("TERM", "dumb", 1);
    on_terminal("", 80, say_whether_coloured, text, sizeof text);
    assert_string_equal(text, "0");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_log_gets_whole_lines_and_few),
        cmocka_unit_test(a_terminal_gets_one_line_redrawn_and_taken_away),
        cmocka_unit_test(a_file_can_pretend),
        cmocka_unit_test(warnings_carry_their_id_and_can_be_silenced),
        cmocka_unit_test(bold_is_for_terminals_that_want_it),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
