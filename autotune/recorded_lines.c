/* recorded_lines.c: lines through zlib, which reads plain files as they are. A long line is read in growing pieces, so
 * that memory follows the text and not the limit. */
#include "autotune/recorded_lines.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <zlib.h>

#include "core/mem.h"

nt_status nt_lines_open(const char *path, size_t most_line, uint64_t most_bytes, nt_lines *out, nt_error *err)
{
    *out = (nt_lines){.path = path, .most_line = most_line, .most_bytes = most_bytes};
    struct stat about;
    if (stat(path, &about) != 0)
        return nt_fail(err, errno == ENOENT ? NT_NOT_FOUND : NT_IO, "%s: %s", path, strerror(errno));
    if (S_ISDIR(about.st_mode))
        return nt_fail(err, NT_IO, "%s is a directory", path);
    errno = 0;
    out->file = gzopen(path, "rbe");
    if (out->file == NULL)
        return nt_fail(err, NT_IO, "%s: %s", path, errno != 0 ? strerror(errno) : "cannot be opened");
    out->capacity = 4096;
    out->line = nt_alloc(out->capacity);
    return NT_OK;
}

void nt_lines_close(nt_lines *lines)
{
    if (lines->file != NULL)
        gzclose_r(lines->file);
    free(lines->line);
    *lines = (nt_lines){0};
}

static char *fail(nt_lines *lines, nt_error *err, nt_status status, const char *problem)
{
    lines->status = nt_fail(err, status, "%s, line %llu: %s", lines->path, (unsigned long long)lines->number, problem);
    return NULL;
}

static char *fail_read(nt_lines *lines, nt_error *err)
{
    int code = Z_OK;
    const char *text = gzerror(lines->file, &code);
    if (code == Z_ERRNO)
        return fail(lines, err, NT_IO, strerror(errno));
    return fail(lines, err, NT_CORRUPT, code == Z_BUF_ERROR ? "the compressed data end too early" : text);
}

/* Appends a piece of the line; false at the end of the file or on an error. */
static bool read_piece(nt_lines *lines)
{
    if (lines->capacity - lines->length < 2) {
        void *memory = lines->line;
        nt_grow(&memory, &lines->capacity, lines->capacity * 2, 1);
        lines->line = memory;
    }
    size_t room = lines->capacity - lines->length;
    memset(lines->line + lines->length, 'x', room);
    if (gzgets(lines->file, lines->line + lines->length, (int)room) == NULL)
        return false;
    /* The text ends at the last byte 0: those before it, if any, are damage that strlen would hide. */
    const char *end = memrchr(lines->line + lines->length, '\0', room);
    lines->length = (size_t)(end - lines->line);
    return true;
}

static bool line_is_whole(const nt_lines *lines)
{
    return lines->length > 0 && lines->line[lines->length - 1] == '\n';
}

char *nt_lines_next(nt_lines *lines, nt_error *err)
{
    if (lines->status != NT_OK)
        return NULL;
    lines->number++;
    lines->length = 0;
    while (!line_is_whole(lines)) {
        if (!read_piece(lines)) {
            int code = Z_OK;
            gzerror(lines->file, &code);
            if (code != Z_OK && code != Z_STREAM_END)
                return fail_read(lines, err);
            break;
        }
        if (lines->length > lines->most_line)
            return fail(lines, err, NT_CORRUPT, "longer than any line of such a file");
    }
    lines->bytes += lines->length;
    if (lines->bytes > lines->most_bytes)
        return fail(lines, err, NT_CORRUPT, "the file is larger than any such file may be");
    if (lines->length == 0)
        return NULL;
    lines->line[lines->length] = '\0';
    if (memchr(lines->line, '\0', lines->length) != NULL)
        return fail(lines, err, NT_CORRUPT, "a byte 0 in the text");
    while (lines->length > 0 && strchr("\r\n", lines->line[lines->length - 1]) != NULL)
        lines->line[--lines->length] = '\0';
    return lines->line;
}
