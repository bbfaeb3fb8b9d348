/* json_field.h: a record as a table of fields, each with its JSON name, its place in the struct and its kind. Private
 * to core/json*.c. Adding a member to a record's JSON is one row in json_record.c. */
#ifndef NT_JSON_FIELD_H
#define NT_JSON_FIELD_H

#include <jansson.h>

#include "core/status.h"
#include "core/str.h"

typedef struct nt_json_field nt_json_field;

typedef struct nt_json_kind {
    const char *name; /* what is right, for messages */
    json_t *(*write)(const nt_json_field *field, const void *at);
    /* false when `value` is not of the kind. `absent` fields are not read. */
    bool (*read)(const nt_json_field *field, const json_t *value, void *at);
} nt_json_kind;

struct nt_json_field {
    const char *key;
    const nt_json_kind *kind;
    size_t offset;
    size_t bytes;                   /* of a text buffer */
    bool required;                  /* absent is an error; else the record keeps what its init gave it */
    const char *(*name)(int value); /* of an enum, for values 0 to count - 1 */
    int count;
};

extern const nt_json_kind nt_json_kind_int, nt_json_kind_real, nt_json_kind_bool, nt_json_kind_seed, nt_json_kind_text,
    nt_json_kind_owned, nt_json_kind_object, nt_json_kind_enum, nt_json_kind_shape, nt_json_kind_count,
    nt_json_kind_reals;

json_t *nt_json_write(const nt_json_field *fields, const void *record);
/* The table ends with a row without key. `record` must have been initialised. */
nt_status nt_json_read(const char *what, const nt_json_field *fields, const json_t *json, void *record, nt_error *err);

#endif
