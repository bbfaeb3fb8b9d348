/* kind_crossover.c: a cpu against a GPU over the batches of one layer: from which batch on the GPU is faster, with its
 * inputs and outputs where they are, and with copies between host and device counted. Both devices' times are measured;
 * the copies are bytes over a rate, which is measured by `nntune profile` or given, and the picture says which. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "core/units.h"
#include "reports/kinds.h"

typedef struct duel {
    const nt_result *r;
    const nt_result_group *of;     /* a problem that both solved; batches vary */
    int device[2];                 /* cpu, GPU */
    double to_device, from_device; /* bytes/s; NAN unknown */
    bool given;                    /* by the caller, not measured */
} duel;

/* ---- who against whom ------------------------------------------------------------------------------------------------ */

static bool is_ladder(const nt_result_group *a, const nt_result_group *b)
{
    return a->best >= 0 && a->cache == b->cache && a->problem.precision == b->problem.precision &&
           a->problem.layout == b->problem.layout && a->problem.fill == b->problem.fill &&
           strcmp(a->problem.layer, b->problem.layer) == 0 && nt_shape_equal(&a->problem.shape, &b->problem.shape);
}

static const nt_result_group *at_batch(const duel *d, int side, int64_t batch)
{
    for (size_t i = 0; i < d->r->groups; i++) {
        const nt_result_group *group = &d->r->group[i];
        if (group->device == d->device[side] && group->problem.batch == batch && is_ladder(group, d->of))
            return group;
    }
    return NULL;
}

/* The least batch above `above` that this side has, or with `side` 2 that both have; 0 for none. */
static int64_t next_batch(const duel *d, int side, int64_t above)
{
    int64_t least = 0;
    for (size_t i = 0; i < d->r->groups; i++) {
        const nt_result_group *group = &d->r->group[i];
        int64_t batch = group->problem.batch;
        if (!is_ladder(group, d->of) || batch <= above || (least > 0 && batch >= least))
            continue;
        if (side < 2 ? group->device == d->device[side]
                     : at_batch(d, 0, batch) != NULL && at_batch(d, 1, batch) != NULL)
            least = batch;
    }
    return least;
}

static int common_batches(const duel *d)
{
    int count = 0;
    for (int64_t batch = 0; (batch = next_batch(d, 2, batch)) > 0;)
        count++;
    return count;
}

/* The pair of devices and the ladder with the most batches in common; the earliest of equals. */
static bool choose(const nt_result *r, const nt_plot_options *options, duel *out)
{
    int most = 0;
    for (size_t i = 0; i < r->groups; i++) {
        const nt_result_group *group = &r->group[i];
        if (group->best < 0 || r->device[group->device].info.kind != NT_DEVICE_CPU ||
            (options->group >= 0 && !is_ladder(group, &r->group[options->group])))
            continue;
        for (size_t other = 0; other < r->devices; other++) {
            duel d = {.r = r, .of = group, .device = {group->device, (int)other}};
            if (r->device[other].info.kind != NT_DEVICE_CUDA ||
                (options->device >= 0 && options->device != (int)other && options->device != group->device))
                continue;
            int count = common_batches(&d);
            if (count > most) {
                most = count;
                *out = d;
            }
        }
    }
    return most > 0;
}

/* ---- copies ---------------------------------------------------------------------------------------------------------- */

static bool take_rate(void *context, const nt_row *row)
{
    if (row->count > 0 && row->cell[0].kind == NT_CELL_REAL)
        *(double *)context = row->cell[0].r;
    return false;
}

/* Pinned or not, as programs made them. */
static double measured_rate(nt_reader *reader, const char *uuid, const char *direction)
{
    double rate = NAN;
    nt_str sql = {0};
    nt_str_addf(&sql,
                "select 1e9 * sum(bytes) / nullif(sum(duration_ns), 0) from profile_work where kind = 'copy' and "
                "direction = '%s' and bytes >= 1048576 and device_uuid = '",
                direction);
    for (const char *c = uuid; *c != '\0'; c++)
        if (*c != '\'')
            nt_str_addf(&sql, "%c", *c);
    nt_str_add(&sql, "'");
    if (reader != NULL)
        reader->query(reader, nt_str_text(&sql), take_rate, &rate, NULL);
    nt_str_done(&sql);
    return rate;
}

void nt_copy_rates(nt_reader *reader, const char *device_uuid, double *to_device, double *from_device)
{
    *to_device = measured_rate(reader, device_uuid, "host to device");
    *from_device = measured_rate(reader, device_uuid, "device to host");
}

static void find_rates(duel *d, double given)
{
    d->given = given > 0;
    d->to_device = d->from_device = given;
    if (!d->given)
        nt_copy_rates(d->r->source.reader, d->r->device[d->device[1]].info.uuid, &d->to_device, &d->from_device);
}

static double copies_ns(const duel *d, const nt_problem *problem)
{
    double in = NAN, out = NAN;
    if (d->r->source.moved != NULL)
        d->r->source.moved(problem, &in, &out);
    return 1e9 * (in / d->to_device + out / d->from_device);
}

/* ---- the picture ----------------------------------------------------------------------------------------------------- */

static double time_ns(const duel *d, int side, int64_t batch, bool copies)
{
    const nt_result_group *group = at_batch(d, side, batch);
    double time = group != NULL ? d->r->trial[group->best].time_ns : (double)NAN;
    return copies ? time + copies_ns(d, &group->problem) : time;
}

static void add_side(nt_chart *chart, const duel *d, int side)
{
    nt_series *band = nt_chart_add(chart, NT_MARK_BAND, side, "%s", "");
    for (int64_t batch = 0; (batch = next_batch(d, side, batch)) > 0;) {
        const nt_result_trial *t = &d->r->trial[at_batch(d, side, batch)->best];
        nt_chart_range_add(chart, band, (double)batch, t->time_ns * 1e-6, t->lo_ns * 1e-6, t->hi_ns * 1e-6);
    }
    nt_series *line = nt_chart_add(chart, NT_MARK_LINE, side, "%s", d->r->device[d->device[side]].label);
    for (int64_t batch = 0; (batch = next_batch(d, side, batch)) > 0;)
        nt_chart_point_add(chart, line, (double)batch, time_ns(d, side, batch, false) * 1e-6);
}

static void add_copies(nt_chart *chart, const duel *d)
{
    nt_series *line = nt_chart_add(chart, NT_MARK_LINE, 2, "%.100s, with copies", d->r->device[d->device[1]].label);
    for (int64_t batch = 0; (batch = next_batch(d, 1, batch)) > 0;)
        nt_chart_point_add(chart, line, (double)batch, time_ns(d, 1, batch, true) * 1e-6);
}

nt_crossover nt_crossover_of(const int64_t *batch, const double *cpu_ns, const double *gpu_ns, int count)
{
    nt_crossover c = {.batch = NAN, .time_ns = NAN};
    int last = -1; /* where the cpu was last not slower */
    for (int i = 0; i < count; i++)
        if (!(gpu_ns[i] < cpu_ns[i]))
            last = i;
    if (last < 0 || last == count - 1) {
        c.always = count > 0 && last < 0;
        return c;
    }
    double before = log(gpu_ns[last] / cpu_ns[last]), after = log(gpu_ns[last + 1] / cpu_ns[last + 1]);
    double share = before / (before - after);
    c.from_batch = batch[last + 1];
    c.batch = (double)batch[last] * pow((double)batch[last + 1] / (double)batch[last], share);
    c.time_ns = cpu_ns[last] * pow(cpu_ns[last + 1] / cpu_ns[last], share);
    return c;
}

enum { MOST_BATCHES = 64 };

/* Marks where the GPU becomes faster, and says it. */
static void mark_crossing(nt_chart *chart, const duel *d, bool copies)
{
    int64_t batch[MOST_BATCHES];
    double cpu[MOST_BATCHES], gpu[MOST_BATCHES];
    int count = 0;
    const char *how = copies ? "With copies" : "Without copies";
    for (int64_t b = 0; count < MOST_BATCHES && (b = next_batch(d, 2, b)) > 0; count++) {
        batch[count] = b;
        cpu[count] = time_ns(d, 0, b, false);
        gpu[count] = time_ns(d, 1, b, copies);
    }
    nt_crossover c = nt_crossover_of(batch, cpu, gpu, count);
    if (isnan(c.batch)) {
        nt_str_addf(&chart->words, " %s, the GPU is %s that both measured.", how,
                    c.always ? "faster at every batch" : "not faster at the largest batch");
        return;
    }
    nt_series *mark = nt_chart_add(chart, NT_MARK_CHOSEN, copies ? 2 : 1, "crossover, %s: batch %.3g",
                                   copies ? "with copies" : "without copies", c.batch);
    nt_chart_point_add(chart, mark, c.batch, c.time_ns * 1e-6);
    nt_str_addf(&chart->words, " %s, the GPU is faster from batch %lld on; the lines cross at %.3g.", how,
                (long long)c.from_batch, c.batch);
}

static void note_rates(nt_chart *chart, const duel *d, bool known)
{
    if (!known)
        nt_copy(chart->note, sizeof chart->note,
                "copies are unknown: no profile of this GPU in the database, and no --link");
    else
        snprintf(chart->note, sizeof chart->note, "copies: inputs at %.3g GB/s and outputs at %.3g GB/s, %s",
                 d->to_device * 1e-9, d->from_device * 1e-9, d->given ? "as given" : "as measured by nntune profile");
    nt_str_addf(&chart->words, " Of %s.", chart->note);
}

static void titles(nt_chart *chart, const duel *d)
{
    nt_str text = {0};
    const nt_problem *p = &d->of->problem;
    if (d->r->source.shape != NULL)
        d->r->source.shape(&text, p->layer, &p->shape);
    else
        nt_shape_print(&text, &p->shape);
    nt_copy(chart->title, sizeof chart->title, "The cpu against the GPU: latency of a batch");
    snprintf(chart->subtitle, sizeof chart->subtitle, "%s %.90s %s %s, %s caches", p->layer, nt_str_text(&text),
             nt_precisions[p->precision].name, nt_layout_name(p->layout), nt_cache_mode_name(d->of->cache));
    nt_str_done(&text);
    nt_copy(chart->x.label, sizeof chart->x.label, "batch, images");
    nt_copy(chart->y.label, sizeof chart->y.label, "latency of a batch, ms");
    chart->x.log = chart->x.powers = chart->y.log = true;
}

nt_status nt_plot_crossover(const nt_result *r, const nt_plot_options *options, nt_chart *chart, nt_error *err)
{
    duel d;
    if (!choose(r, options, &d))
        return nt_plot_nothing(err, "no problem was solved on a cpu and on a GPU");
    find_rates(&d, options->link_bytes_per_s);
    titles(chart, &d);
    nt_str_addf(&chart->words, "Latency of %s on %s and on %s by batch.", chart->subtitle, r->device[d.device[0]].label,
                r->device[d.device[1]].label);
    bool known = !isnan(copies_ns(&d, &d.of->problem));
    add_side(chart, &d, 0);
    add_side(chart, &d, 1);
    mark_crossing(chart, &d, false);
    if (known) {
        add_copies(chart, &d);
        mark_crossing(chart, &d, true);
    }
    note_rates(chart, &d, known);
    return NT_OK;
}
