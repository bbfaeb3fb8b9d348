#include "tests/gpu/oracle.h"

#include <stdlib.h>
#include <string.h>

#include "core/mem.h"

/* Rounding units of the bound: of an addition, of an operand inside the multiply, of the stored output. Tensor cores
 * may cut off instead of rounding, so twice the unit of f32; tf32 keeps 10 bits of a factor. */
static const struct unit {
    size_t bytes;
    double add, factor, out, tiny;
} units[NT_PRECISION_COUNT] = {
    [NT_FP32] = {4, 0x1p-24, 0, 0, 0},
    [NT_TF32] = {4, 0x1p-23, 0x1p-10, 0, 0},
    [NT_FP16] = {2, 0x1p-23, 0, 0x1p-11, 0x1p-25},
    [NT_BF16] = {2, 0x1p-23, 0, 0x1p-8, 0},
};

static double half(unsigned bits)
{
    int exponent = (int)(bits >> 10 & 31), fraction = (int)(bits & 1023);
    double sign = bits >> 15 ? -1 : 1;
    if (exponent == 31)
        return fraction != 0 ? NAN : sign * INFINITY;
    return exponent == 0 ? sign * ldexp(fraction, -24) : sign * ldexp(1024 + fraction, exponent - 25);
}

static double decode(nt_precision precision, const unsigned char *at)
{
    unsigned bits = 0;
    float value;
    memcpy(&bits, at, units[precision].bytes);
    if (precision == NT_FP16)
        return half(bits);
    if (precision == NT_BF16)
        bits <<= 16;
    memcpy(&value, &bits, sizeof value);
    return value;
}

typedef struct geometry {
    int64_t n, c, k, h, w;
    bool nchw;
    nt_precision precision;
} geometry;

static geometry geometry_of(const nt_problem *p)
{
    const nt_shape *s = &p->shape;
    return (geometry){p->batch,
                      nt_shape_get(s, "c"),
                      nt_shape_get(s, "k"),
                      nt_shape_get(s, "h"),
                      nt_shape_get(s, "w"),
                      p->layout == NT_NCHW,
                      p->precision};
}

/* One output: the sum, and the sum of the magnitudes. */
static void convolve(const oracle *o, const geometry *g, int64_t n, int64_t y, int64_t x, int64_t k, double *sum,
                     double *magnitude)
{
    size_t size = units[g->precision].bytes;
    *sum = *magnitude = 0;
    for (int64_t r = 0; r < 3; r++)
        for (int64_t s = 0; s < 3; s++) {
            int64_t row = y + r - 1, column = x + s - 1;
            if (row < 0 || row >= g->h || column < 0 || column >= g->w)
                continue;
            for (int64_t c = 0; c < g->c; c++) {
                int64_t in = g->nchw ? ((n * g->c + c) * g->h + row) * g->w + column
                                     : ((n * g->h + row) * g->w + column) * g->c + c;
                int64_t weight = g->nchw ? ((k * g->c + c) * 3 + r) * 3 + s : ((k * 3 + r) * 3 + s) * g->c + c;
                double product = decode(g->precision, o->in + (size_t)in * size) *
                                 decode(g->precision, o->weight + (size_t)weight * size);
                *sum += product;
                *magnitude += fabs(product);
            }
        }
}

static uint64_t draw(oracle *o, uint64_t below)
{
    o->state ^= o->state << 13; /* xorshift64 */
    o->state ^= o->state >> 7;
    o->state ^= o->state << 17;
    return o->state % below;
}

/* Corners first, where padding is, then anywhere. */
static int64_t pick_one(oracle *o, int pick, int corner_bit, int64_t extent)
{
    if (pick < 16)
        return pick >> corner_bit & 1 ? extent - 1 : 0;
    return (int64_t)draw(o, (uint64_t)extent);
}

static nt_status check_one(oracle *o, bench *b, const geometry *g, int pick, nt_error *err)
{
    const struct unit *u = &units[g->precision];
    int64_t n = pick_one(o, pick, 3, g->n), y = pick_one(o, pick, 0, g->h), x = pick_one(o, pick, 1, g->w);
    int64_t k = pick_one(o, pick, 2, g->k);
    int64_t at = g->nchw ? ((n * g->k + k) * g->h + y) * g->w + x : ((n * g->h + y) * g->w + x) * g->k + k;
    unsigned char raw[8];
    nt_status status = b->worker.ops->download(b->worker.device, raw,
                                               b->worker.workload->out.data + (size_t)at * u->bytes, u->bytes, err);
    if (status != NT_OK)
        return status;
    double sum, magnitude, got = decode(g->precision, raw);
    convolve(o, g, n, y, x, k, &sum, &magnitude);
    double bound = (9.0 * (double)g->c + 16) * u->add * magnitude + 2.01 * u->factor * magnitude + u->out * fabs(sum) +
                   u->tiny + 1e-37;
    double error = fabs(got - sum) / bound;
    bool right = error <= 1; /* not for a NaN */
    o->checked++;
    o->worst = fmax(o->worst, isnan(error) ? INFINITY : error);
    if (!right && o->wrong++ == 0)
        snprintf(o->first, sizeof o->first, "n=%lld y=%lld x=%lld k=%lld: %.9g where the sum is %.9g", (long long)n,
                 (long long)y, (long long)x, (long long)k, got, sum);
    return NT_OK;
}

static nt_status fetch(bench *b, const nt_guarded *from, unsigned char **to, size_t *bytes, nt_error *err)
{
    *to = nt_realloc_array(*to, from->bytes, 1);
    *bytes = from->bytes;
    return b->worker.ops->download(b->worker.device, *to, from->data, from->bytes, err);
}

nt_status oracle_problem(oracle *o, bench *b, nt_error *err)
{
    const nt_input_set *set = &b->worker.workload->set[1];
    nt_status status = fetch(b, &set->in, &o->in, &o->in_bytes, err);
    return status == NT_OK ? fetch(b, &set->weight, &o->weight, &o->weight_bytes, err) : status;
}

static nt_status run(bench *b, const nt_loaded *loaded, nt_error *err)
{
    nt_workload *w = b->worker.workload;
    nt_binding binding = {{0}};
    binding.address[NT_ROLE_IN] = w->set[1].in.data;
    binding.address[NT_ROLE_WEIGHT] = w->set[1].weight.data;
    binding.address[NT_ROLE_OUT] = w->out.data;
    binding.address[NT_ROLE_PACKED] = w->packed.data;
    binding.address[NT_ROLE_WORKSPACE] = w->workspace.data;
    nt_status status = w->ops->fill(w->device, w->out.data, 0xFF, w->out.bytes, err);
    if (status == NT_OK && loaded->plan.prepare_count > 0)
        status = w->ops->run(w->device, loaded->module, &loaded->plan, true, &binding, NULL, err);
    return status == NT_OK ? w->ops->run(w->device, loaded->module, &loaded->plan, false, &binding, NULL, err) : status;
}

nt_status oracle_check(oracle *o, bench *b, const nt_loaded *loaded, int picks, nt_error *err)
{
    nt_workload *w = b->worker.workload;
    geometry g = geometry_of(&w->problem);
    size_t out_bytes = (size_t)(g.n * g.h * g.w * g.k) * units[g.precision].bytes;
    nt_status status = nt_guarded_resize(w->ops, w->device, &w->out, out_bytes, err);
    if (status == NT_OK)
        status = nt_guarded_resize(w->ops, w->device, &w->packed, loaded->plan.packed_bytes, err);
    if (status == NT_OK)
        status = nt_guarded_resize(w->ops, w->device, &w->workspace, loaded->plan.workspace_bytes, err);
    if (status == NT_OK)
        status = run(b, loaded, err);
    for (int i = 0; status == NT_OK && i < picks; i++)
        status = check_one(o, b, &g, i, err);
    return status;
}

void oracle_done(oracle *o)
{
    free(o->in);
    free(o->weight);
    *o = (oracle){0};
}
