#include "autotune/child.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "core/str.h"

enum { CHILD_FD = 3 };

void nt_child_describe_end(int wait_status, char *out, size_t capacity)
{
    if (WIFSIGNALED(wait_status))
        snprintf(out, capacity, "killed by signal %d (%s)", WTERMSIG(wait_status), strsignal(WTERMSIG(wait_status)));
    else
        snprintf(out, capacity, "exited with code %d", WEXITSTATUS(wait_status));
}

static const char *own_program(void)
{
    const char *override = getenv("NNTUNE_EXE");
    return override != NULL && override[0] != '\0' ? override : "/proc/self/exe";
}

/* Runs in the forked child: only async-signal-safe calls until exec. */
static _Noreturn void become_child(int fd, const char *program, char *const argv[], bool own_group)
{
    if (own_group)
        setpgid(0, 0);
    sigset_t none;
    sigemptyset(&none);
    sigprocmask(SIG_SETMASK, &none, NULL);
    if (fd == CHILD_FD)
        fcntl(fd, F_SETFD, 0);
    else if (dup2(fd, CHILD_FD) < 0)
        _exit(127);
#ifdef SYS_close_range
    syscall(SYS_close_range, CHILD_FD + 1U, ~0U, 0U); /* also what this process was started with */
#endif
    execv(program, argv);
    _exit(127);
}

static nt_status failed_start(int why, const char *what, nt_error *err)
{
    nt_fail(err, NT_IO, "%s: %s", what, strerror(why));
    if (why == EMFILE || why == ENFILE)
        nt_hint(err, "allow more open files: `ulimit -n` shows the limit, a sweep needs 32");
    else if (why == EAGAIN)
        nt_hint(err, "allow more processes: `ulimit -u` shows the limit; --jobs needs fewer");
    return NT_IO;
}

nt_status nt_child_start(nt_child *child, const char *role, const char *argument, bool own_group, nt_error *err)
{
    *child = (nt_child){.channel.fd = -1, .own_group = own_group};
    int pair[2];
    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair) != 0)
        return failed_start(errno, "cannot make a socket pair for a child", err);
    char parent[24];
    snprintf(parent, sizeof parent, "%ld", (long)getpid());
    char *argv[] = {"nntune", (char *)role, parent, (char *)argument, NULL};
    const char *program = own_program();
    pid_t pid = fork();
    int why = errno;
    if (pid == 0)
        become_child(pair[1], program, argv, own_group);
    close(pair[1]);
    if (pid < 0) {
        close(pair[0]);
        return failed_start(why, "cannot start a child process", err);
    }
    if (own_group)
        setpgid(pid, pid); /* in both, so that a kill right after the fork finds the group */
    child->pid = pid;
    nt_channel_init(&child->channel, pair[0]);
    return NT_OK;
}

static int wait_for(pid_t pid)
{
    int status = 0;
    while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
        continue;
    return status;
}

int nt_child_kill(nt_child *child)
{
    int status = 0;
    if (child->pid > 0) {
        if (child->own_group)
            kill(-child->pid, SIGKILL);
        kill(child->pid, SIGKILL);
        status = wait_for(child->pid);
    }
    child->pid = 0;
    nt_channel_done(&child->channel);
    return status;
}

int nt_child_reap(nt_child *child)
{
    for (int i = 0; child->pid > 0 && i < 100; i++) {
        int status = 0;
        if (waitpid(child->pid, &status, WNOHANG) == child->pid) {
            if (child->own_group)
                kill(-child->pid, SIGKILL);
            child->pid = 0;
            nt_channel_done(&child->channel);
            return status;
        }
        nanosleep(&(struct timespec){.tv_nsec = 10000000}, NULL);
    }
    return nt_child_kill(child);
}

static void kill_own_group(int signal)
{
    (void)signal;
    kill(0, SIGKILL);
}

nt_status nt_child_enter(const char *parent_pid, bool group, nt_channel *channel, nt_error *err)
{
    long long parent = 0;
    if (!nt_parse_i64(parent_pid, &parent) || parent <= 0 || fcntl(CHILD_FD, F_GETFD) < 0)
        return nt_fail(err, NT_USAGE, "this command is internal: nntune starts it by itself");
    struct sigaction ignore = {.sa_handler = SIG_IGN}, end = {.sa_handler = kill_own_group};
    sigaction(SIGINT, &ignore, NULL);
    sigaction(SIGPIPE, &ignore, NULL);
    if (group)
        sigaction(SIGTERM, &end, NULL);
    prctl(PR_SET_PDEATHSIG, group ? SIGTERM : SIGKILL);
    if (getppid() != (pid_t)parent)
        raise(SIGKILL); /* the parent died before the line above */
    fcntl(CHILD_FD, F_SETFD, FD_CLOEXEC);
    nt_channel_init(channel, CHILD_FD);
    return NT_OK;
}
