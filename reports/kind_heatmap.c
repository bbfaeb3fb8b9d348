/* kind_heatmap.c: two parameters of a kernel; each cell is the best time over all values of the others.
 *
 * Without a choice, the two parameters are those whose values differ most in the best time that they allow. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/json.h"
#include "core/mem.h"
#include "core/units.h"
#include "reports/kinds.h"

enum { MOST_PARAMS = NT_MAX_PARAMS, MOST_VALUES = 48, LABELLED_X = 12, LABELLED_Y = 14 };

/* A parameter and the values that trials took. */
typedef struct parameter {
    const char *name; /* lives with the first trial's JSON */
    const char *value[MOST_VALUES];
    double best_ns[MOST_VALUES];
    int count;
    bool cut; /* it had more values */
} parameter;

typedef struct map {
    nt_pool pool;
    parameter param[MOST_PARAMS];
    int params;
    const char *kernel;
    const nt_result_trial **trial;
    json_t **values; /* of each trial */
    size_t count, trial_capacity, values_capacity;
} map;

static const char *value_text(nt_pool *pool, const json_t *value)
{
    char *text = json_is_string(value) ? nt_strdup(json_string_value(value)) : json_dumps(value, JSON_ENCODE_ANY);
    const char *kept = nt_pool_text(pool, text);
    free(text);
    return kept;
}

static parameter *param_of(map *m, const char *name)
{
    for (int i = 0; i < m->params; i++)
        if (strcmp(m->param[i].name, name) == 0)
            return &m->param[i];
    if (m->params == MOST_PARAMS)
        return NULL;
    m->param[m->params] = (parameter){.name = nt_pool_text(&m->pool, name)};
    return &m->param[m->params++];
}

static int place_of(parameter *p, const char *value)
{
    for (int i = 0; i < p->count; i++)
        if (p->value[i] == value)
            return i;
    if (p->count == MOST_VALUES) {
        p->cut = true;
        return -1;
    }
    p->value[p->count] = value;
    p->best_ns[p->count] = NAN;
    return p->count++;
}

static void take(map *m, const nt_result_trial *trial)
{
    json_t *params, *value;
    const char *key;
    if (nt_json_parse(trial->params, &params, NULL) != NT_OK)
        return;
    nt_grow((void **)&m->trial, &m->trial_capacity, m->count + 1, sizeof *m->trial);
    nt_grow((void **)&m->values, &m->values_capacity, m->count + 1, sizeof *m->values);
    m->trial[m->count] = trial;
    m->values[m->count++] = params;
    json_object_foreach (params, key, value) {
        parameter *p = param_of(m, key);
        int at = p != NULL ? place_of(p, value_text(&m->pool, value)) : -1;
        if (at >= 0)
            p->best_ns[at] = fmin(p->best_ns[at], trial->time_ns);
    }
}

static void map_done(map *m)
{
    for (size_t i = 0; i < m->count; i++)
        json_decref(m->values[i]);
    free(m->values);
    free(m->trial);
    nt_pool_done(&m->pool);
}

/* ---- which parameters -------------------------------------------------------------------------------------------- */

/* How much worse the worst value of a parameter is than its best, each with the others at their best. */
static double influence(const parameter *p)
{
    double least = HUGE_VAL, most = 0;
    for (int i = 0; i < p->count; i++) {
        least = fmin(least, p->best_ns[i]);
        most = fmax(most, p->best_ns[i]);
    }
    return p->count < 2 ? 0 : most / least;
}

static int most_influential(const map *m, int but)
{
    int found = -1;
    for (int i = 0; i < m->params; i++)
        if (i != but && influence(&m->param[i]) > 0 &&
            (found < 0 || influence(&m->param[i]) > influence(&m->param[found])))
            found = i;
    return found;
}

static nt_status named(const map *m, const char *name, int *out, nt_error *err)
{
    nt_str all = {0};
    *out = -1;
    for (int i = 0; i < m->params; i++) {
        if (strcmp(m->param[i].name, name) == 0)
            *out = i;
        nt_str_addf(&all, "%s%s", i > 0 ? ", " : "", m->param[i].name);
    }
    nt_status status = NT_OK;
    if (*out < 0) {
        nt_fail(err, NT_USAGE, "kernel '%s' has no parameter '%s'", m->kernel, name);
        status = nt_hint(err, "parameters: %s", nt_str_text(&all));
    }
    nt_str_done(&all);
    return status;
}

static nt_status choose(const map *m, const nt_plot_options *options, int *x, int *y, nt_error *err)
{
    nt_status status = NT_OK;
    *x = *y = -1;
    if (options->x != NULL)
        status = named(m, options->x, x, err);
    if (status == NT_OK && options->y != NULL)
        status = named(m, options->y, y, err);
    if (status != NT_OK)
        return status;
    if (*x >= 0 && *x == *y)
        return nt_fail(err, NT_USAGE, "the two parameters of a heat map must differ, '%s' was given twice", options->x);
    if (*x < 0)
        *x = most_influential(m, *y);
    if (*y < 0)
        *y = most_influential(m, *x);
    if (*x < 0 || *y < 0)
        return nt_plot_nothing(err, "kernel '%s' has results for one value of each parameter, or of all but one",
                               m->kernel);
    return NT_OK;
}

/* ---- the chart --------------------------------------------------------------------------------------------------- */

static int by_number_then_text(const void *a, const void *b)
{
    const char *left = *(const char *const *)a, *right = *(const char *const *)b;
    double l, r;
    if (nt_parse_double(left, &l) && nt_parse_double(right, &r))
        return l < r ? -1 : l > r;
    return strcmp(left, right);
}

static void add_categories(nt_axis *axis, const parameter *p)
{
    const char *sorted[MOST_VALUES];
    memcpy(sorted, p->value, (size_t)p->count * sizeof *sorted);
    qsort(sorted, (size_t)p->count, sizeof *sorted, by_number_then_text);
    for (int i = 0; i < p->count; i++)
        nt_axis_category(axis, sorted[i]);
    nt_copy(axis->label, sizeof axis->label, p->name);
}

/* Category of a trial's value, -1 where it has none. */
static int category_of(map *m, size_t trial, const nt_axis *axis)
{
    const json_t *value = json_object_get(m->values[trial], axis->label);
    const char *text = value != NULL ? value_text(&m->pool, value) : "";
    for (size_t i = 0; i < axis->categories; i++)
        if (strcmp(axis->category[i], text) == 0)
            return (int)i;
    return -1;
}

static void add_cells(nt_chart *chart, map *m, double unit_ns)
{
    double best[MOST_VALUES][MOST_VALUES];
    bool labelled = chart->x.categories <= LABELLED_X && chart->y.categories <= LABELLED_Y;
    nt_series *cells = nt_chart_add(chart, NT_MARK_CELLS, 0, "%s", "");
    for (size_t y = 0; y < MOST_VALUES; y++)
        for (size_t x = 0; x < MOST_VALUES; x++)
            best[y][x] = NAN;
    for (size_t i = 0; i < m->count; i++) {
        int x = category_of(m, i, &chart->x), y = category_of(m, i, &chart->y);
        if (x >= 0 && y >= 0)
            best[y][x] = fmin(best[y][x], m->trial[i]->time_ns);
    }
    for (size_t y = 0; y < chart->y.categories; y++)
        for (size_t x = 0; x < chart->x.categories; x++) {
            char text[32];
            double value = best[y][x] / unit_ns;
            snprintf(text, sizeof text, value >= 1000 ? "%.0f" : "%.3g", value);
            if (!isnan(value))
                nt_chart_label_add(chart, cells, (double)x, (double)y, value, labelled ? text : "");
        }
}

static void mark_best(nt_chart *chart, map *m, const nt_result_trial *best)
{
    for (size_t i = 0; i < m->count; i++) {
        int x = category_of(m, i, &chart->x), y = category_of(m, i, &chart->y);
        if (m->trial[i] != best || x < 0 || y < 0)
            continue;
        nt_series *chosen = nt_chart_add(chart, NT_MARK_CHOSEN, 7, "best: %s (trial %lld)",
                                         nt_text_time_ns(best->time_ns).s, (long long)best->id);
        nt_chart_point_add(chart, chosen, x, y);
    }
}

static void describe(nt_chart *chart, const map *m, const parameter *x, const parameter *y, const nt_result_trial *best)
{
    nt_str params = {0};
    nt_result_params(&params, best->params);
    nt_str_addf(&chart->words,
                "Best time for each pair of %s (%d values, best times apart by a factor of %.3g) and %s (%d values, "
                "factor %.3g) of kernel %s, over %zu ok trials. The best, %s, has %s.",
                x->name, x->count, influence(x), y->name, y->count, influence(y), m->kernel, m->count,
                nt_text_time_ns(best->time_ns).s, nt_str_text(&params));
    nt_str_done(&params);
}

static const nt_result_trial *fastest(const map *m, const nt_result_trial *winner)
{
    const nt_result_trial *best = winner;
    for (size_t i = 0; i < m->count; i++) {
        if (i == 0)
            best = m->trial[0];
        if (m->trial[i] == winner)
            return winner;
        if (m->trial[i]->time_ns < best->time_ns)
            best = m->trial[i];
    }
    return best;
}

nt_status nt_plot_heatmap(const nt_result *result, const nt_plot_options *options, nt_chart *chart, nt_error *err)
{
    const nt_result_group *group = nt_plot_group(result, options);
    char title[192];
    int x = -1, y = -1;
    if (group == NULL || group->best < 0)
        return nt_plot_nothing(err, "there is no ok trial");
    const nt_result_trial *winner = &result->trial[group->best];
    map m = {.kernel = winner->kernel};
    for (size_t i = 0; i < result->trials; i++)
        if (&result->group[result->trial[i].group] == group && result->trial[i].kernel == winner->kernel &&
            result->trial[i].outcome == NT_OUTCOME_OK)
            take(&m, &result->trial[i]);
    nt_status status =
        m.count > 0 ? choose(&m, options, &x, &y, err) : nt_plot_nothing(err, "no parameters are stored");
    if (status == NT_OK && x >= 0 && y >= 0) {
        const nt_result_trial *best = fastest(&m, winner);
        nt_time_unit unit = nt_time_unit_of(best->time_ns);
        snprintf(title, sizeof title, "Best time in %s by %s and %s of kernel %s", unit.name, m.param[x].name,
                 m.param[y].name, m.kernel);
        nt_plot_titles(chart, result, group, title);
        snprintf(chart->key_label, sizeof chart->key_label, "%s", unit.name);
        add_categories(&chart->x, &m.param[x]);
        add_categories(&chart->y, &m.param[y]);
        add_cells(chart, &m, unit.ns);
        mark_best(chart, &m, best);
        if (m.param[x].cut || m.param[y].cut)
            snprintf(chart->note, sizeof chart->note, "the first %d values of a parameter; it has more", MOST_VALUES);
        describe(chart, &m, &m.param[x], &m.param[y], best);
    }
    map_done(&m);
    return status;
}
