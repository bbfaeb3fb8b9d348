/* scratch.h: for tests that start children: a fresh folder with the caches and locks in it, the program under test, and
 * whether a process is gone. */
#ifndef NT_TEST_SCRATCH_H
#define NT_TEST_SCRATCH_H

#include <errno.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "core/clock.h"
#include "core/paths.h"

static char scratch_folder[64];
static char scratch_program[512]; /* the built program, empty when NNTUNE_EXE is not set */

static inline int scratch_open(void **state)
{
    (void)state;
    if (scratch_program[0] == '\0' && getenv("NNTUNE_EXE") != NULL)
        snprintf(scratch_program, sizeof scratch_program, "%s", getenv("NNTUNE_EXE"));
    strcpy(scratch_folder, "/tmp/nntune-test-XXXXXX");
    if (mkdtemp(scratch_folder) == NULL)
        return -1;
    setenv("NNTUNE_CACHE_DIR", scratch_folder, 1);
    setenv("NNTUNE_LOCK_DIR", scratch_folder, 1);
    unsetenv("NNTUNE_FAKE_FAULT");
    unsetenv("NNTUNE_FAKE_STATE");
    unsetenv("NNTUNE_FAKE_COMPILE_MS");
    return 0;
}

static inline int scratch_close(void **state)
{
    (void)state;
    char command[100];
    if (scratch_program[0] != '\0')
        setenv("NNTUNE_EXE", scratch_program, 1);
    else
        unsetenv("NNTUNE_EXE"); /* it was a script in the folder */
    snprintf(command, sizeof command, "rm -rf '%s'", scratch_folder);
    return system(command);
}

/* True (and says so) when there is no program to start. */
static inline bool scratch_no_program(void)
{
    if (scratch_program[0] == '\0')
        fputs("skipped: NNTUNE_EXE does not name the built program ('make unit' sets it)\n", stderr);
    return scratch_program[0] == '\0';
}

/* Makes a shell script the program that children are. */
static inline void scratch_script(const char *text)
{
    char path[100];
    snprintf(path, sizeof path, "%s/script", scratch_folder);
    FILE *file = fopen(path, "w");
    if (file == NULL || fprintf(file, "#!/bin/sh\n%s\n", text) < 0 || fclose(file) != 0 || chmod(path, 0700) != 0)
        abort();
    setenv("NNTUNE_EXE", path, 1);
}

static inline void scratch_sleep(double seconds)
{
    struct timespec left = {(time_t)seconds, (long)((seconds - (double)(time_t)seconds) * 1e9)};
    while (nanosleep(&left, &left) != 0 && errno == EINTR)
        continue;
}

/* A process that is dead and not waited for by whoever inherited it is gone as well. */
static inline bool scratch_runs(pid_t pid)
{
    char path[64], *text = NULL;
    size_t bytes = 0;
    snprintf(path, sizeof path, "/proc/%ld/stat", (long)pid);
    if (nt_read_file(path, 4096, &text, &bytes, NULL) != NT_OK)
        return false;
    const char *end = strrchr(text, ')');
    bool alive = end != NULL && end[1] == ' ' && end[2] != 'Z' && end[2] != 'X';
    free(text);
    return alive;
}

static inline bool scratch_gone_within(pid_t pid, double seconds)
{
    double end = nt_now_s() + seconds;
    while (scratch_runs(pid) && nt_now_s() < end)
        scratch_sleep(0.01);
    return !scratch_runs(pid);
}

#endif
