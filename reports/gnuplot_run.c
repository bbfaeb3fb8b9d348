/* gnuplot_run.c: gnuplot as a child process: which terminals it has, and a script's output, within a time limit. */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "core/clock.h"
#include "reports/gnuplot.h"

enum { LIMIT_S = 60, MOST_ARGUMENTS = 8, NO_PROGRAM = 127 };

static void child(const char *folder, const char *const *arguments, const int out[2], const int errors[2])
{
    const char *argv[MOST_ARGUMENTS + 3] = {"gnuplot", "-d"}; /* -d: not the settings of whoever runs it */
    for (int i = 0; i < MOST_ARGUMENTS && arguments[i] != NULL; i++)
        argv[i + 2] = arguments[i];
    int nothing = open("/dev/null", O_RDONLY | O_CLOEXEC);
    if (nothing < 0 || dup2(nothing, 0) < 0 || dup2(out[1], 1) < 0 || dup2(errors[1], 2) < 0 ||
        (folder != NULL && chdir(folder) != 0))
        _exit(NO_PROGRAM - 1);
    execvp(argv[0], (char *const *)argv);
    _exit(NO_PROGRAM);
}

/* False at the end of the stream. */
static bool take(int fd, nt_str *into)
{
    char buffer[16384];
    ssize_t n = read(fd, buffer, sizeof buffer);
    if (n > 0)
        nt_str_add_n(into, buffer, (size_t)n);
    return n > 0 || (n < 0 && errno == EINTR);
}

/* Reads both until both end; false when the time is over. */
static bool drain(int out_fd, int error_fd, nt_str *out, nt_str *errors)
{
    struct pollfd fds[2] = {{.fd = out_fd, .events = POLLIN}, {.fd = error_fd, .events = POLLIN}};
    nt_str *into[2] = {out, errors};
    double end_s = nt_now_s() + LIMIT_S;
    while (fds[0].fd >= 0 || fds[1].fd >= 0) {
        int left_ms = (int)((end_s - nt_now_s()) * 1e3);
        if (left_ms <= 0)
            return false;
        if (poll(fds, 2, left_ms) <= 0)
            continue;
        for (int i = 0; i < 2; i++)
            if (fds[i].fd >= 0 && fds[i].revents != 0 && !take(fds[i].fd, into[i]))
                fds[i].fd = -1;
    }
    return true;
}

static nt_status judge(int status, bool in_time, nt_str *errors, nt_error *err)
{
    const char *text = nt_str_text(errors);
    text += strspn(text, "\n ");
    if (!in_time)
        return nt_fail(err, NT_TIMED_OUT, "gnuplot took longer than %d s and was stopped", LIMIT_S);
    if (WIFEXITED(status) && WEXITSTATUS(status) == NO_PROGRAM) {
        nt_fail(err, NT_NOT_FOUND, "gnuplot is not installed");
        return nt_hint(err, "apt-get install gnuplot-nox");
    }
    /* gnuplot ends with 0 after some errors: what it says on standard error counts as well. */
    if (!WIFEXITED(status) || WEXITSTATUS(status) != 0)
        return nt_fail(err, NT_FAILED, "gnuplot failed: %.500s", text[0] != '\0' ? text : "it gave no reason");
    return NT_OK;
}

static nt_status no_pipe(nt_error *err)
{
    return nt_fail(err, NT_IO, "cannot start gnuplot: %s", strerror(errno));
}

nt_status nt_gnuplot_run(const char *folder, const char *const *arguments, nt_str *out, nt_error *err)
{
    int output[2], errors[2], status = 0;
    nt_str messages = {0};
    if (pipe2(output, O_CLOEXEC) != 0)
        return no_pipe(err);
    if (pipe2(errors, O_CLOEXEC) != 0) {
        close(output[0]), close(output[1]);
        return no_pipe(err);
    }
    pid_t pid = fork();
    if (pid == 0)
        child(folder, arguments, output, errors);
    close(output[1]);
    close(errors[1]);
    bool in_time = pid > 0 && drain(output[0], errors[0], out, &messages);
    nt_status result = pid < 0 ? no_pipe(err) : NT_OK;
    if (pid > 0) {
        if (!in_time)
            kill(pid, SIGKILL);
        while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
            continue;
        result = judge(status, in_time, &messages, err);
    }
    close(output[0]);
    close(errors[0]);
    nt_str_done(&messages);
    return result;
}

/* ---- formats and terminals --------------------------------------------------------------------------------------- */

static const nt_picture_format formats[] = {
    {".svg", (const char *const[]){"svg", NULL}, "size 800,520 noenhanced font 'Helvetica,14' background 'white'"},
    {".png", (const char *const[]){"pngcairo", "png", NULL}, "size 1200,780 noenhanced font 'Helvetica,17'"},
    {".pdf", (const char *const[]){"pdfcairo", NULL}, "size 8in,5.2in noenhanced font 'Helvetica,12'"},
};
enum { FORMATS = sizeof formats / sizeof formats[0] };

nt_status nt_picture_format_of(const char *path, const nt_picture_format **out, nt_error *err)
{
    const char *name = strrchr(path, '/'), *suffix = strrchr(name != NULL ? name : path, '.');
    for (int i = 0; i < FORMATS; i++)
        if (suffix == NULL || strcmp(suffix, formats[i].suffix) == 0) {
            *out = &formats[i];
            return NT_OK;
        }
    nt_fail(err, NT_USAGE, "'%s': a picture's name ends in .svg, .png or .pdf, not in %s", path, suffix);
    return nt_hint(err, "without such an end it is SVG; '-o -' draws text");
}

static bool lists(const char *terminals, const char *name)
{
    size_t length = strlen(name);
    for (const char *at = terminals; (at = strstr(at, name)) != NULL; at += length) {
        bool begins = at == terminals || at[-1] == ' ' || at[-1] == '\n';
        if (begins && (at[length] == ' ' || at[length] == '\n' || at[length] == '\0'))
            return true;
    }
    return false;
}

nt_status nt_picture_terminal(const nt_picture_format *format, const char **out, nt_error *err)
{
    nt_str listed = {0};
    const char *const arguments[] = {"-e", "set print '-'; print GPVAL_TERMINALS", NULL};
    nt_status status = nt_gnuplot_run(NULL, arguments, &listed, err);
    *out = NULL;
    for (int i = 0; status == NT_OK && format->terminals[i] != NULL && *out == NULL; i++)
        if (lists(nt_str_text(&listed), format->terminals[i]))
            *out = format->terminals[i];
    if (status == NT_OK && *out == NULL) {
        nt_fail(err, NT_USAGE, "this gnuplot cannot make %s files: it has no terminal '%s'", format->suffix + 1,
                format->terminals[0]);
        status = nt_hint(err, "choose another end of the name: .svg, .png or .pdf, or '-o -' for text");
    }
    nt_str_done(&listed);
    return status;
}
