/* test_attention_flash.c: attention on tensor cores without a GPU: the kernel's own text, options and launches, lane by
 * lane on the host (tensor_core_emulation.h), at shapes that end in the middle of every tile, with copies that arrive
 * at once and as late as allowed; and faults put into the text, which these checks must find. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <dlfcn.h>
#include <stdio.h>
#include <unistd.h>

#include "layers_fixture.h"
#include "tests/unit/emulated_library.h"

enum { GUARD = 65536 };

static const struct {
    const char *shape, *params;
    nt_precision precision;
} examples[] = {
    {"heads=2,tokens=37,d=16", "warps=1 keys=16 stages=1", NT_FP16},
    {"heads=1,tokens=1,d=16", "warps=2 keys=32 stages=2", NT_BF16},
    {"heads=3,tokens=70,d=32", "warps=2 keys=32 stages=2", NT_FP16},
    {"heads=2,tokens=197,d=64", "warps=4 keys=64 stages=2", NT_BF16},
    {"heads=1,tokens=129,d=64", "warps=4 keys=128 stages=1", NT_FP16},
    {"heads=1,tokens=100,d=48", "warps=2 keys=16 stages=3", NT_BF16},
    {"heads=1,tokens=50,d=128", "warps=1 keys=64 stages=2", NT_FP16},
};

typedef const char *(*run_function)(void *entry, const uint64_t args[12], const uint32_t grid[3], uint32_t threads,
                                    uint32_t shared_bytes, bool eager);
typedef void (*allow_function)(const void *begin, size_t bytes);

static void *compile(const char *source, const char *options)
{
    return emulated_library("tensor_core_emulation.h", source, options);
}

/* Elements beyond the bound and damaged guard bytes; what the emulation itself finds is in *wrong. */
static size_t run_once(void *object, const nt_kernel *kernel, const nt_plan *plan, const fixture *f, bool eager,
                       const char **wrong)
{
    const nt_stage *stage = &plan->stage[0];
    size_t bytes = fixture_out_bytes(f), found = 0;
    unsigned char *out = aligned_alloc(256, (bytes + 255) / 256 * 256 + 2 * GUARD);
    uint64_t args[12] = {(uint64_t)(uintptr_t)f->in_memory, (uint64_t)(uintptr_t)(out + GUARD)};
    run_function run;
    *(void **)&run = dlsym(object, "nt_host_run");
    void *entry = dlsym(object, stage->entry);
    assert_non_null(run);
    assert_non_null(entry);
    for (int i = 2; i < stage->arg_count; i++)
        args[i] = (uint64_t)stage->arg[i].value;
    memset(out, 0xff, bytes + 2 * GUARD);
    *wrong = run(entry, args, stage->grid, stage->block[0], stage->smem_dynamic_bytes, eager);
    for (int i = 0; i < GUARD; i++)
        found += (out[i] != 0xff) + (out[GUARD + bytes + (size_t)i] != 0xff);
    found += fixture_violations(f, kernel, out + GUARD);
    free(out);
    return found;
}

/* The same with early and with late copies. */
static size_t faults(const char *source, const char *shape, const char *params, nt_precision precision,
                     const char **wrong)
{
    const nt_kernel *kernel = nt_kernel_find("attention", NT_DEVICE_CUDA, "flash");
    fixture f = fixture_new("attention", shape, FIXTURE_BATCH, precision, NT_NHWC);
    nt_rule rule = {"test", params};
    nt_config config;
    nt_device_info device = {.kind = NT_DEVICE_CUDA, .smem_per_block_bytes = 232448};
    nt_plan plan;
    nt_str options = {0};
    allow_function allow;
    size_t found = 0;
    assert_int_equal(nt_kernel_rule_config(kernel, &rule, &config, NULL), NT_OK);
    assert_null(kernel->refuses(&f.problem));
    assert_int_equal(kernel->plan(&f.problem, &config, &device, &plan, NULL), NT_OK);
    nt_kernel_options(kernel, &f.problem, &config, &options);
    void *object = compile(source, nt_str_text(&options));
    *(void **)&allow = dlsym(object, "nt_host_allow");
    allow(f.in_memory, fixture_in_bytes(&f));
    *wrong = NULL;
    for (int eager = 0; eager < 2 && *wrong == NULL; eager++)
        found += run_once(object, kernel, &plan, &f, eager, wrong);
    nt_str_done(&options);
    fixture_done(&f);
    return found;
}

static void every_example_is_right(void **state)
{
    (void)state;
    char *source = nt_kernel_source(nt_kernel_find("attention", NT_DEVICE_CUDA, "flash"));
    for (size_t i = 0; i < sizeof examples / sizeof examples[0]; i++) {
        const char *wrong;
        size_t found = faults(source, examples[i].shape, examples[i].params, examples[i].precision, &wrong);
        if (wrong != NULL || found > 0)
            fail_msg("%s, %s: %zu outputs beyond the bound; %s", examples[i].shape, examples[i].params, found,
                     wrong != NULL ? wrong : "no complaint");
    }
    free(source);
}

static const char *const plants[][2] = {
    {"if (k + KEYS > tokens)", "if (0)"},                               /* absent keys have weight */
    {"s->sum[half] * shrink + total", "s->sum[half] + total"},          /* under an old maximum */
    {"lane % 4 * 2 + i % 2 >= keys_left", "lane % 4 * 2 >= keys_left"}, /* one key too many */
    {"nt_copy_wait(STAGES - 1)", "nt_copy_wait(STAGES)"},               /* reads what has not arrived */
    {"&s);\n        __syncthreads();", "&s);"},                         /* overwrites what is still read */
    {"if (token < tokens)", "if (1)"},                                  /* writes tokens that do not exist */
};

static char *replaced(const char *text, const char *from, const char *to)
{
    const char *at = strstr(text, from);
    if (at == NULL)
        fail_msg("the source has no '%s'", from);
    nt_str out = {0};
    nt_str_add_n(&out, text, (size_t)(at - text));
    nt_str_add(&out, to);
    nt_str_add(&out, at + strlen(from));
    return out.data;
}

static void planted_faults_are_found(void **state)
{
    (void)state;
    char *source = nt_kernel_source(nt_kernel_find("attention", NT_DEVICE_CUDA, "flash"));
    for (size_t i = 0; i < sizeof plants / sizeof plants[0]; i++) {
        const char *wrong;
        char *bad = replaced(source, plants[i][0], plants[i][1]);
        if (faults(bad, "heads=1,tokens=69,d=32", "warps=2 keys=32 stages=2", NT_FP16, &wrong) == 0 && wrong == NULL)
            fail_msg("not found: %s instead of %s", plants[i][1], plants[i][0]);
        free(bad);
    }
    free(source);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_example_is_right),
        cmocka_unit_test(planted_faults_are_found),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
