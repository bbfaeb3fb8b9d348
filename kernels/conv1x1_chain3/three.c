/* three.c: a chain of launches made of the plans that a kernel of conv1x1 has for each of its convolutions. */
#include "kernels/conv1x1_chain3/chain3.h"

#include <assert.h>

nt_problem nt_chain3_problem(const nt_problem *problem, int i)
{
    nt_chain3 d = nt_chain3_of(problem);
    nt_chain3_step step = nt_chain3_step_of(&d, i);
    nt_problem one = *problem;
    const char *const keys[] = {"c", "k", "h", "w"};
    const int64_t sizes[] = {step.in, step.out, d.h, d.w};
    nt_copy(one.layer, sizeof one.layer, "conv1x1");
    one.shape = (nt_shape){.count = 4};
    for (int j = 0; j < 4; j++) {
        nt_copy(one.shape.dim[j].key, sizeof one.shape.dim[j].key, keys[j]);
        one.shape.dim[j].size = sizes[j];
    }
    return one;
}

/* Where each role of a step lies in the chain. */
typedef struct places {
    nt_role in, out;
    int64_t in_at, out_at, weight_at, packed_at, workspace_at;
} places;

static void move(const places *p, nt_role *role, int64_t *at)
{
    switch (*role) {
    case NT_ROLE_IN:
        *role = p->in;
        *at += p->in_at;
        break;
    case NT_ROLE_OUT:
        *role = p->out;
        *at += p->out_at;
        break;
    case NT_ROLE_WEIGHT:
        *at += p->weight_at;
        break;
    case NT_ROLE_PACKED:
        *at += p->packed_at;
        break;
    case NT_ROLE_WORKSPACE:
        *at += p->workspace_at;
        break;
    default:
        break;
    }
}

static void append(nt_stage *list, int *count, int most, const nt_stage *stage, const places *p)
{
    assert(*count < most);
    (void)most;
    nt_stage *to = &list[(*count)++];
    *to = *stage;
    for (int i = 0; i < to->arg_count; i++)
        if (to->arg[i].kind == NT_ARG_BUFFER)
            move(p, &to->arg[i].role, &to->arg[i].value);
    for (int i = 0; i < to->map_count; i++)
        move(p, &to->map[i].role, &to->map[i].offset_bytes);
}

void nt_chain3_append(const nt_problem *problem, int i, const nt_plan *step, nt_plan *out)
{
    nt_chain3 d = nt_chain3_of(problem);
    size_t between[2], room = (nt_chain3_between(problem, between) + 255) / 256 * 256;
    size_t element = nt_dtype_bytes(nt_precisions[problem->precision].weight);
    places p = {.in = i == 0 ? NT_ROLE_IN : NT_ROLE_WORKSPACE,
                .out = i == 2 ? NT_ROLE_OUT : NT_ROLE_WORKSPACE,
                .in_at = i == 0 ? 0 : (int64_t)between[i - 1],
                .out_at = i == 2 ? 0 : (int64_t)between[i],
                .weight_at = nt_chain3_step_of(&d, i).weight * (int64_t)element,
                .packed_at = (int64_t)out->packed_bytes,
                .workspace_at = (int64_t)room};
    for (int j = 0; j < step->prepare_count; j++)
        append(out->prepare, &out->prepare_count, NT_MAX_PREPARES, &step->prepare[j], &p);
    for (int j = 0; j < step->stage_count; j++)
        append(out->stage, &out->stage_count, NT_MAX_STAGES, &step->stage[j], &p);
    out->packed_bytes = (out->packed_bytes + step->packed_bytes + 255) / 256 * 256;
    size_t workspace = room + step->workspace_bytes;
    out->workspace_bytes = workspace > out->workspace_bytes ? workspace : out->workspace_bytes;
}
