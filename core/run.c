/* run.c: the life of a run record. */
#include "core/store.h"

#include <math.h>
#include <stdlib.h>

void nt_run_init(nt_run *run)
{
    *run = (nt_run){.started_unix_s = NAN,
                    .ended_unix_s = NAN,
                    .compile_s = NAN,
                    .verify_s = NAN,
                    .measure_s = NAN,
                    .idle_s = NAN,
                    .total_s = NAN};
    nt_device_info_init(&run->device, NT_DEVICE_CPU);
}

void nt_run_done(nt_run *run)
{
    free(run->command);
    free(run->options_json);
    nt_run_init(run);
}
