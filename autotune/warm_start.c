/* warm_start.c: earlier results by group, the groups nearest to a problem, and their configurations by number. */
#include "autotune/warm_start.h"

#include <stdlib.h>
#include <string.h>

#include "core/json.h"
#include "core/mem.h"

enum { FEWEST = 6 }; /* results of a group that say something */

static bool same_group(const nt_warm_group *a, const nt_warm_group *b)
{
    return a->run == b->run && a->cache == b->cache && strcmp(a->device_uuid, b->device_uuid) == 0 &&
           nt_problem_equal(&a->problem, &b->problem);
}

static int group_of(nt_warm_start *warm, const nt_warm_group *of)
{
    for (size_t i = warm->group_count; i > 0; i--)
        if (same_group(&warm->group[i - 1], of))
            return (int)(i - 1);
    void *memory = warm->group;
    nt_grow(&memory, &warm->group_capacity, warm->group_count + 1, sizeof *warm->group);
    warm->group = memory;
    warm->group[warm->group_count] = *of;
    warm->group[warm->group_count].results = 0;
    return (int)warm->group_count++;
}

void nt_warm_start_add(nt_warm_start *warm, const nt_warm_group *of, const char *kernel, const char *params_json,
                       double time_ns)
{
    void *memory = warm->result;
    nt_grow(&memory, &warm->capacity, warm->count + 1, sizeof *warm->result);
    warm->result = memory;
    nt_warm_result *added = &warm->result[warm->count++];
    *added = (nt_warm_result){.group = group_of(warm, of), .params_json = nt_strdup(params_json), .time_ns = time_ns};
    nt_copy(added->kernel, sizeof added->kernel, kernel);
    warm->group[added->group].results++;
}

void nt_warm_start_done(nt_warm_start *warm)
{
    for (size_t i = 0; i < warm->count; i++)
        free(warm->result[i].params_json);
    free(warm->result);
    free(warm->group);
    *warm = (nt_warm_start){0};
}

/* ---- for one unit ------------------------------------------------------------------------------------------------ */

static int nearness(const nt_warm_group *group, const nt_warm_group *like)
{
    int points = 0;
    points += 16 * nt_shape_equal(&group->problem.shape, &like->problem.shape);
    points += 8 * (strcmp(group->device_uuid, like->device_uuid) == 0);
    points += 4 * (group->problem.precision == like->problem.precision);
    points += 2 * (group->problem.batch == like->problem.batch);
    return points + (group->cache == like->cache);
}

/* The nearest groups, at most NT_WARM_GROUPS. */
static int nearest(const nt_warm_start *warm, const nt_warm_group *like, int *group)
{
    int count = 0;
    for (int g = 0; g < (int)warm->group_count; g++) {
        if (warm->group[g].results < FEWEST || strcmp(warm->group[g].problem.layer, like->problem.layer) != 0)
            continue;
        int at = count < NT_WARM_GROUPS ? count++ : NT_WARM_GROUPS;
        /* later groups are newer: they go before equal ones */
        for (; at > 0 && nearness(&warm->group[group[at - 1]], like) <= nearness(&warm->group[g], like); at--)
            if (at < NT_WARM_GROUPS)
                group[at] = group[at - 1];
        if (at < NT_WARM_GROUPS)
            group[at] = g;
    }
    return count;
}

static bool locate(const nt_warm_result *result, const nt_space *const *space, int space_count, nt_candidate *out)
{
    for (int s = 0; s < space_count; s++) {
        const nt_kernel *kernel = nt_space_kernel(space[s]);
        json_t *params;
        nt_config config;
        nt_error ignored;
        if (strcmp(kernel->name, result->kernel) != 0 || nt_json_parse(result->params_json, &params, &ignored) != NT_OK)
            continue;
        bool known = nt_json_to_config(params, kernel->params, kernel->param_count, &config, &ignored) == NT_OK;
        json_decref(params);
        out->kernel = s;
        return known && nt_space_index(space[s], &config, &out->index);
    }
    return false;
}

size_t nt_warm_start_for(const nt_warm_start *warm, const nt_warm_group *like, const nt_space *const *space,
                         int space_count, nt_earlier **out)
{
    int group[NT_WARM_GROUPS], groups = nearest(warm, like, group);
    size_t count = 0;
    *out = nt_alloc_zero(warm->count, sizeof **out);
    for (size_t i = 0; i < warm->count; i++)
        for (int g = 0; g < groups; g++)
            if (warm->result[i].group == group[g] &&
                locate(&warm->result[i], space, space_count, &(*out)[count].candidate)) {
                (*out)[count].time_ns = warm->result[i].time_ns;
                (*out)[count++].run = group[g];
            }
    return count;
}
