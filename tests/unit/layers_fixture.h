/* layers_fixture.h: for tests of the memory-bound layers and attention: their odd shapes, a problem with its data as
 * memory rounds it, its reference, and the judgement of an output under a kernel's own bound. Include it after
 * cmocka.h.
 */
#ifndef LAYERS_FIXTURE_H
#define LAYERS_FIXTURE_H

#include "autotune/space.h"
#include "core/convert.h"
#include "core/mem.h"
#include "core/random.h"
#include "kernels/kernel.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { FIXTURE_SHAPES = 5, FIXTURE_BATCH = 2 };

/* Shapes that end in the middle of vectors, tiles and blocks. */
static const struct {
    const char *layer;
    const char *shapes[FIXTURE_SHAPES];
} fixture_layers[] = {
    {"relu", {"c=1,h=1,w=1", "c=3,h=7,w=5", "c=64,h=4,w=8", "c=31,h=33,w=3", "c=16,h=20,w=20"}},
    {"add", {"c=1,h=1,w=1", "c=3,h=7,w=5", "c=64,h=4,w=8", "c=31,h=33,w=3", "c=16,h=20,w=20"}},
    {"maxpool",
     {"c=3,h=7,w=5", "c=1,h=1,w=1", "c=24,h=9,w=12,window=2", "c=9,h=6,w=7,window=5,stride=1", "c=32,h=13,w=18"}},
    {"avgpool",
     {"c=24,h=7,w=7", "c=5,h=3,w=11", "c=9,h=8,w=5,window=2", "c=16,h=9,w=9,window=3,stride=2", "c=130,h=1,w=9"}},
    {"softmax", {"rows=7,c=36", "rows=1,c=1", "rows=3,c=197", "rows=9,c=64", "rows=2,c=1000"}},
    {"layernorm", {"rows=7,c=36", "rows=1,c=2", "rows=3,c=197", "rows=9,c=64", "rows=2,c=768"}},
    {"attention",
     {"heads=2,tokens=37,d=16", "heads=1,tokens=1,d=16", "heads=3,tokens=19,d=20", "heads=2,tokens=70,d=64",
      "heads=1,tokens=33,d=48"}},
};
enum { FIXTURE_LAYERS = sizeof fixture_layers / sizeof fixture_layers[0] };

typedef struct fixture {
    const nt_layer *layer;
    nt_problem problem;
    nt_extents e;
    float *in, *weight;              /* as rounded in memory */
    void *in_memory, *weight_memory; /* as they lie there */
    double *ref, *abs;
} fixture;

static const nt_precision_row *fixture_row(const fixture *f)
{
    return &nt_precisions[f->problem.precision];
}

static inline size_t fixture_in_bytes(const fixture *f)
{
    return (size_t)f->e.in * nt_dtype_bytes(fixture_row(f)->in);
}

static inline size_t fixture_weight_bytes(const fixture *f)
{
    return (size_t)f->e.weight * nt_dtype_bytes(fixture_row(f)->weight);
}

static inline size_t fixture_out_bytes(const fixture *f)
{
    return (size_t)f->e.out * nt_dtype_bytes(fixture_row(f)->out);
}

/* `n` random values of a type, in memory; *values what they are. int8 has its whole range. */
static void *fixture_draw(nt_dtype type, size_t n, uint64_t stream, float **values)
{
    const float scale = 1.0f / 64;
    void *memory = nt_alloc(n * nt_dtype_bytes(type) + 1);
    *values = nt_alloc((n + 1) * sizeof(float));
    nt_random_fill(NT_FILL_NORMAL, 5, stream, 0, *values, n);
    nt_pack(type, *values, n, &scale, 1, 1, memory);
    nt_unpack(type, memory, n, *values);
    return memory;
}

static fixture fixture_new(const char *layer, const char *shape, int64_t batch, nt_precision precision,
                           nt_layout layout)
{
    fixture f = {.layer = nt_layer_find(layer), .problem = {.batch = batch, .precision = precision, .layout = layout}};
    nt_error err = {0};
    assert_non_null(f.layer);
    nt_copy(f.problem.layer, sizeof f.problem.layer, layer);
    if (f.layer->parse_shape(shape, &f.problem.shape, &err) != NT_OK ||
        f.layer->extents(&f.problem, &f.e, &err) != NT_OK)
        fail_msg("%s %s: %s", layer, shape, err.what);
    f.in_memory = fixture_draw(fixture_row(&f)->in, (size_t)f.e.in, 1, &f.in);
    f.weight_memory = fixture_draw(fixture_row(&f)->weight, (size_t)f.e.weight, 2, &f.weight);
    if (f.layer->amend_weight != NULL) {
        f.layer->amend_weight(&f.problem, f.weight);
        nt_pack(fixture_row(&f)->weight, f.weight, (size_t)f.e.weight, NULL, 1, 1, f.weight_memory);
        nt_unpack(fixture_row(&f)->weight, f.weight_memory, (size_t)f.e.weight, f.weight);
    }
    f.ref = nt_alloc((size_t)f.e.out * sizeof(double));
    f.abs = nt_alloc((size_t)f.e.out * sizeof(double));
    for (int64_t i = 0; i < f.e.out; i++)
        f.ref[i] = f.abs[i] = NAN;
    int64_t rows = f.layer->reference_rows(&f.problem); /* in three parts, as threads share it */
    for (int part = 0; part < 3; part++)
        f.layer->reference(&f.problem, NT_BOUND_DIRECT, f.in, f.weight, f.ref, f.abs, rows * part / 3,
                           rows * (part + 1) / 3);
    return f;
}

static void fixture_done(fixture *f)
{
    free(f->in);
    free(f->weight);
    free(f->in_memory);
    free(f->weight_memory);
    free(f->ref);
    free(f->abs);
}

/* Outputs that are not within the kernel's own bound of the reference; NaN is not. */
static inline size_t fixture_violations(const fixture *f, const nt_kernel *kernel, const void *out_memory)
{
    const nt_precision_row *row = fixture_row(f);
    double gamma = row->out == NT_I32 ? 0 : nt_kernel_gamma(kernel, &f->problem);
    float *out = nt_alloc((size_t)f->e.out * sizeof(float));
    size_t bad = 0;
    nt_unpack(row->out, out_memory, (size_t)f->e.out, out);
    for (int64_t i = 0; i < f->e.out; i++) {
        double tiny = row->out == NT_F16 ? 0x1p-25 : 0;
        double bound = gamma * f->abs[i] + row->unit_out * fabs(f->ref[i]) + tiny;
        bad += !(fabs((double)out[i] - f->ref[i]) <= bound);
    }
    free(out);
    return bad;
}

/* Layouts in turn where a kernel has both. */
static inline int layout_of(const nt_kernel *kernel, int turn)
{
    bool both = kernel->layouts == (NT_BIT(NT_NHWC) | NT_BIT(NT_NCHW));
    return both && turn % 2 == 1 ? NT_NCHW : NT_NHWC;
}

/* Configuration `draw` of the kernel: the default first where it is legal, then legal ones at random. False: none. */
static inline bool fixture_config(const nt_kernel *kernel, const fixture *f, const nt_device_info *device,
                                  uint64_t draw, nt_config *out)
{
    nt_space *space;
    nt_error err;
    if (nt_space_build(kernel, &f->problem, device, NULL, 0, NULL, &space, &err) != NT_OK)
        return false;
    uint64_t index;
    nt_random random = nt_random_seed(draw, 11);
    nt_kernel_default_config(kernel, out);
    if (draw > 0 || !nt_space_index(space, out, &index))
        nt_space_config(space, nt_random_below(&random, nt_space_size(space)), out);
    nt_space_free(space);
    return true;
}

#endif
