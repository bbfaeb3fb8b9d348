/* sweep_fleet.h: one sweep command over several devices: --device all, or a list such as cuda:0,cuda:2.
 *
 * Each device has a sweep of its own, a process with its coordinator, device worker and run, all at once into one
 * database; a run is of one device there, so `best` and `compare` tell them apart. Compile processes are shared out
 * evenly, and what one of them compiles the others of that architecture take from the cache (autotune/compile_turn.h).
 * The budget is each device's. What a sweep says on stderr comes with its device in front; tables come at the end,
 * device after device; JSON lines get a member "on". */
#ifndef NT_SWEEP_FLEET_H
#define NT_SWEEP_FLEET_H

#include <stdbool.h>

#include "cli/options.h"

enum { NT_FLEET_MOST = 16 };

typedef struct nt_fleet {
    char device[NT_FLEET_MOST][16]; /* "cuda:1" */
    int count;
} nt_fleet;

/* Whether --device asks for several. */
bool nt_fleet_asked(const char *device);

/* Those that it names. all: every NVIDIA GPU that opens; without one the cpu. NT_USAGE: a name that is none or stands
 * twice. */
nt_status nt_fleet_find(const char *device, nt_fleet *out, nt_error *err);

/* Runs the command line once for each, and waits. Signals are passed on. The first exit code that is not 0 counts; what
 * went wrong was said by the sweep itself. `jobs`: compile processes for all together. */
nt_status nt_fleet_run(const nt_fleet *fleet, int jobs, bool json, int *exit_code, nt_error *err);

#endif
