#include "cli/run_objective.h"

#include <math.h>
#include <stdlib.h>

#include "cli/row.h"
#include "core/json.h"
#include "core/mem.h"

typedef struct nt_run_objective {
    int64_t run;
    nt_objective *objective;
} nt_run_objective;

static bool take(void *context, const nt_row *row)
{
    nt_run_objectives *all = context;
    json_t *run = nt_row_run_json(row);
    const char *text = nt_json_get_text(json_object_get(run, "options"), "objective");
    nt_run_objective found = {.run = nt_row_int(row, "run")};
    nt_error ignored; /* a later version's objective that this one cannot read is not shown */
    if (text != NULL && nt_objective_parse(text, &found.objective, &ignored) == NT_OK) {
        void *memory = all->item;
        nt_grow(&memory, &all->capacity, all->count + 1, sizeof *all->item);
        all->item = memory;
        all->item[all->count++] = found;
    }
    json_decref(run);
    return true;
}

nt_status nt_run_objectives_read(nt_reader *reader, nt_run_objectives *out, nt_error *err)
{
    *out = (nt_run_objectives){0};
    return reader->runs(reader, take, out, err);
}

void nt_run_objectives_done(nt_run_objectives *objectives)
{
    for (size_t i = 0; i < objectives->count; i++)
        nt_objective_free(objectives->item[i].objective);
    free(objectives->item);
    *objectives = (nt_run_objectives){0};
}

static double metric_of_row(void *context, const char *name)
{
    return nt_row_real(context, name);
}

const char *nt_run_objective_of(const nt_run_objectives *objectives, const nt_row *row, double *value)
{
    int64_t run = nt_row_int(row, "run");
    nt_row copy = *row;
    for (size_t i = 0; i < objectives->count; i++)
        if (objectives->item[i].run == run) {
            *value = nt_objective_value(objectives->item[i].objective, metric_of_row, &copy);
            return nt_objective_text(objectives->item[i].objective);
        }
    return NULL;
}
