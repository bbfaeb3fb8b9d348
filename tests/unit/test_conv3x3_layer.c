/* test_conv3x3_layer.c: shapes and their errors, extents, and the fp64 reference with both error bounds against plain
 * loops written here. */
#include "core/mem.h"
#include "core/random.h"
#include "kernels/kernel.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static const nt_layer *layer(void)
{
    const nt_layer *found = nt_layer_find("conv3x3");
    assert_non_null(found);
    return found;
}

static nt_problem problem_of(const char *shape, int64_t batch, nt_layout layout)
{
    nt_problem p = {.layer = "conv3x3", .batch = batch, .precision = NT_FP32, .layout = layout};
    nt_error err;
    assert_int_equal(layer()->parse_shape(shape, &p.shape, &err), NT_OK);
    return p;
}

/* ---- shapes ------------------------------------------------------------------------------------------------------------- */

static void assert_shape(const char *text, const char *canonical)
{
    nt_problem p = problem_of(text, 1, NT_NHWC);
    nt_str printed = {0};
    nt_shape_print(&printed, &p.shape);
    assert_string_equal(nt_str_text(&printed), canonical);
    nt_str_done(&printed);
}

static void test_shapes(void **state)
{
    (void)state;
    assert_string_equal(layer()->shapes[0].name, "64x56x56");
    for (int i = 0; i < layer()->shape_count; i++)
        assert_shape(layer()->shapes[i].name, layer()->shapes[i].dims);
    assert_shape("3x7x9", "c=3,k=3,h=7,w=9");
    assert_shape("w=9,h=7,k=5,c=3", "c=3,k=5,h=7,w=9");
    assert_shape("c=2147483647,k=1,h=1,w=1", "c=2147483647,k=1,h=1,w=1");
}

static const struct {
    const char *text, *what, *hint;
} wrong[] = {
    {"", "shape '' is unknown", "--shape"},
    {"large", "conv3x3 names 64x56x56", "c=64"},
    {"64x56", "not of the form CxHxW", "64x56x56"},
    {"64x56x56x2", "not of the form CxHxW", "64x56x56"},
    {"64xx56", "h is ''", "--shape"},
    {"64x0x56", "h is '0'", "--shape"},
    {"c=64,k=64,h=56", "leaves out w", "--shape"},
    {"c=64,k=64,h=56,w", "'w' is not key=size", "--shape"},
    {"c=64,k=64,h=56,w=-1", "w is '-1'", "--shape"},
    {"c=64,k=64,h=56,w=1e3", "w is '1e3'", "--shape"},
    {"c=64,k=64,h=56,w=4294967296", "more than 2147483647", "--shape"},
    {"c=64,c=64,k=64,h=56,w=5", "gives c twice", ""},
    {"c=64,k=64,hh=56,w=56", "no key 'hh'", "did you mean 'h'"},
    {"c=64,k=64,h=56,w=56,n=8", "no key 'n'", "--batch"},
    {"c=64,dilation=2", "its keys are c, k, h, w", "--shape"},
};

static void test_wrong_shapes_are_named(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
        nt_shape shape;
        nt_error err = {0};
        assert_int_equal(layer()->parse_shape(wrong[i].text, &shape, &err), NT_USAGE);
        if (strstr(err.what, wrong[i].what) == NULL || strstr(err.hint, wrong[i].hint) == NULL)
            fail_msg("'%s' gave: %s (%s)", wrong[i].text, err.what, err.hint);
    }
    char longest[4000];
    memset(longest, '1', sizeof longest - 1);
    longest[sizeof longest - 1] = '\0';
    nt_shape shape;
    nt_error err;
    assert_int_equal(layer()->parse_shape(longest, &shape, &err), NT_USAGE);
}

static void test_extents(void **state)
{
    (void)state;
    nt_extents e;
    nt_error err;
    nt_problem p = problem_of("c=3,k=5,h=7,w=9", 2, NT_NHWC);
    assert_int_equal(layer()->extents(&p, &e, &err), NT_OK);
    assert_int_equal(e.in, 2 * 3 * 7 * 9);
    assert_int_equal(e.weight, 5 * 3 * 9);
    assert_int_equal(e.out, 2 * 5 * 7 * 9);
    assert_int_equal(e.out_channels, 5);
    assert_int_equal(e.out_channel_stride, 1);
    assert_int_equal(e.reduction, 27);
    assert_true(e.flop == 2.0 * 630 * 27);
    assert_true(e.bytes == 4.0 * (378 + 135 + 630));
    p.layout = NT_NCHW;
    p.precision = NT_INT8;
    assert_int_equal(layer()->extents(&p, &e, &err), NT_OK);
    assert_int_equal(e.out_channel_stride, 63);
    assert_true(e.bytes == 378 + 135 + 4 * 630);
}

static void test_extents_refuse_what_overflows(void **state)
{
    (void)state;
    nt_extents e;
    nt_error err;
    nt_problem p = problem_of("c=2147483647,k=2147483647,h=2147483647,w=2147483647", 1, NT_NHWC);
    assert_int_equal(layer()->extents(&p, &e, &err), NT_USAGE);
    assert_non_null(strstr(err.what, "too large"));
    p = problem_of("64x56x56", INT64_C(1) << 45, NT_NHWC);
    assert_int_equal(layer()->extents(&p, &e, &err), NT_USAGE);
    p = problem_of("64x56x56", 0, NT_NHWC);
    assert_int_equal(layer()->extents(&p, &e, &err), NT_USAGE);
}

/* ---- the reference against plain loops --------------------------------------------------------------------------------------- */

typedef struct fixture {
    nt_problem problem;
    int64_t n, c, k, h, w;
    float *in, *weight;
    double *out, *abs;
    size_t out_count;
} fixture;

static fixture fixture_make(const char *shape, int64_t batch, nt_layout layout)
{
    fixture f = {.problem = problem_of(shape, batch, layout), .n = batch};
    nt_extents e;
    nt_error err;
    assert_int_equal(layer()->extents(&f.problem, &e, &err), NT_OK);
    f.c = nt_shape_get(&f.problem.shape, "c"), f.k = nt_shape_get(&f.problem.shape, "k");
    f.h = nt_shape_get(&f.problem.shape, "h"), f.w = nt_shape_get(&f.problem.shape, "w");
    f.out_count = (size_t)e.out;
    f.in = nt_alloc((size_t)e.in * sizeof *f.in);
    f.weight = nt_alloc((size_t)e.weight * sizeof *f.weight);
    f.out = nt_alloc(f.out_count * sizeof *f.out);
    f.abs = nt_alloc(f.out_count * sizeof *f.abs);
    nt_random_fill(NT_FILL_NORMAL, 3, 1, 0, f.in, (size_t)e.in);
    nt_random_fill(NT_FILL_NORMAL, 3, 2, 0, f.weight, (size_t)e.weight);
    return f;
}

static void fixture_done(fixture *f)
{
    free(f->in);
    free(f->weight);
    free(f->out);
    free(f->abs);
}

static double input(const fixture *f, int64_t n, int64_t c, int64_t y, int64_t x)
{
    if (y < 0 || y >= f->h || x < 0 || x >= f->w)
        return 0;
    int64_t at =
        f->problem.layout == NT_NHWC ? ((n * f->h + y) * f->w + x) * f->c + c : ((n * f->c + c) * f->h + y) * f->w + x;
    return (double)f->in[at];
}

static double tap(const fixture *f, int64_t k, int64_t c, int64_t r, int64_t s)
{
    int64_t at = f->problem.layout == NT_NHWC ? ((k * 3 + r) * 3 + s) * f->c + c : ((k * f->c + c) * 3 + r) * 3 + s;
    return (double)f->weight[at];
}

static void plain(const fixture *f, int64_t n, int64_t k, int64_t y, int64_t x, double *sum, double *magnitude)
{
    *sum = *magnitude = 0;
    for (int64_t c = 0; c < f->c; c++)
        for (int64_t r = 0; r < 3; r++)
            for (int64_t s = 0; s < 3; s++) {
                double product = input(f, n, c, y + r - 1, x + s - 1) * tap(f, k, c, r, s);
                *sum += product;
                *magnitude += fabs(product);
            }
}

/* Magnitudes of the matrices, written out, of tiles of 2x2 and 4x4 outputs. */
typedef struct matrices {
    int tile;
    double g[6][3], b[6][6], a[4][6];
} matrices;

static const matrices f2 = {2,
                            {{1, 0, 0}, {.5, .5, .5}, {.5, .5, .5}, {0, 0, 1}},
                            {{1, 0, 1, 0}, {0, 1, 1, 0}, {0, 1, 1, 0}, {0, 1, 0, 1}},
                            {{1, 1, 1, 0}, {0, 1, 1, 1}}};
static const matrices f4 = {
    4,
    {{1. / 4, 0, 0},
     {1. / 6, 1. / 6, 1. / 6},
     {1. / 6, 1. / 6, 1. / 6},
     {1. / 24, 1. / 12, 1. / 6},
     {1. / 24, 1. / 12, 1. / 6},
     {0, 0, 1}},
    {{4, 0, 5, 0, 1}, {0, 4, 4, 1, 1}, {0, 4, 4, 1, 1}, {0, 2, 1, 2, 1}, {0, 2, 1, 2, 1}, {0, 4, 0, 5, 0, 1}},
    {{1, 1, 1, 1, 1, 0}, {0, 1, 1, 2, 2, 0}, {0, 1, 1, 4, 4, 0}, {0, 1, 1, 8, 8, 1}}};

/* |A^T| ((|G||g||G^T|) . (|B^T||d||B|)) |A| */
static double plain_winograd(const fixture *f, const matrices *m, int64_t n, int64_t k, int64_t y, int64_t x)
{
    int places = m->tile + 2;
    int64_t top = y / m->tile * m->tile - 1, left = x / m->tile * m->tile - 1;
    double total = 0;
    for (int64_t c = 0; c < f->c; c++)
        for (int i = 0; i < places; i++)
            for (int j = 0; j < places; j++) {
                double u = 0, v = 0;
                for (int p = 0; p < 3; p++)
                    for (int q = 0; q < 3; q++)
                        u += m->g[i][p] * fabs(tap(f, k, c, p, q)) * m->g[j][q];
                for (int p = 0; p < places; p++)
                    for (int q = 0; q < places; q++)
                        v += m->b[i][p] * fabs(input(f, n, c, top + p, left + q)) * m->b[j][q];
                total += m->a[y % m->tile][i] * u * v * m->a[x % m->tile][j];
            }
    return total;
}

static double plain_bound(const fixture *f, nt_bound bound, int64_t n, int64_t k, int64_t y, int64_t x)
{
    double sum, magnitude;
    plain(f, n, k, y, x, &sum, &magnitude);
    return bound == NT_BOUND_DIRECT ? magnitude
                                    : plain_winograd(f, bound == NT_BOUND_WINOGRAD_F2 ? &f2 : &f4, n, k, y, x);
}

static int64_t output_at(const fixture *f, int64_t n, int64_t k, int64_t y, int64_t x)
{
    return f->problem.layout == NT_NHWC ? ((n * f->h + y) * f->w + x) * f->k + k
                                        : ((n * f->k + k) * f->h + y) * f->w + x;
}

static void check_reference(const char *shape, int64_t batch, nt_layout layout, nt_bound bound)
{
    fixture f = fixture_make(shape, batch, layout);
    int64_t rows = layer()->reference_rows(&f.problem);
    assert_int_equal(rows, batch * f.h);
    for (size_t i = 0; i < f.out_count; i++)
        f.out[i] = f.abs[i] = NAN;
    /* In three parts, as threads share it. */
    for (int part = 0; part < 3; part++)
        layer()->reference(&f.problem, bound, f.in, f.weight, f.out, f.abs, rows * part / 3, rows * (part + 1) / 3);
    for (int64_t n = 0; n < f.n; n++)
        for (int64_t k = 0; k < f.k; k++)
            for (int64_t y = 0; y < f.h; y++)
                for (int64_t x = 0; x < f.w; x++) {
                    double sum, magnitude;
                    plain(&f, n, k, y, x, &sum, &magnitude);
                    int64_t at = output_at(&f, n, k, y, x);
                    double want = plain_bound(&f, bound, n, k, y, x);
                    if (!(fabs(f.out[at] - sum) <= 1e-14 * magnitude) || !(fabs(f.abs[at] - want) <= 1e-14 * want))
                        fail_msg("%s at n=%d k=%d y=%d x=%d: %g, not %g; magnitude %g, not %g", shape, (int)n, (int)k,
                                 (int)y, (int)x, f.out[at], sum, f.abs[at], want);
                    /* A bound that runs through more steps is never the smaller one. */
                    assert_true(want >= magnitude * (1 - 1e-14));
                }
    fixture_done(&f);
}

static void test_reference(void **state)
{
    (void)state;
    static const char *const shapes[] = {"c=3,k=5,h=7,w=9", "1x1x1", "c=1,k=17,h=1,w=6", "c=9,k=8,h=4,w=4",
                                         "c=2,k=1,h=6,w=1"};
    for (size_t i = 0; i < sizeof shapes / sizeof shapes[0]; i++)
        for (int layout = 0; layout < NT_LAYOUT_COUNT; layout++)
            for (int bound = 0; bound < NT_BOUND_COUNT; bound++)
                check_reference(shapes[i], 2, (nt_layout)layout, (nt_bound)bound);
}

static void test_reference_without_magnitude(void **state)
{
    (void)state;
    fixture f = fixture_make("c=3,k=5,h=7,w=9", 1, NT_NHWC);
    double sum, magnitude;
    layer()->reference(&f.problem, NT_BOUND_DIRECT, f.in, f.weight, f.out, NULL, 0, 7);
    plain(&f, 0, 4, 6, 8, &sum, &magnitude);
    assert_true(fabs(f.out[output_at(&f, 0, 4, 6, 8)] - sum) <= 1e-14 * magnitude);
    fixture_done(&f);
}

/* What the transforms amplify: the figures of conv3x3.h, of an inner tile where every number is 1. */
static void test_amplification(void **state)
{
    (void)state;
    static const double along_side[4] = {16. / 3, 17. / 3, 8, 16}; /* of F(4x4, 3x3), by the place in the tile */
    fixture f = fixture_make("c=1,k=1,h=12,w=12", 1, NT_NHWC);
    for (int i = 0; i < 144; i++)
        f.in[i] = 1;
    for (int i = 0; i < 9; i++)
        f.weight[i] = 1;
    layer()->reference(&f.problem, NT_BOUND_WINOGRAD_F2, f.in, f.weight, f.out, f.abs, 0, 12);
    for (int i = 0; i < 4; i++)
        assert_true(fabs(f.abs[(4 + i / 2) * 12 + 4 + i % 2] - 64) < 1e-9); /* of 9 */
    layer()->reference(&f.problem, NT_BOUND_WINOGRAD_F4, f.in, f.weight, f.out, f.abs, 0, 12);
    for (int i = 0; i < 16; i++)
        assert_true(fabs(f.abs[(4 + i / 4) * 12 + 4 + i % 4] - 9 * along_side[i / 4] * along_side[i % 4]) < 1e-9);
    fixture_done(&f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_shapes),        cmocka_unit_test(test_wrong_shapes_are_named),
        cmocka_unit_test(test_extents),       cmocka_unit_test(test_extents_refuse_what_overflows),
        cmocka_unit_test(test_reference),     cmocka_unit_test(test_reference_without_magnitude),
        cmocka_unit_test(test_amplification),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
