/* cmd_compare.c: `nntune compare A B`: problem by problem, with intervals and verdicts; exit code 5 on a regression. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/cmd.h"
#include "cli/color.h"
#include "cli/compare_crossover.h"
#include "cli/compare_recorded.h"
#include "cli/compare_side.h"
#include "cli/output.h"
#include "cli/present.h"
#include "cli/table.h"
#include "core/json.h"
#include "core/mem.h"
#include "core/stats.h"

static const nt_option rows[] = {
    {.name = "threshold",
     .kind = NT_OPTION_REAL,
     .argument = "PCT",
     .min_real = 0,
     .max_real = 1000,
     .help = "differences up to this do not matter; beyond it a slower B is a regression (default 1)"},
    {.name = "price",
     .kind = NT_OPTION_TEXT,
     .argument = "A,B",
     .help = "price of each side, in any one currency: adds the ratio of speed per price"},
    {.name = "link",
     .kind = NT_OPTION_REAL,
     .argument = "GB/S",
     .min_real = 1e-6,
     .max_real = 1e6,
     .help = "cpu against GPU: rate of copies between host and device (default as 'nntune profile' measured it)"},
    {.name = NULL},
};

typedef struct comparison {
    const nt_args *args;
    nt_side side[2];
    nt_comparison *row;
    const nt_side_row **of[2]; /* rows of the sides; NULL where one has none */
    size_t count, common;
    double threshold;
    nt_compare_noise noise;
    double price[2]; /* NAN without */
} comparison;

/* ---- putting together ------------------------------------------------------------------------------------------------ */

static const nt_side_row *partner(const nt_side *side, const nt_side_row *row)
{
    for (size_t i = 0; i < side->count; i++)
        if (side->row[i].cache == row->cache && nt_problem_equal(&side->row[i].problem, &row->problem))
            return &side->row[i];
    return NULL;
}

static void add(comparison *c, const nt_side_row *a, const nt_side_row *b)
{
    c->of[0][c->count] = a;
    c->of[1][c->count] = b;
    c->row[c->count] = (nt_comparison){.a = a != NULL ? a->side : (nt_compare_side){0},
                                       .b = b != NULL ? b->side : (nt_compare_side){0}};
    c->common += a != NULL && b != NULL;
    c->count++;
}

static nt_status pair_up(comparison *c, nt_error *err)
{
    size_t most = c->side[0].count + c->side[1].count;
    c->row = nt_alloc_zero(most, sizeof *c->row);
    c->of[0] = nt_alloc_zero(most, sizeof *c->of[0]);
    c->of[1] = nt_alloc_zero(most, sizeof *c->of[1]);
    for (size_t i = 0; i < c->side[0].count; i++)
        add(c, &c->side[0].row[i], partner(&c->side[1], &c->side[0].row[i]));
    for (size_t i = 0; i < c->side[1].count; i++)
        if (partner(&c->side[0], &c->side[1].row[i]) == NULL)
            add(c, NULL, &c->side[1].row[i]);
    if (c->common > 0)
        return NT_OK;
    nt_fail(err, NT_NOT_FOUND, "'%s' and '%s' have no problem in common", c->side[0].word, c->side[1].word);
    return nt_hint(
        err, "a problem is layer, shape, batch, precision, layout, fill and cache mode; 'nntune best' lists them");
}

/* ---- summaries ------------------------------------------------------------------------------------------------------- */

/* Rows of one layer and precision; `done` marks those counted. */
static double group_mean(const comparison *c, size_t first, bool *done, size_t *members)
{
    nt_comparison *some = nt_alloc(c->count * sizeof *some);
    const nt_problem *like = &(c->of[0][first] != NULL ? c->of[0][first] : c->of[1][first])->problem;
    size_t n = 0;
    *members = 0;
    for (size_t i = first; i < c->count; i++) {
        const nt_problem *p = &(c->of[0][i] != NULL ? c->of[0][i] : c->of[1][i])->problem;
        if (done[i] || p->precision != like->precision || strcmp(p->layer, like->layer) != 0)
            continue;
        done[i] = true;
        some[n++] = c->row[i];
        *members += !isnan(c->row[i].ratio);
    }
    double mean = nt_compare_mean(some, n);
    free(some);
    return mean;
}

/* What B loses with A's winners, in the geometric mean, where B measured them. NAN when it did not. */
static double carried_over(comparison *c, size_t *known)
{
    double *loss = nt_alloc(c->count * sizeof *loss);
    *known = 0;
    for (size_t i = 0; i < c->count; i++) {
        const nt_side_row *a = c->of[0][i], *b = c->of[1][i];
        if (a == NULL || b == NULL || !a->side.present || !b->side.present ||
            strcmp(a->device_uuid, b->device_uuid) == 0)
            continue;
        double time_ns = nt_side_time_of(&c->side[1], b, a->kernel, a->params_json);
        if (!isnan(time_ns))
            loss[(*known)++] = fmax(1, time_ns / c->row[i].b_ns);
    }
    double mean = nt_geomean(loss, *known);
    free(loss);
    return mean;
}

/* Problems that a cpu solved on one side and a GPU on the other; free the list. */
static nt_duel duel_of(const comparison *c, nt_duel_row **list)
{
    nt_duel duel = {0};
    int gpu = 0;
    *list = nt_alloc_zero(c->count, sizeof **list);
    for (size_t i = 0; i < c->count; i++) {
        const nt_side_row *a = c->of[0][i], *b = c->of[1][i];
        if (a == NULL || b == NULL || !a->side.present || !b->side.present || a->on_gpu == b->on_gpu)
            continue;
        gpu = b->on_gpu;
        (*list)[duel.count++] =
            (nt_duel_row){a->on_gpu ? b : a, a->on_gpu ? a : b, a->on_gpu ? c->row[i].b_ns : c->row[i].a_ns,
                          a->on_gpu ? c->row[i].a_ns : c->row[i].b_ns};
    }
    duel.row = *list;
    nt_duel_rates(&duel, nt_args_real(c->args, "link", 0) * 1e9, c->side[gpu].reader);
    return duel;
}

static double per_watt(const comparison *c, size_t i)
{
    const nt_side_row *a = c->of[0][i], *b = c->of[1][i];
    return a != NULL && b != NULL ? 1 / c->row[i].ratio * a->power_mw / b->power_mw : (double)NAN;
}

/* ---- showing --------------------------------------------------------------------------------------------------------- */

static void add_line(const comparison *c, size_t i, nt_table *table)
{
    const nt_comparison *row = &c->row[i];
    const nt_side_row *any = c->of[0][i] != NULL ? c->of[0][i] : c->of[1][i];
    nt_str text = {0};
    nt_present_problem(&text, &any->problem, any->cache);
    nt_table_cell(table, "%s", nt_str_text(&text));
    nt_str_done(&text);
    nt_table_cell(table, "%s", nt_text_time_ns(row->a_ns).s);
    nt_table_cell(table, "%s", nt_text_time_ns(row->b_ns).s);
    if (isnan(row->ratio)) {
        nt_table_cell(table, "-");
        nt_table_cell(table, "-");
    } else {
        nt_table_cell(table, "%.3f", row->ratio);
        nt_table_cell(table, "%.3f..%.3f", row->lo, row->hi);
    }
    nt_table_cell(table, "%s", nt_text_pct(c->of[0][i] != NULL ? c->of[0][i]->roof_pct : (double)NAN).s);
    nt_table_cell(table, "%s", nt_text_pct(c->of[1][i] != NULL ? c->of[1][i]->roof_pct : (double)NAN).s);
    nt_table_cell(table, "%s", nt_verdict_name(row->verdict));
    nt_table_cell(table, "%s", row->reason);
}

static void print_means(comparison *c)
{
    bool *done = nt_alloc_zero(c->count, sizeof *done);
    size_t members, known;
    for (size_t i = 0; i < c->count; i++) {
        if (done[i])
            continue;
        double mean = group_mean(c, i, done, &members);
        const nt_problem *p = &(c->of[0][i] != NULL ? c->of[0][i] : c->of[1][i])->problem;
        if (members > 0)
            printf("%s %s: B takes %.3f times A's time in the geometric mean of %zu\n", p->layer,
                   nt_precisions[p->precision].name, mean, members);
    }
    free(done);
    double loss = carried_over(c, &known);
    if (known > 0)
        printf("with A's best configurations B loses %.1f %% in the geometric mean of the %zu that it measured\n",
               100 * (loss - 1), known);
    nt_duel_row *duels;
    nt_duel duel = duel_of(c, &duels);
    nt_duel_print(&duel);
    free(duels);
    double all = nt_compare_mean(c->row, c->count);
    if (!isnan(c->price[0]))
        printf("speed per price: B has %.3f times A's\n", 1 / all * c->price[0] / c->price[1]);
}

static void print_text(comparison *c)
{
    size_t count[NT_VERDICT_COUNT] = {0};
    nt_table *table = nt_table_new("problem|>A|>B|>B/A|>interval|>A of roof|>B of roof|verdict|why");
    for (size_t i = 0; i < c->count; i++) {
        add_line(c, i, table);
        count[c->row[i].verdict]++;
    }
    printf("A: %s (%s)\nB: %s (%s)\n\n", c->side[0].word, c->side[0].name, c->side[1].word, c->side[1].name);
    nt_table_print(table, stdout, nt_color_wanted(c->args, stdout));
    nt_table_free(table);
    printf("\n");
    for (int v = 0; v < NT_VERDICT_COUNT; v++)
        if (count[v] > 0)
            printf("%zu %s\n", count[v], nt_verdict_name((nt_verdict)v));
    printf("threshold %.3g %%, noise between blocks %.2f %%\n", c->threshold * 100, c->noise.block_rel * 100);
    if (!isnan(c->noise.drift_rel))
        printf("half of the problems moved by more than %+.2f %%: %s\n", c->noise.drift_rel * 100,
               c->noise.drift_taken ? "within the threshold, so verdicts are about what lies beyond it"
                                    : "beyond the threshold, so it counts");
    print_means(c);
}

static json_t *row_json(const comparison *c, size_t i)
{
    const nt_comparison *row = &c->row[i];
    const nt_side_row *a = c->of[0][i], *b = c->of[1][i];
    json_t *json = nt_json_problem(&(a != NULL ? a : b)->problem);
    json_object_set_new(json, "cache", json_string(nt_cache_mode_name((a != NULL ? a : b)->cache)));
    json_object_set_new(json, "a_ns", nt_json_real(row->a_ns));
    json_object_set_new(json, "b_ns", nt_json_real(row->b_ns));
    json_object_set_new(json, "ratio", nt_json_real(row->ratio));
    json_object_set_new(json, "ratio_lo", nt_json_real(row->lo));
    json_object_set_new(json, "ratio_hi", nt_json_real(row->hi));
    json_object_set_new(json, "verdict", json_string(nt_verdict_name(row->verdict)));
    json_object_set_new(json, "reason", json_string(row->reason));
    json_object_set_new(json, "a_kernel", nt_json_text(a != NULL ? a->kernel : NULL));
    json_object_set_new(json, "b_kernel", nt_json_text(b != NULL ? b->kernel : NULL));
    json_object_set_new(json, "a_roof_pct", nt_json_real(a != NULL ? a->roof_pct : (double)NAN));
    json_object_set_new(json, "b_roof_pct", nt_json_real(b != NULL ? b->roof_pct : (double)NAN));
    json_object_set_new(json, "speed_per_watt_ratio", nt_json_real(per_watt(c, i)));
    return json;
}

static json_t *means_json(const comparison *c)
{
    json_t *means = json_array();
    bool *done = nt_alloc_zero(c->count, sizeof *done);
    for (size_t i = 0; i < c->count; i++) {
        size_t members;
        if (done[i])
            continue;
        double mean = group_mean(c, i, done, &members);
        const nt_problem *p = &(c->of[0][i] != NULL ? c->of[0][i] : c->of[1][i])->problem;
        json_array_append_new(means, json_pack("{ss ss so sI}", "layer", p->layer, "precision",
                                               nt_precisions[p->precision].name, "ratio", nt_json_real(mean),
                                               "problems", (json_int_t)members));
    }
    free(done);
    return means;
}

static void print_json(comparison *c)
{
    size_t known;
    double loss = carried_over(c, &known);
    json_t *document = nt_output_document("comparison"), *list = json_array();
    json_object_set_new(document, "a", json_string(c->side[0].word));
    json_object_set_new(document, "b", json_string(c->side[1].word));
    json_object_set_new(document, "threshold_pct", json_real(c->threshold * 100));
    json_object_set_new(document, "noise_pct", json_real(c->noise.block_rel * 100));
    json_object_set_new(document, "drift_pct", nt_json_real(c->noise.drift_rel * 100));
    json_object_set_new(document, "drift_left_aside", json_boolean(c->noise.drift_taken));
    for (size_t i = 0; i < c->count; i++)
        json_array_append_new(list, row_json(c, i));
    json_object_set_new(document, "problems", list);
    json_object_set_new(document, "means", means_json(c));
    json_object_set_new(document, "loss_with_best_of_a_pct", nt_json_real(100 * (loss - 1)));
    json_object_set_new(document, "loss_problems", json_integer((json_int_t)known));
    nt_duel_row *duels;
    nt_duel duel = duel_of(c, &duels);
    json_object_set_new(document, "crossovers", nt_duel_json(&duel));
    free(duels);
    if (!isnan(c->price[0]))
        json_object_set_new(document, "speed_per_price_ratio",
                            nt_json_real(1 / nt_compare_mean(c->row, c->count) * c->price[0] / c->price[1]));
    nt_output_json(document);
}

/* ---- the command ----------------------------------------------------------------------------------------------------- */

static nt_status read_price(const nt_args *args, double price[2], nt_error *err)
{
    const char *text = nt_args_text(args, "price", NULL), *comma = text != NULL ? strchr(text, ',') : NULL;
    price[0] = price[1] = NAN;
    if (text == NULL)
        return NT_OK;
    char *first = nt_strndup(text, comma != NULL ? (size_t)(comma - text) : strlen(text));
    bool ok = comma != NULL && nt_parse_double(first, &price[0]) && nt_parse_double(comma + 1, &price[1]) &&
              price[0] > 0 && price[1] > 0;
    free(first);
    return ok ? NT_OK : nt_fail(err, NT_USAGE, "--price '%s' is not two positive numbers: --price 2.5,4", text);
}

static nt_status judge(const comparison *c, nt_error *err)
{
    size_t slower = 0, failed = 0;
    for (size_t i = 0; i < c->count; i++) {
        slower += c->row[i].verdict == NT_VERDICT_SLOWER;
        failed += c->row[i].verdict == NT_VERDICT_FAILED && c->row[i].b.failed;
    }
    if (slower + failed == 0)
        return NT_OK;
    return nt_fail(err, NT_REGRESSION,
                   "of %zu problems %zu are slower on the B side by more than %.3g %% and %zu fail there", c->common,
                   slower, c->threshold * 100, failed);
}

static nt_status compare_sides(const nt_args *args, nt_error *err)
{
    comparison c = {.args = args, .threshold = nt_args_real(args, "threshold", 1) / 100};
    nt_status status = read_price(args, c.price, err);
    if (status == NT_OK)
        status = nt_sides_read(args, nt_args_positional(args, 0), nt_args_positional(args, 1), c.side, err);
    if (status == NT_OK)
        status = pair_up(&c, err);
    if (status == NT_OK) {
        c.noise = nt_compare(c.row, c.count, c.threshold);
        if (nt_args_flag(args, "json"))
            print_json(&c);
        else
            print_text(&c);
        status = judge(&c, err);
    }
    free(c.row);
    free(c.of[0]);
    free(c.of[1]);
    nt_side_done(&c.side[0]);
    nt_side_done(&c.side[1]);
    return status;
}

static nt_status run(const nt_args *args, int *exit_code, nt_error *err)
{
    (void)exit_code;
    if (nt_compare_is_recorded(nt_args_positional(args, 0)))
        return nt_compare_recorded(args, err);
    if (nt_args_positional_count(args) > 2)
        return nt_fail(err, NT_USAGE, "two sides are compared, not %d; only recorded spaces (.csv) can be more",
                       nt_args_positional_count(args));
    return compare_sides(args, err);
}

const nt_command nt_command_compare = {
    .name = "compare",
    .group = "Look",
    .summary = "compare runs, devices, databases, vendor kernels, rules of thumb, or recorded spaces",
    .usage = "A B",
    .example = "nntune compare run:3 run:7\n"
               "nntune compare device:H200 rule\n"
               "nntune compare before.db after.db#2 --threshold 2\n"
               "nntune compare a100.csv.gz a6000.csv.gz w6600.csv.gz",
    .description =
        "A side is run:ID, device:NAME (a part that names one device will do, also without 'device:'), "
        "FILE.db[#run], vendor or rule; the last two are of the other side's runs. The verdict on each problem "
        "takes the noise between blocks of samples into account. Ends with exit code 5 when B is slower by more "
        "than --threshold, or fails where A worked. Recorded spaces of one kernel give the matrix of what each "
        "device's best configuration reaches on the others.",
    .options = rows,
    .uses = NT_USES_JSON | NT_USES_DB | NT_USES_COLOR,
    .least_positional = 2,
    .most_positional = 16,
    .run = run,
};
