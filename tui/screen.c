/* screen.c: the state of the screen: what is typed, what is said, what is wanted. Actions are in screen_act.c, drawing
 * in screen_draw.c. */
#include "tui/screen.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "tui/filter.h"
#include "tui/screen_act.h"

void nt_screen_init(nt_screen *screen)
{
    *screen = (nt_screen){.width = 80, .height = 24, .interval_s = 0.5, .heat_y = 1};
    screen->use.threads = NT_UNKNOWN;
    screen->window.until_unix_s = screen->read_share = NAN;
}

void nt_screen_say(nt_screen *screen, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    vsnprintf(screen->message, sizeof screen->message, format, args);
    va_end(args);
}

int nt_screen_params(const nt_snapshot *shown, const char *names[NT_PARAMS])
{
    int count = shown != NULL ? shown->facts.params : 0;
    for (int i = 0; i < count; i++)
        names[i] = shown->facts.param[i];
    return count;
}

void nt_screen_sort_by(nt_screen *screen, int place, const nt_window_key *key)
{
    screen->window.key[place] = *key;
    if (screen->window.keys <= place)
        screen->window.keys = place + 1;
    if (place == 0)
        screen->cursor = screen->top = 0;
    nt_screen_say(screen, "sorted by %s%s%s", nt_filter_short(screen->window.key[0].name),
                  screen->window.keys > 1 ? ", then " : "",
                  screen->window.keys > 1 ? nt_filter_short(screen->window.key[1].name) : "");
}

static void say_error(nt_screen *screen, const nt_error *err)
{
    nt_screen_say(screen, "%.110s; %.70s", err->what, err->hint);
}

/* ---- typing ------------------------------------------------------------------------------------------------------------ */

static void accept(nt_screen *screen, const nt_snapshot *shown)
{
    const char *names[NT_PARAMS];
    int params = nt_screen_params(shown, names);
    nt_error err = {0};
    nt_prompt prompt = screen->prompt;
    if (prompt == NT_PROMPT_FILTER) {
        if (nt_filter_parse(screen->typed, names, params, &screen->window, &err) != NT_OK) {
            say_error(screen, &err);
            return;
        }
        nt_copy(screen->filter, sizeof screen->filter, screen->typed);
        screen->cursor = screen->top = 0;
    } else {
        nt_window_key key;
        if (screen->typed[0] != '\0' && nt_filter_name(screen->typed, names, params, &key, &err) != NT_OK) {
            say_error(screen, &err);
            return;
        }
        if (screen->typed[0] != '\0')
            nt_screen_sort_by(screen, prompt == NT_PROMPT_SORT_SECOND && screen->window.keys > 0, &key);
    }
    screen->prompt = NT_PROMPT_NONE;
}

static void type(nt_screen *screen, const nt_snapshot *shown, int key)
{
    size_t length = strlen(screen->typed);
    if (key == NT_KEY_ESCAPE)
        screen->prompt = NT_PROMPT_NONE;
    else if (key == NT_KEY_ENTER || key == '\r')
        accept(screen, shown);
    else if ((key == NT_KEY_BACKSPACE || key == 8) && length > 0)
        screen->typed[length - 1] = '\0';
    else if (key == 21) /* Ctrl-U */
        screen->typed[0] = '\0';
    else if (key >= ' ' && key < 127 && length + 1 < sizeof screen->typed) {
        screen->typed[length] = (char)key;
        screen->typed[length + 1] = '\0';
    }
}

void nt_screen_key(nt_screen *screen, const nt_snapshot *shown, int key)
{
    screen->message[0] = '\0';
    if (screen->prompt != NT_PROMPT_NONE) {
        type(screen, shown, key);
        return;
    }
    if (!nt_screen_act(screen, shown, key) && key != NT_KEY_ESCAPE)
        nt_screen_say(screen, "that key does nothing here; ? lists the keys");
    nt_screen_settle(screen, shown);
}

/* ---- what is wanted ---------------------------------------------------------------------------------------------------- */

void nt_screen_settle(nt_screen *screen, const nt_snapshot *shown)
{
    int page = nt_screen_page(screen);
    if (shown != NULL && shown->total != NT_UNKNOWN && screen->cursor >= shown->total)
        screen->cursor = shown->total - 1;
    if (screen->cursor < 0)
        screen->cursor = 0;
    if (screen->top > screen->cursor)
        screen->top = screen->cursor;
    if (screen->top < screen->cursor - page + 1)
        screen->top = screen->cursor - page + 1;
    if (screen->scroll < 0)
        screen->scroll = 0;
}

static const char *varying(const nt_facts *facts, int index)
{
    int count = 0;
    for (int i = 0; i < facts->params; i++)
        count += facts->varies[i];
    if (count == 0)
        return NULL;
    index %= count;
    for (int i = 0; i < facts->params; i++)
        if (facts->varies[i] && index-- == 0)
            return facts->param[i];
    return NULL;
}

static void want_heat(const nt_screen *screen, const nt_snapshot *shown, nt_window *out)
{
    *out = screen->window;
    out->keys = 0;
    const char *x = varying(&shown->facts, screen->heat_x), *y = varying(&shown->facts, screen->heat_y);
    if (x == NULL || y == NULL || x == y)
        return;
    out->keys = 2;
    out->key[0] = (nt_window_key){.param = true};
    out->key[1] = (nt_window_key){.param = true};
    nt_copy(out->key[0].name, sizeof out->key[0].name, x);
    nt_copy(out->key[1].name, sizeof out->key[1].name, y);
}

void nt_screen_want(const nt_screen *screen, const nt_snapshot *shown, nt_want *out)
{
    memset(out, 0, sizeof *out); /* compared as bytes */
    out->view = screen->view;
    out->window = screen->window;
    if (screen->view == NT_VIEW_OVERVIEW && screen->window.keys == 0) { /* the latest first */
        out->window.keys = 1;
        out->window.key[0].descending = true;
        nt_copy(out->window.key[0].name, sizeof out->window.key[0].name, "trial");
    }
    out->window.first = screen->top;
    out->window.count = nt_screen_page(screen) + 1;
    out->trial = screen->opened;
    out->tags = screen->tags;
    memcpy(out->tagged, screen->tagged, sizeof out->tagged[0] * (size_t)screen->tags);
    if (shown != NULL && screen->view == NT_VIEW_HEAT)
        want_heat(screen, shown, &out->heat);
}
