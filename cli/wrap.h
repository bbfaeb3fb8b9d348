/* wrap.h: a paragraph broken at blanks, with a hanging indent, for help. */
#ifndef NT_WRAP_H
#define NT_WRAP_H

#include <stdio.h>

enum { NT_HELP_WIDTH = 80 };

/* Prints `text`, whose first line begins at column `at` already, the others after `indent` blanks; ends with a newline.
 * A word longer than the line stands alone. */
void nt_wrap(FILE *out, const char *text, int at, int indent, int width);

#endif
