/* table_launch.h: launches of a table as JSON and back; for table_json.c. */
#ifndef NT_REPORTS_TABLE_LAUNCH_H
#define NT_REPORTS_TABLE_LAUNCH_H

#include <jansson.h>

#include "reports/table.h"

json_t *nt__deploy_launch_json(const nt_deploy_launch *launch);
/* Fills entry->launch, which a null leaves NULL. False where it cannot be read. */
bool nt__deploy_launch_read(const json_t *json, nt_deploy_entry *entry);

#endif
