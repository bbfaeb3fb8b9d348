#include "cli/output.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/json.h"

static int first_failure; /* errno of the first write to stdout that failed */

static void note_failure(bool failed)
{
    if (failed && first_failure == 0)
        first_failure = errno != 0 ? errno : EIO;
}

json_t *nt_output_document(const char *type)
{
    return json_pack("{s:s, s:i}", "type", type, "schema_version", NT_JSON_SCHEMA_VERSION);
}

void nt_output_json(json_t *json)
{
    char *text = nt_json_dump_done(json);
    note_failure(puts(text) == EOF);
    note_failure(fflush(stdout) != 0); /* a line at a time, for whoever reads along */
    free(text);
}

bool nt_output_wanted(void)
{
    return !ferror(stdout);
}

nt_status nt_output_finish(nt_error *err)
{
    errno = 0;
    note_failure(fflush(stdout) != 0 || ferror(stdout));
    if (first_failure == 0 || first_failure == EPIPE)
        return NT_OK;
    return nt_fail(err, NT_IO, "cannot write to standard output: %s", strerror(first_failure));
}
