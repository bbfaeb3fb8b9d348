/* field_samples.h: files of other tuners beside the checkout, for tests; a test without them skips and says why. */
#ifndef FIELD_SAMPLES_H
#define FIELD_SAMPLES_H

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

/* Path of a sample, to be freed; NULL, with the reason printed, when it is not here. NNTUNE_SPACES names the folder. */
static inline char *field_sample(const char *name)
{
    const char *folder = getenv("NNTUNE_SPACES");
    char *path = NULL;
    if (asprintf(&path, "%s/formats/%s", folder != NULL ? folder : "../shared/spaces", name) < 0)
        return NULL;
    if (access(path, R_OK) == 0)
        return path;
    print_message("skipped: no %s (NNTUNE_SPACES names the folder of recorded spaces)\n", path);
    free(path);
    return NULL;
}

#endif
