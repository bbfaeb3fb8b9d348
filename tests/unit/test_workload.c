/* test_workload.c: the data of a problem: inputs that differ, references that are right, scales of int8, the ring, and
 * what does not fit. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "autotune/workload.h"
#include "checked_device.h"
#include "core/convert.h"
#include "core/mem.h"

static nt_problem problem_of(const char *shape, int64_t batch, nt_precision precision, nt_layout layout)
{
    nt_problem p = {
        .layer = "conv3x3", .batch = batch, .precision = precision, .layout = layout, .fill = NT_FILL_NORMAL};
    assert_int_equal(nt_shape_parse(shape, &p.shape, NULL), NT_OK);
    return p;
}

static nt_workload *open_workload(const nt_problem *problem, uint64_t seed, nt_cache_mode cache)
{
    nt_workload *w = NULL;
    nt_error err;
    if (nt_workload_open(&checked.ops, checked.device, problem, seed, cache, &w, &err) != NT_OK)
        fail_msg("%s", err.what);
    return w;
}

/* ---- references against loops of this test's own ---------------------------------------------------------------------------- */

typedef struct tensors {
    float *in, *weight; /* values as they stand in memory */
    int c, k, h, w, n;
    bool nchw;
} tensors;

static tensors read_tensors(const nt_workload *w, const nt_input_set *set)
{
    const nt_precision_row *row = &nt_precisions[w->problem.precision];
    tensors t = {.c = (int)nt_shape_get(&w->problem.shape, "c"),
                 .k = (int)nt_shape_get(&w->problem.shape, "k"),
                 .h = (int)nt_shape_get(&w->problem.shape, "h"),
                 .w = (int)nt_shape_get(&w->problem.shape, "w"),
                 .n = (int)w->problem.batch,
                 .nchw = w->problem.layout == NT_NCHW};
    size_t in = (size_t)w->extents.in, weight = (size_t)w->extents.weight;
    t.in = nt_alloc(in * sizeof(float));
    t.weight = nt_alloc(weight * sizeof(float));
    nt_unpack(row->in, checked_at(set->in.data), in, t.in);
    nt_unpack(row->weight, checked_at(set->weight.data), weight, t.weight);
    return t;
}

static void free_tensors(tensors *t)
{
    free(t->in);
    free(t->weight);
}

static double in_at(const tensors *t, int n, int c, int y, int x)
{
    if (y < 0 || y >= t->h || x < 0 || x >= t->w)
        return 0;
    int at = t->nchw ? ((n * t->c + c) * t->h + y) * t->w + x : ((n * t->h + y) * t->w + x) * t->c + c;
    return (double)t->in[at];
}

static double weight_at(const tensors *t, int k, int c, int r, int s)
{
    int at = t->nchw ? ((k * t->c + c) * 3 + r) * 3 + s : ((k * 3 + r) * 3 + s) * t->c + c;
    return (double)t->weight[at];
}

static void output(const tensors *t, int n, int k, int y, int x, double *sum, double *magnitude)
{
    *sum = *magnitude = 0;
    for (int c = 0; c < t->c; c++)
        for (int r = 0; r < 3; r++)
            for (int s = 0; s < 3; s++) {
                double product = in_at(t, n, c, y + r - 1, x + s - 1) * weight_at(t, k, c, r, s);
                *sum += product;
                *magnitude += fabs(product);
            }
}

static void check_references(const nt_workload *w, const nt_input_set *set)
{
    tensors t = read_tensors(w, set);
    const double *ref = checked_at(set->ref), *abs = checked_at(set->abs[NT_BOUND_DIRECT]);
    for (int n = 0; n < t.n; n++)
        for (int k = 0; k < t.k; k++)
            for (int y = 0; y < t.h; y++)
                for (int x = 0; x < t.w; x++) {
                    int at = t.nchw ? ((n * t.k + k) * t.h + y) * t.w + x : ((n * t.h + y) * t.w + x) * t.k + k;
                    double sum, magnitude;
                    output(&t, n, k, y, x, &sum, &magnitude);
                    assert_true(fabs(ref[at] - sum) <= 1e-12 * magnitude);
                    assert_true(fabs(abs[at] - magnitude) <= 1e-12 * magnitude);
                }
    free_tensors(&t);
}

static void test_references_at_odd_shapes(void **state)
{
    (void)state;
    static const char *const shapes[] = {"c=3,k=5,h=5,w=7", "c=1,k=1,h=1,w=1", "c=7,k=2,h=1,w=9", "c=16,k=16,h=3,w=2"};
    for (size_t s = 0; s < sizeof shapes / sizeof shapes[0]; s++)
        for (int precision = 0; precision < NT_PRECISION_COUNT; precision++)
            for (int layout = 0; layout < NT_LAYOUT_COUNT; layout++) {
                nt_problem problem = problem_of(shapes[s], 2, (nt_precision)precision, (nt_layout)layout);
                nt_workload *w = open_workload(&problem, 7, NT_HOT);
                check_references(w, &w->set[0]);
                check_references(w, &w->set[1]);
                nt_workload_close(w);
            }
}

/* Relative distance of the reference on original inputs from the one on rounded inputs. */
static double rounding_error(const nt_workload *w)
{
    const nt_input_set *set = &w->set[0];
    const double *ref = checked_at(set->ref), *original = checked_at(set->original), *scale = checked_at(set->scale);
    double difference = 0, sum = 0;
    for (int64_t i = 0; i < w->extents.out; i++) {
        int64_t channel = i / w->extents.out_channel_stride % w->extents.out_channels;
        double d = ref[i] * (set->scale != 0 ? scale[channel] : 1) - original[i];
        difference += d * d;
        sum += original[i] * original[i];
    }
    return sqrt(difference / sum);
}

static void test_original_inputs(void **state)
{
    (void)state;
    static const struct {
        nt_precision precision;
        double least, most;
    } rows[] = {{NT_FP16, 1e-5, 1e-3}, {NT_BF16, 1e-4, 1e-2}, {NT_FP8, 5e-3, 1e-1}, {NT_INT8, 1e-3, 3e-2},
                /* Half of a normal distribution's values, the smaller of four, carry 13 % of its square: sqrt is 0.36. */
                {NT_FP16_SPARSE, 0.2, 0.5}, {NT_INT8_SPARSE, 0.2, 0.5}};
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
        for (int layout = 0; layout < NT_LAYOUT_COUNT; layout++) {
            nt_problem problem = problem_of("c=9,k=5,h=6,w=5", 2, rows[i].precision, (nt_layout)layout);
            nt_workload *w = open_workload(&problem, 3, NT_HOT);
            double error = rounding_error(w);
            if (error < rows[i].least || error > rows[i].most)
                fail_msg("%s: %g is not in [%g, %g]", nt_precisions[rows[i].precision].name, error, rows[i].least,
                         rows[i].most);
            nt_workload_close(w);
        }
}

static double largest_of(const float *values, int64_t n)
{
    float largest = 0;
    for (int64_t i = 0; i < n; i++)
        largest = fmaxf(largest, fabsf(values[i]));
    return (double)largest;
}

/* Symmetric: the largest value of the input, and of each output channel's weights, becomes 127. */
static void test_int8_scales(void **state)
{
    (void)state;
    for (int layout = 0; layout < NT_LAYOUT_COUNT; layout++) {
        nt_problem problem = problem_of("c=5,k=4,h=6,w=5", 1, NT_INT8, (nt_layout)layout);
        nt_problem original = problem;
        original.precision = NT_FP32; /* the same seed's values before they are rounded */
        nt_workload *w = open_workload(&problem, 3, NT_HOT), *exact = open_workload(&original, 3, NT_HOT);
        tensors t = read_tensors(w, &w->set[0]), x = read_tensors(exact, &exact->set[0]);
        double in_scale = largest_of(x.in, w->extents.in) / 127;
        assert_true(largest_of(t.in, w->extents.in) == 127);
        for (int k = 0; k < t.k; k++) {
            double most = 0, exact_most = 0;
            for (int i = 0; i < 9 * t.c; i++) {
                most = fmax(most, fabs(weight_at(&t, k, i / 9, i % 9 / 3, i % 3)));
                exact_most = fmax(exact_most, fabs(weight_at(&x, k, i / 9, i % 9 / 3, i % 3)));
            }
            double scale = ((const double *)checked_at(w->set[0].scale))[k];
            assert_true(most == 127);
            assert_true(fabs(scale / (in_scale * exact_most / 127) - 1) < 1e-6);
        }
        free_tensors(&t);
        free_tensors(&x);
        nt_workload_close(exact);
        nt_workload_close(w);
    }
}

/* ---- sets -------------------------------------------------------------------------------------------------------------------- */

static bool same(const nt_guarded *a, const nt_guarded *b)
{
    return a->bytes == b->bytes && memcmp(checked_at(a->data), checked_at(b->data), a->bytes) == 0;
}

static void nothing(const nt_plan *plan, bool prepare, const nt_binding *binding)
{
    (void)plan;
    (void)prepare;
    (void)binding;
}

static const nt_kernel *fake_kernel(void)
{
    return nt_kernel_find("conv3x3", NT_DEVICE_FAKE, "fake");
}

static void test_sets_differ(void **state)
{
    (void)state;
    nt_problem problem = problem_of("c=3,k=5,h=5,w=7", 2, NT_FP32, NT_NHWC);
    nt_workload *w = open_workload(&problem, 7, NT_HOT), *again = open_workload(&problem, 7, NT_HOT);
    nt_workload *other = open_workload(&problem, 8, NT_HOT);
    assert_false(same(&w->set[0].in, &w->set[1].in));
    assert_false(same(&w->set[0].weight, &w->set[1].weight));
    for (int s = 0; s < NT_CHECK_SETS; s++) {
        assert_true(same(&w->set[s].in, &again->set[s].in)); /* a worker that is replaced measures the same */
        assert_true(same(&w->set[s].weight, &again->set[s].weight));
        for (int o = 0; o < NT_CHECK_SETS; o++)
            assert_false(same(&w->set[s].in, &other->set[o].in));
    }
    nt_workload_close(other);
    nt_workload_close(again);
    nt_workload_close(w);
    nt_workload_close(NULL);
}

static void test_fresh_set(void **state)
{
    (void)state;
    nt_problem problem = problem_of("c=3,k=5,h=5,w=7", 1, NT_BF16, NT_NHWC);
    nt_workload *w = open_workload(&problem, 7, NT_HOT), *next = open_workload(&problem, 8, NT_HOT);
    nt_plan plan = {.stage_count = 1};
    nt_verdict verdict;
    checked.kernel = nothing;
    assert_int_equal(w->fresh.in.base, 0); /* made when first asked for */
    assert_int_equal(nt_workload_verify_fresh(w, fake_kernel(), NULL, &plan, &verdict, NULL), NT_OK);
    assert_false(verdict.right); /* an output that nobody wrote */
    check_references(w, &w->fresh);
    for (int s = 0; s < NT_CHECK_SETS; s++) {
        assert_false(same(&w->fresh.in, &w->set[s].in));
        assert_false(same(&w->fresh.in, &next->set[s].in)); /* nor one of the neighbouring seed's */
    }
    nt_workload_drop_fresh(w);
    assert_int_equal(w->fresh.in.base, 0);
    nt_workload_close(next);
    nt_workload_close(w);
}

/* Bounds of another algorithm are made when a kernel with that bound is verified. */
static void test_bounds_on_demand(void **state)
{
    (void)state;
    nt_problem problem = problem_of("c=3,k=5,h=4,w=4", 1, NT_FP32, NT_NHWC);
    nt_workload *w = open_workload(&problem, 7, NT_HOT);
    nt_plan plan = {.stage_count = 1};
    nt_verdict verdict;
    nt_kernel winograd = *fake_kernel();
    winograd.bound = NT_BOUND_WINOGRAD_F2;
    checked.kernel = nothing;
    assert_int_equal(w->set[0].abs[NT_BOUND_WINOGRAD_F2], 0);
    assert_int_equal(nt_workload_verify(w, &winograd, NULL, &plan, &verdict, NULL), NT_OK);
    const double *direct = checked_at(w->set[1].abs[NT_BOUND_DIRECT]);
    const double *transformed = checked_at(w->set[1].abs[NT_BOUND_WINOGRAD_F2]);
    assert_non_null(transformed);
    for (int64_t i = 0; i < w->extents.out; i++)
        assert_true(transformed[i] >= direct[i] * 0.999); /* the transforms only add to it */
    nt_workload_close(w);
}

static int vendors_tile;

static nt_status tell_tile(nt_device *device, const nt_plan *plan, int *out_tile, nt_error *err)
{
    (void)device, (void)plan;
    *out_tile = vendors_tile;
    return vendors_tile < 0 ? nt_fail(err, NT_LAUNCH_FAILED, "scripted") : NT_OK;
}

/* A vendor's result is held to the bound of the algorithm that its library says it used. */
static void test_bound_of_the_algorithm(void **state)
{
    (void)state;
    nt_problem problem = problem_of("c=3,k=5,h=4,w=4", 1, NT_FP32, NT_NHWC);
    nt_workload *w = open_workload(&problem, 7, NT_HOT);
    nt_plan plan = {.stage_count = 1};
    nt_verdict verdict;
    nt_kernel vendor = *fake_kernel();
    vendor.vendor = NT_VENDOR_CUDNN;
    checked.kernel = nothing;
    checked.ops.vendor_tile = tell_tile;
    const int tiles[] = {0, 4, 2};
    for (int i = 0; i < 3; i++) {
        vendors_tile = tiles[i];
        assert_int_equal(nt_workload_verify(w, &vendor, NULL, &plan, &verdict, NULL), NT_OK);
        assert_int_equal(w->set[0].abs[NT_BOUND_WINOGRAD_F4] != 0, i > 0);
        assert_int_equal(w->set[0].abs[NT_BOUND_WINOGRAD_F2] != 0, i > 1);
    }
    vendors_tile = -1;
    assert_int_equal(nt_workload_verify(w, &vendor, NULL, &plan, &verdict, NULL), NT_LAUNCH_FAILED);
    vendor.vendor = NT_VENDOR_NONE; /* our own rows say it themselves */
    assert_int_equal(nt_workload_verify(w, &vendor, NULL, &plan, &verdict, NULL), NT_OK);
    checked.ops.vendor_tile = NULL;
    nt_workload_close(w);
}

/* ---- the ring -------------------------------------------------------------------------------------------------------------- */

static void test_ring_holds_copies(void **state)
{
    (void)state;
    nt_problem problem = problem_of("c=16,k=16,h=14,w=14", 4, NT_FP32, NT_NHWC);
    nt_workload *w = open_workload(&problem, 7, NT_COLD);
    nt_mem end = 0;
    assert_true(w->ring_count * w->slot_bytes >= 2u << 20); /* twice the fake device's cache of 1 MiB */
    assert_true((w->ring_count - 1) * w->slot_bytes < 2u << 20);
    for (size_t i = 0; i < w->ring_count; i++) {
        const uint64_t *at = w->ring[i].address;
        assert_memory_equal(checked_at(at[NT_ROLE_IN]), checked_at(w->set[0].in.data), w->set[0].in.bytes);
        assert_memory_equal(checked_at(at[NT_ROLE_WEIGHT]), checked_at(w->set[0].weight.data), w->set[0].weight.bytes);
        assert_int_equal(at[NT_ROLE_IN] % 256 + at[NT_ROLE_WEIGHT] % 256 + at[NT_ROLE_OUT] % 256, 0);
        assert_true(at[NT_ROLE_IN] >= end && at[NT_ROLE_WEIGHT] >= at[NT_ROLE_IN] + w->set[0].in.bytes);
        assert_true(at[NT_ROLE_OUT] >= at[NT_ROLE_WEIGHT] + w->set[0].weight.bytes);
        end = at[NT_ROLE_OUT] + (nt_mem)w->extents.out * sizeof(float);
    }
    assert_true(end <= w->ring_memory + w->ring_count * w->slot_bytes);
    nt_workload_close(w);
}

static double slots(nt_device_kind kind, int64_t cache_bytes, const nt_problem *problem)
{
    nt_device_info info;
    nt_extents extents;
    nt_device_info_init(&info, kind);
    info.l2_bytes = cache_bytes;
    assert_int_equal(nt_layer_find("conv3x3")->extents(problem, &extents, NULL), NT_OK);
    double cold = nt_workload_bytes(&info, problem, &extents, NT_COLD);
    double hot = nt_workload_bytes(&info, problem, &extents, NT_HOT);
    double slot = 4.0 * (double)(extents.in + extents.weight + extents.out); /* sizes below are multiples of 256 */
    return (cold - hot) / slot + 1;
}

static void test_ring_size(void **state)
{
    (void)state;
    enum { MIB = 1 << 20 };
    nt_problem small = problem_of("c=64,k=64,h=8,w=8", 1, NT_FP32, NT_NHWC);   /* 176 KiB a slot */
    nt_problem big = problem_of("c=64,k=64,h=512,w=512", 4, NT_FP32, NT_NHWC); /* 512 MiB a slot */
    assert_true(slots(NT_DEVICE_CUDA, 50 * MIB, &small) == ceil(150 * 1024 / 176.0));
    assert_true(slots(NT_DEVICE_CPU, 50 * MIB, &small) == ceil(100 * 1024 / 176.0));
    assert_true(slots(NT_DEVICE_CPU, (int64_t)2048 * MIB, &small) ==
                4096);                                                 /* 1 GiB would be 5958: also bounded by count */
    assert_true(slots(NT_DEVICE_CPU, (int64_t)2048 * MIB, &big) == 2); /* 1 GiB and not 4 */
    assert_true(slots(NT_DEVICE_CUDA, 50 * MIB, &big) == 2);           /* never fewer */
    assert_true(slots(NT_DEVICE_CUDA, NT_UNKNOWN, &small) == ceil(192 * 1024 / 176.0));
}

static void pack(const nt_plan *plan, bool prepare, const nt_binding *binding)
{
    (void)plan;
    if (prepare)
        memset(checked_at(binding->address[NT_ROLE_PACKED]), 0x5c, plan->packed_bytes);
}

static void test_target(void **state)
{
    (void)state;
    nt_problem problem = problem_of("c=64,k=64,h=28,w=28", 1, NT_FP32, NT_NHWC);
    nt_workload *w = open_workload(&problem, 7, NT_COLD);
    nt_plan plan = {.prepare_count = 1, .stage_count = 1, .packed_bytes = 1000, .workspace_bytes = 333};
    nt_target target;
    checked.kernel = pack;
    checked.prepares = 0;
    assert_int_equal(nt_workload_target(w, NULL, &plan, &target, NULL), NT_OK);
    assert_int_equal(checked.prepares, 1);
    assert_int_equal(target.ring_count, w->ring_count);
    assert_ptr_equal(target.position, &w->position);
    for (size_t i = 0; i < target.ring_count; i++) {
        const unsigned char *packed = checked_at(target.ring[i].address[NT_ROLE_PACKED]);
        assert_true(packed[0] == 0x5c && packed[999] == 0x5c); /* in each slot, packed once */
        assert_true(i == 0 ||
                    target.ring[i].address[NT_ROLE_PACKED] >= target.ring[i - 1].address[NT_ROLE_PACKED] + 1000);
        assert_int_equal(target.ring[i].address[NT_ROLE_WORKSPACE], w->workspace.data);
    }
    plan.packed_bytes = 100000; /* the next plan needs more */
    assert_int_equal(nt_workload_target(w, NULL, &plan, &target, NULL), NT_OK);
    assert_int_equal(((unsigned char *)checked_at(target.ring[target.ring_count - 1].address[NT_ROLE_PACKED]))[99999],
                     0x5c);
    /* Weights that grow by packing: no copy for every slot, as long as the copies alone leave the cache of 1 MiB. */
    assert_int_equal(target.ring_count, 4);
    plan.packed_bytes = 1500 << 10;
    assert_int_equal(nt_workload_target(w, NULL, &plan, &target, NULL), NT_OK);
    for (size_t i = 0; i < target.ring_count; i++) {
        assert_int_equal(target.ring[i].address[NT_ROLE_PACKED], w->ring_packed + i % 2 * plan.packed_bytes);
        assert_int_equal(((unsigned char *)checked_at(target.ring[i].address[NT_ROLE_PACKED]))[plan.packed_bytes - 1],
                         0x5c);
    }
    assert_int_equal(w->ring_packed_capacity, 2 * plan.packed_bytes);
    nt_workload_close(w);
}

/* ---- what does not fit ------------------------------------------------------------------------------------------------------- */

static void test_too_large(void **state)
{
    (void)state;
    nt_problem problem = problem_of("c=512,k=512,h=224,w=224", 64, NT_FP32, NT_NHWC);
    nt_workload *w = NULL;
    nt_error err;
    size_t before, after;
    checked.ops.memory_free(checked.device, &before, NULL);
    assert_int_equal(nt_workload_open(&checked.ops, checked.device, &problem, 1, NT_COLD, &w, &err), NT_USAGE);
    assert_null(w);
    assert_non_null(strstr(err.what, "GiB"));
    assert_non_null(strstr(err.what, "needs"));
    assert_non_null(strstr(err.what, "1 GiB is available"));
    assert_true(err.hint[0] != '\0');
    checked.ops.memory_free(checked.device, &after, NULL);
    assert_int_equal(before, after);
}

static void test_unknown_memory_is_enough(void **state)
{
    (void)state;
    nt_problem problem = problem_of("c=64,k=64,h=56,w=56", 1, NT_FP32, NT_NHWC);
    nt_extents extents;
    nt_device_info info;
    nt_error err;
    nt_device_info_init(&info, NT_DEVICE_CPU);
    assert_int_equal(nt_layer_find("conv3x3")->extents(&problem, &extents, NULL), NT_OK);
    double needed = nt_workload_bytes(&info, &problem, &extents, NT_COLD);
    static const struct {
        double share;
        nt_status expected;
    } rows[] = {{1.1, NT_OK}, {1.0, NT_USAGE}, {0.5, NT_USAGE}, {-1, NT_OK}};
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
        assert_int_equal(nt_workload_check_fits(&info, &problem, &extents, NT_COLD, needed * rows[i].share, &err),
                         rows[i].expected);
}

/* Everything that was allocated is free again: the fake device counts. */
static void test_nothing_is_left(void **state)
{
    (void)state;
    nt_problem problem = problem_of("c=3,k=5,h=5,w=7", 2, NT_INT8, NT_NHWC);
    nt_plan plan = {.prepare_count = 1, .stage_count = 1, .packed_bytes = 64, .workspace_bytes = 64};
    nt_verdict verdict;
    nt_target target;
    size_t before, after;
    checked.kernel = pack;
    checked.ops.memory_free(checked.device, &before, NULL);
    nt_workload *w = open_workload(&problem, 1, NT_COLD);
    assert_int_equal(nt_workload_verify(w, fake_kernel(), NULL, &plan, &verdict, NULL), NT_OK);
    assert_int_equal(nt_workload_verify_fresh(w, fake_kernel(), NULL, &plan, &verdict, NULL), NT_OK);
    assert_int_equal(nt_workload_target(w, NULL, &plan, &target, NULL), NT_OK);
    nt_workload_close(w);
    checked.ops.memory_free(checked.device, &after, NULL);
    assert_int_equal(before, after);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_references_at_odd_shapes),
        cmocka_unit_test(test_original_inputs),
        cmocka_unit_test(test_int8_scales),
        cmocka_unit_test(test_sets_differ),
        cmocka_unit_test(test_fresh_set),
        cmocka_unit_test(test_bounds_on_demand),
        cmocka_unit_test(test_bound_of_the_algorithm),
        cmocka_unit_test(test_ring_holds_copies),
        cmocka_unit_test(test_ring_size),
        cmocka_unit_test(test_target),
        cmocka_unit_test(test_too_large),
        cmocka_unit_test(test_unknown_memory_is_enough),
        cmocka_unit_test(test_nothing_is_left),
    };
    return cmocka_run_group_tests(tests, checked_open, checked_close);
}
