/* worker.c: what the set t1 costs for many different configurations of a real kernel, asked of the counter worker by
 * the same messages as the sweep sends: loading of code, inputs and answers included. Achieved occupancy is held
 * against the model's limit. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "autotune/child.h"
#include "autotune/space.h"
#include "core/clock.h"
#include "core/json.h"
#include "core/mem.h"
#include "core/occupancy.h"
#include "core/random.h"
#include "device/compiler.h"
#include "tests/gpu_counters/judge.h"

enum { COMPILERS = 14, BATCH = 64 /* of the first message, whose price tells what is paid once */ };

typedef struct candidate {
    nt_config config;
    char options[1024];
    nt_artefact artefact;
    double limit_pct; /* by the model */
} candidate;

typedef struct field {
    const nt_device_info *info;
    const nt_kernel *kernel;
    nt_problem problem;
    char *source;
    candidate *candidate;
    size_t count;
} field;

static nt_compile_request request_of(const field *f, const candidate *c)
{
    return (nt_compile_request){.kind = NT_DEVICE_CUDA,
                                .name = f->kernel->name,
                                .source = f->source,
                                .options = c->options,
                                .arch = f->info->arch,
                                .compiler = f->info->compiler,
                                .features = f->info->features,
                                .deadline_s = 60};
}

/* In a sweep the device worker has had this compiled. */
static void compile_support(const field *f)
{
    extern const char nt_embed_device_cuda_support_cu[];
    static const nt_config none;
    candidate support = {.config = none};
    nt_compile_request request = request_of(f, &support);
    nt_error err;
    request.name = "cuda_support";
    request.source = nt_embed_device_cuda_support_cu;
    nt_compile(&request, &support.artefact, &err);
}

static void compile_all(field *f)
{
    if (fork() == 0) {
        compile_support(f);
        _exit(0);
    }
    for (size_t child = 0; child < COMPILERS; child++) {
        if (fork() != 0)
            continue;
        for (size_t i = child; i < f->count; i += COMPILERS) {
            nt_compile_request request = request_of(f, &f->candidate[i]);
            nt_error err;
            nt_compile(&request, &f->candidate[i].artefact, &err);
        }
        _exit(0);
    }
    while (wait(NULL) > 0)
        continue;
}

/* Keeps what compiled and can be launched. */
static void keep_launchable(field *f)
{
    size_t kept = 0;
    for (size_t i = 0; i < f->count; i++) {
        candidate *c = &f->candidate[i];
        nt_compile_request request = request_of(f, c);
        nt_error err;
        nt_plan plan = {0};
        if (nt_compile_lookup(&request, &c->artefact, &err) != NT_OK ||
            f->kernel->plan(&f->problem, &c->config, f->info, &plan, &err) != NT_OK)
            continue;
        const nt_stage *stage = &plan.stage[plan.stage_count - 1];
        nt_occupancy occupancy =
            nt_occupancy_of(f->info, stage->block[0] * stage->block[1] * stage->block[2], c->artefact.registers,
                            c->artefact.smem_static_bytes + stage->smem_dynamic_bytes);
        c->limit_pct = occupancy.pct;
        if (occupancy.blocks_per_sm > 0)
            f->candidate[kept++] = *c;
    }
    f->count = kept;
}

static nt_status choose(field *f, size_t wanted, nt_error *err)
{
    nt_space *space;
    nt_status status = nt_space_build(f->kernel, &f->problem, f->info, NULL, 0, NULL, &space, err);
    if (status != NT_OK)
        return status;
    uint64_t size = nt_space_size(space);
    nt_random random = nt_random_seed(7, 0);
    f->count = wanted + wanted / 10 < size ? wanted + wanted / 10 : (size_t)size;
    f->candidate = nt_alloc_zero(f->count, sizeof *f->candidate);
    /* Distinct: one out of each of as many equal parts of the space. */
    for (size_t i = 0; i < f->count; i++) {
        candidate *c = &f->candidate[i];
        uint64_t first = size * i / f->count, last = size * (i + 1) / f->count;
        nt_str options = {0};
        nt_space_config(space, first + nt_random_below(&random, last > first ? last - first : 1), &c->config);
        nt_kernel_options(f->kernel, &f->problem, &c->config, &options);
        nt_copy(c->options, sizeof c->options, nt_str_text(&options));
        nt_str_done(&options);
    }
    nt_space_free(space);
    compile_all(f);
    keep_launchable(f);
    f->count = f->count < wanted ? f->count : wanted;
    return NT_OK;
}

/* ---- messages ---- */

static json_t *ask(nt_child *child, json_t *request, double *ms)
{
    nt_error err = {0};
    json_t *reply = NULL;
    double begin = nt_now_ms();
    nt_status status = nt_channel_send(&child->channel, request, &err);
    if (status == NT_OK)
        status = nt_channel_receive(&child->channel, 120000, &reply, &err);
    *ms = nt_now_ms() - begin;
    if (status != NT_OK)
        judge_fail("asking the counter worker", &err);
    else if (json_integer_value(json_object_get(reply, "status")) != 0)
        fprintf(stderr, "the counter worker: %s\n", json_string_value(json_object_get(reply, "what")));
    return reply;
}

static json_t *items_of(const field *f, size_t first, size_t count)
{
    json_t *items = json_array();
    for (size_t i = first; i < first + count; i++)
        json_array_append_new(items, json_pack("{s:s, s:o, s:o, s:I}", "kernel", f->kernel->name, "params",
                                               nt_json_config(f->kernel->params, &f->candidate[i].config), "artefact",
                                               nt_json_artefact(&f->candidate[i].artefact), "trial", (json_int_t)i));
    return json_pack("{s:s, s:o}", "op", "counters", "items", items);
}

typedef struct tally {
    size_t ok, failed, above_limit, unknown;
    double least_pct, most_pct, kernel_ms, load_ms, count_ms;
} tally;

/* Sums since the worker began. */
static void show_spent(const json_t *reply)
{
    char *text = json_dumps(json_object_get(reply, "spent"), JSON_REAL_PRECISION(5));
    printf("by then: %s\n", text != NULL ? text : "?");
    free(text);
}

static void check(const field *f, const json_t *reply, tally *t)
{
    size_t i;
    json_t *one;
    show_spent(reply);
    t->load_ms += nt_json_get_real(reply, "load_ms");
    t->count_ms += nt_json_get_real(reply, "count_ms");
    json_array_foreach (json_object_get(reply, "counters"), i, one) {
        double pct = nt_json_get_real(json_object_get(one, "values"), "occupancy_pct");
        double bytes = nt_json_get_real(json_object_get(one, "values"), "dram_read_bytes");
        const candidate *c = &f->candidate[nt_json_get_int(one, "trial")];
        if (json_object_get(one, "reason") != NULL) {
            t->failed++;
            fprintf(stderr, "%s\n", nt_json_get_text(one, "reason"));
            continue;
        }
        t->ok++;
        t->kernel_ms += 1e-6 * nt_json_get_real(json_object_get(one, "values"), "counter_time_ns");
        t->unknown += isnan(pct) || isnan(bytes);
        t->above_limit += pct > c->limit_pct + 1;
        t->least_pct = t->ok == 1 || pct < t->least_pct ? pct : t->least_pct;
        t->most_pct = t->ok == 1 || pct > t->most_pct ? pct : t->most_pct;
    }
}

static int measure(field *f)
{
    nt_child child;
    nt_error err = {0};
    tally t = {0};
    double prepare_ms, open_ms, problem_ms, first_ms, rest_ms;
    size_t first = f->count < BATCH ? f->count : BATCH, rest = f->count - first;
    double begin = nt_now_ms();
    if (nt_child_start(&child, "--counter-worker", "cuda:0", false, &err) != NT_OK)
        return judge_fail("starting the counter worker", &err);
    /* A sweep has this done while its device worker opens the device. */
    json_decref(ask(&child, json_pack("{s:s}", "op", "prepare"), &prepare_ms));
    json_t *opened = ask(&child, json_pack("{s:s, s:[s]}", "op", "open", "metrics", "t1"), &open_ms);
    json_t *problem = ask(&child,
                          json_pack("{s:s, s:o, s:i, s:s}", "op", "problem", "problem", nt_json_problem(&f->problem),
                                    "seed", 1, "cache", "cold"),
                          &problem_ms);
    json_t *one = ask(&child, items_of(f, 0, first), &first_ms);
    json_t *two = ask(&child, items_of(f, first, rest), &rest_ms);
    double total_ms = nt_now_ms() - begin - prepare_ms;
    check(f, one, &t);
    check(f, two, &t);
    double each = rest_ms / (double)(rest > 0 ? rest : 1), once = total_ms - each * (double)f->count;
    printf("t1 of %zu configurations (%zu ok, %zu failed): %.0f ms in all, and before, while the device worker opens, "
           "%.0f; open %.0f, problem %.0f, first %zu %.0f, other %zu %.0f\n",
           f->count, t.ok, t.failed, total_ms, prepare_ms, open_ms, problem_ms, first, first_ms, rest, rest_ms);
    printf("occupancy %.3g to %.3g %%; %zu above the model's limit by more than a point; %zu unknown\n", t.least_pct,
           t.most_pct, t.above_limit, t.unknown);
    printf("of it: loading %.0f ms, counting %.0f ms; the kernels themselves %.0f ms a round\n", t.load_ms, t.count_ms,
           t.kernel_ms);
    bool good = judge_bar("t1", "configurations with counters", "", (double)t.ok, ">=", (double)f->count);
    good = judge_bar("t1", "of them with an occupancy or DRAM bytes unknown", "", (double)t.unknown, "<=", 0) && good;
    judge_tell_of("t1", "occupancies above the model's limit by more than a point", "", (double)t.above_limit);
    good = judge_bar("t1", "each configuration", "ms", each, "<=", 2) && good;
    good = judge_bar("t1", "once a run", "ms", once, "<=", 1000) && good;
    json_decref(opened);
    json_decref(problem);
    json_decref(one);
    json_decref(two);
    nt_child_kill(&child);
    return good ? 0 : 1;
}

int judge_worker(int argc, char **argv)
{
    static nt_device_listing listing;
    nt_error err = {0};
    field f = {.kernel = nt_kernel_find("conv3x3", NT_DEVICE_CUDA, "direct")};
    if (argc < 2 || f.kernel == NULL)
        return 2;
    setenv("NNTUNE_EXE", argv[0], 1);
    /* The driver must not be up in this process, since it forks: identity comes from another one's listing. */
    int pipe_fd[2];
    if (pipe(pipe_fd) != 0)
        return 1;
    if (fork() == 0) {
        nt_device_cuda_ops.list(&listing);
        _exit(write(pipe_fd[1], &listing, sizeof listing) == (ssize_t)sizeof listing ? 0 : 1);
    }
    for (size_t got = 0; got < sizeof listing;) {
        ssize_t n = read(pipe_fd[0], (char *)&listing + got, sizeof listing - got);
        if (n <= 0)
            return 1;
        got += (size_t)n;
    }
    wait(NULL);
    f.info = &listing.info[0];
    f.problem = (nt_problem){.layer = "conv3x3", .batch = 8, .precision = NT_FP32, .layout = NT_NHWC};
    f.source = nt_kernel_source(f.kernel);
    nt_status status = nt_shape_parse("c=64,k=64,h=56,w=56", &f.problem.shape, &err);
    if (status == NT_OK)
        status = choose(&f, (size_t)atoi(argv[1]), &err);
    int code = status == NT_OK ? measure(&f) : judge_fail("choosing configurations", &err);
    free(f.source);
    free(f.candidate);
    return code;
}
