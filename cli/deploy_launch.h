/* deploy_launch.h: how a configuration launches at other batches than the one it was measured at, found out by asking
 * its kernel's plan at each of them. */
#ifndef NT_DEPLOY_LAUNCH_H
#define NT_DEPLOY_LAUNCH_H

#include "kernels/kernel.h"
#include "reports/table.h"

/* A kernel's plan as a function of the problem. */
typedef struct nt_deploy_probe {
    const nt_kernel *kernel;
    nt_config config;
    const nt_device_info *device;
    nt_problem problem;
} nt_deploy_probe;

/* False where the kernel does not serve the problem. */
bool nt_deploy_plan(const nt_deploy_probe *probe, const nt_problem *problem, nt_plan *out);

/* A launch for all batches from `lo` to `hi`, else for the problem's own alone. NULL where a table can hold none; *why
 * says what is in the way. */
nt_deploy_launch *nt_deploy_launch_probe(const nt_deploy_probe *probe, int64_t lo, int64_t hi, const char **why);

#endif
