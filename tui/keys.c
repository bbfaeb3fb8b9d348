/* keys.c: see keys.h. Every F-key has a letter, and no key is a chord. */
#include "tui/keys.h"

#include <string.h>

#define EVERY    0xffffu
#define IN(view) (1u << NT_VIEW_##view)
#define LISTS    (IN(TRIALS) | IN(LOG) | IN(HELP) | IN(TRIAL) | IN(COMPARE) | IN(DEVICES) | IN(OVERVIEW))

const nt_key_row nt_key_rows[] = {
    {NT_DO_HELP, {'?', NT_KEY_F0 + 1}, "? F1", "help", "this list", EVERY},
    {NT_DO_QUIT, {'q', NT_KEY_F0 + 10}, "q F10", "quit", "leave; a sweep goes on", EVERY},
    {NT_DO_OPEN, {NT_KEY_ENTER, '\r', 'o'}, "Enter o", "open", "open the selected trial", IN(TRIALS) | IN(OVERVIEW)},
    {NT_DO_BACK, {NT_KEY_ESCAPE, 'b'}, "Esc b", "back", "to the view before", EVERY & ~IN(OVERVIEW)},
    {NT_DO_SORT, {'s', NT_KEY_F0 + 6}, "s F6", "sort", "type the column to sort by", IN(TRIALS)},
    {NT_DO_SORT_SECOND, {'S'}, "S", NULL, "type the second column, among equals of the first", IN(TRIALS)},
    {NT_DO_SORT_LEFT, {'<', ','}, "< ,", NULL, "sort by the column to the left", IN(TRIALS)},
    {NT_DO_SORT_RIGHT, {'>', '.'}, "> .", NULL, "sort by the column to the right", IN(TRIALS)},
    {NT_DO_REVERSE, {'r', 'I'}, "r I", "reverse", "reverse the order", IN(TRIALS)},
    {NT_DO_FILTER,
     {'/', '\\', NT_KEY_F0 + 4},
     "/ \\ F4",
     "filter",
     "filter, for example tile_m=64 occ>50 time<20us",
     IN(TRIALS)},
    {NT_DO_TAG, {'t', ' '}, "t Space", "tag", "tag the selected trial, or take the tag off", IN(TRIALS) | IN(TRIAL)},
    {NT_DO_COMPARE, {'c'}, "c", "compare", "compare the tagged trials", EVERY},
    {NT_DO_LESS, {NT_KEY_LEFT, 'h'}, "Left h", "less", "less of the chosen resource", IN(WHAT_IF)},
    {NT_DO_MORE, {NT_KEY_RIGHT, 'l'}, "Right l", "more", "more of the chosen resource", IN(WHAT_IF)},
    {NT_DO_AXIS_X, {'x'}, "x", "across", "next parameter across", IN(HEAT)},
    {NT_DO_AXIS_Y, {'y'}, "y", "down", "next parameter down", IN(HEAT)},
    {NT_DO_UP, {NT_KEY_UP, 'k'}, "Up k", NULL, "up", LISTS | IN(WHAT_IF)},
    {NT_DO_DOWN, {NT_KEY_DOWN, 'j'}, "Down j", NULL, "down", LISTS | IN(WHAT_IF)},
    {NT_DO_PAGE_UP, {NT_KEY_PAGE_UP, 'u'}, "PgUp u", NULL, "a page up", LISTS},
    {NT_DO_PAGE_DOWN, {NT_KEY_PAGE_DOWN, 'd'}, "PgDn d", NULL, "a page down", LISTS},
    {NT_DO_FIRST, {NT_KEY_HOME, 'g'}, "Home g", NULL, "to the first", LISTS},
    {NT_DO_LAST, {NT_KEY_END, 'G'}, "End G", NULL, "to the last", LISTS},
    {NT_DO_NEXT_VIEW, {NT_KEY_TAB}, "Tab", "view", "next view", EVERY},
    {NT_DO_PREVIOUS_VIEW, {NT_KEY_BACK_TAB}, "Shift-Tab", NULL, "view before", EVERY},
    {NT_DO_PAUSE, {'p', 'Z'}, "p Z", "pause", "stop following, or go on", EVERY},
    {NT_DO_DUMP, {'P', NT_KEY_F0 + 9}, "P F9", "dump", "write the view as text, CSV and JSON", EVERY},
    {NT_DO_SAVE, {'W', NT_KEY_F0 + 12}, "W F12", NULL, "save glyphs, interval, sort and view", EVERY},
    {NT_DO_SLOWER, {'+', '='}, "+", NULL, "a longer interval", EVERY},
    {NT_DO_FASTER, {'-', '_'}, "-", NULL, "a shorter interval", EVERY},
    {NT_DO_REDRAW, {NT_KEY_REDRAW, NT_KEY_F0 + 5, 'R'}, "Ctrl-L F5 R", NULL, "draw all anew", EVERY},
};

const int nt_key_row_count = sizeof nt_key_rows / sizeof nt_key_rows[0];

nt_action nt_key_action(nt_view_id view, int key)
{
    if (key >= '1' && key < '1' + NT_VIEW_COUNT)
        return NT_DO_VIEW;
    for (int i = 0; i < nt_key_row_count; i++)
        for (int k = 0; key != 0 && k < 4; k++)
            if (nt_key_rows[i].key[k] == key && (nt_key_rows[i].views >> view & 1u) != 0)
                return nt_key_rows[i].action;
    return NT_DO_NOTHING;
}

void nt_keys_bar(nt_view_id view, const nt_pane *pane)
{
    int x = 0;
    for (int i = 0; i < nt_key_row_count && x < pane->at.width; i++) {
        const nt_key_row *b = &nt_key_rows[i];
        if (b->word == NULL || (b->views >> view & 1u) == 0)
            continue;
        int name = (int)strcspn(b->names, " ");
        if (x > 0 && x + name + 1 + (int)strlen(b->word) > pane->at.width)
            break;
        x = nt_pane_putf(pane, x, 0, NT_STYLE_TITLE, "%.*s", name, b->names);
        x = nt_pane_putf(pane, x, 0, NT_STYLE_DIM, " %s", b->word) + 2;
    }
}
