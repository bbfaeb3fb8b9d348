/* cpu_host.c: reading the computer's identity; see cpu_host.h. */
#include "device/cpu_host.h"

#include "core/hash.h"

#include <ctype.h>
#include <fcntl.h>
#include <math.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>
#include <unistd.h>

enum { MAX_CPU = 8192, MAX_CACHES = 1024 };

/* ---- small files ------------------------------------------------------------------------------------------------------ */

bool nt_cpu_read_line(const char *path, char *out, size_t capacity)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return false;
    ssize_t got = read(fd, out, capacity - 1);
    close(fd);
    if (got <= 0)
        return false;
    out[got] = '\0';
    out[strcspn(out, "\n")] = '\0';
    return out[0] != '\0';
}

int64_t nt_cpu_read_number(const char *path)
{
    char line[64];
    long long value;
    return nt_cpu_read_line(path, line, sizeof line) && nt_parse_i64(line, &value) ? value : NT_UNKNOWN;
}

/* The number after `name` in a file of lines "name: number" or "name number". */
static int64_t read_field(const char *path, const char *name)
{
    char line[256];
    long long value = NT_UNKNOWN;
    size_t length = strlen(name);
    FILE *file = fopen(path, "re");
    while (file != NULL && value == NT_UNKNOWN && fgets(line, sizeof line, file) != NULL)
        if (strncmp(line, name, length) == 0 && (line[length] == ':' || line[length] == ' '))
            sscanf(line + length + 1, "%lld", &value);
    if (file != NULL)
        fclose(file);
    return value;
}

/* Path of `name` in this process's own cgroup (version 2), else in the root of the mount, which is the own group inside
 * a container. */
static void cgroup_path(const char *name, char *out, size_t capacity)
{
    char line[512];
    if (nt_cpu_read_line("/proc/self/cgroup", line, sizeof line) && strncmp(line, "0::/", 4) == 0) {
        snprintf(out, capacity, "/sys/fs/cgroup%s/%s", line + 3, name);
        if (access(out, R_OK) == 0)
            return;
    }
    snprintf(out, capacity, "/sys/fs/cgroup/%s", name);
}

/* ---- cores ------------------------------------------------------------------------------------------------------------- */

/* Logical cpus of one core share this text: "3,35". */
static void core_of(int cpu, char out[64])
{
    static const char *const names[] = {"core_cpus_list", "thread_siblings_list"};
    char path[128];
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        snprintf(path, sizeof path, "/sys/devices/system/cpu/cpu%d/topology/%s", cpu, names[i]);
        if (nt_cpu_read_line(path, out, 64))
            return;
    }
    snprintf(out, 64, "%d", cpu);
}

static int cores_in_mask(int cpus[NT_MAX_CORES])
{
    static char core[NT_MAX_CORES][64];
    size_t bytes = CPU_ALLOC_SIZE(MAX_CPU);
    cpu_set_t *mask = CPU_ALLOC(MAX_CPU);
    int count = 0;
    if (mask != NULL && sched_getaffinity(0, bytes, mask) == 0)
        for (int cpu = 0; cpu < MAX_CPU && count < NT_MAX_CORES; cpu++) {
            if (!CPU_ISSET_S((size_t)cpu, bytes, mask))
                continue;
            bool sibling = false;
            core_of(cpu, core[count]);
            for (int i = count - 1; i >= 0 && !sibling; i--)
                sibling = strcmp(core[i], core[count]) == 0;
            if (!sibling)
                cpus[count++] = cpu;
        }
    if (mask != NULL)
        CPU_FREE(mask);
    if (count == 0)
        cpus[count++] = 0;
    return count;
}

/* More spinning threads than a quota pays for would be stopped in the middle of a measurement. */
static int quota_cores(void)
{
    char path[1024], line[64];
    long long quota, period;
    cgroup_path("cpu.max", path, sizeof path);
    if (!nt_cpu_read_line(path, line, sizeof line) || sscanf(line, "%lld %lld", &quota, &period) != 2 || period <= 0 ||
        quota <= 0)
        return NT_MAX_CORES;
    long long cores = quota / period;
    return cores < 1 ? 1 : cores > NT_MAX_CORES ? NT_MAX_CORES : (int)cores;
}

int nt_cpu_cores(int cpus[NT_MAX_CORES])
{
    const char *text = getenv("NNTUNE_CPU_THREADS");
    long long wanted;
    int count = cores_in_mask(cpus), quota = quota_cores();
    count = quota < count ? quota : count;
    if (text != NULL && nt_parse_i64(text, &wanted) && wanted >= 1 && wanted < count)
        count = (int)wanted;
    return count;
}

/* ---- caches ------------------------------------------------------------------------------------------------------------ */

typedef struct cache {
    int64_t level, bytes;
    int owner; /* first cpu that shares it: tells instances apart */
} cache;

static bool read_cache(int cpu, int index, cache *out)
{
    char path[128], line[64], unit = 0;
    long long size;
    snprintf(path, sizeof path, "/sys/devices/system/cpu/cpu%d/cache/index%d/type", cpu, index);
    if (!nt_cpu_read_line(path, line, sizeof line))
        return false;
    bool code_only = strcmp(line, "Instruction") == 0;
    snprintf(path, sizeof path, "/sys/devices/system/cpu/cpu%d/cache/index%d/level", cpu, index);
    out->level = code_only ? 0 : nt_cpu_read_number(path);
    snprintf(path, sizeof path, "/sys/devices/system/cpu/cpu%d/cache/index%d/shared_cpu_list", cpu, index);
    out->owner = nt_cpu_read_line(path, line, sizeof line) ? atoi(line) : cpu;
    snprintf(path, sizeof path, "/sys/devices/system/cpu/cpu%d/cache/index%d/size", cpu, index);
    if (!nt_cpu_read_line(path, line, sizeof line) || sscanf(line, "%lld%c", &size, &unit) < 1)
        out->level = 0;
    else
        out->bytes = size << (unit == 'K' ? 10 : unit == 'M' ? 20 : 0);
    return true;
}

static cache last_level_of(int cpu)
{
    cache best = {0, 0, cpu}, one;
    for (int index = 0; index < 16 && read_cache(cpu, index, &one); index++)
        if (one.level > best.level)
            best = one;
    return best;
}

int64_t nt_cpu_cache_bytes(const int *cpus, int count)
{
    int owners[MAX_CACHES], known = 0;
    int64_t sum = 0;
    for (int i = 0; i < count; i++) {
        cache last = last_level_of(cpus[i]);
        bool seen = last.level < 2 || known == MAX_CACHES;
        for (int k = 0; k < known && !seen; k++)
            seen = owners[k] == last.owner;
        if (seen)
            continue;
        owners[known++] = last.owner;
        sum += last.bytes;
    }
    if (sum > 0)
        return sum;
    long l3 = sysconf(_SC_LEVEL3_CACHE_SIZE), l2 = sysconf(_SC_LEVEL2_CACHE_SIZE);
    return l3 > 0 ? l3 : l2 > 0 ? (int64_t)l2 * count : NT_UNKNOWN;
}

/* ---- memory ------------------------------------------------------------------------------------------------------------ */

static int64_t meminfo_bytes(const char *name)
{
    int64_t kib = read_field("/proc/meminfo", name);
    return kib == NT_UNKNOWN ? NT_UNKNOWN : kib << 10;
}

static int64_t cgroup_limit(void)
{
    char path[1024];
    cgroup_path("memory.max", path, sizeof path);
    return nt_cpu_read_number(path); /* "max" is no number: no limit */
}

/* What the group has in use without the page cache, which gives way. */
static int64_t cgroup_used(void)
{
    char path[1024];
    cgroup_path("memory.current", path, sizeof path);
    int64_t used = nt_cpu_read_number(path);
    cgroup_path("memory.stat", path, sizeof path);
    int64_t active = read_field(path, "active_file"), inactive = read_field(path, "inactive_file");
    if (used == NT_UNKNOWN || active == NT_UNKNOWN || inactive == NT_UNKNOWN)
        return used;
    return used > active + inactive ? used - active - inactive : 0;
}

static int64_t smaller_known(int64_t a, int64_t b)
{
    if (a == NT_UNKNOWN || b == NT_UNKNOWN)
        return a == NT_UNKNOWN ? b : a;
    return a < b ? a : b;
}

int64_t nt_cpu_memory_total(void)
{
    return smaller_known(meminfo_bytes("MemTotal"), cgroup_limit());
}

int64_t nt_cpu_memory_available(void)
{
    int64_t limit = cgroup_limit(), used = cgroup_used(), left = NT_UNKNOWN;
    if (limit != NT_UNKNOWN && used != NT_UNKNOWN)
        left = limit > used ? limit - used : 0;
    return smaller_known(meminfo_bytes("MemAvailable"), left);
}

/* ---- identity ---------------------------------------------------------------------------------------------------------- */

/* Value of the first "name : value" line of /proc/cpuinfo. */
static bool cpuinfo(const char *name, char *out, size_t capacity)
{
    static char line[16384];
    bool found = false;
    FILE *file = fopen("/proc/cpuinfo", "re");
    while (file != NULL && !found && fgets(line, sizeof line, file) != NULL) {
        size_t length = strlen(name);
        const char *colon = strchr(line, ':');
        if (colon == NULL || strncmp(line, name, length) != 0 || !isspace((unsigned char)line[length]))
            continue;
        line[strcspn(line, "\n")] = '\0';
        nt_copy(out, capacity, colon[1] == ' ' ? colon + 2 : colon + 1);
        found = true;
    }
    if (file != NULL)
        fclose(file);
    return found;
}

/* Instruction sets that a compiler may use; the rest of the flags (mitigations, virtualisation) changes from kernel to
 * kernel and would make one machine look like two. */
static bool feature_matters(const char *flag, bool x86)
{
    static const char *const families[] = {"sse",  "ssse3", "avx", "fma",        "f16c", "bmi",   "amx",   "gfni",
                                           "vaes", "abm",   "adx", "vpclmulqdq", "aes",  "movbe", "popcnt"};
    if (!x86)
        return true;
    for (size_t i = 0; i < sizeof families / sizeof families[0]; i++)
        if (strncmp(flag, families[i], strlen(families[i])) == 0)
            return true;
    return false;
}

static void read_features(nt_device_info *out)
{
    char all[8192], family[32] = "", model[32] = "";
    nt_str text = {0};
    bool x86 = cpuinfo("flags", all, sizeof all);
    if (!x86 && !cpuinfo("Features", all, sizeof all))
        all[0] = '\0';
    /* -march=native also tunes for the model, so the model is part of what the code depends on. */
    if (cpuinfo("cpu family", family, sizeof family) && cpuinfo("model", model, sizeof model))
        nt_str_addf(&text, "family%s model%s", family, model);
    char *rest = all;
    for (char *flag = strtok_r(rest, " ", &rest); flag != NULL; flag = strtok_r(NULL, " ", &rest))
        if (feature_matters(flag, x86))
            nt_str_addf(&text, "%s%s", text.length > 0 ? " " : "", flag);
    nt_copy(out->features, sizeof out->features, nt_str_text(&text));
    nt_str_done(&text);
}

static bool has_feature(const nt_device_info *info, const char *name)
{
    size_t length = strlen(name);
    for (const char *at = strstr(info->features, name); at != NULL; at = strstr(at + 1, name))
        if ((at == info->features || at[-1] == ' ') && (at[length] == ' ' || at[length] == '\0'))
            return true;
    return false;
}

static void read_arch(nt_device_info *out, const char *machine)
{
    static const struct {
        const char *machine, *feature, *arch;
    } rows[] = {
        {"x86_64", "avx512f", "x86-64-avx512"},
        {"x86_64", "avx2", "x86-64-avx2"},
        {"x86_64", "avx", "x86-64-avx"},
        {"aarch64", "sve", "aarch64-sve"},
    };
    nt_copy(out->arch, sizeof out->arch, strcmp(machine, "x86_64") == 0 ? "x86-64" : machine);
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
        if (strcmp(rows[i].machine, machine) == 0 && has_feature(out, rows[i].feature)) {
            nt_copy(out->arch, sizeof out->arch, rows[i].arch);
            return;
        }
}

static void set_unknown(nt_device_info *out)
{
    out->compute_capability = out->smem_per_block_bytes = out->smem_per_sm_bytes = NT_UNKNOWN;
    out->smem_reserved_bytes = out->regs_per_block = out->regs_per_sm = NT_UNKNOWN;
    out->max_threads_per_block = out->max_threads_per_sm = out->max_blocks_per_sm = NT_UNKNOWN;
    out->sm_clock_max_mhz = out->mem_clock_max_mhz = out->dram_peak_bytes_per_s = NAN;
    for (int p = 0; p < NT_PRECISION_COUNT; p++)
        out->peak_flops[p] = NAN;
}

void nt_cpu_identify(const int *cpus, int count, nt_device_info *out)
{
    struct utsname system;
    char path[128], cores[32], key[NT_KEY_BYTES];
    memset(out, 0, sizeof *out);
    set_unknown(out);
    out->kind = NT_DEVICE_CPU;
    uname(&system);
    if (!cpuinfo("model name", out->name, sizeof out->name))
        nt_copy(out->name, sizeof out->name, system.machine);
    read_features(out);
    read_arch(out, system.machine);
    snprintf(out->driver, sizeof out->driver, "%.16s %.40s", system.sysname, system.release);
    out->sm_count = count;
    out->warp_size = 1;
    out->memory_bytes = nt_cpu_memory_total();
    out->l2_bytes = nt_cpu_cache_bytes(cpus, count);
    snprintf(path, sizeof path, "/sys/devices/system/cpu/cpu%d/cpufreq/cpuinfo_max_freq", cpus[0]);
    int64_t max_khz = nt_cpu_read_number(path);
    out->sm_clock_max_mhz = max_khz == NT_UNKNOWN ? NAN : (double)max_khz * 1e-3;
    snprintf(cores, sizeof cores, "%d cores", count);
    const char *const texts[] = {out->name, cores, out->features};
    nt_hash_texts(texts, 3, key);
    snprintf(out->uuid, sizeof out->uuid, "CPU-%s", key);
}
