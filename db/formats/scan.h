/* scan.h: walks JSON text in place, value by value, so that a file of any size is parsed one result at a time.
 *
 * It finds where values begin and end and checks nesting; nt_scan_parse lets the JSON library judge what stands there.
 * A walk that failed says whether the text ended (CUT) or holds something else (WRONG, DEEP), and stays failed. */
#ifndef NT_FORMATS_SCAN_H
#define NT_FORMATS_SCAN_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>

#include "core/status.h"

enum { NT_SCAN_MAX_DEPTH = 64 };

typedef enum nt_scan_state { NT_SCAN_GOES_ON, NT_SCAN_CUT, NT_SCAN_WRONG, NT_SCAN_DEEP } nt_scan_state;

typedef struct nt_scan {
    const char *begin, *at, *end;
    nt_scan_state state;
} nt_scan;

/* A piece of the text. */
typedef struct nt_piece {
    const char *text;
    size_t length;
} nt_piece;

nt_scan nt_scan_of(const char *text, size_t length);

/* Steps into the array or object that begins here: '[' or '{'. */
bool nt_scan_enter(nt_scan *scan, char bracket);
/* Goes to the next member; false at the closing bracket, which it steps over, or on a failure. `first` is true before
 * the first member and becomes false. */
bool nt_scan_next(nt_scan *scan, char bracket, bool *first);
/* Steps over a key with its colon; the piece is the text with its quotes. */
bool nt_scan_key(nt_scan *scan, nt_piece *key);
/* Steps over a value. */
bool nt_scan_value(nt_scan *scan, nt_piece *value);
/* Only blanks follow. */
bool nt_scan_ended(nt_scan *scan);

/* What went wrong, with line and column. */
nt_status nt_scan_error(const nt_scan *scan, const char *name, nt_error *err);

/* A piece as JSON. NaN, Infinity and -Infinity, which some writers use and JSON lacks, become null and are counted. */
nt_status nt_scan_parse(const nt_scan *scan, const char *name, nt_piece piece, size_t *not_numbers, json_t **out,
                        nt_error *err);

#endif
