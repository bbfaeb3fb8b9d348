/* screen.h: the state of the screen: which view, what is selected, typed, sorted, tagged. Pure: keys change it, a
 * snapshot and it make a grid, and neither knows a terminal or a database. */
#ifndef NT_SCREEN_H
#define NT_SCREEN_H

#include "tui/keys.h"
#include "tui/model.h"
#include "tui/plot.h"

typedef enum nt_prompt { NT_PROMPT_NONE, NT_PROMPT_FILTER, NT_PROMPT_SORT, NT_PROMPT_SORT_SECOND } nt_prompt;

enum { NT_TYPED = 256, NT_BACK_STEPS = 8 };

typedef struct nt_screen {
    int width, height;
    nt_glyphs glyphs;
    nt_view_id view, before[NT_BACK_STEPS];
    int steps_back;
    bool paused, dark_keys;
    double interval_s;
    /* trials */
    nt_window window; /* filter and order */
    char filter[NT_TYPED];
    int64_t cursor, top;
    int64_t opened; /* trial */
    int64_t tagged[NT_TAGS];
    int tags;
    /* what is being typed */
    nt_prompt prompt;
    char typed[NT_TYPED];
    char message[192];
    int scroll;         /* of the views that are text */
    int heat_x, heat_y; /* among the varying parameters */
    /* what-if */
    int slider;
    nt_block_use use;  /* threads NT_UNKNOWN: as the opened trial */
    int64_t use_of;    /* the trial it began with */
    double read_share; /* how much of what is awaited has been read; NAN not known */
    /* asked of whoever runs the screen, who takes them back */
    bool quit, redraw, dump, save;
} nt_screen;

void nt_screen_init(nt_screen *screen);
/* A key; `shown` is the snapshot in front, NULL before the first. */
void nt_screen_key(nt_screen *screen, const nt_snapshot *shown, int key);
/* Keeps cursor and scroll inside what there is. */
void nt_screen_settle(nt_screen *screen, const nt_snapshot *shown);
void nt_screen_want(const nt_screen *screen, const nt_snapshot *shown, nt_want *out);
void nt_screen_draw(const nt_screen *screen, const nt_snapshot *shown, nt_grid *grid); /* at the screen's size */
/* Rows of the trials table on the screen. */
int nt_screen_page(const nt_screen *screen);
/* The view's content as a sheet, for CSV and JSON. */
void nt_screen_sheet(const nt_screen *screen, const nt_snapshot *shown, nt_sheet *out);

#endif
