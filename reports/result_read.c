/* result_read.c: fills the read model: runs with their devices first, then every trial, then who won. */
#include "reports/result.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "core/json.h"
#include "core/mem.h"
#include "reports/cells.h"

/* X(identifier): columns of the view `trials`, in any order */
#define COLUMNS(X)                                                                                                     \
    X(trial)                                                                                                           \
    X(run)                                                                                                             \
    X(layer)                                                                                                           \
    X(shape)                                                                                                           \
    X(batch)                                                                                                           \
    X(precision)                                                                                                       \
    X(layout)                                                                                                          \
    X(fill) X(cache) X(kernel) X(params) X(rule) X(outcome) X(reason) X(occupancy_limiter) X(tied) X(converged)        \
        X(rank) X(samples) X(launches_per_sample) X(registers) X(smem_bytes) X(spill_bytes) X(threads_per_block)       \
            X(throttle_mask) X(time_ns) X(time_lo_ns) X(time_hi_ns) X(first_time_ns) X(floor_ns) X(error_impl)         \
                X(error_prec) X(occupancy_limit_pct) X(occupancy_pct) X(dram_read_bytes) X(dram_write_bytes)           \
                    X(sm_clock_mhz) X(temperature_c) X(power_mw) X(energy_mj) X(prepare_ns) X(compile_ms) X(verify_ms) \
                        X(measure_ms)
enum {
#define X(name) C_##name,
    COLUMNS(X)
#undef X
};
static const char *const columns[] = {
#define X(name) #name,
    COLUMNS(X)
#undef X
        NULL,
};

enum {
    R_run,
    R_state,
    R_source,
    R_strategy,
    R_host,
    R_command,
    R_seed,
    R_trials,
    R_ok,
    R_started,
    R_compile,
    R_verify,
    R_measure,
    R_idle,
    R_total,
    R_options
};
static const char *const run_columns[] = {"run",       "state",  "source",  "strategy",       "host",      "command",
                                          "seed",      "trials", "ok",      "started_unix_s", "compile_s", "verify_s",
                                          "measure_s", "idle_s", "total_s", "options",        NULL};

typedef struct loading {
    nt_result *result;
    const nt_result_filter *filter;
    nt_cells cells;
    int last_group; /* trials come in long stretches of one problem */
    char shape_text[512];
    int64_t seen;
} loading;

/* ---- runs and devices -------------------------------------------------------------------------------------------- */

static bool take_device(void *context, const nt_row *row)
{
    json_t *object = nt_json_row(row), *peaks;
    const char *text = nt_json_get_text(object, "peak_flops");
    if (text != NULL && nt_json_parse(text, &peaks, NULL) == NT_OK)
        json_object_set_new(object, "peak_flops", peaks);
    if (nt_json_to_device(object, context, NULL) != NT_OK)
        nt_device_info_init(context, NT_DEVICE_CPU); /* of another version: nothing known of it */
    json_decref(object);
    return false;
}

/* The peaks of a cpu are measured anew by runs; the last one that saw any stands. */
static int device_index(nt_result *r, const nt_device_info *info)
{
    for (size_t i = 0; i < r->devices; i++)
        if (strcmp(r->device[i].info.uuid, info->uuid) == 0 && strcmp(r->device[i].info.name, info->name) == 0) {
            if (!isnan(info->dram_peak_bytes_per_s))
                r->device[i].info = *info;
            return (int)i;
        }
    nt_grow((void **)&r->device, &r->device_capacity, r->devices + 1, sizeof *r->device);
    r->device[r->devices] = (nt_result_device){.info = *info};
    return (int)r->devices++;
}

static void label_devices(nt_result *r)
{
    for (size_t i = 0; i < r->devices; i++) {
        nt_result_device *device = &r->device[i];
        bool twin = false;
        for (size_t j = 0; j < r->devices; j++)
            twin |= j != i && strcmp(r->device[j].info.name, device->info.name) == 0;
        size_t length = strlen(device->info.uuid);
        snprintf(device->label, sizeof device->label, twin ? "%s (..%s)" : "%s", device->info.name,
                 device->info.uuid + (length > 8 ? length - 8 : 0));
    }
}

static void read_objective(nt_result_run *run, const char *options)
{
    json_t *object;
    if (nt_json_parse(options, &object, NULL) != NT_OK)
        return;
    const char *objective = nt_json_get_text(object, "objective");
    nt_copy(run->objective, sizeof run->objective, objective != NULL ? objective : "");
    json_decref(object);
}

static bool take_run(void *context, const nt_row *row)
{
    loading *l = context;
    nt_result *r = l->result;
    nt_cells_find(&l->cells, row);
    int64_t id = nt_cells_int(&l->cells, row, R_run);
    if (l->filter->run > 0 && id != l->filter->run)
        return true;
    nt_grow((void **)&r->run, &r->run_capacity, r->runs + 1, sizeof *r->run);
    nt_result_run *run = &r->run[r->runs++];
    *run = (nt_result_run){
        .id = id,
        .command = nt_pool_text(&r->pool, nt_cells_text(&l->cells, row, R_command)),
        .seed = (uint64_t)nt_cells_int(&l->cells, row, R_seed),
        .trials = nt_cells_int(&l->cells, row, R_trials),
        .ok = nt_cells_int(&l->cells, row, R_ok),
        .started_unix_s = nt_cells_real(&l->cells, row, R_started),
        .compile_s = nt_cells_real(&l->cells, row, R_compile),
        .verify_s = nt_cells_real(&l->cells, row, R_verify),
        .measure_s = nt_cells_real(&l->cells, row, R_measure),
        .idle_s = nt_cells_real(&l->cells, row, R_idle),
        .total_s = nt_cells_real(&l->cells, row, R_total),
    };
    nt_copy(run->state, sizeof run->state, nt_cells_text(&l->cells, row, R_state));
    nt_copy(run->source, sizeof run->source, nt_cells_text(&l->cells, row, R_source));
    nt_copy(run->strategy, sizeof run->strategy, nt_cells_text(&l->cells, row, R_strategy));
    nt_copy(run->host, sizeof run->host, nt_cells_text(&l->cells, row, R_host));
    read_objective(run, nt_cells_text(&l->cells, row, R_options));
    return true;
}

static bool device_wanted(const nt_result_filter *filter, const nt_device_info *info)
{
    const char *want = filter->device;
    return want == NULL || strcasecmp(want, info->uuid) == 0 ||
           strcasecmp(want, nt_device_kind_name(info->kind)) == 0 || strcasestr(info->name, want) != NULL;
}

/* Runs are read first, whole: a reader is not asked again while it gives rows. */
static nt_status read_runs(nt_result *r, const nt_result_filter *filter, nt_error *err)
{
    loading l = {.result = r, .filter = filter, .cells = {.names = run_columns}};
    nt_reader *reader = r->source.reader;
    nt_status status = reader->runs(reader, take_run, &l, err);
    size_t kept = 0;
    for (size_t i = 0; i < r->runs && status == NT_OK; i++) {
        nt_device_info info;
        nt_device_info_init(&info, NT_DEVICE_CPU);
        status = reader->device(reader, r->run[i].id, take_device, &info, err);
        if (!device_wanted(filter, &info))
            continue;
        r->run[i].device = device_index(r, &info);
        r->run[kept++] = r->run[i];
    }
    r->runs = kept;
    label_devices(r);
    return status;
}

/* ---- trials ------------------------------------------------------------------------------------------------------ */

static int run_index(const nt_result *r, int64_t id)
{
    size_t low = 0, high = r->runs; /* in the order of their numbers */
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (r->run[middle].id < id)
            low = middle + 1;
        else
            high = middle;
    }
    return low < r->runs && r->run[low].id == id ? (int)low : -1;
}

static void label_group(const nt_result *r, nt_result_group *group)
{
    nt_str text = {0};
    const nt_problem *p = &group->problem;
    nt_str_addf(&text, "%s ", p->layer);
    if (r->source.shape != NULL)
        r->source.shape(&text, p->layer, &p->shape);
    else
        nt_shape_print(&text, &p->shape);
    nt_str_addf(&text, " batch %lld %s", (long long)p->batch, nt_precisions[p->precision].name);
    if (p->layout != NT_NHWC)
        nt_str_addf(&text, " %s", nt_layout_name(p->layout));
    if (p->fill != NT_FILL_NORMAL)
        nt_str_addf(&text, " %s", nt_fill_name(p->fill));
    if (group->cache == NT_HOT)
        nt_str_add(&text, " hot");
    nt_copy(group->label, sizeof group->label, nt_str_text(&text));
    nt_str_done(&text);
}

static bool read_problem(const loading *l, const nt_row *row, nt_problem *out, int *cache)
{
    *out = (nt_problem){.batch = nt_cells_int(&l->cells, row, C_batch)};
    int precision = nt_precision_find(nt_cells_text(&l->cells, row, C_precision));
    int layout = nt_layout_find(nt_cells_text(&l->cells, row, C_layout));
    int fill = nt_fill_find(nt_cells_text(&l->cells, row, C_fill));
    *cache = nt_cache_mode_find(nt_cells_text(&l->cells, row, C_cache));
    nt_copy(out->layer, sizeof out->layer, nt_cells_text(&l->cells, row, C_layer));
    if (precision < 0 || layout < 0 || fill < 0 || *cache < 0 ||
        nt_shape_parse(nt_cells_text(&l->cells, row, C_shape), &out->shape, NULL) != NT_OK)
        return false;
    out->precision = (nt_precision)precision;
    out->layout = (nt_layout)layout;
    out->fill = (nt_fill)fill;
    return true;
}

static int group_index(loading *l, int device, const nt_problem *problem, nt_cache_mode cache)
{
    nt_result *r = l->result;
    for (size_t n = 0; n < r->groups; n++) {
        size_t i = ((size_t)l->last_group + n) % r->groups;
        const nt_result_group *group = &r->group[i];
        if (group->device == device && group->cache == cache && nt_problem_equal(&group->problem, problem))
            return l->last_group = (int)i;
    }
    nt_grow((void **)&r->group, &r->group_capacity, r->groups + 1, sizeof *r->group);
    nt_result_group *group = &r->group[r->groups];
    *group = (nt_result_group){.device = device,
                               .problem = *problem,
                               .cache = cache,
                               .flop = NAN,
                               .bytes = NAN,
                               .best = -1,
                               .rule = -1,
                               .vendor = -1};
    label_group(r, group);
    if (r->source.work != NULL)
        r->source.work(problem, &group->flop, &group->bytes);
    return l->last_group = (int)r->groups++;
}

/* Shape as it is stored or in its short form. */
static bool problem_wanted(const loading *l, const nt_problem *problem)
{
    const nt_result_filter *f = l->filter;
    if ((f->batch > 0 && f->batch != problem->batch) ||
        (f->precision != NULL && strcmp(f->precision, nt_precisions[problem->precision].name) != 0))
        return false;
    if (f->shape == NULL)
        return true;
    nt_str text = {0};
    nt_shape_print(&text, &problem->shape);
    bool equal = strcmp(nt_str_text(&text), f->shape) == 0;
    nt_str_clear(&text);
    if (l->result->source.shape != NULL)
        l->result->source.shape(&text, problem->layer, &problem->shape);
    equal |= strcmp(nt_str_text(&text), f->shape) == 0;
    nt_str_done(&text);
    return equal;
}

/* Texts of failures differ in their figures alone; a sentence without them counts the same failures together. */
static const char *reason_of(nt_pool *pool, const char *reason)
{
    char out[256];
    size_t n = 0;
    for (const char *c = reason; *c != '\0' && n + 4 < sizeof out; c++) {
        bool digit = *c >= '0' && *c <= '9', point = *c == '.' && c[1] >= '0' && c[1] <= '9';
        if (!digit && !point)
            out[n++] = *c;
        else if (n == 0 || out[n - 1] != '#')
            out[n++] = '#';
    }
    out[n] = '\0';
    return nt_pool_text(pool, out);
}

static void fill_numbers(nt_result_trial *t, const nt_cells *cells, const nt_row *row)
{
    double read = nt_cells_real(cells, row, C_dram_read_bytes), written = nt_cells_real(cells, row, C_dram_write_bytes);
    t->samples = nt_cells_int(cells, row, C_samples);
    t->launches_per_sample = nt_cells_int(cells, row, C_launches_per_sample);
    t->registers = nt_cells_int(cells, row, C_registers);
    t->smem_bytes = nt_cells_int(cells, row, C_smem_bytes);
    t->spill_bytes = nt_cells_int(cells, row, C_spill_bytes);
    t->threads_per_block = nt_cells_int(cells, row, C_threads_per_block);
    t->throttle_mask = nt_cells_int(cells, row, C_throttle_mask);
    t->time_ns = nt_cells_real(cells, row, C_time_ns);
    t->lo_ns = nt_cells_real(cells, row, C_time_lo_ns);
    t->hi_ns = nt_cells_real(cells, row, C_time_hi_ns);
    t->first_ns = nt_cells_real(cells, row, C_first_time_ns);
    t->floor_ns = nt_cells_real(cells, row, C_floor_ns);
    t->error_impl = nt_cells_real(cells, row, C_error_impl);
    t->error_prec = nt_cells_real(cells, row, C_error_prec);
    t->occupancy_limit_pct = nt_cells_real(cells, row, C_occupancy_limit_pct);
    t->occupancy_pct = nt_cells_real(cells, row, C_occupancy_pct);
    t->dram_bytes = read + written;
    t->sm_clock_mhz = nt_cells_real(cells, row, C_sm_clock_mhz);
    t->temperature_c = nt_cells_real(cells, row, C_temperature_c);
    t->power_mw = nt_cells_real(cells, row, C_power_mw);
    t->energy_mj = nt_cells_real(cells, row, C_energy_mj);
    t->prepare_ns = nt_cells_real(cells, row, C_prepare_ns);
    t->compile_ms = nt_cells_real(cells, row, C_compile_ms);
    t->verify_ms = nt_cells_real(cells, row, C_verify_ms);
    t->measure_ms = nt_cells_real(cells, row, C_measure_ms);
}

static void fill_trial(nt_result_trial *t, nt_pool *pool, const nt_cells *cells, const nt_row *row)
{
    int outcome = nt_outcome_find(nt_cells_text(cells, row, C_outcome));
    int64_t rank = nt_cells_int(cells, row, C_rank);
    t->id = nt_cells_int(cells, row, C_trial);
    t->kernel = nt_pool_text(pool, nt_cells_text(cells, row, C_kernel));
    t->params = nt_pool_text(pool, nt_cells_text(cells, row, C_params));
    t->rule = nt_pool_text(pool, nt_cells_text(cells, row, C_rule));
    t->limiter = nt_pool_text(pool, nt_cells_text(cells, row, C_occupancy_limiter));
    t->reason = reason_of(pool, nt_cells_text(cells, row, C_reason));
    t->outcome = outcome < 0 ? NT_OUTCOME_CRASHED : (nt_outcome)outcome;
    t->tied = nt_cells_int(cells, row, C_tied) == 1;
    t->converged = nt_cells_int(cells, row, C_converged) == 1;
    t->rank = rank > 0 && rank < INT32_MAX ? (int)rank : 0;
    fill_numbers(t, cells, row);
    /* A time that is no positive number is no result, whatever the row says. */
    if (t->outcome == NT_OUTCOME_OK && !(t->time_ns > 0))
        t->outcome = NT_OUTCOME_CRASHED;
}

static bool take_trial(void *context, const nt_row *row)
{
    loading *l = context;
    nt_result *r = l->result;
    nt_problem problem;
    int cache;
    nt_cells_find(&l->cells, row);
    l->seen++;
    int run = run_index(r, nt_cells_int(&l->cells, row, C_run));
    const char *kernel = nt_cells_text(&l->cells, row, C_kernel);
    if (run < 0 || (l->filter->kernel != NULL && strcmp(kernel, l->filter->kernel) != 0) ||
        !read_problem(l, row, &problem, &cache) || !problem_wanted(l, &problem))
        return true;
    nt_grow((void **)&r->trial, &r->trial_capacity, r->trials + 1, sizeof *r->trial);
    nt_result_trial *t = &r->trial[r->trials++];
    *t = (nt_result_trial){.run = run, .group = group_index(l, r->run[run].device, &problem, (nt_cache_mode)cache)};
    fill_trial(t, &r->pool, &l->cells, row);
    r->group[t->group].outcome[t->outcome]++;
    return true;
}

/* ---- all of it --------------------------------------------------------------------------------------------------- */

static bool take_best(void *context, const nt_row *row)
{
    loading *l = context;
    nt_cells_find(&l->cells, row);
    nt_result_mark_best(l->result, nt_cells_int(&l->cells, row, C_trial));
    return true;
}

static nt_status nothing(const nt_result *r, int64_t seen, nt_error *err)
{
    nt_fail(err, NT_NOT_FOUND, "%s holds no trials%s", r->source.database, seen > 0 ? " that match" : "");
    if (seen > 0)
        return nt_hint(err, "'nntune runs' and 'nntune best' show what there is");
    return nt_hint(err, "'nntune sweep conv3x3' makes some");
}

nt_status nt_result_read(nt_result *out, const nt_report_source *source, const nt_result_filter *filter, nt_error *err)
{
    *out = (nt_result){.source = *source};
    loading l = {.result = out, .filter = filter, .cells = {.names = columns}};
    nt_reader *reader = source->reader;
    nt_status status = read_runs(out, filter, err);
    if (status == NT_OK)
        status = reader->trials(reader, filter->run, filter->layer, take_trial, &l, err);
    if (status == NT_OK && out->trials == 0)
        status = nothing(out, l.seen, err);
    nt_result_choose(out);
    /* Of everything, the winners are those of the view; of one run or kernel, its own. */
    loading winners = {.result = out, .filter = filter, .cells = {.names = columns}};
    if (status == NT_OK && filter->run == 0)
        status = reader->best(reader, filter->layer, NULL, take_best, &winners, err);
    if (status != NT_OK)
        nt_result_done(out);
    return status;
}
