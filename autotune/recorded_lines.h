/* recorded_lines.h: the lines of a text file, plain or gzip, with limits on the length of a line and of the whole. */
#ifndef NT_RECORDED_LINES_H
#define NT_RECORDED_LINES_H

#include <stddef.h>
#include <stdint.h>

#include "core/status.h"

typedef struct nt_lines {
    void *file; /* of zlib */
    const char *path;
    char *line; /* the line read last, without its end */
    size_t capacity, length;
    uint64_t number; /* of that line, from 1 */
    uint64_t bytes, most_bytes;
    size_t most_line;
    nt_status status; /* of the reading so far */
} nt_lines;

/* NT_NOT_FOUND or NT_IO with the reason. `path` must outlive the lines. */
nt_status nt_lines_open(const char *path, size_t most_line, uint64_t most_bytes, nt_lines *out, nt_error *err);
void nt_lines_close(nt_lines *lines);

/* The next line; NULL at the end and when reading fails, and then lines->status tells which, with err filled. A byte 0
 * in the text is damage, as is an end in the middle of compressed data. */
char *nt_lines_next(nt_lines *lines, nt_error *err);

#endif
