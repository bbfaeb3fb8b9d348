/* The occupancy model against the toolkit's calculator: recorded rows always, and where the toolkit is installed every
 * block size with every register count, and a grid of all three resources. */
#include "core/occupancy.h"

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
static int calculated(int chip, int regs_per_block, int threads, int registers, int smem, cudaOccResult *out)
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
                                      .numRegs = registers,
                                      .shmemLimitConfig = FUNC_SHMEM_LIMIT_OPTIN,
                                      .maxDynamicSharedSizeBytes = (size_t)smem,
                                      .numBlockBarriers = 1};
    cudaOccDeviceState preference = {.carveoutConfig = SHAREDMEM_CARVEOUT_DEFAULT};
    cudaOccError status =
        cudaOccMaxActiveBlocksPerMultiprocessor(out, &device, &function, &preference, threads, (size_t)smem);
    return status == CUDA_OCC_SUCCESS ? out->activeBlocksPerMultiprocessor : -1;
}

static unsigned factor_of(nt_limiter limiter)
{
    static const unsigned factors[NT_LIMIT_COUNT] = {[NT_LIMIT_THREADS] = OCC_LIMIT_WARPS,
                                                     [NT_LIMIT_REGISTERS] = OCC_LIMIT_REGISTERS,
                                                     [NT_LIMIT_SMEM] = OCC_LIMIT_SHARED_MEMORY,
                                                     [NT_LIMIT_BLOCKS] = OCC_LIMIT_BLOCKS};
    return factors[limiter];
}

/* False when the calculator does not know the chip. */
static bool agrees(int chip, const nt_device_info *device, int threads, int registers, int smem)
{
    cudaOccResult result;
    int blocks = calculated(chip, (int)device->regs_per_block, threads, registers, smem, &result);
    if (blocks < 0)
        return false;
    nt_occupancy got = nt_occupancy_of(device, threads, registers, smem);
    if (got.blocks_per_sm != blocks || !(result.limitingFactors & factor_of(got.limiter))) {
        print_error("cc %d, %d threads, %d registers, %d bytes: %d blocks by %s, not %d by %x\n",
                    chips[chip].compute_capability, threads, registers, smem, (int)got.blocks_per_sm,
                    nt_limiter_name(got.limiter), blocks, result.limitingFactors);
        fail();
    }
    return true;
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
        cmocka_unit_test(unknown_resources_do_not_limit),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
