/* profile_run.h: runs the command of `nntune profile` with the recording library inside it. */
#ifndef NT_PROFILE_RUN_H
#define NT_PROFILE_RUN_H

#include <stdbool.h>

#include "core/record.h"

/* The library beside this program, or in ../lib/nntune as installed. */
nt_status nt_profile_library(char out[NT_PATH_BYTES], nt_error *err);

typedef struct nt_profile_command {
    char **argv;        /* NULL-terminated */
    const char *folder; /* of the spools */
    const char *library;
    bool stdout_to_stderr;
    const char *const (*variables)[2]; /* more of its environment: name, value; ends with a NULL name. NULL allowed */
    void (*tick)(void *context);       /* called every now and then while it runs */
    void *context;
} nt_profile_command;

/* Runs it to its end; signals sent to this process go on to it. *exit_code is its own, or 128 + n when signal n ended
 * it. A command that cannot be started fails with exit code 127 (not found) or 126, as shells have it. */
nt_status nt_profile_run_command(const nt_profile_command *command, int *exit_code, nt_error *err);

#endif
