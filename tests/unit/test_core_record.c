/* The vocabulary: precisions and their rounding units, names, shapes, problems, empty records, plans. */
#include "core/convert.h"
#include "core/plan.h"
#include "core/record.h"
#include "core/store.h"

#include "core_check.h"

/* The unit of a stored type, measured: the largest relative error of rounding many numbers. */
static double measured_unit(nt_dtype type)
{
    double worst = 0;
    for (int i = 0; i < 4096; i++) {
        float x = 1.0f + (float)i / 4096.0f, back;
        uint16_t bits;
        nt_pack(type, &x, 1, NULL, 0, 0, &bits);
        nt_unpack(type, &bits, 1, &back);
        worst = fmax(worst, fabs((double)back - (double)x) / (double)x);
    }
    return worst;
}

static void output_units_are_those_of_the_types(void **state)
{
    (void)state;
    for (int i = 0; i < NT_PRECISION_COUNT; i++) {
        const nt_precision_row *row = &nt_precisions[i];
        assert_int_equal(nt_precision_find(row->name), i);
        if (row->out == row->accumulate) {
            assert_true(row->unit_out == 0);
            continue;
        }
        double unit = measured_unit(row->out);
        assert_true(unit <= row->unit_out);
        assert_true(unit > row->unit_out / 1.1); /* no slack in it either: u / (1 + u) is reached */
    }
    assert_true(nt_precisions[NT_BF16].unit_out == 0x1p-8);
    assert_true(nt_precisions[NT_FP32].unit_accumulate == 0x1p-24);
    assert_true(nt_precisions[NT_INT8].unit_accumulate == 0);
    assert_int_equal(nt_precisions[NT_INT8].out, NT_I32);
    assert_int_equal(nt_precisions[NT_FP8].in, NT_F8E4M3);
    assert_int_equal(nt_precision_find("fp33"), -1);
    for (int i = 0; i < NT_PRECISION_COUNT; i++) { /* a sparse row differs from its dense one in pruning alone */
        const nt_precision_row *row = &nt_precisions[i], *dense = &nt_precisions[row->dense];
        assert_true(dense->dense == row->dense && dense->in == row->in && dense->weight == row->weight);
        assert_true(dense->out == row->out && dense->accumulate == row->accumulate);
        assert_true(dense->unit_accumulate == row->unit_accumulate && dense->unit_out == row->unit_out);
        assert_int_equal(nt_precision_is_pruned((nt_precision)i), strstr(row->name, "_sparse") != NULL);
    }
}

static void every_name_is_found_again(void **state)
{
    (void)state;
    for (int i = 0; i < NT_LAYOUT_COUNT; i++)
        assert_int_equal(nt_layout_find(nt_layout_name((nt_layout)i)), i);
    for (int i = 0; i < NT_FILL_COUNT; i++)
        assert_int_equal(nt_fill_find(nt_fill_name((nt_fill)i)), i);
    for (int i = 0; i <= NT_HOT; i++)
        assert_int_equal(nt_cache_mode_find(nt_cache_mode_name((nt_cache_mode)i)), i);
    for (int i = 0; i < NT_DEVICE_KIND_COUNT; i++)
        assert_int_equal(nt_device_kind_find(nt_device_kind_name((nt_device_kind)i)), i);
    for (int i = 0; i < NT_OUTCOME_COUNT; i++)
        assert_int_equal(nt_outcome_find(nt_outcome_name((nt_outcome)i)), i);
    assert_int_equal(nt_layout_find("nhcw"), -1);
    assert_string_equal(nt_outcome_name((nt_outcome)99), "unknown");
    assert_string_equal(nt_dtype_name(NT_BFLOAT16), "bf16");
    assert_int_equal(nt_dtype_bytes(NT_F64), 8);
}

static void shapes_read_back_what_they_print(void **state)
{
    (void)state;
    nt_shape shape;
    nt_error err = {0};
    assert_int_equal(nt_shape_parse("c=64,k=3,h=56,w=7", &shape, &err), NT_OK);
    assert_int_equal(shape.count, 4);
    assert_int_equal(nt_shape_get(&shape, "h"), 56);
    nt_str text = {0};
    nt_shape_print(&text, &shape);
    assert_string_equal(nt_str_text(&text), "c=64,k=3,h=56,w=7");
    nt_str_done(&text);
    nt_shape other = shape;
    assert_true(nt_shape_equal(&shape, &other));
    other.dim[3].size = 8;
    assert_false(nt_shape_equal(&shape, &other));
}

/* A size that was read as a word is printed as one; the same size read as a number stays a number. */
static void words_of_shapes_read_back(void **state)
{
    (void)state;
    static const char *const texts[] = {"c=4,act=silu", "c=4,act=none", "c=4,act=3"};
    nt_shape shape, words;
    assert_int_equal(nt_shape_parse(texts[0], &words, NULL), NT_OK);
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
        nt_str text = {0};
        assert_int_equal(nt_shape_parse(texts[i], &shape, NULL), NT_OK);
        nt_shape_print(&text, &shape);
        assert_string_equal(nt_str_text(&text), texts[i]);
        assert_int_equal(nt_shape_equal(&shape, &words), i != 1);
        nt_str_done(&text);
    }
    for (int64_t i = 1; i <= 5; i++)
        assert_int_equal(nt_shape_word_find(nt_shape_word(i)), i);
    assert_null(nt_shape_word(0));
    assert_null(nt_shape_word(6));
    assert_int_equal(nt_shape_word_find("tanh"), 0);
}

static void bad_shapes_are_named(void **state)
{
    (void)state;
    static const char *const bad[][2] = {{"", "key"},
                                         {"c", "key"},
                                         {"=4", "key"},
                                         {"c=", "size for c"},
                                         {"c=0", "size for c"},
                                         {"c=-1", "size for c"},
                                         {"c=4,", "key"},
                                         {"c=4,c=5", "twice"},
                                         {"c=99999999999999999999", "size for c"},
                                         {"verylongkey=1", "key"},
                                         {"a=1,b=1,c=1,d=1,e=1,f=1,g=1,h=1,i=1,j=1,k=1", "more than 10"},
                                         {"c=4x", "4x"}};
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        nt_shape shape = {.count = 77};
        nt_error err = {0};
        assert_int_equal(nt_shape_parse(bad[i][0], &shape, &err), NT_USAGE);
        assert_contains(err.what, bad[i][1]);
        assert_int_equal(shape.count, 77);
    }
}

static void problems_print_and_compare_in_every_member(void **state)
{
    (void)state;
    nt_problem problem = {.layer = "conv3x3", .batch = 8, .precision = NT_INT8, .layout = NT_NCHW};
    assert_int_equal(nt_shape_parse("c=64,k=64", &problem.shape, NULL), NT_OK);
    nt_str text = {0};
    nt_problem_print(&text, &problem);
    assert_string_equal(nt_str_text(&text), "conv3x3 c=64,k=64 batch 8 int8 nchw");
    nt_str_done(&text);
    nt_problem other[6];
    for (int i = 0; i < 6; i++)
        other[i] = problem;
    assert_true(nt_problem_equal(&problem, &other[0]));
    other[0].layer[0] = 'd';
    other[1].shape.dim[1].size = 65;
    other[2].batch = 9;
    other[3].precision = NT_FP32;
    other[4].layout = NT_NHWC;
    other[5].fill = NT_FILL_UNIFORM;
    for (int i = 0; i < 6; i++)
        assert_false(nt_problem_equal(&problem, &other[i]));
}

static void new_records_know_nothing(void **state)
{
    (void)state;
    nt_trial trial;
    memset(&trial, 0x5a, sizeof trial);
    nt_trial_init(&trial);
    assert_int_not_equal(trial.outcome, NT_OUTCOME_OK);
    assert_true(isnan(trial.time_ns) && isnan(trial.error_impl) && isnan(trial.conditions.power_mw));
    assert_true(trial.artefact.registers == NT_UNKNOWN && trial.grid_blocks == NT_UNKNOWN);
    assert_true(trial.conditions.throttle_mask == NT_UNKNOWN);
    trial.params_json = strdup("{}");
    trial.samples.sample_ns = malloc(8);
    nt_trial_done(&trial);
    nt_trial_done(&trial); /* a second time does nothing */
    nt_device_info device;
    nt_device_info_init(&device, NT_DEVICE_CUDA);
    assert_true(device.sm_count == NT_UNKNOWN && isnan(device.peak_flops[NT_FP8]));
    nt_run run;
    nt_run_init(&run);
    run.command = strdup("nntune sweep");
    nt_run_done(&run);
    assert_null(run.command);
    assert_true(isnan(run.ended_unix_s));
}

static void stages_take_arguments_in_order(void **state)
{
    (void)state;
    nt_stage stage;
    nt_stage_kernel(&stage, "conv", 3, 2, 1, 16, 8, 1);
    nt_stage_arg_buffer(&stage, NT_ROLE_WEIGHT, 256);
    nt_stage_arg_i32(&stage, -5);
    nt_stage_arg_i64(&stage, INT64_C(1) << 40);
    nt_stage_arg_f32(&stage, 0.5f);
    assert_int_equal(stage.arg_count, 4);
    assert_int_equal(stage.arg[0].kind, NT_ARG_BUFFER);
    assert_int_equal(stage.arg[0].role, NT_ROLE_WEIGHT);
    assert_int_equal(stage.arg[0].value, 256);
    assert_int_equal(stage.arg[1].value, -5);
    assert_true(stage.arg[2].value == INT64_C(1) << 40);
    assert_true(stage.arg[3].real == 0.5f);
    assert_int_equal(stage.cluster[0] * stage.cluster[1] * stage.cluster[2], 1);
    assert_int_equal(stage.block[1], 8);
    nt_stage_zero(&stage, NT_ROLE_OUT, 4096);
    assert_int_equal(stage.kind, NT_STAGE_ZERO);
    assert_int_equal(stage.arg_count, 0);
    assert_int_equal(stage.zero_bytes, 4096);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(output_units_are_those_of_the_types),
        cmocka_unit_test(every_name_is_found_again),
        cmocka_unit_test(shapes_read_back_what_they_print),
        cmocka_unit_test(words_of_shapes_read_back),
        cmocka_unit_test(bad_shapes_are_named),
        cmocka_unit_test(problems_print_and_compare_in_every_member),
        cmocka_unit_test(new_records_know_nothing),
        cmocka_unit_test(stages_take_arguments_in_order),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
