#include "cli/wrap.h"

#include <stdbool.h>
#include <string.h>

void nt_wrap(FILE *out, const char *text, int at, int indent, int width)
{
    int column = at;
    while (*text != '\0') {
        int length = (int)strcspn(text, " \n");
        bool first = column == at || column == indent;
        if (!first && column + 1 + length > width) {
            fprintf(out, "\n%*s", indent, "");
            column = indent;
            first = true;
        }
        if (length > 0) {
            fprintf(out, "%s%.*s", first ? "" : " ", length, text);
            column += length + !first;
        }
        text += length;
        text += *text != '\0';
    }
    fputc('\n', out);
}
