/* spell.h: JSON as other tools write it: reals with the fewest digits that read back as the same double. */
#ifndef NT_FORMATS_SPELL_H
#define NT_FORMATS_SPELL_H

#include <jansson.h>

#include "core/str.h"

void nt_spell(nt_str *out, const json_t *json); /* one line: {"a": 1, "b": [0.1]} */
/* The real as Python and most JSON writers spell it: 0.1, 3.0, 1e-07. */
void nt_spell_real(nt_str *out, double value);

#endif
