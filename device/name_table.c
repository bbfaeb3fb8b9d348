/* name_table.c: the table is lines of "expression<tab>symbol", its length as 16 hex digits, and a mark. */
#include "device/name_table.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/mem.h"
#include "core/str.h"

static const char mark[] = "NNTUNE-NAMES";
enum { MARK = sizeof mark - 1, DIGITS = 16, TAIL = DIGITS + MARK };

void nt_name_table_append(unsigned char **code, size_t *bytes, const char *const *expression, const char *const *symbol,
                          int count)
{
    nt_str table = {0};
    for (int i = 0; i < count; i++)
        nt_str_addf(&table, "%s\t%s\n", expression[i], symbol[i]);
    size_t length = table.length;
    nt_str_addf(&table, "%0*zx%s", DIGITS, length, mark);
    *code = nt_realloc_array(*code, *bytes + table.length + 1, 1);
    memcpy(*code + *bytes, table.data, table.length + 1);
    *bytes += table.length;
    nt_str_done(&table);
}

char *nt_name_table_read(const void *code, size_t bytes)
{
    const char *end = (const char *)code + bytes;
    char digits[DIGITS + 1] = "";
    if (bytes < TAIL || memcmp(end - MARK, mark, MARK) != 0)
        return NULL;
    memcpy(digits, end - TAIL, DIGITS);
    char *rest;
    unsigned long long length = strtoull(digits, &rest, 16);
    if (*rest != '\0' || length > bytes - TAIL)
        return NULL;
    return nt_strndup(end - TAIL - length, (size_t)length);
}

char *nt_name_table_find(const char *table, const char *expression)
{
    size_t length = strlen(expression);
    for (const char *line = table; line != NULL && *line != '\0';) {
        size_t whole = strcspn(line, "\n");
        if (whole > length && strncmp(line, expression, length) == 0 && line[length] == '\t')
            return nt_strndup(line + length + 1, whole - length - 1);
        line += whole + (line[whole] == '\n');
    }
    return nt_strdup(expression);
}
