/* run.c: the end of a run record. */
#include "core/store.h"

#include <stdlib.h>

void nt_run_done(nt_run *run)
{
    free(run->command);
    free(run->options_json);
    *run = (nt_run){0};
}
