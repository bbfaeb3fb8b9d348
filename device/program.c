/* program.c: two processes stand between us and a compiler. The keeper leads a process group of its own and waits for
 * the program; when we die it gets SIGTERM and kills the group, so the compiler's own children go too (a parent-death
 * signal alone would reach the driver and not cc1). At the deadline we kill the group ourselves. */
#include "device/program.h"

#include "core/clock.h"
#include "core/mem.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

enum { OUTPUT_LIMIT = 65536, MAX_ENVIRONMENT = 4096, CANNOT_EXEC = 127 };

bool nt_program_find(const char *name, char *out, size_t capacity)
{
    struct stat info;
    if (strchr(name, '/') != NULL)
        return nt_copy(out, capacity, name) && access(name, X_OK) == 0 && stat(name, &info) == 0 &&
               S_ISREG(info.st_mode);
    const char *path = getenv("PATH");
    for (const char *at = path; at != NULL && name[0] != '\0';) {
        const char *end = strchrnul(at, ':');
        int length = snprintf(out, capacity, "%.*s/%s", (int)(end - at), at, name);
        if (end > at && length > 0 && (size_t)length < capacity && access(out, X_OK) == 0 && stat(out, &info) == 0 &&
            S_ISREG(info.st_mode))
            return true;
        at = *end == ':' ? end + 1 : NULL;
    }
    return false;
}

/* ---- after fork: only calls that are safe there, because other threads may hold locks ------------------------------ */

typedef struct prepared {
    const nt_program *program;
    char *environment[MAX_ENVIRONMENT];
    char temporary[NT_PATH_BYTES + 8]; /* TMPDIR=... */
    int output;
    pid_t parent;
} prepared;

static void kill_own_group(int number)
{
    (void)number;
    kill(0, SIGKILL);
}

static void limit(int resource, rlim_t soft, rlim_t hard)
{
    struct rlimit now;
    if (getrlimit(resource, &now) != 0)
        return;
    now.rlim_max = hard < now.rlim_max ? hard : now.rlim_max;
    now.rlim_cur = soft < now.rlim_max ? soft : now.rlim_max;
    setrlimit(resource, &now);
}

static _Noreturn void become_program(const prepared *start)
{
    const nt_program *program = start->program;
    int null = open("/dev/null", O_RDWR);
    if (null < 0 || dup2(null, 0) < 0 || dup2(start->output, 1) < 0 || dup2(start->output, 2) < 0)
        _exit(CANNOT_EXEC);
#ifdef SYS_close_range
    syscall(SYS_close_range, 3U, ~0U, 0U);
#endif
    rlim_t cpu_s = (rlim_t)program->deadline_s + 2;
    limit(RLIMIT_CPU, cpu_s, cpu_s + 1);
    limit(RLIMIT_CORE, 0, 0);
    limit(RLIMIT_AS, (rlim_t)program->memory_bytes, (rlim_t)program->memory_bytes);
    signal(SIGPIPE, SIG_DFL);
    signal(SIGTERM, SIG_DFL);
    execve(program->argv[0], (char *const *)program->argv, start->environment);
    static const char message[] = "error: the compiler cannot be started\n";
    if (write(2, message, sizeof message - 1) < 0)
        _exit(CANNOT_EXEC);
    _exit(CANNOT_EXEC);
}

/* Passes the program's end on: its exit code, or death by the same signal. */
static _Noreturn void keep(const prepared *start)
{
    struct sigaction on_term = {.sa_handler = kill_own_group};
    sigset_t none;
    int state = 0;
    setpgid(0, 0);
    sigaction(SIGTERM, &on_term, NULL);
    sigemptyset(&none);
    sigprocmask(SIG_SETMASK, &none, NULL);
    prctl(PR_SET_PDEATHSIG, SIGTERM);
    if (getppid() != start->parent)
        _exit(CANNOT_EXEC); /* it died before the line above */
    pid_t child = fork();
    if (child == 0)
        become_program(start);
    /* The keeper keeps its end of the pipe, so that the end of output is the end of the program. */
    while (child > 0 && waitpid(child, &state, 0) < 0 && errno == EINTR)
        ;
    if (child > 0 && WIFSIGNALED(state)) {
        limit(RLIMIT_CORE, 0, 0);
        signal(WTERMSIG(state), SIG_DFL);
        raise(WTERMSIG(state));
    }
    _exit(child > 0 && WIFEXITED(state) ? WEXITSTATUS(state) : CANNOT_EXEC);
}

/* ---- before and beside it ------------------------------------------------------------------------------------------- */

/* Messages in English, since they are searched for "error:"; temporary files where they can be removed. */
static void prepare_environment(prepared *start)
{
    size_t count = 0;
    bool own_folder = start->program->folder != NULL;
    for (char **at = environ; *at != NULL && count < MAX_ENVIRONMENT - 3; at++)
        if (strncmp(*at, "LC_ALL=", 7) != 0 && !(own_folder && strncmp(*at, "TMPDIR=", 7) == 0))
            start->environment[count++] = *at;
    start->environment[count++] = (char *)"LC_ALL=C";
    if (own_folder) {
        snprintf(start->temporary, sizeof start->temporary, "TMPDIR=%s", start->program->folder);
        start->environment[count++] = start->temporary;
    }
    start->environment[count] = NULL;
}

/* Reads until the end of output or the deadline; false at the deadline. */
static bool drain(int fd, double until_s, nt_str *out)
{
    char part[4096];
    for (;;) {
        double left_ms = (until_s - nt_now_s()) * 1e3;
        struct pollfd wait = {.fd = fd, .events = POLLIN};
        if (left_ms <= 0)
            return false;
        int ready = poll(&wait, 1, left_ms < 1e6 ? (int)left_ms + 1 : 1000000);
        if (ready <= 0)
            continue;
        ssize_t got = read(fd, part, sizeof part);
        if (got == 0 || (got < 0 && errno != EINTR))
            return true;
        if (got > 0 && out->length < OUTPUT_LIMIT)
            nt_str_add_n(out, part, (size_t)got);
    }
}

static void collect(pid_t keeper, nt_program_end *out)
{
    int state = 0;
    while (waitpid(keeper, &state, 0) < 0 && errno == EINTR)
        ;
    out->signal = WIFSIGNALED(state) ? WTERMSIG(state) : 0;
    out->exit_code = WIFEXITED(state) ? WEXITSTATUS(state) : -1;
}

nt_status nt_program_run(const nt_program *program, nt_program_end *out, nt_error *err)
{
    int ends[2];
    memset(out, 0, sizeof *out);
    if (pipe2(ends, O_CLOEXEC) != 0)
        return nt_fail(err, NT_FAILED, "cannot make a pipe to %s: %s", program->argv[0], strerror(errno));
    prepared *start = nt_alloc_zero(1, sizeof *start);
    start->program = program;
    start->output = ends[1];
    start->parent = getpid();
    prepare_environment(start);
    double until_s = nt_now_s() + program->deadline_s;
    pid_t keeper = fork();
    if (keeper == 0)
        keep(start);
    int why = errno;
    close(ends[1]);
    free(start);
    if (keeper < 0) {
        close(ends[0]);
        return nt_fail(err, NT_FAILED, "cannot start %s: %s", program->argv[0], strerror(why));
    }
    setpgid(keeper, keeper); /* also done by the keeper: whoever comes first */
    out->timed_out = !drain(ends[0], until_s, &out->output);
    if (out->timed_out)
        kill(-keeper, SIGKILL);
    close(ends[0]);
    collect(keeper, out);
    return NT_OK;
}
