/* cmd_show.c: `nntune show TRIAL`: one trial with everything: what was measured, under which conditions, and the code.
 */
#include <stdio.h>
#include <stdlib.h>

#include "cli/cmd.h"
#include "cli/color.h"
#include "cli/database.h"
#include "cli/output.h"
#include "cli/row.h"
#include "cli/show.h"
#include "cli/stored_spec.h"
#include "core/json.h"
#include "core/mem.h"

/* Options that print code instead of the sheet; at most one may be given. */
static const struct {
    const char *option;
    nt_code code;
} codes[] = {
    {"source", NT_CODE_SOURCE},
    {"ptx", NT_CODE_PTX},
    {"sass", NT_CODE_SASS},
    {"asm", NT_CODE_ASSEMBLY},
};
enum { CODE_COUNT = sizeof codes / sizeof codes[0] };

static const nt_option rows[] = {
    {.name = "source", .kind = NT_OPTION_FLAG, .help = "print the kernel's source, after its compiler options"},
    {.name = "ptx", .kind = NT_OPTION_FLAG, .help = "print the PTX of a CUDA kernel (needs NVRTC)"},
    {.name = "sass",
     .kind = NT_OPTION_FLAG,
     .help = "print the machine code of a CUDA kernel (needs nvdisasm or cuobjdump)"},
    {.name = "asm", .kind = NT_OPTION_FLAG, .help = "print the assembly, whatever the device"},
    {.name = NULL},
};

/* ---- reading ------------------------------------------------------------------------------------------------------------ */

static bool keep_row(void *context, const nt_row *row)
{
    nt_shown *shown = context;
    shown->row = nt_json_row(row);
    return false;
}

typedef struct run_search {
    int64_t id;
    json_t *found;
} run_search;

static bool keep_run(void *context, const nt_row *row)
{
    run_search *search = context;
    if (nt_row_int(row, "run") != search->id)
        return true;
    search->found = nt_row_run_json(row);
    return false;
}

static nt_status read_all(nt_reader *reader, int64_t id, nt_shown *out, nt_error *err)
{
    nt_status status = reader->trial(reader, id, keep_row, out, err);
    if (status == NT_OK)
        status = nt_row_trial(out->row, &out->trial, err);
    run_search search = {.id = nt_json_get_int(out->row, "run")};
    if (status == NT_OK)
        status = reader->runs(reader, keep_run, &search, err);
    out->run = search.found;
    if (status == NT_OK)
        status = nt_show_read_counters(reader, out, err);
    if (status == NT_OK && out->trial.outcome == NT_OUTCOME_OK)
        status = reader->samples(reader, id, &out->samples, err);
    return status;
}

static void release(nt_shown *shown)
{
    json_decref(shown->row);
    json_decref(shown->run);
    json_decref(shown->counters);
    nt_trial_done(&shown->trial);
    nt_samples_done(&shown->samples);
}

/* ---- the command ----------------------------------------------------------------------------------------------------------- */

static void print_json(const nt_shown *shown)
{
    json_t *document = nt_output_document("trial"), *samples = json_array();
    for (size_t i = 0; i < shown->samples.count; i++)
        json_array_append_new(samples, nt_json_real(shown->samples.sample_ns[i]));
    json_object_set_new(document, "database", json_string(shown->path));
    json_object_update(document, shown->row);
    json_object_set_new(document, "sample_ns", samples);
    json_object_set(document, "counters", shown->counters);
    json_object_set_new(document, "advice", nt_show_advice_json(shown));
    json_object_set(document, "run_record", shown->run != NULL ? shown->run : json_null());
    nt_output_json(document);
}

/* Which code was asked for, -1 for none. */
static nt_status asked_code(const nt_args *args, int *out, nt_error *err)
{
    *out = -1;
    for (int i = 0; i < CODE_COUNT; i++) {
        if (!nt_args_flag(args, codes[i].option))
            continue;
        if (*out >= 0)
            return nt_fail(err, NT_USAGE, "--%s and --%s exclude each other", codes[*out].option, codes[i].option);
        *out = i;
    }
    return NT_OK;
}

static nt_status run(const nt_args *args, int *exit_code, nt_error *err)
{
    nt_shown *shown = nt_alloc_zero(1, sizeof *shown);
    nt_reader *reader = NULL;
    int64_t id = 0;
    int code;
    (void)exit_code;
    nt_trial_init(&shown->trial);
    nt_status status = asked_code(args, &code, err);
    if (status == NT_OK)
        status = nt_trial_argument(args, &id, err);
    if (status == NT_OK)
        status = nt_database_read(args, shown->path, &reader, err);
    if (status == NT_OK) {
        status = read_all(reader, id, shown, err);
        nt_error gone = {0}; /* without its spec there is no code, and no roof to compare with; all else is shown */
        nt_status loaded = status == NT_OK ? nt_stored_spec_load(reader, shown->trial.problem.layer,
                                                                 nt_json_get_int(shown->row, "run"), NULL, &gone)
                                           : NT_OK;
        if (loaded != NT_OK && code >= 0) {
            status = loaded;
            *err = gone;
        }
        reader->close(reader);
    }
    if (status == NT_OK && code >= 0)
        status = nt_show_code(args, shown, codes[code].code, err);
    else if (status == NT_OK && nt_args_flag(args, "json"))
        print_json(shown);
    else if (status == NT_OK)
        nt_show_text(shown, nt_color_wanted(args, stdout));
    release(shown);
    free(shown);
    return status;
}

const nt_command nt_command_show = {
    .name = "show",
    .group = "Look",
    .summary = "show one trial: outcome, times, errors, resources, conditions, run, or its code",
    .usage = "TRIAL",
    .example = "nntune show 42\n"
               "nntune show 42 --source",
    .options = rows,
    .uses = NT_USES_JSON | NT_USES_DB | NT_USES_WARNINGS | NT_USES_COLOR,
    .least_positional = 1,
    .most_positional = 1,
    .run = run,
};
