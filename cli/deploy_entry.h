/* deploy_entry.h: what a deployment table must know about one configuration beyond its time: how it launches at other
 * batches, and how it cuts problems up, for the cost model. Found out by asking the kernel's own plan. */
#ifndef NT_DEPLOY_ENTRY_H
#define NT_DEPLOY_ENTRY_H

#include "kernels/kernel.h"
#include "reports/table.h"

/* Fills launch (NULL where a table cannot hold it) and cost of an entry whose problem, kernel, parameters, time and
 * from_batch are known. `batch_hi`: the last batch it serves. `trial` gives its resources. An unknown kernel leaves
 * both unknown. */
void nt_deploy_entry_probe(nt_deploy_entry *entry, const nt_device_info *device, const nt_trial *trial,
                           int64_t batch_hi);

/* Work of any problem of the layer as products of its extents, exact where the layer's own counts are products. False
 * for an unknown layer. */
bool nt_deploy_work_probe(const nt_problem *problem, nt_deploy_work *out);

#endif
