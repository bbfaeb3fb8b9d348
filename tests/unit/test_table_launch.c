/* test_table_launch.c: what a program launches out of a table is what the sweep launched when it measured: every kernel
 * of the registry, over batches, through a bundle and libnntune on one side and the cuda device on the other, to a
 * driver that is not there (fake_nvidia.c) and keeps grids, attributes, arguments and what tensor maps are made of. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <dlfcn.h>
#include <unistd.h>

#include "cli/deploy_entry.h"
#include "core/json.h"
#include "core/paths.h"
#include "device/device.h"
#include "fake_nvidia_log.h"
#include "tests/bench/deploy_fixture.h"

#ifdef NT_HAVE_CUDA_H

enum { OWN_BATCH = 8, LAST_BATCH = 40 };
static const char code[] = "cubin: a GPU's code";

static char folder[64], path[128], library_path[128], code_path[128];
static void *library;
static nt_device *device;
static nt_module *module;
static fake_log *logged;
static const nt_device_ops *const ops = &nt_device_cuda_ops;

static void must(bool ok, const char *what)
{
    if (!ok)
        fail_msg("%s", what);
}

/* ---- one configuration ------------------------------------------------------------------------------------------------- */

typedef struct subject {
    const nt_kernel *kernel;
    nt_config config;
    nt_problem problem;
    nt_deploy table;
    nntune_table *open;
} subject;

static bool plan_at(const subject *s, int64_t batch, nt_plan *out)
{
    nt_problem problem = s->problem;
    problem.batch = batch;
    memset(out, 0, sizeof *out);
    return (s->kernel->refuses == NULL || s->kernel->refuses(&problem) == NULL) &&
           s->kernel->plan(&problem, &s->config, ops->info(device), out, NULL) == NT_OK;
}

static subject make(const nt_kernel *kernel, const char *shape, int precision, int layout, const char *params)
{
    const nt_layer *layer = nt_layer_find(kernel->layer);
    const nt_rule rule = {"", params};
    nt_error err = {0};
    subject s = {.kernel = kernel,
                 .problem = {.batch = OWN_BATCH, .precision = (nt_precision)precision, .layout = (nt_layout)layout}};
    nt_copy(s.problem.layer, sizeof s.problem.layer, kernel->layer);
    if (layer->parse_shape(shape, &s.problem.shape, &err) != NT_OK ||
        nt_kernel_rule_config(kernel, &rule, &s.config, &err) != NT_OK)
        fail_msg("%s %s: %s", kernel->name, params, err.what);
    return s;
}

/* The entry as 'table build' makes it, opened as a program does. */
static const nt_deploy_entry *deploy(subject *s)
{
    nt_trial trial;
    nt_deploy_entry entry;
    nntune_device here = {.kind = NNTUNE_CUDA, .sm_count = ops->info(device)->sm_count};
    nt_deploy_device of = {.kind = NT_DEVICE_CUDA, .sm_count = here.sm_count};
    json_t *params = nt_json_config(s->kernel->params, &s->config);
    char why[NNTUNE_WHY_BYTES];
    nt_copy(here.name, sizeof here.name, ops->info(device)->name);
    nt_copy(here.arch, sizeof here.arch, ops->info(device)->arch);
    nt_copy(of.name, sizeof of.name, here.name);
    nt_copy(of.arch, sizeof of.arch, here.arch);
    nt_trial_init(&trial);
    nt_deploy_add_device(&s->table, &of);
    nt_deploy_entry_init(&entry);
    entry.problem = s->problem;
    entry.params_json = nt_json_dump(params);
    entry.time_ns = 1000;
    nt_copy(entry.kernel, sizeof entry.kernel, s->kernel->name);
    nt_deploy_entry_probe(&entry, ops->info(device), &trial, LAST_BATCH);
    entry.code = nt_deploy_add_code(&s->table, "00112233445566778899aabbccddeeff", code, sizeof code);
    json_decref(params);
    nt_trial_done(&trial);
    nt_deploy_add_entry(&s->table, &entry);
    nt_deploy_arrange(&s->table);
    must(fixture_write(&s->table, path), "the bundle cannot be written");
    if (nntune_table_open(path, &here, 0, &s->open, why) != NNTUNE_OK)
        fail_msg("%s %s: %s", s->kernel->layer, s->kernel->name, why);
    return &s->table.entry[0];
}

static void done(subject *s)
{
    nntune_table_close(s->open);
    nt_deploy_done(&s->table);
}

static nntune_status load(const subject *s, int64_t batch, nntune_kernel **out, char *why)
{
    int64_t sizes[NT_MAX_DIMS];
    nntune_result result;
    nntune_query query = {.layer = s->problem.layer,
                          .size = sizes,
                          .size_count = s->problem.shape.count,
                          .batch = batch,
                          .precision = (nntune_precision)s->problem.precision,
                          .layout = (nntune_layout)s->problem.layout};
    for (int i = 0; i < s->problem.shape.count; i++)
        sizes[i] = s->problem.shape.dim[i].size;
    must(nntune_lookup(s->open, &query, &result) == NNTUNE_OK, "the entry is not found");
    return nntune_kernel_load(s->open, &query, &result, out, why);
}

/* ---- both sides -------------------------------------------------------------------------------------------------------- */

static const nt_binding binding = {.address = {[NT_ROLE_IN] = 0x10000000,
                                               [NT_ROLE_WEIGHT] = 0x20000100,
                                               [NT_ROLE_OUT] = 0x30000200,
                                               [NT_ROLE_PACKED] = 0x40000300,
                                               [NT_ROLE_WORKSPACE] = 0x50000400}};
static const nntune_buffers buffers = {0x10000000, 0x20000100, 0x30000200, 0x40000300, 0x50000400};

/* The driver is told how large the arguments are that come. */
static void expect(const nt_plan *plan)
{
    static const int bytes[] = {8, 4, 8, 4, FAKE_MAP_BYTES}; /* by kind */
    int(*sizes)[FAKE_ARGS] = dlsym(library, "fake_arg_bytes");
    memset(logged, 0, sizeof *logged);
    memset(sizes, 0, FAKE_LOG * sizeof *sizes);
    for (int i = 0; i < plan->prepare_count + plan->stage_count; i++) {
        const nt_stage *stage = i < plan->prepare_count ? &plan->prepare[i] : &plan->stage[i - plan->prepare_count];
        for (int a = 0; stage->kind == NT_STAGE_KERNEL && a < stage->arg_count; a++)
            sizes[i][a] = bytes[stage->arg[a].kind];
    }
}

static void sweep_side(const nt_plan *plan, fake_log *out)
{
    nt_error err = {0};
    expect(plan);
    ops->module_unload(device, module); /* so that its functions' limits are set again */
    if (ops->module_load(device, code_path, &module, &err) != NT_OK ||
        ops->run(device, module, plan, true, &binding, NULL, &err) != NT_OK ||
        ops->run(device, module, plan, false, &binding, NULL, &err) != NT_OK)
        fail_msg("%s", err.what);
    *out = *logged;
}

static void program_side(const subject *s, const nt_plan *plan, int64_t batch, fake_log *out)
{
    char why[NNTUNE_WHY_BYTES] = "";
    nntune_kernel *kernel = NULL;
    void *stream = dlsym(library, "fake_waits"); /* the device's */
    expect(plan);
    if (load(s, batch, &kernel, why) != NNTUNE_OK || nntune_prepare(kernel, &buffers, stream, why) != NNTUNE_OK ||
        nntune_launch(kernel, &buffers, stream, why) != NNTUNE_OK)
        fail_msg("%s %s batch %lld: %s", s->kernel->layer, s->kernel->name, (long long)batch, why);
    assert_int_equal(nntune_kernel_packed_bytes(kernel), plan->packed_bytes);
    assert_int_equal(nntune_kernel_workspace_bytes(kernel), plan->workspace_bytes);
    nntune_kernel_free(kernel);
    *out = *logged;
}

/* Up to 48 KiB of shared memory need no word. */
static int limit_of(const fake_log *log, const char *function, int attribute)
{
    int least = attribute == 8 ? 48 * 1024 : 0;
    for (int i = 0; i < log->limits; i++)
        if (log->limit[i].attribute == attribute && strcmp(log->limit[i].function, function) == 0)
            return log->limit[i].value > least ? log->limit[i].value : least;
    return least;
}

static void compare(const subject *s, int64_t batch)
{
    static fake_log swept, run;
    nt_plan *plan = nt_alloc(sizeof *plan);
    must(plan_at(s, batch, plan), "the plan cannot be made");
    sweep_side(plan, &swept);
    program_side(s, plan, batch, &run);
    assert_int_equal(swept.count, plan->prepare_count + plan->stage_count);
    assert_int_equal(run.count, swept.count);
    assert_int_equal(run.misplaced, 0);
    for (int i = 0; i < run.count; i++) {
        const fake_entry *a = &swept.entry[i], *b = &run.entry[i];
        if (memcmp(a, b, sizeof *a) != 0)
            fail_msg("%s %s at batch %lld: %s differs", s->kernel->layer, s->kernel->name, (long long)batch,
                     a->function);
        assert_int_equal(limit_of(&swept, a->function, 8), limit_of(&run, a->function, 8));
        assert_int_equal(limit_of(&swept, a->function, 14), limit_of(&run, a->function, 14));
    }
    free(plan);
}

/* ---- every kernel ------------------------------------------------------------------------------------------------------ */

typedef struct tally {
    int kernels, maps, prepares, workspaces, ranges;
} tally;

static void count(const nt_deploy_launch *l, tally *t)
{
    bool maps = false;
    for (int i = 0; i < l->prepare_count + l->stage_count; i++)
        maps = maps || l->stage[i].stage.map_count > 0;
    t->kernels++;
    t->maps += maps;
    t->prepares += l->prepare_count > 2;
    t->workspaces += l->workspace_bytes.base > 0 || l->workspace_bytes.step > 0;
    t->ranges += l->batch_hi > l->batch_lo;
}

static void deploy_and_compare(subject *s, tally *t)
{
    const nt_deploy_entry *e = deploy(s);
    if (e->launch == NULL)
        fail_msg("%s %s has no launch: %s", s->kernel->layer, s->kernel->name, e->no_launch);
    count(e->launch, t);
    compare(s, OWN_BATCH);
    if (e->launch->batch_hi > e->launch->batch_lo) {
        compare(s, 1);
        compare(s, 13);
        compare(s, LAST_BATCH);
    }
    done(s);
}

/* The first shape of its layer, every precision and layout, by its first rule of thumb or its defaults. */
static void every_kernel_launches_as_it_was_measured(void **state)
{
    (void)state;
    tally t = {0};
    for (int k = 0; k < nt_kernel_count; k++) {
        const nt_kernel *kernel = nt_kernels[k];
        const char *params = kernel->rule_count > 0 ? kernel->rules[0].params : "";
        if (kernel->device != NT_DEVICE_CUDA || kernel->vendor != NT_VENDOR_NONE || kernel->hidden)
            continue;
        for (int p = 0; p < NT_PRECISION_COUNT; p++)
            for (int l = 0; l < 2; l++) {
                if (!(kernel->precisions & NT_BIT(p)) || !(kernel->layouts & NT_BIT(l)))
                    continue;
                subject s = make(kernel, nt_layer_find(kernel->layer)->shapes[0].name, p, l, params);
                nt_plan plan;
                if (plan_at(&s, OWN_BATCH, &plan))
                    deploy_and_compare(&s, &t);
            }
    }
    print_message(
        "%d launches: %d with tensor maps, %d with three preparations, %d with a workspace, %d for all batches\n",
        t.kernels, t.maps, t.prepares, t.workspaces, t.ranges);
    assert_true(t.kernels > 80 && t.maps > 20 && t.prepares > 0 && t.workspaces > 2);
    assert_true(t.ranges > t.kernels * 9 / 10);
}

/* Clusters of more than 8, grids that end at what the device holds, images gathered with a stride, weights in two
 * parts, sparse weights with their metadata. */
static void every_form_of_a_product_launches_as_it_was_measured(void **state)
{
    (void)state;
    static const struct {
        const char *layer, *kernel, *shape, *params;
        int precision, layout;
    } cases[] = {
        {"conv3x3", "gemm", "64x56x56", "tile_m=128 tile_n=64 cluster_m=2 cluster_n=2 split_k=4", NT_BF16, NT_NHWC},
        {"conv3x3", "gemm", "64x14x14", "tile_m=128 tile_n=64 persistent=true min_blocks=1 band=8", NT_FP16, NT_NHWC},
        {"conv3x3", "gemm", "128x7x7", "tile_m=128 tile_n=32 transposed=true persistent=true", NT_BF16, NT_NHWC},
        {"conv3x3", "gemm_3xtf32", "64x14x14", "tile_m=128 tile_n=64", NT_FP32, NT_NHWC},
        {"conv3x3", "gemm", "64x14x14", "tile_m=128 tile_n=64", NT_TF32, NT_NCHW},
        {"conv3x3", "shift", "64x14x14", "", NT_BF16, NT_NHWC},
        {"conv3x3", "shift", "64x56x56", "resident=true", NT_INT8, NT_NHWC},
    };
    tally t = {0};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        const nt_kernel *kernel = nt_kernel_find(cases[i].layer, NT_DEVICE_CUDA, cases[i].kernel);
        must(kernel != NULL, cases[i].kernel);
        subject s = make(kernel, cases[i].shape, cases[i].precision, cases[i].layout, cases[i].params);
        deploy_and_compare(&s, &t);
        if (t.ranges != (int)i + 1)
            fail_msg("%s %s is launched at its own batch alone", cases[i].kernel, cases[i].params);
    }
}

/* ---- a kernel that has everything once ------------------------------------------------------------------------------- */

/* All numbers differ, so that none can take another's place; two stages share a function, the first needs more. */
static nt_status strange_plan(const nt_problem *problem, const nt_config *config, const nt_device_info *info,
                              nt_plan *out, nt_error *err)
{
    int64_t n = problem->batch;
    nt_tensor_map tiles = {.role = NT_ROLE_PACKED,
                           .offset_bytes = 48,
                           .elem_bytes = 4,
                           .size = {7, 9 * n, 11, 13},
                           .stride_bytes = {4, 32, 288 * n, 3168 * n},
                           .box = {5, 6, 8, 10},
                           .step = {1, 1}};
    nt_tensor_map images = {.role = NT_ROLE_WORKSPACE,
                            .offset_bytes = 64 * n,
                            .elem_bytes = 1,
                            .size = {17, 19, 23, n},
                            .stride_bytes = {1, 16, 304, 6992},
                            .box = {12, 14},
                            .images = true,
                            .lower = {-1, -2},
                            .upper = {-3, 4},
                            .step = {2, 3}};
    (void)config, (void)info, (void)err;
    *out = (nt_plan){.prepare_count = 1,
                     .stage_count = 3,
                     .packed_bytes = (size_t)(1000 * n),
                     .workspace_bytes = (size_t)(70000 * n)};
    nt_stage_kernel(&out->prepare[0], "nt_prepare", 3, 5, (uint32_t)n, 32, 2, 4);
    nt_stage_arg_buffer(&out->prepare[0], NT_ROLE_PACKED, 16);
    nt_stage_zero(&out->stage[0], NT_ROLE_WORKSPACE, (size_t)(7 * n));
    for (int i = 1; i < 3; i++) {
        nt_stage *stage = &out->stage[i];
        nt_stage_kernel(stage, "nt_strange", (uint32_t)(n + 2 < 15 ? n + 2 : 15), 2, 6, 64, 1, 1);
        nt_stage_arg_i64(stage, INT64_C(5000000000) * n);
        nt_stage_arg_map(stage, &images);
        nt_stage_arg_f32(stage, 0.25f);
        nt_stage_arg_map(stage, &tiles);
        nt_stage_arg_i32(stage, -3);
        nt_stage_arg_buffer(stage, NT_ROLE_OUT, 32);
        stage->cluster[0] = stage->cluster[2] = 2;
        stage->smem_dynamic_bytes = i == 1 ? 200000 : 100000;
    }
    return NT_OK;
}

/* Code that was compiled for its batch is launched at no other. */
static void strange_options(const nt_problem *problem, const nt_config *config, nt_str *out)
{
    (void)config;
    nt_str_addf(out, " -DBATCH=%lld", (long long)problem->batch);
}

static void a_kernel_that_has_everything_launches_as_it_was_measured(void **state)
{
    (void)state;
    static nt_kernel strange = {.name = "strange",
                                .layer = "conv3x3",
                                .device = NT_DEVICE_CUDA,
                                .precisions = NT_BIT(NT_FP32),
                                .layouts = NT_BIT(NT_NHWC),
                                .plan = strange_plan};
    tally t = {0};
    assert_true(nt_kernel_add(&strange));
    for (int told = 0; told < 2; told++) {
        strange.options = told ? strange_options : NULL;
        subject s = make(&strange, "64x14x14", NT_FP32, NT_NHWC, "");
        deploy_and_compare(&s, &t);
        assert_int_equal(t.ranges, 1);
    }
    assert_int_equal(t.kernels, 2);
    nt_registry_reset();
}

/* ---- maps ------------------------------------------------------------------------------------------------------------- */

static subject deployed_gemm(void)
{
    subject s = make(nt_kernel_find("conv3x3", NT_DEVICE_CUDA, "gemm"), "64x14x14", NT_BF16, NT_NHWC, "tile_n=64");
    must(deploy(&s)->launch != NULL, "gemm has no launch");
    return s;
}

static int maps_made(void)
{
    return *(int *)dlsym(library, "fake_maps");
}

static void maps_are_kept_while_buffers_stay(void **state)
{
    (void)state;
    char why[NNTUNE_WHY_BYTES];
    nntune_kernel *kernel;
    subject s = deployed_gemm();
    nntune_buffers b = buffers;
    assert_int_equal(load(&s, OWN_BATCH, &kernel, why), NNTUNE_OK);
    memset(dlsym(library, "fake_arg_bytes"), 0, sizeof(int[FAKE_LOG][FAKE_ARGS]));
    ((int *)dlsym(library, "fake_arg_bytes"))[0] = FAKE_MAP_BYTES;
    static const struct {
        uint64_t in, weight;
        int made;
    } launches[] = {{0x1000, 0x2000, 2}, {0x1000, 0x2000, 0}, {0x1010, 0x2000, 1}, {0x1000, 0x2010, 2}};
    for (size_t i = 0; i < sizeof launches / sizeof launches[0]; i++) {
        int before = maps_made();
        fake_map pixels;
        b.in = launches[i].in;
        b.weight = launches[i].weight;
        logged->count = 0;
        assert_int_equal(nntune_launch(kernel, &b, NULL, why), NNTUNE_OK);
        assert_int_equal(maps_made() - before, launches[i].made);
        memcpy(&pixels, logged->entry[0].arg[0], sizeof pixels);
        assert_int_equal(pixels.base, b.in);
    }
    nntune_kernel_free(kernel);
    done(&s);
}

static void maps_that_cannot_be_made_are_refused(void **state)
{
    (void)state;
    char why[NNTUNE_WHY_BYTES];
    nntune_kernel *kernel;
    subject s = deployed_gemm();
    nntune_buffers b = buffers;
    assert_int_equal(load(&s, OWN_BATCH, &kernel, why), NNTUNE_OK);
    b.in += 8;
    assert_int_equal(nntune_launch(kernel, &b, NULL, why), NNTUNE_INVALID);
    assert_string_equal(why, "the buffer 'in' lies at 0x10000008: nt_gemm reads it by a tensor map, whose address must "
                             "be a multiple of 16 bytes");
    b.in = 0;
    assert_int_equal(nntune_launch(kernel, &b, NULL, why), NNTUNE_INVALID);
    assert_string_equal(why, "the buffer 'in' is needed");
    b.in = buffers.in;
    setenv("FAKE_NO_MAPS", "1", 1);
    for (int twice = 0; twice < 2; twice++) { /* what failed is not taken for made */
        assert_int_equal(nntune_launch(kernel, &b, NULL, why), NNTUNE_FAILED);
        assert_non_null(strstr(why, "makes no tensor map of the buffer 'in' for nt_gemm"));
    }
    unsetenv("FAKE_NO_MAPS");
    assert_int_equal(nntune_launch(kernel, &b, NULL, why), NNTUNE_OK);
    nntune_kernel_free(kernel);
    done(&s);
}

static void a_vendors_call_is_refused_with_the_reason(void **state)
{
    (void)state;
    char why[NNTUNE_WHY_BYTES];
    nntune_kernel *kernel;
    nt_deploy again;
    nt_error err;
    subject s = make(nt_kernel_find("conv3x3", NT_DEVICE_CUDA, "cudnn"), "64x14x14", NT_FP16, NT_NHWC, "");
    assert_null(deploy(&s)->launch);
    assert_int_equal(load(&s, OWN_BATCH, &kernel, why), NNTUNE_REFUSED);
    assert_string_equal(why,
                        "the table holds the configuration of cudnn but no launch: a vendor's library does its work, "
                        "and a table holds code alone");
    assert_int_equal(nt_deploy_read(path, &again, &err), NT_OK);
    assert_string_equal(again.entry[0].no_launch, s.table.entry[0].no_launch);
    nt_deploy_done(&again);
    done(&s);
}

/* Maps go there and back through JSON, in a bundle and alone. */
static void maps_read_back_alike(void **state)
{
    (void)state;
    nt_error err = {0};
    static const char *const kernels[] = {"gemm", "shift"}; /* images, tiles */
    for (int i = 0; i < 2; i++) {
        subject s = make(nt_kernel_find("conv3x3", NT_DEVICE_CUDA, kernels[i]), "64x14x14", NT_BF16, NT_NHWC, "");
        nt_deploy again = {0};
        deploy(&s);
        char *before = nt_deploy_json(&s.table);
        assert_int_equal(nt_deploy_read(path, &again, &err), NT_OK);
        char *after = nt_deploy_json(&again);
        assert_string_equal(before, after);
        nt_deploy_done(&again);
        char *maps = strstr(before, "\"map\":1");
        assert_non_null(maps);
        maps[6] = '7'; /* a map that the stage does not have */
        assert_int_equal(nt_deploy_from_json(before, &again, &err), NT_CORRUPT);
        nt_deploy_done(&again);
        free(before);
        free(after);
        done(&s);
    }
}

static int open_all(void **state)
{
    char command[1600], here[512];
    nt_error err = {0};
    (void)state;
    snprintf(here, sizeof here, "%s", __FILE__);
    *strrchr(here, '/') = '\0';
    strcpy(folder, "/tmp/nntune-launch-XXXXXX");
    if (mkdtemp(folder) == NULL)
        return -1;
    snprintf(path, sizeof path, "%s/a.ntb", folder);
    snprintf(code_path, sizeof code_path, "%s/code.cubin", folder);
    snprintf(library_path, sizeof library_path, "%s/libfake.so", folder);
    snprintf(command, sizeof command, "cc -shared -fPIC -o %s %s/fake_nvidia.c %s/fake_nvidia_tools.c", library_path,
             here, here);
    setenv("NNTUNE_LIBCUDA", library_path, 1);
    setenv("NNTUNE_NVRTC", library_path, 1);
    setenv("NNTUNE_NVML", library_path, 1);
    setenv("NNTUNE_CACHE_DIR", folder, 1);
    setenv("FAKE_NO_MEMORY", "1", 1); /* addresses are made up */
    setenv("FAKE_ANY_FUNCTION", "1", 1);
    unsetenv("NNTUNE_TABLE_PATH");
    if (system(command) != 0 || nt_write_file(code_path, code, sizeof code, NULL) != NT_OK)
        return -1;
    library = dlopen(library_path, RTLD_NOW);
    logged = library != NULL ? dlsym(library, "fake_logged") : NULL;
    if (logged == NULL || ops->open(0, &device, &err) != NT_OK)
        return -1;
    return 0;
}

static int close_all(void **state)
{
    char command[100];
    (void)state;
    ops->module_unload(device, module);
    ops->close(device);
    snprintf(command, sizeof command, "rm -rf %s", folder);
    return system(command);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_kernel_launches_as_it_was_measured),
        cmocka_unit_test(every_form_of_a_product_launches_as_it_was_measured),
        cmocka_unit_test(a_kernel_that_has_everything_launches_as_it_was_measured),
        cmocka_unit_test(maps_are_kept_while_buffers_stay),
        cmocka_unit_test(maps_that_cannot_be_made_are_refused),
        cmocka_unit_test(a_vendors_call_is_refused_with_the_reason),
        cmocka_unit_test(maps_read_back_alike),
    };
    return cmocka_run_group_tests(tests, open_all, close_all);
}

#else

int main(void)
{
    return 0;
}

#endif
