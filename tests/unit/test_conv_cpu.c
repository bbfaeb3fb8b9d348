/* test_conv_cpu.c: every CPU kernel of the convolutions and fc against the fp64 reference under its own error bound:
 * precisions, layouts, configurations, odd shapes, work split in parts, nothing written outside out and packed; int8
 * for processors without this one's instructions; and faults put into the sources, which these checks must find. */
#include "tests/unit/cpu_run.h"

#include "core/convert.h"
#include "core/random.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>

enum { GUARD = 8192, POISON = 0xff, MARK = 0xa5 };

/* A layer with what stands behind the sizes. */
typedef struct layer_case {
    const char *layer, *more;
} layer_case;

static const layer_case plain = {"conv3x3", ""};

static const char *const shapes[] = {
    "c=3,k=5,h=7,w=9",    "c=1,k=1,h=1,w=1",   "c=5,k=33,h=1,w=4",   "c=16,k=64,h=14,w=14",
    "c=70,k=24,h=5,w=30", "c=2,k=130,h=3,w=2", "c=300,k=17,h=2,w=3", "c=64,k=32,h=2,w=57",
};
enum { SHAPE_COUNT = sizeof shapes / sizeof shapes[0] };

/* ---- a problem with its data ------------------------------------------------------------------------------------------- */

/* `bytes` of memory between two marked zones; address aligned as a device aligns. */
typedef struct guarded {
    unsigned char *memory, *data;
    size_t bytes;
} guarded;

static guarded guarded_make(size_t bytes)
{
    guarded g = {.bytes = bytes};
    if (posix_memalign((void **)&g.memory, 256, bytes + 2 * GUARD) != 0)
        abort();
    memset(g.memory, MARK, bytes + 2 * GUARD);
    g.data = g.memory + GUARD;
    memset(g.data, POISON, bytes);
    return g;
}

static size_t guarded_changed(const guarded *g)
{
    size_t changed = 0;
    for (size_t i = 0; i < GUARD; i++)
        changed += (g->memory[i] != MARK) + (g->data[g->bytes + i] != MARK);
    return changed;
}

typedef struct fixture {
    nt_problem problem;
    nt_extents extents;
    float *in, *weight; /* as rounded in memory */
    double *ref, *abs;
    guarded in_memory, weight_memory;
} fixture;

static void fill(nt_dtype type, float *values, size_t n, uint64_t stream)
{
    nt_random_fill(NT_FILL_NORMAL, 1, stream, 0, values, n);
    nt_random random = nt_random_seed(1, stream);
    for (size_t i = 0; type == NT_I8 && i < n; i++)
        values[i] = (float)((int)nt_random_below(&random, 256) - 128);
    for (size_t i = 0; type == NT_BFLOAT16 && i < n; i++)
        values[i] = nt_bf16_to_f32(nt_f32_to_bf16(values[i]));
}

static guarded as_memory(nt_dtype type, const float *values, size_t n)
{
    guarded g = guarded_make(n * nt_dtype_bytes(type));
    for (size_t i = 0; i < n; i++)
        if (type == NT_I8)
            ((int8_t *)g.data)[i] = (int8_t)values[i];
        else if (type == NT_BFLOAT16)
            ((uint16_t *)g.data)[i] = nt_f32_to_bf16(values[i]);
        else
            ((float *)g.data)[i] = values[i];
    return g;
}

/* The layer's shape with these sizes, as far as it has them. */
static nt_problem problem_of(const layer_case *of, const char *sizes, nt_precision precision, nt_layout layout)
{
    nt_problem problem = {.batch = 2, .precision = precision, .layout = layout};
    const nt_layer *layer = nt_layer_find(of->layer);
    nt_shape all;
    nt_str text = {0};
    nt_error err;
    nt_copy(problem.layer, sizeof problem.layer, of->layer);
    assert_int_equal(nt_shape_parse(sizes, &all, &err), NT_OK);
    for (int i = 0; i < all.count; i++) {
        char key[16];
        snprintf(key, sizeof key, ",%s,", all.dim[i].key);
        nt_str keys = {0};
        nt_str_addf(&keys, ",%s,", layer->shape_keys);
        if (strstr(nt_str_text(&keys), key) != NULL)
            nt_str_addf(&text, "%s%s=%lld", text.length > 0 ? "," : "", all.dim[i].key, (long long)all.dim[i].size);
        nt_str_done(&keys);
    }
    nt_str_add(&text, of->more);
    if (layer->parse_shape(nt_str_text(&text), &problem.shape, &err) != NT_OK)
        fail_msg("%s", err.what);
    nt_str_done(&text);
    return problem;
}

static fixture fixture_make(const layer_case *of, const char *shape, nt_precision precision, nt_layout layout,
                            nt_bound bound)
{
    fixture f = {.problem = problem_of(of, shape, precision, layout)};
    const nt_layer *layer = nt_layer_find(of->layer);
    nt_error err;
    assert_int_equal(layer->extents(&f.problem, &f.extents, &err), NT_OK);
    size_t in = (size_t)f.extents.in, weight = (size_t)f.extents.weight, out = (size_t)f.extents.out;
    f.in = nt_alloc(in * sizeof *f.in);
    f.weight = nt_alloc(weight * sizeof *f.weight);
    f.ref = nt_alloc(out * sizeof *f.ref);
    f.abs = nt_alloc(out * sizeof *f.abs);
    fill(nt_precisions[precision].in, f.in, in, 1);
    fill(nt_precisions[precision].weight, f.weight, weight, 2);
    if (layer->amend_weight != NULL) {
        layer->amend_weight(&f.problem, f.weight);
        for (size_t i = 0; precision == NT_BF16 && i < weight; i++)
            f.weight[i] = nt_bf16_to_f32(nt_f32_to_bf16(f.weight[i]));
    }
    f.in_memory = as_memory(nt_precisions[precision].in, f.in, in);
    f.weight_memory = as_memory(nt_precisions[precision].weight, f.weight, weight);
    layer->reference(&f.problem, bound, f.in, f.weight, f.ref, f.abs, 0, layer->reference_rows(&f.problem));
    return f;
}

static void fixture_done(fixture *f)
{
    free(f->in);
    free(f->weight);
    free(f->ref);
    free(f->abs);
    free(f->in_memory.memory);
    free(f->weight_memory.memory);
}

/* ---- one run ------------------------------------------------------------------------------------------------------------- */

/* Elements that are not within the kernel's own bound of the reference. */
static size_t violations(const fixture *f, const nt_kernel *kernel, const unsigned char *out)
{
    const nt_precision_row *row = &nt_precisions[f->problem.precision];
    double gamma = nt_kernel_gamma(kernel, &f->problem);
    size_t bad = 0;
    for (size_t i = 0; i < (size_t)f->extents.out; i++) {
        double value = row->out == NT_I32        ? ((const int32_t *)out)[i]
                       : row->out == NT_BFLOAT16 ? (double)nt_bf16_to_f32(((const uint16_t *)out)[i])
                                                 : (double)((const float *)out)[i];
        bad += !(fabs(value - f->ref[i]) <= gamma * f->abs[i] + row->unit_out * fabs(f->ref[i]) + 1e-40);
    }
    return bad;
}

/* Wrong elements and damaged guard bytes of a configuration, its work done in `threads` parts. */
static size_t faults(void *library, const nt_kernel *kernel, const nt_config *config, const fixture *f, int threads)
{
    nt_plan plan;
    nt_error err;
    nt_device_info device = {.kind = NT_DEVICE_CPU, .sm_count = threads};
    assert_int_equal(kernel->plan(&f->problem, config, &device, &plan, &err), NT_OK);
    size_t out_bytes = nt_dtype_bytes(nt_precisions[f->problem.precision].out);
    guarded out = guarded_make((size_t)f->extents.out * out_bytes), packed = guarded_make(plan.packed_bytes);
    guarded workspace = guarded_make(plan.workspace_bytes);
    nt_binding binding = {.address = {[NT_ROLE_IN] = (uintptr_t)f->in_memory.data,
                                      [NT_ROLE_WEIGHT] = (uintptr_t)f->weight_memory.data,
                                      [NT_ROLE_OUT] = (uintptr_t)out.data,
                                      [NT_ROLE_PACKED] = (uintptr_t)packed.data,
                                      [NT_ROLE_WORKSPACE] = (uintptr_t)workspace.data}};
    assert_true(cpu_run_plan(library, &plan, &binding, threads));
    size_t found = violations(f, kernel, out.data) + guarded_changed(&out) + guarded_changed(&packed) +
                   guarded_changed(&workspace) + guarded_changed(&f->in_memory);
    free(workspace.memory);
    free(out.memory);
    free(packed.memory);
    return found;
}

/* ---- sweeps of the test ----------------------------------------------------------------------------------------------------- */

/* Macro parameters one line each; launch parameters are drawn at random for every shape. */
static const char *const settings[] = {
    "vector_bytes=16 positions=4 vectors=2 unroll=2",
    "vector_bytes=32 positions=6 vectors=2 unroll=1",
    "vector_bytes=64 positions=7 vectors=3 unroll=4",
    "vector_bytes=64 positions=14 vectors=1 unroll=1",
};

/* What of the setting the kernel has. */
static nt_config config_of(const nt_kernel *kernel, const char *setting)
{
    nt_config config;
    nt_error err;
    nt_str known = {0};
    char *copy = nt_strdup(setting), *rest = NULL;
    for (char *word = strtok_r(copy, " ", &rest); word != NULL; word = strtok_r(NULL, " ", &rest)) {
        char name[32];
        snprintf(name, sizeof name, "%.*s", (int)strcspn(word, "="), word);
        if (nt_param_find(kernel->params, kernel->param_count, name) >= 0)
            nt_str_addf(&known, "%s%s", known.length > 0 ? " " : "", word);
    }
    nt_rule rule = {"test", nt_str_text(&known)};
    assert_int_equal(nt_kernel_rule_config(kernel, &rule, &config, &err), NT_OK);
    nt_str_done(&known);
    free(copy);
    return config;
}

/* The lower half of the values: the upper ones together pass the limit on scratch that the constraints set. */
static void vary_launch(const nt_kernel *kernel, nt_random *random, nt_config *config)
{
    for (int i = 0; i < kernel->param_count; i++)
        if (kernel->params[i].use == NT_PARAM_LAUNCH)
            config->index[i] = (uint16_t)nt_random_below(random, (uint64_t)kernel->params[i].count / 2 + 1);
}

/* The smallest block of the reduction, so that small shapes have several. */
static void smallest_block(const nt_kernel *kernel, nt_config *config)
{
    for (int i = 0; i < kernel->param_count; i++)
        if (strcmp(kernel->params[i].name, "c_block") == 0 || strcmp(kernel->params[i].name, "depth") == 0)
            config->index[i] = 0;
}

static void *compile(const nt_kernel *kernel, const nt_problem *problem, const nt_config *config, const char *source,
                     const char *flags)
{
    nt_str options = {0};
    nt_kernel_options(kernel, problem, config, &options);
    void *library = cpu_compile(source, nt_str_text(&options), flags);
    nt_str_done(&options);
    return library;
}

static void check_setting(const layer_case *of, const nt_kernel *kernel, nt_precision precision, nt_layout layout,
                          int setting, const char *flags)
{
    nt_problem problem = problem_of(of, shapes[0], precision, layout);
    nt_config config = config_of(kernel, settings[setting]);
    if (setting % 2 == 0)
        smallest_block(kernel, &config);
    char *source = nt_kernel_source(kernel);
    void *library = compile(kernel, &problem, &config, source, flags);
    free(source);
    assert_non_null(library);
    nt_random random = nt_random_seed(7, (uint64_t)setting);
    for (int s = 0; s < SHAPE_COUNT; s++) {
        fixture f = fixture_make(of, shapes[s], precision, layout, kernel->bound);
        for (int threads = 1; threads <= 3; threads += 2) {
            vary_launch(kernel, &random, &config);
            size_t found = faults(library, kernel, &config, &f, threads);
            if (found != 0) {
                nt_str text = {0};
                nt_config_print(&text, kernel->params, &config);
                fail_msg("%s%s %s %s %s %s, %d parts, %s: %zu faults", of->layer, of->more, kernel->name,
                         nt_precisions[precision].name, nt_layout_name(layout), shapes[s], threads, nt_str_text(&text),
                         found);
            }
        }
        fixture_done(&f);
    }
    dlclose(library);
}

/* All CPU kernels of our own of a layer in all their precisions: two settings in NHWC, one in NCHW. Chains are a
 * convolution that is tested as such, and passes of their own (test_conv_bn_chain). */
static void check_layer(const layer_case *of)
{
    int checked = 0;
    for (int i = 0; i < nt_kernel_count; i++) {
        const nt_kernel *kernel = nt_kernels[i];
        nt_problem problem = problem_of(of, shapes[0], NT_FP32, NT_NHWC);
        if (kernel->device != NT_DEVICE_CPU || kernel->vendor != NT_VENDOR_NONE ||
            strcmp(kernel->layer, of->layer) != 0 || strncmp(kernel->name, "chain", 5) == 0 ||
            (kernel->refuses != NULL && kernel->refuses(&problem) != NULL))
            continue;
        for (int precision = 0; precision < NT_PRECISION_COUNT; precision++) {
            if (!(kernel->precisions & NT_BIT(precision)))
                continue;
            check_setting(of, kernel, (nt_precision)precision, NT_NHWC, checked % 4, "-O1 -march=native");
            check_setting(of, kernel, (nt_precision)precision, NT_NHWC, (checked + 1) % 4, "-O1 -march=native");
            check_setting(of, kernel, (nt_precision)precision, NT_NCHW, (checked + 2) % 4, "-O1 -march=native");
            checked++;
        }
    }
    assert_true(checked > 0);
}

#define LAYER_TEST(name, of_layer, of_more)                  \
    static void name(void **state)                           \
    {                                                        \
        (void)state;                                         \
        check_layer(&(const layer_case){of_layer, of_more}); \
    }

LAYER_TEST(test_conv3x3, "conv3x3", "")
LAYER_TEST(test_conv3x3_stride_2, "conv3x3", ",stride=2")
LAYER_TEST(test_conv1x1, "conv1x1", "")
LAYER_TEST(test_conv1x1_stride_2, "conv1x1", ",stride=2")
LAYER_TEST(test_conv7x7, "conv7x7", "")
LAYER_TEST(test_dwconv3x3, "dwconv3x3", "")
LAYER_TEST(test_dwconv3x3_stride_2, "dwconv3x3", ",stride=2")
LAYER_TEST(test_fc, "fc", "")
LAYER_TEST(test_conv_bn_relu, "conv_bn_relu", "")
LAYER_TEST(test_conv_bn_relu6, "conv_bn_relu", ",stride=2,act=relu6")
LAYER_TEST(test_conv_bn_silu, "conv_bn_relu", ",act=silu")
LAYER_TEST(test_conv_bn_gelu, "conv_bn_relu", ",act=gelu")

static void test_conv_bn_chain(void **state)
{
    (void)state;
    static const char *const acts[] = {",act=relu6", ",act=silu", ",stride=2", ",act=gelu"};
    for (int i = 0; i < 4; i++) {
        layer_case of = {"conv_bn_relu", acts[i]};
        const nt_kernel *kernel = nt_kernel_find(of.layer, NT_DEVICE_CPU, i % 2 == 0 ? "chain" : "chain_im2col");
        check_setting(&of, kernel, i < 2 ? NT_FP32 : NT_BF16, i == 0 || i == 3 ? NT_NHWC : NT_NCHW, i,
                      "-O1 -march=native");
    }
}

/* The optimiser is part of what a sweep trusts: one setting of each kernel as the device compiles it. */
static void test_optimised(void **state)
{
    (void)state;
    static const char *const names[] = {"direct", "im2col", "winograd"};
    for (int i = 0; i < 3; i++) {
        const nt_kernel *kernel = nt_kernel_find("conv3x3", NT_DEVICE_CPU, names[i]);
        check_setting(&plain, kernel, NT_FP32, NT_NHWC, 1, "-O3 -march=native");
        if (kernel->precisions & NT_BIT(NT_INT8))
            check_setting(&plain, kernel, NT_INT8, NT_NHWC, 1, "-O3 -march=native");
    }
}

/* int8 multiplies in three ways, bf16 in two; the processor at hand takes one of them. */
static void test_narrow_types_of_other_processors(void **state)
{
    (void)state;
#if defined(__x86_64__)
    const nt_kernel *kernel = nt_kernel_find("conv3x3", NT_DEVICE_CPU, "direct");
    check_setting(&plain, kernel, NT_INT8, NT_NHWC, 0, "-O1 -march=x86-64");
    check_setting(&plain, kernel, NT_INT8, NT_NCHW, 1, "-O1 -march=x86-64");
    check_setting(&plain, kernel, NT_BF16, NT_NHWC, 0, "-O1 -march=x86-64"); /* no product of pairs of bf16 */
    __builtin_cpu_init();
    if (!__builtin_cpu_supports("avx2"))
        print_message("no AVX2 here: multiply-add of pairs is not tested\n");
    else
        check_setting(&plain, kernel, NT_INT8, NT_NHWC, 1, "-O1 -mavx2");
    if (!__builtin_cpu_supports("avx512bw"))
        print_message("no AVX-512 here: its multiply-add of pairs is not tested\n");
    else
        check_setting(&plain, kernel, NT_INT8, NT_NHWC, 2, "-O1 -mavx512bw -mavx512vl");
#else
    skip();
#endif
}

/* ---- faults put in ------------------------------------------------------------------------------------------------------------ */

static const struct {
    const char *kernel, *text, *instead;
    nt_precision precision;
} plants[] = {
    {"direct", "q < TAPS; q++", "q < TAPS - 1; q++", NT_FP32}, /* a tap is left out */
    {"direct", "least(BLOCK, s->k - k)", "BLOCK", NT_FP32},    /* writes channels that do not exist */
    {"direct", "y >= s->h) {", "0) {", NT_FP32},               /* no border below */
    {"direct", "weight_of(w);", "weight_of((element)(w + !(tap + i)));", NT_INT8}, /* one weight is one too large */
    {"im2col", "s->out_w * STRIDE - PAD,", "s->out_w * STRIDE,", NT_FP32},         /* patches shifted */
    {"im2col", "least(most, s.pixels - first)", "most", NT_FP32},                  /* writes pixels that do not exist */
    {"winograd", "m[1] - m[2] - m[3]", "m[1] - m[2] + m[3]", NT_FP32},             /* a sign */
    {"winograd", "j < 2 && x + j < s->w", "j < 2", NT_FP32},                       /* writes past the row */
    {"winograd", "(ends - middle) / 2", "(ends - middle) / 2 * 1.0001", NT_FP32},  /* a small error */
};

static char *replaced(const char *text, const char *from, const char *to)
{
    const char *at = strstr(text, from);
    assert_non_null(at);
    nt_str out = {0};
    nt_str_add_n(&out, text, (size_t)(at - text));
    nt_str_add(&out, to);
    nt_str_add(&out, at + strlen(from));
    return out.data;
}

static void test_planted_faults_are_found(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof plants / sizeof plants[0]; i++) {
        const nt_kernel *kernel = nt_kernel_find("conv3x3", NT_DEVICE_CPU, plants[i].kernel);
        nt_config config = config_of(kernel, settings[0]);
        nt_problem problem = problem_of(&plain, shapes[0], plants[i].precision, NT_NHWC);
        char *source = nt_kernel_source(kernel), *bad = replaced(source, plants[i].text, plants[i].instead);
        void *library = compile(kernel, &problem, &config, bad, "-O1 -march=native");
        assert_non_null(library);
        fixture f = fixture_make(&plain, shapes[0], plants[i].precision, NT_NHWC, kernel->bound);
        size_t found = faults(library, kernel, &config, &f, 1);
        if (found == 0)
            fail_msg("not found in %s: %s instead of %s", plants[i].kernel, plants[i].instead, plants[i].text);
        fixture_done(&f);
        dlclose(library);
        free(source);
        free(bad);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_conv3x3),
        cmocka_unit_test(test_conv3x3_stride_2),
        cmocka_unit_test(test_conv1x1),
        cmocka_unit_test(test_conv1x1_stride_2),
        cmocka_unit_test(test_conv7x7),
        cmocka_unit_test(test_dwconv3x3),
        cmocka_unit_test(test_dwconv3x3_stride_2),
        cmocka_unit_test(test_fc),
        cmocka_unit_test(test_conv_bn_relu),
        cmocka_unit_test(test_conv_bn_relu6),
        cmocka_unit_test(test_conv_bn_silu),
        cmocka_unit_test(test_conv_bn_gelu),
        cmocka_unit_test(test_conv_bn_chain),
        cmocka_unit_test(test_optimised),
        cmocka_unit_test(test_narrow_types_of_other_processors),
        cmocka_unit_test(test_planted_faults_are_found),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
