/* db_fixture.h: records that look like a sweep's, and a scratch folder, for the tests and the benchmark of db/. */
#ifndef NT_TEST_DB_FIXTURE_H
#define NT_TEST_DB_FIXTURE_H

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "core/mem.h"
#include "db/db.h"

enum { FIXTURE_SAMPLES = 6 };

/* A path in a fresh folder; the folder goes with fixture_remove. Returned text is static to the caller's buffer. */
static inline void fixture_path(char path[256])
{
    char folder[] = "/tmp/nntune-test-XXXXXX";
    if (mkdtemp(folder) == NULL)
        abort();
    snprintf(path, 256, "%s/t.db", folder);
}

static inline void fixture_remove(const char *path)
{
    char command[600];
    snprintf(command, sizeof command, "rm -rf \"$(dirname '%s')\"", path);
    if (system(command) != 0)
        fprintf(stderr, "%s stays\n", path);
}

static inline void fixture_device(nt_device_info *device, int number)
{
    nt_device_info_init(device, NT_DEVICE_FAKE);
    snprintf(device->name, sizeof device->name, "Fake %d", number);
    snprintf(device->uuid, sizeof device->uuid, "FAKE-%d", number);
    nt_copy(device->driver, sizeof device->driver, "1.0");
    nt_copy(device->compiler, sizeof device->compiler, "fakec 1");
    nt_copy(device->arch, sizeof device->arch, "fake_1");
    device->sm_count = 4;
    device->peak_flops[NT_FP32] = 1e12;
}

static inline void fixture_run(nt_run *run, int device, const char *options)
{
    nt_run_init(run);
    run->command = nt_strdup("nntune sweep conv3x3");
    run->options_json = nt_strdup(options);
    nt_copy(run->strategy, sizeof run->strategy, "random");
    nt_copy(run->host, sizeof run->host, "here");
    run->seed = UINT64_MAX;
    fixture_device(&run->device, device);
}

static inline nt_problem fixture_problem(int64_t batch)
{
    nt_problem problem = {.batch = batch, .precision = NT_BF16, .layout = NT_NHWC, .fill = NT_FILL_NORMAL};
    nt_copy(problem.layer, sizeof problem.layer, "conv3x3");
    nt_shape_parse("c=64,k=64,h=56,w=56", &problem.shape, NULL);
    return problem;
}

static inline char *fixture_params(int number)
{
    nt_str text = {0};
    nt_str_addf(&text, "{\"tile_m\":%d,\"tile_n\":%d,\"stages\":%d}", number % 64, number / 64 % 64, number / 4096);
    return text.data;
}

/* An ok trial with six samples around time_ns. */
static inline void fixture_trial(nt_trial *trial, int64_t batch, int params, double time_ns)
{
    nt_trial_init(trial);
    trial->problem = fixture_problem(batch);
    nt_copy(trial->kernel, sizeof trial->kernel, "direct");
    nt_copy(trial->source_hash, sizeof trial->source_hash, "00112233445566778899aabbccddeeff");
    trial->params_json = fixture_params(params);
    trial->outcome = NT_OUTCOME_OK;
    trial->time_ns = time_ns;
    trial->time_lo_ns = time_ns * 0.99;
    trial->time_hi_ns = time_ns * 1.01;
    trial->converged = true;
    trial->samples.count = FIXTURE_SAMPLES;
    trial->samples.launches_per_sample = 10;
    trial->samples.sample_ns = nt_alloc_zero(FIXTURE_SAMPLES, sizeof(double));
    for (int i = 0; i < FIXTURE_SAMPLES; i++)
        trial->samples.sample_ns[i] = time_ns * (1 + 0.001 * (i - 2.5));
    trial->error_impl = 0.1;
    trial->error_prec = 0.001;
}

static inline nt_status fixture_put(nt_sink *sink, int64_t batch, int params, double time_ns, int64_t *id,
                                    nt_error *err)
{
    nt_trial trial;
    fixture_trial(&trial, batch, params, time_ns);
    nt_status status = sink->put(sink, &trial, NULL, err);
    if (id != NULL)
        *id = trial.id;
    nt_trial_done(&trial);
    return status;
}

/* The first cell of a query's first row as a number, NAN when there is none. */
static inline bool fixture_first_cell(void *context, const nt_row *row)
{
    double *out = context;
    const nt_cell *cell = &row->cell[0];
    *out = cell->kind == NT_CELL_INT ? (double)cell->i : cell->kind == NT_CELL_REAL ? cell->r : (double)NAN;
    return false;
}

static inline double fixture_number(const char *path, const char *sql)
{
    nt_reader *reader;
    nt_error err = {0};
    double value = (double)NAN;
    if (nt_db_reader_open(path, &reader, &err) != NT_OK) {
        fprintf(stderr, "%s\n", err.what);
        return value;
    }
    if (reader->query(reader, sql, fixture_first_cell, &value, &err) != NT_OK)
        fprintf(stderr, "%s\n", err.what);
    reader->close(reader);
    return value;
}

#endif
