/* fuzz_bundle.c: any bytes as a bundle whose checksums hold, as one who means harm would write it: opened, asked, its
 * launches loaded and made on a driver that is not there (tests/unit/fake_nvidia.c). Whatever is refused is explained.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "runtime/kernel.h"

enum { FUZZ_FAMILIES = 16 };

static int fuzz_bundle_launched; /* launches so far */

static const nntune_device fuzz_gpu = {.kind = NNTUNE_CUDA, .name = "Fake 0", .arch = "sm_90", .sm_count = 4};

/* The driver, once. */
static void fuzz_driver(void)
{
    static int done;
    char path[64], command[256], why[NNTUNE_WHY_BYTES];
    nntune_device here;
    if (done++ > 0)
        return;
    snprintf(path, sizeof path, "/tmp/nntune-fuzz-driver-%d.so", (int)getpid());
    snprintf(command, sizeof command, "cc -shared -fPIC -o %s tests/unit/fake_nvidia.c tests/unit/fake_nvidia_tools.c",
             path);
    setenv("NNTUNE_LIBCUDA", path, 1);
    setenv("FAKE_NO_MEMORY", "1", 1);
    setenv("FAKE_ANY_FUNCTION", "1", 1);
    if (system(command) != 0 || nntune_device_here(NNTUNE_CUDA, 0, &here, why) != NNTUNE_OK)
        abort();
    unlink(path);
}

/* Length and checksums as they must be; parts that lie elsewhere are left to the reader. */
static void fuzz_seal(unsigned char *data, size_t size)
{
    nntune_file_header *header = (void *)data;
    if (size < sizeof *header)
        return;
    memcpy(header->magic, NNTUNE_FILE_MAGIC, sizeof header->magic);
    header->version = NNTUNE_FILE_VERSION;
    header->order = NNTUNE_FILE_ORDER;
    header->bytes = size;
    uint64_t at = header->part[NNTUNE_PART_ARTEFACT].offset, code = header->part[NNTUNE_PART_CODE].offset;
    for (uint64_t i = 0; i < header->part[NNTUNE_PART_ARTEFACT].count && i < 4; i++) {
        nntune_file_artefact *artefact;
        if (at % 8 != 0 || at > size || size - at < (i + 1) * sizeof *artefact || code > size)
            break;
        artefact = (void *)(data + at + i * sizeof *artefact);
        if (artefact->offset > size - code || artefact->bytes > size - code - artefact->offset)
            break;
        artefact->checksum = nntune_file_checksum(data + code + artefact->offset, artefact->bytes);
    }
    header->checksum = nntune_file_sum(data, size);
}

static void fuzz_explained(nntune_status status, const char *why)
{
    if (status != NNTUNE_OK && why[0] == '\0')
        abort();
}

static void fuzz_launch(const nntune_table *table, const nntune_query *query, const nntune_result *result)
{
    static const nntune_buffers buffers = {0x10000, 0x20000, 0x30000, 0x40000, 0x50000};
    char why[NNTUNE_WHY_BYTES] = "";
    nntune_kernel *kernel;
    nntune_status status = nntune_kernel_load(table, query, result, &kernel, why);
    fuzz_explained(status, why);
    if (status != NNTUNE_OK)
        return;
    status = nntune_prepare(kernel, &buffers, NULL, why);
    fuzz_explained(status, why);
    status = nntune_launch(kernel, &buffers, NULL, why);
    fuzz_explained(status, why);
    fuzz_bundle_launched += status == NNTUNE_OK;
    nntune_kernel_free(kernel);
}

static void fuzz_ask(const nntune_table *table, const nntune_file *f, const nntune_file_family *family)
{
    const nntune_file_group *group = &f->group[family->group];
    const int64_t batches[] = {f->step[family->first_step].batch, f->step[family->first_step].from, 1, INT32_MAX};
    char why[NNTUNE_WHY_BYTES];
    int64_t size[NNTUNE_MAX_SIZES];
    nntune_result result;
    memcpy(size, family->size, sizeof size);
    nntune_query query = {.layer = f->text + group->layer,
                          .size = size,
                          .size_count = (int)group->dims,
                          .precision = (nntune_precision)group->precision,
                          .layout = (nntune_layout)group->layout};
    for (size_t i = 0; i < 2 * sizeof batches / sizeof batches[0]; i++) {
        query.batch = batches[i / 2];
        size[0] = family->size[0] + (i % 2 == 1 && family->size[0] < INT64_MAX); /* another shape as well */
        nntune_status status = nntune_lookup(table, &query, &result);
        nntune_explain(table, &query, status, &result, why, sizeof why);
        fuzz_explained(status, why);
        if (status == NNTUNE_OK)
            fuzz_launch(table, &query, &result);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char path[64], why[NNTUNE_WHY_BYTES] = "";
    nntune_table *table;
    fuzz_driver();
    int fd = memfd_create("bundle", 0);
    unsigned char *copy = malloc(size + 1);
    if (fd < 0 || copy == NULL)
        abort();
    memcpy(copy, data, size);
    fuzz_seal(copy, size);
    if (write(fd, copy, size) != (ssize_t)size)
        abort();
    snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
    nntune_status status = nntune_table_open(path, &fuzz_gpu, NNTUNE_ACCEPT_STALE | NNTUNE_ALONE, &table, why);
    fuzz_explained(status, why);
    if (status == NNTUNE_OK) {
        const nntune_file *f = &table->file[0];
        uint64_t families = nntune_file_count(f, NNTUNE_PART_FAMILY);
        for (uint64_t i = 0; i < families && i < FUZZ_FAMILIES; i++)
            fuzz_ask(table, f, &f->family[i]);
        nntune_table_close(table);
    }
    close(fd);
    free(copy);
    return 0;
}
