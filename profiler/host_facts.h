/* host_facts.h: what the system around a GPU says, read from files: kernel, WSL, container, capabilities, the driver
 * module's version and its rule about counters, tools that are known to hold counters. Pure but for those reads. */
#ifndef NT_HOST_FACTS_H
#define NT_HOST_FACTS_H

#include <stdbool.h>
#include <stddef.h>

typedef struct nt_host_facts {
    char kernel[128];
    bool wsl;
    char container[64];      /* "docker", "kubernetes", ...; empty when there is no sign of one */
    int admin;               /* CAP_SYS_ADMIN: 1, 0; -1 unknown */
    char module[64];         /* version of the loaded NVIDIA kernel module; empty when there is none */
    int counters_admin_only; /* RmProfilingAdminOnly: 1, 0; -1 unknown */
    char holders[256];       /* "nv-hostengine (812), ncu (901)": running tools that may hold the counters */
} nt_host_facts;

/* `root` is put before every path: "" for this system, a folder for tests. */
void nt_host_facts_read(const char *root, nt_host_facts *out);

#endif
