/* screen_draw.c: the screen as a grid: the layout's panes, each drawn by its view, and the line of keys, in whose place
 * stands what is typed or what there is to say. */
#include <string.h>

#include "tui/filter.h"
#include "tui/views.h"

int nt_screen_page(const nt_screen *screen)
{
    nt_panes layout;
    nt_panes_of(screen->view, screen->width, screen->height, &layout);
    const nt_rect *at = nt_panes_find(&layout, NT_PANE_TABLE);
    if (at == NULL)
        at = nt_panes_find(&layout, NT_PANE_BODY);
    /* A title and the headings stand above the rows. */
    int taken = at == NULL ? 0 : at->height > 3 ? 2 : at->height > 1 ? 1 : 0;
    return at != NULL && at->height > taken ? at->height - taken : 1;
}

nt_pane nt_titled(const nt_pane *pane, const char *format, ...)
{
    nt_str text = {0};
    va_list args;
    va_start(args, format);
    nt_str_addv(&text, format, args);
    va_end(args);
    int height = pane->at.height > 1 ? 1 : 0;
    if (height == 1)
        nt_pane_put(pane, 0, 0, NT_STYLE_TITLE, nt_str_text(&text));
    nt_str_done(&text);
    return nt_pane_part(pane, 0, height, pane->at.width, pane->at.height - height);
}

const nt_view nt_views[NT_VIEW_COUNT] = {
    [NT_VIEW_OVERVIEW] = {NULL, nt_overview_sheet},          [NT_VIEW_TRIALS] = {nt_draw_trials, nt_trials_sheet},
    [NT_VIEW_TRIAL] = {nt_draw_trial, nt_trial_sheet},       [NT_VIEW_HEAT] = {nt_draw_heat, nt_heat_sheet},
    [NT_VIEW_WHAT_IF] = {nt_draw_what_if, nt_what_if_sheet}, [NT_VIEW_COMPARE] = {nt_draw_compare, nt_compare_sheet},
    [NT_VIEW_DEVICES] = {nt_draw_devices, nt_devices_sheet}, [NT_VIEW_LOG] = {nt_draw_log, nt_log_sheet},
    [NT_VIEW_HELP] = {nt_draw_help, nt_help_sheet},
};

static void draw_keys(const nt_screen *screen, const nt_snapshot *shown, const nt_pane *pane)
{
    static const char *const asks[] = {"", "filter: ", "sort by: ", "then by: "};
    bool problem = shown != NULL && shown->problem[0] != '\0';
    if (screen->message[0] != '\0' && screen->prompt == NT_PROMPT_NONE) {
        int x = nt_pane_put(pane, 0, 0, NT_STYLE_WARN, screen->message);
        if (problem)
            nt_pane_putf(pane, x + 2, 0, NT_STYLE_BAD, "! %s", shown->problem);
    } else if (screen->prompt != NT_PROMPT_NONE) {
        int x = nt_pane_put(pane, 0, 0, NT_STYLE_TITLE, asks[screen->prompt]);
        x = nt_pane_putf(pane, x, 0, NT_STYLE_PLAIN, "%s_", screen->typed);
        if (screen->message[0] != '\0')
            nt_pane_putf(pane, x + 2, 0, NT_STYLE_WARN, "%s", screen->message);
    } else if (problem)
        nt_pane_putf(pane, 0, 0, NT_STYLE_BAD, "! %s", shown->problem);
    else
        nt_keys_bar(screen->view, pane);
}

static void draw_pane(const nt_screen *screen, const nt_snapshot *shown, nt_pane_id id, const nt_pane *pane)
{
    if (id == NT_PANE_KEYS)
        draw_keys(screen, shown, pane);
    else if (shown == NULL)
        nt_pane_put(pane, 0, 0, NT_STYLE_DIM, id == NT_PANE_HEADER || id == NT_PANE_LINE ? "reading ..." : "");
    else if (id == NT_PANE_BODY)
        nt_views[screen->view].draw(screen, shown, pane);
    else
        nt_overview_pane(id, screen, shown, pane);
}

void nt_screen_draw(const nt_screen *screen, const nt_snapshot *shown, nt_grid *grid)
{
    nt_panes layout;
    grid->ascii = screen->glyphs == NT_GLYPHS_ASCII;
    nt_grid_resize(grid, screen->width, screen->height);
    nt_panes_of(screen->view, screen->width, screen->height, &layout);
    for (int i = 0; i < layout.count; i++) {
        nt_pane pane = nt_pane_of(grid, layout.pane[i].at);
        draw_pane(screen, shown, layout.pane[i].id, &pane);
    }
}

void nt_screen_sheet(const nt_screen *screen, const nt_snapshot *shown, nt_sheet *out)
{
    nt_sheet_clear(out);
    nt_views[screen->view].sheet(screen, shown, out);
}
