/* fake_row.c: the convolution on the fake device: a space of a few thousand configurations with every kind of parameter
 * (macro, launch, boolean, a constraint), for tests of everything around a kernel. Hidden: it computes nothing. */
#include "kernels/kernel.h"

#include <stddef.h>

static const nt_param params[] = {
    {.name = "block_x", .help = "threads in x", .NT_INTS(1, 2, 4, 8, 16, 32), .dflt = 4},
    {.name = "block_y", .help = "threads in y", .NT_INTS(1, 2, 4, 8, 16, 32, 64), .dflt = 4},
    {.name = "tile", .help = "outputs a thread", .NT_INTS(1, 2, 4, 8), .dflt = 0},
    {.name = "unroll", .help = "steps unrolled", .NT_INTS(1, 2, 4, 8, 16), .dflt = 0},
    {.name = "order", .help = "order of the loops", .NT_INTS(0, 1), .is_bool = true},
    {.name = "waves", .help = "blocks for each SM", .NT_INTS(1, 2, 4), .use = NT_PARAM_LAUNCH},
};
enum { PARAM_COUNT = sizeof params / sizeof params[0] };

static const nt_constraint constraints[] = {
    {"block_x * block_y <= max_threads", "a block has at most the device's number of threads"},
    {"block_x * block_y >= 4", "a block has at least 4 threads"},
    {"tile * unroll <= 64", "a tile of unrolled steps has at most 64 outputs"},
};

static const nt_rule rules[] = {{"16x16 threads", "block_x=16 block_y=16"}};

static double additions(const nt_problem *problem)
{
    return 9.0 * (double)nt_shape_get(&problem->shape, "c");
}

static nt_status plan(const nt_problem *problem, const nt_config *config, const nt_device_info *device, nt_plan *out,
                      nt_error *err)
{
    (void)problem;
    (void)err;
    *out = (nt_plan){.stage_count = 1};
    nt_stage *stage = &out->stage[0];
    nt_stage_kernel(stage, "fake_conv3x3",
                    (uint32_t)(nt_config_int(params, config, "waves") * (device != NULL ? device->sm_count : 1)), 1, 1,
                    (uint32_t)nt_config_int(params, config, "block_x"),
                    (uint32_t)nt_config_int(params, config, "block_y"), 1);
    nt_stage_arg_buffer(stage, NT_ROLE_IN, 0);
    nt_stage_arg_buffer(stage, NT_ROLE_WEIGHT, 0);
    nt_stage_arg_buffer(stage, NT_ROLE_OUT, 0);
    return NT_OK;
}

extern const nt_kernel nt_kernel_conv3x3_fake;
const nt_kernel nt_kernel_conv3x3_fake = {
    .name = "fake",
    .summary = "computes nothing, for tests",
    .layer = "conv3x3",
    .device = NT_DEVICE_FAKE,
    .hidden = true,
    .source = {"fake_conv3x3(in, weight, out)\n"},
    .precisions = NT_BIT(NT_PRECISION_COUNT) - 1,
    .layouts = NT_BIT(NT_LAYOUT_COUNT) - 1,
    .params = params,
    .param_count = PARAM_COUNT,
    .constraints = constraints,
    .constraint_count = sizeof constraints / sizeof constraints[0],
    .rules = rules,
    .rule_count = sizeof rules / sizeof rules[0],
    .bound = NT_BOUND_DIRECT,
    .additions = additions,
    .plan = plan,
};
