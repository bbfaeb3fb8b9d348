/* bench_cpu_onednn.c: the judge of the CPU convolutions: our best configuration against oneDNN's convolution.
 *
 * Same process, same threads (one OpenMP pool, which oneDNN uses as well), same input; oneDNN chooses its layouts
 * (format_tag::any) and its reorders are timed apart, as our weight packing is. Both run hot. Our configuration comes
 * from a short random search through the real table rows. Then both are timed in interleaved pairs, and the ratio of
 * each pair is kept: median and interval. Controls: each against itself, which should give 1.
 *
 *   bench_cpu_onednn [--shape 64x56x56] [--batch 1] [--compiles 12] [--pairs 41] [--seed 1] [--bar 0.6]
 * Exit code 1 when the results differ or the ratio is below the bar. */
#include "autotune/space.h"
#include "core/random.h"
#include "core/stats.h"
#include "tests/unit/cpu_run.h"

#include <dnnl.h>
#include <math.h>
#include <omp.h>
#include <time.h>

enum { MAX_PAIRS = 1001, LAUNCHES_PER_COMPILE = 12 };
#define SAMPLE_S 0.002

typedef struct options {
    const char *shape;
    long long batch, compiles, pairs, seed;
    double bar;
} options;

typedef struct subject subject;
struct subject {
    void (*run)(subject *);
    double launches; /* of one sample */
    /* ours */
    void *library;
    nt_plan plan;
    cpu_entry entry;
    cpu_args args;
    /* oneDNN's */
    dnnl_primitive_t primitive;
    dnnl_stream_t stream;
    dnnl_exec_arg_t arg[3];
};

static double now_s(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static double sample_s(subject *s)
{
    double begin = now_s();
    for (double i = 0; i < s->launches; i++)
        s->run(s);
    return (now_s() - begin) / s->launches;
}

static void calibrate(subject *s)
{
    s->launches = 1;
    sample_s(s);
    s->launches = ceil(SAMPLE_S / sample_s(s));
}

static double median_of_three(subject *s)
{
    double t[3] = {sample_s(s), sample_s(s), sample_s(s)};
    return nt_median(t, 3);
}

/* ---- oneDNN --------------------------------------------------------------------------------------------------------------- */

#define CHECK(call)                                                                                                    \
    do {                                                                                                               \
        dnnl_status_t status_ = (call);                                                                                \
        if (status_ != dnnl_success) {                                                                                 \
            fprintf(stderr, "oneDNN: %s gave %d\n", #call, (int)status_);                                              \
            exit(1);                                                                                                   \
        }                                                                                                              \
    } while (0)

static void run_onednn(subject *s)
{
    dnnl_primitive_execute(s->primitive, s->stream, 3, s->arg);
    dnnl_stream_wait(s->stream);
}

typedef struct onednn {
    dnnl_engine_t engine;
    dnnl_stream_t stream;
    dnnl_memory_t out, plain_out;
    char implementation[64];
    double reorder_in_s, reorder_weight_s, reorder_out_s;
} onednn;

static dnnl_memory_t memory(const onednn *o, const dnnl_memory_desc_t *desc, void *data)
{
    dnnl_memory_t m;
    CHECK(dnnl_memory_create(&m, desc, o->engine, data));
    return m;
}

/* Copies into the other layout; the time of the second of two runs. */
static double reorder_s(const onednn *o, dnnl_memory_t from, dnnl_memory_t to)
{
    const dnnl_memory_desc_t *from_desc, *to_desc;
    dnnl_primitive_desc_t desc;
    dnnl_primitive_t primitive;
    CHECK(dnnl_memory_get_memory_desc(from, &from_desc));
    CHECK(dnnl_memory_get_memory_desc(to, &to_desc));
    CHECK(dnnl_reorder_primitive_desc_create(&desc, from_desc, o->engine, to_desc, o->engine, NULL));
    CHECK(dnnl_primitive_create(&primitive, desc));
    dnnl_exec_arg_t arg[] = {{DNNL_ARG_FROM, from}, {DNNL_ARG_TO, to}};
    double begin = 0;
    for (int i = 0; i < 2; i++) {
        begin = now_s();
        CHECK(dnnl_primitive_execute(primitive, o->stream, 2, arg));
        CHECK(dnnl_stream_wait(o->stream));
    }
    double elapsed = now_s() - begin;
    dnnl_primitive_destroy(primitive);
    dnnl_primitive_desc_destroy(desc);
    return elapsed;
}

static void describe(dnnl_memory_desc_t *desc, const dnnl_dims_t dims, dnnl_format_tag_t tag)
{
    CHECK(dnnl_memory_desc_init_by_tag(desc, 4, dims, dnnl_f32, tag));
}

static onednn make_onednn(const nt_problem *p, dnnl_alg_kind_t algorithm, float *in, float *weight, float *out,
                          subject *s)
{
    int64_t n = p->batch, c = nt_shape_get(&p->shape, "c"), k = nt_shape_get(&p->shape, "k");
    int64_t h = nt_shape_get(&p->shape, "h"), w = nt_shape_get(&p->shape, "w");
    const dnnl_dims_t in_dims = {n, c, h, w}, weight_dims = {k, c, 3, 3}, out_dims = {n, k, h, w}, ones = {1, 1};
    onednn o = {0};
    CHECK(dnnl_engine_create(&o.engine, dnnl_cpu, 0));
    CHECK(dnnl_stream_create(&o.stream, o.engine, dnnl_stream_default_flags));
    dnnl_memory_desc_t any_in, any_weight, any_out, in_desc, weight_desc, out_desc;
    describe(&any_in, in_dims, dnnl_format_tag_any);
    describe(&any_weight, weight_dims, dnnl_format_tag_any);
    describe(&any_out, out_dims, dnnl_format_tag_any);
    describe(&in_desc, in_dims, dnnl_nhwc);
    describe(&weight_desc, weight_dims, dnnl_ohwi);
    describe(&out_desc, out_dims, dnnl_nhwc);

    dnnl_convolution_desc_t conv;
    dnnl_primitive_desc_t desc;
    CHECK(dnnl_convolution_forward_desc_init(&conv, dnnl_forward_inference, algorithm, &any_in, &any_weight, NULL,
                                             &any_out, ones, ones, ones));
    CHECK(dnnl_primitive_desc_create(&desc, &conv, NULL, o.engine, NULL));
    const char *text = NULL;
    CHECK(dnnl_primitive_desc_query(desc, dnnl_query_impl_info_str, 0, &text));
    nt_copy(o.implementation, sizeof o.implementation, text);
    CHECK(dnnl_primitive_create(&s->primitive, desc));
    dnnl_memory_t own_in = memory(&o, dnnl_primitive_desc_query_md(desc, dnnl_query_src_md, 0), DNNL_MEMORY_ALLOCATE);
    dnnl_memory_t own_weight =
        memory(&o, dnnl_primitive_desc_query_md(desc, dnnl_query_weights_md, 0), DNNL_MEMORY_ALLOCATE);
    o.out = memory(&o, dnnl_primitive_desc_query_md(desc, dnnl_query_dst_md, 0), DNNL_MEMORY_ALLOCATE);
    o.plain_out = memory(&o, &out_desc, out);
    o.reorder_in_s = reorder_s(&o, memory(&o, &in_desc, in), own_in);
    o.reorder_weight_s = reorder_s(&o, memory(&o, &weight_desc, weight), own_weight);
    s->run = run_onednn;
    s->stream = o.stream;
    s->arg[0] = (dnnl_exec_arg_t){DNNL_ARG_SRC, own_in};
    s->arg[1] = (dnnl_exec_arg_t){DNNL_ARG_WEIGHTS, own_weight};
    s->arg[2] = (dnnl_exec_arg_t){DNNL_ARG_DST, o.out};
    calibrate(s);
    o.reorder_out_s = reorder_s(&o, o.out, o.plain_out);
    return o;
}

/* ---- ours ------------------------------------------------------------------------------------------------------------------ */

static void run_ours(subject *s)
{
    int64_t items = cpu_items(&s->plan.stage[0]);
#pragma omp parallel
    cpu_run_part(s->entry, &s->args, items, omp_get_thread_num(), omp_get_num_threads());
}

typedef struct search {
    const nt_problem *problem;
    const options *opt;
    nt_device_info device;
    nt_binding binding;
    size_t packed_bytes;
} search;

/* Plans and prepares a configuration of a compiled library. False when it cannot run here. */
static bool prepare(const search *at, const nt_kernel *kernel, const nt_config *config, subject *s, double *prepare_s)
{
    nt_error err;
    if (kernel->plan(at->problem, config, &at->device, &s->plan, &err) != NT_OK ||
        s->plan.packed_bytes > at->packed_bytes || s->plan.stage_count != 1)
        return false;
    cpu_args args;
    double begin = now_s();
    for (int i = 0; i < s->plan.prepare_count; i++) {
        cpu_bind(&s->plan.prepare[i], &at->binding, &args);
        cpu_run_part(cpu_find(s->library, s->plan.prepare[i].entry), &args, cpu_items(&s->plan.prepare[i]), 0, 1);
    }
    *prepare_s = now_s() - begin;
    s->run = run_ours;
    s->entry = cpu_find(s->library, s->plan.stage[0].entry);
    cpu_bind(&s->plan.stage[0], &at->binding, &s->args);
    return s->entry != NULL;
}

/* Draws the launch parameters of a configuration again, until it is legal. */
static bool draw_launch(const nt_space *space, const nt_kernel *kernel, nt_random *random, nt_config *config)
{
    for (int attempt = 0; attempt < 200; attempt++) {
        uint64_t index;
        for (int i = 0; i < kernel->param_count; i++)
            if (kernel->params[i].use == NT_PARAM_LAUNCH)
                config->index[i] = (uint16_t)nt_random_below(random, (uint64_t)kernel->params[i].count);
        if (nt_space_index(space, config, &index))
            return true;
    }
    return false;
}

static void *compile(const nt_kernel *kernel, const nt_problem *problem, const nt_config *config)
{
    nt_str flags = {0};
    char *source = nt_kernel_source(kernel);
    nt_kernel_options(kernel, problem, config, &flags);
    void *library = cpu_compile(source, nt_str_text(&flags), "-O3 -march=native");
    nt_str_done(&flags);
    free(source);
    return library;
}

typedef struct winner {
    nt_config config;
    double time_s, prepare_s;
    subject subject;
} winner;

/* The best of the default and of random configurations of one kernel. */
static winner search_kernel(const search *at, const nt_kernel *kernel)
{
    winner best = {.time_s = INFINITY};
    nt_space *space = NULL;
    nt_error err;
    if (nt_space_build(kernel, at->problem, &at->device, NULL, 0, NULL, &space, &err) != NT_OK) {
        fprintf(stderr, "%s: %s\n", kernel->name, err.what);
        return best;
    }
    nt_random random = nt_random_seed((uint64_t)at->opt->seed, 5);
    printf("%s: %llu legal configurations\n", kernel->name, (unsigned long long)nt_space_size(space));
    for (long long i = 0; i < at->opt->compiles; i++) {
        nt_config config;
        nt_space_config(space, nt_random_below(&random, nt_space_size(space)), &config);
        if (i == 0)
            nt_kernel_default_config(kernel, &config);
        subject s = {.library = compile(kernel, at->problem, &config)};
        for (int j = 0; j < LAUNCHES_PER_COMPILE && s.library != NULL; j++) {
            double prepare_s;
            if ((j > 0 && !draw_launch(space, kernel, &random, &config)) ||
                !prepare(at, kernel, &config, &s, &prepare_s))
                continue;
            calibrate(&s);
            double time_s = median_of_three(&s);
            if (time_s < best.time_s)
                best = (winner){config, time_s, prepare_s, s};
        }
    }
    nt_space_free(space);
    return best;
}

/* ---- the comparison --------------------------------------------------------------------------------------------------------- */

/* b's time over a's in interleaved pairs; who goes first alternates. Above 1, a is faster. Prints the median of the
 * pairs' ratios with its interval, and the ratio of the two shortest times, which a busy machine disturbs least. */
static nt_interval print_ratio(const char *what, subject *a, subject *b, long long pairs)
{
    static double ratio[MAX_PAIRS];
    double least_a = INFINITY, least_b = INFINITY;
    for (long long i = 0; i < pairs; i++) {
        double first = sample_s(i % 2 ? b : a), second = sample_s(i % 2 ? a : b);
        double time_a = i % 2 ? second : first, time_b = i % 2 ? first : second;
        ratio[i] = time_b / time_a;
        least_a = fmin(least_a, time_a);
        least_b = fmin(least_b, time_b);
    }
    nt_interval r = nt_median_interval(ratio, (size_t)pairs, 0.95);
    printf("%-34s %.3f [%.3f, %.3f]; shortest %.1f us over %.1f us: %.3f\n", what, r.median, r.lo, r.hi, least_b * 1e6,
           least_a * 1e6, least_b / least_a);
    return r;
}

static void print_subject(const char *name, double time_s, double flop)
{
    printf("%-30s %9.1f us  %7.1f GFLOP/s\n", name, time_s * 1e6, flop / time_s * 1e-9);
}

static double greatest_difference(const float *a, const float *b, size_t n)
{
    double most = 0;
    for (size_t i = 0; i < n; i++)
        most = fmax(most, fabs((double)a[i] - (double)b[i]));
    return most;
}

static int parse(int argc, char **argv, options *o)
{
    struct {
        const char *name;
        long long *value;
    } numbers[] = {{"--batch", &o->batch}, {"--compiles", &o->compiles}, {"--pairs", &o->pairs}, {"--seed", &o->seed}};
    for (int i = 1; i < argc; i += 2) {
        bool known = i + 1 < argc && (strcmp(argv[i], "--shape") == 0 || strcmp(argv[i], "--bar") == 0);
        if (known && argv[i][2] == 's')
            o->shape = argv[i + 1];
        else if (known)
            known = nt_parse_double(argv[i + 1], &o->bar);
        for (size_t j = 0; j < sizeof numbers / sizeof numbers[0] && i + 1 < argc; j++)
            if (strcmp(argv[i], numbers[j].name) == 0)
                known = nt_parse_i64(argv[i + 1], numbers[j].value) && *numbers[j].value > 0;
        if (!known) {
            fprintf(stderr, "usage: %s [--shape CxHxW] [--batch N] [--compiles N] [--pairs N] [--seed N] [--bar X]\n",
                    argv[0]);
            return 2;
        }
    }
    o->pairs = o->pairs < 10 ? 10 : o->pairs > MAX_PAIRS ? MAX_PAIRS : o->pairs;
    return 0;
}

static float *aligned_floats(size_t n)
{
    void *memory = NULL;
    if (posix_memalign(&memory, 4096, n * sizeof(float)) != 0)
        exit(1);
    memset(memory, 0, n * sizeof(float));
    return memory;
}

static const char *host_arch(void)
{
#if defined(__x86_64__)
    __builtin_cpu_init();
    return __builtin_cpu_supports("avx512f") ? "x86-64-avx512" : __builtin_cpu_supports("avx2") ? "x86-64-avx2" : "x86-64";
#else
    return "";
#endif
}

/* The faster of oneDNN's direct algorithm and of the one it would choose. */
static onednn fastest_onednn(const nt_problem *p, float *in, float *weight, float *out, subject *s, double flop)
{
    subject direct = {0}, chosen = {0};
    onednn a = make_onednn(p, dnnl_convolution_direct, in, weight, out, &direct);
    onednn b = make_onednn(p, dnnl_convolution_auto, in, weight, out, &chosen);
    double direct_s = median_of_three(&direct), chosen_s = median_of_three(&chosen);
    print_subject(a.implementation, direct_s, flop);
    print_subject(b.implementation, chosen_s, flop);
    *s = direct_s <= chosen_s ? direct : chosen;
    return direct_s <= chosen_s ? a : b;
}

int main(int argc, char **argv)
{
    options opt = {.shape = "64x56x56", .batch = 1, .compiles = 12, .pairs = 41, .seed = 1, .bar = 0};
    int usage = parse(argc, argv, &opt);
    if (usage != 0)
        return usage;
    nt_problem problem = {.layer = "conv3x3", .batch = opt.batch, .precision = NT_FP32, .layout = NT_NHWC};
    const nt_layer *layer = nt_layer_find("conv3x3");
    nt_extents extents;
    nt_error err;
    if (layer->parse_shape(opt.shape, &problem.shape, &err) != NT_OK || layer->extents(&problem, &extents, &err) != NT_OK) {
        fprintf(stderr, "%s\n%s\n", err.what, err.hint);
        return 2;
    }
    size_t in_count = (size_t)extents.in, weight_count = (size_t)extents.weight, out_count = (size_t)extents.out;
    float *in = aligned_floats(in_count), *weight = aligned_floats(weight_count);
    float *out = aligned_floats(out_count), *their_out = aligned_floats(out_count);
    nt_random_fill(NT_FILL_NORMAL, 1, 1, 0, in, in_count);
    nt_random_fill(NT_FILL_NORMAL, 1, 2, 0, weight, weight_count);

    nt_str text = {0};
    nt_problem_print(&text, &problem);
    printf("%s, %d threads, hot\n", nt_str_text(&text), omp_get_max_threads());
    subject theirs = {0};
    onednn dnn = fastest_onednn(&problem, in, weight, their_out, &theirs, extents.flop);
    printf("  oneDNN reorders, apart: in %.1f us, weight %.1f us, out %.1f us\n", dnn.reorder_in_s * 1e6,
           dnn.reorder_weight_s * 1e6, dnn.reorder_out_s * 1e6);

    search at = {.problem = &problem, .opt = &opt, .device = {.kind = NT_DEVICE_CPU, .sm_count = omp_get_max_threads()}};
    nt_copy(at.device.arch, sizeof at.device.arch, host_arch());
    at.packed_bytes = weight_count * 16 + (1 << 24);
    at.binding.address[NT_ROLE_IN] = (uintptr_t)in;
    at.binding.address[NT_ROLE_WEIGHT] = (uintptr_t)weight;
    at.binding.address[NT_ROLE_OUT] = (uintptr_t)out;
    at.binding.address[NT_ROLE_PACKED] = (uintptr_t)aligned_floats(at.packed_bytes / sizeof(float));
    winner best = {.time_s = INFINITY};
    const nt_kernel *best_kernel = NULL;
    for (int i = 0; i < nt_kernel_count; i++) {
        const nt_kernel *kernel = nt_kernels[i];
        if (kernel->device != NT_DEVICE_CPU || kernel->hidden || !(kernel->precisions & NT_BIT(NT_FP32)))
            continue;
        winner w = search_kernel(&at, kernel);
        print_subject(kernel->name, w.time_s, extents.flop);
        nt_str_clear(&text);
        nt_config_print(&text, kernel->params, &w.config);
        printf("  %s\n  weight packing on one thread, apart: %.1f us\n", nt_str_text(&text), w.prepare_s * 1e6);
        if (w.time_s < best.time_s) {
            best = w;
            best_kernel = kernel;
        }
    }
    nt_str_done(&text);
    if (best_kernel == NULL || !prepare(&at, best_kernel, &best.config, &best.subject, &best.prepare_s))
        return 1;

    calibrate(&best.subject);
    reorder_s(&dnn, dnn.out, dnn.plain_out);
    double difference = greatest_difference(out, their_out, out_count);
    printf("greatest difference of the results: %.2g\n", difference);
    subject twin = theirs, our_twin = best.subject;
    print_ratio("control: oneDNN against itself", &twin, &theirs, opt.pairs);
    print_ratio("control: ours against itself", &our_twin, &best.subject, opt.pairs);
    nt_interval ratio = print_ratio("oneDNN's time over ours", &best.subject, &theirs, opt.pairs);
    printf("bar %.2f: %s\n", opt.bar, ratio.median >= opt.bar ? "holds" : "does not hold");
    return difference > 1e-2 * sqrt((double)extents.reduction) || ratio.median < opt.bar;
}
