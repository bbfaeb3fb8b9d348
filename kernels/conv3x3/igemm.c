/* igemm.c: compiler options and launches of the implicit-GEMM kernels. */
#include "kernels/conv3x3/igemm.h"

enum { REDUCE_THREADS = 256 };

static int64_t ceil_div(int64_t a, int64_t b)
{
    return (a + b - 1) / b;
}

static int64_t extent(const nt_problem *problem, const char *key)
{
    return nt_shape_get(&problem->shape, key);
}

/* Filter taps in a row: 3, or 1 for 1x1 convolutions and fully connected layers. */
static int64_t side_of(const nt_problem *problem)
{
    return nt_conv_of(problem).taps;
}

static int64_t pixels_of(const nt_problem *problem)
{
    nt_conv d = nt_conv_of(problem);
    return d.n * d.h * d.w;
}

static int64_t elem_bytes(const nt_problem *problem)
{
    return (int64_t)nt_dtype_bytes(nt_precisions[problem->precision].in);
}

double nt__igemm_additions(const nt_problem *problem)
{
    return nt_conv_additions(problem) + NT__IGEMM_MAX_SPLIT;
}

/* Output elements that a lane may store at once; 8 make 16 bytes of a 16-bit type. */
static int out_vector(const nt_problem *problem)
{
    int64_t k = extent(problem, "k");
    if (elem_bytes(problem) == 2 && k % 8 == 0)
        return 8;
    return k % 2 == 0 ? 2 : 1;
}

/* Whether a tensor has more elements than 32-bit offsets reach. Taps outside the image lie up to a row and a pixel
 * before and after the input, and tiles run past the end. */
static bool wide_offsets(const nt_problem *problem)
{
    double c = (double)extent(problem, "c"), k = (double)extent(problem, "k"), w = (double)nt_conv_of(problem).w;
    double pixels = (double)pixels_of(problem);
    return (pixels + 2 * w + 1024) * c >= INT32_MAX || (k + 1024) * 9 * c >= INT32_MAX;
}

void nt__igemm_options(const nt_problem *problem, const nt__igemm_tiling *tiling, nt_str *out)
{
    int64_t c = extent(problem, "c");
    nt_str_addf(out, " -DTHREADS=%lld -DN_TILES=%lld -DUNIT_COPIES=%d -DWHOLE_STEPS=%d", (long long)tiling->threads,
                (long long)(tiling->warp_columns / 8), c % (16 / elem_bytes(problem)) == 0, c % tiling->tile_k == 0);
    nt_str_addf(out, " -DSIDE=%lld", (long long)side_of(problem));
    nt_str_addf(out, " -DOUT_VECTOR=%d -DSPLIT=%d -DWIDE_OFFSETS=%d", out_vector(problem), tiling->split > 1,
                wide_offsets(problem));
}

static void product_stage(const nt_problem *problem, const nt__igemm_tiling *tiling, int64_t smem_bytes,
                          nt_stage *stage)
{
    int64_t c = extent(problem, "c"), k = extent(problem, "k"), columns = ceil_div(k, tiling->tile_n);
    int64_t blocks = ceil_div(pixels_of(problem), tiling->tile_m) * columns;
    nt_stage_kernel(stage, tiling->entry, (uint32_t)blocks, 1, (uint32_t)tiling->split, (uint32_t)tiling->threads, 1,
                    1);
    stage->smem_dynamic_bytes = (uint32_t)smem_bytes;
    nt_stage_arg_buffer(stage, NT_ROLE_IN, 0);
    nt_stage_arg_buffer(stage, NT_ROLE_WEIGHT, 0);
    nt_stage_arg_buffer(stage, tiling->split > 1 ? NT_ROLE_WORKSPACE : NT_ROLE_OUT, 0);
    nt_stage_arg_i32(stage, pixels_of(problem));
    nt_stage_arg_i32(stage, nt_conv_of(problem).h);
    nt_stage_arg_i32(stage, nt_conv_of(problem).w);
    nt_stage_arg_i32(stage, c);
    nt_stage_arg_i32(stage, k);
    nt_stage_arg_i32(stage, columns);
    nt_stage_arg_i32(stage, ceil_div(side_of(problem) * side_of(problem) * c, tiling->tile_k));
}

static void reduce_stage(int64_t count, int64_t split, nt_stage *stage)
{
    nt_stage_kernel(stage, "nt_conv3x3_igemm_reduce", (uint32_t)ceil_div(count, REDUCE_THREADS), 1, 1, REDUCE_THREADS,
                    1, 1);
    nt_stage_arg_buffer(stage, NT_ROLE_WORKSPACE, 0);
    nt_stage_arg_buffer(stage, NT_ROLE_OUT, 0);
    nt_stage_arg_i64(stage, count);
    nt_stage_arg_i32(stage, split);
}

nt_status nt__igemm_plan(const nt_problem *problem, const nt__igemm_tiling *tiling, const nt_device_info *device,
                         nt_plan *out, nt_error *err)
{
    int64_t k = extent(problem, "k"), pixels = pixels_of(problem);
    int64_t pitch_bytes = tiling->tile_k * elem_bytes(problem) + tiling->row_padding_bytes;
    int64_t smem = tiling->stages * (tiling->tile_m + tiling->tile_n) * pitch_bytes;
    int64_t blocks = ceil_div(pixels, tiling->tile_m) * ceil_div(k, tiling->tile_n);
    if (blocks > INT32_MAX)
        return nt_fail(err, NT_LAUNCH_FAILED, "%lld blocks, a grid holds 2147483647: larger tiles are needed",
                       (long long)blocks);
    if (device->smem_per_block_bytes != NT_UNKNOWN && smem > device->smem_per_block_bytes)
        return nt_fail(err, NT_LAUNCH_FAILED, "%lld bytes of shared memory, a block may have %lld", (long long)smem,
                       (long long)device->smem_per_block_bytes);
    *out = (nt_plan){.stage_count = 1};
    product_stage(problem, tiling, smem, &out->stage[0]);
    if (tiling->split > 1) {
        int64_t count = pixels * k;
        if (ceil_div(count, REDUCE_THREADS) > INT32_MAX)
            return nt_fail(err, NT_LAUNCH_FAILED, "the output is too large to add slices of it: split_k=1 is needed");
        out->workspace_bytes = (size_t)(tiling->split * count) * sizeof(float);
        reduce_stage(count, tiling->split, &out->stage[out->stage_count++]);
    }
    return NT_OK;
}
