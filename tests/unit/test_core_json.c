/* Records as JSON: every member survives the way there and back, unknown is null, and what is wrong is named. */
#include "core/json.h"

#include "core/mem.h"
#include "core/random.h"

#include "core_check.h"

#include <float.h>

/* Writes, dumps, parses and reads again: what a message between processes goes through. */
static json_t *through_text(json_t *json)
{
    char *text = nt_json_dump_done(json);
    json_t *back = NULL;
    nt_error err = {0};
    assert_null(strchr(text, '\n'));
    assert_int_equal(nt_json_parse(text, &back, &err), NT_OK);
    free(text);
    return back;
}

static nt_trial full_trial(void)
{
    nt_trial t;
    nt_trial_init(&t);
    t.id = 7;
    t.run_id = INT64_C(9007199254740993); /* 2^53 + 1: a double would lose it */
    nt_copy(t.problem.layer, sizeof t.problem.layer, "conv3x3");
    assert_int_equal(nt_shape_parse("c=64,k=64,h=56,w=56", &t.problem.shape, NULL), NT_OK);
    t.problem.batch = 8;
    t.problem.precision = NT_BF16;
    t.problem.layout = NT_NCHW;
    t.problem.fill = NT_FILL_UNIFORM;
    nt_copy(t.kernel, sizeof t.kernel, "direct");
    nt_copy(t.source_hash, sizeof t.source_hash, "0123456789abcdef0123456789abcdef");
    t.params_json = nt_strdup("{\"tile_m\":64,\"ratio\":0.10000000000000001,\"swizzle\":true}");
    nt_copy(t.rule, sizeof t.rule, "16x16 threads");
    t.outcome = NT_OUTCOME_WRONG_RESULT;
    nt_copy(t.reason, sizeof t.reason, "element 5 is \"inf\" \\ 3\n");
    t.cache = NT_HOT;
    t.time_ns = 1.0 / 3;
    t.time_lo_ns = 0x1.fffffffffffffp-2;
    t.time_hi_ns = 1e300;
    t.probe_ns = 5e-324;
    t.floor_ns = 0;
    t.converged = true;
    t.reused = true;
    t.samples.count = 4;
    t.samples.launches_per_sample = 20;
    t.samples.sample_ns = nt_realloc_array(NULL, 4, sizeof(double));
    memcpy(t.samples.sample_ns, (double[]){0.1, 1e-9, NAN, 12345678.9012345}, 4 * sizeof(double));
    t.conditions = (nt_conditions){1980.5, 61, 700000, NAN, 4};
    t.error_impl = INFINITY;
    t.error_prec = 1e-3;
    nt_copy(t.artefact.key, sizeof t.artefact.key, "k");
    nt_copy(t.artefact.path, sizeof t.artefact.path, "/tmp/k.cubin");
    t.artefact.registers = 128;
    t.artefact.smem_static_bytes = 0;
    t.artefact.spill_bytes = NT_UNKNOWN;
    t.artefact.compile_ms = 250.25;
    t.artefact.cached = true;
    t.smem_bytes = 49152;
    t.threads_per_block = 256;
    t.grid_blocks = 1234;
    t.occupancy_limit_pct = 62.5;
    nt_copy(t.occupancy_limiter, sizeof t.occupancy_limiter, "registers");
    t.prepare_ns = 10.5;
    t.compile_ms = 1.5;
    t.verify_ms = 2.5;
    t.measure_ms = 3.5;
    return t;
}

/* Bit for bit, NANs alike. */
#define assert_same_double(a, b) assert_true(((a) == (b) && signbit(a) == signbit(b)) || (isnan(a) && isnan(b)))

static void assert_same_times(const nt_trial *a, const nt_trial *b)
{
    const double first[] = {a->time_ns,
                            a->time_lo_ns,
                            a->time_hi_ns,
                            a->probe_ns,
                            a->floor_ns,
                            a->error_impl,
                            a->error_prec,
                            a->occupancy_limit_pct,
                            a->prepare_ns,
                            a->compile_ms,
                            a->verify_ms,
                            a->measure_ms,
                            a->artefact.compile_ms,
                            a->conditions.sm_clock_mhz,
                            a->conditions.temperature_c,
                            a->conditions.power_mw,
                            a->conditions.energy_mj};
    const double second[] = {b->time_ns,
                             b->time_lo_ns,
                             b->time_hi_ns,
                             b->probe_ns,
                             b->floor_ns,
                             b->error_impl,
                             b->error_prec,
                             b->occupancy_limit_pct,
                             b->prepare_ns,
                             b->compile_ms,
                             b->verify_ms,
                             b->measure_ms,
                             b->artefact.compile_ms,
                             b->conditions.sm_clock_mhz,
                             b->conditions.temperature_c,
                             b->conditions.power_mw,
                             b->conditions.energy_mj};
    for (size_t i = 0; i < sizeof first / sizeof first[0]; i++)
        assert_same_double(first[i], second[i]);
    assert_int_equal(a->samples.count, b->samples.count);
    for (size_t i = 0; i < a->samples.count; i++)
        assert_same_double(a->samples.sample_ns[i], b->samples.sample_ns[i]);
}

static void assert_same_trial(const nt_trial *a, const nt_trial *b)
{
    const int64_t first[] = {a->id,
                             a->run_id,
                             (int64_t)a->outcome,
                             (int64_t)a->cache,
                             a->converged,
                             a->reused,
                             a->samples.launches_per_sample,
                             a->conditions.throttle_mask,
                             a->artefact.registers,
                             a->artefact.smem_static_bytes,
                             a->artefact.spill_bytes,
                             a->artefact.cached,
                             a->smem_bytes,
                             a->threads_per_block,
                             a->grid_blocks};
    const int64_t second[] = {b->id,
                              b->run_id,
                              (int64_t)b->outcome,
                              (int64_t)b->cache,
                              b->converged,
                              b->reused,
                              b->samples.launches_per_sample,
                              b->conditions.throttle_mask,
                              b->artefact.registers,
                              b->artefact.smem_static_bytes,
                              b->artefact.spill_bytes,
                              b->artefact.cached,
                              b->smem_bytes,
                              b->threads_per_block,
                              b->grid_blocks};
    assert_memory_equal(first, second, sizeof first);
    assert_true(nt_problem_equal(&a->problem, &b->problem));
    assert_string_equal(a->kernel, b->kernel);
    assert_string_equal(a->source_hash, b->source_hash);
    assert_string_equal(a->rule, b->rule);
    assert_string_equal(a->reason, b->reason);
    assert_string_equal(a->artefact.key, b->artefact.key);
    assert_string_equal(a->artefact.path, b->artefact.path);
    assert_string_equal(a->occupancy_limiter, b->occupancy_limiter);
    assert_string_equal(a->params_json ? a->params_json : "", b->params_json ? b->params_json : "");
    assert_same_times(a, b);
}

static void trials_survive(void **state)
{
    (void)state;
    nt_trial trial = full_trial(), back;
    nt_error err = {0};
    json_t *json = through_text(nt_json_trial(&trial));
    assert_int_equal(nt_json_to_trial(json, &back, &err), NT_OK);
    assert_same_trial(&trial, &back);
    assert_int_equal(nt_json_get_int(json, "samples"), 4);
    assert_true(json_is_object(json_object_get(json, "params")));
    assert_true(json_is_null(json_object_get(json, "spill_bytes")));
    json_decref(json);
    nt_trial_done(&back);
    nt_trial_done(&trial);
}

static void empty_trials_survive_too(void **state)
{
    (void)state;
    nt_trial trial, back;
    nt_trial_init(&trial);
    nt_copy(trial.problem.layer, sizeof trial.problem.layer, "fc");
    assert_int_equal(nt_shape_parse("n=1", &trial.problem.shape, NULL), NT_OK);
    trial.problem.batch = 1;
    nt_copy(trial.kernel, sizeof trial.kernel, "k");
    nt_error err = {0};
    json_t *json = through_text(nt_json_trial(&trial));
    assert_true(json_is_null(json_object_get(json, "time_ns")));
    assert_true(json_is_null(json_object_get(json, "reason")));
    assert_int_equal(nt_json_to_trial(json, &back, &err), NT_OK);
    assert_same_trial(&trial, &back);
    json_decref(json);
    nt_trial_done(&back);
    nt_trial_done(&trial);
}

static void wrong_trials_are_named(void **state)
{
    (void)state;
    static const struct {
        const char *key, *value; /* NULL removes */
        const char *says;
    } wrong[] = {
        {"layer", NULL, "layer is missing"},
        {"precision", "\"fp33\"", "precision is \"fp33\", which is not one of fp32, tf32, fp16, bf16, int8, fp8"},
        {"shape", "\"c=0\"", "shape is \"c=0\""},
        {"batch", "0", "batch is 0"},
        {"batch", "1.5", "batch is 1.5, which is not a whole number"},
        {"time_ns", "\"fast\"", "time_ns is \"fast\", which is not a number or null"},
        {"converged", "1", "converged is 1, which is not true or false"},
        {"params", "[1]", "params is [1]"},
        {"sample_ns", "[1,\"x\"]", "sample_ns"},
        {"sample_ns", "3", "sample_ns"},
        {"outcome", "\"okay\"", "outcome is \"okay\""},
        {"kernel", "null", "kernel is null"},
        {"kernel", "\"0123456789012345678901234567890123456789012345678\"", "at most 47 bytes"},
        {"registers", "\"many\"", "registers"},
    };
    nt_trial trial = full_trial(), back;
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
        json_t *json = nt_json_trial(&trial);
        nt_error err = {0};
        if (wrong[i].value == NULL)
            json_object_del(json, wrong[i].key);
        else
            json_object_set_new(json, wrong[i].key, json_loads(wrong[i].value, JSON_DECODE_ANY, NULL));
        assert_int_equal(nt_json_to_trial(json, &back, &err), NT_CORRUPT);
        assert_contains(err.what, wrong[i].says);
        json_decref(json);
    }
    nt_error err = {0};
    assert_int_equal(nt_json_to_trial(NULL, &back, &err), NT_CORRUPT);
    nt_trial_done(&trial);
}

static void problems_devices_and_artefacts_survive(void **state)
{
    (void)state;
    nt_trial trial = full_trial();
    nt_error err = {0};
    nt_problem problem;
    json_t *json = through_text(nt_json_problem(&trial.problem));
    assert_int_equal(nt_json_to_problem(json, &problem, &err), NT_OK);
    assert_true(nt_problem_equal(&problem, &trial.problem));
    json_decref(json);

    nt_artefact artefact;
    json = through_text(nt_json_artefact(&trial.artefact));
    assert_int_equal(nt_json_to_artefact(json, &artefact, &err), NT_OK);
    assert_string_equal(artefact.path, trial.artefact.path);
    assert_true(artefact.registers == 128 && artefact.spill_bytes == NT_UNKNOWN && artefact.cached);
    json_decref(json);

    nt_samples samples;
    json = through_text(nt_json_samples(&trial.samples));
    assert_int_equal(nt_json_to_samples(json, &samples, &err), NT_OK);
    assert_int_equal(samples.count, 4);
    assert_true(samples.sample_ns[3] == trial.samples.sample_ns[3] && samples.launches_per_sample == 20);
    nt_samples_done(&samples);
    json_decref(json);
    nt_trial_done(&trial);
}

/* Fills every member of a device with something of its own, then compares the JSON of both. */
static void whole_devices_and_runs_survive(void **state)
{
    (void)state;
    nt_run run, back;
    nt_run_init(&run);
    run.id = 3;
    run.seed = UINT64_MAX; /* beyond signed 64 bits */
    run.command = nt_strdup("nntune sweep conv3x3 --where 'a < 3'");
    run.options_json = nt_strdup("{\"ci\":0.5}");
    nt_copy(run.strategy, sizeof run.strategy, "random");
    nt_copy(run.state, sizeof run.state, "running");
    run.started_unix_s = 1764489167.125;
    nt_device_info_init(&run.device, NT_DEVICE_CUDA);
    run.device.ordinal = 3;
    nt_copy(run.device.name, sizeof run.device.name, "NVIDIA H200");
    int64_t *whole = &run.device.compute_capability;
    for (int i = 0; i < 13; i++)
        whole[i] = 100 + i;
    assert_ptr_equal(&whole[12], &run.device.warp_size);
    run.device.sm_clock_max_mhz = 1980;
    run.device.mem_clock_max_mhz = 3201;
    run.device.dram_peak_bytes_per_s = 4.8e12;
    run.device.peak_flops[NT_FP8] = 1.979e15;

    nt_error err = {0};
    json_t *json = nt_json_run(&run), *again = through_text(nt_json_run(&run));
    assert_int_equal(nt_json_to_run(again, &back, &err), NT_OK);
    json_decref(again);
    again = nt_json_run(&back);
    assert_true(json_equal(json, again));
    assert_true(back.seed == UINT64_MAX && isnan(back.ended_unix_s));
    assert_int_equal(back.device.ordinal, 3);
    assert_memory_equal(&run.device.compute_capability, &back.device.compute_capability, 13 * sizeof(int64_t));
    assert_true(back.device.peak_flops[NT_FP8] == 1.979e15 && isnan(back.device.peak_flops[NT_FP32]));
    assert_string_equal(back.options_json, "{\"ci\":0.5}");
    json_decref(json);
    json_decref(again);
    nt_run_done(&run);
    nt_run_done(&back);
}

static void bad_seeds_are_refused(void **state)
{
    (void)state;
    static const char *const bad[] = {"-1", "\"18446744073709551616\"", "\"\"", "\"12x\"", "1.5", "null"};
    nt_run run, back;
    nt_run_init(&run);
    nt_copy(run.device.name, sizeof run.device.name, "x");
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        json_t *json = nt_json_run(&run);
        nt_error err = {0};
        json_object_set_new(json, "seed", json_loads(bad[i], JSON_DECODE_ANY, NULL));
        assert_int_equal(nt_json_to_run(json, &back, &err), NT_CORRUPT);
        assert_contains(err.what, "seed");
        json_decref(json);
    }
}

static const nt_param params[] = {
    {.name = "tile_m", .NT_INTS(16, 32, 64)},
    {.name = "swizzle", .NT_INTS(0, 1), .is_bool = true},
    {.name = "ratio", .reals = (const double[]){0.5, 0.1, 3}, .count = 3},
    {.name = "algorithm", .NT_STRINGS("gemm", "fft")},
};

static void configurations_survive(void **state)
{
    (void)state;
    for (uint16_t a = 0; a < 3; a++)
        for (uint16_t b = 0; b < 2; b++) {
            nt_config config = {.count = 4, .index = {a, b, a, b}}, back;
            nt_error err = {0};
            json_t *json = through_text(nt_json_config(params, &config));
            assert_int_equal(nt_json_to_config(json, params, 4, &back, &err), NT_OK);
            assert_true(nt_config_equal(&config, &back));
            json_decref(json);
        }
    nt_config config = {.count = 4, .index = {2, 1, 2, 1}};
    char *text = nt_json_dump_done(nt_json_config(params, &config));
    assert_string_equal(text, "{\"tile_m\":64,\"swizzle\":true,\"ratio\":3.0,\"algorithm\":\"fft\"}");
    free(text);
}

static void wrong_configurations_are_named(void **state)
{
    (void)state;
    static const char *const wrong[][3] = {
        {"{\"tile_m\":48,\"swizzle\":true,\"ratio\":0.5,\"algorithm\":\"fft\"}", "tile_m is 48", "16, 32, 64"},
        {"{\"tile_m\":16,\"swizzle\":1,\"ratio\":0.5,\"algorithm\":\"fft\"}", "swizzle is 1", "false, true"},
        {"{\"tile_m\":16,\"swizzle\":true,\"ratio\":0.5}", "algorithm is missing", ""},
        {"{\"tile_m\":16,\"swizzle\":true,\"ratio\":0.5,\"algorithm\":\"fft\",\"tile_n\":1}", "no parameter tile_n",
         "tile_m, swizzle"},
        {"[]", "JSON object", ""},
    };
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
        nt_config config;
        nt_error err = {0};
        json_t *json = json_loads(wrong[i][0], 0, NULL);
        assert_int_equal(nt_json_to_config(json, params, 4, &config, &err), NT_CORRUPT);
        assert_contains(err.what, wrong[i][1]);
        assert_contains(err.what, wrong[i][2]);
        json_decref(json);
    }
}

static void values_keep_their_meaning(void **state)
{
    (void)state;
    assert_true(json_is_null(nt_json_real(NAN)));
    assert_true(json_is_null(nt_json_int(NT_UNKNOWN)));
    assert_true(json_is_null(nt_json_text("")));
    assert_true(json_is_null(nt_json_text(NULL)));
    nt_random random = nt_random_seed(4, 0);
    json_t *object = json_object();
    for (int i = 0; i < 10000; i++) {
        uint64_t bits = nt_random_u64(&random);
        double x;
        memcpy(&x, &bits, sizeof x);
        json_object_set_new(object, "x", nt_json_real(i == 0 ? -INFINITY : x));
        json_t *back = through_text(json_incref(object));
        assert_same_double(nt_json_get_real(back, "x"), i == 0 ? -INFINITY : x);
        json_decref(back);
    }
    assert_true(isnan(nt_json_get_real(object, "y")));
    assert_true(nt_json_get_int(object, "x") == NT_UNKNOWN);
    assert_null(nt_json_get_text(object, "x"));
    json_decref(object);
    json_t *none = NULL;
    nt_error err = {0};
    assert_int_equal(nt_json_parse("{\"a\":1} x", &none, &err), NT_CORRUPT);
    assert_contains(err.what, "line 1");
    assert_int_equal(nt_json_parse("{\"a\":1,\"a\":2}", &none, &err), NT_CORRUPT);
}

static void bad_utf8_is_repaired(void **state)
{
    (void)state;
    static const char *const texts[][2] = {
        {"cut \xe2\x80", "cut ??"},   {"\xff", "?"},           {"\xc3\xa9 ok \xc3", "\xc3\xa9 ok ?"},
        {"\xc0\xaf", "??"},           {"\xed\xa0\x80", "???"}, {"\xf0\x9f\x98\x80\x80", "\xf0\x9f\x98\x80?"},
        {"\xf5\x80\x80\x80", "????"},
    };
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
        json_t *json = nt_json_text(texts[i][0]);
        assert_string_equal(json_string_value(json), texts[i][1]);
        json_decref(json);
    }
}

static void rows_and_errors_are_objects(void **state)
{
    (void)state;
    static const char *const names[] = {"trial", "time_ns", "converged", "params", "kernel", "reason"};
    const nt_cell cells[] = {{.kind = NT_CELL_INT, .i = 5},
                             {.kind = NT_CELL_REAL, .r = 1.5},
                             {.kind = NT_CELL_INT, .i = 1},
                             {.kind = NT_CELL_TEXT, .text = "{\"a\":1}"},
                             {.kind = NT_CELL_TEXT, .text = "direct"},
                             {.kind = NT_CELL_NULL}};
    nt_row row = {6, names, cells};
    char *text = nt_json_dump_done(nt_json_row(&row));
    assert_string_equal(text, "{\"trial\":5,\"time_ns\":1.5,\"converged\":true,\"params\":{\"a\":1},"
                              "\"kernel\":\"direct\",\"reason\":null}");
    free(text);
    nt_error error = {NT_DEVICE_LOST, "gone", "restart"}, back, err = {0};
    json_t *json = through_text(nt_json_error(&error));
    assert_int_equal(nt_json_to_error(json, &back, &err), NT_OK);
    assert_int_equal(back.status, NT_DEVICE_LOST);
    assert_string_equal(back.what, "gone");
    assert_string_equal(back.hint, "restart");
    json_decref(json);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(trials_survive),
        cmocka_unit_test(empty_trials_survive_too),
        cmocka_unit_test(wrong_trials_are_named),
        cmocka_unit_test(problems_devices_and_artefacts_survive),
        cmocka_unit_test(whole_devices_and_runs_survive),
        cmocka_unit_test(bad_seeds_are_refused),
        cmocka_unit_test(configurations_survive),
        cmocka_unit_test(wrong_configurations_are_named),
        cmocka_unit_test(values_keep_their_meaning),
        cmocka_unit_test(bad_utf8_is_repaired),
        cmocka_unit_test(rows_and_errors_are_objects),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
