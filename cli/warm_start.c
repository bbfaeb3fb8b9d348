#include "cli/warm_start.h"

#include <math.h>
#include <string.h>
#include <unistd.h>

#include "cli/row.h"
#include "db/db.h"

static bool take(void *context, const nt_row *row)
{
    nt_warm_start *warm = context;
    nt_warm_group group = {.run = nt_row_int(row, "run")};
    double time_ns = nt_row_real(row, "time_ns");
    int cache = nt_cache_mode_find(nt_row_text(row, "cache"));
    if (strcmp(nt_row_text(row, "outcome"), nt_outcome_name(NT_OUTCOME_OK)) != 0 || !(time_ns > 0) || cache < 0 ||
        nt_row_problem(row, &group.problem, NULL) != NT_OK)
        return true;
    group.cache = (nt_cache_mode)cache;
    nt_copy(group.device_uuid, sizeof group.device_uuid, nt_row_text(row, "device_uuid"));
    nt_warm_start_add(warm, &group, nt_row_text(row, "kernel"), nt_row_text(row, "params"), time_ns);
    return true;
}

nt_status nt_warm_start_read(const char *from, const char *path, const char *layer, nt_warm_start *out, nt_error *err)
{
    bool automatic = strcmp(from, "auto") == 0;
    nt_reader *reader = NULL;
    *out = (nt_warm_start){0};
    if (automatic && access(path, F_OK) != 0)
        return NT_OK;
    nt_status status = nt_db_reader_open(automatic ? path : from, &reader, err);
    if (status != NT_OK)
        return status;
    status = reader->trials(reader, 0, layer, take, out, err);
    reader->close(reader);
    if (status != NT_OK)
        nt_warm_start_done(out);
    return status;
}
