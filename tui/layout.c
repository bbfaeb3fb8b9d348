/* layout.c: see layout.h. The overview is a table of stages, each a size from which on it holds and a function that
 * cuts the screen from the top down; what is left is the table of trials. */
#include "tui/layout.h"

#include <string.h>

static const char *const names[] = {
#define X(id, name, summary) #name,
    NT_VIEWS(X)
#undef X
};

static const char *const summaries[] = {
#define X(id, name, summary) summary,
    NT_VIEWS(X)
#undef X
};

const char *nt_view_name(nt_view_id view)
{
    return names[view];
}

const char *nt_view_summary(nt_view_id view)
{
    return summaries[view];
}

int nt_view_find(const char *name)
{
    for (int i = 0; i < NT_VIEW_COUNT; i++)
        if (strcmp(names[i], name) == 0)
            return i;
    return -1;
}

const nt_rect *nt_panes_find(const nt_panes *layout, nt_pane_id id)
{
    for (int i = 0; i < layout->count; i++)
        if (layout->pane[i].id == id)
            return &layout->pane[i].at;
    return NULL;
}

static void place(nt_panes *layout, nt_pane_id id, nt_rect at)
{
    if (at.width > 0 && at.height > 0)
        layout->pane[layout->count++] = (nt_placed){id, at};
}

/* Takes lines from the top of what is left. */
static nt_rect from_top(nt_rect *left, int height)
{
    nt_rect top = *left;
    top.height = height < left->height ? height : left->height;
    left->y += top.height;
    left->height -= top.height;
    return top;
}

static nt_rect from_bottom(nt_rect *left, int height)
{
    nt_rect bottom = *left;
    bottom.height = height < left->height ? height : left->height;
    left->height -= bottom.height;
    bottom.y = left->y + left->height;
    return bottom;
}

/* Two panes beside each other with a blank column between. */
static void beside(nt_panes *layout, nt_rect row, int percent, nt_pane_id first, nt_pane_id second)
{
    nt_rect a = row, b = row;
    a.width = row.width * percent / 100;
    b.x += a.width + 1;
    b.width = row.width - a.width - 1;
    place(layout, first, a);
    place(layout, second, b);
}

static void large(nt_panes *layout, nt_rect left)
{
    place(layout, NT_PANE_KEYS, from_bottom(&left, 1));
    place(layout, NT_PANE_HEADER, from_top(&left, 2));
    place(layout, NT_PANE_PROGRESS, from_top(&left, 1));
    place(layout, NT_PANE_BEST, from_top(&left, 4));
    int plots = left.height * 6 / 10;
    beside(layout, from_top(&left, plots / 2), 50, NT_PANE_OCCUPANCY, NT_PANE_TIMELINE);
    nt_rect row = from_top(&left, plots - plots / 2), half = row;
    half.width = row.width / 2;
    beside(layout, half, 50, NT_PANE_LIMITERS, NT_PANE_FAILURES);
    row.x += half.width + 1;
    row.width -= half.width + 1;
    place(layout, NT_PANE_ROOFLINE, row);
    place(layout, NT_PANE_TABLE, left);
}

static void middle(nt_panes *layout, nt_rect left)
{
    place(layout, NT_PANE_KEYS, from_bottom(&left, 1));
    place(layout, NT_PANE_HEADER, from_top(&left, 1));
    place(layout, NT_PANE_PROGRESS, from_top(&left, 1));
    place(layout, NT_PANE_BEST, from_top(&left, 2));
    place(layout, NT_PANE_TIMELINE, from_top(&left, 7));
    place(layout, NT_PANE_TABLE, left);
}

static void small(nt_panes *layout, nt_rect left)
{
    place(layout, NT_PANE_KEYS, from_bottom(&left, 1));
    place(layout, NT_PANE_PROGRESS, from_top(&left, 1));
    place(layout, NT_PANE_BEST, from_top(&left, 2));
    place(layout, NT_PANE_TABLE, left);
}

static void tiny(nt_panes *layout, nt_rect left)
{
    place(layout, NT_PANE_KEYS, from_bottom(&left, 1));
    place(layout, NT_PANE_PROGRESS, from_top(&left, 1));
    place(layout, NT_PANE_BEST, from_top(&left, 2));
    place(layout, NT_PANE_CURRENT, left);
}

static const struct {
    int width, height; /* from this size on */
    void (*cut)(nt_panes *layout, nt_rect left);
} stages[] = {{100, 30, large}, {70, 20, middle}, {50, 12, small}, {24, 6, tiny}};

static void overview(nt_panes *layout, nt_rect whole)
{
    for (size_t i = 0; i < sizeof stages / sizeof stages[0]; i++) {
        if (whole.width >= stages[i].width && whole.height >= stages[i].height) {
            stages[i].cut(layout, whole);
            return;
        }
    }
    place(layout, NT_PANE_LINE, from_top(&whole, 1));
}

static void other(nt_panes *layout, nt_rect left)
{
    if (left.height >= 4)
        place(layout, NT_PANE_KEYS, from_bottom(&left, 1));
    if (left.height >= 8 && left.width >= 24)
        place(layout, NT_PANE_HEADER, from_top(&left, 1));
    place(layout, NT_PANE_BODY, left);
}

void nt_panes_of(nt_view_id view, int width, int height, nt_panes *out)
{
    nt_rect whole = {0, 0, width, height};
    out->count = 0;
    if (width < 2 || height < 1)
        return;
    if (view == NT_VIEW_OVERVIEW)
        overview(out, whole);
    else
        other(out, whole);
}
