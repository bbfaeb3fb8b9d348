/* about.h: what help and the man page both tell beside commands and options: exit codes, environment, files. */
#ifndef NT_ABOUT_H
#define NT_ABOUT_H

#define NT_TAGLINE "profiles and autotunes neural-network inference kernels on NVIDIA GPUs and CPUs"

typedef struct nt_exit_code {
    const char *code; /* "0", "128+N" */
    const char *meaning;
} nt_exit_code;

/* Ends with a row without code. */
extern const nt_exit_code nt_exit_codes[];

typedef struct nt_variable {
    const char *name;
    const char *meaning;
} nt_variable;

extern const nt_variable nt_variables[]; /* of the environment; ends with a row without name */
extern const nt_variable nt_files[];     /* places on disk */

#endif
