/* The matrix product of compute capability 9.0 without a GPU: its source runs lane by lane on the host
 * (hopper_emulation.h) with the options, tensor maps and launches that its rows give, over shapes that end in every
 * part of a tile. Small whole numbers make every precision exact, so results must be equal, not near. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <math.h>

#include "core/convert.h"
#include "core/random.h"
#include "host_map.h"
#include "kernels/gemm/gemm.h"
#include "tests/unit/emulated_library.h"

extern const nt_kernel nt_kernel_conv3x3_cuda_gemm, nt_kernel_conv3x3_cuda_gemm3, nt_kernel_conv3x3_cuda_shift;
extern const nt_kernel nt_kernel_conv_bn_relu_cuda_gemm, nt_kernel_conv_bn_relu_cuda_gemm3;
extern const nt_kernel nt_kernel_conv_bn_relu_cuda_shift, nt_kernel_fc_cuda_gemv;
extern const nt_kernel nt_kernel_fc_cuda_igemm, nt_kernel_fc_cuda_sparse, nt_kernel_fc_cuda_gemm_sparse;

enum { GUARD = 1024, MAX_ARGS = 16 };

typedef struct example {
    const char *layer, *params;
    nt_precision precision;
    int batch, c, k, h, w, stride;
    bool first; /* channels first */
} example;

#define SHARED " persistent=true stream_k=true"

/* Each row ends somewhere else: rows, columns, channels, taps, images, turns, clusters. */
static const example examples[] = {
    {"fc", "tile_m=64 tile_n=64 groups=1 stages=2", NT_BF16, 70, 96, 72, 1, 1, 1, false},
    {"fc", "tile_m=64 tile_n=8 groups=1 transposed=true stages=3", NT_FP16, 3, 136, 72, 1, 1, 1, false},
    {"fc", "tile_m=128 tile_n=16 groups=2 transposed=true stages=3", NT_INT8, 9, 144, 130, 1, 1, 1, false},
    {"fc", "tile_m=64 tile_n=32 groups=1 transposed=true stages=4 split_k=4", NT_FP8, 20, 1040, 40, 1, 1, 1, false},
    {"fc", "tile_m=64 tile_n=32 groups=1 stages=3 split_k=2", NT_INT8, 20, 528, 30, 1, 1, 1, false},
    {"fc", "tile_m=64 tile_n=64 groups=1 stages=3", NT_FP32, 50, 44, 33, 1, 1, 1, false},
    {"fc", "tile_m=128 tile_n=96 groups=2 stages=2 cluster_m=2", NT_BF16, 300, 72, 100, 1, 1, 1, false},
    {"fc", "tile_m=64 tile_n=64 groups=1 stages=4 cluster_n=2 persistent=true", NT_TF32, 200, 36, 300, 1, 1, 1, false},
    {"fc", "tile_m=64 tile_n=64 groups=2 pingpong=true stages=3 persistent=true band=8", NT_BF16, 900, 72, 66, 1, 1, 1,
     false},
    {"conv1x1", "tile_m=192 tile_n=64 groups=3 stages=2", NT_BF16, 2, 64, 48, 9, 12, 1, false},
    {"conv1x1", "tile_m=64 tile_n=64 groups=1 stages=2", NT_FP16, 2, 24, 40, 9, 12, 2, false},
    {"conv3x3", "tile_m=64 tile_n=64 groups=1 stages=3", NT_BF16, 2, 64, 72, 5, 7, 1, false},
    {"conv3x3", "tile_m=64 tile_n=64 groups=1 stages=3", NT_FP16, 3, 24, 60, 8, 9, 2, false},
    {"conv3x3", "tile_m=128 tile_n=64 groups=1 stages=2", NT_TF32, 1, 32, 33, 11, 9, 1, false},
    {"conv3x3", "tile_m=64 tile_n=16 groups=1 transposed=true stages=3 split_k=2", NT_BF16, 1, 64, 70, 7, 7, 1, false},
    {"conv3x3", "tile_m=64 tile_n=64 groups=1 stages=2 split_k=8", NT_BF16, 1, 128, 64, 7, 7, 1, false},
    {"conv3x3", "tile_m=64 tile_n=64 groups=2 pingpong=true stages=4 persistent=true", NT_INT8, 4, 32, 66, 10, 12, 1,
     false},
    {"conv3x3", "tile_m=128 tile_n=64 groups=2 stages=2 cluster_m=2 persistent=true", NT_BF16, 5, 16, 64, 11, 13, 1,
     false},
    {"conv3x3", "tile_m=64 tile_n=32 groups=1 stages=2 cluster_n=2", NT_FP8, 2, 16, 60, 6, 5, 2, false},
    {"conv3x3", "tile_m=64 tile_n=64 groups=1 stages=3", NT_FP32, 2, 12, 20, 9, 6, 1, false},
    {"conv3x3", "tile_m=64 tile_n=64 groups=1 stages=2 split_k=2", NT_FP32, 1, 36, 64, 4, 5, 1, false},
    {"conv3x3", "rows=2 m_tiles=1 resident=true pixel_stages=1", NT_BF16, 1, 64, 64, 5, 30, 1, false},
    {"conv3x3", "rows=4 m_tiles=1 groups=1 pixel_stages=2 stages=2", NT_FP16, 3, 136, 72, 9, 13, 1, false},
    {"conv3x3", "rows=7 m_tiles=1 groups=2 stages=3", NT_BF16, 2, 64, 60, 10, 15, 1, false},
    {"conv3x3", "rows=4 m_tiles=1 groups=2 pingpong=true resident=true pixel_stages=2", NT_INT8, 4, 32, 130, 9, 14, 1,
     false},
    {"conv3x3", "rows=3 m_tiles=1 groups=2 pingpong=true stages=3", NT_TF32, 3, 64, 33, 8, 19, 1, false},
    {"fc", "rows=2 warps=4 parts=2 unroll=2", NT_FP32, 3, 516, 21, 1, 1, 1, false},
    {"fc", "rows=1 warps=2 parts=1 unroll=4", NT_BF16, 1, 1304, 9, 1, 1, 1, false},
    {"fc", "rows=4 warps=4 parts=4 unroll=1", NT_INT8, 5, 2064, 18, 1, 1, 1, false},
    {"fc", "tile_m=32 tile_n=64 tile_k=32 warps_m=1", NT_BF16, 45, 136, 70, 1, 1, 1, false},
    {"fc", "tile_m=32 tile_n=32 tile_k=16 warps_m=2 warps_n=1 split_k=2", NT_TF32, 17, 133, 33, 1, 1, 1, false},
    {"conv1x1", "tile_m=64 tile_n=64 tile_k=32 warps_m=2", NT_FP16, 2, 64, 72, 7, 9, 1, false},
    {"fc", "tile_m=64 tile_n=32 warps_m=2 warps_n=1", NT_FP16_SPARSE, 37, 136, 72, 1, 1, 1, false},
    {"fc", "tile_m=128 tile_n=16 warps_m=4 warps_n=2 stages=4", NT_BF16_SPARSE, 21, 312, 330, 1, 1, 1, false},
    {"fc", "tile_m=64 tile_n=64 warps_m=2 warps_n=4 stages=2", NT_INT8_SPARSE, 70, 528, 130, 1, 1, 1, false},
    {"conv1x1", "tile_m=64 tile_n=32 warps_m=1 warps_n=2", NT_FP16_SPARSE, 2, 72, 33, 5, 7, 1, false},
    {"fc", "tile_m=64 tile_n=32 groups=1 stages=2", NT_FP16_SPARSE, 37, 264, 72, 1, 1, 1, false},
    {"fc", "tile_m=128 tile_n=32 groups=1 stages=3 cluster_m=2 persistent=true", NT_INT8_SPARSE, 70, 528, 300, 1, 1, 1,
     false},
    {"fc", "tile_m=128 tile_n=64 groups=2 stages=2 cluster_m=2 cluster_n=2", NT_BF16_SPARSE, 100, 200, 330, 1, 1, 1,
     false},
    {"fc", "tile_m=64 tile_n=16 groups=1 stages=2 split_k=2", NT_FP16_SPARSE, 15, 520, 70, 1, 1, 1, false},
    {"fc", "tile_m=64 tile_n=32 groups=2 pingpong=true stages=3 persistent=true", NT_INT8_SPARSE, 100, 272, 260, 1, 1,
     1, false},
    {"conv1x1", "tile_m=64 tile_n=32 groups=1 stages=2", NT_BF16_SPARSE, 2, 72, 33, 5, 7, 1, false},
    {"conv_bn_relu", "tile_m=64 tile_n=64 groups=1 stages=2", NT_BF16, 2, 16, 40, 6, 7, 1, false},
    {"conv_bn_relu", "tile_m=64 tile_n=32 groups=1 stages=2 transposed=true split_k=2", NT_FP16, 1, 64, 42, 5, 5, 2,
     false},
    {"conv_bn_relu", "tile_m=64 tile_n=64 groups=1 stages=2", NT_FP32, 1, 12, 33, 5, 5, 1, false},
    {"conv_bn_relu", "rows=2 m_tiles=1 resident=true pixel_stages=1", NT_FP16, 1, 16, 64, 5, 30, 1, false},
    {"conv3x3", "tile_m=64 tile_n=32 groups=1 stages=3 transposed=true", NT_BF16, 2, 40, 36, 6, 7, 1, true},
    {"conv3x3", "tile_m=64 tile_n=64 groups=1 stages=2", NT_TF32, 2, 36, 33, 5, 7, 2, true},
    {"conv3x3", "tile_m=64 tile_n=64 groups=1 stages=2 transposed=true split_k=2", NT_FP16, 1, 64, 20, 5, 5, 1, true},
    {"conv1x1", "tile_m=64 tile_n=64 groups=1 stages=2", NT_FP32, 2, 44, 40, 5, 9, 1, true},
    {"conv_bn_relu", "tile_m=64 tile_n=32 groups=1 stages=2", NT_FP16, 2, 16, 40, 4, 6, 1, true},
    {"conv7x7", "tile_m=64 tile_n=64 groups=1 stages=2", NT_BF16, 1, 8, 64, 20, 18, 2, false},
    {"fc", "tile_m=64 tile_n=64 groups=1 stages=3" SHARED, NT_BF16, 200, 456, 72, 1, 1, 1, false},
    {"fc", "tile_m=128 tile_n=16 groups=2 stages=2 transposed=true" SHARED, NT_INT8, 9, 2304, 130, 1, 1, 1, false},
    {"fc", "tile_m=64 tile_n=32 groups=1 stages=2 cluster_m=2" SHARED, NT_BF16, 300, 200, 30, 1, 1, 1, false},
    {"fc", "tile_m=64 tile_n=32 groups=1 stages=2" SHARED, NT_FP16_SPARSE, 100, 520, 70, 1, 1, 1, false},
    {"conv3x3", "tile_m=64 tile_n=64 groups=1 stages=2 band=8" SHARED, NT_TF32, 4, 16, 66, 10, 12, 1, false},
    {"conv1x1", "tile_m=64 tile_n=32 groups=1 stages=2" SHARED, NT_FP32, 2, 300, 30, 9, 9, 1, true},
    {"conv_bn_relu", "tile_m=64 tile_n=64 groups=1 stages=3" SHARED, NT_FP16, 3, 24, 60, 8, 9, 2, false},
};

static bool is_batch_norm(const example *e)
{
    return strcmp(e->layer, "conv_bn_relu") == 0;
}

/* Layers without batch norm have the same functions in their rows, which go by the problem. */
static const nt_kernel *kernel_of(const example *e)
{
    if (nt_precision_is_pruned(e->precision))
        return strstr(e->params, "warps_m=") != NULL ? &nt_kernel_fc_cuda_sparse : &nt_kernel_fc_cuda_gemm_sparse;
    if (strstr(e->params, "warps_m=") != NULL)
        return &nt_kernel_fc_cuda_igemm;
    if (strstr(e->params, "warps=") != NULL)
        return &nt_kernel_fc_cuda_gemv;
    if (strncmp(e->params, "rows=", 5) == 0)
        return is_batch_norm(e) ? &nt_kernel_conv_bn_relu_cuda_shift : &nt_kernel_conv3x3_cuda_shift;
    if (e->precision == NT_FP32)
        return is_batch_norm(e) ? &nt_kernel_conv_bn_relu_cuda_gemm3 : &nt_kernel_conv3x3_cuda_gemm3;
    return is_batch_norm(e) ? &nt_kernel_conv_bn_relu_cuda_gemm : &nt_kernel_conv3x3_cuda_gemm;
}

static void add_key(nt_shape *shape, const char *key, int size)
{
    nt_copy(shape->dim[shape->count].key, sizeof shape->dim[0].key, key);
    shape->dim[shape->count++].size = size;
}

static nt_problem problem_of(const example *e)
{
    nt_problem problem = {.batch = e->batch, .precision = e->precision, .layout = e->first ? NT_NCHW : NT_NHWC};
    nt_copy(problem.layer, sizeof problem.layer, e->layer);
    add_key(&problem.shape, "c", e->c);
    add_key(&problem.shape, "k", e->k);
    if (strcmp(e->layer, "fc") != 0) {
        add_key(&problem.shape, "h", e->h);
        add_key(&problem.shape, "w", e->w);
        add_key(&problem.shape, "stride", e->stride);
    }
    return problem;
}

static nt_config config_of(const nt_kernel *kernel, const char *text)
{
    nt_config config;
    nt_error err = {0};
    nt_rule rule = {.name = "example", .params = text};
    if (nt_kernel_rule_config(kernel, &rule, &config, &err) != NT_OK)
        fail_msg("%s", err.what);
    return config;
}

static bool is_shared(const example *e)
{
    return strstr(e->params, SHARED) != NULL;
}

/* Few SMs, so that persistent blocks have several tiles. */
static nt_device_info device_of(const example *e)
{
    nt_device_info device;
    nt_device_info_init(&device, NT_DEVICE_CUDA);
    device.smem_per_block_bytes = 232448;
    device.sm_count = is_shared(e) ? 5 : 3;
    return device;
}

/* ---- compiling for the host ------------------------------------------------------------------------------------ */

typedef const char *(*run_function)(void *entry, const uint64_t args[MAX_ARGS], const uint32_t grid[3],
                                    uint32_t cluster, uint32_t threads, uint32_t shared_bytes, bool eager);

/* Those run by the emulation of mma.sync, which is of its own. */
static bool is_igemm(const nt_kernel *kernel)
{
    return strcmp(kernel->name, "igemm") == 0 || strcmp(kernel->name, "mma_sparse") == 0;
}

typedef const char *(*igemm_function)(void *entry, const uint64_t args[12], const uint32_t grid[3], uint32_t threads,
                                      uint32_t shared_bytes, bool eager);
typedef void (*allow_function)(const void *begin, size_t bytes);

static void *compile(const nt_kernel *kernel, const nt_problem *problem, const nt_config *config)
{
    nt_str options = {0};
    char *source = nt_kernel_source(kernel);
    nt_str_addf(&options, "-DSHIFTED=%d ", strcmp(kernel->name, "shift") == 0);
    nt_kernel_options(kernel, problem, config, &options);
    void *object = emulated_library(is_igemm(kernel) ? "tensor_core_emulation.h" : "hopper_emulation.h", source,
                                    nt_str_text(&options));
    free(source);
    nt_str_done(&options);
    return object;
}

/* ---- tensors --------------------------------------------------------------------------------------------------- */

typedef struct tensors {
    size_t in_bytes, weight_bytes, packed_bytes, workspace_bytes, out_count;
    nt_dtype out_type;
    float *want;
    void *in_bits, *weight_bits, *packed, *workspace;
    unsigned char *out; /* guard, output, guard */
} tensors;

static float *small_numbers(nt_random *random, size_t count)
{
    float *x = test_malloc(count * sizeof *x);
    for (size_t i = 0; i < count; i++)
        x[i] = (float)(int)(nt_random_below(random, 3)) - 1.0f;
    return x;
}

static float one_output(const nt_product_shape *p, const float *in, const float *weight, int64_t pixel, int64_t filter)
{
    int64_t image = pixel / (p->out_height * p->out_width), rest = pixel % (p->out_height * p->out_width);
    float sum = 0;
    for (int64_t tap = 0; tap < p->taps; tap++) {
        int64_t y = rest / p->out_width * p->stride - p->border + tap / p->filter_size;
        int64_t x = rest % p->out_width * p->stride - p->border + tap % p->filter_size;
        if (y < 0 || y >= p->height || x < 0 || x >= p->width)
            continue;
        for (int64_t c = 0; c < p->channels; c++)
            sum += in[((image * p->height + y) * p->width + x) * p->channels + c] *
                   weight[(filter * p->taps + tap) * p->channels + c];
    }
    return sum;
}

/* What batch norm makes of a sum in the exact part of the test. */
static float scale_of(int64_t filter)
{
    return filter % 2 ? 2.0f : 1.0f;
}

static float offset_of(int64_t filter)
{
    return (float)(filter % 5) - 2.0f;
}

/* [outer][area][channels] to [outer][channels][area]. */
static void move_channels_first(float *x, int64_t outer, int64_t area, int64_t channels)
{
    float *moved = test_malloc((size_t)(outer * area * channels) * sizeof *moved);
    for (int64_t o = 0; o < outer; o++)
        for (int64_t a = 0; a < area; a++)
            for (int64_t c = 0; c < channels; c++)
                moved[(o * channels + c) * area + a] = x[(o * area + a) * channels + c];
    memcpy(x, moved, (size_t)(outer * area * channels) * sizeof *moved);
    test_free(moved);
}

static void make_tensors(const example *e, const nt_problem *problem, const nt_plan *plan, tensors *t)
{
    nt_random random = nt_random_seed(7, 0);
    const nt_precision_row *row = &nt_precisions[e->precision];
    nt_product_shape p = nt__product_of(problem);
    size_t in_count = (size_t)(p.images * p.height * p.width * p.channels);
    size_t weight_count = (size_t)(p.filters * p.taps * p.channels) + (p.batch_norm ? 4 * (size_t)p.filters : 0);
    float *in = small_numbers(&random, in_count), *weight = small_numbers(&random, weight_count);
    float *kept = test_malloc(weight_count * sizeof *kept); /* what the product is of */
    memcpy(kept, weight, weight_count * sizeof *kept);
    if (nt_precision_is_pruned(e->precision)) /* packing prunes what is not pruned yet, by the same rule */
        nt_prune(kept, weight_count, (size_t)(p.taps * p.channels));
    t->out_count = (size_t)(p.pixels * p.filters);
    t->out_type = row->out;
    t->want = test_malloc(t->out_count * sizeof *t->want);
    for (size_t i = 0; i < t->out_count; i++) {
        int64_t filter = (int64_t)i % p.filters;
        t->want[i] = one_output(&p, in, kept, (int64_t)i / p.filters, filter);
        if (p.batch_norm)
            t->want[i] = fmaxf(0, t->want[i] * scale_of(filter) + offset_of(filter));
    }
    for (size_t i = 0; p.batch_norm && i < (size_t)p.filters; i++) /* gamma, beta, mean, variance */
        for (int part = 0; part < 4; part++)
            weight[weight_count - (size_t)(4 - part) * (size_t)p.filters + i] =
                (float)(i % 3 + 1) * (part == 2 ? -1.0f : 1.0f);
    if (e->first) {
        move_channels_first(in, p.images, p.height * p.width, p.channels);
        move_channels_first(weight, p.filters, p.taps, p.channels);
        move_channels_first(t->want, p.images, p.out_height * p.out_width, p.filters);
    }
    t->workspace_bytes = plan->workspace_bytes;
    t->workspace = aligned_alloc(256, ((plan->workspace_bytes + GUARD) / 256 + 1) * 256);
    t->in_bits = aligned_alloc(256, (in_count * 4 / 256 + 1) * 256);
    t->weight_bits = aligned_alloc(256, (weight_count * 4 / 256 + 1) * 256);
    t->packed_bytes = plan->packed_bytes;
    t->packed = aligned_alloc(256, (plan->packed_bytes / 256 + 1) * 256);
    t->out = aligned_alloc(256, (t->out_count * 4 / 256 + 1) * 256 + 2 * GUARD);
    t->in_bytes = in_count * nt_dtype_bytes(row->in);
    t->weight_bytes = weight_count * nt_dtype_bytes(row->weight);
    nt_pack(row->in, in, in_count, NULL, 1, 1, t->in_bits);
    nt_pack(row->weight, weight, weight_count, NULL, 1, 1, t->weight_bits);
    test_free(in);
    test_free(kept);
    test_free(weight);
}

static void free_tensors(tensors *t)
{
    test_free(t->want);
    free(t->in_bits);
    free(t->weight_bits);
    free(t->packed);
    free(t->workspace);
    free(t->out);
}

static void check_output(const char *name, const tensors *t)
{
    size_t bytes = t->out_count * nt_dtype_bytes(t->out_type), wrong = 0, first = 0;
    float *got = test_malloc(t->out_count * sizeof *got);
    nt_unpack(t->out_type, t->out + GUARD, t->out_count, got);
    for (size_t i = t->out_count; i-- > 0;)
        if (!(got[i] == t->want[i])) {
            wrong++;
            first = i;
        }
    if (wrong)
        fail_msg("%s: %zu of %zu wrong, first at %zu: %g, not %g", name, wrong, t->out_count, first, (double)got[first],
                 (double)t->want[first]);
    test_free(got);
    for (int i = 0; i < GUARD; i++)
        assert_true(t->out[i] == 0xff && t->out[(size_t)GUARD + bytes + (size_t)i] == 0xff &&
                    ((unsigned char *)t->workspace)[t->workspace_bytes + (size_t)i] == 0xff);
}

/* ---- running ---------------------------------------------------------------------------------------------------- */

static void *address_of(const tensors *t, nt_role role)
{
    return role == NT_ROLE_IN          ? t->in_bits
           : role == NT_ROLE_WEIGHT    ? t->weight_bits
           : role == NT_ROLE_PACKED    ? t->packed
           : role == NT_ROLE_WORKSPACE ? t->workspace
                                       : (void *)(t->out + GUARD);
}

static nt_host_map host_map_of(const nt_tensor_map *map, const tensors *t)
{
    nt_host_map h = {.base = (const char *)address_of(t, map->role) + map->offset_bytes,
                     .elem_bytes = map->elem_bytes,
                     .images = map->images};
    for (int i = 0; i < NT_MAP_RANK; i++) {
        h.size[i] = map->size[i];
        h.stride_bytes[i] = map->stride_bytes[i];
        h.box[i] = map->box[i];
        assert_true(i == 0 || (map->stride_bytes[i] > 0 && map->stride_bytes[i] % 16 == 0));
        assert_true(map->images || (map->box[i] >= 1 && map->box[i] <= 256));
    }
    for (int i = 0; i < 2; i++) {
        h.lower[i] = map->lower[i];
        h.upper[i] = map->upper[i];
        h.step[i] = map->step[i];
    }
    return h;
}

static void run_stage(void *object, const example *e, const nt_stage *stage, const tensors *t, bool eager)
{
    run_function run;
    uint64_t args[MAX_ARGS] = {0};
    nt_host_map maps[NT_MAX_MAPS];
    if (stage->kind == NT_STAGE_ZERO) {
        memset(address_of(t, stage->zero_role), 0, stage->zero_bytes);
        return;
    }
    *(void **)&run = dlsym(object, "nt_host_run");
    void *entry = dlsym(object, stage->entry);
    assert_non_null(run);
    assert_non_null(entry);
    assert_true(stage->arg_count <= MAX_ARGS);
    for (int i = 0; i < stage->arg_count; i++) {
        const nt_arg *arg = &stage->arg[i];
        args[i] = (uint64_t)arg->value;
        if (arg->kind == NT_ARG_BUFFER)
            args[i] = (uint64_t)(uintptr_t)((char *)address_of(t, arg->role) + arg->value);
        if (arg->kind == NT_ARG_TENSOR_MAP) {
            maps[arg->value] = host_map_of(&stage->map[arg->value], t);
            args[i] = (uint64_t)(uintptr_t)&maps[arg->value];
        }
    }
    const char *wrong = NULL;
    if (is_igemm(kernel_of(e))) {
        igemm_function igemm;
        allow_function allow;
        memcpy(&igemm, &run, sizeof igemm);
        *(void **)&allow = dlsym(object, "nt_host_allow");
        if (!eager) { /* once is enough */
            allow(t->in_bits, t->in_bytes);
            allow(t->packed_bytes > 0 ? t->packed : t->weight_bits,
                  t->packed_bytes > 0 ? t->packed_bytes : t->weight_bytes);
        }
        wrong = igemm(entry, args, stage->grid, stage->block[0], stage->smem_dynamic_bytes, eager);
    } else
        wrong = run(entry, args, stage->grid, stage->cluster[0], stage->block[0], stage->smem_dynamic_bytes, eager);
    if (wrong)
        fail_msg("%s %s: %s", e->layer, e->params, wrong);
}

/* Compares what nt_prepare_finish made with batch norm's formula; then puts numbers there that make sums exact. */
static void prepare_finish(const example *e, const nt_plan *plan, const tensors *t)
{
    const nt_stage *stage = &plan->prepare[plan->prepare_count - 1];
    float *finish = (float *)((char *)t->packed + stage->arg[1].value);
    assert_string_equal(stage->entry, "nt_prepare_finish");
    for (int i = 0; i < e->k; i++) {
        float x = (float)(i % 3 + 1), scale = x / sqrtf(x + 1e-5f); /* gamma, beta and variance x, mean -x */
        assert_true(fabsf(finish[2 * i] - scale) <= 1e-6f * scale);
        assert_true(fabsf(finish[2 * i + 1] - (x + x * scale)) <= 1e-5f);
        finish[2 * i] = scale_of(i);
        finish[2 * i + 1] = offset_of(i);
    }
}

static void run_plan(void *object, const example *e, const nt_plan *plan, const tensors *t, bool eager)
{
    memset(t->out, 0xff, t->out_count * nt_dtype_bytes(t->out_type) + 2 * GUARD);
    memset(t->workspace, 0xff, t->workspace_bytes + GUARD);
    for (int i = 0; i < plan->stage_count; i++)
        run_stage(object, e, &plan->stage[i], t, eager);
}

/* Sums that are rounded come out the same whoever runs first, so they are added in one order: bit for bit. */
static void check_order(void *object, const example *e, const nt_plan *plan, const tensors *t)
{
    nt_random random = nt_random_seed(11, 0);
    size_t bytes = t->out_count * nt_dtype_bytes(t->out_type);
    unsigned char *first = test_malloc(bytes);
    for (size_t i = 0; i < t->in_bytes / sizeof(float); i++)
        ((float *)t->in_bits)[i] = (float)nt_random_below(&random, 1 << 24) * 0x1p-23f - 1.0f;
    for (int eager = 0; eager < 2; eager++) {
        run_plan(object, e, plan, t, eager);
        if (eager)
            assert_memory_equal(first, t->out + GUARD, bytes);
        memcpy(first, t->out + GUARD, bytes);
    }
    test_free(first);
}

static void check_example(const example *e)
{
    nt_problem problem = problem_of(e);
    const nt_kernel *kernel = kernel_of(e);
    nt_config config = config_of(kernel, e->params);
    nt_device_info device = device_of(e);
    nt_plan plan;
    nt_error err = {0};
    tensors t;
    assert_null(kernel->refuses(&problem));
    if (kernel->plan(&problem, &config, &device, &plan, &err) != NT_OK)
        fail_msg("%s: %s", e->params, err.what);
    make_tensors(e, &problem, &plan, &t);
    void *object = compile(kernel, &problem, &config);
    for (int i = 0; i < plan.prepare_count; i++)
        run_stage(object, e, &plan.prepare[i], &t, true);
    if (is_batch_norm(e))
        prepare_finish(e, &plan, &t);
    for (int eager = 0; eager < 2; eager++) {
        run_plan(object, e, &plan, &t, eager);
        check_output(e->params, &t);
    }
    if (is_shared(e)) /* blocks do wait for each other's sums */
        assert_true(*(int *)dlsym(object, "nt_host_flag_waits") > 0);
    if (is_shared(e) && e->precision == NT_FP32)
        check_order(object, e, &plan, &t);
    dlclose(object);
    free_tensors(&t);
}

static void every_example_is_exact(void **state)
{
    (void)state;
    const char *only = getenv("NT_EXAMPLE");
    for (size_t i = 0; i < sizeof examples / sizeof examples[0]; i++)
        if (only == NULL || (size_t)atoi(only) == i)
            check_example(&examples[i]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_example_is_exact),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
