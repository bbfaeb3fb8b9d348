/* window.h: which trials of a run a screen wants to see: conditions, an order, a first row and a number of rows. Names
 * are columns of the view `trials`, or parameters of the kernel. */
#ifndef NT_WINDOW_H
#define NT_WINDOW_H

#include <stdbool.h>
#include <stdint.h>

enum { NT_WINDOW_TERMS = 16, NT_WINDOW_KEYS = 2 };

typedef enum nt_window_op {
    NT_WINDOW_EQ,
    NT_WINDOW_NE,
    NT_WINDOW_LT,
    NT_WINDOW_LE,
    NT_WINDOW_GT,
    NT_WINDOW_GE,
    NT_WINDOW_OPS
} nt_window_op;

typedef struct nt_window_key {
    char name[48];
    bool param; /* a parameter of the kernel, not a column */
    bool descending;
} nt_window_key;

typedef struct nt_window_term {
    nt_window_key key;
    nt_window_op op;
    bool is_text;
    double number;
    char text[64];
} nt_window_term;

typedef struct nt_window {
    int64_t run;
    double until_unix_s; /* only what was stored until then; NAN: all */
    int terms;
    nt_window_term term[NT_WINDOW_TERMS];
    int keys; /* none: by number, which ties are broken by as well. Unknown values come last either way. */
    nt_window_key key[NT_WINDOW_KEYS];
    int64_t first, count;
} nt_window;

#endif
