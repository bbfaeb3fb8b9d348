/* model.c: see model.h. */
#include "tui/model.h"

#include <math.h>
#include <stdlib.h>

#include "core/mem.h"

void nt_snapshot_init(nt_snapshot *snapshot)
{
    *snapshot = (nt_snapshot){.total = NT_UNKNOWN};
    nt_facts *facts = &snapshot->facts;
    nt_device_info_init(&facts->device, NT_DEVICE_CPU);
    facts->planned = NT_UNKNOWN;
    facts->budget_s = facts->elapsed_s = facts->eta_s = NAN;
    facts->roof_flop_per_s = facts->roof_bytes_per_s = facts->dot_intensity = facts->dot_flop_per_s = NAN;
    snapshot->trial.use = (nt_block_use){NT_UNKNOWN, NT_UNKNOWN, NT_UNKNOWN, 1};
}

void nt_snapshot_free(nt_snapshot *snapshot)
{
    if (snapshot == NULL)
        return;
    nt_sheet_done(&snapshot->facts.units);
    nt_sheet_done(&snapshot->facts.log);
    for (int i = 0; i < snapshot->facts.devices; i++)
        nt_sheet_done(&snapshot->facts.live[i].processes);
    nt_sheet_done(&snapshot->trials);
    nt_sheet_done(&snapshot->trial.sheet);
    nt_samples_done(&snapshot->trial.samples);
    nt_sheet_done(&snapshot->heat);
    nt_sheet_done(&snapshot->compare);
    free(snapshot);
}
