/* deploy_check.h: `nntune table check FILE`: whether the entries of a table still hold on the present device. */
#ifndef NT_DEPLOY_CHECK_H
#define NT_DEPLOY_CHECK_H

#include "cli/options.h"

/* NT_REGRESSION when an entry no longer holds. */
nt_status nt_deploy_check(const nt_args *args, int *exit_code, nt_error *err);

#endif
