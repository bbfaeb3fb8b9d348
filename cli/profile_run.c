/* profile_run.c: a child with CUDA's and NVTX's injection variables set, and a parent that waits, passes signals on and
 * calls back. The command keeps its terminal, its process group and its standard input. */
#include "cli/profile_run.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "core/str.h"
#include "profiler/spool_format.h"

#define LIBRARY       "libnntune-inject.so"
#define CUDA_VARIABLE "CUDA_INJECTION64_PATH"
#define NVTX_VARIABLE "NVTX_INJECTION64_PATH"

enum { TICK_MS = 200, NOT_FOUND = 127, NOT_RUNNABLE = 126 };

static const int passed_on[] = {SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGUSR1, SIGUSR2};

nt_status nt_profile_library(char out[NT_PATH_BYTES], nt_error *err)
{
    static const char *const places[] = {"/" LIBRARY, "/../lib/nntune/" LIBRARY};
    char self[NT_PATH_BYTES];
    ssize_t length = readlink("/proc/self/exe", self, sizeof self - 1);
    self[length > 0 ? length : 0] = '\0';
    char *slash = strrchr(self, '/');
    if (slash != NULL)
        *slash = '\0';
    for (size_t i = 0; i < sizeof places / sizeof places[0]; i++) {
        int needed = snprintf(out, NT_PATH_BYTES, "%s%s", self, places[i]);
        if (needed < NT_PATH_BYTES && access(out, R_OK) == 0)
            return NT_OK;
    }
#ifdef NT_HAVE_CUPTI_H
    nt_fail(err, NT_NOT_FOUND, LIBRARY " is neither in %s nor in %s/../lib/nntune", self, self);
    nt_hint(err, "`make` builds it beside nntune; keep the two together");
#else
    nt_fail(err, NT_NO_DEVICE,
            "this nntune was built where CUPTI's headers were missing, so it cannot record programs");
    nt_hint(err, "install the CUDA toolkit and build again; `nntune profile --import FILE` works without");
#endif
    return err != NULL ? err->status : NT_FAILED;
}

/* ---- the child ------------------------------------------------------------------------------------------------------ */

/* Never returns. What goes wrong is told through the pipe, which a successful exec closes. */
static void become(const nt_profile_command *command, int failure, const sigset_t *mask)
{
    setenv(CUDA_VARIABLE, command->library, 1);
    setenv(NVTX_VARIABLE, command->library, 1);
    setenv(NT_SPOOL_FOLDER_VARIABLE, command->folder, 1);
    for (const char *const(*v)[2] = command->variables; v != NULL && (*v)[0] != NULL; v++)
        setenv((*v)[0], (*v)[1], 1);
    if (command->stdout_to_stderr)
        dup2(STDERR_FILENO, STDOUT_FILENO);
    signal(SIGPIPE, SIG_DFL);
    sigprocmask(SIG_SETMASK, mask, NULL);
    execvp(command->argv[0], command->argv);
    int reason = errno;
    if (write(failure, &reason, sizeof reason) != sizeof reason)
        _exit(NOT_RUNNABLE);
    _exit(NOT_FOUND);
}

static nt_status not_started(const char *name, int reason, int *exit_code, nt_error *err)
{
    bool missing = reason == ENOENT;
    *exit_code = missing ? NOT_FOUND : NOT_RUNNABLE;
    nt_fail(err, missing ? NT_NOT_FOUND : NT_FAILED, "cannot run %s: %s", name,
            missing ? "no such command" : strerror(reason));
    return missing ? nt_hint(err, "write the command after --, as at a prompt: nntune profile -- python3 model.py")
                   : nt_hint(err, "is it an executable file? A script needs its interpreter: python3 %s", name);
}

/* ---- the parent --------------------------------------------------------------------------------------------------------- */

/* What a terminal sends goes to the command as well, by itself; what a person sends to us alone is passed on. */
static bool sent_to_us(const siginfo_t *info)
{
    return info->si_code <= 0;
}

static int wait_for(pid_t child, const sigset_t *waited, const nt_profile_command *command)
{
    const struct timespec tick = {.tv_nsec = TICK_MS * 1000000L};
    int status = 0;
    for (;;) {
        siginfo_t info;
        int number = sigtimedwait(waited, &info, &tick);
        if (number > 0 && number != SIGCHLD && sent_to_us(&info))
            kill(child, number);
        if (waitpid(child, &status, WNOHANG) == child)
            return status;
        command->tick(command->context);
    }
}

static void set_waited(sigset_t *waited)
{
    sigemptyset(waited);
    sigaddset(waited, SIGCHLD);
    for (size_t i = 0; i < sizeof passed_on / sizeof passed_on[0]; i++)
        sigaddset(waited, passed_on[i]);
}

nt_status nt_profile_run_command(const nt_profile_command *command, int *exit_code, nt_error *err)
{
    int failure[2], reason = 0;
    sigset_t waited, before;
    if (pipe2(failure, O_CLOEXEC) != 0)
        return nt_fail(err, NT_FAILED, "cannot make a pipe: %s", strerror(errno));
    set_waited(&waited);
    sigprocmask(SIG_BLOCK, &waited, &before);
    pid_t child = fork();
    if (child == 0)
        become(command, failure[1], &before);
    close(failure[1]);
    nt_status status = NT_OK;
    if (child < 0) {
        status = nt_fail(err, NT_FAILED, "cannot start a process: %s", strerror(errno));
    } else if (read(failure[0], &reason, sizeof reason) == sizeof reason) {
        waitpid(child, NULL, 0);
        status = not_started(command->argv[0], reason, exit_code, err);
    } else {
        int how = wait_for(child, &waited, command);
        *exit_code = WIFEXITED(how) ? WEXITSTATUS(how) : 128 + WTERMSIG(how);
    }
    close(failure[0]);
    sigprocmask(SIG_SETMASK, &before, NULL);
    return status;
}
