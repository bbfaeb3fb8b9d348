#include "cli/sweep_screen.h"

#include <errno.h>
#include <fcntl.h>
#include <locale.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <unistd.h>

#include "cli/color.h"
#include "cli/top_feed.h"
#include "core/mem.h"
#include "tui/loop.h"
#include "tui/settings.h"
#include "tui/terminal.h"

struct nt_sweep_screen {
    char database[NT_PATH_BYTES];
    pthread_t thread;
    sigset_t mask_before;
    int begin_fd, leave_fd; /* events for the thread */
    bool begun, released;
    bool color;
    /* of the run, for the thread from the beginning on */
    int64_t run;
    nt_device_info device;
    /* what the program has as stdout and stderr while the screen has the terminal */
    int held, out_before, err_before;
    FILE *terminal;
    /* how it ended */
    atomic_bool gone;
    nt_status status;
    nt_error err;
};

/* ---- the thread ------------------------------------------------------------------------------------------------------ */

static nt_status show_screen(nt_sweep_screen *s, nt_error *err)
{
    char settings[NT_PATH_BYTES];
    nt_top_device device = {.name = nt_device_kind_name(s->device.kind), .info = &s->device};
    nt_top_source source = {.database = s->database, .run = s->run, .devices = &device};
    nt_top_feed *feed = NULL;
    nt_screen screen;
    int stopped_by;
    /* What the sweep does is shown from its database; a device that cannot be watched is left out. */
    if (nt_live_open(&s->device, -1, &device.live, NULL) == NT_OK)
        source.device_count = 1;
    nt_status status = nt_top_feed_open(&source, &feed, err);
    if (status == NT_OK) {
        bool remembers = nt_settings_path(settings, sizeof settings);
        nt_screen_init(&screen);
        screen.glyphs = nt_terminal_glyphs();
        if (remembers)
            nt_settings_load(&screen, settings);
        nt_loop_options options = {.color = s->color,
                                   .settings = remembers ? settings : NULL,
                                   .dump_folder = ".",
                                   .to = s->terminal,
                                   .leave_fd = s->leave_fd};
        status = nt_loop_run(&screen, nt_top_feed_base(feed), &options, &stopped_by, err);
    }
    nt_top_feed_close(feed);
    if (source.device_count > 0)
        nt_live_close(device.live);
    return status;
}

/* Lives as long as the sweep: somebody has to take Ctrl-Z before and after the screen as well. */
static void *show(void *argument)
{
    nt_sweep_screen *s = argument;
    struct pollfd events[] = {{.fd = s->leave_fd, .events = POLLIN}, {.fd = s->begin_fd, .events = POLLIN}};
    while (events[0].revents == 0) {
        if (poll(events, 2, -1) < 0)
            events[0].revents = events[1].revents = 0;
        uint64_t told;
        if (events[0].revents != 0 || events[1].revents == 0 || read(s->begin_fd, &told, sizeof told) < 0)
            continue;
        s->status = show_screen(s, &s->err);
        atomic_store(&s->gone, true);
        events[1].fd = -1;
        events[1].revents = 0;
    }
    return NULL;
}

/* The terminal's signals go to the screen's thread alone, all others to the caller's. */
static bool start_thread(nt_sweep_screen *s)
{
    sigset_t terminals, all;
    sigemptyset(&terminals);
    sigaddset(&terminals, SIGWINCH);
    sigaddset(&terminals, SIGTSTP);
    sigfillset(&all);
    sigdelset(&all, SIGWINCH);
    sigdelset(&all, SIGTSTP);
    pthread_sigmask(SIG_SETMASK, &all, &s->mask_before);
    bool started = pthread_create(&s->thread, NULL, show, s) == 0;
    pthread_sigmask(SIG_SETMASK, &s->mask_before, NULL);
    if (started)
        pthread_sigmask(SIG_BLOCK, &terminals, NULL);
    return started;
}

/* ---- stdout and stderr ------------------------------------------------------------------------------------------------ */

static bool hold_output(nt_sweep_screen *s)
{
    fflush(stdout);
    fflush(stderr);
    s->held = memfd_create("nntune-messages", MFD_CLOEXEC);
    s->out_before = fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, 3);
    s->err_before = fcntl(STDERR_FILENO, F_DUPFD_CLOEXEC, 3);
    s->terminal = s->out_before >= 0 ? fdopen(fcntl(s->out_before, F_DUPFD_CLOEXEC, 3), "w") : NULL;
    return s->held >= 0 && s->err_before >= 0 && s->terminal != NULL && dup2(s->held, STDOUT_FILENO) >= 0 &&
           dup2(s->held, STDERR_FILENO) >= 0;
}

/* Gives the terminal back and prints what was held. */
static void release_output(nt_sweep_screen *s)
{
    char part[4096];
    ssize_t bytes;
    fflush(stdout);
    fflush(stderr);
    if (s->out_before >= 0)
        dup2(s->out_before, STDOUT_FILENO);
    if (s->err_before >= 0)
        dup2(s->err_before, STDERR_FILENO);
    if (s->held >= 0)
        lseek(s->held, 0, SEEK_SET);
    while (s->held >= 0 && (bytes = read(s->held, part, sizeof part)) > 0)
        fwrite(part, 1, (size_t)bytes, stderr);
    if (s->terminal != NULL)
        fclose(s->terminal);
    const int fds[] = {s->held, s->out_before, s->err_before};
    for (int i = 0; i < 3; i++)
        if (fds[i] >= 0)
            close(fds[i]);
    s->released = true;
}

/* ---- for the sweep ------------------------------------------------------------------------------------------------------ */

nt_sweep_screen *nt_sweep_screen_new(const nt_args *args, const char *database)
{
    bool wanted = nt_args_takes(args, "tui") && nt_args_flag(args, "tui"); /* a rerun is shown without */
    const char *why = wanted ? nt_terminal_refusal() : NULL;
    if (!wanted)
        return NULL;
    if (why != NULL) {
        fprintf(stderr, "nntune: no screen, because %s; the sweep goes on without\n", why);
        return NULL;
    }
    setlocale(LC_CTYPE, "");
    nt_sweep_screen *s = nt_alloc_zero(1, sizeof *s);
    s->color = nt_color_wanted(args, stdout);
    s->held = s->out_before = s->err_before = -1;
    nt_copy(s->database, sizeof s->database, database);
    s->begin_fd = eventfd(0, EFD_CLOEXEC);
    s->leave_fd = eventfd(0, EFD_CLOEXEC);
    if (s->begin_fd >= 0 && s->leave_fd >= 0 && start_thread(s))
        return s;
    fprintf(stderr, "nntune: no screen: %s; the sweep goes on without\n", strerror(errno));
    free(s);
    return NULL;
}

static void tell(int fd)
{
    const uint64_t once = 1;
    if (write(fd, &once, sizeof once) < 0)
        return; /* it has been told already */
}

void nt_sweep_screen_show(nt_sweep_screen *s, const nt_run *run)
{
    if (s == NULL || s->begun)
        return;
    s->begun = true;
    s->run = run->id;
    s->device = run->device;
    if (hold_output(s)) {
        tell(s->begin_fd);
        return;
    }
    release_output(s);
    fprintf(stderr, "nntune: no screen: its output cannot be held back; the sweep goes on without\n");
}

bool nt_sweep_screen_up(nt_sweep_screen *s)
{
    if (s == NULL || !s->begun || s->released)
        return false;
    if (!atomic_load(&s->gone))
        return true;
    release_output(s);
    if (s->status != NT_OK)
        fprintf(stderr, "nntune: no screen: %s; the sweep goes on without\n", s->err.what);
    else
        fputs("the screen was left; the sweep goes on. Ctrl-C ends it and keeps everything\n", stderr);
    return false;
}

void nt_sweep_screen_close(nt_sweep_screen *s)
{
    if (s == NULL)
        return;
    tell(s->leave_fd);
    pthread_join(s->thread, NULL);
    if (s->begun && !s->released)
        release_output(s);
    pthread_sigmask(SIG_SETMASK, &s->mask_before, NULL);
    close(s->begin_fd);
    close(s->leave_fd);
    free(s);
}
