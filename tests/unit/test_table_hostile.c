/* test_table_hostile.c: bundles that are cut off anywhere, and bundles whose checksums hold but whose numbers were
 * chosen to harm: whatever the place and the number, they end neither the program nor the sanitizers of `make asan`,
 * and what cannot be launched is refused with a reason. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "cli/deploy_entry.h"
#include "core/json.h"
#include "core/paths.h"
#include "tests/bench/deploy_fixture.h"

#define LLVMFuzzerTestOneInput fuzz_bundle
#include "../fuzz/fuzz_bundle.c"

static const char code[] = "cubin: a GPU's code";

/* A convolution by tensor maps, with a workspace and two preparations, as 'table build' makes it. */
static unsigned char *make_bundle(size_t *bytes)
{
    const nt_kernel *kernel = nt_kernel_find("conv3x3", NT_DEVICE_CUDA, "gemm_3xtf32_nchw");
    nt_deploy table = {.lean = true};
    nt_deploy_device of = {.kind = NT_DEVICE_CUDA, .sm_count = fuzz_gpu.sm_count};
    nt_device_info device;
    nt_trial trial;
    nt_deploy_entry entry;
    nt_config config;
    void *data = NULL;
    assert_non_null(kernel);
    nt_copy(of.name, sizeof of.name, fuzz_gpu.name);
    nt_copy(of.arch, sizeof of.arch, fuzz_gpu.arch);
    nt_device_info_init(&device, NT_DEVICE_CUDA);
    device.sm_count = of.sm_count;
    nt_trial_init(&trial);
    nt_deploy_add_device(&table, &of);
    nt_deploy_entry_init(&entry);
    entry.problem = fixture_problem(3, 3, NT_FP32, NT_NCHW);
    nt_kernel_default_config(kernel, &config);
    json_t *params = nt_json_config(kernel->params, &config);
    entry.params_json = nt_json_dump(params);
    json_decref(params);
    entry.time_ns = 1000;
    nt_copy(entry.kernel, sizeof entry.kernel, kernel->name);
    nt_deploy_entry_probe(&entry, &device, &trial, 40);
    assert_non_null(entry.launch);
    assert_int_equal(entry.launch->prepare_count, 2);
    entry.code = nt_deploy_add_code(&table, "00112233445566778899aabbccddeeff", code, sizeof code);
    nt_deploy_add_entry(&table, &entry);
    nt_deploy_arrange(&table);
    assert_int_equal(nt_deploy_bundle(&table, &data, bytes, NULL), NT_OK);
    nt_deploy_done(&table);
    nt_trial_done(&trial);
    return data;
}

static void every_shorter_bundle_is_refused(void **state)
{
    (void)state;
    char path[64], why[NNTUNE_WHY_BYTES];
    size_t bytes;
    unsigned char *data = make_bundle(&bytes);
    nntune_table *table;
    int fd = memfd_create("cut", 0);
    snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
    assert_int_equal(write(fd, data, bytes), bytes);
    assert_int_equal(nntune_table_open(path, &fuzz_gpu, NNTUNE_ALONE, &table, why), NNTUNE_OK);
    nntune_table_close(table);
    for (size_t cut = bytes; cut-- > 0;) {
        nt_deploy read;
        assert_int_equal(ftruncate(fd, (off_t)cut), 0);
        assert_int_equal(nntune_table_open(path, &fuzz_gpu, NNTUNE_ALONE, &table, why), NNTUNE_CORRUPT);
        if (cut % 16 == 0)
            assert_int_not_equal(nt_deploy_read(path, &read, NULL), NT_OK);
        fuzz_bundle(data, cut); /* and with a checksum that holds */
    }
    close(fd);
    free(data);
}

/* Every word of the file but those of texts, code and manifest. */
static void any_number_anywhere_does_no_harm(void **state)
{
    (void)state;
    static const uint32_t numbers[] = {0, 1, 0x10001, 0x7fffffff, 0x80000000, 0xffffffff};
    size_t bytes;
    unsigned char *data = make_bundle(&bytes);
    const nntune_file_header *header = (const void *)data;
    size_t begin = header->part[NNTUNE_PART_DEVICE].offset, end = header->part[NNTUNE_PART_CODE].offset;
    int before = fuzz_bundle_launched;
    fuzz_bundle(data, bytes);
    assert_true(fuzz_bundle_launched > before);
    before = fuzz_bundle_launched;
    for (size_t at = offsetof(nntune_file_header, part); at + 4 <= end; at += 4) {
        uint32_t was;
        if (at >= sizeof *header && at < begin)
            continue;
        memcpy(&was, data + at, sizeof was);
        for (size_t i = 0; i < sizeof numbers / sizeof numbers[0]; i++) {
            memcpy(data + at, &numbers[i], sizeof numbers[i]);
            fuzz_bundle(data, bytes);
        }
        memcpy(data + at, &was, sizeof was);
    }
    assert_true(fuzz_bundle_launched > before); /* many numbers change nothing that a launch needs */
    free(data);
}

/* ---- what is said about each number of a tensor map and of a launch -------------------------------------------------- */

typedef enum fate { OPENS_NOT, LOADS_NOT, LOADS } fate;

typedef struct planted {
    nntune_part part;
    size_t offset, bytes; /* of the number in the first element */
    int64_t value;
    fate fate;
} planted;

#define PLANT(PART, type, member, value, fate)                                               \
    {                                                                                        \
        NNTUNE_PART_##PART, offsetof(type, member), sizeof(((type *)0)->member), value, fate \
    }
#define MAP(member, value, fate)   PLANT(MAP, nntune_file_map, member, value, fate)
#define STAGE(member, value, fate) PLANT(STAGE, nntune_file_stage, member, value, fate)
#define ARG(member, value, fate)   PLANT(ARG, nntune_file_arg, member, value, fate)

static void numbers_beyond_their_limits_are_refused(void **state)
{
    (void)state;
    static const planted cases[] = {
        MAP(form, 2, OPENS_NOT),
        MAP(role, 5, OPENS_NOT),
        MAP(type, 16, OPENS_NOT),
        MAP(interleave, 3, OPENS_NOT),
        MAP(swizzle, 7, OPENS_NOT),
        MAP(promotion, 4, OPENS_NOT),
        MAP(fill, 2, OPENS_NOT),
        MAP(box[0], 0, OPENS_NOT),
        MAP(box[0], 257, OPENS_NOT),
        MAP(box[1], 1025, OPENS_NOT),
        MAP(step[3], 0, OPENS_NOT),
        MAP(step[1], 9, OPENS_NOT),
        MAP(size[0].divisor, -1, LOADS), /* not looked at: the number does not follow the batch */
        MAP(size[3].divisor, 0, OPENS_NOT),
        MAP(size[0].base, 0, LOADS_NOT),
        MAP(size[0].base, (INT64_C(1) << 32) + 1, LOADS_NOT),
        MAP(size[3].scale, INT64_MAX, LOADS_NOT),
        MAP(size[3].most, 0, LOADS_NOT),
        MAP(stride_bytes[0].base, 24, LOADS_NOT),
        MAP(stride_bytes[0].base, INT64_C(1) << 40, LOADS_NOT),
        MAP(offset_bytes.base, -16, LOADS_NOT),
        MAP(offset_bytes.base, INT64_C(1) << 39, LOADS_NOT), /* behind the workspace's end */
        STAGE(map_count, 4, OPENS_NOT),
        STAGE(first_map, 1000, OPENS_NOT),
        STAGE(first_arg, UINT32_MAX, OPENS_NOT),
        STAGE(arg_count, 21, OPENS_NOT),
        STAGE(cluster[1], 65, OPENS_NOT),
        STAGE(zero_role, 5, OPENS_NOT),
        STAGE(zero_bytes.base, -1, LOADS_NOT),
        STAGE(grid[0].base, 0, LOADS_NOT),
        STAGE(grid[0].base, INT64_C(1) << 32, LOADS_NOT),
        STAGE(grid[0].most, -1, LOADS_NOT),
        ARG(kind, 5, OPENS_NOT),
        ARG(kind, 4, OPENS_NOT), /* a map, of a stage that has none */
        ARG(role, 5, OPENS_NOT),
        ARG(number.base, -1, LOADS_NOT),
    };
    size_t bytes;
    unsigned char *data = make_bundle(&bytes), *copy = nt_alloc(bytes);
    char path[64], why[NNTUNE_WHY_BYTES];
    int fd = memfd_create("planted", 0);
    snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        const planted *p = &cases[i];
        int64_t size[NNTUNE_MAX_SIZES];
        nntune_query query = {.layer = "conv3x3", .size = size, .size_count = FIXTURE_DIMS, .batch = 8, .layout = 1};
        nntune_table *table;
        nntune_result result;
        nntune_kernel *kernel;
        memcpy(copy, data, bytes);
        memcpy(copy + ((nntune_file_header *)(void *)copy)->part[p->part].offset + p->offset, &p->value, p->bytes);
        fuzz_seal(copy, bytes);
        assert_int_equal(pwrite(fd, copy, bytes, 0), bytes);
        nntune_status status = nntune_table_open(path, &fuzz_gpu, NNTUNE_ALONE, &table, why);
        if (status != (p->fate == OPENS_NOT ? NNTUNE_CORRUPT : NNTUNE_OK))
            fail_msg("number %zu: opened as '%s'", i, nntune_status_text(status));
        if (status != NNTUNE_OK)
            continue;
        fixture_sizes(3, size);
        assert_int_equal(nntune_lookup(table, &query, &result), NNTUNE_OK);
        status = nntune_kernel_load(table, &query, &result, &kernel, why);
        if (status != (p->fate == LOADS_NOT ? NNTUNE_REFUSED : NNTUNE_OK))
            fail_msg("number %zu: loaded as '%s'", i, nntune_status_text(status));
        if (status != NNTUNE_OK)
            assert_string_equal(why, "the launch of gemm_3xtf32_nchw at batch 8 has a number beyond its limits");
        nntune_kernel_free(kernel);
        nntune_table_close(table);
    }
    close(fd);
    free(copy);
    free(data);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_shorter_bundle_is_refused),
        cmocka_unit_test(any_number_anywhere_does_no_harm),
        cmocka_unit_test(numbers_beyond_their_limits_are_refused),
    };
    fuzz_driver();
    return cmocka_run_group_tests(tests, NULL, NULL);
}
