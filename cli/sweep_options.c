#include "cli/sweep_options.h"

#include <stdlib.h>
#include <string.h>

#include "autotune/objective.h"
#include "autotune/spec.h"
#include "autotune/strategy.h"
#include "cli/command_line.h"
#include "cli/layer_argument.h"
#include "core/mem.h"
#include "core/str.h"
#include "kernels/kernel.h"

static const char *const precisions[] = {"fp32", "tf32",        "fp16",        "bf16",        "int8",
                                         "fp8",  "fp16_sparse", "bf16_sparse", "int8_sparse", NULL}; /* nt_precision */
static const char *const layouts[] = {"nhwc", "nchw", NULL};
static const char *const fills[] = {"normal", "uniform", NULL};
static const char *const profiles[] = {"none", "best", "all", NULL};  /* order of nt_profile_mode */
static const char *const vendors[] = {"never", "also", "only", NULL}; /* order of nt_vendor_mode */
static const char *const caches[] = {"cold", "hot", "both", NULL};

static const double default_budget_s = 60, default_ci_pct = 0.5, default_max_error = 0.01;

#define WORD(name)     #name
#define AND_WORD(name) ", " #name

const nt_option nt_sweep_option_rows[] = {
    {.name = "spec",
     .kind = NT_OPTION_TEXT,
     .argument = "FILE",
     .help =
         "tune a kernel of your own, described by this file (its own format, docs/SPEC.md, or T1), instead of a layer"},
    {.name = "from-misses",
     .kind = NT_OPTION_TEXT,
     .argument = "LOG",
     .help =
         "tune, one after another, the problems that a deployment table had no entry for (docs/TABLES.md); --budget is "
         "for each"},
    {.name = "device",
     .kind = NT_OPTION_TEXT,
     .argument = "DEVICE",
     .help = "cpu, cuda or cuda:N; several at once by commas, or all: every NVIDIA GPU; each has the whole budget "
             "(default: the first NVIDIA GPU, otherwise cpu)"},
    {.name = "shape",
     .kind = NT_OPTION_REPEAT,
     .argument = "SHAPE",
     .help =
         "all, a named shape, CxHxW or c=..,k=..,h=..,w=..; several separated by commas (default: the layer's first)"},
    {.name = "batch",
     .kind = NT_OPTION_INTEGER_LIST,
     .argument = "N,..",
     .min = 1,
     .max = 65536,
     .help = "batch sizes (default 1,32 on a GPU, 1,4 on a cpu)"},
    {.name = "precision",
     .kind = NT_OPTION_CHOICE_LIST,
     .argument = "P,..",
     .choices = precisions,
     .help =
         "fp32, tf32, fp16, bf16, int8, fp8; with 2:4 sparse weights fp16_sparse, bf16_sparse, int8_sparse (default: "
         "fp32,tf32,fp16,bf16 on a GPU, fp32,int8 on a cpu)"},
    {.name = "layout",
     .kind = NT_OPTION_CHOICE_LIST,
     .argument = "L,..",
     .choices = layouts,
     .help = "nhwc, nchw (default nhwc; layers of rows have it alone)"},
    {.name = "kernel", .kind = NT_OPTION_TEXT, .argument = "NAME", .help = "only this kernel of the layer"},
    {.name = "param",
     .kind = NT_OPTION_REPEAT,
     .argument = "NAME=V,..",
     .help = "keep these values of a parameter; kernels without it are left out; may be repeated"},
    {.name = "where",
     .kind = NT_OPTION_TEXT,
     .argument = "EXPR",
     .help = "keep configurations for which EXPR is true: --where 'tile_m * tile_n >= 4096'"},
    {.name = "strategy",
     .kind = NT_OPTION_TEXT,
     .argument = "NAME",
     .help = NT_STRATEGY_DEFAULT(WORD) NT_STRATEGY_OTHERS(AND_WORD) " (default " NT_STRATEGY_DEFAULT(WORD) ")"},
    {.name = "objective",
     .kind = NT_OPTION_TEXT,
     .argument = "WHAT",
     .help =
         "time, energy, edp (energy times time), or an expression over time_ns, energy_mj, power_mw, registers, .. to "
         "make small; max:EXPR to make large (default time)"},
    {.name = "warm-start",
     .kind = NT_OPTION_TEXT,
     .argument = "DB|auto|none",
     .help = "begin with what earlier runs of the layer found, on other problems or devices: a database, or auto for "
             "the one of --db; without it a problem begins with what those before it in the sweep found, with none "
             "from nothing"},
    {.name = "budget",
     .kind = NT_OPTION_BUDGET,
     .argument = "N|TIME",
     .help = "trials, or time such as 60s, 5m (default 60s), over all problems"},
    {.name = "seed",
     .kind = NT_OPTION_INTEGER,
     .argument = "N",
     .min = 0,
     .max = INT64_MAX,
     .help = "seed of inputs and of the strategy (default 1)"},
    {.name = "ci",
     .kind = NT_OPTION_REAL,
     .argument = "PCT",
     .min_real = 0.01,
     .max_real = 50,
     .help = "a time's interval wanted, half-width in percent of the median (default 0.5)"},
    {.name = "max-error",
     .kind = NT_OPTION_REAL,
     .argument = "X",
     .min_real = 0,
     .max_real = 10,
     .help = "largest relative error against fp64 that a winner may have (default 0.01)"},
    {.name = "fill",
     .kind = NT_OPTION_CHOICE,
     .argument = "FILL",
     .choices = fills,
     .help = "values of the inputs: normal, uniform (default normal)"},
    {.name = "cache",
     .kind = NT_OPTION_CHOICE,
     .argument = "MODE",
     .choices = caches,
     .help = "cold (rotating buffers larger than the cache), hot, both (default cold)"},
    {.name = "profile",
     .kind = NT_OPTION_CHOICE,
     .argument = "WHICH",
     .choices = profiles,
     .help = "hardware counters for: none, best (the finalists), all (every ok trial) (default all on a GPU)"},
    {.name = "metrics",
     .kind = NT_OPTION_LIST,
     .argument = "LIST",
     .help = "counters instead of the usual sets: t1, sol, stall, banks, flop, columns such as occupancy_pct, or "
             "CUPTI's own names"},
    {.name = "vendor",
     .kind = NT_OPTION_CHOICE,
     .argument = "WHICH",
     .choices = vendors,
     .help = "kernels that call a vendor's library (oneDNN, OpenBLAS, cuDNN, cuBLASLt): never, also (beside ours, "
             "which stay the winners; "
             "'nntune best --vs-vendor' compares), only (default never)"},
    {.name = "jobs",
     .letter = 'j',
     .kind = NT_OPTION_INTEGER,
     .argument = "N",
     .min = 1,
     .max = 64,
     .help = "compile processes (default: one a core, at most 16)"},
    {.name = "resume", .kind = NT_OPTION_FLAG, .help = "go on with the last unfinished run of equal options"},
    {.name = "reuse",
     .kind = NT_OPTION_FLAG,
     .help = "take over trials of equal key from earlier runs, marked as such"},
    {.name = "wait", .kind = NT_OPTION_FLAG, .help = "wait while another sweep holds the device"},
    {.name = "verbose", .letter = 'v', .kind = NT_OPTION_FLAG, .help = "a line on stderr for each trial"},
    {.name = "tui", .kind = NT_OPTION_FLAG, .help = "show the screen of `nntune top` while the sweep runs"},
    {.name = "dry-run", .kind = NT_OPTION_FLAG, .help = "print the spaces and what prunes them, run nothing"},
    {.name = NULL},
};

#undef WORD
#undef AND_WORD

static char *keep(nt_sweep_parts *parts, char *text)
{
    void *list = parts->text;
    nt_grow(&list, &parts->text_capacity, parts->text_count + 1, sizeof *parts->text);
    parts->text = list;
    return parts->text[parts->text_count++] = text;
}

void nt_sweep_parts_done(nt_sweep_parts *parts)
{
    for (size_t i = 0; i < parts->text_count; i++)
        free(parts->text[i]);
    free(parts->text);
    free(parts->narrowing);
    *parts = (nt_sweep_parts){0};
}

/* Does `shape` ("c=3,k=8") already have the key that `part` ("c=5") begins with? */
static bool has_key(const char *shape, const char *part)
{
    size_t length = strcspn(part, "=") + 1;
    for (const char *at = shape; at != NULL; at = strchr(at, ',')) {
        at += *at == ',';
        if (strncmp(at, part, length) == 0)
            return true;
    }
    return false;
}

static nt_status add_shape(nt_sweep_options *out, nt_sweep_parts *parts, nt_str *shape, nt_error *err)
{
    if (shape->length == 0)
        return NT_OK;
    if (out->shape_count == NT_SWEEP_SHAPES)
        return nt_fail(err, NT_USAGE, "--shape: more than %d shapes", NT_SWEEP_SHAPES);
    out->shape[out->shape_count++] = keep(parts, nt_strdup(nt_str_text(shape)));
    nt_str_clear(shape);
    return NT_OK;
}

/* "64x56x56,c=3,k=8,h=7,w=9": commas separate shapes and the keys of one shape alike. A part with '=' goes on with the
 * shape before it when that has keys too, and not this one yet. */
static nt_status read_shapes(const nt_args *args, nt_sweep_options *out, nt_sweep_parts *parts, nt_error *err)
{
    const nt_given *given = nt_args_get(args, "shape");
    nt_status status = NT_OK;
    nt_str shape = {0};
    for (int g = 0; given != NULL && g < given->count; g++) {
        char *save = NULL, *copy = keep(parts, nt_strdup(given->text[g]));
        for (char *part = strtok_r(copy, ",", &save); status == NT_OK && part != NULL;
             part = strtok_r(NULL, ",", &save)) {
            bool goes_on = strchr(part, '=') != NULL && strchr(nt_str_text(&shape), '=') != NULL &&
                           !has_key(nt_str_text(&shape), part);
            if (!goes_on)
                status = add_shape(out, parts, &shape, err);
            nt_str_addf(&shape, "%s%s", goes_on ? "," : "", part);
        }
        if (status == NT_OK)
            status = add_shape(out, parts, &shape, err);
    }
    nt_str_done(&shape);
    return status;
}

static nt_status read_param(const char *text, nt_narrowing *out, nt_sweep_parts *parts, nt_error *err)
{
    char *copy = keep(parts, nt_strdup(text)), *equals = strchr(copy, '='), *save = NULL;
    if (equals == NULL || equals == copy || equals[1] == '\0') {
        nt_fail(err, NT_USAGE, "--param: '%s' is not NAME=VALUE,..", text);
        return nt_hint(err, "for example --param block_x=16,32");
    }
    *equals = '\0';
    enum { MOST = 64 };
    const char **values = nt_alloc_zero(MOST, sizeof *values);
    keep(parts, (char *)values);
    out->param = copy;
    out->values = values;
    out->count = 0;
    for (char *value = strtok_r(equals + 1, ",", &save); value != NULL; value = strtok_r(NULL, ",", &save)) {
        if (out->count == MOST)
            return nt_fail(err, NT_USAGE, "--param %s: more than %d values", copy, MOST);
        values[out->count++] = value;
    }
    return NT_OK;
}

static nt_status read_params(const nt_args *args, nt_sweep_options *out, nt_sweep_parts *parts, nt_error *err)
{
    const nt_given *given = nt_args_get(args, "param");
    if (given == NULL)
        return NT_OK;
    parts->narrowing = nt_alloc_zero((size_t)given->count, sizeof *parts->narrowing);
    out->narrowing = parts->narrowing;
    for (int i = 0; i < given->count; i++) {
        nt_status status = read_param(given->text[i], &parts->narrowing[out->narrowing_count], parts, err);
        if (status != NT_OK)
            return status;
        out->narrowing_count++;
    }
    return NT_OK;
}

static nt_status read_lists(const nt_args *args, nt_sweep_options *out, nt_error *err)
{
    const nt_given *batch = nt_args_get(args, "batch"), *precision = nt_args_get(args, "precision"),
                   *layout = nt_args_get(args, "layout");
    if (batch != NULL && batch->count > NT_SWEEP_LIST)
        return nt_fail(err, NT_USAGE, "--batch: more than %d values", NT_SWEEP_LIST);
    for (int i = 0; batch != NULL && i < batch->count; i++)
        out->batch[out->batch_count++] = batch->integer[i];
    unsigned seen = 0, seen_layout = 0; /* a value given twice is one value */
    for (int i = 0; precision != NULL && i < precision->count; i++) {
        if (!(seen & NT_BIT(precision->integer[i])))
            out->precision[out->precision_count++] = (nt_precision)precision->integer[i];
        seen |= NT_BIT(precision->integer[i]);
    }
    for (int i = 0; layout != NULL && i < layout->count; i++) {
        if (!(seen_layout & NT_BIT(layout->integer[i])))
            out->layout[out->layout_count++] = (nt_layout)layout->integer[i];
        seen_layout |= NT_BIT(layout->integer[i]);
    }
    const char *cache = nt_args_text(args, "cache", "cold");
    if (strcmp(cache, "hot") != 0)
        out->cache[out->cache_count++] = NT_COLD;
    if (strcmp(cache, "cold") != 0)
        out->cache[out->cache_count++] = NT_HOT;
    return NT_OK;
}

/* The layer, or the one that --spec makes. What a spec decides cannot be asked for as well. */
static nt_status read_layer(const nt_args *args, nt_sweep_options *out, nt_error *err)
{
    static const char *const decided[] = {"batch", "precision", "layout", "fill", "kernel"};
    const char *spec_path = nt_args_text(args, "spec", NULL);
    const nt_layer *layer;
    const nt_spec *spec;
    if (spec_path == NULL && out->layer == NULL && nt_args_get(args, "from-misses") != NULL)
        out->layer = nt_layers[0]->name; /* until the log says which */
    if (spec_path == NULL && out->layer == NULL) {
        nt_fail(err, NT_USAGE, "sweep needs a layer, or --spec FILE: nntune sweep LAYER | --spec FILE");
        return nt_hint(err, "for example: nntune sweep conv3x3");
    }
    if (spec_path == NULL)
        return nt_layer_argument(out->layer, &layer, err);
    if (out->layer != NULL)
        return nt_fail(err, NT_USAGE, "--spec makes a layer of its own; '%s' is one too many", out->layer);
    for (size_t i = 0; i < sizeof decided / sizeof decided[0]; i++)
        if (nt_args_get(args, decided[i]) != NULL)
            return nt_fail(err, NT_USAGE, "--%s has no meaning with --spec: the spec says it", decided[i]);
    nt_status status = nt_spec_load(spec_path, &spec, err);
    if (status != NT_OK)
        return status;
    out->layer = spec->layer.name;
    out->batch[out->batch_count++] = 1;
    out->precision[out->precision_count++] = spec->precision;
    return NT_OK;
}

/* What the chosen device will not tell shows later; what cannot be read shows here. */
static nt_status check_objective(const nt_sweep_options *options, nt_error *err)
{
    nt_objective *objective;
    nt_status status = nt_objective_parse(options->objective, &objective, err);
    nt_objective_free(objective);
    return status;
}

nt_status nt_sweep_options_read(const nt_args *args, nt_sweep_options *out, nt_sweep_parts *parts, nt_error *err)
{
    const nt_given *budget = nt_args_get(args, "budget");
    const nt_strategy *strategy;
    *out = (nt_sweep_options){.layer = nt_args_positional_count(args) > 0 ? nt_args_positional(args, 0) : NULL,
                              .where = nt_args_text(args, "where", NULL),
                              .kernel = nt_args_text(args, "kernel", NULL),
                              .strategy = nt_args_text(args, "strategy", NULL),
                              .objective = nt_args_text(args, "objective", NULL),
                              .warm_from = nt_args_text(args, "warm-start", NULL),
                              .budget = {.seconds = default_budget_s},
                              .seed = (uint64_t)nt_args_integer(args, "seed", 1),
                              .ci_rel = nt_args_real(args, "ci", default_ci_pct) / 100,
                              .max_error = nt_args_real(args, "max-error", default_max_error),
                              .fill = (nt_fill)nt_args_integer(args, "fill", NT_FILL_NORMAL),
                              .vendor = (nt_vendor_mode)nt_args_integer(args, "vendor", NT_VENDOR_NEVER),
                              .compile_children = (int)nt_args_integer(args, "jobs", 0),
                              .resume = nt_args_flag(args, "resume"),
                              .reuse = nt_args_flag(args, "reuse"),
                              .wait = nt_args_flag(args, "wait"),
                              .command = nt_command_line()};
    if (budget != NULL)
        out->budget = (nt_budget){.trials = budget->integer[0], .seconds = budget->real[0]};
    nt_status status = read_layer(args, out, err);
    if (status == NT_OK)
        status = nt_strategy_find(out->strategy, &strategy, err);
    if (status == NT_OK)
        status = check_objective(out, err);
    if (status == NT_OK)
        status = read_lists(args, out, err);
    if (status == NT_OK)
        status = read_shapes(args, out, parts, err);
    const nt_given *metrics = nt_args_get(args, "metrics");
    if (metrics != NULL && metrics->count > NT_SWEEP_METRICS)
        return nt_fail(err, NT_USAGE, "--metrics: more than %d", NT_SWEEP_METRICS);
    for (int i = 0; metrics != NULL && i < metrics->count; i++)
        out->metric[out->metric_count++] = metrics->text[i];
    return status == NT_OK ? read_params(args, out, parts, err) : status;
}
