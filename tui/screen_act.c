/* screen_act.c: what each action does to the state of the screen: rows of a table, found by the table of keys. */
#include "tui/screen_act.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "tui/filter.h"
#include "tui/views.h"

typedef void act(nt_screen *screen, const nt_snapshot *shown, int key);

/* ---- views ----------------------------------------------------------------------------------------------------------- */

static void go_to(nt_screen *screen, nt_view_id view)
{
    if (view == screen->view)
        return;
    if (screen->steps_back == NT_BACK_STEPS)
        memmove(screen->before, screen->before + 1, sizeof screen->before - sizeof screen->before[0]);
    else
        screen->steps_back++;
    screen->before[screen->steps_back - 1] = screen->view;
    screen->view = view;
    screen->scroll = 0;
}

static void do_view(nt_screen *screen, const nt_snapshot *shown, int key)
{
    (void)shown;
    go_to(screen, (nt_view_id)(key - '1'));
}

static void do_next_view(nt_screen *screen, const nt_snapshot *shown, int key)
{
    (void)shown;
    (void)key;
    go_to(screen, (nt_view_id)((screen->view + 1) % NT_VIEW_COUNT));
}

static void do_previous_view(nt_screen *screen, const nt_snapshot *shown, int key)
{
    (void)shown;
    (void)key;
    go_to(screen, (nt_view_id)((screen->view + NT_VIEW_COUNT - 1) % NT_VIEW_COUNT));
}

static void do_help(nt_screen *screen, const nt_snapshot *shown, int key)
{
    (void)shown;
    (void)key;
    go_to(screen, NT_VIEW_HELP);
}

static void do_back(nt_screen *screen, const nt_snapshot *shown, int key)
{
    (void)shown;
    (void)key;
    if (screen->steps_back > 0)
        screen->view = screen->before[--screen->steps_back];
    else
        screen->view = NT_VIEW_OVERVIEW;
    screen->scroll = 0;
}

/* ---- moving ------------------------------------------------------------------------------------------------------------ */

static bool in_table(const nt_screen *screen)
{
    return screen->view == NT_VIEW_TRIALS || screen->view == NT_VIEW_OVERVIEW;
}

static void move(nt_screen *screen, int64_t steps)
{
    if (screen->view == NT_VIEW_WHAT_IF)
        screen->slider = (int)((screen->slider + NT_CURVE_COUNT + (steps > 0 ? 1 : -1)) % NT_CURVE_COUNT);
    else if (in_table(screen))
        screen->cursor += steps;
    else
        screen->scroll += (int)steps;
}

static void do_up(nt_screen *screen, const nt_snapshot *shown, int key)
{
    (void)shown;
    (void)key;
    move(screen, -1);
}

static void do_down(nt_screen *screen, const nt_snapshot *shown, int key)
{
    (void)shown;
    (void)key;
    move(screen, 1);
}

static void do_page_up(nt_screen *screen, const nt_snapshot *shown, int key)
{
    (void)shown;
    (void)key;
    move(screen, -nt_screen_page(screen));
}

static void do_page_down(nt_screen *screen, const nt_snapshot *shown, int key)
{
    (void)shown;
    (void)key;
    move(screen, nt_screen_page(screen));
}

static void do_first(nt_screen *screen, const nt_snapshot *shown, int key)
{
    (void)shown;
    (void)key;
    screen->cursor = screen->scroll = 0;
}

static void do_last(nt_screen *screen, const nt_snapshot *shown, int key)
{
    (void)key;
    if (!in_table(screen))
        screen->scroll = 100000;
    else if (shown != NULL && shown->total != NT_UNKNOWN)
        screen->cursor = shown->total;
    else
        nt_screen_say(screen, "the trials are still being counted");
}

/* ---- trials ------------------------------------------------------------------------------------------------------------ */

/* The trial under the cursor, 0 when its row is not read yet. */
static int64_t selected(const nt_screen *screen, const nt_snapshot *shown)
{
    if (screen->view == NT_VIEW_TRIAL)
        return screen->opened;
    if (shown == NULL)
        return 0;
    int64_t row = screen->cursor - shown->want.window.first;
    int column = nt_sheet_find(&shown->trials, "trial");
    if (row < 0 || row >= shown->trials.rows || column < 0)
        return 0;
    return (int64_t)nt_sheet_at(&shown->trials, (int)row, column)->number;
}

static void do_open(nt_screen *screen, const nt_snapshot *shown, int key)
{
    (void)key;
    int64_t trial = selected(screen, shown);
    if (trial == 0) {
        nt_screen_say(screen, "no trial is selected");
        return;
    }
    screen->opened = trial;
    go_to(screen, NT_VIEW_TRIAL);
}

static void do_tag(nt_screen *screen, const nt_snapshot *shown, int key)
{
    (void)key;
    int64_t trial = selected(screen, shown);
    for (int i = 0; i < screen->tags; i++) {
        if (screen->tagged[i] != trial)
            continue;
        memmove(&screen->tagged[i], &screen->tagged[i + 1], sizeof trial * (size_t)(screen->tags - i - 1));
        screen->tags--;
        nt_screen_say(screen, "trial %lld is not tagged any more; %d tagged", (long long)trial, screen->tags);
        return;
    }
    if (trial == 0) {
        nt_screen_say(screen, "no trial is selected");
    } else if (screen->tags == NT_TAGS) {
        nt_screen_say(screen, "%d trials are tagged, which is the most; take one off first", NT_TAGS);
    } else {
        screen->tagged[screen->tags++] = trial;
        nt_screen_say(screen, "trial %lld tagged, %d in all; c compares them", (long long)trial, screen->tags);
        screen->cursor += in_table(screen);
    }
}

static void do_compare(nt_screen *screen, const nt_snapshot *shown, int key)
{
    (void)shown;
    (void)key;
    go_to(screen, NT_VIEW_COMPARE);
}

/* The neighbour column of the one sorted by, as the table shows them. */
static void sort_beside(nt_screen *screen, const nt_snapshot *shown, int step)
{
    const char *names[NT_PARAMS];
    int params = nt_screen_params(shown, names), columns = shown != NULL ? shown->trials.columns : 0, at = 0;
    for (int i = 0; i < columns; i++)
        if (screen->window.keys > 0 && strcmp(shown->trials.column[i].name, screen->window.key[0].name) == 0)
            at = i;
    for (int tries = 0; tries < columns; tries++) {
        nt_window_key key;
        at = (at + columns + step) % columns;
        if (nt_filter_name(shown->trials.column[at].name, names, params, &key, NULL) == NT_OK) {
            nt_screen_sort_by(screen, 0, &key);
            return;
        }
    }
}

static void do_sort_left(nt_screen *screen, const nt_snapshot *shown, int key)
{
    (void)key;
    sort_beside(screen, shown, -1);
}

static void do_sort_right(nt_screen *screen, const nt_snapshot *shown, int key)
{
    (void)key;
    sort_beside(screen, shown, 1);
}

static void do_reverse(nt_screen *screen, const nt_snapshot *shown, int key)
{
    (void)shown;
    (void)key;
    if (screen->window.keys == 0) {
        nt_window_key number = {.name = "trial"};
        nt_screen_sort_by(screen, 0, &number);
    }
    screen->window.key[0].descending = !screen->window.key[0].descending;
    screen->cursor = screen->top = 0;
}

/* ---- the rest ---------------------------------------------------------------------------------------------------------- */

static void ask(nt_screen *screen, nt_prompt prompt, const char *with)
{
    screen->prompt = prompt;
    snprintf(screen->typed, sizeof screen->typed, "%s", with);
}

static void do_filter(nt_screen *screen, const nt_snapshot *shown, int key)
{
    (void)shown;
    (void)key;
    ask(screen, NT_PROMPT_FILTER, screen->filter);
}

static void do_sort(nt_screen *screen, const nt_snapshot *shown, int key)
{
    (void)shown;
    (void)key;
    ask(screen, NT_PROMPT_SORT, "");
}

static void do_sort_second(nt_screen *screen, const nt_snapshot *shown, int key)
{
    (void)shown;
    (void)key;
    ask(screen, NT_PROMPT_SORT_SECOND, "");
}

static void do_pause(nt_screen *screen, const nt_snapshot *shown, int key)
{
    (void)shown;
    (void)key;
    screen->paused = !screen->paused;
    nt_screen_say(screen, screen->paused ? "paused; p goes on" : "following again");
}

static void do_interval(nt_screen *screen, double factor)
{
    screen->interval_s = fmin(fmax(screen->interval_s * factor, 0.1), 60);
    nt_screen_say(screen, "every %.2g s", screen->interval_s);
}

static void do_slower(nt_screen *screen, const nt_snapshot *shown, int key)
{
    (void)shown;
    (void)key;
    do_interval(screen, 2);
}

static void do_faster(nt_screen *screen, const nt_snapshot *shown, int key)
{
    (void)shown;
    (void)key;
    do_interval(screen, 0.5);
}

static void do_axis(nt_screen *screen, const nt_snapshot *shown, int key)
{
    int varying = 0;
    for (int i = 0; shown != NULL && i < shown->facts.params; i++)
        varying += shown->facts.varies[i];
    if (varying < 2) {
        nt_screen_say(screen, "fewer than two parameters vary");
        return;
    }
    int *axis = key == 'x' ? &screen->heat_x : &screen->heat_y, other = key == 'x' ? screen->heat_y : screen->heat_x;
    *axis = (*axis + 1) % varying;
    if (*axis == other % varying)
        *axis = (*axis + 1) % varying;
}

/* Steps of the sliders: registers by the unit of their allocation, threads by warps, shared memory by KiB. */
static void slide(nt_screen *screen, const nt_snapshot *shown, int direction)
{
    static const struct {
        int64_t step, least, most;
    } range[NT_CURVE_COUNT] = {{8, 16, 255}, {32, 32, 1024}, {1024, 0, 232448}};
    nt_block_use use;
    if (shown == NULL || !nt_what_if_use(screen, shown, &use)) {
        nt_screen_say(screen, "the device does not say enough about itself");
        return;
    }
    int64_t *value[NT_CURVE_COUNT] = {&use.registers, &use.threads, &use.smem_bytes};
    int64_t *chosen = value[screen->slider], step = range[screen->slider].step;
    *chosen = (*chosen / step + direction) * step;
    *chosen = *chosen < range[screen->slider].least ? range[screen->slider].least : *chosen;
    *chosen = *chosen > range[screen->slider].most ? range[screen->slider].most : *chosen;
    screen->use = use;
    screen->use_of = screen->opened;
}

static void do_less(nt_screen *screen, const nt_snapshot *shown, int key)
{
    (void)key;
    slide(screen, shown, -1);
}

static void do_more(nt_screen *screen, const nt_snapshot *shown, int key)
{
    (void)key;
    slide(screen, shown, 1);
}

static void do_flag(nt_screen *screen, const nt_snapshot *shown, int key)
{
    (void)shown;
    nt_action action = nt_key_action(screen->view, key);
    screen->quit = screen->quit || action == NT_DO_QUIT;
    screen->redraw = screen->redraw || action == NT_DO_REDRAW;
    screen->dump = screen->dump || action == NT_DO_DUMP;
    screen->save = screen->save || action == NT_DO_SAVE;
}

static act *const acts[] = {
    [NT_DO_QUIT] = do_flag,
    [NT_DO_REDRAW] = do_flag,
    [NT_DO_DUMP] = do_flag,
    [NT_DO_SAVE] = do_flag,
    [NT_DO_HELP] = do_help,
    [NT_DO_UP] = do_up,
    [NT_DO_DOWN] = do_down,
    [NT_DO_PAGE_UP] = do_page_up,
    [NT_DO_PAGE_DOWN] = do_page_down,
    [NT_DO_FIRST] = do_first,
    [NT_DO_LAST] = do_last,
    [NT_DO_LESS] = do_less,
    [NT_DO_MORE] = do_more,
    [NT_DO_OPEN] = do_open,
    [NT_DO_BACK] = do_back,
    [NT_DO_NEXT_VIEW] = do_next_view,
    [NT_DO_PREVIOUS_VIEW] = do_previous_view,
    [NT_DO_VIEW] = do_view,
    [NT_DO_SORT] = do_sort,
    [NT_DO_SORT_SECOND] = do_sort_second,
    [NT_DO_SORT_LEFT] = do_sort_left,
    [NT_DO_SORT_RIGHT] = do_sort_right,
    [NT_DO_REVERSE] = do_reverse,
    [NT_DO_FILTER] = do_filter,
    [NT_DO_PAUSE] = do_pause,
    [NT_DO_SLOWER] = do_slower,
    [NT_DO_FASTER] = do_faster,
    [NT_DO_TAG] = do_tag,
    [NT_DO_COMPARE] = do_compare,
    [NT_DO_AXIS_X] = do_axis,
    [NT_DO_AXIS_Y] = do_axis,
};

bool nt_screen_act(nt_screen *screen, const nt_snapshot *shown, int key)
{
    nt_action action = nt_key_action(screen->view, key);
    if (action == NT_DO_NOTHING || acts[action] == NULL)
        return false;
    acts[action](screen, shown, key);
    return true;
}
