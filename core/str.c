#include "core/str.h"

#include "core/mem.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void nt_str_done(nt_str *s)
{
    free(s->data);
    *s = (nt_str){0};
}

void nt_str_clear(nt_str *s)
{
    s->length = 0;
    if (s->data != NULL)
        s->data[0] = '\0';
}

void nt_str_add_n(nt_str *s, const char *text, size_t length)
{
    void *data = s->data;
    nt_grow(&data, &s->capacity, s->length + length + 1, 1);
    s->data = data;
    memcpy(s->data + s->length, text, length);
    s->length += length;
    s->data[s->length] = '\0';
}

void nt_str_add(nt_str *s, const char *text)
{
    nt_str_add_n(s, text, strlen(text));
}

void nt_str_addv(nt_str *s, const char *format, va_list args)
{
    va_list again;
    va_copy(again, args);
    int length = vsnprintf(NULL, 0, format, args);
    if (length > 0) {
        void *data = s->data;
        nt_grow(&data, &s->capacity, s->length + (size_t)length + 1, 1);
        s->data = data;
        vsnprintf(s->data + s->length, (size_t)length + 1, format, again);
        s->length += (size_t)length;
    }
    va_end(again);
}

void nt_str_addf(nt_str *s, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    nt_str_addv(s, format, args);
    va_end(args);
}

const char *nt_str_text(const nt_str *s)
{
    return s->data ? s->data : "";
}

bool nt_copy(char *to, size_t capacity, const char *from)
{
    size_t length = strlen(from);
    bool fits = length < capacity;
    if (!fits)
        length = capacity - 1;
    memcpy(to, from, length);
    to[length] = '\0';
    return fits;
}

int nt_edit_distance(const char *a, const char *b)
{
    enum { LONGEST = 63 };
    size_t la = strnlen(a, LONGEST), lb = strnlen(b, LONGEST);
    int row[LONGEST + 1];
    for (size_t j = 0; j <= lb; j++)
        row[j] = (int)j;
    for (size_t i = 1; i <= la; i++) {
        int diagonal = row[0];
        row[0] = (int)i;
        for (size_t j = 1; j <= lb; j++) {
            int change = diagonal + (a[i - 1] != b[j - 1]);
            diagonal = row[j];
            int least = change < row[j] + 1 ? change : row[j] + 1;
            row[j] = least < row[j - 1] + 1 ? least : row[j - 1] + 1;
        }
    }
    return row[lb];
}

int nt_nearest(const char *word, const char *const *names, int count)
{
    int best = -1, best_distance = 2 + (int)(strnlen(word, 63) / 3);
    for (int i = 0; i < count; i++) {
        int distance = nt_edit_distance(word, names[i]);
        if (distance < best_distance) {
            best = i;
            best_distance = distance;
        }
    }
    return best;
}

bool nt_parse_i64(const char *text, long long *out)
{
    char *end = NULL;
    errno = 0;
    long long value = strtoll(text, &end, 10);
    if (end == text || *end != '\0' || errno != 0 || text[0] == ' ')
        return false;
    *out = value;
    return true;
}

bool nt_parse_double(const char *text, double *out)
{
    char *end = NULL;
    errno = 0;
    double value = strtod(text, &end);
    if (end == text || *end != '\0' || errno == ERANGE || !isfinite(value) || text[0] == ' ')
        return false;
    *out = value;
    return true;
}
