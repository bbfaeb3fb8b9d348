/* scan.c: one pass over the bytes, brackets kept on a stack of bits, no recursion. */
#include "db/formats/scan.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "core/mem.h"
#include "core/str.h"

_Static_assert(NT_SCAN_MAX_DEPTH <= 64, "one bit a level");

nt_scan nt_scan_of(const char *text, size_t length)
{
    nt_scan scan = {text, text, text + length, NT_SCAN_GOES_ON};
    if (length >= 3 && memcmp(text, "\xef\xbb\xbf", 3) == 0) /* a byte order mark */
        scan.at += 3;
    return scan;
}

static bool fail(nt_scan *scan, nt_scan_state state)
{
    if (scan->state == NT_SCAN_GOES_ON)
        scan->state = state;
    return false;
}

static bool is_blank(char c)
{
    return c == ' ' || c == '\n' || c == '\r' || c == '\t';
}

/* To the next byte that is no blank; false at the end of the text. */
static bool find(nt_scan *scan)
{
    while (scan->at < scan->end && is_blank(*scan->at))
        scan->at++;
    return scan->state == NT_SCAN_GOES_ON && (scan->at < scan->end || fail(scan, NT_SCAN_CUT));
}

static bool take(nt_scan *scan, char c)
{
    if (!find(scan) || (*scan->at != c && !fail(scan, NT_SCAN_WRONG)))
        return false;
    scan->at++;
    return true;
}

bool nt_scan_enter(nt_scan *scan, char bracket)
{
    return take(scan, bracket);
}

bool nt_scan_next(nt_scan *scan, char bracket, bool *first)
{
    char closing = bracket == '{' ? '}' : ']';
    if (!find(scan))
        return false;
    if (*scan->at == closing) {
        scan->at++;
        return false;
    }
    if (!*first && !take(scan, ','))
        return false;
    *first = false;
    return find(scan);
}

static bool skip_string(nt_scan *scan)
{
    for (scan->at++; scan->at < scan->end; scan->at++) {
        if (*scan->at == '"') {
            scan->at++;
            return true;
        }
        if (*scan->at == '\\')
            scan->at++;
    }
    scan->at = scan->end; /* an escape may have led beyond it */
    return fail(scan, NT_SCAN_CUT);
}

bool nt_scan_key(nt_scan *scan, nt_piece *key)
{
    if (!find(scan) || (*scan->at != '"' && !fail(scan, NT_SCAN_WRONG)))
        return false;
    key->text = scan->at;
    if (!skip_string(scan))
        return false;
    key->length = (size_t)(scan->at - key->text);
    return take(scan, ':');
}

/* Numbers and words end where something else begins; at the end of the text they may be cut. */
static bool skip_word(nt_scan *scan)
{
    const char *from = scan->at;
    while (scan->at < scan->end && !is_blank(*scan->at) && strchr(",:]}[{\"", *scan->at) == NULL)
        scan->at++;
    if (scan->at == scan->end)
        return fail(scan, NT_SCAN_CUT);
    return scan->at > from || fail(scan, NT_SCAN_WRONG);
}

static bool skip_nested(nt_scan *scan)
{
    uint64_t arrays = 0; /* bit d: level d is an array */
    int depth = 0;
    do {
        char c = *scan->at;
        if (c == '{' || c == '[') {
            if (depth == NT_SCAN_MAX_DEPTH)
                return fail(scan, NT_SCAN_DEEP);
            arrays = (arrays & ~(UINT64_C(1) << depth)) | (uint64_t)(c == '[') << depth;
            depth++;
            scan->at++;
        } else if (c == '}' || c == ']') {
            depth--;
            if ((arrays >> depth & 1) != (c == ']'))
                return fail(scan, NT_SCAN_WRONG);
            scan->at++;
        } else if (c == '"') {
            if (!skip_string(scan))
                return false;
        } else {
            scan->at++;
        }
    } while (depth > 0 && scan->at < scan->end);
    return depth == 0 || fail(scan, NT_SCAN_CUT);
}

bool nt_scan_value(nt_scan *scan, nt_piece *value)
{
    if (!find(scan))
        return false;
    value->text = scan->at;
    char c = *scan->at;
    if (!(c == '{' || c == '[' ? skip_nested(scan) : c == '"' ? skip_string(scan) : skip_word(scan)))
        return false;
    value->length = (size_t)(scan->at - value->text);
    return true;
}

bool nt_scan_ended(nt_scan *scan)
{
    while (scan->at < scan->end && is_blank(*scan->at))
        scan->at++;
    return scan->at == scan->end || fail(scan, NT_SCAN_WRONG);
}

/* ---- errors and values ------------------------------------------------------------------------------------------- */

static void place(const nt_scan *scan, const char *at, size_t *line, size_t *column)
{
    *line = 1;
    const char *start = scan->begin;
    for (const char *c = scan->begin; c < at; c++)
        if (*c == '\n') {
            ++*line;
            start = c + 1;
        }
    *column = (size_t)(at - start) + 1;
}

nt_status nt_scan_error(const nt_scan *scan, const char *name, nt_error *err)
{
    size_t line, column;
    place(scan, scan->at, &line, &column);
    if (scan->state == NT_SCAN_CUT) {
        nt_fail(err, NT_CORRUPT, "%s, line %zu, column %zu: the text ends inside a value", name, line, column);
        return nt_hint(err, "it was cut off; fetch or write the file again");
    }
    if (scan->state == NT_SCAN_DEEP)
        return nt_fail(err, NT_CORRUPT, "%s, line %zu, column %zu: values are nested deeper than %d levels", name, line,
                       column, NT_SCAN_MAX_DEPTH);
    nt_fail(err, NT_CORRUPT, "%s, line %zu, column %zu: this is no JSON", name, line, column);
    if (scan->at < scan->end && *scan->at >= ' ' && *scan->at <= '~')
        return nt_hint(err, "'%c' cannot stand there", *scan->at);
    return NT_CORRUPT;
}

static size_t not_a_number(const char *at, const char *end)
{
    static const char *const words[] = {"NaN", "Infinity", "-Infinity"};
    for (size_t i = 0; i < sizeof words / sizeof words[0]; i++) {
        size_t length = strlen(words[i]);
        if ((size_t)(end - at) >= length && memcmp(at, words[i], length) == 0)
            return length;
    }
    return 0;
}

/* The piece with null for each word that is no number; NULL when there is none. */
static char *without_not_numbers(nt_piece piece, size_t *count)
{
    nt_str out = {0};
    nt_scan scan = nt_scan_of(piece.text, piece.length);
    const char *kept = scan.at;
    *count = 0;
    while (scan.at < scan.end) {
        size_t length = 0;
        if (*scan.at == '"' && !skip_string(&scan))
            break;
        if (scan.at < scan.end && *scan.at != '"')
            length = not_a_number(scan.at, scan.end);
        if (length > 0) {
            nt_str_add_n(&out, kept, (size_t)(scan.at - kept));
            nt_str_add(&out, "null");
            kept = scan.at += length;
            ++*count;
        } else if (scan.at < scan.end && *scan.at != '"') {
            scan.at++;
        }
    }
    nt_str_add_n(&out, kept, (size_t)(scan.end - kept));
    if (*count == 0)
        nt_str_done(&out);
    return out.data;
}

nt_status nt_scan_parse(const nt_scan *scan, const char *name, nt_piece piece, size_t *not_numbers, json_t **out,
                        nt_error *err)
{
    const size_t flags = JSON_REJECT_DUPLICATES | JSON_DECODE_ANY;
    json_error_t where;
    *out = json_loadb(piece.text, piece.length, flags, &where);
    if (*out != NULL)
        return NT_OK;
    size_t count, line, column;
    char *again = without_not_numbers(piece, &count);
    if (again != NULL)
        *out = json_loads(again, flags, &where);
    free(again);
    if (*out != NULL) {
        *not_numbers += count;
        return NT_OK;
    }
    size_t position =
        where.position >= 0 && (size_t)where.position <= piece.length && count == 0 ? (size_t)where.position : 0;
    place(scan, piece.text + position, &line, &column);
    return nt_fail(err, NT_CORRUPT, "%s, line %zu, column %zu: %s", name, line, column, where.text);
}
