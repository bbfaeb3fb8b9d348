/* live_device.h: live sources of a GPU that is not there: its NVML is a library built from fake_nvidia_tools.c. */
#ifndef LIVE_DEVICE_H
#define LIVE_DEVICE_H

#include "core_check.h"

#include <dlfcn.h>
#include <unistd.h>

#include "profiler/live.h"

static char folder[64], library_path[128];
static void *library;
static const char uuid[] = "GPU-a0a1a2a3-a4a5-a6a7-a8a9-aaabacadaeaf";

static nt_device_info gpu(void)
{
    nt_device_info info;
    nt_device_info_init(&info, NT_DEVICE_CUDA);
    info.ordinal = 0;
    nt_copy(info.uuid, sizeof info.uuid, uuid);
    return info;
}

static void next_frame(nt_live *live, double seconds, nt_live_frame *frame)
{
    nt_error err = {0};
    if (nt_live_wait(&live, 1, seconds, NULL, NULL, &err) != NT_OK || nt_live_read(live, frame, &err) != NT_OK)
        fail_msg("%s", err.what);
}

static int build_library(void **state)
{
    (void)state;
    char command[1024], here[256];
    snprintf(here, sizeof here, "%s", __FILE__);
    *strrchr(here, '/') = '\0';
    snprintf(folder, sizeof folder, "/tmp/nntune-test-XXXXXX");
    if (mkdtemp(folder) == NULL)
        return -1;
    snprintf(library_path, sizeof library_path, "%s/libfake.so", folder);
    snprintf(command, sizeof command, "cc -shared -fPIC -o %s %s/fake_nvidia_tools.c", library_path, here);
    setenv("NNTUNE_NVML", library_path, 1);
    setenv("NNTUNE_LOCK_DIR", folder, 1);
    if (system(command) != 0)
        return -1;
    library = dlopen(library_path, RTLD_NOW);
    return library != NULL ? 0 : -1;
}

static int remove_library(void **state)
{
    (void)state;
    char command[160];
    dlclose(library);
    snprintf(command, sizeof command, "rm -rf %s", folder);
    return system(command);
}

#endif
