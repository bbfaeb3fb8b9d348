/* deploy_regret.c: opening a table with the runtime, and leaving rows out of it to see what the rest would have chosen.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "cli/deploy.h"
#include "core/mem.h"
#include "core/stats.h"

enum { MOST_LEFT_OUT = 200 };

static nt_status place(const void *data, size_t bytes, int *fd, nt_error *err)
{
    const char *at = data;
    *fd = memfd_create("nntune-table", MFD_CLOEXEC);
    while (*fd >= 0 && bytes > 0) {
        ssize_t wrote = write(*fd, at, bytes);
        if (wrote <= 0) {
            close(*fd);
            *fd = -1;
        } else {
            at += wrote;
            bytes -= (size_t)wrote;
        }
    }
    return *fd >= 0 ? NT_OK : nt_fail(err, NT_IO, "no room in memory for a table of %zu bytes", bytes);
}

static const nt_status statuses[] = {NT_OK,    NT_NOT_FOUND, NT_CORRUPT,   NT_NO_DEVICE, NT_REGRESSION,
                                     NT_USAGE, NT_NO_DEVICE, NT_NOT_FOUND, NT_FAILED};

nt_status nt_deploy_open(const nt_deploy *table, const nntune_device *device, unsigned flags, nntune_table **out,
                         nt_error *err)
{
    void *data = NULL;
    size_t bytes = 0;
    char path[64], why[NNTUNE_WHY_BYTES];
    int fd = -1;
    nt_status status = nt_deploy_bundle(table, &data, &bytes, err);
    if (status == NT_OK)
        status = place(data, bytes, &fd, err);
    free(data);
    if (status != NT_OK)
        return status;
    snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
    nntune_status opened = nntune_table_open(path, device, flags, out, why);
    close(fd);
    return opened == NNTUNE_OK ? NT_OK : nt_fail(err, statuses[opened], "%s", why);
}

void nt_deploy_query(const nt_problem *problem, int64_t sizes[NT_MAX_DIMS], nntune_query *out)
{
    for (int i = 0; i < problem->shape.count; i++)
        sizes[i] = problem->shape.dim[i].size;
    *out = (nntune_query){.layer = problem->layer,
                          .size = sizes,
                          .size_count = problem->shape.count,
                          .batch = problem->batch,
                          .precision = (nntune_precision)problem->precision,
                          .layout = (nntune_layout)problem->layout};
}

/* ---- leaving out ----------------------------------------------------------------------------------------------------- */

static bool same_group(const nt_deploy_entry *a, const nt_deploy_entry *b)
{
    return a->device == b->device && a->problem.precision == b->problem.precision &&
           a->problem.layout == b->problem.layout && strcmp(a->problem.layer, b->problem.layer) == 0;
}

/* The entries of the same group without this one, or without its shape. Borrows everything. */
static void without(const nt_deploy *table, const nt_deploy_entry *left, bool whole_shape, nt_deploy *out)
{
    *out = *table;
    out->lean = true;
    out->code_count = 0;
    out->entry = nt_alloc(table->entry_count * sizeof *out->entry);
    out->entry_count = 0;
    for (size_t i = 0; i < table->entry_count; i++) {
        const nt_deploy_entry *e = &table->entry[i];
        if (!same_group(e, left) || e == left || (whole_shape && nt_deploy_same_family(e, left)))
            continue;
        out->entry[out->entry_count] = *e;
        out->entry[out->entry_count].launch = NULL;
        out->entry[out->entry_count++].code = -1;
    }
    nt_deploy_arrange(out);
}

/* Time of what the rest chooses over the time of what was left out. NAN: not measured. False: there is no rest. */
static bool left_out_ratio(nt_deploy *table, const nt_deploy_entry *left, bool whole_shape, double *ratio)
{
    nt_deploy rest;
    nntune_table *open = NULL;
    nntune_query query;
    nntune_result result;
    int64_t sizes[NT_MAX_DIMS];
    bool found = false;
    nntune_device device = {.kind = table->device[left->device].kind == NT_DEVICE_CUDA ? NNTUNE_CUDA : NNTUNE_CPU,
                            .sm_count = table->device[left->device].sm_count};
    nt_copy(device.name, sizeof device.name, table->device[left->device].name);
    nt_copy(device.arch, sizeof device.arch, table->device[left->device].arch);
    without(table, left, whole_shape, &rest);
    if (rest.entry_count > 0 &&
        nt_deploy_open(&rest, &device, NNTUNE_ACCEPT_STALE | NNTUNE_ALONE, &open, NULL) == NT_OK) {
        nt_deploy_query(&left->problem, sizes, &query);
        found = nntune_lookup(open, &query, &result) == NNTUNE_OK;
        /* A batch left out of a shape that has no other is a shape left out. */
        found = found && (whole_shape || result.match != NNTUNE_MATCH_SHAPE);
        if (found)
            *ratio =
                nt_deploy_time_at(table, left->device, &left->problem, result.kernel, result.params) / left->time_ns;
    }
    nntune_table_close(open);
    free(rest.entry);
    return found;
}

static nt_regret *find_row(nt_regret **rows, size_t *count, size_t *capacity, const nt_problem *problem,
                           bool whole_shape)
{
    for (size_t i = 0; i < *count; i++)
        if ((*rows)[i].precision == problem->precision && (*rows)[i].whole_shape == whole_shape &&
            strcmp((*rows)[i].layer, problem->layer) == 0)
            return &(*rows)[i];
    nt_grow((void **)rows, capacity, *count + 1, sizeof **rows);
    nt_regret *row = &(*rows)[(*count)++];
    *row = (nt_regret){.precision = problem->precision,
                       .whole_shape = whole_shape,
                       .mean = NAN,
                       .p90 = NAN,
                       .most = NAN,
                       .upper = NAN};
    nt_copy(row->layer, sizeof row->layer, problem->layer);
    return row;
}

typedef struct outcome {
    size_t row;
    double ratio;
    double deviation; /* of its logarithm, by the interval of the entry left out; NAN unknown */
} outcome;

/* Two times make a ratio, each as uncertain as the entry's own. */
static double deviation_of(const nt_deploy_entry *e)
{
    return sqrt(2) * log(e->time_hi_ns / e->time_lo_ns) / 2 / 1.96;
}

/* Student's t, one-sided 95 %, by degrees of freedom. */
static double student_95(size_t freedom)
{
    static const double t[] = {NAN, 6.314, 2.920, 2.353, 2.132, 2.015, 1.943, 1.895, 1.860, 1.833, 1.812};
    return freedom < sizeof t / sizeof t[0] ? t[freedom] : 1.645 + 1.7 / (double)freedom;
}

/* Upper end of the mean of logarithms: what the ratios scatter by and what times are uncertain by, because few ratios
 * may happen to agree. */
static double upper_mean(const double *ratios, size_t count, double noise_squares)
{
    double mean = 0, squares = 0, n = (double)count;
    for (size_t i = 0; i < count; i++)
        mean += log(ratios[i]) / n;
    for (size_t i = 0; i < count; i++)
        squares += (log(ratios[i]) - mean) * (log(ratios[i]) - mean);
    double variance = squares / (n - 1);
    return count < 2 ? (double)NAN
                     : expm1(mean + student_95(count - 1) * sqrt(variance / n) + 1.645 * sqrt(noise_squares) / n);
}

static void summarise(nt_regret *rows, size_t count, const outcome *outcomes, size_t outcome_count)
{
    double *ratios = nt_alloc(outcome_count * sizeof *ratios);
    for (size_t r = 0; r < count; r++) {
        size_t known = 0;
        double noise_squares = 0;
        for (size_t i = 0; i < outcome_count; i++)
            if (outcomes[i].row == r && !isnan(outcomes[i].ratio)) {
                ratios[known++] = outcomes[i].ratio < 1 ? 1 : outcomes[i].ratio; /* a tie that noise turned over */
                noise_squares += isnan(outcomes[i].deviation) ? 0 : outcomes[i].deviation * outcomes[i].deviation;
            }
        rows[r].known = (int64_t)known;
        if (known == 0)
            continue;
        rows[r].mean = nt_geomean(ratios, known) - 1;
        rows[r].p90 = nt_quantile(ratios, known, 0.9) - 1;
        rows[r].most = nt_quantile(ratios, known, 1) - 1;
        rows[r].upper = upper_mean(ratios, known, noise_squares);
    }
    free(ratios);
}

nt_status nt_deploy_regret(nt_deploy *table, nt_regret **out, size_t *count, nt_error *err)
{
    size_t step = table->entry_count / MOST_LEFT_OUT + 1, capacity = 0, tried = 0;
    outcome *outcomes = nt_alloc_zero(2 * (table->entry_count / step + 1), sizeof *outcomes);
    (void)err;
    *out = NULL;
    *count = 0;
    for (size_t i = 0; i < table->entry_count; i += step)
        for (int whole = 0; whole < 2; whole++) {
            double ratio = NAN;
            if (!left_out_ratio(table, &table->entry[i], whole, &ratio))
                continue;
            nt_regret *row = find_row(out, count, &capacity, &table->entry[i].problem, whole);
            row->tried++;
            outcomes[tried++] = (outcome){(size_t)(row - *out), ratio, deviation_of(&table->entry[i])};
        }
    summarise(*out, *count, outcomes, tried);
    free(outcomes);
    return NT_OK;
}
