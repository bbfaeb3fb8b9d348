/* subjects.c: kernels with known work: streams, reductions and arithmetic, some of a millisecond and some of tens of
 * microseconds. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/mem.h"
#include "device/compiler.h"
#include "tests/gpu_counters/judge.h"

static const char source[] =
    "extern \"C\" __global__ void judge_copy(const float4 *in, float4 *out, long long n) {\n"
    "    long long step = (long long)gridDim.x * blockDim.x;\n"
    "    for (long long i = blockIdx.x * (long long)blockDim.x + threadIdx.x; i < n; i += step) out[i] = in[i];\n"
    "}\n"
    "extern \"C\" __global__ void judge_sum(const float4 *in, float *out, long long n) {\n"
    "    long long step = (long long)gridDim.x * blockDim.x;\n"
    "    float sum = 0;\n"
    "    for (long long i = blockIdx.x * (long long)blockDim.x + threadIdx.x; i < n; i += step) {\n"
    "        float4 v = in[i];\n"
    "        sum += v.x + v.y + v.z + v.w;\n"
    "    }\n"
    "    out[blockIdx.x * (long long)blockDim.x + threadIdx.x] = sum;\n"
    "}\n"
    "extern \"C\" __global__ void judge_scale(const float4 *in, float4 *out, long long n) {\n"
    "    long long step = (long long)gridDim.x * blockDim.x;\n"
    "    for (long long i = blockIdx.x * (long long)blockDim.x + threadIdx.x; i < n; i += step) {\n"
    "        float4 v = in[i];\n"
    "        v.x = v.x * 1.5f + 0.25f; v.y *= 1.5f; v.z += 0.25f; v.w *= 0.5f;\n"
    "        out[i] = v;\n"
    "    }\n"
    "}\n"
    "extern \"C\" __global__ void judge_arithmetic(const float *in, float *out, long long n) {\n"
    "    long long i = blockIdx.x * (long long)blockDim.x + threadIdx.x;\n"
    "    float a = in[i], b = a + 1.0f, c = a * 0.5f;\n"
    "    double d = a;\n"
    "    unsigned h = __float_as_uint(a), k = h ^ 0x00010001u;\n"
    "    for (int r = 0; r < 256; r++) {\n"
    "        a = a * 0.999f + 0.001f; b = b * 0.999f + a; c = c + b; c = c * 0.5f;\n"
    "        if (r % 16 == 0) { d = d * 0.999 + 0.001; d = d + 1.0; d = d * 0.5; }\n"
    "        asm volatile(\"fma.rn.f16x2 %0, %0, %1, %1;\" : \"+r\"(h) : \"r\"(k));\n"
    "    }\n"
    "    out[i] = a + b + c + (float)d + __uint_as_float(h & 0x7fffff);\n"
    "}\n"
    "extern \"C\" __global__ void judge_crowded(const float *in, float *out, long long n) {\n"
    "    extern __shared__ float tile[];\n"
    "    long long i = blockIdx.x * (long long)blockDim.x + threadIdx.x;\n"
    "    tile[threadIdx.x] = in[i];\n"
    "    __syncthreads();\n"
    "    float sum = 0;\n"
    "    for (int r = 0; r < 512; r++) sum = sum * 0.5f + tile[(threadIdx.x + r) % blockDim.x];\n"
    "    out[i] = sum;\n"
    "}\n";

#define MIB ((size_t)1 << 20)

static subject subjects[GROUPS * SUBJECTS_PER_GROUP] = {
    {.entry = "judge_copy",
     .big = true,
     .blocks = 2112,
     .threads = 512,
     .in_bytes = 1280 * MIB,
     .out_bytes = 1280 * MIB,
     .slots = 1},
    {.entry = "judge_sum",
     .big = true,
     .blocks = 1056,
     .threads = 512,
     .in_bytes = 2560 * MIB,
     .out_bytes = 1056 * 512 * 4,
     .slots = 1},
    {.entry = "judge_scale",
     .big = true,
     .blocks = 528,
     .threads = 256,
     .in_bytes = 1280 * MIB,
     .out_bytes = 1280 * MIB,
     .slots = 1},
    {.entry = "judge_copy", .blocks = 1056, .threads = 256, .in_bytes = 24 * MIB, .out_bytes = 24 * MIB, .slots = 16},
    {.entry = "judge_arithmetic",
     .blocks = 4224,
     .threads = 256,
     .in_bytes = 4224 * 256 * 4,
     .out_bytes = 4224 * 256 * 4,
     .slots = 16},
    {.entry = "judge_crowded",
     .blocks = 2112,
     .threads = 128,
     .smem_bytes = 96 * 1024,
     .in_bytes = 2112 * 128 * 4,
     .out_bytes = 2112 * 128 * 4,
     .slots = 16},
};

static nt_status load(bench *b, nt_error *err)
{
    const nt_device_info *info = b->ops->info(b->device);
    nt_compile_request request = {.kind = info->kind,
                                  .name = "judge",
                                  .source = source,
                                  .options = "",
                                  .arch = info->arch,
                                  .compiler = info->compiler,
                                  .features = info->features,
                                  .deadline_s = 60};
    nt_artefact artefact;
    nt_status status = nt_compile(&request, &artefact, err);
    return status == NT_OK ? b->ops->module_load(b->device, artefact.path, &b->module, err) : status;
}

static nt_status make_subject(bench *b, subject *s, nt_error *err)
{
    nt_stage *stage = &s->plan.stage[0];
    s->plan.stage_count = 1;
    nt_stage_kernel(stage, s->entry, s->blocks, 1, 1, s->threads, 1, 1);
    stage->smem_dynamic_bytes = s->smem_bytes;
    nt_stage_arg_buffer(stage, NT_ROLE_IN, 0);
    nt_stage_arg_buffer(stage, NT_ROLE_OUT, 0);
    nt_stage_arg_i64(stage, (int64_t)(s->in_bytes / 16));
    s->ring = nt_alloc_zero((size_t)s->slots, sizeof *s->ring);
    for (int i = 0; i < s->slots; i++) {
        s->ring[i].address[NT_ROLE_IN] = b->in + (size_t)i * s->in_bytes;
        s->ring[i].address[NT_ROLE_OUT] = b->out + (size_t)i * s->out_bytes;
    }
    nt_function_info info; /* asked for its side effect: the dynamic shared memory limit */
    return b->ops->function_info(b->device, b->module, s->entry, s->threads, s->smem_bytes, &info, err);
}

bool bench_open(bench *b)
{
    nt_error err = {0};
    *b = (bench){.ops = &nt_device_cuda_ops, .subject = subjects, .subject_count = GROUPS * SUBJECTS_PER_GROUP};
    nt_status status = b->ops->open(0, &b->device, &err);
    if (status == NT_OK)
        status = load(b, &err);
    if (status == NT_OK)
        status = b->ops->alloc(b->device, 2560 * MIB, &b->in, &err);
    if (status == NT_OK)
        status = b->ops->alloc(b->device, 1280 * MIB, &b->out, &err);
    if (status == NT_OK)
        status = b->ops->fill(b->device, b->in, 0x3c, 2560 * MIB, &err);
    if (status == NT_OK)
        status = b->ops->fill(b->device, b->out, 0, 1280 * MIB, &err);
    for (int i = 0; status == NT_OK && i < b->subject_count; i++)
        status = make_subject(b, &b->subject[i], &err);
    return status == NT_OK || judge_fail("getting ready", &err) == 0;
}

void bench_close(bench *b)
{
    for (int i = 0; i < b->subject_count; i++)
        free(b->subject[i].ring);
    b->ops->module_unload(b->device, b->module);
    b->ops->free(b->device, b->in);
    b->ops->free(b->device, b->out);
    b->ops->close(b->device);
}

nt_target bench_target(bench *b, subject *s)
{
    return (nt_target){b->ops, b->device, b->module, &s->plan, s->ring, (size_t)s->slots, &s->position, NULL, NULL};
}

size_t bench_group(bench *b, int group, nt_target *targets)
{
    size_t count = 0;
    for (int i = 0; i < SUBJECTS_PER_GROUP; i++)
        for (int k = 0; k < SUBJECT_LAUNCHES; k++)
            targets[count++] = bench_target(b, &b->subject[group * SUBJECTS_PER_GROUP + i]);
    return count;
}

bool bench_launch_plain(bench *b, const nt_target *targets, size_t count)
{
    nt_error err = {0};
    nt_status status = NT_OK;
    size_t changed, sweep = 2 * (size_t)b->ops->info(b->device)->l2_bytes;
    for (int round = 0; round < 2; round++) {
        if (round == 1)
            status = b->ops->count_changed(b->device, b->in, 0x3c, sweep, &changed, &err);
        for (size_t i = 0; status == NT_OK && i < count; i++) {
            const nt_target *t = &targets[i];
            status = t->ops->run(t->device, t->module, t->plan, false, &t->ring[(*t->position)++ % t->ring_count], NULL,
                                 &err);
        }
    }
    return status == NT_OK || judge_fail("launching", &err) == 0;
}
