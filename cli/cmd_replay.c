/* cmd_replay.c: `nntune replay SPACE..`: strategies on recorded spaces, scored or traced. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "autotune/replay_earlier.h"
#include "autotune/replay_score.h"
#include "cli/cmd.h"
#include "cli/color.h"
#include "cli/output.h"
#include "cli/table.h"
#include "core/mem.h"

static const int default_repeats = 50, default_trials = 400;

static const nt_option rows[] = {
    {.name = "strategy",
     .kind = NT_OPTION_LIST,
     .argument = "NAME,..",
     .help = "strategies to replay (default: the default of sweep)"},
    {.name = "repeats",
     .kind = NT_OPTION_INTEGER,
     .argument = "N",
     .min = 1,
     .max = 10000,
     .help = "repeats, each afresh with a seed of its own (default 50)"},
    {.name = "budget",
     .kind = NT_OPTION_BUDGET,
     .argument = "N|TIME",
     .help = "evaluations, or recorded compile and benchmark time such as 60s (default 400)"},
    {.name = "seed",
     .kind = NT_OPTION_INTEGER,
     .argument = "N",
     .min = 0,
     .max = INT64_MAX,
     .help = "seed of the repeats (default 1)"},
    {.name = "in-flight",
     .kind = NT_OPTION_INTEGER,
     .argument = "K",
     .min = 1,
     .max = 256,
     .help = "proposals asked for before the first is answered (default 1)"},
    {.name = "warm-start",
     .kind = NT_OPTION_LIST,
     .argument = "SPACE,..",
     .help = "what the strategy knows beforehand: these recordings of the same kernel on other devices"},
    {.name = "noise",
     .kind = NT_OPTION_FLAG,
     .help = "answer with one recorded sample, drawn at random, instead of the mean"},
    {.name = "trace", .kind = NT_OPTION_FLAG, .help = "print a JSON line for each evaluation instead of scores"},
    {.name = NULL},
};

/* ---- traces ----------------------------------------------------------------------------------------------------- */

static void print_trace(const nt_recorded *recorded, const nt_replay_options *options, long long repeat,
                        const nt_replay_run *run)
{
    for (size_t i = 0; i < run->count && nt_output_wanted(); i++) {
        const nt_evaluation *e = &run->evaluation[i];
        json_t *line = json_pack("{s:s, s:s, s:I, s:I, s:I}", "space", recorded->name, "strategy",
                                 options->strategy->name, "repeat", (json_int_t)repeat, "eval", (json_int_t)i + 1,
                                 "config_index", (json_int_t)recorded->file_row[e->index]);
        json_object_set_new(line, "time", isnan(e->answered_ms) ? json_null() : json_real(e->answered_ms));
        char *text = json_dumps(line, JSON_COMPACT | JSON_REAL_PRECISION(9));
        puts(text);
        free(text);
        json_decref(line);
    }
}

/* ---- scores ----------------------------------------------------------------------------------------------------- */

typedef struct output {
    nt_table *table;
    bool json, trace, noise;
    int64_t repeats;
    double log_mean[NT_SCORE_BUDGETS], p, p_exact; /* sums over the spaces of one strategy */
    int spaces;
} output;

static json_t *real_or_null(double x)
{
    return isfinite(x) ? json_real(x) : json_null();
}

static json_t *score_json(const nt_score *s)
{
    json_t *mean = json_object(), *median = json_object();
    for (int b = 0; b < NT_SCORE_BUDGETS; b++) {
        char key[16];
        snprintf(key, sizeof key, "%d", nt_score_budgets[b]);
        json_object_set_new(mean, key, real_or_null(s->mean[b]));
        json_object_set_new(median, key, real_or_null(s->median[b]));
    }
    return json_pack("{s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o}", "mean", mean, "median", median,
                     "within_5_pct_evaluations", real_or_null(s->within_5_evaluations), "within_5_pct_share",
                     real_or_null(s->within_5_share), "within_1_pct_evaluations", real_or_null(s->within_1_evaluations),
                     "within_1_pct_share", real_or_null(s->within_1_share), "p", real_or_null(s->p), "p_exact",
                     real_or_null(s->p_exact));
}

static void print_json(const nt_recorded *recorded, const nt_strategy *strategy, const nt_score_pair *pair)
{
    json_t *line = nt_output_document("score");
    json_object_set_new(line, "space", json_string(recorded->name));
    json_object_set_new(line, "strategy", json_string(strategy->name));
    json_object_set_new(line, "repeats", json_integer((json_int_t)pair->value.repeats));
    json_object_set_new(line, "evaluations", json_real(pair->value.evaluations));
    json_object_set_new(line, "score", score_json(&pair->value));
    json_object_set_new(line, "standard_error", score_json(&pair->error));
    json_object_set_new(line, "think_ms", json_real(pair->value.think_ms));
    json_object_set_new(line, "think_most_ms", json_real(pair->value.think_most_ms));
    nt_output_json(line);
}

static void evaluations_cell(nt_table *table, double evaluations)
{
    if (isinf(evaluations))
        nt_table_cell(table, "-");
    else
        nt_table_cell(table, "%.4g", evaluations);
}

static void add_row(output *o, const nt_recorded *recorded, const nt_strategy *strategy, const nt_score_pair *pair)
{
    const nt_score *s = &pair->value, *e = &pair->error;
    nt_table_cell(o->table, "%s", recorded->name);
    nt_table_cell(o->table, "%s", strategy->name);
    for (int b = 0; b < NT_SCORE_BUDGETS; b++)
        nt_table_cell(o->table, "%.4f ±%.4f", s->mean[b], e->mean[b]);
    evaluations_cell(o->table, s->within_5_evaluations);
    nt_table_cell(o->table, "%.0f %%", 100 * s->within_5_share);
    evaluations_cell(o->table, s->within_1_evaluations);
    nt_table_cell(o->table, "%.0f %%", 100 * s->within_1_share);
    nt_table_cell(o->table, "%.3f", s->p);
    nt_table_cell(o->table, "%.3f ±%.3f", s->p_exact, e->p_exact);
    nt_table_cell(o->table, "%.3g", s->think_ms);
    for (int b = 0; b < NT_SCORE_BUDGETS; b++)
        o->log_mean[b] += log(s->mean[b]);
    o->p += s->p;
    o->p_exact += s->p_exact;
    o->spaces++;
}

static void add_summary(output *o, const nt_strategy *strategy)
{
    if (o->spaces < 2 || o->json || o->trace)
        return;
    nt_table_cell(o->table, "all %d", o->spaces);
    nt_table_cell(o->table, "%s", strategy->name);
    for (int b = 0; b < NT_SCORE_BUDGETS; b++)
        nt_table_cell(o->table, "%.4f", exp(o->log_mean[b] / o->spaces));
    for (int i = 0; i < 4; i++)
        nt_table_cell(o->table, "%s", "");
    nt_table_cell(o->table, "%.3f", o->p / o->spaces);
    nt_table_cell(o->table, "%.3f", o->p_exact / o->spaces);
    nt_table_cell(o->table, "%s", "");
}

/* ---- the command ------------------------------------------------------------------------------------------------- */

static void replay_one(output *o, const nt_recorded *recorded, const nt_replay_options *options)
{
    size_t repeats = (size_t)o->repeats;
    nt_replay_run *runs = nt_alloc_zero(repeats, sizeof *runs);
    for (size_t r = 0; r < repeats && nt_output_wanted(); r++) {
        nt_replay(recorded, options, r, &runs[r]);
        if (o->trace)
            print_trace(recorded, options, (long long)r, &runs[r]);
    }
    nt_score_pair pair;
    if (!o->trace) {
        nt_score_runs(recorded, runs, repeats, o->noise, &pair);
        if (o->json)
            print_json(recorded, options->strategy, &pair);
        else
            add_row(o, recorded, options->strategy, &pair);
    }
    for (size_t r = 0; r < repeats; r++)
        nt_replay_run_done(&runs[r]);
    free(runs);
}

/* What --warm-start knows of a space. A recording of it is no earlier run of it. */
static nt_status know(const nt_args *args, const nt_recorded *recorded, nt_earlier_list *list, nt_error *err)
{
    const nt_given *from = nt_args_get(args, "warm-start");
    for (int i = 0; from != NULL && i < from->count; i++) {
        nt_recorded *other;
        nt_status status = nt_recorded_open(from->text[i], &other, err);
        if (status != NT_OK)
            return status;
        if (strcmp(other->name, recorded->name) == 0)
            status = nt_fail(err, NT_USAGE, "--warm-start: %s is the space that is replayed", from->text[i]);
        else if (nt_earlier_list_add(list, other, recorded, NULL) == 0)
            status =
                nt_fail(err, NT_USAGE, "--warm-start: %s is of another kernel than %s: no configuration is in both",
                        other->name, recorded->name);
        nt_recorded_free(other);
        if (status != NT_OK)
            return status;
    }
    return NT_OK;
}

static nt_status replay_all(output *o, const nt_args *args, nt_replay_options *options, nt_error *err)
{
    *o = (output){.table = o->table, .json = o->json, .trace = o->trace, .noise = o->noise, .repeats = o->repeats};
    for (int i = 0; i < nt_args_positional_count(args) && nt_output_wanted(); i++) {
        nt_recorded *recorded;
        nt_status status = nt_recorded_open(nt_args_positional(args, i), &recorded, err);
        if (status != NT_OK)
            return status;
        nt_earlier_list known = {0};
        status = know(args, recorded, &known, err);
        options->earlier = known.item;
        options->earlier_count = known.count;
        if (status == NT_OK)
            replay_one(o, recorded, options);
        nt_earlier_list_done(&known);
        nt_recorded_free(recorded);
        if (status != NT_OK)
            return status;
    }
    add_summary(o, options->strategy);
    return NT_OK;
}

static nt_replay_options options_of(const nt_args *args)
{
    const nt_given *budget = nt_args_get(args, "budget");
    nt_replay_options options = {.seed = (uint64_t)nt_args_integer(args, "seed", 1),
                                 .trials = (size_t)default_trials,
                                 .in_flight = (int)nt_args_integer(args, "in-flight", 1),
                                 .noise = nt_args_flag(args, "noise")};
    if (budget != NULL && budget->integer[0] > 0)
        options.trials = (size_t)budget->integer[0];
    if (budget != NULL && budget->integer[0] == 0) {
        options.seconds = budget->real[0];
        options.trials = NT_RECORDED_MOST_ROWS;
    }
    return options;
}

static nt_status run(const nt_args *args, int *exit_code, nt_error *err)
{
    const nt_given *names = nt_args_get(args, "strategy");
    nt_replay_options options = options_of(args);
    nt_status status = NT_OK;
    (void)exit_code;
    for (int i = 0; names != NULL && i < names->count && status == NT_OK; i++)
        status = nt_strategy_find(names->text[i], &options.strategy, err);
    if (status != NT_OK)
        return status;
    output o = {.table =
                    nt_table_new("space|strategy|>25|>50|>100|>200|>400|>to 5 %|>reach|>to 1 %|>reach|>P|>P exact|>ms"),
                .json = nt_args_flag(args, "json"),
                .trace = nt_args_flag(args, "trace"),
                .noise = options.noise,
                .repeats = nt_args_integer(args, "repeats", default_repeats)};
    for (int i = 0; i < (names == NULL ? 1 : names->count) && status == NT_OK; i++) {
        status = nt_strategy_find(names == NULL ? NULL : names->text[i], &options.strategy, err);
        if (status == NT_OK)
            status = replay_all(&o, args, &options, err);
    }
    if (!o.json && !o.trace && status == NT_OK)
        nt_table_print(o.table, stdout, nt_color_wanted(args, stdout));
    nt_table_free(o.table);
    return status;
}

const nt_command nt_command_replay = {
    .name = "replay",
    .group = "Tune",
    .summary = "replay search strategies on recorded spaces and score them",
    .usage = "SPACE...",
    .example = "nntune replay spaces/*.csv.gz --strategy random,exhaustive --repeats 20",
    .description =
        "A recorded space holds every legal configuration of one kernel on one device with its time. The "
        "figures are the best time found over the optimum after 25 to 400 evaluations, mean over the repeats "
        "with its standard error; evaluations until within 5 and 1 percent, median, and the share of repeats "
        "that come so near; and two scores where 0 is random search and 1 the optimum at once.",
    .options = rows,
    .uses = NT_USES_JSON | NT_USES_COLOR,
    .least_positional = 1,
    .most_positional = 64,
    .run = run,
};
