#include "cli/warn.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

void nt_warn(const nt_args *args, const char *id, const char *format, ...)
{
    const nt_given *silenced = nt_args_get(args, "no-warn");
    for (int i = 0; silenced != NULL && i < silenced->count; i++)
        if (strcmp(silenced->text[i], id) == 0)
            return;
    va_list list;
    va_start(list, format);
    fputs("nntune: warning: ", stderr);
    vfprintf(stderr, format, list);
    fprintf(stderr, " [%s]\n", id);
    va_end(list);
}
