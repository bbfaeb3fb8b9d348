/* here.c: what this computer's devices are called, in the words that sweeps use for them. */
#include <ctype.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "runtime/cuda.h"
#include "runtime/table.h"

enum { MAX_CPU = 1024, LINE_BYTES = 16384 };

static bool read_line(const char *path, char *out, size_t capacity)
{
    FILE *file = fopen(path, "re");
    bool got = file != NULL && fgets(out, (int)capacity, file) != NULL;
    if (file != NULL)
        fclose(file);
    if (got)
        out[strcspn(out, "\n")] = '\0';
    return got;
}

/* ---- cpu ---- */

/* Value of the first "name : value" line of /proc/cpuinfo. */
static bool cpuinfo(const char *name, char *out, size_t capacity)
{
    char line[LINE_BYTES];
    bool found = false;
    size_t length = strlen(name);
    FILE *file = fopen("/proc/cpuinfo", "re");
    while (file != NULL && !found && fgets(line, sizeof line, file) != NULL) {
        const char *colon = strchr(line, ':');
        if (colon == NULL || strncmp(line, name, length) != 0 || !isspace((unsigned char)line[length]))
            continue;
        line[strcspn(line, "\n")] = '\0';
        snprintf(out, capacity, "%s", colon[1] == ' ' ? colon + 2 : colon + 1);
        found = true;
    }
    if (file != NULL)
        fclose(file);
    return found;
}

static bool has_word(const char *text, const char *word)
{
    size_t length = strlen(word);
    for (const char *at = strstr(text, word); at != NULL; at = strstr(at + 1, word))
        if ((at == text || at[-1] == ' ') && (at[length] == ' ' || at[length] == '\0'))
            return true;
    return false;
}

static void cpu_arch(const char *machine, char *out, size_t capacity)
{
    static const char *const rows[][3] = {
        {"x86_64", "avx512f", "x86-64-avx512"},
        {"x86_64", "avx2", "x86-64-avx2"},
        {"x86_64", "avx", "x86-64-avx"},
        {"aarch64", "sve", "aarch64-sve"},
    };
    char flags[LINE_BYTES];
    if (!cpuinfo("flags", flags, sizeof flags) && !cpuinfo("Features", flags, sizeof flags))
        flags[0] = '\0';
    snprintf(out, capacity, "%s", strcmp(machine, "x86_64") == 0 ? "x86-64" : machine);
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
        if (strcmp(rows[i][0], machine) == 0 && has_word(flags, rows[i][1])) {
            snprintf(out, capacity, "%s", rows[i][2]);
            return;
        }
}

/* Whether this is the first cpu, of those in the mask, of its core. */
static bool first_of_core(int cpu, const cpu_set_t *mask)
{
    char path[96], list[256];
    snprintf(path, sizeof path, "/sys/devices/system/cpu/cpu%d/topology/thread_siblings_list", cpu);
    if (!read_line(path, list, sizeof list))
        return true;
    for (char *at = list; *at != '\0';) {
        long from = strtol(at, &at, 10), to = from;
        if (*at == '-')
            to = strtol(at + 1, &at, 10);
        for (long other = from; other <= to && other < cpu; other++)
            if (other >= 0 && CPU_ISSET((size_t)other, mask))
                return false;
        at += *at != '\0';
    }
    return true;
}

static int64_t quota_cores(void)
{
    char path[640], line[256], group[512];
    long long quota, period;
    bool own = read_line("/proc/self/cgroup", group, sizeof group) && strncmp(group, "0::/", 4) == 0;
    snprintf(path, sizeof path, "/sys/fs/cgroup%s/cpu.max", own ? group + 3 : "");
    if (!read_line(path, line, sizeof line) && !read_line("/sys/fs/cgroup/cpu.max", line, sizeof line))
        return MAX_CPU;
    if (sscanf(line, "%lld %lld", &quota, &period) != 2 || period <= 0 || quota <= 0)
        return MAX_CPU;
    return quota / period < 1 ? 1 : quota / period;
}

static int64_t cpu_cores(void)
{
    cpu_set_t mask;
    int64_t count = 0, quota = quota_cores();
    const char *wanted = getenv("NNTUNE_CPU_THREADS");
    if (sched_getaffinity(0, sizeof mask, &mask) == 0)
        for (int cpu = 0; cpu < MAX_CPU; cpu++)
            count += CPU_ISSET((size_t)cpu, &mask) && first_of_core(cpu, &mask);
    count = count < 1 ? 1 : count > quota ? quota : count;
    long most = wanted != NULL ? strtol(wanted, NULL, 10) : 0;
    return most >= 1 && most < count ? most : count;
}

static nntune_status cpu_here(nntune_device *out)
{
    struct utsname system;
    uname(&system);
    if (!cpuinfo("model name", out->name, sizeof out->name))
        snprintf(out->name, sizeof out->name, "%s", system.machine);
    cpu_arch(system.machine, out->arch, sizeof out->arch);
    snprintf(out->driver, sizeof out->driver, "%.16s %.40s", system.sysname, system.release);
    out->sm_count = cpu_cores();
    return NNTUNE_OK;
}

/* ---- cuda ---- */

/* "NVRM version: NVIDIA UNIX x86_64 Kernel Module  580.65.06  ...": the first word that is digits and points. */
static bool driver_release(char *out, size_t capacity)
{
    char line[512], *rest = line;
    if (!read_line("/proc/driver/nvidia/version", line, sizeof line))
        return false;
    for (char *word = strtok_r(rest, " ", &rest); word != NULL; word = strtok_r(NULL, " ", &rest))
        if (strchr(word, '.') != NULL && strspn(word, "0123456789.") == strlen(word)) {
            snprintf(out, capacity, "%s", word);
            return true;
        }
    return false;
}

static nntune_status cuda_here(int ordinal, nntune_device *out, char *why)
{
    enum { SM_COUNT = 16, CC_MAJOR = 75, CC_MINOR = 76 };
    const nntune_cuda *cuda;
    int device, major = 0, minor = 0, sms = 0, version = 0, count = 0;
    char release[32] = "";
    nntune_status status = nntune_cuda_get(&cuda, why);
    if (status != NNTUNE_OK)
        return status;
    if (cuda->device_count(&count) != 0 || ordinal < 0 || ordinal >= count || cuda->device_get(&device, ordinal) != 0)
        return nntune_fail(why, NNTUNE_NO_DEVICE, "there is no GPU %d; the driver has %d", ordinal, count);
    cuda->device_name(out->name, (int)sizeof out->name, device);
    cuda->device_attribute(&major, CC_MAJOR, device);
    cuda->device_attribute(&minor, CC_MINOR, device);
    cuda->device_attribute(&sms, SM_COUNT, device);
    cuda->driver_version(&version);
    snprintf(out->arch, sizeof out->arch, "sm_%d", major * 10 + minor);
    out->sm_count = sms;
    if (driver_release(release, sizeof release))
        snprintf(out->driver, sizeof out->driver, "%s (CUDA %d.%d)", release, version / 1000, version % 1000 / 10);
    else
        snprintf(out->driver, sizeof out->driver, "CUDA %d.%d", version / 1000, version % 1000 / 10);
    return NNTUNE_OK;
}

nntune_status nntune_device_here(nntune_kind kind, int ordinal, nntune_device *out, char *why)
{
    memset(out, 0, sizeof *out);
    out->kind = kind;
    if (kind == NNTUNE_CUDA)
        return cuda_here(ordinal, out, why);
    if (ordinal != 0)
        return nntune_fail(why, NNTUNE_NO_DEVICE, "the cpu is device 0, there is no %d", ordinal);
    return cpu_here(out);
}
