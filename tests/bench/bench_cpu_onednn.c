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
#include "tests/bench/onednn.h"

#include <omp.h>

enum { MAX_PAIRS = 1001, LAUNCHES_PER_COMPILE = 12 };

typedef struct options {
    const char *shape;
    long long batch, compiles, pairs, seed;
    double bar;
} options;

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
    return __builtin_cpu_supports("avx512f") ? "x86-64-avx512"
           : __builtin_cpu_supports("avx2")  ? "x86-64-avx2"
                                             : "x86-64";
#else
    return "";
#endif
}

typedef struct data {
    nt_problem problem;
    nt_extents extents;
    float *in, *weight, *out, *their_out;
    size_t out_count;
} data;

static bool make_data(const options *opt, data *d)
{
    nt_error err;
    const nt_layer *layer = nt_layer_find("conv3x3");
    d->problem = (nt_problem){.layer = "conv3x3", .batch = opt->batch, .precision = NT_FP32, .layout = NT_NHWC};
    if (layer->parse_shape(opt->shape, &d->problem.shape, &err) != NT_OK ||
        layer->extents(&d->problem, &d->extents, &err) != NT_OK) {
        fprintf(stderr, "%s\n%s\n", err.what, err.hint);
        return false;
    }
    d->out_count = (size_t)d->extents.out;
    d->in = aligned_floats((size_t)d->extents.in);
    d->weight = aligned_floats((size_t)d->extents.weight);
    d->out = aligned_floats(d->out_count);
    d->their_out = aligned_floats(d->out_count);
    nt_random_fill(NT_FILL_NORMAL, 1, 1, 0, d->in, (size_t)d->extents.in);
    nt_random_fill(NT_FILL_NORMAL, 1, 2, 0, d->weight, (size_t)d->extents.weight);
    return true;
}

/* The faster of oneDNN's direct algorithm and of the one it would choose. */
static onednn fastest_onednn(const data *d, subject *s)
{
    subject direct = {0}, chosen = {0};
    onednn a = make_onednn(&d->problem, dnnl_convolution_direct, d->in, d->weight, d->their_out, &direct);
    onednn b = make_onednn(&d->problem, dnnl_convolution_auto, d->in, d->weight, d->their_out, &chosen);
    double direct_s = median_of_three(&direct), chosen_s = median_of_three(&chosen);
    print_subject(a.implementation, direct_s, d->extents.flop);
    print_subject(b.implementation, chosen_s, d->extents.flop);
    onednn *best = direct_s <= chosen_s ? &a : &b;
    *s = direct_s <= chosen_s ? direct : chosen;
    printf("  oneDNN reorders, apart: in %.1f us, weight %.1f us, out %.1f us\n", best->reorder_in_s * 1e6,
           best->reorder_weight_s * 1e6, best->reorder_out_s * 1e6);
    return *best;
}

/* The best over all CPU kernels, prepared to run. */
static bool fastest_of_ours(const search *at, const data *d, winner *best)
{
    const nt_kernel *best_kernel = NULL;
    *best = (winner){.time_s = INFINITY};
    for (int i = 0; i < nt_kernel_count; i++) {
        const nt_kernel *kernel = nt_kernels[i];
        if (kernel->device != NT_DEVICE_CPU || kernel->hidden || !(kernel->precisions & NT_BIT(NT_FP32)))
            continue;
        winner w = search_kernel(at, kernel);
        if (w.time_s == INFINITY)
            continue;
        nt_str text = {0};
        nt_config_print(&text, kernel->params, &w.config);
        print_subject(kernel->name, w.time_s, d->extents.flop);
        printf("  %s\n  weight packing on one thread, apart: %.1f us\n", nt_str_text(&text), w.prepare_s * 1e6);
        nt_str_done(&text);
        if (w.time_s < best->time_s) {
            *best = w;
            best_kernel = kernel;
        }
    }
    if (best_kernel == NULL || !prepare(at, best_kernel, &best->config, &best->subject, &best->prepare_s))
        return false;
    calibrate(&best->subject);
    return true;
}

static int compare(const options *opt, const data *d, const onednn *dnn, subject *theirs, subject *ours)
{
    reorder_s(dnn, dnn->out, dnn->plain_out);
    double difference = greatest_difference(d->out, d->their_out, d->out_count);
    subject their_twin = *theirs, our_twin = *ours;
    printf("greatest difference of the results: %.2g\n", difference);
    print_ratio("control: oneDNN against itself", &their_twin, theirs, opt->pairs);
    print_ratio("control: ours against itself", &our_twin, ours, opt->pairs);
    nt_interval ratio = print_ratio("oneDNN's time over ours", ours, theirs, opt->pairs);
    printf("bar %.2f: %s\n", opt->bar, ratio.median >= opt->bar ? "holds" : "does not hold");
    return difference > 1e-5 * (double)d->extents.reduction || ratio.median < opt->bar;
}

int main(int argc, char **argv)
{
    options opt = {.shape = "64x56x56", .batch = 1, .compiles = 12, .pairs = 41, .seed = 1, .bar = 0};
    data d;
    int usage = parse(argc, argv, &opt);
    if (usage != 0 || !make_data(&opt, &d))
        return 2;
    nt_str text = {0};
    nt_problem_print(&text, &d.problem);
    printf("%s, %d threads, hot\n", nt_str_text(&text), omp_get_max_threads());
    nt_str_done(&text);

    subject theirs = {0};
    onednn dnn = fastest_onednn(&d, &theirs);
    search at = {.problem = &d.problem,
                 .opt = &opt,
                 .packed_bytes = (size_t)d.extents.weight * 16 + (1 << 24),
                 .device = {.kind = NT_DEVICE_CPU, .sm_count = omp_get_max_threads()}};
    nt_copy(at.device.arch, sizeof at.device.arch, host_arch());
    at.binding.address[NT_ROLE_IN] = (uintptr_t)d.in;
    at.binding.address[NT_ROLE_WEIGHT] = (uintptr_t)d.weight;
    at.binding.address[NT_ROLE_OUT] = (uintptr_t)d.out;
    at.binding.address[NT_ROLE_PACKED] = (uintptr_t)aligned_floats(at.packed_bytes / sizeof(float));
    winner best;
    return fastest_of_ours(&at, &d, &best) ? compare(&opt, &d, &dnn, &theirs, &best.subject) : 1;
}
