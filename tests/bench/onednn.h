/* onednn.h: a convolution of oneDNN as a subject of timing, in the layouts it chooses, its reorders timed apart. */
#ifndef BENCH_ONEDNN_H
#define BENCH_ONEDNN_H

#include "tests/bench/subject.h"

#define CHECK(call)                                                       \
    do {                                                                  \
        dnnl_status_t status_ = (call);                                   \
        if (status_ != dnnl_success) {                                    \
            fprintf(stderr, "oneDNN: %s gave %d\n", #call, (int)status_); \
            exit(1);                                                      \
        }                                                                 \
    } while (0)

static inline void run_onednn(subject *s)
{
    dnnl_primitive_execute(s->primitive, s->stream, 3, s->arg);
    dnnl_stream_wait(s->stream);
}

typedef struct onednn {
    dnnl_engine_t engine;
    dnnl_stream_t stream;
    dnnl_memory_t out, plain_out;
    char implementation[64];
    double reorder_in_s, reorder_weight_s, reorder_out_s;
} onednn;

static inline dnnl_memory_t memory(const onednn *o, const dnnl_memory_desc_t *desc, void *data)
{
    dnnl_memory_t m;
    CHECK(dnnl_memory_create(&m, desc, o->engine, data));
    return m;
}

/* Copies into the other layout; the time of the second of two runs. */
static inline double reorder_s(const onednn *o, dnnl_memory_t from, dnnl_memory_t to)
{
    const dnnl_memory_desc_t *from_desc, *to_desc;
    dnnl_primitive_desc_t desc;
    dnnl_primitive_t primitive;
    CHECK(dnnl_memory_get_memory_desc(from, &from_desc));
    CHECK(dnnl_memory_get_memory_desc(to, &to_desc));
    CHECK(dnnl_reorder_primitive_desc_create(&desc, from_desc, o->engine, to_desc, o->engine, NULL));
    CHECK(dnnl_primitive_create(&primitive, desc));
    dnnl_exec_arg_t arg[] = {{DNNL_ARG_FROM, from}, {DNNL_ARG_TO, to}};
    double begin = 0;
    for (int i = 0; i < 2; i++) {
        begin = now_s();
        CHECK(dnnl_primitive_execute(primitive, o->stream, 2, arg));
        CHECK(dnnl_stream_wait(o->stream));
    }
    double elapsed = now_s() - begin;
    dnnl_primitive_destroy(primitive);
    dnnl_primitive_desc_destroy(desc);
    return elapsed;
}

static inline void describe(dnnl_memory_desc_t *desc, const dnnl_dims_t dims, dnnl_format_tag_t tag)
{
    CHECK(dnnl_memory_desc_init_by_tag(desc, 4, dims, dnnl_f32, tag));
}

static inline onednn make_onednn(const nt_problem *p, dnnl_alg_kind_t algorithm, float *in, float *weight, float *out,
                                 subject *s)
{
    int64_t n = p->batch, c = nt_shape_get(&p->shape, "c"), k = nt_shape_get(&p->shape, "k");
    int64_t h = nt_shape_get(&p->shape, "h"), w = nt_shape_get(&p->shape, "w");
    const dnnl_dims_t in_dims = {n, c, h, w}, weight_dims = {k, c, 3, 3}, out_dims = {n, k, h, w}, ones = {1, 1};
    onednn o = {0};
    CHECK(dnnl_engine_create(&o.engine, dnnl_cpu, 0));
    CHECK(dnnl_stream_create(&o.stream, o.engine, dnnl_stream_default_flags));
    dnnl_memory_desc_t any_in, any_weight, any_out, in_desc, weight_desc, out_desc;
    describe(&any_in, in_dims, dnnl_format_tag_any);
    describe(&any_weight, weight_dims, dnnl_format_tag_any);
    describe(&any_out, out_dims, dnnl_format_tag_any);
    describe(&in_desc, in_dims, dnnl_nhwc);
    describe(&weight_desc, weight_dims, dnnl_ohwi);
    describe(&out_desc, out_dims, dnnl_nhwc);

    dnnl_convolution_desc_t conv;
    dnnl_primitive_desc_t desc;
    CHECK(dnnl_convolution_forward_desc_init(&conv, dnnl_forward_inference, algorithm, &any_in, &any_weight, NULL,
                                             &any_out, ones, ones, ones));
    CHECK(dnnl_primitive_desc_create(&desc, &conv, NULL, o.engine, NULL));
    const char *text = NULL;
    CHECK(dnnl_primitive_desc_query(desc, dnnl_query_impl_info_str, 0, &text));
    nt_copy(o.implementation, sizeof o.implementation, text);
    CHECK(dnnl_primitive_create(&s->primitive, desc));
    dnnl_memory_t own_in = memory(&o, dnnl_primitive_desc_query_md(desc, dnnl_query_src_md, 0), DNNL_MEMORY_ALLOCATE);
    dnnl_memory_t own_weight =
        memory(&o, dnnl_primitive_desc_query_md(desc, dnnl_query_weights_md, 0), DNNL_MEMORY_ALLOCATE);
    o.out = memory(&o, dnnl_primitive_desc_query_md(desc, dnnl_query_dst_md, 0), DNNL_MEMORY_ALLOCATE);
    o.plain_out = memory(&o, &out_desc, out);
    o.reorder_in_s = reorder_s(&o, memory(&o, &in_desc, in), own_in);
    o.reorder_weight_s = reorder_s(&o, memory(&o, &weight_desc, weight), own_weight);
    s->run = run_onednn;
    s->stream = o.stream;
    s->arg[0] = (dnnl_exec_arg_t){DNNL_ARG_SRC, own_in};
    s->arg[1] = (dnnl_exec_arg_t){DNNL_ARG_WEIGHTS, own_weight};
    s->arg[2] = (dnnl_exec_arg_t){DNNL_ARG_DST, o.out};
    calibrate(s);
    o.reorder_out_s = reorder_s(&o, o.out, o.plain_out);
    return o;
}

#endif
