#include "cli/compare_crossover.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "cli/present.h"
#include "cli/report_source.h"
#include "core/json.h"
#include "core/mem.h"
#include "reports/kinds.h"

enum { MOST_BATCHES = 64 };

/* The batches of one family, ascending. */
typedef struct ladder {
    const nt_side_row *of;
    int count;
    int64_t batch[MOST_BATCHES];
    double cpu_ns[MOST_BATCHES], gpu_ns[MOST_BATCHES], copies_ns[MOST_BATCHES];
} ladder;

void nt_duel_rates(nt_duel *duel, double given, nt_reader *reader)
{
    duel->to_device = duel->from_device = given > 0 ? given : (double)NAN;
    if (!(given > 0) && duel->count > 0)
        nt_copy_rates(reader, duel->row[0].gpu->device_uuid, &duel->to_device, &duel->from_device);
}

static bool is_family(const nt_side_row *a, const nt_side_row *b)
{
    nt_problem like = a->problem;
    like.batch = b->problem.batch;
    return a->cache == b->cache && nt_problem_equal(&like, &b->problem);
}

static void insert(ladder *l, const nt_duel *duel, const nt_duel_row *row)
{
    double in, out;
    int at = l->count++;
    nt_report_moved(&row->cpu->problem, &in, &out);
    for (; at > 0 && l->batch[at - 1] > row->cpu->problem.batch; at--) {
        l->batch[at] = l->batch[at - 1];
        l->cpu_ns[at] = l->cpu_ns[at - 1];
        l->gpu_ns[at] = l->gpu_ns[at - 1];
        l->copies_ns[at] = l->copies_ns[at - 1];
    }
    l->batch[at] = row->cpu->problem.batch;
    l->cpu_ns[at] = row->cpu_ns;
    l->gpu_ns[at] = row->gpu_ns;
    l->copies_ns[at] = 1e9 * (in / duel->to_device + out / duel->from_device);
}

/* The family of row `first`; false when an earlier row is of it or it has one batch alone. */
static bool gather(const nt_duel *duel, size_t first, ladder *out)
{
    *out = (ladder){.of = duel->row[first].cpu};
    for (size_t i = 0; i < duel->count; i++) {
        if (!is_family(out->of, duel->row[i].cpu))
            continue;
        if (i < first)
            return false;
        if (out->count < MOST_BATCHES)
            insert(out, duel, &duel->row[i]);
    }
    return out->count > 1;
}

static nt_crossover crossover(const ladder *l, bool copies)
{
    double gpu_ns[MOST_BATCHES];
    for (int i = 0; i < l->count; i++)
        gpu_ns[i] = l->gpu_ns[i] + (copies ? l->copies_ns[i] : 0);
    return nt_crossover_of(l->batch, l->cpu_ns, gpu_ns, l->count);
}

static void print_one(const ladder *l, bool copies)
{
    const char *how = copies ? "with copies" : "without copies";
    if (copies && isnan(l->copies_ns[0])) {
        printf("; with copies: unknown, --link gives their rate");
        return;
    }
    nt_crossover c = crossover(l, copies);
    if (!isnan(c.batch))
        printf("%s %s from batch %lld on (the lines cross at %.3g)", copies ? ";" : "", how, (long long)c.from_batch,
               c.batch);
    else
        printf("%s %s %s", copies ? ";" : "", how, c.always ? "at every batch" : "not at the largest batch");
}

void nt_duel_print(const nt_duel *duel)
{
    ladder l;
    for (size_t i = 0; i < duel->count; i++) {
        if (!gather(duel, i, &l))
            continue;
        nt_str shape = {0};
        nt_present_shape(&shape, l.of->problem.layer, &l.of->problem.shape);
        printf("%s %s %s: the GPU is faster", l.of->problem.layer, nt_str_text(&shape),
               nt_precisions[l.of->problem.precision].name);
        print_one(&l, false);
        print_one(&l, true);
        printf("\n");
        nt_str_done(&shape);
    }
}

static json_t *one_json(const ladder *l, bool copies)
{
    if (copies && isnan(l->copies_ns[0]))
        return json_null();
    nt_crossover c = crossover(l, copies);
    return json_pack("{s:b, s:o, s:o}", "at_every_batch", c.always, "from_batch",
                     isnan(c.batch) ? json_null() : json_integer((json_int_t)c.from_batch), "crossing_batch",
                     nt_json_real(c.batch));
}

json_t *nt_duel_json(const nt_duel *duel)
{
    json_t *list = json_array();
    ladder l;
    for (size_t i = 0; i < duel->count; i++) {
        if (!gather(duel, i, &l))
            continue;
        json_t *json = nt_json_problem(&l.of->problem);
        json_object_del(json, "batch");
        json_object_set_new(json, "cache", json_string(nt_cache_mode_name(l.of->cache)));
        json_object_set_new(json, "without_copies", one_json(&l, false));
        json_object_set_new(json, "with_copies", one_json(&l, true));
        json_array_append_new(list, json);
    }
    return list;
}
