/* patch.h: what a file says beyond what our records keep of it, so that the same file can be written again.
 *
 * A patch leads from the JSON that a record gives to the JSON that the file held. It has up to three parts, each a tree
 * of the same keys (array positions as keys): `more` what only the file has, `instead` single values that the record
 * gives otherwise (a number that did not survive a change of unit), `without` what only the record gives. */
#ifndef NT_FORMATS_PATCH_H
#define NT_FORMATS_PATCH_H

#include <jansson.h>

#include "core/str.h"

/* NULL when both are equal. Both are objects. */
json_t *nt_patch_make(const json_t *ours, const json_t *theirs);
/* Changes `ours` into what the patch was made from. NULL changes nothing; a damaged patch never does harm. */
void nt_patch_apply(json_t *ours, const json_t *patch);
/* Adds the names of what only the file has to `names` (an object used as a set): "times.cooldown", "measurements[]". */
void nt_patch_names(const json_t *ours, const json_t *patch, json_t *names);

#endif
