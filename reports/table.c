/* table.c: the records of a deployment table: adding, merging, the order of entries and where batch ranges meet. */
#include "reports/table.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/hash.h"
#include "core/mem.h"

void nt_deploy_entry_init(nt_deploy_entry *entry)
{
    *entry = (nt_deploy_entry){.code = -1, .from_batch = 1};
    entry->time_ns = entry->time_lo_ns = entry->time_hi_ns = entry->floor_ns = NAN;
    entry->error_impl = entry->error_prec = NAN;
    entry->cost.block_scale = entry->cost.slots = entry->cost.wave_ns = entry->cost.flop_per_block = NAN;
    for (int i = 0; i <= NT_MAX_DIMS; i++)
        entry->cost.multiple[i] = 1;
}

nt_deploy_number nt_deploy_constant(int64_t value)
{
    return (nt_deploy_number){.base = value, .divisor = 1, .most = INT64_MAX};
}

void nt_deploy_entry_done(nt_deploy_entry *entry)
{
    free(entry->params_json);
    if (entry->launch != NULL)
        free(entry->launch->stage);
    free(entry->launch);
    nt_deploy_entry_init(entry);
}

void nt_deploy_done(nt_deploy *table)
{
    for (size_t i = 0; i < table->entry_count; i++)
        nt_deploy_entry_done(&table->entry[i]);
    for (size_t i = 0; i < table->code_count; i++)
        free(table->code[i].data);
    free(table->device);
    free(table->entry);
    free(table->work);
    free(table->code);
    free(table->time);
    *table = (nt_deploy){0};
}

/* ---- adding ---------------------------------------------------------------------------------------------------------- */

int nt_deploy_add_device(nt_deploy *table, const nt_deploy_device *device)
{
    for (size_t i = 0; i < table->device_count; i++) {
        nt_deploy_device *is = &table->device[i];
        if (is->kind == device->kind && is->sm_count == device->sm_count && strcmp(is->name, device->name) == 0 &&
            strcmp(is->arch, device->arch) == 0) {
            is->is_default = is->is_default || device->is_default;
            return (int)i;
        }
    }
    nt_grow((void **)&table->device, &table->device_capacity, table->device_count + 1, sizeof *table->device);
    table->device[table->device_count] = *device;
    return (int)table->device_count++;
}

bool nt_deploy_same_family(const nt_deploy_entry *a, const nt_deploy_entry *b)
{
    return a->device == b->device && a->problem.precision == b->problem.precision &&
           a->problem.layout == b->problem.layout && strcmp(a->problem.layer, b->problem.layer) == 0 &&
           nt_shape_equal(&a->problem.shape, &b->problem.shape);
}

bool nt_deploy_same_config(const nt_deploy_entry *a, const nt_deploy_entry *b)
{
    return strcmp(a->kernel, b->kernel) == 0 && strcmp(a->params_json, b->params_json) == 0;
}

/* Entries are added in order or few at a time, so the search begins at the end. */
bool nt_deploy_add_entry(nt_deploy *table, nt_deploy_entry *entry)
{
    for (size_t i = table->entry_count; i-- > 0;) {
        nt_deploy_entry *is = &table->entry[i];
        if (is->problem.batch != entry->problem.batch || !nt_deploy_same_family(is, entry))
            continue;
        nt_deploy_entry_done(is);
        *is = *entry;
        nt_deploy_entry_init(entry);
        return true;
    }
    nt_grow((void **)&table->entry, &table->entry_capacity, table->entry_count + 1, sizeof *table->entry);
    table->entry[table->entry_count++] = *entry;
    nt_deploy_entry_init(entry);
    return false;
}

int nt_deploy_add_code(nt_deploy *table, const char *key, const void *data, size_t bytes)
{
    for (size_t i = 0; i < table->code_count; i++)
        if (strcmp(table->code[i].key, key) == 0)
            return (int)i;
    nt_grow((void **)&table->code, &table->code_capacity, table->code_count + 1, sizeof *table->code);
    nt_deploy_code *code = &table->code[table->code_count];
    nt_copy(code->key, sizeof code->key, key);
    code->data = nt_alloc(bytes > 0 ? bytes : 1);
    code->bytes = bytes;
    memcpy(code->data, data, bytes);
    return (int)table->code_count++;
}

const nt_deploy_work *nt_deploy_find_work(const nt_deploy *table, const nt_problem *problem)
{
    for (size_t i = 0; i < table->work_count; i++)
        if (table->work[i].precision == problem->precision && table->work[i].layout == problem->layout &&
            strcmp(table->work[i].layer, problem->layer) == 0)
            return &table->work[i];
    return NULL;
}

void nt_deploy_add_work(nt_deploy *table, const nt_deploy_work *work)
{
    nt_grow((void **)&table->work, &table->work_capacity, table->work_count + 1, sizeof *table->work);
    table->work[table->work_count++] = *work;
}

/* ---- merging --------------------------------------------------------------------------------------------------------- */

static void copy_entry(const nt_deploy *from, const nt_deploy_entry *entry, nt_deploy *into, nt_deploy_entry *out)
{
    *out = *entry;
    out->device = nt_deploy_add_device(into, &from->device[entry->device]);
    out->params_json = nt_strdup(entry->params_json);
    if (entry->launch != NULL) {
        size_t bytes = (size_t)(entry->launch->prepare_count + entry->launch->stage_count) * sizeof(nt_deploy_stage);
        out->launch = nt_alloc(sizeof *out->launch);
        *out->launch = *entry->launch;
        out->launch->stage = nt_alloc(bytes);
        memcpy(out->launch->stage, entry->launch->stage, bytes);
    }
    if (entry->code >= 0) {
        const nt_deploy_code *code = &from->code[entry->code];
        out->code = nt_deploy_add_code(into, code->key, code->data, code->bytes);
    }
}

size_t nt_deploy_merge(nt_deploy *into, const nt_deploy *from)
{
    size_t replaced = 0;
    for (size_t i = 0; i < from->work_count; i++) {
        nt_problem like = {.precision = from->work[i].precision, .layout = from->work[i].layout};
        nt_copy(like.layer, sizeof like.layer, from->work[i].layer);
        if (nt_deploy_find_work(into, &like) == NULL)
            nt_deploy_add_work(into, &from->work[i]);
    }
    for (size_t i = 0; i < from->entry_count; i++) {
        nt_deploy_entry copy;
        copy_entry(from, &from->entry[i], into, &copy);
        replaced += nt_deploy_add_entry(into, &copy);
    }
    nt_deploy_arrange(into);
    return replaced;
}

/* ---- times elsewhere ------------------------------------------------------------------------------------------------- */

static void time_key(int device, const nt_problem *problem, const char *kernel, const char *params,
                     char out[NT_KEY_BYTES])
{
    nt_str text = {0};
    nt_problem_print(&text, problem);
    nt_str_addf(&text, " %s device %d", nt_fill_name(problem->fill), device);
    const char *const texts[] = {nt_str_text(&text), kernel, params};
    nt_hash_texts(texts, 3, out);
    nt_str_done(&text);
}

void nt_deploy_add_time(nt_deploy *table, int device, const nt_problem *problem, const char *kernel,
                        const char *params_json, double time_ns)
{
    nt_grow((void **)&table->time, &table->time_capacity, table->time_count + 1, sizeof *table->time);
    nt_deploy_time *time = &table->time[table->time_count++];
    time_key(device, problem, kernel, params_json, time->key);
    time->time_ns = time_ns;
    table->times_sorted = false;
}

static int by_key(const void *a, const void *b)
{
    const nt_deploy_time *x = a, *y = b;
    int order = strcmp(x->key, y->key);
    return order != 0 ? order : (x->time_ns > y->time_ns) - (x->time_ns < y->time_ns);
}

double nt_deploy_time_at(nt_deploy *table, int device, const nt_problem *problem, const char *kernel,
                         const char *params_json)
{
    char key[NT_KEY_BYTES];
    size_t low = 0, high = table->time_count;
    if (!table->times_sorted && table->time_count > 0)
        qsort(table->time, table->time_count, sizeof *table->time, by_key);
    table->times_sorted = true;
    time_key(device, problem, kernel, params_json, key);
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (strcmp(table->time[middle].key, key) < 0)
            low = middle + 1;
        else
            high = middle;
    }
    return low < table->time_count && strcmp(table->time[low].key, key) == 0 ? table->time[low].time_ns : (double)NAN;
}

/* ---- order and ranges ------------------------------------------------------------------------------------------------ */

static int by_size(const nt_shape *a, const nt_shape *b)
{
    if (a->count != b->count)
        return a->count - b->count;
    for (int i = 0; i < a->count; i++)
        if (a->dim[i].size != b->dim[i].size)
            return a->dim[i].size < b->dim[i].size ? -1 : 1;
    return 0;
}

static int by_problem(const void *a, const void *b)
{
    const nt_deploy_entry *x = a, *y = b;
    int order = x->device - y->device;
    order = order != 0 ? order : strcmp(x->problem.layer, y->problem.layer);
    order = order != 0 ? order : (int)x->problem.precision - (int)y->problem.precision;
    order = order != 0 ? order : (int)x->problem.layout - (int)y->problem.layout;
    order = order != 0 ? order : by_size(&x->problem.shape, &y->problem.shape);
    return order != 0 ? order : (x->problem.batch > y->problem.batch) - (x->problem.batch < y->problem.batch);
}

/* Where two lines of time over batch cross, each through what was measured of one configuration at both batches. Where
 * one of them was not measured at the other's batch, or they do not cross, the geometric middle. */
static int64_t crossover(nt_deploy *table, const nt_deploy_entry *below, const nt_deploy_entry *above)
{
    int64_t lo = below->problem.batch, hi = above->problem.batch;
    int64_t middle = (int64_t)ceil(sqrt((double)lo * (double)hi));
    double below_at_hi = nt_deploy_time_at(table, below->device, &above->problem, below->kernel, below->params_json);
    double above_at_lo = nt_deploy_time_at(table, above->device, &below->problem, above->kernel, above->params_json);
    double lead_lo = above_at_lo - below->time_ns, lead_hi = below_at_hi - above->time_ns;
    if (lead_lo >= 0 && lead_hi >= 0 && lead_lo + lead_hi > 0)
        middle = (int64_t)ceil((double)lo + (double)(hi - lo) * lead_lo / (lead_lo + lead_hi));
    return middle <= lo ? lo + 1 : middle > hi ? hi : middle;
}

void nt_deploy_arrange(nt_deploy *table)
{
    if (table->entry_count > 1)
        qsort(table->entry, table->entry_count, sizeof *table->entry, by_problem);
    for (size_t i = 0; i < table->entry_count; i++) {
        nt_deploy_entry *entry = &table->entry[i], *below = i > 0 ? entry - 1 : NULL;
        if (below == NULL || !nt_deploy_same_family(below, entry))
            entry->from_batch = 1;
        else if (nt_deploy_same_config(below, entry) || table->time_count > 0 ||
                 entry->from_batch <= below->problem.batch || entry->from_batch > entry->problem.batch)
            entry->from_batch = crossover(table, below, entry);
    }
}

size_t nt_deploy_range(const nt_deploy *table, size_t first, int64_t *lo, int64_t *hi)
{
    size_t end = first + 1;
    while (end < table->entry_count && nt_deploy_same_family(&table->entry[first], &table->entry[end]) &&
           nt_deploy_same_config(&table->entry[first], &table->entry[end]))
        end++;
    bool last = end == table->entry_count || !nt_deploy_same_family(&table->entry[first], &table->entry[end]);
    *lo = table->entry[first].from_batch;
    *hi = last ? INT64_MAX : table->entry[end].from_batch - 1;
    return end;
}
