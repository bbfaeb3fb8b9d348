/* lookup.c: from a problem to an entry: the same shape on this device, on its architecture, then another shape by the
 * cost model, then the table's default device. No allocation and no lock: everything is read from the mapped files. */
#include <math.h>
#include <stdio.h>
#include <unistd.h>

#include "runtime/table.h"

/* ---- the same shape ---- */

static bool same_key(const nntune_file *f, const nntune_file_family *family, uint32_t device, const nntune_query *q)
{
    const nntune_file_group *group = &f->group[family->group];
    return group->device == device && group->precision == (uint32_t)q->precision &&
           group->layout == (uint32_t)q->layout && group->dims == (uint32_t)q->size_count &&
           memcmp(family->size, q->size, (size_t)q->size_count * sizeof q->size[0]) == 0 &&
           strcmp(f->text + group->layer, q->layer) == 0;
}

static const nntune_file_family *find_family(const nntune_file *f, uint32_t device, const nntune_query *q)
{
    uint64_t hash =
        nntune_file_key(device, q->layer, (uint32_t)q->precision, (uint32_t)q->layout, q->size, q->size_count);
    for (uint64_t at = hash & f->index_mask;; at = (at + 1) & f->index_mask) {
        nntune_file_index slot = f->index[at];
        if (slot.family_plus_1 == 0)
            return NULL;
        if (slot.hash_high != (uint32_t)(hash >> 32))
            continue;
        const nntune_file_family *family = &f->family[slot.family_plus_1 - 1];
        if (family->hash == hash && same_key(f, family, device, q))
            return family;
    }
}

/* The last step that begins at or below the batch; the first for batches below all. */
static const nntune_file_step *find_step(const nntune_file *f, const nntune_file_family *family, int64_t batch)
{
    const nntune_file_step *step = &f->step[family->first_step];
    uint32_t low = 0, count = family->step_count;
    while (count > 1) {
        uint32_t half = count / 2;
        low = step[low + half].from <= batch ? low + half : low;
        count -= half;
    }
    return &step[low];
}

/* Measured times, on a line between the batches next to this one, in proportion beyond the ends. */
static double interpolate(const nntune_file *f, const nntune_file_family *family, int64_t batch)
{
    const nntune_file_step *first = &f->step[family->first_step], *last = first + family->step_count - 1;
    const nntune_file_step *above = first;
    while (above <= last && above->batch < batch)
        above++;
    if (above > last)
        return last->time_ns * (double)batch / (double)last->batch;
    if (above == first)
        return first->time_ns;
    const nntune_file_step *below = above - 1;
    double share = ((double)batch - (double)below->batch) / ((double)above->batch - (double)below->batch);
    return below->time_ns + share * (above->time_ns - below->time_ns);
}

static void fill(const nntune_table *table, const nntune_rank *rank, const nntune_file_family *family,
                 const nntune_file_step *step, nntune_match match, double expected_ns, nntune_result *out)
{
    const nntune_file *f = &table->file[rank->file];
    const nntune_file_environment *environment = &f->environment[step->environment];
    out->match = match;
    out->tier = rank->tier;
    out->stale = f->stale[step->environment];
    out->kernel = f->text + step->kernel;
    out->params = f->text + step->params;
    out->device = f->text + f->device[rank->device].name;
    out->driver = f->text + environment->driver;
    out->compiler = f->text + environment->compiler;
    out->source_hash = f->text + step->source_hash;
    out->size = family->size;
    out->size_count = (int)f->group[family->group].dims;
    out->batch = step->batch;
    out->time_ns = step->time_ns;
    out->expected_ns = expected_ns;
    out->error_prec = (double)step->error_prec;
    out->file = rank->file;
    out->entry = step->entry;
}

static bool same_shape(const nntune_table *table, nntune_tier tier, const nntune_query *q, nntune_result *out)
{
    bool found = false;
    for (int i = 0; i < table->rank_count; i++) {
        const nntune_rank *rank = &table->rank[i];
        if (rank->tier != tier)
            continue;
        const nntune_file *f = &table->file[rank->file];
        const nntune_file_family *family = find_family(f, rank->device, q);
        if (family == NULL)
            continue;
        const nntune_file_step *step = find_step(f, family, q->batch);
        if (step->batch == q->batch) {
            fill(table, rank, family, step, NNTUNE_MATCH_EXACT, step->time_ns, out);
            return true;
        }
        if (!found)
            fill(table, rank, family, step, NNTUNE_MATCH_BATCH, interpolate(f, family, q->batch), out);
        found = true;
    }
    return found;
}

/* ---- another shape ---- */

enum { NEAREST = 12 };

typedef struct near_family {
    const nntune_file_family *family;
    float distance;
} near_family;

/* Cheap logarithm: exponent and a straight line through the mantissa. It only chooses whom the model looks at. */
static float rough_log2(int64_t size)
{
    int exponent = 63 - __builtin_clzll((unsigned long long)size);
    return (float)exponent + (float)((double)size / (double)((uint64_t)1 << exponent)) - 1.0f;
}

static int nearest(const nntune_file *f, const nntune_file_group *group, const float *log2_size, near_family *out)
{
    int count = 0;
    for (uint32_t i = 0; i < group->family_count; i++) {
        const nntune_file_family *family = &f->family[group->first_family + i];
        float distance = 0;
        for (uint32_t d = 0; d < group->dims; d++) {
            float apart = family->log2_size[d] - log2_size[d];
            distance += apart < 0 ? -apart : apart;
        }
        if (count == NEAREST && distance >= out[count - 1].distance)
            continue;
        int at = count < NEAREST ? count++ : count - 1;
        for (; at > 0 && out[at - 1].distance > distance; at--)
            out[at] = out[at - 1];
        out[at] = (near_family){family, distance};
    }
    return count;
}

typedef struct choice {
    const nntune_rank *rank;
    const nntune_file_step *step;
    double time_ns;
} choice;

static void weigh_group(const nntune_table *table, const nntune_rank *rank, const nntune_file_group *group,
                        const nntune_query *q, choice *best)
{
    const nntune_file *f = &table->file[rank->file];
    float log2_size[NNTUNE_FILE_DIMS];
    near_family around[NEAREST];
    for (int d = 0; d < q->size_count; d++)
        log2_size[d] = rough_log2(q->size[d]);
    nntune_work work = nntune_work_of(group, q->size, q->batch);
    double roof = f->device[rank->device].bytes_per_s;
    int count = nearest(f, group, log2_size, around);
    for (int i = 0; i < count; i++) {
        const nntune_file_step *step = find_step(f, around[i].family, q->batch);
        const nntune_file_step *end = &f->step[around[i].family->first_step + around[i].family->step_count];
        for (int next = 0; next < 2 && step + next < end; next++) {
            double time_ns = nntune_cost_ns(&f->cost[step[next].entry], q->size_count, q->size, q->batch, work, roof);
            if (time_ns < best->time_ns)
                *best = (choice){rank, &step[next], time_ns};
        }
    }
}

static bool other_shape(const nntune_table *table, nntune_tier tier, const nntune_query *q, nntune_result *out)
{
    choice best = {.time_ns = INFINITY};
    for (int i = 0; i < table->rank_count; i++) {
        const nntune_rank *rank = &table->rank[i];
        const nntune_file *f = &table->file[rank->file];
        if (rank->tier != tier)
            continue;
        for (uint64_t g = 0; g < nntune_file_count(f, NNTUNE_PART_GROUP); g++) {
            const nntune_file_group *group = &f->group[g];
            if (group->device == rank->device && group->precision == (uint32_t)q->precision &&
                group->layout == (uint32_t)q->layout && group->dims == (uint32_t)q->size_count &&
                strcmp(f->text + group->layer, q->layer) == 0)
                weigh_group(table, rank, group, q, &best);
        }
    }
    if (best.rank == NULL)
        return false;
    const nntune_file *f = &table->file[best.rank->file];
    fill(table, best.rank, &f->family[f->entry[best.step->entry].family], best.step, NNTUNE_MATCH_SHAPE, best.time_ns,
         out);
    return true;
}

/* ---- misses ---- */

static void log_miss(const nntune_table *table, const nntune_query *q)
{
    static const char *const precisions[] = {"fp32", "tf32",        "fp16",        "bf16",       "int8",
                                             "fp8",  "fp16_sparse", "bf16_sparse", "int8_sparse"};
    char line[512];
    uint64_t hash = nntune_file_mix(nntune_file_key((uint32_t)table->here.kind, q->layer, (uint32_t)q->precision,
                                                    (uint32_t)q->layout, q->size, q->size_count),
                                    (uint64_t)q->batch) %
                    NNTUNE_MISS_BITS;
    unsigned long long bit = 1ull << (hash % 64);
    if (atomic_fetch_or(&table->missed[hash / 64], bit) & bit)
        return;
    int length = snprintf(line, sizeof line, "{\"type\":\"miss\",\"layer\":\"%.48s\",\"size\":[", q->layer);
    for (int i = 0; i < q->size_count; i++)
        length +=
            snprintf(line + length, sizeof line - (size_t)length, "%s%lld", i > 0 ? "," : "", (long long)q->size[i]);
    length += snprintf(line + length, sizeof line - (size_t)length,
                       "],\"batch\":%lld,\"precision\":\"%s\",\"layout\":\"%s\"}\n", (long long)q->batch,
                       precisions[q->precision], q->layout == NNTUNE_NCHW ? "nchw" : "nhwc");
    /* One write of one line: whole lines also from several processes. A full disk costs the line, not the program. */
    if (write(table->miss_log, line, (size_t)length) < 0)
        return;
}

/* ---- the answer ---- */

static bool sensible(const nntune_query *q)
{
    if (q->layer == NULL || q->size_count < 0 || q->size_count > NNTUNE_MAX_SIZES ||
        (q->size_count > 0 && q->size == NULL) || (unsigned)q->precision > NNTUNE_INT8_SPARSE ||
        (unsigned)q->layout > NNTUNE_NCHW || q->batch < 1)
        return false;
    int64_t all = q->batch;
    for (int i = 0; i < q->size_count; i++)
        if (q->size[i] < 1 || __builtin_mul_overflow(all, q->size[i], &all))
            return false;
    return true;
}

nntune_status nntune_lookup(const nntune_table *table, const nntune_query *query, nntune_result *out)
{
    if (!sensible(query))
        return NNTUNE_INVALID;
    bool found =
        same_shape(table, NNTUNE_TIER_DEVICE, query, out) || same_shape(table, NNTUNE_TIER_ARCHITECTURE, query, out) ||
        other_shape(table, NNTUNE_TIER_DEVICE, query, out) ||
        other_shape(table, NNTUNE_TIER_ARCHITECTURE, query, out) ||
        same_shape(table, NNTUNE_TIER_DEFAULT, query, out) || other_shape(table, NNTUNE_TIER_DEFAULT, query, out);
    if (table->miss_log >= 0 && (!found || out->match != NNTUNE_MATCH_EXACT || out->tier != NNTUNE_TIER_DEVICE))
        log_miss(table, query);
    if (!found)
        return table->rank_count == 0 ? NNTUNE_FOREIGN : NNTUNE_NOT_FOUND;
    return out->stale && !table->accept_stale ? NNTUNE_STALE : NNTUNE_OK;
}
