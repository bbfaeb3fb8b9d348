#include "cli/sweep_fleet.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "autotune/sweep.h"
#include "cli/command_line.h"
#include "cli/output.h"
#include "core/json.h"
#include "core/mem.h"
#include "device/device.h"

/* ---- which devices ------------------------------------------------------------------------------------------------- */

bool nt_fleet_asked(const char *device)
{
    return device != NULL && (strcmp(device, "all") == 0 || strchr(device, ',') != NULL);
}

static nt_status find_all(nt_fleet *out, nt_error *err)
{
    nt_device_info info;
    nt_error why = {0};
    while (out->count < NT_FLEET_MOST && nt_sweep_identify(NT_DEVICE_CUDA, out->count, &info, &why) == NT_OK) {
        snprintf(out->device[out->count], sizeof out->device[0], "cuda:%d", out->count);
        out->count++;
    }
    if (out->count > 0)
        return NT_OK;
    out->count = 1;
    nt_copy(out->device[0], sizeof out->device[0], "cpu");
    (void)err;
    return NT_OK;
}

static nt_status add_named(nt_fleet *out, const char *name, nt_error *err)
{
    nt_device_kind kind;
    int ordinal;
    char full[16];
    nt_status status = nt_device_parse(name, &kind, &ordinal, err);
    if (status != NT_OK)
        return status;
    if (kind == NT_DEVICE_CPU)
        nt_copy(full, sizeof full, "cpu");
    else
        snprintf(full, sizeof full, "%s:%d", nt_device_kind_name(kind), ordinal);
    for (int i = 0; i < out->count; i++)
        if (strcmp(out->device[i], full) == 0)
            return nt_fail(err, NT_USAGE, "--device: %s stands twice in the list", full);
    if (out->count == NT_FLEET_MOST)
        return nt_fail(err, NT_USAGE, "--device: at most %d devices at once", NT_FLEET_MOST);
    nt_copy(out->device[out->count++], sizeof out->device[0], full);
    return NT_OK;
}

nt_status nt_fleet_find(const char *device, nt_fleet *out, nt_error *err)
{
    *out = (nt_fleet){.count = 0};
    if (strcmp(device, "all") == 0)
        return find_all(out, err);
    char *copy = nt_strdup(device), *rest = copy;
    nt_status status = NT_OK;
    while (status == NT_OK && rest != NULL)
        status = add_named(out, strsep(&rest, ","), err);
    free(copy);
    return status;
}

/* ---- one sweep of it ----------------------------------------------------------------------------------------------- */

/* One of a sweep's two streams, and what of it is not yet a whole line. */
typedef struct stream {
    int fd; /* -1: ended */
    nt_str text;
} stream;

typedef struct member {
    const char *device;
    stream out, err;
    pid_t pid;
} member;

/* The words that were given, with this device and its share of the compile processes. */
static char **words_for(const char *device, int jobs)
{
    static const char *const own[] = {"--device", "--jobs"};
    int count, kept = 0;
    char *const *given = nt_command_line_words(&count);
    char **words = nt_alloc_zero((size_t)count + 5, sizeof *words);
    for (int i = 0; i < count; i++) {
        bool drop = false, with_value = strcmp(given[i], "-j") == 0;
        for (size_t o = 0; o < 2; o++) {
            size_t length = strlen(own[o]);
            with_value = with_value || strcmp(given[i], own[o]) == 0;
            drop = drop || (strncmp(given[i], own[o], length) == 0 && given[i][length] == '=');
        }
        if (with_value)
            i++;
        else if (!drop)
            words[kept++] = nt_strdup(given[i]);
    }
    char number[16];
    snprintf(number, sizeof number, "%d", jobs);
    const char *const added[] = {"--device", device, "--jobs", number};
    for (size_t i = 0; i < sizeof added / sizeof added[0]; i++)
        words[kept++] = nt_strdup(added[i]);
    return words;
}

static void free_words(char **words)
{
    for (char **word = words; *word != NULL; word++)
        free(*word);
    free(words);
}

/* A group of its own: a Ctrl-C reaches the parent, which passes it on once. Without its parent it stops as if told to.
 */
static void become_sweep(pid_t parent, int out, int err, char **words)
{
    sigset_t none;
    setpgid(0, 0);
    prctl(PR_SET_PDEATHSIG, SIGTERM);
    if (getppid() != parent)
        _exit(1);
    sigemptyset(&none);
    sigprocmask(SIG_SETMASK, &none, NULL);
    if (dup2(out, STDOUT_FILENO) >= 0 && dup2(err, STDERR_FILENO) >= 0)
        execv("/proc/self/exe", words);
    _exit(127);
}

static nt_status start(member *m, int jobs, nt_error *err)
{
    int out[2] = {-1, -1}, error[2] = {-1, -1};
    if (pipe2(out, O_CLOEXEC) != 0 || pipe2(error, O_CLOEXEC) != 0)
        return nt_fail(err, NT_IO, "cannot make a pipe for the sweep of %s: %s", m->device, strerror(errno));
    char **words = words_for(m->device, jobs);
    pid_t parent = getpid();
    m->pid = fork();
    if (m->pid == 0)
        become_sweep(parent, out[1], error[1], words);
    free_words(words);
    close(out[1]);
    close(error[1]);
    m->out.fd = out[0];
    m->err.fd = error[0];
    if (m->pid < 0) {
        m->pid = 0;
        return nt_fail(err, NT_IO, "cannot start the sweep of %s: %s", m->device, strerror(errno));
    }
    setpgid(m->pid, m->pid);
    return NT_OK;
}

/* ---- what they say ------------------------------------------------------------------------------------------------- */

static void say(const member *m, const char *line, bool json, bool is_error)
{
    if (is_error) {
        fprintf(stderr, "%s: %s\n", m->device, line);
        return;
    }
    json_t *object = json ? json_loads(line, 0, NULL) : NULL;
    if (!json_is_object(object)) {
        json_decref(object);
        printf("%s\n", line);
        return;
    }
    json_object_set_new(object, "on", json_string(m->device));
    nt_output_json(object);
    fflush(stdout);
}

/* Reads what is there and says the lines that are whole; tables wait for the end. */
static void pump(member *m, stream *s, bool json, bool is_error)
{
    char part[4096];
    ssize_t got = read(s->fd, part, sizeof part);
    if (got < 0 && errno == EINTR)
        return;
    if (got > 0)
        nt_str_add_n(&s->text, part, (size_t)got);
    else {
        close(s->fd);
        s->fd = -1;
    }
    if (!json && !is_error)
        return;
    size_t done = 0;
    char *text = s->text.data;
    for (char *end; text != NULL && (end = strchr(text + done, '\n')) != NULL; done = (size_t)(end - text) + 1) {
        *end = '\0';
        say(m, text + done, json, is_error);
    }
    if (done == 0)
        return;
    nt_str rest = {0};
    nt_str_add_n(&rest, text + done, s->text.length - done);
    nt_str_done(&s->text);
    s->text = rest;
}

static void say_tables(const nt_fleet *fleet, member *members, bool json)
{
    for (int i = 0; i < fleet->count; i++) {
        member *m = &members[i];
        if (!json && m->out.text.length > 0)
            printf("%s== %s\n%s", i > 0 ? "\n" : "", m->device, nt_str_text(&m->out.text));
        nt_str_done(&m->out.text);
        nt_str_done(&m->err.text);
    }
}

/* ---- together ------------------------------------------------------------------------------------------------------- */

static volatile sig_atomic_t signal_now;

static void note_signal(int number)
{
    signal_now = number;
}

static void pass_on(const nt_fleet *fleet, const member *members)
{
    int number = signal_now;
    signal_now = 0;
    for (int i = 0; number != 0 && i < fleet->count; i++)
        if (members[i].pid > 0 && (members[i].out.fd >= 0 || members[i].err.fd >= 0))
            kill(members[i].pid, number);
}

/* The streams that have not ended, for poll. */
static nfds_t open_streams(const nt_fleet *fleet, member *members, struct pollfd *fds, stream **streams)
{
    nfds_t count = 0;
    for (int i = 0; i < fleet->count; i++) {
        stream *both[] = {&members[i].out, &members[i].err};
        for (int s = 0; s < 2; s++) {
            if (both[s]->fd < 0)
                continue;
            fds[count] = (struct pollfd){.fd = both[s]->fd, .events = POLLIN};
            streams[count++] = both[s];
        }
    }
    return count;
}

static void pump_ready(const nt_fleet *fleet, member *members, const struct pollfd *fds, stream *const *streams,
                       nfds_t count, bool json)
{
    for (nfds_t i = 0; i < count; i++)
        for (int m = 0; fds[i].revents != 0 && m < fleet->count; m++)
            if (streams[i] == &members[m].out || streams[i] == &members[m].err)
                pump(&members[m], streams[i], json, streams[i] == &members[m].err);
}

/* Until all streams have ended. */
static nt_status follow(const nt_fleet *fleet, member *members, bool json, nt_error *err)
{
    sigset_t open_mask;
    struct pollfd fds[2 * NT_FLEET_MOST];
    stream *streams[2 * NT_FLEET_MOST];
    sigemptyset(&open_mask);
    for (nfds_t count; (count = open_streams(fleet, members, fds, streams)) > 0;) {
        int ready = ppoll(fds, count, NULL, &open_mask);
        pass_on(fleet, members);
        if (ready < 0 && errno != EINTR)
            return nt_fail(err, NT_IO, "poll: %s", strerror(errno));
        if (ready > 0)
            pump_ready(fleet, members, fds, streams, count, json);
    }
    return NT_OK;
}

static int exit_code_of(int wait_status)
{
    return WIFEXITED(wait_status) ? WEXITSTATUS(wait_status) : 128 + WTERMSIG(wait_status);
}

static int wait_for_all(const nt_fleet *fleet, const member *members)
{
    int first = 0;
    for (int i = 0; i < fleet->count; i++) {
        int status = 0;
        while (members[i].pid > 0 && waitpid(members[i].pid, &status, 0) < 0 && errno == EINTR)
            continue;
        first = first == 0 ? exit_code_of(status) : first;
        if (members[i].pid > 0 && WIFSIGNALED(status))
            fprintf(stderr, "%s: the sweep was killed by signal %d (%s)\n", members[i].device, WTERMSIG(status),
                    strsignal(WTERMSIG(status)));
    }
    return first;
}

/* Blocked except while waiting, so that none is lost. */
static void catch_signals(sigset_t *old_mask)
{
    static const int numbers[] = {SIGINT, SIGTERM, SIGHUP};
    struct sigaction action = {.sa_handler = note_signal};
    sigset_t block;
    sigemptyset(&block);
    for (size_t i = 0; i < sizeof numbers / sizeof numbers[0]; i++) {
        sigaction(numbers[i], &action, NULL);
        sigaddset(&block, numbers[i]);
    }
    sigprocmask(SIG_BLOCK, &block, old_mask);
}

nt_status nt_fleet_run(const nt_fleet *fleet, int jobs, bool json, int *exit_code, nt_error *err)
{
    member members[NT_FLEET_MOST];
    sigset_t old_mask;
    nt_status status = NT_OK;
    int share = jobs / fleet->count > 0 ? jobs / fleet->count : 1;
    catch_signals(&old_mask);
    for (int i = 0; i < fleet->count; i++)
        members[i] = (member){.device = fleet->device[i], .out.fd = -1, .err.fd = -1};
    for (int i = 0; status == NT_OK && i < fleet->count; i++)
        status = start(&members[i], share, err);
    for (int i = 0; status != NT_OK && i < fleet->count; i++)
        if (members[i].pid > 0)
            kill(members[i].pid, SIGTERM);
    nt_error ignored;
    nt_status followed = follow(fleet, members, json, status == NT_OK ? err : &ignored);
    int code = wait_for_all(fleet, members);
    say_tables(fleet, members, json);
    sigprocmask(SIG_SETMASK, &old_mask, NULL);
    status = status == NT_OK ? followed : status;
    if (status == NT_OK)
        *exit_code = code;
    return status;
}
