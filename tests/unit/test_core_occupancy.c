/* The occupancy model against the toolkit's calculator: recorded rows always, and where the toolkit is installed every
 * block size with every register count, and a grid of all three resources. */
#include "core/occupancy.h"

#include <limits.h>

#include "core_check.h"
#include "core_occupancy_rows.h"

#if defined(NT_HAVE_CUDA_H) && defined(__has_include)
#if __has_include(<cuda_occupancy.h>)
#include <cuda_occupancy.h>
#define HAVE_CALCULATOR 1
#endif
#endif

/* Limits of an SM by compute capability, from the CUDA C++ Programming Guide's table of technical specifications. */
static const struct {
    int compute_capability, threads, blocks, smem_per_sm, smem_per_block, reserved;
} chips[] = {
    {75, 1024, 16, 65536, 65536, 0},       {80, 2048, 32, 167936, 166912, 1024},  {86, 1536, 16, 102400, 101376, 1024},
    {87, 1536, 16, 167936, 166912, 1024},  {89, 1536, 24, 102400, 101376, 1024},  {90, 2048, 32, 233472, 232448, 1024},
    {100, 2048, 32, 233472, 232448, 1024}, {103, 2048, 32, 233472, 232448, 1024}, {110, 1536, 24, 233472, 232448, 1024},
    {120, 1536, 24, 102400, 101376, 1024},
};
enum { CHIPS = sizeof chips / sizeof chips[0], ROWS = sizeof recorded / sizeof recorded[0] };

static nt_device_info device_of(int chip)
{
    nt_device_info device;
    nt_device_info_init(&device, NT_DEVICE_CUDA);
    device.compute_capability = chips[chip].compute_capability;
    device.max_threads_per_block = 1024;
    device.max_threads_per_sm = chips[chip].threads;
    device.max_blocks_per_sm = chips[chip].blocks;
    device.regs_per_block = device.regs_per_sm = 65536;
    device.smem_per_sm_bytes = chips[chip].smem_per_sm;
    device.smem_per_block_bytes = chips[chip].smem_per_block;
    device.smem_reserved_bytes = chips[chip].reserved;
    device.warp_size = 32;
    return device;
}

static int chip_of(int compute_capability)
{
    for (int i = 0; i < CHIPS; i++)
        if (chips[i].compute_capability == compute_capability)
            return i;
    fail_msg("no chip %d", compute_capability);
    return -1;
}

static void recorded_rows_agree(void **state)
{
    (void)state;
    for (int i = 0; i < ROWS; i++) {
        nt_device_info device = device_of(chip_of(recorded[i].compute_capability));
        nt_occupancy got = nt_occupancy_of(&device, recorded[i].threads, recorded[i].registers, recorded[i].smem_bytes);
        if (got.blocks_per_sm != recorded[i].blocks)
            print_error("row %d: cc %d, %d threads, %d registers, %d bytes\n", i, recorded[i].compute_capability,
                        recorded[i].threads, recorded[i].registers, recorded[i].smem_bytes);
        assert_int_equal(got.blocks_per_sm, recorded[i].blocks);
    }
}

#ifdef HAVE_CALCULATOR
/* Blocks per SM by the calculator; -1 when it does not know the chip. */
static int calculated(int chip, int regs_per_block, const nt_block_use *use, cudaOccResult *out)
{
    cudaOccDeviceProp device = {.computeMajor = chips[chip].compute_capability / 10,
                                .computeMinor = chips[chip].compute_capability % 10,
                                .maxThreadsPerBlock = 1024,
                                .maxThreadsPerMultiprocessor = chips[chip].threads,
                                .regsPerBlock = regs_per_block,
                                .regsPerMultiprocessor = 65536,
                                .warpSize = 32,
                                .sharedMemPerBlock = 49152,
                                .sharedMemPerMultiprocessor = (size_t)chips[chip].smem_per_sm,
                                .numSms = 1,
                                .sharedMemPerBlockOptin = (size_t)chips[chip].smem_per_block,
                                .reservedSharedMemPerBlock = (size_t)chips[chip].reserved};
    cudaOccFuncAttributes function = {.maxThreadsPerBlock = 1024,
                                      .numRegs = (int)use->registers,
                                      .shmemLimitConfig = FUNC_SHMEM_LIMIT_OPTIN,
                                      .maxDynamicSharedSizeBytes = (size_t)use->smem_bytes,
                                      .numBlockBarriers = (int)use->barriers};
    cudaOccDeviceState preference = {.carveoutConfig = SHAREDMEM_CARVEOUT_DEFAULT};
    cudaOccError status = cudaOccMaxActiveBlocksPerMultiprocessor(out, &device, &function, &preference,
                                                                  (int)use->threads, (size_t)use->smem_bytes);
    return status == CUDA_OCC_SUCCESS ? out->activeBlocksPerMultiprocessor : -1;
}

static unsigned factor_of(nt_limiter limiter)
{
    static const unsigned factors[NT_LIMIT_COUNT] = {[NT_LIMIT_THREADS] = OCC_LIMIT_WARPS,
                                                     [NT_LIMIT_REGISTERS] = OCC_LIMIT_REGISTERS,
                                                     [NT_LIMIT_SMEM] = OCC_LIMIT_SHARED_MEMORY,
                                                     [NT_LIMIT_BLOCKS] = OCC_LIMIT_BLOCKS,
                                                     [NT_LIMIT_BARRIERS] = OCC_LIMIT_BARRIERS};
    return factors[limiter];
}

/* Each limit by itself as well; what the calculator leaves without a limit is INT_MAX there and INT64_MAX here. */
static bool same_limits(const nt_occupancy *got, const cudaOccResult *result)
{
    const int expected[NT_LIMIT_COUNT] = {[NT_LIMIT_THREADS] = result->blockLimitWarps,
                                          [NT_LIMIT_REGISTERS] = result->blockLimitRegs,
                                          [NT_LIMIT_SMEM] = result->blockLimitSharedMem,
                                          [NT_LIMIT_BLOCKS] = result->blockLimitBlocks,
                                          [NT_LIMIT_BARRIERS] = result->blockLimitBarriers};
    for (int i = 0; i < NT_LIMIT_COUNT; i++)
        if (got->limit[i] != (expected[i] == INT_MAX ? INT64_MAX : expected[i]))
            return false;
    return true;
}

/* False when the calculator does not know the chip. */
static bool agrees_on(int chip, const nt_device_info *device, const nt_block_use *use)
{
    cudaOccResult result;
    int blocks = calculated(chip, (int)device->regs_per_block, use, &result);
    if (blocks < 0)
        return false;
    nt_occupancy got = nt_occupancy_of_use(device, use);
    if (got.blocks_per_sm != blocks || !(result.limitingFactors & factor_of(got.limiter)) ||
        !same_limits(&got, &result)) {
        print_error("cc %d, %d threads, %d registers, %d bytes, %d barriers: %d blocks by %s, not %d by %x\n",
                    chips[chip].compute_capability, (int)use->threads, (int)use->registers, (int)use->smem_bytes,
                    (int)use->barriers, (int)got.blocks_per_sm, nt_limiter_name(got.limiter), blocks,
                    result.limitingFactors);
        fail();
    }
    return true;
}

static bool agrees(int chip, const nt_device_info *device, int threads, int registers, int smem)
{
    nt_block_use use = {threads, registers, smem, 1};
    return agrees_on(chip, device, &use);
}

static void named_barriers_agree(int chip, const nt_device_info *device)
{
    for (int barriers = 0; barriers <= 16; barriers++)
        for (int threads = 32; threads <= 1024; threads += 32)
            for (int registers = 16; registers <= 240; registers += 16) {
                nt_block_use use = {threads, registers, 1024 * barriers, barriers};
                agrees_on(chip, device, &use);
            }
}

static void the_calculator_agrees(void **state)
{
    (void)state;
    int known = 0;
    for (int chip = 0; chip < CHIPS; chip++) {
        nt_device_info device = device_of(chip);
        if (!agrees(chip, &device, 32, 32, 0)) {
            print_message("this toolkit does not know compute capability %d\n", chips[chip].compute_capability);
            continue;
        }
        known++;
        for (int threads = 1; threads <= 1024 + 32; threads++)
            for (int registers = 0; registers <= 255; registers += threads % 32 ? 5 : 1)
                agrees(chip, &device, threads, registers, threads % 7 * 1000);
        for (int threads = 32; threads <= 1024; threads += 96)
            for (int smem = 0; smem <= chips[chip].smem_per_block + 512; smem += 127)
                for (int registers = 16; registers <= 240; registers += 32)
                    agrees(chip, &device, threads, registers, smem);
        named_barriers_agree(chip, &device);
        for (int smem = chips[chip].smem_per_block - 300; smem <= chips[chip].smem_per_block + 300; smem++)
            agrees(chip, &device, 128, 32, smem);
        device.regs_per_block = 32768; /* half of an SM's, as some embedded chips have it */
        for (int threads = 32; threads <= 1024; threads += 32)
            for (int registers = 1; registers <= 255; registers++)
                agrees(chip, &device, threads, registers, 0);
    }
    assert_true(known > 0);
}
#else
static void the_calculator_agrees(void **state)
{
    (void)state;
    print_message("skipped: cuda_occupancy.h is not installed (the recorded rows were compared)\n");
    skip();
}
#endif

static void limiter_and_percentage_are_those_of_the_guide(void **state)
{
    (void)state;
    nt_device_info h100 = device_of(chip_of(90));
    nt_occupancy full = nt_occupancy_of(&h100, 256, 32, 0);
    assert_int_equal(full.blocks_per_sm, 8);
    assert_int_equal(full.warps_per_sm, 64);
    assert_close(full.pct, 100, 0);
    assert_int_equal(full.limiter, NT_LIMIT_THREADS); /* registers tie: the order decides */
    assert_int_equal(full.limit[NT_LIMIT_REGISTERS], 8);
    nt_occupancy registers = nt_occupancy_of(&h100, 256, 128, 0);
    assert_int_equal(registers.limiter, NT_LIMIT_REGISTERS);
    assert_close(registers.pct, 25, 0);
    nt_occupancy smem = nt_occupancy_of(&h100, 128, 32, 100 * 1024);
    assert_int_equal(smem.limiter, NT_LIMIT_SMEM);
    assert_int_equal(smem.blocks_per_sm, 2);
    assert_close(smem.pct, 12.5, 0);
    nt_occupancy blocks = nt_occupancy_of(&h100, 32, 16, 0);
    assert_int_equal(blocks.limiter, NT_LIMIT_BLOCKS);
    assert_close(blocks.pct, 50, 0);
    assert_string_equal(nt_limiter_name(NT_LIMIT_SMEM), "smem");
}

/* A kernel of 16 named barriers on Hopper: 64 of them on an SM, so four blocks although eight would fit. */
static void barriers_limit_where_they_are_a_pool(void **state)
{
    (void)state;
    nt_device_info h100 = device_of(chip_of(90)), a100 = device_of(chip_of(80)), rtx = device_of(chip_of(120));
    nt_block_use use = {256, 32, 0, 16};
    nt_occupancy got = nt_occupancy_of_use(&h100, &use);
    assert_int_equal(got.blocks_per_sm, 4);
    assert_int_equal(got.limiter, NT_LIMIT_BARRIERS);
    assert_string_equal(nt_limiter_name(got.limiter), "barriers");
    assert_int_equal(nt_occupancy_of_use(&rtx, &use).blocks_per_sm, 1);
    assert_int_equal(nt_occupancy_of_use(&a100, &use).blocks_per_sm, 8);
    use.barriers = NT_UNKNOWN;
    assert_int_equal(nt_occupancy_of_use(&h100, &use).blocks_per_sm, 8);
}

/* ---- what if ----------------------------------------------------------------------------------------------------- */

static void curve_is_sound(const nt_device_info *device, const nt_block_use *use, nt_curve_axis axis, int64_t value)
{
    nt_curve_point *points;
    size_t count = nt_occupancy_curve(device, use, axis, &points), current = 0;
    assert_true(count > 10);
    for (size_t i = 0; i < count; i++) {
        current += points[i].current;
        assert_true(i == 0 || points[i].x > points[i - 1].x);
        assert_true(!points[i].current || points[i].x == value);
        assert_int_equal(points[i].occupancy.limiter < NT_LIMIT_COUNT, 1);
        if (axis != NT_CURVE_THREADS && i > 0)
            assert_true(points[i].occupancy.blocks_per_sm <= points[i - 1].occupancy.blocks_per_sm);
    }
    assert_int_equal(current, 1);
    free(points);
}

static void curves_ascend_and_hold_the_kernel_itself(void **state)
{
    (void)state;
    nt_device_info h100 = device_of(chip_of(90));
    static const nt_block_use uses[] = {
        {256, 64, 32768, 1}, {250, 61, 10000, 1}, {32, 16, 0, 1}, {1024, 255, 232448, 1}};
    for (size_t i = 0; i < sizeof uses / sizeof uses[0]; i++) {
        curve_is_sound(&h100, &uses[i], NT_CURVE_REGISTERS, uses[i].registers);
        curve_is_sound(&h100, &uses[i], NT_CURVE_THREADS, uses[i].threads);
        curve_is_sound(&h100, &uses[i], NT_CURVE_SMEM, uses[i].smem_bytes);
    }
}

static void curves_show_where_the_steps_are(void **state)
{
    (void)state;
    nt_device_info h100 = device_of(chip_of(90));
    nt_block_use use = {256, 64, 0, 1};
    nt_curve_point *points;
    size_t count = nt_occupancy_curve(&h100, &use, NT_CURVE_REGISTERS, &points);
    assert_int_equal(points[0].x, 16);
    assert_int_equal(points[count - 1].x, 255);
    for (size_t i = 0; i < count; i++) {
        int64_t expected = points[i].x <= 32 ? 8 : points[i].x <= 40 ? 6 : -1; /* 65536 / (256 x registers) */
        assert_true(expected < 0 || points[i].occupancy.blocks_per_sm == expected);
    }
    free(points);
    nt_device_info cpu;
    nt_device_info_init(&cpu, NT_DEVICE_CPU);
    assert_int_equal(nt_occupancy_curve(&cpu, &use, NT_CURVE_SMEM, &points), 0);
    assert_null(points);
    assert_string_equal(nt_curve_axis_name(NT_CURVE_SMEM), "smem_bytes");
}

static void room_is_the_most_that_lets_one_more_block_in(void **state)
{
    (void)state;
    nt_device_info h100 = device_of(chip_of(90));
    nt_block_use registers = {256, 72, 0, 1}, smem = {128, 32, 100 * 1024, 1}, threads = {256, 32, 0, 1};
    assert_int_equal(nt_occupancy_of_use(&h100, &registers).blocks_per_sm, 3);
    assert_int_equal(nt_occupancy_room(&h100, &registers), 64);
    assert_int_equal(nt_occupancy_room(&h100, &smem), 233472 / 3 / 128 * 128 - 1024);
    assert_int_equal(nt_occupancy_room(&h100, &threads), NT_UNKNOWN);
}

static void unknown_resources_do_not_limit(void **state)
{
    (void)state;
    nt_device_info h100 = device_of(chip_of(90));
    assert_int_equal(nt_occupancy_of(&h100, 256, NT_UNKNOWN, NT_UNKNOWN).blocks_per_sm, 8);
    assert_int_equal(nt_occupancy_of(&h100, 256, 256, 0).blocks_per_sm, 0);
    assert_close(nt_occupancy_of(&h100, 2048, 16, 0).pct, 0, 0);
    nt_device_info cpu;
    nt_device_info_init(&cpu, NT_DEVICE_CPU);
    nt_occupancy none = nt_occupancy_of(&cpu, 1, NT_UNKNOWN, NT_UNKNOWN);
    assert_true(isnan(none.pct) && none.blocks_per_sm == NT_UNKNOWN);
    cpu.warp_size = 1; /* a cpu knows its width and nothing else */
    none = nt_occupancy_of(&cpu, 1, NT_UNKNOWN, NT_UNKNOWN);
    assert_true(isnan(none.pct) && none.blocks_per_sm == NT_UNKNOWN && none.warps_per_sm == NT_UNKNOWN);
    h100.smem_reserved_bytes = NT_UNKNOWN; /* the reserve is known by architecture */
    assert_int_equal(nt_occupancy_of(&h100, 128, 32, 113 * 1024).blocks_per_sm, 2);
    assert_int_equal(nt_occupancy_of(&h100, 128, 32, 113 * 1024 + 1).blocks_per_sm, 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(recorded_rows_agree),
        cmocka_unit_test(the_calculator_agrees),
        cmocka_unit_test(limiter_and_percentage_are_those_of_the_guide),
        cmocka_unit_test(barriers_limit_where_they_are_a_pool),
        cmocka_unit_test(curves_ascend_and_hold_the_kernel_itself),
        cmocka_unit_test(curves_show_where_the_steps_are),
        cmocka_unit_test(room_is_the_most_that_lets_one_more_block_in),
        cmocka_unit_test(unknown_resources_do_not_limit),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
