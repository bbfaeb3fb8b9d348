/* profile_store.h: where profiles of programs go, as a struct of functions that db/ implements. */
#ifndef NT_PROFILE_STORE_H
#define NT_PROFILE_STORE_H

#include "core/trace.h"

typedef struct nt_profile_run {
    int64_t id;          /* assigned by the sink */
    const char *command; /* the profiled command line, or the imported file */
    char source[16];     /* measured, imported */
    char nntune_version[32];
    char host[128];
    char state[16]; /* running, done, failed */
    double started_unix_s, ended_unix_s;
    int64_t exit_code; /* of the command; NT_UNKNOWN while it runs */
} nt_profile_run;

typedef struct nt_profile_sink nt_profile_sink;
struct nt_profile_sink {
    void *state;
    nt_status (*begin)(nt_profile_sink *sink, nt_profile_run *run, nt_error *err);
    /* Stores what the trace has gained since the last call, in one transaction: whatever ends this process later, it
     * stands. */
    nt_status (*put)(nt_profile_sink *sink, const nt_trace *trace, nt_error *err);
    nt_status (*end)(nt_profile_sink *sink, const nt_profile_run *run, nt_error *err);
    void (*close)(nt_profile_sink *sink);
};

#endif
