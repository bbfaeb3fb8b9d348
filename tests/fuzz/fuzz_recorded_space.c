/* fuzz_recorded_space.c: any bytes as a recorded space, plain or gzip. What is read must be a space that can be walked.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "autotune/recorded_space.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* The reader wants a path; a file in memory has one as well. */
static int fuzz_file(char *path, size_t capacity)
{
    static int fd = -1;
    if (fd < 0)
        fd = memfd_create("fuzz", MFD_CLOEXEC);
    if (fd < 0)
        abort();
    snprintf(path, capacity, "/proc/self/fd/%d", fd);
    return fd;
}

static void fuzz_walk(const nt_recorded *recorded)
{
    for (size_t i = 0; i < recorded->row_count; i++)
        if ((recorded->row[i].outcome == NT_OUTCOME_OK) != (recorded->row[i].time_ms >= 0)) /* NAN is not >= 0 */
            abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char path[64];
    nt_recorded *recorded = NULL;
    nt_error err = {0};
    int fd = fuzz_file(path, sizeof path);
    if (ftruncate(fd, 0) != 0 || pwrite(fd, data, size, 0) != (ssize_t)size)
        abort();
    if (nt_recorded_open(path, &recorded, &err) == NT_OK)
        fuzz_walk(recorded);
    else if (err.what[0] == '\0')
        abort(); /* every failure is explained */
    nt_recorded_free(recorded);
    return 0;
}
