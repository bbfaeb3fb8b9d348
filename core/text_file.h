/* text_file.h: a whole file of text, plain or gzip, into memory: never more than a limit, whatever it unpacks to. */
#ifndef NT_TEXT_FILE_H
#define NT_TEXT_FILE_H

#include <stddef.h>

#include "core/status.h"

/* `limit` counts unpacked bytes; a NUL is added after the end. NT_USAGE: larger than the limit, or no regular file;
 * NT_CORRUPT: compressed data that are damaged or end too early. Caller frees. */
nt_status nt_text_file_read(const char *path, size_t limit, char **out, size_t *length, nt_error *err);

/* Writes the text over `path` as nt_write_file does; packed with gzip when the name ends in .gz. */
nt_status nt_text_file_write(const char *path, const char *text, size_t length, nt_error *err);

#endif
