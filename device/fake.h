/* fake.h: devices for tests (fake, or fake:0 to fake:3), never listed: it computes nothing, but takes every path that a real one does.
 *
 * Times come from the artefact (which is the text of its options) and the plan: a smooth bowl over the numeric macros
 * and the launch shape with one best setting, so that strategies have something to find.
 * Environment:
 *   NNTUNE_FAKE_COMPILE_MS  how long a compile takes
 *   NNTUNE_FAKE_EXCLUSIVE   file that an open device locks: one process alone can have it open, as a GPU in exclusive mode
 *   NNTUNE_FAKE_LOG         file that gets one line for each module load: its options and the process id
 *   NNTUNE_FAKE_POWER_MW    power of the fastest; slower ones draw less, by the cube of their speed. Unset: unknown
 *   NNTUNE_FAKE_STATE       file with the count of runs, which thus survives a restart of the worker
 *   NNTUNE_FAKE_FAULT       list of fault@n, n being that count (the first run is 1):
 *     crash   the process dies of SIGSEGV          hang    run() never returns
 *     lost    run() says NT_DEVICE_LOST            launch  run() says NT_LAUNCH_FAILED
 *     wrong   comparisons until the next run fail  lie     samples until the next run are negative */
#ifndef NT_FAKE_H
#define NT_FAKE_H

#include "device/device.h"

enum { NT_FAKE_BEST_NS = 20000 }; /* no configuration is faster */

typedef enum nt_fake_fault {
    NT_FAKE_NONE,
    NT_FAKE_CRASH,
    NT_FAKE_HANG,
    NT_FAKE_LIE,
    NT_FAKE_WRONG,
    NT_FAKE_LOST,
    NT_FAKE_LAUNCH,
    NT_FAKE_FAULT_COUNT
} nt_fake_fault;

/* Counts one run and says which fault is due on it. NT_USAGE for a list that cannot be read, naming the right form. */
nt_status nt_fake_count_run(nt_fake_fault *due, nt_error *err);

/* The period of a plan with an artefact of this text. Pure. */
double nt_fake_time_ns(const char *artefact, const nt_plan *plan);

#endif
