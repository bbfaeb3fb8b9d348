/* spec_rewrite.h: expressions of a spec for a format that has no names of sizes: their values stand in the place of
 * names. Between spec_export.c and this file. */
#ifndef NT_SPEC_REWRITE_H
#define NT_SPEC_REWRITE_H

#include "autotune/spec_read.h"

typedef struct nt__spec_rewrite {
    const nt_spec *spec;
    nt_str text;
    json_t *params; /* names of the parameters that occur */
    bool limits;    /* a limit of the device occurs, for which there is no value here */
} nt__spec_rewrite;

nt__spec_rewrite nt__spec_with_sizes(const nt_spec *spec, const char *text);
void nt__spec_rewrite_done(nt__spec_rewrite *rewrite);

#endif
