#include "cli/database.h"

#include "core/paths.h"
#include "db/db.h"

static nt_status path_of(const nt_args *args, bool make, char out[NT_PATH_BYTES], nt_error *err)
{
    const char *given = nt_args_text(args, "db", NULL);
    if (given == NULL)
        return (make ? nt_path_database : nt_path_database_name)(out, NT_PATH_BYTES, err);
    return nt_copy(out, NT_PATH_BYTES, given)
               ? NT_OK
               : nt_fail(err, NT_USAGE, "--db: the path is longer than %d bytes", NT_PATH_BYTES - 1);
}

nt_status nt_database_path(const nt_args *args, char out[NT_PATH_BYTES], nt_error *err)
{
    return path_of(args, true, out, err);
}

nt_status nt_database_read(const nt_args *args, char path[NT_PATH_BYTES], nt_reader **out, nt_error *err)
{
    nt_status status = path_of(args, false, path, err);
    return status == NT_OK ? nt_db_reader_open(path, out, err) : status;
}

nt_status nt_trial_argument(const nt_args *args, int64_t *out, nt_error *err)
{
    const char *text = nt_args_positional(args, 0);
    long long id;
    if (!nt_parse_i64(text, &id) || id < 1) {
        nt_fail(err, NT_USAGE, "'%s' is not the number of a trial, a whole number from 1", text);
        return nt_hint(err, "'nntune best' lists the winners with their numbers");
    }
    *out = id;
    return NT_OK;
}
