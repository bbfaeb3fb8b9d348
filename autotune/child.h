/* child.h: child processes of the coordinator: started by exec of this same program with an internal flag.
 *
 * A child has one stream socket (descriptor 3) to the coordinator and nothing else of it: every other descriptor is
 * closed on exec. It is told its parent's pid and dies with it. Compile children lead a process group of their own, so
 * that what they started (a C compiler) is killed with them. */
#ifndef NT_CHILD_H
#define NT_CHILD_H

#include <stdbool.h>
#include <sys/types.h>

#include "autotune/message.h"

typedef struct nt_child {
    pid_t pid; /* 0 when there is none */
    nt_channel channel;
    bool own_group;
} nt_child;

/* How a child ended, in words: "killed by signal 11 (Segmentation fault)", "exited with code 1". */
void nt_child_describe_end(int wait_status, char *out, size_t capacity);

/* Starts `nntune ROLE ARGUMENT`; argument may be NULL. NNTUNE_EXE overrides the program (for tests that are not
 * nntune). */
nt_status nt_child_start(nt_child *child, const char *role, const char *argument, bool own_group, nt_error *err);

/* SIGKILL, reap, close. Returns the wait status (0 when there was no child). */
int nt_child_kill(nt_child *child);

/* Reaps a child whose channel has ended (waits up to a second, then kills). Returns its wait status. */
int nt_child_reap(nt_child *child);

/* Called first in a child: dies with its parent (whose pid argv carries), restores default signals; SIGINT is ignored
 * since the coordinator decides. `group` children kill their whole group when the parent goes. Returns the channel. */
nt_status nt_child_enter(const char *parent_pid, bool group, nt_channel *channel, nt_error *err);

#endif
