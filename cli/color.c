#include "cli/color.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

bool nt_color_wanted(const nt_args *args, FILE *out)
{
    const char *when = nt_args_text(args, "color", "auto"), *no_color = getenv("NO_COLOR"), *term = getenv("TERM");
    if (strcmp(when, "auto") != 0)
        return strcmp(when, "always") == 0;
    if (no_color != NULL && no_color[0] != '\0')
        return false;
    return isatty(fileno(out)) && term != NULL && strcmp(term, "dumb") != 0;
}
