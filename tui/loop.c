/* loop.c: see loop.h.
 *
 * The reader thread waits for changes, reads a snapshot of what is wanted, and leaves it for the other; a change of
 * what is wanted interrupts what it reads. The two share one structure under one lock, and a pipe that wakes the
 * drawing. */
#include "tui/loop.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "core/mem.h"
#include "tui/dump.h"
#include "tui/settings.h"
#include "tui/terminal.h"

typedef struct shared {
    pthread_mutex_t lock;
    nt_feed *feed;
    nt_want want;
    int64_t wants; /* how often it changed */
    bool paused, reading;
    atomic_bool hurry; /* ends the reader's wait, with the descriptor */
    int nudge;
    bool stop;
    double interval_s;
    nt_snapshot *ready;
    nt_error err;
    nt_status status;
    int wake[2];
} shared;

static volatile sig_atomic_t caught;
static int wake_writer = -1;

static void on_signal(int number)
{
    int saved = errno;
    caught = number;
    if (write(wake_writer, "s", 1) < 0)
        errno = saved;
    errno = saved;
}

static void wake(const shared *s)
{
    /* A full pipe wakes as well as one more byte would. */
    if (write(s->wake[1], "r", 1) < 0)
        return;
}

/* Under the lock: ends the reader's wait, now or when it begins; or the reader has seen it. */
static void hurry(shared *s, bool on)
{
    uint64_t number = 1;
    s->hurry = on;
    ssize_t moved = on ? write(s->nudge, &number, sizeof number) : read(s->nudge, &number, sizeof number);
    (void)moved; /* one that is full or empty already is what it should be */
}

/* ---- the reader -------------------------------------------------------------------------------------------------------- */

static void publish(shared *s, nt_snapshot *snapshot)
{
    pthread_mutex_lock(&s->lock);
    nt_snapshot_free(s->ready);
    s->ready = snapshot;
    pthread_mutex_unlock(&s->lock);
    wake(s);
}

/* Returns whether the screen's reading goes on. A want that changed meanwhile is no error. */
static bool read_once(shared *s, int64_t *served)
{
    nt_want want;
    nt_error err = {0};
    pthread_mutex_lock(&s->lock);
    want = s->want;
    int64_t number = s->wants;
    hurry(s, false);
    s->reading = true;
    pthread_mutex_unlock(&s->lock);
    nt_snapshot *snapshot = nt_alloc(sizeof *snapshot);
    nt_snapshot_init(snapshot);
    snapshot->want = want;
    nt_status status = s->feed->read(s->feed, &want, snapshot, &err);
    bool uncounted = status == NT_OK && snapshot->total == NT_UNKNOWN && snapshot->facts.has_run;
    pthread_mutex_lock(&s->lock);
    bool outdated = s->wants != number;
    pthread_mutex_unlock(&s->lock);
    if (outdated && status != NT_OK) {
        nt_snapshot_free(snapshot);
    } else {
        if (status != NT_OK)
            nt_copy(snapshot->problem, sizeof snapshot->problem, err.what);
        publish(s, snapshot);
        *served = number;
    }
    bool counted = uncounted && !outdated && s->feed->count(s->feed, &want, &err) == NT_OK;
    pthread_mutex_lock(&s->lock);
    s->reading = false;
    bool more = !s->stop;
    if (counted && s->wants == number)
        *served = -1; /* once more, now with the total */
    pthread_mutex_unlock(&s->lock);
    return more;
}

static void *reader(void *argument)
{
    shared *s = argument;
    int64_t served = -1;
    bool changed = true, more = true;
    while (more) {
        pthread_mutex_lock(&s->lock);
        bool wanted = s->wants != served, due = wanted || (changed && !s->paused);
        double interval_s = s->interval_s;
        more = !s->stop;
        pthread_mutex_unlock(&s->lock);
        if (!more)
            break;
        if (due) {
            more = read_once(s, &served);
            changed = false;
            continue;
        }
        nt_error err = {0};
        bool news = false;
        nt_status status = s->feed->wait(s->feed, interval_s, &(nt_wake){&s->hurry, s->nudge}, &news, &err);
        changed = changed || news;
        pthread_mutex_lock(&s->lock);
        if (status != NT_OK && status != NT_TIMED_OUT && s->status == NT_OK) {
            s->status = status;
            s->err = err;
            more = false;
        }
        if (!s->stop && s->wants == served)
            hurry(s, false);
        pthread_mutex_unlock(&s->lock);
    }
    wake(s);
    return NULL;
}

/* ---- the drawing thread ------------------------------------------------------------------------------------------------ */

static void want(shared *s, const nt_screen *screen, const nt_snapshot *shown)
{
    nt_want next;
    nt_screen_want(screen, shown, &next);
    pthread_mutex_lock(&s->lock);
    s->paused = screen->paused;
    s->interval_s = screen->interval_s;
    if (memcmp(&next, &s->want, sizeof next) != 0) {
        s->want = next;
        s->wants++;
        hurry(s, true);
        if (s->reading)
            s->feed->interrupt(s->feed);
    }
    pthread_mutex_unlock(&s->lock);
}

static nt_status start(shared *s, pthread_t *thread, nt_error *err)
{
    sigset_t all, before;
    if (pipe2(s->wake, O_CLOEXEC | O_NONBLOCK) != 0)
        return nt_fail(err, NT_IO, "no pipe for the screen: %s", strerror(errno));
    s->nudge = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    if (s->nudge < 0)
        return nt_fail(err, NT_IO, "no event for the screen: %s", strerror(errno));
    pthread_mutex_init(&s->lock, NULL);
    wake_writer = s->wake[1];
    /* Signals are the drawing thread's: ncurses handles some of them there. */
    sigfillset(&all);
    pthread_sigmask(SIG_BLOCK, &all, &before);
    int failed = pthread_create(thread, NULL, reader, s);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    return failed == 0 ? NT_OK : nt_fail(err, NT_FAILED, "no thread for the screen: %s", strerror(failed));
}

static void finish(shared *s, pthread_t thread)
{
    pthread_mutex_lock(&s->lock);
    s->stop = true;
    hurry(s, true);
    if (s->reading)
        s->feed->interrupt(s->feed);
    pthread_mutex_unlock(&s->lock);
    pthread_join(thread, NULL);
    nt_snapshot_free(s->ready);
    wake_writer = -1;
    close(s->wake[0]);
    close(s->wake[1]);
    close(s->nudge);
    pthread_mutex_destroy(&s->lock);
}

static bool take(shared *s, nt_snapshot **shown)
{
    char bytes[64];
    while (read(s->wake[0], bytes, sizeof bytes) > 0)
        ;
    pthread_mutex_lock(&s->lock);
    nt_snapshot *fresh = s->ready;
    s->ready = NULL;
    pthread_mutex_unlock(&s->lock);
    if (fresh == NULL)
        return false;
    nt_snapshot_free(*shown);
    *shown = fresh;
    return true;
}

/* What keys asked for beyond the state of the screen. */
static void serve(nt_screen *screen, const nt_snapshot *shown, const nt_loop_options *options)
{
    nt_error err = {0};
    if (screen->dump && shown != NULL) {
        char name[64];
        if (nt_dump_files(screen, shown, options->dump_folder, name, sizeof name, &err) == NT_OK)
            snprintf(screen->message, sizeof screen->message, "written: %s.txt, .csv, .json", name);
        else
            snprintf(screen->message, sizeof screen->message, "%.180s", err.what);
    }
    if (screen->save) {
        bool saved = options->settings != NULL && nt_settings_save(screen, options->settings, &err) == NT_OK;
        snprintf(screen->message, sizeof screen->message, "%.180s",
                 saved                 ? "settings saved"
                 : err.what[0] != '\0' ? err.what
                                       : "no place to save settings in");
    }
    screen->dump = screen->save = false;
}

static bool handle_keys(nt_terminal *terminal, nt_screen *screen, const nt_snapshot *shown,
                        const nt_loop_options *options)
{
    bool any = false;
    for (int key; (key = nt_terminal_key(terminal)) >= 0; any = true) {
        if (key == NT_KEY_RESIZE)
            nt_terminal_size(terminal, &screen->width, &screen->height);
        else
            nt_screen_key(screen, shown, key);
        serve(screen, shown, options);
        if (screen->quit)
            return true;
    }
    return any;
}

static nt_status draw_until_done(shared *s, nt_terminal *terminal, nt_screen *screen, const nt_loop_options *options,
                                 nt_error *err)
{
    enum { progress_ms = 200 }; /* how often it is told while something is awaited */
    nt_snapshot *shown = NULL;
    nt_grid grid = {0};
    int64_t frames = 0;
    nt_status status = NT_OK;
    struct pollfd poll_on[] = {{.fd = STDIN_FILENO, .events = POLLIN},
                               {.fd = s->wake[0], .events = POLLIN},
                               {.fd = options->leave_fd > 0 ? options->leave_fd : -1, .events = POLLIN}};
    bool draw = true;
    nt_terminal_size(terminal, &screen->width, &screen->height);
    while (!screen->quit && caught == 0 && status == NT_OK) {
        if (draw) {
            nt_screen_settle(screen, shown);
            want(s, screen, shown);
            nt_screen_draw(screen, shown, &grid);
            nt_terminal_draw(terminal, &grid, screen->redraw);
            screen->redraw = false;
        }
        if (options->frames > 0 && frames >= options->frames)
            break;
        bool awaited = shown == NULL || memcmp(&shown->want, &s->want, sizeof s->want) != 0;
        int ready = poll(poll_on, 3, awaited ? progress_ms : -1);
        if (poll_on[2].revents != 0)
            break;
        draw = take(s, &shown);
        frames += draw;
        draw = handle_keys(terminal, screen, shown, options) || draw || ready == 0;
        screen->read_share = awaited && s->feed->progress != NULL ? s->feed->progress(s->feed) : (double)NAN;
        if (poll_on[0].revents & (POLLHUP | POLLERR | POLLNVAL)) /* the terminal is gone */
            caught = SIGHUP;
        pthread_mutex_lock(&s->lock);
        status = s->status;
        if (status != NT_OK)
            *err = s->err;
        pthread_mutex_unlock(&s->lock);
    }
    nt_snapshot_free(shown);
    nt_grid_done(&grid);
    return status;
}

nt_status nt_loop_run(nt_screen *screen, nt_feed *feed, const nt_loop_options *options, int *stopped_by, nt_error *err)
{
    static const int signals[] = {SIGINT, SIGTERM, SIGHUP};
    struct sigaction action = {.sa_handler = on_signal}, before[3];
    shared s = {.feed = feed, .interval_s = screen->interval_s};
    nt_terminal *terminal = NULL;
    pthread_t thread;
    caught = 0;
    for (int i = 0; i < 3 && options->leave_fd == 0; i++)
        sigaction(signals[i], &action, &before[i]);
    nt_status status = nt_terminal_open(options->to != NULL ? options->to : stdout, options->color, &terminal, err);
    if (status == NT_OK)
        nt_terminal_size(terminal, &screen->width, &screen->height);
    nt_screen_want(screen, NULL, &s.want);
    if (status == NT_OK)
        status = start(&s, &thread, err);
    if (status == NT_OK) {
        status = draw_until_done(&s, terminal, screen, options, err);
        finish(&s, thread);
    }
    nt_terminal_close(terminal);
    for (int i = 0; i < 3 && options->leave_fd == 0; i++)
        sigaction(signals[i], &before[i], NULL);
    *stopped_by = caught;
    return status;
}
