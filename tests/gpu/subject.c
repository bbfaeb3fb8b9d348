/* subject.c: from a row of the database to code that is loaded on the device. */
#include "tests/gpu/subject.h"

#include <stdlib.h>
#include <string.h>

#include "core/json.h"
#include "core/mem.h"
#include "device/compiler.h"

static bool add_row(void *context, int columns, const char *const *cell)
{
    stored_list *list = context;
    void *rows = list->row;
    nt_grow(&rows, &list->capacity, list->count + 1, sizeof *list->row);
    list->row = rows;
    stored *row = &list->row[list->count];
    *row = (stored){.trial = atoll(cell[0]), .params = nt_strdup(cell[2]), .time_ns = strtod(cell[8], NULL)};
    nt_copy(row->kernel, sizeof row->kernel, cell[1]);
    nt_copy(row->problem.layer, sizeof row->problem.layer, "conv3x3");
    int precision = nt_precision_find(cell[5]), layout = nt_layout_find(cell[6]), fill = nt_fill_find(cell[7]);
    row->problem.batch = atoll(cell[4]);
    if (columns < 9 || precision < 0 || layout < 0 || fill < 0 ||
        nt_shape_parse(cell[3], &row->problem.shape, NULL) != NT_OK) {
        free(row->params);
        return true; /* counted by the caller, who knows how many rows there are */
    }
    row->problem.precision = (nt_precision)precision;
    row->problem.layout = (nt_layout)layout;
    row->problem.fill = (nt_fill)fill;
    list->count++;
    return true;
}

bool judge_stored(judge *j, const char *db, const char *where, stored_list *out)
{
    nt_str sql = {0};
    *out = (stored_list){0};
    nt_str_addf(&sql,
                "select trial, kernel, params, shape, batch, precision, layout, fill, time_ns from trials where %s "
                "order by layout, precision, shape, batch, trial",
                where);
    bool read = judge_rows(j, db, nt_str_text(&sql), add_row, out);
    nt_str_done(&sql);
    return read;
}

void judge_stored_done(stored_list *list)
{
    for (size_t i = 0; i < list->count; i++)
        free(list->row[i].params);
    free(list->row);
    *list = (stored_list){0};
}

nt_status bench_open(bench *b, nt_error *err)
{
    *b = (bench){.worker = {.ops = &nt_device_cuda_ops, .floor_ns = NAN}};
    nt_status status = b->worker.ops->open(0, &b->worker.device, err);
    return status == NT_OK ? b->worker.ops->floor(b->worker.device, &b->worker.floor_ns, err) : status;
}

nt_status bench_problem(bench *b, const nt_problem *problem, uint64_t seed, nt_cache_mode cache, nt_error *err)
{
    nt_workload *now = b->worker.workload;
    if (now != NULL && now->seed == seed && now->cache == cache && nt_problem_equal(&now->problem, problem))
        return NT_OK;
    nt_workload_close(now);
    b->worker.workload = NULL;
    b->worker.cache = cache;
    return nt_workload_open(b->worker.ops, b->worker.device, problem, seed, cache, &b->worker.workload, err);
}

static nt_status compile(bench *b, const nt_kernel *kernel, const nt_problem *problem, const nt_config *config,
                         nt_artefact *out, nt_error *err)
{
    const nt_device_info *info = b->worker.ops->info(b->worker.device);
    char arch[48], *source = nt_kernel_source(kernel);
    nt_str options = {0};
    snprintf(arch, sizeof arch, "%s%s", info->arch, kernel->arch_specific ? "a" : "");
    nt_kernel_options(kernel, problem, config, &options);
    nt_compile_request request = {.kind = NT_DEVICE_CUDA,
                                  .name = kernel->name,
                                  .source = source,
                                  .options = nt_str_text(&options),
                                  .arch = arch,
                                  .compiler = info->compiler,
                                  .features = info->features,
                                  .deadline_s = 60};
    nt_status status = nt_compile_lookup(&request, out, err);
    if (status == NT_NOT_FOUND)
        status = nt_compile(&request, out, err);
    nt_str_done(&options);
    free(source);
    return status;
}

nt_status bench_item(bench *b, const stored *row, json_t **out, nt_error *err)
{
    const nt_kernel *kernel = nt_kernel_find(row->problem.layer, NT_DEVICE_CUDA, row->kernel);
    json_t *params = NULL;
    nt_config config;
    nt_artefact artefact;
    *out = NULL;
    if (kernel == NULL)
        return nt_fail(err, NT_NOT_FOUND, "no kernel '%s'", row->kernel);
    nt_status status = nt_json_parse(row->params, &params, err);
    if (status == NT_OK)
        status = nt_json_to_config(params, kernel->params, kernel->param_count, &config, err);
    if (status == NT_OK)
        status = compile(b, kernel, &row->problem, &config, &artefact, err);
    if (status == NT_OK)
        *out = json_pack("{s:s, s:O, s:o}", "kernel", row->kernel, "params", params, "artefact",
                         nt_json_artefact(&artefact));
    json_decref(params);
    return status;
}

nt_status bench_load(bench *b, const stored *row, nt_loaded *out, nt_error *err)
{
    json_t *item = NULL;
    *out = (nt_loaded){0};
    nt_status status = bench_item(b, row, &item, err);
    if (status == NT_OK)
        status = nt__worker_load(&b->worker, item, out, err);
    json_decref(item);
    return status;
}

void bench_close(bench *b)
{
    nt_workload_close(b->worker.workload);
    if (b->worker.device != NULL)
        b->worker.ops->close(b->worker.device);
    *b = (bench){0};
}
