/* replay_earlier.c: configurations of one recorded space as those of another. */
#include "autotune/replay_earlier.h"

#include <stdlib.h>

#include "core/mem.h"

void nt_earlier_list_done(nt_earlier_list *list)
{
    free(list->item);
    *list = (nt_earlier_list){0};
}

/* From the places in one list of values to those in another. */
typedef struct translation {
    const nt_kernel *to;
    int count;                /* parameters of `from` */
    int param[NT_MAX_PARAMS]; /* of `to` */
    int *place[NT_MAX_PARAMS];
} translation;

static int place_of(const nt_param *param, nt_value value)
{
    for (int v = 0; v < param->count; v++)
        if (nt_value_equal(nt_param_value(param, v), value))
            return v;
    return -1;
}

/* False: the kernels have other parameters. */
static bool translate_params(const nt_kernel *from, const nt_kernel *to, translation *out)
{
    *out = (translation){.to = to};
    if (from->param_count != to->param_count)
        return false;
    for (int p = 0; p < from->param_count; p++) {
        const nt_param *param = &from->params[p];
        int at = nt_param_find(to->params, to->param_count, param->name);
        if (at < 0)
            return false;
        out->param[p] = at;
        out->place[p] = nt_alloc_zero((size_t)param->count, sizeof(int));
        out->count++;
        for (int v = 0; v < param->count; v++)
            out->place[p][v] = place_of(&to->params[at], nt_param_value(param, v));
    }
    return true;
}

static void translation_done(translation *t)
{
    for (int p = 0; p < t->count; p++)
        free(t->place[p]);
}

static bool translate(const translation *t, const nt_config *from, nt_config *to)
{
    to->count = from->count;
    for (int p = 0; p < from->count; p++) {
        int place = t->place[p][from->index[p]];
        if (place < 0)
            return false;
        to->index[t->param[p]] = (uint16_t)place;
    }
    return true;
}

static void add_row(nt_earlier_list *list, const nt_recorded *from, const nt_recorded *to, const translation *t,
                    uint64_t index)
{
    nt_config config, same;
    nt_candidate candidate = {0};
    nt_space_config(from->space, index, &config);
    if (!translate(t, &config, &same) || !nt_space_index(to->space, &same, &candidate.index))
        return;
    void *memory = list->item;
    nt_grow(&memory, &list->capacity, list->count + 1, sizeof *list->item);
    list->item = memory;
    list->item[list->count++] =
        (nt_earlier){.candidate = candidate, .time_ns = from->row[index].time_ms * 1e6, .run = list->runs};
}

size_t nt_earlier_list_add(nt_earlier_list *list, const nt_recorded *from, const nt_recorded *to,
                           const nt_replay_run *replayed)
{
    translation t;
    size_t before = list->count, rows = replayed != NULL ? replayed->count : from->row_count;
    bool same = translate_params(&from->kernel, &to->kernel, &t);
    for (size_t i = 0; i < rows && same; i++)
        add_row(list, from, to, &t, replayed != NULL ? replayed->evaluation[i].index : i);
    translation_done(&t);
    list->runs++;
    return list->count - before;
}
