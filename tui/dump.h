/* dump.h: a view as text, CSV and JSON: on request to a string, on the key P to three files. */
#ifndef NT_DUMP_H
#define NT_DUMP_H

#include "tui/screen.h"

typedef enum nt_dump_format { NT_DUMP_TEXT, NT_DUMP_CSV, NT_DUMP_JSON, NT_DUMP_FORMATS } nt_dump_format;
extern const char *const nt_dump_names[]; /* text, csv, json; NULL-terminated */

void nt_dump(const nt_screen *screen, const nt_snapshot *shown, nt_dump_format format, nt_str *out);
/* nntune-VIEW-TIME.txt and so on in `folder`; the name without its end goes to `name`. */
nt_status nt_dump_files(const nt_screen *screen, const nt_snapshot *shown, const char *folder, char *name,
                        size_t capacity, nt_error *err);

#endif
