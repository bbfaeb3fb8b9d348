/* cmd_merge.c: `nntune merge A.db B.db -o C.db`: databases of several machines or jobs into one. */
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "cli/cmd.h"
#include "cli/output.h"
#include "cli/warn.h"
#include "core/json.h"
#include "db/merge.h"

static const nt_option rows[] = {
    {.name = "output",
     .letter = 'o',
     .kind = NT_OPTION_TEXT,
     .argument = "FILE",
     .help = "the new database; it must not exist yet"},
    {.name = NULL},
};

static nt_status check_output(const nt_args *args, const char *file, nt_error *err)
{
    (void)args;
    if (file == NULL) {
        nt_fail(err, NT_USAGE, "no --output is given");
        return nt_hint(err, "name the new database: nntune merge A.db B.db -o C.db");
    }
    if (access(file, F_OK) != 0)
        return NT_OK;
    nt_fail(err, NT_USAGE, "%s exists already", file);
    return nt_hint(err, "name a new file; to add to a database, merge it with the others into a new one");
}

static void print(const nt_args *args, const char *file, const nt_merge_report *all)
{
    if (!nt_args_flag(args, "json")) {
        printf("%s: %lld runs, %lld trials, %lld profiles\n", file, (long long)all->runs, (long long)all->trials,
               (long long)all->profiles);
        return;
    }
    json_t *document = nt_output_document("merge");
    json_object_set_new(document, "database", nt_json_text(file));
    json_object_set_new(document, "runs", json_integer(all->runs));
    json_object_set_new(document, "trials", json_integer(all->trials));
    json_object_set_new(document, "profiles", json_integer(all->profiles));
    json_object_set_new(document, "repeated", json_integer(all->repeated));
    nt_output_json(document);
}

static nt_status run(const nt_args *args, int *exit_code, nt_error *err)
{
    const char *file = nt_args_text(args, "output", NULL);
    nt_merge_report all = {0};
    (void)exit_code;
    nt_status status = check_output(args, file, err);
    if (status != NT_OK)
        return status;
    for (int i = 0; status == NT_OK && i < nt_args_positional_count(args); i++) {
        const char *from = nt_args_positional(args, i);
        nt_merge_report one;
        status = nt_db_merge(file, from, &one, err);
        all.runs += one.runs;
        all.trials += one.trials;
        all.profiles += one.profiles;
        all.repeated += one.repeated;
        if (status == NT_OK && one.repeated > 0)
            nt_warn(args, "merge-repeated", "%s: %lld runs stand in a database before it and were taken once", from,
                    (long long)one.repeated);
    }
    if (status == NT_OK)
        print(args, file, &all);
    else
        unlink(file); /* it did not exist before, and half a merge is none */
    return status;
}

const nt_command nt_command_merge = {
    .name = "merge",
    .group = "Exchange",
    .summary = "put several results databases into one",
    .usage = "FILE.db..",
    .example = "nntune merge node1.db node2.db -o all.db",
    .description =
        "Runs and trials are renumbered; devices, problems, kernels and configurations that are the same are "
        "one afterwards. A run that stands in several of the files is taken once. The files are only read.",
    .options = rows,
    .uses = NT_USES_JSON | NT_USES_WARNINGS,
    .least_positional = 1,
    .most_positional = 64,
    .run = run,
};
