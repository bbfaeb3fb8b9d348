/* emulated_library.h: kernel text compiled for the host with an emulation in front of it, as a library that is open. */
#ifndef EMULATED_LIBRARY_H
#define EMULATED_LIBRARY_H

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "core/str.h"

/* `emulation` is a file of this folder; options may hold a level of optimization other than -O1. Never NULL: what fails
 * fails the test. */
static void *emulated_library(const char *emulation, const char *source, const char *options)
{
    char folder[] = "/tmp/nt-emulated-XXXXXX", file[64], library[64];
    assert_non_null(mkdtemp(folder));
    snprintf(file, sizeof file, "%s/kernel.c", folder);
    snprintf(library, sizeof library, "%s/kernel.so", folder);
    FILE *out = fopen(file, "w");
    assert_non_null(out);
    fputs(source, out);
    fclose(out);
    nt_str command = {0};
    nt_str_addf(&command, "cc -std=gnu11 -O1 -w -shared -fPIC -include tests/unit/%s %s -o %s %s -lm", emulation, options,
                library, file);
    if (system(nt_str_text(&command)) != 0)
        fail_msg("%s", nt_str_text(&command));
    void *object = dlopen(library, RTLD_NOW | RTLD_LOCAL);
    if (object == NULL)
        fail_msg("%s", dlerror());
    unlink(file);
    unlink(library);
    rmdir(folder);
    nt_str_done(&command);
    return object;
}

#endif
