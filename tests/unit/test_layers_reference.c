/* test_layers_reference.c: the memory-bound layers and attention against values worked out by hand: sizes, work and
 * bytes of problems, and the fp64 reference with its magnitude; and what they refuse. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "kernels/kernel.h"

static nt_problem problem_of(const char *layer, const char *shape, int64_t batch, nt_precision precision)
{
    nt_problem p = {.batch = batch, .precision = precision, .layout = NT_NHWC};
    nt_error err = {0};
    nt_copy(p.layer, sizeof p.layer, layer);
    assert_non_null(nt_layer_find(layer));
    if (nt_layer_find(layer)->parse_shape(shape, &p.shape, &err) != NT_OK)
        fail_msg("%s %s: %s", layer, shape, err.what);
    return p;
}

static const struct {
    const char *layer, *shape;
    nt_precision precision;
    int64_t in, weight, out;
    double flop, bytes;
} sizes[] = {
    {"relu", "c=3,h=5,w=7", NT_FP32, 210, 0, 210, 210, 1680},
    {"relu", "c=3,h=5,w=7", NT_INT8, 210, 0, 210, 210, 1050}, /* int8 gives int32 */
    {"add", "c=3,h=5,w=7", NT_FP16, 210, 210, 210, 210, 1260},
    {"maxpool", "64x112x112", NT_BF16, 1605632, 0, 401408, 3612672, 4014080},
    {"maxpool", "c=2,h=6,w=5,window=2", NT_FP32, 120, 0, 24, 96, 576},
    {"maxpool", "c=2,h=6,w=5,window=3,stride=1", NT_FP32, 120, 0, 120, 1080, 960},
    {"avgpool", "2048x7x7", NT_FP32, 200704, 0, 4096, 200704, 819200},
    {"avgpool", "c=2,h=6,w=5,window=3", NT_FP16, 120, 0, 8, 72, 256},
    {"softmax", "128x1000", NT_FP32, 256000, 0, 256000, 1280000, 2048000},
    {"layernorm", "197x768", NT_FP16, 302592, 1536, 302592, 2118144, 1213440},
    {"attention", "12x197x64", NT_FP16, 907776, 0, 302592, 238442496, 2420736},
};

static void sizes_and_work_are_exact(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++) {
        nt_problem p = problem_of(sizes[i].layer, sizes[i].shape, 2, sizes[i].precision);
        nt_extents e;
        nt_error err;
        assert_int_equal(nt_layer_find(p.layer)->extents(&p, &e, &err), NT_OK);
        if (e.in != sizes[i].in || e.weight != sizes[i].weight || e.out != sizes[i].out || e.flop != sizes[i].flop ||
            e.bytes != sizes[i].bytes)
            fail_msg("%s %s: %lld, %lld, %lld, %.0f, %.0f", p.layer, sizes[i].shape, (long long)e.in,
                     (long long)e.weight, (long long)e.out, e.flop, e.bytes);
        p.batch = 0;
        assert_int_equal(nt_layer_find(p.layer)->extents(&p, &e, &err), NT_USAGE);
        p.batch = INT64_C(1) << 60;
        assert_int_equal(nt_layer_find(p.layer)->extents(&p, &e, &err), NT_USAGE);
        assert_non_null(strstr(err.what, "too large"));
    }
}

/* Names are unique and mean what they list; a name is not another's abbreviated form. */
static void every_name_is_its_shape(void **state)
{
    (void)state;
    for (int i = 0; i < nt_layer_count; i++)
        for (int j = 0; j < nt_layers[i]->shape_count; j++) {
            nt_shape a, b;
            nt_error err;
            const nt_named_shape *named = &nt_layers[i]->shapes[j];
            if (nt_layers[i]->parse_shape(named->name, &a, &err) != NT_OK ||
                nt_layers[i]->parse_shape(named->dims, &b, &err) != NT_OK || !nt_shape_equal(&a, &b))
                fail_msg("%s %s is not %s", nt_layers[i]->name, named->name, named->dims);
        }
}

#define LN2 0.69314718f
#define R   (1 / sqrt(1 + 1e-5))

/* One image each. */
static const struct {
    const char *layer, *shape;
    nt_layout layout;
    float in[20], weight[8];
    int count;
    double out[8], abs[8]; /* magnitudes are compared where they are not 0 */
} values[] = {
    {"relu", "c=1,h=1,w=3", NT_NHWC, {-1, 0, 2}, {0}, 3, {0, 0, 2}, {0, 0, 2}},
    {"add", "c=1,h=1,w=3", NT_NHWC, {-1, 3, 2}, {4, -5, 0.5f}, 3, {3, -2, 2.5}, {3, 2, 2.5}},
    {"maxpool", "c=1,h=3,w=3", NT_NHWC, {1, 2, 3, 4, -5, 6, 7, 8, -9}, {0}, 4, {4, 6, 8, 8}, {4, 6, 8, 8}},
    {"maxpool", "c=2,h=1,w=2,window=2,stride=1", NT_NHWC, {0}, {0}, 0, {0}, {0}}, /* refused: see below */
    {"maxpool", "c=2,h=2,w=2,window=2", NT_NHWC, {1, -8, 2, -7, 3, -6, 4, -5}, {0}, 2, {4, -5}, {4, 5}},
    {"maxpool", "c=2,h=2,w=2,window=2", NT_NCHW, {1, -8, 2, -7, 3, -6, 4, -5}, {0}, 2, {2, 4}, {2, 4}},
    {"avgpool", "c=2,h=2,w=2", NT_NHWC, {1, -8, 2, -7, 3, -6, 4, -5}, {0}, 2, {2.5, -6.5}, {2.5, 6.5}},
    {"avgpool", "c=2,h=2,w=2", NT_NCHW, {1, -8, 2, -7, 3, -6, 4, -5}, {0}, 2, {-3, -1}, {4.5, 4.5}},
    {"avgpool", "c=1,h=2,w=4,window=2", NT_NHWC, {1, 2, 3, 4, 5, 6, 7, 8}, {0}, 2, {3.5, 5.5}, {3.5, 5.5}},
    {"softmax", "rows=2,c=2", NT_NHWC, {0, LN2, 5, 5}, {0}, 4, {1.0 / 3, 2.0 / 3, 0.5, 0.5}, {0, 0, 0.5, 0.5}},
    {"layernorm", "rows=1,c=2", NT_NHWC, {1, 3}, {2, 2, 1, 0}, 2, {1 - 2 * R, 2 * R}, {2 * R * 3 + 1, 2 * R * 3}},
    {"attention", "heads=1,tokens=2,d=1", NT_NHWC, {1, 0, 0, 0, 2 * LN2, 1}, {0}, 2, {0.8, 0.5}, {0}},
};

static void references_are_as_by_hand(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof values / sizeof values[0]; i++) {
        nt_problem p = problem_of(values[i].layer, values[i].shape, 1, NT_FP32);
        const nt_layer *layer = nt_layer_find(p.layer);
        nt_extents e;
        nt_error err;
        double out[8], abs[8];
        p.layout = values[i].layout;
        if (values[i].count == 0) {
            assert_int_equal(layer->extents(&p, &e, &err), NT_USAGE);
            assert_non_null(strstr(err.what, "does not fit"));
            continue;
        }
        assert_int_equal(layer->extents(&p, &e, &err), NT_OK);
        assert_int_equal(e.out, values[i].count);
        layer->reference(&p, NT_BOUND_DIRECT, values[i].in, values[i].weight, out, abs, 0, layer->reference_rows(&p));
        for (int k = 0; k < values[i].count; k++)
            if (!(fabs(out[k] - values[i].out[k]) <= 1e-7) ||
                !(values[i].abs[k] == 0 || fabs(abs[k] - values[i].abs[k]) <= 1e-7) ||
                !(abs[k] >= fabs(out[k]) * (1 - 1e-12)))
                fail_msg("%s %s, element %d: %.9g (%.9g), not %.9g (%.9g)", p.layer, values[i].shape, k, out[k], abs[k],
                         values[i].out[k], values[i].abs[k]);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sizes_and_work_are_exact),
        cmocka_unit_test(every_name_is_its_shape),
        cmocka_unit_test(references_are_as_by_hand),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
