/* output.h: stdout: JSON documents, and noticing at the end that it could not be written. */
#ifndef NT_OUTPUT_H
#define NT_OUTPUT_H

#include <jansson.h>
#include <stdbool.h>

#include "core/status.h"

enum { NT_JSON_SCHEMA_VERSION = 1 };

/* {"type":TYPE,"schema_version":1}: what a document begins with. */
json_t *nt_output_document(const char *type);

/* One line; takes the reference. */
void nt_output_json(json_t *json);

/* False once the reader of a pipe is gone or the disk is full: a long output can stop. */
bool nt_output_wanted(void);

/* Flushes. A reader that went away is no error; a full disk is. */
nt_status nt_output_finish(nt_error *err);

#endif
