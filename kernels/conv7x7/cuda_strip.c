/* cuda_strip.c: the rows of strip.cu: parameters, what makes a configuration legal, and its launches.
 *
 * A strip of more rows reads an image's lines less often, (2 rows + 5) / (2 rows) times; one of fewer rows leaves more
 * blocks, for small batches. A warp that has more units reads weights from shared memory less often, until its sums
 * fill the registers. `persistent` blocks copy the weights once and have the strips that follow under way. */
#include "kernels/conv/conv.h"
#include "kernels/kernel.h"

#include "kernels/common/launch.h"

#include <inttypes.h>

extern const char nt_embed_common_prelude_cuh[], nt_embed_common_tensor_core_cuh[];
extern const char nt_embed_conv7x7_strip_cuh[], nt_embed_conv7x7_strip_cu[];

enum { MAX_CHANNELS = 4, PACK_THREADS = 256, MAX_GRID_Y = 65535 };

static const nt_param params[] = {
    {.name = "rows", .help = "output rows of a strip", .NT_INTS(1, 2, 4, 7, 8, 16), .dflt = 1},
    {.name = "tiles", .help = "units of 16 outputs of a warp at a time", .NT_INTS(1, 2, 4), .dflt = 1},
    {.name = "warps_m", .help = "warps along outputs", .NT_INTS(1, 2, 4, 7, 8, 14), .dflt = 3},
    {.name = "warps_n", .help = "warps along filters", .NT_INTS(1, 2), .dflt = 0},
    {.name = "tile_n", .help = "filters of a block", .NT_INTS(32, 64), .dflt = 1},
    {.name = "stages", .help = "strips in shared memory", .NT_INTS(1, 2, 3), .dflt = 0},
    {.name = "min_blocks", .help = "blocks per SM that registers must allow", .NT_INTS(1, 2, 3, 4), .dflt = 0},
    {.name = "persistent",
     .help = "as many blocks as run at once, each doing several strips",
     .NT_INTS(0, 1),
     .dflt = 0,
     .is_bool = true,
     .use = NT_PARAM_LAUNCH},
};

/* Of stride 2, the layer's own; the plan counts with the stride that there is. PARTS is "1", or "2" for weights in two
 * parts (fp32). */
#define WARPS            "(warps_m * warps_n)"
#define REGISTER_THREADS "((" WARPS " + 3) // 4 * 128)" /* registers are divided evenly among four schedulers */
#define OUT_ROWS         "((h + 1) // 2)"
#define BANDS            "((" OUT_ROWS " + rows - 1) // rows)"
#define UNITS            "(rows * ((w + 31) // 32))"
#define SUMS             "(tiles * tile_n // warps_n // 2)"
#define STEP             "(1 if nchw else c)"
#define PITCH \
    "(((4 * " STEP " * elem_bytes + 15) // 16 + (((w + 31) // 32 * 32 + 2) * " STEP " * elem_bytes + 15) // 16) * 16)"
#define STRIP          "((2 * rows + 5) * (c if nchw else 1) * " PITCH ")"
#define WEIGHTS(PARTS) "(" PARTS " * ((7 * c * elem_bytes // 2 + 1) // 2) * tile_n * 32)"
#define SMEM(PARTS)    "(" WEIGHTS(PARTS) " + stages * " STRIP ")"

#define CONSTRAINTS(PARTS)                                                                                      \
    {"2 <= " WARPS " <= 16", "a block has 2 to 16 warps"},                                                      \
        {"tile_n // warps_n >= 32", "a warp has 32 filters at least, so that lanes store 16 bytes"},            \
        {SUMS " <= 128", "the sums of a thread fit its registers"},                                             \
        {"min_blocks * " REGISTER_THREADS " * (" SUMS " + 16 * " PARTS " + 4 * tiles * " PARTS                  \
         " + 24) <= regs_per_sm",                                                                               \
         "min_blocks blocks fit in the registers"},                                                             \
        {SMEM(PARTS) " <= smem_per_block", "weights and strips fit in shared memory"},                          \
        {"min_blocks * (" SMEM(PARTS) " + 1024) <= smem_per_block + 1024",                                      \
         "weights and strips of min_blocks blocks fit in shared memory"},                                       \
        {"rows == 1 or rows < 2 * " OUT_ROWS, "shorter strips hold all rows"},                                  \
        {"tiles * warps_m <= 2 or tiles * warps_m < 2 * " UNITS, "fewer warps hold all outputs of a strip"},    \
        {"tile_n == 32 or k > 32", "smaller blocks hold all filters"},                                          \
        {"tiles * warps_m * 8 >= " UNITS, "a warp goes through a strip in eight turns or less"},                \
        {"stages == 1 or persistent", "a block of one strip needs one stage"},                                  \
    {                                                                                                           \
        "not persistent or n * " BANDS " > sm_count * min_blocks", "a persistent block has more than one strip" \
    }

static const nt_constraint constraints[] = {CONSTRAINTS("1")};
static const nt_constraint exact_constraints[] = {CONSTRAINTS("2")};

/* For one image, for a few, and for many. */
static const nt_rule rules[] = {
    {"a row a block", "rows=1 tiles=1 warps_m=7"},
    {"4 rows a block", "rows=4 tiles=2 warps_m=7"},
    {"2 rows, the next under way", "rows=2 tiles=2 warps_m=7 stages=2 persistent=true"},
};

/* ---- sizes, as strip.cuh has them ------------------------------------------------------------------------------------------ */

typedef struct sizes {
    nt_conv d;
    int64_t rows, tile_n, parts, elem_bytes;
    int64_t lines_a_row, step; /* lines of an image row, elements from one column to the next */
    int64_t bands;             /* strips of an image */
    int64_t weight_bytes, smem_bytes;
} sizes;

static int64_t pitch_of(const sizes *s)
{
    int64_t left = nt_div_up(4 * s->step * s->elem_bytes, 16) * 16, line = s->d.w * s->step * s->elem_bytes;
    int64_t outputs = nt_div_up(s->d.out_w, 16) * 16;
    int64_t reach = (s->d.stride * (outputs - 1) + 4) * s->step * s->elem_bytes;
    return nt_div_up(left + (reach > line ? reach : line), 16) * 16;
}

static sizes sizes_of(const nt_problem *problem, const nt_config *config)
{
    sizes s = {.d = nt_conv_of(problem),
               .rows = nt_config_int(params, config, "rows"),
               .tile_n = nt_config_int(params, config, "tile_n"),
               .parts = problem->precision == NT_FP32 ? 2 : 1,
               .elem_bytes = (int64_t)nt_dtype_bytes(nt_precisions[problem->precision].in)};
    bool first = problem->layout == NT_NCHW;
    s.lines_a_row = first ? s.d.c : 1;
    s.step = first ? 1 : s.d.c;
    s.bands = nt_div_up(s.d.out_h, s.rows);
    int64_t steps = nt_div_up(7 * s.d.c * s.elem_bytes / 2, 2), lines = ((s.rows - 1) * s.d.stride + 7) * s.lines_a_row;
    s.weight_bytes = s.parts * steps * s.tile_n * 32;
    s.smem_bytes = s.weight_bytes + nt_config_int(params, config, "stages") * lines * pitch_of(&s);
    return s;
}

static const char *refuses(const nt_problem *problem)
{
    nt_conv d = nt_conv_of(problem);
    int64_t step = problem->layout == NT_NCHW ? 1 : d.c;
    if (d.c > MAX_CHANNELS)
        return "it has up to 4 input channels";
    if (d.stride * step * (int64_t)nt_dtype_bytes(nt_precisions[problem->precision].in) % 4 != 0)
        return "windows of neighbouring outputs must be whole words of 4 bytes apart: 16-bit types need an even "
               "stride, "
               "or even channels that come last";
    if (d.k > (int64_t)MAX_GRID_Y * 32)
        return "output channels must be at most 2097120";
    return nt_conv_cuda_refuses(problem);
}

static bool stores_together(const nt_problem *problem, const sizes *s)
{
    return problem->layout == NT_NCHW ? s->d.out_w % 4 == 0 : s->d.k % (16 / s->elem_bytes) == 0;
}

static void options(const nt_problem *problem, const nt_config *config, nt_str *out)
{
    sizes s = sizes_of(problem, config);
    nt_str_addf(out, " -DC=%d -DSTRIDE=%d -DIMAGE_W=%d -DOUT_W=%d -DCOPY_16=%d -DOUT_VECTOR=%d", (int)s.d.c,
                (int)s.d.stride, (int)s.d.w, (int)s.d.out_w, s.d.w * s.step * s.elem_bytes % 16 == 0,
                stores_together(problem, &s));
}

/* ---- launches -------------------------------------------------------------------------------------------------------------- */

static void prepare(const sizes *s, int64_t blocks, nt_plan *out)
{
    nt_stage *stage = &out->prepare[out->prepare_count++];
    out->packed_bytes = (size_t)(blocks * s->weight_bytes);
    nt_stage_kernel(stage, "nt_strip_pack", (uint32_t)nt_div_up(s->weight_bytes / 4, PACK_THREADS), (uint32_t)blocks, 1,
                    PACK_THREADS, 1, 1);
    nt_stage_arg_buffer(stage, NT_ROLE_WEIGHT, 0);
    nt_stage_arg_buffer(stage, NT_ROLE_PACKED, 0);
    nt_stage_arg_i32(stage, s->d.k);
}

static int64_t blocks_of(const nt_config *config, const nt_device_info *device, int64_t strips, int64_t filter_blocks)
{
    if (!nt_config_int(params, config, "persistent") || device->sm_count == NT_UNKNOWN)
        return strips;
    int64_t together = device->sm_count * nt_config_int(params, config, "min_blocks") / filter_blocks;
    return together < 1 ? 1 : together < strips ? together : strips;
}

static nt_status plan(const nt_problem *problem, const nt_config *config, const nt_device_info *device, nt_plan *out,
                      nt_error *err)
{
    sizes s = sizes_of(problem, config);
    int64_t strips = s.d.n * s.bands, filter_blocks = nt_div_up(s.d.k, s.tile_n);
    int64_t threads = 32 * nt_config_int(params, config, "warps_m") * nt_config_int(params, config, "warps_n");
    if (strips > INT32_MAX)
        return nt_fail(err, NT_LAUNCH_FAILED, "%" PRId64 " strips, at most 2147483647: more rows are needed", strips);
    if (device->smem_per_block_bytes != NT_UNKNOWN && s.smem_bytes > device->smem_per_block_bytes)
        return nt_fail(err, NT_LAUNCH_FAILED, "%" PRId64 " bytes of shared memory, a block may have %" PRId64,
                       s.smem_bytes, device->smem_per_block_bytes);
    *out = (nt_plan){.stage_count = 1};
    prepare(&s, filter_blocks, out);
    nt_stage *stage = &out->stage[0];
    nt_stage_kernel(stage, "nt_strip", (uint32_t)blocks_of(config, device, strips, filter_blocks),
                    (uint32_t)filter_blocks, 1, (uint32_t)threads, 1, 1);
    stage->smem_dynamic_bytes = (uint32_t)s.smem_bytes;
    nt_stage_arg_buffer(stage, NT_ROLE_IN, 0);
    nt_stage_arg_buffer(stage, NT_ROLE_PACKED, 0);
    nt_stage_arg_buffer(stage, NT_ROLE_OUT, 0);
    const int64_t arguments[] = {strips, s.bands, s.d.h, s.d.out_h, s.d.k};
    for (size_t i = 0; i < sizeof arguments / sizeof arguments[0]; i++)
        nt_stage_arg_i32(stage, arguments[i]);
    return NT_OK;
}

/* High and low part of an operand leave 2^-22 of it, and low x low, which is left out, is 2^-22 of a product: 3 x
 * 2^-22, 12 units of 2^-24, for each product. */
static double exact_additions(const nt_problem *problem)
{
    return nt_conv_additions(problem) + 12;
}

#define ROW(of_row, of_name, of_precisions, of_summary, of_constraints, of_additions)                        \
    const nt_kernel nt_kernel_conv7x7_cuda_##of_row = {                                                      \
        .name = of_name,                                                                                     \
        .summary = of_summary,                                                                               \
        .layer = "conv7x7",                                                                                  \
        .device = NT_DEVICE_CUDA,                                                                            \
        .source = {nt_embed_common_prelude_cuh, nt_embed_common_tensor_core_cuh, nt_embed_conv7x7_strip_cuh, \
                   nt_embed_conv7x7_strip_cu},                                                               \
        .precisions = of_precisions,                                                                         \
        .layouts = NT_BIT(NT_NHWC) | NT_BIT(NT_NCHW),                                                        \
        .min_compute_capability = 80,                                                                        \
        .params = params,                                                                                    \
        .param_count = sizeof params / sizeof params[0],                                                     \
        .constraints = of_constraints,                                                                       \
        .constraint_count = sizeof of_constraints / sizeof of_constraints[0],                                \
        .rules = rules,                                                                                      \
        .rule_count = sizeof rules / sizeof rules[0],                                                        \
        .bound = NT_BOUND_DIRECT,                                                                            \
        .additions = of_additions,                                                                           \
        .refuses = refuses,                                                                                  \
        .options = options,                                                                                  \
        .plan = plan,                                                                                        \
    };

ROW(strip, "strip", NT_BIT(NT_TF32) | NT_BIT(NT_FP16) | NT_BIT(NT_BF16),
    "few channels on tensor cores (mma.sync), from strips of the image in shared memory", constraints,
    nt_conv_additions)
ROW(strip3, "strip_3xtf32", NT_BIT(NT_FP32), "the same for fp32, as three products of tf32 parts", exact_constraints,
    exact_additions)
