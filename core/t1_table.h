/* t1_table.h: which key of a T1 file is which member of nt_t1, once, for reading and writing. Private to core/t1*.c. */
#ifndef NT_T1_TABLE_H
#define NT_T1_TABLE_H

#include <stdbool.h>

#include "core/t1.h"

typedef enum nt_t1_kind {
    NT_T1_TEXT,   /* const char *; one of `words` where they are given */
    NT_T1_INT,    /* int64_t */
    NT_T1_FLAG,   /* int */
    NT_T1_EXPR,   /* nt_t1_expr */
    NT_T1_VALUES, /* nt_t1_expr that may be a list */
    NT_T1_EXPRS,  /* nt_t1_exprs */
    NT_T1_ANY,    /* const json_t * */
    NT_T1_OBJECT, /* a struct inside, by `rows` */
    NT_T1_LIST    /* pointer to structs of `bytes`, by `rows`; how many at `count_offset` */
} nt_t1_kind;

typedef struct nt_t1_row nt_t1_row;
struct nt_t1_row {
    const char *key; /* NULL in the last row, whose offset is that of `extra` */
    nt_t1_kind kind;
    bool needed;
    bool number; /* FLAG: written as 0 or 1 */
    size_t offset;
    const char *const *words;
    const nt_t1_row *rows;
    size_t bytes, count_offset;
    size_t present_offset; /* OBJECT: of the bool that says it is there; 0 for none */
};

extern const nt_t1_row nt_t1_rows[]; /* of nt_t1 itself */

#endif
