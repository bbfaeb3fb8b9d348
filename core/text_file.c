/* text_file.c: zlib reads plain files as they are, so one way serves both. The buffer follows what was read, so a small
 * file that unpacks to gigabytes ends at the limit and not at the end of memory. */
#include "core/text_file.h"

#include <errno.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <zlib.h>

#include "core/mem.h"
#include "core/paths.h"

enum { FIRST_BYTES = 64 * 1024, GZIP_WINDOW = 15 + 16, BLOCK_BYTES = 128 * 1024 };

static nt_status open_regular(const char *path, gzFile *out, nt_error *err)
{
    struct stat about;
    if (stat(path, &about) != 0)
        return nt_fail(err, errno == ENOENT ? NT_NOT_FOUND : NT_IO, "%s: %s", path, strerror(errno));
    if (!S_ISREG(about.st_mode)) /* a pipe may never give an end */
        return nt_fail(err, NT_USAGE, "%s is no regular file", path);
    errno = 0;
    *out = gzopen(path, "rbe");
    if (*out == NULL)
        return nt_fail(err, NT_IO, "%s: %s", path, errno != 0 ? strerror(errno) : "cannot be opened");
    gzbuffer(*out, BLOCK_BYTES);
    return NT_OK;
}

static nt_status read_error(const char *path, gzFile file, nt_error *err)
{
    int code = Z_OK;
    const char *text = gzerror(file, &code);
    if (code == Z_ERRNO)
        return nt_fail(err, NT_IO, "%s: %s", path, strerror(errno));
    nt_fail(err, NT_CORRUPT, "%s: %s", path,
            code == Z_BUF_ERROR ? "the compressed data end too early" : "the compressed data are damaged");
    return nt_hint(err, "%s; fetch or write the file again", code == Z_BUF_ERROR ? "it was cut off" : text);
}

static nt_status too_large(const char *path, size_t limit, nt_error *err)
{
    nt_fail(err, NT_USAGE, "%s holds more than %zu MiB of text", path, limit >> 20);
    return nt_hint(err, "that is the limit of this format's reader; split the file");
}

static nt_status read_all(const char *path, gzFile file, size_t limit, char **text, size_t *length, nt_error *err)
{
    size_t capacity = FIRST_BYTES < limit + 2 ? FIRST_BYTES : limit + 2;
    *text = nt_alloc(capacity);
    *length = 0;
    for (;;) {
        size_t room = capacity - *length - 1;
        int got = gzread(file, *text + *length, (unsigned)(room < BLOCK_BYTES ? room : BLOCK_BYTES));
        if (got < 0)
            return read_error(path, file, err);
        *length += (size_t)got;
        if (*length > limit)
            return too_large(path, limit, err);
        if (got == 0)
            break;
        if (capacity - *length < 2) { /* limit + 1 bytes tell that the limit is passed */
            capacity = capacity < (limit + 2) / 2 ? capacity * 2 : limit + 2;
            *text = nt_realloc_array(*text, capacity, 1);
        }
    }
    (*text)[*length] = '\0';
    int code = Z_OK;
    gzerror(file, &code);
    return code == Z_OK || code == Z_STREAM_END ? NT_OK : read_error(path, file, err);
}

nt_status nt_text_file_read(const char *path, size_t limit, char **out, size_t *length, nt_error *err)
{
    gzFile file = NULL;
    *out = NULL;
    *length = 0;
    nt_status status = open_regular(path, &file, err);
    if (status != NT_OK)
        return status;
    status = read_all(path, file, limit, out, length, err);
    gzclose_r(file);
    if (status != NT_OK) {
        free(*out);
        *out = NULL;
    }
    return status;
}

/* ---- writing ----------------------------------------------------------------------------------------------------- */

static nt_status pack(const char *path, const char *text, size_t length, char **out, size_t *packed, nt_error *err)
{
    z_stream stream = {0};
    if (length > UINT32_MAX ||
        deflateInit2(&stream, Z_DEFAULT_COMPRESSION, Z_DEFLATED, GZIP_WINDOW, 8, Z_DEFAULT_STRATEGY) != Z_OK)
        return nt_fail(err, NT_FAILED, "%s: %zu bytes cannot be packed", path, length);
    size_t capacity = deflateBound(&stream, length);
    *out = nt_alloc(capacity);
    stream.next_in = (Bytef *)(uintptr_t)text; /* zlib only reads it */
    stream.avail_in = (uInt)length;
    stream.next_out = (Bytef *)*out;
    stream.avail_out = (uInt)capacity;
    int code = deflate(&stream, Z_FINISH);
    *packed = stream.total_out;
    deflateEnd(&stream);
    return code == Z_STREAM_END ? NT_OK : nt_fail(err, NT_FAILED, "%s: packing ended with code %d", path, code);
}

nt_status nt_text_file_write(const char *path, const char *text, size_t length, nt_error *err)
{
    size_t name = strlen(path);
    if (name < 3 || strcmp(path + name - 3, ".gz") != 0)
        return nt_write_file(path, text, length, err);
    char *packed = NULL;
    size_t bytes = 0;
    nt_status status = pack(path, text, length, &packed, &bytes, err);
    if (status == NT_OK)
        status = nt_write_file(path, packed, bytes, err);
    free(packed);
    return status;
}
