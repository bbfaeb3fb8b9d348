/* test_table.c: deployment tables from records to libnntune: which entry answers and why, files over files, what is
 * refused, damage, JSON there and back, merging, ranges and crossovers, the C header compiled, misses, launching on the
 * cpu with code made here, and on a GPU whose driver is not there (fake_nvidia.c). */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <dlfcn.h>
#include <unistd.h>

#include "core/paths.h"
#include "tests/bench/deploy_fixture.h"

static char folder[64], path[128], other_path[128], library_path[128];

static int open_folder(void **state)
{
    (void)state;
    strcpy(folder, "/tmp/nntune-table-XXXXXX");
    if (mkdtemp(folder) == NULL)
        return -1;
    snprintf(path, sizeof path, "%s/a.ntb", folder);
    snprintf(other_path, sizeof other_path, "%s/b.ntb", folder);
    unsetenv("NNTUNE_TABLE_PATH");
    unsetenv("NNTUNE_MISS_LOG");
    return 0;
}

static int remove_folder(void **state)
{
    char command[100];
    (void)state;
    snprintf(command, sizeof command, "rm -rf %s", folder);
    return system(command);
}

typedef struct asked {
    nntune_query query;
    int64_t size[FIXTURE_DIMS];
} asked;

static asked *ask(int shape, int64_t batch)
{
    static asked a;
    fixture_sizes(shape, a.size);
    a.query = (nntune_query){.layer = "conv3x3", .size = a.size, .size_count = FIXTURE_DIMS, .batch = batch};
    return &a;
}

static nntune_table *open_table(const nntune_device *device, unsigned flags)
{
    char why[NNTUNE_WHY_BYTES];
    nntune_table *table;
    if (nntune_table_open(path, device, flags, &table, why) != NNTUNE_OK)
        fail_msg("%s", why);
    return table;
}

static nntune_table *open_fixture(void)
{
    nt_deploy table;
    nntune_device device = fixture_device();
    fixture_table(12, 5, 2, 1, &table);
    assert_true(fixture_write(&table, path));
    nt_deploy_done(&table);
    return open_table(&device, 0);
}

/* ---- which entry answers ---- */

static void every_entry_is_found(void **state)
{
    (void)state;
    nntune_table *table = open_fixture();
    nntune_result r;
    assert_int_equal(nntune_table_entries(table), 120);
    for (int s = 0; s < 12; s++)
        for (int b = 0; b < 5; b++) {
            asked *a = ask(s, 1 << b);
            assert_int_equal(nntune_lookup(table, &a->query, &r), NNTUNE_OK);
            assert_int_equal(r.match, NNTUNE_MATCH_EXACT);
            assert_int_equal(r.tier, NNTUNE_TIER_DEVICE);
            assert_int_equal(r.batch, 1 << b);
            assert_memory_equal(r.size, a->size, sizeof a->size);
            assert_true(r.expected_ns == r.time_ns);
        }
    nntune_table_close(table);
}

static void batches_between_fall_into_ranges(void **state)
{
    (void)state;
    static const struct {
        int64_t asked, entry;
    } cases[] = {{3, 4}, {5, 4}, {6, 8}, {11, 8}, {12, 16}, {17, 16}, {1000, 16}};
    nntune_table *table = open_fixture();
    nntune_result r;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        assert_int_equal(nntune_lookup(table, &ask(3, cases[i].asked)->query, &r), NNTUNE_OK);
        assert_int_equal(r.match, NNTUNE_MATCH_BATCH);
        assert_int_equal(r.batch, cases[i].entry);
    }
    nntune_lookup(table, &ask(3, 12)->query, &r);
    double at_12 = r.expected_ns;
    nntune_lookup(table, &ask(3, 8)->query, &r);
    assert_true(at_12 > r.time_ns && at_12 < 2 * r.time_ns);
    nntune_table_close(table);
}

static void another_shape_goes_by_the_cost_model(void **state)
{
    (void)state;
    nntune_table *table = open_fixture();
    nntune_result r;
    char why[NNTUNE_WHY_BYTES];
    asked *a = ask(3, 4);
    a->size[0] += 3;
    assert_int_equal(nntune_lookup(table, &a->query, &r), NNTUNE_OK);
    assert_int_equal(r.match, NNTUNE_MATCH_SHAPE);
    assert_true(r.expected_ns > 0 && isfinite(r.expected_ns));
    nntune_explain(table, &a->query, NNTUNE_OK, &r, why, sizeof why);
    assert_non_null(strstr(why, "by the cost model"));
    nntune_table_close(table);
}

/* Two configurations, measured at one shape each. The one with the larger tile is faster there, but on the shape asked
 * about its waves are mostly empty. */
static void the_model_counts_waves_and_multiples(void **state)
{
    (void)state;
    nt_deploy table;
    nntune_device device = fixture_device();
    nntune_result r;
    fixture_table(2, 1, 1, 1, &table);
    for (size_t i = 0; i < 2; i++) {
        nt_deploy_cost *c = &table.entry[i].cost;
        for (int d = 0; d <= FIXTURE_DIMS; d++)
            c->tile[d] = 0;
        c->slots = 1;
        c->block_scale = 1;
        c->tile[3] = i == 0 ? 4 : 64;
        c->wave_ns = i == 0 ? 100 : 1000;
        c->flop_per_block = i == 0 ? 1000 : 16000;
        nt_copy(table.entry[i].kernel, sizeof table.entry[i].kernel, i == 0 ? "small" : "large");
    }
    /* 65 columns: 17 small blocks or 2 large ones. By work alone, the large tile wins: 1000 / 16000 < 100 / 1000. */
    for (int round = 0; round < 2; round++) {
        table.entry[1].cost.multiple[3] = round == 0 ? 1 : 16;
        assert_true(fixture_write(&table, path));
        nntune_table *open = open_table(&device, 0);
        asked *a = ask(0, 1);
        a->size[3] = 65;
        assert_int_equal(nntune_lookup(open, &a->query, &r), NNTUNE_OK);
        assert_string_equal(r.kernel, round == 0 ? "large" : "small");
        nntune_table_close(open);
    }
    nt_deploy_done(&table);
}

/* ---- devices ---- */

static void devices_come_in_tiers(void **state)
{
    (void)state;
    nt_deploy table;
    nntune_result r;
    char why[NNTUNE_WHY_BYTES];
    nntune_device fewer = fixture_device(), older = fixture_device();
    fewer.sm_count = 114;
    strcpy(fewer.name, "NVIDIA H100 PCIe");
    strcpy(older.arch, "sm_80");
    fixture_table(2, 2, 1, 1, &table);
    for (int dflt = 0; dflt < 2; dflt++) {
        table.device[0].is_default = dflt;
        assert_true(fixture_write(&table, path));
        nntune_table *open = open_table(&fewer, 0);
        assert_int_equal(nntune_lookup(open, &ask(0, 1)->query, &r), NNTUNE_OK);
        assert_int_equal(r.tier, NNTUNE_TIER_ARCHITECTURE);
        nntune_table_close(open);
        open = open_table(&older, 0);
        nntune_status status = nntune_lookup(open, &ask(0, 1)->query, &r);
        nntune_explain(open, &ask(0, 1)->query, status, &r, why, sizeof why);
        assert_int_equal(status, dflt ? NNTUNE_OK : NNTUNE_FOREIGN);
        assert_non_null(
            strstr(why, dflt ? "default device" : "the table is for NVIDIA H200 (sm_90, 132); this device is"));
        nntune_table_close(open);
    }
    nt_deploy_done(&table);
}

static void stale_entries_are_refused_unless_accepted(void **state)
{
    (void)state;
    nntune_result r;
    char why[NNTUNE_WHY_BYTES];
    nntune_device device = fixture_device();
    nntune_table_close(open_fixture());
    strcpy(device.driver, "CUDA 13.0"); /* a part of "580.65 (CUDA 13.0)" */
    nntune_table *table = open_table(&device, 0);
    assert_int_equal(nntune_lookup(table, &ask(0, 1)->query, &r), NNTUNE_OK);
    nntune_table_close(table);
    strcpy(device.driver, "590.10 (CUDA 13.1)");
    table = open_table(&device, 0);
    assert_int_equal(nntune_lookup(table, &ask(0, 1)->query, &r), NNTUNE_STALE);
    nntune_explain(table, &ask(0, 1)->query, NNTUNE_STALE, &r, why, sizeof why);
    assert_non_null(strstr(why, "590.10"));
    nntune_table_close(table);
    table = open_table(&device, NNTUNE_ACCEPT_STALE);
    assert_int_equal(nntune_lookup(table, &ask(0, 1)->query, &r), NNTUNE_OK);
    assert_true(r.stale);
    nntune_table_close(table);
}

static void senseless_queries_are_refused(void **state)
{
    (void)state;
    nntune_table *table = open_fixture();
    nntune_result r;
    asked *a = ask(0, 1);
    a->size[0] = 0;
    assert_int_equal(nntune_lookup(table, &a->query, &r), NNTUNE_INVALID);
    a = ask(0, 1);
    a->size[0] = a->size[1] = a->size[2] = INT64_C(1) << 31;
    assert_int_equal(nntune_lookup(table, &a->query, &r), NNTUNE_INVALID);
    a = ask(0, 0);
    assert_int_equal(nntune_lookup(table, &a->query, &r), NNTUNE_INVALID);
    a = ask(0, 1);
    a->query.layer = "fc";
    assert_int_equal(nntune_lookup(table, &a->query, &r), NNTUNE_NOT_FOUND);
    nntune_table_close(table);
}

static void the_users_table_lies_over(void **state)
{
    (void)state;
    nt_deploy table;
    nntune_device device = fixture_device();
    nntune_result r;
    nntune_table_close(open_fixture());
    fixture_table(1, 1, 1, 1, &table);
    nt_copy(table.entry[0].kernel, sizeof table.entry[0].kernel, "mine");
    assert_true(fixture_write(&table, other_path));
    nt_deploy_done(&table);
    setenv("NNTUNE_TABLE_PATH", other_path, 1);
    nntune_table *open = open_table(&device, 0);
    assert_int_equal(nntune_lookup(open, &ask(0, 1)->query, &r), NNTUNE_OK);
    assert_string_equal(r.kernel, "mine");
    nntune_lookup(open, &ask(0, 2)->query, &r); /* the system's exact batch before the user's range */
    assert_string_not_equal(r.kernel, "mine");
    assert_int_equal(r.match, NNTUNE_MATCH_EXACT);
    nntune_table_close(open);
    open = open_table(&device, NNTUNE_ALONE);
    nntune_lookup(open, &ask(0, 1)->query, &r);
    assert_string_not_equal(r.kernel, "mine");
    nntune_table_close(open);
    unsetenv("NNTUNE_TABLE_PATH");
}

static void misses_are_logged_once(void **state)
{
    (void)state;
    char log[128], *text;
    size_t bytes;
    nntune_result r;
    nntune_table *table = open_fixture();
    snprintf(log, sizeof log, "%s/misses", folder);
    assert_int_equal(nntune_table_log_misses(table, log, NULL), NNTUNE_OK);
    for (int i = 0; i < 3; i++) {
        nntune_lookup(table, &ask(0, 1)->query, &r);
        nntune_lookup(table, &ask(0, 3)->query, &r);
    }
    nntune_table_close(table);
    assert_int_equal(nt_read_file(log, 10000, &text, &bytes, NULL), NT_OK);
    assert_string_equal(
        text, "{\"type\":\"miss\",\"layer\":\"conv3x3\",\"size\":[16,32,7,14],\"batch\":3,\"precision\":\"fp32\","
              "\"layout\":\"nhwc\"}\n");
    free(text);
}

/* ---- files ---- */

static void damage_is_told(void **state)
{
    (void)state;
    char *data, why[NNTUNE_WHY_BYTES] = "";
    size_t bytes;
    nntune_device device = fixture_device();
    nntune_table *table;
    nt_deploy read;
    nntune_table_close(open_fixture());
    assert_int_equal(nt_read_file(path, 1 << 28, &data, &bytes, NULL), NT_OK);
    for (size_t at = 0; at < bytes; at += bytes / 97 + 1) {
        data[at] ^= 0x20;
        assert_int_equal(nt_write_file(path, data, bytes, NULL), NT_OK);
        assert_int_equal(nntune_table_open(path, &device, 0, &table, why), NNTUNE_CORRUPT);
        assert_int_not_equal(nt_deploy_read(path, &read, NULL), NT_OK);
        data[at] ^= 0x20;
        assert_int_equal(nt_write_file(path, data, at, NULL), NT_OK);
        assert_int_equal(nntune_table_open(path, &device, 0, &table, why), NNTUNE_CORRUPT);
        assert_int_not_equal(nt_deploy_read(path, &read, NULL), NT_OK);
    }
    assert_non_null(strstr(why, path));
    unlink(path);
    assert_int_equal(nntune_table_open(path, &device, 0, &table, why), NNTUNE_NOT_FOUND);
    assert_int_equal(nntune_table_open(folder, &device, 0, &table, why), NNTUNE_CORRUPT);
    free(data);
}

static nt_deploy_launch *make_launch(const char *entry)
{
    nt_deploy_launch *l = nt_alloc_zero(1, sizeof *l);
    l->stage_count = 2;
    l->stage = nt_alloc_zero(2, sizeof *l->stage);
    l->batch_lo = 1;
    l->batch_hi = 7;
    l->packed_bytes = l->workspace_bytes = nt_deploy_constant(0);
    nt_deploy_stage *zero = &l->stage[0], *run = &l->stage[1];
    nt_stage_zero(&zero->stage, NT_ROLE_OUT, 4);
    zero->zero_bytes = (nt_deploy_number){0, 1, 8, 1, INT64_MAX};
    nt_stage_kernel(&run->stage, entry, 1, 1, 1, 32, 1, 1);
    nt_stage_arg_buffer(&run->stage, NT_ROLE_IN, 0);
    nt_stage_arg_buffer(&run->stage, NT_ROLE_OUT, 0);
    nt_stage_arg_f32(&run->stage, 0.5f);
    nt_stage_arg_i32(&run->stage, 3);
    for (int i = 0; i < 3; i++)
        run->grid[i] = zero->grid[i] = nt_deploy_constant(1);
    run->grid[0] = (nt_deploy_number){0, 2, 3, 3, 14}; /* 2 x ceil(3 n / 3) */
    run->arg[0] = run->arg[1] = run->arg[2] = run->zero_bytes = nt_deploy_constant(0);
    run->arg[3] = (nt_deploy_number){1, 1, 1, 1, INT64_MAX};
    return l;
}

static void json_and_bundles_read_back_alike(void **state)
{
    (void)state;
    nt_deploy table, again;
    nt_error err;
    fixture_table(3, 3, 2, 1, &table);
    table.entry[4].launch = make_launch("work");
    table.entry[4].code = nt_deploy_add_code(&table, "00112233445566778899aabbccddeeff", "code", 4);
    char *before = nt_deploy_json(&table);
    assert_true(fixture_write(&table, path));
    assert_int_equal(nt_deploy_read(path, &again, &err), NT_OK);
    char *after = nt_deploy_json(&again);
    assert_string_equal(before, after);
    assert_int_equal(again.code_count, 1);
    free(after);
    nt_deploy_done(&again);
    assert_int_equal(nt_write_file(path, before, strlen(before), NULL), NT_OK);
    assert_int_equal(nt_deploy_read(path, &again, &err), NT_OK);
    assert_int_equal(again.entry_count, 18);
    assert_int_equal(again.entry[4].code, -1); /* JSON names code, it does not hold it */
    nt_deploy_done(&again);
    free(before);
    nt_deploy_done(&table);
}

static void merging_lets_the_later_win(void **state)
{
    (void)state;
    nt_deploy a, b;
    fixture_table(3, 2, 1, 1, &a);
    fixture_table(1, 3, 1, 1, &b);
    b.entry[0].time_ns = 7;
    assert_int_equal(nt_deploy_merge(&a, &b), 2);
    assert_int_equal(a.entry_count, 7);
    assert_int_equal(a.device_count, 1);
    assert_true(a.entry[0].time_ns == 7);
    nt_deploy_done(&a);
    nt_deploy_done(&b);
}

static void ranges_meet_where_the_configurations_cross(void **state)
{
    (void)state;
    nt_deploy t;
    int64_t lo, hi;
    fixture_table(1, 3, 1, 1, &t); /* batches 1, 2, 4 */
    nt_deploy_entry *e = t.entry;
    free(e[1].params_json);
    e[1].params_json = nt_strdup(e[0].params_json);
    nt_copy(e[1].kernel, sizeof e[1].kernel, e[0].kernel);
    e[1].problem.batch = 10;
    e[2].problem.batch = 20;
    e[1].time_ns = 100;
    e[2].time_ns = 150;
    /* At 10 the upper one takes 30 longer, at 20 the lower one 10: they cross three quarters of the way. */
    nt_deploy_add_time(&t, 0, &e[1].problem, e[2].kernel, e[2].params_json, 130);
    nt_deploy_add_time(&t, 0, &e[2].problem, e[1].kernel, e[1].params_json, 160);
    nt_deploy_arrange(&t);
    assert_int_equal(t.entry[2].from_batch, 18);
    assert_int_equal(nt_deploy_range(&t, 0, &lo, &hi), 2); /* equal configurations make one range */
    assert_int_equal(lo, 1);
    assert_int_equal(hi, 17);
    assert_int_equal(nt_deploy_range(&t, 2, &lo, &hi), 3);
    assert_true(hi == INT64_MAX);
    nt_deploy_done(&t);
}

static void the_header_compiles_and_finds(void **state)
{
    (void)state;
    static const char program[] = "#include \"t.h\"\n#include <string.h>\n"
                                  "int main(void) { int size[] = {48, 32, 7, 16};\n"
                                  "  const struct conv_entry *e = conv_find(0, 0, 1, 0, size, 3), *past;\n"
                                  "  past = conv_find(0, 0, 1, 0, size, 4000); size[0] = 47;\n"
                                  "  return !(e && e->batch == 4 && past && past->batch == 4 &&\n"
                                  "           strstr(conv_configs[e->config].params, \"tile_m\") &&\n"
                                  "           !conv_find(0, 0, 1, 0, size, 3)); }\n";
    char command[400];
    nt_deploy table;
    nt_str text = {0};
    nt_error err;
    fixture_table(4, 3, 2, 1, &table);
    assert_int_equal(nt_deploy_header(&table, "1x", &text, &err), NT_USAGE);
    assert_int_equal(nt_deploy_header(&table, "conv", &text, &err), NT_OK);
    snprintf(command, sizeof command, "%s/t.h", folder);
    assert_int_equal(nt_write_file(command, nt_str_text(&text), text.length, NULL), NT_OK);
    snprintf(command, sizeof command, "%s/t.c", folder);
    assert_int_equal(nt_write_file(command, program, sizeof program - 1, NULL), NT_OK);
    snprintf(command, sizeof command, "cc -std=c99 -Wall -Wextra -Werror -o %s/t %s/t.c && %s/t", folder, folder,
             folder);
    assert_int_equal(system(command), 0);
    nt_str_done(&text);
    table.entry[0].problem.batch = INT64_C(1) << 40;
    assert_int_equal(nt_deploy_header(&table, "conv", &text, &err), NT_USAGE);
    nt_deploy_done(&table);
}

/* ---- launching ---- */

/* A table with one entry whose code is the file at `code`, for the device. */
static void write_runnable(const char *code, nt_device_kind kind)
{
    char *data;
    size_t bytes;
    nt_deploy table;
    fixture_table(1, 3, 1, 1, &table);
    table.device[0].kind = kind;
    assert_int_equal(nt_read_file(code, 1 << 26, &data, &bytes, NULL), NT_OK);
    table.entry[2].launch = make_launch("work");
    table.entry[2].code = nt_deploy_add_code(&table, "00112233445566778899aabbccddeeff", data, bytes);
    assert_true(fixture_write(&table, path));
    free(data);
    nt_deploy_done(&table);
}

static nntune_kernel *load(nntune_table *table, int64_t batch, nntune_status wanted)
{
    char why[NNTUNE_WHY_BYTES] = "";
    nntune_result r;
    nntune_kernel *kernel = NULL;
    asked *a = ask(0, batch);
    assert_int_equal(nntune_lookup(table, &a->query, &r), NNTUNE_OK);
    nntune_status status = nntune_kernel_load(table, &a->query, &r, &kernel, why);
    if (status != wanted)
        fail_msg("%s: %s", nntune_status_text(status), why);
    assert_true(status == NNTUNE_OK || why[0] != '\0');
    return kernel;
}

static void runs_on_the_cpu(void **state)
{
    (void)state;
    static const char source[] =
        "#include <stdint.h>\n"
        "void work(void *const *args, int64_t begin, int64_t end, int32_t thread, int32_t threads)\n"
        "{ float *in = *(float **)args[0], *out = *(float **)args[1];\n"
        "  for (int64_t i = begin; i < end; i++) out[i] += in[i] * *(float *)args[2] + *(int *)args[3]; }\n";
    char name[128], command[400], why[NNTUNE_WHY_BYTES];
    nntune_device device = fixture_device();
    device.kind = NNTUNE_CPU;
    device.sm_count = 3;
    snprintf(name, sizeof name, "%s/work.c", folder);
    assert_int_equal(nt_write_file(name, source, sizeof source - 1, NULL), NT_OK);
    snprintf(command, sizeof command, "cc -shared -fPIC -o %s/work.so %s", folder, name);
    assert_int_equal(system(command), 0);
    snprintf(name, sizeof name, "%s/work.so", folder);
    write_runnable(name, NT_DEVICE_CPU);
    nntune_table *table = open_table(&device, 0);
    for (int64_t batch = 4; batch <= 7; batch++) {
        float in[16], out[16];
        nntune_kernel *kernel = load(table, batch, NNTUNE_OK), *second = load(table, batch, NNTUNE_OK);
        for (int i = 0; i < 16; i++) {
            in[i] = (float)i;
            out[i] = -1;
        }
        nntune_buffers b = {.in = (uintptr_t)in, .out = (uintptr_t)out};
        for (int twice = 0; twice < 2; twice++)
            assert_int_equal(nntune_launch(twice ? second : kernel, &b, NULL, why), NNTUNE_OK);
        for (int i = 0; i < 16; i++)
            assert_true(out[i] == (i < 2 * batch ? 0.5f * (float)i + (float)(batch + 1) : -1));
        b.out = 0;
        assert_int_equal(nntune_launch(kernel, &b, NULL, why), NNTUNE_INVALID);
        assert_string_equal(why, "the buffer 'out' is needed");
        nntune_kernel_free(kernel);
        nntune_kernel_free(second);
    }
    assert_null(load(table, 8, NNTUNE_REFUSED)); /* beyond the launch's batches */
    assert_null(load(table, 1, NNTUNE_REFUSED)); /* no code */
    nntune_table_close(table);
}

static void queues_on_a_gpu(void **state)
{
    (void)state;
    char why[NNTUNE_WHY_BYTES], code[128];
    nntune_device here, device = fixture_device();
    snprintf(code, sizeof code, "%s/code", folder);
    assert_int_equal(nt_write_file(code, "cubin: a GPU's code", 19, NULL), NT_OK);
    setenv("NNTUNE_LIBCUDA", "/nonexistent/libcuda.so.1", 1);
    assert_int_equal(nntune_device_here(NNTUNE_CUDA, 0, &here, why), NNTUNE_NO_DEVICE);
    assert_non_null(strstr(why, "driver library was not found"));
    setenv("NNTUNE_LIBCUDA", library_path, 1);
    if (nntune_device_here(NNTUNE_CUDA, 0, &here, why) != NNTUNE_OK)
        fail_msg("%s", why);
    assert_string_equal(here.arch, "sm_90");
    assert_int_equal(here.sm_count, 4);
    assert_int_equal(nntune_device_here(NNTUNE_CUDA, 9, &here, why), NNTUNE_NO_DEVICE);
    write_runnable(code, NT_DEVICE_CUDA);
    nntune_table *table = open_table(&device, 0);
    nntune_kernel *kernel = load(table, 5, NNTUNE_OK);
    float in[64] = {0}, out[64];
    memset(out, 0xff, sizeof out);
    nntune_buffers b = {.in = (uintptr_t)in, .out = (uintptr_t)out};
    void *library = dlopen(library_path, RTLD_NOW);
    int before = *(int *)dlsym(library, "fake_launches");
    assert_int_equal(nntune_launch(kernel, &b, NULL, why), NNTUNE_OK);
    assert_int_equal(*(int *)dlsym(library, "fake_launches"), before + 1);
    assert_true(out[0] == 0 && out[9] == 0 && out[10] != 0); /* 8 bytes a batch were zeroed on the stream */
    nntune_kernel_free(kernel);
    nntune_table_close(table);
    dlclose(library);
}

static int build_driver(void)
{
    char source[512], command[1600];
    snprintf(source, sizeof source, "%s", __FILE__);
    char *slash = strrchr(source, '/');
    if (slash != NULL)
        *slash = '\0';
    snprintf(library_path, sizeof library_path, "/tmp/nntune-table-driver-%d.so", (int)getpid());
    snprintf(command, sizeof command, "cc -shared -fPIC -o %s %s/fake_nvidia.c %s/fake_nvidia_tools.c", library_path,
             source, source);
    return system(command);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, open_folder, remove_folder)
    const struct CMUnitTest tests[] = {
        TEST(every_entry_is_found),
        TEST(batches_between_fall_into_ranges),
        TEST(another_shape_goes_by_the_cost_model),
        TEST(the_model_counts_waves_and_multiples),
        TEST(devices_come_in_tiers),
        TEST(stale_entries_are_refused_unless_accepted),
        TEST(senseless_queries_are_refused),
        TEST(the_users_table_lies_over),
        TEST(misses_are_logged_once),
        TEST(damage_is_told),
        TEST(json_and_bundles_read_back_alike),
        TEST(merging_lets_the_later_win),
        TEST(ranges_meet_where_the_configurations_cross),
        TEST(the_header_compiles_and_finds),
        TEST(runs_on_the_cpu),
        TEST(queues_on_a_gpu),
    };
    if (build_driver() != 0)
        return 1;
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    unlink(library_path);
    return failed;
}
