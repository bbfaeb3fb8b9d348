/* cpu_host.h: what this computer says about itself: cores that may be used, model, features, caches, memory.
 * Everything is looked up (sched_getaffinity, /proc, /sys, cgroup limits); what cannot be is unknown. */
#ifndef NT_CPU_HOST_H
#define NT_CPU_HOST_H

#include "core/record.h"

enum { NT_MAX_CORES = 1024 };

/* One logical cpu for each core that this process may use, lowest first: inside the affinity mask, at most as many as
 * a cgroup quota pays for, at most NNTUNE_CPU_THREADS. At least one. */
int nt_cpu_cores(int cpus[NT_MAX_CORES]);

/* The last-level cache that these cpus reach, instances summed. NT_UNKNOWN when neither /sys nor the C library says. */
int64_t nt_cpu_cache_bytes(const int *cpus, int count);

/* Memory that could be allocated now, and in all: the smaller of the machine's and the cgroup's. */
int64_t nt_cpu_memory_available(void);
int64_t nt_cpu_memory_total(void);

/* Fills kind, name, uuid, arch, driver, features and limits; peaks stay NAN, compiler stays empty. */
void nt_cpu_identify(const int *cpus, int count, nt_device_info *out);

/* First line of a small file as text or number. False, or NT_UNKNOWN, when it cannot be read. */
bool nt_cpu_read_line(const char *path, char *out, size_t capacity);
int64_t nt_cpu_read_number(const char *path);

#endif
