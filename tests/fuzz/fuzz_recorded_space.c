/* fuzz_recorded_space.c: any bytes as a recorded space, plain or gzip. */
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "autotune/recorded_space.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static char path[64];
    nt_recorded *recorded = NULL;
    nt_error err;
    if (path[0] == '\0')
        snprintf(path, sizeof path, "/tmp/nntune-fuzz-%ld", (long)getpid());
    FILE *file = fopen(path, "wb");
    if (file == NULL || fwrite(data, 1, size, file) != size)
        abort();
    fclose(file);
    (void)nt_recorded_open(path, &recorded, &err);
    nt_recorded_free(recorded);
    unlink(path);
    return 0;
}
