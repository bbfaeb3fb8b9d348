/* result.c: questions to the read model: who won, how fast that is, how near to the roof. */
#include "reports/result.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/json.h"
#include "core/mem.h"
#include "core/roofline.h"

bool nt_result_is_vendor(const char *kernel)
{
    static const char *const libraries[] = {"cudnn", "cublas", "onednn", "openblas"};
    for (size_t i = 0; i < sizeof libraries / sizeof libraries[0]; i++)
        if (strncmp(kernel, libraries[i], strlen(libraries[i])) == 0)
            return true;
    return false;
}

/* First places of the finals before what was measured once, newer finals before older ones, then the least time. */
static bool is_better(const nt_result *r, int candidate, int than)
{
    if (than < 0)
        return true;
    const nt_result_trial *a = &r->trial[candidate], *b = &r->trial[than];
    if ((a->rank == 1) != (b->rank == 1))
        return a->rank == 1;
    if (a->rank == 1 && a->run != b->run)
        return r->run[a->run].started_unix_s > r->run[b->run].started_unix_s;
    return a->time_ns < b->time_ns;
}

void nt_result_choose(nt_result *result)
{
    for (size_t i = 0; i < result->trials; i++) {
        const nt_result_trial *t = &result->trial[i];
        nt_result_group *group = &result->group[t->group];
        if (t->outcome != NT_OUTCOME_OK)
            continue;
        if (is_better(result, (int)i, group->best))
            group->best = (int)i;
        if (t->rule[0] != '\0' && (group->rule < 0 || t->time_ns < result->trial[group->rule].time_ns))
            group->rule = (int)i;
        if (nt_result_is_vendor(t->kernel) && (group->vendor < 0 || t->time_ns < result->trial[group->vendor].time_ns))
            group->vendor = (int)i;
    }
}

/* Trials are in the order of their numbers. */
void nt_result_mark_best(nt_result *result, int64_t id)
{
    size_t low = 0, high = result->trials;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (result->trial[middle].id < id)
            low = middle + 1;
        else
            high = middle;
    }
    if (low < result->trials && result->trial[low].id == id && result->trial[low].outcome == NT_OUTCOME_OK)
        result->group[result->trial[low].group].best = (int)low;
}

void nt_result_done(nt_result *result)
{
    nt_pool_done(&result->pool);
    free(result->device);
    free(result->run);
    free(result->group);
    free(result->trial);
    *result = (nt_result){0};
}

void nt_result_params(nt_str *out, const char *params_json)
{
    json_t *params, *value;
    const char *key;
    bool first = true;
    if (nt_json_parse(params_json, &params, NULL) != NT_OK)
        return;
    json_object_foreach (params, key, value) {
        char *text = json_is_string(value) ? nt_strdup(json_string_value(value)) : json_dumps(value, JSON_ENCODE_ANY);
        nt_str_addf(out, "%s%s=%s", first ? "" : " ", key, text != NULL ? text : "?");
        free(text);
        first = false;
    }
    json_decref(params);
}

double nt_result_flops(const nt_result_group *group, double time_ns)
{
    return group->flop / (time_ns * 1e-9);
}

double nt_result_roof_pct(const nt_result *result, const nt_result_group *group, double time_ns)
{
    nt_roof_work work = {.flop = group->flop, .bytes = group->bytes, .flop_measured = NAN, .bytes_measured = NAN};
    return nt_roofline_of(&result->device[group->device].info, group->problem.precision, NAN, time_ns, &work)
        .counted.roof_pct;
}
