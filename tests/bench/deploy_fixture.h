/* deploy_fixture.h: a deployment table of any size whose answers are known: shapes x batches x precisions x layouts of a layer
 * with a cost of c x k x h x w x batch. */
#ifndef DEPLOY_FIXTURE_H
#define DEPLOY_FIXTURE_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/mem.h"
#include "reports/table.h"
#include "runtime/nntune.h"

enum { FIXTURE_DIMS = 4 };

static const char fixture_keys[FIXTURE_DIMS][2] = {"c", "k", "h", "w"};

static inline nntune_device fixture_device(void)
{
    nntune_device device = {.kind = NNTUNE_CUDA, .sm_count = 132};
    strcpy(device.name, "NVIDIA H200");
    strcpy(device.arch, "sm_90");
    return device;
}

/* Sizes of shape `i`: all different. */
static inline void fixture_sizes(int i, int64_t sizes[FIXTURE_DIMS])
{
    sizes[0] = 16 + 16 * (i % 10);
    sizes[1] = 32 + 16 * (i / 10 % 10);
    sizes[2] = 7 + 7 * (i / 100);
    sizes[3] = 14 + i % 3;
}

static inline nt_problem fixture_problem(int shape, int batch, int precision, int layout)
{
    nt_problem problem = {.batch = (int64_t)1 << batch,
                          .precision = (nt_precision)precision,
                          .layout = (nt_layout)layout,
                          .shape = {.count = FIXTURE_DIMS}};
    int64_t sizes[FIXTURE_DIMS];
    strcpy(problem.layer, "conv3x3");
    fixture_sizes(shape, sizes);
    for (int d = 0; d < FIXTURE_DIMS; d++) {
        strcpy(problem.shape.dim[d].key, fixture_keys[d]);
        problem.shape.dim[d].size = sizes[d];
    }
    return problem;
}

static inline void fixture_entry(const nt_problem *problem, int number, nt_deploy_entry *out)
{
    double flop = 18 * (double)problem->batch;
    char params[96];
    nt_deploy_entry_init(out);
    out->problem = *problem;
    strcpy(out->kernel, number % 2 ? "igemm" : "direct");
    snprintf(params, sizeof params, "{\"tile_m\":%d,\"tile_n\":%d,\"stages\":%d}", 16 << number % 4, 16 << number / 4 % 4,
             2 + number / 16 % 3);
    out->params_json = nt_strdup(params);
    strcpy(out->driver, "580.65 (CUDA 13.0)");
    strcpy(out->compiler, "NVRTC 13.0");
    for (int d = 0; d < FIXTURE_DIMS; d++) {
        flop *= (double)problem->shape.dim[d].size;
        out->cost.tile[d] = d == 0 ? 0 : 8;
    }
    out->cost.tile[FIXTURE_DIMS] = 1;
    out->time_ns = 5000 + flop / 1e5;
    out->time_lo_ns = out->time_ns * 0.995;
    out->time_hi_ns = out->time_ns * 1.005;
    out->cost.block_scale = 1;
    out->cost.slots = 132 * 4;
    out->cost.wave_ns = out->time_ns / 4;
    out->cost.flop_per_block = flop / 1000;
    out->error_prec = 1e-3;
}

static inline void fixture_work(nt_deploy *table, int precision, int layout)
{
    nt_deploy_work work = {.precision = (nt_precision)precision, .layout = (nt_layout)layout, .flop = {.scale = 18}};
    strcpy(work.layer, "conv3x3");
    for (int d = 0; d <= FIXTURE_DIMS; d++) {
        work.flop.exponent[d] = 1;
        work.bytes[0].exponent[d] = d != 1;
        work.bytes[1].exponent[d] = d < 2;
        work.bytes[2].exponent[d] = d != 0;
    }
    work.bytes[0].scale = work.bytes[2].scale = 4;
    work.bytes[1].scale = 36;
    nt_deploy_add_work(table, &work);
}

static inline void fixture_table(int shapes, int batches, int precisions, int layouts, nt_deploy *out)
{
    nt_deploy_device device = {
        .name = "NVIDIA H200", .arch = "sm_90", .uuid = "GPU-1", .kind = NT_DEVICE_CUDA, .sm_count = 132, .bytes_per_s = 4.8e12};
    int number = 0;
    *out = (nt_deploy){0};
    nt_deploy_add_device(out, &device);
    for (int p = 0; p < precisions; p++)
        for (int l = 0; l < layouts; l++)
            fixture_work(out, p, l);
    for (int s = 0; s < shapes; s++)
        for (int p = 0; p < precisions; p++)
            for (int l = 0; l < layouts; l++)
                for (int b = 0; b < batches; b++) {
                    nt_deploy_entry entry;
                    nt_problem problem = fixture_problem(s, b, p, l);
                    fixture_entry(&problem, number++, &entry);
                    nt_deploy_add_entry(out, &entry);
                }
    nt_deploy_arrange(out);
}

/* Writes the bundle; false when that fails. */
static inline bool fixture_write(const nt_deploy *table, const char *path)
{
    void *data = NULL;
    size_t bytes = 0;
    bool ok = nt_deploy_bundle(table, &data, &bytes, NULL) == NT_OK;
    FILE *file = ok ? fopen(path, "wbe") : NULL;
    ok = file != NULL && fwrite(data, 1, bytes, file) == bytes;
    ok = file != NULL && fclose(file) == 0 && ok;
    free(data);
    return ok;
}

#endif
