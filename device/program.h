/* program.h: runs a program to its end under a deadline and limits, and captures what it says.
 *
 * For compilers. Whatever the program starts ends with it: at the deadline, and when this process dies. */
#ifndef NT_PROGRAM_H
#define NT_PROGRAM_H

#include "core/record.h"

typedef struct nt_program {
    const char *const *argv; /* NULL-terminated; argv[0] is a path */
    const char *folder;      /* its folder for temporary files; NULL leaves TMPDIR as it is */
    double deadline_s;
    int64_t memory_bytes;    /* address space of each process */
} nt_program;

typedef struct nt_program_end {
    int exit_code;  /* -1 when a signal ended it */
    int signal;     /* 0 when it exited */
    bool timed_out; /* then it was killed with all it had started */
    nt_str output;  /* stdout and stderr together, at most 64 KiB; free with nt_str_done */
} nt_program_end;

/* NT_OK when it ran, however it ended. */
nt_status nt_program_run(const nt_program *program, nt_program_end *out, nt_error *err);

/* Path of an executable: `name` itself when it has a slash, else looked up in PATH. False when there is none. */
bool nt_program_find(const char *name, char *out, size_t capacity);

#endif
