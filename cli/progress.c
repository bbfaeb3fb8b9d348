/* progress.c: the line is drawn with carriage return and erase, cut to the width of the terminal so that it never
 * wraps. */
#include "cli/progress.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "core/clock.h"
#include "core/mem.h"

enum { WIDTH = 100 };
static const double plain_interval_s = 5;

struct nt_progress_line {
    bool shown, redraws, drawn;
    double last_s;
};

static int terminal_width(void)
{
    struct winsize size;
    return ioctl(STDERR_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0 ? size.ws_col : WIDTH;
}

nt_progress_line *nt_progress_open(const nt_args *args)
{
    nt_progress_line *line = nt_alloc_zero(1, sizeof *line);
    const char *when = nt_args_text(args, "progress", "auto"), *pretend = getenv("NNTUNE_PRETEND_TTY");
    bool terminal = isatty(STDERR_FILENO) || (pretend != NULL && strcmp(pretend, "1") == 0);
    line->redraws = terminal;
    line->shown = strcmp(when, "always") == 0 || (strcmp(when, "auto") == 0 && !nt_args_flag(args, "quiet"));
    line->last_s = nt_now_s(); /* what is over within seconds needs no line in a log */
    return line;
}

void nt_progress_show(nt_progress_line *line, const char *text, bool always)
{
    double now = nt_now_s();
    if (!line->shown || (!line->redraws && !always && now - line->last_s < plain_interval_s))
        return;
    line->last_s = now;
    if (!line->redraws) {
        fprintf(stderr, "%s\n", text);
        return;
    }
    fprintf(stderr, "\r%.*s\033[K", terminal_width() - 1, text);
    fflush(stderr);
    line->drawn = true;
}

void nt_progress_clear(nt_progress_line *line)
{
    if (!line->drawn)
        return;
    fputs("\r\033[K", stderr);
    fflush(stderr);
    line->drawn = false;
}

void nt_progress_close(nt_progress_line *line)
{
    if (line != NULL)
        nt_progress_clear(line);
    free(line);
}
