/* doctor_system.c: the system around, the programs that nntune calls, and the places where it keeps things. */
#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include "cli/doctor.h"
#include "core/paths.h"
#include "core/units.h"
#include "device/cc.h"
#include "device/compiler.h"

/* ---- system -------------------------------------------------------------------------------------------------------- */

void nt_doctor_system(nt_doctor *doctor)
{
    const nt_host_facts *host = &doctor->host;
    nt_doctor_section(doctor, "system");
    nt_doctor_add(doctor, "nntune", NT_FOUND_OK, "%s", NT_VERSION);
    nt_doctor_add(doctor, "kernel", NT_FOUND_OK, "%s", host->kernel[0] != '\0' ? host->kernel : "unknown");
    if (host->wsl) {
        nt_doctor_add(doctor, "wsl", NT_FOUND_NOTE, "Windows Subsystem for Linux");
        nt_doctor_next(doctor, "counters in WSL need a driver and a Windows setting that allow them: NVIDIA Control "
                               "Panel, Developer, Manage GPU Performance Counters");
    } else {
        nt_doctor_add(doctor, "wsl", NT_FOUND_NONE, "no");
    }
    nt_doctor_add(doctor, "container", host->container[0] != '\0' ? NT_FOUND_NOTE : NT_FOUND_NONE, "%s",
                  host->container[0] != '\0' ? host->container : "no sign of one");
    nt_doctor_add(doctor, "administrator", NT_FOUND_OK, "user %u, CAP_SYS_ADMIN %s", (unsigned)geteuid(),
                  host->admin < 0 ? "unknown"
                  : host->admin   ? "yes"
                                  : "no");
}

/* ---- tools --------------------------------------------------------------------------------------------------------- */

static bool find_program(const char *name, char out[NT_PATH_BYTES])
{
    const char *path = getenv("PATH");
    while (path != NULL && *path != '\0') {
        size_t length = strcspn(path, ":");
        int wrote = snprintf(out, NT_PATH_BYTES, "%.*s/%s", (int)length, path, name);
        if (wrote > 0 && wrote < NT_PATH_BYTES && access(out, X_OK) == 0)
            return true;
        path += length + (path[length] == ':');
    }
    return false;
}

static void check_compiler(nt_doctor *doctor)
{
    nt_cc cc;
    nt_error err = {0};
    char identity[96];
    if (nt_cc_find(&cc, &err) != NT_OK) {
        nt_doctor_add_error(doctor, "c compiler", NT_FOUND_BAD, &err);
        return;
    }
    bool known = nt_compiler_identity(NT_DEVICE_CPU, identity, sizeof identity, NULL) == NT_OK;
    nt_doctor_add(doctor, "c compiler", NT_FOUND_OK, "%s, %s", known ? identity : "unknown version", cc.path);
}

static void check_program(nt_doctor *doctor, const char *name, const char *used_for, const char *package)
{
    char path[NT_PATH_BYTES];
    if (find_program(name, path)) {
        nt_doctor_add(doctor, name, NT_FOUND_OK, "%s", path);
        return;
    }
    nt_doctor_add(doctor, name, NT_FOUND_NOTE, "not in PATH; it %s", used_for);
    nt_doctor_next(doctor, "%s", package);
}

/* ---- places -------------------------------------------------------------------------------------------------------- */

static void check_folder(nt_doctor *doctor, const char *name, nt_status (*find)(char *, size_t, nt_error *))
{
    char path[NT_PATH_BYTES];
    struct statvfs disk;
    nt_error err = {0};
    if (find(path, sizeof path, &err) != NT_OK) {
        nt_doctor_add_error(doctor, name, NT_FOUND_BAD, &err);
        return;
    }
    if (access(path, W_OK | X_OK) != 0) {
        nt_doctor_add(doctor, name, NT_FOUND_BAD, "%s cannot be written: %s", path, strerror(errno));
        nt_doctor_next(doctor, "give this user the right to write there, or name another folder");
        return;
    }
    bool known = statvfs(path, &disk) == 0;
    nt_doctor_add(doctor, name, NT_FOUND_OK, "%s, %s free", path,
                  known ? nt_text_bytes((double)disk.f_bavail * (double)disk.f_frsize).s : "unknown");
}

static void check_database(nt_doctor *doctor)
{
    char path[NT_PATH_BYTES];
    struct stat about;
    nt_error err = {0};
    if (nt_path_database(path, sizeof path, &err) != NT_OK)
        nt_doctor_add_error(doctor, "database", NT_FOUND_BAD, &err);
    else if (stat(path, &about) != 0)
        nt_doctor_add(doctor, "database", NT_FOUND_NONE, "%s is not there yet: the first sweep makes it", path);
    else if (!S_ISREG(about.st_mode) || access(path, R_OK) != 0)
        nt_doctor_add(doctor, "database", NT_FOUND_BAD, "%s is no file that can be read", path);
    else if (access(path, W_OK) != 0)
        nt_doctor_add(doctor, "database", NT_FOUND_NOTE, "%s can be read, not written", path);
    else
        nt_doctor_add(doctor, "database", NT_FOUND_OK, "%s, %s", path, nt_text_bytes((double)about.st_size).s);
}

void nt_doctor_tools(nt_doctor *doctor)
{
    nt_doctor_section(doctor, "tools");
    check_compiler(doctor);
    check_program(doctor, "gnuplot", "draws the plots", "install gnuplot (apt-get install gnuplot-nox)");
    check_program(doctor, "nvdisasm", "shows machine code in `nntune show --sass`", "it comes with the CUDA toolkit");
    nt_doctor_section(doctor, "places");
    check_folder(doctor, "cache", nt_path_cache);
    check_folder(doctor, "locks", nt_path_locks);
    check_database(doctor);
}
