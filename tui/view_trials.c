/* view_trials.c: the table of trials, in its own view and in the overview, and tagged trials side by side. */
#include <math.h>
#include <string.h>

#include "tui/filter.h"
#include "tui/views.h"

static void draw_rows(const nt_screen *screen, const nt_snapshot *shown, const nt_pane *pane)
{
    bool tagged[512] = {false};
    int number = nt_sheet_find(&shown->trials, "trial"), first = (int)(screen->top - shown->want.window.first);
    for (int r = 0; r < shown->trials.rows && r < 512 && number >= 0; r++)
        for (int i = 0; i < screen->tags; i++)
            tagged[r] |= (int64_t)nt_sheet_at(&shown->trials, r, number)->number == screen->tagged[i];
    /* The rows read last may be some lines away from those wanted now: they are on their way. */
    if (first < 0 || first > shown->trials.rows)
        first = 0;
    nt_sheet_drawing how = {.first = first,
                            .selected = (int)(screen->cursor - screen->top) + first,
                            .sorted = -1,
                            .tagged = shown->trials.rows <= 512 ? tagged : NULL};
    if (shown->want.window.keys > 0) {
        how.sorted = nt_sheet_find(&shown->trials, shown->want.window.key[0].name);
        how.descending = shown->want.window.key[0].descending;
    }
    nt_sheet_draw(&shown->trials, pane, &how);
}

static bool up_to_date(const nt_screen *screen, const nt_snapshot *shown)
{
    const nt_window *a = &shown->want.window, *b = &screen->window;
    if (screen->view == NT_VIEW_OVERVIEW && b->keys == 0)
        return a->terms == b->terms && memcmp(a->term, b->term, sizeof a->term) == 0;
    return a->terms == b->terms && a->keys == b->keys && memcmp(a->key, b->key, sizeof a->key) == 0 &&
           memcmp(a->term, b->term, sizeof a->term) == 0;
}

void nt_draw_trials(const nt_screen *screen, const nt_snapshot *shown, const nt_pane *pane)
{
    nt_str title = {0};
    if (!shown->facts.has_run) {
        nt_pane_put(pane, 0, 0, NT_STYLE_DIM, "no run is shown; --db FILE names one");
        return;
    }
    nt_str_addf(&title, "trials of run %lld", (long long)shown->facts.run);
    if (shown->total != NT_UNKNOWN)
        nt_str_addf(&title, ": %lld", (long long)shown->total);
    if (screen->filter[0] != '\0')
        nt_str_addf(&title, "  filter %s", screen->filter);
    for (int i = 0; i < screen->window.keys; i++)
        nt_str_addf(&title, "%s%s%s", i == 0 ? "  by " : ", ", nt_filter_short(screen->window.key[i].name),
                    screen->window.key[i].descending ? " down" : "");
    if (!up_to_date(screen, shown))
        nt_str_add(&title, "  reading ...");
    if (!up_to_date(screen, shown) && !isnan(screen->read_share))
        nt_str_addf(&title, " %.0f %%", screen->read_share * 100);
    nt_pane body = pane->at.height > 3 ? nt_titled(pane, "%s", nt_str_text(&title)) : *pane;
    nt_str_done(&title);
    draw_rows(screen, shown, &body);
    if (shown->trials.rows == 0)
        nt_pane_put(&body, 0, 1, NT_STYLE_DIM,
                    screen->filter[0] != '\0' ? "no trial passes the filter" : "no trial yet");
}

void nt_draw_table(const nt_screen *screen, const nt_snapshot *shown, const nt_pane *pane)
{
    if (shown->facts.has_run)
        nt_draw_trials(screen, shown, pane);
    else
        nt_draw_devices(screen, shown, pane);
}

void nt_trials_sheet(const nt_screen *screen, const nt_snapshot *shown, nt_sheet *out)
{
    (void)screen;
    nt_sheet_copy(&shown->trials, out);
}

/* Tagged trials are columns; a quantity is a row. */
void nt_draw_compare(const nt_screen *screen, const nt_snapshot *shown, const nt_pane *pane)
{
    nt_pane body = nt_titled(pane, "%d tagged trials, each against the first", screen->tags);
    if (screen->tags < 2) {
        nt_pane_put(&body, 0, 0, NT_STYLE_DIM, "tag two trials or more with t in the table of trials (2)");
        return;
    }
    nt_sheet_drawing how = {.first = screen->scroll, .selected = -1, .sorted = -1};
    nt_sheet_draw(&shown->compare, &body, &how);
}

void nt_compare_sheet(const nt_screen *screen, const nt_snapshot *shown, nt_sheet *out)
{
    (void)screen;
    nt_sheet_copy(&shown->compare, out);
}
