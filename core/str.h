/* str.h: a growing string and a few questions about text. */
#ifndef NT_STR_H
#define NT_STR_H

#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>

typedef struct nt_str {
    char *data; /* always NUL-terminated once anything was added; NULL when empty and never used */
    size_t length;
    size_t capacity;
} nt_str;

void nt_str_done(nt_str *s); /* frees the memory and leaves an empty string */
void nt_str_clear(nt_str *s);
void nt_str_add(nt_str *s, const char *text);
void nt_str_add_n(nt_str *s, const char *text, size_t length);
void nt_str_addf(nt_str *s, const char *format, ...) __attribute__((format(printf, 2, 3)));
void nt_str_addv(nt_str *s, const char *format, va_list args) __attribute__((format(printf, 2, 0)));
const char *nt_str_text(const nt_str *s); /* never NULL */

/* Copies with truncation, always terminates; returns false when it had to cut. */
bool nt_copy(char *to, size_t capacity, const char *from);

/* Edit distance (Levenshtein), for 'did you mean'. */
int nt_edit_distance(const char *a, const char *b);

/* Index of the name nearest to `word` when it is near enough to be a slip (distance <= 1 + length/3), else -1. */
int nt_nearest(const char *word, const char *const *names, int count);

/* Strict decimal parse of the whole text; false on empty, trailing or out-of-range input. */
bool nt_parse_i64(const char *text, long long *out);
bool nt_parse_double(const char *text, double *out); /* finite only */

#endif
