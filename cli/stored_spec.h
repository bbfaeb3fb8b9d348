/* stored_spec.h: a user's kernel is no part of the program: what shows or repeats a trial of one loads its spec again,
 * from where the trial's run found it. */
#ifndef NT_STORED_SPEC_H
#define NT_STORED_SPEC_H

#include "cli/options.h"
#include "core/paths.h"
#include "core/store.h"

/* Loads the spec of a trial's run when its layer is a user's; nothing for our own layers. *changed (may be NULL): the
 * spec is not what it was. NT_NOT_FOUND says where the spec was. */
nt_status nt_stored_spec_load(nt_reader *reader, const char *layer, int64_t run, bool *changed, nt_error *err);

/* Loads the specs of all runs that are still where and what they were: the work of their layers is known then. Those
 * that are not, and more than a process can hold, stay unknown. */
void nt_stored_specs_load(nt_reader *reader);

/* Where the spec of a run was, absolute; run 0: the newest. NT_NOT_FOUND when that run is of no spec. */
nt_status nt_stored_spec_path(nt_reader *reader, int64_t run, char path[NT_PATH_BYTES], nt_error *err);

#endif
