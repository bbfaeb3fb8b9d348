/* keys.h: what the keys do: one table for the bindings, the bar, the help view and the page of documentation. */
#ifndef NT_KEYS_H
#define NT_KEYS_H

#include "tui/layout.h"

/* Keys beyond characters, above all of Unicode. */
enum {
    NT_KEY_ESCAPE = 27,
    NT_KEY_ENTER = '\n',
    NT_KEY_TAB = '\t',
    NT_KEY_BACKSPACE = 127,
    NT_KEY_REDRAW = 12, /* Ctrl-L */
    NT_KEY_UP = 0x200000,
    NT_KEY_DOWN,
    NT_KEY_LEFT,
    NT_KEY_RIGHT,
    NT_KEY_PAGE_UP,
    NT_KEY_PAGE_DOWN,
    NT_KEY_HOME,
    NT_KEY_END,
    NT_KEY_BACK_TAB,
    NT_KEY_RESIZE,
    NT_KEY_OTHER, /* one that we do not know */
    NT_KEY_F0 = 0x201000
};

typedef enum nt_action {
    NT_DO_NOTHING,
    NT_DO_QUIT,
    NT_DO_HELP,
    NT_DO_UP,
    NT_DO_DOWN,
    NT_DO_PAGE_UP,
    NT_DO_PAGE_DOWN,
    NT_DO_FIRST,
    NT_DO_LAST,
    NT_DO_LESS,
    NT_DO_MORE,
    NT_DO_OPEN,
    NT_DO_BACK,
    NT_DO_NEXT_VIEW,
    NT_DO_PREVIOUS_VIEW,
    NT_DO_VIEW, /* a digit */
    NT_DO_SORT,
    NT_DO_SORT_SECOND,
    NT_DO_SORT_LEFT,
    NT_DO_SORT_RIGHT,
    NT_DO_REVERSE,
    NT_DO_FILTER,
    NT_DO_PAUSE,
    NT_DO_REDRAW,
    NT_DO_SLOWER,
    NT_DO_FASTER,
    NT_DO_TAG,
    NT_DO_COMPARE,
    NT_DO_DUMP,
    NT_DO_SAVE,
    NT_DO_AXIS_X,
    NT_DO_AXIS_Y
} nt_action;

typedef struct nt_key_row {
    nt_action action;
    int key[4];          /* unused ones are 0; the first is named in the bar */
    const char *names;   /* how help calls them */
    const char *word;    /* in the bar; NULL: not there */
    const char *meaning; /* in help */
    unsigned views;      /* bits of nt_view_id in which it means something */
} nt_key_row;

extern const nt_key_row nt_key_rows[];
extern const int nt_key_row_count;

/* The action of a key in a view, NT_DO_NOTHING when it has none. */
nt_action nt_key_action(nt_view_id view, int key);
/* The bar: the keys valid now, as many as fit; "? help" is always among them. */
void nt_keys_bar(nt_view_id view, const nt_pane *pane);

#endif
