/* test_conv7x7_strip.c: 7x7 convolutions of few channels on tensor cores without a GPU: the kernel's own text, options
 * and launches, lane by lane on the host (tensor_core_emulation.h), in every precision and layout, at shapes that end
 * in the middle of units, strips and blocks of filters, with copies that arrive at once and as late as allowed. The
 * layer's three channels must be read without bank conflicts; an Inf must stay in the outputs that it belongs to;
 * faults put into the text must be found. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <dlfcn.h>
#include <stdio.h>
#include <unistd.h>

#include "cuda_emulated.h"
#include "kernels/conv/conv.h"
#include "layers_fixture.h"
#include "tests/unit/emulated_library.h"

#define LAYER "conv7x7"

enum { GUARD = 4096, POISON = 0xff, MAX_ARGS = 12, BATCH = 2 };

typedef struct example {
    const char *shape, *params;
    nt_precision precision;
    nt_layout layout;
} example;

typedef const char *(*run_function)(void *entry, const uint64_t args[MAX_ARGS], const uint32_t grid[3],
                                    uint32_t threads, uint32_t shared_bytes, bool eager);
typedef void (*allow_function)(const void *begin, size_t bytes);

static const nt_kernel *kernel_of(nt_precision precision)
{
    return nt_kernel_find(LAYER, NT_DEVICE_CUDA, precision == NT_FP32 ? "strip_3xtf32" : "strip");
}

static void *compile_lanes(const char *source, const char *options)
{
    nt_str all = {0};
    nt_str_addf(&all, "-O0 %s", options);
    void *object = emulated_library("tensor_core_emulation.h", source, nt_str_text(&all));
    nt_str_done(&all);
    return object;
}

/* ---- one run ---------------------------------------------------------------------------------------------------------- */

typedef struct run {
    fixture f;
    nt_plan plan;
    void *object;
    guarded in, weight;      /* they end at an unmapped page */
    unsigned char *block[2]; /* out and packed weights with their guards */
    size_t bytes[2];
    void *role[NT_ROLE_COUNT];
} run;

static guarded copy_of(const void *from, size_t bytes)
{
    guarded g = guarded_new((bytes + 15) / 16 * 16); /* begins at an address aligned to 16 bytes */
    memcpy(g.data, from, bytes);
    return g;
}

static run run_new(const char *source, const example *e)
{
    const nt_kernel *kernel = kernel_of(e->precision);
    run r = {.f = fixture_new(LAYER, e->shape, BATCH, e->precision, e->layout)};
    nt_rule rule = {"test", e->params};
    nt_config config;
    nt_device_info device = {.kind = NT_DEVICE_CUDA, .smem_per_block_bytes = 232448, .sm_count = 2};
    nt_str options = {0};
    nt_error err;
    allow_function allow;
    if (nt_kernel_rule_config(kernel, &rule, &config, &err) != NT_OK ||
        kernel->plan(&r.f.problem, &config, &device, &r.plan, &err) != NT_OK)
        fail_msg("%s", err.what);
    assert_null(kernel->refuses(&r.f.problem));
    nt_kernel_options(kernel, &r.f.problem, &config, &options);
    r.object = compile_lanes(source, nt_str_text(&options));
    nt_str_done(&options);
    r.bytes[0] = fixture_out_bytes(&r.f);
    r.bytes[1] = r.plan.packed_bytes;
    for (int i = 0; i < 2; i++) {
        r.block[i] = aligned_alloc(256, (r.bytes[i] + 2 * (size_t)GUARD + 255) / 256 * 256);
        r.role[i == 0 ? NT_ROLE_OUT : NT_ROLE_PACKED] = r.block[i] + GUARD;
    }
    r.in = copy_of(r.f.in_memory, fixture_in_bytes(&r.f));
    r.weight = copy_of(r.f.weight_memory, fixture_weight_bytes(&r.f));
    r.role[NT_ROLE_IN] = r.in.data;
    r.role[NT_ROLE_WEIGHT] = r.weight.data;
    *(void **)&allow = dlsym(r.object, "nt_host_allow");
    allow(r.in.data, fixture_in_bytes(&r.f));
    allow(r.role[NT_ROLE_PACKED], r.plan.packed_bytes);
    return r;
}

static void run_done(run *r)
{
    for (int i = 0; i < 2; i++)
        free(r->block[i]);
    guarded_done(&r->in);
    guarded_done(&r->weight);
    dlclose(r->object);
    fixture_done(&r->f);
}

static const char *run_stage(const run *r, const nt_stage *stage, bool eager)
{
    run_function host_run;
    uint64_t args[MAX_ARGS] = {0};
    *(void **)&host_run = dlsym(r->object, "nt_host_run");
    void *entry = dlsym(r->object, stage->entry);
    assert_non_null(host_run);
    assert_non_null(entry);
    assert_true(stage->arg_count <= MAX_ARGS);
    for (int i = 0; i < stage->arg_count; i++) {
        const nt_arg *arg = &stage->arg[i];
        args[i] = arg->kind == NT_ARG_BUFFER ? (uint64_t)(uintptr_t)((char *)r->role[arg->role] + arg->value)
                                             : (uint64_t)arg->value;
    }
    return host_run(entry, args, stage->grid, stage->block[0], stage->smem_dynamic_bytes, eager);
}

/* NULL, or what the emulation complains of. */
static const char *run_all(run *r, bool eager)
{
    for (int i = 0; i < 2; i++)
        memset(r->block[i], POISON, r->bytes[i] + 2 * (size_t)GUARD);
    const char *wrong = run_stage(r, &r->plan.prepare[0], eager);
    return wrong != NULL ? wrong : run_stage(r, &r->plan.stage[0], eager);
}

/* Outputs beyond the bound and damaged guard bytes, with late and, where all was right, with early copies. */
static size_t faults(const char *source, const example *e, const char **wrong, int *bank_reads)
{
    run r = run_new(source, e);
    size_t found = 0;
    *wrong = NULL;
    for (int eager = 0; eager < 2 && *wrong == NULL && found == 0; eager++) {
        *wrong = run_all(&r, eager);
        for (int i = 0; i < 2; i++)
            for (size_t j = 0; j < GUARD; j++)
                found += (r.block[i][j] != POISON) + (r.block[i][GUARD + r.bytes[i] + j] != POISON);
        found += fixture_violations(&r.f, kernel_of(e->precision), r.role[NT_ROLE_OUT]);
    }
    *bank_reads = *(int *)dlsym(r.object, "nt_host_bank_reads");
    if (*wrong != NULL) { /* the text lies in the object */
        static char text[256];
        nt_copy(text, sizeof text, *wrong);
        *wrong = text;
    }
    run_done(&r);
    return found;
}

/* ---- examples ---------------------------------------------------------------------------------------------------------- */

/* Three channels and stride 2, as the layer's. */
static const example stems[] = {
    {"c=3,k=64,h=6,w=40", "rows=2 tiles=2 warps_m=2 stages=1", NT_FP16, NT_NHWC},
    {"c=3,k=40,h=11,w=40", "rows=2 tiles=1 warps_m=2 warps_n=2 stages=2 persistent=true", NT_BF16, NT_NHWC},
    {"c=3,k=40,h=7,w=36", "rows=1 tiles=2 warps_m=2 tile_n=32 stages=3 persistent=true", NT_TF32, NT_NHWC},
    {"c=3,k=64,h=7,w=20", "rows=4 tiles=2 warps_m=2 stages=1", NT_FP32, NT_NHWC},
    {"c=3,k=64,h=5,w=32", "rows=2 tiles=1 warps_m=2 stages=1", NT_FP16, NT_NCHW},
    {"c=3,k=70,h=10,w=24", "rows=2 tiles=1 warps_m=2 stages=2 persistent=true", NT_BF16, NT_NCHW},
    {"c=3,k=24,h=9,w=24", "rows=1 tiles=1 warps_m=2 tile_n=32 stages=2 persistent=true", NT_TF32, NT_NCHW},
    {"c=3,k=40,h=6,w=40", "rows=2 tiles=4 warps_m=2 tile_n=32 stages=1", NT_FP32, NT_NCHW},
};

/* Other channels and strides; lines that are no multiple of 16 bytes; outputs that cannot be stored together. */
static const example others[] = {
    {"c=3,k=5,h=15,w=9", "rows=4 tiles=1 warps_m=2 tile_n=32 stages=2 persistent=true", NT_FP16, NT_NHWC},
    {"c=1,k=33,h=5,w=7", "rows=2 tiles=1 warps_m=2 stages=1", NT_BF16, NT_NHWC},
    {"c=2,k=8,h=9,w=11,stride=1", "rows=2 tiles=1 warps_m=2 tile_n=32 stages=1", NT_FP16, NT_NHWC},
    {"c=4,k=7,h=1,w=1", "rows=1 tiles=1 warps_m=2 tile_n=32 stages=1", NT_FP32, NT_NHWC},
    {"c=3,k=9,h=7,w=13,stride=1", "rows=2 tiles=1 warps_m=2 tile_n=32 stages=1", NT_FP32, NT_NCHW},
    {"c=2,k=17,h=11,w=14,stride=4", "rows=2 tiles=1 warps_m=2 tile_n=32 stages=1", NT_FP16, NT_NCHW},
    {"c=4,k=12,h=9,w=10", "rows=2 tiles=2 warps_m=2 tile_n=32 stages=1", NT_BF16, NT_NCHW},
};

static void check(const example *e, size_t count, int most_bank_reads)
{
    for (size_t i = 0; i < count; i++) {
        const char *wrong;
        int bank_reads;
        char *source = nt_kernel_source(kernel_of(e[i].precision));
        size_t found = faults(source, &e[i], &wrong, &bank_reads);
        if (wrong != NULL || found > 0 || bank_reads < 1 || bank_reads > most_bank_reads)
            fail_msg("%s %s %s, %s: %zu faults; a bank is read %d times; %s", e[i].shape,
                     nt_precisions[e[i].precision].name, nt_layout_name(e[i].layout), e[i].params, found, bank_reads,
                     wrong != NULL ? wrong : "no complaint");
        free(source);
    }
}

static void three_channels_are_right_and_meet_no_bank_twice(void **state)
{
    (void)state;
    check(stems, sizeof stems / sizeof stems[0], 1);
}

static void other_channels_and_strides_are_right(void **state)
{
    (void)state;
    check(others, sizeof others / sizeof others[0], 32);
}

/* ---- what is not a number stays where it belongs ---------------------------------------------------------------------------- */

static size_t strays(const example *e, int64_t row, int64_t column)
{
    char *source = nt_kernel_source(kernel_of(e->precision));
    run r = run_new(source, e);
    nt_conv d = nt_conv_of(&r.f.problem);
    nt_dtype type = nt_precisions[e->precision].in;
    bool first = e->layout == NT_NCHW;
    float infinity = INFINITY;
    size_t found = 0;
    int64_t at = first ? row * d.w + column : (row * d.w + column) * d.c;
    float *out = nt_alloc((size_t)r.f.e.out * sizeof *out);
    nt_pack(type, &infinity, 1, NULL, 0, 1, (char *)r.in.data + (size_t)at * nt_dtype_bytes(type));
    assert_null(run_all(&r, true));
    nt_unpack(nt_precisions[e->precision].out, r.role[NT_ROLE_OUT], (size_t)r.f.e.out, out);
    for (int64_t i = 0; i < r.f.e.out; i++) {
        int64_t area = d.out_h * d.out_w, image = i / (area * d.k);
        int64_t pixel = first ? i % area : i / d.k % area, y = pixel / d.out_w, x = pixel % d.out_w;
        bool belongs = image == 0 && llabs(2 * y - row) <= 3 && llabs(2 * x - column) <= 3;
        found += belongs != !isfinite(out[i]);
    }
    free(out);
    free(source);
    run_done(&r);
    return found;
}

static void infinity_stays_in_its_windows(void **state)
{
    (void)state;
    assert_int_equal(strays(&stems[0], 4, 14), 0);
    assert_int_equal(strays(&stems[6], 5, 12), 0);
}

/* ---- faults ------------------------------------------------------------------------------------------------------------------ */

static const struct {
    const char *text, *instead;
    int stem;
} plants[] = {
    {"7 + row) * 7 + column) * C", "7 + column) * 7 + row) * C", 0}, /* rows of the filter as columns */
    {"(ROWS * STRIDE) - BORDER", "(ROWS * STRIDE) - BORDER + 1", 0}, /* a border of two rows */
    {"y >= 0 && y < height", "y >= 0 && y <= height", 0},            /* a row below the image */
    {"at >= 0 && at < LINE", "at >= 0 && at < LINE + 8", 0},         /* the next line at the right border */
    {"nt_copy_wait(STAGES - 2)", "nt_copy_wait(STAGES - 1)", 1},     /* reads what has not arrived */
    {"__syncthreads(); /* this strip", "/* this strip", 1},          /* overwrites what is still read */
    {"octet % octets * 2", "octet % octets", 0},                     /* filters are dealt wrongly */
    {"u < UNITS && y < out_height", "u < UNITS", 0},                 /* rows that do not exist */
    {"multiply(sum[t][j], word[t], &filter_low);", "", 3},
    {"filter < filters ? OUT_W - x", "filter <= filters ? OUT_W - x", 5}, /* a filter that does not exist */
};

static void planted_faults_are_found(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof plants / sizeof plants[0]; i++) {
        const example *e = &stems[plants[i].stem];
        const char *wrong;
        int bank_reads;
        char *source = nt_kernel_source(kernel_of(e->precision));
        char *at = strstr(source, plants[i].text);
        if (at == NULL)
            fail_msg("the source has no '%s'", plants[i].text);
        nt_str changed = {0};
        nt_str_add_n(&changed, source, (size_t)(at - source));
        nt_str_add(&changed, plants[i].instead);
        nt_str_add(&changed, at + strlen(plants[i].text));
        if (faults(nt_str_text(&changed), e, &wrong, &bank_reads) == 0 && wrong == NULL)
            fail_msg("not found: %s instead of %s", plants[i].instead, plants[i].text);
        nt_str_done(&changed);
        free(source);
    }
}

/* ---- what is refused ----------------------------------------------------------------------------------------------------- */

static void what_it_does_not_serve_is_refused_with_the_reason(void **state)
{
    (void)state;
    static const struct {
        const char *shape, *reason;
        nt_precision precision;
        nt_layout layout;
    } rows[] = {
        {"c=5,k=8,h=9,w=9", "up to 4 input channels", NT_FP16, NT_NHWC},
        {"c=3,k=8,h=9,w=9,stride=1", "even stride", NT_FP16, NT_NHWC},
        {"c=2,k=8,h=9,w=9,stride=3", "even stride", NT_BF16, NT_NCHW},
        {"c=3,k=8,h=9,w=9,stride=1", NULL, NT_FP32, NT_NHWC},
        {"c=2,k=8,h=9,w=9,stride=3", NULL, NT_BF16, NT_NHWC},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        nt_problem p = {.batch = 1, .precision = rows[i].precision, .layout = rows[i].layout};
        nt_copy(p.layer, sizeof p.layer, LAYER);
        assert_int_equal(nt_layer_find(LAYER)->parse_shape(rows[i].shape, &p.shape, NULL), NT_OK);
        const char *said = kernel_of(p.precision)->refuses(&p);
        assert_int_equal(said == NULL, rows[i].reason == NULL);
        assert_true(said == NULL || rows[i].reason == NULL || strstr(said, rows[i].reason) != NULL);
    }
}

/* ---- which configurations are legal --------------------------------------------------------------------------------------- */

static nt_device_info h200(int64_t smem_bytes)
{
    nt_device_info d;
    nt_device_info_init(&d, NT_DEVICE_CUDA);
    d.compute_capability = 90;
    d.smem_per_block_bytes = smem_bytes;
    d.max_threads_per_block = 1024;
    d.regs_per_block = d.regs_per_sm = 65536;
    d.sm_count = 132;
    d.warp_size = 32;
    return d;
}

static bool legal(const nt_kernel *kernel, const nt_problem *p, const nt_config *config, int64_t smem_bytes)
{
    nt_device_info device = h200(smem_bytes);
    nt_space *space;
    nt_error err;
    uint64_t index;
    if (nt_space_build(kernel, p, &device, NULL, 0, NULL, &space, &err) != NT_OK)
        return false;
    bool is = nt_space_index(space, config, &index);
    nt_space_free(space);
    return is;
}

/* The shared memory that the constraints count is the plan's to the byte. */
static void constraints_count_as_the_plan_does(void **state)
{
    (void)state;
    static const nt_precision precisions[] = {NT_FP16, NT_TF32, NT_FP32};
    static const char *const shapes[] = {"c=3,k=64,h=224,w=224", "c=2,k=70,h=90,w=101"};
    for (int i = 0; i < 12; i++) {
        nt_problem p = {.batch = 8, .precision = precisions[i % 3], .layout = i / 3 % 2 ? NT_NCHW : NT_NHWC};
        const nt_kernel *kernel = kernel_of(p.precision);
        nt_copy(p.layer, sizeof p.layer, LAYER);
        assert_int_equal(nt_layer_find(LAYER)->parse_shape(shapes[i / 6], &p.shape, NULL), NT_OK);
        for (int r = 0; r < kernel->rule_count; r++) {
            nt_device_info device = h200(232448);
            nt_config config;
            nt_plan plan;
            assert_int_equal(nt_kernel_rule_config(kernel, &kernel->rules[r], &config, NULL), NT_OK);
            assert_int_equal(kernel->plan(&p, &config, &device, &plan, NULL), NT_OK);
            assert_true(legal(kernel, &p, &config, plan.stage[0].smem_dynamic_bytes));
            assert_false(legal(kernel, &p, &config, (int64_t)plan.stage[0].smem_dynamic_bytes - 1));
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(three_channels_are_right_and_meet_no_bank_twice),
        cmocka_unit_test(other_channels_and_strides_are_right),
        cmocka_unit_test(infinity_stays_in_its_windows),
        cmocka_unit_test(planted_faults_are_found),
        cmocka_unit_test(constraints_count_as_the_plan_does),
        cmocka_unit_test(what_it_does_not_serve_is_refused_with_the_reason),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
