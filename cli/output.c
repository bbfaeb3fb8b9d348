#include "cli/output.h"

#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "core/json.h"

static int first_failure; /* errno of the first write to stdout that failed */

static void note_failure(bool failed)
{
    if (failed && first_failure == 0)
        first_failure = errno;
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

/* Whether stdout is a pipe that nobody reads any more. */
static bool reader_left(void)
{
    struct pollfd out = {.fd = STDOUT_FILENO, .events = POLLOUT};
    return poll(&out, 1, 0) == 1 && (out.revents & POLLERR) != 0;
}

nt_status nt_output_finish(nt_error *err)
{
    errno = 0;
    if (fflush(stdout) != 0 && first_failure == 0)
        first_failure = errno;
    if ((first_failure == 0 && !ferror(stdout)) || first_failure == EPIPE || reader_left())
        return NT_OK;
    /* A write that failed inside printf left no cause behind. */
    return nt_fail(err, NT_IO, "cannot write to standard output%s%s", first_failure != 0 ? ": " : "",
                   first_failure != 0 ? strerror(first_failure) : ", or not all of it");
}
